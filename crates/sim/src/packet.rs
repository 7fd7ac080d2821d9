//! A packet on its way: 32 bytes, whatever it carries.

use crate::events::Precedence;
use crate::time::Time;

/// What a packet is, for its endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A TCP segment from the sender: SYN (sequence number 0), data, or the bare third step of a handshake.
    #[default]
    Segment,
    /// A TCP acknowledgement from the receiver.
    Ack,
    /// A UDP datagram, or a fragment of one.
    Datagram,
}

/// Where a packet goes that finds its way by its destination, instead of along the path of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Index of the destination.
    pub destination: u16,
    /// Which of the transfers of its source it belongs to, modulo [`Self::TRANSFERS`].
    pub transfer: u8,
    /// It is the last of its transfer.
    pub last: bool,
}

impl Address {
    /// Transfers of one source that are told apart.
    pub const TRANSFERS: u8 = 16;
    /// Most sources.
    pub const SOURCES: u32 = 1 << 22;
    /// Sequence numbers are smaller.
    pub const SEQUENCE: u32 = 1 << 28;
}

/// A packet. Its start of service lets every later time be recomputed exactly where it is needed.
///
/// The small fields share words, which are written whole: a processor that writes a word in parts and
/// then reads it at once waits for the memory in between, at every hop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When its transmission on the current link began, in seconds.
    pub start: f64,
    /// When its source offered it to the first link, in seconds. Of an ACK: when the packet that it
    /// answers was sent (the timestamp of RFC 7323), or where that and its other options are. No time has a sign: that of
    /// a segment says what it answers.
    stamp: u64,
    /// At its ends the flow, on its way the position on its path; and above it the sequence number.
    identity: u64,
    /// Size and tag, and above them the precedence of its delivery at the current link.
    state: u64,
}

const KIND: u64 = 0b11 << TAG;
/// In the place of a kind: a segment that says ECT(1). A datagram says so by the flag that nobody sets of one.
const SCALABLE: u64 = KIND;
const SCALABLE_DATAGRAM: u64 = (Kind::Datagram as u64) << TAG | REDUCED;
const LOST: u64 = 1 << (TAG + 2);
/// Of an ACK.
const OPTIONS: u64 = 1 << (TAG + 3);
/// In the place of an ACK's options: a segment that echoes the timestamp that the one before it did.
const ECHOES_AGAIN: u64 = OPTIONS;
const CAPABLE: u64 = 1 << (TAG + 4);
/// Of a stamp that says where the options of an ACK are: there are others than a timestamp.
const LONGER: u64 = 1 << 32;
/// Of the stamp of a segment: it answers an ACK that asked for it.
const ANSWERS: u64 = 1 << 63;
const MARKED: u64 = 1 << ACE;
const REDUCED: u64 = 1 << (ACE + 1);
const BARE: u64 = 1 << (ACE + 2);
/// Of an ACK, three bits: ECE, CWR and AE, from the lowest on.
const ACE: u32 = TAG + 5;

/// Where the parts of `state` begin: the size in bytes at 0, then these.
const TRANSFER: u32 = 16;
/// Without an address, in the place of a transfer: it ends a round.
const ROUND: u64 = 1 << TRANSFER;
/// Without an address: it was pushed.
const PUSHED: u64 = 1 << (TRANSFER + 1);
const LAST: u64 = 1 << 20;
const SOURCE_HIGH: u32 = 21;
/// It has an address.
const ADDRESSED: u64 = 1 << 23;
const TAG: u32 = 24;
const PRECEDENCE: u32 = 32;

/// The parts of `identity` with an address: destination, the low bits of the source, sequence number.
const SOURCE: u32 = 16;
const SOURCE_BITS: u32 = 20;
const SEQUENCE: u32 = SOURCE + SOURCE_BITS;

impl Packet {
    /// A packet of `size` bytes that leaves its source at `sent` (in seconds). `seq` counts packets; of
    /// an ACK, it is the last packet received in order.
    #[inline]
    #[must_use]
    pub fn new(kind: Kind, flow: u32, seq: u32, size: u32, sent: f64) -> Self {
        debug_assert!(size <= u32::from(u16::MAX));
        let identity = u64::from(seq) << 32 | u64::from(flow);
        Self { start: 0.0, stamp: sent.to_bits(), identity, state: (kind as u64) << TAG | u64::from(size) }
    }

    /// The packet before its first service, in words (see `Key::words`).
    #[inline]
    pub(crate) fn words(self) -> (u64, u64, u64) {
        (self.stamp, self.identity, self.state)
    }

    /// The packet with these words.
    #[inline]
    pub(crate) fn from_words((stamp, identity, state): (u64, u64, u64)) -> Self {
        Self { start: 0.0, stamp, identity, state }
    }

    /// The packet with these words, whose service began at `start_s`.
    #[inline]
    pub(crate) fn under_way(words: (u64, u64, u64), start_s: f64) -> Self {
        Self { start: start_s, ..Self::from_words(words) }
    }

    /// The packet on its way over a link: its service began at `start`.
    #[inline]
    #[must_use]
    pub fn served(self, start: Time, precedence: Precedence) -> Self {
        let state = self.state & u64::from(u32::MAX) | u64::from(precedence.bits()) << PRECEDENCE;
        Self { start: start.seconds(), state, ..self }
    }

    /// The packet at the begin of its path, which is at `position`.
    #[inline]
    #[must_use]
    pub fn departing(self, position: u32) -> Self {
        Self { identity: self.identity & !u64::from(u32::MAX) | u64::from(position), ..self }
    }

    /// The packet at the begin of the next link of its path.
    #[inline]
    #[must_use]
    pub fn forwarded(self) -> Self {
        Self { identity: self.identity + 1, ..self }
    }

    /// The packet at the end of its path, where it belongs to `flow`.
    #[inline]
    #[must_use]
    pub fn arriving(self, flow: u32) -> Self {
        self.departing(flow)
    }

    /// A segment that ends a round trip of its flow: hops take note when it passes.
    #[inline]
    #[must_use]
    pub fn ending_round(self) -> Self {
        debug_assert!(self.kind() == Kind::Segment);
        Self { state: self.state | ROUND, ..self }
    }

    /// A segment that is pushed (PSH), of a sender whose packets have no address.
    #[must_use]
    pub fn pushed(self) -> Self {
        debug_assert!(self.kind() == Kind::Segment && !self.is_addressed());
        Self { state: self.state | PUSHED, ..self }
    }

    /// Whether it is pushed.
    #[inline]
    #[must_use]
    pub fn is_pushed(&self) -> bool {
        self.state & (PUSHED | ADDRESSED) == PUSHED
    }

    /// A segment that leaves before another ACK came than the one whose timestamp its sender has echoed already.
    #[must_use]
    pub fn echoing_again(self) -> Self {
        debug_assert!(self.kind() == Kind::Segment);
        Self { state: self.state | ECHOES_AGAIN, ..self }
    }

    /// Whether a segment echoes the timestamp that the one sent before it did.
    #[inline]
    #[must_use]
    pub fn echoes_again(&self) -> bool {
        debug_assert!(!self.is_reverse());
        self.state & ECHOES_AGAIN != 0
    }

    /// Whether hops take note when it passes.
    #[inline]
    #[must_use]
    pub fn ends_round(&self) -> bool {
        self.state & (ROUND | ADDRESSED) == ROUND
    }

    /// The packet with an address, of the source that its flow was.
    #[inline]
    #[must_use]
    pub fn addressed(self, address: Address) -> Self {
        let (source, seq) = (u64::from(self.flow()), u64::from(self.seq()));
        debug_assert!(source < u64::from(Address::SOURCES) && seq < u64::from(Address::SEQUENCE));
        let low = source & ((1 << SOURCE_BITS) - 1);
        let transfer = u64::from(address.transfer) << TRANSFER | source >> SOURCE_BITS << SOURCE_HIGH;
        let last = if address.last { LAST } else { 0 };
        Self {
            identity: u64::from(address.destination) | low << SOURCE | seq << SEQUENCE,
            state: self.state & !ROUND | transfer | last | ADDRESSED,
            ..self
        }
    }

    /// Whether it has an address.
    #[inline]
    #[must_use]
    pub fn is_addressed(&self) -> bool {
        self.state & ADDRESSED != 0
    }

    /// Of a packet with an address: its destination.
    #[inline]
    #[must_use]
    pub fn destination(&self) -> u16 {
        self.identity as u16
    }

    /// Of a packet with an address: its source.
    #[inline]
    #[must_use]
    pub fn source(&self) -> u32 {
        let (low, high) = (self.identity >> SOURCE & ((1 << SOURCE_BITS) - 1), self.state >> SOURCE_HIGH & 0b11);
        (low | high << SOURCE_BITS) as u32
    }

    /// Of a packet with an address: which transfer of its source it belongs to.
    #[inline]
    #[must_use]
    pub fn transfer(&self) -> u8 {
        (self.state >> TRANSFER) as u8 & (Address::TRANSFERS - 1)
    }

    /// Of a packet with an address: whether it is the last of its transfer.
    #[inline]
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.state & LAST != 0
    }

    /// The packet as its transport knows it, at the end of its way: with its source as its flow.
    #[inline]
    #[must_use]
    pub fn unaddressed(self) -> Self {
        let seq = self.identity >> SEQUENCE;
        Self { identity: seq << 32 | u64::from(self.source()), ..self }
    }

    /// What it is.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (self.state & KIND) >> TAG {
            1 => Kind::Ack,
            2 => Kind::Datagram,
            _ => Kind::Segment,
        }
    }

    /// Whether it runs against the flow's direction.
    #[inline]
    #[must_use]
    pub fn is_reverse(&self) -> bool {
        self.state & KIND == (Kind::Ack as u64) << TAG
    }

    /// The flow, at the ends of its path.
    #[inline]
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.identity as u32
    }

    /// The position on its path, on its way.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u32 {
        self.identity as u32
    }

    /// Sequence number in packets; of an ACK, the last packet received in order.
    #[inline]
    #[must_use]
    pub fn seq(&self) -> u32 {
        (self.identity >> 32) as u32
    }

    /// Bytes above the link's framing.
    #[inline]
    #[must_use]
    pub fn size(&self) -> u32 {
        u32::from(self.state as u16)
    }

    /// The precedence of its delivery at the current link.
    #[inline]
    #[must_use]
    pub fn precedence(&self) -> Precedence {
        Precedence::from_bits((self.state >> PRECEDENCE) as u32)
    }

    /// When it was sent, or of an ACK without blocks, when the packet that it answers was.
    #[inline]
    #[must_use]
    pub fn sent(&self) -> Time {
        debug_assert!(self.options().is_none());
        Time::new(f64::from_bits(self.stamp & !ANSWERS))
    }

    /// A segment that the sender sends at once when an ACK has asked for one.
    #[must_use]
    pub fn answering(self) -> Self {
        debug_assert!(self.kind() == Kind::Segment);
        Self { stamp: self.stamp | ANSWERS, ..self }
    }

    /// Whether a segment answers an ACK that asked for it.
    #[inline]
    #[must_use]
    pub fn is_answering(&self) -> bool {
        self.stamp & ANSWERS != 0
    }

    #[inline]
    fn has_options(&self) -> bool {
        self.state & (KIND | OPTIONS) == ((Kind::Ack as u64) << TAG | OPTIONS)
    }

    /// Where the options of an ACK are, if it has others than a timestamp.
    #[inline]
    #[must_use]
    pub fn options(&self) -> Option<u32> {
        self.has_options().then_some(self.stamp as u32)
    }

    /// Puts the options of an ACK elsewhere, its timestamp among them; the others add `bytes`.
    #[must_use]
    pub fn with_options(self, handle: u32, bytes: u32) -> Self {
        let longer = if bytes > 0 { LONGER } else { 0 };
        Self { stamp: longer | u64::from(handle), state: (self.state | OPTIONS) + u64::from(bytes), ..self }
    }

    /// An ACK that has options already, where they are now at another place.
    #[must_use]
    pub fn with_options_at(self, handle: u32) -> Self {
        Self { stamp: self.stamp & LONGER | u64::from(handle), state: self.state | OPTIONS, ..self }
    }

    /// Whether an ACK has other options than a timestamp.
    #[inline]
    #[must_use]
    pub fn is_longer(&self) -> bool {
        self.has_options() && self.stamp & LONGER != 0
    }

    /// Marks a segment without payload that occupies no sequence number.
    #[inline]
    #[must_use]
    pub fn bare(self) -> Self {
        Self { state: self.state | BARE, ..self }
    }

    /// Whether it carries no payload and occupies no sequence number.
    #[inline]
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.state & BARE != 0
    }

    /// Says that its transport understands congestion marks (RFC 3168: ECT(0)).
    #[inline]
    #[must_use]
    pub fn capable(self) -> Self {
        Self { state: self.state | CAPABLE, ..self }
    }

    /// Of a segment or a datagram: says that a scalable congestion control sends it (RFC 9331 §4.1: ECT(1)).
    #[inline]
    #[must_use]
    pub fn scalable(self) -> Self {
        debug_assert!(self.kind() != Kind::Ack);
        let says = if self.kind() == Kind::Datagram { SCALABLE_DATAGRAM } else { SCALABLE };
        Self { state: self.state | says | CAPABLE, ..self }
    }

    /// Whether a scalable congestion control sends it.
    #[inline]
    #[must_use]
    pub fn is_scalable(&self) -> bool {
        self.state & KIND == SCALABLE || self.state & (KIND | REDUCED) == SCALABLE_DATAGRAM
    }

    /// Whether a queue may mark it instead of dropping it.
    #[inline]
    #[must_use]
    pub fn is_capable(&self) -> bool {
        self.state & CAPABLE != 0
    }

    /// As a path forwards it that clears the ECN field of what carries data, to Not-ECT.
    #[must_use]
    pub fn bleached(self) -> Self {
        match self.kind() {
            Kind::Ack => self,
            Kind::Segment => Self { state: self.state & !(SCALABLE | CAPABLE | MARKED), ..self },
            Kind::Datagram => Self { state: self.state & !(REDUCED | CAPABLE | MARKED), ..self },
        }
    }

    /// Of an ACK: the flags AE, CWR and ECE as a number, ECE as its lowest bit (RFC 9768 §3.2.2: ACE).
    #[inline]
    #[must_use]
    pub fn ace(&self) -> u8 {
        (self.state >> ACE) as u8 & 0b111
    }

    /// The ACK with these flags, of which it has none.
    #[inline]
    #[must_use]
    pub fn with_ace(self, ace: u8) -> Self {
        debug_assert!(self.is_reverse() && ace <= 0b111 && self.ace() == 0);
        Self { state: self.state | u64::from(ace) << ACE, ..self }
    }

    /// Marks congestion (RFC 3168): CE on a data packet; on an ACK, ECE.
    #[inline]
    #[must_use]
    pub fn marked(self) -> Self {
        Self { state: self.state | MARKED, ..self }
    }

    /// Whether it tells of congestion.
    #[inline]
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.state & MARKED != 0
    }

    /// Says that the sender has reduced its window because of a mark (RFC 3168: CWR).
    #[inline]
    #[must_use]
    pub fn reduced(self) -> Self {
        Self { state: self.state | REDUCED, ..self }
    }

    /// Whether the sender says that it has reduced its window.
    #[inline]
    #[must_use]
    pub fn is_reduced(&self) -> bool {
        self.state & REDUCED != 0
    }

    /// The copy of a packet that comes a second time: it ends no round.
    #[must_use]
    pub fn again(self) -> Self {
        if self.is_addressed() { self } else { Self { state: self.state & !ROUND, ..self } }
    }

    /// Marks a packet that the wire will lose.
    #[inline]
    #[must_use]
    pub fn lost(self) -> Self {
        Self { state: self.state | LOST, ..self }
    }

    /// Whether the wire loses it.
    #[inline]
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.state & LOST != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_packet_takes_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_packet_do_not_touch_each_other(flow: u32, seq: u32, size in 0u32..65_500, begin in 0u32..1 << 30, hops in 0u32..300, age in 0.0..1e6f64) {
            for kind in [Kind::Segment, Kind::Ack, Kind::Datagram] {
                let mut packet = Packet::new(kind, flow, seq, size, 0.5).bare();
                prop_assert_eq!(packet.flow(), flow);
                packet = packet.departing(begin);
                for _ in 0..hops {
                    packet = packet.forwarded().served(Time::new(1.5), Precedence::of(age));
                }
                prop_assert_eq!((packet.kind(), packet.position(), packet.seq()), (kind, begin + hops, seq));
                prop_assert_eq!((packet.size(), packet.sent()), (size, Time::new(0.5)));
                prop_assert!(packet.is_bare() && !packet.is_lost());
                prop_assert_eq!(packet.is_reverse(), kind == Kind::Ack);
                prop_assert!(hops == 0 || packet.precedence() == Precedence::of(age));
                prop_assert_eq!((packet.arriving(flow).flow(), packet.arriving(flow).seq()), (flow, seq));
                prop_assert!(packet.lost().is_lost());
                if kind == Kind::Ack {
                    let ack = packet.with_options(7, 24);
                    prop_assert_eq!((ack.options(), ack.size(), ack.position()), (Some(7), size + 24, begin + hops));
                    let plain = Packet::new(kind, flow, seq, size, 0.5);
                    for ace in 0..8 {
                        let ack = plain.with_ace(ace);
                        prop_assert_eq!((ack.ace(), ack.seq(), ack.size(), ack.kind()), (ace, seq, size, kind));
                        prop_assert_eq!((ack.is_marked(), ack.is_capable(), ack.bleached().ace()), (ace & 1 == 1, false, ace));
                    }
                }
                let bleached = packet.capable().bleached();
                prop_assert_eq!((bleached.kind(), bleached.size(), bleached.seq()), (kind, size, seq));
                prop_assert!(kind == Kind::Ack || !bleached.is_capable() && !packet.capable().marked().bleached().is_marked());
                if kind == Kind::Segment {
                    let again = packet.echoing_again();
                    prop_assert!(again.echoes_again() && !packet.echoes_again() && again.options().is_none());
                    prop_assert_eq!((again.kind(), again.size(), again.sent()), (kind, size, packet.sent()));
                    let ending = packet.ending_round();
                    prop_assert!(ending.ends_round() && !packet.ends_round() && !ending.is_reverse());
                    prop_assert_eq!((ending.kind(), ending.size(), ending.is_bare()), (kind, size, packet.is_bare()));
                }
                if kind != Kind::Ack {
                    let scalable = packet.scalable();
                    prop_assert!(scalable.is_scalable() && scalable.is_capable() && !scalable.is_marked() && !scalable.is_reverse());
                    prop_assert_eq!((scalable.kind(), scalable.size(), scalable.seq()), (kind, size, seq));
                    prop_assert!(scalable.marked().is_scalable() && !packet.capable().is_scalable());
                    let bleached = scalable.marked().bleached();
                    prop_assert!(!bleached.is_scalable() && !bleached.is_capable() && !bleached.is_marked());
                    prop_assert_eq!(bleached.kind(), kind);
                }
                let told = packet.capable().marked().reduced();
                prop_assert!(told.is_capable() && told.is_marked() && told.is_reduced() && !told.is_lost());
                prop_assert_eq!((told.size(), told.kind(), told.precedence()), (size, kind, packet.precedence()));
                prop_assert!(!packet.is_capable() && !packet.is_marked() && !packet.is_reduced());
                let (source, seq) = (flow % Address::SOURCES, seq % Address::SEQUENCE);
                let address = Address { destination: flow as u16, transfer: seq as u8 % Address::TRANSFERS, last: seq % 2 == 0 };
                prop_assert!(!packet.is_addressed());
                let packet = Packet::new(kind, source, seq, size, 0.5).addressed(address).served(Time::new(1.5), Precedence::of(age));
                prop_assert!(packet.is_addressed() && !packet.ends_round());
                prop_assert_eq!((packet.destination(), packet.source(), packet.transfer(), packet.is_last()), (address.destination, source, address.transfer, address.last));
                prop_assert_eq!((packet.kind(), packet.size(), packet.sent()), (kind, size, Time::new(0.5)));
                prop_assert_eq!((packet.unaddressed().flow(), packet.unaddressed().seq()), (source, seq));
            }
        }
    }
}

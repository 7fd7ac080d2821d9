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

/// A packet. `start` and `sent` let every later time be recomputed exactly where it is needed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Packet {
    /// When its transmission on the current link began, in seconds.
    pub start: f64,
    /// When its source offered it to the first link, in seconds. Of an ACK: when the packet that it
    /// answers was sent (the timestamp of RFC 7323), or where that and its SACK blocks are.
    stamp: u64,
    /// The flow.
    pub flow: u32,
    /// Sequence number in packets; of an ACK, the last packet received in order.
    pub seq: u32,
    /// The precedence of its delivery at the current link.
    pub precedence: Precedence,
    /// Bytes above the link's framing.
    pub size: u16,
    /// How many links of its path lie behind it.
    pub hop: u8,
    /// The kind, with the flags above it.
    tag: u8,
}

const KIND: u8 = 0b11;
const RETRANSMITTED: u8 = 1 << 2;
const BARE: u8 = 1 << 3;
const LOST: u8 = 1 << 4;
const BLOCKS: u8 = 1 << 5;

impl Packet {
    /// A packet of `size` bytes that leaves its source at `sent`.
    #[inline]
    #[must_use]
    pub fn new(kind: Kind, flow: u32, seq: u32, size: u32, sent: f64) -> Self {
        debug_assert!(size <= u32::from(u16::MAX));
        let stamp = sent.to_bits();
        Self { start: 0.0, stamp, flow, seq, precedence: Precedence::FIRST, size: size as u16, hop: 0, tag: kind as u8 }
    }

    /// When it was sent, or of an ACK without blocks, when the packet that it answers was.
    #[inline]
    #[must_use]
    pub fn sent(&self) -> Time {
        debug_assert!(self.blocks().is_none());
        Time::new(f64::from_bits(self.stamp))
    }

    /// Where the SACK blocks and the timestamp of an ACK are, if it has blocks.
    #[inline]
    #[must_use]
    pub fn blocks(&self) -> Option<u32> {
        (self.tag & BLOCKS != 0).then_some(self.stamp as u32)
    }

    /// Puts the SACK blocks and the timestamp of an ACK elsewhere.
    #[must_use]
    pub fn with_blocks(mut self, handle: u32, bytes: u32) -> Self {
        self.stamp = u64::from(handle);
        self.size += bytes as u16;
        self.tag |= BLOCKS;
        self
    }

    /// What it is.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.tag & KIND {
            0 => Kind::Segment,
            1 => Kind::Ack,
            _ => Kind::Datagram,
        }
    }

    /// Whether it runs against the flow's direction.
    #[inline]
    #[must_use]
    pub fn is_reverse(&self) -> bool {
        self.tag & KIND == Kind::Ack as u8
    }

    /// Marks a retransmission.
    #[inline]
    #[must_use]
    pub fn retransmitted(mut self, yes: bool) -> Self {
        self.tag |= if yes { RETRANSMITTED } else { 0 };
        self
    }

    /// Whether it was sent before.
    #[inline]
    #[must_use]
    pub fn is_retransmitted(&self) -> bool {
        self.tag & RETRANSMITTED != 0
    }

    /// Marks a segment without payload that occupies no sequence number.
    #[inline]
    #[must_use]
    pub fn bare(mut self) -> Self {
        self.tag |= BARE;
        self
    }

    /// Whether it carries no payload and occupies no sequence number.
    #[inline]
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.tag & BARE != 0
    }

    /// Marks a packet that the wire will lose.
    #[inline]
    pub fn lose(&mut self) {
        self.tag |= LOST;
    }

    /// Whether the wire loses it.
    #[inline]
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.tag & LOST != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn flags_leave_the_kind_alone() {
        for kind in [Kind::Segment, Kind::Ack, Kind::Datagram] {
            let mut packet = Packet::new(kind, 1, 2, 1500, 0.5).retransmitted(true).bare();
            packet.lose();
            assert_eq!(packet.kind(), kind);
            assert!(packet.is_retransmitted() && packet.is_bare() && packet.is_lost());
        }
    }
}

//! The receiving end of a TCP connection: puts packets in order and acknowledges them.

use std::collections::VecDeque;

use crate::events::{Entity, Key};
use crate::packet::{Kind, Packet};
use crate::scenario::{Profile, Recovery, TcpSpec};
use crate::time::Time;
use crate::transport::ack_delay::{AckDelay, COMPRESSED_BLOCKS, MARKED_QUICK_ACKS};
use crate::transport::ack_options::Advertised;
use crate::transport::ecn::{Echo, Feedback};
use crate::transport::network::Network;
use crate::transport::one_way::OneWay;
use crate::transport::receive_window::Beyond;
use crate::transport::sack::{MOST_BLOCKS, SackBlocks};
use crate::transport::signs::Signs;
use crate::transport::timer::Timer;

/// Totals of a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverTotals {
    /// Packets that arrived.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that arrived with a congestion mark.
    pub packets_marked: u64,
    /// When the last packet arrived that continued the sequence.
    pub advanced: Time,
}

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The next packet expected in order.
    next: u32,
    /// The highest packet seen.
    highest: Option<u32>,
    /// When the packet was sent whose arrival the next ACK reports, in seconds.
    echo_s: f64,
    last_ack_sent: i64,
    /// Ranges received beyond `next`, sorted, half-open.
    early: VecDeque<(u32, u32)>,
    /// Blocks reported last, the most recent first (RFC 2018 §4 repeats them).
    reported: Vec<(u32, u32)>,
    sack: bool,
    /// Tells of packets that came twice (RFC 2883), as RACK needs it.
    tells_twice: bool,
    /// Bytes that the SACK option adds to an ACK before its blocks.
    sack_option_bytes: u32,
    delayed_ack_s: Option<f64>,
    /// Profile `linux`: for how long, up to that.
    ack_delay: Option<Box<AckDelay>>,
    echo: Echo,
    ack_bytes: u32,
    delay: Timer,
    timer_entity: Entity,
    flow: u32,
    /// The last packet, if it is shorter than the others; else no packet.
    short: u32,
    /// How long packets with payload were on their way.
    pub one_way: OneWay,
    /// Totals.
    pub totals: ReceiverTotals,
}

impl Receiver {
    /// A receiver of flow `flow` whose delayed-ACK timer is `timer_entity`, and which tells of congestion marks
    /// by `feedback`.
    #[must_use]
    pub fn new(tcp: &TcpSpec, profile: Profile, feedback: Feedback, flow: u32, timer_entity: Entity) -> Self {
        Self {
            next: 0,
            highest: None,
            echo_s: 0.0,
            last_ack_sent: -1,
            early: VecDeque::new(),
            reported: Vec::new(),
            sack: matches!(tcp.recovery, Recovery::Sack | Recovery::Rack),
            tells_twice: tcp.recovery == Recovery::Rack,
            // RFC 2018 §3: kind, length and two bytes of padding; ns-2 counts the blocks alone.
            sack_option_bytes: if profile == Profile::Ns2 { 0 } else { 4 },
            delayed_ack_s: tcp.delayed_ack_s,
            ack_delay: (profile == Profile::Linux).then(|| {
                Box::new(AckDelay::new((tcp.rto.initial_s, tcp.rto.min_s), tcp.payload_bytes, tcp.window_packets))
            }),
            echo: Echo::new(feedback, profile != Profile::Ns2),
            ack_bytes: tcp.ack_bytes,
            delay: Timer::default(),
            timer_entity,
            flow,
            short: u32::MAX,
            one_way: OneWay::new(0.0, 0.0),
            totals: ReceiverTotals::default(),
        }
    }

    /// There will be so many packets, if there is an end.
    pub fn expect(&mut self, packets: Option<u32>) {
        if let Some(ack_delay) = &mut self.ack_delay {
            ack_delay.expect(packets);
        }
    }

    /// The last packet, of this number, is shorter than the others: it takes `shortest_s` seconds at least, and `unloaded_s` as
    /// a rule, where it does not wait.
    pub fn tell_last_apart(&mut self, short: u32, shortest_s: f64, unloaded_s: f64) {
        self.short = short;
        self.one_way.tell_last_apart(shortest_s, unloaded_s);
    }

    /// Packets received in order, the SYN not counted.
    #[must_use]
    pub fn in_order(&self) -> i32 {
        self.next as i32 - 1
    }

    /// Whether it tells of each mark.
    #[inline]
    #[must_use]
    pub fn reads_marks(&self) -> bool {
        self.echo.is_accurate()
    }

    /// A segment with these signs arrived that must not be covered by the ACK which is owed: sends that (RFC 8257 §3.2).
    pub fn send_owed<N: Network>(&mut self, network: &mut N, now: Key, signs: Signs) {
        if self.echo.changes_with(signs) && self.delay.is_armed() {
            self.send_waiting(network, now);
        }
    }

    /// Sends the ACK that waits.
    fn send_waiting<N: Network>(&mut self, network: &mut N, now: Key) {
        self.delay.cancel();
        let blocks = self.ack_delay.as_mut().map(|ack_delay| ack_delay.owed());
        self.acknowledge(network, now, blocks.as_ref(), 0);
    }

    /// Profile `linux`: whether the ACK that waits would lose a block by this segment, which touches none of those that it
    /// reports (tcp_sack_new_ofo_skb: TCP_SACK_BLOCKS_EXPECTED).
    #[inline]
    fn would_lose_a_block(&self, seq: u32) -> bool {
        seq > self.next && self.reported.len() >= COMPRESSED_BLOCKS && self.touches_no_block(seq)
    }

    /// Profile `linux`: the same of a segment behind a hole, of which enough blocks were reported.
    #[cold]
    fn touches_no_block(&self, seq: u32) -> bool {
        self.ack_delay.as_ref().is_some_and(|ack_delay| ack_delay.compresses())
            && !self.reported.iter().any(|&(left, right)| left <= seq + 1 && seq <= right)
    }

    /// A segment arrived: sends the ACK that answers it, with its blocks, unless it is held back. Whether it did.
    #[inline]
    pub fn receive<N: Network>(&mut self, network: &mut N, now: Key, packet: &Packet) -> bool {
        self.totals.packets += 1;
        self.totals.bytes += u64::from(packet.size());
        let seq = packet.seq();
        if let Some(ack_delay) = &mut self.ack_delay
            && (packet.is_bare() || seq == 0)
        {
            ack_delay.connect(now.time, packet);
        }
        if packet.is_bare() {
            return false;
        }
        if seq > 0 {
            self.one_way.add(now.time.since(packet.sent()));
            if seq == self.short {
                self.one_way.note_last();
            }
        }
        // Linux has rejected by then what lies before the window (RFC 7323 §5.3, R2; tcp_sequence).
        let rejected = self.ack_delay.is_some() && i64::from(seq) < self.last_ack_sent;
        if packet.sent().seconds() >= self.echo_s && i64::from(seq) <= self.last_ack_sent + 1 && !rejected {
            self.echo_s = packet.sent().seconds();
        }
        let at_once = self.echo.looks() && self.see_signs(seq, Signs::of(packet));
        if self.would_lose_a_block(seq) {
            self.send_waiting(network, now);
        }
        let (before, waiting) = (self.next, if self.ack_delay.is_some() { self.waiting() } else { 0 });
        let duplicate = self.take(seq, now.time);
        if seq > 0 && self.ack_delay.is_some() {
            self.take_as_linux(now.time, packet, waiting, duplicate);
        }
        // In sequence, nothing missing behind it, not the SYN, and no ACK owed: wait for the next one
        // (RFC 5681 §4.2; ns-2's DelAck sink does the same).
        if let Some(delay_s) = self.delayed_ack_s {
            let in_sequence = seq + 1 == self.next && self.highest == Some(seq) && seq > 0;
            let hold_s = match &mut self.ack_delay {
                Some(_) if seq > 0 => self.hold_as_linux(now.time, packet, in_sequence, duplicate || at_once),
                _ => in_sequence.then_some(delay_s),
            };
            let hold_s = hold_s.map(|hold_s| hold_s.min(delay_s));
            let armed = self.delay.is_armed();
            // Of two segments in sequence the second is not waited for.
            if let Some(hold_s) = hold_s
                && !at_once
                && !(in_sequence && armed)
            {
                if !in_sequence {
                    self.report(seq, duplicate);
                }
                if !armed {
                    self.delay.arm(network, self.timer_entity, now, hold_s);
                }
                return false;
            }
            self.delay.cancel();
        }
        let found;
        let blocks = if self.sack && self.has_blocks(duplicate) {
            found = self.blocks(seq, duplicate);
            Some(&found)
        } else {
            None
        };
        let unread = self.next - before;
        self.acknowledge(network, now, blocks, unread);
        if unread > 1 && self.ack_delay.is_some() {
            self.open_window(network, now, blocks);
        }
        true
    }

    /// Packets behind a hole.
    fn waiting(&self) -> u32 {
        self.early.iter().map(|range| range.1 - range.0).sum()
    }

    /// A hole is filled, and the application has read: another ACK tells of the window, if it is so much larger now.
    #[cold]
    fn open_window<N: Network>(&mut self, network: &mut N, now: Key, blocks: Option<&SackBlocks>) {
        if self.ack_delay.as_ref().is_some_and(|ack_delay| ack_delay.opens(self.next, self.waiting())) {
            self.acknowledge(network, now, blocks, 0);
        }
    }

    /// Profile `linux`: a segment opens the window, whether or not its ACK may wait. So many waited behind a hole before it.
    fn take_as_linux(&mut self, now: Time, packet: &Packet, waiting: u32, duplicate: bool) {
        let (next, highest) = (self.next, self.highest.unwrap_or_default());
        let Some(ack_delay) = self.ack_delay.as_mut() else { return };
        if duplicate {
            ack_delay.take_again();
        } else {
            ack_delay.take(now, packet, next, Beyond { spanned: (highest + 1).saturating_sub(next), waiting });
        }
    }

    /// Profile `linux`: how long the ACK of a segment may wait, if it may.
    fn hold_as_linux(&mut self, now: Time, packet: &Packet, in_sequence: bool, tells: bool) -> Option<f64> {
        let next = self.next;
        let owed = i64::from(next) - 1 - self.last_ack_sent;
        let compressible = self.sack && !self.early.is_empty() && !tells;
        let ack_delay = self.ack_delay.as_mut()?;
        if in_sequence {
            return ack_delay.hold(now, packet.seq(), packet.is_pushed());
        }
        let wait_s = compressible.then(|| ack_delay.compress(next, owed)).flatten();
        if wait_s.is_none() {
            ack_delay.acknowledged();
        }
        wait_s
    }

    /// Notes what the ACK that waits will report, `seq` first.
    fn report(&mut self, seq: u32, duplicate: bool) {
        let blocks = self.blocks(seq, duplicate);
        if let Some(ack_delay) = &mut self.ack_delay {
            ack_delay.report(blocks);
        }
    }

    /// The delayed-ACK timer's event came: sends the ACK that was held back. Whether there was one.
    pub fn timer<N: Network>(&mut self, network: &mut N, now: Key) -> bool {
        let expires = self.delay.expires(network, now);
        if expires {
            let blocks = self.ack_delay.as_mut().map(|ack_delay| ack_delay.waited());
            self.acknowledge(network, now, blocks.as_ref(), 0);
        }
        expires
    }

    /// Sends an ACK with these blocks, if there are any, and with the AccECN option if there is one. The application has not
    /// read `unread` packets yet.
    #[inline(always)]
    fn acknowledge<N: Network>(&mut self, network: &mut N, now: Key, blocks: Option<&SackBlocks>, unread: u32) {
        let through = self.next - 1;
        self.last_ack_sent = i64::from(through);
        let mut ack = Packet::new(Kind::Ack, self.flow, through, self.ack_bytes, self.echo_s);
        let (ace, counts) = self.echo.tell();
        if ace != 0 {
            ack = ack.with_ace(ace);
        }
        let told = if self.ack_delay.is_some() { self.advertise(now.time, unread) } else { None };
        if blocks.is_some_and(|blocks| blocks.count() > 0) || counts.is_some() || told.is_some() {
            let blocks = blocks.copied().unwrap_or_default();
            ack = network.ack_options().attach(ack, blocks, counts, told, self.sack_option_bytes);
        }
        network.send(ack, now);
    }

    /// Profile `linux`: the window that an ACK advertises, if it has changed.
    #[inline(never)]
    fn advertise(&mut self, now: Time, unread: u32) -> Option<Advertised> {
        let held = unread + self.waiting();
        self.ack_delay.as_mut().and_then(|ack_delay| ack_delay.advertise(now, self.next, held))
    }

    /// Takes note of the mark of a packet, or of its absence. True if it must be acknowledged at once.
    #[cold]
    fn see_signs(&mut self, seq: u32, signs: Signs) -> bool {
        self.totals.packets_marked += u64::from(signs.marked);
        let mut at_once = false;
        if let Some(ack_delay) = &mut self.ack_delay
            && seq > 0
        {
            if self.echo.hurries(signs) {
                ack_delay.hurry(MARKED_QUICK_ACKS);
            }
            // A window that was reduced may be one packet (tcp_ecn_accept_cwr). With accurate ECN, as ECT(1) has it in Linux, none
            // is told.
            at_once = signs.reduced && !signs.scalable;
        }
        self.echo.see(seq, signs) || at_once
    }

    /// Notes that `seq` arrived `now`. True if it had arrived before.
    #[inline]
    fn take(&mut self, seq: u32, now: Time) -> bool {
        if self.highest.is_none_or(|highest| seq > highest) {
            self.highest = Some(seq);
        }
        if seq == self.next {
            self.next += 1;
            self.totals.advanced = now;
            if let Some(&(left, right)) = self.early.front()
                && left == self.next
            {
                self.next = right;
                self.early.pop_front();
            }
            return false;
        }
        seq < self.next || self.take_early(seq)
    }

    /// Notes a packet beyond the next expected one. True if it had arrived before.
    fn take_early(&mut self, seq: u32) -> bool {
        let after = self.early.partition_point(|range| range.0 <= seq);
        let joins_next = self.early.get(after).is_some_and(|range| range.0 == seq + 1);
        if after > 0 {
            let end_before = self.early[after - 1].1;
            if seq < end_before {
                return true;
            }
            if seq == end_before {
                let next = if joins_next { self.early.remove(after) } else { None };
                self.early[after - 1].1 = next.map_or(seq + 1, |range| range.1);
                return false;
            }
        }
        if joins_next {
            self.early[after].0 = seq;
        } else {
            self.early.insert(after, (seq, seq + 1));
        }
        false
    }

    /// Whether the blocks of an ACK are to be looked for. Mostly there are none, which nobody has to write and copy.
    #[inline]
    fn has_blocks(&self, duplicate: bool) -> bool {
        duplicate || !self.early.is_empty() || !self.reported.is_empty()
    }

    /// RFC 2883 §4: a packet that came twice first. RFC 2018 §4: the block with the packet just received, then the ones reported before that it
    /// does not cover.
    fn blocks(&mut self, seq: u32, duplicate: bool) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if duplicate && self.tells_twice {
            blocks.push(seq, seq + 1);
        }
        if self.early.is_empty() && !self.reported.is_empty() {
            self.reported.clear();
            return blocks;
        }
        if self.early.is_empty() && !duplicate {
            return blocks;
        }
        // A packet below the next expected one makes no block, but what it filled is covered.
        let after = self.early.partition_point(|range| range.1 <= seq);
        let recent = self.early.get(after).copied().filter(|range| range.0 <= seq);
        let (left, right) = recent.unwrap_or((0, self.next.max(seq + 1)));
        if let Some((left, right)) = recent {
            blocks.push(left, right);
        }
        let mut kept = 0;
        while !blocks.is_full() && kept < self.reported.len() {
            let (old_left, old_right) = self.reported[kept];
            if left <= old_left && right >= old_right {
                self.reported.remove(kept);
            } else {
                blocks.push(old_left, old_right);
                kept += 1;
            }
        }
        if let Some(recent) = recent {
            self.reported.insert(0, recent);
            self.reported.truncate(MOST_BLOCKS);
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::ack_options::AckOptionSlab;
    use crate::transport::network::Schedule;
    use crate::transport::tests::tcp;

    /// What the last ACK echoes, in seconds.
    #[derive(Default)]
    struct Echoed(f64, AckOptionSlab);

    impl Schedule for Echoed {
        fn schedule(&mut self, _: Key) {}
    }

    impl Network for Echoed {
        fn send(&mut self, ack: Packet, _: Key) {
            self.0 = ack.options().map_or_else(|| ack.sent(), |handle| self.1.take(handle).echo).seconds();
        }

        fn ack_options(&mut self) -> &mut AckOptionSlab {
            &mut self.1
        }
    }

    /// A packet from before the window is rejected by Linux before its timestamp counts, so that the sender knows by the ACK that it
    /// was needless (RFC 7323 §5.3; tcp_sequence). The last packet acknowledged touches the window.
    #[test]
    fn what_lies_before_the_window_leaves_linux_its_timestamp() {
        for (profile, echoed_s) in [(Profile::Linux, [0.4, 0.4, 3.0]), (Profile::Rfc, [0.4, 2.0, 3.0])] {
            let mut receiver = Receiver::new(&tcp("reno", Recovery::Rack), profile, Feedback::None, 0, 0);
            let mut network = Echoed::default();
            let mut echoed = |seq, sent_s| {
                let packet = Packet::new(Kind::Segment, 0, seq, 1052, sent_s);
                receiver.receive(&mut network, Key::planned(Time::new(sent_s + 0.05), 0), &packet);
                network.0
            };
            let last_s = (0..=4).map(|seq| echoed(seq, f64::from(seq) / 10.0)).last();
            assert_eq!([last_s.unwrap_or_default(), echoed(2, 2.0), echoed(4, 3.0)], echoed_s, "{profile:?}");
        }
    }
}

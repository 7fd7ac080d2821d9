//! How fast the path delivers: each packet in flight remembers what had been delivered when it left, and the ACK
//! that tells of it compares (draft-cheng-iccrg-delivery-rate-estimation-00 §3; draft-ietf-ccwg-bbr-04 §4.1).

use std::collections::VecDeque;

use crate::congestion::rate_sample::{LostPacket, RateSample};
use crate::random::Stream;
use crate::time::Time;
use crate::transport::sender::recovery::DUPLICATE_ACKS;
use crate::transport::sender::recovery::scoreboard::Scoreboard;

/// The clock of round-trip times, in seconds. Differences of times are rounded in their last bits: equal round-trip
/// times must be equal, as a smaller one than ever seen tells a control something.
const CLOCK_S: f64 = 1e-9;

/// A packet in flight, and what was known when it left.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    sent: Time,
    /// When the first packet of its flight left (`P.first_sent_time`).
    first_sent: Time,
    /// When the last delivery before it was known (`P.delivered_time`).
    delivered_at: Time,
    delivered: u64,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
    /// It had been sent before.
    again: bool,
    is_lost: bool,
}

/// A time as the clock of samples has it.
fn in_ticks(seconds: f64) -> f64 {
    (seconds / CLOCK_S).round() * CLOCK_S
}

/// The deliveries of a connection. Counts are of packets.
#[derive(Clone, Debug)]
pub struct Deliveries {
    /// Those not acknowledged cumulatively, from `first` on.
    packets: VecDeque<InFlight>,
    first: i32,
    /// What was acknowledged selectively, which a timeout does not undo.
    held: Scoreboard,
    /// Packets before this one have been found lost, or not.
    judged: i32,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u32,
    /// Samples are limited by the application until so many packets are delivered; zero: they are not.
    app_limited: u64,
    least_rtt_s: f64,
    losses: Vec<LostPacket>,
    /// It finds losses itself; else the recovery tells it.
    finds_losses: bool,
    random: Stream,
}

/// What an ACK told of for the first time.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    now: Time,
    /// The one of these packets that was sent last.
    packet: InFlight,
    /// Its round trip, in seconds, if it was sent once.
    rtt_s: Option<f64>,
    /// Packets delivered and packets in flight before.
    before: u64,
    in_flight_before: u32,
}

impl Deliveries {
    /// A connection that has sent nothing; its congestion control draws from `random`. Without `finds_losses`, the
    /// recovery tells what is lost by [`Self::lose`].
    #[must_use]
    pub fn new(random: Stream, finds_losses: bool) -> Self {
        Self {
            packets: VecDeque::new(),
            first: 1,
            held: Scoreboard::default(),
            judged: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            in_flight: 0,
            app_limited: 0,
            least_rtt_s: f64::INFINITY,
            losses: Vec::new(),
            finds_losses,
            random,
        }
    }

    /// Packets sent and neither delivered nor lost.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether the next packet ends a silence that the application caused.
    #[must_use]
    pub fn is_restart(&self) -> bool {
        self.in_flight == 0 && self.app_limited > 0
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.random.draws()
    }

    /// Samples of what is in flight will not tell how fast the path is, as too little was sent.
    pub fn mark_app_limited(&mut self) {
        self.app_limited = (self.delivered + u64::from(self.in_flight)).max(1);
    }

    /// A packet leaves. The SYN does not count: it is not of the size of the others.
    pub fn note_sent(&mut self, seq: i32, now: Time) {
        let Ok(index) = usize::try_from(seq - self.first) else { return };
        let before = self.packets.get(index).copied();
        if before.is_some() && self.held.holds(seq) {
            // After a timeout also those are retransmitted that were acknowledged selectively: they are delivered.
            return;
        }
        self.in_flight -= u32::from(before.is_some_and(|before| !before.is_lost));
        if self.in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        self.in_flight += 1;
        let packet = InFlight {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight: self.in_flight,
            app_limited: self.app_limited > 0,
            again: before.is_some(),
            is_lost: false,
        };
        match self.packets.get_mut(index) {
            Some(known) => *known = packet,
            None => self.packets.push_back(packet),
        }
    }

    /// The SYN was acknowledged. Returns its round trip as samples have it.
    pub fn note_handshake(&mut self, rtt_s: f64) -> f64 {
        self.least_rtt_s = rtt_s;
        in_ticks(rtt_s)
    }

    /// An ACK arrived, of everything through `acked` and of `blocks`: what it delivers, if it tells of any packet for the
    /// first time.
    pub fn acknowledge(&mut self, now: Time, acked: i32, blocks: &[(u32, u32)]) -> Option<Delivery> {
        let (before, in_flight_before) = (self.delivered, self.in_flight);
        let mut newest = None;
        if !blocks.is_empty() {
            self.take_blocks(now, blocks, &mut newest);
        }
        self.take_cumulative(now, acked, &mut newest);
        if self.finds_losses {
            self.find_losses();
        }
        let packet = newest?;
        self.first_sent = packet.sent;
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let rtt_s = (!packet.again).then(|| now.since(packet.sent));
        self.least_rtt_s = rtt_s.map_or(self.least_rtt_s, |rtt_s| rtt_s.min(self.least_rtt_s));
        Some(Delivery { now, packet, rtt_s, before, in_flight_before })
    }

    /// The sample that a delivery gives, once it is known which losses the ACK shows.
    #[must_use]
    pub fn sample(&self, delivery: Delivery, recovering: bool) -> RateSample {
        let Delivery { now, packet, rtt_s, before, in_flight_before } = delivery;
        let rtt_s = rtt_s.map(in_ticks);
        // The slower of sending and delivering: ACKs that come together do not make a path faster (§2.2).
        let interval_s = packet.sent.since(packet.first_sent).max(now.since(packet.delivered_at));
        let delivered = (self.delivered - packet.delivered) as f64;
        // Less than a round trip: the ACK is of an earlier transmission (§3.3).
        let is_valid = interval_s > 0.0 && interval_s >= self.least_rtt_s;
        RateSample {
            now,
            sent: packet.sent,
            rate: if is_valid { delivered / interval_s } else { 0.0 },
            delivered,
            prior_delivered: packet.delivered as f64,
            total_delivered: self.delivered as f64,
            rtt_s,
            newly_delivered: (self.delivered - before) as f64,
            newly_lost: self.losses.len() as f64,
            lost: (self.lost - packet.lost) as f64,
            sent_in_flight: f64::from(packet.in_flight),
            in_flight: f64::from(self.in_flight),
            in_flight_before: f64::from(in_flight_before),
            app_limited: packet.app_limited,
            recovering,
            due_in_s: 0.0,
        }
    }

    /// What an ACK tells selectively.
    #[cold]
    fn take_blocks(&mut self, now: Time, blocks: &[(u32, u32)], newest: &mut Option<InFlight>) {
        let mut held = std::mem::take(&mut self.held);
        for &(left, right) in blocks {
            // A block below is of a packet that arrived twice (RFC 2883).
            let (left, right) = ((left as i32).max(self.first), right as i32);
            if left < right {
                held.for_gaps(left, right, |from, to| {
                    (from..to).for_each(|seq| self.deliver(self.packets[(seq - self.first) as usize], now, newest));
                });
                held.update(self.first - 1, &[(left as u32, right as u32)]);
            }
        }
        self.held = held;
    }

    /// What an ACK tells of everything through `acked`.
    fn take_cumulative(&mut self, now: Time, acked: i32, newest: &mut Option<InFlight>) {
        let none_held = self.held.held() == 0;
        while self.first <= acked
            && let Some(packet) = self.packets.pop_front()
        {
            if none_held || !self.held.holds(self.first) {
                self.deliver(packet, now, newest);
            }
            self.first += 1;
        }
        if !none_held {
            self.held.update(self.first - 1, &[]);
        }
    }

    #[inline]
    fn deliver(&mut self, packet: InFlight, now: Time, newest: &mut Option<InFlight>) {
        self.delivered += 1;
        self.delivered_at = now;
        self.in_flight -= u32::from(!packet.is_lost);
        if newest.is_none_or(|newest| packet.sent >= newest.sent) {
            *newest = Some(packet);
        }
    }

    /// What is missing below three packets received is lost, once (RFC 6675 IsLost). That a packet was lost again
    /// only the timer finds out, as in recovery.
    fn find_losses(&mut self) {
        let Some(end) = self.held.held_from_top(DUPLICATE_ACKS as i32) else { return };
        for seq in self.judged.max(self.first)..end {
            if !self.packets[(seq - self.first) as usize].again {
                self.lose(seq);
            }
        }
        self.judged = self.judged.max(end);
    }

    /// The timer expired: everything is lost that is not known to have arrived, unless the recovery knows better.
    pub fn lose_all(&mut self) {
        if self.finds_losses {
            let held = std::mem::take(&mut self.held);
            held.for_gaps(self.first, self.first + self.packets.len() as i32, |from, to| {
                (from..to).for_each(|seq| self.lose(seq));
            });
            self.held = held;
        }
    }

    /// A packet is lost, if it is in flight.
    pub fn lose(&mut self, seq: i32) {
        let held = self.held.holds(seq);
        let place = usize::try_from(seq - self.first).ok();
        let Some(packet) = place.and_then(|place| self.packets.get_mut(place)) else { return };
        if packet.is_lost || held {
            return;
        }
        packet.is_lost = true;
        self.lost += 1;
        self.in_flight -= 1;
        self.losses.push(LostPacket {
            sent: packet.sent,
            sent_in_flight: f64::from(packet.in_flight),
            lost: (self.lost - packet.lost) as f64,
            app_limited: packet.app_limited,
        });
    }

    /// The packets found lost since [`Self::forget_losses`], and what the control draws random numbers from.
    pub fn losses(&mut self) -> (&[LostPacket], &mut Stream) {
        (&self.losses, &mut self.random)
    }

    /// The control has been told of the losses.
    pub fn forget_losses(&mut self) {
        self.losses.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn deliveries(packets: i32) -> Deliveries {
        let mut deliveries = Deliveries::new(Stream::new(1, "test", 0, "congestion"), true);
        (1..=packets).for_each(|seq| deliveries.note_sent(seq, Time::new(f64::from(seq))));
        deliveries
    }

    fn sampled(deliveries: &mut Deliveries, now_s: f64, acked: i32, blocks: &[(u32, u32)]) -> Option<RateSample> {
        deliveries.acknowledge(Time::new(now_s), acked, blocks).map(|delivery| deliveries.sample(delivery, false))
    }

    /// Sent one a second from second 1 on, acknowledged one a second from second 11 on.
    #[test]
    fn a_steady_flow_has_its_rate_however_it_is_acknowledged() {
        let mut deliveries = deliveries(10);
        let mut take = |now, acked, blocks: &[(u32, u32)]| {
            sampled(&mut deliveries, now, acked, blocks).map(|sample| (sample.rate, sample.rtt_s))
        };
        // One packet since the connection began; the second was sent a second after the first, but arrives
        // 11 seconds after it was.
        assert_eq!(take(11.0, 1, &[]), Some((0.1, Some(10.0))));
        assert_eq!(take(12.0, 1, &[(3, 4)]), Some((2.0 / 11.0, Some(9.0))));
        assert_eq!(take(13.0, 1, &[(3, 4)]), None);
        assert_eq!(take(13.0, 3, &[]), Some((3.0 / 12.0, Some(11.0))));
    }

    #[test]
    fn three_packets_beyond_it_show_a_loss_once() {
        let mut deliveries = deliveries(6);
        for right in [4, 5, 6] {
            let sample = sampled(&mut deliveries, 11.0, 1, &[(3, right)]).expect("news");
            assert_eq!(sample.newly_lost, f64::from(u8::from(right == 6)));
        }
        assert_eq!((deliveries.in_flight(), deliveries.losses().0[0].lost), (1, 1.0));
        deliveries.forget_losses();
        deliveries.note_sent(2, Time::new(12.0));
        assert_eq!(deliveries.in_flight(), 2);
        let sample = sampled(&mut deliveries, 13.0, 6, &[]).expect("news");
        assert_eq!((sample.in_flight, sample.newly_lost, sample.total_delivered), (0.0, 0.0, 6.0));
        // Of packet 2 it is unknown which transmission arrived.
        assert_eq!(sample.rtt_s, None);
    }

    proptest! {
        /// Losses, timeouts that send everything again, and blocks in any order: what is in flight is what is neither
        /// delivered nor lost, and each packet is delivered once.
        #[test]
        fn nothing_is_counted_twice(steps in prop::collection::vec((0u8..4, 1i32..40, 1i32..9), 1..60)) {
            const PACKETS: i32 = 40;
            let mut deliveries = deliveries(PACKETS);
            let (mut acked, mut now_s) = (0, 100.0);
            for (kind, seq, length) in steps {
                now_s += 1.0;
                let now = Time::new(now_s);
                match kind {
                    0 => {
                        deliveries.lose_all();
                        prop_assert_eq!(deliveries.in_flight(), 0);
                        (acked + 1..=PACKETS.min(acked + length)).for_each(|seq| deliveries.note_sent(seq, now));
                    }
                    1 if seq > acked => deliveries.note_sent(seq, now),
                    2 => {
                        acked = acked.max(seq - 30);
                        deliveries.acknowledge(now, acked, &[]);
                    }
                    _ => {
                        let block = (seq as u32, (seq + length).min(PACKETS + 1) as u32);
                        deliveries.acknowledge(now, acked, &[block]);
                    }
                }
                prop_assert!(i64::from(deliveries.in_flight()) + deliveries.delivered as i64 <= i64::from(PACKETS));
            }
            deliveries.acknowledge(Time::new(1000.0), PACKETS, &[]);
            prop_assert_eq!((deliveries.in_flight(), deliveries.delivered), (0, PACKETS as u64));
        }
    }
}

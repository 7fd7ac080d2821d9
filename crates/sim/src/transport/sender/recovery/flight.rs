//! The packets that are outstanding, each with when it was sent last: what RACK (RFC 8985 §6) knows, and how it
//! finds losses in it.
//!
//! Of a retransmission that was acknowledged sooner than the smallest round trip, nothing is concluded; nor, under profile
//! `linux`, of one acknowledged by an ACK that echoes a time before it (Linux's tcp_skb_spurious_retrans). What SACK blocks tell
//! of has no such test, as the timestamp of their ACK is older.

use std::collections::VecDeque;

use super::reordering::Reordering;
use super::undo::ticks;
use crate::time::Time;

/// Held packets that show a loss without waiting (RFC 8985 §6.2 step 4: DupThresh).
const DUPLICATES: i32 = 3;
/// The tick of the clock with which times are compared, in seconds: sums of them are rounded.
const TICK_S: f64 = 1e-6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    /// The receiver reported it.
    Held,
    /// Lost, and not retransmitted since.
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    sent: Time,
    again: bool,
    state: State,
}

/// All packets behind the cumulative ACK.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The packet after the cumulative ACK: the first of `packets`.
    first: i32,
    packets: VecDeque<Outstanding>,
    /// Transmissions in order; those of packets that were retransmitted, held or lost since are stale.
    order: VecDeque<(Time, i32)>,
    /// SACK blocks of the last ACK that had any: what lies in them is noted already.
    seen: Vec<(i32, i32)>,
    held: i32,
    lost: i32,
    /// No packet before this one is lost.
    lost_from: i32,
    /// The newest transmission that arrived: RACK.xmit_ts and RACK.end_seq.
    newest: (Time, i32),
    /// The round trip of the packet acknowledged last: RACK.rtt; and the smallest one.
    rtt_s: f64,
    base_s: f64,
    /// The highest packet that arrived: RACK.fack.
    highest_arrived: i32,
    /// For how long packets may only be late, and for how many seconds that was last: RACK.reo_wnd.
    pub reordering: Reordering,
    reordering_s: f64,
    /// Packets found lost that nobody was told of yet.
    found: Vec<i32>,
    /// When the first of the packets was sent of which the last ACK told in its SACK blocks, of those sent once.
    sent_once: Option<Time>,
    /// Of the packets of which the last ACK told for the first time, the first that was sent once; and how many it told of in its
    /// SACK blocks.
    told_once: Option<i32>,
    told_held: i32,
}

impl Default for Flight {
    /// Nothing was sent; data begins at 1.
    fn default() -> Self {
        Self {
            first: 1,
            packets: VecDeque::new(),
            order: VecDeque::new(),
            seen: Vec::new(),
            held: 0,
            lost: 0,
            lost_from: 1,
            newest: (Time::ZERO, 0),
            rtt_s: 0.0,
            base_s: f64::INFINITY,
            highest_arrived: 0,
            reordering: Reordering::default(),
            reordering_s: 0.0,
            found: Vec::new(),
            sent_once: None,
            told_once: None,
            told_held: 0,
        }
    }
}

impl Flight {
    /// Packets in the network, as far as is known.
    #[must_use]
    pub fn pipe(&self) -> i32 {
        self.missing() - self.lost
    }

    /// Packets that are not known to have arrived.
    #[must_use]
    pub fn missing(&self) -> i32 {
        self.packets.len() as i32 - self.held
    }

    /// Packets that the receiver holds behind a gap.
    #[must_use]
    pub fn held(&self) -> i32 {
        self.held
    }

    /// When the first of them was sent last.
    #[must_use]
    pub fn first_sent(&self) -> Option<Time> {
        self.packets.front().map(|packet| packet.sent)
    }

    /// Packets that are lost and were not retransmitted since.
    #[must_use]
    pub fn lost(&self) -> i32 {
        self.lost
    }

    /// Of the packets of which the last ACK told for the first time, the first that was sent once, and how many it told of in its
    /// SACK blocks.
    #[must_use]
    pub fn told(&self) -> (Option<i32>, i32) {
        (self.told_once, self.told_held)
    }

    /// The highest packet that is known to have arrived.
    #[must_use]
    pub fn highest_arrived(&self) -> i32 {
        self.highest_arrived
    }

    /// The handshake took `rtt_s` seconds.
    pub fn measured(&mut self, rtt_s: f64) {
        self.base_s = rtt_s;
    }

    /// Packet `seq` is sent, the next new one or one again.
    pub fn sent(&mut self, seq: i32, now: Time) {
        let Ok(place) = usize::try_from(seq - self.first) else { return };
        match self.packets.get_mut(place) {
            Some(packet) => {
                self.lost -= i32::from(packet.state == State::Lost);
                *packet = Outstanding { sent: now, again: true, state: State::InFlight };
            }
            None => self.packets.push_back(Outstanding { sent: now, again: false, state: State::InFlight }),
        }
        self.order.push_back((now, seq));
    }

    /// Takes in an ACK with its SACK blocks, half-open: how many packets it says have arrived (RFC 8985 §6.2, steps
    /// 1 to 3). `echo` is when what it answers was sent, if that tells retransmissions from what was sent before.
    pub fn deliver(&mut self, ack: i32, blocks: &[(u32, u32)], now: Time, echo: Option<Time>) -> i32 {
        let before = self.missing();
        (self.sent_once, self.told_once, self.told_held) = (None, None, 0);
        while self.first <= ack
            && let Some(packet) = self.packets.pop_front()
        {
            match packet.state {
                State::Held => self.held -= 1,
                State::Lost => self.lost -= 1,
                State::InFlight => {}
            }
            if packet.state != State::Held {
                self.arrived(self.first, packet, now, echo);
            }
            self.first += 1;
        }
        let delivered = before - self.missing();
        if blocks.is_empty() {
            return delivered;
        }
        let mut blocks: Vec<(i32, i32)> = blocks.iter().map(|&(left, right)| (left as i32, right as i32)).collect();
        // In order, or old news would look like reordering.
        blocks.sort_unstable();
        for &(left, right) in &blocks {
            let known = self.seen.iter().find(|seen| left < seen.1 && seen.0 < right).copied();
            let (from, to) = known.unwrap_or((right, right));
            for seq in (left..from.min(right)).chain(to.max(left)..right) {
                self.told_held += i32::from(self.hold(seq, now));
            }
        }
        self.seen = blocks;
        delivered + self.told_held
    }

    /// The receiver holds `seq`. True if that is new.
    fn hold(&mut self, seq: i32, now: Time) -> bool {
        let place = usize::try_from(seq - self.first).ok();
        let Some(packet) = place.and_then(|place| self.packets.get_mut(place)) else { return false };
        if packet.state == State::Held {
            return false;
        }
        self.lost -= i32::from(packet.state == State::Lost);
        self.held += 1;
        let arrived = *packet;
        packet.state = State::Held;
        if !arrived.again {
            self.sent_once.get_or_insert(arrived.sent);
        }
        self.arrived(seq, arrived, now, None);
        true
    }

    fn arrived(&mut self, seq: i32, packet: Outstanding, now: Time, echo: Option<Time>) {
        let rtt_s = now.since(packet.sent);
        if !packet.again {
            self.told_once = Some(self.told_once.map_or(seq, |first| first.min(seq)));
            self.base_s = self.base_s.min(rtt_s);
            if seq < self.highest_arrived {
                self.reordering.note();
            }
        }
        self.highest_arrived = self.highest_arrived.max(seq);
        // Perhaps the packet sent before it arrived.
        if packet.again && (rtt_s < self.base_s || echo.is_some_and(|echo| ticks(echo) < ticks(packet.sent))) {
            return;
        }
        self.rtt_s = rtt_s;
        self.newest = self.newest.max((packet.sent, seq));
    }

    /// The round trip of the first packet sent once of which the ACK at `now` told in its SACK blocks; and whether the first
    /// packet behind the cumulative ACK was sent too late for its own to have come.
    #[must_use]
    pub fn round_trip(&self, now: Time) -> Option<(f64, bool)> {
        let rtt_s = now.since(self.sent_once?);
        Some((rtt_s, rtt_s > now.since(self.packets.front()?.sent)))
    }

    /// Finds packets that are lost (RFC 8985 §6.2, steps 4 and 5): those sent before one that has arrived, longer
    /// ago than its round trip and the reordering window. Returns after how many seconds others will be, if any.
    pub fn detect(&mut self, now: Time, recovering: bool, srtt_s: f64) -> Option<f64> {
        let hasty = recovering || self.held >= DUPLICATES;
        self.reordering_s = self.reordering.window_s(self.base_s, srtt_s, hasty);
        let limit_s = self.rtt_s + self.reordering_s;
        let mut wait_s = None;
        while let Some(&(sent, seq)) = self.order.front()
            && self.is_before_newest(sent, seq)
        {
            if self.is_current(sent, seq) {
                if now.since(sent) + TICK_S < limit_s {
                    // The last of those that are late makes up its mind for all.
                    let older = self.order.partition_point(|&(sent, seq)| (sent, seq) < self.newest);
                    let late = self.order.range(..older).rfind(|&&(sent, seq)| self.is_current(sent, seq));
                    wait_s = late.map(|late| limit_s - now.since(late.0));
                    break;
                }
                self.lose(seq);
            }
            self.order.pop_front();
        }
        wait_s
    }

    fn is_before_newest(&self, sent: Time, seq: i32) -> bool {
        (sent, seq) < self.newest
    }

    /// Whether a transmission is the last one of a packet that is still in flight.
    fn is_current(&self, sent: Time, seq: i32) -> bool {
        let place = usize::try_from(seq - self.first).ok();
        let packet = place.and_then(|place| self.packets.get(place));
        packet.is_some_and(|packet| packet.state == State::InFlight && packet.sent == sent)
    }

    /// The packets found lost since this was asked last.
    pub fn take_found(&mut self) -> Vec<i32> {
        std::mem::take(&mut self.found)
    }

    fn lose(&mut self, seq: i32) {
        self.found.push(seq);
        self.packets[(seq - self.first) as usize].state = State::Lost;
        self.lost += 1;
        self.lost_from = self.lost_from.min(seq);
    }

    /// The retransmission timer expired: the first packet is lost, and others that have been on their way for longer
    /// than a round trip and the time for which they may be `late` (RFC 8985 §6.3).
    pub fn lose_by_timeout(&mut self, now: Time, late: bool) {
        let limit_s = self.rtt_s + if late { self.reordering_s } else { 0.0 };
        if self.packets.front().is_some_and(|packet| packet.state == State::InFlight) {
            self.lose(self.first);
        }
        while let Some(&(sent, seq)) = self.order.front() {
            if self.is_current(sent, seq) {
                if now.since(sent) + TICK_S < limit_s {
                    break;
                }
                self.lose(seq);
            }
            self.order.pop_front();
        }
    }

    /// Whether a packet that was retransmitted is missing.
    #[must_use]
    pub fn awaits_again(&self) -> bool {
        self.packets.iter().any(|packet| packet.again && packet.state == State::InFlight)
    }

    /// Nothing that was taken for lost need be: it is in flight again, and lost if what was sent after it arrives.
    pub fn find_again(&mut self) {
        for (seq, packet) in (self.first..).zip(&mut self.packets) {
            if packet.state == State::Lost {
                packet.state = State::InFlight;
                self.order.push_back((packet.sent, seq));
            }
        }
        self.order.make_contiguous().sort_unstable();
        self.lost = 0;
        self.lost_from = i32::MAX;
    }

    /// The first packet that is lost.
    pub fn first_lost(&mut self) -> Option<i32> {
        if self.lost == 0 {
            self.lost_from = i32::MAX;
            return None;
        }
        let from = self.lost_from.max(self.first);
        let place = (from - self.first) as usize;
        let next = self.packets.range(place..).position(|packet| packet.state == State::Lost)?;
        self.lost_from = from + next as i32;
        Some(self.lost_from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u32) -> Time {
        Time::new(f64::from(milliseconds) / 1000.0)
    }

    /// Packets 1 to `count` leave at 0 ms, 1 ms, …
    fn flight(count: i32) -> Flight {
        let mut flight = Flight::default();
        for seq in 1..=count {
            flight.sent(seq, at(seq as u32 - 1));
        }
        flight
    }

    /// Of a retransmission nothing is concluded where the ACK echoes an earlier millisecond, and so answers what was sent before.
    #[test]
    fn timestamps_tell_retransmissions_apart_by_milliseconds() {
        for (again_s, expected) in [(0.0004, 0.2996), (0.0011, 0.0)] {
            let mut flight = flight(1);
            flight.base_s = 0.1;
            flight.lose(1);
            flight.sent(1, Time::new(again_s));
            flight.deliver(1, &[], at(300), Some(at(0)));
            assert!((flight.rtt_s - expected).abs() < 1e-9, "{again_s}: {}", flight.rtt_s);
        }
    }

    /// RFC 8985 §3.4, figure 1, event 5: of three packets the first two are lost; the ACK of the third, and a quarter of a
    /// round trip, show both.
    #[test]
    fn two_losses_before_one_arrival_show_after_the_reordering_window() {
        let mut flight = flight(3);
        assert_eq!(flight.deliver(0, &[(3, 4)], at(102), None), 1);
        let wait_s = flight.detect(at(102), false, 0.1).expect("they may be late only");
        assert!((wait_s - 0.024).abs() < 1e-9, "{wait_s}");
        assert_eq!((flight.lost(), flight.pipe(), flight.held()), (0, 2, 1));
        let after = at(102) + wait_s;
        assert_eq!(flight.detect(after, false, 0.1), None);
        assert_eq!((flight.lost(), flight.pipe()), (2, 0));
        assert_eq!(flight.first_lost(), Some(1));
    }

    /// Of packets that may be late the last is waited for; one that the receiver holds is not.
    #[test]
    fn it_waits_for_the_last_that_is_late() {
        let mut flight = flight(4);
        assert_eq!(flight.deliver(0, &[(3, 5)], at(103), None), 2);
        // The fourth took 100 ms, and a quarter more is granted: the second has left 1 ms after the first.
        let wait_s = flight.detect(at(103), false, 0.1).expect("both may be late");
        assert!((wait_s - 0.023).abs() < 1e-9, "{wait_s}");
    }

    /// RFC 8985 §6.2 step 4: three packets above a gap need no waiting, nor does recovery.
    #[test]
    fn three_arrivals_above_a_gap_show_the_loss_at_once() {
        let mut flight = flight(5);
        flight.deliver(0, &[(2, 3)], at(101), None);
        assert!(flight.detect(at(101), false, 0.1).is_some());
        flight.deliver(0, &[(2, 4)], at(102), None);
        assert!(flight.detect(at(102), false, 0.1).is_some() && flight.lost() == 0);
        flight.deliver(0, &[(2, 5)], at(103), None);
        assert_eq!(flight.detect(at(103), false, 0.1), None);
        assert_eq!((flight.lost(), flight.pipe()), (1, 1));
    }

    /// RFC 8985 §3.4, figure 1, event 7: a retransmission that is lost shows when what was sent after it arrives.
    #[test]
    fn a_lost_retransmission_shows() {
        let mut flight = flight(5);
        flight.deliver(0, &[(2, 5)], at(103), None);
        flight.detect(at(103), false, 0.1);
        assert_eq!(flight.first_lost(), Some(1));
        flight.sent(1, at(103));
        flight.sent(6, at(104));
        assert_eq!((flight.lost(), flight.first_lost()), (0, None));
        // 5 arrives, which was sent before.
        flight.deliver(0, &[(2, 6)], at(104), None);
        assert_eq!(flight.detect(at(104), true, 0.1), None);
        assert_eq!(flight.lost(), 0);
        flight.deliver(0, &[(2, 7)], at(204), None);
        flight.detect(at(204), true, 0.1);
        assert_eq!(flight.first_lost(), Some(1));
    }

    /// §6.2 step 3: an original packet that arrives behind a later one makes RACK wait, also in recovery.
    #[test]
    fn reordering_is_remembered() {
        let mut flight = flight(6);
        flight.deliver(0, &[(3, 4)], at(102), None);
        flight.deliver(1, &[(3, 4)], at(103), None);
        flight.deliver(1, &[(3, 7)], at(105), None);
        assert!(flight.detect(at(105), true, 0.1).is_some());
        assert_eq!(flight.lost(), 0);
    }

    /// §6.3: what was sent less than a round trip ago is not lost with the first packet.
    #[test]
    fn a_timeout_spares_what_has_just_been_sent() {
        let mut flight = flight(3);
        flight.deliver(1, &[], at(100), None);
        flight.sent(4, at(290));
        flight.lose_by_timeout(at(300), true);
        assert_eq!((flight.lost(), flight.pipe()), (2, 1));
        assert_eq!(flight.deliver(4, &[], at(390), None), 3);
        assert_eq!((flight.lost(), flight.missing(), flight.first_lost()), (0, 0, None));
    }

    /// §6.3: nor is what may only be late, which Linux does not ask (tcp_timeout_mark_lost).
    #[test]
    fn a_timeout_spares_what_may_be_late() {
        for (late, lost) in [(true, 2), (false, 3)] {
            let mut flight = flight(3);
            flight.deliver(1, &[], at(100), None);
            assert_eq!(flight.detect(at(100), false, 0.1), None);
            flight.sent(4, at(190));
            // A round trip of 100 ms and a quarter of it.
            flight.lose_by_timeout(at(310), late);
            assert_eq!(flight.lost(), lost);
        }
    }
}

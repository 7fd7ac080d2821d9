//! Pacing: the packets of a connection leave one by one, at a rate, instead of in bursts.
//!
//! Each packet that has to wait costs one event of a timer. A packet never waits inside a link: what waits is the
//! sender, which may know better when the time has come.

use crate::events::{Entity, Key};
use crate::time::Time;
use crate::transport::delivery_rate::Deliveries;
use crate::transport::network::Schedule;
use crate::transport::timer::Timer;

/// What a sender that paces has beyond others.
#[derive(Clone, Debug)]
pub struct Paced {
    /// When the next packet may leave.
    pub pacer: Pacer,
    /// How fast packets are delivered, where the congestion control asks.
    pub deliveries: Option<Deliveries>,
}

/// Says when the next packet of a connection may leave.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    timer: Timer,
    entity: Entity,
    /// The next packet may leave from then on.
    due: Time,
}

impl Pacer {
    /// A pacer whose timer is `entity`, and that lets the next packet go at once.
    #[must_use]
    pub fn new(entity: Entity) -> Self {
        Self { timer: Timer::default(), entity, due: Time::ZERO }
    }

    /// When the timer expires, unless it is rearmed.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.timer.deadline()
    }

    /// Whether the next packet has to wait. If so, the timer will tell when it has waited.
    pub fn holds_back<S: Schedule>(&mut self, events: &mut S, now: Key) -> bool {
        if self.due <= now.time {
            return false;
        }
        if !self.timer.is_armed() {
            self.arm(events, now);
        }
        true
    }

    /// A packet left: the next one follows `interval_s` seconds after the time at which this one was due, or after
    /// now if that is past. Of how late it was, at most the share `made_up` of the interval is made up for.
    pub fn note_sent<S: Schedule>(&mut self, events: &mut S, now: Key, interval_s: f64, made_up: f64) {
        let late_s = now.time.since(self.due).max(0.0);
        self.due = self.due.max(now.time) + (interval_s - late_s.min(made_up * interval_s));
        if self.timer.is_armed() {
            self.arm(events, now);
        }
    }

    fn arm<S: Schedule>(&mut self, events: &mut S, now: Key) {
        self.timer.arm(events, self.entity, now, self.due.since(now.time));
    }

    /// What happens at `key` is known before its time: lets the timer expire first, if it comes first, and returns when
    /// that is. Its event, which comes later, will find the deadline that it has then.
    pub fn expires_before(&mut self, key: Key) -> Option<Key> {
        let expiry = self.timer.expiry(self.entity).filter(|expiry| expiry.before(&key))?;
        self.timer.cancel();
        self.due = expiry.time;
        Some(expiry)
    }

    /// An event of the timer came: whether a packet is due now.
    pub fn expires<S: Schedule>(&mut self, events: &mut S, key: Key) -> bool {
        let expires = self.timer.expires(events, key);
        if expires {
            // The sum of now and what was left may be rounded to just before it.
            self.due = key.time;
        }
        expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventQueue;

    #[test]
    fn packets_leave_at_their_interval_and_none_is_made_up_for() {
        let (mut pacer, mut queue) = (Pacer::new(7), EventQueue::default());
        let at = |seconds| Key::planned(Time::new(seconds), 0);
        assert!(!pacer.holds_back(&mut queue, at(1.0)));
        pacer.note_sent(&mut queue, at(1.0), 0.3, 0.0);
        assert!(pacer.holds_back(&mut queue, at(1.0)));
        // Retransmitted out of turn: what waits waits longer.
        pacer.note_sent(&mut queue, at(1.1), 0.3, 0.0);
        let mut expired = Vec::new();
        while let Some(key) = queue.pop_before(Time::NEVER) {
            if pacer.expires(&mut queue, key) {
                expired.push(key.time.seconds());
                assert!(!pacer.holds_back(&mut queue, key));
            }
        }
        assert_eq!(expired, [1.6]);
        assert!(!pacer.holds_back(&mut queue, at(9.0)));
        pacer.note_sent(&mut queue, at(9.0), 0.3, 0.0);
        assert!(pacer.holds_back(&mut queue, at(9.2)));
    }

    /// Linux's tcp_update_skb_after_send: at most half an interval is made up for.
    #[test]
    fn a_part_of_an_interval_is_made_up_for() {
        for (late_s, next_s) in [(0.0, 0.4), (0.1, 0.3), (0.2, 0.2), (5.0, 0.2)] {
            let (mut pacer, mut queue) = (Pacer::new(7), EventQueue::default());
            let at = |seconds| Key::planned(Time::new(seconds), 0);
            pacer.note_sent(&mut queue, at(1.0), 0.5, 0.0);
            let now_s = 1.5 + late_s;
            pacer.note_sent(&mut queue, at(now_s), 0.4, 0.5);
            assert!(pacer.holds_back(&mut queue, at(now_s)));
            let key = queue.pop_before(Time::NEVER).expect("it waits");
            assert!((key.time.seconds() - now_s - next_s).abs() < 1e-12, "{late_s}: {key:?}");
        }
    }
}

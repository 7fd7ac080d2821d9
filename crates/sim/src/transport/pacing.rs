//! Pacing: the packets of a connection leave one by one, at a rate, instead of in bursts.
//!
//! Each packet that has to wait costs one event of a timer. A packet never waits inside a link: what waits is the
//! sender, which may know better when the time has come. A host that takes time to send what it may waits by the same timer.

use crate::events::{Entity, Key};
use crate::random::Stream;
use crate::time::Time;
use crate::transport::delivery_rate::Deliveries;
use crate::transport::network::Schedule;
use crate::transport::timer::Timer;

/// What a sender has beyond others whose packets wait for more than a window.
#[derive(Clone, Debug)]
pub struct Paced {
    /// When the next packet may leave.
    pub pacer: Pacer,
    /// Whether packets leave at a rate.
    pub at_a_rate: bool,
    /// How fast packets are delivered, where the congestion control asks.
    pub deliveries: Option<Deliveries>,
}

/// Time that a host takes before it sends what it may, drawn uniformly for all that it sends at once (ns-2's `overhead_`,
/// TcpAgent::send_much): that of real hosts, without which flows that share a queue are in step.
#[derive(Clone, Debug)]
pub struct Processing {
    /// Longest time, in seconds.
    longest_s: f64,
    random: Stream,
    /// When it was last over: what may be sent then is.
    over: Time,
}

impl Processing {
    /// Of at most `longest_s` seconds, drawn from `random`.
    #[must_use]
    pub fn new(longest_s: f64, random: Stream) -> Self {
        Self { longest_s, random, over: Time::NEVER }
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.random.draws()
    }
}

/// Says when the next packet of a connection may leave.
#[derive(Clone, Debug)]
pub struct Pacer {
    timer: Timer,
    entity: Entity,
    /// The next packet may leave from then on.
    due: Time,
    /// Of a host that takes time.
    pub processing: Option<Box<Processing>>,
}

impl Pacer {
    /// A pacer whose timer is `entity`, and that lets the next packet go at once.
    #[must_use]
    pub fn new(entity: Entity) -> Self {
        Self { timer: Timer::default(), entity, due: Time::ZERO, processing: None }
    }

    /// When the timer expires, unless it is rearmed.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.timer.deadline()
    }

    /// Seconds until the next packet is due.
    #[must_use]
    pub fn due_in_s(&self, now: Time) -> f64 {
        self.due.since(now).max(0.0)
    }

    /// Whether the next packet has to wait. If so, the timer will tell when it has waited.
    pub fn holds_back<S: Schedule>(&mut self, events: &mut S, now: Key) -> bool {
        let takes_time = self.processing.as_mut().filter(|processing| processing.over != now.time);
        if self.due <= now.time && takes_time.is_none() {
            return false;
        }
        if !self.timer.is_armed() {
            let processing_s = takes_time.map_or(0.0, |processing| processing.longest_s * processing.random.uniform());
            self.arm(events, now, processing_s);
        }
        true
    }

    /// A packet left: the next one follows `interval_s` seconds after the time at which this one was due, or after
    /// now if that is past. Of how late it was, at most the share `made_up` of the interval is made up for.
    pub fn note_sent<S: Schedule>(&mut self, events: &mut S, now: Key, interval_s: f64, made_up: f64) {
        let late_s = now.time.since(self.due).max(0.0);
        self.due = self.due.max(now.time) + (interval_s - late_s.min(made_up * interval_s));
        if self.timer.is_armed() {
            let processing_s = if self.processing.is_some() { self.timer.deadline().since(now.time) } else { 0.0 };
            self.arm(events, now, processing_s);
        }
    }

    /// Has the timer expire when the next packet is due, but not before `processing_s` seconds have passed.
    fn arm<S: Schedule>(&mut self, events: &mut S, now: Key, processing_s: f64) {
        self.timer.arm(events, self.entity, now, self.due.since(now.time).max(processing_s));
    }

    /// The timer expired: what may be sent is sent now.
    fn let_go(&mut self, now: Time) {
        match &mut self.processing {
            // The sum of the time then and what was left may be rounded to just before it.
            None => self.due = now,
            Some(processing) => {
                processing.over = now;
                self.due = self.due.min(now);
            }
        }
    }

    /// What happens at `key` is known before its time: lets the timer expire first, if it comes first, and returns when
    /// that is. Its event, which comes later, will find the deadline that it has then.
    pub fn expires_before(&mut self, key: Key) -> Option<Key> {
        let expiry = self.timer.expiry(self.entity).filter(|expiry| expiry.before(&key))?;
        self.timer.cancel();
        self.let_go(expiry.time);
        Some(expiry)
    }

    /// An event of the timer came: whether a packet is due now.
    pub fn expires<S: Schedule>(&mut self, events: &mut S, key: Key) -> bool {
        let expires = self.timer.expires(events, key);
        if expires {
            self.let_go(key.time);
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

    /// ns-2's TcpAgent::send_much: what may be sent meanwhile waits as well, and all of it leaves at once.
    #[test]
    fn a_host_takes_time_once_for_all_that_it_sends() {
        let (mut pacer, mut queue) = (Pacer::new(7), EventQueue::default());
        pacer.processing = Some(Box::new(Processing::new(0.1, Stream::new(1, "test", 0, "processing"))));
        let mut total_s = 0.0;
        for second in 0..1000 {
            let now = Key::planned(Time::new(f64::from(second)), 0);
            assert!(pacer.holds_back(&mut queue, now) && pacer.holds_back(&mut queue, now));
            let key = queue.pop_before(Time::NEVER).expect("it waits");
            assert!(pacer.expires(&mut queue, key) && queue.pop_before(Time::NEVER).is_none());
            assert!(!pacer.holds_back(&mut queue, key) && !pacer.holds_back(&mut queue, key));
            let waited_s = key.time.since(now.time);
            assert!((0.0..0.1).contains(&waited_s));
            total_s += waited_s;
        }
        // Four standard deviations of the mean of so many.
        assert!((total_s - 50.0).abs() < 4.0 * (1000.0_f64 / 12.0).sqrt() * 0.1, "{total_s}");
    }

    /// A packet that is due later than the host is ready leaves when it is due.
    #[test]
    fn a_host_that_takes_time_paces_too() {
        let (mut pacer, mut queue) = (Pacer::new(7), EventQueue::default());
        pacer.processing = Some(Box::new(Processing::new(0.1, Stream::new(1, "test", 0, "processing"))));
        pacer.note_sent(&mut queue, Key::planned(Time::new(1.0), 0), 0.5, 0.0);
        assert!(pacer.holds_back(&mut queue, Key::planned(Time::new(1.2), 0)));
        let key = queue.pop_before(Time::NEVER).expect("it waits");
        assert_eq!(key.time.seconds(), 1.5);
        assert!(pacer.expires(&mut queue, key) && !pacer.holds_back(&mut queue, key));
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

//! A lazy timer: moving its deadline later costs nothing, because the event that is already pending
//! looks at the deadline again when it comes.

use crate::events::{Entity, Key, Precedence};
use crate::time::Time;
use crate::transport::network::Schedule;

/// The timers of a flow, in the order of their entities.
pub const TIMERS: u32 = 4;
/// For the packet that is acknowledged next.
pub const RETRANSMISSION: u32 = 0;
/// For an ACK that waits for more data.
pub const DELAYED_ACK: u32 = 1;
/// For what the application or the user does next.
pub const APPLICATION: u32 = 2;
/// For the next packet of a sender that spreads them in time.
pub const PACING: u32 = 3;

/// A timer with at most one useful event pending.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    deadline: Time,
    armed_at: Time,
    precedence: Precedence,
    /// When the earliest pending event comes; later ones of this timer are stale.
    pending: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Self { deadline: Time::NEVER, armed_at: Time::ZERO, precedence: Precedence::FIRST, pending: Time::NEVER }
    }
}

impl Timer {
    /// Whether it is armed.
    #[inline]
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.deadline < Time::NEVER
    }

    /// When it expires, unless it is rearmed: never, if it is not armed. Events of it may come before, which only
    /// look at this.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// The key of the event in which it expires, if it is armed and not rearmed, as the timer of `entity`.
    #[inline]
    #[must_use]
    pub fn expiry(&self, entity: Entity) -> Option<Key> {
        self.is_armed().then(|| Key::new(self.deadline, self.armed_at, self.precedence, entity))
    }

    /// (Re)arms it in the event `now`, to expire `delay_s` seconds later.
    #[inline]
    pub fn arm<S: Schedule>(&mut self, events: &mut S, entity: Entity, now: Key, delay_s: f64) {
        self.deadline = now.time + delay_s;
        self.armed_at = now.time;
        self.precedence = now.precedence_of_effects();
        if self.deadline < self.pending {
            self.schedule(events, entity);
        }
    }

    fn schedule<S: Schedule>(&mut self, events: &mut S, entity: Entity) {
        self.pending = self.deadline;
        self.expiry(entity).into_iter().for_each(|expiry| events.schedule(expiry));
    }

    /// Disarms it.
    #[inline]
    pub fn cancel(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// An event of this timer came: whether the timer really expires. If not, the event for the
    /// present deadline is put in its place.
    pub fn expires<S: Schedule>(&mut self, events: &mut S, key: Key) -> bool {
        if key.time != self.pending {
            return false;
        }
        self.pending = Time::NEVER;
        if !self.is_armed() {
            return false;
        }
        if self.deadline > key.time || self.armed_at > key.caused_at {
            self.schedule(events, key.entity());
            return false;
        }
        self.deadline = Time::NEVER;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventQueue;

    fn at(seconds: f64) -> Key {
        Key::planned(Time::new(seconds), 0)
    }

    /// Runs the timer's events and returns when it expired.
    fn expiries(timer: &mut Timer, queue: &mut EventQueue) -> Vec<f64> {
        let mut times = Vec::new();
        while let Some(key) = queue.pop_before(Time::NEVER) {
            if timer.expires(queue, key) {
                times.push(key.time.seconds());
            }
        }
        times
    }

    #[test]
    fn the_last_arming_counts_whether_later_or_earlier() {
        let (mut timer, mut queue) = (Timer::default(), EventQueue::default());
        timer.arm(&mut queue, 7, Key::FIRST, 3.0);
        timer.arm(&mut queue, 7, at(1.0), 3.0);
        let mut pending = queue.clone();
        let events = std::iter::from_fn(|| pending.pop_before(Time::NEVER)).count();
        assert_eq!(events, 1);
        timer.arm(&mut queue, 7, at(1.5), 0.5);
        assert_eq!(expiries(&mut timer, &mut queue), [2.0]);
        assert!(!timer.is_armed());
    }

    #[test]
    fn a_cancelled_timer_stays_silent() {
        let (mut timer, mut queue) = (Timer::default(), EventQueue::default());
        timer.arm(&mut queue, 7, Key::FIRST, 3.0);
        timer.cancel();
        assert!(expiries(&mut timer, &mut queue).is_empty());
    }

    #[test]
    fn rearming_for_the_same_instant_takes_the_later_place_in_line() {
        let (mut timer, mut queue) = (Timer::default(), EventQueue::default());
        timer.arm(&mut queue, 7, Key::FIRST, 3.0);
        timer.arm(&mut queue, 7, at(1.0), 2.0);
        let first = queue.pop_before(Time::NEVER).unwrap();
        assert!(!timer.expires(&mut queue, first));
        assert_eq!(queue.pop_before(Time::NEVER).unwrap().caused_at, Time::new(1.0));
    }
}

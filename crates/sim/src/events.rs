//! The total order of events and the queue that keeps it.
//!
//! An event's key is (time, caused_at, precedence, entity). `caused_at` is when it became inevitable: the
//! start of service for a delivery or a departure, the moment of (re)arming for a timer, zero for what
//! the scenario itself fixes. Of two events that became inevitable at one instant, that one precedes
//! whose cause was itself inevitable for longer. Nothing in the key depends on how many threads run or
//! on which event happened to be pushed first, and the order agrees with a simulator that breaks ties
//! by insertion.

use crate::time::Time;

/// Who an event belongs to. Numbers follow the order of the scenario: samples first, then the starts
/// and stops of flows, then links, then timers.
pub type Entity = u32;

/// Where an event stands in the order of all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When it happens.
    pub time: Time,
    /// When it became inevitable.
    pub caused_at: Time,
    /// How long its cause had been inevitable.
    pub precedence: Precedence,
    /// Whose it is.
    pub entity: Entity,
}

/// How long the cause of an event had been inevitable when it happened: the longest comes first. Single
/// precision suffices, because rounding never turns an order round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence(u32);

impl Precedence {
    /// Before all others.
    pub const FIRST: Self = Self(0);

    /// Of an event whose cause had been inevitable for `seconds`.
    #[inline]
    #[must_use]
    pub fn of(seconds: f64) -> Self {
        // Bits of non-negative floats order as the numbers do; the complement turns the order round.
        Self(!(seconds as f32).to_bits())
    }
}

impl Key {
    /// Before every event.
    pub const FIRST: Self = Self::planned(Time::ZERO, 0);

    /// An event of which the scenario itself says when it happens.
    #[must_use]
    pub const fn planned(time: Time, entity: Entity) -> Self {
        Self { time, caused_at: Time::ZERO, precedence: Precedence::FIRST, entity }
    }

    /// An event that became inevitable at `caused_at`.
    #[inline]
    #[must_use]
    pub fn new(time: Time, caused_at: Time, precedence: Precedence, entity: Entity) -> Self {
        Self { time, caused_at, precedence, entity }
    }

    /// The precedence of what this event causes.
    #[inline]
    #[must_use]
    pub fn precedence_of_effects(&self) -> Precedence {
        Precedence::of(self.time.since(self.caused_at))
    }

    #[inline]
    fn before(&self, other: &Self) -> bool {
        // Times rarely tie; say so with the shape of the code.
        if self.time != other.time { self.time < other.time } else { self < other }
    }
}

/// Pending events: a binary heap whose top can be replaced in place, because the commonest event is a
/// delivery whose link already knows its next one.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<Key>,
}

impl EventQueue {
    /// The next event.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<Key> {
        self.heap.first().copied()
    }

    /// How many events are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, key: Key) {
        let mut hole = self.heap.len();
        self.heap.push(key);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if !key.before(&self.heap[parent]) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = key;
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Key> {
        let last = self.heap.pop()?;
        match self.heap.first().copied() {
            None => Some(last),
            Some(top) => {
                self.sift_down(last);
                Some(top)
            }
        }
    }

    /// Removes the next event and adds another.
    #[inline]
    pub fn replace(&mut self, key: Key) {
        debug_assert!(!self.heap.is_empty());
        self.sift_down(key);
    }

    /// Puts `key` where the top is and restores the heap.
    #[inline]
    fn sift_down(&mut self, key: Key) {
        let heap = &mut self.heap[..];
        let len = heap.len();
        let mut hole = 0;
        loop {
            let left = 2 * hole + 1;
            if left >= len {
                break;
            }
            let right = left + 1;
            let child = if right < len && heap[right].before(&heap[left]) { right } else { left };
            if !heap[child].before(&key) {
                break;
            }
            heap[hole] = heap[child];
            hole = child;
        }
        heap[hole] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = Key> {
        // Few distinct values: ties are the point.
        (0u8..4, 0u8..4, 0u8..4, 0u32..4).prop_map(|(time, caused_at, age, entity)| {
            let [time, caused_at] = [time, caused_at].map(|seconds| Time::new(f64::from(seconds)));
            Key::new(time, caused_at, Precedence::of(f64::from(age)), entity)
        })
    }

    #[test]
    fn a_key_takes_24_bytes() {
        assert_eq!(size_of::<Key>(), 24);
    }

    #[test]
    fn the_cause_that_was_inevitable_longer_comes_first() {
        assert!(Precedence::of(0.02) < Precedence::of(0.004));
        assert!(Precedence::FIRST < Precedence::of(1e9));
    }

    proptest! {
        #[test]
        fn events_leave_in_order(operations in prop::collection::vec((key(), 0u8..3), 0..200)) {
            let mut queue = EventQueue::default();
            let mut reference: Vec<Key> = Vec::new();
            for (key, operation) in operations {
                match operation {
                    0 => { queue.push(key); reference.push(key); }
                    1 => {
                        reference.sort();
                        let expected = (!reference.is_empty()).then(|| reference.remove(0));
                        prop_assert_eq!(queue.pop(), expected);
                    }
                    _ if reference.is_empty() => {}
                    _ => {
                        reference.sort();
                        prop_assert_eq!(queue.peek(), reference.first().copied());
                        reference[0] = key;
                        queue.replace(key);
                    }
                }
                prop_assert_eq!(queue.len(), reference.len());
            }
        }
    }
}

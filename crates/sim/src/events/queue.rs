//! Pending events: a heap for small networks, a calendar for large ones. Both keep the same order.

use super::Key;
use super::calendar::Calendar;
use super::heap::Heap;
use crate::time::Time;

/// Pending events.
#[derive(Clone, Debug)]
pub enum EventQueue {
    /// For few.
    Heap(Heap),
    /// For many.
    Calendar(Box<Calendar>),
}

/// From this many links and flows on, the calendar is the faster (`make bench`).
const MANY: usize = 2000;

impl EventQueue {
    /// A queue for a network of so many links and flows.
    #[must_use]
    pub fn for_size(links_and_flows: usize) -> Self {
        if links_and_flows < MANY { Self::Heap(Heap::default()) } else { Self::Calendar(Box::default()) }
    }

    /// Removes the next event, if it comes before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Key> {
        match self {
            Self::Heap(heap) => heap.pop_before(end),
            Self::Calendar(calendar) => calendar.pop_before(end),
        }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, key: Key) {
        let (time, caused_at, rank) = key.words();
        self.push_words(time, caused_at, rank);
    }

    #[inline(never)]
    fn push_words(&mut self, time: f64, caused_at: f64, rank: u64) {
        match self {
            Self::Heap(heap) => heap.push(Key::from_words((time, caused_at, rank))),
            Self::Calendar(calendar) => calendar.push_words(time, caused_at, rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Precedence;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = Key> {
        // Few distinct values near each other, where ties are the point, and some far away.
        let time = prop_oneof![(0u8..4).prop_map(f64::from), 0.0..1e-4f64, 0.0..1e3f64];
        (time, 0u8..4, 0u8..4, 0u32..4).prop_map(|(time, caused_at, age, entity)| {
            Key::new(Time::new(time), Time::new(f64::from(caused_at)), Precedence::of(f64::from(age)), entity)
        })
    }

    proptest! {
        #[test]
        fn events_leave_in_order(many: bool, operations in prop::collection::vec((key(), 0u8..4), 0..300)) {
            let mut queue = EventQueue::for_size(if many { MANY } else { 0 });
            let mut reference: Vec<Key> = Vec::new();
            for (key, operation) in operations {
                match operation {
                    0 | 1 => { queue.push(key); reference.push(key); }
                    2 => {
                        reference.sort();
                        let expected = (!reference.is_empty()).then(|| reference.remove(0));
                        // Nothing comes before the next event, however often it is asked.
                        let first = expected.map_or(Time::NEVER, |key| key.time);
                        prop_assert_eq!(queue.pop_before(first), None);
                        prop_assert_eq!(queue.pop_before(Time::NEVER), expected);
                    }
                    _ => if let EventQueue::Calendar(calendar) = &mut queue {
                        calendar.rebuild(if key.entity() < 2 { 64 } else { 1024 }, 1.0 + 1e5 * f64::from(key.entity()));
                    }
                }
            }
            reference.sort();
            for expected in reference {
                prop_assert_eq!(queue.pop_before(Time::NEVER), Some(expected));
            }
            prop_assert_eq!(queue.pop_before(Time::NEVER), None);
        }
    }
}

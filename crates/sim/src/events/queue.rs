//! Pending events: a heap for few, or for such as come in bursts; a calendar for many. Both keep the same order.

use super::calendar::Calendar;
use super::heap::Heap;
use super::{Entity, Key};
use crate::time::Time;

/// Pending events: a heap, until that is the slower.
#[derive(Clone, Debug)]
pub enum EventQueue {
    /// For few.
    Heap(Heap),
    /// For many.
    Calendar(Box<Calendar>),
}

impl Default for EventQueue {
    fn default() -> Self {
        Self::Heap(Heap::default())
    }
}

impl EventQueue {
    /// Removes the next event, if it comes before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Key> {
        match self {
            Self::Heap(heap) => heap.pop_before(end),
            Self::Calendar(calendar) => calendar.pop_before(end),
        }
    }

    /// Whose event comes after so many others, if that is known at no cost.
    #[inline]
    pub fn coming(&self, after: usize) -> Option<Entity> {
        if let Self::Calendar(calendar) = self { calendar.coming(after) } else { None }
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
            Self::Heap(heap) => {
                if heap.push(Key::from_words((time, caused_at, rank))) {
                    self.become_calendar();
                }
            }
            Self::Calendar(calendar) => calendar.push_words(time, caused_at, rank),
        }
    }

    /// A calendar with the events of the heap.
    #[cold]
    #[inline(never)]
    fn become_calendar(&mut self) {
        if let Self::Heap(heap) = self {
            let mut calendar = Box::<Calendar>::default();
            std::mem::take(heap).into_keys().for_each(|key| calendar.push(key));
            *self = Self::Calendar(calendar);
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

    #[test]
    fn a_heap_becomes_a_calendar_where_events_sink_far() {
        let is_calendar = |gap: f64| {
            let mut queue = EventQueue::default();
            (0..1000).for_each(|entity| queue.push(Key::planned(Time::new(f64::from(entity)), entity)));
            for _ in 0..20_000 {
                let key = queue.pop_before(Time::NEVER).unwrap();
                queue.push(Key::planned(key.time + gap, key.entity()));
            }
            matches!(queue, EventQueue::Calendar(_))
        };
        // Each event is followed by itself, or by all the others first.
        assert_eq!([is_calendar(1e-6), is_calendar(1000.0)], [false, true]);
    }

    proptest! {
        #[test]
        fn events_leave_in_order(calendar: bool, operations in prop::collection::vec((key(), 0u8..5), 0..300)) {
            let mut queue = EventQueue::default();
            if calendar {
                queue.become_calendar();
            }
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
                    3 => queue.become_calendar(),
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

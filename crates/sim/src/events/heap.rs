//! Few pending events in exact order: a binary heap whose top is replaced in place.
//!
//! The commonest event is a delivery whose link already knows its next one. So the place of an event
//! that was taken stays vacant until the next one is added, which then sinks from there.

use super::Key;
use crate::time::Time;

/// Few pending events.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    keys: Vec<Key>,
    /// The top was taken and its place is vacant.
    vacant: bool,
    /// Levels that events sank beyond [`SHALLOW`] each, since that was last made up for.
    excess: i32,
}

/// Levels that an event sinks at most where a heap is faster than a calendar (`make bench`: one to three where packets
/// come in bursts, however many events are pending, eight and more where they do not).
const SHALLOW: i32 = 5;
/// With so much excess a calendar takes over: it is not of a moment.
const DEEP: i32 = 1 << 14;

impl Heap {
    /// Removes the next event, if it comes before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Key> {
        if self.vacant {
            self.close_vacancy();
        }
        let next = self.keys.first().copied().filter(|key| key.time < end)?;
        self.vacant = true;
        Some(next)
    }

    /// Adds an event. Returns whether a calendar would be faster, as events sink far.
    #[inline]
    pub fn push(&mut self, key: Key) -> bool {
        if self.vacant {
            self.vacant = false;
            self.sink(key);
            self.excess > DEEP
        } else {
            self.rise(key);
            false
        }
    }

    /// All events, in no order.
    pub fn into_keys(self) -> impl Iterator<Item = Key> {
        self.keys.into_iter().skip(usize::from(self.vacant))
    }

    fn close_vacancy(&mut self) {
        self.vacant = false;
        if let Some(last) = self.keys.pop()
            && !self.keys.is_empty()
        {
            self.sink(last);
        }
    }

    #[inline(always)]
    fn rise(&mut self, key: Key) {
        let mut hole = self.keys.len();
        self.keys.push(key);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if !key.before(&self.keys[parent]) {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = key;
    }

    /// From the top, because packets come in bursts: the next delivery of a link is often the next
    /// event of all (going to the bottom first and then up costs more on the benchmarks).
    #[inline(always)]
    fn sink(&mut self, key: Key) {
        let keys = &mut self.keys[..];
        let mut hole = 0;
        loop {
            let left = 2 * hole + 1;
            let child = match keys.get(left..left + 2) {
                Some([left_key, right_key]) => left + usize::from(right_key.before(left_key)),
                _ if left < keys.len() => left,
                _ => break,
            };
            if !keys[child].before(&key) {
                break;
            }
            keys[hole] = keys[child];
            hole = child;
        }
        keys[hole] = key;
        self.excess = (self.excess + (hole + 1).ilog2() as i32 - SHALLOW).max(0);
    }
}

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
}

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

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, key: Key) {
        if self.vacant {
            self.vacant = false;
            self.sink(key);
        } else {
            self.rise(key);
        }
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
        while let Some([left, right]) = keys.get(2 * hole + 1..2 * hole + 3) {
            let child = 2 * hole + 1 + usize::from(right.before(left));
            if !keys[child].before(&key) {
                keys[hole] = key;
                return;
            }
            keys[hole] = keys[child];
            hole = child;
        }
        let left = 2 * hole + 1;
        if left < keys.len() && keys[left].before(&key) {
            keys[hole] = keys[left];
            hole = left;
        }
        keys[hole] = key;
    }
}

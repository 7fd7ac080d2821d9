//! A small table from sources to places: open addressing with linear probing (Knuth 6.4, algorithms L and R). A
//! library's would do, but for one thing: where an entry lies must be known before it is needed.

use crate::prefetch::prefetch;

/// No source has this number.
const NOBODY: u32 = u32::MAX;
const SMALLEST: usize = 16;

/// From sources to places.
#[derive(Clone, Debug)]
pub struct SourceMap {
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self { slots: vec![(NOBODY, 0); SMALLEST], len: 0 }
    }
}

impl SourceMap {
    /// Where the search for a source begins.
    #[inline]
    fn home(&self, source: u32) -> usize {
        (u64::from(source).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.slots.len() - 1)
    }

    /// Where a source is, or would be.
    #[inline]
    fn find(&self, source: u32) -> usize {
        let mut slot = self.home(source);
        while self.slots[slot].0 != source && self.slots[slot].0 != NOBODY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// The place of a source.
    #[inline]
    #[must_use]
    pub fn get(&self, source: u32) -> Option<u32> {
        let (known, place) = self.slots[self.find(source)];
        (known == source).then_some(place)
    }

    /// Asks for the memory of a source's entry.
    #[inline]
    pub fn prefetch(&self, source: u32) {
        prefetch(&self.slots[self.home(source)]);
    }

    /// Takes in a source that is not there.
    pub fn insert(&mut self, source: u32, place: u32) {
        if 2 * self.len >= self.slots.len() {
            let slots = vec![(NOBODY, 0); 2 * self.slots.len()];
            for (source, place) in std::mem::replace(&mut self.slots, slots) {
                if source != NOBODY {
                    let slot = self.find(source);
                    self.slots[slot] = (source, place);
                }
            }
        }
        let slot = self.find(source);
        self.slots[slot] = (source, place);
        self.len += 1;
    }

    /// Takes out a source: its place, if it was there.
    pub fn remove(&mut self, source: u32) -> Option<u32> {
        let mut hole = self.find(source);
        let (known, place) = self.slots[hole];
        if known != source {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = hole;
        loop {
            slot = (slot + 1) & mask;
            let (next, _) = self.slots[slot];
            if next == NOBODY {
                break;
            }
            // It may move into the hole unless that lies before its home.
            if slot.wrapping_sub(self.home(next)) & mask >= slot.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[slot];
                hole = slot;
            }
        }
        self.slots[hole] = (NOBODY, 0);
        self.len -= 1;
        Some(place)
    }

    /// All sources, in the order of their numbers.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        let mut sources: Vec<u32> = self.slots.iter().map(|slot| slot.0).filter(|&source| source != NOBODY).collect();
        sources.sort_unstable();
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn behaves_as_a_map(operations in prop::collection::vec((0u32..60, any::<bool>()), 0..500)) {
            let (mut map, mut reference) = (SourceMap::default(), BTreeMap::new());
            for (place, (source, insert)) in (0..).zip(operations) {
                if !insert {
                    prop_assert_eq!(map.remove(source), reference.remove(&source));
                } else if map.get(source).is_none() {
                    map.insert(source, place);
                    reference.insert(source, place);
                }
                prop_assert_eq!(map.get(source), reference.get(&source).copied());
                prop_assert!(map.sources().iter().eq(reference.keys()));
            }
        }
    }
}

//! A growable first-in-first-out ring of plain values: `VecDeque` with a power-of-two mask and nothing
//! else, because every packet passes through two of them.

use crate::prefetch::prefetch;

/// A FIFO.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    len: u32,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Box::default(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// How many values are in the ring.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the ring holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest value.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        (self.len > 0).then(|| &self.slots[self.head as usize])
    }

    /// Asks for the oldest value.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(oldest) = self.slots.get(self.head as usize) {
            prefetch(oldest);
        }
    }

    /// Appends a value.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let tail = (self.head as usize + self.len as usize) & mask;
        self.slots[tail] = value;
        self.len += 1;
    }

    /// Removes the oldest value.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let value = self.slots[self.head as usize];
        self.len -= 1;
        // Once empty, from the first place on again, which is where the cache has it.
        self.head = if self.len == 0 { 0 } else { (self.head + 1) & (self.slots.len() as u32 - 1) };
        Some(value)
    }

    /// Removes all values.
    #[inline]
    pub fn clear(&mut self) {
        // From the first place on again, which is where the cache has it.
        self.head = 0;
        self.len = 0;
    }

    /// The values, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.len as usize).map(move |i| &self.slots[(self.head as usize + i) & mask])
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(4);
        let mut slots = Vec::with_capacity(capacity);
        slots.extend(self.iter().copied());
        slots.resize(capacity, T::default());
        self.slots = slots.into();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_deque(operations in prop::collection::vec(prop::option::of(0u32..1000), 0..300)) {
            let mut ring = Ring::default();
            let mut deque = VecDeque::new();
            for operation in operations {
                match operation {
                    Some(value) => { ring.push_back(value); deque.push_back(value); }
                    None => prop_assert_eq!(ring.pop_front(), deque.pop_front()),
                }
                prop_assert_eq!(ring.front(), deque.front());
                prop_assert_eq!(ring.len(), deque.len());
                prop_assert!(ring.iter().eq(deque.iter()));
            }
        }
    }
}

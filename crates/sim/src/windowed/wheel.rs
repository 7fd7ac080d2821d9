//! What is to come, by the window in which it comes: a hierarchical timing wheel (Varghese, Lauck 1987). To put
//! something in costs the same however far ahead it lies; what comes out for a window is in no order.

use super::clock::Window;

const NOBODY: u32 = u32::MAX;
const LEVELS: usize = 4;
const BITS: u32 = 8;
const SLOTS: usize = 1 << BITS;

/// A wheel that stands at one window and turns to the next.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    now: Window,
    /// Of each level, the first item of each slot. A slot of the first level is one window, one of the next all the
    /// windows of the level below.
    heads: Box<[[u32; SLOTS]; LEVELS]>,
    nodes: Vec<Node<T>>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    window: Window,
    item: T,
    next: u32,
}

impl<T: Copy> Default for Wheel<T> {
    fn default() -> Self {
        Self { now: 0, heads: Box::new([[NOBODY; SLOTS]; LEVELS]), nodes: Vec::new(), free: NOBODY }
    }
}

impl<T: Copy> Wheel<T> {
    /// Puts in what comes in `window`, which is not before the present one.
    #[inline]
    pub fn push(&mut self, window: Window, item: T) {
        let node = Node { window, item, next: NOBODY };
        let index = self.free;
        let index = if index == NOBODY {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let place = &mut self.nodes[index as usize];
            self.free = place.next;
            *place = node;
            index
        };
        self.hang(index, window);
    }

    /// Hangs a node into its slot: on the lowest level whose slots the present window and its own differ in, and no
    /// more above.
    #[inline]
    fn hang(&mut self, index: u32, window: Window) {
        debug_assert!(window >= self.now);
        let differ = window ^ self.now;
        let level = ((63 - (differ | 1).leading_zeros()) / BITS).min(LEVELS as u32 - 1);
        let slot = (window >> (BITS * level)) as usize % SLOTS;
        let head = &mut self.heads[level as usize][slot];
        self.nodes[index as usize].next = *head;
        *head = index;
    }

    /// Takes out all that comes in the present window.
    #[inline]
    pub fn take(&mut self, mut each: impl FnMut(T)) {
        let slot = self.now as usize % SLOTS;
        let mut index = std::mem::replace(&mut self.heads[0][slot], NOBODY);
        while index != NOBODY {
            let node = &mut self.nodes[index as usize];
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = index;
            index = next;
            each(node.item);
        }
    }

    /// Goes on to the next window; all of the present one was taken.
    #[inline]
    pub fn turn(&mut self) {
        self.now += 1;
        if (self.now as usize).is_multiple_of(SLOTS) {
            self.turn_level(1);
        }
    }

    /// What hangs in the slot of a level that begins now goes to the levels below.
    #[cold]
    fn turn_level(&mut self, level: usize) {
        let place = self.now >> (BITS * level as u32);
        if level + 1 < LEVELS && (place as usize).is_multiple_of(SLOTS) {
            self.turn_level(level + 1);
        }
        let mut index = std::mem::replace(&mut self.heads[level][place as usize % SLOTS], NOBODY);
        while index != NOBODY {
            let Node { window, next, .. } = self.nodes[index as usize];
            self.hang(index, window);
            index = next;
        }
    }

    /// Bytes that it occupies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.heads) + self.nodes.capacity() * size_of::<Node<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_comes_in_its_window(ahead in prop::collection::vec((0u64..400, prop_oneof![0u64..3, 0u64..300, 0u64..70_000]), 0..200)) {
            let mut wheel = Wheel::default();
            let mut pending: Vec<Window> = Vec::new();
            let mut plan = ahead.clone();
            plan.sort_unstable();
            let last = plan.iter().map(|(at, ahead)| at + ahead).max().unwrap_or(0);
            let mut plan = plan.into_iter().peekable();
            for now in 0..=last {
                while let Some((_, ahead)) = plan.next_if(|plan| plan.0 == now) {
                    wheel.push(now + ahead, now + ahead);
                    pending.push(now + ahead);
                }
                let before = pending.len();
                let mut taken = 0;
                wheel.take(|item| {
                    assert_eq!(item, now);
                    taken += 1;
                });
                pending.retain(|&window| window != now);
                prop_assert_eq!(taken, before - pending.len());
                wheel.turn();
            }
            prop_assert!(pending.is_empty());
        }
    }
}

//! What is to come, by the epoch in which it comes: a hierarchical timing wheel (Varghese, Lauck 1987). To put
//! something in costs the same however far ahead it lies; what comes out for an epoch is in no order.

use super::clock::Epoch;

const NOBODY: u32 = u32::MAX;
const LEVELS: usize = 4;
const BITS: u32 = 8;
const SLOTS: usize = 1 << BITS;
const WORDS: usize = SLOTS / 64;

/// A wheel that stands at one epoch and turns to the next.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    now: Epoch,
    /// Of each level, the first item of each slot. A slot of the first level is one epoch, one of the next all the
    /// epochs of the level below.
    heads: Box<[[u32; SLOTS]; LEVELS]>,
    /// Of each level, one bit for each slot that has items.
    busy: [[u64; WORDS]; LEVELS],
    nodes: Vec<Node<T>>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    epoch: Epoch,
    item: T,
    next: u32,
}

impl<T: Copy> Default for Wheel<T> {
    fn default() -> Self {
        let heads = Box::new([[NOBODY; SLOTS]; LEVELS]);
        Self { now: 0, heads, busy: [[0; WORDS]; LEVELS], nodes: Vec::new(), free: NOBODY }
    }
}

impl<T: Copy> Wheel<T> {
    /// Puts in what comes in `epoch`, which is not before the present one.
    #[inline]
    pub fn push(&mut self, epoch: Epoch, item: T) {
        let node = Node { epoch, item, next: NOBODY };
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
        self.hang(index, epoch);
    }

    /// Hangs a node into its slot: on the lowest level whose slots the present epoch and its own differ in, and no
    /// more above.
    #[inline]
    fn hang(&mut self, index: u32, epoch: Epoch) {
        debug_assert!(epoch >= self.now);
        let differ = epoch ^ self.now;
        let level = ((63 - (differ | 1).leading_zeros()) / BITS).min(LEVELS as u32 - 1);
        let slot = (epoch >> (BITS * level)) as usize % SLOTS;
        self.busy[level as usize][slot / 64] |= 1 << (slot % 64);
        let head = &mut self.heads[level as usize][slot];
        self.nodes[index as usize].next = *head;
        *head = index;
    }

    /// Takes out all that comes in the present epoch.
    #[inline]
    pub fn take(&mut self, mut each: impl FnMut(T)) {
        let mut index = self.empty(0, self.now as usize % SLOTS);
        while index != NOBODY {
            let node = &mut self.nodes[index as usize];
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = index;
            index = next;
            each(node.item);
        }
    }

    /// Takes the list of a slot: its first item.
    #[inline]
    fn empty(&mut self, level: usize, slot: usize) -> u32 {
        self.busy[level][slot / 64] &= !(1 << (slot % 64));
        std::mem::replace(&mut self.heads[level][slot], NOBODY)
    }

    /// Continues to the next epoch; all of the present one was taken.
    #[inline]
    pub fn turn(&mut self) {
        let next = self.now + 1;
        if (next as usize).is_multiple_of(SLOTS) { self.cascade(next) } else { self.now = next }
    }

    /// Continues to a later epoch, before which nothing comes.
    pub fn turn_to(&mut self, epoch: Epoch) {
        debug_assert!(self.next().is_none_or(|next| epoch <= next));
        if self.now < epoch {
            self.cascade(epoch);
        }
    }

    /// Continues to a later epoch. What hangs in slots of the upper levels that begin until then, and have not ended,
    /// goes to the levels below.
    #[cold]
    fn cascade(&mut self, epoch: Epoch) {
        let differ = self.now ^ epoch;
        self.now = epoch;
        let highest = ((63 - (differ | 1).leading_zeros()) / BITS).min(LEVELS as u32 - 1);
        for level in (1..=highest).rev() {
            let mut index = self.empty(level as usize, (epoch >> (BITS * level)) as usize % SLOTS);
            while index != NOBODY {
                let Node { epoch, next, .. } = self.nodes[index as usize];
                self.hang(index, epoch);
                index = next;
            }
        }
    }

    /// An epoch, not before the present one, before which nothing comes; nothing where nothing comes at all.
    #[must_use]
    pub fn next(&self) -> Option<Epoch> {
        (0..LEVELS).find_map(|level| {
            let shift = BITS * level as u32;
            let digit = (self.now >> shift) as usize % SLOTS;
            let begin =
                |slot: usize, turn: u64| ((self.now >> shift >> BITS) + turn) << BITS << shift | (slot as u64) << shift;
            let found = self.busy_from(level, if level == 0 { digit } else { digit + 1 }).map(|slot| begin(slot, 0));
            // On the uppermost level slots may be meant for the next turn of the wheel, or a later one.
            let again = || (level == LEVELS - 1).then(|| self.busy_from(level, 0).map(|slot| begin(slot, 1))).flatten();
            found.or_else(again)
        })
    }

    /// The first slot of a level, from `first` on, that has items.
    fn busy_from(&self, level: usize, first: usize) -> Option<usize> {
        (first / 64..WORDS).find_map(|word| {
            let mask = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
            let bits = self.busy[level][word] & mask;
            (bits != 0).then(|| 64 * word + bits.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn epochs_without_anything_can_be_left_out(
            ahead in prop::collection::vec((0u32..40, any::<u64>()), 1..60),
        ) {
            let mut wheel = Wheel::default();
            let epochs = ahead.iter().map(|&(bits, number)| number & ((1 << bits) - 1));
            let mut pending: Vec<Epoch> = epochs.collect();
            pending.iter().for_each(|&epoch| wheel.push(epoch, epoch));
            pending.sort_unstable();
            let mut pending = pending.into_iter().peekable();
            let mut steps = 0;
            while let Some(epoch) = wheel.next() {
                wheel.turn_to(epoch);
                let mut taken = Vec::new();
                wheel.take(|item| taken.push(item));
                prop_assert!(taken.iter().all(|&item| item == epoch));
                for _ in taken {
                    prop_assert_eq!(pending.next(), Some(epoch));
                }
                steps += 1;
                wheel.turn();
            }
            prop_assert_eq!(pending.next(), None);
            // Each item is met on each level, and on the uppermost one once in each turn of the wheel.
            prop_assert!(steps <= ahead.len() * (LEVELS + 256));
        }

        #[test]
        fn everything_comes_in_its_epoch(ahead in prop::collection::vec((0u64..400, prop_oneof![0u64..3, 0u64..300, 0u64..70_000]), 0..200)) {
            let mut wheel = Wheel::default();
            let mut pending: Vec<Epoch> = Vec::new();
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
                pending.retain(|&epoch| epoch != now);
                prop_assert_eq!(taken, before - pending.len());
                wheel.turn();
            }
            prop_assert!(pending.is_empty());
        }
    }
}

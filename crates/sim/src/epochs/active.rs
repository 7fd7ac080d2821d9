//! Which stops have something to do, epoch by epoch.

use super::clock::Epoch;
use super::inbox::AHEAD;

/// A set of places in the order of stops for the present epoch and each of the next few.
#[derive(Clone, Debug, Default)]
pub struct Active {
    /// One bit for each place.
    words: [Vec<u64>; AHEAD as usize],
    /// Whether an epoch may have any.
    any: [bool; AHEAD as usize],
}

impl Active {
    /// No place of so many.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { words: std::array::from_fn(|_| vec![0; places.div_ceil(64)]), any: [false; AHEAD as usize] }
    }

    /// Adds a place, in the present epoch or less than [`AHEAD`] after it.
    #[inline]
    pub fn add(&mut self, epoch: Epoch, place: u32) {
        self.any[(epoch % AHEAD) as usize] = true;
        self.words[(epoch % AHEAD) as usize][place as usize / 64] |= 1 << (place % 64);
    }

    /// Takes out the first place of an epoch that is `from` or comes after it; others may be added in between.
    #[inline]
    pub fn take_from(&mut self, epoch: Epoch, from: u32) -> Option<u32> {
        let words = &mut self.words[(epoch % AHEAD) as usize];
        let first = from as usize / 64;
        let mut mask = u64::MAX << (from % 64);
        for (index, word) in words.iter_mut().enumerate().skip(first) {
            let bits = *word & mask;
            if bits != 0 {
                *word &= !(bits & bits.wrapping_neg());
                return Some(index as u32 * 64 + bits.trailing_zeros());
            }
            mask = u64::MAX;
        }
        self.any[(epoch % AHEAD) as usize] = false;
        None
    }

    /// The first epoch after `epoch`, of which all places were taken, that may have any.
    #[must_use]
    pub fn next(&self, epoch: Epoch) -> Option<Epoch> {
        (epoch + 1..epoch + AHEAD).find(|next| self.any[(next % AHEAD) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_come_in_order(mut places in prop::collection::vec(0u32..300, 0..80), epoch in 0u64..9) {
            let mut active = Active::new(300);
            places.iter().for_each(|&place| active.add(epoch, place));
            active.add(epoch + 1, 7);
            places.sort_unstable();
            places.dedup();
            let mut from = 0;
            for place in places {
                prop_assert_eq!(active.take_from(epoch, from), Some(place));
                from = place;
            }
            prop_assert_eq!(active.take_from(epoch, 0), None);
            prop_assert_eq!(active.next(epoch), Some(epoch + 1));
            prop_assert_eq!(active.next(epoch + 1), None);
            prop_assert_eq!(active.take_from(epoch + 1, 0), Some(7));
        }
    }
}

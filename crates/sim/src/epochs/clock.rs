//! Epochs: simulated time cut into pieces of equal length.

use crate::time::Time;

/// The number of an epoch.
pub type Epoch = u64;

/// Which epoch an instant lies in.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    per_second: f64,
}

/// By how much shorter than asked for epochs are at least, and at most.
const SHORTER: (f64, f64) = (1e-6, 0.125);
/// How far a time up to one second, and the epoch that it lies in, may be rounded.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl Clock {
    /// Epochs that are no longer than `longest_s` seconds, and a little shorter: what happens `longest_s` later lies
    /// in a later epoch, however the two times were rounded. Times are before `end_s`.
    #[must_use]
    pub fn new(longest_s: f64, end_s: f64) -> Self {
        Self { per_second: (1.0 + (ROUNDING * end_s / longest_s).clamp(SHORTER.0, SHORTER.1)) / longest_s }
    }

    /// The shortest epochs for times before `end_s`, in seconds: what happens so much later is told apart.
    #[must_use]
    pub fn shortest_s(end_s: f64) -> f64 {
        ROUNDING * end_s / SHORTER.1
    }

    /// The epoch of an instant. Monotonic: rounding never turns an order round.
    #[inline]
    #[must_use]
    pub fn epoch(self, time: Time) -> Epoch {
        // By way of i64, which processors convert to in one instruction.
        (time.seconds() * self.per_second) as i64 as Epoch
    }

    /// The first instant after an epoch.
    #[must_use]
    pub fn end(self, epoch: Epoch) -> Time {
        let mut bits = ((epoch + 1) as f64 / self.per_second).to_bits();
        let at = |bits| Time::new(f64::from_bits(bits));
        while self.epoch(at(bits)) > epoch {
            bits -= 1;
        }
        while self.epoch(at(bits)) <= epoch {
            bits += 1;
        }
        at(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_epoch_ends_where_the_next_begins(longest_s in 1e-7..10.0f64, epoch in 0u64..1 << 40) {
            let clock = Clock::new(longest_s, 0.0);
            let end = clock.end(epoch);
            prop_assert_eq!(clock.epoch(end), epoch + 1);
            prop_assert_eq!(clock.epoch(Time::new(f64::from_bits(end.bits() - 1))), epoch);
        }

        #[test]
        fn what_takes_a_epoch_ends_in_a_later_one(shortness in 0.0..1.0f64, part in 0.0..1.0f64, end_s in 1e-3..1e5f64) {
            // As many orders of magnitude below the end as there are above the shortest epochs.
            let longest_s = end_s * libm::pow(Clock::shortest_s(1.0), shortness);
            let clock = Clock::new(longest_s, end_s);
            let (begin, end) = (Time::new(part * end_s), Time::new(part * end_s) + longest_s);
            prop_assert!(clock.epoch(begin) < clock.epoch(end));
            prop_assert!(clock.epoch(end) - clock.epoch(begin) <= 2);
        }
    }
}

//! Simulated time: seconds in an f64 that is never negative, ordered by its bits.
//!
//! IEEE 754 addition, subtraction, multiplication and division give the same result on every machine,
//! and the bits of non-negative doubles compare as the numbers do. Keeping ns-2's arithmetic (and its
//! order of additions) is what lets drop decisions agree with ns-2 when two events meet at one instant.

use std::ops::Add;

/// Times that are equal but for rounding differ by less, in seconds.
pub const EQUAL_S: f64 = 1e-9;

/// Whole ticks of a clock that has `per_second` of them, after so many seconds.
#[inline]
#[must_use]
pub fn ticks(seconds: f64, per_second: f64) -> f64 {
    ((seconds + EQUAL_S) * per_second).floor()
}

/// An instant, in seconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Time(f64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0.0);
    /// Later than every event.
    pub const NEVER: Self = Self(f64::INFINITY);

    /// The instant `seconds` after the start, which is not negative.
    #[inline]
    #[must_use]
    pub fn new(seconds: f64) -> Self {
        debug_assert!(seconds >= 0.0 && seconds.is_sign_positive(), "time runs from zero: {seconds}");
        Self(seconds)
    }

    /// The instant that a scenario gives. Negative zero becomes zero, whose bits come first.
    #[must_use]
    pub fn planned(seconds: f64) -> Self {
        Self::new(seconds + 0.0)
    }

    /// Seconds since the start.
    #[inline]
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0
    }

    /// The bits, which order as the instants do.
    #[inline]
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0.to_bits()
    }

    /// The seconds from `earlier` to `self`.
    #[inline]
    #[must_use]
    pub fn since(self, earlier: Self) -> f64 {
        self.0 - earlier.0
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bits().cmp(&other.bits())
    }
}

impl Add<f64> for Time {
    type Output = Self;

    #[inline]
    fn add(self, seconds: f64) -> Self {
        Self(self.0 + seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_order_as_seconds_do(a in 0.0..1e9f64, b in 0.0..1e9f64) {
            prop_assert_eq!(Time::new(a).cmp(&Time::new(b)), a.partial_cmp(&b).unwrap());
        }
    }

    #[test]
    fn never_is_last_and_negative_zero_is_zero() {
        assert!(Time::NEVER > Time::new(f64::MAX));
        assert_eq!(Time::planned(-0.0).bits(), Time::ZERO.bits());
    }
}

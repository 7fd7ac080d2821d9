//! Windows: simulated time cut into pieces of equal length.

use crate::time::Time;

/// The number of a window.
pub type Window = u64;

/// Which window an instant lies in.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    per_second: f64,
}

impl Clock {
    /// Windows that are no longer than `longest_s` seconds, and a little shorter: what happens `longest_s` later lies
    /// in a later window, however the two times were rounded.
    #[must_use]
    pub fn new(longest_s: f64) -> Self {
        Self { per_second: (1.0 + 1e-6) / longest_s }
    }

    /// The window of an instant. Monotonic: rounding never turns an order round.
    #[inline]
    #[must_use]
    pub fn window(self, time: Time) -> Window {
        // By way of i64, which processors convert to in one instruction.
        (time.seconds() * self.per_second) as i64 as Window
    }

    /// The first instant after a window.
    #[must_use]
    pub fn end(self, window: Window) -> Time {
        let mut bits = ((window + 1) as f64 / self.per_second).to_bits();
        let at = |bits| Time::new(f64::from_bits(bits));
        while self.window(at(bits)) > window {
            bits -= 1;
        }
        while self.window(at(bits)) <= window {
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
        fn a_window_ends_where_the_next_begins(longest_s in 1e-7..10.0f64, window in 0u64..1 << 40) {
            let clock = Clock::new(longest_s);
            let end = clock.end(window);
            prop_assert_eq!(clock.window(end), window + 1);
            prop_assert_eq!(clock.window(Time::new(f64::from_bits(end.bits() - 1))), window);
        }

        #[test]
        fn what_takes_a_window_ends_in_a_later_one(longest_s in 1e-6..1.0f64, time in 0.0..1e4f64) {
            let clock = Clock::new(longest_s);
            let (begin, end) = (Time::new(time), Time::new(time) + longest_s);
            prop_assert!(clock.window(begin) < clock.window(end));
        }
    }
}

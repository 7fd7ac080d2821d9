//! SEARCH (M. Claypool et al.: SEARCH: Slow start Exit At Right CHokepoint, draft-chung-ccwg-search-03): slow start ends
//! when what was delivered no longer follows what was sent a round trip before. In slow start twice as much is delivered in
//! a window of time as in the window a round trip earlier; at the capacity of the path as much.
//!
//! Time is divided into bins; windows are of ten (§3, as in draft-chung-ietf-ccwg-00, whose constants are the same). Of the
//! draft's reduction of the window at its end, which may be, nothing is done; bins that pass without an ACK repeat the last one.

use crate::congestion::Ack;
use crate::time::Time;

/// Bins in a window (W) ...
const BINS: usize = 10;
/// ... which is so many initial round trips long (WINDOW_SIZE).
const WINDOW_ROUNDS: f64 = 3.5;
/// Bins before the window that are kept, for the round trip (EXTRA_BINS).
const EXTRA: usize = 15;
const KEPT: usize = BINS + EXTRA + 1;
/// Slow start ends when this share of what is expected is missing (THRESH).
const THRESHOLD: f64 = 0.35;

/// The state of SEARCH.
#[derive(Clone, Debug)]
pub struct Search {
    /// Length of a bin in seconds; zero before the first sample.
    bin_s: f64,
    /// The end of the bin in progress.
    ends: Time,
    /// Packets delivered until the end of each bin, the last `KEPT` of them; and the number of bins that are over.
    delivered: [f64; KEPT],
    bins: usize,
    total: f64,
}

impl Default for Search {
    fn default() -> Self {
        Self { bin_s: 0.0, ends: Time::ZERO, delivered: [0.0; KEPT], bins: 0, total: 0.0 }
    }
}

impl Search {
    fn until(&self, bin: usize) -> f64 {
        self.delivered[bin % KEPT]
    }

    /// Takes in an ACK of slow start. True if the path is full.
    pub(super) fn finds_limit(&mut self, ack: &Ack) -> bool {
        if self.bin_s == 0.0 {
            self.bin_s = (ack.rtt_s * WINDOW_ROUNDS / BINS as f64).max(1e-6);
            self.ends = ack.now + self.bin_s;
        }
        let mut found = false;
        if ack.now > self.ends {
            // Bins without an ACK end with what was delivered before.
            let passed = (ack.now.since(self.ends) / self.bin_s) as usize + 1;
            for _ in 0..passed.min(KEPT) {
                self.bins += 1;
                self.delivered[self.bins % KEPT] = self.total;
            }
            self.ends = self.ends + passed as f64 * self.bin_s;
            found = self.compare(ack.rtt_s);
        }
        self.total += ack.delivered;
        found
    }

    /// What was delivered in the last window, and twice what was in the one a round trip before it.
    fn compare(&self, rtt_s: f64) -> bool {
        let now = self.bins;
        let back = rtt_s / self.bin_s;
        let whole = back as usize;
        // A longer round trip than the bins reach back to says nothing.
        if whole + 1 > EXTRA || now < BINS + whole + 1 {
            return false;
        }
        let share = back - whole as f64;
        let window = |end: usize| self.until(end) - self.until(end - BINS);
        let before = share * window(now - whole - 1) + (1.0 - share) * window(now - whole);
        before > 0.0 && (2.0 * before - window(now)) / (2.0 * before) >= THRESHOLD
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::slow_start::SlowStart;
    use crate::congestion::slow_start::tests::grow;
    use crate::congestion::tests::ack;
    use crate::congestion::{Ack, Window};
    use crate::scenario::SlowStartKind::Search;
    use crate::time::Time;

    /// Twice as much in each round trip: slow start continues.
    #[test]
    fn doubling_goes_on() {
        assert_eq!(grow(Search, 0.0, 9, |_| 0.1).0, 9);
    }

    /// From 100 packets on the path delivers 1000 packets a second, whatever is sent, and its queue grows. The window of 3.5
    /// round trips before shows it when it has passed, less what the threshold leaves.
    #[test]
    fn a_constant_rate_ends_slow_start() {
        let mut slow_start = SlowStart::new(Search, false, None).expect("not the standard one");
        let mut window = Window { cwnd: 12.5, ssthresh: f64::MAX };
        let mut through = 0;
        let mut acknowledge = |window: &mut Window, now_s: f64, rtt_s: f64| {
            through += 1;
            let ack = Ack { now: Time::new(now_s), through, highest: through + window.cwnd as i32, ..ack(rtt_s) };
            slow_start.before(window, &ack);
            if window.in_slow_start() {
                window.slow_start(1.0);
            }
            slow_start.after(window, &ack);
        };
        let mut full_s = 1.0;
        while window.cwnd < 100.0 {
            let count = window.cwnd as i32;
            for place in 1..=count {
                acknowledge(&mut window, full_s + 0.1 * f64::from(place) / f64::from(count), 0.1);
            }
            full_s += 0.1;
        }
        assert!(window.in_slow_start());
        let mut past_s = 0.0;
        while window.in_slow_start() && past_s < 5.0 {
            past_s += 0.001;
            // It left when half of what has come since was to come: the window grows as fast as the path delivers.
            acknowledge(&mut window, full_s + past_s, 0.1 + past_s / 2.0);
        }
        assert!((0.35..0.9).contains(&past_s), "{past_s}");
    }
}

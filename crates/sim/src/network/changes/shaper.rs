//! A token bucket in front of a line, as home routers, policies of providers and clouds have it (RFC 2698 has its terms).

use crate::scenario::ShaperSpec;

/// The bucket. Packets wait for tokens in order, the first of them at the head of the queue.
#[derive(Clone, Debug)]
pub struct Shaper {
    bytes_per_s: f64,
    burst_bytes: f64,
    /// Bytes in the bucket at `at_s`; below zero, they are owed.
    tokens: f64,
    at_s: f64,
}

impl Shaper {
    /// A full bucket.
    #[must_use]
    pub fn new(spec: ShaperSpec) -> Self {
        let burst_bytes = f64::from(spec.burst_bytes);
        Self { bytes_per_s: spec.rate_bps / 8.0, burst_bytes, tokens: burst_bytes, at_s: 0.0 }
    }

    /// How long the tokens of a packet of `bytes` bytes take to come, in seconds.
    pub fn tokens_s(&self, bytes: u32) -> f64 {
        f64::from(bytes) / self.bytes_per_s
    }

    /// When a packet of `bytes` bytes goes that is first in line from `start_s` on.
    pub fn begin(&mut self, start_s: f64, bytes: u32) -> f64 {
        let needed = f64::from(bytes).min(self.burst_bytes);
        let there = (self.tokens + (start_s - self.at_s) * self.bytes_per_s).min(self.burst_bytes);
        let begin_s = if there < needed { start_s + (needed - there) / self.bytes_per_s } else { start_s };
        self.tokens = there.max(needed) - f64::from(bytes);
        self.at_s = begin_s;
        begin_s
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        // 1,000 B/s, 3,000 B at once.
        let mut shaper = Shaper::new(ShaperSpec { rate_bps: 8000.0, burst_bytes: 3000 });
        let mut start_s = 0.0;
        let begins = [1000, 1000, 1000, 1000, 500, 4000, 1000].map(|bytes| {
            start_s = shaper.begin(start_s, bytes);
            start_s
        });
        // The packet of 4,000 B waits for a full bucket and owes 1,000 B to the one after it.
        assert_eq!(begins, [0.0, 0.0, 0.0, 1.0, 1.5, 4.5, 6.5]);
        // Nothing more than a full bucket is saved.
        assert_eq!([shaper.begin(100.0, 3000), shaper.begin(100.0, 1000)], [100.0, 101.0]);
    }

    proptest! {
        /// In any time no more goes than a full bucket, what comes in that time, and what one packet owes.
        #[test]
        fn no_more_goes_than_tokens_come(packets in prop::collection::vec((0.0..0.5f64, 40..1500u32), 1..80)) {
            let mut shaper = Shaper::new(ShaperSpec { rate_bps: 32_000.0, burst_bytes: 2000 });
            let (mut arrived_s, mut free_s, mut gone) = (0.0, 0.0f64, Vec::new());
            for (gap_s, bytes) in packets {
                arrived_s += gap_s;
                free_s = shaper.begin(free_s.max(arrived_s), bytes);
                gone.push((free_s, f64::from(bytes)));
            }
            for first in 0..gone.len() {
                let mut sum = 0.0;
                for &(at_s, bytes) in &gone[first..] {
                    sum += bytes;
                    prop_assert!(sum <= 2000.0 + (at_s - gone[first].0) * 4000.0 + 1e-6);
                }
            }
        }
    }
}

//! How much later than planned packets were forwarded: a histogram of fixed size, fine where lateness is small.

/// Buckets for each doubling: neighbours are 2 % apart.
const STEPS: usize = 32;
/// The largest that is told apart, in powers of two of nanoseconds: 2⁴⁰ ns are 18 minutes.
const DOUBLINGS: usize = 40;

/// Counts of lateness.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// By the logarithm of nanoseconds.
    counts: Vec<u64>,
    packets: u64,
    late: u64,
    bound_s: f64,
    max_s: f64,
    sum_s: f64,
}

/// The largest share of packets that may be late.
pub const MOST_LATE: f64 = 0.01;

impl Lateness {
    /// Of no packet yet. Packets are late beyond `bound_s`.
    #[must_use]
    pub fn new(bound_s: f64) -> Self {
        Self { counts: vec![0; STEPS * DOUBLINGS], packets: 0, late: 0, bound_s, max_s: 0.0, sum_s: 0.0 }
    }

    /// A packet was forwarded `late_s` after it was due.
    pub fn note(&mut self, late_s: f64) {
        let bucket = (STEPS as f64 * (late_s * 1e9).max(1.0).log2()) as usize;
        self.counts[bucket.min(STEPS * DOUBLINGS - 1)] += 1;
        self.packets += 1;
        self.late += u64::from(late_s > self.bound_s);
        self.max_s = self.max_s.max(late_s);
        self.sum_s += late_s;
    }

    /// Packets forwarded.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// What `share` of the packets do not exceed, in seconds, to 2 %; nothing if there were none.
    #[must_use]
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.packets as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                let upper_s = 1e-9 * ((bucket + 1) as f64 / STEPS as f64).exp2();
                return Some(upper_s.min(self.max_s));
            }
        }
        None
    }

    /// The mean in seconds; nothing if there were no packets.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_s / self.packets as f64)
    }

    /// The largest, in seconds.
    #[must_use]
    pub fn max_s(&self) -> f64 {
        self.max_s
    }

    /// Beyond which packets are late, in seconds.
    #[must_use]
    pub fn bound_s(&self) -> f64 {
        self.bound_s
    }

    /// The share of the packets that were late.
    #[must_use]
    pub fn share_late(&self) -> f64 {
        if self.packets == 0 { 0.0 } else { self.late as f64 / self.packets as f64 }
    }

    /// Whether so many were late that the link was not what it should have been.
    #[must_use]
    pub fn invalidates(&self) -> bool {
        self.share_late() > MOST_LATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in prop::collection::vec(0.0..0.1f64, 1..300), share in 0.0..1.0f64) {
            let mut lateness = Lateness::new(0.05);
            values.iter().for_each(|&value| lateness.note(value));
            values.sort_by(f64::total_cmp);
            let rank = ((share * values.len() as f64).ceil() as usize).max(1) - 1;
            let (exact, found) = (values[rank], lateness.quantile_s(share).unwrap());
            prop_assert!(found >= exact && found <= exact.max(1e-9) * 1.023, "{} {}", exact, found);
            prop_assert_eq!(lateness.invalidates(), values.iter().filter(|value| **value > 0.05).count() as f64 > 0.01 * values.len() as f64);
        }
    }

    #[test]
    fn nothing_is_not_late() {
        let lateness = Lateness::new(0.0);
        assert_eq!((lateness.quantile_s(0.5), lateness.mean_s(), lateness.invalidates()), (None, None, false));
    }
}

//! Whether the marks that Prague reads come from a classic queue (B. Briscoe, A. S. Ahmed: TCP Prague Fall-back on Detection of
//! a Classic ECN AQM, arXiv 1911.00710; constants and gains of TCP Prague in Linux, tcp_prague.c 0.6, prague_ecn_fallback). Such
//! a queue lets round trips vary and grow by milliseconds, where one of L4S keeps them within a fraction of one.
//!
//! What Linux computes in whole numbers, with remainders that it carries on, is computed in fractions. The paper's third
//! criterion, that who limits itself sees little of a queue, is not in Linux and not here.

/// Weights of the deviation of round trips and of the depth of the queue: per doubling over what both are of a queue of L4S.
const DEVIATION_WEIGHT: f64 = 0.5;
const DEPTH_WEIGHT: f64 = 0.5;
const DEVIATION_S: f64 = 750e-6;
const DEPTH_S: f64 = 2e-3;
/// Less than a microsecond Linux does not see.
const LEAST_DEVIATION_S: f64 = 1e-6;
/// The score is at most this far below where it says classic, and above where it is sure of that.
const STICKY: f64 = 8.0;
/// It is sure, from being none on, after a way of so much.
const TRANSITION: f64 = 1.0;
/// A queue that is classic for sure has at least this share of its packets taken for marked (5/8).
const CLASSIC_SHARE: f64 = 0.625;
/// Weights of samples are at least 2 to the power of this, negative.
const LEAST_GAIN: u32 = 18;

/// What round trips tell of a queue.
#[derive(Clone, Copy, Debug)]
pub struct ClassicEcn {
    /// The smallest round trip, the smoothed one and its deviation.
    least_s: f64,
    srtt_s: f64,
    deviation_s: f64,
    /// The weight of a sample.
    gain: f64,
    score: f64,
}

impl Default for ClassicEcn {
    fn default() -> Self {
        let gain = gain(f64::MAX);
        Self { least_s: f64::INFINITY, srtt_s: 0.0, deviation_s: LEAST_DEVIATION_S, gain, score: 0.0 }
    }
}

/// The weight of a sample where a window of `ssthresh` packets was cut: over many round trips, so that a sawtooth is not taken
/// for the queue's doing.
fn gain(ssthresh: f64) -> f64 {
    let doublings = (ssthresh.clamp(1.0, f64::from(u32::MAX)) as u32).ilog2();
    let shift = (doublings + doublings / 2 + 1).min(LEAST_GAIN);
    libm::exp2(-f64::from(shift))
}

impl ClassicEcn {
    /// An ACK tells a round trip.
    pub fn sample(&mut self, rtt_s: f64) {
        self.least_s = self.least_s.min(rtt_s);
        if self.srtt_s == 0.0 {
            self.srtt_s = rtt_s;
            return;
        }
        let error_s = rtt_s - self.srtt_s;
        self.srtt_s += self.gain * error_s;
        self.deviation_s += self.gain / 2.0 * (error_s.abs() - self.deviation_s);
    }

    /// A round trip is over, and there were marks on the path.
    pub fn judge(&mut self) {
        let deviation = libm::log2(self.deviation_s.max(LEAST_DEVIATION_S) / DEVIATION_S);
        // What waits can only make it more classic.
        let depth = libm::log2(((self.srtt_s - self.least_s) / DEPTH_S).max(1.0));
        let score = self.score + DEVIATION_WEIGHT * deviation + DEPTH_WEIGHT * depth;
        self.score = score.clamp(0.0, 2.0 * STICKY + TRANSITION);
    }

    /// The window is cut, where the threshold was so many packets: the least share of marks to go by.
    pub fn least_share(&mut self, ssthresh: f64) -> f64 {
        self.gain = gain(ssthresh);
        CLASSIC_SHARE * ((self.score - STICKY) / TRANSITION).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share after `rounds` round trips of 100 packets whose times are `base_s` and what waits: `depth_s` on average,
    /// between nothing and twice of it.
    fn share(depth_s: f64, rounds: u32) -> f64 {
        let mut queue = ClassicEcn::default();
        queue.least_share(64.0);
        for place in 0..100 * rounds {
            queue.sample(0.02 + depth_s * f64::from(place % 100) / 50.0);
            if place % 100 == 99 {
                queue.judge();
            }
        }
        queue.least_share(64.0)
    }

    /// A sawtooth deviates by a quarter of its height from its mean: 0.25 ms of 1 ms is a third of the reference, 5 ms of 20 ms
    /// nearly seven times that, which is a step of 1.4, and of the depth of 10 ms 1.2 more.
    #[test]
    fn deep_and_varying_queues_are_classic() {
        assert_eq!(share(0.5e-3, 500), 0.0);
        assert_eq!(share(10e-3, 500), CLASSIC_SHARE);
    }

    /// From the beginning it takes at least eight in steps of 2.6 and, as the estimates only come up to the truth, some more.
    #[test]
    fn it_takes_some_round_trips_to_be_sure() {
        assert_eq!(share(10e-3, 3), 0.0);
        let sure = (1..500).find(|&rounds| share(10e-3, rounds) == CLASSIC_SHARE);
        assert!(sure.is_some_and(|rounds| (4..200).contains(&rounds)), "{sure:?}");
    }

    /// 2 to the power of lg + lg / 2 + 1, in whole numbers, of 64 packets.
    #[test]
    fn the_weight_of_a_sample_falls_with_the_window() {
        assert_eq!(gain(64.0), libm::exp2(-10.0));
        assert_eq!(gain(f64::MAX), libm::exp2(-18.0));
    }
}

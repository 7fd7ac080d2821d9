//! What several controls measure: round trips, and how long packets take in them.

use super::Ack;

/// Takes a sample into a smoothed round-trip time (RFC 6298 §2), in seconds; zero before the first.
pub(super) fn smooth(srtt_s: &mut f64, rtt_s: f64) {
    const GAIN: f64 = 0.125;
    *srtt_s += if *srtt_s > 0.0 { GAIN } else { 1.0 } * (rtt_s - *srtt_s);
}

/// Round trips, and the round-trip times of the current one, of the connection and of its path.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// The smallest sample of the connection, in seconds; infinite before the first.
    pub base_s: f64,
    /// The largest sample of the connection, in seconds.
    pub max_s: f64,
    /// The smallest sample of this round, in seconds; infinite before the first.
    pub least_s: f64,
    /// The number of samples of this round.
    pub samples: u32,
    sum_s: f64,
    last: i32,
}

impl Default for Rounds {
    /// Nothing measured yet.
    fn default() -> Self {
        Self { base_s: f64::INFINITY, max_s: 0.0, least_s: f64::INFINITY, samples: 0, sum_s: 0.0, last: -1 }
    }
}

impl Rounds {
    /// Takes a sample.
    #[inline]
    pub fn sample(&mut self, ack: &Ack) {
        self.base_s = self.base_s.min(ack.rtt_s);
        self.max_s = self.max_s.max(ack.rtt_s);
        self.least_s = self.least_s.min(ack.rtt_s);
        self.sum_s += ack.rtt_s;
        self.samples += 1;
    }

    /// Whether a round trip is over: what was the newest packet when it began is acknowledged.
    #[inline]
    #[must_use]
    pub fn is_over(&self, ack: &Ack) -> bool {
        ack.through > self.last
    }

    /// Has this round last until what is sent by now is acknowledged.
    pub fn extend(&mut self, ack: &Ack) {
        self.last = ack.highest;
    }

    /// Begins the next round.
    pub fn begin(&mut self, ack: &Ack) {
        self.extend(ack);
        self.least_s = f64::INFINITY;
        self.sum_s = 0.0;
        self.samples = 0;
    }

    /// The mean sample of this round, in seconds, if there is one.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum_s / f64::from(self.samples))
    }

    /// Of `window` packets those that wait in queues, by the smallest sample of this round: Vegas' diff.
    #[must_use]
    pub fn backlog(&self, window: f64) -> f64 {
        if self.samples == 0 { 0.0 } else { window * (1.0 - self.base_s / self.least_s) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::ack;

    #[test]
    fn a_round_ends_with_the_packet_that_was_newest_at_its_begin() {
        let mut rounds = Rounds::default();
        let first = Ack { through: 1, highest: 10, ..ack(0.1) };
        rounds.sample(&first);
        assert!(rounds.is_over(&first));
        rounds.begin(&first);
        for through in 2..=11 {
            let ack = Ack { through, highest: 20, rtt_s: 0.2, ..first };
            rounds.sample(&ack);
            assert_eq!(rounds.is_over(&ack), through == 11);
        }
        // Half of the time is spent in queues, and so are half of the packets.
        assert!(rounds.mean_s().is_some_and(|mean_s| (mean_s - 0.2).abs() < 1e-12));
        assert_eq!(rounds.backlog(10.0), 5.0);
    }
}

//! Room in the window for ACKs that come together (Linux's `bbr_update_ack_aggregation`): what is acknowledged beyond what the
//! bandwidth would have delivered, the most of the last five to ten round trips.

/// Round trips after which what was the most is forgotten by halves.
const ROUNDS: u32 = 5;
/// More than this time's worth at the bandwidth is not allowed for, in seconds.
const MOST_S: f64 = 0.1;

/// What comes together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    /// Since when what is acknowledged is held against the bandwidth, in seconds, and what that was.
    begun_s: f64,
    acked: f64,
    /// The most of this half, and of the one before.
    most: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// So many packets were acknowledged at `now_s`, of a window of `cwnd` packets at a bandwidth in packets per second.
    pub fn update(&mut self, now_s: f64, packets: f64, bandwidth: f64, cwnd: f64, round_begins: bool) {
        if round_begins {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                (self.rounds, self.most) = (0, [0.0, self.most[0]]);
            }
        }
        // Whole packets, as in Linux.
        let mut expected = libm::floor(bandwidth * (now_s - self.begun_s));
        if self.acked <= expected {
            (self.begun_s, self.acked, expected) = (now_s, 0.0, 0.0);
        }
        self.acked += packets;
        self.most[0] = self.most[0].max((self.acked - expected).min(cwnd));
    }

    /// Packets by which the window may be larger.
    #[must_use]
    pub fn allowance(&self, bandwidth: f64) -> f64 {
        libm::floor(self.most[0].max(self.most[1]).min(MOST_S * bandwidth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 packets a second, of which so many are acknowledged at once, for so many seconds; ten samples a round trip.
    fn most(batch: u32, seconds: u32) -> Aggregation {
        let mut aggregation = Aggregation::default();
        more(&mut aggregation, batch, 0..100 * seconds);
        aggregation
    }

    fn more(aggregation: &mut Aggregation, batch: u32, packets: std::ops::Range<u32>) {
        for (count, packet) in packets.step_by(batch as usize).enumerate() {
            let now_s = f64::from(packet + batch) / 100.0;
            // The bandwidth is the most that was seen, and more than now.
            aggregation.update(now_s, f64::from(batch), 120.0, 50.0, count % 10 == 0);
        }
    }

    #[test]
    fn what_comes_together_is_allowed_for() {
        // A tenth of a second at 100 packets a second is 10 packets, however many come together.
        for (batch, allowed) in [(1, 1.0), (4, 4.0), (10, 10.0), (20, 10.0)] {
            assert!((most(batch, 20).allowance(100.0) - allowed).abs() < 1e-9, "{batch}");
        }
    }

    /// Five to ten round trips of ten samples, after those in which the bandwidth would have delivered it.
    #[test]
    fn what_came_together_is_forgotten() {
        let mut aggregation = most(8, 20);
        more(&mut aggregation, 1, 2000..2040);
        assert!((aggregation.allowance(100.0) - 8.0).abs() < 1e-9);
        more(&mut aggregation, 1, 2040..2200);
        assert!((aggregation.allowance(100.0) - 1.0).abs() < 1e-9);
    }
}

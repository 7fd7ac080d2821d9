//! Whether a token bucket polices a flow (Linux's `bbr_lt_bw_sampling`, after T. Flach et al.: An Internet-Wide Analysis of Traffic
//! Policing, SIGCOMM 2016): two stretches of round trips that lose a fifth of what they deliver, at rates that agree. Then
//! their rate is taken for the bandwidth, without probing, so that no more is lost.

use super::rate_sample::RateSample;

/// Round trips of a stretch, at least (bbr_lt_intvl_min_rtts), and at most.
const ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * ROUNDS;
/// Packets lost for each that is delivered (bbr_lt_loss_thresh).
const LOSS: f64 = 50.0 / 256.0;
/// By how much two rates may differ, relatively (bbr_lt_bw_ratio) ...
const RATIO: f64 = 1.0 / 8.0;
/// ... or in packets of 1500 B per second: 4 kbit/s (bbr_lt_bw_diff).
const DIFFERENCE: f64 = 4e3 / (8.0 * 1500.0);
/// For how many round trips their rate is taken (bbr_lt_bw_max_rtts).
const USED_ROUNDS: u32 = 48;

/// What is known of the rate of a policer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongTerm {
    /// Packets per second of the stretch before, or of both; zero: there was none.
    rate: f64,
    is_used: bool,
    /// A stretch has begun: with a loss, as before that the bucket may have had tokens.
    is_sampling: bool,
    /// Round trips of this stretch, or for which the rate is used.
    rounds: u32,
    /// When the stretch began, in milliseconds, and what had been delivered and lost then.
    begun_ms: f64,
    delivered: f64,
    lost_before: f64,
    /// Packets lost in all.
    lost: f64,
}

impl LongTerm {
    /// The rate to be taken for the bandwidth, in packets per second.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.is_used.then_some(self.rate)
    }

    /// Takes a sample. Whether the rate is not used any longer, so that probing begins again.
    pub fn update(&mut self, sample: &RateSample, round_begins: bool, probes: bool) -> bool {
        self.lost += sample.newly_lost;
        if self.is_used {
            self.rounds += u32::from(probes && round_begins);
            let is_over = self.rounds >= USED_ROUNDS;
            if is_over {
                self.reset();
            }
            return is_over;
        }
        let (now_ms, delivered) = (libm::floor(sample.now.seconds() * 1e3), sample.total_delivered);
        if !self.is_sampling {
            if sample.newly_lost == 0.0 {
                return false;
            }
            self.begin(now_ms, delivered);
            self.is_sampling = true;
        }
        self.rounds += u32::from(round_begins);
        if sample.app_limited || self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= ROUNDS && sample.newly_lost > 0.0 {
            // It ends with a loss, too: the bucket is empty again.
            self.end(now_ms, delivered);
        }
        false
    }

    /// A timeout ends a round trip, whose losses the next sample has.
    pub fn end_round(&mut self, probes: bool) {
        self.rounds += u32::from(if self.is_used { probes } else { self.is_sampling });
    }

    /// Nothing is known.
    pub fn reset(&mut self) {
        *self = Self { lost: self.lost, ..Self::default() };
    }

    fn begin(&mut self, now_ms: f64, delivered: f64) {
        (self.rounds, self.begun_ms, self.delivered, self.lost_before) = (0, now_ms, delivered, self.lost);
    }

    fn end(&mut self, now_ms: f64, total_delivered: f64) {
        let (delivered, for_ms) = (total_delivered - self.delivered, now_ms - self.begun_ms);
        if delivered <= 0.0 || self.lost - self.lost_before < LOSS * delivered || for_ms < 1.0 {
            return;
        }
        let rate = delivered / for_ms * 1e3;
        let difference = (rate - self.rate).abs();
        if self.rate > 0.0 && (difference <= RATIO * self.rate || difference <= DIFFERENCE) {
            (self.rate, self.is_used, self.rounds) = (f64::midpoint(rate, self.rate), true, 0);
        } else {
            self.rate = rate;
            self.begin(now_ms, total_delivered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    /// Ten samples a round trip of 100 ms, each of `delivered` packets and perhaps a loss of so many; what each says.
    fn fed(long_term: &mut LongTerm, rounds: std::ops::Range<u32>, delivered: f64, lost: f64) -> Vec<Option<f64>> {
        let say = |place: u32| {
            let sample = RateSample {
                now: Time::new(f64::from(place) / 100.0),
                total_delivered: f64::from(place) * delivered,
                newly_lost: lost,
                ..RateSample::NOTHING
            };
            long_term.update(&sample, place.is_multiple_of(10), true);
            long_term.rate()
        };
        (10 * rounds.start..10 * rounds.end).map(say).collect()
    }

    #[test]
    fn two_lossy_stretches_at_one_rate_are_a_policer() {
        let mut long_term = LongTerm::default();
        let found = fed(&mut long_term, 1..60, 10.0, 2.0);
        // The first stretch begins with the first sample, which begins a round, and lasts until the fourth begins; the second
        // lasts four.
        let first = found.iter().position(Option::is_some).unwrap();
        assert_eq!(first, 30 + 40);
        assert!((found[first].unwrap() - 1000.0).abs() < 1e-9);
        // 48 round trips later it probes again.
        assert_eq!(found.iter().skip(first).position(Option::is_none), Some(480));
    }

    #[test]
    fn fewer_losses_or_other_rates_are_none() {
        let mut long_term = LongTerm::default();
        assert!(fed(&mut long_term, 1..60, 10.0, 1.9).iter().all(Option::is_none));
        assert!(fed(&mut LongTerm::default(), 1..60, 10.0, 0.0).iter().all(Option::is_none));
        let mut long_term = LongTerm::default();
        assert!(fed(&mut long_term, 1..6, 10.0, 2.0).iter().all(Option::is_none));
        long_term.reset();
        assert!(fed(&mut long_term, 6..13, 10.0, 2.0).iter().all(Option::is_none));
    }
}

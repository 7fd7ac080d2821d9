//! Round-trip time estimation and the retransmission timeout.

use crate::scenario::{Profile, RtoSpec};
use crate::time::Time;

/// The estimator of one connection.
///
/// Under profile `rfc` all values are seconds (RFC 6298), and so they are under `linux`, whose deviation is counted
/// in windows: `rttvar` is its largest value in a window, times 4, and falls slowly. Under `ns2` they are what ns-2's agents keep:
/// whole clock ticks, `srtt` times 8 and `rttvar` times 4 (Jacobson's fixed-point code), held in
/// doubles, which represent them exactly.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    srtt: f64,
    rttvar: f64,
    /// The timeout before bounds and backoff, in seconds.
    unbounded_s: f64,
    /// The timeout to arm the timer with, in seconds.
    timeout_s: f64,
    /// Where this host's clock stands within a tick when the run starts, in seconds (ns-2).
    phase_s: f64,
    backoff: u32,
    deviation: Deviation,
}

/// Linux: mdev_us, mdev_max_us (both times 4, here in seconds) and rtt_seq.
#[derive(Clone, Copy, Debug, Default)]
struct Deviation {
    now: f64,
    most: f64,
    /// The window ends when more than this packet is acknowledged.
    through: i32,
}

/// ns-2's `rttvar_init_`, in seconds: it only matters after a backoff beyond 8, before a sample.
const NS2_RTTVAR_INIT_S: f64 = 12.0;

impl RttEstimator {
    /// An estimator without samples.
    #[must_use]
    pub fn new(spec: &RtoSpec, profile: Profile, phase_s: f64) -> Self {
        let rttvar = match profile {
            Profile::Ns2 => (NS2_RTTVAR_INIT_S / spec.granularity_s).floor() * 4.0,
            Profile::Rfc | Profile::Linux => 0.0,
        };
        let (unbounded_s, deviation) = (spec.initial_s, Deviation::default());
        let mut estimator = Self { srtt: 0.0, rttvar, unbounded_s, timeout_s: 0.0, phase_s, backoff: 1, deviation };
        estimator.bound(spec);
        estimator
    }

    /// Takes a sample of `rtt_s` seconds that ended at `now`, with the ACK of packet `through` when `highest` was the
    /// highest one sent.
    pub fn sample(&mut self, spec: &RtoSpec, profile: Profile, now: Time, rtt_s: f64, (through, highest): (i32, i32)) {
        match profile {
            Profile::Ns2 => self.sample_ticks(spec.granularity_s, now, rtt_s),
            Profile::Rfc => self.sample_seconds(spec, rtt_s),
            Profile::Linux => self.sample_windows(spec, rtt_s, through, highest),
        }
        self.bound(spec);
    }

    /// RFC 6298 §2.2 and §2.3.
    fn sample_seconds(&mut self, spec: &RtoSpec, rtt_s: f64) {
        if self.srtt == 0.0 {
            self.srtt = rtt_s;
            self.rttvar = rtt_s / 2.0;
        } else {
            self.rttvar = 0.75 * self.rttvar + 0.25 * (self.srtt - rtt_s).abs();
            self.srtt = 0.875 * self.srtt + 0.125 * rtt_s;
        }
        self.unbounded_s = self.srtt + (4.0 * self.rttvar).max(spec.granularity_s);
    }

    /// Linux's tcp_rtt_estimator: the deviation that counts is the largest one of a window, at least the smallest
    /// timeout; and where round trips become shorter, it grows less.
    fn sample_windows(&mut self, spec: &RtoSpec, rtt_s: f64, through: i32, highest: i32) {
        let deviation = &mut self.deviation;
        if self.srtt == 0.0 {
            self.srtt = rtt_s;
            self.rttvar = (2.0 * rtt_s).max(spec.min_s);
            *deviation = Deviation { now: 2.0 * rtt_s, most: self.rttvar, through: highest };
        } else {
            let error = rtt_s - self.srtt;
            self.srtt += error / 8.0;
            let change = error.abs() - deviation.now / 4.0;
            deviation.now += if error < 0.0 && change > 0.0 { change / 8.0 } else { change };
            if deviation.now > deviation.most {
                deviation.most = deviation.now;
                self.rttvar = self.rttvar.max(deviation.most);
            }
            if through > deviation.through {
                if deviation.most < self.rttvar {
                    self.rttvar -= (self.rttvar - deviation.most) / 4.0;
                }
                (deviation.through, deviation.most) = (highest, spec.min_s);
            }
        }
        self.unbounded_s = self.srtt + self.rttvar;
    }

    /// ns-2: the difference of two readings of a clock with ticks, then fixed-point smoothing.
    fn sample_ticks(&mut self, tick_s: f64, now: Time, rtt_s: f64) {
        let sent = now.seconds() - rtt_s + self.phase_s;
        let rtt = ((rtt_s + sent % tick_s) / tick_s).floor().max(1.0);
        if self.srtt == 0.0 {
            self.srtt = rtt * 8.0;
            self.rttvar = rtt * 2.0;
        } else {
            let error = rtt - (self.srtt / 8.0).floor();
            self.srtt = at_least_one(self.srtt + error);
            let deviation = error.abs() - (self.rttvar / 4.0).floor();
            self.rttvar = at_least_one(self.rttvar + deviation);
        }
        self.unbounded_s = ((self.rttvar * 8.0 + self.srtt) / 8.0).floor() * tick_s;
    }

    /// The timeout to arm the timer with, in seconds.
    #[inline]
    #[must_use]
    pub fn timeout_s(&self) -> f64 {
        self.timeout_s
    }

    /// The smoothed round-trip time in seconds, if there was a sample.
    #[must_use]
    pub fn srtt_s(&self, spec: &RtoSpec, profile: Profile) -> Option<f64> {
        let unit_s = match profile {
            Profile::Ns2 => spec.granularity_s / 8.0,
            Profile::Rfc | Profile::Linux => 1.0,
        };
        (self.srtt > 0.0).then_some(self.srtt * unit_s)
    }

    /// Bounded below before the backoff (RFC 6298 §2.4), above after it (§2.5).
    fn bound(&mut self, spec: &RtoSpec) {
        let timeout = self.unbounded_s.max(spec.min_s) * f64::from(self.backoff);
        // ns-2 adds: never below two ticks. Both profiles' minima lie above that.
        self.timeout_s = timeout.min(spec.max_s).max(2.0 * spec.granularity_s);
    }

    /// The timer expired: double the timeout (RFC 6298 §5.5).
    pub fn back_off(&mut self, spec: &RtoSpec, profile: Profile) {
        if self.backoff < 64 || self.timeout_s < spec.max_s {
            self.backoff = self.backoff.saturating_mul(2);
            self.bound(spec);
        }
        if profile == Profile::Ns2 && self.backoff > 8 {
            // Backed off this far, ns-2 distrusts its mean and keeps it as deviation.
            self.rttvar += (self.srtt / 8.0).floor();
            self.srtt = 0.0;
        }
    }

    /// New data was acknowledged: end the backoff.
    #[inline]
    pub fn end_backoff(&mut self, spec: &RtoSpec) {
        if self.backoff > 1 {
            self.backoff = 1;
            self.bound(spec);
        }
    }

    /// Whether the timer is backed off.
    #[must_use]
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 1
    }

    /// The timeout after a SYN had to be retransmitted (RFC 6298 §5.7), in seconds.
    pub fn distrust_handshake(&mut self, spec: &RtoSpec) {
        self.unbounded_s = self.unbounded_s.max(3.0);
        self.bound(spec);
    }
}

fn at_least_one(value: f64) -> f64 {
    if value <= 0.0 { 1.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: RtoSpec = RtoSpec { initial_s: 1.0, min_s: 0.2, max_s: 120.0, granularity_s: 0.001 };

    /// The timeout after each of the round trips, one in a window.
    fn timeouts(round_trips_s: &[f64]) -> Vec<f64> {
        let mut estimator = RttEstimator::new(&SPEC, Profile::Linux, 0.0);
        let sampled = (1..).zip(round_trips_s).map(|(window, &rtt_s)| {
            estimator.sample(&SPEC, Profile::Linux, Time::ZERO, rtt_s, (window, window));
            estimator.timeout_s()
        });
        sampled.collect()
    }

    /// Linux: the smallest timeout is a bound of the deviation, not of the timeout.
    #[test]
    fn the_timeout_is_never_closer_to_the_round_trip_than_its_minimum() {
        for rtt_s in [0.001, 0.01, 0.1] {
            for timeout_s in timeouts(&[rtt_s; 20]) {
                assert!((timeout_s - rtt_s - 0.2).abs() < 1e-9, "{rtt_s}: {timeout_s}");
            }
        }
        // Of a long round trip, three times the first sample, and from then on closer.
        let of_a_second = timeouts(&[1.0; 30]);
        assert!((of_a_second[0] - 3.0).abs() < 1e-9 && of_a_second.is_sorted_by(|a, b| a >= b));
        assert!((of_a_second[29] - 1.2).abs() < 1e-2, "{of_a_second:?}");
    }

    /// Linux: a deviation lifts the timeout at once, and more where round trips become longer.
    #[test]
    fn a_longer_round_trip_lifts_the_timeout_more_than_a_shorter_one() {
        let mut samples = [0.5; 40];
        let quiet = timeouts(&samples)[39];
        samples[39] = 0.9;
        let longer = timeouts(&samples)[39];
        samples[39] = 0.1;
        let shorter = timeouts(&samples)[39];
        assert!(longer > quiet + 0.1, "{quiet} {longer}");
        assert!(shorter < quiet, "{quiet} {shorter}");
    }
}

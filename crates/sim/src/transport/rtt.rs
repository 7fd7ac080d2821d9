//! Round-trip time estimation and the retransmission timeout.

use crate::scenario::{Profile, RtoSpec};
use crate::time::Time;

/// The estimator of one connection.
///
/// Under profile `rfc` all values are seconds (RFC 6298). Under `ns2` they are what ns-2's agents keep:
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
}

/// ns-2's `rttvar_init_`, in seconds: it only matters after a backoff beyond 8, before a sample.
const NS2_RTTVAR_INIT_S: f64 = 12.0;

impl RttEstimator {
    /// An estimator without samples.
    #[must_use]
    pub fn new(spec: &RtoSpec, profile: Profile, phase_s: f64) -> Self {
        let rttvar = match profile {
            Profile::Ns2 => (NS2_RTTVAR_INIT_S / spec.granularity_s).floor() * 4.0,
            Profile::Rfc => 0.0,
        };
        let mut estimator =
            Self { srtt: 0.0, rttvar, unbounded_s: spec.initial_s, timeout_s: 0.0, phase_s, backoff: 1 };
        estimator.bound(spec);
        estimator
    }

    /// Takes a sample of `rtt_s` seconds that ended at `now`.
    pub fn sample(&mut self, spec: &RtoSpec, profile: Profile, now: Time, rtt_s: f64) {
        match profile {
            Profile::Ns2 => self.sample_ticks(spec.granularity_s, now, rtt_s),
            Profile::Rfc => self.sample_seconds(spec, rtt_s),
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
            Profile::Rfc => 1.0,
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

    /// The timeout after a SYN had to be sent again (RFC 6298 §5.7), in seconds.
    pub fn distrust_handshake(&mut self, spec: &RtoSpec) {
        self.unbounded_s = self.unbounded_s.max(3.0);
        self.bound(spec);
    }
}

fn at_least_one(value: f64) -> f64 {
    if value <= 0.0 { 1.0 } else { value }
}

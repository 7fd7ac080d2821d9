//! How version 3 measures the round-trip time of an empty path (§5.3.4): now and then it sends half as much.

use super::{Bbr3, LEAST_WINDOW, State};
use crate::congestion::Window;
use crate::congestion::bbr::PROBE_RTT_S;
use crate::congestion::rate_sample::RateSample;
use crate::random::Stream;
use crate::time::Time;

/// Half a bandwidth-delay product (ProbeRTTCwndGain).
pub(super) const CWND_GAIN: f64 = 0.5;
/// How long a round-trip time is remembered (MinRTTFilterLen), in seconds.
const FILTER_S: f64 = 10.0;
/// How long the smallest round-trip time may be old before it is probed for (ProbeRTTInterval), in seconds.
const INTERVAL_S: f64 = 5.0;

/// Round-trip times, and the probe for the smallest.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    /// In seconds; infinite before the first.
    least_s: f64,
    least_at: Time,
    /// Since the last probe.
    recent_s: f64,
    recent_at: Time,
    /// When the probe ends, once little enough is in flight.
    probe_ends: Option<Time>,
    round_done: bool,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self {
            least_s: f64::INFINITY,
            least_at: Time::ZERO,
            recent_s: f64::INFINITY,
            recent_at: Time::ZERO,
            probe_ends: None,
            round_done: false,
        }
    }
}

impl RoundTrips {
    /// The smallest round-trip time in seconds; infinite before the first.
    pub(super) fn least_s(&self) -> f64 {
        self.least_s
    }

    /// The SYN was acknowledged (OnInit).
    pub(super) fn open(&mut self, rtt_s: f64) {
        self.least_s = rtt_s;
    }

    /// The connection begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.least_at = now;
        self.recent_at = now;
    }

    /// UpdateMinRTT: whether it is time for a probe.
    pub(super) fn update(&mut self, sample: &RateSample) -> bool {
        let expired = sample.now.since(self.recent_at) > INTERVAL_S;
        if let Some(rtt_s) = sample.rtt_s
            && (rtt_s < self.recent_s || expired)
        {
            self.recent_s = rtt_s;
            self.recent_at = sample.now;
        }
        if self.recent_s < self.least_s || sample.now.since(self.least_at) > FILTER_S {
            self.least_s = self.recent_s;
            self.least_at = self.recent_at;
        }
        expired
    }
}

impl Bbr3 {
    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.bdp(CWND_GAIN).max(LEAST_WINDOW)
    }

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(
        &mut self,
        expired: bool,
        window: &mut Window,
        sample: &RateSample,
        random: &mut Stream,
    ) {
        if self.state != State::ProbeRtt && expired && !self.restarted {
            self.save_window(window);
            self.state = State::ProbeRtt;
            self.round_trips.probe_ends = None;
            self.probing.stop();
            self.rounds.restart(sample.total_delivered);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(window, sample, random);
        }
        self.restarted = false;
    }

    /// HandleProbeRTT.
    fn probe_rtt(&mut self, window: &mut Window, sample: &RateSample, random: &mut Stream) {
        if self.round_trips.probe_ends.is_none() {
            if sample.in_flight <= self.probe_rtt_window() {
                self.round_trips.probe_ends = Some(sample.now + PROBE_RTT_S);
                self.round_trips.round_done = false;
                self.rounds.restart(sample.total_delivered);
            }
            return;
        }
        self.round_trips.round_done |= self.rounds.begins;
        if self.round_trips.round_done {
            self.check_probe_rtt_done(window, sample.now, sample.total_delivered, random);
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT.
    pub(super) fn check_probe_rtt_done(
        &mut self,
        window: &mut Window,
        now: Time,
        total_delivered: f64,
        random: &mut Stream,
    ) {
        if self.round_trips.probe_ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.round_trips.recent_at = now;
        self.restore_window(window);
        self.bounds.forget_short_term();
        if self.full.reached {
            // Little is in flight: it may cruise at once.
            self.start_down(now, total_delivered, random);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}

//! What losses leave of the model (§5.5.10): what may be in flight for long, found by probing, and rate and volume
//! for now.

use super::{Bbr3, LEAST_WINDOW, State};
use crate::congestion::Window;
use crate::congestion::rate_sample::{LostPacket, RateSample};
use crate::random::Stream;

/// Losses above this share mean that too much is in flight (LossThresh).
const MOST_LOST: f64 = 0.02;
/// What a round trip with losses leaves at least (Beta).
const BETA: f64 = 0.7;
/// Share of the long-term volume that is left to others while cruising (Headroom).
const HEADROOM: f64 = 0.15;
/// Startup ends after a round trip with so many gaps (StartupFullLossCnt).
const STARTUP_GAPS: u32 = 6;

/// Bounds, in packets and packets per second; infinite where there are none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Most that may be in flight (inflight_longterm).
    pub long_term: f64,
    /// Most that may be in flight for now (inflight_shortterm).
    pub short_term: f64,
    /// Highest bandwidth for now (bw_shortterm).
    pub bandwidth: f64,
    /// The latest delivery process: the fastest and the largest sample of a round trip.
    latest_rate: f64,
    latest_delivered: f64,
    /// The round trip of losses: where it ends, whether this ACK ends it, and whether it had any.
    round_ends: f64,
    round_begins: bool,
    lost_in_round: bool,
    /// ACKs of this round trip that showed losses.
    gaps_in_round: u32,
    /// Losses of what was sent while probing were not answered yet (is_bw_probe_sample).
    pub awaits_probe: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            long_term: f64::INFINITY,
            short_term: f64::INFINITY,
            bandwidth: f64::INFINITY,
            latest_rate: 0.0,
            latest_delivered: 0.0,
            round_ends: 0.0,
            round_begins: false,
            lost_in_round: false,
            gaps_in_round: 0,
            awaits_probe: false,
        }
    }
}

/// IsInflightTooHigh.
pub(super) fn is_too_high(lost: f64, sent_in_flight: f64) -> bool {
    lost > sent_in_flight * MOST_LOST
}

impl Bounds {
    /// The most delivered in a sample of the last round trip.
    pub(super) fn latest_delivered(&self) -> f64 {
        self.latest_delivered
    }

    /// UpdateLatestDeliverySignals.
    pub(super) fn take_latest(&mut self, sample: &RateSample) {
        self.latest_rate = self.latest_rate.max(sample.rate);
        self.latest_delivered = self.latest_delivered.max(sample.delivered);
        self.round_begins = sample.prior_delivered >= self.round_ends;
        if self.round_begins {
            self.round_ends = sample.total_delivered;
        }
        self.gaps_in_round += u32::from(sample.newly_lost > 0.0);
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest(&mut self, sample: &RateSample) {
        if self.round_begins {
            self.latest_rate = sample.rate;
            self.latest_delivered = sample.delivered;
            self.gaps_in_round = 0;
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn forget_latest(&mut self) {
        self.lost_in_round = false;
        self.latest_rate = 0.0;
        self.latest_delivered = 0.0;
    }

    /// No losses in this round trip so far.
    pub(super) fn forget_losses(&mut self) {
        self.lost_in_round = false;
    }

    /// ResetShortTermModel.
    pub(super) fn forget_short_term(&mut self) {
        self.bandwidth = f64::INFINITY;
        self.short_term = f64::INFINITY;
    }

    /// CheckStartupHighLoss (§5.3.1.3): a round trip in recovery, with losses above the threshold and in several
    /// places.
    pub(super) fn too_much_lost(&self, sample: &RateSample) -> bool {
        self.round_begins
            && sample.recovering
            && self.gaps_in_round >= STARTUP_GAPS
            && is_too_high(sample.lost, sample.sent_in_flight)
    }

    /// UpdateCongestionSignals: once in a round trip, what the losses of this one leave.
    pub(super) fn adapt(&mut self, state: State, bandwidth: f64, cwnd: f64) {
        if !self.round_begins {
            return;
        }
        if self.lost_in_round && !state.is_accelerating() {
            let before = if self.bandwidth.is_finite() { self.bandwidth } else { bandwidth };
            self.bandwidth = self.latest_rate.max(BETA * before);
            let before = if self.short_term.is_finite() { self.short_term } else { cwnd };
            self.short_term = self.latest_delivered.max(BETA * before);
        }
        self.lost_in_round = false;
    }

    /// InflightWithHeadroom.
    pub(super) fn with_headroom(&self) -> f64 {
        if self.long_term.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.long_term).max(1.0);
        (self.long_term - headroom).max(LEAST_WINDOW)
    }

    /// BoundCwndForModel (§5.6.4.7): the largest window.
    pub(super) fn window(&self, state: State) -> f64 {
        let long_term = match state {
            State::Down | State::Refill | State::Up => self.long_term,
            State::ProbeRtt | State::Cruise => self.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        long_term.min(self.short_term).max(LEAST_WINDOW)
    }
}

impl Bbr3 {
    /// HandleLostPacket.
    pub(super) fn note_loss(&mut self, window: &Window, packet: &LostPacket, sample: &RateSample, random: &mut Stream) {
        if !self.bounds.lost_in_round {
            self.bounds.round_ends = sample.total_delivered;
            // Recovery began with it. As written, the draft would save again what the first of its losses has changed.
            if !self.recovering {
                self.save_state(window);
            }
        }
        self.bounds.lost_in_round = true;
        if !self.bounds.awaits_probe || !is_too_high(packet.lost, packet.sent_in_flight) {
            return;
        }
        self.probing.too_high = true;
        self.bounds.awaits_probe = false;
        if !packet.app_limited {
            // InflightAtLoss: what was in flight when the losses crossed the threshold.
            let (before, lost_before) = (packet.sent_in_flight - 1.0, packet.lost - 1.0);
            let at_loss = before + (MOST_LOST * before - lost_before) / (1.0 - MOST_LOST);
            self.bounds.long_term = at_loss.max(BETA * self.target(window)).max(1.0);
        }
        if self.state == State::Up {
            self.undo.left = Some(State::Up);
            self.start_down(sample.now, sample.total_delivered, random);
        }
    }
}

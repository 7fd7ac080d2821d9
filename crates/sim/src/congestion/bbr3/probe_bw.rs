//! The cycle in which version 3 looks for bandwidth (§5.3.3): down to less than the path holds, cruising there,
//! refilling it, and up beyond it.

use super::bounds::is_too_high;
use super::{Bbr3, State};
use crate::congestion::Window;
use crate::congestion::rate_sample::RateSample;
use crate::random::Stream;
use crate::time::Time;

/// Seconds from probe to probe: this, and up to one more at random (§5.3.3.8.3).
const PROBE_WAIT_S: f64 = 2.0;
/// Reno would have a loss in as many round trips as its window has packets; no more than this (§5.3.3.8.3).
const MOST_ROUNDS: f64 = 63.0;
/// What is in flight for long grows by up to two to this power in a round trip (§5.3.3.9).
const MOST_DOUBLINGS: i32 = 30;

/// What the ACKs now tell of (ack_phase).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answers {
    /// Nothing of a probe, or the pipe is being refilled.
    #[default]
    None,
    /// A probe that has just begun: not yet of it.
    Starting,
    /// A probe.
    Feedback,
    /// The last of a probe.
    Stopping,
}

/// The state of a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probing {
    /// Round trips since the last probe.
    pub rounds: u32,
    wait_s: f64,
    cycle_at: Time,
    answers: Answers,
    /// Round trips of growth in this probe.
    growth_rounds: i32,
    /// Packets delivered for each packet by which the long-term volume grows; zero: it does not.
    per_packet: f64,
    delivered: f64,
    /// The last probe lost too much (prev_probe_too_high).
    pub too_high: bool,
    /// The last probe ended where the one before had lost too much, to see whether that still holds
    /// (prev_probe_precautionary, §5.3.3.6).
    precautionary: bool,
}

/// Whether the window was all in flight at any time in the last round trip (§2.2, C.is_cwnd_limited).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUse {
    /// In this round trip, and in the one before.
    limits: [bool; 2],
}

impl WindowUse {
    /// Takes a sample: what was in flight before its ACK is the most since the ACK before.
    pub(super) fn take(&mut self, window: &Window, round_begins: bool, sample: &RateSample) {
        if round_begins {
            self.limits = [false, self.limits[0]];
        }
        self.limits[0] |= sample.in_flight_before + 1.0 > window.cwnd;
    }

    fn is_limited(self) -> bool {
        self.limits[0] || self.limits[1]
    }
}

impl Probing {
    /// A probe of the round-trip time ends any other.
    pub(super) fn stop(&mut self) {
        self.answers = Answers::Stopping;
    }
}

impl Bbr3 {
    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Time, total_delivered: f64, random: &mut Stream) {
        self.bounds.forget_latest();
        self.probing = Probing {
            // PickProbeWait.
            rounds: u32::from(random.chance(0.5)),
            wait_s: PROBE_WAIT_S + random.uniform(),
            cycle_at: now,
            answers: Answers::Stopping,
            too_high: self.probing.too_high,
            precautionary: self.probing.precautionary,
            ..Probing::default()
        };
        self.rounds.restart(total_delivered);
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self, total_delivered: f64) {
        self.bounds.forget_short_term();
        self.probing.growth_rounds = 0;
        self.probing.delivered = 0.0;
        self.probing.answers = Answers::None;
        self.probing.precautionary = false;
        self.rounds.restart(total_delivered);
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, window: &Window, sample: &RateSample) {
        self.bounds.awaits_probe = true;
        self.probing.answers = Answers::Starting;
        self.rounds.restart(sample.total_delivered);
        self.full.restart(sample.rate);
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn probe_bandwidth(&mut self, window: &Window, sample: &RateSample, random: &mut Stream) {
        if !self.full.reached {
            return;
        }
        if self.adapt_long_term(window, sample) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(window, sample) => {
                self.start_refill(sample.total_delivered);
            }
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Refill if self.rounds.begins => self.start_up(window, sample),
            State::Up => self.check_full(window, sample, random),
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn is_time_to_probe(&self, window: &Window, sample: &RateSample) -> bool {
        let waited = sample.now.since(self.probing.cycle_at) > self.probing.wait_s;
        waited || f64::from(self.probing.rounds) >= self.target(window).min(MOST_ROUNDS)
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        let full = self.with_budget(self.packets_at(self.bandwidth.get(), 1.0));
        sample.in_flight <= self.bounds.with_headroom().min(full)
    }

    /// IsTimeToGoDown.
    fn check_full(&mut self, window: &Window, sample: &RateSample, random: &mut Stream) {
        if self.probing.too_high && sample.in_flight_before + 1.0 > self.bounds.long_term {
            // §5.3.3.6: at what was too much last time, look at what comes of it before staying there. The window, which
            // is bounded by it, is full before the ACK and not after it (Linux: prior_in_flight).
            self.probing.precautionary = true;
        } else if self.window_use.is_limited() && window.cwnd >= self.bounds.long_term {
            // What may be in flight for long limits the bandwidth, not the path.
            self.full.restart(sample.rate);
            return;
        } else if !self.full.now {
            return;
        }
        self.probing.too_high = false;
        self.start_down(sample.now, sample.total_delivered, random);
    }

    /// AdaptLongTermModel: whether it has decided what the next state is.
    fn adapt_long_term(&mut self, window: &Window, sample: &RateSample) -> bool {
        if self.rounds.begins {
            match self.probing.answers {
                Answers::Starting => self.probing.answers = Answers::Feedback,
                Answers::Stopping => {
                    self.bounds.awaits_probe = false;
                    self.probing.answers = Answers::None;
                    if self.state.is_probe_bw() && !sample.app_limited {
                        self.cycles += 1;
                    }
                    if self.state.is_probe_bw() && self.probing.precautionary && !self.probing.too_high {
                        // Nothing was lost by it: probe again, and stay.
                        self.start_refill(sample.total_delivered);
                        return true;
                    }
                }
                Answers::None | Answers::Feedback => {}
            }
        }
        if !is_too_high(sample.lost, sample.sent_in_flight) && self.bounds.long_term.is_finite() {
            self.bounds.long_term = self.bounds.long_term.max(sample.sent_in_flight);
            if self.state == State::Up {
                self.probe_upward(window, sample);
            }
        }
        false
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, window: &Window, sample: &RateSample) {
        if !self.window_use.is_limited() || window.cwnd < self.bounds.long_term {
            return;
        }
        self.probing.delivered += sample.newly_delivered;
        let whole = (self.probing.delivered / self.probing.per_packet).floor();
        self.probing.delivered -= whole * self.probing.per_packet;
        self.bounds.long_term += whole;
        if self.rounds.begins {
            self.raise_slope(window);
        }
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self, window: &Window) {
        let growth = f64::from(1u32 << self.probing.growth_rounds);
        self.probing.growth_rounds = (self.probing.growth_rounds + 1).min(MOST_DOUBLINGS);
        self.probing.per_packet = (window.cwnd / growth).max(1.0);
    }
}

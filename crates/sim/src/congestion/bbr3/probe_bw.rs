//! The cycle in which version 3 looks for bandwidth (§5.3.3): down to less than the path holds, cruising there,
//! refilling it, and up beyond it.

use super::bounds::is_too_high;
use super::{Bbr3, State};
use crate::congestion::Window;
use crate::congestion::rate_sample::RateSample;
use crate::random::Stream;
use crate::time::Time;

/// Seconds from probe to probe: this, and up to one more at random (§5.3.3.5).
const PROBE_WAIT_S: f64 = 2.0;
/// Reno would have a loss in as many round trips as its window has packets; no more than this (§5.3.3.5).
const MOST_ROUNDS: f64 = 63.0;
/// What is in flight for long grows by up to two to this power in a round trip (§5.3.3.6).
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
}

impl Probing {
    /// A probe of the round-trip time ends any other.
    pub(super) fn stop(&mut self) {
        self.answers = Answers::Stopping;
    }
}

impl Bbr3 {
    /// BBRStartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Time, total_delivered: f64, random: &mut Stream) {
        self.bounds.forget_latest();
        self.probing = Probing {
            // BBRPickProbeWait.
            rounds: u32::from(random.chance(0.5)),
            wait_s: PROBE_WAIT_S + random.uniform(),
            cycle_at: now,
            answers: Answers::Stopping,
            ..Probing::default()
        };
        self.rounds.restart(total_delivered);
        self.state = State::Down;
    }

    /// BBRStartProbeBW_REFILL.
    fn start_refill(&mut self, sample: &RateSample) {
        self.bounds.forget_short_term();
        self.probing.growth_rounds = 0;
        self.probing.delivered = 0.0;
        self.probing.answers = Answers::None;
        self.rounds.restart(sample.total_delivered);
        self.state = State::Refill;
    }

    /// BBRStartProbeBW_UP.
    fn start_up(&mut self, window: &Window, sample: &RateSample) {
        self.bounds.awaits_probe = true;
        self.probing.answers = Answers::Starting;
        self.rounds.restart(sample.total_delivered);
        self.full.restart(sample.rate);
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// BBRUpdateProbeBWCyclePhase.
    pub(super) fn probe_bandwidth(&mut self, window: &Window, sample: &RateSample, random: &mut Stream) {
        if !self.full.reached {
            return;
        }
        self.adapt_long_term(window, sample);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(window, sample) => self.start_refill(sample),
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Refill if self.rounds.begins => self.start_up(window, sample),
            State::Up => self.check_full(window, sample, random),
            _ => {}
        }
    }

    /// BBRIsTimeToProbeBW.
    fn is_time_to_probe(&self, window: &Window, sample: &RateSample) -> bool {
        let waited = sample.now.since(self.probing.cycle_at) > self.probing.wait_s;
        waited || f64::from(self.probing.rounds) >= self.target(window).min(MOST_ROUNDS)
    }

    /// BBRIsTimeToCruise.
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        let full = self.with_budget(self.packets_at(self.bandwidth.get(), 1.0));
        sample.in_flight <= self.bounds.with_headroom().min(full)
    }

    /// BBRIsTimeToGoDown.
    fn check_full(&mut self, window: &Window, sample: &RateSample, random: &mut Stream) {
        if is_window_limited(window, sample) && window.cwnd >= self.bounds.long_term {
            // What may be in flight for long limits the bandwidth, not the path.
            self.full.restart(sample.rate);
        } else if self.full.now {
            self.start_down(sample.now, sample.total_delivered, random);
        }
    }

    /// BBRAdaptLongTermModel.
    fn adapt_long_term(&mut self, window: &Window, sample: &RateSample) {
        if self.rounds.begins {
            match self.probing.answers {
                Answers::Starting => self.probing.answers = Answers::Feedback,
                // Once: as written, the draft would forget a cycle in each round trip that follows. Linux does not.
                Answers::Stopping => {
                    self.bounds.awaits_probe = false;
                    self.probing.answers = Answers::None;
                    if self.state.is_probe_bw() && !sample.app_limited {
                        self.cycles += 1;
                    }
                }
                Answers::None | Answers::Feedback => {}
            }
        }
        if is_too_high(sample.lost, sample.sent_in_flight) || self.bounds.long_term.is_infinite() {
            return;
        }
        self.bounds.long_term = self.bounds.long_term.max(sample.sent_in_flight);
        if self.state == State::Up {
            self.probe_upward(window, sample);
        }
    }

    /// BBRProbeInflightLongtermUpward.
    fn probe_upward(&mut self, window: &Window, sample: &RateSample) {
        if !is_window_limited(window, sample) || window.cwnd < self.bounds.long_term {
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

    /// BBRRaiseInflightLongtermSlope.
    fn raise_slope(&mut self, window: &Window) {
        let growth = f64::from(1u32 << self.probing.growth_rounds);
        self.probing.growth_rounds = (self.probing.growth_rounds + 1).min(MOST_DOUBLINGS);
        self.probing.per_packet = (window.cwnd / growth).max(1.0);
    }
}

/// Whether the window was all in flight before the ACK (C.is_cwnd_limited).
fn is_window_limited(window: &Window, sample: &RateSample) -> bool {
    sample.in_flight_before + 1.0 > window.cwnd
}

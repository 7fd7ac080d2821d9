//! BBR, version 3 (draft-ietf-ccwg-bbr-06, whose sections stand beside): a model of the path as in version 1, and
//! bounds to it that losses set: what may be in flight for long, and how fast and how much for now.
//!
//! Without ECN, which the draft leaves to others. Packets leave one by one, so the send quantum is a packet.

#[cfg(test)]
mod appendix;
mod bounds;
mod probe_bw;
mod probe_rtt;
mod undo;

use super::bbr::{FULL_GROWTH, FULL_ROUNDS, LEAST_WINDOW, PACING_MARGIN, QUANTA};
use super::rate_sample::{DeliveryRounds, LostPacket, RateSample, WindowedMax, tell_path};
use super::{Ack, CongestionControl, Loss, Options, Window};
use crate::random::Stream;
use crate::time::Time;
use bounds::Bounds;
use probe_bw::{Probing, WindowUse};
use probe_rtt::RoundTrips;
use undo::Undo;

/// Gain that doubles the rate in each round trip: 4 ln 2 (§5.3.1, StartupPacingGain).
const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
/// §5.3.2, DrainPacingGain.
const DRAIN_GAIN: f64 = 0.5;
/// Drain ends after so many round trips, whatever is in flight (§5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// §2.6, DefaultCwndGain.
const CWND_GAIN: f64 = 2.0;
/// Rounds for which aggregated ACKs are remembered (§5.5.9, ExtraAckedFilterLen).
const EXTRA_ACKED_ROUNDS: usize = 10;
/// The cycle in progress and the one before (§2.11, MaxBwFilterLen).
const BANDWIDTH_CYCLES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Pacing gain and window gain: the table of §5.6.1.
    fn gains(self) -> (f64, f64) {
        match self {
            Self::Startup => (STARTUP_GAIN, CWND_GAIN),
            Self::Drain => (DRAIN_GAIN, CWND_GAIN),
            Self::Down => (0.9, CWND_GAIN),
            Self::Cruise | Self::Refill => (1.0, CWND_GAIN),
            Self::Up => (1.25, 2.25),
            Self::ProbeRtt => (1.0, probe_rtt::CWND_GAIN),
        }
    }

    /// §5.3.3.9, IsInAProbeBWState.
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// §5.3.3.9, IsProbingBW: sends more than the path was seen to carry.
    fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// Whether the pipe is full: the bandwidth no longer grows (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    now: bool,
    /// It was once.
    reached: bool,
}

impl FullPipe {
    /// ResetFullBW, with the bandwidth to grow from.
    fn restart(&mut self, bandwidth: f64) {
        *self = Self { bandwidth, rounds: 0, now: false, reached: self.reached };
    }

    /// CheckFullBWReached. Growth counts whenever an ACK shows it, as in Linux; as the draft writes it only the first ACK of
    /// a round trip would, which tells of few packets where ACKs are aggregated (its own case A.12 fails so).
    fn check(&mut self, round_begins: bool, sample: &RateSample) {
        if self.now || sample.app_limited {
            return;
        }
        if sample.rate >= self.bandwidth * FULL_GROWTH {
            self.restart(sample.rate);
            return;
        }
        if !round_begins {
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= FULL_ROUNDS;
        self.reached |= self.now;
    }
}

/// How much more arrives at once than the bandwidth explains (§5.5.9, UpdateACKAggregation).
#[derive(Clone, Copy, Debug, Default)]
struct ExtraAcked {
    since: Time,
    delivered: f64,
    most: WindowedMax<EXTRA_ACKED_ROUNDS>,
}

impl ExtraAcked {
    fn update(&mut self, bandwidth: f64, cwnd: f64, rounds: &DeliveryRounds, filled: bool, sample: &RateSample) {
        let mut expected = bandwidth * sample.now.since(self.since);
        if self.delivered <= expected {
            *self = Self { since: sample.now, delivered: 0.0, most: self.most };
            expected = 0.0;
        }
        self.delivered += sample.newly_delivered;
        if rounds.begins && !filled {
            self.most = WindowedMax::default();
        }
        self.most.update(rounds.count, (self.delivered - expected).min(cwnd));
    }
}

/// BBR, version 3.
#[derive(Clone, Copy, Debug)]
pub struct Bbr3 {
    state: State,
    rounds: DeliveryRounds,
    /// By cycles of probing.
    bandwidth: WindowedMax<BANDWIDTH_CYCLES>,
    cycles: u64,
    round_trips: RoundTrips,
    full: FullPipe,
    extra_acked: ExtraAcked,
    bounds: Bounds,
    probing: Probing,
    window_use: WindowUse,
    /// The round trip in which Drain began (drain_start_round).
    drain_begin: u64,
    undo: Undo,
    /// Packets per second; zero before the first sample.
    rate: f64,
    initial_window: f64,
    restarted: bool,
    /// The window before recovery or a probe of the round-trip time.
    window_before: f64,
    recovering: bool,
    total_delivered: f64,
}

impl Bbr3 {
    /// §5.5.10.3, BoundBWForModel.
    fn bounded_bandwidth(&self) -> f64 {
        self.bandwidth.get().min(self.bounds.bandwidth)
    }

    /// §5.6.4.2, BDPMultiple at the bounded bandwidth.
    fn bdp(&self, gain: f64) -> f64 {
        self.packets_at(self.bounded_bandwidth(), gain)
    }

    fn packets_at(&self, bandwidth: f64, gain: f64) -> f64 {
        let least_s = self.round_trips.least_s();
        if least_s.is_infinite() { self.initial_window } else { gain * bandwidth * least_s }
    }

    /// §5.6.4.2, QuantizationBudget.
    fn with_budget(&self, packets: f64) -> f64 {
        let more = if self.state == State::Up { 2.0 } else { 0.0 };
        packets.max(QUANTA).max(LEAST_WINDOW) + more
    }

    /// §5.3.3.8.3, TargetInflight.
    fn target(&self, window: &Window) -> f64 {
        self.bdp(1.0).min(window.cwnd)
    }

    /// §5.5.5, UpdateMaxBw.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.rounds.update(sample);
        if self.rounds.begins {
            self.probing.rounds += 1;
        }
        if sample.rate > 0.0 && (sample.rate >= self.bandwidth.get() || !sample.app_limited) {
            self.bandwidth.update(self.cycles, sample.rate);
        }
    }

    /// §5.3.1 and §5.3.2, CheckStartupDone and CheckDrainDone.
    fn check_startup_and_drain(&mut self, sample: &RateSample, random: &mut Stream) {
        if self.state == State::Startup && !self.full.reached && self.bounds.too_much_lost(sample) {
            // §5.3.1.3: it will not become faster, and no more than this may be in flight for long.
            self.undo.left = Some(State::Startup);
            self.full.reached = true;
            self.bounds.long_term = self.bdp(1.0).max(self.bounds.latest_delivered());
        }
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain;
            self.drain_begin = self.rounds.count;
        }
        let drained = || sample.in_flight <= self.with_budget(self.bdp(1.0));
        if self.state == State::Drain && (drained() || self.rounds.count > self.drain_begin + DRAIN_ROUNDS) {
            self.start_down(sample.now, sample.total_delivered, random);
        }
    }

    /// §5.6.2, SetPacingRateWithGain.
    fn set_rate(&mut self, gain: f64) {
        let rate = gain * self.bounded_bandwidth() * PACING_MARGIN;
        if rate > 0.0 && (self.full.reached || rate > self.rate) {
            self.rate = rate;
        }
    }

    /// §5.6.4.6, SetCwnd.
    fn set_window(&mut self, window: &mut Window, sample: &RateSample) {
        let most = self.with_budget(self.bdp(self.state.gains().1) + self.extra_acked.most.get());
        if self.full.reached {
            window.cwnd = (window.cwnd + sample.newly_delivered).min(most);
        } else if window.cwnd < most || sample.total_delivered < self.initial_window {
            window.cwnd += sample.newly_delivered;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = window.cwnd.min(self.bounds.window(self.state));
    }

    /// §5.6.4.4, SaveCwnd.
    fn save_window(&mut self, window: &Window) {
        let unmodulated = !self.recovering && self.state != State::ProbeRtt;
        self.window_before = if unmodulated { window.cwnd } else { self.window_before.max(window.cwnd) };
    }

    /// §5.6.4.4, RestoreCwnd.
    fn restore_window(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.window_before);
    }

    fn begin(&mut self, window: &Window, sample: &RateSample) {
        self.initial_window = window.cwnd;
        self.extra_acked.since = sample.now;
        self.round_trips.begin(sample.now);
        let known_s = Some(self.round_trips.least_s()).filter(|rtt_s| rtt_s.is_finite());
        if let Some(rtt_s) = known_s.or(sample.rtt_s).filter(|&rtt_s| rtt_s > 0.0) {
            self.rate = STARTUP_GAIN * window.cwnd / rtt_s;
        }
    }
}

impl CongestionControl for Bbr3 {
    const HELP: &'static str = "BBR version 3: as version 1, within bounds that losses set (draft-ietf-ccwg-bbr)";
    const SAMPLES_DELIVERY: bool = true;
    const PHASES: &'static [&'static str] =
        &["startup", "drain", "probe-bw-down", "probe-bw-cruise", "probe-bw-refill", "probe-bw-up", "probe-rtt"];

    fn new(_options: &Options<'_>) -> Self {
        Self {
            state: State::Startup,
            rounds: DeliveryRounds::default(),
            bandwidth: WindowedMax::default(),
            cycles: 0,
            round_trips: RoundTrips::default(),
            full: FullPipe::default(),
            extra_acked: ExtraAcked::default(),
            bounds: Bounds::default(),
            probing: Probing::default(),
            window_use: WindowUse::default(),
            drain_begin: 0,
            undo: Undo::default(),
            rate: 0.0,
            initial_window: 0.0,
            restarted: false,
            window_before: 0.0,
            recovering: false,
            total_delivered: 0.0,
        }
    }

    /// §5.2.3, UpdateOnACK, after HandleLostPacket (§5.2.4) for each packet lost.
    fn on_sample(
        &mut self,
        window: &mut Window,
        sample: &RateSample,
        losses: &[LostPacket],
        random: &mut Stream,
    ) -> bool {
        // It has no threshold; recovery and timeouts set one.
        window.ssthresh = f64::MAX;
        if self.total_delivered == 0.0 {
            self.begin(window, sample);
        }
        self.total_delivered = sample.total_delivered;
        if self.recovering && !sample.recovering {
            self.recovering = false;
            self.restore_window(window);
        }
        for packet in losses {
            self.note_loss(window, packet, sample, random);
        }
        self.bounds.take_latest(sample);
        self.update_bandwidth(sample);
        self.window_use.take(window, self.rounds.begins, sample);
        self.bounds.adapt(self.state, self.bandwidth.get(), window.cwnd);
        let bandwidth = self.bounded_bandwidth();
        self.extra_acked.update(bandwidth, window.cwnd, &self.rounds, self.full.reached, sample);
        self.full.check(self.rounds.begins, sample);
        self.check_startup_and_drain(sample, random);
        self.probe_bandwidth(window, sample, random);
        let expired = self.round_trips.update(sample);
        self.check_probe_rtt(expired, window, sample, random);
        self.bounds.advance_latest(sample);
        self.set_rate(self.state.gains().0);
        self.set_window(window, sample);
        self.state == State::ProbeRtt
    }

    /// Only samples set the window.
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// §5.6.4.4, OnEnterFastRecovery: the bounds of the model reduce the window, not recovery.
    fn on_loss(&mut self, window: &Window, _loss: &Loss) -> f64 {
        self.save_state(window);
        self.recovering = true;
        window.cwnd
    }

    /// §5.6.4.4, OnEnterRTO. The window of one packet is the sender's.
    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.on_loss(window, loss)
    }

    fn on_spurious(&mut self, window: &mut Window) {
        self.handle_spurious_losses(window);
    }

    fn known(&self, packet_bits: f64, each: &mut dyn FnMut(&str, f64)) {
        tell_path((self.bandwidth.get() * packet_bits, self.round_trips.least_s()), each);
    }

    fn phase(&self, _window: &Window) -> usize {
        self.state as usize
    }

    /// §5.2.1, OnInit: its round trip is one of an empty path where data find a queue of others.
    fn on_handshake(&mut self, _window: &mut Window, _now: Time, rtt_s: f64) {
        self.round_trips.open(rtt_s);
    }

    /// §5.4.1, HandleRestartFromIdle.
    fn on_restart(&mut self, window: &mut Window, now: Time, random: &mut Stream) {
        self.restarted = true;
        self.extra_acked.since = now;
        if self.state.is_probe_bw() {
            self.set_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(window, now, self.total_delivered, random);
        }
    }

    /// §5.6.2, InitPacingRate, before the first sample.
    fn pacing_rate(&self, window: &Window, _in_flight: f64, srtt_s: f64) -> f64 {
        if self.rate > 0.0 { self.rate } else { STARTUP_GAIN * window.cwnd / srtt_s }
    }
}

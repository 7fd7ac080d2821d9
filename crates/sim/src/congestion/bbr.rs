//! BBR, version 1 (N. Cardwell et al.: BBR: Congestion-Based Congestion Control, ACM Queue 14(5), 2016, and CACM
//! 60(2), 2017; draft-cardwell-iccrg-bbr-congestion-control-00, whose sections stand beside): sends at the rate at
//! which packets are delivered, and keeps about one bandwidth-delay product in flight.
//!
//! Beyond the draft, as in Linux: it paces 1 % below the bandwidth, so that queues drain. Packets leave one by one, so the
//! send quantum is a packet; with `batches` its window has the room that Linux's has for segments that leave together, and for
//! ACKs that come together; with `policers` it looks for token buckets, as Linux does.

use super::aggregation::Aggregation;
use super::long_term::LongTerm;
use super::rate_sample::{DeliveryRounds, LostPacket, RateSample, WindowedMax, tell_path};
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::random::Stream;
use crate::time::Time;

/// Gain that doubles the rate in each round trip: 2 / ln 2 (§4.3.2.1, BBRHighGain).
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
/// Gains of a cycle: probe, drain, cruise (§4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Bandwidth-delay products in flight that delayed and aggregated ACKs may need (§4.2.3.2).
const CWND_GAIN: f64 = 2.0;
/// Round trips that the bandwidth is remembered for (§4.1.1.3, BtlBwFilterLen).
const BANDWIDTH_ROUNDS: usize = 10;
/// How long the round-trip time is remembered for (§4.1.2.3, RTpropFilterLen), in seconds.
const RTPROP_S: f64 = 10.0;
/// The window that keeps a pipe going (§4.2.3.3, BBRMinPipeCwnd).
pub(super) const LEAST_WINDOW: f64 = 4.0;
/// How long the pipe is kept nearly empty (§4.3.5, ProbeRTTDuration), in seconds.
pub(super) const PROBE_RTT_S: f64 = 0.2;
/// The pipe is full when the bandwidth grew by less than this (§4.3.2.2) ...
pub(super) const FULL_GROWTH: f64 = 1.25;
/// ... in so many round trips.
pub(super) const FULL_ROUNDS: u32 = 3;
/// Packets that the sending and the receiving host hold back: three send quanta (§4.2.3.2).
pub(super) const QUANTA: f64 = 3.0;
/// From this rate on Linux reckons with pairs, in segments of 1448 B per second: 1.2 Mbit/s (bbr_min_tso_rate).
const PAIRS_FROM: f64 = 1.2e6 / (8.0 * 1448.0);
/// Beyond, with what it paces in so many seconds (sk_pacing_shift) ...
const QUANTUM_S: f64 = 1.0 / 1024.0;
/// ... of which 64 KiB hold so many (bbr_tso_segs_goal).
const LARGEST_QUANTUM: f64 = 45.0;
/// Share of the bandwidth that is paced (Linux: bbr_pacing_margin_percent; draft-ietf-ccwg-bbr-04 §5.6.2).
pub(super) const PACING_MARGIN: f64 = 0.99;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    /// At this place of the cycle.
    ProbeBw(usize),
    ProbeRtt,
}

/// BBR, version 1.
#[derive(Clone, Copy, Debug)]
pub struct Bbr {
    state: State,
    rounds: DeliveryRounds,
    bandwidth: WindowedMax<BANDWIDTH_ROUNDS>,
    /// Smallest round-trip time, in seconds; infinite before the first.
    rtprop_s: f64,
    rtprop_at: Time,
    /// Packets per second; zero before the first sample.
    rate: f64,
    initial_window: f64,
    /// The pipe was full once.
    filled: bool,
    full_bandwidth: f64,
    full_rounds: u32,
    cycle_at: Time,
    /// When the probe of the round-trip time ends, once the pipe is nearly empty.
    probe_ends: Option<Time>,
    probe_round_done: bool,
    restarted: bool,
    /// The window before recovery or a probe of the round-trip time.
    window_before: f64,
    recovering: bool,
    /// Recovery begins with the next sample, which knows of the losses.
    enters: bool,
    /// In the first round trip of recovery as many packets leave as arrive.
    conserves: bool,
    in_flight: f64,
    newly_delivered: f64,
    total_delivered: f64,
    /// ACKs that come together; none: no room is made for them.
    aggregation: Option<Aggregation>,
    /// Whether a token bucket polices the flow; none: it is not asked.
    long_term: Option<LongTerm>,
}

impl Bbr {
    /// The rate of a policer, in packets per second, where there is one.
    fn policed_rate(&self) -> Option<f64> {
        self.long_term.as_ref().and_then(LongTerm::rate)
    }

    /// What the path is taken to deliver, in packets per second.
    fn path_rate(&self) -> f64 {
        self.policed_rate().unwrap_or_else(|| self.bandwidth.get())
    }

    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (HIGH_GAIN, HIGH_GAIN),
            State::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            State::ProbeBw(_) if self.policed_rate().is_some() => (1.0, CWND_GAIN),
            State::ProbeBw(place) => (CYCLE[place], CWND_GAIN),
            State::ProbeRtt => (1.0, 1.0),
        }
    }

    /// §4.2.3.2, BBRInflight.
    fn inflight(&self, gain: f64) -> f64 {
        self.inflight_with(gain, self.bandwidth.get(), 0.0)
    }

    /// The same at a rate in packets per second, with room for ACKs that come together.
    fn inflight_with(&self, gain: f64, rate: f64, allowance: f64) -> f64 {
        if self.rtprop_s.is_infinite() {
            return self.initial_window + allowance;
        }
        let product = gain * rate * self.rtprop_s;
        if self.aggregation.is_none() {
            return product + QUANTA;
        }
        // bbr_quantization_budget: three send quanta, an even number, and room to probe.
        let even = 2.0 * libm::ceil((product + allowance + QUANTA * self.quantum()) / 2.0);
        if self.state == State::ProbeBw(0) { even + 2.0 } else { even }
    }

    /// What Linux takes to be sent at once (bbr_tso_segs_goal), though the interface may take packets one by one.
    fn quantum(&self) -> f64 {
        let least = if self.rate < PAIRS_FROM { 1.0 } else { 2.0 };
        libm::floor(self.rate * QUANTUM_S).clamp(least, LARGEST_QUANTUM)
    }

    /// What will be in flight when Linux sends its next quantum, with that itself where it probes, of `in_flight` now
    /// (bbr_packets_in_net_at_edt).
    fn in_flight_then(&self, in_flight: f64, sample: &RateSample) -> f64 {
        if self.aggregation.is_none() || self.rate == 0.0 {
            return in_flight;
        }
        let (gain, _) = self.gains();
        let sent = if gain > 1.0 { self.quantum() } else { 0.0 };
        (in_flight + sent - libm::floor(self.path_rate() * sample.due_in_s)).max(0.0)
    }

    /// §4.1.1.3, BBRUpdateBtlBw.
    fn update_bandwidth(&mut self, sample: &RateSample, random: &mut Stream) {
        self.rounds.update(sample);
        if self.rounds.begins {
            self.conserves = false;
        }
        let probes = matches!(self.state, State::ProbeBw(_));
        if let Some(long_term) = &mut self.long_term
            && long_term.update(sample, self.rounds.begins, probes)
        {
            self.enter_probe_bw(sample.now, random);
        }
        if sample.rate >= self.bandwidth.get() || !sample.app_limited {
            self.bandwidth.update(self.rounds.count, sample.rate);
        }
    }

    /// §4.3.4.3, BBRCheckCyclePhase.
    fn check_cycle(&mut self, sample: &RateSample) {
        let State::ProbeBw(place) = self.state else { return };
        let elapsed = sample.now.since(self.cycle_at) > self.rtprop_s;
        let (gain, _) = self.gains();
        let in_flight = self.in_flight_then(sample.in_flight_before, sample);
        let over = if gain > 1.0 {
            elapsed && (sample.newly_lost > 0.0 || in_flight >= self.inflight(gain))
        } else {
            elapsed || gain < 1.0 && in_flight <= self.inflight(1.0)
        };
        if over {
            self.enter_cycle((place + 1) % CYCLE.len(), sample.now);
        }
    }

    fn enter_cycle(&mut self, place: usize, now: Time) {
        self.state = State::ProbeBw(place);
        self.cycle_at = now;
    }

    /// §4.3.4.3, BBREnterProbeBW: anywhere in the cycle but where it drains, so that flows do not probe together.
    fn enter_probe_bw(&mut self, now: Time, random: &mut Stream) {
        let others = (CYCLE.len() - 1) as f64;
        let back = (random.uniform() * others) as usize;
        self.enter_cycle((CYCLE.len() - back) % CYCLE.len(), now);
    }

    /// §4.3.2.2 and §4.3.3, BBRCheckFullPipe and BBRCheckDrain.
    fn check_full(&mut self, sample: &RateSample, random: &mut Stream) {
        if !self.filled && self.rounds.begins && !sample.app_limited {
            if self.bandwidth.get() >= self.full_bandwidth * FULL_GROWTH {
                self.full_bandwidth = self.bandwidth.get();
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
                self.filled = self.full_rounds >= FULL_ROUNDS;
            }
        }
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && self.in_flight_then(sample.in_flight, sample) <= self.inflight(1.0) {
            self.enter_probe_bw(sample.now, random);
        }
    }

    /// §4.1.2.3 and §4.3.5, BBRUpdateRTprop and BBRCheckProbeRTT.
    fn check_probe_rtt(&mut self, window: &mut Window, sample: &RateSample, random: &mut Stream) {
        let expired = sample.now.since(self.rtprop_at) > RTPROP_S;
        if let Some(rtt_s) = sample.rtt_s
            && (rtt_s <= self.rtprop_s || expired)
        {
            self.rtprop_s = rtt_s;
            self.rtprop_at = sample.now;
        }
        if self.state != State::ProbeRtt && expired && !self.restarted {
            self.save_window(window);
            self.state = State::ProbeRtt;
            self.probe_ends = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(window, sample, random);
        }
        self.restarted = false;
    }

    /// §4.3.5, BBRHandleProbeRTT.
    fn probe_rtt(&mut self, window: &mut Window, sample: &RateSample, random: &mut Stream) {
        let Some(ends) = self.probe_ends else {
            if sample.in_flight <= LEAST_WINDOW {
                self.probe_ends = Some(sample.now + PROBE_RTT_S);
                self.probe_round_done = false;
                self.rounds.restart(sample.total_delivered);
            }
            return;
        };
        self.probe_round_done |= self.rounds.begins;
        if self.probe_round_done && sample.now > ends {
            self.rtprop_at = sample.now;
            window.cwnd = window.cwnd.max(self.window_before);
            if self.filled {
                self.enter_probe_bw(sample.now, random);
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// §4.2.3.4, BBRSaveCwnd.
    fn save_window(&mut self, window: &Window) {
        let unmodulated = !self.recovering && self.state != State::ProbeRtt;
        self.window_before = if unmodulated { window.cwnd } else { self.window_before.max(window.cwnd) };
    }

    /// §4.2.1, BBRSetPacingRate.
    fn set_rate(&mut self, gain: f64) {
        let rate = gain * self.path_rate() * PACING_MARGIN;
        if rate > 0.0 && (self.filled || rate > self.rate) {
            self.rate = rate;
        }
    }

    /// §4.2.3.6, BBRSetCwnd, with §4.2.3.4 and §4.2.3.5.
    fn set_window(&mut self, window: &mut Window, sample: &RateSample, gain: f64) {
        let rate = self.path_rate();
        let allowance = self.aggregation.filter(|_| self.filled).map_or(0.0, |found| found.allowance(rate));
        let target = self.inflight_with(gain, rate, allowance);
        if self.recovering {
            window.cwnd = (window.cwnd - sample.newly_lost).max(1.0);
        }
        let as_before = sample.in_flight + sample.newly_delivered;
        if std::mem::take(&mut self.enters) {
            self.conserves = true;
            self.rounds.restart(sample.total_delivered);
            window.cwnd = as_before;
        }
        if self.conserves {
            window.cwnd = window.cwnd.max(as_before);
        } else {
            if self.filled {
                window.cwnd = (window.cwnd + sample.newly_delivered).min(target);
            } else if window.cwnd < target || sample.total_delivered < self.initial_window {
                window.cwnd += sample.newly_delivered;
            }
            window.cwnd = window.cwnd.max(LEAST_WINDOW);
        }
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(LEAST_WINDOW);
        }
    }

    fn begin_recovery(&mut self, window: &Window) {
        self.save_window(window);
        self.recovering = true;
    }
}

impl CongestionControl for Bbr {
    const HELP: &'static str = "BBR version 1: the rate of deliveries, a bandwidth-delay product in flight (2016)";
    const SAMPLES_DELIVERY: bool = true;
    const PHASES: &'static [&'static str] = &["startup", "drain", "probe-bw", "probe-rtt"];

    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::switch(
            "batches",
            false,
            "Room in the window for packets and ACKs that come together, and probes that reckon with the next, as in Linux.",
        ),
        ControlOption::switch(
            "policers",
            false,
            "Keep to the rate at which two stretches lose a fifth, as in Linux: a token bucket may police it.",
        ),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [batches, policers] = options.values();
        Self {
            state: State::Startup,
            rounds: DeliveryRounds::default(),
            bandwidth: WindowedMax::default(),
            rtprop_s: f64::INFINITY,
            rtprop_at: Time::ZERO,
            rate: 0.0,
            initial_window: 0.0,
            filled: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            cycle_at: Time::ZERO,
            probe_ends: None,
            probe_round_done: false,
            restarted: false,
            window_before: 0.0,
            recovering: false,
            enters: false,
            conserves: false,
            in_flight: 0.0,
            newly_delivered: 0.0,
            total_delivered: 0.0,
            aggregation: (batches > 0.0).then(Aggregation::default),
            long_term: (policers > 0.0).then(LongTerm::default),
        }
    }

    fn on_sample(
        &mut self,
        window: &mut Window,
        sample: &RateSample,
        _losses: &[LostPacket],
        random: &mut Stream,
    ) -> bool {
        // It has no threshold; recovery and timeouts set one.
        window.ssthresh = f64::MAX;
        if self.total_delivered == 0.0 {
            self.initial_window = window.cwnd;
            if self.rtprop_s.is_infinite() {
                self.rtprop_at = sample.now;
            }
            let known_s = Some(self.rtprop_s).filter(|rtt_s| rtt_s.is_finite());
            self.rate = known_s
                .or(sample.rtt_s)
                .filter(|&rtt_s| rtt_s > 0.0)
                .map_or(0.0, |rtt_s| HIGH_GAIN * window.cwnd / rtt_s * PACING_MARGIN);
        }
        (self.in_flight, self.newly_delivered) = (sample.in_flight, sample.newly_delivered);
        self.total_delivered = sample.total_delivered;
        if self.recovering && !sample.recovering {
            self.recovering = false;
            self.conserves = false;
            window.cwnd = window.cwnd.max(self.window_before);
        }
        self.update_bandwidth(sample, random);
        let rate = self.path_rate();
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.update(sample.now.seconds(), sample.newly_delivered, rate, window.cwnd, self.rounds.begins);
        }
        self.check_cycle(sample);
        self.check_full(sample, random);
        self.check_probe_rtt(window, sample, random);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_rate(pacing_gain);
        self.set_window(window, sample, cwnd_gain);
        // Slow samples of a probe must not pass for the path's bandwidth.
        self.state == State::ProbeRtt
    }

    /// Only samples set the window.
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// §4.2.3.4: what is in flight stays there for a round trip.
    fn on_loss(&mut self, window: &Window, _loss: &Loss) -> f64 {
        self.enters = !self.recovering;
        self.begin_recovery(window);
        self.in_flight + self.newly_delivered.max(1.0)
    }

    fn on_timeout(&mut self, window: &Window, _loss: &Loss) -> f64 {
        self.begin_recovery(window);
        (self.enters, self.conserves) = (false, false);
        // The path may be another: Startup looks anew for its bandwidth (Linux: bbr_set_state).
        self.full_bandwidth = 0.0;
        if let Some(long_term) = &mut self.long_term {
            long_term.end_round(matches!(self.state, State::ProbeBw(_)));
        }
        window.cwnd
    }

    /// Linux's bbr_undo_cwnd: the slower deliveries were no sign of a full pipe.
    fn on_spurious(&mut self, window: &mut Window) {
        self.full_bandwidth = 0.0;
        self.full_rounds = 0;
        if let Some(long_term) = &mut self.long_term {
            long_term.reset();
        }
        (self.recovering, self.enters, self.conserves) = (false, false, false);
        window.cwnd = window.cwnd.max(self.window_before);
    }

    fn known(&self, packet_bits: f64, each: &mut dyn FnMut(&str, f64)) {
        tell_path((self.bandwidth.get() * packet_bits, self.rtprop_s), each);
    }

    fn phase(&self, _window: &Window) -> usize {
        match self.state {
            State::Startup => 0,
            State::Drain => 1,
            State::ProbeBw(_) => 2,
            State::ProbeRtt => 3,
        }
    }

    /// §4.1.2.3, BBRInit: its round trip is one of an empty path where data find a queue of others.
    fn on_handshake(&mut self, _window: &mut Window, now: Time, rtt_s: f64) {
        (self.rtprop_s, self.rtprop_at) = (rtt_s, now);
    }

    /// §4.3.4.4, BBRHandleRestartFromIdle.
    fn on_restart(&mut self, _window: &mut Window, _now: Time, _random: &mut Stream) {
        self.restarted = true;
        if matches!(self.state, State::ProbeBw(_)) {
            self.set_rate(1.0);
        }
    }

    /// §4.2.1, BBRInitPacingRate, before the first sample.
    fn pacing_rate(&self, window: &Window, _in_flight: f64, srtt_s: f64) -> f64 {
        if self.rate > 0.0 { self.rate } else { HIGH_GAIN * window.cwnd / srtt_s * PACING_MARGIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::fresh;

    /// Linux's bbr_set_cwnd_to_recover_or_restore: what is in flight without what was found lost, and for a round trip no more.
    #[test]
    fn recovery_begins_with_what_is_in_flight() {
        let mut bbr = Bbr { filled: true, rtprop_s: 0.04, ..fresh() };
        bbr.bandwidth.update(0, 1000.0);
        let mut window = Window { cwnd: 146.0, ssthresh: f64::MAX };
        bbr.on_loss(&window, &Loss { now: Time::new(1.0), in_use: 146.0 });
        let mut found_lost = |at_s: f64, newly_lost: f64, in_flight: f64| {
            let now = Time::new(at_s);
            let sample = RateSample {
                now,
                newly_lost,
                in_flight,
                newly_delivered: 1.0,
                recovering: true,
                ..RateSample::NOTHING
            };
            bbr.on_sample(&mut window, &sample, &[], &mut Stream::new(1, "test", 0, "congestion"));
            window.cwnd
        };
        assert_eq!(found_lost(1.0, 9.0, 133.0), 134.0);
        assert_eq!(found_lost(1.1, 3.0, 130.0), 131.0);
        assert_eq!(found_lost(1.2, 0.0, 130.0), 131.0);
    }

    /// Three of what Linux hands over at once: a segment, two, what is paced in a millisecond, 64 KiB; an even number.
    #[test]
    fn room_for_what_is_sent_at_once_grows_with_the_rate() {
        for (mbit_per_s, room) in [(1.0, 4.0), (12.0, 6.0), (35.0, 6.0), (37.0, 10.0), (100.0, 24.0), (10_000.0, 136.0)]
        {
            let bbr = Bbr {
                rate: mbit_per_s * 1e6 / (8.0 * 1500.0),
                rtprop_s: 0.01,
                aggregation: Some(Aggregation::default()),
                ..fresh()
            };
            assert_eq!(bbr.inflight(1.0), room, "{mbit_per_s} Mbit/s");
        }
    }

    /// Linux's bbr_packets_in_net_at_edt: where it probes, the quantum that leaves next is among them; whole packets that are
    /// delivered until then are not.
    #[test]
    fn what_will_be_in_flight_is_known_from_when_the_next_packet_is_due() {
        let mut bbr = Bbr {
            state: State::ProbeBw(0),
            filled: true,
            rate: 250.0,
            rtprop_s: 0.04,
            aggregation: Some(Aggregation::default()),
            ..fresh()
        };
        bbr.bandwidth.update(0, 200.0);
        let due_in = |due_in_s| RateSample { due_in_s, ..RateSample::NOTHING };
        for (wait_s, then) in [(0.0, 12.0), (0.004, 12.0), (0.006, 11.0), (0.051, 2.0), (0.1, 0.0)] {
            assert_eq!(bbr.in_flight_then(10.0, &due_in(wait_s)), then, "{wait_s}");
        }
        bbr.state = State::Drain;
        assert_eq!(bbr.in_flight_then(10.0, &due_in(0.006)), 9.0);
        assert_eq!(bbr.in_flight_then(10.0, &due_in(0.1)), 0.0);
        bbr.aggregation = None;
        assert_eq!(bbr.in_flight_then(10.0, &due_in(0.003)), 10.0);
    }
}

//! H-TCP (D. Leith, R. Shorten: H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004;
//! draft-leith-tcp-htcp-06): grows the faster the longer ago the last loss is, and gives up no more than
//! empties the queue.
//!
//! The bandwidth test compares the most packets that a round trip of one epoch delivered per second with that of
//! the epoch before. Unlike the draft, α is 2 (1 − β) in the first second as well, as the authors' Linux module
//! has it: with β = 1/2 that is 1. Without `low_speed_scaling` it is 1, standard TCP's, whatever β.
//!
//! By default α is scaled by the round trip (`rtt_scaling`), as in the module, where use_rtt_scaling is on: a quarter to a
//! half of it at 25 to 50 ms, and up to twice as much above 0.1 s, in the first second as well. The draft leaves it open
//! (its §3.4 has it as an option).

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::time::Time;

/// Δ_L: after this many seconds it is no longer Reno.
const DELTA_L_S: f64 = 1.0;
/// β lies between these.
const BETA: [f64; 2] = [0.5, 0.8];
/// Throughputs of successive epochs that differ by more than this share mean that the path changed.
const CHANGE: f64 = 0.2;
/// On shorter paths β is 1/2 (module).
const SHORTEST_S: f64 = 0.01;
/// α is scaled by the round trip over 0.1 s, at most by these.
const REFERENCE_RTT_S: f64 = 0.1;
const SCALES: [f64; 2] = [0.5, 10.0];
/// Share by which RTTmax fades towards RTTmin with each loss (module).
const FADE: f64 = 0.05;

/// H-TCP.
#[derive(Clone, Copy, Debug)]
pub struct HTcp {
    rtt_scaling: bool,
    bandwidth_switch: bool,
    low_speed_scaling: bool,
    rounds: Rounds,
    /// When the measurement of the throughput began; none in recovery, whose ACKs come in jumps.
    round_start: Option<Time>,
    acked: f64,
    /// Packets per second: the most of this epoch and of the one before.
    fastest: [f64; 2],
    last_loss: Option<Time>,
    beta: f64,
    /// A loss came before which β was not reset.
    adaptive: bool,
}

impl HTcp {
    /// Packets per round trip.
    fn alpha(&self, now: Time) -> f64 {
        let past_s = self.last_loss.map_or(0.0, |loss| now.since(loss)) - DELTA_L_S;
        if past_s <= 0.0 && !self.low_speed_scaling {
            return 1.0;
        }
        let past_s = past_s.max(0.0);
        let mut alpha = 1.0 + (10.0 * past_s + 0.25 * past_s * past_s);
        if self.rtt_scaling && self.rounds.base_s.is_finite() {
            // The divisor of the module is the reference over the round trip.
            alpha /= (REFERENCE_RTT_S / self.rounds.base_s.max(1e-6)).clamp(SCALES[0], SCALES[1]);
            alpha = alpha.max(1.0);
        }
        2.0 * (1.0 - self.beta) * alpha
    }

    /// One value for each round trip.
    fn measure_throughput(&mut self, ack: &Ack) {
        let start = *self.round_start.get_or_insert(ack.now);
        let past_s = ack.now.since(start);
        if past_s >= ack.rtt_s && past_s > 0.0 {
            self.fastest[0] = self.fastest[0].max(self.acked / past_s);
            self.acked = 0.0;
            self.round_start = Some(ack.now);
        }
        self.acked += ack.delivered;
    }

    fn adapt_beta(&mut self) {
        self.round_start = None;
        self.acked = 0.0;
        let [new, old] = self.fastest;
        let changed = self.bandwidth_switch && (new - old).abs() > CHANGE * old;
        self.fastest = [0.0, new];
        let Rounds { base_s, max_s, .. } = self.rounds;
        self.beta = BETA[0];
        if changed {
            self.adaptive = false;
        } else if !self.adaptive {
            self.adaptive = true;
        } else if base_s.is_finite() && base_s > SHORTEST_S {
            self.beta = (base_s / max_s).clamp(BETA[0], BETA[1]);
        }
        if base_s.is_finite() {
            self.rounds.max_s -= FADE * (max_s - base_s);
        }
    }
}

impl CongestionControl for HTcp {
    const HELP: &'static str = "H-TCP: grows faster the longer ago the last loss is (Leith, Shorten 2004)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::switch("rtt_scaling", true, "slower growth on paths shorter than 100 ms"),
        ControlOption::switch("bandwidth_switch", true, "halve the window when the throughput changed by 20 %"),
        ControlOption::switch(
            "low_speed_scaling",
            true,
            "slower growth after a cut by less than a half, also in the second after it (off: as standard TCP there)",
        ),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [rtt_scaling, bandwidth_switch, low_speed_scaling] = options.values();
        Self {
            rtt_scaling: rtt_scaling > 0.5,
            bandwidth_switch: bandwidth_switch > 0.5,
            low_speed_scaling: low_speed_scaling > 0.5,
            rounds: Rounds::default(),
            round_start: None,
            acked: 0.0,
            fastest: [0.0; 2],
            last_loss: None,
            beta: BETA[0],
            adaptive: false,
        }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.measure_throughput(ack);
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        } else {
            // The time counts from when congestion avoidance began, or the last loss.
            self.last_loss.get_or_insert(ack.now);
            window.grow(self.alpha(ack.now), ack.acked);
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.adapt_beta();
        self.last_loss = Some(loss.now);
        self.beta * loss.in_use
    }

    fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.beta = BETA[0];
        self.adaptive = false;
        self.fastest = [0.0; 2];
        self.round_start = None;
        self.acked = 0.0;
        self.last_loss = Some(loss.now);
        self.beta * loss.in_use
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh, with};

    /// With α = 1 + 10 (Δ − 1) + (Δ − 1)²/4 packets per round trip of 0.1 s.
    #[test]
    fn growth_follows_the_time_since_the_loss() {
        let mut control: HTcp = fresh();
        let mut path = Path::new(1000.0);
        path.lose(&mut control);
        (0..10).for_each(|_| path.round(&mut control, 0.1));
        assert!((path.window.cwnd - 510.0).abs() < 0.5, "{}", path.window.cwnd);
        (0..20).for_each(|_| path.round(&mut control, 0.1));
        // The integral of it over two seconds, in round trips.
        let expected = 510.0 + 10.0 * (2.0 + 5.0 * 4.0 + 8.0 / 12.0);
        assert!((path.window.cwnd / expected - 1.0).abs() < 0.01, "{} {expected}", path.window.cwnd);
    }

    /// The module's htcp_alpha_update: above 0.1 s α is scaled up, to twice at most, from the first second on; below, it
    /// does not fall under that of the first second.
    #[test]
    fn round_trips_scale_the_first_second_too() {
        for (rtt_s, scaling, packets) in [(0.05, 1.0, 1.0), (0.15, 1.0, 1.5), (0.3, 1.0, 2.0), (0.3, 0.0, 1.0)] {
            let mut control: HTcp = with(&[("rtt_scaling", scaling)]);
            let mut path = Path::new(200.0);
            path.round(&mut control, rtt_s);
            path.lose(&mut control);
            let before = path.window.cwnd;
            (0..3).for_each(|_| path.round(&mut control, rtt_s));
            let grown = (path.window.cwnd - before) / 3.0;
            assert!((grown / packets - 1.0).abs() < 0.03, "{rtt_s} s: {grown}");
        }
    }

    /// The second after a cut to 0.8 of the window: with 2 (1 − β) = 0.4 packets per round trip, or with standard TCP's one.
    #[test]
    fn the_first_second_is_scaled_or_as_standard_tcp() {
        for (scaling, packets) in [(1.0, 0.4), (0.0, 1.0)] {
            let mut control: HTcp = with(&[("low_speed_scaling", scaling), ("bandwidth_switch", 0.0)]);
            let mut path = Path::new(100.0);
            path.round(&mut control, 0.1);
            path.lose(&mut control);
            path.round(&mut control, 0.11);
            path.lose(&mut control);
            assert_eq!(control.beta, BETA[1]);
            let before = path.window.cwnd;
            (0..8).for_each(|_| path.round(&mut control, 0.1));
            // A round has only whole ACKs of its 80 packets, and each counts for a little less than the one before.
            let grown = (path.window.cwnd - before) / 8.0;
            assert!((grown / packets - 1.0).abs() < 2.0 / before, "{scaling}: {grown}");
        }
    }

    #[test]
    fn it_gives_up_what_empties_the_queue() {
        let mut control: HTcp = with(&[("bandwidth_switch", 0.0)]);
        let mut path = Path::new(100.0);
        path.round(&mut control, 0.1);
        path.round(&mut control, 0.15);
        path.lose(&mut control);
        assert_eq!(control.beta, 0.5);
        path.round(&mut control, 0.15);
        path.lose(&mut control);
        assert!((control.beta - 0.1 / 0.15).abs() < 0.01, "{}", control.beta);
    }
}

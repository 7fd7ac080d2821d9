//! FAST (C. Jin, D. X. Wei, S. H. Low: FAST TCP: Motivation, Architecture, Algorithms, Performance, INFOCOM 2004;
//! D. X. Wei et al., ToN 14(6), 2006): keeps `alpha` packets in the queues of the path.
//!
//! Every other round trip the window moves towards its target, in equal steps on the ACKs of the following round.
//! The round-trip time is smoothed as the paper says, with a weight of 3 / w and at most 1/4. Slow start is
//! Reno's until the queueing delay exceeds `mi_threshold`; the paper leaves it open, and the module of ns-2 adds
//! a packet per ACK while the delay is smaller. NIST 2010 says that all its controls share one slow start: with a long
//! `mi_threshold` FAST does. Losses halve the window.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// The window at most doubles in an update (ToN 2006, equation 5).
const MOST_GROWTH: f64 = 2.0;
/// Smoothing of the round-trip time: this over the window, and no more than the second (ToN 2006, §IV.B).
const SMOOTHING: [f64; 2] = [3.0, 0.25];
/// The window never shrinks below this for a long delay.
const SMALLEST: f64 = 2.0;

/// The option that sets the packets kept in queues.
const ALPHA: ControlOption = ControlOption::packets("alpha", 200.0, "packets kept in the queues of the path");
/// Options that FAST with a tuned alpha has as well.
pub(super) const GAMMA: ControlOption =
    ControlOption::number("gamma", 0.5, [0.01, 1.0], "share of the way to the target in each update");
/// See [`GAMMA`].
pub(super) const MI_THRESHOLD: ControlOption =
    ControlOption::seconds("mi_threshold", 0.000_75, "queueing delay that ends slow start");

/// FAST.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    /// Packets kept in queues.
    pub(super) alpha: f64,
    gamma: f64,
    mi_threshold_s: f64,
    rounds: Rounds,
    /// Smoothed round-trip time, in seconds; zero before the first sample.
    pub(super) srtt_s: f64,
    /// The window when the packets left whose ACKs come now.
    window_before: f64,
    updates: bool,
    /// Share of a packet by which each packet acknowledged changes the window in this round.
    step: f64,
}

impl Fast {
    /// FAST that keeps `alpha` packets in queues.
    pub(super) fn with(alpha: f64, gamma: f64, mi_threshold_s: f64) -> Self {
        Self {
            alpha,
            gamma,
            mi_threshold_s,
            rounds: Rounds::default(),
            srtt_s: 0.0,
            window_before: 0.0,
            updates: false,
            step: 0.0,
        }
    }

    /// ToN 2006, equation 5.
    fn target(&self, cwnd: f64) -> f64 {
        let before = if self.window_before > 0.0 { self.window_before } else { cwnd };
        let filled = self.rounds.base_s / self.srtt_s * before + self.alpha;
        (MOST_GROWTH * cwnd).min((1.0 - self.gamma) * cwnd + self.gamma * filled)
    }

    /// Whether an update of the window is due with this ACK.
    pub(super) fn is_due(&self, ack: &Ack) -> bool {
        self.rounds.is_over(ack) && !self.updates
    }
}

impl CongestionControl for Fast {
    const HELP: &'static str = "FAST: keeps alpha packets in the queues of the path (Jin, Wei, Low 2004)";
    const OPTIONS: &'static [ControlOption] = &[ALPHA, GAMMA, MI_THRESHOLD];

    fn new(options: &Options<'_>) -> Self {
        let [alpha, gamma, mi_threshold_s] = options.values();
        Self::with(alpha, gamma, mi_threshold_s)
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
        let weight = if self.srtt_s > 0.0 { (SMOOTHING[0] / ack.in_flight.max(1.0)).min(SMOOTHING[1]) } else { 1.0 };
        self.srtt_s += weight * (ack.rtt_s - self.srtt_s);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            if self.srtt_s - self.rounds.base_s < self.mi_threshold_s {
                window.slow_start(ack.acked);
                return;
            }
            window.ssthresh = window.cwnd;
        }
        if self.rounds.is_over(ack) {
            self.updates = !self.updates;
            // The steps may end a little above or below their target: the next update starts from there.
            self.step = if self.updates { (self.target(window.cwnd) - window.cwnd) / window.cwnd } else { 0.0 };
            self.window_before = window.cwnd;
            self.rounds.begin(ack);
        }
        // After a timeout one ACK may stand for far more than the window of now.
        window.cwnd = (window.cwnd + self.step * ack.acked.min(window.cwnd)).max(SMALLEST);
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.step = 0.0;
        self.window_before = loss.in_use / 2.0;
        loss.in_use / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, ack, with};

    /// On a path of 100 packets, whose queue holds the rest.
    #[test]
    fn it_keeps_alpha_packets_in_the_queue() {
        for (start, alpha) in [(20.0, 20.0), (400.0, 20.0), (50.0, 200.0)] {
            let mut control: Fast = with(&[("alpha", alpha)]);
            let mut path = Path::new(start);
            control.rounds.base_s = 0.1;
            for _ in 0..300 {
                let rtt_s = 0.1 * (path.window.cwnd / 100.0).max(1.0);
                path.round(&mut control, rtt_s);
            }
            let queued = path.window.cwnd - 100.0;
            assert!((queued / alpha - 1.0).abs() < 0.02, "{start} {alpha}: {queued}");
        }
    }
    /// The threshold, not the delay, ends slow start where the longest of delays is chosen.
    #[test]
    fn without_its_early_exit_slow_start_is_renos() {
        for (threshold_s, goes_on) in [(0.000_75, false), (1000.0, true)] {
            let mut control: Fast = with(&[("mi_threshold", threshold_s)]);
            let mut path = Path::new(8.0);
            path.window.ssthresh = 20.0;
            control.rounds.base_s = 0.1;
            path.round(&mut control, 0.15);
            assert_eq!(path.window.in_slow_start(), goes_on);
            path.round(&mut control, 0.15);
            assert!(!path.window.in_slow_start());
        }
    }

    #[test]
    fn an_ack_of_many_packets_at_most_doubles_the_window() {
        let mut control: Fast = with(&[("alpha", 200.0)]);
        let mut window = Window { cwnd: 2.0, ssthresh: 1.0 };
        control.rounds.base_s = 0.1;
        for round in 1..9 {
            let before = window.cwnd;
            let through = 800 * round;
            let many = Ack { acked: 800.0, through, highest: through + 2, in_flight: window.cwnd, ..ack(0.1) };
            control.measure(&many);
            control.on_ack(&mut window, &many);
            assert!(window.cwnd <= MOST_GROWTH * before, "{before} to {}", window.cwnd);
        }
        assert!(window.cwnd > 2.0);
    }
}

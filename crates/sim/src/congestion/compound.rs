//! Compound TCP (K. Tan, J. Song, Q. Zhang, M. Sridharan: A Compound TCP Approach for High-speed and Long Distance
//! Networks, INFOCOM 2006; the tuning of γ by the authors' CTCP-TUBE, PFLDnet 2006): Reno's window and, beside it,
//! a delay window that fills a free path and goes when a queue builds.
//!
//! The window of the sender is the sum of both. The delay window grows by win^k, as in the paper (drafts have
//! dwnd^k). Below the low window there is no delay window: what it held, Reno's window takes over.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// γ is tuned to this share of Reno's own backlog at a loss (TUBE).
const TUNED_SHARE: f64 = 0.75;

/// Compound TCP.
#[derive(Clone, Copy, Debug)]
pub struct Compound {
    alpha: f64,
    k: f64,
    zeta: f64,
    gamma: f64,
    gamma_range: [f64; 2],
    tuning: bool,
    forgetting: f64,
    low_window: f64,
    rounds: Rounds,
    /// The delay window, in packets: a part of the sender's.
    dwnd: f64,
    /// Shares of the last round spent in queues.
    queueing: f64,
}

impl Compound {
    /// §IV.A: the delay window after a round.
    fn adapt(&mut self, window: &mut Window) {
        self.queueing = self.rounds.backlog(1.0);
        if window.cwnd < self.low_window {
            self.dwnd = 0.0;
            return;
        }
        let backlog = self.queueing * window.cwnd;
        let dwnd = if backlog < self.gamma {
            self.dwnd + (self.alpha * libm::pow(window.cwnd, self.k) - 1.0).max(0.0)
        } else {
            (self.dwnd - self.zeta * backlog).max(0.0)
        };
        window.cwnd += dwnd - self.dwnd;
        self.dwnd = dwnd;
    }
}

impl CongestionControl for Compound {
    const HELP: &'static str = "Compound TCP: Reno and a window that delay governs (Tan, Song, Zhang, Sridharan 2006)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("alpha", 0.125, [1e-3, 10.0], "the delay window grows by alpha × win^k (§IV.B)"),
        ControlOption::number("k", 0.75, [0.1, 1.0], "exponent of it (§IV.B)"),
        ControlOption::number("zeta", 1.0, [0.01, 10.0], "the delay window gives way by zeta × backlog"),
        ControlOption::packets("gamma", 30.0, "packets in queues at which the delay window gives way (§IV.C)"),
        ControlOption::packets("gamma_least", 5.0, "lower bound of a tuned gamma"),
        ControlOption::switch("tuning", true, "tune gamma, downwards from its value, to Reno's backlog at a loss"),
        ControlOption::number("forgetting", 0.25, [0.01, 1.0], "weight of the last loss in a tuned gamma"),
        ControlOption::packets("low_window", 38.0, "no delay window below this window (§IV.A)"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [alpha, k, zeta, gamma, gamma_least, tuning, forgetting, low_window] = options.values();
        Self {
            alpha,
            k,
            zeta,
            gamma,
            gamma_range: [gamma_least.min(gamma), gamma],
            tuning: tuning > 0.5,
            forgetting,
            low_window,
            rounds: Rounds::default(),
            dwnd: 0.0,
            queueing: 0.0,
        }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Recovery may have left a smaller window than was asked for.
        self.dwnd = self.dwnd.min(window.cwnd - 1.0).max(0.0);
        let round_is_over = self.rounds.is_over(ack);
        if window.in_slow_start() {
            self.dwnd = 0.0;
            window.slow_start(ack.acked);
        } else {
            // Equation 3: Reno's part grows by 1 / win per ACK.
            window.grow(1.0, ack.acked);
            if round_is_over {
                self.adapt(window);
            }
        }
        if round_is_over {
            self.rounds.begin(ack);
        }
    }

    fn on_loss(&mut self, window: &Window, loss: &Loss) -> f64 {
        if self.tuning {
            let reno_backlog = self.queueing * (window.cwnd - self.dwnd).max(0.0);
            let gamma = self.gamma + self.forgetting * (TUNED_SHARE * reno_backlog - self.gamma);
            self.gamma = gamma.clamp(self.gamma_range[0], self.gamma_range[1]);
        }
        // §IV.A: the whole window is halved, and each part of it.
        self.dwnd /= 2.0;
        loss.in_use / 2.0
    }

    fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.dwnd = 0.0;
        loss.in_use / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    /// §IV.B: on a free path the window grows by alpha × win^k per round in all.
    #[test]
    fn the_delay_window_fills_a_free_path_and_leaves_a_full_one_to_reno() {
        let mut control: Compound = fresh();
        let mut path = Path::new(1000.0);
        path.round(&mut control, 0.1);
        let before = path.window.cwnd;
        path.round(&mut control, 0.1);
        let grown = path.window.cwnd - before;
        assert!((grown - 0.125 * libm::pow(before, 0.75)).abs() < 0.1, "{grown}");
        // A tenth of the window in the queue is more than gamma.
        for _ in 0..3 {
            path.round(&mut control, 0.1 / 0.9);
        }
        assert_eq!(control.dwnd, 0.0);
        let before = path.window.cwnd;
        path.round(&mut control, 0.1 / 0.9);
        assert!((path.window.cwnd - before - 1.0).abs() < 0.01);
    }
}

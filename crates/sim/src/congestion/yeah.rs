//! YeAH (A. Baiocchi, A. Castellani, F. Vacirca: YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007): Scalable while
//! the queue is short; Reno, which empties the queue as a precaution, while it is long.
//!
//! Constants and the limits of the cuts are those of the authors' Linux module.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// A queueing delay above this share of the smallest round trip means a long queue (φ = 8).
const LONG_SHARE: f64 = 1.0 / 8.0;
/// A decongestion takes at most this share of the window (ε = 1: half).
const MOST_DECONGESTION: f64 = 0.5;
/// A loss in the fast mode takes at least this share (δ = 3: an eighth).
const LEAST_CUT: f64 = 1.0 / 8.0;
/// After so many rounds of slow mode in a row others are taken to be greedy, and a loss halves (ρ).
const SLOW_ROUNDS: u32 = 16;
/// After so many rounds of fast mode no greedy flow is left, and Reno's window is forgotten (ζ).
const FAST_ROUNDS: u32 = 50;
/// Packets per packet acknowledged in fast mode (Scalable's).
const SCALABLE: f64 = 0.01;
/// The smallest window that Reno is taken to have.
const SMALLEST: f64 = 2.0;

/// YeAH.
#[derive(Clone, Copy, Debug)]
pub struct Yeah {
    most_queued: f64,
    rounds: Rounds,
    /// Packets in queues, by the last round.
    queued: f64,
    /// A window that Reno might have beside it.
    reno: f64,
    fast_rounds: u32,
    /// Rounds of slow mode in a row: zero in fast mode.
    slow_rounds: u32,
}

impl Yeah {
    /// §2: the mode of the round that begins.
    fn adapt(&mut self, window: &mut Window) {
        let Rounds { base_s, least_s, samples, .. } = self.rounds;
        if samples == 0 {
            return;
        }
        self.queued = self.rounds.backlog(window.cwnd);
        if self.queued <= self.most_queued && least_s - base_s <= base_s * LONG_SHARE {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > FAST_ROUNDS {
                self.reno = SMALLEST;
                self.fast_rounds = 0;
            }
            return;
        }
        if self.queued > self.most_queued && window.cwnd > self.reno {
            // Decongestion: what the queue holds goes, down to Reno's window.
            let cut = self.queued.min(window.cwnd * MOST_DECONGESTION);
            window.cwnd = (window.cwnd - cut).max(self.reno);
            window.ssthresh = window.cwnd;
        }
        self.reno = if self.reno <= SMALLEST { (window.cwnd / 2.0).max(SMALLEST) } else { self.reno + 1.0 };
        self.slow_rounds += 1;
    }
}

impl CongestionControl for Yeah {
    const HELP: &'static str = "YeAH: Scalable while the queue is short, Reno while it is long (Baiocchi et al. 2007)";
    const OPTIONS: &'static [ControlOption] =
        &[ControlOption::packets("queue", 80.0, "packets in queues that make the queue long (Q_max)")];

    fn new(options: &Options<'_>) -> Self {
        let [most_queued] = options.values();
        Self { most_queued, rounds: Rounds::default(), queued: 0.0, reno: SMALLEST, fast_rounds: 0, slow_rounds: 0 }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        } else if self.slow_rounds == 0 {
            // No slower than Reno, where the window is small.
            window.cwnd += SCALABLE.max(1.0 / window.cwnd) * ack.acked;
        } else {
            window.grow(1.0, ack.acked);
        }
        if self.rounds.is_over(ack) {
            self.adapt(window);
            self.rounds.begin(ack);
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        let half = loss.in_use / 2.0;
        let cut =
            if self.slow_rounds < SLOW_ROUNDS { self.queued.max(loss.in_use * LEAST_CUT).min(half) } else { half };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2.0).max(SMALLEST);
        loss.in_use - cut
    }

    fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.fast_rounds = 0;
        self.reno = (self.reno / 2.0).max(SMALLEST);
        loss.in_use / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    #[test]
    fn it_is_scalable_on_a_free_path_and_drains_a_long_queue() {
        let mut control: Yeah = fresh();
        let mut path = Path::new(1000.0);
        path.round(&mut control, 0.1);
        let before = path.window.cwnd;
        path.round(&mut control, 0.1);
        assert!((path.window.cwnd / before - 1.01).abs() < 1e-3);
        // A fifth of the window waits: it goes.
        let before = path.window.cwnd;
        path.round(&mut control, 0.125);
        path.round(&mut control, 0.125);
        assert!(path.window.cwnd < 0.85 * before, "{}", path.window.cwnd);
    }
}

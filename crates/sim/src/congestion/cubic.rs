//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, whatever the round trip.
//!
//! Unlike the RFC: no reaction to spurious losses (§4.9), and time in which something else limits the sender counts
//! as time since the loss (§5.8 leaves it open how it does not). HyStart++ (§4.10) is an option of any control.

use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::time::Time;

/// The target lies at most this far above the window (§4.2).
const STEEPEST: f64 = 1.5;
/// Weight of a sample in the smoothed round-trip time (RFC 6298 §2), which §4.2 looks ahead by.
const SRTT_GAIN: f64 = 0.125;

/// CUBIC.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    srtt_s: f64,
    /// W_max, zero when there was no loss, or a timeout.
    top: f64,
    /// The window when the last loss was detected: §4.3's cwnd_prior.
    prior: f64,
    epoch: Option<Epoch>,
}

/// Since congestion avoidance began.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Where the plateau is, in packets.
    origin: f64,
    /// When the window gets there: §4.2's K.
    k_s: f64,
    /// The window that Reno would have: W_est.
    reno: f64,
}

impl Cubic {
    /// Figure 1: W_cubic.
    fn at(&self, epoch: &Epoch, time_s: f64) -> f64 {
        let t = time_s - epoch.k_s;
        self.c * t * t * t + epoch.origin
    }

    fn begin(&self, window: &Window, now: Time) -> Epoch {
        let below = self.top - window.cwnd;
        // §4.2, Figure 2. Without a loss, and after a timeout (§4.8), the plateau is here.
        let k_s = if below > 0.0 { libm::cbrt(below / self.c) } else { 0.0 };
        Epoch { start: now, origin: self.top.max(window.cwnd), k_s, reno: window.cwnd }
    }
}

impl CongestionControl for Cubic {
    const HELP: &'static str = "CUBIC: grows by the time since the last loss (RFC 9438)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("c", 0.4, [1e-3, 1e3], "steepness, in packets/s³ (§5.1)"),
        ControlOption::number("beta", 0.7, [0.1, 0.99], "share of the window kept after a loss (§4.6)"),
        ControlOption::switch("fast_convergence", true, "give way to new flows (§4.7)"),
        ControlOption::switch("reno_friendly", true, "never below what Reno would have (§4.3)"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [c, beta, fast_convergence, reno_friendly] = options.values();
        Self {
            c,
            beta,
            fast_convergence: fast_convergence > 0.5,
            reno_friendly: reno_friendly > 0.5,
            srtt_s: 0.0,
            top: 0.0,
            prior: 0.0,
            epoch: None,
        }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        let gain = if self.srtt_s > 0.0 { SRTT_GAIN } else { 1.0 };
        self.srtt_s += gain * (ack.rtt_s - self.srtt_s);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            window.slow_start(ack.acked);
            return;
        }
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(window, ack.now));
        let time_s = ack.now.since(epoch.start);
        // §4.3, Figure 4: as much as Reno on the average, until the window of the last loss; then as Reno.
        let alpha = if epoch.reno < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        epoch.reno += alpha * ack.acked / window.cwnd;
        self.epoch = Some(epoch);
        if self.reno_friendly && self.at(&epoch, time_s) < epoch.reno {
            window.cwnd = window.cwnd.max(epoch.reno);
        } else {
            // §4.4 and §4.5.
            let target = self.at(&epoch, time_s + self.srtt_s).clamp(window.cwnd, STEEPEST * window.cwnd);
            window.cwnd += (target - window.cwnd) / window.cwnd * ack.acked;
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.prior = loss.in_use;
        self.top = loss.top(self.top, self.beta, self.fast_convergence);
        self.epoch = None;
        self.beta * loss.in_use
    }

    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        let threshold = self.on_loss(window, loss);
        self.top = 0.0;
        threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    /// RFC 9438 §4.2: K = ∛(W_max (1 − β) / C) seconds after the loss the window is back.
    #[test]
    fn the_window_is_back_after_k_seconds() {
        let mut cubic: Cubic = fresh();
        let mut path = Path::new(1000.0);
        path.lose(&mut cubic);
        assert_eq!(path.window.cwnd, 700.0);
        let k_s = libm::cbrt(1000.0 * 0.3 / 0.4);
        let mut half = 0.0;
        while path.now_s < k_s {
            path.round(&mut cubic, 0.05);
            if path.now_s < k_s / 2.0 {
                half = path.window.cwnd;
            }
        }
        assert!((path.window.cwnd - 1000.0).abs() < 1.0, "{}", path.window.cwnd);
        // Half of the time before, an eighth of the cut is missing.
        assert!((half - (1000.0 - 300.0 / 8.0)).abs() < 3.0, "{half}");
    }

    /// §4.3: where the cubic is flat, Reno's window of the same average.
    #[test]
    fn on_short_paths_it_grows_as_reno_would() {
        let mut cubic: Cubic = fresh();
        let mut path = Path::new(20.0);
        path.lose(&mut cubic);
        for _ in 0..10 {
            path.round(&mut cubic, 0.001);
        }
        let expected = 14.0 + 10.0 * 3.0 * 0.3 / 1.7;
        assert!((path.window.cwnd - expected).abs() < 0.3, "{} {expected}", path.window.cwnd);
    }
}

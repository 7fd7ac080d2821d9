//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, whatever the round trip.
//!
//! Unlike the RFC: no reaction to spurious losses (§4.9), and time in which something else limits the sender counts
//! as time since the loss (§5.8 leaves it open how it does not). HyStart++ (§4.10) is an option of any control.
//!
//! Before the first loss, and after a timeout, the RFC's window begins to grow from a plateau. Linux then grows by a
//! twentieth in a round trip at least: `growth_before_loss`. It looks ahead by the smallest round trip, where §4.2 does by
//! the smoothed one: `by_least_rtt`. It computes in whole packets and ticks, in which silence does not count: `whole_packets`
//! (`linux.rs`). Profile `linux` sets all three.

mod linux;

use self::linux::{Growth, Linux, share};
use super::rounds::smooth;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window, counted, known};
use crate::time::Time;

/// The target lies at most this far above the window (§4.2).
const STEEPEST: f64 = 1.5;

/// CUBIC.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    beta_ecn: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    growth_before_loss: f64,
    by_least_rtt: bool,
    /// The smoothed round-trip time, or the smallest one, in seconds; zero before the first.
    ahead_s: f64,
    /// Where the window is as Linux has it.
    linux: Option<Linux>,
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

    /// The window to continue with, of which so much is `kept`.
    fn reduce(&mut self, loss: &Loss, kept: f64) -> f64 {
        self.prior = loss.in_use;
        self.top = loss.top(self.top, self.beta, self.fast_convergence);
        self.epoch = None;
        let window = kept * loss.in_use;
        let Some(linux) = &mut self.linux else { return window };
        linux.reduce();
        self.top = self.top.floor();
        window.floor()
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
        ControlOption::number("beta_ecn", 0.7, [0.1, 0.99], "the same after a mark (§4.6; RFC 8511: 0.85)"),
        ControlOption::switch("fast_convergence", true, "give way to new flows (§4.7)"),
        ControlOption::switch("reno_friendly", true, "never below what Reno would have (§4.3)"),
        ControlOption::number(
            "growth_before_loss",
            0.0,
            [0.0, 1.0],
            "least growth in a round trip before the first loss, as a share of the window (Linux: 0.05)",
        ),
        ControlOption::switch(
            "by_least_rtt",
            false,
            "look ahead by the smallest round trip (Linux), not the smoothed (§4.2)",
        ),
        ControlOption::switch(
            "whole_packets",
            false,
            "whole packets and ticks of 4 ms, and as Reno always at the rate below W_max (Linux's bictcp_update)",
        ),
    ];
    const PHASES: &'static [&'static str] = &["slow-start", "reno-friendly", "concave", "convex"];

    fn new(options: &Options<'_>) -> Self {
        let [c, beta, beta_ecn, fast_convergence, reno_friendly, growth_before_loss, by_least_rtt, whole] =
            options.values();
        let linux = (whole > 0.5).then(|| Linux::new(c, beta));
        let [beta, beta_ecn] = [beta, beta_ecn].map(|of| if linux.is_some() { share(of) } else { of });
        Self {
            c,
            beta,
            beta_ecn,
            fast_convergence: fast_convergence > 0.5,
            reno_friendly: reno_friendly > 0.5,
            growth_before_loss,
            by_least_rtt: by_least_rtt > 0.5,
            ahead_s: 0.0,
            linux,
            top: 0.0,
            prior: 0.0,
            epoch: None,
        }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        let least = self.by_least_rtt && self.ahead_s > 0.0;
        if least && ack.rtt_s >= self.ahead_s || self.linux.as_ref().is_some_and(|linux| !linux.measures(ack.now)) {
            return;
        }
        if least {
            self.ahead_s = ack.rtt_s;
        } else {
            smooth(&mut self.ahead_s, ack.rtt_s);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            let Some(acked) = counted::slow_start(window, ack.acked) else { return };
            let growth = Growth {
                top: self.top as u64,
                before_loss: self.growth_before_loss,
                reno_friendly: self.reno_friendly,
                ahead_s: self.ahead_s,
            };
            return linux.grow(window, acked, ack.now, &growth);
        }
        if window.in_slow_start() {
            return window.slow_start(ack.acked);
        }
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(window, ack.now));
        let time_s = ack.now.since(epoch.start);
        // §4.3, Figure 4: as much as Reno on the average, until the window of the last loss; then as Reno.
        let alpha = if epoch.reno < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        epoch.reno += alpha * ack.acked / window.cwnd;
        self.epoch = Some(epoch);
        let before = window.cwnd;
        if self.reno_friendly && self.at(&epoch, time_s) < epoch.reno {
            window.cwnd = window.cwnd.max(epoch.reno);
        } else {
            // §4.4 and §4.5.
            let target = self.at(&epoch, time_s + self.ahead_s).clamp(window.cwnd, STEEPEST * window.cwnd);
            window.cwnd += (target - window.cwnd) / window.cwnd * ack.acked;
        }
        if self.growth_before_loss > 0.0 && self.top == 0.0 {
            window.cwnd = window.cwnd.max(before + self.growth_before_loss * ack.acked);
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.reduce(loss, self.beta)
    }

    fn on_mark(&mut self, _window: &Window, loss: &Loss) -> Option<f64> {
        Some(self.reduce(loss, self.beta_ecn))
    }

    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        let threshold = self.on_loss(window, loss);
        self.top = 0.0;
        if self.linux.is_some() {
            // bictcp_reset.
            self.ahead_s = 0.0;
        }
        threshold
    }

    fn on_silence(&mut self, last: Time, now: Time) {
        if let Some(linux) = &mut self.linux {
            linux.shift(last, now);
        }
    }

    fn known(&self, _packet_bits: f64, each: &mut dyn FnMut(&str, f64)) {
        if self.top > 0.0 {
            each(known::PLATEAU_PACKETS, self.top);
        }
    }

    fn phase(&self, window: &Window) -> usize {
        let epoch = match &self.linux {
            Some(linux) => linux.epoch.map(|epoch| (epoch.origin as f64, epoch.reno as f64)),
            None => self.epoch.map(|epoch| (epoch.origin, epoch.reno)),
        };
        match epoch {
            None => usize::from(!window.in_slow_start()),
            Some(_) if window.in_slow_start() => 0,
            Some((_, reno)) if self.reno_friendly && window.cwnd <= reno => 1,
            Some((origin, _)) if window.cwnd < origin => 2,
            Some(_) => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh, with};

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

    /// Linux's bictcp_update: without a loss to remember, a twentieth in a round trip; after one, as the cubic has it.
    #[test]
    fn before_the_first_loss_it_may_grow_by_a_share() {
        let mut cubic: Cubic = with(&[("growth_before_loss", 0.05)]);
        let mut path = Path::new(1000.0);
        (0..5).for_each(|_| path.round(&mut cubic, 0.001));
        assert!((path.window.cwnd / (1000.0 * libm::pow(1.05, 5.0)) - 1.0).abs() < 0.002, "{}", path.window.cwnd);
        path.lose(&mut cubic);
        let before = path.window.cwnd;
        path.round(&mut cubic, 0.001);
        assert!(path.window.cwnd < before + 2.0, "{} {before}", path.window.cwnd);
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

    /// Linux's bictcp_update: whole packets, and Reno's window grows by eight fifteenths of one in a round trip, beyond the
    /// last loss, too, where that of §4.3 grows by one.
    #[test]
    fn linux_counts_in_whole_packets() {
        let after_forty_rounds = |whole| {
            let mut cubic: Cubic = with(&[("whole_packets", whole)]);
            let mut path = Path::new(10.0);
            path.lose(&mut cubic);
            (0..40).for_each(|_| path.round(&mut cubic, 0.04));
            path.window.cwnd
        };
        let (rfc, linux) = (after_forty_rounds(0.0), after_forty_rounds(1.0));
        assert_eq!(linux.fract(), 0.0);
        assert!((linux - (7.0 + 40.0 * 8.0 / 15.0)).abs() < 2.0, "{linux}");
        assert!(rfc > linux + 10.0, "{rfc} {linux}");
    }
}

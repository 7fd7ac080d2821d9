//! BIC (L. Xu, K. Harfoush, I. Rhee: Binary Increase Congestion Control for Fast Long-Distance Networks,
//! INFOCOM 2004): searches for the window of the last loss by bisection.
//!
//! The constants are those of the authors' Linux module, which differ from the paper's (§III and its Table 1): it keeps 0.8
//! of the window after a loss (the paper: 0.875), searches in quarters (halves), with 16 packets in a round trip at most
//! (32) and 0.2 at least (0.01). All are options. What is the module's whatever they are: near the window of the last loss
//! it takes steps of the least increment, where the paper continues bisecting.

use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// Before the first loss, the window grows by at least this share per round (module).
const SHARE_BEFORE_LOSS: f64 = 1.0 / 20.0;

/// BIC.
#[derive(Clone, Copy, Debug)]
pub struct Bic {
    low_window: f64,
    max_increment: f64,
    min_increment: f64,
    search: f64,
    beta: f64,
    fast_convergence: bool,
    /// The window of the last loss, lowered by fast convergence; zero before the first.
    top: f64,
}

impl Bic {
    /// Packets per round trip at a window of `cwnd`.
    fn increment(&self, cwnd: f64) -> f64 {
        if cwnd <= self.low_window {
            return 1.0;
        }
        let increment = if cwnd < self.top {
            let distance = (self.top - cwnd) / self.search;
            if distance <= 1.0 { self.min_increment } else { distance.min(self.max_increment) }
        } else if cwnd < self.top + self.search {
            self.min_increment
        } else {
            ((cwnd - self.top) / (self.search - 1.0)).min(self.max_increment)
        };
        if self.top == 0.0 { increment.max(cwnd * SHARE_BEFORE_LOSS) } else { increment }
    }
}

impl CongestionControl for Bic {
    const HELP: &'static str = "BIC: bisects its way back to the window of the last loss (Xu, Harfoush, Rhee 2004)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::packets("low_window", 14.0, "as Reno up to this window"),
        ControlOption::packets("max_increment", 16.0, "most packets per round trip; the paper has 32"),
        ControlOption::number("min_increment", 0.2, [1e-3, 1e3], "least packets per round trip; the paper has 0.01"),
        ControlOption::number(
            "search",
            4.0,
            [1.1, 100.0],
            "part of the way to the last loss per round trip; the paper has 2",
        ),
        ControlOption::number("beta", 0.8, [0.1, 0.99], "share of the window kept after a loss; the paper has 0.875"),
        ControlOption::switch("fast_convergence", true, "give way to new flows"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [low_window, max_increment, min_increment, search, beta, fast_convergence] = options.values();
        let fast_convergence = fast_convergence > 0.5;
        Self { low_window, max_increment, min_increment, search, beta, fast_convergence, top: 0.0 }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.open(self.increment(window.cwnd), ack.acked);
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.top = loss.top(self.top, self.beta, self.fast_convergence);
        loss.in_use * if loss.in_use <= self.low_window { 0.5 } else { self.beta }
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
    use crate::congestion::tests::{Path, fresh, with};

    #[test]
    fn it_climbs_searches_and_probes() {
        let mut bic: Bic = fresh();
        let mut path = Path::new(1000.0);
        path.lose(&mut bic);
        assert_eq!(path.window.cwnd, 800.0);
        let mut grown = |rounds: u32| {
            let before = path.window.cwnd;
            (0..rounds).for_each(|_| path.round(&mut bic, 0.1));
            path.window.cwnd - before
        };
        // Additive, as long as a quarter of the distance is more than that.
        assert!((grown(8) - 8.0 * 16.0).abs() < 2.0);
        // Then a quarter of the distance each round, 20 rounds for the last packets, and as many beyond.
        let searched = grown(40);
        assert!((70.0..76.0).contains(&searched), "{searched}");
        assert!(grown(40) > 30.0);
    }

    /// The paper's constants: 32 packets in a round trip, then half of the distance, then a hundredth of a packet.
    #[test]
    fn it_may_have_the_constants_of_the_paper() {
        let paper = [("beta", 0.875), ("search", 2.0), ("max_increment", 32.0), ("min_increment", 0.01)];
        let mut bic: Bic = with(&paper);
        let mut path = Path::new(1000.0);
        path.lose(&mut bic);
        assert_eq!(path.window.cwnd, 875.0);
        assert_eq!([900.0, 960.0, 998.5, 1001.0].map(|cwnd| bic.increment(cwnd)), [32.0, 20.0, 0.01, 0.01]);
    }

    #[test]
    fn small_windows_are_renos() {
        let mut bic: Bic = fresh();
        let mut path = Path::new(10.0);
        path.round(&mut bic, 0.1);
        assert!((path.window.cwnd - 11.0).abs() < 0.1, "{}", path.window.cwnd);
        path.window.cwnd = 12.0;
        path.lose(&mut bic);
        assert_eq!(path.window.cwnd, 6.0);
    }
}

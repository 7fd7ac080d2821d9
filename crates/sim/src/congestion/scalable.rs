//! Scalable TCP (T. Kelly: Scalable TCP: Improving Performance in Highspeed Wide Area Networks, CCR 33(2),
//! 2003): grows by a share of the window, so that recovery takes the same number of rounds at any window.

use super::{Ack, CongestionControl, ControlOption, Loss, Options, Whole, Window};

/// Scalable TCP.
#[derive(Clone, Copy, Debug)]
pub struct Scalable {
    a: f64,
    b: f64,
    low_window: f64,
}

impl CongestionControl for Scalable {
    const HELP: &'static str = "Scalable TCP: a hundredth of a packet per ACK, an eighth less per loss (Kelly 2003)";
    const WHOLE: Whole = Whole::Up;
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("a", 0.01, [1e-5, 1.0], "packets per packet acknowledged (§2)"),
        ControlOption::number("b", 0.125, [0.01, 0.9], "share given up after a loss (§2)"),
        ControlOption::packets("low_window", 16.0, "as Reno up to this window: the legacy window (§3)"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [a, b, low_window] = options.values();
        Self { a, b, low_window }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        } else if window.cwnd <= self.low_window {
            window.grow(1.0, ack.acked);
        } else {
            window.cwnd += self.a * ack.acked;
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        let b = if loss.in_use <= self.low_window { 0.5 } else { self.b };
        loss.in_use * (1.0 - b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    /// Recovery takes log(1/(1 − b)) / log(1 + a) rounds, 13.4, whatever the window.
    #[test]
    fn recovery_takes_the_same_number_of_rounds_at_any_window() {
        for top in [1000.0, 20_000.0] {
            let mut control: Scalable = fresh();
            let mut path = Path::new(top);
            path.lose(&mut control);
            (0..13).for_each(|_| path.round(&mut control, 0.1));
            assert!(path.window.cwnd < top);
            path.round(&mut control, 0.1);
            assert!(path.window.cwnd >= top * 0.9999, "{}", path.window.cwnd);
        }
    }
}

//! HighSpeed TCP (RFC 3649): increase and decrease depend on the window, so that the response function is
//! 0.12 / p^0.835 at small loss rates.
//!
//! The increase is computed by the equations of §5 and §7, not looked up in the table of appendix B, which rounds it.

use super::{Ack, CongestionControl, ControlOption, Loss, Options, Whole, Window};

/// Standard TCP has a window of this over √p (§5); it gives Low_P, 10⁻³ for 38 packets.
const STANDARD: f64 = 1.2;

/// HighSpeed TCP.
#[derive(Clone, Copy, Debug)]
pub struct HighSpeed {
    low_window: f64,
    high_window: f64,
    high_loss: f64,
    high_decrease: f64,
    /// The whole window for which `increase` was computed last: logarithms are dear.
    computed_for: f64,
    increase: f64,
}

impl HighSpeed {
    /// §7: b(w), the share of the window given up.
    fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        let place = libm::log(w / self.low_window) / libm::log(self.high_window / self.low_window);
        0.5 + (self.high_decrease - 0.5) * place.min(1.0)
    }

    /// §7: a(w) = w² p(w) 2 b(w) / (2 − b(w)), packets per round trip, where p(w) is a straight line in logarithms.
    fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let w = w.min(self.high_window);
        let low_loss = (STANDARD / self.low_window) * (STANDARD / self.low_window);
        let slope = libm::log(self.high_loss / low_loss) / libm::log(self.high_window / self.low_window);
        let loss = low_loss * libm::pow(w / self.low_window, slope);
        let decrease = self.decrease(w);
        (w * w * loss * 2.0 * decrease / (2.0 - decrease)).max(1.0)
    }
}

impl CongestionControl for HighSpeed {
    const HELP: &'static str = "HighSpeed TCP: larger windows grow faster and give up less (RFC 3649)";
    const WHOLE: Whole = Whole::Up;
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::packets("low_window", 38.0, "as Reno up to this window: Low_Window (§5)"),
        ControlOption::packets("high_window", 83_000.0, "end of the response function: High_Window (§5)"),
        ControlOption::number("high_p", 1e-7, [1e-12, 1e-3], "loss rate at the high window: High_P (§5)"),
        ControlOption::number("high_decrease", 0.1, [0.01, 0.5], "share given up there: High_Decrease (§7)"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [low_window, high_window, high_loss, high_decrease] = options.values();
        // An end below the beginning leaves nothing but Reno and a jump.
        let high_window = high_window.max(low_window + 1.0);
        Self { low_window, high_window, high_loss, high_decrease, computed_for: 0.0, increase: 1.0 }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            window.slow_start(ack.acked);
            return;
        }
        let whole = window.cwnd.trunc();
        if whole != self.computed_for {
            self.computed_for = whole;
            self.increase = self.increase(whole);
        }
        window.grow(self.increase, ack.acked);
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        loss.in_use * (1.0 - self.decrease(loss.in_use))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::fresh;

    /// RFC 3649, appendix B: the windows from which on the increase is so many packets, and the decrease there.
    #[test]
    fn it_agrees_with_the_table_of_the_rfc() {
        let control: HighSpeed = fresh();
        for (window, increase, decrease) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (495.0, 5.0, 0.37),
            (1058.0, 8.0, 0.33),
            (9991.0, 29.0, 0.21),
            (83981.0, 71.0, 0.10),
        ] {
            // §7 has p(w) = 0.078 / w^1.2, two digits.
            let computed = control.increase(window);
            assert!((computed / increase - 1.0).abs() < 0.04, "a({window}) = {computed}");
            assert!((control.decrease(window) - decrease).abs() < 0.006, "b({window})");
        }
    }
}

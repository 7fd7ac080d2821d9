//! Illinois (S. Liu, T. Başar, R. Srikant: TCP-Illinois: A loss- and delay-based congestion control algorithm for
//! high-speed networks, Performance Evaluation 65, 2008): increase and decrease follow the queueing delay.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Whole, Window};

/// Shares of the largest queueing delay: below the first the increase is largest; below the second the decrease
/// is smallest, above the third largest (§3, η₁ to η₃).
const ETA: [f64; 3] = [0.01, 0.1, 0.8];
/// Rounds of low delay in a row before the increase jumps back to the largest (§3, θ).
const THETA: u32 = 5;
/// Below this window it is Reno (§3, W_thresh, in packets).
const SMALLEST_WINDOW: f64 = 15.0;

/// Illinois.
#[derive(Clone, Copy, Debug)]
pub struct Illinois {
    alpha_range: [f64; 2],
    beta_range: [f64; 2],
    rounds: Rounds,
    alpha: f64,
    beta: f64,
    /// The delay was above the first share since the increase was largest.
    was_high: bool,
    low_rounds: u32,
}

impl Illinois {
    /// §3: α and β from the mean delay of the round that ended.
    fn adapt(&mut self, window: &Window) {
        let Some(mean_s) = self.rounds.mean_s() else { return };
        if window.cwnd < SMALLEST_WINDOW {
            (self.alpha, self.beta) = (1.0, self.beta_range[1]);
            return;
        }
        let delay_s = mean_s - self.rounds.base_s;
        let largest_s = self.rounds.max_s - self.rounds.base_s;
        let [first_s, second_s, third_s] = ETA.map(|eta| eta * largest_s);
        self.adapt_alpha(delay_s - first_s, largest_s - first_s);
        let [least, most] = self.beta_range;
        self.beta = if delay_s <= second_s {
            least
        } else if delay_s >= third_s {
            most
        } else {
            least + (most - least) * (delay_s - second_s) / (third_s - second_s)
        };
    }

    /// `above_s` of at most `most_s`, counted from the first share.
    fn adapt_alpha(&mut self, above_s: f64, most_s: f64) {
        let [least, most] = self.alpha_range;
        if above_s > 0.0 {
            self.was_high = true;
            self.low_rounds = 0;
            // κ₁ / (κ₂ + d): largest at the first share, least at the largest delay.
            self.alpha = most_s * most / (most_s + above_s * (most - least) / least);
        } else if self.was_high {
            self.low_rounds += 1;
            if self.low_rounds >= THETA {
                self.was_high = false;
                self.low_rounds = 0;
                self.alpha = most;
            }
        } else {
            self.alpha = most;
        }
    }
}

impl CongestionControl for Illinois {
    const HELP: &'static str = "Illinois: increase and decrease follow the queueing delay (Liu, Başar, Srikant 2008)";
    const WHOLE: Whole = Whole::Up;
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("alpha_min", 0.3, [0.01, 1.0], "least packets per round trip (§3)"),
        ControlOption::number("alpha_max", 10.0, [1.0, 1000.0], "most packets per round trip (§3)"),
        ControlOption::number("beta_min", 0.125, [0.01, 0.5], "smallest share given up after a loss (§3)"),
        ControlOption::number("beta_max", 0.5, [0.5, 0.9], "largest share given up after a loss (§3)"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [alpha_min, alpha_max, beta_min, beta_max] = options.values();
        Self {
            alpha_range: [alpha_min, alpha_max],
            beta_range: [beta_min, beta_max],
            rounds: Rounds::default(),
            alpha: 1.0,
            beta: beta_max,
            was_high: false,
            low_rounds: 0,
        }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.rounds.is_over(ack) {
            self.adapt(window);
            self.rounds.begin(ack);
        }
        window.open(self.alpha, ack.acked);
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        loss.in_use * (1.0 - self.beta)
    }

    fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
        (self.alpha, self.beta) = (1.0, self.beta_range[1]);
        (self.was_high, self.low_rounds) = (false, 0);
        loss.in_use * (1.0 - self.beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    #[test]
    fn increase_and_decrease_follow_the_delay() {
        for (rtt_s, alpha, beta) in [(0.1005, 10.0, 0.125), (0.2, 0.3, 0.5), (0.145, 0.6, 0.3125)] {
            let mut control: Illinois = fresh();
            let mut path = Path::new(100.0);
            path.round(&mut control, 0.1);
            path.round(&mut control, 0.2);
            (0..8).for_each(|_| path.round(&mut control, rtt_s));
            assert!((control.alpha / alpha - 1.0).abs() < 0.1, "{rtt_s}: {}", control.alpha);
            assert!((control.beta - beta).abs() < 0.01, "{rtt_s}: {}", control.beta);
        }
    }
}

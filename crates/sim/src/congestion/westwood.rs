//! Westwood+ (L. Grieco, S. Mascolo: Performance evaluation and comparison of Westwood+, New Reno, and Vegas
//! TCP congestion control, CCR 34(2), 2004): after a loss, the window that the measured bandwidth fills
//! without a queue.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, Loss, Options, Window};
use crate::time::Time;

/// Weight of the estimate before, against that of a new sample (§2.2).
const MEMORY: f64 = 7.0 / 8.0;
/// A sample spans a round trip, and no less than this (§2.2).
const SHORTEST_S: f64 = 0.05;

/// Westwood+.
#[derive(Clone, Copy, Debug)]
pub struct Westwood {
    rounds: Rounds,
    round_start: Time,
    delivered: f64,
    /// Packets per second; zero before the first sample.
    bandwidth: f64,
}

impl Westwood {
    fn threshold(&self, loss: &Loss) -> f64 {
        if self.bandwidth > 0.0 { self.bandwidth * self.rounds.base_s } else { loss.in_use / 2.0 }
    }
}

impl CongestionControl for Westwood {
    const HELP: &'static str = "Westwood+: after a loss, what the measured bandwidth fills (Grieco, Mascolo 2004)";

    fn new(_options: &Options<'_>) -> Self {
        Self { rounds: Rounds::default(), round_start: Time::ZERO, delivered: 0.0, bandwidth: 0.0 }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
        if self.round_start == Time::ZERO {
            self.round_start = ack.now;
            return;
        }
        self.delivered += ack.delivered;
        let round_s = ack.now.since(self.round_start);
        if round_s >= ack.rtt_s.max(SHORTEST_S) {
            let sample = self.delivered / round_s;
            let memory = if self.bandwidth > 0.0 { MEMORY } else { 0.0 };
            self.bandwidth = memory * self.bandwidth + (1.0 - memory) * sample;
            self.delivered = 0.0;
            self.round_start = ack.now;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.open(1.0, ack.acked);
    }

    fn on_loss(&mut self, window: &Window, loss: &Loss) -> f64 {
        // §2.1 sets cwnd to the threshold where that is lower, and so never grows by a loss.
        self.threshold(loss).min(window.cwnd)
    }

    fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.threshold(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    #[test]
    fn a_loss_leaves_what_fills_the_path_without_its_queue() {
        let mut control: Westwood = fresh();
        let mut path = Path::new(100.0);
        path.round(&mut control, 0.1);
        // From now on a third of the window waits: the bandwidth stays at 1000 packets/s.
        path.window.cwnd = 150.0;
        (0..40).for_each(|_| {
            path.window.cwnd = 150.0;
            path.round(&mut control, 0.15);
        });
        path.lose(&mut control);
        assert!((path.window.cwnd - 100.0).abs() < 3.0, "{}", path.window.cwnd);
    }
}

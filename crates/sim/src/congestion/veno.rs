//! Veno (C. P. Fu, S. C. Liew: TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks, JSAC
//! 21(2), 2003): Reno that asks Vegas' estimate of the queue whether a loss means congestion.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// Share kept after a loss that is taken for random (§II.B).
const KEPT_AFTER_RANDOM: f64 = 4.0 / 5.0;

/// Veno.
#[derive(Clone, Copy, Debug)]
pub struct Veno {
    beta: f64,
    rounds: Rounds,
    /// N: packets of this connection in queues, by the last round.
    backlog: f64,
}

impl CongestionControl for Veno {
    const HELP: &'static str = "Veno: Reno that gives up a fifth when the queue is short (Fu, Liew 2003)";
    const OPTIONS: &'static [ControlOption] =
        &[ControlOption::packets("beta", 3.0, "packets in queues that mean congestion (§II.B)")];

    fn new(options: &Options<'_>) -> Self {
        let [beta] = options.values();
        Self { beta, rounds: Rounds::default(), backlog: 0.0 }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.rounds.is_over(ack) {
            self.backlog = self.rounds.backlog(window.cwnd);
            self.rounds.begin(ack);
        }
        // §II.C: with the path full, one packet every other round.
        window.open(if self.backlog < self.beta { 1.0 } else { 0.5 }, ack.acked);
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        loss.in_use * if self.backlog < self.beta { KEPT_AFTER_RANDOM } else { 0.5 }
    }

    fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
        loss.in_use / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    #[test]
    fn a_short_queue_makes_a_loss_random() {
        for (rtt_s, growth, kept) in [(0.101, 1.0, 0.8), (0.12, 0.5, 0.5)] {
            let mut control: Veno = fresh();
            let mut path = Path::new(50.0);
            path.round(&mut control, 0.1);
            path.round(&mut control, rtt_s);
            path.round(&mut control, rtt_s);
            let before = path.window.cwnd;
            path.round(&mut control, rtt_s);
            let grown = path.window.cwnd - before;
            assert!((grown - growth).abs() < 0.05, "{grown}");
            let before = path.window.cwnd;
            path.lose(&mut control);
            assert!((path.window.cwnd / before - kept).abs() < 1e-9);
        }
    }
}

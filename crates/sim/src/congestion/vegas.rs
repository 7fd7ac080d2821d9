//! Vegas (L. Brakmo, L. Peterson: TCP Vegas: End to End Congestion Avoidance on a Global Internet, JSAC 13(8),
//! 1995): keeps a few packets in the queue of the path.
//!
//! Of the paper's three parts it has congestion avoidance and the careful slow start; how losses are found is
//! `tcp.recovery`'s matter, and a loss halves the window (the paper: three quarters when its finer timers find it). After a
//! timeout it is Reno until all is acknowledged that was sent before, as in Linux (tcp_vegas_state): of what is sent anew
//! then, rounds are as long as what was lost, and slow start in every other of them would take seconds.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window, reno};

/// Rounds with no more samples than this say little about the delay: they grow as Reno does. Delayed ACKs may be
/// all that they measured.
const FEWEST_SAMPLES: u32 = 2;
/// The window never shrinks below this for a long delay.
const SMALLEST: f64 = 2.0;

/// Vegas.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    every_other_round: bool,
    rounds: Rounds,
    /// This round of slow start grows.
    grows: bool,
    /// A timeout came, and no ACK since.
    timed_out: bool,
    /// The last packet that was sent before a timeout.
    recover: i32,
}

impl CongestionControl for Vegas {
    const HELP: &'static str = "Vegas: keeps a few packets in the queue of the path (Brakmo, Peterson 1995)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::packets("alpha", 2.0, "grow with fewer packets in queues"),
        ControlOption::packets("beta", 4.0, "shrink with more packets in queues"),
        ControlOption::packets("gamma", 1.0, "end slow start with more packets in queues"),
        ControlOption::switch("slow_start_every_other_round", true, "double every other round, as the paper does"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [alpha, beta, gamma, every_other_round] = options.values();
        let every_other_round = every_other_round > 0.5;
        let (rounds, beta) = (Rounds::default(), beta.max(alpha));
        Self { alpha, beta, gamma, every_other_round, rounds, grows: true, timed_out: false, recover: 0 }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
    }

    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.timed_out = true;
        self.on_loss(window, loss)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if std::mem::take(&mut self.timed_out) {
            self.recover = ack.highest;
        }
        if ack.through < self.recover {
            self.rounds.begin(ack);
            return reno::grow(window, ack);
        }
        if self.rounds.is_over(ack) {
            let known = self.rounds.samples > FEWEST_SAMPLES;
            let backlog = self.rounds.backlog(window.cwnd);
            self.rounds.begin(ack);
            self.grows = !(self.every_other_round && self.grows);
            if window.in_slow_start() {
                if known && backlog > self.gamma {
                    // What the path carries without a queue, and one packet.
                    window.cwnd = (window.cwnd - backlog + 1.0).min(window.cwnd).max(SMALLEST);
                    window.ssthresh = window.cwnd;
                }
            } else if !known || backlog < self.alpha {
                window.cwnd += 1.0;
            } else if backlog > self.beta {
                window.cwnd = (window.cwnd - 1.0).max(SMALLEST);
                // Or it would be slow start again.
                window.ssthresh = window.ssthresh.min(window.cwnd);
            }
        }
        if window.in_slow_start() && self.grows {
            window.slow_start(ack.acked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, ack, fresh, loss};

    /// 64 packets are lost: slow start is as fast as Reno's while they are retransmitted.
    #[test]
    fn it_is_reno_until_what_was_lost_is_there() {
        let mut control: Vegas = fresh();
        let mut window = Window { cwnd: 64.0, ssthresh: 64.0 };
        window.ssthresh = control.on_timeout(&window, &loss(64.0));
        window.cwnd = 1.0;
        for through in 1..=31 {
            control.on_ack(&mut window, &Ack { through, highest: 64, ..ack(0.1) });
        }
        assert_eq!(window.cwnd, 32.0);
        control.on_ack(&mut window, &Ack { through: 64, highest: 64, ..ack(0.1) });
        control.on_ack(&mut window, &Ack { through: 65, highest: 80, ..ack(0.1) });
        assert!(window.cwnd < 35.0, "{window:?}");
    }

    /// On a path of 100 packets every packet above is in the queue: alpha to beta of them stay.
    #[test]
    fn the_backlog_stays_between_alpha_and_beta() {
        for start in [60.0, 180.0] {
            let mut control: Vegas = fresh();
            let mut path = Path::new(start);
            path.round(&mut control, 0.1);
            for _ in 0..200 {
                let rtt_s = 0.1 * (path.window.cwnd / 100.0).max(1.0);
                path.round(&mut control, rtt_s);
            }
            assert!((101.9..=104.1).contains(&path.window.cwnd), "{start}: {}", path.window.cwnd);
        }
    }
}

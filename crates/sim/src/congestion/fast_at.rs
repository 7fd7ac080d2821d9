//! FAST-AT: FAST that tunes its alpha to the throughput that it gets, as the experiments of NIST SP 500-282 name
//! it. No source that we could read says how: three values with hysteresis are what implementations of FAST had,
//! and values and thresholds are options. The throughput is what was acknowledged since the last update of the window, and an
//! update moves by one level.

use super::fast::{Fast, GAMMA, MI_THRESHOLD};
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::time::Time;

/// FAST with a tuned alpha.
#[derive(Clone, Copy, Debug)]
pub struct FastAt {
    fast: Fast,
    alphas: [f64; 3],
    /// Packets per second above which alpha moves up from each of the lower two, and below which back.
    up: [f64; 2],
    down: [f64; 2],
    level: usize,
    /// Packets acknowledged since then.
    acked: f64,
    since: Time,
}

impl FastAt {
    fn tune(&mut self, now: Time) {
        let past_s = now.since(self.since);
        if past_s <= 0.0 {
            return;
        }
        let throughput = self.acked / past_s;
        (self.acked, self.since) = (0.0, now);
        if self.level < 2 && throughput > self.up[self.level] {
            self.level += 1;
        } else if self.level > 0 && throughput < self.down[self.level - 1] {
            self.level -= 1;
        }
        self.fast.alpha = self.alphas[self.level];
    }
}

impl CongestionControl for FastAt {
    const HELP: &'static str = "FAST with alpha tuned to the throughput: 8, 20 or 200 packets";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::packets("alpha_low", 8.0, "packets kept in queues on slow paths"),
        ControlOption::packets("alpha_middle", 20.0, "packets kept in queues on paths of middle speed"),
        ControlOption::packets("alpha_high", 200.0, "packets kept in queues on fast paths"),
        ControlOption::number("middle_above", 1500.0, [1.0, 1e9], "packets/s above which a path is of middle speed"),
        ControlOption::number("low_below", 1250.0, [1.0, 1e9], "packets/s below which it is slow again"),
        ControlOption::number("high_above", 15_000.0, [1.0, 1e9], "packets/s above which a path is fast"),
        ControlOption::number(
            "middle_below",
            12_500.0,
            [1.0, 1e9],
            "packets/s below which it is of middle speed again",
        ),
        GAMMA,
        MI_THRESHOLD,
    ];

    fn new(options: &Options<'_>) -> Self {
        let [low, middle, high, middle_above, low_below, high_above, middle_below, gamma, mi_threshold_s] =
            options.values();
        Self {
            fast: Fast::with(low, gamma, mi_threshold_s),
            alphas: [low, middle, high],
            up: [middle_above, high_above.max(middle_above)],
            down: [low_below.min(middle_above), middle_below.min(high_above)],
            level: 0,
            acked: 0.0,
            since: Time::ZERO,
        }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.fast.measure(ack);
        self.acked += ack.delivered;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.fast.is_due(ack) {
            self.tune(ack.now);
        }
        self.fast.on_ack(window, ack);
    }

    fn on_loss(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.fast.on_loss(window, loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    /// On paths of so many packets in 0.1 s, whose queue holds the rest.
    #[test]
    fn alpha_follows_the_throughput() {
        for (pipe, alpha) in [(100.0, 8.0), (1000.0, 20.0), (4000.0, 200.0)] {
            let mut control: FastAt = fresh();
            let mut path = Path::new(50.0);
            path.round(&mut control, 0.1);
            // From eight packets per update to the next level takes its time.
            for _ in 0..3000 {
                let rtt_s = 0.1 * (path.window.cwnd / pipe).max(1.0);
                path.round(&mut control, rtt_s);
            }
            let queued = path.window.cwnd - pipe;
            assert!((queued / alpha - 1.0).abs() < 0.05, "{pipe}: {queued}");
        }
    }

    /// One level in an update, by what was acknowledged between two, whatever the window was in between.
    #[test]
    fn alpha_moves_by_one_level_at_a_time() {
        let mut control: FastAt = fresh();
        let mut tune = |packets: f64, now_s: f64| {
            control.acked = packets;
            control.tune(Time::new(now_s));
            control.fast.alpha
        };
        assert_eq!([(4000.0, 0.2), (4000.0, 0.4)].map(|(packets, now_s)| tune(packets, now_s)), [20.0, 200.0]);
        assert_eq!([(100.0, 0.6), (100.0, 0.8)].map(|(packets, now_s)| tune(packets, now_s)), [20.0, 8.0]);
    }
}

//! CUBIC as Linux computes it (`bictcp_update`, by its names): in whole packets and ticks of its clock, and with a window of the
//! curve that is rounded toward the plateau. As Reno it grows at the rate below W_max always, which RFC 9438 §4.3 leaves there.

use crate::congestion::Window;
use crate::congestion::counted::Counted;
use crate::time::{Time, ticks};

/// Ticks of a second: HZ, as most kernels are built.
const HZ: u64 = 250;
/// Units of the steepness and of shares of a window (BICTCP_BETA_SCALE), and of a second on the curve (2^BICTCP_HZ).
const SCALE: f64 = 1024.0;
const SECOND: u64 = 1024;
/// The rate is found anew when the window has grown, else after so many ticks.
const RECENT: u64 = HZ / 32;

/// The state of bictcp_update, in packets and ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linux {
    /// Steepness: cube_rtt_scale.
    steepness: u64,
    /// Eighths of a window that are acknowledged when Reno's grows by one: beta_scale.
    reno_eighths: u64,
    /// For how many acknowledged packets the window grows by one: cnt.
    every: u64,
    counted: Counted,
    /// The window and the tick for which `every` was found: last_cwnd, last_time.
    found_for: u64,
    found_at: u64,
    pub(super) epoch: Option<Epoch>,
}

/// Since congestion avoidance began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    start: u64,
    /// Where the plateau is, and when the window gets there: bic_origin_point, bic_K.
    pub(super) origin: u64,
    k: u64,
    /// The window that Reno would have, and what was acknowledged since it grew: tcp_cwnd, ack_cnt.
    pub(super) reno: u64,
    since: u64,
}

/// What else decides.
pub(super) struct Growth {
    /// W_max: last_max_cwnd; zero when there was no loss, or a timeout.
    pub top: u64,
    /// Least growth in a round trip before the first loss, as a share of the window.
    pub before_loss: f64,
    pub reno_friendly: bool,
    /// The round trip by which it looks ahead, in seconds.
    pub ahead_s: f64,
}

/// A share of a window, in the units in which Linux has it.
pub(super) fn share(of: f64) -> f64 {
    (of * SCALE).round() / SCALE
}

/// tcp_jiffies32.
fn jiffies(now: Time) -> u64 {
    ticks(now.seconds(), HZ as f64) as u64
}

impl Linux {
    pub(super) fn new(c: f64, beta: f64) -> Self {
        let kept = share(beta) * SCALE;
        Self {
            // 1024ths of RFC 9438's C, in tens.
            steepness: (c * SCALE / 10.0).round().max(1.0) as u64 * 10,
            reno_eighths: ((8.0 * (SCALE + kept) / 3.0).floor() / (SCALE - kept)) as u64,
            every: 0,
            counted: Counted::default(),
            found_for: 0,
            found_at: 0,
            epoch: None,
        }
    }

    /// Whether a round trip that is measured now counts: not within a second of a recovery (cubictcp_acked).
    pub(super) fn measures(&self, now: Time) -> bool {
        self.epoch.is_none_or(|epoch| jiffies(now) >= epoch.start + HZ)
    }

    /// In congestion avoidance packets were acknowledged.
    pub(super) fn grow(&mut self, window: &mut Window, acked: f64, now: Time, growth: &Growth) {
        self.update(window.cwnd as u64, acked as u64, jiffies(now), growth);
        self.counted.grow(window, acked, self.every);
    }

    /// bictcp_update.
    fn update(&mut self, cwnd: u64, acked: u64, now: u64, growth: &Growth) {
        if let Some(epoch) = &mut self.epoch {
            epoch.since += acked;
        }
        if self.found_for == cwnd && now <= self.found_at + RECENT {
            return;
        }
        // At most once in a tick.
        let again = self.epoch.is_some() && now == self.found_at;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(growth.top, cwnd, acked, now));
        if !again {
            (self.found_for, self.found_at) = (cwnd, now);
            let target = self.target(&epoch, now, growth.ahead_s);
            self.every = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
            if growth.top == 0 && growth.before_loss > 0.0 {
                self.every = self.every.min((1.0 / growth.before_loss) as u64);
            }
        }
        if growth.reno_friendly {
            let each = (cwnd * self.reno_eighths) >> 3;
            while epoch.since > each {
                epoch.since -= each;
                epoch.reno += 1;
            }
            if epoch.reno > cwnd {
                self.every = self.every.min(cwnd / (epoch.reno - cwnd));
            }
        }
        self.every = self.every.max(2);
        self.epoch = Some(epoch);
    }

    fn begin(&self, top: u64, cwnd: u64, acked: u64, now: u64) -> Epoch {
        let below = top.saturating_sub(cwnd);
        let k = libm::cbrt(((1u64 << 40) / self.steepness * below) as f64) as u64;
        Epoch { start: now, origin: top.max(cwnd), k, reno: cwnd, since: acked }
    }

    /// The window of the curve when what is sent now will be acknowledged.
    fn target(&self, epoch: &Epoch, now: u64, ahead_s: f64) -> u64 {
        // usecs_to_jiffies: a tick that has begun counts.
        let ahead = (ticks(ahead_s, 1e6) as u64 * HZ).div_ceil(1_000_000);
        let time = (now - epoch.start + ahead) * SECOND / HZ;
        let far = time.abs_diff(epoch.k);
        let offset = ((u128::from(self.steepness) * u128::from(far).pow(3)) >> 40) as u64;
        if time < epoch.k { epoch.origin.saturating_sub(offset) } else { epoch.origin + offset }
    }

    /// Nothing was in flight from `last` on: the curve waits (cubictcp_cwnd_event).
    pub(super) fn shift(&mut self, last: Time, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            let now = jiffies(now);
            epoch.start = (epoch.start + now - jiffies(last)).min(now);
        }
    }

    /// The window was reduced: cubictcp_recalc_ssthresh.
    pub(super) fn reduce(&mut self) {
        self.epoch = None;
        self.counted.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Growth = Growth { top: 100, before_loss: 0.05, reno_friendly: false, ahead_s: 0.04 };

    /// After a loss of 100 packets: the window for each ACK of one packet, `gap_s` apart.
    fn windows(growth: &Growth, gap_s: f64, count: u32) -> Vec<f64> {
        let mut linux = Linux::new(0.4, 0.7);
        let mut window = Window { cwnd: 70.0, ssthresh: 70.0 };
        let mut grow = |place| {
            linux.grow(&mut window, 1.0, Time::new(f64::from(place) * gap_s), growth);
            window.cwnd
        };
        (0..count).map(&mut grow).collect()
    }

    /// K = ∛(30 / 0.4004) = 4.215 s, and the last packet's worth of the curve, ∛(1 / 0.4004) = 1.357 s and what it looks ahead before
    /// it, is rounded to the plateau.
    #[test]
    fn the_plateau_begins_where_less_than_a_packet_is_missing() {
        let at = |time_s: f64| windows(&CURVE, 0.0005, (time_s / 0.0005) as u32).last().copied().unwrap();
        assert_eq!(at(2.7), 99.0);
        assert_eq!((at(2.9), at(5.5)), (100.0, 100.0));
        // A packet beyond it ∛(1 / 0.4004) s after K, and for a window of ACKs.
        assert_eq!(at(5.75), 101.0);
    }

    /// A round trip of 20.3 ms is six ticks of 4 ms, and one of 20 ms five: the window of the curve 24 ms ahead.
    #[test]
    fn it_looks_ahead_by_ticks_that_have_begun() {
        let linux = Linux::new(0.4, 0.7);
        let epoch = linux.begin(10_000, 7_000, 1, 0);
        let target = |ahead_s: f64| linux.target(&epoch, 0, ahead_s);
        let after = |ticks: u64| linux.target(&epoch, ticks, 0.0);
        assert_eq!((target(0.02), target(0.0203), target(0.024)), (after(5), after(6), after(6)));
        assert!(after(5) < after(6) && after(6) < after(7));
    }

    /// Of ACKs in one tick the first decides how fast the window grows, though the curve is reached by the first growth.
    #[test]
    fn the_rate_is_found_once_in_a_tick() {
        let largest = |gap_s: f64| windows(&CURVE, gap_s, 400).last().copied().unwrap();
        // The curve has 71 packets a round trip ahead, which is one for each 70 acknowledged, and 72 at the end of 40 ms.
        assert_eq!((largest(1e-6), largest(1e-4)), (75.0, 72.0));
    }

    /// Within a second of a recovery no round trip is taken for the smallest.
    #[test]
    fn round_trips_do_not_count_for_a_second() {
        let mut linux = Linux::new(0.4, 0.7);
        assert!(linux.measures(Time::ZERO));
        linux.grow(&mut Window { cwnd: 70.0, ssthresh: 70.0 }, 1.0, Time::new(1.0), &CURVE);
        assert_eq!([1.0, 1.99, 2.0].map(|at| linux.measures(Time::new(at))), [false, false, true]);
    }

    /// A silence moves the curve on.
    #[test]
    fn silence_does_not_count() {
        let mut linux = Linux::new(0.4, 0.7);
        let mut window = Window { cwnd: 70.0, ssthresh: 70.0 };
        linux.grow(&mut window, 1.0, Time::new(1.0), &CURVE);
        linux.shift(Time::new(1.1), Time::new(3.1));
        assert_eq!(linux.epoch.unwrap().start, 3 * HZ);
        linux.shift(Time::new(0.5), Time::new(3.2));
        assert_eq!(linux.epoch.unwrap().start, 3 * HZ + HZ / 5);
    }
}

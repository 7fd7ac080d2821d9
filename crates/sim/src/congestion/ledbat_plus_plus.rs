//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01, whose sections stand beside): LEDBAT whose growth is slower on short
//! paths, which gives up a share of its window instead of a constant, and which stands back now and then, so that what it
//! takes for the delay of an empty path is one.
//!
//! The delay is that of the round trip, as the draft wants it (§4.1), by LEDBAT's filters.

use super::ledbat::PathDelays;
use super::rounds::smooth;
use super::{Ack, CongestionControl, ControlOption, Options, Window};
use crate::time::Time;

/// The window grows by one packet in so many round trips at least (§4.2: GAIN = 1 / min(16, ⌈2 TARGET / base⌉)).
const SLOWEST: f64 = 16.0;
/// Initial slow start ends at this share of the target (§4.3).
const SLOW_START_SHARE: f64 = 0.75;
/// The window while it stands back, in packets (§4.4) ...
const LEAST_WINDOW: f64 = 2.0;
/// ... for so many round trips, and so many after initial slow start it first does.
const SLOWDOWN_ROUNDS: f64 = 2.0;
/// It works this many times as long as it stood back (§4.4: a tenth of the time at most).
const WORK_SHARE: f64 = 9.0;

/// What is done about the base delay.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowdown {
    /// In the first slow start.
    Initial,
    /// At work; the next slowdown begins then.
    Working { until: Time },
    /// Standing back since `from`, until `until`.
    Back { from: Time, until: Time },
    /// On the way to the window before, since `from`.
    Returning { from: Time },
}

/// LEDBAT++.
#[derive(Clone, Copy, Debug)]
pub struct LedbatPlusPlus {
    target_s: f64,
    constant: f64,
    delays: PathDelays,
    srtt_s: f64,
    slowdown: Slowdown,
}

impl LedbatPlusPlus {
    /// §4.2.
    fn gain(&self) -> f64 {
        let base_s = self.delays.base_s().max(1e-6);
        1.0 / (2.0 * self.target_s / base_s).ceil().clamp(1.0, SLOWEST)
    }

    /// §4.4: moves from work to standing back and returning. Whether the window is set thereby.
    fn stand_back(&mut self, window: &mut Window, now: Time) -> bool {
        match self.slowdown {
            Slowdown::Working { until } if now >= until => {
                window.ssthresh = window.cwnd;
                self.slowdown = Slowdown::Back { from: now, until: now + SLOWDOWN_ROUNDS * self.srtt_s };
            }
            Slowdown::Back { from, until } if now >= until => self.slowdown = Slowdown::Returning { from },
            Slowdown::Returning { from } if !window.in_slow_start() => {
                let until = now + WORK_SHARE * now.since(from);
                self.slowdown = Slowdown::Working { until };
            }
            _ => {}
        }
        let back = matches!(self.slowdown, Slowdown::Back { .. });
        if back {
            window.cwnd = LEAST_WINDOW;
        }
        back
    }
}

impl CongestionControl for LedbatPlusPlus {
    const HELP: &'static str =
        "LEDBAT++: background transfers that yield to a queue of 60 ms (draft-irtf-iccrg-ledbat-plus-plus)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::seconds("target", 0.06, "queueing delay that it aims at: TARGET (§4.2)"),
        ControlOption::number("constant", 1.0, [0.01, 100.0], "how fast it yields to a longer queue: Constant (§4.2)"),
    ];
    const PHASES: &'static [&'static str] = &["slow-start", "working", "standing-back", "returning"];

    fn new(options: &Options<'_>) -> Self {
        let [target_s, constant] = options.values();
        Self { target_s, constant, delays: PathDelays::new(), srtt_s: 0.0, slowdown: Slowdown::Initial }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.delays.take(ack);
        smooth(&mut self.srtt_s, ack.rtt_s);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.stand_back(window, ack.now) {
            return;
        }
        let (gain, queueing_s) = (self.gain(), self.delays.queueing_s());
        if window.in_slow_start() {
            // §4.3: by GAIN packets for each acknowledged; only the first one ends by the delay.
            let initial = self.slowdown == Slowdown::Initial;
            if !initial || queueing_s <= SLOW_START_SHARE * self.target_s {
                window.cwnd += gain * ack.acked.min(1.0);
                return;
            }
            window.ssthresh = window.cwnd;
        }
        if self.slowdown == Slowdown::Initial {
            self.slowdown = Slowdown::Working { until: ack.now + SLOWDOWN_ROUNDS * self.srtt_s };
        }
        // §4.2, per round trip: GAIN more below the target, and above it less by a share of the window, a half at most.
        let excess = queueing_s / self.target_s - 1.0;
        let change =
            if excess <= 0.0 { gain } else { (gain - self.constant * window.cwnd * excess).max(-window.cwnd / 2.0) };
        window.cwnd = (window.cwnd + change * ack.acked.min(window.cwnd) / window.cwnd).max(LEAST_WINDOW);
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }

    fn phase(&self, _window: &Window) -> usize {
        match self.slowdown {
            Slowdown::Initial => 0,
            Slowdown::Working { .. } => 1,
            Slowdown::Back { .. } => 2,
            Slowdown::Returning { .. } => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh, with};

    /// §4.2: a sixteenth of a packet per round trip on short paths, a packet on long ones.
    #[test]
    fn growth_is_slower_on_short_paths() {
        for (rtt_s, gain) in [(0.001, 1.0 / 16.0), (0.02, 1.0 / 6.0), (0.05, 1.0 / 3.0), (0.2, 1.0)] {
            let mut control: LedbatPlusPlus = fresh();
            control.slowdown = Slowdown::Working { until: Time::new(1e9) };
            let mut path = Path::new(100.0);
            (0..4).for_each(|_| path.round(&mut control, rtt_s));
            let grown = (path.window.cwnd - 100.0) / 4.0;
            assert!((grown / gain - 1.0).abs() < 0.03, "{rtt_s} s: {grown}");
        }
    }

    /// On a path of 100 packets in 0.1 s, the target of 60 ms is 60 more.
    #[test]
    fn it_keeps_the_queueing_delay_at_the_target() {
        let mut control: LedbatPlusPlus = with(&[("constant", 1.0)]);
        control.slowdown = Slowdown::Working { until: Time::new(1e9) };
        let mut path = Path::new(90.0);
        for _ in 0..500 {
            let rtt_s = 0.1 * (path.window.cwnd / 100.0).max(1.0);
            path.round(&mut control, rtt_s);
        }
        assert!((path.window.cwnd / 160.0 - 1.0).abs() < 0.02, "{}", path.window.cwnd);
    }

    /// §4.4: two packets for two round trips, then slow start back to the window before; a tenth of the time in all.
    #[test]
    fn it_stands_back_for_a_tenth_of_the_time() {
        let mut control: LedbatPlusPlus = fresh();
        control.slowdown = Slowdown::Working { until: Time::ZERO };
        let mut path = Path::new(64.0);
        let (mut back, mut rounds, mut least) = (0.0, 0.0, f64::INFINITY);
        while rounds < 500.0 {
            path.round(&mut control, 0.1);
            back += f64::from(u8::from(!matches!(control.slowdown, Slowdown::Working { .. })));
            rounds += 1.0;
            least = least.min(path.window.cwnd);
        }
        assert_eq!(least, 2.0);
        assert!((0.08..0.12).contains(&(back / rounds)), "{back} of {rounds}");
    }
}

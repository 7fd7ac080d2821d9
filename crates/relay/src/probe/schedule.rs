//! When datagrams are due: at an interval, in trains, in bursts, at given times, or always.

use serde::Deserialize;

use super::clock::from_seconds;

/// How the datagrams of a flow are spaced.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// One each interval.
    Constant {
        /// Between datagrams.
        interval_s: f64,
    },
    /// Trains of datagrams, which follow each other at once or with gaps; two make a pair.
    Trains {
        /// Datagrams of a train.
        packets: u32,
        /// Between the beginnings of trains.
        every_s: f64,
        /// Between the datagrams of a train.
        #[serde(default)]
        gap_s: f64,
    },
    /// At an interval for a while, then nothing for a while, again and again.
    OnOff {
        /// How long it sends.
        on_s: f64,
        /// How long it does not.
        off_s: f64,
        /// Between datagrams while it sends.
        interval_s: f64,
    },
    /// At given times after the start, in order.
    Times {
        /// The times.
        at_s: Vec<f64>,
    },
    /// As fast as the socket takes them.
    Saturate,
}

impl Pattern {
    /// What is wrong with it, if anything.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let fine = match self {
            Self::Constant { interval_s } => positive(*interval_s),
            Self::Trains { packets, every_s, gap_s } => {
                *packets > 0 && positive(*every_s) && *gap_s >= 0.0 && f64::from(*packets - 1) * gap_s <= *every_s
            }
            Self::OnOff { on_s, off_s, interval_s } => positive(*on_s) && *off_s >= 0.0 && positive(*interval_s),
            Self::Times { at_s } => at_s.iter().all(|time| *time >= 0.0 && time.is_finite()) && at_s.is_sorted(),
            Self::Saturate => true,
        };
        (!fine).then_some("expected times above zero, in order, and trains that end before the next one begins")
    }

    /// When datagram number `index` is due, in nanoseconds after the start; none after the last one. With
    /// [`Pattern::Saturate`] it is always due.
    fn due_ns(&self, index: u64) -> Option<i64> {
        let at = |seconds: f64| Some(from_seconds(seconds));
        match self {
            Self::Constant { interval_s } => at(index as f64 * interval_s),
            Self::Trains { packets, every_s, gap_s } => {
                let packets = u64::from(*packets);
                at((index / packets) as f64 * every_s + (index % packets) as f64 * gap_s)
            }
            Self::OnOff { on_s, off_s, interval_s } => {
                // What is due at the very end of a burst belongs to the silence.
                let burst = (on_s / interval_s * (1.0 - 1e-12)).ceil().max(1.0) as u64;
                at((index / burst) as f64 * (on_s + off_s) + (index % burst) as f64 * interval_s)
            }
            Self::Times { at_s } => at_s.get(usize::try_from(index).ok()?).copied().and_then(at),
            Self::Saturate => Some(0),
        }
    }
}

/// The times at which a flow's datagrams are due, one after the other.
#[derive(Clone, Debug)]
pub struct Schedule {
    pattern: Pattern,
    start_ns: i64,
    stop_ns: i64,
    index: u64,
}

impl Schedule {
    /// From `start_ns` until just before `stop_ns`.
    pub fn new(pattern: Pattern, start_ns: i64, stop_ns: i64) -> Self {
        Self { pattern, start_ns, stop_ns, index: 0 }
    }

    /// When the next one is due; none after the last one.
    pub fn due_ns(&self) -> Option<i64> {
        let due = self.start_ns.saturating_add(self.pattern.due_ns(self.index)?);
        (due < self.stop_ns).then_some(due)
    }

    /// Continues to the one after, at the time `now`.
    pub fn advance(&mut self, now: i64) {
        self.index += 1;
        if self.pattern == Pattern::Saturate {
            self.start_ns = self.start_ns.max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Schedule};

    fn times(pattern: Pattern, start: i64, stop: i64) -> Vec<i64> {
        let mut schedule = Schedule::new(pattern, start, stop);
        let mut found = Vec::new();
        while let Some(due) = schedule.due_ns() {
            found.push(due);
            schedule.advance(due + 7);
        }
        found
    }

    #[test]
    fn an_interval_does_not_add_up_its_rounding() {
        let found = times(Pattern::Constant { interval_s: 1e-9 / 3.0 * 1e6 }, 0, 1_000_000_000);
        assert_eq!(found.len(), 3000);
        assert_eq!(found[2999], 999_666_667);
    }

    #[test]
    fn trains_pairs_and_bursts_are_due_when_they_say() {
        let trains = Pattern::Trains { packets: 3, every_s: 1e-6, gap_s: 1e-7 };
        assert_eq!(times(trains, 5, 2000), [5, 105, 205, 1005, 1105, 1205]);
        let pairs = Pattern::Trains { packets: 2, every_s: 1e-6, gap_s: 0.0 };
        assert_eq!(times(pairs, 0, 1500), [0, 0, 1000, 1000]);
        let bursts = Pattern::OnOff { on_s: 3e-7, off_s: 7e-7, interval_s: 1e-7 };
        assert_eq!(times(bursts, 0, 1300), [0, 100, 200, 1000, 1100, 1200]);
        assert_eq!(times(Pattern::Times { at_s: vec![0.0, 3e-9, 3e-9] }, 1, 10), [1, 4, 4]);
    }

    #[test]
    fn what_is_always_due_ends_by_the_clock() {
        assert_eq!(times(Pattern::Saturate, 10, 30), [10, 17, 24]);
    }

    #[test]
    fn nonsense_is_refused() {
        let wrong = [
            Pattern::Constant { interval_s: 0.0 },
            Pattern::Constant { interval_s: f64::NAN },
            Pattern::Trains { packets: 0, every_s: 1.0, gap_s: 0.0 },
            Pattern::Trains { packets: 3, every_s: 1.0, gap_s: 0.6 },
            Pattern::OnOff { on_s: 1.0, off_s: -1.0, interval_s: 0.1 },
            Pattern::Times { at_s: vec![1.0, 0.5] },
        ];
        for pattern in wrong {
            assert!(pattern.problem().is_some(), "{pattern:?}");
        }
        assert_eq!(Pattern::Trains { packets: 2, every_s: 0.1, gap_s: 0.0 }.problem(), None);
    }
}

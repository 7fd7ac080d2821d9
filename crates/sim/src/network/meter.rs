//! The load as a device itself reports it: a low-priority process looks now and then how busy the
//! processor was since it last looked, and averages. Where the process starves, the reading falls.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::background::JobSpec;

/// How samples are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// The mean over the window; samples that were never taken count as nothing.
    Window,
    /// Decaying exponentially, as router operating systems document it; it moves when a sample is taken.
    Exponential,
}

/// A load meter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterSpec {
    /// What is averaged over, in seconds.
    pub window_s: f64,
    /// Processor time that each sample needs, in seconds.
    pub cpu_s: f64,
    /// From one sample to the next, in seconds.
    pub every_s: f64,
    /// How samples are averaged.
    pub average: Average,
}

impl MeterSpec {
    /// The process that takes the samples.
    #[must_use]
    pub fn job(&self) -> JobSpec {
        JobSpec { cpu_s: self.cpu_s, every_s: self.every_s }
    }
}

/// A load meter at work. Before the run the device was at rest.
#[derive(Clone, Debug)]
pub struct Meter {
    spec: MeterSpec,
    /// The load of a device at rest.
    rest: f64,
    /// Samples within the window, with the times at which they were taken.
    samples: VecDeque<(f64, f64)>,
    decayed: f64,
    last: (f64, f64),
}

impl Meter {
    /// A meter that has read `rest` for long.
    #[must_use]
    pub fn new(spec: MeterSpec, rest: f64) -> Self {
        Self { spec, rest, samples: VecDeque::new(), decayed: rest, last: (0.0, 0.0) }
    }

    /// Takes a sample at `now`, when the processor has been busy for `busy_s` seconds in all.
    pub fn sample(&mut self, now: f64, busy_s: f64) {
        let (before, busy_before_s) = self.last;
        if now <= before {
            return;
        }
        self.last = (now, busy_s);
        let sample = (busy_s - busy_before_s) / (now - before);
        match self.spec.average {
            Average::Exponential => {
                self.decayed += (sample - self.decayed) * (self.spec.every_s / self.spec.window_s).min(1.0);
            }
            Average::Window => {
                while self.samples.front().is_some_and(|&(taken, _)| taken <= now - self.spec.window_s) {
                    self.samples.pop_front();
                }
                self.samples.push_back((now, sample));
            }
        }
    }

    /// What the device reports at `now`.
    #[must_use]
    pub fn reading(&self, now: f64) -> f64 {
        let MeterSpec { window_s, every_s, average, .. } = self.spec;
        if average == Average::Exponential {
            return self.decayed;
        }
        let inside = self.samples.iter().filter(|(taken, _)| *taken > now - window_s);
        let sum: f64 = inside.map(|(_, sample)| sample * every_s).sum();
        (sum + self.rest * (window_s - now).max(0.0)) / window_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(average: Average) -> Meter {
        Meter::new(MeterSpec { window_s: 4.0, cpu_s: 0.0, every_s: 1.0, average }, 0.25)
    }

    #[test]
    fn a_window_forgets_and_misses_what_was_not_sampled() {
        let mut meter = meter(Average::Window);
        assert_eq!(meter.reading(0.0), 0.25);
        for second in 1..=4 {
            meter.sample(f64::from(second), f64::from(second));
        }
        assert_eq!(meter.reading(4.0), 1.0);
        // The process starves: the window slides over nothing.
        assert_eq!([5.0, 6.5, 8.0].map(|now| meter.reading(now)), [0.75, 0.5, 0.0]);
    }

    #[test]
    fn the_exponential_average_moves_towards_the_samples() {
        let mut meter = meter(Average::Exponential);
        meter.sample(1.0, 1.0);
        assert_eq!(meter.reading(1.0), 0.25 + 0.75 / 4.0);
        assert_eq!(meter.reading(100.0), meter.reading(1.0));
    }
}

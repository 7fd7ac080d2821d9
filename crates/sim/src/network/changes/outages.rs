//! When a link is down.

use crate::random::Stream;
use crate::scenario::{Duration, OutageTimes};

/// From when to when a link is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// In seconds.
    pub from_s: f64,
    /// In seconds.
    pub until_s: f64,
}

impl Outage {
    /// None, ever.
    pub const NEVER: Self = Self { from_s: f64::INFINITY, until_s: f64::INFINITY };
}

/// The outages of a link, looked at from the past to the future.
#[derive(Clone, Debug)]
pub struct Outages {
    times: OutageTimes,
    stream: Stream,
    outage: Outage,
    /// Of a schedule: how often it has begun anew, and which comes next.
    repeated: u64,
    place: usize,
}

impl Outages {
    /// Before the first.
    #[must_use]
    pub fn new(times: &OutageTimes, stream: Stream) -> Self {
        let outage = Outage { from_s: 0.0, until_s: 0.0 };
        Self { times: times.clone(), stream, outage, repeated: 0, place: 0 }
    }

    /// The outage at `at_s`, which does not fall from call to call, or the next one.
    pub fn next(&mut self, at_s: f64) -> Outage {
        while self.outage.until_s <= at_s {
            self.go_on();
        }
        self.outage
    }

    fn go_on(&mut self) {
        match &self.times {
            OutageTimes::Schedule { at_s, for_s, period_s } => {
                if self.place == at_s.len() {
                    (self.place, self.repeated) = (0, self.repeated + 1);
                    if period_s.is_none() {
                        self.outage = Outage::NEVER;
                        return;
                    }
                }
                let begun_s = period_s.unwrap_or(0.0) * self.repeated as f64;
                let from_s = begun_s + at_s[self.place];
                self.outage = Outage { from_s, until_s: begun_s + (at_s[self.place] + for_s[self.place]) };
                self.place += 1;
            }
            &OutageTimes::Random { up_s, down_s } => {
                let from_s = self.outage.until_s + self.stream.duration(Duration::Exponential { mean_s: up_s });
                let lasts_s = self.stream.duration(Duration::Exponential { mean_s: down_s });
                self.outage = Outage { from_s, until_s: from_s + lasts_s };
            }
        }
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outages(times: &OutageTimes) -> Outages {
        Outages::new(times, Stream::new(1, "wire", 0, "outages"))
    }

    #[test]
    fn a_schedule_ends_or_begins_anew() {
        let (at_s, for_s) = (vec![1.0, 3.0], vec![0.5, 0.25]);
        let found = |period_s| {
            let mut outages = outages(&OutageTimes::Schedule { at_s: at_s.clone(), for_s: for_s.clone(), period_s });
            [0.0, 1.25, 1.5, 3.25, 5.75].map(|at_s| outages.next(at_s)).map(|outage| (outage.from_s, outage.until_s))
        };
        let never = (f64::INFINITY, f64::INFINITY);
        assert_eq!(found(None), [(1.0, 1.5), (1.0, 1.5), (3.0, 3.25), never, never]);
        assert_eq!(found(Some(4.0)), [(1.0, 1.5), (1.0, 1.5), (3.0, 3.25), (5.0, 5.5), (7.0, 7.25)]);
    }

    /// The share of time down, with four standard errors of an alternating renewal process:
    /// its variance is 2 s₁² s₂² / (s₁ + s₂)³ / T.
    #[test]
    fn random_outages_last_as_long_as_they_should() {
        const LONG_S: f64 = 200_000.0;
        let (up_s, down_s) = (8.0, 2.0);
        let mut outages = outages(&OutageTimes::Random { up_s, down_s });
        let (mut at_s, mut down) = (0.0, 0.0);
        while at_s < LONG_S {
            let outage = outages.next(at_s);
            (at_s, down) = (outage.until_s, down + outage.until_s - outage.from_s);
        }
        let error = (2.0f64 * 64.0 * 4.0 / 1000.0 / LONG_S).sqrt();
        assert!((down / at_s - 0.2).abs() < 4.0 * error, "{}", down / at_s);
    }
}

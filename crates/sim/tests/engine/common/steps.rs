//! Schedules in steps, as a reader of a scenario would work them out: by all their pieces, one after another.

use proptest::prelude::*;
use tightlink_sim::scenario::{CourseSpec, LinkSpec, RateSpec, Scenario};

/// From when, until when, and what holds then.
type Piece = (f64, f64, f64);

/// The pieces of a schedule, far beyond the end of the run.
fn pieces(course: &CourseSpec, until_s: f64) -> Vec<Piece> {
    let CourseSpec::Schedule { at_s, values, linear: false, period_s } = course else { panic!("steps only") };
    let mut found = Vec::new();
    for round in 0.. {
        let begun_s = period_s.unwrap_or(0.0) * f64::from(round);
        for (place, &value) in values.iter().enumerate() {
            let until_s = match (at_s.get(place + 1), period_s) {
                (Some(next_s), _) => begun_s + next_s,
                (None, Some(period_s)) => period_s * f64::from(round + 1),
                (None, None) => f64::INFINITY,
            };
            found.push((begun_s + at_s[place], until_s, value));
        }
        if found.last().is_some_and(|piece| piece.1 > until_s) {
            break;
        }
    }
    found
}

/// What changes of a link.
#[derive(Debug, Default)]
pub struct Steps {
    rate: Option<Vec<Piece>>,
    delay: Option<Vec<Piece>>,
}

impl Steps {
    pub fn of(link: &LinkSpec, until_s: f64) -> Self {
        let pieces = |course: &CourseSpec| pieces(course, 10.0 * until_s);
        let rate = link.rate.as_ref().map(|rate| {
            let RateSpec::Course(course) = rate else { panic!("a course only") };
            pieces(course)
        });
        Self { rate, delay: link.delay.as_ref().map(pieces) }
    }

    /// Whether nothing changes.
    pub fn is_none(&self) -> bool {
        self.rate.is_none() && self.delay.is_none()
    }

    /// When a packet of so many bits has left whose transmission begins at `start_s`; of a constant rate it takes so long.
    pub fn departure_s(&self, start_s: f64, bits: f64, transmission_s: f64) -> f64 {
        let Some(pieces) = &self.rate else { return start_s + transmission_s };
        let (mut at_s, mut left) = (start_s, bits);
        for &(_, until_s, rate) in pieces {
            if until_s <= at_s {
                continue;
            }
            if left <= (until_s - at_s) * rate {
                return at_s + left / rate;
            }
            left -= (until_s - at_s) * rate;
            at_s = until_s;
        }
        f64::MAX
    }

    /// When a packet begins to be transmitted that is first in line at `at_s`: where the rate is zero, later.
    pub fn opens_s(&self, at_s: f64) -> f64 {
        let Some(pieces) = &self.rate else { return at_s };
        let open = pieces.iter().find(|&&(_, until_s, rate)| until_s > at_s && rate > 0.0);
        open.map_or(f64::INFINITY, |piece| piece.0.max(at_s))
    }

    /// The delay of what leaves at `at_s`; of a constant one it is this.
    pub fn delay_s(&self, at_s: f64, constant_s: f64) -> f64 {
        let Some(pieces) = &self.delay else { return constant_s };
        pieces.iter().find(|piece| piece.1 > at_s).map_or(0.0, |piece| piece.2)
    }

    /// Bits that could be sent until `end_s`; nothing of a constant rate.
    pub fn possible(&self, end_s: f64) -> Option<f64> {
        let within = |&(from_s, until_s, rate): &Piece| (until_s.min(end_s) - from_s).max(0.0) * rate;
        Some(self.rate.as_ref()?.iter().map(within).sum())
    }
}

/// The same networks, in which the rates and the delays of most links change in steps, seldom to nothing.
pub fn with_steps(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    let steps = prop::collection::vec((0.005..0.2f64, 0.1..3.0f64, 0u8..6), 1..5);
    let changes = (prop::option::weighted(0.7, steps.clone()), prop::option::weighted(0.6, steps), any::<bool>());
    (networks, prop::collection::vec(changes, 16)).prop_map(|(mut scenario, changes)| {
        for (link, (rate, delay, again)) in scenario.links.iter_mut().zip(changes) {
            let course = |steps: Vec<(f64, f64, u8)>, nominal: f64, least: f64| {
                let (mut at_s, mut sum_s) = (vec![0.0], 0.0);
                for (lasts_s, ..) in &steps {
                    sum_s += lasts_s;
                    at_s.push(sum_s);
                }
                // With a value at the end of the last step, or that as the period.
                let mut values: Vec<f64> = steps
                    .iter()
                    .map(|&(_, factor, kind)| if kind == 0 { least } else { (factor * nominal).max(least) })
                    .collect();
                values[0] = nominal.max(least);
                let period_s = if again { at_s.pop() } else { None };
                if period_s.is_none() {
                    values.push(nominal.max(least));
                }
                CourseSpec::Schedule { at_s, values, linear: false, period_s }
            };
            if link.rate_pps.is_none() {
                link.rate = rate.map(|steps| RateSpec::Course(course(steps, link.rate_bps, 0.0)));
            }
            // A link promises its smallest delay.
            link.delay =
                delay.filter(|_| link.delay_s > 0.0).map(|steps| course(steps, 2.0 * link.delay_s, link.delay_s));
        }
        scenario
    })
}

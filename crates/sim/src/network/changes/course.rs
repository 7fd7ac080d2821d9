//! The course of a rate or of a delay, piece by piece, as far as it is looked at.

use std::sync::Arc;

use crate::random::Stream;
use crate::scenario::{CourseSpec, Duration};

/// What holds from one instant to another: a value that grows straight.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from_s: f64,
    until_s: f64,
    /// At its beginning.
    value: f64,
    /// Per second.
    slope: f64,
}

impl Piece {
    fn at(&self, at_s: f64) -> f64 {
        self.value + self.slope * (at_s - self.from_s)
    }
}

/// A course, looked at from the past to the future. Equal ones have the same future, whoever looks at them.
#[derive(Clone, Debug)]
pub struct Course {
    spec: Arc<CourseSpec>,
    stream: Stream,
    piece: Piece,
    begun: bool,
    /// Of a schedule: how often it has begun anew, and which of its values holds. Of a process: its state.
    repeated: u64,
    place: usize,
    /// Of a process: where it would be without bounds.
    free: f64,
}

impl Course {
    /// A course before its beginning: nothing is drawn for a link that nobody uses.
    #[must_use]
    pub fn new(spec: &CourseSpec, stream: Stream) -> Self {
        let piece = Piece { from_s: 0.0, until_s: 0.0, value: 0.0, slope: 0.0 };
        Self { spec: Arc::new(spec.clone()), stream, piece, begun: false, repeated: 0, place: 0, free: 0.0 }
    }

    /// The first piece.
    fn begin(&mut self) -> Piece {
        let first = |until_s, value| Piece { from_s: 0.0, until_s, value, slope: 0.0 };
        let spec = Arc::clone(&self.spec);
        match *spec {
            CourseSpec::Schedule { .. } => self.scheduled(),
            CourseSpec::RandomWalk { start, every_s, .. } => {
                self.free = libm::log(start);
                first(every_s, start)
            }
            CourseSpec::Markov { ref values, ref mean_s } => {
                self.place = self.holding(mean_s);
                first(self.stream.duration(exponential(mean_s[self.place])), values[self.place])
            }
            CourseSpec::OrnsteinUhlenbeck { mean, every_s, .. } => {
                self.free = mean;
                first(every_s, mean)
            }
            CourseSpec::Redraw { every_s, least, most } => {
                first(every_s, least + (most - least) * self.stream.uniform())
            }
        }
    }

    /// A state, each as often as it holds.
    fn holding(&mut self, mean_s: &[f64]) -> usize {
        let mut left = self.stream.uniform() * mean_s.iter().sum::<f64>();
        let found = mean_s.iter().position(|&mean_s| {
            left -= mean_s;
            left < 0.0
        });
        found.unwrap_or(mean_s.len() - 1)
    }

    /// The piece of a schedule at its place.
    fn scheduled(&self) -> Piece {
        let CourseSpec::Schedule { at_s, values, linear, period_s } = &*self.spec else { return self.piece };
        let (place, last) = (self.place, self.place + 1 == values.len());
        let begun_s = period_s.map_or(0.0, |period_s| period_s * self.repeated as f64);
        let until_s = match (last, period_s) {
            (false, _) => begun_s + at_s[place + 1],
            (true, Some(period_s)) => period_s * (self.repeated + 1) as f64,
            (true, None) => f64::INFINITY,
        };
        let (from_s, value) = (begun_s + at_s[place], values[place]);
        // The last value holds up to the end of a period; a ramp that ends where it began says so by its last value.
        let slope = if *linear && !last { (values[place + 1] - value) / (until_s - from_s) } else { 0.0 };
        Piece { from_s, until_s, value, slope }
    }

    /// Continues to the next piece.
    fn go_on(&mut self) {
        if !self.begun {
            (self.begun, self.piece) = (true, self.begin());
            return;
        }
        let from_s = self.piece.until_s;
        let step = |every_s: f64, repeated: u64| (repeated + 1) as f64 * every_s;
        let flat = |until_s, value| Piece { from_s, until_s, value, slope: 0.0 };
        let spec = Arc::clone(&self.spec);
        match *spec {
            CourseSpec::Schedule { ref values, .. } => {
                self.place += 1;
                if self.place == values.len() {
                    (self.place, self.repeated) = (0, self.repeated + 1);
                }
                self.piece = self.scheduled();
            }
            CourseSpec::RandomWalk { every_s, deviation, least, most, .. } => {
                self.repeated += 1;
                let (low, high) = (libm::log(least), libm::log(most));
                self.free = reflected(self.free + deviation * self.stream.normal(), low, high);
                self.piece = flat(step(every_s, self.repeated), libm::exp(self.free).clamp(least, most));
            }
            CourseSpec::Markov { ref values, ref mean_s } => {
                if values.len() > 1 {
                    let other = self.stream.below(values.len() as u32 - 1) as usize;
                    self.place = other + usize::from(other >= self.place);
                }
                self.piece = flat(from_s + self.stream.duration(exponential(mean_s[self.place])), values[self.place]);
            }
            CourseSpec::OrnsteinUhlenbeck { mean, deviation, time_s, every_s, least } => {
                self.repeated += 1;
                // Exact over a step of any length (Gillespie 1996, eq. 1.7).
                let kept = libm::exp(-every_s / time_s);
                let noise = deviation * libm::sqrt(1.0 - kept * kept);
                self.free = mean + (self.free - mean) * kept + noise * self.stream.normal();
                self.piece = flat(step(every_s, self.repeated), self.free.max(least));
            }
            CourseSpec::Redraw { every_s, least, most } => {
                self.repeated += 1;
                let value = least + (most - least) * self.stream.uniform();
                self.piece = flat(step(every_s, self.repeated), value);
            }
        }
    }

    /// The value at `at_s`, which does not fall from call to call.
    pub fn at(&mut self, at_s: f64) -> f64 {
        while self.piece.until_s <= at_s {
            self.go_on();
        }
        self.piece.at(at_s)
    }

    /// From when on it is above zero, at `at_s` or later.
    #[inline(always)]
    #[must_use]
    pub fn opens_s(&self, at_s: f64) -> f64 {
        if self.piece.until_s > at_s && self.piece.value > 0.0 { at_s } else { self.opens_later_s(at_s) }
    }

    #[cold]
    fn opens_later_s(&self, mut at_s: f64) -> f64 {
        let mut ahead = self.clone();
        while at_s < f64::INFINITY && ahead.at(at_s) <= 0.0 && ahead.piece.slope <= 0.0 {
            at_s = ahead.piece.until_s;
        }
        at_s
    }

    /// Does work at this rate from `start_s` on, which does not fall from call to call, but not beyond `until_s`: when it is
    /// done. If it is not done by then, `left` says what is left.
    #[inline(always)]
    pub fn serve(&mut self, start_s: f64, left: &mut f64, until_s: f64) -> Option<f64> {
        // Mostly it is done before anything changes.
        let Piece { until_s: changes_s, slope, .. } = self.piece;
        if slope == 0.0 && start_s < changes_s {
            let end_s = start_s + *left / self.piece.value;
            if end_s < changes_s && end_s < until_s {
                return Some(end_s);
            }
        }
        self.serve_by_pieces(start_s, left, until_s)
    }

    fn serve_by_pieces(&mut self, start_s: f64, left: &mut f64, until_s: f64) -> Option<f64> {
        let mut at_s = start_s;
        while at_s < until_s {
            let rate = self.at(at_s);
            let Piece { until_s: changes_s, slope, .. } = self.piece;
            let end_s = changes_s.min(until_s);
            let possible = if end_s < f64::INFINITY {
                (end_s - at_s) * (rate + 0.5 * slope * (end_s - at_s))
            } else {
                f64::INFINITY
            };
            if *left <= possible {
                return Some(at_s + duration_s(*left, rate, slope));
            }
            *left -= possible;
            at_s = end_s;
        }
        None
    }

    /// How much can be done from `from_s` to `until_s`; neither falls from call to call.
    pub fn between(&mut self, from_s: f64, until_s: f64) -> f64 {
        let (mut at_s, mut sum) = (from_s, 0.0);
        while at_s < until_s {
            let rate = self.at(at_s);
            let next_s = self.piece.until_s.min(until_s);
            sum += (next_s - at_s) * (rate + 0.5 * self.piece.slope * (next_s - at_s));
            at_s = next_s;
        }
        sum
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

/// How long work takes at a rate that grows straight: the smaller root of rate · t + slope / 2 · t² = work, in the form that
/// does not cancel.
fn duration_s(work: f64, rate: f64, slope: f64) -> f64 {
    if slope == 0.0 {
        return work / rate;
    }
    let root = libm::sqrt((rate * rate + 2.0 * slope * work).max(0.0));
    if work > 0.0 { 2.0 * work / (rate + root) } else { 0.0 }
}

fn exponential(mean_s: f64) -> Duration {
    Duration::Exponential { mean_s }
}

/// A value thrown back by two walls.
fn reflected(value: f64, low: f64, high: f64) -> f64 {
    let width = high - low;
    if width <= 0.0 {
        return low;
    }
    let turn = (value - low).rem_euclid(2.0 * width);
    low + turn.min(2.0 * width - turn)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Course {
        /// When so much has been done that is begun at `start_s`.
        fn finish(&mut self, start_s: f64, mut work: f64) -> f64 {
            self.serve(start_s, &mut work, f64::INFINITY).expect("it is done at some time")
        }
    }

    fn stream() -> Stream {
        Stream::new(1, "wire", 0, "rate")
    }

    fn schedule(at_s: &[f64], values: &[f64], linear: bool, period_s: Option<f64>) -> Course {
        let (at_s, values) = (at_s.to_vec(), values.to_vec());
        Course::new(&CourseSpec::Schedule { at_s, values, linear, period_s }, stream())
    }

    #[test]
    fn a_packet_in_service_goes_on_at_the_new_rate() {
        let mut steps = schedule(&[0.0, 1.0, 2.0], &[100.0, 0.0, 50.0], false, None);
        assert_eq!(steps.finish(0.0, 50.0), 0.5);
        // Half of it before the outage, half after.
        assert_eq!(steps.finish(0.5, 100.0), 3.0);
        assert_eq!(steps.finish(3.0, 100.0), 5.0);
    }

    #[test]
    fn a_schedule_begins_anew() {
        let mut steps = schedule(&[0.0, 1.0], &[10.0, 30.0], false, Some(2.0));
        assert_eq!(steps.finish(0.0, 40.0), 2.0);
        assert_eq!(steps.finish(2.0, 10.0), 3.0);
        assert_eq!(steps.finish(3.0, 45.0), 4.0 + 1.0 + 5.0 / 30.0);
    }

    /// From 0 to 100 in two seconds: t² · 25 is done after t.
    #[test]
    fn a_ramp_is_integrated() {
        let mut ramp = schedule(&[0.0, 2.0], &[0.0, 100.0], true, None);
        assert_eq!(ramp.finish(0.0, 25.0), 1.0);
        assert_eq!(ramp.finish(1.0, 75.0), 2.0);
        assert_eq!(ramp.finish(2.0, 100.0), 3.0);
        assert_eq!(
            schedule(&[0.0, 2.0], &[100.0, 0.0], true, Some(4.0)).finish(0.0, 100.0 + 50.0),
            4.0 + (2.0 - 2f64.sqrt())
        );
    }

    fn any_course() -> impl Strategy<Value = CourseSpec> {
        let steps =
            (prop::collection::vec((0.01..1.0f64, 0.0..100.0f64), 1..6), any::<bool>()).prop_map(|(steps, linear)| {
                let mut at_s = vec![0.0];
                at_s.extend(steps.iter().scan(0.0, |at, (step, _)| {
                    *at += step;
                    Some(*at)
                }));
                let period_s = at_s.pop();
                let mut values: Vec<f64> = steps.iter().map(|&(_, value)| value).collect();
                // Something is done in each period.
                values[0] += 1.0;
                CourseSpec::Schedule { at_s, values, linear, period_s }
            });
        prop_oneof![
            steps,
            Just(CourseSpec::RandomWalk { start: 10.0, every_s: 0.1, deviation: 0.3, least: 2.0, most: 40.0 }),
            Just(CourseSpec::Markov { values: vec![50.0, 5.0, 0.0], mean_s: vec![0.2, 0.5, 0.1] }),
            Just(CourseSpec::OrnsteinUhlenbeck { mean: 20.0, deviation: 9.0, time_s: 1.0, every_s: 0.05, least: 1.0 }),
            Just(CourseSpec::Redraw { every_s: 0.3, least: 1.0, most: 9.0 }),
        ]
    }

    proptest! {
        /// What is done one after the other takes as long as what is done at once, and is what the course allows.
        #[test]
        fn work_adds_up(spec in any_course(), parts in prop::collection::vec(0.01..20.0f64, 1..40)) {
            let new = || Course::new(&spec, stream());
            let (mut course, mut end_s) = (new(), 0.0);
            for &part in &parts {
                let next_s = course.finish(end_s, part);
                prop_assert!(next_s > end_s);
                end_s = next_s;
            }
            let whole: f64 = parts.iter().sum();
            prop_assert!((new().finish(0.0, whole) - end_s).abs() < 1e-9 * (1.0 + end_s));
            prop_assert!((new().between(0.0, end_s) - whole).abs() < 1e-9 * (1.0 + whole));
        }
    }

    /// Means over a long time, with four standard errors.
    #[test]
    fn processes_have_their_means() {
        const LONG_S: f64 = 20_000.0;
        let mean = |spec: &CourseSpec| Course::new(spec, stream()).between(0.0, LONG_S) / LONG_S;
        // Shares of time in proportion to the mean stays, as the states follow each other uniformly.
        let markov = mean(&CourseSpec::Markov { values: vec![30.0, 0.0], mean_s: vec![2.0, 1.0] });
        // Alternating renewal: var of the share is 2 s²₁ s²₂ / (s₁ + s₂)³ / T.
        let error = 30.0 * (2.0 * 4.0 / 27.0 / LONG_S).sqrt();
        assert!((markov - 20.0).abs() < 4.0 * error, "{markov}");
        let noise =
            mean(&CourseSpec::OrnsteinUhlenbeck { mean: 50.0, deviation: 5.0, time_s: 1.0, every_s: 0.1, least: 0.0 });
        // The integral of the noise has variance 2 σ² τ T.
        assert!((noise - 50.0).abs() < 4.0 * 5.0 * (2.0 / LONG_S).sqrt(), "{noise}");
        let uniform = mean(&CourseSpec::Redraw { every_s: 1.0, least: 2.0, most: 8.0 });
        assert!((uniform - 5.0).abs() < 4.0 * (36.0 / 12.0 / LONG_S).sqrt(), "{uniform}");
    }

    #[test]
    fn a_walk_stays_between_its_walls() {
        let mut walk = Course::new(
            &CourseSpec::RandomWalk { start: 10.0, every_s: 0.1, deviation: 1.0, least: 2.0, most: 40.0 },
            stream(),
        );
        let values: Vec<f64> = (0..10_000).map(|step| walk.at(f64::from(step) * 0.1)).collect();
        assert!(values.iter().all(|value| (2.0..=40.0).contains(value)));
        assert!(values.iter().any(|&value| value > 35.0) && values.iter().any(|&value| value < 2.3));
    }
}

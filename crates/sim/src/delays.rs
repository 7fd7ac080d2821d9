//! Delays and their distribution, always counted: mean, largest, and quantiles from counts in classes.
//!
//! A class holds delays that differ by at most 1/64 of themselves and of a resolution: a quantile is within 0.8 % of a delay
//! that was measured plus the resolution. That is a microsecond, or, of delays that have something in common, a sixteenth
//! of it. What is shorter than 1/64 of it is nothing.
//!
//! What is counted is one number in a row of classes, on which nothing waits. The rest is a line of the cache: a large
//! network has thousands of flows. So is an octave of classes, of which each has a byte: what exceeds that is carried.

/// Of a double, the bits below those that tell classes apart: six bits of the fraction do.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - 6;
/// What is added to a delay before it is classed, at least, in seconds: shorter ones than this are told apart coarsely, or
/// rounding would scatter what is nothing over all the classes of small numbers.
const RESOLUTION_S: f64 = 1e-6;
/// The share of what delays have in common that is added instead, if it is more: memory is what counting costs.
const OF_BASE: f64 = 1.0 / 16.0;
/// Classes are added so many at a time.
const MORE: u64 = 64;

/// The class of a delay to which the resolution was added.
#[inline]
fn class(classed_s: f64) -> u64 {
    classed_s.to_bits() >> SHIFT
}

/// The shortest delay of a class, with the resolution that was added, in seconds.
fn bound_s(class: u64) -> f64 {
    f64::from_bits(class << SHIFT)
}

/// Delays, as they come.
#[derive(Clone, Debug)]
pub struct Delays {
    /// How many.
    pub count: u64,
    /// Their sum, in seconds.
    pub sum_s: f64,
    /// The largest, in seconds.
    pub max_s: f64,
    /// What is added to a delay before it is classed: the resolution, less what all of them have in common.
    offset_s: f64,
    /// How many there are of each class, from `first` on: what is left over of 256, and what is seldom needed.
    classes: Box<[u8]>,
    first: u64,
    rest: Box<Rest>,
}

/// What adding a delay seldom needs.
#[derive(Clone, Debug)]
struct Rest {
    resolution_s: f64,
    /// How much of what exceeds the base is no excess: what the empty path usually takes beyond its shortest delay.
    usual_s: f64,
    /// How many times 256 there are of each class, if there are any.
    carried: Box<[u32]>,
}

impl Rest {
    /// A class of so many has so many times 256 more. A run of 2^40 packets of one flow and one delay is too long to be asked
    /// for its quantiles.
    fn carry(&mut self, class: usize, classes: usize, more: u64) {
        if self.carried.is_empty() {
            self.carried = vec![0; classes].into();
        }
        self.carried[class] = self.carried[class].saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
    }
}

/// The same in a longer row, from a place on.
fn longer<T: Copy + Default>(known: &[T], from: usize, length: usize) -> Box<[T]> {
    let mut longer = vec![T::default(); length];
    longer[from..][..known.len()].copy_from_slice(known);
    longer.into()
}

impl Default for Delays {
    fn default() -> Self {
        Self::above(0.0)
    }
}

impl Delays {
    /// None yet. What exceeds `base_s` is what is resolved.
    #[must_use]
    pub fn above(base_s: f64) -> Self {
        let resolution_s = RESOLUTION_S.max(base_s * OF_BASE);
        let (classes, offset_s) = (Box::default(), resolution_s - base_s);
        let rest = Box::new(Rest { resolution_s, usual_s: 0.0, carried: Box::default() });
        Self { count: 0, sum_s: 0.0, max_s: 0.0, offset_s, classes, first: 0, rest }
    }

    /// None yet, of a path that is at times faster than usual: none is shorter than `base_s`, and what exceeds `usual_s` is
    /// excess.
    #[must_use]
    pub fn between(base_s: f64, usual_s: f64) -> Self {
        let mut delays = Self::above(base_s);
        delays.rest.usual_s = (usual_s - base_s).max(0.0);
        delays
    }

    /// So many of which the mean is known, and nothing else.
    #[must_use]
    pub fn of_mean(mean_s: f64, count: u64) -> Self {
        Self { count, sum_s: mean_s * count as f64, ..Self::default() }
    }

    /// Counts a delay.
    #[inline]
    pub fn add(&mut self, delay_s: f64) {
        self.count += 1;
        self.sum_s += delay_s;
        self.max_s = if delay_s > self.max_s { delay_s } else { self.max_s };
        let classed_s = delay_s + self.offset_s;
        let at = class(classed_s).wrapping_sub(self.first) as usize;
        if let Some(count) = self.classes.get_mut(at) {
            let full;
            (*count, full) = count.overflowing_add(1);
            if !full {
                return;
            }
        }
        self.add_seldom(at, classed_s);
    }

    /// Carries what fills the byte of a class, or adds the first delay of a class that is not there: in one call, or what is
    /// in registers would be saved before each delay.
    #[cold]
    #[inline(never)]
    fn add_seldom(&mut self, at: usize, classed_s: f64) {
        if at < self.classes.len() {
            self.rest.carry(at, self.classes.len(), 1);
        } else {
            self.add_to(classed_s, 1);
        }
    }

    /// Counts delays of a class that need not be there yet. What is shorter than all delays should be is as short.
    fn add_to(&mut self, classed_s: f64, count: u64) {
        let class = class(classed_s.max(self.rest.resolution_s));
        if self.classes.is_empty() {
            self.first = class;
        }
        if class.wrapping_sub(self.first) as usize >= self.classes.len() {
            let first = self.first.min(class / MORE * MORE);
            let end = (self.first + self.classes.len() as u64).max(class + 1).next_multiple_of(MORE);
            let (before, length) = ((self.first - first) as usize, (end - first) as usize);
            self.classes = longer(&self.classes, before, length);
            if !self.rest.carried.is_empty() {
                self.rest.carried = longer(&self.rest.carried, before, length);
            }
            self.first = first;
        }
        let at = (class - self.first) as usize;
        let count = u64::from(self.classes[at]) + count;
        self.classes[at] = count as u8;
        if count > u64::from(u8::MAX) {
            self.rest.carry(at, self.classes.len(), count >> u8::BITS);
        }
    }

    /// What all have in common; below zero where some of them are less than nothing.
    #[must_use]
    pub fn base_s(&self) -> f64 {
        self.rest.resolution_s - self.offset_s
    }

    /// Takes back a delay that was counted; the largest stays.
    pub fn take_back(&mut self, delay_s: f64) {
        self.count -= 1;
        self.sum_s -= delay_s;
        let classed_s = delay_s + self.offset_s;
        // What is shorter than all should be is in its own class or in the lowest, as the row was when it came.
        let places = [classed_s, classed_s.max(self.rest.resolution_s)];
        for at in places.map(|classed_s| class(classed_s).wrapping_sub(self.first) as usize) {
            let carried = self.rest.carried.get_mut(at).filter(|carried| **carried > 0);
            match (self.classes.get_mut(at), carried) {
                (Some(0), Some(carried)) => {
                    *carried -= 1;
                    self.classes[at] = u8::MAX;
                    return;
                }
                (Some(count @ 1..), _) => {
                    *count -= 1;
                    return;
                }
                _ => {}
            }
        }
    }

    /// The classes of which there are delays, and how many.
    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let carried = self.rest.carried.iter().copied().chain(std::iter::repeat(0));
        let of = |(&left, carried): (&u8, u32)| (u64::from(carried) << u8::BITS) + u64::from(left);
        (self.first..).zip(self.classes.iter().zip(carried).map(of)).filter(|(_, count)| *count > 0)
    }

    /// How many are in classes: fewer than there are, where only the mean of some is known.
    fn classed(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    /// Delays from the shortest on, each with how many are longer than the one before and at most so long: the longest of
    /// their classes.
    pub fn steps(&self) -> impl Iterator<Item = (f64, u64)> {
        let longest_s =
            |of| if of <= class(self.rest.resolution_s) { 0.0 } else { bound_s(of + 1) - self.rest.resolution_s };
        let at_most_s = move |of| (longest_s(of) + self.base_s()).min(self.max_s);
        let nothing =
            self.counts().take_while(move |&(of, _)| at_most_s(of) <= 0.0).map(|(_, count)| count).sum::<u64>();
        let others =
            self.counts().map(move |(of, count)| (at_most_s(of), count)).filter(|&(at_most_s, _)| at_most_s > 0.0);
        (nothing > 0).then_some((0.0, nothing)).into_iter().chain(others)
    }

    /// What the delays of a class have beyond what all have in common, in its middle, in seconds; of the lowest, nothing.
    fn middle_s(&self, of: u64) -> f64 {
        if of <= class(self.rest.resolution_s) {
            return 0.0;
        }
        0.5 * (bound_s(of).max(self.rest.resolution_s) + bound_s(of + 1)) - self.rest.resolution_s
    }

    /// The same delays without what the empty path usually takes.
    #[must_use]
    pub fn excess(&self) -> Self {
        let usual_s = self.base_s() + self.rest.usual_s;
        Self {
            sum_s: (self.sum_s - usual_s * self.count as f64).max(0.0),
            max_s: (self.max_s - usual_s).max(0.0),
            offset_s: self.rest.resolution_s + self.rest.usual_s,
            ..self.clone()
        }
    }

    /// Counts as many delays of zero.
    #[must_use]
    pub fn with_zeros(mut self, count: u64) -> Self {
        if count > 0 {
            self.count += count;
            self.add_to(self.rest.resolution_s, count);
        }
        self
    }

    /// Adds what others counted.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_s += other.sum_s;
        self.max_s = self.max_s.max(other.max_s);
        let more_s = other.base_s() - self.base_s() + self.rest.resolution_s;
        for (of, count) in other.counts() {
            self.add_to(other.middle_s(of) + more_s, count);
        }
    }

    /// What a table says of them.
    #[must_use]
    pub fn summary(&self) -> Summary {
        if self.count == 0 {
            return Summary::NONE;
        }
        let (mean_s, all) = (self.sum_s / self.count as f64, self.classed());
        if all < self.count {
            return Summary { mean_s, ..Summary::NONE };
        }
        // The delay that a share of all does not exceed.
        let quantile_s = |share: f64| {
            let wanted = (share * all as f64).ceil().max(1.0) as u64;
            let mut below = 0;
            let found = self.counts().find(|(_, count)| {
                below += count;
                below >= wanted
            });
            found.map_or(f64::NAN, |(class, _)| (self.middle_s(class) + self.base_s()).max(0.0).min(self.max_s))
        };
        Summary { mean_s, p50_s: quantile_s(0.5), p95_s: quantile_s(0.95), p99_s: quantile_s(0.99), max_s: self.max_s }
    }
}

/// Mean, quantiles and largest of delays, in seconds; not a number where there were none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean_s: f64,
    /// The median.
    pub p50_s: f64,
    /// What 95 % do not exceed.
    pub p95_s: f64,
    /// What 99 % do not exceed.
    pub p99_s: f64,
    /// The largest.
    pub max_s: f64,
}

impl Summary {
    /// Of no delays.
    pub const NONE: Self =
        Self { mean_s: f64::NAN, p50_s: f64::NAN, p95_s: f64::NAN, p99_s: f64::NAN, max_s: f64::NAN };

    /// The numbers in the order of their columns.
    #[must_use]
    pub fn values(&self) -> [f64; 5] {
        let Self { mean_s, p50_s, p95_s, p99_s, max_s } = *self;
        [mean_s, p50_s, p95_s, p99_s, max_s]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The delay that a share of sorted delays does not exceed.
    fn exact(sorted: &[f64], share: f64) -> f64 {
        sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1]
    }

    #[test]
    fn no_delay_has_no_quantile() {
        let summary = Delays::above(0.0).summary();
        assert!(summary.mean_s.is_nan() && summary.p50_s.is_nan() && summary.max_s.is_nan());
    }

    #[test]
    fn more_than_a_byte_of_a_class_are_carried() {
        let (mut all, mut few) = (Delays::above(0.0), Delays::above(0.0));
        (0..70_000).for_each(|_| all.add(0.010));
        (0..255).for_each(|_| few.add(0.010));
        (0..30_000).for_each(|_| few.add(0.320));
        all.merge(&few);
        assert_eq!(all.steps().map(|(_, count)| count).collect::<Vec<_>>(), [70_255, 30_000]);
        let Summary { p50_s, p95_s, max_s, .. } = all.with_zeros(1 << 39).summary();
        assert_eq!((p50_s, p95_s, max_s), (0.0, 0.0, 0.320));
    }

    #[test]
    fn what_is_taken_back_is_no_longer_there() {
        let mut delays = Delays::above(0.010);
        (0..300).for_each(|_| delays.add(0.010));
        delays.add(0.004);
        delays.add(0.500);
        (0..290).for_each(|_| delays.take_back(0.010));
        delays.take_back(0.500);
        assert_eq!((delays.count, delays.steps().map(|(_, count)| count).collect()), (11, vec![11]));
        delays.take_back(0.004);
        // What is somewhat less than all have in common is in its own class, once that is there.
        let less_s = 0.010 - 0.000_02;
        (0..2).for_each(|_| delays.add(less_s));
        (0..2).for_each(|_| delays.take_back(less_s));
        assert!((delays.sum_s - 0.1).abs() < 1e-12);
        assert_eq!(delays.summary().p99_s, 0.010);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(base_s in prop_oneof![Just(0.0), 0.0..0.1f64], excess in prop::collection::vec((0.0..1.0f64, -9.0..3.0f64).prop_map(|(part, power)| part * libm::exp10(power)), 1..300), split in 0usize..300) {
            let delays: Vec<f64> = excess.iter().map(|more_s| base_s + more_s).collect();
            let (mut all, mut rest) = (Delays::above(base_s), Delays::above(base_s));
            for (index, &delay_s) in delays.iter().enumerate() {
                if index < split { all.add(delay_s) } else { rest.add(delay_s) }
            }
            all.merge(&rest);
            let mut sorted = delays.clone();
            sorted.sort_by(f64::total_cmp);
            let summary = all.summary();
            prop_assert_eq!(summary.max_s, sorted[sorted.len() - 1]);
            let (mut counted, mut before_s) = (0, f64::NEG_INFINITY);
            for (at_most_s, count) in all.steps() {
                prop_assert!(at_most_s > before_s || sorted.len() == counted + count as usize);
                (before_s, counted) = (at_most_s, counted + count as usize);
                let resolution_s = RESOLUTION_S.max(base_s / 16.0);
                // What is nothing is as short as what is empty; and rounding may move a delay from its class.
                prop_assert!(sorted[counted - 1] <= at_most_s + resolution_s / 32.0);
            }
            prop_assert!(counted == sorted.len() && before_s <= summary.max_s);
            for (found, share) in [(summary.p50_s, 0.5), (summary.p95_s, 0.95), (summary.p99_s, 0.99)] {
                let expected = exact(&sorted, share);
                let (resolution_s, excess_s) = (RESOLUTION_S.max(base_s / 16.0), expected - base_s);
                let error_s = (found - expected).abs();
                let is_nothing = excess_s <= resolution_s / 64.0 && found <= expected;
                prop_assert!(is_nothing || error_s <= 0.008 * (excess_s + resolution_s), "{share}: {found} for {expected}");
            }
        }
    }
}

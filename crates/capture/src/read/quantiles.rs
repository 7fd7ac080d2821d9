//! Percentiles of many times in little memory: counts in classes of equal ratio.

/// Each class reaches 2 % above the last, so that its middle is within 1 % of what fell into it.
const RATIO: f64 = 1.02;

/// Times, in nanoseconds, of which mean, extremes and percentiles are asked.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// How many there are.
    pub count: u64,
    sum: u128,
    least: u64,
    most: u64,
    /// Class and count, in order of the class.
    classes: Vec<(u16, u32)>,
}

impl Times {
    /// Adds a time.
    pub fn add(&mut self, nanoseconds: u64) {
        self.least = if self.count == 0 { nanoseconds } else { self.least.min(nanoseconds) };
        self.most = self.most.max(nanoseconds);
        self.count += 1;
        self.sum += u128::from(nanoseconds);
        self.count_in(class(nanoseconds), 1);
    }

    /// These and others.
    pub fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        if other.count == 0 {
            return both;
        }
        both.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        both.most = self.most.max(other.most);
        both.count += other.count;
        both.sum += other.sum;
        for &(class, count) in &other.classes {
            both.count_in(class, count);
        }
        both
    }

    /// Times from the shortest on, in seconds, each with how many are longer than the one before and at most so long: the
    /// longest of their classes.
    pub fn steps(&self) -> impl Iterator<Item = (f64, u64)> {
        let longest = |of: u16| if of == 0 { 0.0 } else { libm::pow(RATIO, f64::from(of)).min(self.most as f64) };
        self.classes.iter().map(move |&(class, count)| (longest(class) / 1e9, u64::from(count)))
    }

    fn count_in(&mut self, class: u16, count: u32) {
        match self.classes.binary_search_by_key(&class, |&(class, _)| class) {
            Ok(at) => self.classes[at].1 = self.classes[at].1.saturating_add(count),
            Err(at) => self.classes.insert(at, (class, count)),
        }
    }

    /// The mean in seconds; NaN without times.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.count as f64 / 1e9
    }

    /// The smallest, if there are any.
    pub fn least(&self) -> Option<u64> {
        (self.count > 0).then_some(self.least)
    }

    /// The smallest in seconds; NaN without times.
    pub fn least_s(&self) -> f64 {
        self.least().map_or(f64::NAN, |least| least as f64 / 1e9)
    }

    /// The largest in seconds; NaN without times.
    pub fn most_s(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.most as f64 / 1e9 }
    }

    /// The time that a share of them does not exceed, in seconds and within 1 %; NaN without times.
    pub fn quantile_s(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        for &(class, count) in &self.classes {
            below += u64::from(count);
            if below >= wanted {
                let middle = if class == 0 { 0.0 } else { libm::pow(RATIO, f64::from(class) - 0.5) };
                return middle.clamp(self.least as f64, self.most as f64) / 1e9;
            }
        }
        self.most_s()
    }
}

/// The class of a time; zero has its own, below all others.
fn class(nanoseconds: u64) -> u16 {
    if nanoseconds == 0 { 0 } else { 1 + (libm::log(nanoseconds as f64) / libm::log(RATIO)) as u16 }
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn percentiles_are_within_one_percent() {
        let mut times = Times::default();
        assert!(times.quantile_s(0.5).is_nan() && times.mean_s().is_nan());
        let mut even = Times::default();
        for time in 1..=10_000_u64 {
            if time % 2 == 0 { &mut even } else { &mut times }.add(time * 1_000);
        }
        let times = times.with(&even).with(&Times::default());
        for (share, expected) in [(0.0, 1e-6), (0.5, 5e-3), (0.95, 9.5e-3), (1.0, 1e-2)] {
            let found = times.quantile_s(share);
            assert!((found / expected - 1.0).abs() < 0.0101, "{share}: {found} instead of {expected}");
        }
        let steps: Vec<(f64, u64)> = times.steps().collect();
        assert_eq!(steps.last().map(|step| step.0), Some(1e-2));
        let mut counted = 0;
        for (at_most_s, count) in steps {
            counted += count;
            assert!(counted as f64 * 1e-6 <= at_most_s, "{counted} are longer than {at_most_s}");
        }
        assert_eq!(counted, 10_000);
        let mut coarse = Times::default();
        for time in [0, 0, 1_000_000] {
            coarse.add(time);
        }
        assert_eq!((coarse.least_s(), coarse.quantile_s(0.5), coarse.most_s()), (0.0, 0.0, 1e-3));
        assert_eq!((times.least_s(), times.most_s(), times.mean_s()), (1e-6, 1e-2, 5.0005e-3));
    }
}

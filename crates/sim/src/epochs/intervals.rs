//! Counts by interval of time.

use crate::time::Time;

/// Counts for each interval; for the whole run, if there are none.
#[derive(Clone, Debug)]
pub struct Intervals<T> {
    length_s: Option<f64>,
    counts: Vec<T>,
}

impl<T: Default + Clone> Intervals<T> {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(length_s: Option<f64>) -> Self {
        Self { length_s, counts: vec![T::default()] }
    }

    /// The counts of the interval in which `time` lies. Interval k begins at k times its length.
    #[inline]
    pub fn at(&mut self, time: Time) -> &mut T {
        let index = self.length_s.map_or(0, |length_s| {
            let near = (time.seconds() / length_s) as u64;
            let begin = |index: u64| length_s * index as f64;
            if time.seconds() < begin(near) { near - 1 } else { near + u64::from(time.seconds() >= begin(near + 1)) }
        }) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, T::default());
        }
        &mut self.counts[index]
    }

    /// The counts of all intervals up to the last with any.
    #[must_use]
    pub fn all(&self) -> &[T] {
        &self.counts
    }
}

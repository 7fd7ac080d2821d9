//! One-way delays of the packets of a flow, and their jitter.

use crate::delays::Delays;

/// One-way delays, as packets arrive.
#[derive(Clone, Debug, Default)]
pub struct OneWay {
    /// The delays; above what they are where no packet waits, if that is known.
    pub delays: Delays,
    /// Sum of the differences of successive delays, in seconds.
    pub jitter_sum_s: f64,
    last_s: f64,
}

impl OneWay {
    /// Of packets that need `unloaded_s` seconds where none waits.
    #[must_use]
    pub fn above(unloaded_s: f64) -> Self {
        Self { delays: Delays::above(unloaded_s), ..Self::default() }
    }

    /// Counts a packet that took `delay_s` seconds.
    #[inline]
    pub fn count(&mut self, delay_s: f64) {
        if self.delays.count > 0 {
            self.jitter_sum_s += (delay_s - self.last_s).abs();
        }
        self.last_s = delay_s;
        self.delays.add(delay_s);
    }
}

//! How long the loop may stay awake before a packet is due. A sleeping thread wakes some tens of microseconds late; one
//! that never sleeps is stopped by the kernel's limit on real-time threads, or keeps the hosts from running. So it spins
//! just before the instant, and no more once it has been awake for half of the time.

/// Before something is due, the loop spins for no longer than this, in seconds.
pub const WINDOW_S: f64 = 60e-6;
/// The largest share of time that it may be awake and still spin.
const SHARE: f64 = 0.5;
/// What it can save for later, and owe, in seconds.
const MOST_S: f64 = 5e-3;

/// The account of a loop's sleep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin {
    credit_s: f64,
}

impl Spin {
    /// It was awake for so long.
    pub fn awake(&mut self, seconds: f64) {
        self.credit_s = (self.credit_s - (1.0 - SHARE) * seconds).max(-MOST_S);
    }

    /// It slept for so long.
    pub fn slept(&mut self, seconds: f64) {
        self.credit_s = (self.credit_s + SHARE * seconds).min(MOST_S);
    }

    /// How long before something is due it may spin, in seconds.
    #[must_use]
    pub fn window_s(&self) -> f64 {
        if self.credit_s > 0.0 { WINDOW_S } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of time awake of a loop that works for `work_s`, spins if it may, and has something due every
    /// `every_s`.
    fn awake(work_s: f64, every_s: f64) -> f64 {
        let mut spin = Spin::default();
        let (mut awake_s, mut now_s) = (0.0, 0.0);
        while now_s < 1.0 {
            let up_s = (work_s + spin.window_s()).min(every_s);
            spin.awake(up_s);
            spin.slept(every_s - up_s);
            awake_s += up_s;
            now_s += every_s;
        }
        awake_s / now_s
    }

    #[test]
    fn it_spins_where_there_is_time_to_sleep() {
        assert!((awake(5e-6, 1e-3) - 65e-6 / 1e-3).abs() < 1e-3);
    }

    #[test]
    fn it_is_never_awake_for_more_than_half_of_the_time_unless_there_is_work() {
        assert!(awake(5e-6, 70e-6) < 0.52);
        assert!((awake(60e-6, 70e-6) - 6.0 / 7.0).abs() < 1e-3);
    }
}

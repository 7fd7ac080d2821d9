//! How much of a medium is used that is waited for before each burst: short bursts leave room, as their packets would wait no
//! longer in full ones.

use super::account::Work;
use crate::ring::Ring;

/// The time that packets take of the medium in full bursts.
#[derive(Clone, Debug, Default)]
pub struct Airtime {
    /// Of all that was granted, in seconds.
    granted_s: f64,
    /// When those leave that have not left yet, and what they take of it.
    ahead: Ring<(f64, f64)>,
    /// All of these together.
    ahead_s: f64,
}

impl Airtime {
    /// A packet that came at `now_s` leaves at `departure_s`; all so far take `granted_s`.
    pub fn grant(&mut self, now_s: f64, departure_s: f64, granted_s: f64) {
        self.leave(now_s);
        let takes_s = granted_s - self.granted_s;
        self.granted_s = granted_s;
        self.ahead.push_back((departure_s, takes_s));
        self.ahead_s += takes_s;
    }

    /// What was used until `at_s`, which does not fall from call to call, and what could have been.
    pub fn work(&mut self, at_s: f64) -> Work {
        self.leave(at_s);
        Work { done: (self.granted_s - self.ahead_s).min(at_s), possible: at_s, in_bits: false }
    }

    fn leave(&mut self, at_s: f64) {
        while let Some(&(departure_s, takes_s)) = self.ahead.front()
            && departure_s <= at_s
        {
            self.ahead.pop_front();
            self.ahead_s -= takes_s;
        }
        if self.ahead.is_empty() {
            self.ahead_s = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_left_is_not_done() {
        let mut air = Airtime::default();
        air.grant(0.0, 1.0, 0.25);
        air.grant(0.5, 2.0, 0.75);
        assert_eq!(air.work(0.5).done, 0.0);
        assert_eq!(air.work(1.0).done, 0.25);
        assert_eq!((air.work(3.0).done, air.work(3.0).possible), (0.75, 3.0));
    }
}

//! The interface of a host, one way: a first-in-first-out line without limit, which drops nothing and of which nobody
//! asks how many packets wait. So it holds no packets, and no more than its last service.

use crate::events::{Entity, Key, Precedence};
use crate::network::wire::Wire;
use crate::time::Time;

/// An interface, one way.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    departure: f64,
    start: f64,
    precedence: Precedence,
}

impl Default for Port {
    fn default() -> Self {
        // Before the first event, so that the line is idle when it comes.
        Self { departure: -1.0, start: 0.0, precedence: Precedence::FIRST }
    }
}

impl Port {
    /// A packet of `size` bytes enters the line of `entity` at `now`: the key of its delivery at the other end.
    #[inline]
    pub fn cross(&mut self, now: Key, size: u32, wire: &Wire, entity: Entity) -> Key {
        let at = now.time.seconds();
        let idle = self.departure < at
            || self.departure == at && Key::new(now.time, Time::new(self.start), self.precedence, entity) < now;
        let (start, precedence) = if idle {
            (at, now.precedence_of_effects())
        } else {
            (self.departure, Precedence::of(self.departure - self.start))
        };
        *self = Self { departure: start + wire.transmission_s(size), start, precedence };
        Key::new(Time::new(start + wire.crossing_s(size)), Time::new(start), precedence, entity)
    }
}

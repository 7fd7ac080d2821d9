//! The interface of a host, one way: a first-in-first-out line without limit, which drops nothing and of which nobody
//! asks how many packets wait. So it holds no packets, and no more than its last service.

use crate::events::{Entity, Key, Precedence};
use crate::network::server::Granted;
use crate::network::wire::Wire;
use crate::time::Time;

/// An interface, one way: its last service.
#[derive(Clone, Copy, Debug)]
pub struct Port(Granted);

impl Default for Port {
    fn default() -> Self {
        Self(Granted::BEFORE_ALL)
    }
}

impl Port {
    /// A packet of `size` bytes enters the line of `entity` at `now`: the key of its delivery at the other end.
    pub fn cross(&mut self, now: Key, size: u32, wire: &Wire, entity: Entity) -> Key {
        let Self(last) = self;
        let (start, precedence) = if last.precedes(now, entity) {
            (now.time.seconds(), now.precedence_of_effects())
        } else {
            (last.departure, Precedence::of(last.departure - last.start))
        };
        *last = Granted { departure: start + wire.transmission_s(size), start, precedence };
        Key::new(Time::new(start + wire.crossing_s(size)), Time::new(start), precedence, entity)
    }
}

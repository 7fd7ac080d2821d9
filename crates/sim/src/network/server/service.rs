//! A service, as it is granted.

use crate::events::{Entity, Key, Precedence};
use crate::time::Time;

/// When a packet is served, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// Its first bit enters the line.
    pub start: Time,
    /// Its last bit has left.
    pub departure: Time,
    /// It has reached the other end.
    pub delivery: Time,
    /// The precedence of its departure and of its delivery.
    pub precedence: Precedence,
    /// The queue marks it.
    pub marked: bool,
}

impl Service {
    /// The key of its departure from this link.
    #[inline(always)]
    #[must_use]
    pub fn departure_key(&self, link: Entity) -> Key {
        Key::new(self.departure, self.start, self.precedence, link)
    }

    /// The key of its delivery at the other end of this link.
    #[inline(always)]
    #[must_use]
    pub fn delivery_key(&self, link: Entity) -> Key {
        Key::new(self.delivery, self.start, self.precedence, link)
    }
}

/// A service that was granted. Its times do not lie side by side: they are written one by one, and a compiler would
/// read them at once, for which a processor has to wait where packets follow each other closely.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Granted {
    pub departure: f64,
    pub precedence: Precedence,
    pub start: f64,
}

impl Granted {
    /// Before the first event, so that a line is idle when that comes.
    pub const BEFORE_ALL: Self = Self { departure: -1.0, precedence: Precedence::FIRST, start: 0.0 };

    /// Whether its departure precedes the event `now`: whether its key is smaller.
    #[inline]
    pub fn precedes(&self, now: Key, entity: Entity) -> bool {
        let at = now.time.seconds();
        self.departure < at
            || self.departure == at && Key::new(now.time, Time::new(self.start), self.precedence, entity) < now
    }
}

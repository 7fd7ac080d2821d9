//! The interface of a host, one way: a first-in-first-out line without limit, which drops nothing and of which nobody
//! asks how many packets wait. So it holds no packets, and no more than its last service.

use crate::events::{Entity, Key, Precedence};
use crate::scenario::InterfaceSpec;
use crate::time::Time;

/// What all interfaces of a kind have in common.
#[derive(Clone, Copy, Debug)]
pub struct PortTiming {
    rate_bps: f64,
    /// Seconds that each packet takes, if the rate is one of packets.
    packet_s: Option<f64>,
    delay_s: f64,
}

impl PortTiming {
    /// Of a kind of interface.
    #[must_use]
    pub fn new(spec: &InterfaceSpec) -> Self {
        Self { rate_bps: spec.rate_bps, packet_s: spec.rate_pps.map(|rate| 1.0 / rate), delay_s: spec.delay_s }
    }

    /// Seconds that a packet of `size` bytes occupies the line.
    #[inline]
    #[must_use]
    pub fn transmission_s(&self, size: u32) -> f64 {
        self.packet_s.unwrap_or_else(|| 8.0 * f64::from(size) / self.rate_bps)
    }

    /// Seconds that a packet of `size` bytes takes from end to end where nothing is ahead of it.
    #[inline]
    #[must_use]
    pub fn crossing_s(&self, size: u32) -> f64 {
        self.transmission_s(size) + self.delay_s
    }
}

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
    pub fn cross(&mut self, now: Key, size: u32, timing: &PortTiming, entity: Entity) -> Key {
        let at = now.time.seconds();
        let idle = self.departure < at
            || self.departure == at && Key::new(now.time, Time::new(self.start), self.precedence, entity) < now;
        let (start, precedence) = if idle {
            (at, now.precedence_of_effects())
        } else {
            (self.departure, Precedence::of(self.departure - self.start))
        };
        *self = Self { departure: start + timing.transmission_s(size), start, precedence };
        Key::new(Time::new(start + timing.crossing_s(size)), Time::new(start), precedence, entity)
    }
}

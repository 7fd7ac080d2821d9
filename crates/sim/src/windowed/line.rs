//! A link, worked through window by window.

use super::inbox::Arrival;
use crate::network::link::Link;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::time::Time;

/// What becomes of a packet that comes to a link.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// It comes out at the other end.
    Served(Arrival),
    /// It does so after the end of the run.
    Late,
    /// The queue refuses it.
    Refused,
    /// The wire loses it: when it would have come out.
    Lost(Time),
}

/// A link at work.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its queue and its transmitter.
    pub link: Link,
    /// The node at its end.
    pub to: u32,
    /// What is on its way and comes out some windows later, first in, first out.
    flight: Ring<Packet>,
}

impl Line {
    /// An idle line to node `to`.
    #[must_use]
    pub fn new(link: Link, to: u32) -> Self {
        Self { link, to, flight: Ring::default() }
    }

    /// A packet comes.
    #[inline]
    pub fn take(&mut self, arrival: &Arrival, end: Time) -> Fate {
        let (key, packet, link) = (arrival.key(), arrival.packet, &mut self.link);
        let Ok(service) = link.server.offer(key, packet.size(), packet.is_capable()) else {
            return Fate::Refused;
        };
        if service.delivery >= end {
            link.note_late();
            return Fate::Late;
        }
        if link.lossy && link.loses_next() {
            return Fate::Lost(service.delivery);
        }
        let packet = packet.served(service.start, service.precedence);
        let packet = if service.marked { packet.marked() } else { packet };
        Fate::Served(Arrival::served(service.delivery, packet, link.server.entity()))
    }

    /// A packet is on its way for some windows.
    #[inline]
    pub fn keep(&mut self, packet: Packet) {
        self.flight.push_back(packet);
    }

    /// Whether packets are kept.
    #[inline]
    #[must_use]
    pub fn keeps(&self) -> bool {
        !self.flight.is_empty()
    }

    /// When the first of those that are kept comes out.
    #[inline]
    #[must_use]
    pub fn next_out(&self) -> Option<Time> {
        let packet = self.flight.front()?;
        Some(self.link.server.delivery(Time::new(packet.start), packet.size()))
    }

    /// Hands over what was kept and comes out before `until`. When the next comes out, if there is one.
    #[inline]
    pub fn deliver(&mut self, until: Time, mut each: impl FnMut(Arrival)) -> Option<Time> {
        while let Some(time) = self.next_out() {
            if time >= until {
                return Some(time);
            }
            let packet = self.flight.pop_front()?;
            each(Arrival::served(time, packet, self.link.server.entity()));
        }
        None
    }

    /// Hands over all that was kept, to someone who has the other end of the line.
    pub fn export(&mut self, mut each: impl FnMut(Packet)) {
        while let Some(packet) = self.flight.pop_front() {
            each(packet);
        }
    }
}

//! A link, worked through window by window: all that arrives in a window is put in order and served at once.

use crate::events::Key;
use crate::network::link::Link;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::time::Time;

/// A packet that comes to a stop, and when.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The event that brings it.
    pub key: Key,
    /// The packet.
    pub packet: Packet,
}

/// Arrivals of one window.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    arrivals: Vec<Arrival>,
    order: Vec<(u64, u32)>,
}

impl Inbox {
    /// Puts in one more.
    #[inline]
    pub fn push(&mut self, arrival: Arrival) {
        self.arrivals.push(arrival);
    }

    /// Whether nothing is in it.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    /// Takes out all arrivals, in the order of their events; those of one event as they were put in.
    #[inline]
    pub fn drain(&mut self, mut each: impl FnMut(Arrival)) {
        if self.arrivals.is_sorted_by(|a, b| a.key <= b.key) {
            self.arrivals.drain(..).for_each(each);
            return;
        }
        self.sort();
        for &(_, index) in &self.order {
            each(self.arrivals[index as usize]);
        }
        self.arrivals.clear();
    }

    fn sort(&mut self) {
        let Self { arrivals, order } = self;
        order.clear();
        order.extend(arrivals.iter().zip(0..).map(|(arrival, index)| (arrival.key.time.bits(), index)));
        order.sort_unstable();
        // Times rarely tie; where they do the rest of the key decides, and among equals what came first.
        let mut from = 0;
        while let Some(place) = order[from..].windows(2).position(|pair| pair[0].0 == pair[1].0) {
            let first = from + place;
            let count = order[first..].iter().take_while(|entry| entry.0 == order[first].0).count();
            order[first..first + count].sort_by_key(|&(_, index)| arrivals[index as usize].key);
            from = first + count;
        }
    }
}

/// A link at work.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its queue and its transmitter.
    pub link: Link,
    /// The node at its end.
    pub to: u32,
    /// What is on its way, first in, first out.
    flight: Ring<Packet>,
}

impl Line {
    /// An idle line to node `to`.
    #[must_use]
    pub fn new(link: Link, to: u32) -> Self {
        Self { link, to, flight: Ring::default() }
    }

    /// Serves all that arrives in a window. `lost` hears of packets that are lost.
    pub fn serve(&mut self, inbox: &mut Inbox, end: Time, mut lost: impl FnMut(Arrival)) {
        let Self { link, flight, .. } = self;
        inbox.drain(|arrival| {
            let Arrival { key, packet } = arrival;
            let Ok(service) = link.server.offer(key, packet.size(), packet.is_capable()) else {
                return lost(arrival);
            };
            if service.delivery >= end {
                return link.note_late();
            }
            if link.lossy && link.loses_next() {
                return lost(arrival);
            }
            let packet = packet.served(service.start, service.precedence);
            flight.push_back(if service.marked { packet.marked() } else { packet });
        });
    }

    /// Hands over what reaches its end before `until`.
    #[inline]
    pub fn deliver(&mut self, until: Time, mut each: impl FnMut(Arrival)) {
        while let Some(&packet) = self.flight.front() {
            let start = Time::new(packet.start);
            let time = self.link.server.delivery(start, packet.size());
            if time >= until {
                return;
            }
            self.flight.pop_front();
            each(Arrival { key: Key::new(time, start, packet.precedence(), self.link.server.entity()), packet });
        }
    }

    /// Packets on their way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }
}

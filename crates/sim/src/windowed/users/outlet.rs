//! The network as the transports of one host see it, in the midst of a window.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::port::{Port, PortTiming};
use crate::events::{Entity, Key, Keyed};
use crate::packet::{Address, Packet};
use crate::time::Time;
use crate::transport::network::{Network, Schedule};
use crate::transport::sack::SackSlab;
use crate::windowed::active::Active;
use crate::windowed::clock::{Clock, Window};
use crate::windowed::inbox::{AHEAD, Arrival, Inbox};
use crate::windowed::wheel::Wheel;

/// What is to be done at a site in the present window, the earliest first: the packet that arrives; nothing for timers.
pub type Due = Keyed<Option<Packet>>;

/// What sites have to do later.
#[derive(Debug)]
pub struct Calendar {
    /// Timers, with the place of the site in its region.
    timers: Wheel<(Key, u32)>,
    /// Packets that arrive at their hosts, likewise.
    arrivals: Wheel<(Arrival, u32)>,
    /// Packets that reach the router of their site, likewise.
    leaving: Wheel<(Arrival, u32)>,
    clock: Clock,
    window: Window,
    end: Time,
}

impl Calendar {
    /// Nothing.
    #[must_use]
    pub fn new(clock: Clock, end: Time) -> Self {
        let (timers, arrivals, leaving) = (Wheel::default(), Wheel::default(), Wheel::default());
        Self { timers, arrivals, leaving, clock, window: 0, end }
    }

    /// Plans an event of a site, before the first window.
    pub fn plan(&mut self, event: Key, site: u32) {
        if event.time < self.end {
            self.timers.push(self.clock.window(event.time), (event, site));
        }
    }

    /// Begins a window: what is to be done in it at which site, and which packets reach the router of which.
    #[inline]
    pub fn begin(&mut self, window: Window, mut due: impl FnMut(u32, Due), mut leaving: impl FnMut(u32, Arrival)) {
        self.window = window;
        self.timers.take(|(key, site)| due(site, Due { key, item: None }));
        self.timers.turn();
        self.arrivals.take(|(arrival, site)| due(site, Due { key: arrival.key(), item: Some(arrival.packet) }));
        self.arrivals.turn();
        self.leaving.take(|(arrival, site)| leaving(site, arrival));
        self.leaving.turn();
    }

    /// A window, not before the one that comes, before which there is nothing to do; nothing if there never is.
    #[must_use]
    pub fn next(&self) -> Option<Window> {
        [self.timers.next(), self.arrivals.next(), self.leaving.next()].into_iter().flatten().min()
    }

    /// Goes on to a later window, before which there is nothing to do.
    pub fn turn_to(&mut self, window: Window) {
        self.timers.turn_to(window);
        self.arrivals.turn_to(window);
        self.leaving.turn_to(window);
    }

    /// Bytes that it occupies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.timers.bytes() + self.arrivals.bytes() + self.leaving.bytes()
    }
}

/// What is to be done at a site in the present window.
pub type Agenda = BinaryHeap<Reverse<Due>>;

/// Where transports of a site have their events.
#[derive(Debug)]
pub struct Turns<'a> {
    /// In the present window.
    pub agenda: &'a mut Agenda,
    /// Later.
    pub calendar: &'a mut Calendar,
    /// The place of the site in its region.
    pub site: u32,
}

impl Turns<'_> {
    /// Puts off the arrival of a packet at its host to its turn.
    pub fn put_off(&mut self, key: Key, packet: Packet) {
        let window = self.calendar.clock.window(key.time);
        if window <= self.calendar.window {
            self.agenda.push(Reverse(Due { key, item: Some(packet) }));
        } else {
            self.calendar.arrivals.push(window, (Arrival::new(key, packet), self.site));
        }
    }
}

impl Schedule for Turns<'_> {
    #[inline]
    fn schedule(&mut self, event: Key) {
        if event.time >= self.calendar.end {
            return;
        }
        let window = self.calendar.clock.window(event.time);
        if window <= self.calendar.window {
            self.agenda.push(Reverse(Due { key: event, item: None }));
        } else {
            self.calendar.timers.push(window, (event, self.site));
        }
    }
}

/// Which stop is next for packets that come to a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Next<'a> {
    /// That towards the destination of a packet with an address: the stops by destination.
    pub by_destination: &'a [u32],
    /// That of the path of its flow: the stops by position.
    pub by_position: &'a [u32],
}

impl<'a> Next<'a> {
    /// Of packets with addresses.
    #[must_use]
    pub fn addressed(by_destination: &'a [u32]) -> Self {
        Self { by_destination, by_position: &[] }
    }
}

/// Where packets go that come to a node: the stops behind it.
#[derive(Debug)]
pub struct Router<'a> {
    /// Which stop is next.
    pub next: Next<'a>,
    /// What arrives at each stop.
    pub inboxes: &'a mut [Inbox],
    /// Which stops have something to do.
    pub active: &'a mut Active,
}

impl Router<'_> {
    /// A packet arrives in `window`.
    #[inline]
    pub fn pass_on(&mut self, window: Window, mut arrival: Arrival) {
        let stop = if arrival.packet.is_addressed() {
            self.next.by_destination[arrival.packet.destination() as usize]
        } else {
            arrival.packet = arrival.packet.forwarded();
            self.next.by_position[arrival.packet.position() as usize]
        };
        self.enter(stop, window, arrival);
    }

    /// A packet comes to a stop in `window`.
    #[inline]
    pub fn enter(&mut self, stop: u32, window: Window, arrival: Arrival) {
        let inbox = &mut self.inboxes[stop as usize];
        self.active.add(window, inbox.place());
        inbox.push(window, arrival);
    }
}

/// The network as the transports of one host see it.
pub struct Outlet<'a, 'b> {
    /// Where its events are.
    pub turns: Turns<'a>,
    /// Where packets go.
    pub router: &'a mut Router<'b>,
    /// Packets that have reached the router before the end.
    pub crossed: &'a mut u64,
    /// SACK blocks of the ACKs in flight.
    pub sacks: &'a mut SackSlab,
    /// The interface, out.
    pub port: &'a mut Port,
    /// Its kind.
    pub timing: &'a PortTiming,
    /// Its entity.
    pub entity: Entity,
    /// Where packets go, and of which transfer.
    pub address: Address,
    /// The last packet of the transfer.
    pub last: u32,
}

impl Schedule for Outlet<'_, '_> {
    #[inline]
    fn schedule(&mut self, event: Key) {
        self.turns.schedule(event);
    }
}

impl Network for Outlet<'_, '_> {
    #[inline]
    fn send(&mut self, packet: Packet, now: Key) {
        let last = !packet.is_reverse() && packet.seq() == self.last;
        let size = packet.size();
        let delivery = self.port.cross(now, size, self.timing, self.entity);
        let packet = packet.addressed(Address { last, ..self.address });
        let calendar = &mut *self.turns.calendar;
        if delivery.time >= calendar.end {
            return;
        }
        *self.crossed += 1;
        let (window, arrival) = (calendar.clock.window(delivery.time), Arrival::new(delivery, packet));
        if window < calendar.window + AHEAD {
            self.router.pass_on(window, arrival);
        } else {
            calendar.leaving.push(window, (arrival, self.turns.site));
        }
    }

    #[inline]
    fn sacks(&mut self) -> &mut SackSlab {
        self.sacks
    }
}

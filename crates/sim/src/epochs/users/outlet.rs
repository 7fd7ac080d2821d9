//! The network as the transports of one host see it, in the midst of an epoch.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::port::Port;
use crate::epochs::active::Active;
use crate::epochs::clock::{Clock, Epoch};
use crate::epochs::inbox::{AHEAD, Arrival, Inbox};
use crate::epochs::wheel::Wheel;
use crate::events::{Entity, Key, Keyed};
use crate::network::wire::Wire;
use crate::packet::{Address, Packet};
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;
use crate::transport::network::{Network, Schedule};

/// What is to be done at a site in the present epoch, the earliest first: the packet that arrives; nothing for timers.
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
    epoch: Epoch,
    end: Time,
}

impl Calendar {
    /// Nothing.
    #[must_use]
    pub fn new(clock: Clock, end: Time) -> Self {
        let (timers, arrivals, leaving) = (Wheel::default(), Wheel::default(), Wheel::default());
        Self { timers, arrivals, leaving, clock, epoch: 0, end }
    }

    /// Plans an event of a site, before the first epoch.
    pub fn plan(&mut self, event: Key, site: u32) {
        if event.time < self.end {
            self.timers.push(self.clock.epoch(event.time), (event, site));
        }
    }

    /// Begins an epoch: what is to be done in it at which site, and which packets reach the router of which.
    #[inline]
    pub fn begin(&mut self, epoch: Epoch, mut due: impl FnMut(u32, Due), mut leaving: impl FnMut(u32, Arrival)) {
        self.epoch = epoch;
        self.timers.take(|(key, site)| due(site, Due { key, item: None }));
        self.timers.turn();
        self.arrivals.take(|(arrival, site)| due(site, Due { key: arrival.key(), item: Some(arrival.packet) }));
        self.arrivals.turn();
        self.leaving.take(|(arrival, site)| leaving(site, arrival));
        self.leaving.turn();
    }

    /// An epoch, not before the one that comes, before which there is nothing to do; nothing if there never is.
    #[must_use]
    pub fn next(&self) -> Option<Epoch> {
        [self.timers.next(), self.arrivals.next(), self.leaving.next()].into_iter().flatten().min()
    }

    /// Continues to a later epoch, before which there is nothing to do.
    pub fn turn_to(&mut self, epoch: Epoch) {
        self.timers.turn_to(epoch);
        self.arrivals.turn_to(epoch);
        self.leaving.turn_to(epoch);
    }
}

/// What is to be done at a site in the present epoch.
pub type Agenda = BinaryHeap<Reverse<Due>>;

/// Where transports of a site have their events.
#[derive(Debug)]
pub struct EventSchedule<'a> {
    /// In the present epoch.
    pub agenda: &'a mut Agenda,
    /// Later.
    pub calendar: &'a mut Calendar,
    /// The place of the site in its region.
    pub site: u32,
}

impl EventSchedule<'_> {
    /// Puts off the arrival of a packet at its host to its turn.
    pub fn put_off(&mut self, key: Key, packet: Packet) {
        let epoch = self.calendar.clock.epoch(key.time);
        if epoch <= self.calendar.epoch {
            self.agenda.push(Reverse(Due { key, item: Some(packet) }));
        } else {
            self.calendar.arrivals.push(epoch, (Arrival::new(key, packet), self.site));
        }
    }
}

impl Schedule for EventSchedule<'_> {
    #[inline]
    fn schedule(&mut self, event: Key) {
        if event.time >= self.calendar.end {
            return;
        }
        let epoch = self.calendar.clock.epoch(event.time);
        if epoch <= self.calendar.epoch {
            self.agenda.push(Reverse(Due { key: event, item: None }));
        } else {
            self.calendar.timers.push(epoch, (event, self.site));
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
    /// A packet arrives in `epoch`.
    #[inline(always)]
    pub fn pass_on(&mut self, epoch: Epoch, mut arrival: Arrival) {
        let stop = if arrival.packet.is_addressed() {
            self.next.by_destination[arrival.packet.destination() as usize]
        } else {
            arrival.packet = arrival.packet.forwarded();
            self.next.by_position[arrival.packet.position() as usize]
        };
        self.enter(stop, epoch, arrival);
    }

    /// A packet comes to a stop in `epoch`.
    #[inline(always)]
    pub fn enter(&mut self, stop: u32, epoch: Epoch, arrival: Arrival) {
        let inbox = &mut self.inboxes[stop as usize];
        if inbox.push(epoch, arrival) {
            self.active.add(epoch, inbox.place());
        }
    }
}

/// The network as the transports of one host see it.
pub struct Outlet<'a, 'b> {
    /// Where its events are.
    pub turns: EventSchedule<'a>,
    /// Where packets go.
    pub router: &'a mut Router<'b>,
    /// Packets that have reached the router before the end.
    pub crossed: &'a mut u64,
    /// Options of the ACKs in flight.
    pub ack_options: &'a mut AckOptionSlab,
    /// The interface, out.
    pub port: &'a mut Port,
    /// Its kind.
    pub wire: &'a Wire,
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
        let delivery = self.port.cross(now, size, self.wire, self.entity);
        let packet = packet.addressed(Address { last, ..self.address });
        let calendar = &mut *self.turns.calendar;
        if delivery.time >= calendar.end {
            return;
        }
        *self.crossed += 1;
        let (epoch, arrival) = (calendar.clock.epoch(delivery.time), Arrival::new(delivery, packet));
        if epoch < calendar.epoch + AHEAD {
            self.router.pass_on(epoch, arrival);
        } else {
            calendar.leaving.push(epoch, (arrival, self.turns.site));
        }
    }

    #[inline]
    fn ack_options(&mut self) -> &mut AckOptionSlab {
        self.ack_options
    }
}

//! The network as the transports of one host see it, in the midst of a window.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::port::{Port, PortTiming};
use crate::events::{Entity, Key};
use crate::packet::{Address, Packet};
use crate::time::Time;
use crate::transport::network::{Network, Schedule};
use crate::transport::sack::SackSlab;
use crate::windowed::clock::{Clock, Window};
use crate::windowed::inbox::{AHEAD, Arrival, Inbox};
use crate::windowed::wheel::Wheel;

/// What is to be done at a site in the present window, the earliest first.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// When.
    pub key: Key,
    /// The packet that arrives; nothing for timers.
    pub packet: Option<Packet>,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// What is to be done at a site, now and later.
#[derive(Debug)]
pub struct Agenda {
    /// In the present window.
    pub now: BinaryHeap<Reverse<Due>>,
    timers: Wheel<Key>,
    arrivals: Wheel<Arrival>,
    clock: Clock,
    window: Window,
    end: Time,
}

impl Agenda {
    /// Nothing to do.
    #[must_use]
    pub fn new(clock: Clock, end: Time) -> Self {
        let (now, timers, arrivals) = (BinaryHeap::new(), Wheel::default(), Wheel::default());
        Self { now, timers, arrivals, clock, window: 0, end }
    }

    /// Begins a window.
    #[inline]
    pub fn begin(&mut self, window: Window) {
        self.window = window;
        let Self { now, timers, arrivals, .. } = self;
        timers.take(|key| now.push(Reverse(Due { key, packet: None })));
        timers.turn();
        arrivals.take(|arrival| now.push(Reverse(Due { key: arrival.key(), packet: Some(arrival.packet) })));
        arrivals.turn();
    }

    /// Puts off the arrival of a packet at its host to its turn.
    pub fn put_off(&mut self, key: Key, packet: Packet) {
        let window = self.clock.window(key.time);
        if window <= self.window {
            self.now.push(Reverse(Due { key, packet: Some(packet) }));
        } else {
            self.arrivals.push(window, Arrival::new(key, packet));
        }
    }

    /// Bytes that it occupies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.timers.bytes() + self.arrivals.bytes() + self.now.capacity() * size_of::<Due>()
    }
}

impl Schedule for Agenda {
    #[inline]
    fn schedule(&mut self, event: Key) {
        if event.time >= self.end {
            return;
        }
        let window = self.clock.window(event.time);
        if window <= self.window {
            self.now.push(Reverse(Due { key: event, packet: None }));
        } else {
            self.timers.push(window, event);
        }
    }
}

/// Where packets go that have crossed the interface of a host: the stops behind the router of the site.
#[derive(Debug)]
pub struct Router<'a> {
    /// The next stops, by destination.
    pub next: &'a [u32],
    /// What arrives at each stop.
    pub inboxes: &'a mut [Inbox],
}

impl Router<'_> {
    /// A packet arrives in `window`.
    #[inline]
    pub fn pass_on(&mut self, window: Window, arrival: Arrival) {
        let stop = self.next[arrival.packet.destination() as usize];
        self.inboxes[stop as usize].push(window, arrival);
    }
}

/// Packets on their way from the hosts of a site to its router.
#[derive(Debug)]
pub struct Leaving {
    later: Wheel<Arrival>,
    clock: Clock,
    window: Window,
    end: Time,
    /// Packets that reached the router before the end.
    pub crossed: u64,
}

impl Leaving {
    /// None.
    #[must_use]
    pub fn new(clock: Clock, end: Time) -> Self {
        Self { later: Wheel::default(), clock, window: 0, end, crossed: 0 }
    }

    /// Begins a window: the router passes on what reaches it then and was sent long before.
    #[inline]
    pub fn begin(&mut self, window: Window, router: &mut Router<'_>) {
        self.window = window;
        self.later.take(|arrival| router.pass_on(window, arrival));
        self.later.turn();
    }

    /// A packet leaves that reaches the router at `key`.
    #[inline]
    fn leave(&mut self, key: Key, packet: Packet, router: &mut Router<'_>) {
        if key.time >= self.end {
            return;
        }
        self.crossed += 1;
        let (window, arrival) = (self.clock.window(key.time), Arrival::new(key, packet));
        if window < self.window + AHEAD {
            router.pass_on(window, arrival);
        } else {
            self.later.push(window, arrival);
        }
    }

    /// Bytes that it occupies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.later.bytes()
    }
}

/// The network as the transports of one host see it.
pub struct Outlet<'a, 'b> {
    /// What is to be done at the site.
    pub agenda: &'a mut Agenda,
    /// What its hosts have sent.
    pub leaving: &'a mut Leaving,
    /// Where that goes.
    pub router: &'a mut Router<'b>,
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
        self.agenda.schedule(event);
    }
}

impl Network for Outlet<'_, '_> {
    #[inline]
    fn send(&mut self, packet: Packet, now: Key) {
        let last = !packet.is_reverse() && packet.seq() == self.last;
        let size = packet.size();
        let delivery = self.port.cross(now, size, self.timing, self.entity);
        let packet = packet.addressed(Address { last, ..self.address });
        self.leaving.leave(delivery, packet, self.router);
    }

    #[inline]
    fn sacks(&mut self) -> &mut SackSlab {
        self.sacks
    }

    #[inline]
    fn pushes_back(&self) -> bool {
        false
    }

    fn takes(&mut self, _flow: u32, _size: u32, _now: Key) -> bool {
        true
    }

    fn catch_up(&mut self, _link: u32, _now: Key) {}

    /// Nobody asks: no receiver's window is ever full.
    fn busy_throughout(&self, _link: u32, _since: Time, _now: Time) -> bool {
        false
    }
}

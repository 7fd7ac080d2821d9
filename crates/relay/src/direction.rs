//! A direction of a link, with the packets that have gone on its line and have not come out.

use tightlink_sim::events::Key;
use tightlink_sim::network::link::managed::Surroundings;
use tightlink_sim::network::link::{Link, Passage};
use tightlink_sim::network::queue::Refusal;
use tightlink_sim::network::server::{ServerTotals, Service};
use tightlink_sim::packet::Packet;
use tightlink_sim::time::Time;

use crate::packets::{Agenda, Id, Packets, line_up, take_until};
use crate::record::{Outcome, Record, Sink};
use crate::spec::RelaySpec;

/// What a direction did.
#[derive(Clone, Copy, Debug)]
pub struct LinkTotals {
    /// The transmitter and its queue.
    pub server: ServerTotals,
    /// Packets that the wire lost.
    pub lost_on_wire: u64,
}

/// Packets on a wire for which there is memory from the start.
const USUAL: usize = 4096;

/// A direction of a link.
#[derive(Debug)]
pub struct Direction {
    link: Link,
    /// The latest instant at which a packet was offered or something was decided.
    pub latest: Time,
    wire: OnWire,
}

/// Where packets are that it has served.
#[derive(Debug)]
struct OnWire {
    /// On their way to another stop, in the order in which they reach it.
    onward: Agenda<Key>,
    /// Lost, and when they would have come out.
    lost: Agenda<Time>,
    count_lost: u64,
    /// Why a packet is lost for which the queue has no room.
    full: Outcome,
}

/// What lies around a link.
struct Around<'a, S> {
    wire: &'a mut OnWire,
    packets: &'a mut Packets,
    sink: &'a mut S,
}

impl<S> Around<'_, S> {
    /// A packet comes out of the link, to go on to another stop or to its port.
    fn comes_out(&mut self, id: Id, delivery: Key) {
        let Some((_, gap_s)) = self.packets.next_stop(id) else {
            self.packets.leave(id, delivery.time);
            return;
        };
        self.packets.goes_on(id, delivery.time);
        let reaches = Key::new(delivery.time + gap_s, delivery.caused_at, delivery.precedence(), delivery.entity());
        line_up(&mut self.wire.onward, reaches, id);
    }
}

impl<S: Sink> Surroundings for Around<'_, S> {
    const SEES_DEPARTURES: bool = false;

    fn joins(&mut self, _: &Packet, _: Key) {}

    fn loses(&mut self, packet: &Packet, at: Key, refusal: Refusal, _: bool) {
        let outcome = if refusal == Refusal::Managed { Outcome::Management } else { self.wire.full };
        self.packets.lose(self.packets.id(packet), outcome, at.time, self.sink);
    }

    fn enters_line(&mut self, _: &Packet, _: Key, _: impl FnOnce() -> f64) {}

    fn served(&mut self, link: &mut Link, packet: Packet, passage: Passage, service: &Service) {
        let id = self.packets.id(&packet);
        self.packets.serve(id, &packet, service, link.server.begun(service.start));
        let delivery = service.delivery_key(link.server.entity());
        if passage == Passage::Lost {
            self.packets.lose_on_wire(id, delivery.time);
            line_up(&mut self.wire.lost, delivery.time, id);
            return;
        }
        self.comes_out(id, delivery);
        if passage == Passage::Through
            && let Some(delivery) = link.duplicate(&packet, delivery)
            && let Some(copy) = self.packets.duplicate(id)
        {
            self.comes_out(copy, delivery);
        }
    }

    fn wake(&mut self, _: Key) {}
}

impl Direction {
    /// The link with this number, idle.
    #[must_use]
    pub fn new(spec: &RelaySpec, number: usize) -> Self {
        let link = &spec.links[number];
        let site = link.site(spec.profile, spec.seed);
        let output_ring = spec.modelled().is_some_and(|router| {
            router.processor.output_ring
                && spec.routes.iter().any(|route| route.from == router.port && route.links.contains(&number))
        });
        Self {
            link: Link::new(link, number as u32, site, Time::NEVER),
            latest: Time::ZERO,
            wire: OnWire {
                onward: Agenda::with_capacity(USUAL),
                lost: Agenda::with_capacity(USUAL),
                count_lost: 0,
                full: if output_ring { Outcome::OutputRing } else { Outcome::Queue },
            },
        }
    }

    /// The link changes, loses packets and doubles them only from then on, in seconds.
    pub fn begin_at(&mut self, begins_s: f64) {
        self.link.begin_at(begins_s);
    }

    /// Offers a packet to the link.
    pub fn offer(&mut self, id: Id, now: Key, packets: &mut Packets, sink: &mut impl Sink) {
        self.latest = self.latest.max(now.time);
        let Some((packet, key)) = packets.offered(id, now.time) else { return };
        let Self { link, wire, .. } = self;
        if link.managed.is_some() {
            link.join(packet, key, now, &mut Around { wire, packets, sink });
            return;
        }
        match link.server.offer(now, packet.size(), packet.is_capable()) {
            Ok(service) => {
                let (packet, passage) = link.pass(packet, &service);
                Around { wire, packets, sink }.served(link, packet, passage, &service);
            }
            Err(Refusal::Managed) => packets.lose(id, Outcome::Management, now.time, sink),
            Err(_) => packets.lose(id, wire.full, now.time, sink),
        }
    }

    /// When the queue decides next, if it does at departures and a packet waits.
    #[must_use]
    pub fn next_decision(&self) -> Option<Key> {
        self.link.next_due()
    }

    /// Lets the queue decide all that is to be decided up to `now`.
    pub fn decide(&mut self, now: Key, packets: &mut Packets, sink: &mut impl Sink) {
        self.latest = self.latest.max(now.time);
        let Self { link, wire, .. } = self;
        link.decide_until(now, &mut Around { wire, packets, sink });
    }

    /// When the next packet that continues reaches its next stop.
    #[must_use]
    pub fn next_onward(&self) -> Option<Key> {
        self.wire.onward.front().map(|&(key, _)| key)
    }

    /// That packet reaches it.
    pub fn take_onward(&mut self) -> Option<(Key, Id)> {
        self.wire.onward.pop_front()
    }

    /// When the next packet that the wire lost would have come out.
    #[must_use]
    pub fn next_lost(&self) -> Option<Time> {
        self.wire.lost.front().map(|&(at, _)| at)
    }

    /// Ends what was lost on the wire until `now`.
    pub fn clear(&mut self, now: Time, packets: &mut Packets, sink: &mut impl Sink) {
        while let Some((_, id)) = take_until(&mut self.wire.lost, now) {
            self.wire.count_lost += 1;
            packets.end(id, Outcome::Wire, f64::NAN, sink);
        }
    }

    /// What it did until `end`, for all that is known now.
    #[must_use]
    pub fn totals(&self, end: Time) -> LinkTotals {
        let (work, busy_s) = (self.link.server.work(end.seconds()), self.link.busy_until(end));
        let server = ServerTotals { work, busy_s, ..self.link.totals_until(end) };
        LinkTotals { server, lost_on_wire: self.wire.count_lost }
    }
}

impl LinkTotals {
    /// Takes back what was counted of a packet, or of a copy of one, that is under way at `end`.
    pub fn take_back(&mut self, record: &Record, begun_s: f64, copied: bool, end: Time) {
        if record.departure_s >= end.seconds() && !copied {
            let totals = &mut self.server;
            totals.packets_out -= 1;
            totals.bytes_out -= u64::from(record.size);
            totals.waiting_s -= (begun_s - end.seconds()).max(0.0);
        }
    }
}

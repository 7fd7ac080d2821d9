//! One direction: its link, and all packets that came by one port and have not left.

mod packets;

use std::collections::VecDeque;

use tightlink_sim::events::{Key, Precedence};
use tightlink_sim::network::link::{Link, Passage};
use tightlink_sim::network::managed::Surroundings;
use tightlink_sim::network::queue::{Refusal, Site};
use tightlink_sim::network::server::{Server, ServerTotals, Service, Wire};
use tightlink_sim::packet::Packet;
use tightlink_sim::time::Time;

use self::packets::{Packets, Stage, Transit};
use crate::buffer::Buffer;
use crate::header::Header;
use crate::record::{Outcome, Record, Sink};
use crate::spec::{DirectionSpec, RelaySpec, room};

/// What a direction did.
#[derive(Clone, Copy, Debug)]
pub struct LinkTotals {
    /// The transmitter and its queue.
    pub server: ServerTotals,
    /// Packets that the wire lost.
    pub lost_on_wire: u64,
}

/// One direction.
#[derive(Debug)]
pub struct Way {
    link: Link,
    /// The processor comes before the link.
    pub near: bool,
    /// The latest instant at which a packet came or something was decided.
    pub latest: Time,
    packets: Packets,
}

/// What lies around a link whose queue decides at departure.
struct Around<'a, S> {
    packets: &'a mut Packets,
    sink: &'a mut S,
}

impl<S: Sink> Surroundings for Around<'_, S> {
    const SEES_DEPARTURES: bool = false;

    fn joins(&mut self, packet: &Packet, _: Key) {
        let number = self.packets.number(packet.seq());
        if let Some(transit) = self.packets.get(number) {
            transit.stage = Stage::Waiting;
        }
    }

    fn loses(&mut self, packet: &Packet, at: Key, refusal: Refusal, _: bool) {
        let number = self.packets.number(packet.seq());
        let outcome = if refusal == Refusal::Managed { Outcome::Management } else { self.packets.full };
        self.packets.lose(number, outcome, at.time, self.sink);
    }

    fn enters_line(&mut self, _: &Packet, _: Key, _: &Server) {}

    fn served(&mut self, link: &mut Link, packet: Packet, passage: Passage, service: &Service) {
        self.packets.serve(packet, passage, service);
        if passage == Passage::Through
            && let Some(delivery) = link.duplicate(&packet, service.delivery_key(link.server.entity()))
        {
            self.packets.duplicate(&packet, delivery.time);
        }
    }

    fn wake(&mut self, _: Key) {}
}

impl Way {
    /// The direction from a port, idle.
    #[must_use]
    pub fn new(spec: &RelaySpec, port: usize) -> Self {
        let direction @ DirectionSpec { link, beyond_s, between } = &spec.directions[port];
        let site = Site { link: &link.name, wire: Wire::new(link), profile: spec.profile, seed: spec.seed, ns2: None };
        let modelled = spec.modelled();
        let (bytes, most) = room(direction, modelled.map(|router| router.processor.input_ring));
        let near = modelled.is_some_and(|router| router.port == port);
        let output_ring = near && modelled.is_some_and(|router| router.processor.output_ring);
        let numbers = || VecDeque::with_capacity(most);
        let mut link = Link::new(link, port as u32, site, Time::NEVER);
        link.begin_at(spec.begins_s);
        Self {
            link,
            near,
            latest: Time::ZERO,
            packets: Packets {
                buffer: Buffer::new(bytes),
                transits: VecDeque::with_capacity(most),
                most,
                header_bytes: spec.device.header_bytes(),
                gone: 0,
                ring: numbers(),
                on_link: numbers(),
                due: numbers(),
                lost: numbers(),
                lost_on_wire: 0,
                processor_follows: modelled.is_some() && !near,
                beyond_s: *beyond_s,
                between: between
                    .iter()
                    .map(|each| (Header::between(each.source, each.destination), each.beyond_s))
                    .collect(),
                full: if output_ring { Outcome::OutputRing } else { Outcome::Queue },
            },
        }
    }

    /// Where the bytes of the next packet may be written; nothing if there is no room.
    pub fn room(&mut self) -> Option<&mut [u8]> {
        if self.packets.transits.len() < self.packets.most { self.packets.buffer.room() } else { None }
    }

    /// A packet, of which `length` bytes were written, came by `port` at `at`: its number.
    pub fn keep(&mut self, port: usize, at: Time, length: usize) -> u64 {
        self.latest = at;
        let packets = &mut self.packets;
        let place = packets.buffer.keep(length);
        let bytes = packets.buffer.packet(place).get(packets.header_bytes..).unwrap_or_default();
        let record = Record::new(port as u8, bytes.len() as u32, Header::of(bytes), at.seconds());
        packets.transits.push_back(Transit { place, record, stage: Stage::Waiting, copied: false });
        packets.gone + packets.transits.len() as u64 - 1
    }

    /// The size of a packet.
    pub fn size(&mut self, number: u64) -> u32 {
        self.packets.get(number).map_or(0, |transit| transit.record.size)
    }

    /// A packet is in the ring of the processor.
    pub fn enter_ring(&mut self, number: u64) {
        if let Some(transit) = self.packets.get(number) {
            transit.stage = Stage::Ring;
            self.packets.ring.push_back(number);
        }
    }

    /// The oldest packet in the ring of the processor leaves it: its number.
    pub fn leave_ring(&mut self) -> Option<u64> {
        self.packets.ring.pop_front()
    }

    /// A packet that comes from the processor is due at the other port.
    pub fn leave_processor(&mut self, number: u64, at: Time) {
        self.packets.due_at(number, at);
    }

    /// The ring of the processor has no room for a packet.
    pub fn refuse(&mut self, number: u64, at: Time, sink: &mut impl Sink) {
        self.packets.lose(number, Outcome::InputRing, at, sink);
    }

    /// Departures at the same instant come first: their services began before.
    fn key(&self, at: Time) -> Key {
        Key::new(at, at, Precedence::FIRST, self.link.server.entity())
    }

    /// Offers a packet to the link at `at`.
    pub fn offer(&mut self, number: u64, at: Time, sink: &mut impl Sink) {
        let (now, Self { link, packets, .. }) = (self.key(at), self);
        let Some((packet, key)) = packets.packet(number) else { return };
        if let Some(transit) = packets.get(number) {
            transit.record.offer_s = at.seconds();
        }
        if link.managed.is_some() {
            link.join(packet, key, now, &mut Around { packets, sink });
            return;
        }
        match link.server.offer(now, packet.size(), packet.is_capable()) {
            Ok(service) => {
                let (packet, passage) = link.pass(packet, &service);
                Around { packets, sink }.served(link, packet, passage, &service);
            }
            Err(Refusal::Managed) => packets.lose(number, Outcome::Management, at, sink),
            Err(_) => packets.lose(number, packets.full, at, sink),
        }
    }

    /// When the queue decides next, if it does at departures and a packet waits.
    #[must_use]
    pub fn next_decision(&self) -> Option<Time> {
        self.link.next_due().map(|key| key.time)
    }

    /// Lets the queue decide all that comes before what happens at `until`.
    pub fn decide(&mut self, until: Time, sink: &mut impl Sink) {
        self.latest = self.latest.max(until);
        let (now, Self { link, packets, .. }) = (self.key(until), self);
        link.decide_until(now, &mut Around { packets, sink });
    }

    /// When the next packet on the link reaches the processor behind it.
    pub fn next_on_link(&mut self) -> Option<Time> {
        let number = *self.packets.on_link.front()?;
        match self.packets.get(number)?.stage {
            Stage::Link(delivery) => Some(delivery),
            _ => None,
        }
    }

    /// That packet leaves the link: its number.
    pub fn leave_link(&mut self) -> Option<u64> {
        self.packets.on_link.pop_front()
    }

    /// When the next packet is to be forwarded, or was lost on the wire.
    pub fn next_due(&mut self) -> Option<Time> {
        let (due, lost) = (self.packets.due.front().copied(), self.packets.lost.front().copied());
        let at = |packets: &mut Packets, number: Option<u64>| match packets.get(number?)?.stage {
            Stage::Due(due) => Some(due),
            _ => None,
        };
        let (due, lost) = (at(&mut self.packets, due), at(&mut self.packets, lost));
        due.into_iter().chain(lost).min()
    }

    /// When the next packet is due at the other port, if that is not after `now`.
    pub fn due(&mut self, now: Time, sink: &mut impl Sink) -> Option<Time> {
        self.clear(now, sink);
        let number = *self.packets.due.front()?;
        match self.packets.get(number)?.stage {
            Stage::Due(due) if due <= now => Some(due),
            _ => None,
        }
    }

    /// Ends what was lost on the wire until `now`.
    fn clear(&mut self, now: Time, sink: &mut impl Sink) {
        while let Some(&number) = self.packets.lost.front()
            && self.packets.get(number).is_some_and(|transit| matches!(transit.stage, Stage::Due(due) if due <= now))
        {
            self.packets.lost.pop_front();
            self.packets.end(number, Outcome::Wire, f64::NAN, sink);
        }
    }

    /// The bytes of the packet that is due next.
    #[must_use]
    pub fn next(&self) -> &[u8] {
        let next = self.packets.due.front().and_then(|number| number.checked_sub(self.packets.gone));
        let transit = next.and_then(|place| self.packets.transits.get(place as usize));
        transit.map_or(&[], |transit| self.packets.buffer.packet(transit.place))
    }

    /// The packet that was due next was forwarded at `sent_s`, or not.
    pub fn forward(&mut self, outcome: Outcome, sent_s: f64, sink: &mut impl Sink) {
        if let Some(number) = self.packets.due.pop_front() {
            self.packets.end(number, outcome, sent_s, sink);
        }
    }

    /// Ends everything at `end`; what is under way is noted as such. What the link did until then.
    pub fn finish(&mut self, end: Time, sink: &mut impl Sink) -> LinkTotals {
        let work = self.link.server.work(end.seconds());
        let mut totals = ServerTotals { work, ..self.link.totals_until(end) };
        for number in self.packets.gone..self.packets.gone + self.packets.transits.len() as u64 {
            let Some(&mut Transit { ref record, stage, copied, .. }) = self.packets.get(number) else { continue };
            if stage == Stage::Gone {
                continue;
            }
            if record.departure_s >= end.seconds() && !copied {
                totals.packets_out -= 1;
                totals.bytes_out -= u64::from(record.size);
                totals.busy_s -= record.departure_s - record.start_s.max(end.seconds());
                totals.waiting_s -= (record.start_s - end.seconds()).max(0.0);
            }
            let lost = record.outcome == Outcome::Wire && matches!(stage, Stage::Due(due) if due < end);
            self.packets.end(number, if lost { Outcome::Wire } else { Outcome::UnderWay }, f64::NAN, sink);
        }
        LinkTotals { server: totals, lost_on_wire: self.packets.lost_on_wire }
    }
}

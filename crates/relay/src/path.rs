//! The packets between two ports: when each is offered to the link and to the processor, and when it is due at the
//! other port. All times are computed, by the simulator's own link and processor; nothing here looks at a clock.
//!
//! ```text
//! port 0 ──▶ (processor) ──▶ link ──────────────────▶ port 1
//! port 0 ◀────────────────── (processor) ◀── link ◀── port 1
//! ```

use std::collections::VecDeque;

use tightlink_sim::events::{Key, Precedence};
use tightlink_sim::network::link::{Link, Passage};
use tightlink_sim::network::processor::Processor;
use tightlink_sim::network::queue::Site;
use tightlink_sim::network::server::{ServerTotals, Wire};
use tightlink_sim::packet::{Kind, Packet};
use tightlink_sim::time::Time;

use crate::buffer::{Buffer, Place};
use crate::header::Header;
use crate::record::{Fate, Record, Sink};
use crate::spec::{DirectionSpec, RelaySpec, RouterSpec, room};

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// In the input ring of the processor.
    Ring,
    /// On the link, from which it goes to the processor at that instant.
    Link(Time),
    /// On its way to the other port, or lost on it, until that instant.
    Due(Time),
    /// Lost.
    Lost,
}

#[derive(Debug)]
struct Transit {
    place: Place,
    record: Record,
    stage: Stage,
}

/// One direction: all packets that came by one port and have not left, in order.
#[derive(Debug)]
struct Way {
    link: Link,
    beyond_s: f64,
    /// The processor comes before the link.
    near: bool,
    buffer: Buffer,
    transits: VecDeque<Transit>,
    most: usize,
    header_bytes: usize,
    /// How many have left, from which the places of those that follow are counted.
    gone: u64,
    /// The first that may be in the ring, and the first that may be on the link.
    ring: u64,
    on_link: u64,
    latest: Time,
    lost_on_wire: u64,
}

impl Way {
    fn new(spec: &RelaySpec, port: usize) -> Self {
        let direction @ DirectionSpec { link, beyond_s } = &spec.directions[port];
        let site = Site { link: &link.name, wire: Wire::new(link), profile: spec.profile, seed: spec.seed, ns2: None };
        let ring = spec.modelled().map(|router| router.processor.input_ring);
        let (bytes, most) = room(direction, ring);
        Self {
            link: Link::new(link, port as u32, site, Time::NEVER),
            beyond_s: *beyond_s,
            near: spec.modelled().is_some_and(|router| router.port == port),
            buffer: Buffer::new(bytes),
            transits: VecDeque::with_capacity(most),
            most,
            header_bytes: spec.device.header_bytes(),
            gone: 0,
            ring: 0,
            on_link: 0,
            latest: Time::ZERO,
            lost_on_wire: 0,
        }
    }

    /// Offers a packet to the link at `at`: where it is then.
    fn offer(&mut self, record: &mut Record, at: Time, full: Fate, processor_follows: bool) -> Stage {
        record.offer_s = at.seconds();
        // Departures at the same instant come first: their services began before.
        let now = Key::new(at, at, Precedence::FIRST, self.link.server.entity());
        let Ok(service) = self.link.server.offer(now, record.size, false) else {
            record.fate = full;
            record.due_s = at.seconds();
            return Stage::Lost;
        };
        record.start_s = service.start.seconds();
        record.departure_s = service.departure.seconds();
        let packet = Packet::new(Kind::Datagram, 0, 0, record.size, 0.0);
        if self.link.pass(packet, &service).1 == Passage::Lost {
            record.fate = Fate::Wire;
            return Stage::Due(service.delivery);
        }
        if processor_follows { Stage::Link(service.delivery) } else { Stage::Due(service.delivery + self.beyond_s) }
    }

    fn transit(&mut self, number: u64) -> Option<&mut Transit> {
        self.transits.get_mut(number.checked_sub(self.gone)? as usize)
    }

    /// When the next packet on the link reaches the processor behind it.
    fn next_on_link(&mut self) -> Option<Time> {
        self.on_link = self.on_link.max(self.gone);
        while let Some(transit) = self.transits.get((self.on_link - self.gone) as usize) {
            if let Stage::Link(delivery) = transit.stage {
                return Some(delivery);
            }
            self.on_link += 1;
        }
        None
    }

    /// The number of the packet that is at the head of the ring.
    fn next_in_ring(&mut self) -> u64 {
        self.ring = self.ring.max(self.gone);
        while self.transits.get((self.ring - self.gone) as usize).is_some_and(|transit| transit.stage != Stage::Ring) {
            self.ring += 1;
        }
        self.ring
    }
}

/// Everything between the two ports.
#[derive(Debug)]
pub struct Path {
    ways: [Way; 2],
    processor: Option<Processor>,
    /// Why a packet is lost for which the queue of the link behind the processor has no room.
    full_behind_processor: Fate,
    /// For how long everything has happened.
    at: Time,
}

impl Path {
    /// An idle path.
    #[must_use]
    pub fn new(spec: &RelaySpec) -> Self {
        let modelled = spec.modelled();
        let output_ring = modelled.is_some_and(|RouterSpec { processor, .. }| processor.output_ring);
        Self {
            ways: [Way::new(spec, 0), Way::new(spec, 1)],
            // An input ring for each direction.
            processor: modelled.map(|router| Processor::new(&router.processor, 2)),
            full_behind_processor: if output_ring { Fate::OutputRing } else { Fate::Queue },
            at: Time::ZERO,
        }
    }

    /// Where the bytes of the next packet from a port may be written; nothing if there is no room.
    pub fn room(&mut self, port: usize) -> Option<&mut [u8]> {
        let way = &mut self.ways[port];
        if way.transits.len() < way.most { way.buffer.room() } else { None }
    }

    /// A packet, of which `length` bytes were written, came by a port at `at`, or at the latest instant of which the
    /// path knows.
    pub fn arrive(&mut self, port: usize, at: Time, length: usize, sink: &mut impl Sink) {
        let earliest = if self.processor.is_some() { self.at } else { self.ways[port].latest };
        let at = at.max(earliest);
        self.ways[port].latest = at;
        self.advance(at);
        let way = &mut self.ways[port];
        let place = way.buffer.keep(length);
        let packet = way.buffer.packet(place).get(way.header_bytes..).unwrap_or_default();
        let mut record = Record::new(port as u8, packet.len() as u32, Header::of(packet), at.seconds());
        let stage = match &mut self.processor {
            Some(processor) if way.near => take(processor, &mut record, at),
            processor => way.offer(&mut record, at, Fate::Queue, processor.is_some()),
        };
        way.transits.push_back(Transit { place, record, stage });
        self.clear(port, sink);
    }

    /// Lets everything happen until `until`.
    pub fn advance(&mut self, until: Time) {
        while let Some((at, port)) = self.next_inside().filter(|(at, _)| *at <= until) {
            match port {
                Some(port) => self.reach_processor(port, at),
                None => self.leave_processor(at),
            }
        }
        self.at = self.at.max(until);
    }

    /// The next instant at which something changes that is not due at a port: a packet reaches the processor from
    /// the link of a port, or leaves it.
    fn next_inside(&mut self) -> Option<(Time, Option<usize>)> {
        let processor = self.processor.as_ref()?;
        let served = processor.departure().map(|departure| (Time::new(departure), None));
        let port = usize::from(self.ways[0].near);
        let reached = self.ways[port].next_on_link().map(|delivery| (delivery, Some(port)));
        match (served, reached) {
            (Some(served), Some(reached)) => Some(if reached.0 < served.0 { reached } else { served }),
            (served, reached) => served.or(reached),
        }
    }

    fn reach_processor(&mut self, port: usize, at: Time) {
        let way = &mut self.ways[port];
        let number = way.on_link;
        if let (Some(processor), Some(Transit { record, stage, .. })) = (&mut self.processor, way.transit(number)) {
            *stage = take(processor, record, at);
        }
    }

    fn leave_processor(&mut self, at: Time) {
        let Some(processor) = &mut self.processor else { return };
        let Some(port) = processor.serving() else { return };
        processor.release(at.seconds());
        let way = &mut self.ways[port as usize];
        let number = way.next_in_ring();
        let (near, beyond_s, full) = (way.near, way.beyond_s, self.full_behind_processor);
        let Some(Transit { record, .. }) = way.transit(number) else { return };
        let mut served = *record;
        let stage = if near { way.offer(&mut served, at, full, false) } else { Stage::Due(at + beyond_s) };
        if let Some(transit) = way.transit(number) {
            (transit.record, transit.stage) = (served, stage);
        }
    }

    /// When something is to be done next, if ever.
    pub fn next_change(&mut self) -> Option<Time> {
        let inside = self.next_inside().map(|(at, _)| at);
        let due = self.ways.iter().filter_map(|way| match way.transits.front()?.stage {
            Stage::Due(due) => Some(due),
            Stage::Lost => Some(self.at),
            Stage::Ring | Stage::Link(_) => None,
        });
        due.chain(inside).min()
    }

    /// When the oldest packet from a port is due at the other, if it is on its way there and not lost.
    pub fn due(&mut self, port: usize, now: Time, sink: &mut impl Sink) -> Option<Time> {
        loop {
            self.clear(port, sink);
            let front = self.ways[port].transits.front()?;
            let Stage::Due(due) = front.stage else { return None };
            if due > now {
                return None;
            }
            if front.record.fate != Fate::Wire {
                return Some(due);
            }
            self.forget(port, Fate::Wire, f64::NAN, sink);
        }
    }

    /// The bytes of the oldest packet from a port.
    #[must_use]
    pub fn oldest(&self, port: usize) -> &[u8] {
        let way = &self.ways[port];
        way.transits.front().map_or(&[], |transit| way.buffer.packet(transit.place))
    }

    /// The oldest packet from a port was handed on at `sent_s`, or not.
    pub fn forget(&mut self, port: usize, fate: Fate, sent_s: f64, sink: &mut impl Sink) {
        let way = &mut self.ways[port];
        let Some(Transit { place, record, stage }) = way.transits.pop_front() else { return };
        way.buffer.forget(place);
        way.gone += 1;
        way.lost_on_wire += u64::from(fate == Fate::Wire);
        let due_s = if let Stage::Due(due) = stage { due.seconds() } else { record.due_s };
        sink.note(Record { fate, due_s, sent_s, ..record });
    }

    /// Forgets the packets that are lost and stand first.
    fn clear(&mut self, port: usize, sink: &mut impl Sink) {
        while let Some(Transit { record, stage: Stage::Lost, .. }) = self.ways[port].transits.front() {
            let fate = record.fate;
            self.forget(port, fate, f64::NAN, sink);
        }
    }

    /// Ends everything at `end`; what is under way is noted as such. What the links did until then.
    pub fn finish(&mut self, end: Time, sink: &mut impl Sink) -> [LinkTotals; 2] {
        self.advance(end);
        [0, 1].map(|port| {
            let server = &self.ways[port].link.server;
            let mut totals = ServerTotals { work: server.work(end.seconds()), ..server.totals() };
            while let Some(Transit { record, stage, .. }) = self.ways[port].transits.front() {
                if record.departure_s >= end.seconds() {
                    totals.packets_out -= 1;
                    totals.bytes_out -= u64::from(record.size);
                    totals.busy_s -= record.departure_s - record.start_s.max(end.seconds());
                    totals.waiting_s -= (record.start_s - end.seconds()).max(0.0);
                }
                let fate = match *stage {
                    Stage::Lost => record.fate,
                    Stage::Due(due) if due < end && record.fate == Fate::Wire => Fate::Wire,
                    _ => Fate::UnderWay,
                };
                self.forget(port, fate, f64::NAN, sink);
            }
            LinkTotals { server: totals, lost_on_wire: self.ways[port].lost_on_wire }
        })
    }

    /// The processor, if its costs are added up.
    #[must_use]
    pub fn processor(&self) -> Option<&Processor> {
        self.processor.as_ref()
    }
}

/// What a link did.
#[derive(Clone, Copy, Debug)]
pub struct LinkTotals {
    /// The transmitter and its queue.
    pub server: ServerTotals,
    /// Packets that the wire lost.
    pub lost_on_wire: u64,
}

/// A packet reaches the processor at `at`: where it is then.
fn take(processor: &mut Processor, record: &mut Record, at: Time) -> Stage {
    let (now, input, size) = (at.seconds(), u32::from(record.port), record.size);
    if processor.interrupt(now, input, size) {
        processor.take(now, input, size);
        return Stage::Ring;
    }
    processor.refuse(size);
    record.fate = Fate::InputRing;
    record.due_s = now;
    Stage::Lost
}

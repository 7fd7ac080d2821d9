//! The packets that came by the ports and have not left: their bytes, and what is told of each.

use std::collections::VecDeque;

use tightlink_sim::network::queue::FlowKey;
use tightlink_sim::network::server::Service;
use tightlink_sim::packet::{Kind, Packet};
use tightlink_sim::time::Time;

use crate::acknowledgement::Acknowledgement;
use crate::buffer::{Buffer, Place};
use crate::header::{self, Congestion, Header, bleach, congestion, dscp, mark};
use crate::record::{NO_LINK, Outcome, Record, Sink};
use crate::route::{Route, Routes, Stop};
use crate::spec::RelaySpec;

/// Which packet: the port by which it came, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    /// The port.
    pub port: usize,
    /// Counted from the first that came by it.
    pub number: u64,
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Before a stop of its way, at it, or on its way to the next.
    Inside,
    /// On its way to the other port, or lost on a wire, until that instant.
    Due(Time),
    /// Nowhere: its place is kept for those that came before it.
    Gone,
}

/// A packet on its way.
#[derive(Debug)]
struct Transit {
    place: Place,
    record: Record,
    stage: Stage,
    route: usize,
    /// At which stop of its route it is, or is next.
    stop: usize,
    /// The wire made it of another one.
    copied: bool,
    /// When its transmission on the line begins, in seconds, for which it may wait there.
    begun_s: f64,
}

impl Transit {
    /// What the trace says of it at its link. A copy is made behind the line: it neither waits for it nor is on it.
    fn told(&self) -> Record {
        let (offer_s, start_s) =
            if self.copied { (f64::NAN, f64::NAN) } else { (self.record.offer_s, self.record.start_s) };
        Record { offer_s, start_s, ..self.record }
    }
}

/// The packets of a port, in the order in which they came.
#[derive(Debug)]
struct Port {
    buffer: Buffer,
    transits: VecDeque<Transit>,
    most: usize,
    /// How many have left, from which the numbers of those that follow are counted.
    gone: u64,
}

/// All packets.
#[derive(Debug)]
pub struct Packets {
    ports: Vec<Port>,
    routes: Routes,
    /// What is due at each port, in this order.
    due: Vec<Agenda<Time>>,
    header_bytes: usize,
    /// Packets so far, with copies.
    count: u64,
}

/// Packets in the order in which something happens to them, and when.
pub(crate) type Agenda<T> = VecDeque<(T, Id)>;

/// Puts a packet among others by when something happens to it: most often behind them, and behind equals.
pub(crate) fn line_up<T: PartialOrd>(queue: &mut Agenda<T>, at: T, id: Id) {
    let mut place = queue.len();
    while place > 0 && queue[place - 1].0 > at {
        place -= 1;
    }
    queue.insert(place, (at, id));
}

/// Takes the first packet to which something happens by `until`, if there is one.
pub(crate) fn take_until(queue: &mut Agenda<Time>, until: Time) -> Option<(Time, Id)> {
    queue.pop_front().filter(|&first| {
        let happens = first.0 <= until;
        if !happens {
            queue.push_front(first);
        }
        happens
    })
}

impl Packets {
    /// None yet.
    #[must_use]
    pub fn new(spec: &RelaySpec) -> Self {
        let port = |port| {
            let (bytes, most) = spec.room(port);
            Port { buffer: Buffer::new(bytes), transits: VecDeque::with_capacity(most), most, gone: 0 }
        };
        let ports: Vec<_> = (0..spec.ports.len()).map(port).collect();
        Self {
            due: ports.iter().map(|port| VecDeque::with_capacity(port.most)).collect(),
            ports,
            routes: Routes::new(spec),
            header_bytes: spec.device.header_bytes(),
            count: 0,
        }
    }

    /// Where the bytes of the next packet from a port may be written; nothing if there is no room.
    pub fn room(&mut self, port: usize) -> Option<&mut [u8]> {
        let port = &mut self.ports[port];
        if port.transits.len() < port.most { port.buffer.room() } else { None }
    }

    /// Keeps the packet of which `length` bytes were written. Nothing if no way leads where it wants to go.
    pub fn keep(&mut self, port: usize, length: usize) -> Option<Id> {
        let own = &mut self.ports[port];
        // It is written over, unless it is kept.
        let bytes = own.buffer.room()?.get(self.header_bytes..length).unwrap_or_default();
        let (size, header) = (bytes.len() as u32, Header::of(bytes));
        let route = self.routes.find(port, &header)?;
        let place = own.buffer.keep(length);
        let record = Record::new(self.count, port as u8, size, header);
        Some(self.push(port, (place, record), (route, 0), false))
    }

    /// Takes in a packet, or a copy of one, at or before a stop of a route.
    fn push(
        &mut self,
        port: usize,
        (place, record): (Place, Record),
        (route, stop): (usize, usize),
        copied: bool,
    ) -> Id {
        self.count += 1;
        let Port { transits, gone, .. } = &mut self.ports[port];
        transits.push_back(Transit { place, record, stage: Stage::Inside, route, stop, copied, begun_s: 0.0 });
        Id { port, number: *gone + transits.len() as u64 - 1 }
    }

    fn get(&mut self, id: Id) -> Option<&mut Transit> {
        let port = &mut self.ports[id.port];
        port.transits.get_mut(id.number.checked_sub(port.gone)? as usize)
    }

    fn bytes_mut(&mut self, id: Id) -> &mut [u8] {
        let port = &mut self.ports[id.port];
        let transit = id.number.checked_sub(port.gone).and_then(|place| port.transits.get(place as usize));
        let bytes = transit.map(|transit| port.buffer.packet_mut(transit.place));
        bytes.and_then(|bytes| bytes.get_mut(self.header_bytes..)).unwrap_or_default()
    }

    /// The packet that a link knows by its flow: the port, and what is left of its number.
    #[must_use]
    pub fn id(&self, packet: &Packet) -> Id {
        let port = (packet.flow() >> NUMBER_BITS) as usize;
        let gone = self.ports[port].gone;
        let since = packet.flow().wrapping_sub(gone as u32) & NUMBER_MASK;
        Id { port, number: gone + u64::from(since) }
    }

    /// The size of a packet.
    pub fn size(&mut self, id: Id) -> u32 {
        self.get(id).map_or(0, |transit| transit.record.size)
    }

    fn route(&self, number: usize) -> &Route {
        self.routes.get(number)
    }

    /// Where a packet is on its way, or comes next; nothing behind its last stop.
    pub fn stop(&mut self, id: Id) -> Option<Stop> {
        let &mut Transit { route, stop, .. } = self.get(id)?;
        self.route(route).stops.get(stop).copied()
    }

    /// Where a packet comes that leaves its stop, and how long it takes to there, in seconds; nothing if it leaves.
    pub fn next_stop(&mut self, id: Id) -> Option<(Stop, f64)> {
        let &mut Transit { route, stop, .. } = self.get(id)?;
        let route = self.route(route);
        Some((*route.stops.get(stop + 1)?, *route.gaps_s.get(stop)?))
    }

    /// How long a packet takes to its first stop, in seconds.
    pub fn before_s(&mut self, id: Id) -> f64 {
        self.get(id).map(|transit| transit.route).map_or(0.0, |route| self.route(route).before_s)
    }

    /// A packet reaches its first stop at `at`.
    pub fn enter(&mut self, id: Id, at: Time) {
        let Some(&mut Transit { route, record, .. }) = self.get(id) else { return };
        let link = self.route(route).link_from(0).map_or(NO_LINK, |link| link as u16);
        if let Some(transit) = self.get(id) {
            transit.record = record.at(link, at.seconds());
        }
    }

    /// A packet comes from its stop to the next at `at`.
    pub fn pass(&mut self, id: Id, at: Time, sink: &mut impl Sink) {
        let Some(transit) = self.get(id) else { return };
        transit.stop += 1;
        let from = transit.record;
        // What a processor has served, or is to serve, is still told of with its link.
        if let Some(Stop::Link(link)) = self.stop(id)
            && !from.start_s.is_nan()
            && let Some(transit) = self.get(id)
        {
            sink.note(Record { outcome: Outcome::Passed, ..transit.told() });
            (transit.record, transit.copied) = (from.at(link as u16, at.seconds()), false);
        }
    }

    /// What a link is told of a packet that is offered to it at `at`.
    pub fn offered(&mut self, id: Id, at: Time) -> Option<(Packet, FlowKey)> {
        let transit = self.get(id)?;
        transit.record.offer_s = at.seconds();
        let (size, header) = (transit.record.size, transit.record.header);
        let [flow, source, destination] = header.numbers();
        let bytes = self.bytes_mut(id);
        let name = (id.port as u32) << NUMBER_BITS | id.number as u32 & NUMBER_MASK;
        let packet = Packet::new(Kind::Segment, name, 0, size, 0.0);
        let packet = match congestion(bytes) {
            Congestion::NotCapable if header.kind == header::Kind::Ack => match Acknowledgement::of(bytes) {
                Some(Acknowledgement { number, ace, options }) => {
                    let ack = Packet::new(Kind::Ack, name, number, size, 0.0).with_ace(ace);
                    if options { ack.with_options(0, 0) } else { ack }
                }
                None => packet,
            },
            Congestion::NotCapable => packet,
            Congestion::Capable => packet.capable(),
            // CE may have been either: it goes with those that a scalable control sends (RFC 9331 §5.1).
            Congestion::Scalable | Congestion::Experienced => packet.scalable(),
        };
        Some((packet, FlowKey { flow, source, destination, dscp: dscp(bytes) }))
    }

    /// A packet entered the line of a link.
    pub fn serve(&mut self, id: Id, packet: &Packet, service: &Service, begun: Time) {
        let Some(Transit { record, begun_s, .. }) = self.get(id) else { return };
        (record.start_s, record.departure_s) = (service.start.seconds(), service.departure.seconds());
        *begun_s = begun.seconds();
        // What is not capable never was, or the link clears the field; of an ACK the mark is what it says itself.
        if packet.kind() == Kind::Ack {
            return;
        }
        record.marked = packet.is_marked();
        if packet.is_marked() || !packet.is_capable() {
            let bytes = self.bytes_mut(id);
            if packet.is_marked() { mark(bytes) } else { bleach(bytes) }
        }
    }

    /// A packet comes out of a link at `at`, to go on to another stop.
    pub fn goes_on(&mut self, id: Id, at: Time) {
        if let Some(transit) = self.get(id) {
            transit.record.due_s = at.seconds();
        }
    }

    /// The wire of a link loses a packet, which would have come out at `at`.
    pub fn lose_on_wire(&mut self, id: Id, at: Time) {
        if let Some(transit) = self.get(id) {
            transit.stage = Stage::Due(at);
        }
    }

    /// A packet has passed its last stop at `at`, and nothing is before it but what is beside the links.
    pub fn leave(&mut self, id: Id, at: Time) {
        let Some(&mut Transit { route, .. }) = self.get(id) else { return };
        let &Route { to, beyond_s, .. } = self.route(route);
        let due = at + beyond_s;
        if let Some(transit) = self.get(id) {
            transit.stage = Stage::Due(due);
        }
        line_up(&mut self.due[to], due, id);
    }

    /// A packet comes out of its link twice: the copy; nothing if there is no room.
    pub fn duplicate(&mut self, id: Id) -> Option<Id> {
        let &mut Transit { place, record, route, stop, .. } = self.get(id)?;
        let port = &mut self.ports[id.port];
        if port.transits.len() >= port.most {
            return None;
        }
        let place = port.buffer.copy(place)?;
        let record = Record { uid: self.count, ..record };
        Some(self.push(id.port, (place, record), (route, stop), true))
    }

    /// When the next packet is due at a port.
    #[must_use]
    pub fn due(&self, port: usize) -> Option<Time> {
        self.due[port].front().map(|&(due, _)| due)
    }

    /// When the next packet is due at any port.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.due.iter().filter_map(|due| Some(due.front()?.0)).min()
    }

    /// The bytes of the packet that is due next at a port.
    #[must_use]
    pub fn next(&self, port: usize) -> &[u8] {
        let bytes = self.due[port].front().and_then(|&(_, Id { port, number })| {
            let port = &self.ports[port];
            let transit = port.transits.get(number.checked_sub(port.gone)? as usize)?;
            Some(port.buffer.packet(transit.place))
        });
        bytes.unwrap_or_default()
    }

    /// The packet that was due next at a port was forwarded at `sent_s`, or not.
    pub fn forward(&mut self, port: usize, outcome: Outcome, sent_s: f64, sink: &mut impl Sink) {
        if let Some((_, id)) = self.due[port].pop_front() {
            self.end(id, outcome, sent_s, sink);
        }
    }

    /// A packet is lost at `at`.
    pub fn lose(&mut self, id: Id, outcome: Outcome, at: Time, sink: &mut impl Sink) {
        if let Some(transit) = self.get(id) {
            transit.record.due_s = at.seconds();
            self.end(id, outcome, f64::NAN, sink);
        }
    }

    /// A packet has ended, forwarded at `sent_s` or not.
    pub fn end(&mut self, id: Id, outcome: Outcome, sent_s: f64, sink: &mut impl Sink) {
        let Some(transit) = self.get(id) else { return };
        let record = transit.told();
        let due_s = if let Stage::Due(due) = transit.stage { due.seconds() } else { record.due_s };
        if record.link != NO_LINK {
            sink.note(Record { outcome, due_s, sent_s, ..record });
        }
        transit.stage = Stage::Gone;
        let port = &mut self.ports[id.port];
        while let Some(Transit { place, stage: Stage::Gone, .. }) = port.transits.front() {
            port.buffer.forget(*place);
            port.transits.pop_front();
            port.gone += 1;
        }
    }

    /// Ends all that is under way, and hands to `each` what the trace says of it, when its transmission begins, and whether it
    /// is a copy.
    pub fn finish(&mut self, sink: &mut impl Sink, mut each: impl FnMut(&Record, f64, bool)) {
        for port in 0..self.ports.len() {
            let Port { transits, gone, .. } = &self.ports[port];
            for number in *gone..*gone + transits.len() as u64 {
                let id = Id { port, number };
                let Some(&mut Transit { ref record, stage, copied, begun_s, .. }) = self.get(id) else { continue };
                if stage == Stage::Gone {
                    continue;
                }
                each(record, begun_s, copied);
                self.end(id, Outcome::UnderWay, f64::NAN, sink);
            }
        }
    }
}

/// A link knows packets by a number of 32 bits, of which the port has eight: no more than the others can count are kept.
const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

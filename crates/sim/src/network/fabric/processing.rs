//! Processors among the events of a network, and the sources that they push back. None of it is touched where no node has
//! a processor.

use crate::events::Key;
use crate::network::fabric::{Fabric, Place};
use crate::network::node::Node;
use crate::network::sources::{Sources, Waiting};
use crate::packet::{Kind, Packet};
use crate::probe::{DropReason, Probe, Seen};

/// When a stop has room for a source's packet.
enum Room {
    Now,
    /// When its next packet leaves, perhaps.
    At(Key),
    /// A later event will tell.
    Unknown,
}

impl<P: Probe> Fabric<P> {
    /// Offers a packet to a processor.
    pub(super) fn offer_processor(&mut self, stop: u32, packet: Packet, now: Key) {
        let index = self.processor(stop);
        let node = &mut self.nodes.list[index];
        let (at, size) = (now.time.seconds(), packet.size());
        let from = self.paths.before(packet.position());
        let input = from.map_or(Node::OWN, |link| self.nodes.rings.at_end_of(link));
        let admitted = if from.is_none() {
            // The socket refuses a datagram; what TCP must send waits in the kernel's memory.
            packet.kind() != Kind::Datagram || node.takes(Node::OWN, size)
        } else {
            // What a transmitter sent before it was paused is taken, too.
            node.processor.interrupt(at, input, size) || from.is_some_and(|link| self.gates.index_of(link).is_some())
        };
        if !admitted {
            node.processor.refuse(size);
            // Of a packet that never joins its first link, the trace says where it would have.
            let next = || self.paths.at(packet.position() + 1).server().map(|stop| self.link_behind(stop));
            let link = from.or_else(next).unwrap_or_default();
            self.probe.dropped(now, link, Seen::new(&packet, &self.paths), DropReason::InputRing);
            self.lose(&packet);
            return;
        }
        // What a host's own interface takes is no network yet.
        if packet.ends_round() && from.is_some() {
            self.saturation.pass(packet, now.time, || node.processor.busy_s(at));
        }
        self.probe.joined(stop, Seen::new(&packet, &self.paths));
        let departure = node.enter(packet, input, now);
        self.schedule_departure(departure);
    }

    /// The event of a processor: the packet in service has left, unless interrupts have delayed it.
    /// Returns the packet where its path ends.
    pub(super) fn serve(&mut self, key: Key) -> Option<Packet> {
        let stop = key.entity() - self.first_link;
        let index = self.processor(stop);
        let node = &mut self.nodes.list[index];
        if let Some(departure) = node.departure()
            && departure.time > key.time
        {
            self.queue.push(departure);
            return None;
        }
        let packet = node.first()?;
        let (from, next) = (self.paths.before(packet.position()), self.paths.at(packet.position() + 1));
        // A host does not drop its own packets at its own link: they wait until there is room.
        if from.is_none()
            && let Some(next) = next.server()
            && self.waits(index, next, packet.size(), key)
        {
            return None;
        }
        let departure = self.nodes.list[index].leave(key);
        self.schedule_departure(departure);
        self.probe.left(stop);
        self.wake(stop, key);
        if let Some(link) = from {
            self.end_pause(link, key);
        }
        if let Some(flow) = next.flow() {
            return Some(packet.arriving(flow));
        }
        if let Some(next) = next.server() {
            self.offer(next, packet.forwarded(), key);
        }
        None
    }

    /// Has the service of a packet that has begun end.
    fn schedule_departure(&mut self, departure: Option<Key>) {
        departure.into_iter().for_each(|departure| self.queue.push(departure));
    }

    /// Whether the packet at the head of a processor must wait for its first link, whose stop is `next`.
    fn waits(&mut self, index: usize, next: u32, size: u32, key: Key) -> bool {
        let (room, place, at) = (self.room(next, size, key), self.place(next), key.time.seconds());
        let node = &mut self.nodes.list[index];
        match (room, place) {
            (Room::At(departure), _) => {
                node.processor.hold(at);
                self.queue.push(departure.with_entity(key.entity()));
                true
            }
            (Room::Unknown, Place::Gate(gate)) if self.gates.get_mut(gate).sets_aside() => {
                // A pause may last: what the host receives must not wait for its end, or two hosts that
                // pause each other would do so for ever.
                if let Some(packet) = node.first() {
                    let departure = node.set_aside(key);
                    self.schedule_departure(departure);
                    self.probe.left(key.entity() - self.first_link);
                    self.set_aside(gate, packet.forwarded());
                }
                true
            }
            (Room::Unknown, Place::Gate(gate)) => {
                node.processor.hold(at);
                self.gates.get_mut(gate).holder = Some(key.entity());
                true
            }
            _ => false,
        }
    }

    /// A packet that was set aside joins its gate.
    pub(super) fn let_go(&mut self, gate: usize, packet: Packet, key: Key) {
        self.probe.left((self.links.len() + gate) as u32);
        if let Some(stop) = self.paths.before(packet.position()) {
            let index = self.processor(stop);
            self.nodes.list[index].processor.let_go(Node::OWN, packet.size());
            self.offer_gate(gate, packet, key);
            self.wake(stop, key);
        }
    }

    /// Whether the first stop of a flow takes a packet of `size` bytes from its source at `now`. If not,
    /// the source's event comes when it is its turn.
    pub(super) fn takes_or_wakes(&mut self, flow: u32, size: u32, now: Key) -> bool {
        let stop = self.first_stop(flow);
        if self.sources(stop).may_send(flow) && matches!(self.room(stop, size, now), Room::Now) {
            self.sources(stop).end_turn();
            return true;
        }
        self.sources(stop).wait(Waiting { flow, size });
        self.wake(stop, now);
        false
    }

    /// The event came that wakes a source: it is its turn.
    pub fn begin_turn(&mut self, flow: u32) {
        let stop = self.first_stop(flow);
        self.sources(stop).begin_turn(flow);
    }

    /// A source whose turn it was has sent what it could.
    pub fn end_turn(&mut self, flow: u32, now: Key) {
        let stop = self.first_stop(flow);
        self.sources(stop).end_turn();
        self.wake(stop, now);
    }

    /// The index of a processor in the list.
    fn processor(&self, stop: u32) -> usize {
        stop as usize - self.links.len() - self.gates.len()
    }

    /// The link that a host's packets take behind its processor: its stop, or the one behind its gate.
    fn link_behind(&self, stop: u32) -> u32 {
        if let Place::Gate(gate) = self.place(stop) { self.gates.link(gate) } else { stop }
    }

    /// The first stop of a flow's path: every path has a link.
    pub(super) fn first_stop(&self, flow: u32) -> u32 {
        self.paths.at(self.paths.begin(flow, false)).server().unwrap_or_default()
    }

    fn sources(&mut self, stop: u32) -> &mut Sources {
        match self.place(stop) {
            Place::Link => self.nodes.sources.entry(stop).or_default(),
            Place::Gate(gate) => &mut self.gates.get_mut(gate).sources,
            Place::Processor(node) => &mut self.nodes.list[node].sources,
        }
    }

    fn room(&mut self, stop: u32, size: u32, now: Key) -> Room {
        let takes = match self.place(stop) {
            Place::Link => {
                self.sample_before(stop, now.time);
                self.catch_up(stop, now);
                return self.links[stop as usize].next_room(size, now).map_or(Room::Now, Room::At);
            }
            Place::Gate(gate) => self.gate_takes(gate, size, now),
            Place::Processor(node) => self.nodes.list[node].takes(Node::OWN, size),
        };
        if takes { Room::Now } else { Room::Unknown }
    }

    /// Wakes the source that waits longest at a stop, as soon as there is room for its packet.
    fn wake(&mut self, stop: u32, now: Key) {
        let Some(source) = self.sources(stop).next() else { return };
        let entity = self.first_source + source.flow;
        let key = match self.room(stop, source.size, now) {
            Room::Now => Key::new(now.time, now.time, now.precedence_of_effects(), entity),
            Room::At(departure) => departure.with_entity(entity),
            Room::Unknown => return,
        };
        self.sources(stop).wake();
        self.queue.push(key);
    }
}

//! Processors in the network: the packets that they hold, the events of their services, and the sources
//! that they push back. None of it is touched where no node has a processor.

use std::collections::{BTreeMap, VecDeque};

use crate::events::{Entity, EventQueue, Key, Precedence};
use crate::network::fabric::{Fabric, Place};
use crate::network::processor::Processor;
use crate::network::queue::Refusal;
use crate::network::sources::{Sources, Waiting};
use crate::packet::{Kind, Packet};
use crate::probe::{DropReason, Probe, Seen};
use crate::scenario::Scenario;
use crate::time::Time;

/// A node with a processor.
#[derive(Clone, Debug)]
pub struct Node {
    /// Index of the node in the scenario.
    pub index: u32,
    /// Its processor.
    pub processor: Processor,
    /// Packets in its rings, in order of arrival.
    packets: VecDeque<Packet>,
    /// What the departure of the packet in service depends on: when its service was caused, and how.
    cause: (Time, Precedence),
    sources: Sources,
}

impl Node {
    /// The ring of the node's own packets; those of the links come after it.
    const OWN: u32 = 0;

    /// The key of the departure of the packet in service.
    fn departure(&self, entity: Entity) -> Option<Key> {
        let (caused_at, precedence) = self.cause;
        self.processor.departure().map(|time| Key::new(Time::new(time), caused_at, precedence, entity))
    }

    fn schedule(&self, queue: &mut EventQueue, entity: Entity) {
        if let Some(departure) = self.departure(entity) {
            queue.push(departure);
        }
    }

    /// Whether a ring takes a packet that would rather wait than be dropped; an empty one takes every packet.
    pub(super) fn takes(&self, ring: u32, size: u32) -> bool {
        self.processor.is_empty(ring) || self.processor.has_room(ring, size)
    }
}

/// When a stop has room for a source's packet.
enum Room {
    Now,
    /// When its next packet leaves, perhaps.
    At(Key),
    /// A later event will tell.
    Unknown,
}

/// All processors of a network, and where links end at them.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Nodes with a processor, in the order of the scenario.
    pub list: Vec<Node>,
    /// For each link the input ring at its far end; empty where no node has a processor.
    inputs: Vec<u32>,
    /// Links whose queue is the output ring of the node at which they begin; likewise.
    output_rings: Vec<bool>,
    /// Of links that saturating traffic enters, the sources that the queue pushes back.
    sources: BTreeMap<u32, Sources>,
}

impl Nodes {
    /// The idle processors of a scenario.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let mut nodes = Self::default();
        if scenario.nodes.iter().all(|node| node.processor.is_none()) {
            return nodes;
        }
        let mut rings = vec![Node::OWN + 1; scenario.nodes.len()];
        for link in &scenario.links {
            nodes.inputs.push(rings[link.to as usize]);
            rings[link.to as usize] += 1;
            let processor = &scenario.nodes[link.from as usize].processor;
            nodes.output_rings.push(processor.as_ref().is_some_and(|processor| processor.output_ring));
        }
        for (index, node) in scenario.nodes.iter().enumerate() {
            nodes.list.extend(node.processor.as_ref().map(|spec| Node {
                index: index as u32,
                processor: Processor::new(spec, rings[index] as usize).until(scenario.duration_s),
                packets: VecDeque::new(),
                cause: (Time::ZERO, Precedence::FIRST),
                sources: Sources::default(),
            }));
        }
        nodes
    }

    /// The ring at the end of a link that ends at node `end`: of which processor in the list, and which of
    /// its rings; nothing if that node has no processor.
    pub(super) fn ring_at_end(&self, link: u32, end: u32) -> Option<(usize, u32)> {
        let node = self.list.iter().position(|node| node.index == end)?;
        Some((node, self.inputs[link as usize]))
    }

    /// Why the queue of a link drops a packet.
    #[cold]
    #[must_use]
    pub fn drop_reason(&self, link: u32, refusal: Refusal) -> DropReason {
        let ring = self.output_rings.get(link as usize).copied().unwrap_or_default();
        match refusal {
            Refusal::Managed => DropReason::Management,
            _ if ring => DropReason::OutputRing,
            _ => DropReason::Queue,
        }
    }
}

impl<P: Probe> Fabric<P> {
    /// Offers a packet to a processor.
    pub(super) fn offer_processor(&mut self, stop: u32, packet: Packet, now: Key) {
        let (entity, index) = (self.first_link + stop, self.processor(stop));
        let node = &mut self.nodes.list[index];
        let (at, size) = (now.time.seconds(), packet.size());
        let from = self.paths.before(packet.position());
        let input = from.map_or(Node::OWN, |link| self.nodes.inputs[link as usize]);
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
        node.packets.push_back(packet);
        // What a host's own interface takes is no network yet.
        if packet.ends_round() && from.is_some() {
            self.saturation.pass(packet, now.time, || node.processor.busy_s(at));
        }
        self.probe.joined(stop, Seen::new(&packet, &self.paths));
        if node.processor.take(at, input, size) {
            node.cause = (now.time, now.precedence_of_effects());
            node.schedule(&mut self.queue, entity);
        }
    }

    /// The event of a processor: the packet in service has left, unless interrupts have delayed it.
    /// Returns the packet where its path ends.
    pub(super) fn serve(&mut self, key: Key) -> Option<Packet> {
        let stop = key.entity() - self.first_link;
        let index = self.processor(stop);
        let node = &mut self.nodes.list[index];
        if let Some(departure) = node.departure(key.entity())
            && departure.time > key.time
        {
            self.queue.push(departure);
            return None;
        }
        let (at, packet) = (key.time.seconds(), *node.packets.front()?);
        let (from, next) = (self.paths.before(packet.position()), self.paths.at(packet.position() + 1));
        // A host does not drop its own packets at its own link: they wait until there is room.
        if from.is_none()
            && let Some(next) = next.server()
            && self.waits(index, next, packet.size(), key)
        {
            return None;
        }
        let node = &mut self.nodes.list[index];
        node.packets.pop_front();
        if node.processor.release(at) {
            node.cause = (key.time, key.precedence_of_effects());
            node.schedule(&mut self.queue, key.entity());
        }
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
                if let Some(packet) = node.packets.pop_front() {
                    if node.processor.set_aside(at) {
                        node.cause = (key.time, key.precedence_of_effects());
                        node.schedule(&mut self.queue, key.entity());
                    }
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

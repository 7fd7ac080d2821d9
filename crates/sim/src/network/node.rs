//! Processors in the network: the packets that they hold, the events of their services, and the sources
//! that they push back. None of it is touched where no node has a processor.

use std::collections::{BTreeMap, VecDeque};

use crate::events::{Entity, EventQueue, Key, Precedence};
use crate::network::fabric::Fabric;
use crate::network::processor::Processor;
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
    /// What the departure of the packet in service hangs on: when its service was caused, and how.
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

    /// Whether its own ring takes a packet; an empty one takes every packet.
    fn takes(&self, size: u32) -> bool {
        self.processor.is_empty(Self::OWN) || self.processor.has_room(Self::OWN, size)
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
                processor: Processor::new(spec, rings[index] as usize),
                packets: VecDeque::new(),
                cause: (Time::ZERO, Precedence::FIRST),
                sources: Sources::default(),
            }));
        }
        nodes
    }

    /// Why the queue of a link drops a packet.
    #[cold]
    #[must_use]
    pub fn drop_reason(&self, link: u32) -> DropReason {
        let ring = self.output_rings.get(link as usize).copied().unwrap_or_default();
        if ring { DropReason::OutputRing } else { DropReason::Queue }
    }
}

impl<P: Probe> Fabric<P> {
    /// Offers a packet to a processor: the stop with this index, beyond all links.
    #[cold]
    pub(super) fn offer_processor(&mut self, stop: u32, packet: Packet, now: Key) {
        let (entity, node) = (self.first_link + stop, &mut self.nodes.list[stop as usize - self.links.len()]);
        let (at, size) = (now.time.seconds(), packet.size());
        let from = self.paths.before(packet.position());
        let input = from.map_or(Node::OWN, |link| self.nodes.inputs[link as usize]);
        let admitted = if from.is_none() {
            // The socket refuses a datagram; what TCP must send waits in the kernel's memory.
            packet.kind() != Kind::Datagram || node.takes(size)
        } else {
            node.processor.interrupt(at, input, size)
        };
        if !admitted {
            node.processor.refuse(size);
            // Of a packet that never joins its first link, the trace says where it would have.
            let next = || self.paths.at(packet.position() + 1).server();
            let link = from.or_else(next).unwrap_or_default();
            self.probe.dropped(now, link, Seen::new(&packet, &self.paths), DropReason::InputRing);
            self.lose(packet.position(), packet.is_reverse(), packet.blocks());
            return;
        }
        node.packets.push_back(packet);
        self.probe.joined_processor(stop, Seen::new(&packet, &self.paths));
        if node.processor.take(at, input, size) {
            node.cause = (now.time, now.precedence_of_effects());
            node.schedule(&mut self.queue, entity);
        }
    }

    /// The event of a processor: the packet in service has left, unless interrupts have delayed it.
    /// Returns the packet where its path ends.
    #[cold]
    pub(super) fn serve(&mut self, key: Key) -> Option<Packet> {
        let stop = key.entity() - self.first_link;
        let node = &mut self.nodes.list[stop as usize - self.links.len()];
        if let Some(departure) = node.departure(key.entity())
            && departure.time > key.time
        {
            self.queue.push(departure);
            return None;
        }
        let (at, packet) = (key.time.seconds(), *node.packets.front()?);
        let next = self.paths.at(packet.position() + 1);
        // A host does not drop its own packets at its own link: they wait until there is room.
        if self.paths.before(packet.position()).is_none()
            && let Some(link) = next.server().and_then(|next| self.links.get_mut(next as usize))
            && let Some(room) = link.server.next_room(key, packet.size())
        {
            node.processor.hold(at);
            self.queue.push(room.with_entity(key.entity()));
            return None;
        }
        node.packets.pop_front();
        if node.processor.release(at) {
            node.cause = (key.time, key.precedence_of_effects());
            node.schedule(&mut self.queue, key.entity());
        }
        self.probe.left_processor(stop);
        self.wake(stop, key);
        if let Some(flow) = next.flow() {
            return Some(packet.arriving(flow));
        }
        if let Some(next) = next.server() {
            self.offer(next, packet.forwarded(), key);
        }
        None
    }

    /// Whether any host has an interface that may not take a packet now.
    #[inline]
    pub fn pushes_back(&self) -> bool {
        !self.nodes.list.is_empty()
    }

    /// Whether the first stop of a flow takes a packet of `size` bytes from its source at `now`. If not,
    /// the source's event comes when it is its turn.
    pub fn takes(&mut self, flow: u32, size: u32, now: Key) -> bool {
        self.first_stop(flow) < self.links.len() as u32 || self.takes_or_wakes(flow, size, now)
    }

    /// The same for a source that the queue of its first link pushes back, too.
    pub fn takes_or_wakes(&mut self, flow: u32, size: u32, now: Key) -> bool {
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

    /// The first stop of a flow's way: every way has a link.
    fn first_stop(&self, flow: u32) -> u32 {
        self.paths.at(self.paths.begin(flow, false)).server().unwrap_or_default()
    }

    fn sources(&mut self, stop: u32) -> &mut Sources {
        match (stop as usize).checked_sub(self.links.len()) {
            Some(node) => &mut self.nodes.list[node].sources,
            None => self.nodes.sources.entry(stop).or_default(),
        }
    }

    fn room(&mut self, stop: u32, size: u32, now: Key) -> Room {
        match (stop as usize).checked_sub(self.links.len()) {
            Some(node) if self.nodes.list[node].takes(size) => Room::Now,
            Some(_) => Room::Unknown,
            None => self.links[stop as usize].server.next_room(now, size).map_or(Room::Now, Room::At),
        }
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

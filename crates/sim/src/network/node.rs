//! Nodes with a processor: the packets that it holds, and when each leaves it. Two schedulers use them: `fabric/processing.rs`
//! by events, `epochs/region/processors.rs` epoch by epoch.

use std::collections::{BTreeMap, VecDeque};

use crate::entities::Entities;
use crate::events::{Entity, Key, Precedence};
use crate::network::processor::Processor;
use crate::network::queue::Refusal;
use crate::network::sources::Sources;
use crate::packet::Packet;
use crate::probe::DropReason;
use crate::scenario::Scenario;
use crate::time::Time;

/// A node with a processor.
#[derive(Clone, Debug)]
pub struct Node {
    /// Index of the node in the scenario.
    pub index: u32,
    /// Its processor.
    pub processor: Processor,
    /// The processor's number among entities.
    pub entity: Entity,
    /// Packets in its rings, in order of arrival.
    packets: VecDeque<Packet>,
    /// What the departure of the packet in service depends on: when its service was caused, and how.
    cause: (Time, Precedence),
    /// Those that its own ring pushes back.
    pub(super) sources: Sources,
}

impl Node {
    /// The ring of the node's own packets; those of the links come after it.
    pub(super) const OWN: u32 = 0;

    /// The key of the departure of the packet in service, unless an interrupt delays it.
    #[must_use]
    pub fn departure(&self) -> Option<Key> {
        let (caused_at, precedence) = self.cause;
        self.processor.departure().map(|time| Key::new(Time::new(time), caused_at, precedence, self.entity))
    }

    /// A packet comes into the ring of an input. The departure of the packet whose service begins now, if one's does.
    pub fn enter(&mut self, packet: Packet, input: u32, now: Key) -> Option<Key> {
        self.packets.push_back(packet);
        let begins = self.processor.take(now.time.seconds(), input, packet.size());
        self.begin(begins, now)
    }

    /// The packet that leaves next.
    #[must_use]
    pub fn first(&self) -> Option<Packet> {
        self.packets.front().copied()
    }

    /// That packet has left. The departure of the one whose service begins now, if there is one.
    pub fn leave(&mut self, now: Key) -> Option<Key> {
        self.packets.pop_front();
        let begins = self.processor.release(now.time.seconds());
        self.begin(begins, now)
    }

    /// That packet stays in its ring, elsewhere, and lets others pass. The departure of the one whose service begins now,
    /// if there is one.
    pub(super) fn set_aside(&mut self, now: Key) -> Option<Key> {
        self.packets.pop_front();
        let begins = self.processor.set_aside(now.time.seconds());
        self.begin(begins, now)
    }

    fn begin(&mut self, begins: bool, now: Key) -> Option<Key> {
        if !begins {
            return None;
        }
        self.cause = (now.time, now.precedence_of_effects());
        self.departure()
    }

    /// Whether a ring takes a packet that would rather wait than be dropped; an empty one takes every packet.
    pub(super) fn takes(&self, ring: u32, size: u32) -> bool {
        self.processor.is_empty(ring) || self.processor.has_room(ring, size)
    }
}

/// All processors of a network, and where links end at them.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Nodes with a processor, in the order of the scenario.
    pub list: Vec<Node>,
    /// Their rings.
    pub rings: Rings,
    /// Of links that saturating traffic enters, the sources that the queue pushes back.
    pub(super) sources: BTreeMap<u32, Sources>,
}

/// Where links meet the rings of processors.
#[derive(Clone, Debug, Default)]
pub struct Rings {
    /// For each link the input ring at its far end; empty where no node has a processor.
    inputs: Vec<u32>,
    /// Links whose queue is the output ring of the node at which they begin; likewise.
    outputs: Vec<bool>,
}

impl Rings {
    /// The ring at the far end of a link, in a network with processors.
    #[must_use]
    pub fn at_end_of(&self, link: u32) -> u32 {
        self.inputs[link as usize]
    }

    /// Why the queue of a link drops a packet.
    #[cold]
    #[must_use]
    pub fn drop_reason(&self, link: u32, refusal: Refusal) -> DropReason {
        let ring = self.outputs.get(link as usize).copied().unwrap_or_default();
        match refusal {
            Refusal::Managed => DropReason::Management,
            _ if ring => DropReason::OutputRing,
            _ => DropReason::Queue,
        }
    }
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
            nodes.rings.inputs.push(rings[link.to as usize]);
            rings[link.to as usize] += 1;
            let processor = &scenario.nodes[link.from as usize].processor;
            nodes.rings.outputs.push(processor.as_ref().is_some_and(|processor| processor.output_ring));
        }
        let specs = (0..).zip(&scenario.nodes).filter_map(|(index, node)| Some((index, node.processor.as_ref()?)));
        for ((index, spec), entity) in specs.zip(Entities::new(scenario).first_processor..) {
            nodes.list.push(Node {
                index,
                processor: Processor::new(spec, rings[index as usize] as usize).until(scenario.duration_s),
                entity,
                packets: VecDeque::new(),
                cause: (Time::ZERO, Precedence::FIRST),
                sources: Sources::default(),
            });
        }
        nodes
    }

    /// The ring at the end of a link that ends at node `end`: of which processor in the list, and which of
    /// its rings; nothing if that node has no processor.
    pub(super) fn ring_at_end(&self, link: u32, end: u32) -> Option<(usize, u32)> {
        let node = self.list.iter().position(|node| node.index == end)?;
        Some((node, self.rings.at_end_of(link)))
    }
}

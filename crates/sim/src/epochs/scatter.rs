//! Nodes that send datagrams to each other, each at random times to a random other.

use super::clock::{Clock, Epoch};
use super::inbox::Arrival;
use super::intervals::Intervals;
use super::wheel::Wheel;
use crate::events::{Entity, Key};
use crate::packet::{Address, Kind, Packet};
use crate::random::Stream;
use crate::scenario::{Duration, ScatterSpec};
use crate::time::Time;
use crate::traffic::sizes::Sizes;

/// What happened to datagrams in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScatterCounts {
    /// Sent.
    pub sent: u64,
    /// Arrived.
    pub delivered: u64,
    /// Lost.
    pub dropped: u64,
    /// Of which a link made two.
    pub duplicated: u64,
    /// Latencies of those that arrived, summed, in nanoseconds.
    pub latency_ns: u64,
    /// Links that they crossed, summed.
    pub hops: u64,
}

impl std::ops::AddAssign for ScatterCounts {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.duplicated += other.duplicated;
        self.latency_ns += other.latency_ns;
        self.hops += other.hops;
    }
}

/// One of the nodes.
#[derive(Clone, Debug)]
struct Sender {
    node: u32,
    stream: Stream,
}

/// A group of nodes that send to each other, or a part of it.
#[derive(Clone, Debug)]
pub struct Scatter {
    spec: ScatterSpec,
    sizes: Option<Sizes>,
    /// The nodes, by their place in the group; nothing for those of other parts.
    senders: Vec<Option<Sender>>,
    /// The first node's destination and source.
    first_destination: u16,
    first_source: u32,
    first_entity: Entity,
    due: Wheel<(Key, u32)>,
    /// What was counted.
    pub counts: Intervals<ScatterCounts>,
}

impl Scatter {
    /// The nodes of a group for which `here` is true. Its nodes are destinations, sources and entities from these
    /// numbers on.
    #[must_use]
    pub fn new(
        spec: &ScatterSpec,
        seed: u64,
        (first_destination, first_source, first_entity): (u16, u32, Entity),
        (clock, interval_s): (Clock, Option<f64>),
        here: impl Fn(u32) -> bool,
    ) -> Self {
        let sender = |(index, &node): (u32, &u32)| {
            here(node).then(|| Sender { node, stream: Stream::new(seed, &spec.label, index, "scatter") })
        };
        let mut scatter = Self {
            sizes: Sizes::new(&spec.sizes),
            senders: (0..).zip(&spec.nodes).map(sender).collect(),
            spec: spec.clone(),
            first_destination,
            first_source,
            first_entity,
            due: Wheel::default(),
            counts: Intervals::new(interval_s),
        };
        for index in 0..scatter.senders.len() as u32 {
            let start = Key::planned(Time::planned(spec.start_s), first_entity + index);
            scatter.schedule(index, start, clock);
        }
        scatter
    }

    fn schedule(&mut self, index: u32, now: Key, clock: Clock) {
        let Some(sender) = &mut self.senders[index as usize] else { return };
        let wait_s = sender.stream.duration(Duration::Exponential { mean_s: 1.0 / self.spec.packets_per_s });
        let time = now.time + wait_s;
        if time.seconds() < self.spec.stop_s {
            let key = Key::new(time, now.time, now.precedence_of_effects(), self.first_entity + index);
            self.due.push(clock.epoch(time), (key, index));
        }
    }

    /// Sends what is to be sent in an epoch: `each` gets it with the node.
    pub fn send(&mut self, epoch: Epoch, clock: Clock, mut each: impl FnMut(u32, Arrival)) {
        loop {
            let mut due = Vec::new();
            self.due.take(|item| due.push(item));
            if due.is_empty() {
                break;
            }
            for (key, index) in due {
                debug_assert_eq!(clock.epoch(key.time), epoch);
                if let Some((node, packet)) = self.datagram(index, key) {
                    self.counts.at(key.time).sent += 1;
                    each(node, Arrival::new(key, packet));
                }
                self.schedule(index, key, clock);
            }
        }
        self.due.turn();
    }

    /// An epoch, not before the one that comes, before which nothing is sent; nothing if nothing ever is.
    #[must_use]
    pub fn next(&self) -> Option<Epoch> {
        self.due.next()
    }

    /// Continues to a later epoch, before which nothing is sent.
    pub fn turn_to(&mut self, epoch: Epoch) {
        self.due.turn_to(epoch);
    }

    fn datagram(&mut self, index: u32, now: Key) -> Option<(u32, Packet)> {
        let others = self.senders.len() as u32 - 1;
        let Sender { node, stream } = self.senders[index as usize].as_mut()?;
        let other = stream.below(others);
        let target = if other < index { other } else { other + 1 };
        let size = self.sizes.as_ref()?.draw(stream);
        let packet = Packet::new(Kind::Datagram, self.first_source + index, 0, size, now.time.seconds());
        let destination = self.first_destination + target as u16;
        Some((*node, packet.addressed(Address { destination, transfer: 0, last: true })))
    }

    /// The destinations of its nodes.
    #[must_use]
    pub fn destinations(&self) -> std::ops::Range<u16> {
        self.first_destination..self.first_destination + self.senders.len() as u16
    }

    /// Whether a packet is one of this group.
    #[must_use]
    pub fn has(&self, packet: &Packet) -> bool {
        packet.source().checked_sub(self.first_source).is_some_and(|index| (index as usize) < self.senders.len())
    }

    /// A datagram arrived, over so many links.
    pub fn receive(&mut self, now: Time, packet: &Packet, hops: impl Fn(u32, u16) -> u16) {
        let from = self.spec.nodes[(packet.source() - self.first_source) as usize];
        let counts = self.counts.at(now);
        counts.delivered += 1;
        counts.latency_ns += (now.since(packet.sent()) * 1e9).round() as u64;
        counts.hops += u64::from(hops(from, packet.destination()));
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.senders.iter().flatten().map(|sender| sender.stream.draws()).sum()
    }
}

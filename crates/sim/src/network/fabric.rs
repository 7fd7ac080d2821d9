//! The network at work: packets are offered to links and come out at the end of their path.

use crate::error::ScenarioError;
use crate::events::{Entity, EventQueue, Key};
use crate::network::gate::Gates;
use crate::network::link::Link;
use crate::network::node::Nodes;
use crate::network::queue::{QueueSpec, Refusal, Site};
use crate::network::topology::{Paths, links_to_answering_hosts};
use crate::packet::Packet;
use crate::probe::{DropReason, Probe, Seen};
use crate::random;
use crate::scenario::{FlowSpec, Scenario};
use crate::time::Time;
use crate::transport::ns2;
use crate::transport::sack::SackSlab;

/// A stop of a path, with its index among its like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Link,
    Gate(usize),
    Processor(usize),
}

/// All links, the packets in them and the events that they cause.
#[derive(Debug)]
pub struct Fabric<P> {
    /// Links, in the order of the scenario.
    pub links: Vec<Link>,
    /// The queues of links with flow control.
    pub gates: Gates,
    /// Processors, and the sources that they and links push back.
    pub nodes: Nodes,
    /// The way of each flow.
    pub paths: Paths,
    /// Pending events of links and timers.
    pub queue: EventQueue,
    /// Packets that have reached, or will certainly reach, a host that only reacts to them, in order; the
    /// simulation hands them over before its next event.
    pub arrived: Vec<Arrived>,
    /// SACK blocks of the ACKs in flight.
    pub sacks: SackSlab,
    /// Who watches packets.
    pub probe: P,
    /// Packets lost on their way, by flow, ACKs not counted.
    pub dropped: Vec<u64>,
    /// For each flow, a number for its packets and one for its ACKs, to tell flows apart in queues that hold
    /// packets; empty where there are none.
    pub(super) numbers: Vec<[u64; 2]>,
    pub(super) first_link: Entity,
    /// The event of the first flow's source, if it waits.
    pub(super) first_source: Entity,
    pub(super) end: Time,
}

/// A packet at the end of its path, and the key of its arrival; in words (see `Key::words`).
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    time: f64,
    caused_at: f64,
    rank: u64,
    stamp: u64,
    identity: u64,
    state: u64,
}

impl Arrived {
    #[inline]
    fn new(key: Key, packet: Packet) -> Self {
        let ((time, caused_at, rank), (stamp, identity, state)) = (key.words(), packet.words());
        Self { time, caused_at, rank, stamp, identity, state }
    }

    /// When.
    #[inline]
    #[must_use]
    pub fn key(&self) -> Key {
        Key::from_words((self.time, self.caused_at, self.rank))
    }

    /// What.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> Packet {
        Packet::from_words((self.stamp, self.identity, self.state))
    }
}

impl<P: Probe> Fabric<P> {
    /// The idle network of a scenario, whose links are entities from `first_link` on, and its waiting
    /// sources from `first_source` on. Links in `unfused` keep events of their own.
    ///
    /// # Errors
    /// A path that does not exist, or flow control towards a node that cannot pause.
    pub fn new(
        scenario: &Scenario,
        (first_link, first_source): (Entity, Entity),
        probe: P,
        unfused: impl Fn(&Paths) -> Vec<bool>,
    ) -> Result<Self, ScenarioError> {
        let end = Time::new(scenario.duration_s);
        let mut paths = Paths::new(scenario)?;
        // ns-2 has one generator for all; it is reproduced as far as one queue draws from it.
        let generator = ns2::generator(scenario);
        let drawing = scenario.links.iter().position(|spec| matches!(spec.queue, QueueSpec::Red(_)));
        let mut links: Vec<Link> = (scenario.links.iter().zip(first_link..).enumerate())
            .map(|(index, (spec, entity))| {
                let ns2 = generator.as_ref().filter(|_| drawing == Some(index));
                Link::new(spec, entity, Site { ns2, ..Site::new(scenario, spec) }, end)
            })
            .collect();
        let unfused = unfused(&paths);
        let mut feeders = paths.only_feeders();
        for (index, feeder) in feeders.iter_mut().enumerate() {
            *feeder = feeder.filter(|&feeder| {
                let managed = links[index].managed.is_some() || links[feeder as usize].managed.is_some();
                P::ALLOWS_FUSION && !unfused[index] && !managed
            });
            if let Some(feeder) = *feeder {
                links[feeder as usize].feeds_fused = true;
            }
        }
        let answering = links_to_answering_hosts(scenario, &paths);
        for (link, answering) in links.iter_mut().zip(answering) {
            if answering && P::ALLOWS_FUSION {
                link.host_reacts_until = Time::NEVER;
            }
        }
        paths.mark_fused(|link| feeders[link as usize].is_some());
        let nodes = Nodes::new(scenario);
        let managed = links.iter().any(|link| link.managed.is_some());
        Ok(Self {
            arrived: Vec::new(),
            gates: Gates::new(scenario, &nodes)?,
            nodes,
            links,
            paths,
            queue: EventQueue::for_size(scenario.links.len() + scenario.flows.len()),
            sacks: SackSlab::default(),
            probe,
            dropped: vec![0; scenario.flows.len()],
            numbers: if managed { flow_numbers(scenario) } else { Vec::new() },
            first_link,
            first_source,
            end,
        })
    }

    /// Puts a packet to the first stop of its path.
    #[inline]
    pub fn send(&mut self, packet: Packet, now: Key) {
        let position = self.paths.begin(packet.flow(), packet.is_reverse());
        if let Some(link) = self.paths.at(position).server() {
            let packet = packet.departing(position);
            self.probe.sent(now, Seen::new(&packet, &self.paths), &self.sacks);
            self.offer(link, packet, now);
        }
    }

    /// Offers a packet to a link at `now`, and on through the links fused to it; or to another stop.
    #[inline]
    pub(super) fn offer(&mut self, index: u32, packet: Packet, now: Key) {
        let ((stamp, identity, state), (time, caused_at, rank)) = (packet.words(), now.words());
        self.offer_words(index, stamp, identity, state, rank, time, caused_at);
    }

    #[allow(clippy::too_many_arguments, reason = "they are registers")]
    #[inline(never)]
    fn offer_words(
        &mut self,
        mut index: u32,
        stamp: u64,
        identity: u64,
        state: u64,
        mut rank: u64,
        mut time: f64,
        mut caused_at: f64,
    ) {
        let mut packet = Packet::from_words((stamp, identity, state));
        loop {
            // Made anew for each who needs it, so that the words stay in registers.
            let now = || Key::from_words((time, caused_at, rank));
            let Some(link) = self.links.get_mut(index as usize) else {
                return self.offer_beyond_links(index, packet, now());
            };
            let service = match link.server.offer(now(), packet.size(), packet.is_capable()) {
                Ok(service) => service,
                Err(refusal) => return self.refused_by_queue(index, packet, now(), refusal),
            };
            self.probe.enqueued(now(), index, Seen::new(&packet, &self.paths), service);
            packet = packet.served(service.start, service.precedence);
            if service.marked {
                packet = packet.marked();
            }
            let delivery = || Key::new(service.delivery, service.start, service.precedence, self.first_link + index);
            if service.delivery >= self.end {
                link.note_late();
            } else if link.lossy && link.loses_next() {
                packet = packet.lost();
            } else if link.feeds_fused || service.delivery < link.host_reacts_until {
                let next = self.paths.at(packet.position() + 1);
                if let Some(next) = next.fused_link() {
                    packet = packet.forwarded();
                    ((time, caused_at, rank), index) = (delivery().words(), next);
                    continue;
                }
                // What the link delivered before, the host must have seen before.
                if let Some(flow) = next.flow()
                    && service.delivery < link.host_reacts_until
                    && link.flight.is_empty()
                {
                    self.arrived.push(Arrived::new(delivery(), packet.arriving(flow)));
                    return;
                }
            }
            let first = link.flight.is_empty();
            link.flight.push_back(packet);
            if first {
                self.queue.push(delivery());
            }
            return;
        }
    }

    /// The event of a link or of another stop: takes the packet off it and puts it to the next stop; returns
    /// it where its path ends.
    #[inline]
    pub fn deliver(&mut self, key: Key) -> Option<Packet> {
        let index = key.entity() - self.first_link;
        let Some(mut link) = self.links.get_mut(index as usize) else { return self.happen_beyond_links(key) };
        if link.managed.is_some() {
            if !self.advance(index, key) {
                return None;
            }
            link = self.links.get_mut(index as usize)?;
        }
        let packet = link.flight.pop_front()?;
        if let Some(next) = link.next_delivery() {
            self.queue.push(next);
        }
        if packet.is_lost() {
            self.probe.dropped(key, index, Seen::new(&packet, &self.paths), DropReason::Wire);
            self.lose(packet.position(), packet.is_reverse(), packet.blocks());
            return None;
        }
        self.probe.received(key, index, Seen::new(&packet, &self.paths));
        let next = self.paths.at(packet.position() + 1);
        if let Some(flow) = next.flow() {
            return Some(packet.arriving(flow));
        }
        if let Some(next) = next.server() {
            self.offer(next, packet.forwarded(), key);
        }
        None
    }

    /// The server of a link takes no packet: it is lost, or waits elsewhere.
    #[cold]
    #[inline(never)]
    fn refused_by_queue(&mut self, index: u32, packet: Packet, now: Key, refusal: Refusal) {
        if refusal == Refusal::Elsewhere {
            return self.offer_managed(index, packet, now);
        }
        let reason = self.nodes.drop_reason(index, refusal);
        self.probe.dropped(now, index, Seen::new(&packet, &self.paths), reason);
        self.lose(packet.position(), packet.is_reverse(), packet.blocks());
    }

    #[cold]
    fn offer_beyond_links(&mut self, stop: u32, packet: Packet, now: Key) {
        match self.place(stop) {
            Place::Gate(index) => self.offer_gate(index, packet, now),
            _ => self.offer_processor(stop, packet, now),
        }
    }

    #[cold]
    fn happen_beyond_links(&mut self, key: Key) -> Option<Packet> {
        match self.place(key.entity() - self.first_link) {
            Place::Gate(index) => {
                self.departed(index, key);
                None
            }
            _ => self.serve(key),
        }
    }

    /// What a stop is: the links come first, then the gates, then the processors.
    pub(super) fn place(&self, stop: u32) -> Place {
        let stop = stop as usize;
        match stop.checked_sub(self.links.len()) {
            None => Place::Link,
            Some(index) => index.checked_sub(self.gates.len()).map_or(Place::Gate(index), Place::Processor),
        }
    }

    /// Counts a lost packet; `blocks` is where an ACK's SACK blocks are.
    #[cold]
    pub(super) fn lose(&mut self, position: u32, reverse: bool, blocks: Option<u32>) {
        match blocks {
            Some(handle) => self.sacks.discard(handle),
            None => self.dropped[self.paths.flow_at(position) as usize] += u64::from(!reverse),
        }
    }
}

fn flow_numbers(scenario: &Scenario) -> Vec<[u64; 2]> {
    let number = |flow: &FlowSpec| ["forward", "reverse"].map(|way| random::hash(0, &flow.group, flow.index, way));
    scenario.flows.iter().map(number).collect()
}

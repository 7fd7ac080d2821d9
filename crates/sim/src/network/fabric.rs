//! The network at work: packets are offered to links and come out at the end of their path.

use crate::entities::Entities;
use crate::error::ScenarioError;
use crate::events::{Entity, EventQueue, Key};
use crate::network::fabric::elsewhere::{Elsewhere, tell};
use crate::network::fabric::gate::Gates;
use crate::network::link::{Link, Passage};
use crate::network::lookahead::{Arrived, Confluence, Lookahead};
use crate::network::node::Nodes;
use crate::network::queue::{FlowKey, Refusal};
use crate::network::saturation::Saturation;
use crate::network::spraying::Spraying;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::probe::{DropReason, Probe, Seen};
use crate::samples::Samples;
use crate::scenario::Scenario;
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

mod around;
mod below_transports;
mod coming;
pub mod elsewhere;
pub mod gate;
mod overview;
mod processing;

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
    /// The paths of each flow.
    pub paths: Paths,
    /// Which of several its packets take.
    pub spraying: Spraying,
    /// Pending events of links and timers.
    pub queue: EventQueue,
    /// What is evaluated ahead of its events.
    pub lookahead: Lookahead,
    /// Options of the ACKs in flight.
    pub ack_options: AckOptionSlab,
    /// Which hops were busy throughout the round trips of flows.
    pub saturation: Saturation,
    /// What lies in other parts of the network, if it has any.
    pub elsewhere: Option<Box<Elsewhere>>,
    /// The samples of links and flows, if any are taken.
    pub samples: Option<Box<Samples>>,
    /// Who watches packets.
    pub probe: P,
    /// Packets lost on their way, by flow, ACKs not counted.
    pub dropped: Vec<u64>,
    /// For each flow, whose its packets and its ACKs are, for queues that hold packets; empty where there are none.
    pub(super) keys: Vec<[FlowKey; 2]>,
    pub(super) first_link: Entity,
    /// The event of the first flow's source, if it waits.
    pub(super) first_source: Entity,
    pub(super) end: Time,
}

impl<P: Probe> Fabric<P> {
    /// The idle network of a scenario, with the paths of its flows.
    ///
    /// # Errors
    /// Flow control towards a node that cannot pause.
    pub fn new(
        scenario: &Scenario,
        mut paths: Paths,
        Entities { first_link, first_source, .. }: Entities,
        probe: P,
        mut elsewhere: Option<Box<Elsewhere>>,
    ) -> Result<Self, ScenarioError> {
        let end = Time::new(scenario.duration_s);
        let mut links = Link::all(scenario, first_link, end);
        let cut = elsewhere.as_ref().map_or(Vec::new(), |elsewhere| elsewhere.cut(scenario));
        let lookahead = if P::ALLOWS_FUSION {
            Lookahead::new(scenario, &mut paths, &mut links, &cut)
        } else {
            Lookahead::default()
        };
        if let Some(elsewhere) = &mut elsewhere {
            elsewhere.mark(scenario, &mut links);
        }
        let nodes = Nodes::new(scenario);
        let managed = links.iter().any(|link| link.managed.is_some());
        Ok(Self {
            lookahead,
            gates: Gates::new(scenario, &nodes)?,
            nodes,
            links,
            queue: EventQueue::default(),
            ack_options: AckOptionSlab::default(),
            saturation: Saturation::new(scenario, &paths),
            paths,
            spraying: Spraying::new(scenario),
            elsewhere,
            samples: Samples::of(scenario).filter(|_| P::TAKES_SAMPLES).map(Box::new),
            probe,
            dropped: vec![0; scenario.flows.len()],
            keys: scenario.flows.iter().filter(|_| managed).map(|flow| scenario.keys_of(flow)).collect(),
            first_link,
            first_source,
            end,
        })
    }

    /// Offers a packet to a link at `now`, and on through the links fused to it; or to another stop.
    #[inline]
    pub(super) fn offer(&mut self, index: u32, packet: Packet, now: Key) {
        let ((stamp, identity, state), (time, caused_at, rank)) = (packet.words(), now.words());
        if packet.ends_round() {
            self.offer_words::<true>(index, stamp, identity, state, rank, time, caused_at);
        } else {
            self.offer_words::<false>(index, stamp, identity, state, rank, time, caused_at);
        }
    }

    /// Compiled apart for packets that end a round, so that for the others, which are the most, nothing is asked.
    #[allow(clippy::too_many_arguments, reason = "they are registers")]
    #[inline(never)]
    fn offer_words<const ENDS_ROUND: bool>(
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
            self.sample_before(index, Time::new(time));
            let Some(link) = self.links.get_mut(index as usize) else {
                return self.offer_beyond_links(index, packet, now());
            };
            let service = match link.server.offer(now(), packet.size(), packet.is_capable()) {
                Ok(service) => service,
                Err(refusal) => return self.refused_by_queue(index, packet, now(), refusal),
            };
            self.probe.enqueued(now(), index, Seen::new(&packet, &self.paths), service);
            if ENDS_ROUND {
                let at = Time::new(time);
                if let Some(full) = self.saturation.pass(packet, at, || link.server.busy_until(at)) {
                    tell(&mut self.elsewhere, full, self.paths.flow_at(packet.position()));
                }
            }
            let passage;
            (packet, passage) = link.pass(packet, &service);
            let delivery = || service.delivery_key(self.first_link + index);
            if passage == Passage::Through && (link.ahead.continues || service.delivery < link.ahead.host_reacts_until)
            {
                let next = self.paths.at(packet.position() + 1);
                if let Some(next) = next.fused_link() {
                    packet = packet.forwarded();
                    ((time, caused_at, rank), index) = (delivery().words(), next);
                    continue;
                }
                if let Some(next) = next.merging_link() {
                    let Some(arrived) = self.merge(next, delivery(), packet.forwarded()) else { return };
                    if arrived.packet().ends_round() != ENDS_ROUND {
                        return self.offer(next, arrived.packet(), arrived.key());
                    }
                    (packet, index) = (arrived.packet(), next);
                    (time, caused_at, rank) = arrived.key().words();
                    continue;
                }
                // What the link delivered before, the host must have seen before.
                if let Some(flow) = next.flow()
                    && service.delivery < link.ahead.host_reacts_until
                    && !link.is_announced()
                {
                    self.lookahead.arrived.push(Arrived::new(delivery(), packet.arriving(flow)));
                    return;
                }
            }
            if link.notes_deliveries() {
                return self.set_off(index, packet, passage, delivery());
            }
            if link.follow(packet) {
                self.queue.push(delivery());
            }
            return;
        }
    }

    /// A packet that was granted a service is on its way, and perhaps a copy of it.
    #[cold]
    #[inline(never)]
    pub(super) fn set_off(&mut self, index: u32, packet: Packet, passage: Passage, delivery: Key) {
        let (link, mut around) = self.around(index);
        around.set_off(link, packet, passage, delivery);
    }

    /// A packet comes to the confluence at a link. Returns the packet that continues in its place, most often the one that
    /// came before it.
    #[inline(always)]
    pub(super) fn merge(&mut self, link: u32, key: Key, packet: Packet) -> Option<Arrived> {
        if key.time < self.lookahead.look {
            self.look_at(key.time);
        }
        self.lookahead.merge(&self.links, link, key, packet)
    }

    /// Has the confluences be looked at when a packet arrives at one, at the latest.
    #[cold]
    fn look_at(&mut self, time: Time) {
        self.lookahead.look = time;
        self.queue.push(Key::planned(time, Entities::look(self.first_link)));
    }

    /// The time has come to look at the confluences: what waits there may have to wait no longer, though the root
    /// has granted nothing since.
    pub fn look(&mut self, now: Key) {
        if now.time != self.lookahead.look {
            return;
        }
        self.lookahead.look = Time::NEVER;
        for number in 0..self.lookahead.confluences.len() {
            // Else its root may have granted nothing yet.
            if self.lookahead.confluences[number].next_time().is_none() {
                continue;
            }
            let Confluence { root, link, .. } = self.lookahead.confluences[number];
            let free = self.links[root as usize].server.free().time;
            let elsewhere = self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.begins_elsewhere(root));
            let free = if elsewhere { free } else { free.max(now.time) };
            while let Some(arrived) = self.lookahead.confluences[number].next(free) {
                self.offer(link, arrived.packet(), arrived.key());
            }
        }
        let next = self.lookahead.confluences.iter().filter_map(Confluence::next_time).min();
        if let Some(next) = next.filter(|&next| next < self.lookahead.look) {
            self.look_at(next);
        }
    }

    /// The event of a link or of another stop: takes the packet off it and puts it to the next stop; returns
    /// it where its path ends.
    #[inline]
    pub fn deliver(&mut self, key: Key) -> Option<Packet> {
        let index = key.entity() - self.first_link;
        let Some(mut link) = self.links.get_mut(index as usize) else { return self.happen_beyond_links(key) };
        if link.managed.is_some() {
            self.catch_up(index, key);
            link = self.links.get_mut(index as usize)?;
            // Else it was there for a departure only.
            if link.next_delivery() != Some(key) {
                return None;
            }
        }
        let packet = if link.notes_deliveries() {
            self.take_noted(index)?
        } else {
            let packet = link.take_follower()?;
            if let Some(next) = link.next_follower() {
                if next.time < link.ahead.host_reacts_until {
                    self.evaluate_announced(index);
                } else {
                    self.queue.push(next);
                }
            }
            packet
        };
        if packet.is_lost() {
            self.probe.dropped(key, index, Seen::new(&packet, &self.paths), DropReason::Wire);
            self.lose(&packet);
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

    /// The host at the end of a link does nothing but react for a while, though it did not when these packets were announced:
    /// they are evaluated ahead again, up to one that needs its event.
    #[cold]
    #[inline(never)]
    fn evaluate_announced(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        while let Some((key, packet)) = link.next_follower().zip(link.follower()) {
            let seen =
                key.time < link.ahead.host_reacts_until && !packet.is_lost() && !link.server.ends_before(key.time);
            let Some(flow) = self.paths.at(packet.position() + 1).flow().filter(|_| seen) else {
                return self.queue.push(key);
            };
            self.lookahead.arrived.push(Arrived::new(key, packet.arriving(flow)));
            link.take_follower();
        }
    }

    /// Takes a packet off a link that notes deliveries.
    #[cold]
    #[inline(never)]
    fn take_noted(&mut self, index: u32) -> Option<Packet> {
        let link = &mut self.links[index as usize];
        let packet = link.take()?;
        if let Some(next) = link.next_in_order() {
            self.queue.push(next);
        }
        Some(packet)
    }

    /// The server of a link takes no packet: it is lost, or waits elsewhere.
    #[cold]
    #[inline(never)]
    fn refused_by_queue(&mut self, index: u32, packet: Packet, now: Key, refusal: Refusal) {
        if refusal == Refusal::Elsewhere {
            let key = self.keys[self.paths.flow_at(packet.position()) as usize][usize::from(packet.is_reverse())];
            let (link, mut around) = self.around(index);
            return link.join(packet, key, now, &mut around);
        }
        let reason = self.nodes.rings.drop_reason(index, refusal);
        self.probe.dropped(now, index, Seen::new(&packet, &self.paths), reason);
        self.lose(&packet);
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

    /// Counts a lost packet.
    #[cold]
    pub(super) fn lose(&mut self, packet: &Packet) {
        lose(packet, &self.paths, &mut self.ack_options, &mut self.dropped);
    }
}

/// Counts a lost packet.
#[cold]
pub(super) fn lose(packet: &Packet, paths: &Paths, ack_options: &mut AckOptionSlab, dropped: &mut [u64]) {
    match packet.options() {
        Some(handle) => ack_options.discard(handle),
        None => dropped[paths.flow_at(packet.position()) as usize] += u64::from(!packet.is_reverse()),
    }
}

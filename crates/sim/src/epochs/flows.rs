//! The hosts of flows in a part of the network: in each epoch, what arrives at a host and what its timers do happens in the
//! order of keys.

use std::cmp::Reverse;
use std::sync::Arc;

use super::clock::Epoch;
use super::inbox::Arrival;
use super::notes::Notes;
use super::users::outlet::{Agenda, Calendar, Due, EventSchedule, Router};
use crate::congestion::external::NoMaker;
use crate::entities::Entities;
use crate::error::ScenarioError;
use crate::events::Key;
use crate::hosts::Hosts;
use crate::network::queue::FlowKey;
use crate::network::saturation::Saturation;
use crate::network::spraying::Spraying;
use crate::network::topology::{Paths, Stop};
use crate::packet::Packet;
use crate::samples::{End, Samples};
use crate::scenario::{FlowSpec, Scenario, TrafficSpec, TransportSpec};
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;
use crate::transport::network::{Backpressure, Network, Schedule};

/// The paths of flows as stops that are numbered: links, processors or destinations of users and datagrams, as no network
/// has both (`check`), hosts of flows.
#[derive(Debug)]
pub struct FlowPaths {
    /// The paths.
    pub paths: Paths,
    /// The nodes with ends of flows, in order: the hosts.
    pub nodes: Vec<u32>,
    /// The number of the first host's stop.
    first_host: u32,
    /// The stop at each position.
    stops: Vec<u32>,
}

impl FlowPaths {
    /// The paths of a scenario's flows, whose hosts are numbered behind `first_host` other stops.
    ///
    /// # Errors
    /// A destination that cannot be reached, or a spelled-out path that does not connect.
    pub fn new(scenario: &Scenario, first_host: u32) -> Result<Self, ScenarioError> {
        let paths = Paths::new(scenario)?;
        let mut nodes: Vec<u32> = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let host = |node: u32| first_host + nodes.partition_point(|&known| known < node) as u32;
        let end = |stop: &Stop| {
            let flow = &scenario.flows[stop.flow().unwrap_or_default() as usize];
            host(if stop.is_reverse() { flow.from } else { flow.to })
        };
        let stops = paths.all().iter().map(|stop| stop.server().unwrap_or_else(|| end(stop))).collect();
        Ok(Self { paths, nodes, first_host, stops })
    }

    /// The stop at each position.
    #[must_use]
    pub fn stops(&self) -> &[u32] {
        &self.stops
    }

    /// The stop of a host.
    #[must_use]
    pub fn stop(&self, host: u32) -> u32 {
        self.first_host + host
    }

    /// The host at a node, if flows end there.
    #[must_use]
    pub fn host_at(&self, node: u32) -> Option<u32> {
        self.nodes.binary_search(&node).ok().map(|host| host as u32)
    }
}

/// The hosts of flows in a part of the network.
#[derive(Debug)]
pub struct FlowHosts {
    /// The ends of all flows, of which those at work are here.
    pub hosts: Hosts,
    /// Which hops here were busy throughout round trips; and others, as far as senders here have to know.
    pub saturation: Saturation,
    /// Which of several paths the packets take that are sent here.
    pub spraying: Spraying,
    /// Packets lost here, by flow, ACKs not counted.
    pub dropped: Vec<u64>,
    /// The paths of all.
    pub paths: Arc<FlowPaths>,
    /// For each flow, whose its packets and its ACKs are.
    keys: Vec<[FlowKey; 2]>,
    /// What hosts have to do in the present epoch, by host.
    agendas: Vec<Agenda>,
    /// The flows that have ends at each host, and which.
    ends: Vec<Vec<(u32, End)>>,
    /// Of each flow, the other part in which it sends, if it does.
    elsewhere: Vec<Option<u32>>,
}

impl FlowHosts {
    /// Hosts at which nothing has happened.
    ///
    /// # Errors
    /// What only the engine can see to be wrong with flows.
    pub fn new(
        scenario: &Scenario,
        paths: &Arc<FlowPaths>,
        elsewhere: Vec<Option<u32>>,
    ) -> Result<Self, ScenarioError> {
        let hosts = Hosts::new(scenario, &paths.paths, &mut NoMaker)?;
        let mut ends = vec![Vec::new(); paths.nodes.len()];
        for (index, flow) in (0..).zip(&scenario.flows) {
            for (node, end) in [(flow.from, End::Sender), (flow.to, End::Receiver)] {
                if let Some(host) = paths.host_at(node) {
                    ends[host as usize].push((index, end));
                }
            }
        }
        Ok(Self {
            hosts,
            saturation: Saturation::new(scenario, &paths.paths),
            spraying: Spraying::new(scenario),
            dropped: vec![0; scenario.flows.len()],
            paths: Arc::clone(paths),
            keys: scenario.flows.iter().map(|flow| scenario.keys_of(flow)).collect(),
            ends,
            agendas: paths.nodes.iter().map(|_| Agenda::new()).collect(),
            elsewhere,
        })
    }

    /// Something is to be done at a host in the epoch that begins.
    pub fn note(&mut self, host: u32, due: Due) {
        self.agendas[host as usize].push(Reverse(due));
    }

    /// Processes an epoch of a host, in which these packets arrive, in this order; `site` is its number in the calendar.
    pub fn process(
        &mut self,
        (host, site): (u32, u32),
        epoch: Epoch,
        (arrivals, order): (&[Arrival], &[(u64, u32)]),
        shared: &mut Shared<'_>,
    ) {
        let Self { hosts, saturation, spraying, paths, agendas, ends, .. } = self;
        let (mut samples, mut notes) = (shared.samples.take(), shared.notes.take());
        let first_timer = hosts.entities().first_timer;
        let turns = EventSchedule { agenda: &mut agendas[host as usize], calendar: &mut *shared.calendar, site };
        let (router, ack_options) = (&mut shared.router, &mut *shared.ack_options);
        let mut network = HostNetwork { turns, router, ack_options, saturation, spraying, paths, epoch };
        let mut waiting = order.iter().map(|&(_, index)| &arrivals[index as usize]).peekable();
        loop {
            let due = network.turns.agenda.peek().map(|Reverse(due)| due.key);
            let arrival = waiting.next_if(|arrival| due.is_none_or(|due| arrival.key().before(&due)));
            if let Some(samples) = &mut samples
                && let Some(now) = arrival.map(Arrival::time).or(due.map(|due| due.time))
            {
                samples.before(&ends[host as usize], now, hosts);
            }
            if let Some(arrival) = arrival {
                let packet = arrival.packet;
                if let Some(notes) = &mut notes {
                    notes.arrives(arrival.key(), &packet, &network.paths.paths, network.ack_options);
                }
                let Some(flow) = network.paths.paths.at(packet.position()).flow() else { continue };
                let (words, (time, caused_at, rank)) = (packet.arriving(flow).words(), arrival.key().words());
                hosts.arrive(&mut network, words.0, words.1, words.2, rank, time, caused_at);
            } else if let Some(Reverse(due)) = network.turns.agenda.pop() {
                if due.key.entity() >= first_timer {
                    hosts.timer(&mut network, due.key);
                } else {
                    hosts.start_or_stop(&mut network, due.key);
                }
            } else {
                break;
            }
        }
    }

    /// The other part in which the flow of a packet on its way sends, if it does.
    #[must_use]
    pub fn sender_elsewhere(&self, packet: &Packet) -> Option<u32> {
        self.elsewhere[self.paths.paths.flow_at(packet.position()) as usize]
    }

    /// A packet is lost.
    #[cold]
    pub fn lose(&mut self, packet: &Packet) {
        self.dropped[self.paths.paths.flow_at(packet.position()) as usize] += u64::from(!packet.is_reverse());
    }

    /// Takes the samples of a host's flows that are left, before `until`.
    pub fn sample(&mut self, host: u32, samples: &mut Samples, until: Time) {
        samples.before(&self.ends[host as usize], until, &self.hosts);
    }

    /// Whose a packet is.
    #[must_use]
    pub fn key(&self, packet: &Packet) -> FlowKey {
        self.keys[self.paths.paths.flow_at(packet.position()) as usize][usize::from(packet.is_reverse())]
    }
}

/// What the hosts of a part share with its other stops.
pub struct Shared<'a> {
    /// Where packets go.
    pub router: Router<'a>,
    /// What is to be done later.
    pub calendar: &'a mut Calendar,
    /// Options of the ACKs in flight.
    pub ack_options: &'a mut AckOptionSlab,
    /// The samples that are taken, if any are.
    pub samples: Option<&'a mut Samples>,
    /// What a probe is told, where one watches.
    pub notes: Option<&'a mut Notes>,
}

/// The network as the transports of one host see it, in the midst of an epoch.
struct HostNetwork<'a, 'b> {
    turns: EventSchedule<'a>,
    router: &'a mut Router<'b>,
    ack_options: &'a mut AckOptionSlab,
    saturation: &'a Saturation,
    spraying: &'a mut Spraying,
    paths: &'a FlowPaths,
    epoch: Epoch,
}

impl Schedule for HostNetwork<'_, '_> {
    #[inline]
    fn schedule(&mut self, event: Key) {
        self.turns.schedule(event);
    }
}

impl Network for HostNetwork<'_, '_> {
    #[inline]
    fn send(&mut self, packet: Packet, now: Key) {
        let position = self.spraying.begin(&self.paths.paths, packet.flow(), packet.is_reverse());
        let stop = self.paths.stops[position as usize];
        if stop < self.paths.first_host {
            self.router.enter(stop, self.epoch, Arrival::new(now, packet.departing(position)));
        }
    }

    #[inline]
    fn ack_options(&mut self) -> &mut AckOptionSlab {
        self.ack_options
    }

    fn was_full(&self, flow: u32, seq: i32) -> bool {
        self.saturation.is_full(flow, seq)
    }
}

impl Backpressure for HostNetwork<'_, '_> {
    /// No source of this scheduler waits for its first link (`check`).
    fn takes_or_wakes(&mut self, _flow: u32, _size: u32, _now: Key) -> bool {
        false
    }
}

/// The events that a scenario plans for its flows: starts and stops, with the node where they happen.
pub fn planned(scenario: &Scenario) -> impl Iterator<Item = (u32, Key)> {
    (0..).zip(&scenario.flows).flat_map(|(index, flow)| {
        let start = Key::planned(Time::planned(flow.start_s), Entities::start(index));
        let stop = Key::planned(Time::planned(flow.stop_s), Entities::stop(index));
        [start, stop].map(|key| (flow.from, key))
    })
}

/// Whether both ends of a flow must be in one part: of a video, the receiver knows its frames from the sender.
#[must_use]
pub fn stays_together(flow: &FlowSpec) -> bool {
    matches!(flow.transport, TransportSpec::Udp(_)) && matches!(flow.traffic, TrafficSpec::Video(_))
}

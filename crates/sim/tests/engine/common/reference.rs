//! A plain simulator of open-loop traffic, to hold the engine against.
//!
//! Every packet of every link has two events, the end of its transmission and its arrival at the other
//! end; a queue is a list of packets; pending events lie in a sorted set. Nothing is computed ahead of
//! time: a queue that decides at departure, the engine's own, is asked at each departure. The order of events is the engine's, by definition: what an event causes carries the time of
//! that event and how long it had itself been inevitable.

use super::steps::Steps;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use tightlink_sim::events::{Key, Precedence};
use tightlink_sim::network::queue::{Held, Load, Lost, Waiting};
use tightlink_sim::packet::{self, Kind};
use tightlink_sim::random::Stream;
use tightlink_sim::scenario::{
    FlowSpec, LinkSpec, LossSpec, Profile, QueueLimit, Scenario, TrafficSpec, TransportSpec, UdpSpec,
};
use tightlink_sim::tables::Column;
use tightlink_sim::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Start(usize),
    Stop(usize),
    Departure(usize),
    Delivery(usize),
    /// The next packet of a queue that shapes may go.
    Ready(usize),
    Pulse(usize),
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    flow: usize,
    seq: u64,
    size: u32,
    sent_s: f64,
    hop: usize,
    joined_s: f64,
}

#[derive(Debug, Default)]
struct Link {
    waiting: VecDeque<Packet>,
    /// Where the queue decides at departure: it, and the packets that wait there, by their number.
    held: Option<Held>,
    numbered: BTreeMap<u32, Packet>,
    next_number: u32,
    steps: Steps,
    /// With when its service began, and when it ends.
    in_service: Option<(Packet, f64, f64)>,
    /// When the last packet reached the other end, where the delay changes: none comes before it.
    delivered_s: f64,
    /// Bits that left, where the rate changes.
    bits: f64,
    /// When the packet in service, or the last before, began to be served, and what came of it.
    last_served: Option<Key>,
    /// By the keys of their arrivals; the wire loses some of them.
    on_the_wire: BTreeMap<Key, (Packet, bool)>,
    packets_in: u64,
    packets_out: u64,
    packets_dropped: u64,
    packets_lost: u64,
    bytes_out: u64,
    busy_s: f64,
    waiting_s: f64,
    queue_max: usize,
}

impl Link {
    /// Of the packet that is first in line, one if it waits.
    fn waits_first(&self, now: Key) -> usize {
        let waits = |(_, start_s, _)| self.steps.opens_s(start_s) > now.time.seconds();
        usize::from(self.in_service.is_some_and(waits))
    }
}

#[derive(Debug, Default)]
struct Flow {
    path: Vec<usize>,
    fragments: Vec<u32>,
    running: bool,
    on_until_s: f64,
    next_seq: u64,
    packets_sent: u64,
    bytes_sent: u64,
    packets_delivered: u64,
    bytes_delivered: u64,
    packets_dropped: u64,
    arrived: HashMap<u64, usize>,
    payload_delivered: u64,
    latencies_s: Vec<f64>,
    arrived_s: f64,
}

/// The reference simulator.
pub struct Reference<'a> {
    scenario: &'a Scenario,
    links: Vec<Link>,
    flows: Vec<Flow>,
    pending: BTreeSet<(Key, Event)>,
    losses: Vec<Stream>,
    duplicates: Vec<Stream>,
    detours: Vec<Stream>,
    on_lengths: Vec<Stream>,
    off_lengths: Vec<Stream>,
    sizes: Vec<Stream>,
}

/// Columns by name, as in the engine's tables.
pub type Columns = BTreeMap<&'static str, Column>;

impl<'a> Reference<'a> {
    /// Runs a scenario whose flows are UDP, to the end.
    pub fn run(scenario: &'a Scenario) -> Self {
        let stream = |flow: &FlowSpec, purpose| Stream::new(scenario.seed, &flow.group, flow.index, purpose);
        let of_links = |purpose| {
            let of = |link: &LinkSpec| Stream::new(scenario.seed, &link.name, 0, purpose);
            scenario.links.iter().map(of).collect::<Vec<_>>()
        };
        let mut reference = Self {
            scenario,
            links: scenario.links.iter().map(|link| new_link(scenario, link)).collect(),
            flows: scenario.flows.iter().map(|flow| new_flow(scenario, flow)).collect(),
            pending: BTreeSet::new(),
            losses: of_links("loss"),
            duplicates: of_links("duplicate"),
            detours: of_links("reorder"),
            on_lengths: scenario.flows.iter().map(|flow| stream(flow, "on")).collect(),
            off_lengths: scenario.flows.iter().map(|flow| stream(flow, "off")).collect(),
            sizes: scenario.flows.iter().map(|flow| stream(flow, "sizes")).collect(),
        };
        for (index, flow) in scenario.flows.iter().enumerate() {
            let planned = |time_s, entity| Key::planned(Time::new(time_s), entity);
            reference.pending.insert((planned(flow.start_s, 1 + 2 * index as u32), Event::Start(index)));
            reference.pending.insert((planned(flow.stop_s, 2 + 2 * index as u32), Event::Stop(index)));
        }
        while let Some((now, event)) = reference.pending.pop_first() {
            if now.time.seconds() >= scenario.duration_s {
                break;
            }
            reference.handle(now, event);
        }
        reference
    }

    fn handle(&mut self, now: Key, event: Event) {
        match event {
            Event::Start(flow) => {
                self.flows[flow].running = true;
                if let TrafficSpec::OnOff { on, .. } = self.scenario.flows[flow].traffic {
                    self.flows[flow].on_until_s = now.time.seconds() + self.on_lengths[flow].duration(on);
                }
                self.pulse(now, flow);
            }
            Event::Stop(flow) => self.flows[flow].running = false,
            Event::Pulse(flow) => self.pulse(now, flow),
            Event::Departure(link) => self.depart(now, link),
            Event::Ready(link) => self.serve_if_idle(now, link),
            Event::Delivery(link) => self.deliver(now, link),
        }
    }

    /// A key for what `cause` makes inevitable at `time_s`.
    fn effect(cause: Key, time_s: f64, entity: u32) -> Key {
        let precedence = Precedence::of(cause.time.seconds() - cause.caused_at.seconds());
        Key::new(Time::new(time_s), cause.time, precedence, entity)
    }

    fn pulse(&mut self, now: Key, flow: usize) {
        if !self.flows[flow].running {
            return;
        }
        let sent_s = now.time.seconds();
        let seq = self.flows[flow].next_seq;
        self.flows[flow].next_seq += 1;
        let udp = udp(&self.scenario.flows[flow]);
        let (whole, fragments) = match pick(udp, &mut self.sizes[flow]) {
            Some(size) => (size, vec![size]),
            None => (udp.payload_bytes + udp.header_bytes, self.flows[flow].fragments.clone()),
        };
        for size in fragments {
            self.flows[flow].packets_sent += 1;
            self.flows[flow].bytes_sent += u64::from(size);
            self.offer(now, Packet { flow, seq, size, sent_s, hop: 0, joined_s: 0.0 });
        }
        let next_s = match self.scenario.flows[flow].traffic {
            TrafficSpec::Cbr { pace, .. } => sent_s + pace.interval_s(whole),
            TrafficSpec::OnOff { pace, on, off } => {
                let interval_s = pace.interval_s(whole);
                if sent_s + interval_s < self.flows[flow].on_until_s {
                    sent_s + interval_s
                } else {
                    let begin_s = self.flows[flow].on_until_s.max(sent_s) + self.off_lengths[flow].duration(off);
                    self.flows[flow].on_until_s = begin_s + self.on_lengths[flow].duration(on);
                    // A source waits for a duration: it does not aim at an instant.
                    sent_s + (begin_s - sent_s)
                }
            }
            TrafficSpec::Bulk { .. } | TrafficSpec::Saturate {} | TrafficSpec::Video(_) => {
                panic!("the reference knows no such source")
            }
        };
        let entity = 1 + 2 * self.flows.len() as u32 + self.links.len() as u32 + 3 * flow as u32 + 2;
        self.pending.insert((Self::effect(now, next_s, entity), Event::Pulse(flow)));
    }

    fn offer(&mut self, now: Key, mut packet: Packet) {
        let index = self.flows[packet.flow].path[packet.hop];
        let link = &mut self.links[index];
        link.packets_in += 1;
        packet.joined_s = now.time.seconds();
        if link.held.is_some() {
            return self.offer_held(now, packet, index);
        }
        let inside = link.waiting.iter().chain(link.in_service.iter().map(|(packet, ..)| packet));
        let (count, bytes) =
            inside.fold((0u64, 0u64), |(count, bytes), packet| (count + 1, bytes + u64::from(packet.size)));
        let full = match self.scenario.links[index].queue.limit() {
            // ns-2's own condition: the packet in service counts even where there is none.
            QueueLimit::Packets(limit) if self.scenario.profile == Profile::Ns2 => {
                link.waiting.len() + 1 >= limit as usize
            }
            QueueLimit::Packets(limit) => count >= u64::from(limit),
            QueueLimit::Bytes(limit) => bytes + u64::from(packet.size) > limit,
            QueueLimit::Unlimited => false,
        };
        if full {
            link.packets_dropped += 1;
            self.flows[packet.flow].packets_dropped += 1;
            return;
        }
        link.waiting.push_back(packet);
        if link.in_service.is_none() {
            self.serve(now, index);
        }
        let link = &mut self.links[index];
        link.queue_max = link.queue_max.max(link.waiting.len() + link.waits_first(now));
    }

    fn offer_held(&mut self, now: Key, packet: Packet, index: usize) {
        let flow = &self.scenario.flows[packet.flow];
        let link = &mut self.links[index];
        let number = link.next_number;
        link.next_number += 1;
        link.numbered.insert(number, packet);
        let on_line = Load {
            packets: usize::from(link.in_service.is_some()),
            bytes: link.in_service.map_or(0, |(packet, ..)| u64::from(packet.size)),
        };
        let waiting = Waiting {
            packet: packet::Packet::new(Kind::Datagram, 0, number, packet.size, 0.0),
            since_s: packet.joined_s,
            key: self.scenario.keys_of(flow)[0],
            marked: false,
        };
        let mut lost = Lost::new();
        if link.held.as_mut().expect("it holds its packets").join(waiting, on_line, &mut lost).is_err() {
            link.numbered.remove(&number);
            link.packets_dropped += 1;
            self.flows[packet.flow].packets_dropped += 1;
        }
        self.discard(now, &lost, index);
        self.serve_if_idle(now, index);
        let link = &mut self.links[index];
        link.queue_max = link.queue_max.max(link.numbered.len() + link.waits_first(now));
    }

    fn discard(&mut self, now: Key, lost: &Lost, index: usize) {
        let link = &mut self.links[index];
        for (waiting, _) in lost {
            let packet = link.numbered.remove(&waiting.packet.seq()).expect("it waited");
            link.packets_dropped += 1;
            link.waiting_s += now.time.seconds() - packet.joined_s;
            self.flows[packet.flow].packets_dropped += 1;
        }
    }

    /// Takes the next packet from the queue of a link.
    fn next_packet(&mut self, now: Key, index: usize) -> Option<Packet> {
        let link = &mut self.links[index];
        let Some(held) = &mut link.held else { return link.waiting.pop_front() };
        let mut lost = Lost::new();
        let next = held.next(now.time, &mut lost);
        self.discard(now, &lost, index);
        next.and_then(|waiting| self.links[index].numbered.remove(&waiting.packet.seq()))
    }

    /// Bits of a packet on the line of a link.
    fn bits(&self, link: usize, size: u32) -> f64 {
        let framing = self.scenario.links[link].framing;
        8.0 * f64::from((size + framing.overhead_bytes).max(framing.smallest_bytes))
    }

    /// Seconds that a packet occupies the line of a link whose rate does not change.
    fn transmission_s(&self, link: usize, size: u32) -> f64 {
        let spec = &self.scenario.links[link];
        spec.rate_pps.map_or_else(|| self.bits(link, size) / spec.rate_bps, |packets_per_s| 1.0 / packets_per_s)
    }

    /// The next packet, if the line is free.
    fn serve_if_idle(&mut self, now: Key, index: usize) {
        if self.links[index].in_service.is_none() {
            self.serve(now, index);
        }
    }

    /// The line is free: the next packet, if there is one. A queue that shapes has it wait, perhaps.
    fn serve(&mut self, now: Key, index: usize) {
        let entity = 1 + 2 * self.flows.len() as u32 + index as u32;
        let link = &self.links[index];
        if let Some((ready_s, last)) = link.held.as_ref().map(Held::ready_s).zip(link.last_served)
            && ready_s > now.time.seconds()
        {
            let ready = Key::new(Time::new(ready_s), last.caused_at, last.precedence(), last.entity());
            self.pending.insert((ready, Event::Ready(index)));
            return;
        }
        let Some(packet) = self.next_packet(now, index) else { return };
        let start_s = now.time.seconds();
        // First in line, it waits where the rate is zero.
        let begun_s = self.links[index].steps.opens_s(start_s);
        self.links[index].waiting_s += begun_s.min(self.scenario.duration_s) - packet.joined_s;
        let (transmission_s, bits) = (self.transmission_s(index, packet.size), self.bits(index, packet.size));
        let (link, delay_s) = (&mut self.links[index], self.scenario.links[index].delay_s);
        let departure_s = link.steps.departure_s(start_s, bits, transmission_s);
        link.in_service = Some((packet, start_s, departure_s));
        let spec = &self.scenario.links[index];
        let delivery_s = if link.steps.is_none() && spec.reorder.is_none() {
            start_s + (transmission_s + delay_s)
        } else {
            let delivery_s = departure_s + link.steps.delay_s(departure_s, delay_s);
            match spec.reorder {
                Some(reorder) if self.detours[index].chance(reorder.probability) => {
                    delivery_s.max(link.delivered_s) + reorder.delay_s
                }
                _ if spec.overtaking => delivery_s,
                _ => {
                    link.delivered_s = link.delivered_s.max(delivery_s);
                    link.delivered_s
                }
            }
        };
        let LossSpec::Independent(probability) = spec.loss else { panic!("independent losses only") };
        let lost = probability > 0.0 && self.losses[index].chance(probability);
        let departure = Self::effect(now, departure_s, entity);
        let delivery = Self::effect(now, delivery_s, entity);
        self.links[index].last_served = Some(departure);
        self.pending.insert((departure, Event::Departure(index)));
        let again = Self::effect(now, delivery_s + transmission_s, entity);
        let twice = !lost && spec.duplicate > 0.0 && self.duplicates[index].chance(spec.duplicate);
        for key in [delivery].into_iter().chain(twice.then_some(again)) {
            self.links[index].on_the_wire.insert(key, (packet, lost));
            self.pending.insert((key, Event::Delivery(index)));
        }
    }

    fn depart(&mut self, now: Key, index: usize) {
        let (packet, start_s, departure_s) = self.links[index].in_service.take().expect("a packet in service");
        let (transmission_s, bits) = (self.transmission_s(index, packet.size), self.bits(index, packet.size));
        let link = &mut self.links[index];
        link.packets_out += 1;
        link.bytes_out += u64::from(packet.size);
        link.busy_s += if link.steps.is_none() { transmission_s } else { departure_s - start_s };
        link.bits += bits;
        self.serve(now, index);
    }

    fn deliver(&mut self, now: Key, index: usize) {
        let (mut packet, lost) = self.links[index].on_the_wire.remove(&now).expect("a packet on the wire");
        if lost {
            self.links[index].packets_lost += 1;
            self.flows[packet.flow].packets_dropped += 1;
            return;
        }
        packet.hop += 1;
        let flow = &mut self.flows[packet.flow];
        if packet.hop < flow.path.len() {
            self.offer(now, packet);
            return;
        }
        flow.packets_delivered += 1;
        flow.bytes_delivered += u64::from(packet.size);
        flow.latencies_s.push(now.time.seconds() - packet.sent_s);
        flow.arrived_s = now.time.seconds();
        let arrived = flow.arrived.entry(packet.seq).or_default();
        *arrived += 1;
        let udp = udp(&self.scenario.flows[packet.flow]);
        if !udp.sizes.is_empty() {
            flow.payload_delivered += u64::from(packet.size - udp.header_bytes);
        } else if *arrived == flow.fragments.len() || flow.fragments.len() == 1 {
            flow.payload_delivered += u64::from(udp.payload_bytes);
        }
    }

    /// The `links` table, as far as it is counted here; `busy_s` instead of the utilization.
    pub fn links(&self) -> Columns {
        let end_s = self.scenario.duration_s;
        let integer =
            |value: fn(&Link) -> u64| Column::Integer(self.links.iter().map(|link| value(link) as i64).collect());
        // Packets that still wait at the end have waited until then.
        let waiting_s = |link: &Link| {
            let sum_s = link.held.as_ref().map_or(link.waiting_s, |held| held.waited_s(link.waiting_s, end_s));
            link.waiting.iter().fold(sum_s, |sum, packet| sum + (end_s - packet.joined_s))
        };
        Columns::from([
            ("packets_in", integer(|link| link.packets_in)),
            ("packets_out", integer(|link| link.packets_out)),
            ("packets_dropped", integer(|link| link.packets_dropped + link.packets_lost)),
            ("packets_lost", integer(|link| link.packets_lost)),
            ("bytes_out", integer(|link| link.bytes_out)),
            ("queue_max_packets", integer(|link| link.queue_max as u64)),
            ("queue_mean_packets", Column::Float(self.links.iter().map(|link| waiting_s(link) / end_s).collect())),
        ])
    }

    /// Shares of the time that each link transmitted, and by how much they may be off: the engine counts all that was granted,
    /// and takes away what lies behind the end. With a long queue, or at rates near zero, what is left is a small difference.
    pub fn utilizations(&self) -> Vec<(f64, f64)> {
        let end_s = self.scenario.duration_s;
        let in_service_s = |link: &Link| link.in_service.map_or(0.0, |(_, start_s, _)| end_s - start_s);
        // Of what it could send, where that changes: of the packet in service what was possible since it began.
        let share = |link: &Link| match link.steps.possible(end_s) {
            None => {
                let shaped_s = link.held.as_ref().map_or(0.0, |held| held.shaped_s(end_s));
                (link.busy_s + in_service_s(link)).max(shaped_s) / end_s
            }
            Some(possible) => {
                let before = |(_, start_s, _)| link.steps.possible(start_s).unwrap_or(0.0);
                (link.bits + link.in_service.map_or(0.0, |service| possible - before(service))) / possible
            }
        };
        let granted = |(index, link): (usize, &Link)| {
            let packets = || link.waiting.iter().chain(link.in_service.as_ref().map(|(packet, ..)| packet));
            match link.steps.possible(end_s) {
                None => {
                    link.busy_s / end_s
                        + packets().map(|each| self.transmission_s(index, each.size) / end_s).sum::<f64>()
                }
                Some(possible) => {
                    (link.bits + packets().map(|each| self.bits(index, each.size)).sum::<f64>()) / possible
                }
            }
        };
        let shares = self.links.iter().map(share);
        shares
            .zip(self.links.iter().enumerate().map(granted))
            .map(|(share, all)| (share, 1e-12 * all.max(1.0)))
            .collect()
    }

    /// The `flows` table, as far as it says something about UDP.
    pub fn flows(&self) -> Columns {
        let integer =
            |value: fn(&Flow) -> u64| Column::Integer(self.flows.iter().map(|flow| value(flow) as i64).collect());
        let float = |value: fn(&Flow) -> f64| Column::Float(self.flows.iter().map(value).collect());
        let rate = |bytes: fn(&Flow) -> u64| {
            let rates = self.flows.iter().zip(&self.scenario.flows).map(|(flow, spec)| {
                let seconds = spec.stop_s.min(self.scenario.duration_s).max(flow.arrived_s) - spec.start_s;
                bytes(flow) as f64 * 8.0 / seconds
            });
            Column::Float(rates.collect())
        };
        Columns::from([
            ("packets_sent", integer(|flow| flow.packets_sent)),
            ("packets_delivered", integer(|flow| flow.packets_delivered)),
            ("packets_dropped", integer(|flow| flow.packets_dropped)),
            ("bytes_sent", integer(|flow| flow.bytes_sent)),
            ("bytes_delivered", integer(|flow| flow.bytes_delivered)),
            ("goodput_bps", rate(|flow| flow.payload_delivered)),
            ("throughput_bps", rate(|flow| flow.bytes_delivered)),
            ("one_way_delay_mean_s", float(|flow| mean(&flow.latencies_s))),
            ("one_way_delay_max_s", float(|flow| flow.latencies_s.iter().copied().fold(f64::NAN, f64::max))),
            ("jitter_mean_s", float(|flow| mean(&jitters(&flow.latencies_s)))),
        ])
    }
}

fn new_link(scenario: &Scenario, link: &LinkSpec) -> Link {
    let (held, steps) =
        (Held::new(&link.queue, link.site(scenario.profile, scenario.seed)), Steps::of(link, scenario.duration_s));
    Link { held, steps, ..Link::default() }
}

fn new_flow(scenario: &Scenario, flow: &FlowSpec) -> Flow {
    let path = match &flow.path {
        Some(path) => path.iter().map(|&link| link as usize).collect(),
        None => shortest_path(scenario, flow.from, flow.to),
    };
    let mtu = path.iter().filter_map(|&link| scenario.links[link].mtu_bytes).min();
    Flow { fragments: fragments(udp(flow), mtu), path, ..Flow::default() }
}

fn udp(flow: &FlowSpec) -> &UdpSpec {
    match &flow.transport {
        TransportSpec::Udp(udp) => udp,
        TransportSpec::Tcp(_) => panic!("the reference has no TCP"),
    }
}

/// The size of a datagram, where there are several: the first up to which the shares sum to more than what is drawn.
fn pick(udp: &UdpSpec, stream: &mut Stream) -> Option<u32> {
    let last = udp.sizes.last()?;
    let drawn = stream.uniform();
    let mut sum = 0.0;
    let found = udp.sizes.iter().find(|size| {
        sum += size.share;
        drawn < sum
    });
    Some(found.unwrap_or(last).bytes)
}

/// Sizes of the fragments of a datagram: each has a header, and all but the last a multiple of 8 bytes.
fn fragments(udp: &UdpSpec, mtu: Option<u32>) -> Vec<u32> {
    let whole = udp.payload_bytes + udp.header_bytes;
    let Some(mtu) = mtu.filter(|&mtu| mtu < whole) else { return vec![whole] };
    let mut left = whole - udp.fragment_header_bytes;
    let mut sizes = Vec::new();
    while left > 0 {
        let most = (mtu - udp.fragment_header_bytes) / 8 * 8;
        let data = left.min(most);
        sizes.push(data + udp.fragment_header_bytes);
        left -= data;
    }
    sizes
}

/// The first of the shortest paths, links taken in the order of the scenario from the destination on.
/// Random networks here are trees with parallel links at most, where there is but one set of nodes.
pub fn shortest_path(scenario: &Scenario, from: u32, to: u32) -> Vec<usize> {
    let mut reached = BTreeMap::from([(to, Vec::new())]);
    while !reached.contains_key(&from) {
        let before = reached.clone();
        for (index, link) in scenario.links.iter().enumerate() {
            if let (Some(rest), false) = (before.get(&link.to), reached.contains_key(&link.from)) {
                let path = [vec![index], rest.clone()].concat();
                reached.insert(link.from, path);
            }
        }
        assert!(reached.len() > before.len(), "no path from {from} to {to}");
    }
    reached.remove(&from).expect("reached")
}

fn mean(values: &[f64]) -> f64 {
    let sum = values.iter().fold(0.0, |sum, value| sum + value);
    if values.is_empty() { f64::NAN } else { sum / values.len() as f64 }
}

fn jitters(latencies_s: &[f64]) -> Vec<f64> {
    latencies_s.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect()
}

//! Scattered datagrams against a plain simulator: one heap of events, two for each hop, a list of packets for each
//! queue. Nothing is computed ahead of time and nothing is sorted but the events.

use super::networks::of_datagrams;
use super::run_as;
use crate::engine::common::{cases, floats};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tightlink_sim::ScenarioError;
use tightlink_sim::events::{Key, Precedence};
use tightlink_sim::random::Stream;
use tightlink_sim::scenario::{Duration, LossSpec, Profile, QueueLimit, Scenario};
use tightlink_sim::tables::Column;
use tightlink_sim::time::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Departure(usize),
    Delivery(usize),
    /// Of a group, one of its nodes.
    Send(usize, usize),
}

#[derive(Clone, Copy, Debug)]
struct Datagram {
    group: usize,
    size: u32,
    to: u32,
    sent_s: f64,
    joined_s: f64,
    hops: u64,
}

#[derive(Clone, Debug, Default)]
struct Link {
    waiting: VecDeque<Datagram>,
    in_service: Option<(Datagram, f64)>,
    on_the_wire: VecDeque<Datagram>,
    packets_in: i64,
    packets_out: i64,
    refused: i64,
    lost: i64,
    bytes_out: i64,
    waiting_s: f64,
    busy_s: f64,
    queue_max: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: i64,
    delivered: i64,
    dropped: i64,
    latency_ns: u64,
    hops: u64,
}

struct Plain<'a> {
    scenario: &'a Scenario,
    pending: BinaryHeap<Reverse<(Key, Event)>>,
    links: Vec<Link>,
    losses: Vec<Stream>,
    senders: Vec<Vec<Stream>>,
    /// Of each group, by interval.
    counts: Vec<Vec<Counts>>,
    /// By destination and node.
    next: Vec<Vec<Option<usize>>>,
}

impl<'a> Plain<'a> {
    fn run(scenario: &'a Scenario) -> Self {
        let stream = |label: &str, index| Stream::new(scenario.seed, label, index, "scatter");
        let senders = scenario
            .scatter
            .iter()
            .map(|group| (0..group.nodes.len() as u32).map(|index| stream(&group.label, index)).collect());
        let mut plain = Self {
            scenario,
            pending: BinaryHeap::new(),
            links: vec![Link::default(); scenario.links.len()],
            losses: scenario.links.iter().map(|link| Stream::new(scenario.seed, &link.name, 0, "loss")).collect(),
            senders: senders.collect(),
            counts: vec![Vec::new(); scenario.scatter.len()],
            next: next_links(scenario),
        };
        for (group, spec) in scenario.scatter.iter().enumerate() {
            for index in 0..spec.nodes.len() {
                let start = Key::planned(Time::new(spec.start_s), plain.entity(group, index));
                plain.schedule(start, group, index);
            }
        }
        while let Some(Reverse((now, event))) = plain.pending.pop() {
            if now.time.seconds() >= scenario.duration_s {
                break;
            }
            match event {
                Event::Departure(link) => plain.depart(now, link),
                Event::Delivery(link) => plain.deliver(now, link),
                Event::Send(group, index) => {
                    plain.send(now, group, index);
                    plain.schedule(now, group, index);
                }
            }
        }
        // A row for each interval that begins before the end.
        let interval_s = scenario.observe.interval_s.unwrap_or(scenario.duration_s);
        let begins = (1..).take_while(|&index| interval_s * f64::from(index) < scenario.duration_s).count();
        for rows in &mut plain.counts {
            rows.resize(begins + 1, Counts::default());
        }
        plain
    }

    /// Links come first, then the nodes of each group.
    fn entity(&self, group: usize, index: usize) -> u32 {
        let before: usize = self.scenario.scatter[..group].iter().map(|spec| spec.nodes.len()).sum();
        (1 + self.links.len() + before + index) as u32
    }

    fn effect(cause: Key, time_s: f64, entity: u32) -> Key {
        let precedence = Precedence::of(cause.time.seconds() - cause.caused_at.seconds());
        Key::new(Time::new(time_s), cause.time, precedence, entity)
    }

    fn schedule(&mut self, now: Key, group: usize, index: usize) {
        let spec = &self.scenario.scatter[group];
        let mean_s = 1.0 / spec.packets_per_s;
        let time_s = now.time.seconds() + self.senders[group][index].duration(Duration::Exponential { mean_s });
        if time_s < spec.stop_s {
            let key = Self::effect(now, time_s, self.entity(group, index));
            self.pending.push(Reverse((key, Event::Send(group, index))));
        }
    }

    fn count(&mut self, group: usize, now: Key) -> &mut Counts {
        let interval_s = self.scenario.observe.interval_s.unwrap_or(f64::INFINITY);
        let rows = &mut self.counts[group];
        let index = (0..).find(|&index| now.time.seconds() < interval_s * f64::from(index + 1)).expect("time ends");
        rows.resize(rows.len().max(index as usize + 1), Counts::default());
        &mut rows[index as usize]
    }

    fn send(&mut self, now: Key, group: usize, index: usize) {
        let spec = &self.scenario.scatter[group];
        let stream = &mut self.senders[group][index];
        let others: Vec<u32> = (0..).zip(&spec.nodes).filter(|(other, _)| *other != index).map(|(_, &n)| n).collect();
        let to = others[stream.below(others.len() as u32) as usize];
        let drawn = stream.uniform();
        let mut sum = 0.0;
        let size = spec.sizes.iter().find(|size| {
            sum += size.share;
            drawn < sum
        });
        let size = size.or(spec.sizes.last()).expect("a size").bytes;
        let sent_s = now.time.seconds();
        self.count(group, now).sent += 1;
        self.forward(now, spec.nodes[index], Datagram { group, size, to, sent_s, joined_s: sent_s, hops: 0 });
    }

    fn forward(&mut self, now: Key, node: u32, mut datagram: Datagram) {
        if node == datagram.to {
            let counts = self.count(datagram.group, now);
            counts.delivered += 1;
            counts.latency_ns += ((now.time.seconds() - datagram.sent_s) * 1e9).round() as u64;
            counts.hops += datagram.hops;
            return;
        }
        let index = self.next[datagram.to as usize][node as usize].expect("a connected network");
        let link = &mut self.links[index];
        link.packets_in += 1;
        let inside: Vec<u32> =
            link.waiting.iter().chain(link.in_service.iter().map(|(d, _)| d)).map(|datagram| datagram.size).collect();
        let is_full = match self.scenario.links[index].queue.limit() {
            QueueLimit::Packets(limit) if self.scenario.profile == Profile::Ns2 => {
                link.waiting.len() + 1 >= limit as usize
            }
            QueueLimit::Packets(limit) => inside.len() >= limit as usize,
            QueueLimit::Bytes(limit) => u64::from(inside.iter().sum::<u32>() + datagram.size) > limit,
            QueueLimit::Unlimited => false,
        };
        if is_full {
            link.refused += 1;
            self.count(datagram.group, now).dropped += 1;
            return;
        }
        datagram.joined_s = now.time.seconds();
        link.waiting.push_back(datagram);
        if link.in_service.is_none() {
            self.serve(now, index);
        }
        let link = &mut self.links[index];
        link.queue_max = link.queue_max.max(link.waiting.len() as i64);
    }

    fn serve(&mut self, now: Key, index: usize) {
        let (spec, link) = (&self.scenario.links[index], &mut self.links[index]);
        let Some(datagram) = link.waiting.pop_front() else { return };
        let start_s = now.time.seconds();
        link.waiting_s += start_s - datagram.joined_s;
        link.in_service = Some((datagram, start_s));
        link.on_the_wire.push_back(datagram);
        let transmission_s = spec.rate_pps.map_or(8.0 * f64::from(datagram.size) / spec.rate_bps, |rate| 1.0 / rate);
        let departure = Self::effect(now, start_s + transmission_s, 1 + index as u32);
        let delivery = Self::effect(now, start_s + (transmission_s + spec.delay_s), 1 + index as u32);
        self.pending.push(Reverse((departure, Event::Departure(index))));
        self.pending.push(Reverse((delivery, Event::Delivery(index))));
    }

    fn depart(&mut self, now: Key, index: usize) {
        let link = &mut self.links[index];
        let (datagram, start_s) = link.in_service.take().expect("one in service");
        link.packets_out += 1;
        link.bytes_out += i64::from(datagram.size);
        link.busy_s += now.time.seconds() - start_s;
        self.serve(now, index);
    }

    fn deliver(&mut self, now: Key, index: usize) {
        let spec = &self.scenario.links[index];
        let mut datagram = self.links[index].on_the_wire.pop_front().expect("one on the wire");
        let LossSpec::Independent(probability) = spec.loss else { panic!("independent losses only") };
        if probability > 0.0 && self.losses[index].chance(probability) {
            self.links[index].lost += 1;
            self.count(datagram.group, now).dropped += 1;
            return;
        }
        datagram.hops += 1;
        self.forward(now, spec.to, datagram);
    }

    /// Time that packets waited at a link, those that still wait until the end.
    fn waiting_s(&self, link: &Link) -> f64 {
        link.waiting.iter().fold(link.waiting_s, |sum, datagram| sum + (self.scenario.duration_s - datagram.joined_s))
    }

    /// Time that a link transmitted.
    fn busy_s(&self, link: &Link) -> f64 {
        link.busy_s + link.in_service.map_or(0.0, |(_, start_s)| self.scenario.duration_s - start_s)
    }
}

/// By destination and node, the first link of a shortest path: breadth first from the destination.
fn next_links(scenario: &Scenario) -> Vec<Vec<Option<usize>>> {
    let towards = |to: usize| {
        let mut next = vec![None; scenario.nodes.len()];
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            for (index, link) in scenario.links.iter().enumerate().filter(|(_, link)| link.to as usize == node) {
                let before = link.from as usize;
                if before != to && next[before].is_none() {
                    next[before] = Some(index);
                    reached.push_back(before);
                }
            }
        }
        next
    };
    (0..scenario.nodes.len()).map(towards).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(30), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn datagrams_fare_as_in_a_plain_simulator(scenario in of_datagrams()) {
        let outcome = match run_as(&scenario, 1, 5e-3) {
            Err(ScenarioError::Traffic { expected }) if expected.contains("circle") => {
                return Err(TestCaseError::reject("a circle without delay"));
            }
            result => result.expect("the scenario is valid"),
        };
        let plain = Plain::run(&scenario);
        let integers = |value: &dyn Fn(&Link) -> i64| Column::Integer(plain.links.iter().map(value).collect());
        let floats_of = |value: &dyn Fn(&Link) -> f64| Column::Float(plain.links.iter().map(value).collect());
        let links = outcome.table("links");
        for (name, expected) in [
            ("packets_in", integers(&|link| link.packets_in)),
            ("packets_out", integers(&|link| link.packets_out)),
            ("packets_dropped", integers(&|link| link.refused + link.lost)),
            ("packets_lost", integers(&|link| link.lost)),
            ("bytes_out", integers(&|link| link.bytes_out)),
            ("queue_max_packets", integers(&|link| link.queue_max)),
            ("queue_mean_packets", floats_of(&|link| plain.waiting_s(link) / scenario.duration_s)),
        ] {
            prop_assert_eq!(crate::engine::common::column(links, name), &expected, "{}", name);
        }
        for (utilization, link) in floats(links, "utilization").iter().zip(&plain.links) {
            prop_assert!((utilization - plain.busy_s(link) / scenario.duration_s).abs() < 1e-9);
        }
        let table = outcome.table("scatter");
        let column = |name| crate::engine::common::integers(table, name).to_vec();
        let rows = |value: &dyn Fn(&Counts) -> i64| -> Vec<i64> { plain.counts.iter().flatten().map(value).collect() };
        prop_assert_eq!(column("packets_sent"), rows(&|counts| counts.sent));
        prop_assert_eq!(column("packets_delivered"), rows(&|counts| counts.delivered));
        prop_assert_eq!(column("packets_dropped"), rows(&|counts| counts.dropped));
        let mean = |sum: f64, counts: &Counts| if counts.delivered == 0 { f64::NAN } else { sum / counts.delivered as f64 };
        for (row, counts) in plain.counts.iter().flatten().enumerate() {
            let latency_s = mean(counts.latency_ns as f64 * 1e-9, counts);
            let hops = mean(counts.hops as f64, counts);
            let close = |name, expected: f64| {
                let value = floats(table, name)[row];
                value.is_nan() && expected.is_nan() || (value - expected).abs() < 1e-9
            };
            prop_assert!(close("one_way_delay_mean_s", latency_s), "row {}: {} s", row, latency_s);
            prop_assert!(close("hops_mean", hops), "row {}: {} hops", row, hops);
        }
    }
}

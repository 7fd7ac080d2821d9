//! Links in a row, with hosts at every node: in the simulator, and as a relay.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use proptest::prelude::*;
use tightlink_relay::network::Network;
use tightlink_relay::record::{Outcome, Record as Noted};
use tightlink_relay::relay::{self, RelayOutcome};
use tightlink_relay::spec::{PortSpec, RelaySpec};
use tightlink_relay::summary::Summary;
use tightlink_sim::Simulation;
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::{Event, Record, Trace};
use tightlink_sim::scenario::{LinkSpec, NodeSpec, Scenario};
use tightlink_sim::tables;
use tightlink_sim::time::Time;

use crate::simulated::{DURATION_S, Given, Totals, both, constant, given, route, scenario, spec};
use crate::world::{Packet, Virtual, cases};

/// A stream of packets from a node of the chain to another.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    ends: (usize, usize),
    size: u32,
    interval_s: f64,
    start_s: f64,
}

/// Links in a row, and what crosses them.
#[derive(Clone, Debug)]
pub struct Chain {
    links: Vec<Given>,
    streams: Vec<Stream>,
}

/// Links of all kinds.
fn various() -> impl Strategy<Value = Given> {
    given().prop_map(|given| Given { processor: None, ..given })
}

/// Links of few rates and delays: packets of one size come to the next as others leave it, at the same instant. Which of
/// them comes first, the relay cannot know of what hosts send; they send at no such times.
fn alike() -> impl Strategy<Value = Given> {
    let rates = prop::sample::select(vec![1e6, 2e6]);
    (rates, prop::sample::select(vec![0.0, 0.008, 0.01]), 1..4u32).prop_map(|(rate_bps, delay_s, limit)| Given {
        rates_bps: [rate_bps; 2],
        delays_s: [delay_s; 2],
        limits: [limit; 2],
        ..Given::plain()
    })
}

/// Propagation before the first link, by which times can be moved there and back without rounding.
const BEFORE_S: [f64; 4] = [0.0, 1.0 / 128.0, 1.0 / 32.0, 1.0 / 16.0];

/// Chains of two to four links, with traffic that enters and leaves at any node.
pub fn chains() -> impl Strategy<Value = Chain> {
    (2..5usize).prop_flat_map(|count| {
        let ends = (0..=count, 1..=count).prop_map(move |(from, further)| (from, (from + further) % (count + 1)));
        let free = (ends.clone(), 40..1500u32, 0.001..0.02f64, 0.0..0.1f64);
        let regular = (ends, Just(1000u32), prop::sample::select(vec![0.003_141_5, 0.007_271_8]), 0.0..0.1f64);
        let streams = |stream| prop::collection::vec(stream, 1..6);
        prop_oneof![
            (prop::collection::vec(various(), count), streams(free.boxed())),
            (prop::collection::vec(alike(), count), streams(regular.boxed())),
        ]
        .prop_map(|(links, streams)| {
            let stream = |(ends, size, interval_s, start_s)| Stream { ends, size, interval_s, start_s };
            Chain { links, streams: streams.into_iter().map(stream).collect() }
        })
    })
}

impl Chain {
    /// Without packets that overtake each other.
    pub fn in_order(self) -> Self {
        let plain = |link| Given { duplicate: 0.0, reorder: None, overtaking: false, ..link };
        Self { links: self.links.into_iter().map(plain).collect(), ..self }
    }

    fn link_specs(&self) -> Vec<LinkSpec> {
        let link = |(number, given)| both(given, &format!("link{number}"), (number as u32, number as u32 + 1));
        self.links.iter().enumerate().flat_map(link).collect()
    }

    fn nodes(&self) -> Vec<String> {
        (0..=self.links.len()).map(|node| format!("node{node}")).collect()
    }

    /// The links from a node to another: each has its two directions side by side.
    fn way(&self, (from, to): (usize, usize)) -> Vec<usize> {
        if from < to {
            (from..to).map(|link| 2 * link).collect()
        } else {
            (to..from).rev().map(|link| 2 * link + 1).collect()
        }
    }

    /// The relay that is to do what the simulator does, with a port at each node.
    fn relay(&self) -> RelaySpec {
        let nodes = self.nodes();
        let port = |(number, node): (usize, &String)| PortSpec {
            node: node.clone(),
            addresses: vec![Ipv4Addr::new(0, 0, 0, number as u8 + 1).into()],
        };
        let pairs = (0..nodes.len()).flat_map(|from| (0..nodes.len()).map(move |to| (from, to)));
        RelaySpec {
            links: self.link_specs(),
            ports: nodes.iter().enumerate().map(port).collect(),
            routes: pairs.filter(|(from, to)| from != to).map(|ends| route(ends, self.way(ends))).collect(),
            nodes,
            ..spec(&Given::plain())
        }
    }

    fn scenario(&self) -> Scenario {
        let nodes = self.nodes().into_iter().map(|name| NodeSpec { name, processor: None }).collect();
        let flows = self
            .streams
            .iter()
            .enumerate()
            .map(|(index, stream)| constant(index, stream.ends, stream.size, stream.interval_s, stream.start_s));
        scenario(nodes, self.link_specs(), flows.collect())
    }
}

/// What is told of a link: when packets came to it and went on its line, and how many were lost of each cause.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    offered: Vec<Time>,
    started: Vec<Time>,
    lost: [usize; 3],
}

/// What the simulator did.
#[derive(Debug)]
pub struct Simulated {
    /// At each node.
    arrivals: Vec<Vec<Packet>>,
    deliveries: Vec<Vec<Packet>>,
    /// Of each link.
    told: Vec<Told>,
    links: Vec<Totals>,
}

/// Simulates it.
pub fn simulate(chain: &Chain) -> Simulated {
    let scenario = chain.scenario();
    let mut records = Vec::new();
    let mut keep = |record: &Record| records.push(*record);
    let probe = Trace::new(scenario.links.len(), scenario.flows.len(), &mut keep);
    let mut simulation = Simulation::new(&scenario, probe).expect("the scenario is valid");
    simulation.run(|_| false).expect("nobody interrupts");
    let links = tables::links(&simulation);
    drop(simulation);
    let mut found = Simulated {
        arrivals: vec![Vec::new(); chain.links.len() + 1],
        deliveries: vec![Vec::new(); chain.links.len() + 1],
        told: scenario.links.iter().map(|_| Told::default()).collect(),
        links: (0..scenario.links.len()).map(|row| Totals::of(&links, row)).collect(),
    };
    // What came twice is the same packet.
    let mut first = HashMap::new();
    for Record { event, time, link, size, flow, seq, uid, .. } in &records {
        let number = *first.entry((flow, seq)).or_insert(*uid) as u32;
        let Stream { ends: (from, to), .. } = chain.streams[*flow as usize];
        let (way, link) = (chain.way((from, to)), *link as usize);
        let packet = Packet { at: *time, size: *size, number, flow: flow + 1, to: to as u8 + 1, ack: false };
        let told = &mut found.told[link];
        match event {
            Event::Enqueue => {
                told.offered.push(*time);
                if link == way[0] {
                    found.arrivals[from].push(packet);
                }
            }
            Event::Dequeue => told.started.push(*time),
            Event::Receive if Some(&link) == way.last() => found.deliveries[to].push(packet),
            Event::Drop(DropReason::Queue) => told.lost[0] += 1,
            Event::Drop(DropReason::Management) => told.lost[1] += 1,
            Event::Drop(DropReason::Wire) => told.lost[2] += 1,
            _ => {}
        }
    }
    found
}

/// What the relay says of a link.
fn told(records: &[Noted], link: usize) -> Told {
    let own = || records.iter().filter(|record| usize::from(record.link) == link);
    let times = |time: fn(&Noted) -> f64| {
        let mut times: Vec<Time> = own().map(time).filter(|&at| at < DURATION_S).map(Time::new).collect();
        times.sort();
        times
    };
    let lost = [Outcome::Queue, Outcome::Management, Outcome::Wire];
    Told {
        offered: times(|record| record.offer_s),
        started: times(|record| record.start_s),
        lost: lost.map(|outcome| own().filter(|record| record.outcome == outcome).count()),
    }
}

fn relayed(
    chain: &Chain,
    arrivals: Vec<Vec<Packet>>,
    oversleeps_s: Vec<f64>,
) -> (Virtual, Vec<Noted>, RelayOutcome, RelaySpec) {
    let mut world = Virtual { oversleeps_s, ..Virtual::new(arrivals) };
    let (spec, mut records) = (chain.relay(), Vec::new());
    spec.check().unwrap();
    let outcome = relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    (world, records, outcome, spec)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40)))]

    #[test]
    fn a_chain_does_what_the_simulator_does(chain in chains()) {
        let expected = simulate(&chain);
        let (world, records, outcome, spec) = relayed(&chain, expected.arrivals.clone(), vec![0.0]);
        // Packets come out where they should, at the same instants to the last bit.
        prop_assert_eq!(&world.sent, &expected.deliveries);
        prop_assert_eq!(outcome.counts.lateness.max_s(), 0.0);
        let summary = Summary::new(&spec, &outcome);
        for (link, wanted) in expected.links.iter().enumerate() {
            prop_assert_eq!(&told(&records, link), &expected.told[link]);
            let found = &summary.links[link];
            prop_assert!(wanted.agrees(found), "{:?} {:?}", found, wanted);
        }
    }

    #[test]
    fn hosts_may_be_at_distances_before_the_first_link(
        mut chain in chains(), before_s in prop::collection::vec(prop::sample::select(BEFORE_S.to_vec()), 5 * 5)
    ) {
        chain.streams.iter_mut().for_each(|stream| stream.start_s += BEFORE_S[3]);
        let expected = simulate(&chain);
        let mut spec = chain.relay();
        for route in &mut spec.routes {
            route.before_s = before_s[5 * route.from + route.to];
        }
        let sent = expected.arrivals.iter().enumerate().map(|(from, packets)| {
            let sent = |packet: &Packet| {
                let before_s = before_s[5 * from + usize::from(packet.to) - 1];
                Packet { at: Time::new(packet.at.seconds() - before_s), ..*packet }
            };
            let mut sent: Vec<_> = packets.iter().map(sent).collect();
            sent.sort_by_key(|packet| packet.at);
            sent
        });
        let (mut world, mut records) = (Virtual::new(sent.collect()), Vec::new());
        relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
        prop_assert_eq!(&world.sent, &expected.deliveries);
        for (link, wanted) in expected.told.iter().enumerate() {
            prop_assert_eq!(&told(&records, link), wanted);
        }
    }

    #[test]
    fn whoever_oversleeps_in_a_chain_does_not_let_lateness_add_up(
        chain in chains(), oversleeps_s in prop::collection::vec(0.0..0.02f64, 1..20)
    ) {
        let chain = chain.in_order();
        let expected = simulate(&chain);
        let (world, records, outcome, _) = relayed(&chain, expected.arrivals.clone(), oversleeps_s);
        let mut latest_s: f64 = 0.0;
        for (sent, wanted) in world.sent.iter().zip(&expected.deliveries) {
            prop_assert_eq!(sent.len(), wanted.len());
            for (sent, wanted) in sent.iter().zip(wanted) {
                prop_assert_eq!((sent.number, sent.size), (wanted.number, wanted.size));
                prop_assert!(sent.at >= wanted.at);
                latest_s = latest_s.max(sent.at.since(wanted.at));
            }
        }
        prop_assert_eq!(outcome.counts.lateness.max_s(), latest_s);
        // Late is only what is handed to a host: at each link all happens when it should.
        for (link, wanted) in expected.told.iter().enumerate() {
            prop_assert_eq!(&told(&records, link), wanted);
        }
    }
}

/// Each packet has one number at all links, and goes into the next as it comes out of the one before.
#[test]
fn a_packet_is_known_at_each_link() {
    let chain = Chain { links: vec![Given::plain(); 3], streams: Vec::new() };
    let packet = Packet { at: Time::new(0.1), size: 1000, number: 7, flow: 1, to: 4, ack: false };
    let (_, records, ..) = relayed(&chain, vec![vec![packet], vec![], vec![], vec![]], vec![0.0]);
    let places: Vec<_> = records.iter().map(|record| (record.uid, record.link, record.outcome)).collect();
    assert_eq!(places, [(0, 0, Outcome::Passed), (0, 2, Outcome::Passed), (0, 4, Outcome::Delivered)]);
    assert!(records.windows(2).all(|pair| pair[0].due_s == pair[1].offer_s));
}

#[test]
fn a_packet_for_nobody_goes_nowhere() {
    let chain = Chain { links: vec![Given::plain(); 2], streams: Vec::new() };
    let packet = Packet { at: Time::new(0.1), size: 1000, number: 7, flow: 1, to: 9, ack: false };
    let (world, records, ..) = relayed(&chain, vec![vec![packet], vec![], vec![]], vec![0.0]);
    assert_eq!((world.sent.iter().map(Vec::len).sum::<usize>(), records.len()), (0, 0));
}

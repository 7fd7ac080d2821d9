//! The relay over a virtual clock: exactly the simulator's departures, drops and deliveries.

#![cfg(target_os = "linux")]

mod chains;
mod simulated;
mod world;

use std::net::Ipv4Addr;

use proptest::prelude::*;
use simulated::{Given, close, given, route, simulate, spec};
use tightlink_relay::header::{Header, Kind};
use tightlink_relay::network::Network;
use tightlink_relay::record::{Outcome, Record};
use tightlink_relay::relay;
use tightlink_relay::spec::{BetweenSpec, RouteSpec};
use tightlink_relay::summary::Summary;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::cake::{AckFilter, CakeSpec, Cells, Isolation, Overhead, Tins};
use tightlink_sim::scenario::QueueLimit;
use tightlink_sim::time::Time;
use world::{Packet, Virtual, cases};

fn outcomes(records: &[Record], port: u8, outcome: Outcome) -> usize {
    records.iter().filter(|record| record.port == port && record.outcome == outcome).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40)))]

    #[test]
    fn it_does_what_the_simulator_does(given in given()) {
        let expected = simulate(&given);
        let mut world = Virtual::new(expected.arrivals.clone().into());
        let mut records = Vec::new();
        let spec = spec(&given);
        let outcome = relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
        for port in [0, 1] {
            // Packets from a port come out at the other, at the same instants to the last bit.
            prop_assert_eq!(&world.sent[1 - port], &expected.deliveries[port]);
            let of_losses = [Outcome::Queue, Outcome::OutputRing, Outcome::InputRing, Outcome::Wire, Outcome::Management];
            let losses = of_losses.map(|outcome| outcomes(&records, port as u8, outcome));
            prop_assert_eq!(losses, expected.losses[port]);
        }
        let (noted, arrived) = (records.len(), expected.arrivals.iter().map(Vec::len).sum::<usize>());
        // Each once, and each copy as well.
        prop_assert!(noted == arrived || given.duplicate > 0.0 && noted > arrived, "{} of {}", noted, arrived);
        prop_assert_eq!(outcome.counts.lateness.max_s(), 0.0);
        let summary = Summary::new(&spec, &outcome);
        for (found, wanted) in summary.links.iter().zip(&expected.links) {
            prop_assert!(wanted.agrees(found), "{:?} {:?}", found, wanted);
        }
        if let (Some(found), Some((load, dropped))) = (&summary.node, expected.node) {
            prop_assert!(close(found.load_true, load), "{} {}", found.load_true, load);
            prop_assert_eq!(found.dropped_input_ring, Some(dropped));
        }
    }

    #[test]
    fn whoever_oversleeps_is_late_but_never_early_nor_elsewhere(
        given in given(), oversleeps_s in prop::collection::vec(0.0..0.02f64, 1..20)
    ) {
        // Where packets overtake each other, one that is forwarded late may be forwarded before one that should overtake it.
        let given = Given { duplicate: 0.0, reorder: None, overtaking: false, ..given };
        let expected = simulate(&given);
        let mut world = Virtual { oversleeps_s, ..Virtual::new(expected.arrivals.clone().into()) };
        let mut records = Vec::new();
        let spec = spec(&given);
        let outcome = relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
        let mut latest_s: f64 = 0.0;
        for port in [0, 1] {
            let mut found = world.sent[1 - port].iter();
            for wanted in &expected.deliveries[port] {
                // What is due before the end and was slept past is forwarded all the same.
                let Some(sent) = found.next() else { panic!("a packet is missing") };
                prop_assert_eq!((sent.number, sent.size), (wanted.number, wanted.size));
                prop_assert!(sent.at >= wanted.at);
                latest_s = latest_s.max(sent.at.since(wanted.at));
            }
            prop_assert_eq!(found.next(), None);
            prop_assert_eq!(outcomes(&records, port as u8, Outcome::Queue), expected.losses[port][0]);
        }
        prop_assert_eq!(outcome.counts.lateness.max_s(), latest_s);
    }
}

/// A packet of 1000 bytes every millisecond, from the first port.
fn stream(packets: u32) -> Vec<Vec<Packet>> {
    let packet =
        |number| Packet { at: Time::new(f64::from(number) / 1000.0), size: 1000, number, flow: 0, to: 0, ack: false };
    vec![(0..packets).map(packet).collect(), Vec::new()]
}

#[test]
fn what_is_under_way_at_the_end_is_noted() {
    let given = Given { rates_bps: [8e5; 2], delays_s: [0.1; 2], limits: [2; 2], ..Given::plain() };
    let mut records = Vec::new();
    // 10 ms each on the line: of 30 that come within 30 ms, 3 leave, one is served and one waits, 25 are dropped.
    let mut world = Virtual { stop: Time::new(0.0301), ..Virtual::new(stream(100)) };
    let spec = spec(&given);
    let outcome = relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    assert_eq!(outcome.end, Time::new(0.0301));
    let (server, dropped) = (outcome.links[0].server, outcomes(&records, 0, Outcome::Queue) as u64);
    assert_eq!((server.packets_in, server.packets_out, server.packets_dropped), (31, 3, dropped));
    assert_eq!(outcomes(&records, 0, Outcome::UnderWay) as u64, 31 - dropped);
    assert!(close(server.busy_s, 0.0301), "{}", server.busy_s);
}

/// Each host is as far away as it is, and nobody waits for whom is farther.
#[test]
fn hosts_may_differ_in_their_delays() {
    let mut spec = spec(&Given::plain());
    spec.routes[0].beyond_s = 0.030;
    spec.routes.extend([(1, 0.005), (2, 0.020)].map(|(host, beyond_s)| {
        let source = Ipv4Addr::new(0, 0, 0, host).into();
        let between = Some(BetweenSpec { source, destination: Ipv4Addr::UNSPECIFIED.into() });
        RouteSpec { between, beyond_s, ..route((0, 1), vec![0]) }
    }));
    let packets = (0..90).map(|number| Packet {
        at: Time::new(f64::from(number) / 1000.0),
        size: 1000,
        number,
        flow: 1 + number % 3,
        to: 0,
        ack: false,
    });
    let (mut world, mut records) = (Virtual::new(vec![packets.collect(), Vec::new()]), Vec::new());
    relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    let sent = &world.sent[1];
    assert_eq!(sent.len(), 90);
    assert!(sent.windows(2).all(|pair| pair[0].at <= pair[1].at));
    for packet in sent {
        // 8 µs on the line.
        let expected_s = f64::from(packet.number) / 1000.0 + 8e-6 + [0.005, 0.020, 0.030][packet.flow as usize - 1];
        assert!((packet.at.seconds() - expected_s).abs() < 1e-12, "{packet:?}");
    }
}

/// Before a link there is no other port than its own: the packets of its hosts reach it in the order of its distances.
#[test]
fn hosts_may_differ_in_their_delays_before_one_link() {
    let mut spec = spec(&Given { rates_bps: [8e6; 2], ..Given::plain() });
    spec.routes[0].before_s = 0.0105;
    spec.routes.push(RouteSpec {
        between: Some(BetweenSpec {
            source: Ipv4Addr::new(0, 0, 0, 1).into(),
            destination: Ipv4Addr::UNSPECIFIED.into(),
        }),
        ..route((0, 1), vec![0])
    });
    // The link works for a millisecond on each: of what comes at once, the near host's is served first.
    let packet = |number, flow| Packet { at: Time::ZERO, size: 1000, number, flow, to: 0, ack: false };
    let (mut world, mut records) = (Virtual::new(vec![vec![packet(0, 2), packet(1, 1)], Vec::new()]), Vec::new());
    relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    let sent: Vec<_> = world.sent[1].iter().map(|packet| (packet.flow, packet.at.seconds())).collect();
    assert_eq!(sent, [(1, 0.001), (2, 0.0115)]);
    // What has not reached it at the end was never there.
    let packets = vec![vec![packet(0, 2), packet(1, 1)], Vec::new()];
    let (mut world, mut records) = (Virtual { stop: Time::new(0.01), ..Virtual::new(packets) }, Vec::new());
    let outcome = relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    assert_eq!((records.len(), outcome.links[0].server.packets_in), (1, 1));
}

/// CAKE's filter reads what real ACKs say, across the end of their numbers; other packets stay.
#[test]
fn superfluous_acks_are_dropped() {
    let (first, flow) = (u32::MAX - 3, 1);
    for (ack_filter, expected) in [(AckFilter::Normal, vec![0, 8, 9]), (AckFilter::Aggressive, vec![0, 9])] {
        let mut spec = spec(&Given { rates_bps: [8e5; 2], ..Given::plain() });
        spec.links[0].queue = QueueSpec::Cake(CakeSpec {
            limit: QueueLimit::Packets(1000),
            target_s: 0.005,
            interval_s: 0.1,
            ecn: true,
            rate_bps: None,
            overhead: Overhead { bytes: 0, smallest_bytes: 0, cells: Cells::None },
            isolation: Isolation::Flows,
            tins: Tins::Besteffort,
            ack_filter,
        });
        // An ACK takes 0.4 ms: the first leaves at once, all others come while it is on the line.
        let packets = (0..20).map(|place| Packet {
            at: Time::new(f64::from(place) * 1e-5),
            size: 40,
            number: first.wrapping_add(place / 2),
            flow: flow + place % 2,
            to: 0,
            ack: place % 2 == 0,
        });
        let (mut world, mut records) = (Virtual::new(vec![packets.collect(), Vec::new()]), Vec::new());
        relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
        let sent = |ack: bool| world.sent[1].iter().filter(move |packet| packet.ack == ack);
        assert_eq!(sent(true).map(|packet| packet.number.wrapping_sub(first)).collect::<Vec<_>>(), expected);
        assert_eq!(sent(false).count(), 10);
        assert_eq!(outcomes(&records, 0, Outcome::Management), 10 - expected.len());
    }
}

#[test]
fn burnt_processor_time_delays_what_follows() {
    let mut given = Given { rates_bps: [1e9; 2], delays_s: [0.0; 2], limits: [100; 2], ..Given::plain() };
    given.processor = Some(simulated::costs(0.002, 100));
    let mut spec = spec(&given);
    spec.processor.as_mut().unwrap().burn = true;
    let (mut world, mut records) = (Virtual::new(stream(10)), Vec::new());
    let outcome = relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    // The processor is the bottleneck: a packet every two milliseconds, forwarded between two slices of the next.
    let times: Vec<f64> = world.sent[1].iter().map(|packet| packet.at.seconds()).collect();
    let late = |(packet, at): (usize, &f64)| at - 0.002 * (packet as f64 + 1.0);
    assert!(times.iter().enumerate().map(late).all(|late_s| (7.9e-6..30e-6).contains(&late_s)), "{times:?}");
    assert_eq!((outcome.counts.burnt, times.len()), (10, 10));
    assert!(close(outcome.counts.burnt_s, 0.02));
}

#[test]
fn packets_are_known_by_their_ip_headers() {
    let mut world = Virtual::new(stream(1));
    let mut records = Vec::new();
    let spec = spec(&Given::plain());
    relay::run(&spec, Network::new(&spec), &mut world, &mut records).unwrap();
    assert_eq!(records[0].header, Header::default());
    assert_eq!(records[0].header.kind, Kind::Other);
}

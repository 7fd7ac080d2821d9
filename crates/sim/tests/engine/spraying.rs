//! Per-packet spraying: how packets spread over the paths of their flow, and what that does to a connection.

use crate::engine::common::{
    Tables, Unfused, events, flow, integers, packets, run, run_with, scenario, tcp, udp, wire,
};
use tightlink_sim::Scenario;
use tightlink_sim::probe::Totals;
use tightlink_sim::scenario::{
    FlowSpec, Intervals, Pace, PathShare, Profile, Recovery, SprayingSpec, TcpSpec, TrafficSpec, TransportSpec,
};

/// From node 0 to node 1 by routers 2, 3, …, one for each delay in seconds, with these shares; links are in pairs, of which the
/// first leads towards node 1.
fn routes(delays_s: &[f64], duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, duration_s, 2 + delays_s.len() as u32);
    for (router, &delay_s) in (2..).zip(delays_s) {
        scenario.links.extend(wire(&format!("near{router}"), (0, router), 1e7, delay_s, packets(1000)));
        scenario.links.extend(wire(&format!("far{router}"), (router, 1), 1e7, 0.001, packets(1000)));
    }
    scenario
}

fn sprayed(flow: FlowSpec, shares: &[f64]) -> FlowSpec {
    let paths = |order: [u32; 2]| -> Vec<PathShare> {
        let links = |route: u32| order.map(|place| 4 * route + place).to_vec();
        (0..).zip(shares).map(|(route, &share)| PathShare { links: links(route), share }).collect()
    };
    let reverse_paths = if matches!(flow.transport, TransportSpec::Tcp(_)) { paths([3, 1]) } else { Vec::new() };
    FlowSpec { spraying: Some(Box::new(SprayingSpec { paths: paths([0, 2]), reverse_paths })), ..flow }
}

/// The number of packets on a path is binomial: four and a half standard deviations, which one in 150,000 exceeds, so that
/// of three paths none does by chance.
#[test]
fn each_path_has_its_share() {
    const SHARES: [f64; 3] = [0.5, 0.375, 0.125];
    let mut scenario = routes(&[0.001; 3], 10.0);
    let each_millisecond = TrafficSpec::Cbr { pace: Pace::IntervalS(0.001), random: Intervals::Constant };
    let datagrams = flow(&scenario, "udp", 0, (0, 1), each_millisecond, udp(100));
    scenario.flows.push(sprayed(datagrams, &SHARES));
    let tables = run(&scenario);
    let offered = integers(&tables.links, "packets_in");
    let sent: i64 = (0..3).map(|route| offered[4 * route]).sum();
    for (route, share) in SHARES.into_iter().enumerate() {
        let (expected, deviation) = (share * sent as f64, (share * (1.0 - share) * sent as f64).sqrt());
        let count = offered[4 * route] as f64;
        assert!((count - expected).abs() < 4.5 * deviation, "{count} instead of {expected} on path {route}");
    }
}

fn connection(recovery: Recovery, delays_s: &[f64]) -> Tables {
    let mut scenario = routes(delays_s, 20.0);
    let tcp = TcpSpec { window_packets: 20.0, ..tcp(Profile::Rfc, recovery) };
    let bulk = TrafficSpec::Bulk { bytes: None };
    let connection = flow(&scenario, "tcp", 0, (0, 1), bulk, TransportSpec::Tcp(tcp));
    scenario.flows.push(sprayed(connection, &[0.5, 0.5]));
    run(&scenario)
}

/// Nothing is lost here. Packets that take the shorter path overtake others: three duplicate ACKs are a loss to RFC 6675, while
/// RACK waits for a part of the round trip once it has seen that packets overtake each other (RFC 8985 §6.2).
#[test]
fn recovery_by_time_tolerates_paths_of_different_delays() {
    let retransmitted = |recovery, delays_s: &[f64]| {
        let tables = connection(recovery, delays_s);
        assert_eq!(integers(&tables.links, "packets_dropped").iter().sum::<i64>(), 0);
        integers(&tables.flows, "packets_retransmitted")[0]
    };
    let (sack, rack) = (retransmitted(Recovery::Sack, &[0.02, 0.023]), retransmitted(Recovery::Rack, &[0.02, 0.023]));
    assert!(sack > 0 && rack < sack, "{sack} and {rack} packets retransmitted");
}

/// A host that sends several packets at once over routes of unlike delays, and receives their ACKs over others: which of them
/// comes first is not known before all are answered.
#[test]
fn bursts_that_are_sprayed_are_answered_in_order() {
    for (window, longer_s) in [(4.0, 0.001), (8.0, 0.002), (16.0, 0.001), (32.0, 0.004)] {
        let mut scenario = scenario(Profile::Ns2, 1.0, 6);
        let delays_s =
            [("left", (0, 1), 0.001), ("right", (2, 3), 0.001), ("near", (1, 4), 0.001), ("far", (4, 2), 0.001)];
        let longer = [("longer near", (1, 5), 0.001 + longer_s), ("longer far", (5, 2), 0.001)];
        for (name, ends, delay_s) in delays_s.into_iter().chain(longer) {
            scenario.links.extend(wire(name, ends, 1e7, delay_s, packets(1000)));
        }
        let tcp = TcpSpec { window_packets: window, ..tcp(Profile::Ns2, Recovery::Newreno) };
        let bulk = TrafficSpec::Bulk { bytes: None };
        let path = |links: [u32; 4]| PathShare { links: links.to_vec(), share: 0.5 };
        let spraying = SprayingSpec {
            paths: [[0, 4, 6, 2], [0, 8, 10, 2]].map(path).to_vec(),
            reverse_paths: [[3, 7, 5, 1], [3, 11, 9, 1]].map(path).to_vec(),
        };
        let flow = flow(&scenario, "tcp", 0, (0, 3), bulk, TransportSpec::Tcp(tcp));
        scenario.flows = vec![FlowSpec { spraying: Some(Box::new(spraying)), ..flow }];
        let unfused = run_with(&scenario, Unfused).expect("the scenario is valid");
        assert_eq!(run(&scenario).text(), unfused.text(), "window {window}");
        assert!(2 * events(&scenario, Totals) < events(&scenario, Unfused), "nothing is evaluated ahead");
    }
}

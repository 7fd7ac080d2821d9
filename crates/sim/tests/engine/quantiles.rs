//! Quantiles of one-way delays beside exact ones: those of the times between the first and the last record of each packet.

use std::collections::HashMap;

use crate::engine::common::changing::with_changes;
use crate::engine::common::networks::{closed_loop, open_loop};
use crate::engine::common::reference::shortest_path;
use crate::engine::common::{cases, floats, flow, packets, run, scenario, tcp, trace, udp, wire};
use proptest::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::scenario::{
    CourseSpec, FlowSpec, Intervals, ObserveFlows, Pace, Profile, RateSpec, Recovery, TrafficSpec, TransportSpec,
};

/// The one-way delays of each flow, from the shortest on.
fn delays_s(scenario: &Scenario, records: &[Record]) -> Vec<Vec<f64>> {
    let hops = |flow: &FlowSpec| match &flow.path {
        Some(path) => path.len(),
        None => shortest_path(scenario, flow.from, flow.to).len(),
    };
    let hops: Vec<_> = scenario.flows.iter().map(hops).collect();
    let mut sent: HashMap<u64, (f64, usize)> = HashMap::new();
    let mut delays_s = vec![Vec::new(); scenario.flows.len()];
    for record in records.iter().filter(|record| record.kind != Kind::Ack) {
        let (at_s, flow) = (record.time.seconds(), record.flow as usize);
        let (begun_s, crossed) = sent.entry(record.uid).or_insert((at_s, 0));
        *crossed += usize::from(record.event == Event::Receive);
        // Neither the SYN nor what completes the handshake, which has its number.
        let has_data = record.kind == Kind::Datagram || record.seq > 0;
        if has_data && record.event == Event::Receive && *crossed == hops[flow] {
            delays_s[flow].push(at_s - *begun_s);
        }
    }
    delays_s.iter_mut().for_each(|delays_s| delays_s.sort_by(f64::total_cmp));
    delays_s
}

/// Classes are 1/64 wide of what exceeds the shortest delay that there can be, and of a sixteenth of that.
fn quantiles_are_exact(scenario: &Scenario) -> Result<(), TestCaseError> {
    let mut scenario = scenario.clone();
    // A copy that a link makes has a number that no record begins.
    scenario.links.iter_mut().for_each(|link| link.duplicate = 0.0);
    let (tables, records) = trace(&scenario);
    for (index, sorted) in delays_s(&scenario, &records).iter().enumerate().filter(|(_, sorted)| !sorted.is_empty()) {
        for (column, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)] {
            let found_s = floats(&tables.flows, &format!("one_way_delay_{column}_s"))[index];
            let exact_s = sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1];
            let error_s = (found_s - exact_s).abs();
            prop_assert!(error_s <= exact_s / 64.0 + 1e-6, "{} of {}: {} for {}", column, index, found_s, exact_s);
        }
    }
    Ok(())
}

/// 500 B at 100 kbit/s take 40 ms, and at 10 Mbit/s 0.4 ms: the mean, 3.4 Mbit/s, has 1.2 ms.
#[test]
fn a_link_that_becomes_faster_has_shorter_delays() {
    let mut scenario = scenario(Profile::Rfc, 3.0, 2);
    scenario.links = wire("wire", (0, 1), 3.4e6, 0.001, packets(50)).to_vec();
    let (at_s, values) = (vec![0.0, 2.0], vec![1e5, 1e7]);
    scenario.links[0].rate =
        Some(RateSpec::Course(CourseSpec::Schedule { at_s, values, linear: false, period_s: None }));
    let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(0.1), random: Intervals::Constant };
    for start_s in [1.95, 2.05] {
        scenario.flows = vec![flow(&scenario, "udp", 0, (0, 1), traffic.clone(), udp(500))];
        scenario.flows[0].start_s = start_s;
        let tables = run(&scenario);
        let median_s = floats(&tables.flows, "one_way_delay_p50_s")[0];
        assert!((median_s - 0.0014).abs() < 0.0014 / 64.0, "{median_s}");
        // Its queueing delay is what exceeds that at the mean rate.
        let queueing_s = floats(&tables.flows, "queueing_delay_p50_s")[0];
        assert_eq!(queueing_s, 0.0);
    }
}

/// 1,448 B over 1 Mbit/s take 12 ms with their headers, and the last 100 B 1.216 ms: they leave together, behind the 52 B that
/// end the handshake and take 0.416 ms.
#[test]
fn a_short_last_packet_waits_as_long_as_it_does() {
    let mut scenario = scenario(Profile::Rfc, 3.0, 2);
    scenario.links = wire("wire", (0, 1), 1e6, 0.001, packets(50)).to_vec();
    let mut tcp = tcp(Profile::Rfc, Recovery::Sack);
    (tcp.payload_bytes, tcp.header_bytes, tcp.ack_bytes) = (1448, 52, 52);
    let traffic = TrafficSpec::Bulk { bytes: Some(1548) };
    scenario.flows = vec![flow(&scenario, "tcp", 0, (0, 1), traffic, TransportSpec::Tcp(tcp))];
    let tables = run(&scenario);
    let close = |column: &str, expected_s: f64| {
        let found_s = floats(&tables.flows, column)[0];
        assert!((found_s - expected_s).abs() <= expected_s / 64.0 + 8e-6, "{column}: {found_s} for {expected_s}");
    };
    close("one_way_delay_p50_s", 0.013416);
    close("one_way_delay_max_s", 0.014632);
    close("queueing_delay_mean_s", 0.006416);
    close("queueing_delay_p50_s", 0.000416);
    close("queueing_delay_p95_s", 0.012416);
    close("queueing_delay_max_s", 0.012416);
}

/// A group that begins with a flow over 80 ms: three of four packets take 2 ms.
#[test]
fn a_group_has_the_delays_of_its_shortest_path() {
    let mut scenario = scenario(Profile::Rfc, 1.0, 3);
    scenario.links = [((0, 1), 0.078), ((1, 2), 0.002)]
        .map(|(ends, delay_s)| wire("wire", ends, 1e9, delay_s, packets(50)).to_vec())
        .concat();
    let traffic = |interval_s| TrafficSpec::Cbr { pace: Pace::IntervalS(interval_s), random: Intervals::Constant };
    scenario.flows = vec![
        flow(&scenario, "udp", 0, (0, 2), traffic(0.03), udp(500)),
        flow(&scenario, "udp", 1, (1, 2), traffic(0.01), udp(500)),
    ];
    scenario.observe.flows = ObserveFlows::Group;
    let tables = run(&scenario);
    let of = |column: &str| floats(&tables.flows, column)[0];
    assert!((of("one_way_delay_p50_s") - 0.002004).abs() < 0.0001, "{}", of("one_way_delay_p50_s"));
    assert!((of("one_way_delay_p95_s") - 0.080008).abs() < 0.0013, "{}", of("one_way_delay_p95_s"));
    assert_eq!(of("queueing_delay_p95_s"), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(50), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quantiles_of_datagrams_are_exact(scenario in with_changes(open_loop())) {
        quantiles_are_exact(&scenario)?;
    }

    #[test]
    fn quantiles_of_segments_are_exact(scenario in with_changes(closed_loop())) {
        quantiles_are_exact(&scenario)?;
    }
}

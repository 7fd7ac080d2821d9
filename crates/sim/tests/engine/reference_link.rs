//! The engine computes departures on arrival, and evaluates links ahead of time where it may. Neither
//! may show: its tables are those of a plain simulator with two events for each hop, and those of a run
//! in which every link keeps its own events.

use crate::engine::common::changing::with_disorder;
use crate::engine::common::networks::{
    ALL_OTHERS, AT_DEPARTURE, chains, closed_loop, deltas, dumbbells, dumbbells_of_equals, open_loop, sprayed,
    with_processors, with_queues, with_series,
};
use crate::engine::common::reference::{Columns, Reference};
use crate::engine::common::steps::with_steps;
use crate::engine::common::{
    Tables, Unfused, cases, column, events, floats, flow, link, packets, run, run_with, scenario, tcp,
};
use proptest::prelude::*;
use tightlink_sim::probe::{Probe, Totals};
use tightlink_sim::scenario::{LinkSpec, Profile, Recovery, TcpSpec, TrafficSpec, TransportSpec};
use tightlink_sim::tables::Table;
use tightlink_sim::{Scenario, Simulation};

/// The columns of `expected`, bit by bit: the text of a number says all its bits.
fn same_columns(table: &Table, expected: &Columns) -> Result<(), TestCaseError> {
    for (name, values) in expected {
        prop_assert_eq!(format!("{:?}", column(table, name)), format!("{:?}", values), "column {}", name);
    }
    Ok(())
}

fn equals_reference(scenario: &Scenario, probe: impl Probe) -> Result<(), TestCaseError> {
    let tables = run_with(scenario, probe).expect("the scenario is valid");
    let reference = Reference::run(scenario);
    same_columns(&tables.links, &reference.links())?;
    same_columns(&tables.flows, &reference.flows())?;
    // A sum over all services less what lies behind the end: rounded otherwise than the sum of the parts.
    for (engine, (plain, error)) in floats(&tables.links, "utilization").iter().zip(reference.utilizations()) {
        prop_assert!((engine - plain).abs() < error, "utilization {} instead of {}", engine, plain);
    }
    Ok(())
}

fn fusion_does_not_show(scenario: &Scenario) -> Result<(), TestCaseError> {
    let fused = run(scenario);
    let unfused = run_with(scenario, Unfused).expect("the scenario is valid");
    prop_assert_eq!(fused.text(), unfused.text());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_equal_the_plain_simulators(scenario in open_loop()) {
        equals_reference(&scenario, Totals)?;
    }

    #[test]
    fn tables_where_ways_meet_again_equal_the_plain_simulators(scenario in deltas()) {
        equals_reference(&scenario, Totals)?;
    }

    #[test]
    fn decisions_at_departure_equal_the_plain_simulators(scenario in with_queues(open_loop(), &AT_DEPARTURE)) {
        equals_reference(&scenario, Totals)?;
        equals_reference(&scenario, Unfused)?;
    }

    #[test]
    fn links_that_change_in_steps_equal_the_plain_simulators(scenario in with_steps(open_loop())) {
        equals_reference(&scenario, Totals)?;
        equals_reference(&scenario, Unfused)?;
    }

    #[test]
    fn links_without_order_equal_the_plain_simulators(scenario in with_disorder(with_steps(open_loop()))) {
        equals_reference(&scenario, Totals)?;
        equals_reference(&scenario, Unfused)?;
    }

    #[test]
    fn decisions_at_departures_of_links_without_order_equal_the_plain_simulators(
        scenario in with_disorder(with_queues(open_loop(), &AT_DEPARTURE))
    ) {
        equals_reference(&scenario, Totals)?;
    }

    #[test]
    fn decisions_at_departures_that_change_equal_the_plain_simulators(
        scenario in with_steps(with_queues(open_loop(), &AT_DEPARTURE))
    ) {
        equals_reference(&scenario, Totals)?;
    }

    #[test]
    fn tables_without_fusion_equal_the_plain_simulators(scenario in open_loop()) {
        equals_reference(&scenario, Unfused)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fusion_does_not_show_on_random_networks(scenario in closed_loop()) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_in_series(scenario in with_series(with_queues(closed_loop(), &ALL_OTHERS))) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_in_series_on_dumbbells(scenario in with_series(dumbbells())) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_in_series_where_acks_meet_again(scenario in with_series(dumbbells_of_equals())) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_in_series_with_processors(scenario in with_series(with_processors(closed_loop()))) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_with_other_queues(scenario in with_queues(closed_loop(), &ALL_OTHERS)) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_on_dumbbells_with_other_queues(scenario in with_queues(dumbbells(), &ALL_OTHERS)) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_where_packets_are_sprayed(scenario in sprayed()) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_on_chains(scenario in chains()) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_on_dumbbells(scenario in dumbbells()) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_where_acks_meet_again(scenario in dumbbells_of_equals()) {
        fusion_does_not_show(&scenario)?;
    }

    #[test]
    fn fusion_does_not_show_where_acks_meet_again_at_other_queues(
        scenario in with_queues(dumbbells_of_equals(), &ALL_OTHERS),
    ) {
        fusion_does_not_show(&scenario)?;
    }
}

/// A paced sender's timer comes within a round trip: an ACK that was evaluated through to its sender, behind another one
/// that sets this timer, has to wait for it.
#[test]
fn an_ack_waits_for_the_timer_that_one_before_it_sets() {
    let mut scenario = scenario(Profile::Rfc, 2.0, 2);
    scenario.links.push(LinkSpec { loss: 0.2.into(), ..link("data", (0, 1), 2_097_152.0, 0.0, packets(5)) });
    scenario.links.push(link("acks", (1, 0), 1_048_576.0, 0.0, packets(1)));
    let mut tcp = tcp(Profile::Rfc, Recovery::Rack);
    (tcp.payload_bytes, tcp.window_packets, tcp.initial_window_packets) = (76, 5.0, 1.0);
    (tcp.delayed_ack_s, tcp.limited_transmit) = (None, false);
    (tcp.rto.initial_s, tcp.rto.min_s) = (0.3, 0.1);
    tcp.pacing = true;
    let bulk = TrafficSpec::Bulk { bytes: None };
    scenario.flows.push(flow(&scenario, "tcp", 0, (0, 1), bulk, TransportSpec::Tcp(tcp)));
    for seed in 0..300 {
        scenario.seed = seed;
        fusion_does_not_show(&scenario).expect("the same tables");
    }
}

/// Two hosts that react to nothing but each other have no event for long; nevertheless they can be interrupted.
#[test]
fn a_run_with_hardly_an_event_can_be_interrupted() {
    let mut scenario = scenario(Profile::Ns2, 1e5, 2);
    scenario.links.push(link("data", (0, 1), 2e6, 0.01, packets(3)));
    scenario.links.push(link("acks", (1, 0), 2e6, 0.01, packets(50)));
    // The window is never the limit, which would be looked into at each ACK.
    let tcp = TcpSpec { window_packets: 20.0, delayed_ack_s: None, ..tcp(Profile::Ns2, Recovery::Reno) };
    let bulk = TrafficSpec::Bulk { bytes: None };
    scenario.flows.push(flow(&scenario, "tcp", 0, (0, 1), bulk, TransportSpec::Tcp(tcp)));
    let mut simulation = Simulation::new(&scenario, Totals).expect("the scenario is valid");
    simulation.run(|_| true).expect_err("it is interrupted");
    assert!(simulation.events() < 100_000, "{} events", simulation.events());
}

/// A run that is interrupted now and then, and continued, is the run that is not.
#[test]
fn a_run_that_was_interrupted_can_be_continued() {
    let mut interrupted = 0;
    for scenario in some_of(dumbbells()).into_iter().chain(some_of(chains())) {
        let expected = run(&scenario).text();
        let mut simulation = Simulation::new(&scenario, Totals).expect("the scenario is valid");
        let mut stops = false;
        let mut every_other_time = |_| {
            stops = !stops;
            stops
        };
        while simulation.run(&mut every_other_time).is_err() {
            interrupted += 1;
        }
        assert_eq!(Tables::of(&simulation).text(), expected);
    }
    assert!(interrupted >= 5, "{interrupted}");
}

/// The first 300 networks of a kind.
fn some_of(networks: impl Strategy<Value = Scenario>) -> Vec<Scenario> {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    (0..300).map(|_| networks.new_tree(&mut runner).expect("a network").current()).collect()
}

/// The comparison means something: random networks do have drops, losses, ties and fused links.
#[test]
fn the_random_networks_are_interesting() {
    let (mut dropped, mut lost, mut fewer_events) = (0, 0, 0);
    for scenario in some_of(open_loop()) {
        let tables = run(&scenario);
        let some =
            |name| i32::from(crate::engine::common::integers(&tables.links, name).iter().any(|&count| count > 0));
        dropped += some("packets_dropped");
        lost += some("packets_lost");
        fewer_events += i32::from(events(&scenario, Totals) < events(&scenario, Unfused));
    }
    assert!(dropped > 50 && lost > 20 && fewer_events > 30, "{dropped} {lost} {fewer_events}");
}

/// When a host's timer expires, ACKs are on their way that have events; it is evaluated ahead again from the first that comes.
/// If not, each ACK would have an event as long as any is on its way, which is most of the run.
#[test]
fn hosts_are_evaluated_ahead_again_after_a_timeout() {
    let mut scenario = scenario(Profile::Rfc, 50.0, 2);
    let bbr = TcpSpec { congestion: "bbr".into(), delayed_ack_s: None, ..tcp(Profile::Rfc, Recovery::Sack) };
    let traffic = TrafficSpec::Bulk { bytes: None };
    scenario.links = vec![
        LinkSpec { loss: 0.03.into(), ..link("forward", (0, 1), 10e6, 0.05, packets(1000)) },
        link("back", (1, 0), 1e9, 0.05, packets(1000)),
    ];
    scenario.flows = vec![flow(&scenario, "bbr", 0, (0, 1), traffic, TransportSpec::Tcp(bbr))];
    let flows = run(&scenario).flows;
    let count = |name| crate::engine::common::integers(&flows, name)[0] as u64;
    let (fused, unfused) = (events(&scenario, Totals), events(&scenario, Unfused));
    assert!(count("timeouts") >= 5 && 4 * fused < unfused, "{} {fused} {unfused}", count("timeouts"));
}

#[test]
fn ways_do_meet_again() {
    let meet = |scenario: &Scenario| {
        let simulation = Simulation::new(scenario, Totals).expect("the scenario is valid");
        !simulation.fabric.lookahead.confluences.is_empty()
    };
    let deltas = some_of(deltas()).iter().filter(|scenario| meet(scenario)).count();
    let dumbbells = some_of(dumbbells_of_equals()).iter().filter(|scenario| meet(scenario)).count();
    assert!(deltas > 50 && dumbbells > 30, "{deltas} {dumbbells}");
}

//! Flows processed epoch by epoch have the tables of the loop over events, for epochs of any length and any number of threads;
//! and so they have in parts, each of which has its own loop.

use crate::engine::common::changing::with_changes;
use crate::engine::common::networks::{
    ALL_OTHERS, AT_DEPARTURE, chains, closed_loop, deltas, dumbbells, dumbbells_of_equals, open_loop, sprayed,
    with_queues, with_router_processors, with_series,
};
use crate::engine::common::{cases, flow, integers, packets, processor, scenario, tcp, udp, wire};
use proptest::prelude::*;
use tightlink_sim::epochs::{EpochSimulation, Work};
use tightlink_sim::network::meter::{Average, MeterSpec};
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::probe::Sampled;
use tightlink_sim::scenario::{Intervals, Pace, Profile, Recovery, TrafficSpec, TransportSpec};
use tightlink_sim::tables::Finished;
use tightlink_sim::{PartedSimulation, Scenario, ScenarioError, Simulation, tables, warnings};

/// Threads and the longest epochs, in seconds.
const EPOCHS: [(u32, f64); 2] = [(1, 5e-3), (1, 1e-4)];
/// One more for each network: that costs most where there are fewer processors than threads.
const THREADS: [(u32, f64); 3] = [(2, 5e-3), (3, 1e-3), (5, 2e-3)];

/// Everything that a run says, as text.
fn text(tables: impl std::fmt::Debug, warnings: &[String], counts: (u64, u64)) -> String {
    format!("{tables:#?} {warnings:?} {counts:?}")
}

fn by_events(scenario: &Scenario) -> String {
    // As it is run by default: links are looked at when it is their turn.
    let mut run = Simulation::new(scenario, Sampled).expect("the scenario is valid");
    run.run(|_| false).expect("nobody interrupts");
    let mut tables = tables::totals(&run);
    tables.extend(tables::series(&run).map(|series| ("series", series)));
    text(tables, &warnings::of_flows(&run), (run.packet_hops(), run.random_draws()))
}

/// Nothing where traffic may go in a circle without delay, or a source waits for its interface.
fn by_epochs(scenario: &Scenario, threads: u32, longest_epoch_s: f64) -> Option<String> {
    let mut run = match EpochSimulation::new(scenario, Work { longest_epoch_s, ..Work::on(threads) }) {
        Err(ScenarioError::Traffic { expected }) if expected.contains("circle") => return None,
        result => result.expect("the scenario is valid"),
    };
    run.run(|_| false).expect("nobody interrupts");
    Some(text(run.tables(), &warnings::of_flows(&run), (run.packet_hops(), run.random_draws())))
}

/// The same by loops over events in parts of the network; nothing where there are processors.
fn by_parts(scenario: &Scenario, threads: u32) -> Option<String> {
    if scenario.processors() > 0 {
        return None;
    }
    let mut run = PartedSimulation::new(scenario, Sampled, Work::on(threads)).expect("it is valid");
    run.run(|_, _| false).expect("nobody interrupts");
    let mut tables = tables::totals(&run);
    tables.extend(tables::series(&run).map(|series| ("series", series)));
    Some(text(tables, &warnings::of_flows(&run), (run.packet_hops(), run.random_draws())))
}

fn epochs_do_not_show(scenario: &Scenario) -> Result<(), TestCaseError> {
    let waits = scenario.flows.iter().any(|flow| matches!(flow.traffic, TrafficSpec::Saturate {}));
    prop_assume!(!waits);
    let expected = by_events(scenario);
    for (threads, longest_s) in EPOCHS.into_iter().chain([THREADS[scenario.flows.len() % THREADS.len()]]) {
        let Some(found) = by_epochs(scenario, threads, longest_s) else {
            return Err(TestCaseError::reject("a circle without delay"));
        };
        are_equal(&found, &expected, || format!("{threads} threads, {longest_s} s"))?;
    }
    for threads in [1, THREADS[scenario.flows.len() % THREADS.len()].0] {
        if let Some(found) = by_parts(scenario, threads) {
            are_equal(&found, &expected, || format!("{threads} parts"))?;
        }
    }
    Ok(())
}

/// The same text, or else where it first differs.
fn are_equal(found: &str, expected: &str, how: impl FnOnce() -> String) -> Result<(), TestCaseError> {
    if found == expected {
        return Ok(());
    }
    let line = expected.lines().zip(found.lines()).position(|(a, b)| a != b).unwrap_or_default();
    let around = |text: &str| text.lines().skip(line.saturating_sub(30)).take(34).collect::<Vec<_>>().join("\n");
    let (found, expected) = (around(found), around(expected));
    Err(TestCaseError::fail(format!("{}:\n{found}\n--- instead of ---\n{expected}", how())))
}

/// `examples/router-with-processor.toml` with more than its processor serves, and a TCP connection beside the probe: routers 1
/// and 2 between senders 0 and 4 and receivers 3 and 5.
fn router_with_processor() -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 3.0, 6);
    scenario.links.extend(wire("lan_a", (0, 1), 1e8, 5e-6, packets(1000)));
    scenario.links.extend(wire("serial", (1, 2), 2e6, 1e-3, packets(40)));
    scenario.links.extend(wire("lan_b", (2, 3), 1e8, 5e-6, packets(1000)));
    scenario.links.extend(wire("lan_c", (4, 1), 1e8, 2e-3, packets(1000)));
    scenario.links.extend(wire("lan_d", (2, 5), 1e8, 2e-3, packets(1000)));
    let meter = MeterSpec { window_s: 60.0, cpu_s: 1e-3, every_s: 1.0, average: Average::Window };
    scenario.nodes[1].processor =
        Some(ProcessorSpec { interrupt_s: 1e-6, output_ring: true, meter: Some(meter), ..processor(187e-6, 75) });
    scenario.nodes[3].processor = Some(ProcessorSpec { receive: true, ..processor(150e-6, 2) });
    let probe = TrafficSpec::Cbr { pace: Pace::IntervalS(0.15e-3), random: Intervals::Constant };
    scenario.flows.push(flow(&scenario, "probe", 0, (0, 3), probe, udp(65)));
    let bulk = TransportSpec::Tcp(tcp(Profile::Rfc, Recovery::Sack));
    scenario.flows.push(flow(&scenario, "bulk", 0, (4, 5), TrafficSpec::Bulk { bytes: None }, bulk));
    scenario.observe.interval_s = Some(0.1);
    scenario
}

#[test]
fn epochs_do_not_show_at_a_router_that_is_too_slow() {
    let scenario = router_with_processor();
    let mut run = EpochSimulation::new(&scenario, Work::on(3)).expect("it is valid");
    assert_eq!(run.threads(), 3);
    run.run(|_| false).expect("nobody interrupts");
    let nodes = tables::nodes(&run);
    for ring in ["dropped_input_ring", "dropped_output_ring"] {
        assert!(integers(&nodes, ring)[1] > 0, "{ring}");
    }
    let expected = by_events(&scenario);
    for threads in [1, 2, 3, 5] {
        assert_eq!(by_epochs(&scenario, threads, 5e-3).as_ref(), Some(&expected), "{threads} threads");
    }
}

#[test]
fn parts_that_are_interrupted_stop_at_the_same_time() {
    let mut scenario = router_with_processor();
    scenario.nodes.iter_mut().for_each(|node| node.processor = None);
    let mut run = PartedSimulation::new(&scenario, Sampled, Work::on(2)).expect("it is valid");
    assert_eq!(run.threads(), 2);
    run.run(|now_s, _| now_s >= 1.0).expect_err("it was interrupted");
    let until_s = run.until().seconds();
    assert!((1.0..1.1).contains(&until_s), "{until_s}");
    let sent = |run: &PartedSimulation<'_, Sampled>| integers(&tables::flows(run), "packets_sent").to_vec();
    let of_a_part = sent(&run);
    // What was not simulated is simulated where it is asked for again.
    run.run(|_, _| false).expect("nobody interrupts");
    assert!(of_a_part.iter().zip(sent(&run)).all(|(part, all)| *part < all));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), max_global_rejects: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn epochs_do_not_show_on_random_networks(scenario in closed_loop()) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_datagrams(scenario in open_loop()) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_other_queues(scenario in with_queues(closed_loop(), &ALL_OTHERS)) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_queues_that_hold_packets(scenario in with_queues(open_loop(), &AT_DEPARTURE)) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_on_chains_with_other_queues(scenario in with_queues(chains(), &ALL_OTHERS)) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_where_links_change(scenario in with_changes(with_queues(closed_loop(), &ALL_OTHERS))) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_series_where_links_change(scenario in with_series(with_changes(chains()))) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_series(scenario in with_series(with_queues(closed_loop(), &ALL_OTHERS))) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_series_of_datagrams(scenario in with_series(open_loop())) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_on_chains(scenario in chains()) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_on_dumbbells(scenario in dumbbells()) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_where_acks_meet_again(scenario in dumbbells_of_equals()) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_where_packets_are_sprayed(scenario in with_queues(sprayed(), &ALL_OTHERS)) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_where_paths_meet_again(scenario in deltas()) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_processors(scenario in with_router_processors(with_queues(closed_loop(), &ALL_OTHERS))) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_processors_for_datagrams(scenario in with_router_processors(open_loop())) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_processors_on_dumbbells(scenario in with_router_processors(dumbbells())) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_processors_in_series(
        scenario in with_router_processors(with_series(with_changes(chains()))),
    ) {
        epochs_do_not_show(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_with_processors_where_packets_are_sprayed(scenario in with_router_processors(sprayed())) {
        epochs_do_not_show(&scenario)?;
    }
}

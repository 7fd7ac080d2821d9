//! How many threads are taken: by the estimate before a run.

use super::{site, users};
use crate::engine::common::{flow, packets, processor, scenario, udp, wire};
use tightlink_sim::Scenario;
use tightlink_sim::epochs::{EpochSimulation, Estimate, Work};
use tightlink_sim::scenario::{Intervals, Pace, Profile, TrafficSpec};

/// Two routers with as many users behind each, with a link of so many seconds between them.
fn two_sites(sources: u32, delay_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 0.2, 2);
    scenario.links.extend(wire("line", (0, 1), 1e10, delay_s, packets(1000)));
    scenario.users.push(users("users", Profile::Rfc, &[site(0, sources, sources), site(1, sources, sources)]));
    scenario
}

fn threads(scenario: &Scenario, most: u32) -> u32 {
    Estimate::new(scenario, most).expect("it is valid").threads
}

#[test]
fn what_balances_and_meets_rarely_has_several_threads() {
    assert_eq!(threads(&two_sites(100_000, 5e-3), 2), 2);
    // There are two places where anything happens.
    assert_eq!(threads(&two_sites(100_000, 5e-3), 16), 2);
    assert_eq!(threads(&two_sites(100_000, 5e-3), 1), 1);
}

#[test]
fn what_meets_often_for_little_has_one_thread() {
    assert_eq!(threads(&two_sites(100, 5e-3), 2), 1);
    assert_eq!(threads(&two_sites(100_000, 1e-6), 2), 1);
}

#[test]
fn what_happens_in_one_place_has_one_thread() {
    let mut scenario = two_sites(0, 5e-3);
    scenario.users.clear();
    assert_eq!(threads(&scenario, 4), 1);
}

#[test]
fn the_load_is_that_of_the_traffic() {
    let load = |sources| {
        let estimate = Estimate::new(&two_sites(sources, 5e-3), 1).expect("it is valid");
        estimate.packet_hops_per_turn / estimate.turn_s
    };
    // As long as the link carries it.
    assert_eq!(load(2000), 2.0 * load(1000));
    assert!(load(10_000_000) < 10_000.0 * load(1000));
}

#[test]
fn flows_share_a_processor_as_they_share_a_link() {
    let load = |processor_at: Option<usize>, rate_bps| {
        let mut scenario = scenario(Profile::Rfc, 1.0, 3);
        scenario.links.extend(wire("in", (0, 1), 1e9, 5e-3, packets(1000)));
        scenario.links.extend(wire("out", (1, 2), rate_bps, 5e-3, packets(1000)));
        for index in 0..2 {
            let often = TrafficSpec::Cbr { pace: Pace::IntervalS(1e-5), random: Intervals::Constant };
            scenario.flows.push(flow(&scenario, "often", index, (0, 2), often, udp(1000)));
        }
        if let Some(node) = processor_at {
            scenario.nodes[node].processor = Some(processor(1e-3, 100));
        }
        let estimate = Estimate::new(&scenario, 1).expect("it is valid");
        estimate.packet_hops_per_turn / estimate.turn_s
    };
    // A thousand packets in a second.
    let served = load(Some(1), 1e9);
    assert_eq!(served, load(None, 1e3 * 8.0 * 1000.0));
    assert!(served < load(None, 1e9) / 50.0);
}

#[test]
fn a_run_has_the_estimated_threads_or_those_that_are_asked_for() {
    let scenario = two_sites(100, 5e-3);
    let threads = |work| EpochSimulation::new(&scenario, work).expect("it is valid").threads();
    assert_eq!((threads(Work::up_to(2)), threads(Work::on(2))), (1, 2));
}

#[test]
fn what_needs_one_thread_is_said() {
    let mut scenario = scenario(Profile::Rfc, 1.0, 2);
    scenario.links.extend(wire("line", (0, 1), 1e7, 5e-3, packets(10)));
    scenario.flows.push(flow(
        &scenario,
        "one",
        0,
        (0, 1),
        TrafficSpec::Cbr { pace: Pace::IntervalS(1e-3), random: Intervals::Constant },
        udp(1000),
    ));
    assert!(Estimate::new(&scenario, 2).is_ok());
    scenario.links[0].flow_control = true;
    let error = Estimate::new(&scenario, 2).expect_err("pauses need one thread");
    assert!(error.to_string().contains("no flow control on several threads"), "{error}");
    scenario.links[0].flow_control = false;
    scenario.nodes[1].processor = Some(processor(1e-3, 10));
    assert!(Estimate::new(&scenario, 2).is_ok(), "it only receives");
    scenario.nodes[1].processor = Some(processor(0.0, 10));
    let error = Estimate::new(&scenario, 2).expect_err("its packets leave in one instant");
    assert!(error.to_string().contains("for each packet in a processor on several threads: 1"), "{error}");
    scenario.nodes[1].processor = None;
    scenario.nodes[0].processor = Some(processor(1e-3, 10));
    let error = Estimate::new(&scenario, 2).expect_err("it pushes its source back");
    assert!(error.to_string().contains("no processor of a host on several threads, as it pushes back: 0"), "{error}");
    scenario.nodes[0].processor = None;
    scenario.flows[0].traffic = TrafficSpec::Saturate {};
    assert!(Estimate::new(&scenario, 2).is_err());
}

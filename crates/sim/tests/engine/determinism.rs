//! The same scenario gives the same tables; what is added to it leaves the random numbers of the rest as
//! they were.

use crate::engine::common::changing::with_changes;
use crate::engine::common::networks::{closed_loop, dumbbells, open_loop, with_flow_control, with_processors};
use crate::engine::common::{Unfused, cases, flow, integers, packets, run, run_with, scenario, trace, udp, wire};
use proptest::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::scenario::{Duration, FlowSpec, Intervals, Pace, Profile, TrafficSpec};

fn runs_twice_alike(scenario: &Scenario) -> Result<(), TestCaseError> {
    prop_assert_eq!(run(scenario).text(), run(scenario).text());
    let (watched, records) = trace(scenario);
    // Watching changes nothing.
    prop_assert_eq!(watched.text(), run(scenario).text());
    prop_assert_eq!(trace(scenario).1, records);
    // A scenario survives its way through JSON, which is how it reaches the engine.
    let json = serde_json::to_string(scenario).expect("a scenario is plain data");
    let read: Scenario = serde_json::from_str(&json).expect("it was just written");
    prop_assert_eq!(run(&read).text(), run(scenario).text());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn udp_runs_twice_alike(scenario in open_loop()) {
        runs_twice_alike(&scenario)?;
    }

    #[test]
    fn processors_run_twice_alike(scenario in with_processors(closed_loop())) {
        runs_twice_alike(&scenario)?;
    }

    #[test]
    fn flow_control_runs_twice_alike(scenario in with_flow_control(with_processors(closed_loop()))) {
        runs_twice_alike(&scenario)?;
    }

    #[test]
    fn links_that_change_run_twice_alike(scenario in with_changes(with_processors(closed_loop()))) {
        runs_twice_alike(&scenario)?;
        // Links evaluated ahead of time: the same.
        prop_assert_eq!(run(&scenario).text(), run_with(&scenario, Unfused).expect("the scenario is valid").text());
    }

    #[test]
    fn links_that_change_are_looked_at_ahead_of_time(scenario in with_changes(dumbbells())) {
        prop_assert_eq!(run(&scenario).text(), run_with(&scenario, Unfused).expect("the scenario is valid").text());
    }

    #[test]
    fn tcp_runs_twice_alike(scenario in closed_loop()) {
        runs_twice_alike(&scenario)?;
    }
}

/// Hosts 0 to 3 and a link, with losses, between each neighbouring two.
fn lossy() -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 20.0, 4);
    for node in 0..3 {
        let mut links = wire(&format!("wire{node}"), (node, node + 1), 1e6, 0.01, packets(20));
        links[0].loss = 0.1.into();
        scenario.links.extend(links);
    }
    scenario.flows = vec![bursts(&scenario, "web", 0, (0, 1)), bursts(&scenario, "web", 1, (1, 2))];
    scenario
}

fn bursts(scenario: &Scenario, group: &str, index: u32, ends: (u32, u32)) -> FlowSpec {
    let traffic = TrafficSpec::OnOff {
        pace: Pace::IntervalS(0.01),
        on: Duration::Exponential { mean_s: 0.1 },
        off: Duration::Pareto { mean_s: 0.1, shape: 1.5 },
    };
    flow(scenario, group, index, ends, traffic, udp(500))
}

/// When the packets of a flow, known by its label, were sent, and which of them the wire lost.
fn story(scenario: &Scenario, label: &str) -> (Vec<f64>, Vec<u32>) {
    let (_, records) = trace(scenario);
    let of_flow = |record: &&Record| scenario.flows[record.flow as usize].label == label;
    let sent = records.iter().filter(of_flow).filter(|record| record.event == Event::Enqueue);
    let lost = records.iter().filter(of_flow).filter(|record| record.event == Event::Drop(DropReason::Wire));
    let story = (sent.map(|record| record.time.seconds()).collect::<Vec<_>>(), lost.map(|record| record.seq).collect());
    assert!(story.0.len() > 100, "the flow is silent");
    story
}

#[test]
fn an_added_flow_leaves_the_others_random_numbers_alone() {
    let before = lossy();
    let mut after = before.clone();
    // First in the scenario, elsewhere in the network, with separate draws.
    after.flows.insert(0, bursts(&after, "added", 0, (2, 3)));
    for label in ["web[0]", "web[1]"] {
        let story_before = story(&before, label);
        assert!(!story_before.1.is_empty(), "nothing was lost");
        assert_eq!(story_before, story(&after, label));
    }
    assert!(run(&after).random_draws > run(&before).random_draws);
}

#[test]
fn a_flows_random_numbers_hang_on_group_index_and_seed() {
    let scenario = lossy();
    let moved = |change: fn(&mut Scenario)| {
        let mut other = scenario.clone();
        change(&mut other);
        story(&other, "web[0]").0
    };
    let original = moved(|_| {});
    // The order of flows and of links means nothing.
    assert_eq!(original, moved(|scenario| scenario.flows.reverse()));
    assert_ne!(original, moved(|scenario| scenario.seed += 1));
    assert_ne!(original, moved(|scenario| scenario.flows[0].index = 7));
    assert_ne!(original, moved(|scenario| scenario.flows[0].group = "other".into()));
    // Flows of one group do not march in step.
    assert_ne!(original, story(&scenario, "web[1]").0);
}

#[test]
fn losses_hang_on_the_links_name() {
    let scenario = lossy();
    let mut renamed = scenario.clone();
    renamed.links[0].name = "other".into();
    assert_ne!(story(&scenario, "web[0]").1, story(&renamed, "web[0]").1);
    assert_eq!(story(&scenario, "web[1]"), story(&renamed, "web[1]"));
}

#[test]
fn draws_are_counted() {
    let mut scenario = lossy();
    scenario.flows.clear();
    scenario.flows.push(flow(
        &scenario,
        "cbr",
        0,
        (0, 1),
        TrafficSpec::Cbr { pace: Pace::IntervalS(0.5), random: Intervals::Constant },
        udp(500),
    ));
    let tables = run(&scenario);
    // One for each packet that crossed the lossy link: 0 s, 0.5 s, … 19.5 s.
    assert_eq!((tables.random_draws, integers(&tables.flows, "packets_sent")[0]), (40, 40));
    assert_eq!(run(&crate::engine::common::scenario(Profile::Rfc, 1.0, 2)).random_draws, 0);
}

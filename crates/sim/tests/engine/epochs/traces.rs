//! What a trace hears of flows that are processed epoch by epoch is what it hears of the loop over events.

use crate::engine::common::cases;
use crate::engine::common::changing::with_changes;
use crate::engine::common::networks::{
    ALL_OTHERS, AT_DEPARTURE, chains, closed_loop, deltas, dumbbells, open_loop, with_queues, with_router_processors,
};
use proptest::prelude::*;
use tightlink_sim::epochs::{EpochSimulation, Work};
use tightlink_sim::probe::Seen;
use tightlink_sim::probe::trace::{Listener, Record, Trace};
use tightlink_sim::scenario::TrafficSpec;
use tightlink_sim::time::Time;
use tightlink_sim::transport::ack_options::AckOptionSlab;
use tightlink_sim::{Scenario, ScenarioError, Simulation};

/// Threads, and the longest epochs in seconds.
const WORK: [(u32, f64); 4] = [(1, 5e-3), (2, 1e-4), (3, 5e-3), (5, 1e-3)];

/// All that it hears, line by line.
#[derive(Default)]
struct Heard(Vec<String>);

impl Listener for Heard {
    fn sent(&mut self, time: Time, uid: u64, packet: Seen<'_>, ack_options: &AckOptionSlab) {
        let (flow, packet) = (packet.flow(), packet.packet);
        let blocks = packet.options().map(|handle| ack_options.get(handle));
        let what = (packet.kind(), packet.seq(), packet.size(), packet.is_capable(), packet.ace(), blocks);
        self.0.push(format!("sent {time:?} {uid} {flow} {what:?}"));
    }

    fn duplicated(&mut self, uid: u64, copy: u64) {
        self.0.push(format!("duplicated {uid} {copy}"));
    }

    fn record(&mut self, record: &Record) {
        self.0.push(format!("{record:?}"));
    }
}

fn by_events(scenario: &Scenario) -> Vec<String> {
    let mut heard = Heard::default();
    let probe = Trace::new(scenario.links.len(), scenario.flows.len(), &mut heard);
    let mut run = Simulation::new(scenario, probe).expect("the scenario is valid");
    run.run(|_| false).expect("nobody interrupts");
    heard.0
}

/// Nothing where traffic may go in a circle without delay.
fn by_epochs(scenario: &Scenario, (threads, longest_epoch_s): (u32, f64)) -> Option<Vec<String>> {
    let mut heard = Heard::default();
    let mut probe = Trace::new(scenario.links.len(), scenario.flows.len(), &mut heard);
    let mut run = match EpochSimulation::new(scenario, Work { longest_epoch_s, ..Work::on(threads) }) {
        Err(ScenarioError::Traffic { expected }) if expected.contains("circle") => return None,
        result => result.expect("the scenario is valid"),
    };
    run.run_traced(&mut probe, |_| false).expect("nobody interrupts");
    Some(heard.0)
}

fn epochs_do_not_show_in_traces(scenario: &Scenario) -> Result<(), TestCaseError> {
    prop_assume!(!scenario.flows.iter().any(|flow| matches!(flow.traffic, TrafficSpec::Saturate {})));
    let expected = by_events(scenario);
    for work in WORK {
        let Some(found) = by_epochs(scenario, work) else {
            return Err(TestCaseError::reject("a circle without delay"));
        };
        let differs = expected.iter().zip(&found).position(|(a, b)| a != b);
        if let Some(line) = differs.or((expected.len() != found.len()).then(|| expected.len().min(found.len()))) {
            let around = |lines: &[String]| lines[line.saturating_sub(3)..lines.len().min(line + 3)].join("\n");
            let (found, expected) = (around(&found), around(&expected));
            let message = format!("{work:?}, line {line}:\n{found}\n--- instead of ---\n{expected}");
            return Err(TestCaseError::fail(message));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4), max_global_rejects: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn epochs_do_not_show_in_traces_of_random_networks(scenario in with_queues(closed_loop(), &ALL_OTHERS)) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_of_queues_that_hold_packets(scenario in with_queues(open_loop(), &AT_DEPARTURE)) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_where_links_change(scenario in with_changes(with_queues(closed_loop(), &ALL_OTHERS))) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_of_chains(scenario in with_changes(chains())) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_of_dumbbells(scenario in dumbbells()) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_where_paths_meet_again(scenario in deltas()) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_with_processors(scenario in with_router_processors(with_queues(dumbbells(), &ALL_OTHERS))) {
        epochs_do_not_show_in_traces(&scenario)?;
    }

    #[test]
    fn epochs_do_not_show_in_traces_with_processors_for_datagrams(
        scenario in with_router_processors(with_queues(open_loop(), &AT_DEPARTURE)),
    ) {
        epochs_do_not_show_in_traces(&scenario)?;
    }
}

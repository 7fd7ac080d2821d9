//! Users, scattered datagrams and single flows in one network.

use super::invariance::is_the_same_in_all_ways;
use super::networks::mixed;
use super::{Outcome, run_as};
use crate::engine::common::cases;
use crate::engine::common::networks::{ALL_OTHERS, closed_loop, open_loop, with_queues};
use proptest::prelude::*;
use tightlink_sim::probe::Totals;
use tightlink_sim::scenario::{Profile, TrafficSpec};
use tightlink_sim::{Scenario, ScenarioError, Simulation, tables};

/// The flows of one network over the nodes of another: `place` says which node is which.
fn with_flows(mut users: Scenario, flows: &Scenario, place: impl Fn(u32) -> u32) -> Scenario {
    users.flows = flows.flows.clone();
    for flow in &mut users.flows {
        (flow.from, flow.to, flow.path) = (place(flow.from), place(flow.to), None);
        (flow.start_s, flow.stop_s) = (flow.start_s.min(users.duration_s), flow.stop_s.min(users.duration_s));
    }
    users
}

fn runs_by_epochs(scenario: &Scenario) -> bool {
    !scenario.flows.iter().any(|flow| matches!(flow.traffic, TrafficSpec::Saturate {}))
}

fn lines(outcome: &Outcome, names: &[&str]) -> String {
    let tables = outcome.tables.iter().filter(|(name, _)| names.contains(name));
    tables.map(|(name, table)| format!("{name} {table:#?}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), max_global_rejects: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Two networks that no link connects.
    #[test]
    fn who_meets_nobody_is_as_alone(users in mixed(), flows in with_queues(closed_loop(), &ALL_OTHERS)) {
        // ns-2 has one generator for all.
        prop_assume!(runs_by_epochs(&flows) && users.profile != Profile::Ns2 && flows.profile == users.profile);
        let mut alone = flows;
        (alone.duration_s, alone.seed, alone.observe.interval_s) = (users.duration_s, users.seed, None);
        let alone = with_flows(Scenario { flows: Vec::new(), ..alone.clone() }, &alone, |node| node);
        let first = users.nodes.len() as u32;
        let mut both = with_flows(users.clone(), &alone, |node| first + node);
        both.nodes.extend(alone.nodes.iter().cloned());
        for link in &alone.links {
            both.links.push(link.clone());
            let link = both.links.last_mut().expect("it was added");
            (link.from, link.to) = (link.from + first, link.to + first);
        }
        let refused = |result: Result<Outcome, ScenarioError>| match result {
            Err(ScenarioError::Traffic { expected }) if expected.contains("circle") => Err(TestCaseError::reject("a circle")),
            result => Ok(result.expect("the scenario is valid")),
        };
        let (together, of_users) = (refused(run_as(&both, 2, 5e-3))?, refused(run_as(&users, 1, 5e-3))?);
        let names = ["users", "user_paths", "transfers", "long_lived", "scatter"];
        prop_assert_eq!(lines(&together, &names), lines(&of_users, &names));
        let mut run = Simulation::new(&alone, Totals).expect("the scenario is valid");
        run.run(|_| false).expect("nobody interrupts");
        let expected = format!("flows {:#?}\n", tables::flows(&run));
        prop_assert_eq!(lines(&together, &["flows"]), expected);
        prop_assert_eq!(together.packet_hops, of_users.packet_hops + run.packet_hops());
    }

    #[test]
    fn users_and_flows_on_the_same_links_see_no_epochs(users in mixed(), flows in prop_oneof![closed_loop(), open_loop()]) {
        prop_assume!(runs_by_epochs(&flows) && flows.profile == users.profile);
        let nodes = users.nodes.len() as u32;
        let both = with_flows(users, &flows, |node| node % nodes);
        prop_assume!(both.flows.iter().all(|flow| flow.from != flow.to));
        is_the_same_in_all_ways(&both)?;
    }
}

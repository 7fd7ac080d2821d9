//! The same tables for epochs of any length and any number of threads.

use super::networks::{mixed, of_datagrams, of_users};
use super::{Outcome, interface, run, run_as, site, users};
use crate::engine::common::changing::with_changes;
use crate::engine::common::{cases, packets, scenario, wire};
use proptest::prelude::*;
use tightlink_sim::congestion::CONTROLS;
use tightlink_sim::epochs::flows::FlowPaths;
use tightlink_sim::epochs::load::loads;
use tightlink_sim::epochs::parts::Parts;
use tightlink_sim::epochs::routes::Routes;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::cake::{AckFilter, CakeSpec, Cells, Isolation, Overhead, Tins};
use tightlink_sim::scenario::{Patience, Profile, Recovery};
use tightlink_sim::{Scenario, ScenarioError};

/// Threads and the longest epochs, in seconds: the first are so short that hardly two events share one, and most have
/// none.
const WAYS: [(u32, f64); 4] = [(1, 1e-9), (1, 3e-5), (1, 7e-4), (2, 5e-3)];
/// One more for each network: that costs most where there are fewer processors than threads.
const MORE: [(u32, f64); 3] = [(3, 7e-4), (5, 5e-3), (2, 1e-9)];

/// The first line that differs, with that before it.
fn first_difference(one: &str, other: &str) -> Option<String> {
    let place = one.lines().zip(other.lines()).position(|(a, b)| a != b)?;
    let show = |text: &str| text.lines().skip(place.saturating_sub(40)).take(44).collect::<Vec<_>>().join("\n");
    Some(format!("{}\n--- instead of ---\n{}", show(other), show(one)))
}

pub(super) fn is_the_same_in_all_ways(scenario: &Scenario) -> Result<(), TestCaseError> {
    let first = match run_as(scenario, 1, 5e-3) {
        // Random networks may have circles without delay.
        Err(ScenarioError::Traffic { expected }) if expected.contains("circle") => {
            return Err(TestCaseError::reject("a circle without delay"));
        }
        result => result.expect("the scenario is valid").text(),
    };
    let more = MORE[scenario.seed as usize % MORE.len()];
    for (threads, epoch_s) in WAYS.into_iter().chain([more]) {
        let other = run_as(scenario, threads, epoch_s).expect("it ran before").text();
        if other != first {
            let difference = first_difference(&first, &other).unwrap_or_default();
            return Err(TestCaseError::fail(format!("{threads} threads, epochs of {epoch_s} s:\n{difference}")));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(8), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn users_and_datagrams_see_no_epochs(scenario in mixed()) {
        is_the_same_in_all_ways(&scenario)?;
    }

    #[test]
    fn users_and_datagrams_see_no_epochs_where_links_change(scenario in with_changes(mixed())) {
        is_the_same_in_all_ways(&scenario)?;
    }

    #[test]
    fn users_see_no_epochs(scenario in of_users()) {
        is_the_same_in_all_ways(&scenario)?;
    }

    #[test]
    fn datagrams_see_no_epochs(scenario in of_datagrams()) {
        is_the_same_in_all_ways(&scenario)?;
    }
}

/// Two routers far from each other, each with an access router and its users, who fill the wire between.
fn far_apart(profile: Profile, recovery: Recovery) -> Scenario {
    let mut scenario = scenario(profile, 8.0, 4);
    scenario.links.extend(wire("left", (0, 1), 2e7, 1e-3, packets(30)));
    scenario.links.extend(wire("middle", (1, 2), 4e6, 2e-2, packets(10)));
    scenario.links.extend(wire("right", (2, 3), 2e7, 1e-3, packets(30)));
    scenario.observe.interval_s = Some(0.5);
    let mut group = users("users", profile, &[site(0, 6, 3), site(3, 6, 3)]);
    group.tcp.recovery = recovery;
    group.files = vec![super::file(60.0, Some(1.5))];
    group.interfaces = vec![interface("all", 1e7, 1e-3)];
    group.patience = Some(Patience { least_s: 1.0, packets_per_s: 50.0 });
    scenario.users.push(group);
    scenario
}

/// Drops, retransmissions and transfers given up happened, else the comparison says nothing.
fn is_eventful(outcome: &Outcome) -> bool {
    outcome.total("links", "packets_dropped") > 20
        && outcome.total("users", "packets_retransmitted") > 20
        && outcome.total("users", "transfers_completed") > 20
        && outcome.total("users", "transfers_abandoned") > 0
}

#[test]
fn every_recovery_crosses_the_border_between_threads() {
    for profile in [Profile::Rfc, Profile::Linux, Profile::Ns2] {
        for recovery in Recovery::ALL {
            if profile == Profile::Ns2 && recovery == Recovery::Rack {
                continue;
            }
            let scenario = far_apart(profile, recovery);
            let one = run(&scenario);
            assert!(is_eventful(&one), "{profile:?} {recovery:?}: {:#?}", one.table("users"));
            let two = run_as(&scenario, 2, 5e-3).expect("it ran before");
            assert_eq!(first_difference(&one.text(), &two.text()), None, "{profile:?} {recovery:?}");
        }
    }
}

/// A queue behind the border sees which ACKs have options, as one before it does.
#[test]
fn filters_of_acks_see_options_beyond_the_border() {
    let mut scenario = far_apart(Profile::Rfc, Recovery::Sack);
    for link in &mut scenario.links {
        if link.name.starts_with("left") {
            link.rate_bps = 2e6;
            link.queue = QueueSpec::Cake(CakeSpec {
                limit: packets(30),
                target_s: 0.01,
                interval_s: 0.1,
                ecn: false,
                rate_bps: None,
                overhead: Overhead { bytes: 0, smallest_bytes: 0, cells: Cells::None },
                isolation: Isolation::Flows,
                tins: Tins::Besteffort,
                ack_filter: AckFilter::Aggressive,
            });
        }
    }
    let one = run(&scenario);
    assert!(is_eventful(&one), "{:#?}", one.table("users"));
    let two = run_as(&scenario, 2, 5e-3).expect("it ran before");
    assert_eq!(first_difference(&one.text(), &two.text()), None);
}

/// The border is where the delay is long: what the test above says of SACK blocks depends on that.
#[test]
fn the_long_wire_is_where_the_network_is_cut() {
    let scenario = far_apart(Profile::Rfc, Recovery::Sack);
    let routes = Routes::new(4, &scenario.links, &[0, 3]);
    let paths = FlowPaths::new(&scenario, 0).expect("there are no flows");
    let parts = Parts::new(&scenario, &loads(&scenario, &routes, &paths), 2, 1e-3);
    assert_eq!((parts.count, parts.delay_s), (2, 2e-2));
    assert_eq!((parts.of_node[0], parts.of_node[3]), (parts.of_node[1], parts.of_node[2]));
    assert_ne!(parts.of_node[1], parts.of_node[2]);
    // The blocks make a difference, so they arrive.
    let retransmitted = |recovery| run(&far_apart(Profile::Rfc, recovery)).total("users", "packets_retransmitted");
    assert_ne!(retransmitted(Recovery::Sack), retransmitted(Recovery::Newreno));
}

#[test]
fn every_congestion_control_sees_no_epochs() {
    for control in CONTROLS {
        let mut scenario = far_apart(Profile::Rfc, Recovery::Sack);
        let group = &mut scenario.users[0];
        group.controls[0].congestion = control.name.into();
        group.tcp.congestion = control.name.into();
        group.tcp.ecn = control.reads_marks.into();
        let one = run(&scenario);
        assert!(one.total("users", "transfers_completed") > 20, "{}: {:#?}", control.name, one.table("users"));
        let other = run_as(&scenario, 2, 4e-4).expect("it ran before");
        assert_eq!(first_difference(&one.text(), &other.text()), None, "{}", control.name);
    }
}

/// Runs of another length are other runs only where they are longer.
#[test]
fn a_shorter_run_is_the_begin_of_a_longer_one() {
    let long = far_apart(Profile::Rfc, Recovery::Sack);
    let mut short = long.clone();
    short.duration_s = 4.0;
    let [long, short] = [long, short].map(|scenario| run(&scenario));
    for (name, column) in &short.table("users").columns {
        let (begin, whole) =
            (format!("{column:?}"), format!("{:?}", crate::engine::common::column(long.table("users"), name)));
        let begin = begin.trim_end_matches("])");
        assert!(whole.starts_with(begin), "{name}: {begin} … {whole}");
    }
}

#[test]
fn a_recovery_that_a_profile_has_not_is_refused() {
    let refused = run_as(&far_apart(Profile::Ns2, Recovery::Rack), 1, 5e-3);
    assert!(matches!(refused, Err(ScenarioError::Flow { key: "tcp.recovery", .. })), "{refused:?}");
}

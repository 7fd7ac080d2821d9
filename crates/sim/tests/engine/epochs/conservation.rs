//! Nothing is lost but what is counted as lost.

use super::networks::{mixed, of_datagrams};
use super::{Outcome, file, run, run_as, site, users};
use crate::engine::common::{cases, integers, packets, scenario, wire};
use proptest::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::scenario::{Duration, Patience, Profile, QueueLimit, Recovery};

/// Of the smallest packets: acknowledgements.
const SMALLEST_BYTES: u32 = 40;

/// Of each link: in, out, refused by the queue, lost on the wire.
fn links(outcome: &Outcome) -> Vec<[i64; 4]> {
    let column = |name| integers(outcome.table("links"), name);
    let rows = column("packets_in").iter().zip(column("packets_out"));
    let losses = column("packets_dropped").iter().zip(column("packets_lost"));
    rows.zip(losses).map(|((&all, &out), (&dropped, &lost))| [all, out, dropped - lost, lost]).collect()
}

/// Packets that a link holds at the end, in its queue and in service, and those on its wire at most.
fn holds(scenario: &Scenario, outcome: &Outcome) -> Result<(), TestCaseError> {
    for (spec, [all, out, refused, lost]) in scenario.links.iter().zip(links(outcome)) {
        let held = all - out - refused;
        let most = match (spec.queue.limit(), &spec.queue) {
            // ns-2's RED does not count the packet in service; with thresholds in bytes it has room below its limit of
            // mean packets, in bytes.
            (QueueLimit::Packets(limit), QueueSpec::Red(red)) if scenario.profile == Profile::Ns2 => {
                let waiting = if red.in_bytes { (limit * red.packet_bytes - 1) / SMALLEST_BYTES + 1 } else { limit };
                i64::from(waiting) + 1
            }
            (QueueLimit::Packets(limit), _) => i64::from(limit),
            (QueueLimit::Bytes(limit), _) => limit as i64 / i64::from(SMALLEST_BYTES),
            (QueueLimit::Unlimited, _) => i64::MAX,
        };
        prop_assert!(0 <= held && held <= most, "{}: {held} of {most}", spec.name);
        prop_assert!(0 <= lost && lost <= all - refused, "{}: {lost} lost", spec.name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    /// Each source is in one state at each measurement, and no data packet arrives that was not sent.
    #[test]
    fn sources_and_packets_are_conserved(scenario in mixed()) {
        let Ok(outcome) = run_as(&scenario, 1, 5e-3) else { return Err(TestCaseError::reject("a circle without delay")) };
        holds(&scenario, &outcome)?;
        let table = outcome.table("users");
        let column = |name| integers(table, name);
        let rows = column("packets_sent").len() / scenario.users.len();
        for (group, users) in scenario.users.iter().enumerate() {
            let all: i64 = users.sites.iter().map(|site| i64::from(site.sources)).sum();
            let (mut sent, mut delivered) = (0, 0);
            for row in group * rows..(group + 1) * rows {
                let states = ["sources_transmitting", "sources_connecting", "sources_thinking"];
                prop_assert_eq!(states.map(|state| column(state)[row]).iter().sum::<i64>(), all);
                sent += column("packets_sent")[row];
                delivered += column("packets_delivered")[row];
                prop_assert!(delivered <= sent, "row {}: {} of {}", row, delivered, sent);
            }
        }
        // Paths, transfers and sums of them say the same.
        let delivered = ["user_paths", "long_lived"].map(|table| outcome.total(table, "packets_delivered"));
        prop_assert_eq!(delivered[0] + delivered[1], outcome.total("users", "packets_delivered"));
        let by_path: Vec<i64> = integers(outcome.table("user_paths"), "sources_transmitting").chunks(3).map(|row| row.iter().sum()).collect();
        prop_assert_eq!(&by_path, column("sources_transmitting"));
        prop_assert_eq!(outcome.total("transfers", "completed"), outcome.total("users", "transfers_completed"));
    }

    /// Datagrams are delivered, dropped or on their way; some time after the last is sent, none is on its way.
    #[test]
    fn datagrams_are_conserved(mut scenario in of_datagrams()) {
        let column = |outcome: &Outcome, name| integers(outcome.table("scatter"), name).to_vec();
        let Ok(before) = run_as(&scenario, 1, 5e-3) else { return Err(TestCaseError::reject("a circle without delay")) };
        holds(&scenario, &before)?;
        prop_assert!(column(&before, "packets_in_network").iter().all(|&count| count >= 0));
        scenario.duration_s = 100.0;
        let after = run_as(&scenario, 1, 5e-3).expect("it ran before");
        let rows = column(&after, "packets_sent").len() / scenario.scatter.len();
        let total = |name| after.total("scatter", name);
        prop_assert_eq!(total("packets_sent"), total("packets_delivered") + total("packets_dropped"));
        for last in (rows - 1..rows * scenario.scatter.len()).step_by(rows) {
            prop_assert_eq!(column(&after, "packets_in_network")[last], 0);
        }
        prop_assert_eq!(total("packets_dropped"), after.total("links", "packets_dropped"));
        let links = links(&after);
        prop_assert!(links.iter().all(|[all, out, refused, _]| *all == out + refused));
        // Who is delivered crossed all links of its way; who is dropped, those before.
        let crossed: i64 = links.iter().map(|[_, out, _, lost]| out - lost).sum();
        prop_assert_eq!(after.packet_hops as i64, crossed);
        let offered: i64 = links.iter().map(|[all, ..]| all).sum();
        prop_assert_eq!(offered, total("packets_sent") + crossed - total("packets_delivered"));
    }
}

/// Sources at one end of a row of four routers, receivers at the other: data runs one way, ACKs the other.
fn one_way(recovery: Recovery, seed: u64, duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, duration_s, 4);
    scenario.seed = seed;
    scenario.links.extend(wire("left", (0, 1), 2e7, 2e-3, packets(30)));
    scenario.links.extend(wire("middle", (1, 2), 5e6, 1e-2, packets(20)));
    scenario.links.extend(wire("right", (2, 3), 2e7, 2e-3, packets(30)));
    scenario.links[2].loss = 0.01.into();
    let mut group = users("users", Profile::Rfc, &[site(0, 10, 0), site(3, 0, 20)]);
    group.tcp.recovery = recovery;
    group.tcp.window_packets = 64.0;
    group.files = vec![file(100.0, Some(1.5))];
    scenario.users.push(group);
    scenario
}

/// Data packets sent, delivered, and packets lost on their way, data or not.
fn data(outcome: &Outcome) -> (i64, i64, i64) {
    let lost = links(outcome).iter().step_by(2).map(|[_, _, refused, lost]| refused + lost).sum();
    (outcome.total("users", "packets_sent"), outcome.total("users", "packets_delivered"), lost)
}

/// At whatever time one looks, what was sent and did not arrive was lost, or is where it can be.
#[test]
fn what_is_on_its_way_fits_into_the_network() {
    for recovery in Recovery::ALL {
        for duration_s in [0.5, 1.0, 2.0, 4.0, 8.0] {
            let scenario = one_way(recovery, 7, duration_s);
            let outcome = run(&scenario);
            let (sent, delivered, lost) = data(&outcome);
            let forward: Vec<_> = links(&outcome).into_iter().step_by(2).collect();
            let specs: Vec<_> = scenario.links.iter().step_by(2).collect();
            // The wires, full of the smallest packets.
            let on_wires: f64 = specs.iter().map(|spec| spec.delay_s * spec.rate_bps / (8.0 * 52.0) + 1.0).sum();
            for pair in 0..2 {
                let on_wire = forward[pair][1] - forward[pair][3] - forward[pair + 1][0];
                assert!(on_wire >= 0 && on_wire as f64 <= on_wires, "{recovery:?}: {on_wire} on a wire");
            }
            let queued: i64 = forward.iter().map(|[all, out, refused, _]| all - out - refused).sum();
            // SYNs and the third steps of handshakes, and what the interfaces still hold, are the difference.
            let entered = forward[0][0];
            let finished = outcome.total("users", "transfers_completed") + outcome.total("users", "connections_failed");
            let small = 4 * (finished + 10);
            assert!(sent - 10 * 64 <= entered && entered <= sent + small, "{recovery:?}: {entered} of {sent}");
            let missing = sent - delivered - lost;
            let most = queued + on_wires as i64 + 10 * 64;
            assert!(-small <= missing && missing <= most, "{recovery:?} {duration_s} s: {missing}, not 0 to {most}");
        }
    }
}

/// When all have stopped, each packet that was sent has arrived or was lost, and was new or retransmitted.
#[test]
fn a_network_at_rest_holds_nothing() {
    for recovery in Recovery::ALL {
        let mut scenario = one_way(recovery, 3, 580.0);
        scenario.observe.interval_s = Some(20.0);
        let group = &mut scenario.users[0];
        // One transfer each after some 300 s; the next would come as much later.
        group.think = Duration::Pareto { mean_s: 300.0, shape: 50.0 };
        group.sites[0].sources = 40;
        let outcome = run(&scenario);
        let rows = |name| integers(outcome.table("users"), name);
        let quiet = rows("packets_sent").len() - 1;
        assert_eq!(
            (rows("packets_sent")[quiet], rows("sources_thinking")[quiet]),
            (0, 40),
            "{recovery:?}: not at rest"
        );
        let (sent, delivered, lost) = data(&outcome);
        let first = outcome.total("transfers", "packets");
        assert_eq!(sent, first + outcome.total("users", "packets_retransmitted"), "{recovery:?}");
        let forward: Vec<_> = links(&outcome).into_iter().step_by(2).collect();
        let small = forward[0][0] - sent;
        let missing = sent - delivered;
        // Of what was lost no more was small than small packets were sent.
        assert!((missing..=missing + small).contains(&lost) && small < lost, "{recovery:?}: {missing} {lost} {small}");
        let (last, hops) = (forward[2], outcome.packet_hops);
        assert_eq!((last[0] - last[2], last[1]), (last[1], forward[0][0] - lost), "{recovery:?}: {hops} hops");
        assert!(lost > 30, "{recovery:?}: only {lost} lost");
    }
}

/// Who has given up sends nothing more, neither data nor SYNs, and has not failed besides.
#[test]
fn who_has_given_up_is_silent() {
    for (recovery, pacing) in Recovery::ALL.into_iter().flat_map(|recovery| [(recovery, false), (recovery, true)]) {
        for loss in [0.01, 1.0] {
            let mut scenario = one_way(recovery, 3, 580.0);
            scenario.observe.interval_s = Some(20.0);
            scenario.links[2].loss = loss.into();
            let group = &mut scenario.users[0];
            group.tcp.pacing = pacing;
            // All begin after 294 to 340 s, and again as much later.
            group.think = Duration::Pareto { mean_s: 300.0, shape: 50.0 };
            group.files = vec![file(1e5, None)];
            group.patience = Some(Patience { least_s: 2.0, packets_per_s: 1e9 });
            let outcome = run(&scenario);
            let total = |name| outcome.total("users", name);
            let ends = ["transfers_abandoned", "connections_failed", "transfers_completed"].map(total);
            assert_eq!(ends, [10, 0, 0], "{recovery:?}");
            let sent = integers(outcome.table("users"), "packets_sent");
            assert!(sent[17..].iter().all(|&count| count == 0), "{recovery:?}: {sent:?}");
            if loss < 1.0 {
                assert!(sent.iter().sum::<i64>() > 1000, "{recovery:?}: {sent:?}");
            } else {
                // Two SYNs each, at once and after a second.
                assert_eq!(outcome.total("links", "packets_in"), 2 * (10 + 10), "{recovery:?}");
            }
        }
    }
}

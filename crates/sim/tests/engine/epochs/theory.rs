//! Networks processed epoch by epoch, against formulas.

use super::{file, run, scatter, site, users};
use crate::engine::common::{floats, integers, link, scenario, wire};
use tightlink_sim::Scenario;
use tightlink_sim::scenario::{Duration, Profile, QueueLimit};

/// Mean and standard error.
pub fn estimate(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Packets of 125 bytes are served 1000 times a second; Pollaczek and Khinchine: the mean waiting time is
/// λ E[S²] / (2 (1 − ρ)).
#[test]
fn datagrams_wait_as_long_as_queueing_theory_says() {
    const DELAY_S: f64 = 0.01;
    for sizes in [&[(125, 1.0)][..], &[(40, 0.5), (210, 0.5)], &[(40, 0.5), (576, 0.25), (1500, 0.25)]] {
        let services = || sizes.iter().map(|&(bytes, share)| (share, 8e-6 * f64::from(bytes)));
        let service_s: f64 = services().map(|(share, seconds)| share * seconds).sum();
        let square: f64 = services().map(|(share, seconds)| share * seconds * seconds).sum();
        // Waiting times depend on each other for the longer, the more is offered, and take a longer sample.
        for (rho, duration_s) in [(0.3, 50.0), (0.6, 100.0), (0.8, 400.0)] {
            let per_s = rho / service_s;
            let waits_s: Vec<f64> = (0..20)
                .map(|seed| {
                    let mut scenario = scenario(Profile::Rfc, duration_s, 2);
                    scenario.seed = seed;
                    scenario.links = wire("wire", (0, 1), 1e6, DELAY_S, QueueLimit::Unlimited).to_vec();
                    scenario.scatter = vec![scatter(&[0, 1], per_s, sizes, duration_s)];
                    floats(run(&scenario).table("scatter"), "one_way_delay_mean_s")[0] - service_s - DELAY_S
                })
                .collect();
            let (wait_s, error_s) = estimate(&waits_s);
            let expected_s = per_s * square / (2.0 * (1.0 - rho));
            assert!(error_s < 0.02 * expected_s, "the sample says little: {error_s} of {expected_s}");
            let deviation = (wait_s - expected_s) / error_s;
            assert!(deviation.abs() < 3.0, "{sizes:?}, ρ = {rho}: {wait_s} ± {error_s} instead of {expected_s}");
        }
    }
}

/// One way of 10 Mbit/s with a delay of 20 ms, between two places with hosts at 1 Gbit/s and 0.1 ms.
fn light(sources: u32) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 100.0, 2);
    scenario.links = wire("wire", (0, 1), 1e7, 0.02, QueueLimit::Unlimited).to_vec();
    scenario.users.push(users("users", Profile::Rfc, &[site(0, sources, 0), site(1, 0, 10 * sources)]));
    scenario
}

/// Seconds that packets of so many bytes take on the empty way, one after the other.
fn crossing_s(bytes: &[u32]) -> f64 {
    let one_way_s = |bytes: &u32| 8.0 * f64::from(*bytes) * (1.0 / 1e7 + 2.0 / 1e9) + 0.02 + 2e-4;
    bytes.iter().map(one_way_s).sum()
}

/// Slow start without delayed ACKs sends 2, 4, 8, … packets a round trip; the ACKs of round r come r round trips after
/// the handshake and then one by one, as the slowest line sends packets.
fn slow_start_s(packets: u32, (data, ack): (u32, u32)) -> f64 {
    let (mut rounds, mut before) = (1, 0);
    while before + (2 << (rounds - 1)) < packets {
        before += 2 << (rounds - 1);
        rounds += 1;
    }
    f64::from(rounds) * crossing_s(&[data, ack]) + f64::from(packets - 1 - before) * 8.0 * f64::from(data) / 1e7
}

#[test]
fn a_file_takes_the_rounds_of_slow_start() {
    for packets in [1, 2, 3, 6, 7, 14, 15, 30, 31, 62] {
        let mut scenario = light(1);
        scenario.users[0].files = vec![file(f64::from(packets), None)];
        let tcp = &scenario.users[0].tcp;
        let (data, ack) = (tcp.payload_bytes + tcp.header_bytes, tcp.ack_bytes);
        let outcome = run(&scenario);
        let transfers = outcome.table("transfers");
        let completed = integers(transfers, "completed")[0];
        assert!(completed > 20);
        let mean_s = floats(transfers, "seconds")[0] / completed as f64;
        let expected_s = slow_start_s(packets, (data, ack));
        // The third step of the handshake is ahead of the data.
        let longest_s = expected_s + 8.0 * f64::from(ack) / 1e7;
        assert!((expected_s - 1e-9..longest_s + 1e-9).contains(&mean_s), "{packets}: {mean_s} s, not {expected_s} s");
        assert_eq!(outcome.total("users", "packets_retransmitted"), 0);
        // Each as long as the others.
        let rate = floats(transfers, "throughput_mean_pps")[0];
        assert!((rate * mean_s / f64::from(packets) - 1.0).abs() < 1e-3, "{rate}");
        assert!((floats(outcome.table("users"), "queueing_delay_mean_s")[0]) < 62.0 * 8.0 * f64::from(data) / 1e7);
    }
}

/// A source comes back after think + connect + transfer. Renewals until t: t/μ + (σ²/μ² − 1)/2.
#[test]
fn transfers_come_as_often_as_a_cycle_is_long() {
    const SOURCES: u32 = 40;
    let counts: Vec<f64> = (0..20)
        .map(|seed| {
            let mut scenario = light(SOURCES);
            scenario.seed = seed;
            // So fast that they do not meet.
            for link in &mut scenario.links {
                link.rate_bps = 1e11;
            }
            run(&scenario).total("users", "transfers_completed") as f64
        })
        .collect();
    let (count, error) = estimate(&counts);
    let tcp = &light(1).users[0].tcp;
    let (data, ack) = (tcp.payload_bytes + tcp.header_bytes, tcp.ack_bytes);
    let way_s = |bytes: u32| 8.0 * f64::from(bytes) * (1.0 / 1e11 + 2.0 / 1e9) + 0.02 + 2e-4;
    // Ten packets: 2, 4 and 4, the last of which are sent one by one as the interface sends packets.
    let transfer_s = 3.0 * (way_s(data) + way_s(ack)) + 3.0 * 8.0 * f64::from(data) / 1e9;
    let cycle_s = 1.0 + 2.0 * way_s(ack) + transfer_s;
    let expected = f64::from(SOURCES) * (100.0 / cycle_s + (1.0 / (cycle_s * cycle_s) - 1.0) / 2.0);
    assert!(error < 0.005 * expected, "the sample says little: {error} of {expected}");
    assert!((count - expected).abs() < 3.0 * error, "{count} ± {error} instead of {expected}");
}

/// SYNs wait for 3 s, 6 s and 12 s.
#[test]
fn a_connection_fails_after_its_tries() {
    for (tries, fails_s) in [(1, 3.0), (2, 9.0), (3, 21.0)] {
        let mut scenario = light(50);
        scenario.links[0].loss = 1.0.into();
        scenario.duration_s = fails_s + 1.0;
        scenario.observe.interval_s = Some(0.25);
        let group = &mut scenario.users[0];
        group.tcp.rto.initial_s = 3.0;
        group.connect_tries = tries;
        // All connect within the first millisecond, and then think for long.
        (group.think, group.sending_at_start) = (Duration::Exponential { mean_s: 1e-3 }, 1.0);
        let outcome = run(&scenario);
        let failed = integers(outcome.table("users"), "connections_failed");
        let first = failed.iter().position(|&count| count > 0).expect("all fail");
        assert_eq!((0.25 * first as f64, failed[first]), (fails_s, 50), "{failed:?}");
        // Each try crosses the wire; and one more of each has begun since.
        assert_eq!(outcome.total("links", "packets_in"), 50 * (i64::from(tries) + 1));
        assert_eq!(outcome.total("users", "packets_sent") + outcome.total("users", "transfers_completed"), 0);
    }
}

/// A lost SYN costs its timer, and leaves a window of one packet (RFC 5681 §3.1).
#[test]
fn a_link_that_works_in_one_direction_only_connects_nobody() {
    let mut scenario = light(5);
    scenario.links = vec![
        link("there", (0, 1), 1e7, 0.02, QueueLimit::Unlimited),
        tightlink_sim::scenario::LinkSpec {
            loss: 1.0.into(),
            ..link("back", (1, 0), 1e7, 0.02, QueueLimit::Unlimited)
        },
    ];
    let outcome = run(&scenario);
    assert!(outcome.total("users", "connections_failed") > 0);
    assert_eq!(outcome.total("users", "packets_delivered"), 0);
    // Each SYN is answered.
    assert_eq!(integers(outcome.table("links"), "packets_out")[0], integers(outcome.table("links"), "packets_in")[1]);
}

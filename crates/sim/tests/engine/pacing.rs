//! Pacing: packets leave one by one.

use crate::engine::common::{events, floats, flow, integers, link, packets, run, scenario, tcp, trace};
use tightlink_sim::Scenario;
use tightlink_sim::probe::Totals;
use tightlink_sim::probe::trace::Event;
use tightlink_sim::scenario::{Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec};

/// How long the handshake takes on that path: the propagation, and two packets of 52 bytes.
const HANDSHAKE_S: f64 = 0.1 + 52.0 * 8.0 / 10e6 + 52.0 * 8.0 / 1e9;

/// A flow from a fast host over a path that its window of `window` packets does not fill.
fn path(profile: Profile, window: f64, pacing: bool) -> Scenario {
    let mut scenario = scenario(profile, 20.0, 2);
    scenario.links = vec![
        link("forward", (0, 1), 10e6, 0.05, packets(1000)),
        link("back", (1, 0), 1e9, 0.05, QueueLimit::Unlimited),
    ];
    let mut tcp = tcp(profile, Recovery::Sack);
    tcp.window_packets = window;
    tcp.pacing = pacing;
    tcp.delayed_ack_s = None;
    let traffic = TrafficSpec::Bulk { bytes: None };
    scenario.flows = vec![flow(&scenario, "tcp", 0, (0, 1), traffic, TransportSpec::Tcp(tcp))];
    scenario
}

#[test]
fn bursts_are_gone() {
    for profile in [Profile::Ns2, Profile::Rfc] {
        let queue = |pacing| integers(&run(&path(profile, 60.0, pacing)).links, "queue_max_packets")[0];
        assert!(queue(false) >= 10, "without pacing slow start sends in bursts: {}", queue(false));
        assert!(queue(true) <= 1, "{profile:?}: {} packets wait in an empty path", queue(true));
    }
}

/// Where ACKs are known before they arrive, so are the packets that leave in between: they have no event of a timer each.
#[test]
fn pacing_costs_no_event_where_acks_are_known_ahead() {
    for profile in [Profile::Ns2, Profile::Rfc] {
        let scenario = path(profile, 60.0, true);
        let sent = integers(&run(&scenario).flows, "packets_sent")[0] as u64;
        let events = events(&scenario, Totals);
        assert!(10 * events < sent, "{profile:?}: {events} events for {sent} packets");
    }
}

/// With a window of one packet each round trip has the time that the host takes: uniform, on average half of the longest.
#[test]
fn a_host_that_takes_time_adds_half_of_it_to_each_round_trip() {
    const LONGEST_S: f64 = 0.04;
    for profile in [Profile::Ns2, Profile::Rfc, Profile::Linux] {
        let rounds = |longest_s: Option<f64>| {
            let mut scenario = path(profile, 1.0, false);
            (scenario.duration_s, scenario.flows[0].stop_s) = (200.0, 200.0);
            let TransportSpec::Tcp(tcp) = &mut scenario.flows[0].transport else { panic!("TCP") };
            (tcp.initial_window_packets, tcp.processing_delay_s) = (1.0, longest_s);
            integers(&run(&scenario).flows, "packets_sent")[0] as f64
        };
        let (without, with) = (rounds(None), rounds(Some(LONGEST_S)));
        let more_s = 200.0 / with - 200.0 / without;
        // Four standard deviations of the mean of so many.
        let near_s = 4.0 * LONGEST_S / (12.0 * with).sqrt();
        assert!((more_s - LONGEST_S / 2.0).abs() < near_s, "{profile:?}: {more_s} s for each of {with} round trips");
    }
}

/// In slow start twice the window in a round trip, beyond half the threshold 1.2 times (Linux).
#[test]
fn the_rate_is_a_multiple_of_the_window_over_the_round_trip() {
    let mut scenario = path(Profile::Rfc, 60.0, true);
    scenario.duration_s = 0.15;
    let times = |scenario: &Scenario| {
        let (_, records) = trace(scenario);
        let sent = records.iter().filter(|record| record.event == Event::Enqueue && record.link == 0);
        sent.filter(|record| record.size > 1000).map(|record| record.time.seconds()).collect::<Vec<_>>()
    };
    for (ssthresh, factor) in [(None, 2.0), (Some(10.0), 1.2)] {
        let TransportSpec::Tcp(tcp) = &mut scenario.flows[0].transport else { panic!("TCP") };
        tcp.initial_ssthresh_packets = ssthresh;
        let times = times(&scenario);
        let interval_s = HANDSHAKE_S / (factor * 10.0);
        assert!(times.len() >= 5, "{times:?}");
        for pair in times.windows(2) {
            assert!(
                (pair[1] - pair[0] - interval_s).abs() < 1e-9,
                "{factor}: {times:?} instead of every {interval_s} s"
            );
        }
    }
}

/// What the pacer holds back, though the window would let it go, is limited by pacing: nine of ten intervals of the
/// first round trip. Behind them the window is full.
#[test]
fn time_in_the_pacer_is_accounted_for() {
    let shares = |pacing| {
        let mut scenario = path(Profile::Rfc, 60.0, pacing);
        scenario.duration_s = 0.15;
        let flows = run(&scenario).flows;
        ["limited_by_handshake", "limited_by_pacing", "limited_by_congestion_window"]
            .map(|name| 0.15 * floats(&flows, name)[0])
    };
    let intervals_s = 9.0 * HANDSHAKE_S / 20.0;
    for (pacing, held_s) in [(false, 0.0), (true, intervals_s)] {
        let expected = [HANDSHAKE_S, held_s, 0.15 - HANDSHAKE_S - held_s];
        for (share, expected) in shares(pacing).into_iter().zip(expected) {
            assert!((share - expected).abs() < 1e-9, "{:?} instead of {expected}", shares(pacing));
        }
    }
}

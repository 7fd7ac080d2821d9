//! Sources that mix packets of several sizes.

use crate::engine::common::{floats, flow, integers, packets, run, run_with, scenario, trace, udp, wire};
use proptest::prelude::*;
use tightlink_sim::probe::Totals;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::scenario::{
    Duration, FramingSpec, Intervals, Pace, Profile, QueueLimit, Scenario, SizeShare, TrafficSpec, TransportSpec,
    UdpSpec, VideoSpec,
};
use tightlink_sim::{ScenarioError, Simulation};

const HEADER: u32 = 28;

/// UDP datagrams of these sizes, with these shares.
fn mixed(sizes: &[(u32, f64)]) -> TransportSpec {
    let largest = sizes.iter().map(|size| size.0).max().expect("a size");
    TransportSpec::Udp(UdpSpec {
        payload_bytes: largest - HEADER,
        header_bytes: HEADER,
        fragment_header_bytes: 20,
        sizes: sizes.iter().map(|&(bytes, share)| SizeShare { bytes, share }).collect(),
        ecn: None,
    })
}

/// A source at a wide wire.
fn source(traffic: TrafficSpec, transport: TransportSpec, seed: u64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 16.0, 2);
    scenario.seed = seed;
    scenario.links = wire("wire", (0, 1), 1e9, 0.0, QueueLimit::Unlimited).to_vec();
    scenario.flows = vec![flow(&scenario, "mixed", 0, (0, 1), traffic, transport)];
    scenario
}

/// When its packets leave, in seconds, and their sizes.
fn departures(scenario: &Scenario) -> Vec<(f64, u32)> {
    let sent = |record: &Record| record.event == Event::Enqueue;
    trace(scenario).1.iter().filter(|&record| sent(record)).map(|record| (record.time.seconds(), record.size)).collect()
}

proptest! {
    /// Each packet is followed by the next when it would be through at the source's rate: bytes over time are the rate
    /// at all times, but for the packet at the end.
    #[test]
    fn a_bit_rate_is_kept_whatever_the_sizes(
        sizes in prop::collection::vec(40u32..1500, 2..5),
        rate_bps in 1e4..1e7f64,
        seed in 0u64..100,
    ) {
        let share = 1.0 / sizes.len() as f64;
        let sizes: Vec<_> = sizes.into_iter().map(|bytes| (bytes, share)).collect();
        let scenario = source(TrafficSpec::Cbr { pace: Pace::RateBps(rate_bps), random: Intervals::Constant }, mixed(&sizes), seed);
        let sent = departures(&scenario);
        prop_assert_eq!(sent[0].0, 0.0);
        let mut bytes = 0;
        for pair in sent.windows(2) {
            bytes += pair[0].1;
            let due_s = 8.0 * f64::from(bytes) / rate_bps;
            prop_assert!((pair[1].0 - due_s).abs() < 1e-9, "{:?} after {} B", pair, bytes);
        }
    }

    /// Flows' waits are those at their only queue, whatever takes how long on the wire: of several sizes, of fragments, and
    /// of video, whose frames end with what is left over.
    #[test]
    fn waits_are_those_of_the_queue(kind in 0usize..3, overhead_bytes in 0u32..60, bytes in 100u32..1500, seed in 0u64..100) {
        let cbr = TrafficSpec::Cbr { pace: Pace::RateBps(9e5), random: Intervals::Exponential };
        let video = VideoSpec { interval_s: 0.04, frame_bytes: 4000.0, group_of_pictures: 10, key_frame_ratio: 3.0, variation: 0.5, spread: false };
        let (traffic, transport) = match kind {
            0 => (cbr, mixed(&[(bytes, 0.5), (1500, 0.5)])),
            1 => (cbr, udp(1500 + bytes)),
            _ => (TrafficSpec::Video(video), udp(1200)),
        };
        let mut scenario = source(traffic, transport, seed);
        scenario.flows[0].stop_s = 8.0;
        scenario.links = wire("wire", (0, 1), 1e6, 0.02, QueueLimit::Unlimited).to_vec();
        for link in &mut scenario.links {
            (link.mtu_bytes, link.framing) = (Some(1500), FramingSpec { overhead_bytes, smallest_bytes: 64 });
        }
        let tables = run(&scenario);
        prop_assert_eq!(integers(&tables.flows, "packets_delivered")[0], integers(&tables.flows, "packets_sent")[0]);
        let of = |table, what: &str| floats(table, &format!("queueing_delay_{what}_s"))[0];
        for (what, most) in [("mean", 1e-9), ("max", 1e-9), ("p50", 0.016), ("p95", 0.016), ("p99", 0.016)] {
            let (flow, queue) = (of(&tables.flows, what), of(&tables.links, what));
            prop_assert!((flow - queue).abs() <= most * (queue + 1e-6) + 1e-9, "{what}: {flow} of the flow, {queue} of the queue");
        }
    }

    /// What is counted is what was sent and received, packet by packet.
    #[test]
    fn bytes_are_counted_as_they_were_sent(
        sizes in prop::collection::vec((40u32..1500, 1u32..10), 2..5),
        limit in 1u32..20,
        seed in 0u64..100,
    ) {
        let whole = f64::from(sizes.iter().map(|size| size.1).sum::<u32>());
        let sizes: Vec<_> = sizes.iter().map(|&(bytes, weight)| (bytes, f64::from(weight) / whole)).collect();
        let mut scenario = source(TrafficSpec::Cbr { pace: Pace::RateBps(2e6), random: Intervals::Constant }, mixed(&sizes), seed);
        scenario.links = wire("wire", (0, 1), 1e6, 0.001, packets(limit)).to_vec();
        let (tables, records) = trace(&scenario);
        let bytes = |event: Event| records.iter().filter(|record| record.event == event).map(|record| i64::from(record.size)).sum::<i64>();
        prop_assert_eq!(integers(&tables.flows, "bytes_sent")[0], bytes(Event::Enqueue));
        prop_assert_eq!(integers(&tables.flows, "bytes_delivered")[0], bytes(Event::Receive));
        let payload = bytes(Event::Receive) - integers(&tables.flows, "packets_delivered")[0] * i64::from(HEADER);
        prop_assert_eq!(floats(&tables.flows, "goodput_bps")[0], payload as f64 * 8.0 / 16.0);
    }
}

#[test]
fn an_interval_is_kept_and_sizes_have_their_shares() {
    const PACKETS: usize = 16 * 4096;
    let modes = [(40, 0.5), (576, 0.25), (1500, 0.25)];
    let sent = departures(&source(
        TrafficSpec::Cbr { pace: Pace::IntervalS(1.0 / 4096.0), random: Intervals::Constant },
        mixed(&modes),
        1,
    ));
    assert_eq!(sent.len(), PACKETS);
    assert!(sent.iter().zip(0..).all(|(packet, index)| packet.0 == f64::from(index) / 4096.0));
    for (bytes, share) in modes {
        let found = sent.iter().filter(|packet| packet.1 == bytes).count() as f64;
        let expected = share * PACKETS as f64;
        // Four standard deviations of a binomial distribution.
        assert!((found - expected).abs() < 4.0 * (expected * (1.0 - share)).sqrt(), "{bytes} B: {found}");
    }
}

#[test]
fn sizes_have_a_random_stream_of_their_own() {
    let mean = |mean_s| Duration::Exponential { mean_s };
    let traffic = TrafficSpec::OnOff { pace: Pace::IntervalS(0.01), on: mean(0.2), off: mean(0.3) };
    let times = |transport| -> Vec<_> {
        departures(&source(traffic.clone(), transport, 3)).iter().map(|packet| packet.0).collect()
    };
    assert_eq!(times(mixed(&[(40, 0.5), (1500, 0.5)])), times(udp(1472)));
    // One more is drawn than packets are sent, and with one size for all, nothing.
    let draws = |transport| {
        let scenario =
            source(TrafficSpec::Cbr { pace: Pace::IntervalS(1.0 / 64.0), random: Intervals::Constant }, transport, 3);
        let mut simulation = Simulation::new(&scenario, Totals).expect("a scenario");
        simulation.run(|_| false).expect("not interrupted");
        simulation.random_draws()
    };
    assert_eq!((draws(mixed(&[(40, 0.5), (1500, 0.5)])), draws(udp(1472))), (16 * 64 + 1, 0));
}

#[test]
fn a_source_that_saturates_keeps_the_line_busy_with_all_sizes() {
    let mut scenario = source(TrafficSpec::Saturate {}, mixed(&[(125, 0.9), (1250, 0.1)]), 1);
    scenario.links = wire("wire", (0, 1), 1_024_000.0, 0.0, QueueLimit::Bytes(2500)).to_vec();
    let tables = run(&scenario);
    let flow = |name| integers(&tables.flows, name)[0];
    assert_eq!((flow("packets_dropped"), floats(&tables.links, "utilization")[0]), (0, 1.0));
    assert!((flow("bytes_delivered") - 16 * 128_000).abs() <= 1250, "{}", flow("bytes_delivered"));
    let mean = flow("bytes_delivered") as f64 / flow("packets_delivered") as f64;
    assert!((mean / (0.9 * 125.0 + 0.1 * 1250.0) - 1.0).abs() < 0.05, "{mean}");
}

#[test]
fn sizes_that_cannot_be_sent_are_refused() {
    let mut scenario = source(TrafficSpec::Saturate {}, mixed(&[(28, 0.5), (1500, 0.5)]), 1);
    let refused = |scenario: &Scenario| match run_with(scenario, Totals) {
        Err(ScenarioError::Flow { key: "sizes", value, .. }) => value,
        other => panic!("{:?}", other.err()),
    };
    assert_eq!(refused(&scenario), "\"28 B\"");
    scenario.flows[0].transport = mixed(&[(40, 0.5), (1501, 0.5)]);
    scenario.links[0].mtu_bytes = Some(1500);
    assert_eq!(refused(&scenario), "\"1501 B\"");
}

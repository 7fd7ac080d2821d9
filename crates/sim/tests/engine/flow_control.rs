//! Ethernet flow control: transmitters that pause, and rings that never drop.

use crate::engine::common::networks::{closed_loop, open_loop, with_flow_control, with_processors};
use crate::engine::common::{
    Tables, cases, floats, flow, integers, link, packets, processor, run, run_with, scenario, tcp, trace, udp, wire,
};
use proptest::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::probe::{DropReason, Totals};
use tightlink_sim::scenario::{FlowSpec, Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec};

/// The unit of time: all instants are exact.
const TICK_S: f64 = 1.0 / 1024.0;

fn receiver(ticks: f64, ring: u32) -> ProcessorSpec {
    ProcessorSpec { receive: true, ..processor(ticks * TICK_S, ring) }
}

/// Host 0 sends packets of 125 bytes as fast as it can, one a tick, over a queue of 10; host 1 needs 4 ticks
/// for each and has a ring of `ring`.
fn slow_receiver(ring: u32, delay_ticks: f64, flow_control: bool) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 16.0, 2);
    scenario.links = wire("wire", (0, 1), 1_024_000.0, delay_ticks * TICK_S, packets(10)).to_vec();
    scenario.links[0].flow_control = flow_control;
    scenario.nodes[1].processor = Some(receiver(4.0, ring));
    scenario.flows = vec![flow(&scenario, "udp", 0, (0, 1), TrafficSpec::Saturate {}, udp(125))];
    scenario
}

/// When packets came to the end of link 0, in ticks.
fn arrivals(scenario: &Scenario) -> Vec<f64> {
    let (_, records) = trace(scenario);
    let arrived = records.iter().filter(|record| record.event == Event::Receive && record.link == 0);
    arrived.map(|record| record.time.seconds() / TICK_S).collect()
}

fn drops(records: &[Record], reason: DropReason) -> usize {
    records.iter().filter(|record| record.event == Event::Drop(reason)).count()
}

#[test]
fn a_full_ring_pauses_instead_of_dropping() {
    let without = run(&slow_receiver(8, 0.0, false));
    let flow = |name| integers(&without.flows, name)[0];
    assert!(flow("packets_sent") > 16_300 && flow("packets_dropped") > 12_000, "the line is full, the ring drops");
    assert_eq!(flow("packets_dropped"), integers(&without.nodes, "dropped_input_ring")[1]);

    let with = run(&slow_receiver(8, 0.0, true));
    let flow = |name| integers(&with.flows, name)[0];
    assert_eq!((flow("packets_dropped"), integers(&with.nodes, "dropped_input_ring")[1]), (0, 0));
    // Its first service begins one tick after the start, and no other is waited for.
    assert_eq!(flow("packets_delivered"), (16 * 1024 - 1) / 4);
    // Ten at the link, eight in the ring.
    assert_eq!(flow("packets_sent") - flow("packets_delivered"), 18);
    assert!((floats(&with.links, "utilization")[0] - 0.25).abs() < 1e-3);
    // The queue is full throughout, and seldom one of it is in service.
    assert_eq!(integers(&with.links, "queue_max_packets")[0], 10);
    assert!((floats(&with.links, "queue_mean_packets")[0] - 9.75).abs() < 0.01);
    for tables in [without, with] {
        assert_eq!(floats(&tables.flows, "limited_by_network")[0], 1.0);
    }
}

#[test]
fn the_transmitter_starts_no_packet_while_the_ring_is_full() {
    // Two come, then one whenever one has left, from tick 5 on.
    assert_eq!(arrivals(&slow_receiver(2, 0.0, true))[..5], [1.0, 2.0, 6.0, 10.0, 14.0]);
    // What is on the wire when the ring fills at tick 4 is taken. At tick 15 the ring has room again, until
    // the first of the next arrives at tick 18.
    assert_eq!(arrivals(&slow_receiver(2, 2.0, true))[..7], [3.0, 4.0, 5.0, 6.0, 18.0, 19.0, 20.0]);
}

#[test]
fn the_series_shows_the_queue_before_a_pause() {
    let mut scenario = slow_receiver(8, 0.0, true);
    scenario.observe.interval_s = Some(0.5 + TICK_S / 2.0);
    let series = trace(&scenario).0.series.expect("an interval was given");
    // The sampler looks while it pauses, or while one of the ten is in service.
    let waiting: Vec<f64> =
        floats(&series, "value").chunks(floats(&series, "value").len() / 31).map(|of| of[0]).collect();
    assert!(waiting.iter().all(|&waiting| waiting == 10.0 || waiting == 9.0), "{waiting:?}");
    assert!(waiting.contains(&10.0));
}

/// A byte ring smaller than the packet takes one at a time.
#[test]
fn a_ring_too_small_for_a_packet_takes_it_when_it_is_empty() {
    let mut scenario = slow_receiver(8, 0.0, true);
    scenario.nodes[1].processor.as_mut().expect("it has one").input_ring = QueueLimit::Bytes(100);
    assert_eq!(arrivals(&scenario)[..3], [1.0, 6.0, 11.0]);
    scenario.links[0].flow_control = false;
    assert_eq!(integers(&run(&scenario).flows, "packets_delivered")[0], 0);
}

/// Each arrival costs a router its interrupt, refused or not. Who pauses the sender has no livelock.
#[test]
fn flow_control_keeps_a_router_out_of_livelock() {
    let mut scenario = scenario(Profile::Rfc, 16.0, 3);
    scenario.links =
        vec![link("in", (0, 1), 1_024_000.0, 0.0, packets(10)), link("out", (1, 2), 8e6, 0.0, packets(40))];
    scenario.flows = vec![flow(&scenario, "udp", 0, (0, 2), TrafficSpec::Saturate {}, udp(125))];
    scenario.nodes[1].processor = Some(ProcessorSpec { interrupt_s: TICK_S, ..processor(3.0 * TICK_S, 16) });
    let delivered = |scenario: &Scenario| integers(&run(scenario).flows, "packets_delivered")[0];
    assert!(delivered(&scenario) < 10, "all its time goes into interrupts");
    scenario.links[0].flow_control = true;
    assert!((delivered(&scenario) - 16 * 256).abs() < 20, "{}", delivered(&scenario));
}

/// Host 0, routers 1 and 2, host 3; the second router is slow and pauses the first.
fn two_routers(first: ProcessorSpec, upstream: bool) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 16.0, 4);
    scenario.links = vec![
        link("in", (0, 1), 1_024_000.0, 0.0, packets(10)),
        link("between", (1, 2), 1_024_000.0, 0.0, packets(20)),
        link("out", (2, 3), 1_024_000.0, 0.0, packets(20)),
    ];
    (scenario.links[0].flow_control, scenario.links[1].flow_control) = (upstream, true);
    scenario.nodes[1].processor = Some(first);
    scenario.nodes[2].processor = Some(processor(8.0 * TICK_S, 8));
    scenario.flows = vec![flow(&scenario, "udp", 0, (0, 3), TrafficSpec::Saturate {}, udp(125))];
    scenario
}

#[test]
fn a_paused_router_drops_at_its_queue_what_it_cannot_pass_on() {
    for (output_ring, reason) in [(false, DropReason::Queue), (true, DropReason::OutputRing)] {
        let (tables, records) = trace(&two_routers(ProcessorSpec { output_ring, ..processor(4.0 * TICK_S, 8) }, true));
        let flow = |name| integers(&tables.flows, name)[0];
        // Its processor's rate comes in, as it pauses its own sender; the next one's rate goes out.
        assert!((flow("packets_sent") - 16 * 256).abs() < 25 && (flow("packets_delivered") - 16 * 128).abs() < 25);
        assert_eq!(drops(&records, reason) as i64, flow("packets_dropped"));
        assert_eq!(integers(&tables.links, "packets_dropped"), [0, flow("packets_dropped"), 0]);
        let ring = if output_ring { flow("packets_dropped") } else { 0 };
        assert_eq!(integers(&tables.nodes, "dropped_output_ring"), [0, ring, 0, 0]);
    }
    // Without a pause its ring drops, too.
    let (_, records) = trace(&two_routers(processor(4.0 * TICK_S, 8), false));
    assert!(drops(&records, DropReason::InputRing) > 10_000 && drops(&records, DropReason::Queue) > 2000);
}

/// Two hosts that send and receive as fast as they can, with interfaces that serve both directions.
#[test]
fn hosts_that_pause_each_other_go_on() {
    for (own_size, per_packet) in [(1000, 2.0), (125, 4.0), (125, 0.5)] {
        let mut scenario = slow_receiver(4, 0.0, true);
        scenario.links[1].flow_control = true;
        scenario.nodes = vec![scenario.nodes[1].clone(); 2];
        scenario.nodes[1].processor = Some(receiver(per_packet, 4));
        scenario.flows = vec![
            flow(&scenario, "udp", 0, (0, 1), TrafficSpec::Saturate {}, udp(125)),
            flow(&scenario, "udp", 1, (1, 0), TrafficSpec::Saturate {}, udp(own_size)),
        ];
        let delivered = |duration_s| {
            let mut scenario = scenario.clone();
            scenario.duration_s = duration_s;
            scenario.flows.iter_mut().for_each(|flow| flow.stop_s = duration_s);
            let tables = run(&scenario);
            assert_eq!(integers(&tables.nodes, "dropped_input_ring"), [0, 0]);
            integers(&tables.flows, "packets_delivered").to_vec()
        };
        let (half, whole) = (delivered(8.0), delivered(16.0));
        for (half, whole) in half.iter().zip(&whole) {
            assert!(*half > 400 && (whole - 2 * half).abs() < half / 50, "{own_size} B: {half} and {whole}");
        }
    }
}

#[test]
fn tcp_to_a_slow_receiver_is_limited_by_the_network_and_loses_nothing() {
    for profile in [Profile::Ns2, Profile::Rfc] {
        let mut scenario = scenario(profile, 20.0, 2);
        scenario.links = wire("wire", (0, 1), 1e8, 0.0001, packets(100)).to_vec();
        let mut connection = tcp(profile, Recovery::Sack);
        connection.window_packets = 80.0;
        let traffic = TrafficSpec::Bulk { bytes: None };
        scenario.flows = vec![flow(&scenario, "tcp", 0, (0, 1), traffic, TransportSpec::Tcp(connection))];
        scenario.nodes[1].processor = Some(ProcessorSpec { receive: true, ..processor(0.001, 16) });
        let lossy = run(&scenario);
        assert!(integers(&lossy.flows, "packets_dropped")[0] > 0, "the ring is smaller than the window");
        scenario.links[0].flow_control = true;
        let tables = run(&scenario);
        let flow = |name| integers(&tables.flows, name)[0];
        assert_eq!((flow("packets_dropped"), flow("packets_retransmitted"), flow("timeouts")), (0, 0, 0));
        let share = floats(&tables.flows, "limited_by_network")[0];
        assert!(share > 0.97, "{profile:?}: {share}");
        assert!(flow("packets_delivered") > integers(&lossy.flows, "packets_delivered")[0]);
    }
}

#[test]
fn flow_control_needs_a_processor_that_pauses() {
    let mut scenario = slow_receiver(8, 0.0, true);
    scenario.nodes[1].processor = None;
    let error = run_with(&scenario, Totals).expect_err("nobody pauses").to_string();
    assert_eq!(error, "link.wire.flow_control = true: a processor at its far end, whose input ring pauses it");
}

/// Rings that never fill change nothing, whoever watches.
fn without_a_pause_all_is_as_without_flow_control(mut scenario: Scenario) -> Result<(), TestCaseError> {
    for processor in scenario.nodes.iter_mut().filter_map(|node| node.processor.as_mut()) {
        processor.input_ring = packets(20_000);
    }
    let mut plain = scenario.clone();
    plain.links.iter_mut().for_each(|link| link.flow_control = false);
    same(run(&scenario), run(&plain))?;
    let interval_s = Some(scenario.duration_s / 20.0);
    (scenario.observe.interval_s, plain.observe.interval_s) = (interval_s, interval_s);
    let ((with, mut records), (without, mut plain_records)) = (trace(&scenario), trace(&plain));
    // A link without flow control knows what the wire will lose when it is queued, and the series says so.
    if scenario.links.iter().all(|link| !link.flow_control || link.loss == 0.0.into()) {
        close(&with, &without, |tables| floats(tables.series.as_ref().expect("an interval was given"), "value"))?;
    }
    same(with, without)?;
    // Records of one instant may change places.
    for records in [&mut records, &mut plain_records] {
        records.sort_by_key(|record| (record.time, record.link, record.uid, record.event));
    }
    prop_assert_eq!(records, plain_records);
    Ok(())
}

/// Whether several sources wait for room before one link with flow control. Of those that could have it at one
/// instant, another may come first than before the same link without it.
fn sources_contend(scenario: &Scenario) -> bool {
    let saturates = |flow: &&FlowSpec| matches!(flow.traffic, TrafficSpec::Saturate {});
    scenario.links.iter().filter(|link| link.flow_control).any(|link| {
        let here = || scenario.flows.iter().filter(|flow| flow.from == link.from);
        here().count() > 1 && here().any(|flow| saturates(&flow))
    })
}

/// All tables but the series are the same to the last bit, but for the busy time of links, which is a sum of
/// other terms.
fn same(mut with: Tables, mut without: Tables) -> Result<(), TestCaseError> {
    close(&with, &without, |tables| floats(&tables.links, "utilization"))?;
    for tables in [&mut with, &mut without] {
        tables.series = None;
        tables.links.columns.retain(|(name, _)| *name != "utilization");
    }
    prop_assert_eq!(with.text(), without.text());
    Ok(())
}

fn close(with: &Tables, without: &Tables, values: impl Fn(&Tables) -> &[f64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(values(with).len(), values(without).len());
    for (with, without) in values(with).iter().zip(values(without)) {
        prop_assert!((with - without).abs() < 1e-9, "{} instead of {}", with, without);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(50), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rings_that_never_fill_never_pause(scenario in with_flow_control(with_processors(open_loop()))) {
        prop_assume!(!sources_contend(&scenario));
        without_a_pause_all_is_as_without_flow_control(scenario)?;
    }

    #[test]
    fn rings_that_never_fill_never_pause_tcp(scenario in with_flow_control(with_processors(closed_loop()))) {
        without_a_pause_all_is_as_without_flow_control(scenario)?;
    }
}

//! Processors in networks: routers that drop, hosts that push back.

use crate::engine::common::{floats, flow, integers, link, packets, processor, run, scenario, tcp, trace, udp, wire};
use tightlink_sim::Scenario;
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::Event;
use tightlink_sim::scenario::{
    Duration, FlowSpec, Intervals, Pace, Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec,
};

fn count(scenario: &Scenario, name: &str) -> i64 {
    integers(&run(scenario).flows, name)[0]
}

/// Host 0, router 1, host 2, and packets of 125 bytes, of which the links carry 8000 a second.
fn routed(traffic: TrafficSpec, duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, duration_s, 3);
    scenario.links =
        vec![link("in", (0, 1), 8e6, 0.0, QueueLimit::Unlimited), link("out", (1, 2), 8e6, 0.0, packets(40))];
    scenario.flows = vec![flow(&scenario, "udp", 0, (0, 2), traffic, udp(125))];
    scenario
}

/// M/D/1 once more, in front of a processor: ρ / (2 μ (1 − ρ)).
#[test]
fn packets_wait_for_a_processor_as_queueing_theory_says() {
    for rho in [0.3, 0.7] {
        let waits_s = (0..10).map(|seed| {
            let on = Duration::Exponential { mean_s: 1e-12 };
            let off = Duration::Exponential { mean_s: 1.0 / (500.0 * rho) };
            let mut scenario = routed(TrafficSpec::OnOff { pace: Pace::IntervalS(1.0), on, off }, 400.0);
            scenario.seed = seed;
            // Links so fast that nobody waits for them.
            scenario.links.iter_mut().for_each(|link| link.rate_bps = 1e12);
            scenario.nodes[1].processor = Some(processor(0.002, 100_000));
            floats(&run(&scenario).flows, "one_way_delay_mean_s")[0] - 0.002 - 2e-9
        });
        let mean_s = waits_s.sum::<f64>() / 10.0;
        let expected_s = rho / (2.0 * 500.0 * (1.0 - rho));
        assert!((mean_s / expected_s - 1.0).abs() < 0.05, "ρ = {rho}: {mean_s} instead of {expected_s}");
    }
}

#[test]
fn a_router_forwards_what_its_processor_can_and_says_where_it_drops() {
    let mut scenario =
        routed(TrafficSpec::Cbr { pace: Pace::IntervalS(1.0 / 4096.0), random: Intervals::Constant }, 16.0);
    let mut spec = processor(1.0 / 1024.0, 75);
    spec.output_ring = true;
    scenario.nodes[1].processor = Some(spec);
    let tables = run(&scenario);
    let node = |name| integers(&tables.nodes, name)[1];
    // The first packet comes at the end of its transmission, 1/8000 s after the start.
    assert_eq!(node("packets_served"), 16 * 1024 - 1);
    assert_eq!(node("packets_in"), 16 * 4096);
    assert_eq!(node("dropped_input_ring"), 16 * 4096 - (16 * 1024 - 1) - 75);
    assert_eq!(
        (node("dropped_output_ring"), integers(&tables.flows, "packets_dropped")[0]),
        (0, node("dropped_input_ring"))
    );
    assert!((floats(&tables.nodes, "load_true")[1] - 4.0).abs() < 1e-3);
    assert!(floats(&tables.nodes, "load_reported")[1].is_nan());
    // A slow link behind a fast processor: the other ring.
    scenario.links[1].rate_bps = 1e6;
    scenario.nodes[1].processor.as_mut().expect("just set").per_packet_s = 1.0 / 8192.0;
    let (tables, records) = trace(&scenario);
    let node = |name| integers(&tables.nodes, name)[1];
    assert_eq!(node("dropped_input_ring"), 0);
    assert!(node("dropped_output_ring") > 40_000);
    assert_eq!(integers(&tables.links, "packets_dropped"), [0, node("dropped_output_ring")]);
    let dropped = records.iter().filter(|record| record.event == Event::Drop(DropReason::OutputRing)).count();
    assert_eq!(dropped as i64, node("dropped_output_ring"));
}

/// Host 0 sends to host 1, on a link that carries 1024 packets of 125 bytes a second.
fn saturating(nic_s: Option<f64>, flows: u32) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 16.0, 2);
    scenario.links = wire("wire", (0, 1), 1_024_000.0, 0.0, packets(10)).to_vec();
    scenario.nodes[0].processor = nic_s.map(|per_packet_s| processor(per_packet_s, 8));
    let source = |index| flow(&scenario, "udp", index, (0, 1), TrafficSpec::Saturate {}, udp(125));
    scenario.flows = (0..flows).map(source).collect();
    scenario
}

#[test]
fn saturating_traffic_reaches_the_smaller_of_interface_and_line() {
    for (nic_s, delivered, network) in [
        (None, 16 * 1024 - 1, 1.0),
        // The interface serves the first packet before the line has it.
        (Some(1.0 / 4096.0), 16 * 1024 - 1, 1.0),
        (Some(1.0 / 512.0), 16 * 512 - 1, 0.0),
    ] {
        let tables = run(&saturating(nic_s, 1));
        let flow = |name| integers(&tables.flows, name)[0];
        assert_eq!((flow("packets_delivered"), flow("packets_dropped")), (delivered, 0), "{nic_s:?}");
        let share = |name| floats(&tables.flows, name)[0];
        assert!((share("limited_by_network") - network).abs() < 0.01, "{nic_s:?}: {}", share("limited_by_network"));
        assert_eq!(share("limited_by_network") + share("limited_by_sender_rate"), 1.0);
        let [sent, delivered] = ["packets_sent", "packets_delivered"].map(flow);
        assert!((1..=20).contains(&(sent - delivered)), "{} on their way", sent - delivered);
        assert_eq!(integers(&tables.nodes, "dropped_input_ring"), [0, 0]);
    }
}

#[test]
fn sources_that_are_pushed_back_take_turns() {
    for nic_s in [None, Some(1.0 / 4096.0), Some(1.0 / 512.0)] {
        let tables = run(&saturating(nic_s, 3));
        let delivered = integers(&tables.flows, "packets_delivered");
        let (least, most) = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
        assert!(least + 12 > *most && *least > 2700, "{nic_s:?}: {delivered:?}");
    }
}

#[test]
fn fragments_saturate_too() {
    let mut scenario = saturating(None, 1);
    scenario.links[0].mtu_bytes = Some(125);
    // 220 bytes above IP: 104 and 104 in fragments of 124 bytes, 12 in the last.
    let TransportSpec::Udp(udp) = &mut scenario.flows[0].transport else { panic!("it is UDP") };
    (udp.payload_bytes, udp.header_bytes, udp.fragment_header_bytes) = (212, 28, 20);
    let tables = run(&scenario);
    let datagrams = 16.0 * 128_000.0 / f64::from(124 + 124 + 32);
    let goodput = floats(&tables.flows, "goodput_bps")[0] * 16.0 / 8.0 / 212.0;
    assert!((goodput - datagrams).abs() <= 1.0, "{goodput} instead of {datagrams}");
    assert!((floats(&tables.links, "utilization")[0] - 1.0).abs() < 1e-12);
}

#[test]
fn a_saturating_source_stops_when_it_is_told_to_and_wakes_the_others() {
    let mut scenario = saturating(Some(1.0 / 512.0), 2);
    scenario.flows[0].stop_s = 4.0;
    let delivered = integers(&run(&scenario).flows, "packets_delivered").to_vec();
    assert!((delivered[0] - 4 * 256).abs() < 10, "{delivered:?}");
    assert!((delivered[1] - 4 * 256 - 12 * 512).abs() < 10, "{delivered:?}");
}

#[test]
fn a_source_that_keeps_its_clock_is_refused_by_the_socket() {
    let mut scenario = saturating(Some(1.0 / 512.0), 1);
    scenario.flows[0].traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(1.0 / 1024.0), random: Intervals::Constant };
    let (tables, records) = trace(&scenario);
    let flow = |name| integers(&tables.flows, name)[0];
    assert_eq!(flow("packets_sent"), 16 * 1024);
    assert_eq!(flow("packets_dropped"), integers(&tables.nodes, "dropped_input_ring")[0]);
    assert!((flow("packets_delivered") - 16 * 512).abs() < 10);
    let refused = records.iter().filter(|record| record.event == Event::Drop(DropReason::InputRing)).count();
    assert_eq!(refused as i64, flow("packets_dropped"));
}

fn bulk(scenario: &Scenario) -> FlowSpec {
    let tcp = TransportSpec::Tcp(tcp(scenario.profile, Recovery::Sack));
    flow(scenario, "tcp", 0, (0, 1), TrafficSpec::Bulk { bytes: None }, tcp)
}

#[test]
fn tcp_waits_for_its_interface_and_says_so() {
    for profile in [Profile::Ns2, Profile::Rfc] {
        let mut scenario = scenario(profile, 20.0, 2);
        scenario.links = wire("wire", (0, 1), 1e8, 0.001, packets(100)).to_vec();
        scenario.flows = vec![bulk(&scenario)];
        // 1000 packets a second, where the line carries twelve times as many.
        scenario.nodes[0].processor = Some(processor(0.001, 32));
        let tables = run(&scenario);
        let delivered = integers(&tables.flows, "packets_delivered")[0];
        assert!((19_900..=20_000).contains(&delivered), "{profile:?}: {delivered}");
        assert_eq!((integers(&tables.flows, "packets_dropped")[0], integers(&tables.flows, "timeouts")[0]), (0, 0));
        let share = floats(&tables.flows, "limited_by_sender_rate")[0];
        assert!(share > 0.95, "{profile:?}: {share}");
    }
}

/// The receiver's interface may be the limit, and its ACKs pass it, too.
#[test]
fn a_receiving_host_may_be_the_limit() {
    let mut scenario = scenario(Profile::Rfc, 20.0, 2);
    scenario.links = wire("wire", (0, 1), 1e8, 0.001, packets(100)).to_vec();
    scenario.flows = vec![bulk(&scenario)];
    let mut spec = processor(0.001, 64);
    scenario.nodes[1].processor = Some(spec.clone());
    let acks_only = count(&scenario, "packets_delivered");
    spec.receive = true;
    scenario.nodes[1].processor = Some(spec);
    let (tables, records) = trace(&scenario);
    let delivered = integers(&tables.flows, "packets_delivered")[0];
    let acks =
        records.iter().filter(|record| record.kind == Kind::Ack && record.event == Event::Enqueue).count() as i64;
    // An ACK for every second packet: both share 1000 services a second.
    assert!(acks_only > 15_000 && (11_000..15_000).contains(&delivered), "{acks_only} {delivered}");
    assert!((delivered + acks - 20_000).abs() < 500, "{delivered} {acks}");
    assert_eq!(integers(&tables.nodes, "packets_served")[1], delivered + acks);
}

//! What holds a flow back, where that is known.

use crate::engine::common::{floats, flow, link, packets, processor, run, scenario, tcp};
use tightlink_sim::Scenario;
use tightlink_sim::scenario::{OutageSpec, OutageTimes, Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec};
use tightlink_sim::tables::Table;

/// Bits per second of the bottleneck, and seconds to its other end: 42 packets of 1500 bytes a round trip.
const RATE_BPS: f64 = 20e6;
const DELAY_S: f64 = 0.0125;

/// Flows of one control over a bottleneck with so many packets of queue, of which the wire loses a share.
fn flows(control: &str, count: u32, queue: u32, loss: f64, window: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 20.0, 2);
    scenario.links = vec![
        link("bottleneck", (0, 1), RATE_BPS, DELAY_S, packets(queue)),
        link("back", (1, 0), 1e9, DELAY_S, QueueLimit::Unlimited),
    ];
    scenario.links[0].loss = loss.into();
    for index in 0..count {
        let mut tcp = tcp(Profile::Rfc, Recovery::Sack);
        tcp.congestion = control.into();
        tcp.window_packets = window;
        let traffic = TrafficSpec::Bulk { bytes: None };
        scenario.flows.push(flow(&scenario, "tcp", index, (0, 1), traffic, TransportSpec::Tcp(tcp)));
    }
    scenario
}

fn share(flows: &Table, limit: &str, flow: usize) -> f64 {
    floats(flows, &format!("limited_by_{limit}"))[flow]
}

/// Whatever the control, and whether its window or its pacing timer says so.
#[test]
fn a_full_link_is_the_network() {
    for control in ["reno", "cubic", "vegas", "bbr", "bbr3", "ledbat", "fast"] {
        for count in [1, 4] {
            let tables = run(&flows(control, count, 400, 0.0, 1e6));
            let utilization = floats(&tables.links, "utilization")[0];
            assert!(utilization > 0.95, "{control}: {utilization}");
            for index in 0..count as usize {
                let network = share(&tables.flows, "network", index);
                assert!(network > 0.85, "{control}, flow {index} of {count}: {network} of {utilization}");
            }
        }
    }
}

/// Two links of one rate, the second of which pads its frames: it is the slower one, with flow control and without.
#[test]
fn a_full_link_that_pads_is_the_network() {
    for flow_control in [false, true] {
        let mut scenario = flows("reno", 1, 10, 0.0, 6.0);
        scenario.nodes = crate::engine::common::scenario(Profile::Rfc, 20.0, 3).nodes;
        scenario.nodes[2].processor = Some(processor(0.0, 1000));
        scenario.links = [("first", 0, 1), ("padding", 1, 2), ("last", 2, 1), ("back", 1, 0)]
            .map(|(name, from, to)| link(name, (from, to), RATE_BPS, 0.0, packets(10)))
            .to_vec();
        scenario.links[1].framing.smallest_bytes = 4000;
        scenario.links[1].flow_control = flow_control;
        scenario.flows[0].to = 2;
        let tables = run(&scenario);
        assert!(floats(&tables.links, "utilization")[1] > 0.95);
        assert!(share(&tables.flows, "network", 0) > 0.95, "{:?}", tables.flows);
    }
}

#[test]
fn losses_on_the_wire_keep_the_window_small() {
    for control in ["reno", "cubic"] {
        let tables = run(&flows(control, 1, 400, 0.02, 1e6));
        assert!(floats(&tables.links, "utilization")[0] < 0.6);
        assert!(share(&tables.flows, "congestion_window", 0) > 0.95, "{control}: {:?}", tables.flows);
    }
}

/// A queue of two packets empties after each loss; half of the time the window is below what the path holds.
#[test]
fn a_queue_that_is_too_small_is_the_window() {
    let tables = run(&flows("reno", 1, 2, 0.0, 1e6));
    let (window, network) = (share(&tables.flows, "congestion_window", 0), share(&tables.flows, "network", 0));
    assert!(floats(&tables.links, "utilization")[0] < 0.9);
    assert!(window > 0.5 && network < 0.4, "{window} and {network}");
}

#[test]
fn a_window_of_half_the_path_is_the_receivers_and_one_of_twice_the_path_the_networks() {
    for (window, limit) in [(21.0, "receiver_window"), (84.0, "network")] {
        let tables = run(&flows("reno", 1, 400, 0.0, window));
        assert!(share(&tables.flows, limit, 0) > 0.95, "{window}: {:?}", tables.flows);
    }
}

/// The slowest link of each path is its own; what is full is the faster one that all share.
#[test]
fn a_shared_link_may_be_full_though_it_is_not_the_slowest() {
    let mut scenario = scenario(Profile::Rfc, 20.0, 7);
    scenario.links.push(link("shared", (5, 6), 20e6, 0.01, packets(100)));
    scenario.links.push(link("back", (6, 5), 1e9, 0.01, QueueLimit::Unlimited));
    for host in 0..5 {
        scenario.links.push(link(&format!("access[{host}]"), (host, 5), 10e6, 0.001, packets(100)));
        scenario.links.push(link(&format!("access[{host}].reverse"), (5, host), 1e9, 0.001, QueueLimit::Unlimited));
        let spec = TransportSpec::Tcp(tcp(Profile::Rfc, Recovery::Newreno));
        let traffic = TrafficSpec::Bulk { bytes: None };
        scenario.flows.push(flow(&scenario, "tcp", host, (host, 6), traffic, spec));
    }
    let tables = run(&scenario);
    for index in 0..5 {
        let network = share(&tables.flows, "network", index);
        assert!(network > 0.8, "flow {index}: {network}");
    }
}

/// The link is down for most of the run, and what it carried before says nothing of that time.
#[test]
fn what_waits_for_a_timeout_is_no_full_path() {
    let mut scenario = flows("reno", 1, 400, 0.0, 1e6);
    for link in &mut scenario.links {
        let times = OutageTimes::Schedule { at_s: vec![5.0], for_s: vec![30.0], period_s: None };
        link.outages = Some(OutageSpec { times, flush: true });
    }
    let tables = run(&scenario);
    let (window, network) = (share(&tables.flows, "congestion_window", 0), share(&tables.flows, "network", 0));
    assert!((0.7..0.78).contains(&window) && window + network > 0.97, "{window} and {network}");
}

//! Random networks with processors and flow control.

use proptest::prelude::*;
use tightlink_sim::network::background::JobSpec;
use tightlink_sim::network::meter::{Average, MeterSpec};
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::scenario::{FlowSpec, QueueLimit, Scenario, TrafficSpec, TransportSpec, VideoSpec};

use super::DECIMAL;
use crate::engine::common::reference;

/// A processor whose times are quarters of a grid step.
fn processor() -> impl Strategy<Value = ProcessorSpec> {
    let seconds = |quarters: u32| DECIMAL.seconds / 4.0 * f64::from(quarters);
    let job = move || {
        prop::option::weighted(0.4, (1u32..20, 4u32..40))
            .prop_map(move |job| job.map(|(cpu, every)| JobSpec { cpu_s: seconds(cpu), every_s: seconds(every) }))
    };
    let ring = prop_oneof![
        4 => (1u32..8).prop_map(QueueLimit::Packets),
        1 => (2u64..20).prop_map(|units| QueueLimit::Bytes(units * u64::from(DECIMAL.bytes))),
    ];
    let costs = (0u32..9, prop_oneof![3 => Just(0u32), 1 => 1u32..4], prop_oneof![2 => Just(0u32), 1 => 1u32..5]);
    let more = (any::<bool>(), any::<bool>(), prop_oneof![2 => Just(0.0), 1 => 0.05..0.9f64]);
    (costs, ring, more, job(), job()).prop_map(
        move |(
            (per_packet, per_byte, interrupt),
            input_ring,
            (output_ring, receive, guaranteed),
            background,
            meter,
        )| {
            ProcessorSpec {
                per_packet_s: seconds(per_packet),
                per_byte_s: seconds(per_byte) / f64::from(DECIMAL.bytes),
                interrupt_s: seconds(interrupt),
                input_ring,
                output_ring,
                receive,
                background,
                guaranteed,
                meter: meter.map(|JobSpec { cpu_s, every_s }| {
                    let average = if receive { Average::Window } else { Average::Exponential };
                    MeterSpec { window_s: 0.5, cpu_s, every_s, average }
                }),
            }
        },
    )
}

/// Processors at some of a network's nodes.
fn processors() -> impl Strategy<Value = Vec<Option<ProcessorSpec>>> {
    prop::collection::vec(prop::option::weighted(0.6, processor()), 12)
}

/// The same networks with processors at some nodes at which no path begins.
pub fn with_router_processors(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    (networks, processors()).prop_map(|(mut scenario, processors)| {
        for (index, (node, processor)) in (0..).zip(scenario.nodes.iter_mut().zip(processors)) {
            let answers = |flow: &FlowSpec| flow.to == index && matches!(flow.transport, TransportSpec::Tcp(_));
            let begins = scenario.flows.iter().any(|flow| flow.from == index || answers(flow));
            node.processor = processor.filter(|_| !begins);
            if let Some(spec) = node.processor.as_mut().filter(|spec| spec.per_byte_s == 0.0) {
                // Those without work for a packet need one thread.
                spec.per_packet_s = spec.per_packet_s.max(DECIMAL.seconds / 4.0);
            }
        }
        scenario
    })
}

/// The same networks with processors at some nodes, and with sources that saturate and videos among the
/// UDP flows.
pub fn with_processors(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    let kinds = prop::collection::vec(0u8..4, 12);
    (networks, processors(), kinds).prop_map(|(mut scenario, processors, kinds)| {
        for (node, processor) in scenario.nodes.iter_mut().zip(processors) {
            node.processor = processor;
        }
        let network = scenario.clone();
        for (flow, kind) in scenario.flows.iter_mut().zip(kinds) {
            let TransportSpec::Udp(udp) = &flow.transport else { continue };
            let first = flow
                .path
                .clone()
                .map_or_else(|| reference::shortest_path(&network, flow.from, flow.to)[0], |path| path[0] as usize);
            let whole = udp.payload_bytes + udp.header_bytes;
            let pushes_back = match scenario.links[first].queue.limit() {
                QueueLimit::Packets(limit) => limit > 1,
                QueueLimit::Bytes(limit) => limit >= u64::from(whole),
                QueueLimit::Unlimited => false,
            } && scenario.links[first].queue.takes_what_fits();
            let fits = scenario.links.iter().all(|link| link.mtu_bytes.is_none_or(|mtu| mtu >= whole));
            match kind {
                0 if pushes_back => flow.traffic = TrafficSpec::Saturate {},
                1 if fits => {
                    flow.traffic = TrafficSpec::Video(VideoSpec {
                        interval_s: 0.02,
                        frame_bytes: 700.0,
                        group_of_pictures: 3,
                        key_frame_ratio: 4.0,
                        variation: 0.3,
                        spread: flow.index % 2 == 0,
                    });
                }
                _ => {}
            }
        }
        scenario
    })
}

/// The same networks with flow control on some of the links that end at a processor.
pub fn with_flow_control(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    (networks, prop::collection::vec(prop::bool::weighted(0.7), 12)).prop_map(|(mut scenario, wanted)| {
        for (link, wanted) in scenario.links.iter_mut().zip(wanted) {
            link.flow_control = wanted && scenario.nodes[link.to as usize].processor.is_some();
        }
        scenario
    })
}

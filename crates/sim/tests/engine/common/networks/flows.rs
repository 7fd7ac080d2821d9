//! Flows of random networks: datagrams and connections.

use proptest::prelude::*;
use tightlink_sim::scenario::{
    Duration, FlowSpec, Intervals, Pace, Recovery, Scenario, SizeShare, SlowStartKind, TrafficSpec, TransportSpec,
    UdpSpec,
};

use super::Grid;
use crate::engine::common;

/// A UDP flow in units of the grid.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) from: prop::sample::Index,
    pub(super) to: prop::sample::Index,
    pub(super) size: u32,
    /// Other sizes, as frequent each.
    pub(super) others: Vec<u32>,
    pub(super) interval: u32,
    /// The interval is that of a packet of four units, and others have more or less as they are larger or smaller.
    pub(super) in_bits: bool,
    pub(super) start: u32,
    pub(super) stop: Option<u32>,
    /// Mean on-time and off-time.
    pub(super) bursts: Option<(u32, u32)>,
    /// Where to go astray before the destination.
    pub(super) detour: Vec<prop::sample::Index>,
}

pub(super) fn source() -> impl Strategy<Value = Source> {
    let ends = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let times = (1u32..10, 0u32..20, prop::option::weighted(0.2, 20u32..100));
    let detour = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(any::<prop::sample::Index>(), 1..5)];
    let others = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(1u32..7, 1..3)];
    let packets = (1u32..7, others, any::<bool>());
    (ends, packets, times, prop::option::weighted(0.3, (1u32..20, 1u32..20)), detour).prop_map(
        |((from, to), (size, others, in_bits), (interval, start, stop), bursts, detour)| Source {
            from,
            to,
            size,
            others,
            interval,
            in_bits,
            start,
            stop,
            bursts,
            detour,
        },
    )
}

/// Two different nodes.
fn ends(nodes: u32, from: &prop::sample::Index, to: &prop::sample::Index) -> (u32, u32) {
    let from = from.index(nodes as usize) as u32;
    (from, (from + 1 + to.index(nodes as usize - 1) as u32) % nodes)
}

/// A path that wanders over random links first.
fn wander(scenario: &Scenario, ends: (u32, u32), detour: &[prop::sample::Index]) -> Option<Vec<u32>> {
    let mut at = ends.0;
    let mut path = Vec::new();
    for pick in detour {
        let leaving: Vec<usize> = (0..scenario.links.len()).filter(|&link| scenario.links[link].from == at).collect();
        let link = leaving[pick.index(leaving.len())];
        path.push(link as u32);
        at = scenario.links[link].to;
    }
    path.extend(common::reference::shortest_path(scenario, at, ends.1).iter().map(|&link| link as u32));
    (!detour.is_empty() && !path.is_empty()).then_some(path)
}

/// Of several sizes where every link carries all of them whole.
fn udp(grid: Grid, scenario: &Scenario, source: &Source) -> UdpSpec {
    let sizes = || source.others.iter().chain([&source.size]).map(|size| size * grid.bytes);
    let largest = sizes().max().unwrap_or_default();
    let fits = scenario.links.iter().all(|link| link.mtu_bytes.is_none_or(|mtu| mtu >= largest));
    let mixed = fits && !source.others.is_empty();
    let share = 1.0 / sizes().count() as f64;
    UdpSpec {
        payload_bytes: if mixed { largest } else { source.size * grid.bytes } - 28,
        header_bytes: 28,
        fragment_header_bytes: 20,
        sizes: sizes().filter(|_| mixed).map(|bytes| SizeShare { bytes, share }).collect(),
        ecn: None,
    }
}

pub(super) fn udp_flow(grid: Grid, scenario: &Scenario, index: u32, source: &Source) -> FlowSpec {
    let nodes = scenario.nodes.len() as u32;
    let ends = ends(nodes, &source.from, &source.to);
    let seconds = |units: u32| grid.seconds * f64::from(units);
    let pace = if source.in_bits {
        Pace::RateBps(4.0 * grid.rate_bps / f64::from(source.interval))
    } else {
        Pace::IntervalS(seconds(source.interval))
    };
    let traffic = match source.bursts {
        None => TrafficSpec::Cbr { pace, random: Intervals::Constant },
        Some((on, off)) => TrafficSpec::OnOff {
            pace,
            on: Duration::Exponential { mean_s: seconds(on) },
            off: Duration::Pareto { mean_s: seconds(off), shape: 1.5 },
        },
    };
    let udp = udp(grid, scenario, source);
    let mut flow = common::flow(scenario, "udp", index, ends, traffic, TransportSpec::Udp(udp));
    flow.start_s = seconds(source.start);
    flow.stop_s = source.stop.map_or(scenario.duration_s, |stop| seconds(source.start + stop));
    flow.path = wander(scenario, ends, &source.detour);
    flow
}

/// A TCP flow in units of the grid.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) from: prop::sample::Index,
    pub(super) to: prop::sample::Index,
    pub(super) recovery: Recovery,
    pub(super) slow_start: SlowStartKind,
    pub(super) ecn: common::WantedEcn,
    pub(super) size: u32,
    pub(super) window: u32,
    pub(super) initial_window: u32,
    pub(super) delayed_acks: bool,
    pub(super) limited_transmit: bool,
    pub(super) pacing: bool,
    pub(super) takes_time: bool,
    pub(super) control: &'static str,
    pub(super) packets: Option<u64>,
    pub(super) start: u32,
    pub(super) stop: Option<u32>,
}

pub(super) fn connection() -> impl Strategy<Value = Connection> {
    let ends = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let tcp = (prop::sample::select(Recovery::ALL.to_vec()), 1u32..9, 1u32..60, 1u32..11, any::<bool>(), any::<bool>());
    let kinds = [
        SlowStartKind::ByteCounting,
        SlowStartKind::HyStart,
        SlowStartKind::HyStartPlusPlus,
        SlowStartKind::Search,
        SlowStartKind::Rapid,
        SlowStartKind::Limited,
    ];
    let options = (
        prop_oneof![3 => Just(SlowStartKind::Standard), 1 => prop::sample::select(kinds.to_vec())],
        common::wanted_ecn(),
    );
    let limits = (prop::option::weighted(0.3, 1u64..200), 0u32..300, prop::option::weighted(0.2, 100u32..1500));
    // Half of the connections are what they were before there was pacing.
    let waits = (prop::bool::weighted(0.3), prop::bool::weighted(0.2));
    let paced = (waits, prop_oneof![4 => Just("reno"), 1 => Just("bbr"), 1 => Just("bbr3")]);
    let all = (ends, tcp, options, limits, paced);
    all.prop_map(|((from, to), tcp, (slow_start, ecn), (packets, start, stop), ((pacing, takes_time), control))| {
        let (recovery, size, window, initial_window, delayed_acks, limited_transmit) = tcp;
        Connection {
            from,
            to,
            recovery,
            slow_start,
            ecn,
            size,
            window,
            initial_window,
            delayed_acks,
            limited_transmit,
            pacing,
            takes_time,
            // Others need the acknowledgement of each packet.
            control: if recovery.acknowledges_each() { control } else { "reno" },
            packets,
            start,
            stop,
        }
    })
}

pub(super) fn tcp_flow(grid: Grid, scenario: &Scenario, index: u32, connection: &Connection) -> FlowSpec {
    let ends = ends(scenario.nodes.len() as u32, &connection.from, &connection.to);
    let mut tcp = common::tcp(scenario.profile, common::known(connection.recovery, scenario.profile));
    tcp.payload_bytes = connection.size * grid.bytes - tcp.header_bytes;
    tcp.window_packets = f64::from(connection.window);
    tcp.initial_window_packets = f64::from(connection.initial_window);
    tcp.delayed_ack_s = connection.delayed_acks.then_some(grid.seconds * 40.0);
    tcp.limited_transmit = connection.limited_transmit;
    tcp.pacing = connection.pacing;
    tcp.processing_delay_s = connection.takes_time.then_some(grid.seconds * 0.7);
    tcp.congestion = connection.control.into();
    tcp.slow_start = connection.slow_start;
    tcp.max_ssthresh_packets = Some(8.0);
    common::set_ecn(&mut tcp, connection.ecn, scenario.profile);
    // Short, so that a run of two seconds sees many expiries.
    tcp.rto.min_s = 0.1;
    tcp.rto.initial_s = 0.3;
    let bytes = connection.packets.map(|packets| packets * u64::from(tcp.payload_bytes) - 17);
    let mut flow = common::flow(scenario, "tcp", index, ends, TrafficSpec::Bulk { bytes }, TransportSpec::Tcp(tcp));
    let seconds = |units: u32| grid.seconds * f64::from(units);
    flow.start_s = seconds(connection.start);
    flow.stop_s = connection.stop.map_or(scenario.duration_s, |stop| seconds(connection.start + stop));
    flow
}

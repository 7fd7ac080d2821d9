//! Random networks on a grid: all rates, sizes, delays and intervals are small multiples of one unit, so
//! that events often meet at one instant.

use proptest::prelude::*;
use tightlink_sim::network::background::JobSpec;
use tightlink_sim::network::meter::{Average, MeterSpec};
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::cake::{AckFilter, CakeSpec, Cells, Isolation, Overhead, Tins};
use tightlink_sim::network::queue::codel::CodelSpec;
use tightlink_sim::network::queue::drr::DrrSpec;
use tightlink_sim::network::queue::dualpi2::{DualPi2Spec, Overload, Scheduler};
use tightlink_sim::network::queue::fq_codel::FqCodelSpec;
use tightlink_sim::network::queue::fq_pie::FqPieSpec;
use tightlink_sim::network::queue::pie::PieSpec;
use tightlink_sim::network::queue::red::{AdaptiveSpec, RedSpec};
use tightlink_sim::network::queue::rem::RemSpec;
use tightlink_sim::network::queue::strict::StrictSpec;
use tightlink_sim::network::queue::threshold::ThresholdSpec;
use tightlink_sim::scenario::{
    Duration, FlowSpec, FramingSpec, LinkSpec, Pace, PathShare, Profile, QueueLimit, Recovery, Scenario, SizeShare,
    SlowStartKind, SprayingSpec, TrafficSpec, TransportSpec, UdpSpec, VideoSpec,
};

/// What one step of the grid is.
#[derive(Clone, Copy, Debug)]
struct Grid {
    rate_bps: f64,
    bytes: u32,
    /// How long `bytes` take at `rate_bps`.
    seconds: f64,
}

/// All times are exact: instants that should be equal are.
const BINARY: Grid = Grid { rate_bps: 1_048_576.0, bytes: 128, seconds: 1.0 / 1024.0 };
/// Sums are rounded: instants that should be equal nearly are, as in most scenarios that people write.
const DECIMAL: Grid = Grid { rate_bps: 1e6, bytes: 125, seconds: 1e-3 };

fn grid() -> impl Strategy<Value = Grid> {
    prop_oneof![Just(BINARY), Just(DECIMAL)]
}

fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![Just(Profile::Ns2), Just(Profile::Rfc), Just(Profile::Linux)]
}

/// One direction of a wire, in units of the grid.
#[derive(Clone, Debug)]
struct Wire {
    rate: u32,
    /// Whether the rate is in packets, each of which takes a tick at rate 1.
    in_packets: bool,
    delay: u32,
    limit: Limit,
    framing: u32,
    smallest: u32,
    loss: f64,
    /// It clears the ECN field.
    bleaches: bool,
    mtu: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Packets(u32),
    Units(u32),
    Unlimited,
}

fn wire() -> impl Strategy<Value = Wire> {
    let limit = prop_oneof![
        6 => (1u32..12).prop_map(Limit::Packets),
        2 => (2u32..30).prop_map(Limit::Units),
        1 => Just(Limit::Unlimited),
    ];
    let rate = (prop_oneof![Just(1u32), Just(2), Just(4), Just(8)], prop::bool::weighted(0.2));
    let loss = prop_oneof![4 => Just(0.0), 1 => Just(0.02), 1 => Just(0.2)];
    let loss = (loss, prop::bool::weighted(0.1));
    let mtu = prop_oneof![6 => Just(None), 1 => (2u32..4).prop_map(Some)];
    // A link without delay delivers a packet in the same instant in which its transmission ends.
    (rate, 0u32..6, limit, 0u32..2, 0u32..3, loss, mtu).prop_map(
        |((rate, in_packets), delay, limit, framing, smallest, (loss, bleaches), mtu)| {
            let framed = |units: u32| if in_packets { 0 } else { units };
            let (framing, smallest) = (framed(framing), framed(smallest));
            Wire { rate, in_packets, delay, limit, framing, smallest, loss, bleaches, mtu }
        },
    )
}

/// A link between a new node and one that is there already, and perhaps the reverse direction is other.
#[derive(Clone, Debug)]
struct Branch {
    parent: prop::sample::Index,
    forward: Wire,
    reverse: Option<Wire>,
}

/// A tree: between any two nodes there is one path.
fn tree(branches: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Branch>> {
    let branch = (any::<prop::sample::Index>(), wire(), prop::option::of(wire()));
    prop::collection::vec(branch.prop_map(|(parent, forward, reverse)| Branch { parent, forward, reverse }), branches)
}

/// A chain: every node is joined to the one before it. Traffic through it crosses many fused links.
fn chain(hops: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(Wire, Option<Wire>)>> {
    prop::collection::vec((wire(), prop::option::of(wire())), hops)
}

fn build(grid: Grid, name: String, ends: (u32, u32), wire: &Wire) -> LinkSpec {
    let limit = match wire.limit {
        Limit::Packets(packets) => QueueLimit::Packets(packets),
        Limit::Units(units) => QueueLimit::Bytes(u64::from(units * grid.bytes)),
        Limit::Unlimited => QueueLimit::Unlimited,
    };
    let (rate_bps, delay_s) = (grid.rate_bps * f64::from(wire.rate), grid.seconds * f64::from(wire.delay));
    let rate_pps = wire.in_packets.then(|| f64::from(wire.rate) / grid.seconds);
    LinkSpec {
        rate_bps: rate_pps.map_or(rate_bps, |packets_per_s| packets_per_s * 8.0 * 1500.0),
        rate_pps,
        framing: FramingSpec { overhead_bytes: wire.framing * grid.bytes, smallest_bytes: wire.smallest * grid.bytes },
        loss: wire.loss.into(),
        bleaches_ecn: wire.bleaches,
        mtu_bytes: wire.mtu.map(|units| units * grid.bytes),
        ..super::link(&name, ends, rate_bps, delay_s, limit)
    }
}

/// The links of both directions of all branches.
fn links(grid: Grid, branches: &[Branch]) -> Vec<LinkSpec> {
    let mut links = Vec::new();
    for (index, branch) in branches.iter().enumerate() {
        let node = index as u32 + 1;
        let parent = branch.parent.index(node as usize) as u32;
        links.push(build(grid, format!("link{node}"), (node, parent), &branch.forward));
        let reverse = branch.reverse.as_ref().unwrap_or(&branch.forward);
        links.push(build(grid, format!("link{node}.reverse"), (parent, node), reverse));
    }
    links
}

/// A UDP flow in units of the grid.
#[derive(Clone, Debug)]
struct Source {
    from: prop::sample::Index,
    to: prop::sample::Index,
    size: u32,
    /// Other sizes, as frequent each.
    others: Vec<u32>,
    interval: u32,
    /// The interval is that of a packet of four units, and others have more or less as they are larger or smaller.
    in_bits: bool,
    start: u32,
    stop: Option<u32>,
    /// Mean on-time and off-time.
    bursts: Option<(u32, u32)>,
    /// Where to go astray before the destination.
    detour: Vec<prop::sample::Index>,
}

fn source() -> impl Strategy<Value = Source> {
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
    path.extend(super::reference::shortest_path(scenario, at, ends.1).iter().map(|&link| link as u32));
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

fn udp_flow(grid: Grid, scenario: &Scenario, index: u32, source: &Source) -> FlowSpec {
    let nodes = scenario.nodes.len() as u32;
    let ends = ends(nodes, &source.from, &source.to);
    let seconds = |units: u32| grid.seconds * f64::from(units);
    let pace = if source.in_bits {
        Pace::RateBps(4.0 * grid.rate_bps / f64::from(source.interval))
    } else {
        Pace::IntervalS(seconds(source.interval))
    };
    let traffic = match source.bursts {
        None => TrafficSpec::Cbr { pace },
        Some((on, off)) => TrafficSpec::OnOff {
            pace,
            on: Duration::Exponential { mean_s: seconds(on) },
            off: Duration::Pareto { mean_s: seconds(off), shape: 1.5 },
        },
    };
    let udp = udp(grid, scenario, source);
    let mut flow = super::flow(scenario, "udp", index, ends, traffic, TransportSpec::Udp(udp));
    flow.start_s = seconds(source.start);
    flow.stop_s = source.stop.map_or(scenario.duration_s, |stop| seconds(source.start + stop));
    flow.path = wander(scenario, ends, &source.detour);
    flow
}

/// A TCP flow in units of the grid.
#[derive(Clone, Debug)]
struct Connection {
    from: prop::sample::Index,
    to: prop::sample::Index,
    recovery: Recovery,
    slow_start: SlowStartKind,
    ecn: super::WantedEcn,
    size: u32,
    window: u32,
    initial_window: u32,
    delayed_acks: bool,
    limited_transmit: bool,
    pacing: bool,
    control: &'static str,
    packets: Option<u64>,
    start: u32,
    stop: Option<u32>,
}

fn connection() -> impl Strategy<Value = Connection> {
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
        super::wanted_ecn(),
    );
    let limits = (prop::option::weighted(0.3, 1u64..200), 0u32..300, prop::option::weighted(0.2, 100u32..1500));
    // Half of the connections are what they were before there was pacing.
    let paced = (prop::bool::weighted(0.3), prop_oneof![4 => Just("reno"), 1 => Just("bbr"), 1 => Just("bbr3")]);
    let all = (ends, tcp, options, limits, paced);
    all.prop_map(|((from, to), tcp, (slow_start, ecn), (packets, start, stop), (pacing, control))| {
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
            // Others need the acknowledgement of each packet.
            control: if recovery.acknowledges_each() { control } else { "reno" },
            packets,
            start,
            stop,
        }
    })
}

fn tcp_flow(grid: Grid, scenario: &Scenario, index: u32, connection: &Connection) -> FlowSpec {
    let ends = ends(scenario.nodes.len() as u32, &connection.from, &connection.to);
    let mut tcp = super::tcp(scenario.profile, super::known(connection.recovery, scenario.profile));
    tcp.payload_bytes = connection.size * grid.bytes - tcp.header_bytes;
    tcp.window_packets = f64::from(connection.window);
    tcp.initial_window_packets = f64::from(connection.initial_window);
    tcp.delayed_ack_s = connection.delayed_acks.then_some(grid.seconds * 40.0);
    tcp.limited_transmit = connection.limited_transmit;
    tcp.pacing = connection.pacing;
    tcp.congestion = connection.control.into();
    tcp.slow_start = connection.slow_start;
    tcp.max_ssthresh_packets = Some(8.0);
    super::set_ecn(&mut tcp, connection.ecn, scenario.profile);
    // Short, so that a run of two seconds sees many expiries.
    tcp.rto.min_s = 0.1;
    tcp.rto.initial_s = 0.3;
    let bytes = connection.packets.map(|packets| packets * u64::from(tcp.payload_bytes) - 17);
    let mut flow = super::flow(scenario, "tcp", index, ends, TrafficSpec::Bulk { bytes }, TransportSpec::Tcp(tcp));
    let seconds = |units: u32| grid.seconds * f64::from(units);
    flow.start_s = seconds(connection.start);
    flow.stop_s = connection.stop.map_or(scenario.duration_s, |stop| seconds(connection.start + stop));
    flow
}

fn assemble(
    (profile, grid, seed, units): (Profile, Grid, u64, u32),
    links: Vec<LinkSpec>,
    sources: &[Source],
    connections: &[Connection],
) -> Scenario {
    let nodes = links.iter().map(|link| link.from.max(link.to) + 1).max().unwrap_or(0);
    let mut scenario = super::scenario(profile, grid.seconds * f64::from(units), nodes);
    scenario.seed = seed;
    scenario.links = links;
    if !connections.is_empty() {
        // TCP does not fragment.
        scenario.links.iter_mut().for_each(|link| link.mtu_bytes = None);
    }
    for (index, connection) in connections.iter().enumerate() {
        let flow = tcp_flow(grid, &scenario, index as u32, connection);
        scenario.flows.push(flow);
    }
    for (index, source) in sources.iter().enumerate() {
        let flow = udp_flow(grid, &scenario, index as u32, source);
        scenario.flows.push(flow);
    }
    scenario
}

/// Networks of UDP flows.
pub fn open_loop() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 60u32..200);
    (frame, tree(1..7), prop::collection::vec(source(), 1..7))
        .prop_map(|(frame, branches, sources)| assemble(frame, links(frame.1, &branches), &sources, &[]))
}

/// Networks of TCP and UDP flows.
pub fn closed_loop() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 500u32..2500);
    let flows = (prop::collection::vec(source(), 0..3), prop::collection::vec(connection(), 1..6));
    (frame, tree(1..7), flows).prop_map(|(frame, branches, (sources, connections))| {
        assemble(frame, links(frame.1, &branches), &sources, &connections)
    })
}

/// Chains whose traffic runs from one end to the other, TCP first.
pub fn chains() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 500u32..2500);
    let flows = (prop::collection::vec(source(), 0..2), prop::collection::vec(connection(), 1..4));
    (frame, chain(2..8), flows).prop_map(|(frame, hops, (sources, connections))| {
        let mut links = Vec::new();
        for (index, (forward, reverse)) in hops.iter().enumerate() {
            let node = index as u32;
            links.push(build(frame.1, format!("hop{node}"), (node, node + 1), forward));
            links.push(build(
                frame.1,
                format!("hop{node}.reverse"),
                (node + 1, node),
                reverse.as_ref().unwrap_or(forward),
            ));
        }
        let mut scenario = assemble(frame, links, &sources, &connections);
        let last = hops.len() as u32;
        for flow in &mut scenario.flows {
            (flow.from, flow.to, flow.path) = (0, last, None);
        }
        scenario
    })
}

/// Dumbbells: a bottleneck between hosts in pairs, flow i at pair i.
pub fn dumbbells() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 500u32..2500);
    let pairs = prop::collection::vec((wire(), wire(), connection()), 1..6);
    (frame, wire(), pairs).prop_map(|(frame, bottleneck, pairs)| dumbbell(frame, &bottleneck, &pairs, &[]))
}

/// Dumbbells whose receivers answer at once over ways that are alike: their ACKs meet again in nearly the order of what
/// they answer, unless something else is on a way.
pub fn dumbbells_of_equals() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 500u32..2500);
    let pairs = prop::collection::vec((wire(), 0u32..3, connection()), 2..7);
    let others = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(source(), 1..3)];
    (frame, (wire(), 1u32..3, wire()), pairs, others).prop_map(|(frame, (bottleneck, delay, right), pairs, others)| {
        let bottleneck = Wire { loss: 0.0, delay: bottleneck.delay.max(delay), ..bottleneck };
        // Where the wire loses packets often it does so here, too.
        let loss = if right.loss < 0.1 { 0.0 } else { right.loss };
        let right = |more: u32| Wire { loss, delay: right.delay + more, ..right.clone() };
        let at_once = |connection| Connection { delayed_acks: false, ..connection };
        let pairs: Vec<_> = pairs.into_iter().map(|(left, more, c)| (left, right(more), at_once(c))).collect();
        dumbbell(frame, &bottleneck, &pairs, &others)
    })
}

fn dumbbell(
    frame: (Profile, Grid, u64, u32),
    bottleneck: &Wire,
    pairs: &[(Wire, Wire, Connection)],
    others: &[Source],
) -> Scenario {
    let both = |name: String, ends: (u32, u32), wire: &Wire| {
        let reverse = build(frame.1, format!("{name}.reverse"), (ends.1, ends.0), wire);
        [build(frame.1, name, ends, wire), reverse]
    };
    let mut links = both("bottleneck".into(), (0, 1), bottleneck).to_vec();
    let mut connections = Vec::new();
    for (index, (left, right, connection)) in pairs.iter().enumerate() {
        let host = 2 + 2 * index as u32;
        links.extend(both(format!("left{index}"), (host, 0), left));
        links.extend(both(format!("right{index}"), (1, host + 1), right));
        connections.push(connection.clone());
    }
    let mut scenario = assemble(frame, links, others, &connections);
    for (index, flow) in scenario.flows.iter_mut().take(pairs.len()).enumerate() {
        (flow.from, flow.to) = (2 + 2 * index as u32, 3 + 2 * index as u32);
    }
    scenario
}

/// Flows both ways between two hosts, most of which spray their packets over routes between two routers.
pub fn sprayed() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 300u32..1500);
    let routes = prop::collection::vec((wire(), wire()), 2..5);
    let straight = source().prop_map(|source| Source { detour: Vec::new(), ..source });
    let flows = (prop::collection::vec(straight, 0..3), prop::collection::vec(connection(), 1..4));
    (frame, (wire(), wire()), routes, flows).prop_map(|(frame, ends, routes, (sources, connections))| {
        let both = |name: String, ends: (u32, u32), wire: &Wire| {
            let reverse = build(frame.1, format!("{name}.reverse"), (ends.1, ends.0), wire);
            [build(frame.1, name, ends, wire), reverse]
        };
        let mut links = both("left".into(), (0, 1), &ends.0).to_vec();
        links.extend(both("right".into(), (2, 3), &ends.1));
        for (index, (near, far)) in (0..).zip(&routes) {
            links.extend(both(format!("near{index}"), (1, 4 + index), near));
            links.extend(both(format!("far{index}"), (4 + index, 2), far));
        }
        let mut scenario = assemble(frame, links, &sources, &connections);
        let weights = (routes.len() * (routes.len() + 1) / 2) as f64;
        let paths = |to_the_right: bool| -> Vec<PathShare> {
            let links = |route: u32| match to_the_right {
                true => vec![0, 4 + 4 * route, 6 + 4 * route, 2],
                false => vec![3, 7 + 4 * route, 5 + 4 * route, 1],
            };
            let share = |route: u32| f64::from(route + 1) / weights;
            (0..routes.len() as u32).map(|route| PathShare { links: links(route), share: share(route) }).collect()
        };
        for (index, flow) in scenario.flows.iter_mut().enumerate() {
            let to_the_right = index % 2 == 0;
            (flow.from, flow.to) = if to_the_right { (0, 3) } else { (3, 0) };
            let tcp = matches!(flow.transport, TransportSpec::Tcp(_));
            let reverse_paths = if tcp { paths(!to_the_right) } else { Vec::new() };
            let spraying = SprayingSpec { paths: paths(to_the_right), reverse_paths };
            flow.path = Some(spraying.paths[0].links.clone());
            flow.reverse_path = spraying.reverse_paths.first().map(|path| path.links.clone());
            flow.spraying = (index % 3 < 2).then(|| Box::new(spraying));
        }
        scenario
    })
}

/// Datagrams that part behind a first link, take several ways, and meet again at a last link.
pub fn deltas() -> impl Strategy<Value = Scenario> {
    let frame = (profile(), grid(), 0u64..1000, 60u32..400);
    let ways = prop::collection::vec(prop::collection::vec(wire(), 1..4), 2..5);
    let straight = source().prop_map(|source| Source { detour: Vec::new(), ..source });
    (frame, (wire(), wire()), ways, prop::collection::vec(straight, 2..9)).prop_map(|(frame, ends, ways, sources)| {
        let lossless = |wire: &Wire| Wire { loss: 0.0, ..wire.clone() };
        // Nodes 0 and 1 are at the ends of the first link, 2 and 3 of the last.
        let first = Wire { delay: ends.0.delay.max(1), ..lossless(&ends.0) };
        let mut links = vec![build(frame.1, "first".into(), (0, 1), &first)];
        links.push(build(frame.1, "last".into(), (2, 3), &ends.1));
        let (mut node, mut paths) = (4, Vec::new());
        for (index, way) in ways.iter().enumerate() {
            let (mut at, mut path) = (1, vec![0]);
            for (hop, wire) in way.iter().enumerate() {
                let next = if hop + 1 == way.len() { 2 } else { node };
                node += u32::from(next == node);
                path.push(links.len() as u32);
                links.push(build(frame.1, format!("way{index}.{hop}"), (at, next), &lossless(wire)));
                at = next;
            }
            path.push(1);
            paths.push(path);
        }
        let back = |link: &LinkSpec| LinkSpec {
            from: link.to,
            to: link.from,
            name: format!("{}.reverse", link.name),
            ..link.clone()
        };
        links.extend(links.iter().map(back).collect::<Vec<_>>());
        let mut scenario = assemble(frame, links, &sources, &[]);
        for (index, flow) in scenario.flows.iter_mut().enumerate() {
            (flow.from, flow.to, flow.path) = (0, 3, Some(paths[index % paths.len()].clone()));
        }
        scenario
    })
}

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
            let first = flow.path.clone().map_or_else(
                || super::reference::shortest_path(&network, flow.from, flow.to)[0],
                |path| path[0] as usize,
            );
            let whole = udp.payload_bytes + udp.header_bytes;
            let pushes_back = match scenario.links[first].queue.limit() {
                QueueLimit::Packets(limit) => limit > 1,
                QueueLimit::Bytes(limit) => limit >= u64::from(whole),
                QueueLimit::Unlimited => false,
            } && !scenario.links[first].queue.may_lose_all();
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

/// A queue other than drop-tail with times of some steps of the grid, so that its rules matter, and any limit.
type OtherQueue = fn(QueueLimit, u32) -> QueueSpec;

fn codel(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::Codel(CodelSpec { limit, target_s, interval_s, ecn: step.is_multiple_of(2) })
}

fn fq_codel(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    let (flows, quantum_bytes) = (1 + step % 4, DECIMAL.bytes * (1 + step % 7));
    QueueSpec::FqCodel(FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn: step.is_multiple_of(2) })
}

fn fq_pie(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, update_s] = [1 + step % 5, 1 + step % 3].map(|steps| DECIMAL.seconds * f64::from(steps));
    let (flows, quantum_bytes, burst_s) = (1 + step % 4, DECIMAL.bytes * (1 + step % 7), 3.0 * update_s);
    let ecn = step.is_multiple_of(2);
    QueueSpec::FqPie(FqPieSpec { limit, target_s, update_s, burst_s, flows, quantum_bytes, ecn })
}

fn cobalt(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::Cobalt(CodelSpec { limit, target_s, interval_s, ecn: step.is_multiple_of(2) })
}

fn fq_cobalt(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    let (flows, quantum_bytes) = (1 + step % 4, DECIMAL.bytes * (1 + step % 7));
    QueueSpec::FqCobalt(FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn: step.is_multiple_of(2) })
}

/// Its shaper is faster and slower than lines are, and now and then there is none.
fn cake(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    let rates = [None, Some(0.5), Some(1.0), Some(3.0)];
    let overhead = Overhead {
        bytes: step % 50,
        smallest_bytes: [0, 84][step as usize % 2],
        cells: [Cells::None, Cells::Atm, Cells::Ptm][step as usize % 3],
    };
    use Isolation::{DualDsthost, DualSrchost, Flows, TripleIsolate};
    QueueSpec::Cake(CakeSpec {
        limit,
        target_s,
        interval_s,
        ecn: step.is_multiple_of(2),
        rate_bps: rates[step as usize / 7 % 4].map(|rate| rate * DECIMAL.rate_bps),
        overhead,
        isolation: [Flows, DualSrchost, DualDsthost, TripleIsolate][step as usize % 4],
        tins: [Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4][step as usize / 2 % 3],
        ack_filter: [AckFilter::None, AckFilter::Normal, AckFilter::Aggressive][step as usize / 3 % 3],
    })
}

fn dualpi2(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, update_s, shift_s] =
        [1 + step % 5, 1 + step % 3, step % 7].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::DualPi2(DualPi2Spec {
        limit,
        target_s,
        update_s,
        // So large that within a short run many packets are dropped.
        alpha: 10.0,
        beta: 40.0,
        coupling: [1.5, 2.0, 4.0][step as usize % 3],
        ramp_s: [target_s / 4.0, target_s / 2.0],
        ramp_packets: step % 3,
        scheduler: if step.is_multiple_of(2) { Scheduler::Wrr(0.1) } else { Scheduler::TimeShifted(shift_s) },
        overload: [Overload::Drop, Overload::Overflow][step as usize / 3 % 2],
        l4s: vec![1, 46],
    })
}

fn drr(limit: QueueLimit, step: u32) -> QueueSpec {
    let weights = vec![(0, 1.0), (46, 0.3), (1, f64::from(1 + step % 5))];
    QueueSpec::Drr(DrrSpec { limit, quantum_bytes: DECIMAL.bytes * (1 + step % 7), weights })
}

fn strict(limit: QueueLimit, step: u32) -> QueueSpec {
    QueueSpec::Strict(StrictSpec { limit, order: if step.is_multiple_of(2) { vec![46, 0] } else { vec![1] } })
}

fn red(limit: QueueLimit, step: u32) -> QueueSpec {
    let in_bytes = step.is_multiple_of(3);
    let unit = if in_bytes { f64::from(DECIMAL.bytes) } else { 1.0 };
    let adaptive = AdaptiveSpec { interval_s: 20.0 * DECIMAL.seconds, least: 0.01, most: 0.5 };
    QueueSpec::Red(RedSpec {
        limit,
        min: unit * f64::from(1 + step % 3),
        max: unit * f64::from(5 + step % 4),
        in_bytes,
        weight: [0.02, 0.2, 1.0][step as usize % 3],
        max_probability: 0.1,
        gentle: step.is_multiple_of(2),
        wait: step % 5 < 3,
        packet_bytes: DECIMAL.bytes,
        adaptive: (step.is_multiple_of(4)).then_some(adaptive),
        ecn: step % 2 == 1,
    })
}

fn pie(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, update_s] = [1 + step % 5, 1 + step % 3].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::Pie(PieSpec { limit, target_s, update_s, burst_s: 3.0 * update_s, ecn: step.is_multiple_of(2) })
}

fn rem(limit: QueueLimit, step: u32) -> QueueSpec {
    QueueSpec::Rem(RemSpec {
        limit,
        gamma: [0.01, 1.0][step as usize % 2],
        alpha: 0.1,
        phi: 1.1,
        target_packets: f64::from(step % 4),
        interval_s: DECIMAL.seconds * f64::from(1 + step % 7),
        packet_bytes: DECIMAL.bytes,
        ecn: !step.is_multiple_of(3),
        drop: step % 3 < 2,
    })
}

fn threshold(limit: QueueLimit, step: u32) -> QueueSpec {
    QueueSpec::Threshold(ThresholdSpec { limit, mark: QueueLimit::Packets(step % 5) })
}

/// Queues that look at nothing but their length.
pub const BY_LENGTH: [OtherQueue; 2] = [red, threshold];
/// Queues that decide when the line is free.
pub const AT_DEPARTURE: [OtherQueue; 9] = [codel, fq_codel, fq_pie, cobalt, fq_cobalt, cake, dualpi2, drr, strict];
/// All but drop-tail.
pub const ALL_OTHERS: [OtherQueue; 13] =
    [codel, fq_codel, fq_pie, cobalt, fq_cobalt, cake, dualpi2, drr, strict, red, pie, rem, threshold];

/// The same networks with other queues than drop-tail at some links.
pub fn with_queues(
    networks: impl Strategy<Value = Scenario>,
    queues: &'static [OtherQueue],
) -> impl Strategy<Value = Scenario> {
    let other = prop::option::weighted(0.6, (prop::sample::select(queues), 0u32..1000));
    (networks, prop::collection::vec(other, 16)).prop_map(|(mut scenario, others)| {
        for (flow, dscp) in scenario.flows.iter_mut().zip([0u8, 46, 1, 8, 34].into_iter().cycle()) {
            flow.dscp = dscp;
        }
        for (link, other) in scenario.links.iter_mut().zip(others) {
            if let Some((queue, step)) = other {
                link.queue = queue(link.queue.limit(), step);
            }
        }
        scenario
    })
}

/// The same networks with time series: intervals on the grids of their times, where instants are equal, and beside them.
pub fn with_series(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    (networks, prop::sample::select(vec![1.0 / 64.0, 0.01, 0.1237, 0.5]), any::<bool>()).prop_map(
        |(mut scenario, interval_s, transport)| {
            (scenario.observe.interval_s, scenario.observe.transport) = (Some(interval_s), transport);
            scenario
        },
    )
}

//! Random networks on a grid: all rates, sizes, delays and intervals are small multiples of one unit, so
//! that events often meet at one instant.

mod flows;
mod processors;
mod queues;
mod shapes;

use proptest::prelude::*;
use tightlink_sim::scenario::{FramingSpec, LinkSpec, Profile, QueueLimit, Scenario};

use flows::{Connection, Source, connection, source, tcp_flow, udp_flow};
pub use processors::{with_flow_control, with_processors, with_router_processors};
pub use queues::{ALL_OTHERS, AT_DEPARTURE, BY_LENGTH, with_queues};
pub use shapes::{deltas, dumbbells, dumbbells_of_equals, sprayed};

/// What one step of the grid is.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub rate_bps: f64,
    pub bytes: u32,
    /// How long `bytes` take at `rate_bps`.
    pub seconds: f64,
}

/// All times are exact: instants that should be equal are.
const BINARY: Grid = Grid { rate_bps: 1_048_576.0, bytes: 128, seconds: 1.0 / 1024.0 };
/// Sums are rounded: instants that should be equal nearly are, as in most scenarios that people write.
const DECIMAL: Grid = Grid { rate_bps: 1e6, bytes: 125, seconds: 1e-3 };

pub fn grid() -> impl Strategy<Value = Grid> {
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

/// The same networks with time series: intervals on the grids of their times, where instants are equal, and beside them.
pub fn with_series(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    (networks, prop::sample::select(vec![1.0 / 64.0, 0.01, 0.1237, 0.5]), any::<bool>()).prop_map(
        |(mut scenario, interval_s, transport)| {
            let observe = &mut scenario.observe;
            (observe.interval_s, observe.transport, observe.delays) = (Some(interval_s), transport, !transport);
            scenario
        },
    )
}

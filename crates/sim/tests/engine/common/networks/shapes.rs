//! Random networks of shapes in which packets meet again: dumbbells, and several paths.

use proptest::prelude::*;
use tightlink_sim::scenario::{LinkSpec, PathShare, Profile, Scenario, SprayingSpec, TransportSpec};

use super::flows::{Connection, Source, connection, source};
use super::{Grid, Wire, assemble, build, grid, profile, wire};

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

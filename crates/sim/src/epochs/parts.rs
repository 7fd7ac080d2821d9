//! A network in parts that can be processed at the same time: cut at links whose delay is long.

use super::flows::{FlowPaths, stays_together};
use super::routes::Routes;
use crate::scenario::Scenario;

/// A network in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The part of each node. A link belongs to the part of the node where it begins.
    pub of_node: Vec<u32>,
    /// The shortest delay of a link between two parts, in seconds.
    pub delay_s: f64,
    /// How many there are.
    pub count: u32,
}

/// What the hosts at both ends of a way cost, in crossings of a link.
const HOSTS: f64 = 6.0;

impl Parts {
    /// All in one part.
    #[must_use]
    pub fn one(scenario: &Scenario) -> Self {
        Self { of_node: vec![0; scenario.nodes.len()], delay_s: f64::INFINITY, count: 1 }
    }

    /// In `count` parts of about the same load, or in fewer; links between parts have a delay of at least
    /// `least_s` seconds.
    #[must_use]
    pub fn new(scenario: &Scenario, (routes, paths): (&Routes, &FlowPaths), count: u32, least_s: f64) -> Self {
        let load = loads(scenario, routes, paths);
        let mut delays: Vec<f64> =
            scenario.links.iter().map(|link| link.delay_s).filter(|&delay_s| delay_s >= least_s).collect();
        delays.sort_unstable_by(|a, b| b.total_cmp(a));
        delays.dedup();
        // Long delays are the best; shorter ones cut a network into more pieces, which balance better.
        let choices = delays.iter().map(|&delay_s| Self::cut(scenario, &load, count, delay_s));
        let best = choices.min_by(|a, b| a.1.total_cmp(&b.1)).map(|choice| choice.0);
        best.unwrap_or_else(|| Self::one(scenario))
    }

    /// Cut at links with a delay of at least `delay_s`, and the load of the part that has most, with a price for short
    /// delays.
    fn cut(scenario: &Scenario, load: &[f64], count: u32, delay_s: f64) -> (Self, f64) {
        /// What it costs to wait for each other once, in crossings of a link.
        const MEETING: f64 = 0.02;
        let mut pieces = Pieces::new(scenario.nodes.len());
        for link in scenario.links.iter().filter(|link| link.delay_s < delay_s) {
            pieces.join(link.from, link.to);
        }
        scenario.flows.iter().filter(|flow| stays_together(flow)).for_each(|flow| pieces.join(flow.from, flow.to));
        let of_node: Vec<u32> = (0..scenario.nodes.len() as u32).map(|node| pieces.find(node)).collect();
        let mut weights = vec![0.0; of_node.len()];
        for (&piece, load) in of_node.iter().zip(load) {
            weights[piece as usize] += load;
        }
        let mut order: Vec<u32> = (0..of_node.len() as u32).filter(|&node| of_node[node as usize] == node).collect();
        order.sort_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]).then(a.cmp(&b)));
        // The heaviest first, each to the part that has least.
        let mut parts = vec![0.0_f64; count as usize];
        let mut part_of = vec![0; of_node.len()];
        for piece in order {
            let least = (0..parts.len()).min_by(|&a, &b| parts[a].total_cmp(&parts[b])).unwrap_or_default();
            parts[least] += weights[piece as usize];
            part_of[piece as usize] = least as u32;
        }
        let of_node: Vec<u32> = of_node.into_iter().map(|piece| part_of[piece as usize]).collect();
        let crosses = |from: u32, to: u32| of_node[from as usize] != of_node[to as usize];
        let between = scenario.links.iter().filter(|link| crosses(link.from, link.to)).map(|link| link.delay_s);
        let delay_s = between.fold(f64::INFINITY, f64::min);
        let all: f64 = load.iter().sum();
        let cost = parts.iter().copied().fold(0.0, f64::max) / all.max(f64::MIN_POSITIVE) + MEETING * 1e-4 / delay_s;
        (Self { of_node, delay_s, count }, cost)
    }
}

/// The load to be expected at each node: crossings of links that begin there, and what hosts cost.
fn loads(scenario: &Scenario, routes: &Routes, paths: &FlowPaths) -> Vec<f64> {
    let mut load = vec![0.0; scenario.nodes.len()];
    let mut add = |from: u32, to: u32, destination: u16, weight: f64| {
        for link in routes.path(&scenario.links, from, destination).unwrap_or_default() {
            load[scenario.links[link as usize].from as usize] += weight;
        }
        load[from as usize] += HOSTS / 2.0 * weight;
        load[to as usize] += HOSTS / 2.0 * weight;
    };
    let mut first = 0;
    for group in &scenario.users {
        for (from, a) in group.sites.iter().enumerate() {
            for (to, b) in group.sites.iter().enumerate() {
                if from != to {
                    // There the data, back the acknowledgements.
                    let weight = f64::from(a.sources) * f64::from(b.receivers);
                    add(a.node, b.node, first + to as u16, weight);
                    add(b.node, a.node, first + from as u16, weight);
                }
            }
        }
        first += group.sites.len() as u16;
    }
    for group in &scenario.scatter {
        for &from in &group.nodes {
            for (place, &to) in (0..).zip(&group.nodes) {
                add(from, to, first + place, group.packets_per_s);
            }
        }
        first += group.nodes.len() as u16;
    }
    for (index, flow) in (0..).zip(&scenario.flows) {
        for reverse in [false, true] {
            for link in paths.paths.links(index, reverse) {
                load[scenario.links[link as usize].from as usize] += 1.0;
            }
        }
        load[flow.from as usize] += HOSTS / 2.0;
        load[flow.to as usize] += HOSTS / 2.0;
    }
    load
}

/// Nodes that belong together.
struct Pieces {
    parent: Vec<u32>,
}

impl Pieces {
    fn new(nodes: usize) -> Self {
        Self { parent: (0..nodes as u32).collect() }
    }

    fn find(&mut self, node: u32) -> u32 {
        let mut root = node;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        self.parent[node as usize] = root;
        root
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        // The smaller number names the piece.
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

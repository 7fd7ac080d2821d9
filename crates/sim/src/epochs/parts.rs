//! A network in parts that can be processed at the same time: cut at links whose delay is long.

use super::bisection::{Graph, HANDED_OVER};
use super::flows::stays_together;
use super::load::Load;
use crate::scenario::Scenario;

/// Simulated seconds from one barrier of the parts to the next, at most: then they hear of interruptions.
const LONGEST_TURN_S: f64 = 50e-3;

/// A network in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The part of each node. A link belongs to the part of the node where it begins.
    pub of_node: Vec<u32>,
    /// The shortest delay of a link between two parts, in seconds.
    pub delay_s: f64,
    /// How many there are.
    pub count: u32,
    /// The load of the heaviest part, in crossings of links in a second of simulated time.
    pub heaviest: f64,
    /// Packets that the part hands over and takes which does most of that, likewise.
    pub between: f64,
}

impl Parts {
    /// All in one part, with this load at each node.
    #[must_use]
    pub fn one(scenario: &Scenario, load: &Load) -> Self {
        let of_node = vec![0; scenario.nodes.len()];
        Self { of_node, delay_s: f64::INFINITY, count: 1, heaviest: load.all(), between: 0.0 }
    }

    /// In `count` parts of about the same load, or in fewer; links between parts have a delay of at least
    /// `least_s` seconds.
    #[must_use]
    pub fn new(scenario: &Scenario, load: &Load, count: u32, least_s: f64) -> Self {
        /// So many delays are tried: a network may have as many as it has links.
        const TRIED: usize = 32;
        if count <= 1 {
            return Self::one(scenario, load);
        }
        let mut delays: Vec<f64> =
            scenario.links.iter().map(|link| link.delay_s).filter(|&delay_s| delay_s >= least_s).collect();
        delays.sort_unstable_by(|a, b| b.total_cmp(a));
        delays.dedup();
        let step = delays.len().div_ceil(TRIED).max(1);
        // Long delays are the best; shorter ones cut a network into more pieces, which balance better.
        let choices = delays.iter().step_by(step).map(|&delay_s| Self::cut(scenario, load, count, delay_s));
        choices.min_by(|a, b| a.cost().total_cmp(&b.cost())).unwrap_or_else(|| Self::one(scenario, load))
    }

    /// Seconds of simulated time from one meeting of the parts to the next, at most.
    #[must_use]
    pub fn turn_s(&self) -> f64 {
        self.delay_s.min(LONGEST_TURN_S)
    }

    /// What a second of simulated time costs, in crossings of a link, with a processor for each part.
    #[must_use]
    pub fn cost(&self) -> f64 {
        /// What it costs to wait for each other once.
        const MEETING: f64 = 20.0;
        if self.count == 1 {
            self.heaviest
        } else {
            self.heaviest + HANDED_OVER * self.between + MEETING / self.turn_s()
        }
    }

    /// Cut at links with a delay of at least `delay_s`.
    fn cut(scenario: &Scenario, load: &Load, count: u32, delay_s: f64) -> Self {
        let mut pieces = Pieces::new(scenario.nodes.len());
        for link in scenario.links.iter().filter(|link| link.delay_s < delay_s) {
            pieces.join(link.from, link.to);
        }
        scenario.flows.iter().filter(|flow| stays_together(flow)).for_each(|flow| pieces.join(flow.from, flow.to));
        // Pieces are numbered by their first nodes.
        let (mut number, mut pieces_count) = (vec![0; scenario.nodes.len()], 0);
        for node in 0..number.len() as u32 {
            number[node as usize] = match pieces.find(node) {
                first if first == node => pieces_count,
                first => number[first as usize],
            };
            pieces_count = pieces_count.max(number[node as usize] + 1);
        }
        let mut weights = vec![0.0; pieces_count as usize];
        for (&piece, load) in number.iter().zip(&load.of_nodes) {
            weights[piece as usize] += load;
        }
        let links = (scenario.links.iter().zip(&load.of_links))
            .map(|(link, &load)| ([link.from, link.to].map(|node| number[node as usize]), load));
        let part_of = Graph::new(&weights, links).parts(count);
        let of_node: Vec<u32> = number.iter().map(|&piece| part_of[piece as usize]).collect();
        let mut parts = vec![0.0_f64; count as usize];
        for (&part, weight) in part_of.iter().zip(&weights) {
            parts[part as usize] += weight;
        }
        let crosses = |from: u32, to: u32| of_node[from as usize] != of_node[to as usize];
        let cut = || (scenario.links.iter().zip(&load.of_links)).filter(|(link, _)| crosses(link.from, link.to));
        let delay_s = cut().map(|(link, _)| link.delay_s).fold(f64::INFINITY, f64::min);
        let mut between = vec![0.0; count as usize];
        for (link, load) in cut() {
            [link.from, link.to].into_iter().for_each(|node| between[of_node[node as usize] as usize] += load);
        }
        let [heaviest, between] = [parts, between].map(|of_parts| of_parts.into_iter().fold(0.0, f64::max));
        Self { of_node, delay_s, count, heaviest, between }
    }
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

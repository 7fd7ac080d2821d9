//! Which of several shortest paths a flow takes: `routing` of a scenario, which becomes the `path` and the `reverse_path` of
//! its flows, where they have none.
//!
//! `{"ecmp": true, "by_delay": false}`: at each node, a hash of the flow chooses among the links on shortest paths (RFC 2992
//! compares such rules), other ones on the way back, as ports and addresses are swapped there. Without `ecmp` the first
//! link of the scenario is chosen.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde_json::{Value, json};
use tightlink_sim::random::{hash, mix};
use tightlink_sim::scenario::{FlowSpec, LinkSpec, Scenario, TransportSpec};

use crate::relative::Wrong;

/// What a path costs: its delay in seconds, if that counts, and its links, of which fewer are better among equals.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost(f64, u32);

impl Cost {
    const NONE: Self = Self(f64::INFINITY, u32::MAX);

    /// The cost with one more link before.
    fn over(self, link: &LinkSpec, by_delay: bool) -> Self {
        Self(if by_delay { self.0 + link.delay_s } else { self.0 }, self.1 + 1)
    }

    /// Bits that order as costs do: neither delays nor numbers of links are negative.
    fn rank(self) -> (u64, u32) {
        (self.0.to_bits(), self.1)
    }
}

/// How flows find their paths.
pub(crate) struct Routing {
    ecmp: bool,
    by_delay: bool,
}

impl Routing {
    /// Takes the key out of a scenario; nothing where paths are the engine's own.
    pub(crate) fn take(scenario: &mut Value) -> Option<Self> {
        let routing = scenario.as_object_mut()?.remove("routing")?;
        let is = |key: &str| routing.get(key).and_then(Value::as_bool).unwrap_or_default();
        Some(Self { ecmp: is("ecmp"), by_delay: is("by_delay") })
    }

    /// Writes the paths of flows that have none.
    pub(crate) fn fill(&self, scenario: &mut Value, typed: &mut Scenario) -> Result<(), Wrong> {
        let mut paths = Vec::new();
        {
            let mut costs = Costs::new(typed, self.by_delay);
            for flow in &typed.flows {
                let forward = match &flow.path {
                    Some(_) => None,
                    None => Some(self.path(&mut costs, flow, (flow.from, flow.to), "path")?),
                };
                let answers = matches!(flow.transport, TransportSpec::Tcp(_)) && flow.reverse_path.is_none();
                let reverse = match answers {
                    true => Some(self.path(&mut costs, flow, (flow.to, flow.from), "reverse path")?),
                    false => None,
                };
                paths.push((forward, reverse));
            }
        }
        for (index, (forward, reverse)) in paths.into_iter().enumerate() {
            for (key, path) in [("path", &forward), ("reverse_path", &reverse)] {
                if let Some(path) = path {
                    scenario["flows"][index][key] = json!(path);
                }
            }
            let flow = &mut typed.flows[index];
            flow.path = forward.or_else(|| flow.path.take());
            flow.reverse_path = reverse.or_else(|| flow.reverse_path.take());
        }
        Ok(())
    }

    fn path(
        &self,
        costs: &mut Costs<'_>,
        flow: &FlowSpec,
        (from, to): (u32, u32),
        purpose: &str,
    ) -> Result<Vec<u32>, Wrong> {
        let scenario = costs.scenario;
        let chosen = hash(scenario.seed, &flow.group, flow.index, purpose);
        let (mut at, mut path) = (from, Vec::new());
        while at != to {
            let links = costs.onward(at, to);
            if links.is_empty() {
                return Err(Wrong::no_way(scenario, flow, from, to));
            }
            // Another choice at each node: with one for all, half of the paths behind an equal choice would stay empty.
            let place = if self.ecmp { mix(chosen ^ mix(u64::from(at))) % links.len() as u64 } else { 0 };
            let link = links[place as usize];
            path.push(link);
            at = scenario.links[link as usize].to;
        }
        Ok(path)
    }
}

/// The costs of the shortest paths to nodes, found when they are asked for.
struct Costs<'a> {
    scenario: &'a Scenario,
    by_delay: bool,
    incoming: Vec<Vec<u32>>,
    outgoing: Vec<Vec<u32>>,
    /// From each node, by target.
    known: HashMap<u32, Vec<Cost>>,
}

impl<'a> Costs<'a> {
    fn new(scenario: &'a Scenario, by_delay: bool) -> Self {
        let mut incoming = vec![Vec::new(); scenario.nodes.len()];
        let mut outgoing = incoming.clone();
        for (index, link) in (0..).zip(&scenario.links) {
            incoming[link.to as usize].push(index);
            outgoing[link.from as usize].push(index);
        }
        Self { scenario, by_delay, incoming, outgoing, known: HashMap::new() }
    }

    /// The links of a node on shortest paths to a target, in the order of the scenario.
    fn onward(&mut self, at: u32, to: u32) -> Vec<u32> {
        if !self.known.contains_key(&to) {
            let costs = self.search(to);
            self.known.insert(to, costs);
        }
        let (costs, by_delay) = (&self.known[&to], self.by_delay);
        let is_on = |&&link: &&u32| {
            let link = &self.scenario.links[link as usize];
            costs[link.to as usize] != Cost::NONE && costs[link.to as usize].over(link, by_delay) == costs[at as usize]
        };
        self.outgoing[at as usize].iter().filter(is_on).copied().collect()
    }

    /// Dijkstra's search, from the target backwards.
    fn search(&self, to: u32) -> Vec<Cost> {
        let mut costs = vec![Cost::NONE; self.scenario.nodes.len()];
        costs[to as usize] = Cost(0.0, 0);
        let mut frontier = BinaryHeap::from([Reverse((costs[to as usize].rank(), to))]);
        while let Some(Reverse((rank, node))) = frontier.pop() {
            let cost = costs[node as usize];
            if cost.rank() < rank {
                continue;
            }
            for &link in &self.incoming[node as usize] {
                let link = &self.scenario.links[link as usize];
                let longer = cost.over(link, self.by_delay);
                if longer.rank() < costs[link.from as usize].rank() {
                    costs[link.from as usize] = longer;
                    frontier.push(Reverse((longer.rank(), link.from)));
                }
            }
        }
        costs
    }
}

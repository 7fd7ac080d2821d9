//! Which of several shortest paths a flow takes: `routing` of a scenario, which becomes the `path` and the `reverse_path` of
//! its flows, where they have none.
//!
//! `{"ecmp": "flow", "by_delay": false}`: at each node, a hash of the flow chooses among the links on shortest paths (RFC 2992
//! compares such rules), other ones on the route back, as ports and addresses are swapped there. With `"none"` the first
//! link of the scenario is chosen. With `"packet"` each packet takes one of all shortest paths, with the probability that it
//! has where each node chooses among its links at random (Dixit and others 2013): they become the `spraying` of the flow.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde_json::{Value, json};
use tightlink_sim::random::{hash, mix};
use tightlink_sim::scenario::{FlowSpec, LinkSpec, PathShare, Scenario, SprayingSpec, TrafficSpec, TransportSpec};

use crate::wrong::Wrong;

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

/// What chooses among equal costs.
#[derive(Clone, Copy, PartialEq)]
enum Ecmp {
    /// The order of the scenario.
    None,
    /// A hash of the flow.
    Flow,
    /// Each packet, at random.
    Packet,
}

/// How flows find their paths.
pub(crate) struct Routing {
    ecmp: Ecmp,
    by_delay: bool,
}

/// Paths that one flow takes, at most.
const MOST_PATHS: usize = 4096;

impl Routing {
    /// Takes the key out of a scenario; nothing where paths are the engine's own.
    pub(crate) fn take(scenario: &mut Value) -> Option<Self> {
        let routing = scenario.as_object_mut()?.remove("routing")?;
        let ecmp = match routing.get("ecmp").and_then(Value::as_str) {
            Some("flow") => Ecmp::Flow,
            Some("packet") => Ecmp::Packet,
            _ => Ecmp::None,
        };
        Some(Self { ecmp, by_delay: routing.get("by_delay").and_then(Value::as_bool).unwrap_or_default() })
    }

    /// Writes the paths of flows that have none.
    pub(crate) fn fill(&self, scenario: &mut Value, typed: &mut Scenario) -> Result<(), Wrong> {
        let mut paths = Vec::new();
        {
            let mut costs = Costs::new(typed, self.by_delay);
            for flow in &typed.flows {
                let forward = match &flow.path {
                    Some(path) => vec![PathShare { links: path.clone(), share: 1.0 }],
                    None => self.paths(&mut costs, flow, (flow.from, flow.to), "path")?,
                };
                let reverse = match (&flow.transport, &flow.reverse_path) {
                    (TransportSpec::Udp(_), _) => Vec::new(),
                    (_, Some(path)) => vec![PathShare { links: path.clone(), share: 1.0 }],
                    (_, None) => self.paths(&mut costs, flow, (flow.to, flow.from), "reverse path")?,
                };
                check_first_link(typed, flow, &forward)?;
                paths.push((forward, reverse));
            }
        }
        for (index, (forward, reverse)) in paths.into_iter().enumerate() {
            let (flow, written) = (&mut typed.flows[index], &mut scenario["flows"][index]);
            flow.path = forward.first().map(|path| path.links.clone());
            written["path"] = json!(flow.path);
            if let Some(first) = reverse.first() {
                flow.reverse_path = Some(first.links.clone());
                written["reverse_path"] = json!(first.links);
            }
            if forward.len().max(reverse.len()) > 1 {
                let spraying = SprayingSpec { paths: forward, reverse_paths: reverse };
                written["spraying"] = json!(spraying);
                flow.spraying = Some(Box::new(spraying));
            }
        }
        Ok(())
    }

    /// The paths of a flow in one direction: one, or all that its packets take.
    fn paths(
        &self,
        costs: &mut Costs<'_>,
        flow: &FlowSpec,
        (from, to): (u32, u32),
        purpose: &str,
    ) -> Result<Vec<PathShare>, Wrong> {
        if self.ecmp != Ecmp::Packet {
            return Ok(vec![PathShare { links: self.path(costs, flow, (from, to), purpose)?, share: 1.0 }]);
        }
        // One link further at a time, in the order of the scenario.
        let (mut found, mut begun) = (Vec::new(), vec![(from, PathShare { links: Vec::new(), share: 1.0 })]);
        while let Some((at, path)) = begun.pop() {
            if at == to {
                found.push(path);
                continue;
            }
            let links = costs.onward(at, to);
            if links.is_empty() {
                return Err(Wrong::no_way(costs.scenario, flow, from, to));
            }
            if found.len() + begun.len() + links.len() > MOST_PATHS {
                let expected = format!("at most {MOST_PATHS} shortest paths of {}: \"flow\" has one", flow.label);
                return Err(Wrong::Key { key: "routing.ecmp".into(), value: "packet".into(), expected });
            }
            let share = path.share / links.len() as f64;
            for link in links.into_iter().rev() {
                let mut links = path.links.clone();
                links.push(link);
                begun.push((costs.scenario.links[link as usize].to, PathShare { links, share }));
            }
        }
        Ok(found)
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
            let place = if self.ecmp == Ecmp::Flow { mix(chosen ^ mix(u64::from(at))) % links.len() as u64 } else { 0 };
            let link = links[place as usize];
            path.push(link);
            at = scenario.links[link as usize].to;
        }
        Ok(path)
    }
}

/// A source that waits for its interface waits for one: its packets begin on the same link.
fn check_first_link(scenario: &Scenario, flow: &FlowSpec, paths: &[PathShare]) -> Result<(), Wrong> {
    let waits = matches!(flow.traffic, TrafficSpec::Saturate {});
    let mut first = paths.iter().map(|path| path.links.first());
    let one = first.next();
    if !waits || first.all(|other| Some(other) == one) {
        return Ok(());
    }
    let node = &scenario.nodes[flow.from as usize].name;
    let expected = format!("one link from {node:?}, whose interface {} waits for: \"flow\" chooses one", flow.label);
    Err(Wrong::Key { key: "routing.ecmp".into(), value: "packet".into(), expected })
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

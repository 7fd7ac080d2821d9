//! The links from node to node: shortest by their number, or as the scenario spells them out.

use std::collections::{HashMap, VecDeque};

use crate::error::ScenarioError;
use crate::scenario::{FlowSpec, LinkSpec, PathShare, Scenario};

/// No link.
const NONE: u32 = u32::MAX;

/// The links that lead to each of so many nodes, in the order of the scenario.
#[must_use]
pub fn incoming(nodes: usize, links: &[LinkSpec]) -> Vec<Vec<u32>> {
    let mut incoming = vec![Vec::new(); nodes];
    for (index, link) in (0..).zip(links) {
        incoming[link.to as usize].push(index);
    }
    incoming
}

/// Finds the shortest paths by number of links to a node, breadth first: of each other node `found` gets the link with which
/// its path begins, nearer nodes first; of equal paths, the one whose last links come first in the scenario.
pub fn shortest_to(target: u32, links: &[LinkSpec], incoming: &[Vec<u32>], mut found: impl FnMut(u32)) {
    let mut known = vec![false; incoming.len()];
    known[target as usize] = true;
    let mut frontier = VecDeque::from([target]);
    while let Some(node) = frontier.pop_front() {
        for &link in &incoming[node as usize] {
            let before = links[link as usize].from;
            if !std::mem::replace(&mut known[before as usize], true) {
                found(link);
                frontier.push_back(before);
            }
        }
    }
}

/// Shortest paths by number of links: breadth-first search towards destinations, one search per destination router.
#[derive(Debug)]
pub struct Router<'a> {
    scenario: &'a Scenario,
    incoming: Vec<Vec<u32>>,
    /// Next link towards a destination, per destination searched.
    towards: HashMap<u32, Vec<u32>>,
}

impl<'a> Router<'a> {
    /// A router of the network of a scenario; nothing is searched yet.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, incoming: incoming(scenario.nodes.len(), &scenario.links), towards: HashMap::new() }
    }

    /// The links of a flow from one node to another: those spelled out, or the shortest path.
    ///
    /// # Errors
    /// The destination cannot be reached, or the spelled-out path does not connect.
    pub(super) fn path(
        &mut self,
        flow: &FlowSpec,
        from: u32,
        to: u32,
        spelled: Option<&[u32]>,
    ) -> Result<Vec<u32>, ScenarioError> {
        match spelled {
            Some(path) => self.check(flow, from, to, path),
            None => self.shortest(from, to).ok_or_else(|| ScenarioError::Unreachable {
                flow: flow.label.clone(),
                from: self.name(from),
                to: self.name(to),
            }),
        }
    }

    /// Several paths from one node to another, with their shares.
    pub(super) fn paths(
        &self,
        flow: &FlowSpec,
        (from, to): (u32, u32),
        several: &[PathShare],
    ) -> Result<Vec<(Vec<u32>, f64)>, ScenarioError> {
        several.iter().map(|path| Ok((self.check(flow, from, to, &path.links)?, path.share))).collect()
    }

    fn check(&self, flow: &FlowSpec, from: u32, to: u32, path: &[u32]) -> Result<Vec<u32>, ScenarioError> {
        let mut at = from;
        for &index in path {
            let link = &self.scenario.links[index as usize];
            if link.from != at {
                return Err(ScenarioError::BrokenPath {
                    flow: flow.label.clone(),
                    link: link.name.clone(),
                    node: self.name(at),
                });
            }
            at = link.to;
        }
        if at != to {
            return Err(ScenarioError::PathEndsElsewhere {
                flow: flow.label.clone(),
                end: self.name(at),
                to: self.name(to),
            });
        }
        Ok(path.to_vec())
    }

    /// The links from one node to another; nothing where there is no path.
    ///
    /// A host on a single link shares the search of the router behind it: a dumbbell of a thousand
    /// pairs needs two searches, not two thousand.
    pub fn shortest(&mut self, from: u32, to: u32) -> Option<Vec<u32>> {
        let last = match self.incoming[to as usize][..] {
            [only] if self.link(only).from != from => Some(only),
            _ => None,
        };
        let target = last.map_or(to, |link| self.link(link).from);
        if !self.towards.contains_key(&target) {
            let tree = self.search(target);
            self.towards.insert(target, tree);
        }
        let tree = &self.towards[&target];
        let mut path = Vec::new();
        let mut at = from;
        while at != target {
            let link = tree[at as usize];
            if link == NONE {
                return None;
            }
            path.push(link);
            at = self.link(link).to;
        }
        path.extend(last);
        Some(path)
    }

    fn search(&self, target: u32) -> Vec<u32> {
        let mut next = vec![NONE; self.scenario.nodes.len()];
        shortest_to(target, &self.scenario.links, &self.incoming, |link| next[self.link(link).from as usize] = link);
        next
    }

    fn link(&self, index: u32) -> &'a LinkSpec {
        &self.scenario.links[index as usize]
    }

    fn name(&self, node: u32) -> String {
        self.scenario.nodes[node as usize].name.clone()
    }
}

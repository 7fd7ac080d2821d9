//! Paths: shortest by number of links, or as the scenario spells them out; and which links can be
//! evaluated together with the one before them.

use std::collections::{HashMap, VecDeque};

use crate::error::ScenarioError;
use crate::scenario::{FlowSpec, LinkSpec, Scenario};

/// After the last link of a path.
pub const END: u32 = u32::MAX;

/// The links of every flow in both directions, each list closed by [`END`].
#[derive(Clone, Debug, Default)]
pub struct Paths {
    links: Vec<u32>,
    /// Where the lists of flow f begin: forward at 2f, reverse at 2f + 1.
    first: Vec<u32>,
}

impl Paths {
    /// Finds the path of every flow of the scenario.
    ///
    /// # Errors
    /// A destination that cannot be reached, or a spelled-out path that does not connect.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let mut router = Router::new(scenario);
        let mut paths = Self::default();
        for flow in &scenario.flows {
            let forward = router.path(flow, flow.from, flow.to, flow.path.as_deref())?;
            paths.add(&forward);
            let reverse = router.path(flow, flow.to, flow.from, flow.reverse_path.as_deref())?;
            paths.add(&reverse);
        }
        Ok(paths)
    }

    fn add(&mut self, links: &[u32]) {
        self.first.push(self.links.len() as u32);
        self.links.extend_from_slice(links);
        self.links.push(END);
    }

    /// The link after `hop` links of the way of flow `flow`, or [`END`].
    #[inline]
    #[must_use]
    pub fn link(&self, flow: u32, reverse: bool, hop: u8) -> u32 {
        let first = self.first[2 * flow as usize + usize::from(reverse)];
        self.links[(first + u32::from(hop)) as usize]
    }

    /// All links of the way of flow `flow`.
    #[must_use]
    pub fn links(&self, flow: u32, reverse: bool) -> &[u32] {
        let first = self.first[2 * flow as usize + usize::from(reverse)] as usize;
        let rest = &self.links[first..];
        let length = rest.iter().position(|&link| link == END).unwrap_or(rest.len());
        &rest[..length]
    }

    /// For each link, the only link that feeds it; nothing where a host or several links do.
    #[must_use]
    pub fn only_feeders(&self, links: usize) -> Vec<Option<u32>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Fed {
            Never,
            By(u32),
            BySeveral,
        }
        let mut fed = vec![Fed::Never; links];
        let mut feeder = None;
        for &link in &self.links {
            if link == END {
                feeder = None;
                continue;
            }
            let slot = &mut fed[link as usize];
            *slot = match (*slot, feeder) {
                (Fed::Never, Some(from)) => Fed::By(from),
                (Fed::By(known), Some(from)) if known == from => Fed::By(known),
                _ => Fed::BySeveral,
            };
            feeder = Some(link);
        }
        fed.into_iter().map(|fed| if let Fed::By(link) = fed { Some(link) } else { None }).collect()
    }
}

/// Breadth-first search towards destinations, one search per destination router.
struct Router<'a> {
    scenario: &'a Scenario,
    incoming: Vec<Vec<u32>>,
    /// Next link towards a destination, per destination searched.
    towards: HashMap<u32, Vec<u32>>,
}

impl<'a> Router<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let mut incoming = vec![Vec::new(); scenario.nodes.len()];
        for (index, link) in scenario.links.iter().enumerate() {
            incoming[link.to as usize].push(index as u32);
        }
        Self { scenario, incoming, towards: HashMap::new() }
    }

    fn path(&mut self, flow: &FlowSpec, from: u32, to: u32, spelled: Option<&[u32]>) -> Result<Vec<u32>, ScenarioError> {
        let path = match spelled {
            Some(path) => self.check(flow, from, to, path)?,
            None => self.shortest(from, to).ok_or_else(|| ScenarioError::Unreachable {
                flow: flow.label.clone(),
                from: self.name(from),
                to: self.name(to),
            })?,
        };
        if path.len() > usize::from(u8::MAX) {
            return Err(ScenarioError::TooManyHops { flow: flow.label.clone(), hops: path.len() });
        }
        Ok(path)
    }

    fn check(&self, flow: &FlowSpec, from: u32, to: u32, path: &[u32]) -> Result<Vec<u32>, ScenarioError> {
        let mut at = from;
        for &index in path {
            let link = &self.scenario.links[index as usize];
            if link.from != at {
                return Err(ScenarioError::BrokenPath { flow: flow.label.clone(), link: link.name.clone(), node: self.name(at) });
            }
            at = link.to;
        }
        if at != to {
            return Err(ScenarioError::PathEndsElsewhere { flow: flow.label.clone(), end: self.name(at), to: self.name(to) });
        }
        Ok(path.to_vec())
    }

    /// A host on a single link shares the search of the router behind it: a dumbbell of a thousand
    /// pairs needs two searches, not two thousand.
    fn shortest(&mut self, from: u32, to: u32) -> Option<Vec<u32>> {
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
            if link == END {
                return None;
            }
            path.push(link);
            at = self.link(link).to;
        }
        path.extend(last);
        Some(path)
    }

    fn search(&self, target: u32) -> Vec<u32> {
        let mut next = vec![END; self.scenario.nodes.len()];
        let mut frontier = VecDeque::from([target]);
        while let Some(node) = frontier.pop_front() {
            for &index in &self.incoming[node as usize] {
                let before = self.link(index).from;
                if before != target && next[before as usize] == END {
                    // Of parallel links, the first of the scenario: `incoming` keeps that order.
                    next[before as usize] = index;
                    frontier.push_back(before);
                }
            }
        }
        next
    }

    fn link(&self, index: u32) -> &'a LinkSpec {
        &self.scenario.links[index as usize]
    }

    fn name(&self, node: u32) -> String {
        self.scenario.nodes[node as usize].name.clone()
    }
}

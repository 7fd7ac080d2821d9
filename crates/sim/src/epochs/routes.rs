//! The route of a packet that has an address: at each node, one link for each destination.

use crate::network::routing::{incoming, shortest_to};
use crate::scenario::LinkSpec;

/// No link.
const NONE: u32 = u32::MAX;

/// Shortest paths by number of links, to each of some destinations. Of equals, the one that a search breadth first from
/// the destination finds first, links taken in the order of the scenario.
#[derive(Clone, Debug)]
pub struct Routes {
    links: u32,
    destinations: usize,
    /// The next stop, by node and destination: a link; or behind the links, at its node, the destination.
    next: Vec<u32>,
    /// Links from each node to each destination, likewise.
    hops: Vec<u16>,
}

impl Routes {
    /// The routes over `links` among `nodes` nodes to each of `destinations`, which are nodes.
    #[must_use]
    pub fn new(nodes: usize, links: &[LinkSpec], destinations: &[u32]) -> Self {
        let incoming = incoming(nodes, links);
        let count = destinations.len();
        let links_count = links.len() as u32;
        let mut routes = Self {
            links: links_count,
            destinations: count,
            next: vec![NONE; nodes * count],
            hops: vec![0; nodes * count],
        };
        let mut known: Vec<Option<usize>> = vec![None; nodes];
        for (index, &target) in destinations.iter().enumerate() {
            match known[target as usize] {
                // Several places at one node.
                Some(same) => routes.copy(nodes, same, index),
                None => routes.search(links, &incoming, target, index),
            }
            routes.next[target as usize * count + index] = routes.stop(index as u16);
            known[target as usize] = Some(index);
        }
        routes
    }

    fn copy(&mut self, nodes: usize, from: usize, to: usize) {
        for node in 0..nodes {
            let row = node * self.destinations;
            self.next[row + to] = self.next[row + from];
            self.hops[row + to] = self.hops[row + from];
        }
    }

    fn search(&mut self, links: &[LinkSpec], incoming: &[Vec<u32>], target: u32, index: usize) {
        let Self { next, hops, destinations, .. } = self;
        shortest_to(target, links, incoming, |link| {
            let [before, behind] = [links[link as usize].from, links[link as usize].to];
            let row = |node: u32| node as usize * *destinations + index;
            next[row(before)] = link;
            hops[row(before)] = hops[row(behind)] + 1;
        });
    }

    /// The number of stops: all links, and behind them all destinations.
    #[must_use]
    pub fn stops(&self) -> usize {
        self.links as usize + self.destinations
    }

    /// The stop at which packets for a destination end.
    #[inline]
    #[must_use]
    pub fn stop(&self, destination: u16) -> u32 {
        self.links + u32::from(destination)
    }

    /// The next stops from a node, by destination.
    #[inline]
    #[must_use]
    pub fn from_node(&self, node: u32) -> &[u32] {
        let first = node as usize * self.destinations;
        &self.next[first..first + self.destinations]
    }

    /// Links from `node` to `destination`.
    #[must_use]
    pub fn hops(&self, node: u32, destination: u16) -> u16 {
        self.hops[node as usize * self.destinations + destination as usize]
    }

    /// The links from `node` to `destination`; nothing if there is no route.
    #[must_use]
    pub fn path(&self, links: &[LinkSpec], mut node: u32, destination: u16) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        loop {
            match self.from_node(node)[destination as usize] {
                NONE => return None,
                stop if stop >= self.links => return Some(path),
                link => {
                    path.push(link);
                    node = links[link as usize].to;
                }
            }
        }
    }
}

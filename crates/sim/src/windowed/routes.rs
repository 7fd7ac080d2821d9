//! The way of a packet that has an address: at each node, one link for each destination.

use std::collections::VecDeque;

use crate::scenario::LinkSpec;

/// At the destination.
const HERE: u32 = u32::MAX;
/// No way.
const NONE: u32 = u32::MAX - 1;

/// What a node does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is for a place at this node.
    Here,
    /// It goes on over this link.
    Link(u32),
    /// It cannot go on.
    Nowhere,
}

/// Shortest paths by number of links, to each of some destinations. Of equals, the first link of the scenario.
#[derive(Clone, Debug)]
pub struct Routes {
    destinations: usize,
    /// By node and destination.
    next: Vec<u32>,
    /// Links from each node to each destination, likewise.
    hops: Vec<u16>,
}

impl Routes {
    /// The routes over `links` among `nodes` nodes to each of `destinations`, which are nodes.
    #[must_use]
    pub fn new(nodes: usize, links: &[LinkSpec], destinations: &[u32]) -> Self {
        let mut incoming = vec![Vec::new(); nodes];
        for (index, link) in (0..).zip(links) {
            incoming[link.to as usize].push(index);
        }
        let count = destinations.len();
        let mut routes = Self { destinations: count, next: vec![NONE; nodes * count], hops: vec![0; nodes * count] };
        let mut known: Vec<Option<usize>> = vec![None; nodes];
        for (index, &target) in destinations.iter().enumerate() {
            match known[target as usize] {
                // Several places at one node.
                Some(same) => routes.copy(nodes, same, index),
                None => routes.search(links, &incoming, target, index),
            }
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

    /// Breadth first, from the destination backwards.
    fn search(&mut self, links: &[LinkSpec], incoming: &[Vec<u32>], target: u32, index: usize) {
        let row = |node: u32| node as usize * self.destinations + index;
        self.next[row(target)] = HERE;
        let mut frontier = VecDeque::from([target]);
        while let Some(node) = frontier.pop_front() {
            for &link in &incoming[node as usize] {
                let before = row(links[link as usize].from);
                if self.next[before] == NONE {
                    self.next[before] = link;
                    self.hops[before] = self.hops[row(node)] + 1;
                    frontier.push_back(links[link as usize].from);
                }
            }
        }
    }

    /// What `node` does with a packet for `destination`.
    #[inline]
    #[must_use]
    pub fn next(&self, node: u32, destination: u16) -> Next {
        match self.next[node as usize * self.destinations + destination as usize] {
            HERE => Next::Here,
            NONE => Next::Nowhere,
            link => Next::Link(link),
        }
    }

    /// Links from `node` to `destination`.
    #[must_use]
    pub fn hops(&self, node: u32, destination: u16) -> u16 {
        self.hops[node as usize * self.destinations + destination as usize]
    }

    /// The links from `node` to `destination`; nothing if there is no way.
    #[must_use]
    pub fn path(&self, links: &[LinkSpec], mut node: u32, destination: u16) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        loop {
            match self.next(node, destination) {
                Next::Here => return Some(path),
                Next::Nowhere => return None,
                Next::Link(link) => {
                    path.push(link);
                    node = links[link as usize].to;
                }
            }
        }
    }
}

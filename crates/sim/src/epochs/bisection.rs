//! A graph cut into parts of about the same load that have little to hand over to each other.
//!
//! By bisection, again and again: a side grows from one end of the graph, each time by the piece that leaves least to hand
//! over (Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", 1998, §3.2); then
//! pieces change sides one by one, also at a loss for a while (Fiduccia and Mattheyses, "A linear-time heuristic for
//! improving network partitions", 1982).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What it costs to hand a packet over, or to take one, in crossings of a link. In epochs next to nothing (measured).
pub const HANDED_OVER: f64 = 0.25;

/// Pieces with the load of each, and what passes between each two.
#[derive(Debug)]
pub struct Graph {
    loads: Vec<i64>,
    /// Of each piece, the others to which it has links, and what these carry both ways.
    links: Vec<Vec<(u32, i64)>>,
}

impl Graph {
    /// Of pieces with these loads and links between two of them, of which there may be several.
    pub fn new(loads: &[f64], links: impl Iterator<Item = ([u32; 2], f64)>) -> Self {
        /// All loads together. Whole numbers, as their sums are the same in any order.
        const ALL: f64 = (1_u64 << 40) as f64;
        let unit = ALL / loads.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let whole = |load: f64| (load * unit) as i64;
        let mut of_pieces = vec![Vec::new(); loads.len()];
        for ([a, b], load) in links.filter(|([a, b], _)| a != b) {
            of_pieces[a as usize].push((b, whole(load)));
            of_pieces[b as usize].push((a, whole(load)));
        }
        for links in &mut of_pieces {
            links.sort_unstable();
            links.dedup_by(|(to, carried), (kept_to, kept)| {
                let same = to == kept_to;
                *kept += if same { *carried } else { 0 };
                same
            });
        }
        Self { loads: loads.iter().map(|&load| whole(load)).collect(), links: of_pieces }
    }

    /// The part of each piece, of `count` parts.
    pub fn parts(&self, count: u32) -> Vec<u32> {
        let mut part_of = vec![0; self.loads.len()];
        let mut uncut = vec![((0..self.loads.len() as u32).collect::<Vec<u32>>(), 0, count)];
        while let Some((pieces, first, count)) = uncut.pop() {
            if count == 1 {
                pieces.iter().for_each(|&piece| part_of[piece as usize] = first);
                continue;
            }
            let fewer = count / 2;
            let is_first = self.of(&pieces).bisected(f64::from(fewer) / f64::from(count));
            let side = |wanted| {
                let of_side = pieces.iter().zip(&is_first).filter(|&(_, &is_first)| is_first == wanted);
                of_side.map(|(&piece, _)| piece).collect()
            };
            uncut.push((side(true), first, fewer));
            uncut.push((side(false), first + fewer, count - fewer));
        }
        part_of
    }

    /// The graph of some pieces.
    fn of(&self, pieces: &[u32]) -> Self {
        let mut place = vec![None; self.loads.len()];
        (0..).zip(pieces).for_each(|(index, &piece)| place[piece as usize] = Some(index));
        let links_of = |&piece: &u32| {
            let links = self.links[piece as usize].iter();
            links.filter_map(|&(to, carried)| Some((place[to as usize]?, carried))).collect()
        };
        let loads = pieces.iter().map(|&piece| self.loads[piece as usize]).collect();
        Self { loads, links: pieces.iter().map(links_of).collect() }
    }

    /// Which pieces are on the first of two sides, that is to have this share of the load.
    fn bisected(&self, share: f64) -> Vec<bool> {
        let mut sides = Sides::new(self, share);
        sides.grow();
        while sides.improve() {}
        sides.is_first
    }

    /// A piece at an end of the graph: as many links from the first one as there are.
    fn end(&self) -> Option<u32> {
        let (mut known, mut last) = (vec![false; self.loads.len()], None);
        let mut next: VecDeque<u32> = (0..self.loads.len() as u32).take(1).collect();
        while let Some(piece) = next.pop_front() {
            last = Some(piece);
            let others = self.links[piece as usize].iter().map(|&(to, _)| to);
            next.extend(others.filter(|&to| !std::mem::replace(&mut known[to as usize], true)));
        }
        last
    }
}

/// A piece, and how much less passes between the sides when it has changed them; the first of those that gain most is the
/// greatest.
type Move = (i64, Reverse<u32>);

/// A graph in two.
struct Sides<'a> {
    graph: &'a Graph,
    is_first: Vec<bool>,
    /// How much less passes between the sides when a piece has changed them.
    gains: Vec<i64>,
    /// How much more load the first side has than it is to have.
    excess: i64,
    /// How far either may be from its load, on the way to something better.
    slack: i64,
    /// What passes between the sides.
    between: i64,
}

impl<'a> Sides<'a> {
    /// Nothing is on the first side, which is to have this share of the load.
    fn new(graph: &'a Graph, share: f64) -> Self {
        /// The share of the load by which sides may differ from theirs on the way, where pieces are small.
        const SLACK: f64 = 0.05;
        let (all, heaviest) = (graph.loads.iter().sum::<i64>() as f64, graph.loads.iter().copied().max());
        Self {
            graph,
            is_first: vec![false; graph.loads.len()],
            gains: graph.links.iter().map(|links| -links.iter().map(|(_, carried)| carried).sum::<i64>()).collect(),
            excess: -((all * share) as i64),
            slack: heaviest.unwrap_or_default().max((SLACK * all) as i64),
            between: 0,
        }
    }

    /// The excess that there is when a piece has changed sides.
    fn excess_after(&self, piece: u32) -> i64 {
        let load = self.graph.loads[piece as usize];
        self.excess + if self.is_first[piece as usize] { -load } else { load }
    }

    fn cost(&self) -> f64 {
        self.excess.abs() as f64 + HANDED_OVER * self.between as f64
    }

    fn change(&mut self, piece: u32) {
        self.excess = self.excess_after(piece);
        self.between -= self.gains[piece as usize];
        self.gains[piece as usize] *= -1;
        self.is_first[piece as usize] ^= true;
        for &(to, carried) in &self.graph.links[piece as usize] {
            let apart = self.is_first[to as usize] != self.is_first[piece as usize];
            self.gains[to as usize] += if apart { 2 * carried } else { -2 * carried };
        }
    }

    fn as_move(&self, piece: u32) -> Move {
        (self.gains[piece as usize], Reverse(piece))
    }

    /// Lets the first side grow from an end of the graph to its share of the load.
    fn grow(&mut self) {
        let graph = self.graph;
        let mut moves = BinaryHeap::new();
        let (mut next, mut rest) = (graph.end(), 0..graph.loads.len() as u32);
        while let Some(piece) = next {
            // What is too large is passed over.
            if !self.is_first[piece as usize] && self.excess_after(piece).abs() < self.excess.abs() {
                self.change(piece);
                let others = graph.links[piece as usize].iter().filter(|(to, _)| !self.is_first[*to as usize]);
                moves.extend(others.map(|&(to, _)| self.as_move(to)));
            }
            next = moves.pop().map(|(_, Reverse(piece))| piece).or_else(|| rest.next());
        }
    }

    /// Has each piece change sides at most once, of those that keep the balance the one that gains most, and keeps the best
    /// that has been on the way. Whether it is better than before.
    fn improve(&mut self) -> bool {
        let graph = self.graph;
        let before = self.cost();
        let (mut best, mut kept, mut changed) = (before, 0, Vec::new());
        let mut done = vec![false; self.is_first.len()];
        // From the second side, from the first.
        let mut moves: [BinaryHeap<Move>; 2] = Default::default();
        for piece in 0..done.len() as u32 {
            moves[usize::from(self.is_first[piece as usize])].push(self.as_move(piece));
        }
        loop {
            for (is_first, moves) in [false, true].into_iter().zip(&mut moves) {
                while moves.peek().is_some_and(|&(gain, Reverse(piece))| {
                    let place = piece as usize;
                    done[place] || self.is_first[place] != is_first || self.gains[place] != gain
                }) {
                    moves.pop();
                }
            }
            let tops = moves.iter().filter_map(BinaryHeap::peek);
            let most = self.slack.max(self.excess.abs());
            let balanced = tops.filter(|(_, Reverse(piece))| self.excess_after(*piece).abs() <= most);
            let Some(&(_, Reverse(piece))) = balanced.max() else { break };
            done[piece as usize] = true;
            self.change(piece);
            changed.push(piece);
            for &(to, _) in graph.links[piece as usize].iter().filter(|(to, _)| !done[*to as usize]) {
                moves[usize::from(self.is_first[to as usize])].push(self.as_move(to));
            }
            if self.cost() < best {
                (best, kept) = (self.cost(), changed.len());
            }
        }
        changed.drain(kept..).rev().for_each(|piece| self.change(piece));
        best < before
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What passes between parts, and the load of the heaviest.
    fn costs(loads: &[f64], links: &[([u32; 2], f64)], parts: &[u32]) -> (f64, f64) {
        let part = |piece: u32| parts[piece as usize];
        let between = links.iter().filter(|([a, b], _)| part(*a) != part(*b)).map(|(_, load)| load).sum();
        let load = |part| loads.iter().zip(parts).filter(|(_, of)| **of == part).map(|(load, _)| load).sum::<f64>();
        (between, parts.iter().map(|&part| load(part)).fold(0.0, f64::max))
    }

    #[test]
    fn two_groups_with_one_link_between_them_are_cut_there() {
        // Pieces of the groups are numbered in turn, so that order alone does not find them.
        let group = |first: u32| {
            let pairs = (0..8).flat_map(|a| (0..a).map(move |b| [a, b]));
            pairs.map(move |pair| (pair.map(|piece| 2 * piece + first), 1.0))
        };
        let links: Vec<_> = group(0).chain(group(1)).chain([([6, 7], 1.0)]).collect();
        let parts = Graph::new(&[1.0; 16], links.iter().copied()).parts(2);
        assert_eq!(costs(&[1.0; 16], &links, &parts), (1.0, 8.0));
    }

    #[test]
    fn a_ring_is_cut_into_arcs() {
        let links: Vec<_> = (0..60).map(|piece| ([piece, (piece + 1) % 60], 1.0)).collect();
        for count in [2_u32, 3, 4, 5] {
            let parts = Graph::new(&[1.0; 60], links.iter().copied()).parts(count);
            assert_eq!(costs(&[1.0; 60], &links, &parts), (f64::from(count), 60.0 / f64::from(count)));
        }
    }

    #[test]
    fn a_heavy_piece_beside_the_end_is_passed_over() {
        // A chain of light pieces, of which the last but one has two fifths of the load.
        let mut loads = [1.0; 62];
        loads[60] = 40.0;
        let links: Vec<_> = (1..62).map(|piece| ([piece - 1, piece], 1.0)).collect();
        for ends in [0, 61] {
            let named = |piece: u32| if ends == 0 { piece } else { 61 - piece };
            let links = links.iter().map(|&(pair, load)| (pair.map(named), load));
            let mut loads = loads;
            if ends > 0 {
                loads.reverse();
            }
            let links: Vec<_> = links.collect();
            let (between, heaviest) = costs(&loads, &links, &Graph::new(&loads, links.iter().copied()).parts(2));
            assert!(between <= 2.0 && heaviest <= 51.0, "{between} {heaviest}");
        }
    }

    #[test]
    fn nothing_has_parts_too() {
        assert!(Graph::new(&[], [].into_iter()).parts(3).is_empty());
        assert_eq!(Graph::new(&[0.0], [].into_iter()).parts(1), [0]);
    }

    proptest! {
        /// Two sides never cost more than all pieces on one side, nor than the least that halves of any kind could.
        #[test]
        fn sides_are_balanced_as_far_as_pieces_allow(
            loads in prop::collection::vec(0.1..10.0, 2..40),
            pairs in prop::collection::vec((0_u32..40, 0_u32..40, 0.1..5.0), 0..120),
        ) {
            let pieces = loads.len() as u32;
            let links: Vec<_> = pairs.into_iter().map(|(a, b, load)| ([a % pieces, b % pieces], load)).collect();
            let (_, heaviest) = costs(&loads, &links, &Graph::new(&loads, links.iter().copied()).parts(2));
            let (all, most) = (loads.iter().sum::<f64>(), loads.iter().copied().fold(0.0, f64::max));
            let passing: f64 = links.iter().map(|(_, load)| load).sum();
            prop_assert!(heaviest <= all / 2.0 + most + HANDED_OVER * passing);
        }
    }
}

//! A class of CAKE: its flows, each in its own queue, take turns as those of FQ-CoDel do (DRR++), with a quantum that
//! the flows of a host share (Linux: triple isolation).

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::ack_filter::{AckFilter, superfluous};
use super::pace::Pace;
use super::{CakeSpec, LARGE_BYTES};
use crate::network::queue::cobalt::{Control, Law, nanoseconds};
use crate::network::queue::fifo::Fifo;
use crate::network::queue::{FlowKey, Lost, Waiting};
use crate::random::Stream;
use crate::time::Time;

/// Between whom the line is divided evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Sending hosts, and their flows.
    DualSrchost,
    /// Receiving hosts, and their flows.
    DualDsthost,
    /// Hosts on both sides, whichever has more flows, and their flows.
    TripleIsolate,
}

impl Isolation {
    fn by_source(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }

    fn by_destination(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}

/// Queues of a tin, in sets of so many: a flow takes any free one of its set.
const QUEUES: u64 = 1024;
const WAYS: u64 = 8;
/// What a flow sends in its turn, in bytes: what a tin sends in 1/4096 s, within a large packet and this.
const SMALL_BYTES: u64 = 300;
const QUANTA_PER_S: u64 = 4096;
/// What a tin sends in its turn where there is no shaper, times its share, in bytes.
const TIN_QUANTUM_BYTES: f64 = 1024.0;

/// Which rotation a flow is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// Of those that have not yet used up their first quantum.
    Sparse,
    /// Counted as sparse, though in turn with the bulk flows: it was empty when its quantum was used up.
    SparseWait,
    /// Of those that have more to send.
    Bulk,
    /// Empty, until nothing is remembered of its congestion.
    Decaying,
}

#[derive(Clone, Debug)]
struct Flow {
    line: Fifo,
    control: Control,
    /// Bytes that it may still send in this turn.
    deficit: f64,
    set: Set,
    /// Whose it is.
    key: FlowKey,
}

/// A class.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) law: Law,
    isolation: Isolation,
    /// What packets take of its share of the shaper, and when it has used no more than that, in nanoseconds.
    pace: Option<Pace>,
    pub(super) ready: i64,
    /// What it sends in its turn, and what it may still send, without a shaper, in bytes.
    pub(super) quantum: f64,
    pub(super) deficit: f64,
    flow_quantum: f64,
    /// Flows by the number of their queue.
    flows: BTreeMap<u16, Flow>,
    /// What is left of COBALT at queues that were used before, by number.
    rested: BTreeMap<u16, Control>,
    /// How many bulk flows a host has, sending and receiving.
    hosts: [BTreeMap<u64, u32>; 2],
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    decaying: VecDeque<u16>,
    /// Flows that are sparse or bulk.
    turns: usize,
    packets: usize,
}

/// What COBALT goes by at a pace. Linux's `cake_set_rate`: at small rates a single packet waits longer than the target.
fn law_of(spec: &CakeSpec, pace: Option<Pace>) -> Law {
    let packet = pace.map_or(0, |pace| pace.of(LARGE_BYTES));
    let (given, interval) = (nanoseconds(spec.target_s), nanoseconds(spec.interval_s));
    let target = given.max(3 * packet / 2);
    Law::new(target, (interval + target - given).max(2 * target), packet, spec.ecn)
}

impl Tin {
    /// A tin whose share of the shaper's rate is so many bytes per second.
    pub(super) fn new(spec: &CakeSpec, bytes_per_s: Option<u64>, share: f64) -> Self {
        let pace = bytes_per_s.map(Pace::new);
        let large = u64::from(LARGE_BYTES);
        let flow_quantum = bytes_per_s.map_or(large, |rate| (rate / QUANTA_PER_S).clamp(SMALL_BYTES, large));
        Self {
            law: law_of(spec, pace),
            isolation: spec.isolation,
            pace,
            ready: 0,
            quantum: share * TIN_QUANTUM_BYTES,
            deficit: 0.0,
            flow_quantum: flow_quantum as f64,
            flows: BTreeMap::new(),
            rested: BTreeMap::new(),
            hosts: Default::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            turns: 0,
            packets: 0,
        }
    }

    /// Charges a packet that goes at `now`, in nanoseconds.
    pub(super) fn advance(&mut self, adjusted: u32, now: i64) {
        let own = self.pace.map_or(0, |pace| pace.of(adjusted));
        self.ready = if self.ready < now { self.ready + own } else { self.ready.max(now + own) };
    }

    /// Whether no packet waits.
    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Whether a flow has its turn to come.
    pub(super) fn has_turns(&self) -> bool {
        self.turns > 0
    }

    /// The number of the queue of a flow: its own, a free one of its set, or one that it shares.
    pub(super) fn number_of(&self, hash: u64, key: &FlowKey) -> u16 {
        let place = hash % QUEUES;
        let set = place - place % WAYS;
        let mut ways = (0..WAYS).map(|way| (set + (place + way) % WAYS) as u16);
        let own = ways.clone().find(|number| self.flows.get(number).is_some_and(|flow| flow.key.flow == key.flow));
        own.or_else(|| ways.find(|number| !self.flows.contains_key(number))).unwrap_or(place as u16)
    }

    /// A bulk flow of these hosts came, or went.
    fn count_bulk(&mut self, key: &FlowKey, comes: bool) {
        for (count, host) in self.hosts.iter_mut().zip([key.source, key.destination]) {
            let flows = count.entry(host).or_default();
            *flows = if comes { *flows + 1 } else { *flows - 1 };
            if *flows == 0 {
                count.remove(&host);
            }
        }
    }

    /// What a flow may send in its turn, of the quantum that it shares with others of its hosts.
    fn quantum_of(&self, key: &FlowKey) -> f64 {
        let load = |counted: bool, side: usize, host: u64| {
            if counted { self.hosts[side].get(&host).copied().unwrap_or(0) } else { 0 }
        };
        let source = load(self.isolation.by_source(), 0, key.source);
        let destination = load(self.isolation.by_destination(), 1, key.destination);
        self.flow_quantum / f64::from(source.max(destination).max(1))
    }

    /// A packet joins. Returns the ACK that it makes superfluous.
    pub(super) fn push(&mut self, packet: Waiting, hash: u64, filter: AckFilter) -> Option<Waiting> {
        let (number, key) = (self.number_of(hash, &packet.key), packet.key);
        let before = self.flows.get(&number).map(|flow| (flow.set, flow.key));
        if let Some((Set::Bulk, other)) = before.filter(|(_, other)| *other != key) {
            // The queue is shared: it counts for the hosts of whoever came last.
            self.count_bulk(&other, false);
            self.count_bulk(&key, true);
        }
        let quantum = self.quantum_of(&key);
        let flow = self.flows.entry(number).or_insert_with(|| Flow {
            line: Fifo::default(),
            control: self.rested.remove(&number).unwrap_or_default(),
            deficit: 0.0,
            set: Set::Decaying,
            key,
        });
        flow.key = key;
        flow.line.push(packet);
        let ack = superfluous(&mut flow.line, filter);
        match flow.set {
            Set::Decaying => {
                if before.is_some() {
                    self.decaying.retain(|&other| other != number);
                }
                (flow.set, flow.deficit) = (Set::Sparse, quantum);
                self.new.push_back(number);
                self.turns += 1;
            }
            Set::SparseWait => {
                flow.set = Set::Bulk;
                self.count_bulk(&key, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
        self.packets += 1 - usize::from(ack.is_some());
        ack
    }

    /// Bytes of the longest queue, the first of equals, and its number.
    pub(super) fn longest(&self) -> Option<(u64, u16)> {
        let bytes = self.flows.iter().map(|(&number, flow)| (flow.line.bytes(), number));
        bytes.reduce(|longest, other| if other.0 > longest.0 { other } else { longest })
    }

    /// Takes the first packet of the longest queue, which is full.
    pub(super) fn relieve(&mut self, now_s: f64) -> Option<Waiting> {
        let (_, number) = self.longest()?;
        let flow = self.flows.get_mut(&number)?;
        let waiting = flow.line.pop()?;
        flow.control.was_full(self.law, now_s);
        self.packets -= 1;
        Some(waiting)
    }

    /// The packet that goes at `now`, if a flow had one: else another tin may have. Those before it are appended to
    /// `lost`. One of the flows that decay is looked at `first`, once for each packet. `adjusted` is what the shaper takes
    /// a size for.
    pub(super) fn next(
        &mut self,
        now: Time,
        first: bool,
        (stream, lost): (&mut Stream, &mut Lost),
        adjusted: impl Fn(u32) -> u32,
    ) -> Option<Waiting> {
        let mut decaying = if first { self.decaying.pop_front() } else { None };
        loop {
            let at = decaying.take().or_else(|| self.new.pop_front()).or_else(|| self.old.pop_front())?;
            let flow = self.flows.get_mut(&at)?;
            let (key, set) = (flow.key, flow.set);
            if flow.deficit <= 0.0 {
                if set == Set::Sparse {
                    let is_bulk = flow.line.len() > 0;
                    flow.set = if is_bulk { Set::Bulk } else { Set::SparseWait };
                    if is_bulk {
                        self.count_bulk(&key, true);
                    }
                }
                let quantum = self.quantum_of(&key);
                self.flows.get_mut(&at)?.deficit += quantum;
                self.old.push_back(at);
                continue;
            }
            let before = lost.len();
            let next = flow.control.next(self.law, &mut flow.line, now, stream, lost);
            self.packets -= lost.len() - before;
            let Some(waiting) = next else {
                self.retire(at, now);
                return None;
            };
            let size = f64::from(adjusted(waiting.packet.size()));
            flow.deficit -= size;
            self.deficit -= size;
            self.packets -= 1;
            // It stays where it is in its rotation.
            if set == Set::Sparse {
                self.new.push_front(at)
            } else {
                self.old.push_front(at)
            }
            return Some(waiting);
        }
    }

    /// A flow was found to be empty: it decays, or is forgotten.
    fn retire(&mut self, number: u16, now: Time) {
        let Some(flow) = self.flows.get_mut(&number) else { return };
        let (set, key) = (std::mem::replace(&mut flow.set, Set::Decaying), flow.key);
        if flow.control.is_at_rest(now) {
            self.rested.insert(number, flow.control);
            self.flows.remove(&number);
        } else {
            self.decaying.push_back(number);
        }
        self.turns -= usize::from(set != Set::Decaying);
        if set == Set::Bulk {
            self.count_bulk(&key, false);
        }
    }

    /// Time waited until `now_s`, summed over the packets, in seconds, added to `sum_s`.
    pub(super) fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.flows.values().fold(sum_s, |sum_s, flow| flow.line.waited_s(sum_s, now_s))
    }
}

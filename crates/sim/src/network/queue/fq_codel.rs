//! FQ-CoDel (RFC 8290): flows are hashed to queues, the queues take turns by deficit round robin, new ones
//! before old ones, and CoDel watches over each.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::codel::{Control, Law};
use super::fifo::Fifo;
use super::{OnLine, Site, Store, Waiting};
use crate::random;
use crate::scenario::QueueLimit;
use crate::time::Time;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCodelSpec {
    /// What "full" means for all queues together; the packet in service counts.
    pub limit: QueueLimit,
    /// Time in the queue that is acceptable, in seconds.
    pub target_s: f64,
    /// How long it may be longer, in seconds.
    pub interval_s: f64,
    /// Queues that flows are hashed to.
    pub flows: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum_bytes: u32,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// The queue of the flows that are hashed to it.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    line: Fifo,
    control: Control,
    /// Bytes that it may still send in this turn (§4.2).
    credit: i64,
    /// It is in one of the lists.
    active: bool,
}

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
pub struct FqCodel {
    spec: FqCodelSpec,
    law: Law,
    /// Which flows meet in a queue differs from link to link and from seed to seed.
    perturbation: u64,
    /// Those that were ever used, by number.
    queues: BTreeMap<u32, FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
    /// Size of the largest packet seen.
    largest_bytes: u64,
}

impl FqCodel {
    /// The queue that a flow is hashed to (§4.1).
    fn queue_of(&self, flow: u64) -> u32 {
        (random::mix(flow ^ self.perturbation) % u64::from(self.spec.flows)) as u32
    }

    fn count_out(&mut self, waiting: &[Waiting]) {
        self.packets -= waiting.len();
        self.bytes -= waiting.iter().map(|waiting| u64::from(waiting.packet.size())).sum::<u64>();
    }

    /// Takes the first packet of the queue with the most bytes (§4.1.1), the first of equals.
    fn relieve(&mut self) -> Option<Waiting> {
        let fattest =
            self.queues.iter().reduce(|fat, queue| if queue.1.line.bytes() > fat.1.line.bytes() { queue } else { fat });
        let (&number, _) = fattest?;
        let waiting = self.queues.get_mut(&number)?.line.pop()?;
        self.count_out(&[waiting]);
        Some(waiting)
    }
}

impl Store for FqCodel {
    type Spec = FqCodelSpec;
    const HELP: &'static str = "flows take turns, with CoDel over the queue of each (RFC 8290)";

    fn new(spec: &FqCodelSpec, site: Site<'_>) -> Self {
        let FqCodelSpec { target_s, interval_s, ecn, .. } = *spec;
        Self {
            spec: *spec,
            law: Law { target_s, interval_s, ecn },
            perturbation: random::hash(site.seed, site.link, 0, "queue"),
            queues: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
            largest_bytes: 0,
        }
    }

    fn join(&mut self, packet: Waiting, on_line: OnLine, lost: &mut Vec<Waiting>) -> bool {
        let (number, size) = (self.queue_of(packet.flow), packet.packet.size());
        let queue = self.queues.entry(number).or_default();
        queue.line.push(packet);
        if !queue.active {
            queue.active = true;
            queue.credit = i64::from(self.spec.quantum_bytes);
            self.new.push_back(number);
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.largest_bytes = self.largest_bytes.max(u64::from(size));
        while !self.spec.limit.holds(self.packets + on_line.packets, self.bytes + on_line.bytes)
            && let Some(victim) = self.relieve()
        {
            lost.push(victim);
        }
        true
    }

    fn next(&mut self, now: Time, lost: &mut Vec<Waiting>) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = self.queues.get_mut(&number)?;
            if queue.credit <= 0 {
                queue.credit += i64::from(self.spec.quantum_bytes);
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let before = lost.len();
            let next = queue.control.next(self.law, &mut queue.line, self.largest_bytes, now, lost);
            if let Some(waiting) = &next {
                queue.credit -= i64::from(waiting.packet.size());
            }
            if next.is_none() {
                list.pop_front();
                // A new queue that ran empty passes through the old ones once, or it would be new at every packet.
                queue.active = is_new && !self.old.is_empty();
                if queue.active {
                    self.old.push_back(number);
                }
            }
            self.count_out(&lost[before..]);
            self.count_out(next.as_slice());
            if next.is_some() {
                return next;
            }
        }
    }

    fn has_room(&self, size: u32, on_line: OnLine) -> bool {
        self.spec.limit.takes(self.packets + on_line.packets, self.bytes + on_line.bytes, size)
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.queues.values().fold(sum_s, |sum_s, queue| queue.line.waited_s(sum_s, now_s))
    }
}

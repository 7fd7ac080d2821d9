//! Queues for flows, which are hashed to them and take turns by deficit round robin, new ones before old ones
//! (RFC 8290 §4). What watches over each queue is a type parameter.

use std::collections::{BTreeMap, VecDeque};

use super::fifo::Fifo;
use super::{FlowKey, Load, Lost, Refusal, Site, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::random;

/// The queue of the flows that are hashed to it, and what watches over it.
#[derive(Clone, Debug)]
pub(super) struct FlowQueue<W> {
    pub(super) line: Fifo,
    pub(super) watch: W,
    /// Bytes that it may still send in this turn (§4.2).
    credit: i64,
    /// It is in one of the lists.
    active: bool,
}

impl<W> FlowQueue<W> {
    fn new(watch: W) -> Self {
        Self { line: Fifo::default(), watch, credit: 0, active: false }
    }
}

/// All queues of a link.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<W> {
    /// What "full" means for all queues together; the packet in service counts.
    limit: QueueLimit,
    count: u32,
    quantum_bytes: u32,
    /// What watches over a queue that was never used.
    fresh: W,
    /// Which flows meet in a queue differs from link to link and from seed to seed.
    perturbation: u64,
    /// Those that were ever used, by number.
    queues: BTreeMap<u32, FlowQueue<W>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// What waits in all.
    load: Load,
}

impl<W: Clone> FlowQueues<W> {
    /// No packets in `count` queues, of which each sends `quantum_bytes` in its turn.
    pub(super) fn new(limit: QueueLimit, (count, quantum_bytes): (u32, u32), fresh: W, site: Site<'_>) -> Self {
        Self {
            limit,
            count,
            quantum_bytes,
            fresh,
            perturbation: random::hash(site.seed, site.link, 0, "queue"),
            queues: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            load: Load::NONE,
        }
    }

    /// The number of the queue that a flow is hashed to (§4.1).
    fn number_of(&self, key: &FlowKey) -> u32 {
        (random::mix(key.flow ^ self.perturbation) % u64::from(self.count)) as u32
    }

    /// The queue of a flow.
    pub(super) fn queue_of(&mut self, key: &FlowKey) -> &mut FlowQueue<W> {
        let number = self.number_of(key);
        self.queues.entry(number).or_insert_with(|| FlowQueue::new(self.fresh.clone()))
    }

    /// All queues that were ever used.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut FlowQueue<W>> {
        self.queues.values_mut()
    }

    /// A packet joins the queue of its flow.
    pub(super) fn push(&mut self, packet: Waiting) {
        let number = self.number_of(&packet.key);
        self.load.add(&packet.packet);
        let queue = self.queues.entry(number).or_insert_with(|| FlowQueue::new(self.fresh.clone()));
        queue.line.push(packet);
        if !queue.active {
            queue.active = true;
            queue.credit = i64::from(self.quantum_bytes);
            self.new.push_back(number);
        }
    }

    /// If there are too many, the queue with the most bytes, the first of equals, loses the packets at its head until half of
    /// its bytes are gone, at most `most` (§4.1). Says how many these are, and what watches over it.
    pub(super) fn relieve(&mut self, on_line: Load, most: u64, lost: &mut Lost) -> Option<(u64, &mut W)> {
        if self.limit.holds(self.load + on_line) {
            return None;
        }
        let fattest = self
            .queues
            .values_mut()
            .reduce(|fat, queue| if queue.line.bytes() > fat.line.bytes() { queue } else { fat });
        let queue = fattest?;
        let (half, mut gone, mut bytes) = (queue.line.bytes() / 2, 0, 0);
        while gone == 0 || gone < most && bytes < half {
            let victim = queue.line.pop()?;
            (gone, bytes) = (gone + 1, bytes + u64::from(victim.packet.size()));
            self.load.remove(&victim.packet);
            lost.push((victim, Refusal::Full));
        }
        Some((gone, &mut queue.watch))
    }

    /// The packet that is next. `take` takes the first of a queue that enters the line, and appends those before it to
    /// `lost`; it is told how many bytes wait in other queues.
    pub(super) fn next(
        &mut self,
        lost: &mut Lost,
        mut take: impl FnMut(&mut FlowQueue<W>, u64, &mut Lost) -> Option<Waiting>,
    ) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = self.queues.get_mut(&number)?;
            if queue.credit <= 0 {
                queue.credit += i64::from(self.quantum_bytes);
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let before = lost.len();
            let others = self.load.bytes - queue.line.bytes();
            let next = take(queue, others, lost);
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
            let gone = lost[before..].iter().map(|(waiting, _)| waiting).chain(&next);
            gone.for_each(|waiting| self.load.remove(&waiting.packet));
            if next.is_some() {
                return next;
            }
        }
    }

    /// Whether the limit leaves room for a packet of `size` bytes.
    pub(super) fn has_room(&self, size: u32, on_line: Load) -> bool {
        self.limit.takes(self.load + on_line, size)
    }

    /// Time waited until `now_s`, summed over the packets, in seconds, added to `sum_s`.
    pub(super) fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.queues.values().fold(sum_s, |sum_s, queue| queue.line.waited_s(sum_s, now_s))
    }
}

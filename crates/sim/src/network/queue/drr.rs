//! Deficit round robin over classes (Shreedhar, Varghese 1996): each sends its weight's share of the line while others
//! wait. Where there is no room the class with the most bytes loses its last packet (§III: buffer stealing).

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::fifo::Fifo;
use super::{Lost, OnLine, Refusal, Site, Store, Waiting};
use crate::scenario::QueueLimit;
use crate::time::Time;

/// Parameters of deficit round robin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrrSpec {
    /// What "full" means for all classes together; the packet in service counts.
    pub limit: QueueLimit,
    /// Bytes that a class of weight one may send in its turn.
    pub quantum_bytes: u32,
    /// Weights of classes, by their code point; one, of those that are not there.
    pub weights: BTreeMap<u8, f64>,
}

#[derive(Clone, Debug, Default)]
struct Class {
    line: Fifo,
    /// Bytes that it may still send in this turn.
    deficit: f64,
}

/// Classes that take turns.
#[derive(Clone, Debug)]
pub struct Drr {
    spec: DrrSpec,
    classes: BTreeMap<u8, Class>,
    /// Code points of the classes that have packets, in the order of their turns.
    active: VecDeque<u8>,
    /// The first of them has begun its turn.
    begun: bool,
    packets: usize,
    bytes: u64,
}

impl Drr {
    fn count_out(&mut self, waiting: &Waiting) {
        self.packets -= 1;
        self.bytes -= u64::from(waiting.packet.size());
    }

    /// Takes the last packet of the class with the most bytes, the first of equals.
    fn steal(&mut self) -> Option<Waiting> {
        let (&dscp, _) = self.classes.iter().reduce(|a, b| if b.1.line.bytes() > a.1.line.bytes() { b } else { a })?;
        let waiting = self.classes.get_mut(&dscp)?.line.pop_last()?;
        self.count_out(&waiting);
        Some(waiting)
    }
}

impl Store for Drr {
    type Spec = DrrSpec;
    const HELP: &'static str = "classes take turns in proportion to their weights (deficit round robin)";

    fn new(spec: &DrrSpec, _: Site<'_>) -> Self {
        let (classes, active) = (BTreeMap::new(), VecDeque::new());
        Self { spec: spec.clone(), classes, active, begun: false, packets: 0, bytes: 0 }
    }

    fn join(&mut self, packet: Waiting, on_line: OnLine, lost: &mut Lost) -> Result<(), Refusal> {
        let (dscp, size) = (packet.key.dscp, u64::from(packet.packet.size()));
        let class = self.classes.entry(dscp).or_default();
        if class.line.len() == 0 && !self.active.contains(&dscp) {
            self.active.push_back(dscp);
        }
        class.line.push(packet);
        self.packets += 1;
        self.bytes += size;
        while !self.spec.limit.holds(self.packets + on_line.packets, self.bytes + on_line.bytes)
            && let Some(stolen) = self.steal()
        {
            lost.push((stolen, Refusal::Full));
        }
        Ok(())
    }

    fn next(&mut self, _: Time, _: &mut Lost) -> Option<Waiting> {
        loop {
            let dscp = *self.active.front()?;
            let class = self.classes.get_mut(&dscp)?;
            if !self.begun {
                let weight = self.spec.weights.get(&dscp).copied().unwrap_or(1.0);
                class.deficit += weight * f64::from(self.spec.quantum_bytes);
                self.begun = true;
            }
            let size = class.line.first().map(|waiting| f64::from(waiting.packet.size()));
            match size {
                Some(size) if size <= class.deficit => {
                    class.deficit -= size;
                    let next = class.line.pop();
                    next.iter().for_each(|waiting| self.count_out(waiting));
                    return next;
                }
                // It goes on when its turn comes again.
                Some(_) => self.active.rotate_left(1),
                None => {
                    class.deficit = 0.0;
                    self.active.pop_front();
                }
            }
            self.begun = false;
        }
    }

    fn has_room(&self, size: u32, on_line: OnLine) -> bool {
        self.spec.limit.takes(self.packets + on_line.packets, self.bytes + on_line.bytes, size)
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.classes.values().fold(sum_s, |sum_s, class| class.line.waited_s(sum_s, now_s))
    }
}

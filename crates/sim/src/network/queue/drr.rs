//! Deficit round robin over classes (Shreedhar, Varghese 1996): each sends its weight's share of the line while others
//! wait. Where there is no room the class with the most bytes loses its last packet (§III: buffer stealing).

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::class_marks::{ClassMarks, marks};
use super::fifo::Fifo;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
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
    pub weights: Vec<(u8, f64)>,
    /// From where on packets are marked, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<ClassMarks>,
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
    limit: QueueLimit,
    quantum_bytes: f64,
    weights: BTreeMap<u8, f64>,
    mark: Option<ClassMarks>,
    /// The class of the packet that was last put on the line.
    served: u8,
    classes: BTreeMap<u8, Class>,
    /// Code points of the classes that have packets, in the order of their turns.
    active: VecDeque<u8>,
    /// The first of them has begun its turn.
    begun: bool,
    /// What waits in all.
    load: Load,
}

impl Drr {
    /// Takes the last packet of the class with the most bytes, the first of equals.
    fn steal(&mut self) -> Option<Waiting> {
        let (&dscp, _) = self.classes.iter().reduce(|a, b| if b.1.line.bytes() > a.1.line.bytes() { b } else { a })?;
        let waiting = self.classes.get_mut(&dscp)?.line.pop_last()?;
        self.load.remove(&waiting.packet);
        Some(waiting)
    }
}

impl Store for Drr {
    type Spec = DrrSpec;
    const HELP: &'static str = "classes take turns in proportion to their weights (deficit round robin)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &DrrSpec) -> bool {
        spec.mark.is_some()
    }

    fn new(spec: &DrrSpec, _: Site<'_>) -> Self {
        Self {
            limit: spec.limit,
            quantum_bytes: f64::from(spec.quantum_bytes),
            weights: spec.weights.iter().copied().collect(),
            mark: spec.mark.clone(),
            served: 0,
            classes: BTreeMap::new(),
            active: VecDeque::new(),
            begun: false,
            load: Load::NONE,
        }
    }

    fn join(&mut self, mut packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal> {
        let dscp = packet.key.dscp;
        let class = self.classes.entry(dscp).or_default();
        if class.line.len() == 0 && !self.active.contains(&dscp) {
            self.active.push_back(dscp);
        }
        if let Some(mark) = &self.mark {
            packet.marked = marks(
                mark.of(dscp),
                &class.line,
                if self.served == dscp { on_line } else { Load::NONE },
                packet.packet,
            );
        }
        class.line.push(packet);
        self.load.add(&packet.packet);
        while !self.limit.holds(self.load + on_line)
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
                class.deficit += self.weights.get(&dscp).copied().unwrap_or(1.0) * self.quantum_bytes;
                self.begun = true;
            }
            let size = class.line.first().map(|waiting| f64::from(waiting.packet.size()));
            match size {
                Some(size) if size <= class.deficit => {
                    class.deficit -= size;
                    self.served = dscp;
                    let next = class.line.pop();
                    next.iter().for_each(|waiting| self.load.remove(&waiting.packet));
                    return next;
                }
                // It continues when its turn comes again.
                Some(_) => self.active.rotate_left(1),
                None => {
                    class.deficit = 0.0;
                    self.active.pop_front();
                }
            }
            self.begun = false;
        }
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.classes.values().fold(sum_s, |sum_s, class| class.line.waited_s(sum_s, now_s))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::queue::FlowKey;
    use crate::network::queue::tests::{IDLE, packet, site};

    fn of_class(dscp: u8, number: u64, size: u32) -> Waiting {
        let waiting = packet(number, 0.0, size);
        Waiting { key: FlowKey { dscp, ..waiting.key }, ..waiting }
    }

    proptest! {
        /// Shreedhar and Varghese 1996, lemma 2 and theorem 1: while two classes wait, what they have sent, each over its
        /// weight, differs by no more than a quantum and the largest packets; each keeps its order.
        #[test]
        fn classes_have_their_weights_shares(
            sizes in prop::collection::vec((40u32..1500, 40u32..1500), 300..400),
            weight in 0.2..5.0f64,
            quantum_bytes in 200u32..3000,
        ) {
            let limit = QueueLimit::Unlimited;
            let mut queue = Drr::new(&DrrSpec { limit, quantum_bytes, weights: vec![(46, weight)], mark: None }, site());
            let mut lost = Lost::new();
            for (number, &(first, second)) in (0..).zip(&sizes) {
                prop_assert!(queue.join(of_class(46, number, first), IDLE, &mut lost).is_ok());
                prop_assert!(queue.join(of_class(0, number, second), IDLE, &mut lost).is_ok());
            }
            let (mut sent, mut next_number) = ([0.0f64; 2], [0u64; 2]);
            while next_number.iter().all(|&number| number < sizes.len() as u64) {
                let next = queue.next(Time::ZERO, &mut lost).expect("packets wait");
                let class = usize::from(next.key.dscp == 0);
                prop_assert_eq!(next.key.flow, next_number[class], "in order");
                next_number[class] += 1;
                sent[class] += f64::from(next.packet.size());
                let most = f64::from(quantum_bytes) + 1500.0 / weight.min(1.0) + 1500.0;
                prop_assert!((sent[0] / weight - sent[1]).abs() <= most, "{:?}", sent);
            }
            prop_assert!(lost.is_empty());
        }
    }

    #[test]
    fn where_there_is_no_room_the_longest_class_loses() {
        let spec = DrrSpec { limit: QueueLimit::Packets(5), quantum_bytes: 1514, weights: Vec::new(), mark: None };
        let mut queue = Drr::new(&spec, site());
        let mut lost = Lost::new();
        for number in 0..5 {
            queue.join(of_class(0, number, 1000), IDLE, &mut lost).expect("room");
        }
        queue.join(of_class(46, 0, 100), IDLE, &mut lost).expect("room is made");
        let stolen: Vec<_> = lost.iter().map(|(waiting, why)| (waiting.key.dscp, waiting.key.flow, *why)).collect();
        assert_eq!(stolen, [(0, 4, Refusal::Full)]);
        assert_eq!(queue.load.packets, 5);
    }

    #[test]
    fn a_class_is_marked_by_its_own_queue() {
        let mark = ClassMarks { classes: vec![(46, QueueLimit::Packets(1))], others: QueueLimit::Unlimited };
        let limit = QueueLimit::Unlimited;
        let spec = DrrSpec { limit, quantum_bytes: 1514, weights: Vec::new(), mark: Some(mark) };
        let (mut queue, mut lost) = (Drr::new(&spec, site()), Lost::new());
        for (number, dscp) in (0..).zip([0, 0, 46, 46, 0]) {
            let waiting = of_class(dscp, number, 1000);
            let capable = waiting.packet.capable();
            queue.join(Waiting { packet: capable, ..waiting }, IDLE, &mut lost).expect("room");
        }
        // What cannot be marked is not.
        queue.join(of_class(46, 5, 1000), IDLE, &mut lost).expect("room");
        let mut left: Vec<_> = std::iter::from_fn(|| queue.next(Time::ZERO, &mut lost)).collect();
        left.sort_by_key(|waiting| waiting.key.flow);
        let marked: Vec<_> = left.iter().map(|waiting| waiting.marked).collect();
        assert_eq!(marked, [false, false, false, true, false, false]);
    }
}

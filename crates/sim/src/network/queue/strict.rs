//! Strict priorities: a packet goes when none of a higher class waits. Where there is no room the lowest class that waits
//! loses its last packet.

use serde::{Deserialize, Serialize};

use super::class_marks::{ClassMarks, marks};
use super::fifo::Fifo;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::time::Time;

/// Parameters of strict priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrictSpec {
    /// What "full" means for all classes together; the packet in service counts.
    pub limit: QueueLimit,
    /// Code points from the highest class down; all others come after them, together.
    pub order: Vec<u8>,
    /// From where on packets are marked, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<ClassMarks>,
}

/// Classes in the order of their priority.
#[derive(Clone, Debug)]
pub struct Strict {
    spec: StrictSpec,
    /// From the highest down.
    lines: Vec<Fifo>,
    /// Which of them the packet was in that was last put on the line.
    served: usize,
    /// What waits in all.
    load: Load,
}

impl Store for Strict {
    type Spec = StrictSpec;
    const HELP: &'static str = "a packet goes when none of a higher class waits (strict priorities)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &StrictSpec) -> bool {
        spec.mark.is_some()
    }

    fn new(spec: &StrictSpec, _: Site<'_>) -> Self {
        let lines = vec![Fifo::default(); spec.order.len() + 1];
        Self { spec: spec.clone(), lines, served: 0, load: Load::NONE }
    }

    fn join(&mut self, mut packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal> {
        let order = &self.spec.order;
        let place = order.iter().position(|&dscp| dscp == packet.key.dscp).unwrap_or(order.len());
        if let Some(mark) = &self.spec.mark {
            let served = if self.served == place { on_line } else { Load::NONE };
            packet.marked = marks(mark.of(packet.key.dscp), &self.lines[place], served, packet.packet);
        }
        self.lines[place].push(packet);
        self.load.add(&packet.packet);
        while !self.spec.limit.holds(self.load + on_line)
            && let Some(last) = self.lines.iter_mut().rev().find_map(Fifo::pop_last)
        {
            self.load.remove(&last.packet);
            lost.push((last, Refusal::Full));
        }
        Ok(())
    }

    fn next(&mut self, _: Time, _: &mut Lost) -> Option<Waiting> {
        let (place, next) = self.lines.iter_mut().enumerate().find_map(|(place, line)| Some((place, line.pop()?)))?;
        self.served = place;
        self.load.remove(&next.packet);
        Some(next)
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.lines.iter().fold(sum_s, |sum_s, line| line.waited_s(sum_s, now_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::FlowKey;
    use crate::network::queue::tests::{IDLE, drain, packet, site};

    fn joined(limit: u32, classes: &[u8]) -> (Strict, Lost) {
        let mut queue =
            Strict::new(&StrictSpec { limit: QueueLimit::Packets(limit), order: vec![46, 34], mark: None }, site());
        let mut lost = Lost::new();
        for (number, &dscp) in (0..).zip(classes) {
            let waiting = packet(number, 0.0, 100);
            let key = FlowKey { dscp, ..waiting.key };
            queue.join(Waiting { key, ..waiting }, IDLE, &mut lost).expect("it takes all, and loses others");
        }
        (queue, lost)
    }

    #[test]
    fn the_highest_class_goes_first_and_each_in_its_order() {
        let (mut queue, lost) = joined(100, &[0, 34, 8, 46, 34, 46, 0]);
        assert!(lost.is_empty());
        assert_eq!(drain(&mut queue, 0.0), [3, 5, 1, 4, 0, 2, 6]);
    }

    #[test]
    fn where_there_is_no_room_the_lowest_class_loses_its_last() {
        let (mut queue, lost) = joined(3, &[0, 34, 0, 46, 46, 34]);
        let numbers: Vec<u64> = lost.iter().map(|(waiting, _)| waiting.key.flow).collect();
        // First those of no class, then the middle one's, the last of which is the newcomer itself.
        assert_eq!(numbers, [2, 0, 5]);
        assert_eq!(drain(&mut queue, 0.0), [3, 4, 1]);
    }

    #[test]
    fn each_class_has_its_threshold_and_all_others_one() {
        let mark = ClassMarks { classes: vec![(46, QueueLimit::Bytes(300))], others: QueueLimit::Packets(2) };
        let spec = StrictSpec { limit: QueueLimit::Unlimited, order: vec![46, 34], mark: Some(mark) };
        let (mut queue, mut lost) = (Strict::new(&spec, site()), Lost::new());
        let mut on_line = IDLE;
        let mut join = |queue: &mut Strict, dscp: u8, on_line: Load| {
            let waiting = packet(u64::from(dscp), 0.0, 100);
            let key = FlowKey { dscp, ..waiting.key };
            let capable = waiting.packet.capable();
            queue.join(Waiting { key, packet: capable, ..waiting }, on_line, &mut lost).expect("room");
        };
        join(&mut queue, 46, on_line);
        queue.next(Time::ZERO, &mut Lost::new()).expect("it was there");
        // Of the highest class one is on the line: with that, 300 bytes hold two more. It is not one of the others.
        on_line = Load { packets: 1, bytes: 100 };
        for dscp in [46, 34, 8, 46, 34, 0, 46, 34, 8] {
            join(&mut queue, dscp, on_line);
        }
        let marked = |line: &Fifo| line.iter().map(|waiting| waiting.marked).collect::<Vec<_>>();
        assert_eq!(queue.lines.iter().map(marked).collect::<Vec<_>>(), [[false, false, true]; 3]);
        // Without a packet on the line there is room for one more.
        queue.lines[0].pop_last();
        join(&mut queue, 46, IDLE);
        assert!(!queue.lines[0].last().expect("it joined").marked);
    }
}

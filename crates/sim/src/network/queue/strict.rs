//! Strict priorities: a packet goes when none of a higher class waits. Where there is no room the lowest class that waits
//! loses its last packet.

use serde::{Deserialize, Serialize};

use super::fifo::Fifo;
use super::{Lost, OnLine, Refusal, Site, Store, Waiting};
use crate::scenario::QueueLimit;
use crate::time::Time;

/// Parameters of strict priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrictSpec {
    /// What "full" means for all classes together; the packet in service counts.
    pub limit: QueueLimit,
    /// Code points from the highest class down; all others come after them, together.
    pub order: Vec<u8>,
}

/// Classes in the order of their priority.
#[derive(Clone, Debug)]
pub struct Strict {
    spec: StrictSpec,
    /// From the highest down.
    lines: Vec<Fifo>,
    packets: usize,
    bytes: u64,
}

impl Strict {
    fn count_out(&mut self, waiting: Option<Waiting>) -> Option<Waiting> {
        let waiting = waiting?;
        self.packets -= 1;
        self.bytes -= u64::from(waiting.packet.size());
        Some(waiting)
    }
}

impl Store for Strict {
    type Spec = StrictSpec;
    const HELP: &'static str = "a packet goes when none of a higher class waits (strict priorities)";

    fn new(spec: &StrictSpec, _: Site<'_>) -> Self {
        Self { spec: spec.clone(), lines: vec![Fifo::default(); spec.order.len() + 1], packets: 0, bytes: 0 }
    }

    fn join(&mut self, packet: Waiting, on_line: OnLine, lost: &mut Lost) -> Result<(), Refusal> {
        let order = &self.spec.order;
        let place = order.iter().position(|&dscp| dscp == packet.key.dscp).unwrap_or(order.len());
        self.lines[place].push(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.packet.size());
        while !self.spec.limit.holds(self.packets + on_line.packets, self.bytes + on_line.bytes) {
            let last = self.lines.iter_mut().rev().find_map(Fifo::pop_last);
            let Some(last) = self.count_out(last) else { break };
            lost.push((last, Refusal::Full));
        }
        Ok(())
    }

    fn next(&mut self, _: Time, _: &mut Lost) -> Option<Waiting> {
        let next = self.lines.iter_mut().find_map(Fifo::pop);
        self.count_out(next)
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
        let mut queue = Strict::new(&StrictSpec { limit: QueueLimit::Packets(limit), order: vec![46, 34] }, site());
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
}

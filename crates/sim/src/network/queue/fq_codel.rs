//! FQ-CoDel (RFC 8290): flows are hashed to queues, the queues take turns by deficit round robin, new ones
//! before old ones, and CoDel watches over each.

use serde::{Deserialize, Serialize};

use super::codel::{Control, Largest, Law};
use super::flow_queues::FlowQueues;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
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

/// Packets that a full queue loses at once, at most (§4.1).
const BATCH: u64 = 64;

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
pub struct FqCodel {
    law: Law,
    queues: FlowQueues<Control>,
    largest: Largest,
}

impl Store for FqCodel {
    type Spec = FqCodelSpec;
    const HELP: &'static str = "flows take turns, with CoDel over the queue of each (RFC 8290)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &FqCodelSpec, site: Site<'_>) -> Self {
        let FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn } = *spec;
        let queues = FlowQueues::new(limit, (flows, quantum_bytes), Control::default(), site);
        Self { law: Law::new(target_s, interval_s, ecn), queues, largest: Largest::default() }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal> {
        self.largest.see(&packet);
        self.queues.push(packet);
        while let Some((gone, control)) = self.queues.relieve(on_line, BATCH, lost) {
            // As in Linux's fq_codel_drop: CoDel is to drop sooner when it does.
            control.was_full(gone);
        }
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        let Self { law, largest, ref mut queues } = *self;
        // As in Linux, what waits in all lines keeps CoDel at work on each.
        queues
            .next(lost, |queue, others, lost| queue.watch.next(law, &mut queue.line, largest.beside(others), now, lost))
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.queues.waited_s(sum_s, now_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::tests::{IDLE, packet, site};

    /// §4.1: a full queue loses half of the bytes of the flow that has most, and at most 64 packets; what it loses counts for CoDel
    /// over that flow (Linux's fq_codel_drop).
    #[test]
    fn what_a_full_queue_drops_counts() {
        let limit = QueueLimit::Packets(10);
        let spec = FqCodelSpec { limit, target_s: 0.005, interval_s: 0.1, flows: 1024, quantum_bytes: 1514, ecn: true };
        let (mut queue, mut lost) = (FqCodel::new(&spec, site()), Lost::new());
        for flow in [vec![1; 3], vec![2; 20]].concat() {
            queue.join(packet(flow, 0.0, 1000), IDLE, &mut lost).expect("the fattest pays");
        }
        // Of eight packets beside three, four times four.
        assert_eq!(lost.iter().map(|(waiting, _)| waiting.key.flow).collect::<Vec<_>>(), [2; 16]);
        let mut count = |flow| queue.queues.queue_of(&packet(flow, 0.0, 1).key).watch.count();
        assert_eq!((count(1), count(2)), (0, 16));
    }

    /// Linux's CoDel looks at what waits of all flows: of a flow that waits too long even the last packet is lost.
    #[test]
    fn what_waits_of_others_counts() {
        let limit = QueueLimit::Unlimited;
        let spec = FqCodelSpec { limit, target_s: 0.005, interval_s: 0.1, flows: 1024, quantum_bytes: 1514, ecn: true };
        let (mut queue, mut lost) = (FqCodel::new(&spec, site()), Lost::new());
        for (flow, since_s) in [(1, 0.0), (1, 0.0), (2, 0.2), (2, 0.2)] {
            queue.join(packet(flow, since_s, 1000), IDLE, &mut lost).expect("room");
        }
        let mut next =
            |now_s| queue.next(Time::new(now_s), &mut lost).map(|waiting| (waiting.key.flow, waiting.since_s));
        // Above the target for the first time, with one packet of the flow behind it and two of the other.
        assert_eq!(next(0.201), Some((1, 0.0)));
        // An interval later the last of the first flow is lost; of the second flow the first is above the target for the
        // first time.
        assert_eq!(next(0.302), Some((2, 0.2)));
        assert_eq!(lost.iter().map(|(waiting, _)| waiting.key.flow).collect::<Vec<_>>(), [1]);
    }
}

//! FQ-COBALT: flows are hashed to queues, the queues take turns as those of FQ-CoDel do (RFC 8290), and COBALT watches
//! over each. It is CAKE without shaper, hosts, classes and ACK filter.

use serde::{Deserialize, Serialize};

use super::cobalt::{Control, Law};
use super::flow_queues::FlowQueues;
use super::{Lost, OnLine, Refusal, Site, Store, Waiting};
use crate::random::Stream;
use crate::scenario::QueueLimit;
use crate::time::Time;

/// Parameters of FQ-COBALT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCobaltSpec {
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

/// An FQ-COBALT queue.
#[derive(Clone, Debug)]
pub struct FqCobalt {
    law: Law,
    queues: FlowQueues<Control>,
    stream: Stream,
}

impl Store for FqCobalt {
    type Spec = FqCobaltSpec;
    const HELP: &'static str = "flows take turns, with COBALT over the queue of each";

    fn new(spec: &FqCobaltSpec, site: Site<'_>) -> Self {
        let FqCobaltSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn } = *spec;
        let queues = FlowQueues::new(limit, (flows, quantum_bytes), Control::default(), site);
        let law = Law { target_s, interval_s, packet_s: 0.0, ecn };
        Self { law, queues, stream: Stream::new(site.seed, site.link, 0, "queue") }
    }

    fn join(&mut self, packet: Waiting, on_line: OnLine, lost: &mut Lost) -> Result<(), Refusal> {
        self.queues.push(packet);
        while let Some((victim, control)) = self.queues.relieve(on_line) {
            control.was_full(self.law, packet.since_s);
            lost.push((victim, Refusal::Full));
        }
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        let (law, stream) = (self.law, &mut self.stream);
        self.queues.next(lost, |queue, _, lost| queue.watch.next(law, &mut queue.line, now, stream, lost))
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.queues.waited_s(sum_s, now_s)
    }

    fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

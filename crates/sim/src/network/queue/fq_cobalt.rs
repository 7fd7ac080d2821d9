//! FQ-COBALT: flows are hashed to queues, the queues take turns as those of FQ-CoDel do (RFC 8290), and COBALT watches
//! over each. It is CAKE without shaper, hosts, classes and ACK filter.

use super::cobalt::{Control, Law};
use super::flow_queues::FlowQueues;
use super::fq_codel::FqCodelSpec;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::random::Stream;
use crate::time::Time;

/// An FQ-COBALT queue.
#[derive(Clone, Debug)]
pub struct FqCobalt {
    law: Law,
    queues: FlowQueues<Control>,
    stream: Stream,
}

impl Store for FqCobalt {
    /// Its parameters are those of FQ-CoDel.
    type Spec = FqCodelSpec;
    const HELP: &'static str = "flows take turns, with COBALT over the queue of each";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &FqCodelSpec, site: Site<'_>) -> Self {
        let FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn } = *spec;
        let queues = FlowQueues::new(limit, (flows, quantum_bytes), Control::default(), site);
        let law = Law::of_seconds(target_s, interval_s, ecn);
        Self { law, queues, stream: Stream::new(site.seed, site.link, 0, "queue") }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal> {
        self.queues.push(packet);
        // One at a time, as cake_drop does.
        while let Some((_, control)) = self.queues.relieve(on_line, 1, lost) {
            control.was_full(self.law, packet.since_s);
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

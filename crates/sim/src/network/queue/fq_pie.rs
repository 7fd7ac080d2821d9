//! FQ-PIE (Tahiliani and others, Linux 5.6): flows are hashed to queues, the queues take turns as those of FQ-CoDel
//! do, and PIE (RFC 8033) watches over each.
//!
//! The delay of a queue is the time that its last departure waited, and none where it is empty (Linux's `pie.h`, without
//! the estimator of the departure rate). It does not change between two calls, so that the updates between them are made
//! at the second.

use serde::{Deserialize, Serialize};

use super::flow_queues::FlowQueues;
use super::pie::{Controller, Law, updates_until};
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::random::Stream;
use crate::time::Time;

/// What Linux's `sch_pie.c` has beyond RFC 8033, or in its place: fewer bytes than two full packets may always wait, 63/64 of the
/// probability are left after an update without any delay, and a delay of more than so many seconds is far too long.
const SHORT_BYTES: u64 = 2 * 1500 - 1;
const DECAY: f64 = 63.0 / 64.0;
const FAR_S: f64 = 0.25;

/// Parameters of FQ-PIE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqPieSpec {
    /// What "full" means for all queues together; the packet in service counts.
    pub limit: QueueLimit,
    /// Queueing delay of each flow that it aims at, in seconds.
    pub target_s: f64,
    /// Time from update to update, in seconds.
    pub update_s: f64,
    /// For so long a burst may pass a queue that was short, in seconds.
    pub burst_s: f64,
    /// Queues that flows are hashed to.
    pub flows: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum_bytes: u32,
    /// Whether packets are marked instead of dropped, while the probability is small.
    pub ecn: bool,
}

/// RFC 8033 §5.4: what the probabilities of packets since the last drop add up to before which none is dropped, and from which
/// on each is.
const NONE_BELOW: f64 = 0.85;
const EACH_FROM: f64 = 8.5;

/// PIE over the queue of a flow.
#[derive(Clone, Copy, Debug)]
struct Watch {
    controller: Controller,
    /// How long the last packet waited that left, in seconds; none: the queue is empty.
    waited_s: f64,
    /// What the probabilities of packets since the last drop add up to: Linux's accu_prob.
    accumulated: f64,
}

impl Watch {
    /// An update; after one that finds the flow calm all begins anew (pie_vars_init).
    fn update(&mut self, law: Law, waiting: bool) {
        if self.controller.update(law, self.waited_s, waiting) {
            self.accumulated = 0.0;
        }
    }

    /// Whether an arrival is chosen to tell its sender, where so many bytes wait: neither soon after the last nor long after it,
    /// as chance alone would have it (pie_drop_early).
    fn chooses(&mut self, law: Law, bytes: u64, stream: &mut Stream) -> bool {
        let probability = self.controller.probability;
        if !self.controller.may_choose(law, self.waited_s, bytes) {
            return false;
        }
        self.accumulated = if probability > 0.0 { self.accumulated + probability } else { 0.0 };
        if self.accumulated < NONE_BELOW || self.accumulated >= EACH_FROM {
            return self.accumulated >= EACH_FROM;
        }
        let chosen = stream.chance(probability);
        if chosen {
            self.accumulated = 0.0;
        }
        chosen
    }
}

/// An FQ-PIE queue.
#[derive(Clone, Debug)]
pub struct FqPie {
    law: Law,
    ecn: bool,
    queues: FlowQueues<Watch>,
    /// Updates made so far.
    updates: u64,
    stream: Stream,
}

impl FqPie {
    /// Makes the updates up to `now_s`.
    fn catch_up(&mut self, now_s: f64) {
        let law = self.law;
        while (self.updates + 1) as f64 * law.update_s <= now_s {
            self.updates += 1;
            let mut at_rest = true;
            for queue in self.queues.iter_mut() {
                if queue.watch.waited_s > 0.0 || !queue.watch.controller.is_at_rest(law) {
                    queue.watch.update(law, queue.line.len() > 0);
                    at_rest = false;
                }
            }
            if at_rest {
                // Nothing changes until a packet leaves: the rest at once.
                self.updates = self.updates.max(updates_until(law.update_s, now_s));
            }
        }
    }
}

impl Store for FqPie {
    type Spec = FqPieSpec;
    const HELP: &'static str = "flows take turns, with PIE over the queue of each (Linux's fq_pie)";
    const TAKES_WHAT_FITS: bool = false;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &FqPieSpec, site: Site<'_>) -> Self {
        let FqPieSpec { limit, target_s, update_s, burst_s, flows, quantum_bytes, ecn } = *spec;
        let law = Law { target_s, update_s, burst_s, short_bytes: SHORT_BYTES, decay: DECAY, far_s: FAR_S };
        let fresh = Watch { controller: Controller::new(law), waited_s: 0.0, accumulated: 0.0 };
        let queues = FlowQueues::new(limit, (flows, quantum_bytes), fresh, site);
        Self { law, ecn, queues, updates: 0, stream: Stream::new(site.seed, site.link, 0, "queue") }
    }

    fn join(&mut self, mut packet: Waiting, on_line: Load, _: &mut Lost) -> Result<(), Refusal> {
        self.catch_up(packet.since_s);
        let room = self.queues.has_room(packet.packet.size(), on_line);
        let queue = self.queues.queue_of(&packet.key);
        if !room {
            queue.watch.accumulated = 0.0;
            return Err(Refusal::Full);
        }
        if queue.watch.chooses(self.law, queue.line.bytes(), &mut self.stream) {
            if !(self.ecn && packet.packet.is_capable() && queue.watch.controller.marks()) {
                queue.watch.accumulated = 0.0;
                return Err(Refusal::Managed);
            }
            packet.marked = true;
        }
        self.queues.push(packet);
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        self.catch_up(now.seconds());
        self.queues.next(lost, |queue, _, _| {
            let next = queue.line.pop();
            let left = next.filter(|_| queue.line.len() > 0);
            queue.watch.waited_s = left.map_or(0.0, |waiting| now.seconds() - waiting.since_s);
            next
        })
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.queues.waited_s(sum_s, now_s)
    }

    fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::tests::{IDLE, packet, site};

    const SPEC: FqPieSpec = FqPieSpec {
        limit: QueueLimit::Unlimited,
        target_s: 0.015,
        update_s: 0.015,
        burst_s: 0.15,
        flows: 1024,
        quantum_bytes: 1514,
        ecn: false,
    };

    /// Of two flows over a line of a packet each millisecond the one with more than its share is dropped, the other never.
    #[test]
    fn a_flow_below_its_share_loses_nothing() {
        let mut queue = FqPie::new(&SPEC, site());
        let (mut refused, mut lost) = ([0, 0], Lost::new());
        for millisecond in 0..20_000u32 {
            let now_s = f64::from(millisecond) * 0.001;
            for flow in if millisecond % 4 == 0 { vec![0, 0, 1] } else { vec![0, 0] } {
                if queue.join(packet(flow, now_s, 1000), IDLE, &mut lost) == Err(Refusal::Managed) {
                    refused[flow as usize] += 1;
                }
            }
            queue.next(Time::new(now_s), &mut lost);
        }
        assert!(refused[0] > 1000 && refused[1] == 0, "{refused:?}");
        assert!(lost.is_empty());
    }

    /// The delay is that of the last departure, and none where nothing waits (Linux's `pie_process_dequeue`).
    #[test]
    fn the_probability_is_that_of_the_flows_own_delay() {
        let mut queue = FqPie::new(&SPEC, site());
        let mut lost = Lost::new();
        for _ in 0..2 {
            queue.join(packet(7, 0.001, 1000), IDLE, &mut lost).expect("room");
        }
        queue.next(Time::new(0.056), &mut lost);
        queue.catch_up(0.061);
        let probability = queue.queues.queue_of(&packet(7, 0.0, 1).key).watch.controller.probability;
        // RFC 8033 §4.2, over 2048 at first: 0.125 (55 − 15) ms + 1.25 (55 − 0) ms at the update of 60 ms.
        assert!((probability - (0.125 * 0.04 + 1.25 * 0.055) / 2048.0).abs() < 1e-15, "{probability}");
        queue.next(Time::new(0.062), &mut lost);
        assert_eq!(queue.queues.queue_of(&packet(7, 0.0, 1).key).watch.waited_s, 0.0);
        assert_eq!(queue.queues.queue_of(&packet(8, 0.0, 1).key).watch.controller.probability, 0.0);
    }

    /// Linux's `pie_calculate_probability`, where it is not RFC 8033's: what is far too long counts more, and the probability
    /// fades by a 64th, where nothing waits.
    #[test]
    fn far_delays_count_more_and_calm_ones_fade_as_in_linux() {
        let law = FqPie::new(&SPEC, site()).law;
        let after = |delay_s, waiting| {
            let mut controller = Controller { probability: 0.3, delay_s, burst_s: 0.0 };
            controller.update(law, delay_s, waiting);
            controller.probability
        };
        let calm = 0.3 - 0.125 * 0.015;
        for (delay_s, waiting, expected) in [
            // 0.125 (250 − 15) ms, of which 2 % at most count, and beyond 250 ms another 2 %.
            (0.25, true, 0.32),
            (0.26, true, 0.34),
            (0.0, true, calm),
            (0.0, false, calm * 63.0 / 64.0),
        ] {
            assert!((after(delay_s, waiting) - expected).abs() < 1e-12, "{delay_s} {waiting}");
        }
    }

    /// Linux's `pie_drop_early`: less than two full packets may always wait, and a low probability counts as soon as a packet has
    /// left that waited for half of the target.
    #[test]
    fn what_may_wait_is_told_by_bytes_and_the_last_departure() {
        let accepted = |size, probability, waited_s| {
            let (mut queue, mut lost) = (FqPie::new(&SPEC, site()), Lost::new());
            let controller = Controller { probability, delay_s: 0.0, burst_s: 0.0 };
            queue.queues.queue_of(&packet(7, 0.001, size).key).watch = Watch { controller, waited_s, accumulated: 0.0 };
            (0..100).filter(|_| queue.join(packet(7, 0.001, size), IDLE, &mut lost).is_ok()).count()
        };
        assert_eq!((accepted(1500, 1.0, 0.02), accepted(200, 1.0, 0.02)), (2, 15));
        assert_eq!(accepted(1500, 0.19, 0.007), 100);
        assert!((70..95).contains(&accepted(1500, 0.19, 0.008)));
    }

    /// RFC 8033 §5.4: at a probability of a tenth no two drops are fewer than nine packets apart, and on the average eight more than
    /// the ten of chance alone.
    #[test]
    fn drops_are_spread() {
        let law = FqPie::new(&SPEC, site()).law;
        let mut stream = Stream::new(1, "wire", 0, "queue");
        let controller = Controller { probability: 0.1, delay_s: 0.02, burst_s: 0.0 };
        let mut watch = Watch { controller, waited_s: 0.02, accumulated: 0.0 };
        let mut dropped = || {
            let chosen = watch.chooses(law, 9000, &mut stream);
            if chosen {
                watch.accumulated = 0.0;
            }
            chosen
        };
        let drops: Vec<u32> = (0..100_000).filter(|_| dropped()).collect();
        let nearest = drops.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert_eq!(nearest, Some(9));
        let apart = 100_000.0 / drops.len() as f64;
        assert!((apart - 18.0).abs() < 0.5, "{apart}");
    }
}

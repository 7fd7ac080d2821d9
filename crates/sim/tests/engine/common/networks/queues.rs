//! Random networks with other queues than drop-tail.

use proptest::prelude::*;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::cake::{AckFilter, CakeSpec, Cells, Isolation, Overhead, Tins};
use tightlink_sim::network::queue::class_marks::ClassMarks;
use tightlink_sim::network::queue::codel::CodelSpec;
use tightlink_sim::network::queue::drr::DrrSpec;
use tightlink_sim::network::queue::dualpi2::{DualPi2Spec, Overload, Scheduler};
use tightlink_sim::network::queue::fq_codel::FqCodelSpec;
use tightlink_sim::network::queue::fq_pie::FqPieSpec;
use tightlink_sim::network::queue::pie::PieSpec;
use tightlink_sim::network::queue::policer::PolicerSpec;
use tightlink_sim::network::queue::red::{AdaptiveSpec, RedSpec};
use tightlink_sim::network::queue::rem::RemSpec;
use tightlink_sim::network::queue::strict::StrictSpec;
use tightlink_sim::network::queue::threshold::ThresholdSpec;
use tightlink_sim::scenario::{QueueLimit, Scenario};

use super::DECIMAL;

/// A queue other than drop-tail with times of some steps of the grid, so that its rules matter, and any limit.
type OtherQueue = fn(QueueLimit, u32) -> QueueSpec;

fn codel(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::Codel(CodelSpec { limit, target_s, interval_s, ecn: step.is_multiple_of(2) })
}

fn fq_codel(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    let (flows, quantum_bytes) = (1 + step % 4, DECIMAL.bytes * (1 + step % 7));
    QueueSpec::FqCodel(FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn: step.is_multiple_of(2) })
}

fn fq_pie(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, update_s] = [1 + step % 5, 1 + step % 3].map(|steps| DECIMAL.seconds * f64::from(steps));
    let (flows, quantum_bytes, burst_s) = (1 + step % 4, DECIMAL.bytes * (1 + step % 7), 3.0 * update_s);
    let ecn = step.is_multiple_of(2);
    // Small limits leave it little to do, as 3000 bytes of a flow may always wait.
    let limit = if step.is_multiple_of(3) { QueueLimit::Unlimited } else { limit };
    QueueSpec::FqPie(FqPieSpec { limit, target_s, update_s, burst_s, flows, quantum_bytes, ecn })
}

fn cobalt(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::Cobalt(CodelSpec { limit, target_s, interval_s, ecn: step.is_multiple_of(2) })
}

fn fq_cobalt(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    let (flows, quantum_bytes) = (1 + step % 4, DECIMAL.bytes * (1 + step % 7));
    QueueSpec::FqCobalt(FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn: step.is_multiple_of(2) })
}

/// Its shaper is faster and slower than lines are, and now and then there is none.
fn cake(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, interval_s] = [1 + step % 5, 2 + step % 17].map(|steps| DECIMAL.seconds * f64::from(steps));
    let rates = [None, Some(0.5), Some(1.0), Some(3.0)];
    let overhead = Overhead {
        bytes: step % 50,
        smallest_bytes: [0, 84][step as usize % 2],
        cells: [Cells::None, Cells::Atm, Cells::Ptm][step as usize % 3],
    };
    use Isolation::{DualDsthost, DualSrchost, Flows, TripleIsolate};
    QueueSpec::Cake(CakeSpec {
        limit,
        target_s,
        interval_s,
        ecn: step.is_multiple_of(2),
        rate_bps: rates[step as usize / 7 % 4].map(|rate| rate * DECIMAL.rate_bps),
        overhead,
        isolation: [Flows, DualSrchost, DualDsthost, TripleIsolate][step as usize % 4],
        tins: [Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4][step as usize / 2 % 3],
        ack_filter: [AckFilter::None, AckFilter::Normal, AckFilter::Aggressive][step as usize / 3 % 3],
    })
}

fn dualpi2(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, update_s, shift_s] =
        [1 + step % 5, 1 + step % 3, step % 7].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::DualPi2(DualPi2Spec {
        limit,
        target_s,
        update_s,
        // So large that within a short run many packets are dropped.
        alpha: 10.0,
        beta: 40.0,
        coupling: [1.5, 2.0, 4.0][step as usize % 3],
        ramp_s: [target_s / 4.0, target_s / 2.0],
        ramp_packets: step % 3,
        scheduler: if step.is_multiple_of(2) { Scheduler::Wrr(0.1) } else { Scheduler::TimeShifted(shift_s) },
        overload: [Overload::Drop, Overload::Overflow][step as usize / 3 % 2],
        l4s: vec![1, 46],
    })
}

fn drr(limit: QueueLimit, step: u32) -> QueueSpec {
    let weights = vec![(0, 1.0), (46, 0.3), (1, f64::from(1 + step % 5))];
    QueueSpec::Drr(DrrSpec { limit, quantum_bytes: DECIMAL.bytes * (1 + step % 7), weights, mark: class_marks(step) })
}

/// Thresholds of some classes, of all, or of none.
fn class_marks(step: u32) -> Option<ClassMarks> {
    let classes = vec![(46, QueueLimit::Packets(1 + step % 5)), (0, QueueLimit::Bytes(3000))];
    let others = [QueueLimit::Unlimited, QueueLimit::Packets(2)][step as usize / 5 % 2];
    (!step.is_multiple_of(3)).then_some(ClassMarks { classes, others })
}

fn strict(limit: QueueLimit, step: u32) -> QueueSpec {
    let order = if step.is_multiple_of(2) { vec![46, 0] } else { vec![1] };
    QueueSpec::Strict(StrictSpec { limit, order, mark: class_marks(step) })
}

fn red(limit: QueueLimit, step: u32) -> QueueSpec {
    let in_bytes = step.is_multiple_of(3);
    let unit = if in_bytes { f64::from(DECIMAL.bytes) } else { 1.0 };
    let adaptive = AdaptiveSpec { interval_s: 20.0 * DECIMAL.seconds, least: 0.01, most: 0.5 };
    QueueSpec::Red(RedSpec {
        limit,
        min: unit * f64::from(1 + step % 3),
        max: unit * f64::from(5 + step % 4),
        in_bytes,
        weight: [0.02, 0.2, 1.0][step as usize % 3],
        max_probability: 0.1,
        gentle: step.is_multiple_of(2),
        wait: step % 5 < 3,
        packet_bytes: DECIMAL.bytes,
        adaptive: (step.is_multiple_of(4)).then_some(adaptive),
        ecn: step % 2 == 1,
    })
}

fn pie(limit: QueueLimit, step: u32) -> QueueSpec {
    let [target_s, update_s] = [1 + step % 5, 1 + step % 3].map(|steps| DECIMAL.seconds * f64::from(steps));
    QueueSpec::Pie(PieSpec { limit, target_s, update_s, burst_s: 3.0 * update_s, ecn: step.is_multiple_of(2) })
}

fn rem(limit: QueueLimit, step: u32) -> QueueSpec {
    QueueSpec::Rem(RemSpec {
        limit,
        gamma: [0.01, 1.0][step as usize % 2],
        alpha: 0.1,
        phi: 1.1,
        target_packets: f64::from(step % 4),
        interval_s: DECIMAL.seconds * f64::from(1 + step % 7),
        packet_bytes: DECIMAL.bytes,
        ecn: !step.is_multiple_of(3),
        drop: step % 3 < 2,
    })
}

fn threshold(limit: QueueLimit, step: u32) -> QueueSpec {
    QueueSpec::Threshold(ThresholdSpec { limit, mark: QueueLimit::Packets(step % 5) })
}

fn policer(limit: QueueLimit, step: u32) -> QueueSpec {
    let rate_bps = DECIMAL.rate_bps * f64::from(1 + step % 3);
    QueueSpec::Policer(PolicerSpec { limit, rate_bps, burst_bytes: u64::from(DECIMAL.bytes * (1 + step % 20)) })
}

/// Queues that look at nothing but their length.
pub const BY_LENGTH: [OtherQueue; 2] = [red, threshold];
/// Queues that decide when the line is free.
pub const AT_DEPARTURE: [OtherQueue; 9] = [codel, fq_codel, fq_pie, cobalt, fq_cobalt, cake, dualpi2, drr, strict];
/// All but drop-tail.
pub const ALL_OTHERS: [OtherQueue; 14] =
    [codel, fq_codel, fq_pie, cobalt, fq_cobalt, cake, dualpi2, drr, strict, red, pie, rem, threshold, policer];

/// The same networks with other queues than drop-tail at some links.
pub fn with_queues(
    networks: impl Strategy<Value = Scenario>,
    queues: &'static [OtherQueue],
) -> impl Strategy<Value = Scenario> {
    let other = prop::option::weighted(0.6, (prop::sample::select(queues), 0u32..1000));
    (networks, prop::collection::vec(other, 16)).prop_map(|(mut scenario, others)| {
        for (flow, dscp) in scenario.flows.iter_mut().zip([0u8, 46, 1, 8, 34].into_iter().cycle()) {
            flow.dscp = dscp;
        }
        for (link, other) in scenario.links.iter_mut().zip(others) {
            if let Some((queue, step)) = other {
                link.queue = queue(link.queue.limit(), step);
            }
        }
        scenario
    })
}

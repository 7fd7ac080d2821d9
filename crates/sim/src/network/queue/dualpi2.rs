//! DualPI2 (RFC 9332 Appendix A): a queue for scalable controls (L4S) and one for Classic ones, and one controller of the
//! delay that signals to both, so that their flows share the line evenly.
//!
//! The delay of a queue is that of its first packet, which only joining and leaving change: the updates between two calls
//! are made at the second, and are exact.

use serde::{Deserialize, Serialize};

use super::fifo::Fifo;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::time::Time;

/// Parameters of DualPI2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Spec {
    /// What "full" means for both queues together; the packet in service counts.
    pub limit: QueueLimit,
    /// Delay of the Classic queue that it aims at, in seconds: `target`.
    pub target_s: f64,
    /// Time from update to update, in seconds: `Tupdate`.
    pub update_s: f64,
    /// Weight of the delay's distance from its target in an update, in 1/s.
    pub alpha: f64,
    /// Weight of the delay's change in an update, in 1/s.
    pub beta: f64,
    /// How much larger the base probability is for scalable controls: `k`.
    pub coupling: f64,
    /// The L4S queue's own marks: of delays above the first some packets, above the second all, in seconds.
    pub ramp_s: [f64; 2],
    /// Packets of the L4S queue that its own marks leave alone: `Th_len`.
    pub ramp_packets: u32,
    /// Which queue is served.
    pub scheduler: Scheduler,
    /// What an overload, in which marks do not help, comes to.
    pub overload: Overload,
    /// Code points of packets that join the L4S queue beside those that say ECT(1) or CE.
    pub l4s: Vec<u8>,
}

/// Which queue is served where both have packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Weighted round robin: the share of the Classic queue in bytes, which must suffice.
    Wrr(f64),
    /// The one whose first packet has waited longer, after so many seconds for the L4S queue (§4.2.2: TS-FIFO).
    TimeShifted(f64),
}

/// What an overload comes to (§4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overload {
    /// Packets of both queues are dropped, with the probability of the Classic queue.
    Drop,
    /// The queues grow up to their limit.
    Overflow,
}

/// Appendix A.2 (`p_Lmax`): the L4S queue's coupled probability from which marks do not help.
const SATURATED: f64 = 1.0;
/// What the weighted round robin begins with: credit for one packet of that size, as in Linux.
const FIRST_BYTES: f64 = 1514.0;

/// A queue of the two, with what is left of the likelihoods of its signals (Appendix A.1: `recur`).
#[derive(Clone, Debug, Default)]
struct Side {
    line: Fifo,
    signals: f64,
    overloads: f64,
}

impl Side {
    /// How long its first packet has waited.
    fn delay_s(&self, now_s: f64) -> f64 {
        self.line.first().map_or(0.0, |first| now_s - first.since_s)
    }
}

/// Whether something of a likelihood happens, as evenly as can be.
fn recurs(left: &mut f64, likelihood: f64) -> bool {
    *left += likelihood;
    let happens = *left > 1.0;
    if happens {
        *left -= 1.0;
    }
    happens
}

/// A DualPI2 queue.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    spec: DualPi2Spec,
    l4s: Side,
    classic: Side,
    /// The base probability: `p'`.
    base: f64,
    /// The delay at the last update, in seconds.
    delay_s: f64,
    /// Updates made so far.
    updates: u64,
    /// Above zero, it is the turn of the Classic queue, in bytes.
    credit: f64,
}

impl DualPi2 {
    /// What waits, of both.
    fn waiting(&self) -> Load {
        self.l4s.line.load() + self.classic.line.load()
    }

    /// Makes the updates up to `now_s`.
    fn catch_up(&mut self, now_s: f64) {
        while (self.updates + 1) as f64 * self.spec.update_s <= now_s {
            self.updates += 1;
            if self.waiting().packets > 0 || self.base > 0.0 || self.delay_s > 0.0 {
                let at_s = self.updates as f64 * self.spec.update_s;
                self.update(self.l4s.delay_s(at_s).max(self.classic.delay_s(at_s)));
            } else {
                // Nothing changes until a packet comes: all but the last at once.
                self.updates = self.updates.max(((now_s / self.spec.update_s) as u64).saturating_sub(1));
            }
        }
    }

    /// One update (Appendix A.2).
    fn update(&mut self, delay_s: f64) {
        let DualPi2Spec { target_s, alpha, beta, coupling, overload, .. } = self.spec;
        let most = if overload == Overload::Drop { 1.0 } else { 1.0 / coupling };
        self.base += alpha * (delay_s - target_s) + beta * (delay_s - self.delay_s);
        self.base = self.base.clamp(0.0, most.min(1.0));
        self.delay_s = delay_s;
    }

    /// The L4S queue's own likelihood of a mark, for a packet that waited so long with so many behind it.
    fn native(&self, delay_s: f64, behind: usize) -> f64 {
        let [low_s, high_s] = self.spec.ramp_s;
        if behind < self.spec.ramp_packets as usize || delay_s <= low_s {
            0.0
        } else if delay_s >= high_s {
            1.0
        } else {
            (delay_s - low_s) / (high_s - low_s)
        }
    }

    /// Whether the L4S queue is served next.
    fn serves_l4s(&self, now_s: f64) -> bool {
        if self.l4s.line.len() == 0 || self.classic.line.len() == 0 {
            return self.l4s.line.len() > 0;
        }
        match self.spec.scheduler {
            Scheduler::Wrr(_) => self.credit <= 0.0,
            Scheduler::TimeShifted(shift_s) => self.l4s.delay_s(now_s) + shift_s >= self.classic.delay_s(now_s),
        }
    }

    /// Weighted round robin, in bytes: a packet of one queue went while the other had some.
    fn settle(&mut self, waiting: &Waiting, from_l4s: bool) {
        let Scheduler::Wrr(share) = self.spec.scheduler else { return };
        let (other, weight) = if from_l4s { (&self.classic, share) } else { (&self.l4s, share - 1.0) };
        if other.line.len() > 0 {
            self.credit += weight * f64::from(waiting.packet.size());
        }
    }

    /// What the queues signal by a packet that leaves: nothing if it is lost.
    fn signal(&mut self, mut waiting: Waiting, from_l4s: bool, now_s: f64) -> Option<Waiting> {
        let (coupled, classic) = (self.spec.coupling * self.base, self.base * self.base);
        let saturated = coupled >= SATURATED && self.spec.overload == Overload::Drop;
        let capable = waiting.packet.is_capable();
        if !from_l4s || !is_scalable(&waiting) {
            let side = if from_l4s { &mut self.l4s } else { &mut self.classic };
            if recurs(&mut side.signals, classic) {
                if !capable || saturated {
                    return None;
                }
                waiting.marked = true;
            }
            return Some(waiting);
        }
        if saturated && recurs(&mut self.l4s.overloads, classic) {
            return None;
        }
        let native = if saturated { 0.0 } else { self.native(now_s - waiting.since_s, self.l4s.line.len()) };
        waiting.marked |= recurs(&mut self.l4s.signals, native.max(coupled).min(1.0));
        Some(waiting)
    }
}

/// What the weighted round robin begins with where no packet waits.
fn first_credit(scheduler: Scheduler) -> f64 {
    match scheduler {
        Scheduler::Wrr(share) => FIRST_BYTES * (2.0 * share - 1.0),
        Scheduler::TimeShifted(_) => 0.0,
    }
}

/// Whether a packet says that a scalable control sends it, or that it was marked where that can no longer be seen
/// (RFC 9331 §5.1).
fn is_scalable(waiting: &Waiting) -> bool {
    waiting.packet.is_scalable() || waiting.packet.is_capable() && waiting.packet.is_marked()
}

impl Store for DualPi2 {
    type Spec = DualPi2Spec;
    const HELP: &'static str = "one queue for L4S and one for Classic traffic, coupled (RFC 9332)";
    const TAKES_WHAT_FITS: bool = false;

    fn marks(_spec: &Self::Spec) -> bool {
        true
    }

    fn new(spec: &DualPi2Spec, _: Site<'_>) -> Self {
        let credit = first_credit(spec.scheduler);
        let (l4s, classic) = (Side::default(), Side::default());
        Self { spec: spec.clone(), l4s, classic, base: 0.0, delay_s: 0.0, updates: 0, credit }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, _: &mut Lost) -> Result<(), Refusal> {
        self.catch_up(packet.since_s);
        if !self.spec.limit.takes(self.waiting() + on_line, packet.packet.size()) {
            return Err(Refusal::Full);
        }
        let l4s = is_scalable(&packet) || self.spec.l4s.contains(&packet.key.dscp);
        if l4s { &mut self.l4s } else { &mut self.classic }.line.push(packet);
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        let now_s = now.seconds();
        self.catch_up(now_s);
        loop {
            let from_l4s = self.serves_l4s(now_s);
            let side = if from_l4s { &mut self.l4s } else { &mut self.classic };
            let Some(waiting) = side.line.pop() else {
                self.credit = first_credit(self.spec.scheduler);
                return None;
            };
            if let Some(next) = self.signal(waiting, from_l4s, now_s) {
                self.settle(&next, from_l4s);
                return Some(next);
            }
            lost.push((waiting, Refusal::Managed));
        }
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.classic.line.waited_s(self.l4s.line.waited_s(sum_s, now_s), now_s)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::queue::tests::{IDLE, drain, packet, site};
    use crate::packet::Packet;

    const SPEC: DualPi2Spec = DualPi2Spec {
        limit: QueueLimit::Unlimited,
        target_s: 0.015,
        update_s: 0.016,
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        ramp_s: [0.0008, 0.0012],
        ramp_packets: 1,
        scheduler: Scheduler::Wrr(0.1),
        overload: Overload::Drop,
        l4s: Vec::new(),
    };

    fn scalable(flow: u64, since_s: f64) -> Waiting {
        let waiting = packet(flow, since_s, 1000);
        Waiting { packet: Packet::scalable(waiting.packet), ..waiting }
    }

    fn classic(flow: u64, since_s: f64, capable: bool) -> Waiting {
        let waiting = packet(flow, since_s, 1000);
        Waiting { packet: if capable { waiting.packet.capable() } else { waiting.packet }, ..waiting }
    }

    /// Appendix A.1, figures 2 and 6, by hand: a Classic packet comes at 24 ms and stays, updates are each 16 ms.
    #[test]
    fn the_base_probability_moves_as_the_controller_says() {
        let mut queue = DualPi2::new(&SPEC, site());
        queue.join(classic(0, 0.024, false), IDLE, &mut Lost::new()).expect("room");
        let expected = [0.02448, 0.07712, 0.13232, 0.19008, 0.2504, 0.31328, 0.37872, 0.44672, 0.51728];
        for (number, expected) in (2u32..).zip(expected) {
            queue.catch_up(0.016 * f64::from(number) + 0.0005);
            assert!((queue.base - expected).abs() < 1e-12, "update {number}: {}", queue.base);
        }
    }

    /// Shares of packets that are marked and lost at a base probability, which does not move, after so long a wait.
    fn shares(spec: &DualPi2Spec, base: f64, wait_s: f64, of: impl Fn(f64) -> Waiting) -> (f64, f64) {
        const PACKETS: u32 = 10_000;
        let mut queue = DualPi2::new(&DualPi2Spec { update_s: 1e9, ..spec.clone() }, site());
        queue.base = base;
        let (mut lost, mut marked) = (Lost::new(), 0);
        for _ in 0..=PACKETS {
            queue.join(of(1.0), IDLE, &mut lost).expect("room");
        }
        for _ in 0..PACKETS {
            let Some(next) = queue.next(Time::new(1.0 + wait_s), &mut lost) else { break };
            marked += u32::from(next.marked);
        }
        (f64::from(marked) / f64::from(PACKETS), lost.len() as f64 / f64::from(PACKETS))
    }

    /// Likelihoods are spent evenly: of 10,000 packets, what happens differs from the likelihood by one at most, and by
    /// what is lost before.
    fn is_near(share: f64, expected: f64) -> bool {
        (share - expected).abs() < 0.001
    }

    /// Figure 6: p_C = p'², p_CL = k p', and the larger of that and the ramp (figure 5).
    #[test]
    fn the_signals_of_both_queues_are_coupled() {
        for (coupling, base) in [(2.0, 0.2), (4.0, 0.2), (2.0, 0.05)] {
            let spec = DualPi2Spec { coupling, ..SPEC };
            let (marked, lost) = shares(&spec, base, 0.0, |at| scalable(0, at));
            assert!(is_near(marked, coupling * base) && lost == 0.0, "{marked} {lost}");
            let (marked, lost) = shares(&spec, base, 0.0, |at| classic(0, at, true));
            assert!(is_near(marked, base * base) && lost == 0.0, "{marked} {lost}");
            let (marked, lost) = shares(&spec, base, 0.0, |at| classic(0, at, false));
            assert!(marked == 0.0 && is_near(lost, base * base), "{marked} {lost}");
        }
        for (wait_s, expected) in [(0.0008, 0.1), (0.001, 0.5), (0.0011, 0.75), (0.0012, 1.0), (0.1, 1.0)] {
            let (marked, _) = shares(&SPEC, 0.05, wait_s, |at| scalable(0, at));
            assert!(is_near(marked, expected), "after {wait_s} s: {marked}");
        }
        let step = DualPi2Spec { ramp_s: [0.001, 0.001], ..SPEC };
        assert!(is_near(shares(&step, 0.0, 0.000_999, |at| scalable(0, at)).0, 0.0));
        assert!(is_near(shares(&step, 0.0, 0.001_001, |at| scalable(0, at)).0, 1.0));
    }

    /// §4.2.3 and Appendix A.2: from p_CL = 1 on, packets of both queues are dropped with p_C, marked or not.
    #[test]
    fn an_overload_is_dropped_or_overflows() {
        let (marked, lost) = shares(&SPEC, 0.6, 0.0, |at| scalable(0, at));
        assert!(is_near(lost, 0.36) && is_near(marked, 0.64), "all that are left are marked: {marked} {lost}");
        let (marked, lost) = shares(&SPEC, 0.6, 0.0, |at| classic(0, at, true));
        assert!(marked == 0.0 && is_near(lost, 0.36), "{marked} {lost}");
        let mut queue = DualPi2::new(&DualPi2Spec { overload: Overload::Overflow, ..SPEC }, site());
        (0..200).for_each(|_| queue.update(1.0));
        assert_eq!(queue.base, 0.5, "1 / k");
        let mut queue = DualPi2::new(&SPEC, site());
        (0..200).for_each(|_| queue.update(1.0));
        assert_eq!(queue.base, 1.0);
    }

    /// Of 1000 packets that go, the share of the Classic queue is that of the round robin, within a packet.
    #[test]
    fn the_classic_queue_has_its_share() {
        for share in [0.1, 0.5, 0.7] {
            let spec = DualPi2Spec { scheduler: Scheduler::Wrr(share), update_s: 1e9, ..SPEC };
            let mut queue = DualPi2::new(&spec, site());
            let mut lost = Lost::new();
            for _ in 0..1000 {
                queue.join(classic(0, 0.0, false), IDLE, &mut lost).expect("room");
                queue.join(scalable(1, 0.0), IDLE, &mut lost).expect("room");
            }
            let gone: Vec<u64> =
                (0..1000).filter_map(|_| queue.next(Time::ZERO, &mut lost)).map(|w| w.key.flow).collect();
            let classic = gone.iter().filter(|&&flow| flow == 0).count() as f64;
            assert!((classic - 1000.0 * share).abs() <= 2.0, "{classic}");
        }
    }

    #[test]
    fn with_a_shift_the_l4s_queue_goes_first_for_so_long() {
        let spec = DualPi2Spec { scheduler: Scheduler::TimeShifted(0.04), update_s: 1e9, ..SPEC };
        for (after_s, first) in [(0.039, 1), (0.041, 0)] {
            let mut queue = DualPi2::new(&spec, site());
            let mut lost = Lost::new();
            queue.join(classic(0, 0.0, false), IDLE, &mut lost).expect("room");
            queue.join(scalable(1, after_s), IDLE, &mut lost).expect("room");
            let next = queue.next(Time::new(0.05), &mut lost).expect("two wait");
            assert_eq!(next.key.flow, first, "{after_s} s later");
        }
    }

    /// RFC 9331 §5.1: ECT(1) and CE; besides, classes that the scenario names.
    #[test]
    fn packets_are_told_apart_by_their_ecn_field_and_class() {
        let spec = DualPi2Spec { l4s: vec![46], ..SPEC };
        let joins_l4s = |waiting: Waiting| {
            let mut queue = DualPi2::new(&spec, site());
            queue.join(waiting, IDLE, &mut Lost::new()).expect("room");
            queue.l4s.line.len() == 1
        };
        let plain = classic(0, 0.0, false);
        assert!(joins_l4s(scalable(0, 0.0)) && !joins_l4s(plain) && !joins_l4s(classic(0, 0.0, true)));
        assert!(joins_l4s(Waiting { packet: plain.packet.capable().marked(), ..plain }));
        assert!(joins_l4s(Waiting { key: crate::network::queue::FlowKey { dscp: 46, ..plain.key }, ..plain }));
    }

    proptest! {
        /// Updates that are made late, many at once, are those that are made in time; flows keep their order.
        #[test]
        fn late_updates_are_exact(steps in prop::collection::vec((0.0..0.1f64, any::<bool>(), any::<bool>()), 1..80)) {
            let (mut late, mut punctual) = (DualPi2::new(&SPEC, site()), DualPi2::new(&SPEC, site()));
            let mut now_s = 0.0f64;
            for (pause_s, comes, l4s) in steps {
                let next_s = now_s + pause_s * pause_s * 10.0;
                while now_s < next_s {
                    now_s += 0.0071;
                    punctual.catch_up(now_s.min(next_s));
                }
                now_s = next_s;
                let (mut a, mut b) = (Lost::new(), Lost::new());
                if comes {
                    let waiting = if l4s { scalable(1, now_s) } else { classic(0, now_s, false) };
                    prop_assert!(late.join(waiting, IDLE, &mut a).is_ok() && punctual.join(waiting, IDLE, &mut b).is_ok());
                } else {
                    let both = [late.next(Time::new(now_s), &mut a), punctual.next(Time::new(now_s), &mut b)];
                    prop_assert_eq!(both[0].map(|w| w.since_s), both[1].map(|w| w.since_s));
                }
                prop_assert_eq!((late.base, late.delay_s, late.updates), (punctual.base, punctual.delay_s, punctual.updates));
                prop_assert_eq!(a.len(), b.len());
            }
            let left = late.waiting().packets;
            prop_assert_eq!(drain(&mut late, now_s).len(), left);
        }
    }
}

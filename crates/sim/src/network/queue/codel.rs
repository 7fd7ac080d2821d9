//! CoDel (RFC 8289): packets that have waited longer than a target, for as long as an interval, are dropped
//! or marked when they leave the queue, the sooner after each other the longer that lasts.
//!
//! Where Linux's code differs from the RFC this is Linux's, packet by packet: in its clock, its square root, and what may
//! always wait.

use serde::{Deserialize, Serialize};

use super::fifo::Fifo;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::time::Time;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
    /// Time in the queue that is acceptable, in seconds: `TARGET`.
    pub target_s: f64,
    /// How long it may be longer, in seconds: `INTERVAL`, the order of a round trip.
    pub interval_s: f64,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// The parameters of the control law, in units of Linux's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    target: i64,
    interval: i64,
    ecn: bool,
}

impl Law {
    /// A law of a target and an interval in seconds.
    pub(super) fn new(target_s: f64, interval_s: f64, ecn: bool) -> Self {
        // Linux scales intervals of 32 bits: 73 minutes.
        Self { target: units(target_s), interval: units(interval_s).min(i64::from(u32::MAX)), ecn }
    }
}

/// A time by the clock of Linux's CoDel, whose units are 1024 ns.
fn units(seconds: f64) -> i64 {
    ((seconds * 1e9 + 0.5) as i64) >> 10
}

/// §5.5: a drop state entered again within so many intervals continues with the rate that it had reached.
const MEMORY_INTERVALS: i64 = 16;
/// No packet was ever dropped.
const NEVER: i64 = i64::MIN / 2;

/// The most bytes that may always stay: a packet as large as Ethernet's are in Linux, or the largest seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Largest(i64);

impl Default for Largest {
    fn default() -> Self {
        Self(1514)
    }
}

impl Largest {
    /// A packet came.
    pub(super) fn see(&mut self, waiting: &Waiting) {
        self.0 = self.0.max(i64::from(waiting.packet.size()));
    }

    /// The most bytes of a line that may always stay, where `others` bytes wait in other lines of the queue; below zero, if
    /// these are too many already.
    pub(super) fn beside(self, others: u64) -> i64 {
        self.0 - others as i64
    }
}

/// The state of the control law over one waiting line. Times are in units of Linux's clock.
#[derive(Clone, Debug)]
pub(super) struct Control {
    /// When the time in the queue will have been above the target for an interval; none: it is not above.
    first_above: Option<i64>,
    dropping: bool,
    /// When the next packet is dropped.
    drop_next: i64,
    /// Drops since the drop state began.
    count: u32,
    /// Where the count began.
    count_before: u32,
    /// About 1/√count, in 1/65536.
    inverse_root: u16,
}

impl Default for Control {
    fn default() -> Self {
        Self { first_above: None, dropping: false, drop_next: NEVER, count: 0, count_before: 0, inverse_root: 0 }
    }
}

impl Control {
    /// The packet that leaves `line` at `now`. Those that are lost are appended to `lost`. With no more than `spare_bytes` of
    /// the line behind it no packet is dropped.
    pub(super) fn next(
        &mut self,
        law: Law,
        line: &mut Fifo,
        spare_bytes: i64,
        now: Time,
        lost: &mut Lost,
    ) -> Option<Waiting> {
        let now = units(now.seconds());
        let Some(head) = line.pop() else { return self.find_nothing() };
        let late = self.is_late(law, &head, line.bytes(), spare_bytes, now);
        if self.dropping {
            self.dropping = late;
            if late && now >= self.drop_next {
                return self.go_on(law, head, line, spare_bytes, now, lost);
            }
        } else if late {
            let next = self.tell(law, head, line, spare_bytes, now, lost);
            // Though nothing be left of the line, as may be where others wait.
            self.begin(law, now);
            return next.map(|(next, _)| next);
        }
        Some(head)
    }

    /// More packets are due to be dropped.
    #[cold]
    fn go_on(
        &mut self,
        law: Law,
        mut head: Waiting,
        line: &mut Fifo,
        spare_bytes: i64,
        now: i64,
        lost: &mut Lost,
    ) -> Option<Waiting> {
        while self.dropping && now >= self.drop_next {
            self.count = self.count.wrapping_add(1);
            self.step();
            let marks = law.ecn && head.packet.is_capable();
            let (next, late) = self.tell(law, head, line, spare_bytes, now, lost)?;
            head = next;
            self.dropping = late;
            if late {
                self.drop_next = self.after(law, self.drop_next);
            }
            if marks {
                break;
            }
        }
        Some(head)
    }

    /// Nothing is left of the line.
    fn find_nothing<T>(&mut self) -> Option<T> {
        (self.first_above, self.dropping) = (None, false);
        None
    }

    /// Whether the queue has been long for long, as its first packet tells that leaves `bytes` behind (§5.6).
    #[inline]
    fn is_late(&mut self, law: Law, head: &Waiting, bytes: u64, spare_bytes: i64, now: i64) -> bool {
        if now - units(head.since_s) < law.target || bytes as i64 <= spare_bytes {
            self.first_above = None;
            return false;
        }
        // Seen for the first time, it has not been above for an interval.
        now > *self.first_above.get_or_insert(now + law.interval)
    }

    /// Tells a sender: its packet is marked and stays the next, or is lost and the one behind it is looked at. Beside it,
    /// whether the queue has been long for long.
    #[cold]
    fn tell(
        &mut self,
        law: Law,
        mut head: Waiting,
        line: &mut Fifo,
        spare_bytes: i64,
        now: i64,
        lost: &mut Lost,
    ) -> Option<(Waiting, bool)> {
        if law.ecn && head.packet.is_capable() {
            head.marked = true;
            return Some((head, true));
        }
        lost.push((head, Refusal::Managed));
        let Some(next) = line.pop() else { return self.find_nothing() };
        let late = self.is_late(law, &next, line.bytes(), spare_bytes, now);
        Some((next, late))
    }

    /// The drop state begins (§5.5).
    fn begin(&mut self, law: Law, now: i64) {
        self.dropping = true;
        let before = self.count.wrapping_sub(self.count_before);
        if before > 1 && now - self.drop_next < MEMORY_INTERVALS * law.interval {
            self.count = before;
            self.step();
        } else {
            (self.count, self.inverse_root) = (1, u16::MAX);
        }
        self.count_before = self.count;
        self.drop_next = self.after(law, now);
    }

    /// A full queue lost so many packets: more are to be dropped. What Linux has of the root stays.
    pub(super) fn was_full(&mut self, packets: u64) {
        self.count = self.count.wrapping_add(packets as u32);
    }

    /// Drops since the drop state began.
    #[cfg(test)]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// One step of Newton's method towards 1/√count, y (3 − count y²) / 2, with 32 bits behind the point, of which 16 are
    /// kept. Linux has it so: where the count has grown by much the first steps are far off, and may overflow.
    fn step(&mut self) {
        let root = u64::from(self.inverse_root) << 16;
        let square = (root * root) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count) * square);
        self.inverse_root = ((rest >> 2).wrapping_mul(root) >> (31 + 16)) as u16;
    }

    /// The control law (§3.3): when the drop after one at `at` is due.
    fn after(&self, law: Law, at: i64) -> i64 {
        at + ((law.interval * i64::from(self.inverse_root)) >> 16)
    }
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: QueueLimit,
    law: Law,
    line: Fifo,
    control: Control,
    largest: Largest,
}

impl Store for Codel {
    type Spec = CodelSpec;
    const HELP: &'static str = "drops or marks packets that wait too long for too long (RFC 8289)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &CodelSpec, _: Site<'_>) -> Self {
        let CodelSpec { limit, target_s, interval_s, ecn } = *spec;
        let law = Law::new(target_s, interval_s, ecn);
        Self { limit, law, line: Fifo::default(), control: Control::default(), largest: Largest::default() }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, _: &mut Lost) -> Result<(), Refusal> {
        if !self.limit.takes(self.line.load() + on_line, packet.packet.size()) {
            return Err(Refusal::Full);
        }
        self.largest.see(&packet);
        self.line.push(packet);
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        self.control.next(self.law, &mut self.line, self.largest.beside(0), now, lost)
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.line.waited_s(sum_s, now_s)
    }
}

//! CoDel (RFC 8289): packets that have waited longer than a target, for as long as an interval, are dropped
//! or marked when they leave the queue, the sooner after each other the longer that lasts.

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

/// The parameters of the control law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) target_s: f64,
    pub(super) interval_s: f64,
    pub(super) ecn: bool,
}

/// §5.5: a drop state entered again within so many intervals continues with the rate that it had reached.
const MEMORY_INTERVALS: f64 = 16.0;

/// The state of the control law over one waiting line.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When the time in the queue will have been above the target for an interval, in seconds; none: it is not
    /// above.
    first_above_s: Option<f64>,
    dropping: bool,
    /// When the next packet is dropped, in seconds.
    drop_next_s: f64,
    /// Drops since the drop state began.
    pub(super) count: u64,
    /// Where the count began.
    count_before: u64,
}

impl Control {
    /// The packet that leaves `line` at `now`. Those that are lost are appended to `lost`. `largest_bytes` is
    /// the size of the largest packet: with no more than that behind it no packet is dropped.
    pub(super) fn next(
        &mut self,
        law: Law,
        line: &mut Fifo,
        largest_bytes: u64,
        now: Time,
        lost: &mut Lost,
    ) -> Option<Waiting> {
        let now_s = now.seconds();
        let (mut head, mut late) = self.take(law, line, largest_bytes, now_s)?;
        if !self.dropping {
            if late {
                (head, _) = self.tell(law, head, line, largest_bytes, now_s, lost)?;
                self.begin(law, now_s);
            }
            return Some(head);
        }
        if !late {
            self.dropping = false;
        }
        while self.dropping && now_s >= self.drop_next_s {
            self.count += 1;
            let marks = law.ecn && head.packet.is_capable();
            (head, late) = self.tell(law, head, line, largest_bytes, now_s, lost)?;
            if !late {
                self.dropping = false;
            } else {
                self.drop_next_s = self.after(law, self.drop_next_s);
            }
            if marks {
                break;
            }
        }
        Some(head)
    }

    /// The first packet of `line`, and whether the queue has been long for long (§5.6).
    fn take(&mut self, law: Law, line: &mut Fifo, largest_bytes: u64, now_s: f64) -> Option<(Waiting, bool)> {
        let Some(head) = line.pop() else {
            (self.first_above_s, self.dropping) = (None, false);
            return None;
        };
        if now_s - head.since_s < law.target_s || line.bytes() <= largest_bytes {
            self.first_above_s = None;
            return Some((head, false));
        }
        let first_above_s = *self.first_above_s.get_or_insert(now_s + law.interval_s);
        // Seen for the first time, it has not been above for an interval.
        Some((head, now_s >= first_above_s))
    }

    /// Tells a sender: its packet is marked and stays the next, or is lost and the one behind it is looked at.
    fn tell(
        &mut self,
        law: Law,
        mut head: Waiting,
        line: &mut Fifo,
        largest_bytes: u64,
        now_s: f64,
        lost: &mut Lost,
    ) -> Option<(Waiting, bool)> {
        if law.ecn && head.packet.is_capable() {
            head.marked = true;
            return Some((head, true));
        }
        lost.push((head, Refusal::Managed));
        self.take(law, line, largest_bytes, now_s)
    }

    /// The drop state begins (§5.5).
    fn begin(&mut self, law: Law, now_s: f64) {
        self.dropping = true;
        let before = self.count.saturating_sub(self.count_before);
        let lately = now_s - self.drop_next_s < MEMORY_INTERVALS * law.interval_s;
        self.count = if before > 1 && lately { before } else { 1 };
        self.count_before = self.count;
        self.drop_next_s = self.after(law, now_s);
    }

    /// The control law (§3.3): when the drop after one at `at_s` is due.
    fn after(&self, law: Law, at_s: f64) -> f64 {
        at_s + law.interval_s / libm::sqrt(self.count as f64)
    }
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: QueueLimit,
    law: Law,
    line: Fifo,
    control: Control,
    /// Size of the largest packet seen.
    largest_bytes: u64,
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
        let law = Law { target_s, interval_s, ecn };
        Self { limit, law, line: Fifo::default(), control: Control::default(), largest_bytes: 0 }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, _: &mut Lost) -> Result<(), Refusal> {
        if !self.limit.takes(self.line.load() + on_line, packet.packet.size()) {
            return Err(Refusal::Full);
        }
        self.largest_bytes = self.largest_bytes.max(u64::from(packet.packet.size()));
        self.line.push(packet);
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        self.control.next(self.law, &mut self.line, self.largest_bytes, now, lost)
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.line.waited_s(sum_s, now_s)
    }
}

//! What a server did, in sums.

use super::{Admitted, Rare, Server};
use crate::delays::Delays;
use crate::network::changes::account::Work;
use crate::time::Time;

/// What a server did, up to the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerTotals {
    /// Packets offered.
    pub packets_in: u64,
    /// Packets whose transmission ended.
    pub packets_out: u64,
    /// Packets refused.
    pub packets_dropped: u64,
    /// Packets admitted and marked.
    pub packets_marked: u64,
    /// Bytes, without framing, of the packets whose transmission ended.
    pub bytes_out: u64,
    /// Time spent transmitting, in seconds.
    pub busy_s: f64,
    /// Time that packets waited, summed over packets, in seconds.
    pub waiting_s: f64,
    /// Most packets waiting at once, without the one in service.
    pub queue_max_packets: u64,
    /// What was sent and what could have been, where that is not a matter of time alone.
    pub work: Option<Work>,
}

impl ServerTotals {
    /// The share of the time that it transmitted; where its rate changes, of what it could have sent.
    #[must_use]
    pub fn utilization(&self, duration_s: f64) -> f64 {
        self.work.map_or(self.busy_s / duration_s, |work| work.done / work.possible)
    }
}

impl Server {
    /// What was sent and what could have been until `at_s`; of a run without an end nothing.
    #[must_use]
    pub fn work(&self, at_s: f64) -> Option<Work> {
        if at_s == f64::INFINITY {
            return None;
        }
        self.rare.changes.as_ref()?.clone().work(at_s, self.last.departure)
    }

    /// Packets refused so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.rare.dropped
    }

    /// Packets marked so far.
    #[must_use]
    pub fn marked(&self) -> u64 {
        self.rare.marked
    }

    /// Random numbers that the queue has drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.rare.queue.random_draws() + self.rare.changes.as_ref().map_or(0, |changes| changes.random_draws())
    }

    /// Time spent transmitting before `now`, in seconds.
    #[must_use]
    pub fn busy_until(&self, now: Time) -> f64 {
        // The services that lie ahead follow one another without a gap.
        let until_s = self.rare.changes.as_ref().map_or(self.last.departure, |changes| changes.busy_until_s());
        let busy_s = self.admitted().busy_s - (until_s - now.seconds()).max(0.0);
        // Two accounts meet here. What was admitted is counted, and so is as long as its packets say; when the last of it
        // leaves was added up packet by packet, and rounded each time. In an endless queue of a hundred million packets
        // these sums are some billionths shorter than what they are sums of.
        busy_s.min(now.seconds())
    }

    /// How long packets waited that entered the line before the end of the run, those that did not wait included.
    #[must_use]
    pub fn queueing(&self) -> Delays {
        self.waits.clone().with_zeros(self.admitted().packets - self.rare.still_waiting.0 - self.waits.count)
    }

    pub(super) fn admitted(&self) -> Admitted {
        let admitted = self.rare.others.with(&self.recent).with(&self.rare.previous);
        self.rare.changes.as_ref().map_or(admitted, |changes| Admitted { busy_s: changes.busy_s(), ..admitted })
    }

    /// What was done before the end of the run.
    #[must_use]
    pub fn totals(&self) -> ServerTotals {
        let (admitted, Rare { late, dropped, marked, .. }) = (self.admitted(), &*self.rare);
        ServerTotals {
            packets_in: admitted.packets + dropped,
            packets_out: admitted.packets - late.0,
            packets_dropped: *dropped,
            packets_marked: *marked,
            bytes_out: admitted.bytes - late.1,
            busy_s: self.busy_until(Time::new(self.end)),
            waiting_s: if self.rare.still_waiting.0 > 0 { self.rare.still_waiting.1 } else { self.waiting_s },
            queue_max_packets: u64::from(self.most_waiting),
            work: self.work(self.end),
        }
    }
}

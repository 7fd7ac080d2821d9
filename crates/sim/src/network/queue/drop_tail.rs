//! Drop-tail: first in, first out; a packet that finds the queue full is lost.

use serde::{Deserialize, Serialize};

use super::{Arrival, Discipline, Needs, Refusal, Site, Verdict};
use crate::network::queue::limit::QueueLimit;
use crate::scenario::Profile;

/// Parameters of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropTailSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
}

/// A drop-tail queue.
#[derive(Clone, Copy, Debug)]
pub struct DropTail {
    limit: QueueLimit,
}

impl Discipline for DropTail {
    type Spec = DropTailSpec;
    const HELP: &'static str = "first in, first out; arrivals at a full queue are dropped";
    const TAKES_WHAT_FITS: bool = true;

    fn new(spec: &DropTailSpec, site: Site<'_>) -> Self {
        let limit = match (spec.limit, site.profile) {
            // ns-2 drops where `waiting + 1 >= limit`: with a limit of one, even at an idle line.
            (QueueLimit::Packets(1), Profile::Ns2) => QueueLimit::Packets(0),
            (limit, _) => limit,
        };
        Self { limit }
    }

    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        if self.has_room(arrival) { Verdict::Take } else { Verdict::Refuse(Refusal::Full) }
    }

    fn has_room(&self, arrival: &Arrival) -> bool {
        arrival.fits(self.limit)
    }

    fn needs(&self) -> Needs {
        let unasked = match self.limit {
            QueueLimit::Packets(limit) => limit,
            QueueLimit::Bytes(_) => 0,
            QueueLimit::Unlimited => u32::MAX,
        };
        Needs { unasked, bytes: self.limit.counts_bytes(), ..Needs::default() }
    }
}

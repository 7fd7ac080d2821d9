//! Marks above a threshold of the queue as it is now: what DCTCP asks of a switch (RFC 8257 §3.1).
//!
//! A packet is marked where a drop-tail queue whose limit is the threshold would drop it. Packets that cannot
//! be marked are lost at the limit only.

use serde::{Deserialize, Serialize};

use super::{Arrival, Discipline, Needs, Refusal, Site, Verdict};
use crate::network::queue::limit::QueueLimit;

/// Parameters of a queue that marks above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
    /// From here on arrivals are marked; the packet in service counts.
    pub mark: QueueLimit,
}

/// A queue that marks above a threshold.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    spec: ThresholdSpec,
}

impl Discipline for Threshold {
    type Spec = ThresholdSpec;
    const HELP: &'static str = "first in, first out; arrivals above a threshold are marked (DCTCP's switch)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(_spec: &Self::Spec) -> bool {
        true
    }

    fn new(spec: &ThresholdSpec, _: Site<'_>) -> Self {
        Self { spec: *spec }
    }

    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        if !self.has_room(arrival) {
            Verdict::Refuse(Refusal::Full)
        } else if arrival.capable && !arrival.fits(self.spec.mark) {
            Verdict::Mark
        } else {
            Verdict::Take
        }
    }

    fn has_room(&self, arrival: &Arrival) -> bool {
        arrival.fits(self.spec.limit)
    }

    fn needs(&self) -> Needs {
        Needs { bytes: self.spec.limit.counts_bytes() || self.spec.mark.counts_bytes(), ..Needs::default() }
    }
}

//! Drop-tail: first in, first out; a packet that finds the queue full is lost.

use serde::{Deserialize, Serialize};

use super::{Arrival, Discipline};
use crate::scenario::{Profile, QueueLimit};

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

    fn new(spec: &DropTailSpec, profile: Profile) -> Self {
        let limit = match (spec.limit, profile) {
            // ns-2 drops where `waiting + 1 >= limit`: with a limit of one, even at an idle line.
            (QueueLimit::Packets(1), Profile::Ns2) => QueueLimit::Packets(0),
            (limit, _) => limit,
        };
        Self { limit }
    }

    #[inline]
    fn admit(&mut self, arrival: &Arrival) -> bool {
        match self.limit {
            QueueLimit::Packets(limit) => arrival.packets < limit as usize,
            QueueLimit::Bytes(limit) => arrival.bytes + u64::from(arrival.size) <= limit,
            QueueLimit::Unlimited => true,
        }
    }

    fn counts_bytes(&self) -> bool {
        matches!(self.limit, QueueLimit::Bytes(_))
    }
}

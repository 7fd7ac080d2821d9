//! Marks above a threshold for each class, where classes have a queue each (RFC 8257 §3.1 for each of them).

use serde::{Deserialize, Serialize};

use super::Load;
use super::fifo::Fifo;
use crate::network::queue::limit::QueueLimit;
use crate::packet::Packet;

/// From where on arrivals of a class are marked; the packet in service counts if it is of the class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassMarks {
    /// Thresholds of classes, by their code point.
    pub classes: Vec<(u8, QueueLimit)>,
    /// That of each other queue; unlimited where these mark nothing.
    pub others: QueueLimit,
}

impl ClassMarks {
    /// The threshold of a class.
    pub(super) fn of(&self, dscp: u8) -> QueueLimit {
        self.classes.iter().find(|(class, _)| *class == dscp).map_or(self.others, |(_, mark)| *mark)
    }
}

/// Whether a packet is marked that joins a class's line, which would not take it if the threshold were its limit.
pub(super) fn marks(threshold: QueueLimit, line: &Fifo, served: Load, packet: Packet) -> bool {
    packet.is_capable() && !threshold.takes(line.load() + served, packet.size())
}

//! How much a queue or a ring takes.

use serde::{Deserialize, Serialize};

/// The size of a queue. The packet in service counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// Packets, waiting and in service.
    Packets(u32),
    /// Bytes, waiting and in service.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

impl QueueLimit {
    /// Whether a packet of `size` bytes fits behind so many packets and bytes.
    #[inline]
    #[must_use]
    pub fn takes(self, packets: usize, bytes: u64, size: u32) -> bool {
        match self {
            Self::Packets(limit) => packets < limit as usize,
            Self::Bytes(limit) => bytes + u64::from(size) <= limit,
            Self::Unlimited => true,
        }
    }

    /// Whether so many packets and bytes are not too many.
    #[must_use]
    pub fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets <= limit as usize,
            Self::Bytes(limit) => bytes <= limit,
            Self::Unlimited => true,
        }
    }

    /// Whether bytes matter.
    #[must_use]
    pub fn counts_bytes(self) -> bool {
        matches!(self, Self::Bytes(_))
    }
}

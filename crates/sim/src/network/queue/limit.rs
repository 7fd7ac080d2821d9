//! How much a queue or a ring holds, and takes.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// Packets, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// How many.
    pub packets: usize,
    /// Of all of them.
    pub bytes: u64,
}

impl Load {
    /// None.
    pub const NONE: Self = Self { packets: 0, bytes: 0 };

    /// A packet comes.
    pub(in crate::network) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size());
    }

    /// One of them goes.
    pub(in crate::network) fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size());
    }
}

impl Add for Load {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

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
    /// Whether a packet of `size` bytes fits behind so much.
    #[inline]
    #[must_use]
    pub fn takes(self, Load { packets, bytes }: Load, size: u32) -> bool {
        match self {
            Self::Packets(limit) => packets < limit as usize,
            Self::Bytes(limit) => bytes + u64::from(size) <= limit,
            Self::Unlimited => true,
        }
    }

    /// Whether so much is not too much.
    #[must_use]
    pub fn holds(self, Load { packets, bytes }: Load) -> bool {
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

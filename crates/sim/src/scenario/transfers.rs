//! Groups of open-loop transfers, which are flows with a start and a number of bytes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A group of transfers: its flows, and the sizes by which their completion times are summed up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransfersSpec {
    /// Unique label: the group of its flows.
    pub label: String,
    /// Index of its first flow.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// From the smallest sizes to the largest.
    pub size_classes: Vec<SizeClass>,
}

impl TransfersSpec {
    /// The indices of its flows.
    #[must_use]
    pub fn flows(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// A class of sizes, which begins where the one before ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// As tables call it: `up to 10 kB`.
    pub name: String,
    /// The largest size within, in bytes; none: it has no end.
    pub up_to_bytes: Option<u64>,
}

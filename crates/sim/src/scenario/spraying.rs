//! Per-packet spraying: the paths of which each packet of a flow takes one.

use serde::{Deserialize, Serialize};

/// The paths of a flow whose packets each take one at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprayingSpec {
    /// From sender to receiver.
    pub paths: Vec<PathShare>,
    /// From receiver to sender; none for datagrams.
    pub reverse_paths: Vec<PathShare>,
}

/// One of several paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathShare {
    /// Its links.
    pub links: Vec<u32>,
    /// The probability that a packet takes it.
    pub share: f64,
}

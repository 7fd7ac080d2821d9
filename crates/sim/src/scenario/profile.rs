//! Whose behaviour a scenario reproduces in the details.

use serde::{Deserialize, Serialize};

/// A named set of transport defaults. The defaults themselves are in the scenario; the name remains
/// because a few details are not parameters of any standard (they are listed in `transport/ns2.rs`, `ack_delay.rs` and
/// `window_use.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// ns-2.35's one-way TCP agents.
    Ns2,
    /// RFC 5681, 6298, 6582 and 6675.
    Rfc,
    /// A current Linux kernel (the details that are no parameters are in `transport/ack_delay.rs` and `window_use.rs`).
    Linux,
}

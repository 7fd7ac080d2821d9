//! How a sender finds out that packets were lost and mends it: one file for each way. Each adds
//! methods to the sender; what they share is in `sender.rs`.

pub mod flight;
mod frto;
mod newreno;
pub mod prr;
pub mod rack;
mod reno;
mod reordering;
mod sack;
mod sack1;
pub mod scoreboard;
mod tahoe;
mod tail_probe;
pub mod undo;

/// Duplicate ACKs that signal a loss (RFC 5681 §3.2).
pub const DUPLICATE_ACKS: u32 = 3;

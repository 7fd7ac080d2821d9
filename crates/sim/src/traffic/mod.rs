//! What applications do: when they have something to send.

pub mod pulse;
pub mod sizes;
pub mod video;

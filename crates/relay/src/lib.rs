//! A link in real time, between real network stacks, and the real traffic that measures it.

pub mod probe;

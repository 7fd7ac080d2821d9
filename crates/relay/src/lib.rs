//! A link in real time, between real network stacks.

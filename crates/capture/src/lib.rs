//! Traces of packets in formats that other tools read: captures read into tables, simulated packets written.

pub mod read;
pub mod tr;
pub mod write;

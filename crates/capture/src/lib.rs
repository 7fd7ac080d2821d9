//! Traces and captures of simulated packets in formats that other tools read.

pub mod tr;
pub mod write;

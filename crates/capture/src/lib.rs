//! Traces of simulated packets in formats that other tools read.

pub mod tr;

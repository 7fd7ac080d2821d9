//! Tightlink's engine: networks, packet by packet.
//!
//! No I/O, no Python, no wall clock: a [`scenario::Scenario`] goes in, tables come out, the same bytes on
//! every machine. `events` and `time` fix the order of events, `network` holds what packets pass
//! through, `transport` the ends of connections, `congestion` how windows grow, `traffic` what
//! applications do, `probe` what is observed, `simulation` the loop.

pub mod congestion;
pub mod delays;
pub mod entities;
pub mod epochs;
pub mod error;
pub mod events;
pub mod hosts;
pub mod network;
pub mod packet;
pub mod prefetch;
pub mod probe;
pub mod random;
pub mod ring;
pub mod samples;
pub mod scenario;
pub mod simulation;
pub mod tables;
pub mod time;
pub mod traffic;
pub mod transport;
pub mod warnings;

pub use error::{Interrupted, ScenarioError};
pub use scenario::Scenario;
pub use simulation::{ENGINE_BEHAVIOUR, Simulation};

#[cfg(test)]
extern crate self as tightlink_sim;

#[cfg(test)]
#[path = "../tests/engine/main.rs"]
mod engine;

/// The code in the guides is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/adding-a-congestion-control.md")]
struct Guides;

//! Tightlink's engine: networks, packet by packet.
//!
//! No I/O, no Python, no wall clock: a [`scenario::Scenario`] goes in, tables come out, the same bytes on
//! every machine. `events` and `time` fix the order of events, `network` holds what packets pass
//! through, `transport` the ends of connections, `congestion` how windows grow, `traffic` what
//! applications do, `probe` what is observed, `simulation` the loop.
//!
//! A scenario is read from JSON, which `json.dumps(tightlink.load("FILE.toml").resolve())` writes in Python:
//!
//! ```
//! use serde_json::json;
//! use tightlink_sim::probe::Totals;
//! use tightlink_sim::tables::{self, Column};
//! use tightlink_sim::{Scenario, Simulation};
//!
//! let link = |name: &str, from: u32, to: u32| {
//!     json!({
//!         "name": name, "from": from, "to": to, "rate_bps": 1e6, "rate_pps": null, "delay_s": 0.005, "loss": 0.0,
//!         "queue": {"kind": "drop-tail", "limit": {"packets": 20}}, "mtu_bytes": 1500, "flow_control": false,
//!         "framing": {"overhead_bytes": 0, "smallest_bytes": 0},
//!     })
//! };
//! let udp = json!({"payload_bytes": 172, "header_bytes": 28, "fragment_header_bytes": 20, "sizes": []});
//! let scenario: Scenario = serde_json::from_value(json!({
//!     "profile": "rfc", "duration_s": 2.0, "seed": 1, "nodes": [{"name": "a"}, {"name": "b"}],
//!     "links": [link("wire", 0, 1), link("wire.reverse", 1, 0)],
//!     "flows": [{
//!         "label": "calls", "group": "calls", "index": 0, "from": 0, "to": 1, "start_s": 0.0, "stop_s": 2.0,
//!         "path": null, "reverse_path": null, "traffic": {"kind": "cbr", "pace": {"interval_s": 0.02}},
//!         "transport": {"udp": udp},
//!     }],
//!     "users": [], "scatter": [], "observe": {"interval_s": null, "flows": "each", "periods": []},
//! }))?;
//! let mut simulation = Simulation::new(&scenario, Totals)?;
//! // Now and then it asks whether to stop.
//! simulation.run(|_simulated_s| false).map_err(|_| "interrupted")?;
//! let all = tables::totals(&simulation);
//! let (_, links) = all.iter().find(|(name, _)| *name == "links").unwrap();
//! assert_eq!(links.column("packets_out"), Some(&Column::Integer(vec![100, 0])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`probe::trace::Trace`] in place of [`probe::Totals`] tells a listener of every packet: a function, or what the crate
//! `tightlink-capture` writes captures with.

pub mod congestion;
pub mod delays;
pub mod entities;
pub mod epochs;
pub mod error;
pub mod events;
pub mod hosts;
pub mod meeting;
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
pub use simulation::{ENGINE_BEHAVIOUR, PartedSimulation, Simulation};

#[cfg(test)]
extern crate self as tightlink_sim;

#[cfg(test)]
#[path = "../tests/engine/main.rs"]
mod engine;

/// The code in the guides is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/adding-a-congestion-control.md")]
#[doc = include_str!("../../../docs/guides/adding-a-queue.md")]
struct Guides;

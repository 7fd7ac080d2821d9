//! An emulated link, between real network stacks, and the real traffic that measures it (`probe`).
//!
//! The times come from the simulator's own [`Link`](tightlink_sim::network::link::Link) and
//! [`Processor`](tightlink_sim::network::processor::Processor): departures are known on arrival, so that no packet needs
//! a timer, but where the queue decides at departures. `way` holds the packets of one direction, `path` has both and the
//! processor between them and says when each is due; `relay` is the loop that moves
//! them in a [`World`](world::World), a clock with two ports: the system's in `system`, a virtual one in the tests, over
//! which the relay does exactly what the simulator does. `journal` takes the trace to disk and `trace` reads it back,
//! `lateness` says how much later than planned packets were forwarded.

#![cfg(target_os = "linux")]

pub mod buffer;
pub mod error;
pub mod header;
pub mod journal;
pub mod lateness;
pub mod path;
pub mod port;
pub mod probe;
pub mod record;
pub mod relay;
pub mod spec;
pub mod spin;
pub mod summary;
pub mod system;
pub mod trace;
pub mod way;
pub mod world;

pub use error::RelayError;
pub use spec::RelaySpec;

//! Emulated links, between real network stacks, and the real traffic that measures them (`probe`).
//!
//! The times come from the simulator's own [`Link`](tightlink_sim::network::link::Link) and
//! [`Processor`](tightlink_sim::network::processor::Processor): departures are known on arrival, so that no packet needs
//! a timer, but where the queue decides at departures. `packets` holds what came by the ports and has not left, `direction`
//! is one direction of a link, `route` says which of them a packet crosses; `network` has all of them, and says when each
//! packet is due; `relay` is the loop that moves them in a [`World`](world::World), a clock with ports: the system's in
//! `system`, a virtual one in the tests, over which the relay does exactly what the simulator does. `journal` takes the
//! trace to disk and `trace` reads it back, `lateness` says how much later than planned packets were forwarded.

#![cfg(target_os = "linux")]

pub mod acknowledgement;
pub mod buffer;
pub mod direction;
pub mod error;
pub mod header;
pub mod journal;
pub mod lateness;
pub mod network;
pub mod packets;
pub mod port;
pub mod probe;
pub mod record;
pub mod relay;
pub mod route;
pub mod spec;
pub mod spin;
pub mod summary;
pub mod system;
pub mod trace;
pub mod world;

pub use error::RelayError;
pub use spec::RelaySpec;

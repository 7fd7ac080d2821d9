//! The laboratory's engine: a scenario that sliders change goes in, the tables of its run and the data of charts come
//! out. A browser calls it through `abi.rs`; everything else is as on any other machine, and is tested there.

#[cfg(target_family = "wasm")]
mod abi;
mod charts;
mod document;
mod packets;
mod run;

pub use document::Laboratory;
pub use run::{Answer, Request};

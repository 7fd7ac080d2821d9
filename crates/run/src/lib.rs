//! What all who run the engine share, be it from Python or in a browser: quantities of a scenario that depend on
//! others, open-loop transfers, and digests of tables.

pub mod digest;
mod exact;
mod line;
mod red;
pub mod relative;
mod routing;
mod transfers;
mod wrong;

pub use digest::tables_digest;
pub use relative::fill;
pub use wrong::Wrong;

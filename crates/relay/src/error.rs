//! What can go wrong while a link is emulated.

use std::io;

/// Why a relay did not start or had to end.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// What it is asked to be cannot be emulated.
    #[error("{0}")]
    Spec(String),
    /// A port does not work.
    #[error("port of {name}: {source}")]
    Port {
        /// The node behind it.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses what the loop needs.
    #[error("{what}: {source}")]
    System {
        /// What was asked of it.
        what: &'static str,
        /// What it says.
        source: io::Error,
    },
    /// The trace cannot be written or read back.
    #[error("trace: {0}")]
    Trace(#[from] io::Error),
}

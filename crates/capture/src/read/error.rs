//! What can be wrong with a capture.

use std::io;

use thiserror::Error;

/// A place from which on a capture cannot be read.
#[derive(Debug, Error)]
#[error("at byte {offset}: {what}")]
pub struct Damage {
    /// Byte of the stream, of the unpacked one where the file is compressed.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
    /// Why the device or the pipe could not be read, where that is the reason.
    #[source]
    pub cause: Option<io::Error>,
}

impl Damage {
    /// A place where the bytes make no sense.
    pub fn new(offset: u64, what: impl Into<String>) -> Self {
        Self { offset, what: what.into(), cause: None }
    }

    /// A place from which on nothing could be read.
    pub fn unreadable(offset: u64, cause: io::Error) -> Self {
        Self { offset, what: format!("cannot be read: {cause}"), cause: Some(cause) }
    }
}

/// Why there are no tables.
#[derive(Debug, Error)]
pub enum Error {
    /// The file could not be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("{0}")]
    Format(String),
    /// It is damaged before its first packet.
    #[error("{0}")]
    Damaged(#[from] Damage),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A stream that cannot be read at all is no damaged capture.
pub fn first(damage: Damage) -> Error {
    match damage.cause {
        Some(cause) => Error::Io(cause),
        None => Error::Damaged(damage),
    }
}

//! Descriptors that Python owns.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

/// A duplicate of a descriptor, which stays open whatever Python does with its own.
///
/// # Errors
/// It is not open.
#[allow(unsafe_code)]
pub fn duplicate(descriptor: RawFd) -> Result<OwnedFd> {
    if descriptor < 0 {
        return Err(Error::new(ErrorKind::InvalidInput, "a descriptor is not below zero"));
    }
    // SAFETY: it is borrowed for this call only, which holds Python's lock, so that nobody closes it meanwhile; of
    // one that is not open the system says so.
    unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()
}

//! What no safe crate asks of the system.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::tcp_info::TcpInfo;

/// Whether a socket takes more now: a third of its buffer is free.
pub fn is_writable(socket: BorrowedFd<'_>) -> io::Result<bool> {
    let mut polled = [PollFd::new(socket, PollFlags::POLLOUT)];
    Ok(poll(&mut polled, PollTimeout::ZERO)? > 0)
}

/// Bytes of payload in a socket that the peer has not acknowledged, sent or not (`SIOCOUTQ`).
pub fn outstanding_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    queued(socket, libc::TIOCOUTQ)
}

/// Bytes of payload in a socket that were not sent yet (`SIOCOUTQNSD`).
pub fn unsent_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    /// From `linux/sockios.h`.
    const SIOCOUTQNSD: libc::Ioctl = 0x894B;
    queued(socket, SIOCOUTQNSD)
}

#[allow(unsafe_code)]
fn queued(socket: BorrowedFd<'_>, request: libc::Ioctl) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open while it is borrowed, and both requests write one int.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), request, &raw mut bytes) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(u64::try_from(bytes).unwrap_or(0)) }
}

/// What the kernel knows of a connection (`TCP_INFO`); what an older kernel does not know is zero.
#[allow(unsafe_code)]
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; TcpInfo::BYTES];
    let mut length = TcpInfo::BYTES as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes at most `length` bytes.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(TcpInfo::of(&bytes)) }
}

/// Has a connection advertise no larger window than this (`TCP_WINDOW_CLAMP`).
#[allow(unsafe_code)]
pub fn clamp_window(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: the descriptor is open while it is borrowed, and the kernel reads one int.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor of our own for a number that a caller gave, who must keep it open meanwhile.
///
/// # Errors
/// The number is of no open descriptor.
#[allow(unsafe_code)]
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is borrowed for this call only, which fails if it is not open.
    unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()
}

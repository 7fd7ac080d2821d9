//! Sends datagrams of a probe back to where they came from, so that a round trip can be timed without a second clock.

use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, sendto};
use serde::{Deserialize, Serialize};

use super::clock::{from_seconds, monotonic_ns};
use super::datagram::Header;
use super::ending::Wake;
use super::udp_receive::{prepare, receive};
use super::{Ended, Failure, Guard};

const BUFFER: usize = 1 << 16;

/// What to send back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Echo {
    /// Of whom; nobody else is answered.
    pub peer: IpAddr,
    /// It ends after so many datagrams.
    pub most: u64,
    /// It ends when nothing arrived for so long after the first datagram.
    pub idle_s: f64,
}

/// What was sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Echoed {
    /// Datagrams that were answered.
    pub echoed: u64,
    /// Datagrams of others, or of other programs, which were not.
    pub foreign: u64,
    /// Answers that the kernel refused to send.
    pub refused: u64,
}

/// Answers each datagram of a probe that comes from the peer with itself: never more bytes than came.
///
/// # Errors
/// The system refuses to prepare the socket, to wait or to read.
pub fn echo_udp(spec: &Echo, socket: OwnedFd, guard: &Guard<'_>) -> Result<(Ended, Echoed), Failure> {
    let socket = UdpSocket::from(socket);
    prepare(&socket)?;
    let mut found = Echoed::default();
    let mut buffer = vec![0; BUFFER];
    let mut idle_until = i64::MAX;
    loop {
        if found.echoed >= spec.most {
            return Ok((Ended::Done, found));
        }
        if let Wake::End(ended) = guard.wait(&[(socket.as_fd(), PollFlags::POLLIN)], idle_until)? {
            return Ok((ended, found));
        }
        match receive(&socket, &mut buffer) {
            Ok(one) => {
                idle_until = monotonic_ns().saturating_add(from_seconds(spec.idle_s));
                let payload = &buffer[..one.length];
                let Some(to) = one.address.filter(|_| one.from == Some(spec.peer) && Header::read(payload).is_some())
                else {
                    found.foreign += 1;
                    continue;
                };
                match sendto(socket.as_raw_fd(), payload, &to, MsgFlags::MSG_NOSIGNAL) {
                    Ok(_) => found.echoed += 1,
                    Err(_) => found.refused += 1,
                }
            }
            Err(Errno::EAGAIN) if monotonic_ns() >= idle_until => return Ok((Ended::Done, found)),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => {}
            Err(errno) => return Err(Failure::system("receiving")(errno)),
        }
    }
}

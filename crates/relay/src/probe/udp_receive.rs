//! The other end of [`send_udp`](super::send_udp): which datagrams arrived, and when.

use std::io::IoSliceMut;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use serde::Deserialize;

use super::clock::{from_seconds, monotonic_ns, nanoseconds, realtime_ns};
use super::datagram::Header;
use super::ending::Wake;
use super::{Ended, Failure, Guard};

/// What the socket holds while we are not running: more than the system's usual 200 KiB, if it lets us.
const SOCKET_BUFFER: usize = 8 << 20;
const BUFFER: usize = 1 << 16;
/// Datagrams between looks whether all is to end.
const TURN: u32 = 256;

/// What to receive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpReceive {
    /// Of whom; others' datagrams are counted and left.
    pub peer: Option<IpAddr>,
    /// It ends after so many datagrams.
    pub most: usize,
    /// It ends when nothing arrived for so long after the first datagram.
    pub idle_s: Option<f64>,
}

/// What arrived: a row a datagram, in the order of arrival. Times are of `CLOCK_REALTIME`.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    /// Number of the flow.
    pub flow: Vec<u16>,
    /// Number of the datagram in its flow.
    pub seq: Vec<u32>,
    /// When its sender gave it to its kernel, by the sender's clock.
    pub sent_ns: Vec<i64>,
    /// When the kernel received it.
    pub received_ns: Vec<i64>,
    /// Its payload.
    pub payload_bytes: Vec<u32>,
    /// Datagrams that arrived, but for which the socket had no room: the receiver was too slow, not the network.
    pub overflowed: u64,
    /// Datagrams of others, or of other programs.
    pub foreign: u64,
}

/// Receives on a bound socket.
///
/// # Errors
/// The system refuses to prepare the socket, to wait or to read.
pub fn receive_udp(spec: &UdpReceive, socket: OwnedFd, guard: &Guard<'_>) -> Result<(Ended, Datagrams), Failure> {
    let socket = UdpSocket::from(socket);
    prepare(&socket)?;
    let mut found = Datagrams::default();
    let mut buffer = vec![0; BUFFER];
    let idle = spec.idle_s.map(from_seconds);
    let mut idle_until = i64::MAX;
    let mut turn = 0;
    loop {
        if found.seq.len() >= spec.most {
            return Ok((Ended::Done, found));
        }
        turn = (turn + 1) % TURN;
        if turn == 0
            && let Some(ended) = guard.at_once()?
        {
            return Ok((ended, found));
        }
        match receive(&socket, &mut buffer) {
            Ok(one) => {
                if let Some(idle) = idle {
                    idle_until = monotonic_ns().saturating_add(idle);
                }
                found.overflowed = one.overflowed.unwrap_or(found.overflowed);
                let header = Header::read(&buffer[..one.length]);
                let Some(header) = header.filter(|_| spec.peer.is_none_or(|peer| Some(peer) == one.from)) else {
                    found.foreign += 1;
                    continue;
                };
                found.flow.push(header.flow);
                found.seq.push(header.seq);
                found.sent_ns.push(header.sent_ns);
                found.received_ns.push(one.time_ns);
                found.payload_bytes.push(one.length as u32);
            }
            Err(Errno::EAGAIN) => {
                if let Wake::End(ended) = guard.wait(&[(socket.as_fd(), PollFlags::POLLIN)], idle_until)? {
                    return Ok((ended, found));
                }
                if monotonic_ns() >= idle_until && !readable(&socket)? {
                    return Ok((Ended::Done, found));
                }
            }
            // An answer to what was sent over the same socket: nobody listens there.
            Err(Errno::EINTR | Errno::ECONNREFUSED) => {}
            Err(errno) => return Err(Failure::system("receiving")(errno)),
        }
    }
}

/// Whether something is waiting to be read.
fn readable(socket: &UdpSocket) -> Result<bool, Failure> {
    let mut polled = [nix::poll::PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    let ready = nix::poll::poll(&mut polled, nix::poll::PollTimeout::ZERO).map_err(Failure::system("waiting"))?;
    Ok(ready > 0)
}

/// Asks the kernel for stamps, for a large buffer, and for the count of what it has no room for.
pub(super) fn prepare(socket: &UdpSocket) -> Result<(), Failure> {
    let refused = Failure::system("preparing a socket");
    socket.set_nonblocking(true).map_err(|error| Failure::System("preparing a socket", error))?;
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).map_err(&refused)?;
    setsockopt(socket, sockopt::RxqOvfl, &1).map_err(&refused)?;
    // The larger of the two that is allowed.
    let _ = setsockopt(socket, sockopt::RcvBuf, &SOCKET_BUFFER);
    let _ = setsockopt(socket, sockopt::RcvBufForce, &SOCKET_BUFFER);
    Ok(())
}

/// A datagram as it came.
pub(super) struct Received {
    pub length: usize,
    pub from: Option<IpAddr>,
    pub address: Option<SockaddrStorage>,
    pub time_ns: i64,
    /// How many the socket had no room for before it, if the kernel tells.
    pub overflowed: Option<u64>,
}

pub(super) fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> nix::Result<Received> {
    let mut control = nix::cmsg_space!(TimeSpec, u32);
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty())?;
    let (mut time_ns, mut overflowed) = (None, None);
    for one in message.cmsgs()? {
        match one {
            ControlMessageOwned::ScmTimestampns(time) => time_ns = Some(nanoseconds(time)),
            ControlMessageOwned::RxqOvfl(count) => overflowed = Some(u64::from(count)),
            _ => {}
        }
    }
    Ok(Received {
        length: message.bytes,
        from: message.address.as_ref().and_then(ip),
        address: message.address,
        time_ns: time_ns.unwrap_or_else(realtime_ns),
        overflowed,
    })
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let four = address.as_sockaddr_in().map(|four| IpAddr::V4(four.ip()));
    four.or_else(|| Some(IpAddr::V6(address.as_sockaddr_in6()?.ip()).to_canonical()))
}

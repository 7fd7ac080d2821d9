//! The other end of [`send_tcp`](super::send_tcp): how much had arrived in order by when.

use std::io::{self, IoSliceMut};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, getsockopt, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use serde::{Deserialize, Serialize};

use super::clock::{nanoseconds, realtime_ns};
use super::ending::Wake;
use super::system::{clamp_window, tcp_info};
use super::tcp_spec::{GREETING, HEAD};
use super::{Ended, Failure, Guard};

const BUFFER: usize = 1 << 18;
/// Beyond these, of a connection, every other one is dropped: what had arrived by a time is known less finely then.
const MOST_ENTRIES: usize = 1 << 20;
/// The first reads of a connection are followed by setting its window.
const CLAMPS: u32 = 16;
/// What a segment of 1448 B takes of a buffer, over its payload.
const FULL_FRAME: f64 = 2304.0 / 1448.0;
/// What is read so soon after it came has waited for nothing.
const PROMPT_NS: i64 = 200_000;
/// Reads of a connection before the others have their turn.
const TURN: usize = 16;

/// What to receive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpReceive {
    /// It ends when so many connections of probes have come and gone.
    pub flows: usize,
    /// Largest windows that connections to each listener advertise, in bytes; without them the kernel's own.
    #[serde(default)]
    pub windows: Vec<Option<u32>>,
}

/// Payload by time: at each time so many bytes had arrived in order.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// When they had, of `CLOCK_REALTIME`: when the last packet of a read arrived, or when what had waited was read.
    pub time_ns: Vec<i64>,
    /// Bytes since the beginning.
    pub bytes: Vec<u64>,
    /// Reads whose time is when they were made: the kernel begins to stamp packets some time after it is asked to.
    pub unstamped: u64,
}

impl Arrivals {
    fn add(&mut self, stamp_ns: Option<i64>, bytes: u64) {
        let time_ns = stamp_ns.unwrap_or_else(|| {
            self.unstamped += 1;
            realtime_ns()
        });
        if self.time_ns.len() >= MOST_ENTRIES {
            let mut keep = [false, true].into_iter().cycle();
            self.time_ns.retain(|_| keep.next() == Some(true));
            let mut keep = [false, true].into_iter().cycle();
            self.bytes.retain(|_| keep.next() == Some(true));
        }
        // A stamp of the kernel may be older than one of ours.
        let time_ns = self.time_ns.last().map_or(time_ns, |&last| last.max(time_ns));
        self.time_ns.push(time_ns);
        self.bytes.push(self.bytes.last().unwrap_or(&0) + bytes);
    }
}

/// A connection of a probe.
#[derive(Clone, Debug, Serialize)]
pub struct Incoming {
    /// Number that the sender gave it.
    pub flow: u64,
    /// Address of the sender.
    pub from: String,
    /// When it was accepted, of `CLOCK_REALTIME`.
    pub accepted_ns: i64,
    /// Whether the sender ended it, rather than something else.
    pub complete: bool,
    /// What arrived, the greeting included.
    #[serde(skip)]
    pub arrivals: Arrivals,
}

/// Receives on listening sockets until so many connections have come and gone; why it ended, and the connections by the
/// numbers of their flows. Connections of others are closed.
///
/// # Errors
/// The system refuses to wait or to accept.
pub fn receive_tcp(
    spec: &TcpReceive,
    listeners: Vec<OwnedFd>,
    guard: &Guard<'_>,
) -> Result<(Ended, Vec<Incoming>), Failure> {
    let listeners: Vec<TcpListener> = listeners.into_iter().map(TcpListener::from).collect();
    for listener in &listeners {
        let refused = |error| Failure::System("preparing a socket", error);
        listener.set_nonblocking(true).map_err(refused)?;
        // What it accepts inherits this, and packets are stamped before the first connection.
        setsockopt(listener, sockopt::ReceiveTimestampns, &true).map_err(|errno| refused(errno.into()))?;
    }
    let mut open: Vec<Connection> = Vec::new();
    let mut found: Vec<Incoming> = Vec::new();
    let mut buffer = vec![0; BUFFER];
    let ended = loop {
        if found.len() >= spec.flows {
            break Ended::Done;
        }
        let sockets = listeners.iter().map(TcpListener::as_fd).chain(open.iter().map(|one| one.socket.as_fd()));
        let watched: Vec<(BorrowedFd<'_>, PollFlags)> = sockets.map(|fd| (fd, PollFlags::POLLIN)).collect();
        if let Wake::End(ended) = guard.wait(&watched, i64::MAX)? {
            break ended;
        }
        for (place, listener) in listeners.iter().enumerate() {
            accept(listener, spec.windows.get(place).copied().flatten(), &mut open)?;
        }
        for mut connection in std::mem::take(&mut open) {
            match connection.read(&mut buffer) {
                State::Open => open.push(connection),
                State::Ended(complete) => found.extend(connection.incoming(complete)),
            }
        }
    };
    found.extend(open.into_iter().filter_map(|connection| connection.incoming(false)));
    found.sort_by_key(|incoming| incoming.flow);
    Ok((ended, found))
}

fn accept(listener: &TcpListener, window: Option<u32>, open: &mut Vec<Connection>) -> Result<(), Failure> {
    loop {
        match listener.accept() {
            Ok((socket, from)) => {
                let refused = |error| Failure::System("preparing a connection", error);
                socket.set_nonblocking(true).map_err(refused)?;
                let accepted_ns = realtime_ns();
                let arrivals = Arrivals::default();
                let (from, head, clamps) = (from.to_string(), Vec::new(), CLAMPS);
                let room = getsockopt(&socket, sockopt::RcvBuf).map_err(|errno| refused(errno.into()))?;
                if let Some(window) = window {
                    give_room(&socket, (FULL_FRAME * f64::from(window)) as usize);
                }
                let (empty_ns, out_of_order) = (accepted_ns, 0);
                open.push(Connection {
                    socket,
                    from,
                    accepted_ns,
                    head,
                    arrivals,
                    window,
                    room,
                    clamps,
                    empty_ns,
                    out_of_order,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            // It was gone before it could be accepted.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(Failure::System("accepting a connection", error)),
        }
    }
}

/// Has a socket hold so many bytes, the kernel's overhead included. At first it is just what the window takes: from that
/// the kernel makes the window anew with the first segment, and senders remember the largest that they saw.
fn give_room(socket: &TcpStream, bytes: usize) {
    // The kernel takes it twice.
    let half = bytes / 2;
    if setsockopt(socket, sockopt::RcvBufForce, &half).is_err() {
        // Where it may not be larger, the sender keeps the window itself.
        let _ = setsockopt(socket, sockopt::RcvBuf, &half);
    }
}

enum State {
    Open,
    /// Whether the sender ended it.
    Ended(bool),
}

struct Connection {
    socket: TcpStream,
    from: String,
    accepted_ns: i64,
    head: Vec<u8>,
    arrivals: Arrivals,
    window: Option<u32>,
    /// What its listener's buffer holds, in bytes.
    room: usize,
    /// How often the window is still to be set.
    clamps: u32,
    /// When there was nothing to read.
    empty_ns: i64,
    /// Segments that had come out of order when that was looked at last.
    out_of_order: u32,
}

impl Connection {
    fn read(&mut self, buffer: &mut [u8]) -> State {
        for _ in 0..TURN {
            let asked_ns = realtime_ns();
            match stamped(self.socket.as_fd(), buffer) {
                Ok((0, _)) => return State::Ended(true),
                Ok((length, time_ns)) => {
                    self.clamp();
                    let wanted = (HEAD - self.head.len()).min(length);
                    self.head.extend_from_slice(&buffer[..wanted]);
                    let known = self.head.len().min(GREETING.len());
                    if self.head[..known] != GREETING[..known] {
                        return State::Ended(false);
                    }
                    let waited = time_ns.is_some_and(|stamp_ns| self.has_waited(stamp_ns, asked_ns));
                    self.arrivals.add(if waited { Some(asked_ns) } else { time_ns }, length as u64);
                }
                Err(Errno::EAGAIN) => {
                    self.empty_ns = asked_ns;
                    return State::Open;
                }
                Err(Errno::EINTR) => return State::Open,
                Err(_) => return State::Ended(false),
            }
        }
        State::Open
    }

    /// Whether what is read now had come at `stamp_ns` and waited behind a hole: the kernel's stamp is of the last segment by
    /// number, which may have come before another.
    fn has_waited(&mut self, stamp_ns: i64, asked_ns: i64) -> bool {
        if asked_ns - stamp_ns < PROMPT_NS {
            return false;
        }
        let count = tcp_info(self.socket.as_fd()).map_or(0, |info| info.out_of_order_packets);
        let overtaken = std::mem::replace(&mut self.out_of_order, count) != count;
        overtaken || stamp_ns < self.empty_ns
    }

    /// Linux sets the window anew when it has seen how much of its buffer a full segment takes; so do we, after it. From
    /// now on there is room for more, as the window would shrink by what is not read yet.
    fn clamp(&mut self) {
        if let Some(window) = self.window
            && self.clamps > 0
        {
            if self.clamps == CLAMPS {
                give_room(&self.socket, self.room);
            }
            self.clamps -= 1;
            // Where that is refused, the sender sees a larger window, and keeps it itself.
            let _ = clamp_window(self.socket.as_fd(), window);
        }
    }

    /// What came of it, if it was of a probe.
    fn incoming(self, complete: bool) -> Option<Incoming> {
        let number = self.head.strip_prefix(&GREETING)?.first_chunk()?;
        Some(Incoming {
            flow: u64::from_be_bytes(*number),
            from: self.from,
            accepted_ns: self.accepted_ns,
            complete,
            arrivals: self.arrivals,
        })
    }
}

/// Reads, with the time at which the last packet arrived, if the kernel knows it.
fn stamped(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> nix::Result<(usize, Option<i64>)> {
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty())?;
    let time = message.cmsgs()?.find_map(|one| match one {
        ControlMessageOwned::ScmTimestampns(time) => Some(nanoseconds(time)),
        _ => None,
    });
    Ok((message.bytes, time))
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, MOST_ENTRIES};

    #[test]
    fn bytes_add_up_in_the_order_of_time_and_thin_out_where_there_are_too_many() {
        let mut arrivals = Arrivals::default();
        arrivals.add(Some(10), 3);
        arrivals.add(Some(9), 4);
        assert_eq!((arrivals.time_ns.as_slice(), arrivals.bytes.as_slice()), ([10, 10].as_slice(), [3, 7].as_slice()));
        for time in 11..MOST_ENTRIES as i64 + 20 {
            arrivals.add(Some(time), 1);
        }
        assert!(arrivals.time_ns.len() < MOST_ENTRIES);
        assert_eq!(arrivals.bytes.last(), Some(&(MOST_ENTRIES as u64 + 20 - 11 + 7)));
        assert_eq!(arrivals.time_ns[0], 10);
        assert_eq!(arrivals.bytes[0], 7);
    }
}

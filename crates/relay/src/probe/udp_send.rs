//! Many senders of datagrams in one thread, each at its own times.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::PollFlags;
use serde::Deserialize;

use super::clock::{ahead_ns, from_seconds, monotonic_ns, realtime_ns};
use super::datagram::Header;
use super::ending::Wake;
use super::{Ended, Failure, Guard, Pattern, Schedule, in_order};

/// The last part of a wait is spent awake: waking up takes the system about as long.
const SPIN_NS: i64 = 60_000;
/// Of the time, for the receiver may need the same processor.
const SPIN_SHARE: i64 = 2;
const LARGEST: usize = 65_507;
/// Datagrams between looks whether all is to end, where one follows the other at once.
const TURN: u32 = 64;

/// What one flow sends. Times are in seconds after the beginning.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpFlow {
    /// Number that the receiver knows it by.
    pub flow: u16,
    /// Where to.
    pub to: SocketAddr,
    /// When it starts.
    pub start_s: f64,
    /// When it stops; without it, when the pattern ends or the time is up.
    pub stop_s: Option<f64>,
    /// Payload of a datagram.
    pub payload_bytes: usize,
    /// When its datagrams are due.
    pub pattern: Pattern,
}

/// What to send.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSend {
    /// The flows, in the order of their sockets.
    pub flows: Vec<UdpFlow>,
    /// The beginning, of `CLOCK_MONOTONIC`; without it, now.
    pub begin_ns: Option<i64>,
    /// All flows together send no more datagrams than this.
    pub most: usize,
}

/// What was sent: a row a datagram, in the order of sending. Times are of `CLOCK_REALTIME`.
#[derive(Clone, Debug, Default)]
pub struct UdpSent {
    /// The beginning.
    pub began_ns: i64,
    /// Number of the flow.
    pub flow: Vec<u16>,
    /// Number of the datagram in its flow.
    pub seq: Vec<u32>,
    /// When it was due.
    pub due_ns: Vec<i64>,
    /// When it was given to the kernel.
    pub sent_ns: Vec<i64>,
    /// Datagrams that the kernel refused.
    pub refused: u64,
    /// Times that the other end said that nobody listens.
    pub unreachable: u64,
    /// How long the sockets took nothing.
    pub blocked_s: f64,
}

/// Sends over bound or unbound sockets, which it connects, until all schedules have ended.
///
/// # Errors
/// What is asked for makes no sense, or the system refuses a socket.
pub fn send_udp(spec: &UdpSend, sockets: Vec<OwnedFd>, guard: &Guard<'_>) -> Result<(Ended, UdpSent), Failure> {
    let begin = spec.begin_ns.unwrap_or_else(monotonic_ns);
    let real = ahead_ns();
    let mut flows = check(spec, sockets, begin)?;
    let mut sent = UdpSent { began_ns: begin + real, ..UdpSent::default() };
    let (mut spun, mut turn) = (0, 0);
    loop {
        let next = flows.iter_mut().filter_map(|flow| Some((flow.schedule.due_ns()?, flow)));
        let Some((due, flow)) = next.min_by_key(|(due, _)| *due) else {
            return Ok((Ended::Done, sent));
        };
        if sent.seq.len() >= spec.most {
            return Ok((Ended::Done, sent));
        }
        let now = monotonic_ns();
        let ended = if due > now {
            turn = 0;
            let spin = if spun * SPIN_SHARE < now - begin { SPIN_NS } else { 0 };
            let wake = if due - spin > now { guard.wait(&[], due - spin)? } else { Wake::Go };
            match wake {
                Wake::End(ended) => Some(ended),
                Wake::Go => {
                    spun += spin_until(due);
                    None
                }
            }
        } else {
            turn = (turn + 1) % TURN;
            if turn == 0 { guard.at_once()? } else { None }
        };
        if let Some(ended) = ended {
            return Ok((ended, sent));
        }
        if let Some(ended) = flow.send(due, real, &mut sent, guard)? {
            return Ok((ended, sent));
        }
    }
}

/// Waits awake; how long it was.
fn spin_until(due: i64) -> i64 {
    let awake = monotonic_ns();
    while monotonic_ns() < due {
        std::hint::spin_loop();
    }
    (due - awake).max(0)
}

struct Sender {
    number: u16,
    socket: UdpSocket,
    schedule: Schedule,
    seq: u32,
    payload: Vec<u8>,
}

fn check(spec: &UdpSend, sockets: Vec<OwnedFd>, begin: i64) -> Result<Vec<Sender>, Failure> {
    let wrong = |text: String| Failure::Wrong(text);
    if spec.flows.len() != sockets.len() {
        return Err(wrong(format!("{} sockets for {} flows: expected one each", sockets.len(), spec.flows.len())));
    }
    let mut flows = Vec::new();
    for (flow, socket) in spec.flows.iter().zip(sockets) {
        let UdpFlow { flow: number, to, start_s, stop_s, payload_bytes, pattern } = flow;
        if !in_order(*start_s, *stop_s) {
            return Err(wrong(format!("flow {number}: expected a start that is not negative and a stop after it")));
        }
        if !(Header::BYTES..=LARGEST).contains(payload_bytes) {
            return Err(wrong(format!("flow {number}: expected a payload from {} to {LARGEST} B", Header::BYTES)));
        }
        if let Some(problem) = pattern.problem() {
            return Err(wrong(format!("flow {number}: {problem}")));
        }
        let socket = UdpSocket::from(socket);
        let refused = |error| Failure::System("connecting a socket", error);
        socket.set_nonblocking(true).map_err(refused)?;
        socket.connect(to).map_err(refused)?;
        let stop_ns = stop_s.map_or(i64::MAX, |stop| begin.saturating_add(from_seconds(stop)));
        let schedule = Schedule::new(pattern.clone(), begin.saturating_add(from_seconds(*start_s)), stop_ns);
        flows.push(Sender { number: *number, socket, schedule, seq: 0, payload: vec![0; *payload_bytes] });
    }
    Ok(flows)
}

impl Sender {
    /// Sends the datagram that is due; waits where the socket takes none. Why all is to end, if it is.
    fn send(&mut self, due: i64, real: i64, sent: &mut UdpSent, guard: &Guard<'_>) -> Result<Option<Ended>, Failure> {
        let mut waited = None;
        loop {
            let sent_ns = realtime_ns();
            Header { flow: self.number, seq: self.seq, sent_ns }.write(&mut self.payload);
            match self.socket.send(&self.payload) {
                Ok(_) => {
                    sent.flow.push(self.number);
                    sent.seq.push(self.seq);
                    sent.due_ns.push(due + real);
                    sent.sent_ns.push(sent_ns);
                    self.seq = self.seq.wrapping_add(1);
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    waited.get_or_insert_with(monotonic_ns);
                    if let Wake::End(ended) = guard.wait(&[(self.socket.as_fd(), PollFlags::POLLOUT)], i64::MAX)? {
                        return Ok(Some(ended));
                    }
                }
                // What an earlier datagram met is told now; this one was not sent.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => sent.unreachable += 1,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    sent.refused += 1;
                    break;
                }
            }
        }
        let now = monotonic_ns();
        sent.blocked_s += waited.map_or(0.0, |since| (now - since) as f64 / 1e9);
        self.schedule.advance(now);
        Ok(None)
    }
}

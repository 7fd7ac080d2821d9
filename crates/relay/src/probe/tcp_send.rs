//! Many TCP senders in one thread, each with a window that is exact in segments.
//!
//! The kernel offers no option that limits what is outstanding to so many bytes: buffers count their own overhead. So
//! data stay here until the socket has room for one more segment within the window, and go in one segment a time. Where
//! the receiver advertises the window itself, that is for the beginning only: a program that has to wake for each ACK is
//! later than the kernel.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::application::Application;
use super::clock::{ahead_ns, from_seconds, monotonic_ns};
use super::ending::Wake;
use super::system::{is_writable, outstanding_bytes, tcp_info, unsent_bytes};
use super::tcp_spec::{GREETING, HEAD, Samples, SentFlow, TcpFlow, TcpSend, TcpSent, check};
use super::time_spent::{Accounting, Waiting};
use super::{Ended, Failure, Guard, TcpInfo, TimeSpent};
use nix::errno::Errno;
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, send, setsockopt, sockopt};

/// What is written at once where no window is kept.
const CHUNK: usize = 65_536;
/// More will follow: without it every write is pushed (PSH), and Linux acknowledges what is pushed at once.
const MORE: MsgFlags = MsgFlags::from_bits_retain(nix::libc::MSG_MORE);
/// After so many segments a receiver's window is what it was asked for.
const SETTLED: u64 = 32;
/// Between looks at a flow that has nothing more to write.
const DRAIN_NAP_NS: i64 = 1_000_000;

/// Sends over sockets that are not connected yet, and blocks until all flows have stopped.
///
/// # Errors
/// What is asked for makes no sense, or the system refuses to wait. A flow that fails says so in its own result.
pub fn send_tcp(spec: &TcpSend, sockets: Vec<OwnedFd>, guard: &Guard<'_>) -> Result<TcpSent, Failure> {
    check(spec, &sockets)?;
    let begin = spec.begin_ns.unwrap_or_else(monotonic_ns);
    let real = ahead_ns();
    let mut flows = spec
        .flows
        .iter()
        .zip(sockets)
        .map(|(flow, socket)| Sender::new(flow, socket, begin, spec))
        .collect::<Result<Vec<_>, _>>()?;
    let mut samples = Samples::default();
    let sample = spec.sample_s.map(from_seconds);
    let (nap, mut next_sample) = (from_seconds(spec.nap_s), sample.map_or(i64::MAX, |every| begin + every));
    let ended = loop {
        let now = monotonic_ns();
        let mut wake = next_sample;
        for flow in &mut flows {
            wake = wake.min(flow.step(now, nap, real));
        }
        if flows.iter().all(|flow| flow.phase == Phase::Over) {
            break Ended::Done;
        }
        if let Some(every) = sample
            && now >= next_sample
        {
            for flow in flows.iter().filter(|flow| matches!(flow.phase, Phase::Sending)) {
                if let Ok(info) = tcp_info(flow.socket.as_fd()) {
                    samples.flow.push(flow.spec.flow);
                    samples.time_ns.push(now + real);
                    samples.info.push(info);
                }
            }
            next_sample += every * (1 + (now - next_sample) / every);
            wake = wake.min(next_sample);
        }
        let watched: Vec<(BorrowedFd<'_>, PollFlags)> = flows.iter().filter_map(Sender::watched).collect();
        if let Wake::End(ended) = guard.wait(&watched, wake)? {
            let now = monotonic_ns();
            flows.iter_mut().for_each(|flow| flow.stop(now, real));
            break ended;
        }
    };
    flows.iter().for_each(Sender::abandon);
    Ok(TcpSent { began_ns: begin + real, ended, flows: flows.into_iter().map(|flow| flow.result).collect(), samples })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Connecting,
    Sending,
    /// It has stopped, and what is outstanding may still get through.
    Draining,
    Over,
}

struct Sender<'a> {
    spec: &'a TcpFlow,
    socket: TcpStream,
    phase: Phase,
    start_ns: i64,
    stop_ns: i64,
    drain_ns: i64,
    application: Application,
    segment: usize,
    /// Whether the kernel sends it as one.
    whole: bool,
    /// The receiver keeps the window now.
    kept: bool,
    /// Something was acknowledged: the kernel knows the window, whose scale a SYN does not have.
    answered: bool,
    /// The socket took no more, and is asked when it does.
    full: bool,
    /// All that the application has offered is sent.
    idle: bool,
    accounting: Accounting,
    data: Vec<u8>,
    result: SentFlow,
}

impl<'a> Sender<'a> {
    fn new(spec: &'a TcpFlow, socket: OwnedFd, begin: i64, all: &TcpSend) -> Result<Self, Failure> {
        let socket = TcpStream::from(socket);
        // Without the option, a segment would wait for others to join it.
        let prepared = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true));
        prepared.map_err(|error| Failure::System("preparing a socket", error))?;
        let start_ns = begin + from_seconds(spec.start_s);
        let stop_ns = spec.stop_s.map_or(i64::MAX, |stop| begin.saturating_add(from_seconds(stop)));
        let result = SentFlow {
            flow: spec.flow,
            start_ns: None,
            connected_ns: None,
            stop_ns: None,
            from: None,
            written_bytes: 0,
            outstanding_bytes: 0,
            info: TcpInfo::default(),
            spent: TimeSpent::default(),
            error: None,
        };
        Ok(Self {
            spec,
            socket,
            phase: Phase::Waiting,
            start_ns,
            stop_ns,
            drain_ns: from_seconds(all.drain_s),
            application: Application::new(spec, begin, stop_ns),
            segment: CHUNK,
            whole: false,
            kept: false,
            answered: false,
            full: false,
            idle: false,
            accounting: Accounting::new(start_ns),
            data: noise(spec.flow),
            result,
        })
    }

    /// Does what can be done now; when to look again at the latest.
    fn step(&mut self, now: i64, nap: i64, real: i64) -> i64 {
        if self.phase == Phase::Waiting {
            if now < self.start_ns {
                return self.start_ns;
            }
            self.begin(now, real);
        }
        if matches!(self.phase, Phase::Connecting | Phase::Sending) && now >= self.stop_ns {
            self.stop(now, real);
        }
        if self.phase == Phase::Connecting {
            self.connected(now, real);
        }
        if self.phase == Phase::Sending {
            match self.send(now) {
                Ok(true) => self.stop(monotonic_ns(), real),
                Ok(false) => {}
                Err(error) => self.fail(&error, now, real),
            }
        }
        match self.phase {
            Phase::Waiting => self.start_ns,
            Phase::Connecting => self.stop_ns,
            Phase::Sending if self.full => self.stop_ns,
            Phase::Sending if self.idle => self.stop_ns.min(self.application.next_ns().unwrap_or(now + nap)),
            Phase::Sending => self.stop_ns.min(now + nap),
            Phase::Draining => {
                if now >= self.drain_ns || outstanding_bytes(self.socket.as_fd()).unwrap_or(0) == 0 {
                    self.phase = Phase::Over;
                }
                now + DRAIN_NAP_NS
            }
            Phase::Over => i64::MAX,
        }
    }

    /// What tells that it can go on.
    fn watched(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let waits = self.phase == Phase::Connecting || (self.phase == Phase::Sending && self.full);
        waits.then(|| (self.socket.as_fd(), PollFlags::POLLOUT))
    }

    fn begin(&mut self, now: i64, real: i64) {
        (self.start_ns, self.accounting) = (now, Accounting::new(now));
        self.result.start_ns = Some(now + real);
        match connect(self.socket.as_raw_fd(), &SockaddrStorage::from(self.spec.to)) {
            Ok(()) | Err(Errno::EINPROGRESS) => self.phase = Phase::Connecting,
            Err(errno) => self.fail(&errno.into(), now, real),
        }
    }

    fn connected(&mut self, now: i64, real: i64) {
        match self.socket.take_error() {
            Ok(Some(error)) | Err(error) => return self.fail(&error, now, real),
            Ok(None) => {}
        }
        if self.socket.peer_addr().is_err() {
            return;
        }
        let info = tcp_info(self.socket.as_fd()).unwrap_or_default();
        // The kernel knows better when: the handshake took one round trip.
        self.result.connected_ns = Some(now + real);
        self.result.from = self.socket.local_addr().ok().map(|address| address.to_string());
        self.segment = self.spec.segment_bytes.map_or(info.segment_bytes.max(1) as usize, |bytes| bytes as usize);
        self.whole = self.segment == info.segment_bytes as usize;
        self.phase = Phase::Sending;
    }

    /// Writes what there is room for; whether all is sent and acknowledged.
    fn send(&mut self, now: i64) -> io::Result<bool> {
        // What was written as often as others wake us would be pushed in pieces as small as what is free.
        if self.full && !is_writable(self.socket.as_fd())? {
            return self.wait(now);
        }
        (self.full, self.idle) = (false, false);
        let window = self.own_window()?;
        let offered = self.application.offered(now, self.segment);
        loop {
            let left = offered - self.result.written_bytes;
            if left == 0 {
                self.idle = unsent_bytes(self.socket.as_fd())? == 0;
                self.accounting.look(now, if self.idle { Waiting::Application } else { Waiting::Kernel });
                return Ok(self.application.is_over() && outstanding_bytes(self.socket.as_fd())? == 0);
            }
            let length = if let Some(window) = window {
                let segment = (self.segment as u64).min(left).min(window);
                if outstanding_bytes(self.socket.as_fd())? + segment > window {
                    break;
                }
                segment as usize
            } else {
                // Of a window's data each segment is marked as one of many.
                let most = if self.kept { self.segment } else { CHUNK };
                left.min(most as u64) as usize
            };
            // What is written now is pushed by half of the window that is known now: no more than can be sent.
            if !self.answered {
                self.answered = outstanding_bytes(self.socket.as_fd())? < self.result.written_bytes;
                if !self.answered && unsent_bytes(self.socket.as_fd())? > 0 {
                    break;
                }
            }
            match self.write(length) {
                Ok(written) => self.result.written_bytes += written as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // It is writable only when a third of its buffer is free, which is too late for a window.
                    self.full = window.is_none();
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.wait(now)
    }

    /// It can write no more now.
    fn wait(&mut self, now: i64) -> io::Result<bool> {
        let waiting = if unsent_bytes(self.socket.as_fd())? > 0 { Waiting::Kernel } else { Waiting::Window };
        self.accounting.look(now, waiting);
        Ok(false)
    }

    /// The window that is for us to keep, if there is one.
    fn own_window(&mut self) -> io::Result<Option<u64>> {
        let Some(window) = self.spec.window_bytes.filter(|_| !self.kept) else { return Ok(None) };
        // It advertises more for a moment, when it has seen the first segments.
        let settled = (SETTLED * self.segment as u64).min(2 * window);
        if self.spec.receiver_keeps_window && self.result.written_bytes > settled {
            let info = tcp_info(self.socket.as_fd())?;
            let advertised = u64::from(info.receiver_window_bytes);
            self.kept = info.acked_bytes > settled && advertised < window + self.segment as u64;
        }
        Ok((!self.kept).then_some(window))
    }

    fn write(&mut self, length: usize) -> io::Result<usize> {
        let written = usize::try_from(self.result.written_bytes).unwrap_or(usize::MAX);
        if written < HEAD {
            let mut head = [0; HEAD];
            head[..8].copy_from_slice(&GREETING);
            head[8..].copy_from_slice(&self.spec.flow.to_be_bytes());
            self.data[..HEAD - written].copy_from_slice(&head[written..]);
        }
        // An application that writes single segments pushes each.
        let more = self.whole
            && self.spec.pattern.is_none()
            && length == self.segment
            && self.spec.size_bytes != Some(self.result.written_bytes + length as u64);
        let flags = MsgFlags::MSG_NOSIGNAL | if more { MORE } else { MsgFlags::empty() };
        Ok(send(self.socket.as_raw_fd(), &self.data[..length], flags)?)
    }

    /// Ends what is measured; what is outstanding may still get through.
    fn stop(&mut self, now: i64, real: i64) {
        if !matches!(self.phase, Phase::Connecting | Phase::Sending) {
            return;
        }
        self.result.stop_ns = Some(now + real);
        self.result.spent = self.accounting.until(now);
        self.result.info = tcp_info(self.socket.as_fd()).unwrap_or_default();
        self.result.outstanding_bytes = outstanding_bytes(self.socket.as_fd()).unwrap_or(0);
        self.drain_ns = now.saturating_add(self.drain_ns);
        if self.phase == Phase::Connecting {
            self.result.error = Some("not connected before it stopped".to_owned());
            self.phase = Phase::Over;
            return;
        }
        let _ = self.socket.shutdown(Shutdown::Write);
        self.phase = Phase::Draining;
    }

    /// What has not arrived never will, and would take the kernel's memory for minutes: all connections of a machine get
    /// small windows when that is short. Closing it resets the connection.
    fn abandon(&self) {
        if outstanding_bytes(self.socket.as_fd()).unwrap_or(0) > 0 {
            let _ = setsockopt(&self.socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
        }
    }

    fn fail(&mut self, error: &io::Error, now: i64, real: i64) {
        self.stop(now, real);
        self.result.error = Some(text(error));
        self.phase = Phase::Over;
    }
}

/// The system's sentence, without its number.
fn text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Bytes that no device on the way can compress.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..CHUNK / 8).flat_map(|_| word()).collect()
}

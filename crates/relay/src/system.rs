//! The system as the world of a relay: its monotonic clock, a descriptor for each port, and `ppoll` to wait.

use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use tightlink_sim::time::Time;

use crate::RelayError;
use crate::port::Port;
use crate::spin::Spin;
use crate::world::{Arrival, World};

/// Longest time without a look at whether to end, in seconds.
const LOOK_S: f64 = 0.01;
/// Longest sleep, in seconds: whoever waits for ever wakes up once a minute.
const SLEEP_S: f64 = 60.0;

/// The system.
#[derive(Debug)]
pub struct System<P> {
    ports: Vec<P>,
    /// Names of the nodes behind them.
    names: Vec<String>,
    /// Readable when the relay is to end.
    stop: OwnedFd,
    /// Nanoseconds of the monotonic clock when the relay began.
    origin: i64,
    spin: Spin,
    /// When it slept last, and when it looked last whether to end.
    woke: Time,
    looked: Time,
}

impl<P: Port> System<P> {
    /// A world whose time begins now, in which waits end awake for no more than a share of the time.
    ///
    /// # Errors
    /// The system has no monotonic clock.
    pub fn new(ports: Vec<P>, names: Vec<String>, stop: OwnedFd, spin_share: f64) -> Result<Self, RelayError> {
        let origin = nanoseconds(ClockId::CLOCK_MONOTONIC)?;
        Ok(Self { ports, names, stop, origin, spin: Spin::new(spin_share), woke: Time::ZERO, looked: Time::ZERO })
    }

    /// Nanoseconds of the monotonic clock when the relay began.
    #[must_use]
    pub fn origin_ns(&self) -> i64 {
        self.origin
    }

    /// Tells whoever may end the relay that it begins, if they listen.
    pub fn say_ready(&self) {
        let _ = nix::unistd::write(&self.stop, b"r");
    }

    fn failed(&self, port: usize, source: std::io::Error) -> RelayError {
        RelayError::Port { name: self.names[port].clone(), source }
    }

    /// Sleeps until something comes, but no longer than that. False if the relay is to end.
    fn sleep(&mut self, seconds: f64) -> Result<bool, RelayError> {
        let nanoseconds = (seconds.clamp(0.0, SLEEP_S) * 1e9) as i64;
        let timeout = TimeSpec::new(nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
        let descriptors = std::iter::once(self.stop.as_fd()).chain(self.ports.iter().map(Port::descriptor));
        let mut waited: Vec<_> = descriptors.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)).collect();
        match ppoll(&mut waited, Some(timeout), None) {
            Ok(_) => Ok(!waited[0].any().unwrap_or_default()),
            Err(Errno::EINTR) => Ok(true),
            Err(error) => Err(RelayError::System { what: "waiting for packets", source: error.into() }),
        }
    }
}

impl<P: Port> World for System<P> {
    fn now(&mut self) -> Time {
        // A clock that was there when the relay began does not go away.
        let now = nanoseconds(ClockId::CLOCK_MONOTONIC).unwrap_or(self.origin);
        Time::new((now - self.origin) as f64 / 1e9)
    }

    fn receive(&mut self, port: usize, into: &mut [u8]) -> Result<Option<Arrival>, RelayError> {
        let Some(read) = self.ports[port].receive(into).map_err(|error| self.failed(port, error))? else {
            return Ok(None);
        };
        let now = self.now().seconds();
        // The kernel's stamp is of the clock that people see, which is set now and then: what counts is its age.
        let age_s = match read.stamp {
            Some(stamp) => (nanoseconds(ClockId::CLOCK_REALTIME)? as f64 / 1e9 - stamp.as_secs_f64()).max(0.0),
            None => 0.0,
        };
        Ok(Some(Arrival { length: read.length, at: Time::new((now - age_s).max(0.0)) }))
    }

    fn send(&mut self, port: usize, packet: &[u8]) -> Result<bool, RelayError> {
        self.ports[port].send(packet).map_err(|error| self.failed(port, error))
    }

    fn wait(&mut self, until: Time) -> Result<bool, RelayError> {
        let now = self.now();
        self.spin.awake(now.since(self.woke));
        self.woke = now;
        let window_s = self.spin.window_s();
        let left_s = until.since(now);
        if left_s <= window_s && now.since(self.looked) < LOOK_S {
            return Ok(true);
        }
        let goes_on = self.sleep(left_s - window_s)?;
        let woke = self.now();
        self.spin.slept(woke.since(now));
        (self.woke, self.looked) = (woke, woke);
        Ok(goes_on)
    }

    fn work(&mut self, seconds: f64) {
        /// Between looks at the clock, which cost a call to the system.
        const TURNS: u32 = 50;
        let wanted = (seconds * 1e9) as i64;
        let begin = thread_ns();
        while thread_ns() - begin < wanted {
            (0..TURNS).for_each(|_| std::hint::spin_loop());
        }
    }

    fn spent_s(&self) -> f64 {
        thread_s()
    }
}

/// Makes waits of the calling thread end when they should, and keeps the memory of the process where it is. False if
/// the memory may not be locked: then the kernel may take it away.
///
/// # Errors
/// Timers cannot be made exact.
pub fn be_punctual() -> Result<bool, RelayError> {
    nix::sys::prctl::set_timerslack(1)
        .map_err(|error| RelayError::System { what: "exact timers", source: error.into() })?;
    Ok(mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE).is_ok())
}

/// Processor time of the calling thread, in seconds.
#[must_use]
pub fn thread_s() -> f64 {
    thread_ns() as f64 / 1e9
}

fn thread_ns() -> i64 {
    nanoseconds(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap_or(i64::MAX)
}

fn nanoseconds(clock: ClockId) -> Result<i64, RelayError> {
    let time = clock_gettime(clock).map_err(|error| RelayError::System { what: "clock", source: error.into() })?;
    Ok(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

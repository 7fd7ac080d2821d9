//! When traffic ends: it is done, its time is up, a descriptor says so, or the user.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::{get_timerslack, set_timerslack};
use serde::Serialize;

use super::Failure;
use super::clock::{from_seconds, monotonic_ns, time_spec};

/// Why traffic ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All was sent or received that was to be.
    Done,
    /// The time that it was given is up.
    TimeUp,
    /// The descriptor that stops it could be read.
    Stopped,
    /// The user interrupted it.
    Interrupted,
}

/// What a wait ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A descriptor is ready, or the time has come.
    Go,
    /// All is to end.
    End(Ended),
}

/// Watches for the end, and is the only place where anything waits.
pub struct Guard<'a> {
    stop: Option<BorrowedFd<'a>>,
    end_ns: i64,
    interrupted: &'a dyn Fn() -> bool,
    asked_ns: Cell<i64>,
    slack_ns: Option<u32>,
}

/// Between questions whether the user interrupts.
const QUESTION_NS: i64 = 50_000_000;

impl<'a> Guard<'a> {
    /// Ends after `limit_s` from now, or when `stop` can be read, or when `interrupted`, which is asked now and then,
    /// says so.
    pub fn new(limit_s: f64, stop: Option<BorrowedFd<'a>>, interrupted: &'a dyn Fn() -> bool) -> Self {
        // Otherwise waits are 50 µs longer than asked for. Where it is refused, they are.
        let slack_ns = get_timerslack().ok().and_then(|slack| u32::try_from(slack).ok());
        let _ = set_timerslack(1);
        let now = monotonic_ns();
        Self {
            stop,
            end_ns: now.saturating_add(from_seconds(limit_s)),
            interrupted,
            asked_ns: Cell::new(now),
            slack_ns,
        }
    }

    /// Waits until one of the descriptors is ready or the clock says `until_ns`; never beyond the end.
    pub(super) fn wait(&self, watched: &[(BorrowedFd<'_>, PollFlags)], until_ns: i64) -> Result<Wake, Failure> {
        let mut polled: Vec<PollFd<'_>> = watched.iter().map(|&(fd, flags)| PollFd::new(fd, flags)).collect();
        polled.extend(self.stop.as_ref().map(|stop| PollFd::new(stop.as_fd(), PollFlags::POLLIN)));
        loop {
            let now = monotonic_ns();
            if let Some(ended) = self.ended(now) {
                return Ok(Wake::End(ended));
            }
            let next = until_ns.min(self.end_ns).min(now + QUESTION_NS);
            match ppoll(&mut polled, Some(time_spec(next.saturating_sub(now))), None) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(Failure::system("waiting for sockets")(errno)),
            }
            let ready = |polled: &PollFd<'_>| polled.any().unwrap_or(false);
            if self.stop.is_some() && polled.last().is_some_and(ready) {
                return Ok(Wake::End(Ended::Stopped));
            }
            if polled[..watched.len()].iter().any(ready) || monotonic_ns() >= until_ns {
                return Ok(match self.ended(monotonic_ns()) {
                    Some(ended) => Wake::End(ended),
                    None => Wake::Go,
                });
            }
        }
    }

    /// Why all is to end now, without waiting for anything.
    pub(super) fn at_once(&self) -> Result<Option<Ended>, Failure> {
        Ok(match self.wait(&[], i64::MIN)? {
            Wake::End(ended) => Some(ended),
            Wake::Go => None,
        })
    }

    /// Whether the time is up or the user interrupts, at a time of the clock.
    pub(super) fn ended(&self, now: i64) -> Option<Ended> {
        if now >= self.end_ns {
            return Some(Ended::TimeUp);
        }
        if now - self.asked_ns.get() >= QUESTION_NS {
            self.asked_ns.set(now);
            return (self.interrupted)().then_some(Ended::Interrupted);
        }
        None
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(slack) = self.slack_ns {
            let _ = set_timerslack(slack.into());
        }
    }
}

//! The two clocks: one to wait by, which never jumps, and one to stamp packets with, as the kernel does.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

const SECOND: i64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> i64 {
    // It is there on every Linux, and reading it cannot fail.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, nanoseconds)
}

/// Nanoseconds of `CLOCK_REALTIME`, of which the kernel's own stamps are.
pub fn realtime_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, nanoseconds)
}

/// What `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`, to a fraction of a microsecond: of some readings the one that
/// nothing came in between of.
pub fn ahead_ns() -> i64 {
    const READINGS: usize = 8;
    let reading = |_| {
        let (before, real, after) = (monotonic_ns(), realtime_ns(), monotonic_ns());
        (after - before, real - (before + after) / 2)
    };
    (0..READINGS).map(reading).min().map_or(0, |(_, ahead)| ahead)
}

/// A time in nanoseconds.
pub fn nanoseconds(time: TimeSpec) -> i64 {
    time.tv_sec() * SECOND + time.tv_nsec()
}

/// Nanoseconds as the system takes them; none below zero.
pub fn time_spec(nanoseconds: i64) -> TimeSpec {
    let nanoseconds = nanoseconds.max(0);
    TimeSpec::new(nanoseconds / SECOND, nanoseconds % SECOND)
}

/// Seconds in whole nanoseconds; what is no time or longer than a century is a century.
pub fn from_seconds(seconds: f64) -> i64 {
    const CENTURY: i64 = 100 * 366 * 86_400 * SECOND;
    let nanoseconds = (seconds * SECOND as f64).round();
    if nanoseconds.abs() < CENTURY as f64 { nanoseconds as i64 } else { CENTURY }
}

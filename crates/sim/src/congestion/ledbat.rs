//! LEDBAT (RFC 6817): transfers in the background, which keep the queueing delay at a target.
//!
//! The RFC measures one-way delays by timestamps of both ends. An ACK here brings back the sender's alone: the
//! delay is that of the round trip, so that a queue on the way back counts too.

use super::{Ack, CongestionControl, ControlOption, Options, Window};
use crate::time::Time;

/// BASE_HISTORY: the base delay is the smallest of so many minutes (§2.5).
const BASE_HISTORY: usize = 10;
/// Length of an interval of it, in seconds.
const INTERVAL_S: f64 = 60.0;
/// CURRENT_FILTER: the current delay is the smallest of so many samples (§2.5; the filter is one of §2.4.2).
const CURRENT_FILTER: usize = 4;
/// ALLOWED_INCREASE: the window grows to what was in flight and at most this (§2.5; §2.4.2 would have it shrink to that, too).
const ALLOWED_INCREASE: f64 = 1.0;
/// MIN_CWND (§2.5), in packets.
const MIN_WINDOW: f64 = 2.0;

/// The delays of a path, the latest and those without a queue (§2.4.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct PathDelays {
    base_s: [f64; BASE_HISTORY],
    interval: u32,
    interval_start: Time,
    current_s: [f64; CURRENT_FILTER],
    place: usize,
}

fn least(delays: &[f64]) -> f64 {
    delays.iter().copied().fold(f64::INFINITY, f64::min)
}

impl PathDelays {
    /// None yet.
    pub(super) fn new() -> Self {
        Self {
            base_s: [f64::INFINITY; BASE_HISTORY],
            interval: 0,
            interval_start: Time::ZERO,
            current_s: [f64::INFINITY; CURRENT_FILTER],
            place: 0,
        }
    }

    /// Takes the sample of an ACK.
    #[inline]
    pub(super) fn take(&mut self, ack: &Ack) {
        if ack.now.since(self.interval_start) >= INTERVAL_S {
            self.interval_start = ack.now;
            self.interval = (self.interval + 1) % BASE_HISTORY as u32;
            self.base_s[self.interval as usize] = f64::INFINITY;
        }
        let base_s = &mut self.base_s[self.interval as usize];
        *base_s = base_s.min(ack.rtt_s);
        self.current_s[self.place] = ack.rtt_s;
        self.place = (self.place + 1) % CURRENT_FILTER;
    }

    /// The delay without a queue, in seconds.
    pub(super) fn base_s(&self) -> f64 {
        least(&self.base_s)
    }

    /// The least queueing delay that the latest samples tell, in seconds.
    pub(super) fn queueing_s(&self) -> f64 {
        least(&self.current_s) - self.base_s()
    }
}

/// LEDBAT.
#[derive(Clone, Copy, Debug)]
pub struct Ledbat {
    target_s: f64,
    gain: f64,
    slow_start: bool,
    delays: PathDelays,
}

impl CongestionControl for Ledbat {
    const HELP: &'static str = "LEDBAT: background transfers, which yield to a queue of 100 ms (RFC 6817)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::seconds("target", 0.1, "queueing delay that it aims at: TARGET, at most 100 ms (§2.5)"),
        ControlOption::number("gain", 1.0, [0.01, 1.0], "packets per round trip when there is no queue: GAIN"),
        ControlOption::switch(
            "slow_start",
            false,
            "begin, and go on after a timeout, with slow start; the RFC has none",
        ),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [target_s, gain, slow_start] = options.values();
        Self { target_s, gain, slow_start: slow_start > 0.5, delays: PathDelays::new() }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        self.delays.take(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let queueing_s = self.delays.queueing_s();
        if self.slow_start && window.in_slow_start() && queueing_s < self.target_s {
            window.slow_start(ack.acked);
            return;
        }
        // §2.4.2: up to a packet per round without a queue, and down as fast as the queue exceeds the target.
        let off_target = 1.0 - queueing_s / self.target_s;
        let grown = window.cwnd + self.gain * off_target * ack.acked / window.cwnd;
        let most = (ack.in_flight + ALLOWED_INCREASE).max(window.cwnd);
        window.cwnd = grown.min(most).max(MIN_WINDOW);
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    /// On a path of 100 packets in 0.1 s, the target is as many again.
    #[test]
    fn it_keeps_the_queueing_delay_at_the_target() {
        let mut control: Ledbat = fresh();
        let mut path = Path::new(90.0);
        for _ in 0..1000 {
            let rtt_s = 0.1 * (path.window.cwnd / 100.0).max(1.0);
            path.round(&mut control, rtt_s);
        }
        assert!((path.window.cwnd / 200.0 - 1.0).abs() < 0.01, "{}", path.window.cwnd);
    }
}

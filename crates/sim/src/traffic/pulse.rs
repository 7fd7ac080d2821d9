//! Sources that send one packet at a time: constant bit rate, and the same in random bursts.

use crate::random::Stream;
use crate::scenario::{Duration, TrafficSpec};
use crate::time::Time;

/// When the packets of a source leave.
#[derive(Clone, Debug)]
pub enum Pulse {
    /// At a constant interval.
    Constant {
        /// Seconds from packet to packet.
        interval_s: f64,
    },
    /// At a constant interval during on-times.
    OnOff(Box<OnOff>),
}

/// Random on-times and off-times.
#[derive(Clone, Debug)]
pub struct OnOff {
    interval_s: f64,
    on: Duration,
    off: Duration,
    on_lengths: Stream,
    off_lengths: Stream,
    on_until: Time,
}

impl Pulse {
    /// The source of a flow; nothing for traffic that sends by itself.
    #[must_use]
    pub fn new(traffic: &TrafficSpec, seed: u64, group: &str, index: u32) -> Option<Self> {
        match *traffic {
            TrafficSpec::Bulk { .. } | TrafficSpec::Saturate {} => None,
            TrafficSpec::Cbr { interval_s } => Some(Self::Constant { interval_s }),
            TrafficSpec::OnOff { interval_s, on, off } => Some(Self::OnOff(Box::new(OnOff {
                interval_s,
                on,
                off,
                on_lengths: Stream::new(seed, group, index, "on"),
                off_lengths: Stream::new(seed, group, index, "off"),
                on_until: Time::ZERO,
            }))),
        }
    }

    /// The source starts at `now`, with a packet.
    pub fn start(&mut self, now: Time) {
        if let Self::OnOff(source) = self {
            source.on_until = now + source.on_lengths.duration(source.on);
        }
    }

    /// Seconds from the packet that leaves `now` to the next one.
    pub fn pause_s(&mut self, now: Time) -> f64 {
        match self {
            Self::Constant { interval_s } => *interval_s,
            Self::OnOff(source) => source.pause_s(now),
        }
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        match self {
            Self::Constant { .. } => 0,
            Self::OnOff(source) => source.on_lengths.draws() + source.off_lengths.draws(),
        }
    }
}

impl OnOff {
    fn pause_s(&mut self, now: Time) -> f64 {
        if now + self.interval_s < self.on_until {
            return self.interval_s;
        }
        // The on-time ends before the next packet: the off-time counts from its end.
        let next = self.on_until.max(now) + self.off_lengths.duration(self.off);
        self.on_until = next + self.on_lengths.duration(self.on);
        next.since(now)
    }
}

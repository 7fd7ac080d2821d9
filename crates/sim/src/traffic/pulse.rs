//! Sources with a clock: constant bit rate, the same in random bursts, video.

use crate::random::Stream;
use crate::scenario::{Duration, FlowSpec, TrafficSpec, TransportSpec};
use crate::time::Time;
use crate::traffic::video::Video;

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
    /// Frame by frame.
    Video(Box<Video>),
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
    pub fn new(flow: &FlowSpec, seed: u64) -> Option<Self> {
        let (group, index) = (&flow.group, flow.index);
        match flow.traffic {
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
            TrafficSpec::Video(spec) => {
                let TransportSpec::Udp(udp) = &flow.transport else { return None };
                let sizes = Stream::new(seed, group, index, "frames");
                Some(Self::Video(Box::new(Video::new(spec, udp.payload_bytes, sizes))))
            }
        }
    }

    /// The source starts at `now`, with a packet.
    pub fn start(&mut self, now: Time) {
        match self {
            Self::Constant { .. } => {}
            Self::OnOff(source) => source.on_until = now + source.on_lengths.duration(source.on),
            Self::Video(source) => source.start(now),
        }
    }

    /// Seconds from the packet that leaves `now` to the next one.
    pub fn pause_s(&mut self, now: Time) -> f64 {
        match self {
            Self::Constant { interval_s } => *interval_s,
            Self::OnOff(source) => source.pause_s(now),
            Self::Video(source) => source.pause_s(now),
        }
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        match self {
            Self::Constant { .. } => 0,
            Self::OnOff(source) => source.on_lengths.draws() + source.off_lengths.draws(),
            Self::Video(source) => source.random_draws(),
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

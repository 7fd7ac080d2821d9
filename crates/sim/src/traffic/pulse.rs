//! Sources with a clock: constant bit rate, the same in random bursts, video.

use crate::random::Stream;
use crate::scenario::{Duration, FlowSpec, Intervals, Pace, TrafficSpec, TransportSpec};
use crate::time::Time;
use crate::traffic::video::Video;

/// By how much of an interval sums of them may be rounded where on-times are constant.
const ROUNDING: f64 = 1e-6;

/// When the packets of a source leave.
#[derive(Clone, Debug)]
pub enum Pulse {
    /// At a constant pace.
    Constant(Pace),
    /// At a pace of which each interval is drawn uniformly around it (ns-2's CBR with `random_`).
    Uniform(Pace, Box<Stream>),
    /// At a pace that is the mean of exponential intervals.
    Poisson(Pace, Box<Stream>),
    /// At a constant pace during on-times.
    OnOff(Box<OnOff>),
    /// Frame by frame.
    Video(Box<Video>),
}

/// On-times and off-times, most often random.
#[derive(Clone, Debug)]
pub struct OnOff {
    pace: Pace,
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
            TrafficSpec::Cbr { pace, random } => {
                let intervals = || Box::new(Stream::new(seed, group, index, "intervals"));
                Some(match random {
                    Intervals::Constant => Self::Constant(pace),
                    Intervals::Uniform => Self::Uniform(pace, intervals()),
                    Intervals::Exponential => Self::Poisson(pace, intervals()),
                })
            }
            TrafficSpec::OnOff { pace, on, off } => Some(Self::OnOff(Box::new(OnOff {
                pace,
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
            Self::Constant(_) | Self::Uniform(..) | Self::Poisson(..) => {}
            Self::OnOff(source) => source.on_until = now + source.on_lengths.duration(source.on),
            Self::Video(source) => source.start(now),
        }
    }

    /// Seconds from the packet of `bytes` that leaves `now` to the next one.
    pub fn pause_s(&mut self, now: Time, bytes: u32) -> f64 {
        match self {
            Self::Constant(pace) => pace.interval_s(bytes),
            Self::Uniform(pace, intervals) => pace.interval_s(bytes) * (0.5 + intervals.uniform()),
            Self::Poisson(pace, intervals) => {
                intervals.duration(Duration::Exponential { mean_s: pace.interval_s(bytes) })
            }
            Self::OnOff(source) => source.pause_s(now, bytes),
            Self::Video(source) => source.pause_s(now),
        }
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        match self {
            Self::Constant(_) => 0,
            Self::Uniform(_, intervals) | Self::Poisson(_, intervals) => intervals.draws(),
            Self::OnOff(source) => source.on_lengths.draws() + source.off_lengths.draws(),
            Self::Video(source) => source.random_draws(),
        }
    }
}

/// When a flow of packets of one size, with a clock, offers them, in seconds; nothing for other traffic.
#[must_use]
pub fn departures(flow: &FlowSpec, seed: u64) -> Option<Vec<f64>> {
    if matches!(&flow.transport, TransportSpec::Udp(udp) if !udp.sizes.is_empty()) {
        return None;
    }
    let bytes = flow.transport.packet_bytes();
    let mut pulse = Pulse::new(flow, seed).filter(|pulse| !matches!(pulse, Pulse::Video(_)))?;
    let mut now = Time::new(flow.start_s);
    pulse.start(now);
    let mut found = Vec::new();
    while now.seconds() < flow.stop_s {
        found.push(now.seconds());
        now = now + pulse.pause_s(now, bytes);
    }
    Some(found)
}

impl OnOff {
    fn pause_s(&mut self, now: Time, bytes: u32) -> f64 {
        let interval_s = self.pace.interval_s(bytes);
        // What is due at the very end belongs to the silence, also where sums of intervals are rounded.
        let rounding_s = if matches!(self.on, Duration::Constant { .. }) { ROUNDING * interval_s } else { 0.0 };
        if now + (interval_s + rounding_s) < self.on_until {
            return interval_s;
        }
        // The on-time ends before the next packet: the off-time counts from its end.
        let next = self.on_until.max(now) + self.off_lengths.duration(self.off);
        self.on_until = next + self.on_lengths.duration(self.on);
        next.since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ns-2's CBR_Traffic::next_interval with `random_`.
    #[test]
    fn random_intervals_are_uniform_around_the_constant_one() {
        let intervals = Box::new(Stream::new(1, "test", 0, "intervals"));
        let mut pulse = Pulse::Uniform(Pace::IntervalS(0.02), intervals);
        let drawn: Vec<f64> = (0..10_000).map(|_| pulse.pause_s(Time::ZERO, 1000)).collect();
        assert!(drawn.iter().all(|interval_s| (0.01..0.03).contains(interval_s)));
        let mean_s = drawn.iter().sum::<f64>() / 1e4;
        // Four standard deviations of the mean of so many.
        assert!((mean_s - 0.02).abs() < 4.0 * 0.02 / 12.0_f64.sqrt() / 100.0, "{mean_s}");
        assert_eq!(pulse.random_draws(), 10_000);
    }

    /// A Poisson process: intervals have their mean as deviation, and a share of 1/e is longer.
    #[test]
    fn exponential_intervals_are_those_of_a_poisson_process() {
        let mut pulse = Pulse::Poisson(Pace::RateBps(400_000.0), Box::new(Stream::new(1, "test", 0, "intervals")));
        let drawn: Vec<f64> = (0..10_000).map(|_| pulse.pause_s(Time::ZERO, 1000)).collect();
        let mean_s = drawn.iter().sum::<f64>() / 1e4;
        assert!((mean_s - 0.02).abs() < 4.0 * 0.02 / 100.0, "{mean_s}");
        let longer = drawn.iter().filter(|interval_s| **interval_s > 0.02).count() as f64 / 1e4;
        // Four standard deviations of a share of so many.
        assert!((longer - libm::exp(-1.0)).abs() < 4.0 * 0.005, "{longer}");
    }

    /// Ten packets in each on-time of a second, though a hundred tenths add up to more and to less than ten.
    #[test]
    fn constant_on_times_have_equally_many_packets() {
        let lasts = |mean_s| Duration::Constant { mean_s };
        let stream = || Stream::new(1, "test", 0, "on");
        let (pace, on_until) = (Pace::IntervalS(0.1), Time::ZERO);
        let source =
            OnOff { pace, on: lasts(1.0), off: lasts(0.5), on_lengths: stream(), off_lengths: stream(), on_until };
        let mut pulse = Pulse::OnOff(Box::new(source));
        let mut now = Time::ZERO;
        pulse.start(now);
        for number in 0..10_000 {
            let due_s = 1.5 * f64::from(number / 10) + 0.1 * f64::from(number % 10);
            assert!((now.seconds() - due_s).abs() < 1e-9, "{number}: {now:?}");
            now = now + pulse.pause_s(now, 1000);
        }
        assert_eq!(pulse.random_draws(), 0);
    }
}

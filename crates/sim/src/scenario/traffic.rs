//! What applications offer to their transports.

use serde::{Deserialize, Serialize};

/// What an application offers to its transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficSpec {
    /// As much as the transport takes.
    Bulk {
        /// Application bytes to send; none: unlimited.
        bytes: Option<u64>,
    },
    /// As fast as the first stop takes packets: the processor of the host, or the queue of its first link.
    Saturate {},
    /// One packet after the other.
    Cbr {
        /// From packet to packet.
        pace: Pace,
        /// Whether each interval is drawn, and from what. Where it is not the key is not there, so that scenarios are what they
        /// were before there was one.
        #[serde(default, skip_serializing_if = "Intervals::are_constant")]
        random: Intervals,
    },
    /// Constant bit rate during random on-times, silence during random off-times.
    OnOff {
        /// From packet to packet while on.
        pace: Pace,
        /// Length of the on-times.
        on: Duration,
        /// Length of the off-times.
        off: Duration,
    },
    /// Frames of a coded video.
    Video(VideoSpec),
}

/// How intervals vary around their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
pub enum Intervals {
    /// They do not.
    #[default]
    Constant,
    /// Drawn uniformly from half of it to one and a half (ns-2's `random_`).
    Uniform,
    /// Drawn from an exponential distribution: packets come as a Poisson process.
    Exponential,
}

impl Intervals {
    fn are_constant(&self) -> bool {
        *self == Self::Constant
    }
}

/// The same as it is written: a truth value or a word.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Uniform(bool),
    Named(Distribution),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Distribution {
    Exponential,
}

impl From<Form> for Intervals {
    fn from(form: Form) -> Self {
        match form {
            Form::Uniform(false) => Self::Constant,
            Form::Uniform(true) => Self::Uniform,
            Form::Named(Distribution::Exponential) => Self::Exponential,
        }
    }
}

impl From<Intervals> for Form {
    fn from(intervals: Intervals) -> Self {
        match intervals {
            Intervals::Constant => Self::Uniform(false),
            Intervals::Uniform => Self::Uniform(true),
            Intervals::Exponential => Self::Named(Distribution::Exponential),
        }
    }
}

/// How fast packets follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Seconds from packet to packet.
    IntervalS(f64),
    /// Bits per second of IP packets: the next one follows when this one would be through.
    RateBps(f64),
}

impl Pace {
    /// Seconds from a packet of `bytes` to the next.
    #[must_use]
    pub fn interval_s(self, bytes: u32) -> f64 {
        match self {
            Self::IntervalS(interval_s) => interval_s,
            Self::RateBps(rate_bps) => 8.0 * f64::from(bytes) / rate_bps,
        }
    }
}

/// A video: frames of log-normal sizes, cut into datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Seconds from frame to frame.
    pub interval_s: f64,
    /// Mean size of all frames, in bytes.
    pub frame_bytes: f64,
    /// Frames from one key frame to the next.
    pub group_of_pictures: u32,
    /// Mean size of a key frame over that of the others.
    pub key_frame_ratio: f64,
    /// Coefficient of variation of the sizes.
    pub variation: f64,
    /// Whether the packets of a frame are spread over its interval, instead of sent at once.
    pub spread: bool,
}

/// A distribution of durations, or one duration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Duration {
    /// Exponential.
    Exponential {
        /// Mean in seconds.
        mean_s: f64,
    },
    /// Pareto.
    Pareto {
        /// Mean in seconds.
        mean_s: f64,
        /// Shape, above 1.
        shape: f64,
    },
    /// Always the same.
    Constant {
        /// That one, in seconds.
        mean_s: f64,
    },
}

impl Duration {
    /// Its mean in seconds.
    #[must_use]
    pub fn mean_s(self) -> f64 {
        match self {
            Self::Exponential { mean_s } | Self::Pareto { mean_s, .. } | Self::Constant { mean_s } => mean_s,
        }
    }
}

//! How the rate and the delay of a link change while a scenario runs.

use serde::{Deserialize, Serialize};

/// The course of a rate or of a delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CourseSpec {
    /// As it is written down.
    Schedule {
        /// When each value holds, in seconds, rising from 0.
        at_s: Vec<f64>,
        /// The values.
        values: Vec<f64>,
        /// From each value to the next it goes straight, not in a step.
        linear: bool,
        /// After how long it begins anew, in seconds; none: the last value holds.
        period_s: Option<f64>,
    },
    /// In steps of equal length, each by a factor whose logarithm is normal, between two values that throw it back.
    RandomWalk {
        /// The first value.
        start: f64,
        /// Length of a step, in seconds.
        every_s: f64,
        /// Standard deviation of the logarithm of a step's factor.
        deviation: f64,
        /// The smallest value, above zero.
        least: f64,
        /// The largest value.
        most: f64,
    },
    /// A state for a time with an exponential distribution, then another one, each as likely.
    Markov {
        /// The value of each state.
        values: Vec<f64>,
        /// How long each lasts in the mean, in seconds.
        mean_s: Vec<f64>,
    },
    /// Ornstein and Uhlenbeck's: noise that returns to its mean, exact at the ends of steps of equal length.
    OrnsteinUhlenbeck {
        /// The mean, which is its first value.
        mean: f64,
        /// Standard deviation in the long run.
        deviation: f64,
        /// In this time a distance from the mean shrinks to 1/e, in seconds.
        time_s: f64,
        /// Length of a step, in seconds.
        every_s: f64,
        /// What is below it becomes it.
        least: f64,
    },
    /// A new value after equal times, uniform between two, such as the path by other satellites.
    Redraw {
        /// For how long a value holds, in seconds.
        every_s: f64,
        /// The smallest value.
        least: f64,
        /// The largest value.
        most: f64,
    },
}

/// How the rate of a link changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RateSpec {
    /// Bits leave only at these instants, as mahimahi's links have it.
    Trace(TraceSpec),
    /// Bits leave in bursts, each after a wait for the medium.
    Aggregating(AggregatingSpec),
    /// By a course, in bit/s; a packet in service continues at the new rate.
    Course(CourseSpec),
}

/// A medium that is waited for before each burst, as stations of a wireless network wait for a transmission opportunity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregatingSpec {
    /// Mean wait for the medium, exponentially distributed, in seconds.
    pub access_s: f64,
    /// Most packets of a burst, which continues as long as one waits when the one before it has left.
    pub burst_packets: u32,
}

/// When a link is down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// When.
    pub times: OutageTimes,
    /// What waits and what comes while it is down is lost; else it waits, and what is on the line continues afterwards.
    pub flush: bool,
}

/// The times at which a link is down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum OutageTimes {
    /// As they are written down.
    Schedule {
        /// When each begins, in seconds, each after the end of the one before it.
        at_s: Vec<f64>,
        /// How long each lasts, in seconds.
        for_s: Vec<f64>,
        /// After how long they begin anew, in seconds; none: never.
        period_s: Option<f64>,
    },
    /// Up and down for times with exponential distributions, up at first.
    Random {
        /// Mean time up, in seconds.
        up_s: f64,
        /// Mean time down, in seconds.
        down_s: f64,
    },
}

/// A token bucket in front of the line: a packet leaves when there are as many tokens as it has bytes, framing included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShaperSpec {
    /// Tokens that come per second, in bits.
    pub rate_bps: f64,
    /// Tokens that the bucket holds, in bytes; it is full at first. A longer packet waits for a full bucket and owes the rest.
    pub burst_bytes: u32,
}

/// Frames that the wire loses are retransmitted; what comes after them waits for them at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArqSpec {
    /// What each retransmission adds to the delay, in seconds.
    pub after_s: f64,
    /// Most retransmissions of a frame, after which it is lost.
    pub most: u32,
}

/// Some packets take longer than others, which overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Share of the packets.
    pub probability: f64,
    /// How much longer each takes, in seconds.
    pub delay_s: f64,
}

/// Instants at each of which up to 1504 bytes leave (Netravali et al. 2015, §4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// In milliseconds, not falling; the last is when the trace begins anew.
    pub trace_ms: Vec<u32>,
}

/// What is added to the delay of each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Its distribution.
    pub distribution: JitterDistribution,
    /// In this time the correlation of the normal process falls to 1/e, in seconds; none: there is none.
    pub correlation_s: Option<f64>,
}

/// The distribution of jitter, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterDistribution {
    /// Uniform from 0.
    Uniform {
        /// The largest.
        most_s: f64,
    },
    /// Normal; what is below zero is zero.
    Normal {
        /// The mean of the normal distribution.
        mean_s: f64,
        /// Its standard deviation.
        deviation_s: f64,
    },
    /// Pareto, less its smallest value: from 0 (Lomax).
    Pareto {
        /// The mean.
        mean_s: f64,
        /// Above 1.
        shape: f64,
    },
    /// Gamma.
    Gamma {
        /// The mean.
        mean_s: f64,
        /// The mean is shape times scale.
        shape: f64,
    },
    /// By its quantiles, with straight lines between them.
    Quantiles {
        /// Equally far apart, from that of 0 to that of 1, not falling.
        values_s: Vec<f64>,
    },
}

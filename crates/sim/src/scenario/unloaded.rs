//! How long a packet takes from end to end that waits nowhere.

use crate::network::wire::Wire;
use crate::scenario::{CourseSpec, LinkSpec, RateSpec};

/// How long packets take over a link on which there is nothing else.
#[derive(Clone, Copy, Debug)]
pub enum Crossing {
    /// As on a wire.
    Wire(Wire),
    /// So many seconds: what comes at an opportunity leaves at once.
    Delay(f64),
}

impl Crossing {
    /// Over a link at its mean or first rate.
    #[must_use]
    pub fn of(link: &LinkSpec) -> Self {
        if let Some(RateSpec::Trace(_)) = link.rate { Self::Delay(link.delay_s) } else { Self::Wire(link.wire()) }
    }

    /// Over a link when it is as fast as it ever can be.
    #[must_use]
    pub fn fastest(link: &LinkSpec) -> Self {
        match &link.rate {
            Some(RateSpec::Course(course)) => largest(course)
                .map_or(Self::Delay(link.delay_s), |rate_bps| Self::Wire(Wire { rate_bps, ..link.wire() })),
            _ => Self::of(link),
        }
    }

    fn seconds(&self, size: u32) -> f64 {
        match self {
            Self::Wire(wire) => wire.crossing_s(size),
            Self::Delay(delay_s) => *delay_s,
        }
    }
}

/// The largest value that a course can have; none: there is no bound.
fn largest(course: &CourseSpec) -> Option<f64> {
    match course {
        CourseSpec::Schedule { values, .. } | CourseSpec::Markov { values, .. } => {
            values.iter().copied().reduce(f64::max)
        }
        CourseSpec::RandomWalk { most, .. } | CourseSpec::Redraw { most, .. } => Some(*most),
        CourseSpec::OrnsteinUhlenbeck { .. } => None,
    }
}

/// A path's links, and the seconds that each of its processors takes for a packet and for a byte.
pub type Way = (Vec<Crossing>, Vec<(f64, f64)>);

/// How long packets of a flow take from end to end that wait nowhere.
#[derive(Clone, Debug)]
pub struct Unloaded(Vec<Way>);

impl Unloaded {
    /// Over one of these paths.
    pub fn of(ways: impl Iterator<Item = Way>) -> Self {
        Self(ways.collect())
    }

    /// Seconds of a packet of `size` bytes; on the shortest of several paths.
    #[must_use]
    pub fn seconds(&self, size: u32) -> f64 {
        let way_s = |(links, processors): &Way| {
            let links_s: f64 = links.iter().map(|link| link.seconds(size)).sum();
            links_s + processors.iter().map(|(packet_s, byte_s)| packet_s + byte_s * f64::from(size)).sum::<f64>()
        };
        self.0.iter().map(way_s).fold(f64::INFINITY, f64::min)
    }
}

//! How long a packet takes from end to end that waits nowhere.

use crate::network::wire::Wire;
use crate::scenario::{LinkSpec, RateSpec};

/// How long packets take over a link on which there is nothing else.
#[derive(Clone, Copy, Debug)]
pub enum Crossing {
    /// As on a wire.
    Wire(Wire),
    /// So many seconds: what comes at an opportunity leaves at once.
    Delay(f64),
}

impl Crossing {
    /// Over a link that does not change.
    #[must_use]
    pub fn of(link: &LinkSpec) -> Self {
        if let Some(RateSpec::Trace(_)) = link.rate { Self::Delay(link.delay_s) } else { Self::Wire(link.wire()) }
    }

    fn seconds(&self, size: u32) -> f64 {
        match self {
            Self::Wire(wire) => wire.crossing_s(size),
            Self::Delay(delay_s) => *delay_s,
        }
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

//! Who watches packets. A probe is a type parameter of the simulation: the empty one costs nothing.

use crate::events::Key;
use crate::network::server::Service;
use crate::network::topology::Paths;
use crate::packet::Packet;

pub mod series;
pub mod trace;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The link's queue was full.
    Queue,
    /// The wire lost it.
    Wire,
}

impl DropReason {
    /// The word in the column `reason`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Wire => "wire",
        }
    }
}

/// A packet on its way, as a probe sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The packet.
    pub packet: &'a Packet,
    paths: &'a Paths,
}

impl<'a> Seen<'a> {
    /// A packet on one of these paths.
    #[inline]
    #[must_use]
    pub fn new(packet: &'a Packet, paths: &'a Paths) -> Self {
        Self { packet, paths }
    }

    /// Its flow.
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.paths.flow_at(self.packet.position())
    }

    /// Whether it is on the first link of its path.
    #[must_use]
    pub fn is_at_begin(&self) -> bool {
        self.packet.position() == self.paths.begin(self.flow(), self.packet.is_reverse())
    }
}

/// Sees every packet at every link.
pub trait Probe {
    /// Whether links may be evaluated ahead of time: not for a probe that must see them in order.
    const ALLOWS_FUSION: bool;

    /// A packet joined a queue, or went straight into service.
    fn enqueued(&mut self, _key: Key, _link: u32, _packet: Seen<'_>, _service: Service) {}

    /// A packet came out at the other end of a link.
    fn received(&mut self, _key: Key, _link: u32, _packet: Seen<'_>) {}

    /// A packet was lost.
    fn dropped(&mut self, _key: Key, _link: u32, _packet: Seen<'_>, _reason: DropReason) {}

    /// The run is over: nothing happens from `end` on.
    fn finish(&mut self, _end: crate::time::Time) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals;

impl Probe for Totals {
    const ALLOWS_FUSION: bool = true;
}

/// Watches nothing, and keeps links unfused: for time series, which look at links between events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampled;

impl Probe for Sampled {
    const ALLOWS_FUSION: bool = false;
}

//! Who watches packets. A probe is a type parameter of the simulation: the empty one costs nothing.

use crate::events::Key;
use crate::network::server::Service;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::transport::accounting::LIMITS;
use crate::transport::ack_options::AckOptionSlab;

pub mod series;
pub mod trace;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The link's queue was full.
    Queue,
    /// The wire lost it.
    Wire,
    /// The input ring of a processor was full.
    InputRing,
    /// The link's queue was full, and it is the output ring of a processor.
    OutputRing,
    /// The link's queue had room: its discipline keeps it short.
    Management,
}

impl DropReason {
    /// The word in the column `reason`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Wire => "wire",
            Self::InputRing => "input ring",
            Self::OutputRing => "output ring",
            Self::Management => "queue management",
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

    /// Whether it is at the first stop of its path.
    #[must_use]
    pub fn is_at_begin(&self) -> bool {
        self.paths.before(self.packet.position()).is_none()
    }
}

/// An end of a flow at a sample of the time series: totals since its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowLook {
    /// Seconds under each limit, in the order of `LIMITED_BY`.
    Sender([f64; LIMITS]),
    /// Data packets that arrived with a congestion mark.
    Receiver(u64),
}

/// Sees every packet at every link.
pub trait Probe {
    /// Whether links may be evaluated ahead of time: not for a probe that must see them in order.
    const ALLOWS_FUSION: bool;
    /// Whether what happens to packets must be told in order.
    const SEES_PACKETS: bool;
    /// Whether time series are taken, where a scenario asks for them.
    const TAKES_SAMPLES: bool = true;
    /// Whether it looks at each flow whenever the time series are sampled.
    const LOOKS: bool = false;

    /// An end of a flow, at the next sample of the time series; of TCP flows ahead of others.
    fn looked(&mut self, _flow: u32, _look: FlowLook) {}

    /// A transport put a packet to the begin of its path, the first stop of which sees it next; the options of ACKs
    /// are in `ack_options`.
    fn sent(&mut self, _key: Key, _packet: Seen<'_>, _sacks: &AckOptionSlab) {}

    /// A packet joined a queue, or went straight into service.
    fn enqueued(&mut self, _key: Key, _link: u32, _packet: Seen<'_>, _service: Service) {}

    /// A packet joined a queue; when it will be served is not known yet.
    fn queued(&mut self, _key: Key, _link: u32, _packet: Seen<'_>) {}

    /// The transmission of a packet of that queue begins.
    fn dequeued(&mut self, _key: Key, _link: u32, _packet: Seen<'_>) {}

    /// A packet of that queue was lost, in the queue.
    fn discarded(&mut self, _key: Key, _link: u32, _packet: Seen<'_>, _reason: DropReason) {}

    /// A packet came out at the other end of a link.
    fn received(&mut self, _key: Key, _link: u32, _packet: Seen<'_>) {}

    /// A packet on a link will come out twice; this is the copy.
    fn duplicated(&mut self, _link: u32, _copy: Seen<'_>) {}

    /// A packet came into the ring of a processor, or was set aside before a gate: the stop `stop` of its path.
    fn joined(&mut self, _stop: u32, _packet: Seen<'_>) {}

    /// Of the packets that came there, the first has left.
    fn left(&mut self, _stop: u32) {}

    /// A packet was lost: at a link, or at the ring at its far end. Of a packet that its own host refuses,
    /// the link is the one that it would have taken.
    fn dropped(&mut self, _key: Key, _link: u32, _packet: Seen<'_>, _reason: DropReason) {}

    /// The run is over: nothing happens from `end` on.
    fn finish(&mut self, _end: crate::time::Time) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals;

impl Probe for Totals {
    const ALLOWS_FUSION: bool = true;
    const SEES_PACKETS: bool = false;
    const TAKES_SAMPLES: bool = false;
}

/// Watches nothing: for time series, which look at links and hosts when these are touched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampled;

impl Probe for Sampled {
    const ALLOWS_FUSION: bool = true;
    const SEES_PACKETS: bool = false;
}

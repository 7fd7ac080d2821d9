//! Queue disciplines, one file each. A new one is a file and a line in one of the lists of `kinds.rs`.
//!
//! Some decide when a packet arrives whether it may join; they hold no packets, as the departures of those
//! that joined are known from then on (see [`server`](super::server)). Others decide when the line is free
//! which packet is next and which are lost; they hold the packets that wait (see
//! [`managed`](super::link::managed)).

use crate::network::wire::Wire;
use crate::packet::Packet;
use crate::random::Mrg32k3a;
use crate::scenario::Profile;
use crate::time::Time;

pub use flow_key::FlowKey;
pub use kinds::{Held, QUEUES, Queue, QueueSpec};
pub use limit::{Load, QueueLimit};

pub mod cake;
pub mod class_marks;
pub mod cobalt;
pub mod codel;
pub mod drop_tail;
pub mod drr;
pub mod dualpi2;
mod fifo;
pub mod flow_key;
mod flow_queues;
pub mod fq_cobalt;
pub mod fq_codel;
pub mod fq_pie;
mod kinds;
mod limit;
pub mod pie;
pub mod policer;
pub mod red;
pub mod rem;
pub mod strict;
pub mod threshold;

/// What a queue knows of the link that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Name of the link: random streams depend on it.
    pub link: &'a str,
    /// How long packets take on it.
    pub wire: Wire,
    /// Which reference behaviour the queue reproduces in the details.
    pub profile: Profile,
    /// The run's seed.
    pub seed: u64,
    /// ns-2's generator, as its agents leave it to the queue.
    pub ns2: Option<&'a Mrg32k3a>,
}

impl Site<'_> {
    /// Packets of `size` bytes that the link carries in a second, without framing.
    #[must_use]
    pub fn packets_per_s(&self, size: u32) -> f64 {
        self.wire.rate_pps.unwrap_or(self.wire.rate_bps / (8.0 * f64::from(size)))
    }
}

/// What a discipline sees of a packet that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Time,
    /// Packets waiting and in service.
    pub packets: usize,
    /// Bytes waiting and in service; zero unless the discipline counts bytes.
    pub bytes: u64,
    /// Bytes of the packet in service, likewise.
    pub serving_bytes: u64,
    /// When the line has sent all of them, in seconds; if it is idle, when it last fell idle, below zero if it
    /// never worked.
    pub free_s: f64,
    /// Its size in bytes.
    pub size: u32,
    /// Whether it may be marked instead of dropped.
    pub capable: bool,
}

impl Arrival {
    /// Packets waiting, without the one in service.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.packets.saturating_sub(1)
    }

    /// Whether a limit leaves room for it.
    pub fn fits(&self, limit: QueueLimit) -> bool {
        limit.takes(Load { packets: self.packets, bytes: self.bytes }, self.size)
    }

    /// Bytes waiting, without the packet in service.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes - self.serving_bytes
    }
}

/// Why a packet may not join a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue is full.
    Full,
    /// To keep the queue short.
    Managed,
    /// Packets wait elsewhere, and not in this queue.
    Elsewhere,
}

/// What happens to a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins.
    Take,
    /// It joins, marked.
    Mark,
    /// It is lost.
    Refuse(Refusal),
}

impl Verdict {
    /// Of a packet that would keep the queue too long: marked where that is possible, lost otherwise.
    #[must_use]
    pub fn too_long(marks: bool) -> Self {
        if marks { Self::Mark } else { Self::Refuse(Refusal::Managed) }
    }
}

/// What a discipline has to be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// With fewer packets than this ahead every packet joins, and it need not be asked: for the hot path.
    pub unasked: u32,
    /// It looks at the bytes of an [`Arrival`], of which one is made for each packet then: keeping them costs a little.
    pub bytes: bool,
    /// It looks at when the line will be free. Where its rate changes, it is told what a box would believe.
    pub free_line: bool,
}

/// Who may join a queue.
pub trait Discipline {
    /// The parameters, as a scenario gives them.
    type Spec;
    /// One line of help.
    const HELP: &'static str;
    /// Whether it takes all that it has room for, whenever it comes. What may refuse all that comes at one instant, by a
    /// probability that is one or for want of tokens, would have a source that saturates its link send for ever.
    const TAKES_WHAT_FITS: bool;

    /// Whether it may mark packets instead of dropping them.
    fn marks(_spec: &Self::Spec) -> bool {
        false
    }

    /// An empty queue.
    fn new(spec: &Self::Spec, site: Site<'_>) -> Self;

    /// Whether the arriving packet may join.
    fn admit(&mut self, arrival: &Arrival) -> Verdict;

    /// Whether the limit leaves room for such a packet, whatever else the discipline might say.
    fn has_room(&self, arrival: &Arrival) -> bool;

    /// What it has to be told.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Random numbers drawn so far.
    fn random_draws(&self) -> u64 {
        0
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// When it came, in seconds.
    pub since_s: f64,
    /// Whose it is.
    pub key: FlowKey,
    /// The queue marks it.
    pub marked: bool,
}

/// Packets that a queue loses, each with the reason.
pub type Lost = Vec<(Waiting, Refusal)>;

/// A queue that holds its packets, and says which is next when the line is free.
pub trait Store {
    /// The parameters, as a scenario gives them.
    type Spec;
    /// One line of help.
    const HELP: &'static str;
    /// As of a [`Discipline`].
    const TAKES_WHAT_FITS: bool;

    /// Whether it may mark packets instead of dropping them.
    fn marks(_spec: &Self::Spec) -> bool {
        false
    }

    /// An empty queue.
    fn new(spec: &Self::Spec, site: Site<'_>) -> Self;

    /// Takes a packet in, while there is a packet or none on the line. Those of the packets in the queue that are lost for it
    /// are appended to `lost`.
    ///
    /// # Errors
    /// It does not, and why.
    fn join(&mut self, packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal>;

    /// The packet that enters the line at `now`, which is free then and [ready](Self::ready_s); there is one unless none
    /// waits. Those that are lost are appended to `lost`.
    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting>;

    /// When the next packet may go on the line, in seconds, though that be free before: of a queue that shapes.
    fn ready_s(&self) -> f64 {
        0.0
    }

    /// For how long its shaper has been busy until `now_s`, in seconds, as a line of its rate would have been.
    fn shaped_s(&self, _now_s: f64) -> f64 {
        0.0
    }

    /// Seconds from `now_s` until its shaper has let all go that waits.
    fn backlog_s(&self, _now_s: f64) -> f64 {
        0.0
    }

    /// Time that the packets waiting have waited until `now_s`, summed, in seconds, added to `sum_s`.
    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64;

    /// Random numbers drawn so far.
    fn random_draws(&self) -> u64 {
        0
    }
}

#[cfg(test)]
pub(crate) mod tests;

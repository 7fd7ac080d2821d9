//! Links: the wire, the queue in front of it, and what changes of them.

use serde::{Deserialize, Serialize};

use super::{
    ArqSpec, CourseSpec, JitterSpec, LossSpec, OutageSpec, Profile, QueueLimit, RateSpec, ReorderSpec, ShaperSpec,
};
use crate::network::queue::drop_tail::DropTailSpec;
use crate::network::queue::{QueueSpec, Site};
use crate::network::wire::{FramingSpec, Wire};

/// One direction of a wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Unique name: `bottleneck`, `bottleneck.reverse`, `net.access_left[3]`.
    pub name: String,
    /// Index of the node that transmits.
    pub from: u32,
    /// Index of the node that receives.
    pub to: u32,
    /// Transmission rate in bit/s; with `rate_pps` that of packets of 1500 bytes.
    pub rate_bps: f64,
    /// Packets per second, where every packet takes as long, whatever its size and framing; none: bits decide.
    pub rate_pps: Option<f64>,
    /// Propagation delay in seconds.
    pub delay_s: f64,
    /// The queue in front of the transmitter.
    pub queue: QueueSpec,
    /// What the link adds to each packet on the line.
    pub framing: FramingSpec,
    /// Which packets are lost on the wire, after they were transmitted.
    pub loss: LossSpec,
    /// Whether the ECN field of what it delivers is cleared to Not-ECT.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bleaches_ecn: bool,
    /// Largest IP packet that the link carries, in bytes; none: any.
    pub mtu_bytes: Option<u32>,
    /// Whether the transmitter pauses while the input ring at the far end is full (IEEE 802.3x).
    pub flow_control: bool,
    /// How the rate changes, of which `rate_bps` is the mean or the first; none: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateSpec>,
    /// How the delay changes, of which `delay_s` is the smallest; none: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<CourseSpec>,
    /// What is added to the delay of each packet; none: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// When it is down; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outages: Option<OutageSpec>,
    /// A token bucket in front of the line; none: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<ShaperSpec>,
    /// What the wire loses is retransmitted; none: it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arq: Option<ArqSpec>,
    /// Share of the packets that arrive twice, the second time right behind the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicate: f64,
    /// Which packets others overtake on the wire; none: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// Whether packets overtake each other where delay and jitter change: else none does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtaking: bool,
    /// The link whose random outages and delays it shares, such as the other direction of a satellite's; none: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn_with: Option<String>,
}

impl LinkSpec {
    /// A link with a drop-tail queue, of which nothing changes.
    #[must_use]
    pub fn plain(name: &str, (from, to): (u32, u32), rate_bps: f64, delay_s: f64, limit: QueueLimit) -> Self {
        Self {
            name: name.to_owned(),
            from,
            to,
            rate_bps,
            rate_pps: None,
            delay_s,
            queue: QueueSpec::DropTail(DropTailSpec { limit }),
            framing: FramingSpec::default(),
            loss: 0.0.into(),
            mtu_bytes: None,
            flow_control: false,
            bleaches_ecn: false,
            rate: None,
            delay: None,
            jitter: None,
            outages: None,
            shaper: None,
            arq: None,
            duplicate: 0.0,
            reorder: None,
            overtaking: false,
            drawn_with: None,
        }
    }

    /// How long packets take on it while nothing changes.
    #[must_use]
    pub fn wire(&self) -> Wire {
        let Self { rate_bps, rate_pps, delay_s, framing, .. } = *self;
        Wire { rate_bps, rate_pps, delay_s, framing }
    }

    /// What its queue knows of it in a run with this profile and seed.
    #[must_use]
    pub fn site(&self, profile: Profile, seed: u64) -> Site<'_> {
        Site { link: &self.name, wire: self.wire(), profile, seed, ns2: None }
    }

    /// Under which name its random outages and delays are drawn.
    #[must_use]
    pub fn drawn_as(&self) -> &str {
        self.drawn_with.as_deref().unwrap_or(&self.name)
    }

    /// Whether packets may come out in another order than they went in, or twice.
    #[must_use]
    pub fn reorders(&self) -> bool {
        self.duplicate > 0.0 || self.reorder.is_some() || self.overtaking
    }

    /// What it carries of packets of `size` bytes, in bit/s, framing aside.
    #[must_use]
    pub fn carries_bps(&self, size: u32) -> f64 {
        self.rate_pps.map_or(self.rate_bps, |packets_per_s| packets_per_s * 8.0 * f64::from(size))
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

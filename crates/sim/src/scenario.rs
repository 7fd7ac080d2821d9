//! What the engine is asked to simulate: a scenario with every default filled in, every quantity in
//! SI units (seconds, bits per second, bytes, packets) and every group expanded.
//!
//! The Python package turns a user's TOML or Python objects into this; `tightlink run --show-config`
//! prints it. Unknown fields are errors, so that the two sides cannot drift apart unnoticed.

use serde::{Deserialize, Serialize};

use crate::congestion::ControlSpec;
use crate::network::processor::ProcessorSpec;

mod changes;
mod links;
mod loss;
mod spraying;
mod transfers;
mod users;

pub use changes::{
    AggregatingSpec, ArqSpec, CourseSpec, JitterDistribution, JitterSpec, OutageSpec, OutageTimes, RateSpec,
    ReorderSpec, ShaperSpec, TraceSpec,
};
pub use links::{FramingSpec, LinkSpec, QueueLimit};
pub use loss::{LossModel, LossSpec};
pub use spraying::{PathShare, SprayingSpec};
pub use transfers::{SizeClass, TransfersSpec};
pub use users::{
    ControlShare, Crowd, FileSpec, InterfaceSpec, LongLived, Patience, ScatterSpec, SizeShare, UserSite, UsersSpec,
};

/// A complete, resolved scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Which reference behaviour transports and queues reproduce in the details.
    pub profile: Profile,
    /// The simulated interval is `[0, duration_s)`.
    pub duration_s: f64,
    /// Seed of every random stream (see `random.rs`).
    pub seed: u64,
    /// Hosts and routers, in the order of the scenario.
    pub nodes: Vec<NodeSpec>,
    /// Links, one entry per direction, in the order of the scenario.
    pub links: Vec<LinkSpec>,
    /// Flows, in the order of the scenario.
    pub flows: Vec<FlowSpec>,
    /// Groups of users, who transfer files.
    pub users: Vec<UsersSpec>,
    /// Groups of nodes that send datagrams to each other.
    pub scatter: Vec<ScatterSpec>,
    /// Groups of open-loop transfers, whose flows stand behind all others. Where there are none the key is not there, so that
    /// scenarios are what they were before there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransfersSpec>,
    /// What is observed beyond the totals.
    pub observe: ObserveSpec,
}

impl Scenario {
    /// Flows that are no open-loop transfers: these have tables and samples of their own, those are counted together.
    #[must_use]
    pub fn single_flows(&self) -> usize {
        self.transfers.first().map_or(self.flows.len(), |group| group.first as usize)
    }

    /// Nodes with a processor.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.nodes.iter().filter(|node| node.processor.is_some()).count()
    }
}

/// A named set of transport defaults. The defaults themselves are in the scenario; the name remains
/// because a few details are not parameters of any standard (they are listed in `transport/ns2.rs` and `linux.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// ns-2.35's one-way TCP agents.
    Ns2,
    /// RFC 5681, 6298, 6582 and 6675.
    Rfc,
    /// A current Linux kernel (the details that are no parameters are in `transport/linux.rs`).
    Linux,
}

/// A host or a router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Unique name.
    pub name: String,
    /// What each packet costs that it forwards or sends; none: nothing.
    pub processor: Option<ProcessorSpec>,
}

/// One transport connection and the application that drives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Unique label: `ftp`, `bulk[17]`.
    pub label: String,
    /// Name of the traffic group: the random streams depend on it and on `index`.
    pub group: String,
    /// Position within the group.
    pub index: u32,
    /// Index of the sending node.
    pub from: u32,
    /// Index of the receiving node.
    pub to: u32,
    /// When the application starts, in seconds.
    pub start_s: f64,
    /// When the application stops sending, in seconds.
    pub stop_s: f64,
    /// Links from sender to receiver; none: the shortest path.
    pub path: Option<Vec<u32>>,
    /// Links from receiver to sender; none: the shortest path.
    pub reverse_path: Option<Vec<u32>>,
    /// The paths of which each packet takes one, whose first are the two above; none, and not written: all take the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spraying: Option<Box<SprayingSpec>>,
    /// The class of its packets, and of those that answer them: a code point of RFC 2474. Not written where it is that
    /// of all packets, 0, so that one scenario is written in one way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dscp: u8,
    /// What the application offers.
    pub traffic: TrafficSpec,
    /// How it is carried.
    pub transport: TransportSpec,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_default(dscp: &u8) -> bool {
    *dscp == 0
}

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

/// A distribution of durations.
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
}

impl Duration {
    /// Its mean in seconds.
    #[must_use]
    pub fn mean_s(self) -> f64 {
        match self {
            Self::Exponential { mean_s } | Self::Pareto { mean_s, .. } => mean_s,
        }
    }
}

/// How a flow is carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransportSpec {
    /// TCP.
    Tcp(TcpSpec),
    /// UDP.
    Udp(UdpSpec),
}

/// A TCP connection. Windows are in packets of `payload_bytes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// Congestion control (see `congestion/`).
    pub congestion: ControlSpec,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Application bytes in a full segment.
    pub payload_bytes: u32,
    /// Header bytes that each segment adds (IP, TCP, options).
    pub header_bytes: u32,
    /// Size of a SYN, an ACK and every other segment without payload.
    pub ack_bytes: u32,
    /// Largest window that the receiver advertises, in packets.
    pub window_packets: f64,
    /// Initial congestion window, in packets.
    pub initial_window_packets: f64,
    /// Congestion window after a retransmission timeout, in packets; none: one packet (RFC 5681 §3.1). Where a scenario
    /// says nothing the key is not there, so that scenarios are what they were before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_window_packets: Option<f64>,
    /// Initial slow-start threshold, in packets; none: unlimited.
    pub initial_ssthresh_packets: Option<f64>,
    /// How slow start grows and ends.
    pub slow_start: SlowStartKind,
    /// Above this window limited slow start is slower, in packets; none: it is not limited.
    pub max_ssthresh_packets: Option<f64>,
    /// How long the receiver may hold an ACK, in seconds; none: each packet is acknowledged at once.
    pub delayed_ack_s: Option<f64>,
    /// Retransmission timer.
    pub rto: RtoSpec,
    /// Whether the first two duplicate ACKs release a new packet each (RFC 3042).
    pub limited_transmit: bool,
    /// Whether packets are paced; with a congestion control that needs it they always are.
    pub pacing: bool,
    /// Whether queues may mark packets instead of dropping them, and how ACKs tell of it: what the sender asks for.
    pub ecn: Ecn,
    /// What the receiver agrees to at most; none: to what the sender asks for. Where a scenario says nothing the key is not
    /// there, so that scenarios are what they were before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_ecn: Option<Ecn>,
    /// Whether ACKs carry the TCP option of accurate ECN, too; not there where they do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn_option: bool,
}

impl TcpSpec {
    /// Whether the scenario wants packets to be paced, whatever its congestion control wants.
    #[must_use]
    pub fn paces(&self) -> bool {
        self.pacing || self.slow_start == SlowStartKind::Rapid
    }

    /// What both ends have of ECN (RFC 9768 §3.1).
    #[must_use]
    pub fn agreed_ecn(&self) -> Ecn {
        self.receiver_ecn.map_or(self.ecn, |receiver| receiver.min(self.ecn))
    }
}

/// Whether queues may mark packets instead of dropping them, and how ACKs tell of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "EcnForm", into = "EcnForm")]
pub enum Ecn {
    /// They may not.
    #[default]
    Off,
    /// By one flag (RFC 3168); each of them alike, where the control reads marks (RFC 8257).
    Classic,
    /// By a counter (RFC 9768).
    Accurate,
}

/// How a scenario says it: false, true or `"accecn"`.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum EcnForm {
    Switch(bool),
    Named(EcnName),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EcnName {
    AccEcn,
}

impl From<EcnForm> for Ecn {
    fn from(form: EcnForm) -> Self {
        match form {
            EcnForm::Switch(on) => on.into(),
            EcnForm::Named(EcnName::AccEcn) => Self::Accurate,
        }
    }
}

impl From<Ecn> for EcnForm {
    fn from(ecn: Ecn) -> Self {
        match ecn {
            Ecn::Off | Ecn::Classic => Self::Switch(ecn == Ecn::Classic),
            Ecn::Accurate => Self::Named(EcnName::AccEcn),
        }
    }
}

impl From<bool> for Ecn {
    fn from(on: bool) -> Self {
        if on { Self::Classic } else { Self::Off }
    }
}

/// How slow start grows and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartKind {
    /// At most one packet for each ACK, until the threshold (RFC 5681).
    Standard,
    /// Every packet that an ACK acknowledges (RFC 3465 without its limit), until the threshold.
    ByteCounting,
    /// Until ACKs or delays show a full path (Ha, Rhee 2011).
    #[serde(rename = "hystart")]
    HyStart,
    /// More slowly when delays grow, then not at all (RFC 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
    /// Until deliveries no longer double (draft-chung-ccwg-search).
    Search,
    /// Three times in a round trip while no queue shows (draft-kazuho-ccwg-rapid-start).
    Rapid,
    /// More slowly above a limit (RFC 3742).
    Limited,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RtoSpec {
    /// Before the first sample, in seconds.
    pub initial_s: f64,
    /// Lower bound, in seconds.
    pub min_s: f64,
    /// Upper bound, in seconds.
    pub max_s: f64,
    /// Clock granularity, in seconds.
    pub granularity_s: f64,
}

/// How a sender finds out and mends losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681).
    Reno,
    /// Fast recovery through partial ACKs (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 6675).
    Sack,
    /// Losses by time, probes at the tail (RFC 8985), proportional rate reduction (RFC 9937).
    Rack,
}

/// A UDP flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSpec {
    /// Application bytes in a datagram; of several sizes, in one of the largest.
    pub payload_bytes: u32,
    /// Header bytes of the IP datagram that carries it (IP and UDP; none under `ns2`).
    pub header_bytes: u32,
    /// Header bytes that each further fragment repeats (IP).
    pub fragment_header_bytes: u32,
    /// Sizes, of which one is drawn for each datagram; none: all are alike.
    pub sizes: Vec<SizeShare>,
    /// What its packets say to queues that mark; none: nothing (Not-ECT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ect>,
}

/// A code point of the ECN field by which a packet may be marked (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ect {
    /// ECT(0).
    Ect0,
    /// ECT(1): of a scalable congestion control (RFC 9331 §4.1).
    Ect1,
}

/// What is observed beyond the totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveSpec {
    /// Sampling interval of the time series, in seconds; none: no series.
    pub interval_s: Option<f64>,
    /// Series have the states of congestion control and recovery, too.
    #[serde(default)]
    pub transport: bool,
    /// Rows of the `flows` table.
    pub flows: ObserveFlows,
    /// Periods by which the transfers of users are summed up.
    pub periods: Vec<PeriodSpec>,
}

/// A part of the simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodSpec {
    /// Unique name.
    pub name: String,
    /// Its begin, in seconds.
    pub start_s: f64,
    /// Its end, in seconds.
    pub stop_s: f64,
}

/// How finely flows are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObserveFlows {
    /// A row for each flow.
    Each,
    /// A row for each traffic group.
    Group,
    /// No rows.
    None,
}

impl Recovery {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Tahoe, Self::Reno, Self::Newreno, Self::Sack, Self::Rack];

    /// The name in a scenario.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::Newreno => "newreno",
            Self::Sack => "sack",
            Self::Rack => "rack",
        }
    }

    /// Whether the receiver acknowledges each packet, also beyond those that are missing.
    #[must_use]
    pub fn acknowledges_each(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }

    /// One line of help.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Tahoe => "fast retransmit, then slow start",
            Self::Reno => "fast retransmit and fast recovery (RFC 5681)",
            Self::Newreno => "fast recovery through partial ACKs (RFC 6582)",
            Self::Sack => "selective acknowledgements (RFC 6675)",
            Self::Rack => "losses by time, tail loss probes, proportional rate reduction (RFC 8985, RFC 9937)",
        }
    }
}

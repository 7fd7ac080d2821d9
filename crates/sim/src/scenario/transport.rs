//! How flows are carried.

use serde::{Deserialize, Serialize};

use crate::congestion::ControlSpec;

/// How a flow is carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransportSpec {
    /// TCP.
    Tcp(TcpSpec),
    /// UDP.
    Udp(UdpSpec),
}

impl TransportSpec {
    /// Bytes of a full packet, headers included; of datagrams of several sizes, of the largest.
    pub fn packet_bytes(&self) -> u32 {
        match self {
            Self::Tcp(tcp) => tcp.packet_bytes(),
            Self::Udp(udp) => udp.payload_bytes + udp.header_bytes,
        }
    }
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
    /// Longest time in seconds that the sending host takes before it sends what it may, drawn uniformly; none: no time. Where
    /// a scenario says nothing the key is not there, so that scenarios are what they were before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_delay_s: Option<f64>,
    /// Whether a window that was not used for a retransmission timeout is given up under profile `linux`; not there where it is.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub slow_start_after_idle: bool,
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

fn yes() -> bool {
    true
}

impl TcpSpec {
    /// Whether the scenario wants packets to be paced, whatever its congestion control wants.
    #[must_use]
    pub fn paces(&self) -> bool {
        self.pacing || self.slow_start == SlowStartKind::Rapid
    }

    /// Bytes of a full segment, headers included.
    pub fn packet_bytes(&self) -> u32 {
        self.payload_bytes + self.header_bytes
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

/// A size and the share of datagrams that have it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Whole IP datagram.
    pub bytes: u32,
    /// Between 0 and 1.
    pub share: f64,
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

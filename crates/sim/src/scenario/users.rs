//! Traffic of many: users who transfer files, and nodes that send datagrams to each other.

use serde::{Deserialize, Serialize};

use super::{Duration, SizeShare, TcpSpec};
use crate::congestion::ControlSpec;
use crate::network::wire::{FramingSpec, Wire};

/// A group of users behind access routers: each thinks, connects to a receiver elsewhere, sends a file, and thinks
/// again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsersSpec {
    /// Unique label.
    pub label: String,
    /// Their connections, but for the congestion control.
    pub tcp: TcpSpec,
    /// The congestion controls, of which each source has one.
    pub controls: Vec<ControlShare>,
    /// Names of the classes of sites.
    pub classes: Vec<String>,
    /// Where they are.
    pub sites: Vec<UserSite>,
    /// The interfaces, of which each host has one.
    pub interfaces: Vec<InterfaceSpec>,
    /// How long they think.
    pub think: Duration,
    /// The files, of which each transfer has one.
    pub files: Vec<FileSpec>,
    /// SYNs sent before a connection has failed.
    pub connect_tries: u32,
    /// When a transfer is given up; none: never.
    pub patience: Option<Patience>,
    /// Large files at a time and place.
    pub crowd: Option<Crowd>,
    /// Transfers that never end.
    pub long_lived: Vec<LongLived>,
    /// Share of the sources that do not think before their first transfer.
    pub sending_at_start: f64,
}

/// A congestion control and the share of sources that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlShare {
    /// Between 0 and 1.
    pub share: f64,
    /// The control.
    pub congestion: ControlSpec,
}

/// The hosts behind one access router.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSite {
    /// Index of the router.
    pub node: u32,
    /// Index of its class.
    pub class: u32,
    /// Hosts that send.
    pub sources: u32,
    /// Hosts that receive.
    pub receivers: u32,
}

/// What connects a host to its router, both ways, each with a queue without limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceSpec {
    /// Unique name.
    pub name: String,
    /// Rate in bit/s.
    pub rate_bps: f64,
    /// Rate in packets per second; none: that in bit/s counts.
    pub rate_pps: Option<f64>,
    /// Propagation delay to the router, in seconds.
    pub delay_s: f64,
    /// Share of the hosts that have it.
    pub share: f64,
}

impl InterfaceSpec {
    /// How long packets take on it, to which it adds nothing.
    #[must_use]
    pub fn wire(&self) -> Wire {
        let Self { rate_bps, rate_pps, delay_s, .. } = *self;
        Wire { rate_bps, rate_pps, delay_s, framing: FramingSpec::default() }
    }
}

/// A kind of file. Sizes are whole packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Unique name.
    pub name: String,
    /// Share of the transfers that are of this kind.
    pub share: f64,
    /// Mean size in packets.
    pub mean_packets: f64,
    /// Shape of the Pareto distribution of sizes; none: all have the mean.
    pub shape: Option<f64>,
}

/// When a transfer is given up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patience {
    /// Seconds that any transfer is given.
    pub least_s: f64,
    /// It is given as much time more as it would take at this rate, in packets per second.
    pub packets_per_s: f64,
}

/// Large files at a time and place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crowd {
    /// Transfers that begin from here on, in seconds.
    pub start_s: f64,
    /// And before here.
    pub stop_s: f64,
    /// From sources at these sites.
    pub sites: Vec<u32>,
    /// Are such a file with this probability.
    pub share: f64,
    /// Its size in packets.
    pub mean_packets: f64,
}

/// A transfer that never ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongLived {
    /// Unique name.
    pub name: String,
    /// Site of its source, which is one host more.
    pub from: u32,
    /// Site of its receiver.
    pub to: u32,
    /// The interface of both.
    pub interface: u32,
    /// When it begins, in seconds.
    pub start_s: f64,
}

/// Nodes that send datagrams to each other: each at random times (Poisson) to a random other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScatterSpec {
    /// Unique label.
    pub label: String,
    /// Indices of the nodes.
    pub nodes: Vec<u32>,
    /// Datagrams per second from each.
    pub packets_per_s: f64,
    /// Their sizes.
    pub sizes: Vec<SizeShare>,
    /// From here on, in seconds.
    pub start_s: f64,
    /// Until here.
    pub stop_s: f64,
}

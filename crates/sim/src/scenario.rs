//! What the engine is asked to simulate: a scenario with every default filled in, every quantity in
//! SI units (seconds, bits per second, bytes, packets) and every group expanded.
//!
//! The Python package turns a user's TOML or Python objects into this: `json.dumps(tightlink.load("FILE.toml").resolve())`
//! is its JSON. Unknown fields are errors, so that the two sides cannot drift apart unnoticed.

use serde::{Deserialize, Serialize};

use crate::network::processor::ProcessorSpec;
use crate::network::queue::FlowKey;
use crate::random;

mod changes;
mod links;
mod loss;
mod observe;
mod profile;
mod spraying;
mod traffic;
mod transfers;
mod transport;
pub mod unloaded;
mod users;

pub use crate::network::queue::QueueLimit;
pub use crate::network::wire::FramingSpec;
pub use changes::{
    AggregatingSpec, ArqSpec, CourseSpec, JitterDistribution, JitterSpec, OutageSpec, OutageTimes, RateSpec,
    ReorderSpec, ShaperSpec, TraceSpec,
};
pub use links::LinkSpec;
pub use loss::{LossModel, LossSpec};
pub use observe::{ObserveFlows, ObserveSpec, PeriodSpec};
pub use profile::Profile;
pub use spraying::{PathShare, SprayingSpec};
pub use traffic::{Duration, Intervals, Pace, TrafficSpec, VideoSpec};
pub use transfers::{SizeClass, TransfersSpec};
pub use transport::{Ecn, Ect, Recovery, RtoSpec, SizeShare, SlowStartKind, TcpSpec, TransportSpec, UdpSpec};
pub use users::{ControlShare, Crowd, FileSpec, InterfaceSpec, LongLived, Patience, ScatterSpec, UserSite, UsersSpec};

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

    /// The keys of a flow's packets, and of those that answer them. They come of names, not of places in the scenario.
    #[must_use]
    pub fn keys_of(&self, spec: &FlowSpec) -> [FlowKey; 2] {
        let flow = |way| random::hash(0, &spec.group, spec.index, way);
        let host = |node: u32| random::hash(0, &self.nodes[node as usize].name, 0, "host");
        let (from, to, dscp) = (host(spec.from), host(spec.to), spec.dscp);
        [
            FlowKey { flow: flow("forward"), source: from, destination: to, dscp },
            FlowKey { flow: flow("reverse"), source: to, destination: from, dscp },
        ]
    }
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

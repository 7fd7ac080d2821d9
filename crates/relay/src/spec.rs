//! What a relay is asked to be: a link of a resolved scenario in both directions, and perhaps the processor of the
//! router at one of its ends.

use std::net::IpAddr;

use serde::Deserialize;
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::cake::AckFilter;
use tightlink_sim::scenario::{LinkSpec, Profile, QueueLimit};

use crate::RelayError;

/// A relay between two ports.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaySpec {
    /// Of the scenario: details of its queues depend on it.
    pub profile: Profile,
    /// Of the scenario: losses on the wire depend on it.
    pub seed: u64,
    /// When the scenario begins, in nanoseconds of the monotonic clock: until then the link is constant and loses nothing;
    /// none: when the relay begins.
    #[serde(default)]
    pub begins_ns: Option<u64>,
    /// The same in seconds since the relay began.
    #[serde(skip)]
    pub begins_s: f64,
    /// How long the relay works, in seconds; none: until it is told to stop.
    pub duration_s: Option<f64>,
    /// Names of the nodes at the ends of the link, which the ends of [`LinkSpec`] index.
    pub nodes: Vec<String>,
    /// From the first port to the second, and back.
    pub directions: [DirectionSpec; 2],
    /// The router's processor.
    pub processor: Option<RouterSpec>,
    /// What the ports carry.
    pub device: Device,
    /// Packets forwarded later than this after they were due are late, in seconds.
    pub lateness_bound_s: f64,
    /// The share of time for which the relay may be awake and still spin before a packet is due.
    pub spin_share: f64,
}

/// One direction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectionSpec {
    /// The link.
    pub link: LinkSpec,
    /// Propagation on the other links of the way, in seconds; where hosts differ, the longest.
    pub beyond_s: f64,
    /// The same of hosts that differ; others have the longest.
    #[serde(default)]
    pub between: Vec<BetweenSpec>,
}

/// Propagation beside the link, from one host to another.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BetweenSpec {
    /// The address from which packets come.
    pub source: IpAddr,
    /// The address to which they go.
    pub destination: IpAddr,
    /// In seconds.
    pub beyond_s: f64,
}

/// A router with a processor that both directions share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterSpec {
    /// Name of the node.
    pub node: String,
    /// What packets cost.
    pub processor: ProcessorSpec,
    /// The port on its side of the link: packets from there pass it before the link, the others after.
    pub port: usize,
    /// Whether the relay spends the time itself, instead of adding it up: then its input rings are the queues of the
    /// devices.
    pub burn: bool,
}

/// What the ports carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// IP packets: of TUN devices without packet information, or of datagram sockets.
    Datagram,
    /// Ethernet frames of packet sockets, with the kernel's time of arrival.
    Packet,
}

impl Device {
    /// Bytes before the IP packet.
    #[must_use]
    pub fn header_bytes(self) -> usize {
        match self {
            Self::Datagram => 0,
            Self::Packet => 14,
        }
    }
}

impl RelaySpec {
    /// Whether all of it can be emulated.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), RelayError> {
        let refuse = |text: String| Err(RelayError::Spec(text));
        for DirectionSpec { link, .. } in &self.directions {
            let name = &link.name;
            if let QueueSpec::Cake(cake) = &link.queue
                && cake.ack_filter != AckFilter::None
            {
                return refuse(format!("link {name}: the ACK filter of a queue of kind cake cannot be emulated"));
            }
            if link.flow_control {
                return refuse(format!("link {name}: flow control cannot be emulated"));
            }
            if [link.from, link.to].iter().any(|&node| node as usize >= self.nodes.len()) {
                return refuse(format!("link {name}: its ends are not among the nodes"));
            }
        }
        match &self.processor {
            Some(router) if router.port > 1 => refuse(format!("node {}: a relay has ports 0 and 1", router.node)),
            _ => Ok(()),
        }
    }

    /// The processor whose costs are added up, if any.
    #[must_use]
    pub fn modelled(&self) -> Option<&RouterSpec> {
        self.processor.as_ref().filter(|router| !router.burn)
    }

    /// The processor whose costs are spent, if any.
    #[must_use]
    pub fn burnt(&self) -> Option<&RouterSpec> {
        self.processor.as_ref().filter(|router| router.burn)
    }
}

/// Bytes and packets for which a direction needs room: its queue, what is on the wire, and the ring of a processor.
#[must_use]
pub fn room(direction: &DirectionSpec, ring: Option<QueueLimit>) -> (usize, usize) {
    /// An IP packet with an empty UDP datagram.
    const SMALLEST: f64 = 28.0;
    const USUAL: f64 = 1500.0;
    const MOST_BYTES: f64 = 256.0 * 1024.0 * 1024.0;
    const MOST_PACKETS: f64 = 1024.0 * 1024.0;
    let DirectionSpec { link, beyond_s, .. } = direction;
    // With what others overtake, and each as often as it comes out.
    let flying_s =
        (link.delay_s + beyond_s + link.reorder.map_or(0.0, |reorder| reorder.delay_s)) * (1.0 + link.duplicate);
    let (mut bytes, mut packets) =
        (link.carries_bps(1500) / 8.0 * flying_s, link.carries_bps(28) / 8.0 / SMALLEST * flying_s);
    for limit in [Some(link.queue.limit()), ring].into_iter().flatten() {
        match limit {
            QueueLimit::Packets(limit) => {
                packets += f64::from(limit);
                bytes += f64::from(limit) * USUAL;
            }
            QueueLimit::Bytes(limit) => {
                packets += limit as f64 / SMALLEST;
                bytes += limit as f64;
            }
            QueueLimit::Unlimited => (packets, bytes) = (MOST_PACKETS, MOST_BYTES),
        }
    }
    // Twice, for what is late; and some, for packets that come while others leave: those that are dropped behind a
    // full queue keep their places until what came before them has left.
    let with = |value: f64, least: f64, most: f64| (2.0 * value + least).min(most) as usize;
    (with(bytes, 16.0 * 1024.0 * 1024.0, MOST_BYTES), with(packets, 32_768.0, MOST_PACKETS))
}

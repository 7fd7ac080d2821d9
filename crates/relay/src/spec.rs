//! What a relay is asked to be: links of a resolved scenario between ports, the routes of packets over them, and perhaps
//! the processor of a router.

use std::net::IpAddr;

use serde::Deserialize;
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::scenario::{LinkSpec, Profile, QueueLimit};

use crate::RelayError;

/// A relay between ports.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaySpec {
    /// Of the scenario: details of its queues depend on it.
    pub profile: Profile,
    /// Of the scenario: losses on the wire depend on it.
    pub seed: u64,
    /// When the scenario begins, in nanoseconds of the monotonic clock: until then links are constant and lose nothing;
    /// none: when the relay begins.
    #[serde(default)]
    pub begins_ns: Option<u64>,
    /// How long the relay works, in seconds; none: until it is told to stop.
    pub duration_s: Option<f64>,
    /// Names of the nodes at the ends of the links, which the ends of [`LinkSpec`] index.
    pub nodes: Vec<String>,
    /// The links, each direction by itself, in the order of the scenario.
    pub links: Vec<LinkSpec>,
    /// Where packets come and leave.
    pub ports: Vec<PortSpec>,
    /// Over which links they go.
    pub routes: Vec<RouteSpec>,
    /// The router's processor.
    pub processor: Option<RouterSpec>,
    /// What the ports carry.
    pub device: Device,
    /// Packets forwarded later than this after they were due are late, in seconds.
    pub lateness_bound_s: f64,
    /// The share of time for which the relay may be awake and still spin before a packet is due.
    pub spin_share: f64,
}

/// A port.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// Name of the node behind it.
    pub node: String,
    /// Addresses of the hosts behind it.
    pub addresses: Vec<IpAddr>,
}

/// The way of packets from one port to another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteSpec {
    /// The port by which they come.
    pub from: usize,
    /// The port by which they leave.
    pub to: usize,
    /// Only of packets between these hosts; none: of all that have no route of their own.
    #[serde(default)]
    pub between: Option<BetweenSpec>,
    /// Propagation before the first link, in seconds.
    #[serde(default)]
    pub before_s: f64,
    /// The links that they cross, in this order.
    pub links: Vec<usize>,
    /// Propagation from each of these to the next, beside that of the link itself, in seconds.
    #[serde(default)]
    pub gaps_s: Vec<f64>,
    /// Propagation behind the last link, in seconds.
    pub beyond_s: f64,
}

/// A pair of hosts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BetweenSpec {
    /// The address from which packets come.
    pub source: IpAddr,
    /// The address to which they go.
    pub destination: IpAddr,
}

/// A router with a processor, at an end of the only link, whose directions share it.
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

/// Records number ports in eight bits.
const MOST_PORTS: usize = 1 << 8;
/// And links in 16, of which one number stands for none.
const MOST_LINKS: usize = u16::MAX as usize;

impl RelaySpec {
    /// Whether all of it can be emulated.
    ///
    /// # Errors
    /// What cannot.
    pub fn check(&self) -> Result<(), RelayError> {
        let refuse = |text: String| Err(RelayError::Spec(text));
        for link in &self.links {
            let name = &link.name;
            if link.flow_control {
                return refuse(format!("link {name}: flow control cannot be emulated"));
            }
            if [link.from, link.to].iter().any(|&node| node as usize >= self.nodes.len()) {
                return refuse(format!("link {name}: its ends are not among the nodes"));
            }
        }
        let (ports, links) = (self.ports.len(), self.links.len());
        if ports > MOST_PORTS || links > MOST_LINKS {
            return refuse(format!("{ports} ports and {links} links are more than {MOST_PORTS} and {MOST_LINKS}"));
        }
        for route in &self.routes {
            if route.from.max(route.to) >= ports
                || route.links.iter().any(|&link| link >= links)
                || route.gaps_s.len() != route.links.len().saturating_sub(1)
            {
                return refuse(format!("a route from port {} to port {} leads nowhere", route.from, route.to));
            }
        }
        match &self.processor {
            Some(router) if ports != 2 || links != 2 || router.port > 1 => {
                refuse(format!("node {}: a processor is emulated beside one link between two ports", router.node))
            }
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

    /// Bytes and packets for which a port needs room: what its packets may occupy on each link and in the queue before it,
    /// and in the ring of a processor. Where ports are many, the memory of two is divided among them.
    #[must_use]
    pub fn room(&self, port: usize) -> (usize, usize) {
        let mut beyond_s = vec![None; self.links.len()];
        for route in self.routes.iter().filter(|route| route.from == port) {
            let whole_s = route.before_s + route.gaps_s.iter().sum::<f64>() + route.beyond_s;
            for &link in &route.links {
                beyond_s[link] = Some(whole_s.max(beyond_s[link].unwrap_or(0.0)));
            }
        }
        let ring = self.modelled().map(|router| router.processor.input_ring);
        let (mut bytes, mut packets) = ring.map_or((0.0, 0.0), held);
        for (link, beyond_s) in self.links.iter().zip(beyond_s) {
            let Some(beyond_s) = beyond_s else { continue };
            // With what others overtake, and each as often as it comes out.
            let flying_s = (link.delay_s + beyond_s + link.reorder.map_or(0.0, |reorder| reorder.delay_s))
                * (1.0 + link.duplicate);
            let (queue_bytes, queue_packets) = held(link.queue.limit());
            bytes += link.carries_bps(1500) / 8.0 * flying_s + queue_bytes;
            packets += link.carries_bps(28) / 8.0 / SMALLEST * flying_s + queue_packets;
        }
        // Twice, for what is late; and some, for packets that come while others leave: those that are dropped behind a
        // full queue keep their places until what came before them has left.
        let share = 2.0 / (self.ports.len() as f64).max(2.0);
        let with = |value: f64, least: f64, most: f64| (2.0 * value + share * least).min(share * most) as usize;
        (with(bytes, 16.0 * 1024.0 * 1024.0, MOST_BYTES), with(packets, 32_768.0, MOST_PACKETS))
    }
}

/// An IP packet with an empty UDP datagram.
const SMALLEST: f64 = 28.0;
const USUAL: f64 = 1500.0;
const MOST_BYTES: f64 = 256.0 * 1024.0 * 1024.0;
const MOST_PACKETS: f64 = 1024.0 * 1024.0;

/// Bytes and packets that a queue or a ring may hold.
fn held(limit: QueueLimit) -> (f64, f64) {
    match limit {
        QueueLimit::Packets(limit) => (f64::from(limit) * USUAL, f64::from(limit)),
        QueueLimit::Bytes(limit) => (limit as f64, limit as f64 / SMALLEST),
        QueueLimit::Unlimited => (MOST_BYTES, MOST_PACKETS),
    }
}

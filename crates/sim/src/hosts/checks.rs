//! What only the engine can see to be wrong with traffic: it knows what controls and queues need.

use crate::error::ScenarioError;
use crate::network::link::Link;
use crate::scenario::{
    Ecn, FlowSpec, LinkSpec, Profile, QueueLimit, Recovery, ScatterSpec, Scenario, TcpSpec, UdpSpec,
};
use crate::transport::ecn::Feedback;

/// Bytes that SACK blocks may add to an ACK.
const MOST_SACK_BYTES: u32 = 4 + 8 * 3;

/// A full segment, and an ACK with all that SACK adds, fit into an IP packet.
pub(crate) fn check_tcp_size(label: &str, tcp: &TcpSpec) -> Result<(), ScenarioError> {
    check_size(label, "tcp.payload", 0, tcp.ack_bytes.saturating_add(MOST_SACK_BYTES))?;
    check_size(label, "tcp.payload", tcp.payload_bytes, tcp.header_bytes)
}

/// A datagram fits into an IP packet; of several sizes, each has room for its headers and needs no fragments.
pub(super) fn check_udp_size(flow: &FlowSpec, udp: &UdpSpec, mtu: Option<u32>) -> Result<(), ScenarioError> {
    check_size(&flow.label, "udp.payload", udp.payload_bytes, udp.header_bytes)?;
    let (least, most) = (udp.header_bytes + 1, mtu.unwrap_or(u32::MAX).min(udp.payload_bytes + udp.header_bytes));
    let Some(wrong) = udp.sizes.iter().find(|size| !(least..=most).contains(&size.bytes)) else { return Ok(()) };
    let (value, expected) = (format!("\"{} B\"", wrong.bytes), format!("datagrams from {least} B to {most} B"));
    Err(ScenarioError::flow(&flow.label, "sizes", value, expected))
}

/// Datagrams that are cut into fragments take links that bring each packet once: nobody could tell a fragment from its copy.
pub(super) fn check_fragments(scenario: &Scenario, fragments: u32, path: &[u32]) -> Result<(), ScenarioError> {
    let duplicates = |&&link: &&u32| scenario.links[link as usize].duplicate > 0.0;
    let Some(&link) = path.iter().find(duplicates).filter(|_| fragments > 1) else { return Ok(()) };
    let LinkSpec { name, duplicate, .. } = &scenario.links[link as usize];
    let expected = "no duplicates of datagrams that the MTU of their path cuts into fragments";
    Err(ScenarioError::link(name, "duplicate", duplicate.to_string(), expected))
}

/// Scattered datagrams fit into IP packets.
pub(crate) fn check_scatter_sizes(scatter: &ScatterSpec) -> Result<(), ScenarioError> {
    scatter.sizes.iter().try_for_each(|size| check_size(&scatter.label, "sizes", size.bytes, 0))
}

/// IP has sixteen bits for the length of a packet, and so has this engine's [`Packet`](crate::packet::Packet).
fn check_size(label: &str, key: &'static str, payload: u32, header: u32) -> Result<(), ScenarioError> {
    let most = u32::from(u16::MAX);
    if payload.saturating_add(header) <= most {
        return Ok(());
    }
    let room = most.saturating_sub(header);
    let expected = format!("an IP packet has at most {most} bytes: at most {room} B of payload here");
    Err(ScenarioError::flow(label, key, format!("\"{payload} B\""), expected))
}

/// A control that is told of each delivery needs acknowledgements of each.
pub(super) fn check_samples(flow: &FlowSpec, tcp: &TcpSpec) -> Result<(), ScenarioError> {
    if tcp.recovery.acknowledges_each() {
        return Ok(());
    }
    let kind = &tcp.congestion.kind;
    let expected = format!("expected \"sack\" or \"rack\" with {kind}, which samples the rate of deliveries");
    Err(ScenarioError::flow(&flow.label, "tcp.recovery", format!("{:?}", tcp.recovery.name()), expected))
}

/// ns-2.35 has no RACK, and its clock ticks are too coarse for one.
pub(crate) fn check_recovery(label: &str, recovery: Recovery, profile: Profile) -> Result<(), ScenarioError> {
    if recovery != Recovery::Rack || profile != Profile::Ns2 {
        return Ok(());
    }
    let expected = "profile ns2 has no such recovery: another one, or another profile";
    Err(ScenarioError::flow(label, "tcp.recovery", format!("{:?}", recovery.name()), expected))
}

/// How the receiver tells of congestion marks: exactly, if the control reads them.
pub(crate) fn feedback(
    label: &str,
    tcp: &TcpSpec,
    profile: Profile,
    reads_marks: bool,
) -> Result<Feedback, ScenarioError> {
    let wrong = |key, value: &str, expected: &str| Err(ScenarioError::flow(label, key, value, expected));
    if tcp.receiver_ecn.is_some() && (tcp.ecn == Ecn::Off || profile == Profile::Ns2) {
        let expected = "nothing here, as no handshake asks for ECN: tcp.ecn, and another profile than ns2";
        return wrong("tcp.receiver_ecn", &format!("{:?}", tcp.receiver_ecn), expected);
    }
    if tcp.ecn_option && tcp.agreed_ecn() != Ecn::Accurate {
        return wrong("tcp.ecn_option", "true", "false, as both ends do not have accurate ECN: tcp.ecn = \"accecn\"");
    }
    match (tcp.agreed_ecn(), reads_marks) {
        (Ecn::Off, false) => Ok(Feedback::None),
        (Ecn::Off, true) if tcp.receiver_ecn.is_some() => Ok(Feedback::None),
        (Ecn::Classic, false) => Ok(Feedback::Latched),
        (Ecn::Classic, true) => Ok(Feedback::Accurate),
        (Ecn::Accurate, _) if profile == Profile::Ns2 => {
            wrong("tcp.ecn", "\"accecn\"", "profile ns2 has no accurate ECN: true or false, or another profile")
        }
        (Ecn::Accurate, _) => Ok(Feedback::Counted { option: tcp.ecn_option }),
        (Ecn::Off, true) => {
            wrong("tcp.ecn", "false", "its congestion control reads congestion marks: true, or another control")
        }
    }
}

/// A source that sends as fast as it can needs a queue that pushes back, and that takes its packets.
pub(super) fn check_pushes_back(scenario: &Scenario, link: u32, size: u32) -> Result<(), ScenarioError> {
    let spec = &scenario.links[link as usize];
    let wrong = |key, value: String, expected: &str| Err(ScenarioError::link(&spec.name, key, value, expected));
    let queue = format!("{:?}", spec.queue);
    let processor = scenario.nodes[spec.from as usize].processor.as_ref();
    if spec.queue.limit() == QueueLimit::Unlimited
        || processor.is_some_and(|processor| processor.input_ring == QueueLimit::Unlimited)
    {
        return wrong("queue", queue, "a source that saturates it needs a limit here and in the input ring before it");
    }
    if !spec.queue.takes_what_fits() {
        // It would send for ever at one instant.
        let kind = format!("{:?}", spec.queue.kind());
        return wrong("queue.kind", kind, "a source that saturates it needs a queue that takes what it has room for");
    }
    if spec.outages.as_ref().is_some_and(|outages| outages.flush) {
        // The same, while the link is down.
        return wrong("outages.flush", "true".into(), "false, as a source saturates it");
    }
    if Link::idle(scenario, link).takes_alone(size) {
        return Ok(());
    }
    wrong("queue", queue, &format!("a queue that takes a packet of {size} B"))
}

//! Whose a packet is: what a queue that tells flows, hosts or classes apart looks at.

use crate::packet::Packet;
use crate::random;

/// Numbers that stand for the flow and the hosts of a packet, and its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowKey {
    /// Its flow and direction.
    pub flow: u64,
    /// The host that sent it.
    pub source: u64,
    /// The host that it goes to.
    pub destination: u64,
    /// The code point of its class (RFC 2474 §3: DSCP).
    pub dscp: u8,
}

impl FlowKey {
    /// That of a packet that finds its way by its destination: its transfer is the flow; users are hosts, and so are the
    /// places to which they send.
    #[must_use]
    pub fn of_address(packet: &Packet) -> Self {
        let user = random::mix(u64::from(packet.source()) << 1);
        let transfer = u64::from(packet.source()) << 5 | u64::from(packet.transfer()) << 1;
        let ends = u64::from(packet.destination()) << 40 | transfer;
        let flow = random::mix(1 << 60 | ends | u64::from(packet.is_reverse()));
        // An ACK goes to the user; who sent it is who answers this transfer.
        let (source, destination) = if packet.is_reverse() {
            (flow, user)
        } else {
            (user, random::mix(1 << 32 | u64::from(packet.destination())))
        };
        Self { flow, source, destination, dscp: 0 }
    }
}

//! Ports of flows.

/// Of a sender: of the ports that systems give away by themselves (RFC 6335 §6) a part in which Wireshark expects no
/// protocol.
const FIRST_PORT: u32 = 61_000;
const PORTS: u32 = 4000;
/// Of a receiver: iperf3's. In what flows carry no protocol is to be looked for, either.
const RECEIVER_PORT: u32 = 5201;

/// Ports of an end that sends to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub source: u16,
    pub destination: u16,
}

impl Ports {
    /// Those of the sender of the flow with this place among the flows that begin at its node: no two are alike.
    pub fn new(place: u32) -> Self {
        let receiver = RECEIVER_PORT + place / PORTS;
        Self { source: (FIRST_PORT + place % PORTS) as u16, destination: receiver as u16 }
    }

    /// Those of the other end.
    pub fn back(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

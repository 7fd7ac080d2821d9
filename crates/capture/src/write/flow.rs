//! A flow's headers: ports, and what its transport adds.

use tightlink_sim::packet::Packet;
use tightlink_sim::scenario::{FlowSpec, Profile, TransportSpec};
use tightlink_sim::time::Time;
use tightlink_sim::transport::ack_options::AckOptionSlab;

use super::headers::{Headers, Ip};
use super::ports::Ports;
use super::tcp::Tcp;
use super::udp::Udp;

/// What has to be known of a flow to write its packets.
#[derive(Clone, Debug)]
pub enum Flow {
    Tcp(Box<Tcp>),
    Udp(Udp),
}

impl Flow {
    /// A flow that has not begun, with this place among the flows that begin at its node.
    pub fn new(profile: Profile, flow: &FlowSpec, place: u32) -> Self {
        let ports = Ports::new(place);
        match &flow.transport {
            TransportSpec::Tcp(tcp) => Self::Tcp(Box::new(Tcp::new(profile, flow, tcp, ports))),
            TransportSpec::Udp(udp) => Self::Udp(Udp::new(flow, udp, ports)),
        }
    }

    /// The headers of a packet that is sent; `identification` is the last one of its node.
    pub fn headers(
        &mut self,
        packet: &Packet,
        now: Time,
        ack_options: &AckOptionSlab,
        ip: Ip,
        identification: &mut u16,
    ) -> Headers {
        match self {
            Self::Tcp(tcp) => tcp.headers(packet, now, ack_options, ip, identification),
            Self::Udp(udp) => udp.headers(packet, ip, identification),
        }
    }

    /// A packet with these headers reached its end.
    pub fn arrived(&mut self, headers: &Headers) {
        if let Self::Tcp(tcp) = self {
            tcp.arrived(headers.above());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_flows_of_a_host_have_the_same_ports() {
        let ports: HashSet<(u16, u16)> = (0..100_000).map(Ports::new).map(|p| (p.source, p.destination)).collect();
        assert_eq!(ports.len(), 100_000);
        assert_eq!(Ports::new(0).back(), Ports { source: 5201, destination: 61_000 });
    }
}

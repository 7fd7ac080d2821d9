//! UDP's headers (RFC 768), and those of fragments of its datagrams (RFC 791 §3.2).

use tightlink_sim::packet::Packet;
use tightlink_sim::scenario::{FlowSpec, TrafficSpec, UdpSpec};

use super::headers::{Headers, IP_BYTES, Ip, UDP, transport_checksum};
use super::ports::Ports;

const HEADER_BYTES: u32 = 8;

/// What has to be known of a flow of datagrams.
#[derive(Clone, Debug)]
pub struct Udp {
    ports: Ports,
    /// Bytes of a datagram as IP packet, if all are alike: what is smaller is a fragment.
    whole: Option<u32>,
    /// Of those, what a fragment repeats; nothing under profile `ns2`, whose fragments are longer here than there.
    fragment_header_bytes: u32,
    /// Of the datagram of which fragments are being sent: its number of the engine and its identification, and
    /// where the next one belongs, in bytes.
    cut: (u32, u16, u32),
}

impl Udp {
    pub fn new(flow: &FlowSpec, udp: &UdpSpec, ports: Ports) -> Self {
        let alike = udp.sizes.is_empty() && !matches!(flow.traffic, TrafficSpec::Video(_));
        Self {
            ports,
            whole: alike.then_some(udp.payload_bytes + udp.header_bytes),
            fragment_header_bytes: udp.fragment_header_bytes,
            cut: (u32::MAX, 0, 0),
        }
    }

    /// The headers of a datagram or a fragment that is sent.
    pub fn headers(&mut self, packet: &Packet, ip: Ip, identification: &mut u16) -> Headers {
        let (capable, scalable) = (packet.is_capable(), packet.is_scalable());
        let ip = Ip { protocol: UDP, capable, scalable, ..ip };
        let (seq, size) = (packet.seq(), packet.size());
        match self.whole.filter(|&whole| size < whole) {
            None => {
                *identification = identification.wrapping_add(1);
                // Profile ns2 knows datagrams that are smaller than their headers.
                let length = size.saturating_sub(IP_BYTES as u32).max(HEADER_BYTES);
                self.datagram(Ip { identification: *identification, ..ip }, length, length)
            }
            Some(whole) => {
                if self.cut.0 != seq {
                    *identification = identification.wrapping_add(1);
                    self.cut = (seq, *identification, 0);
                }
                let (_, identification, offset) = self.cut;
                let bytes = size - self.fragment_header_bytes;
                let length = whole - self.fragment_header_bytes;
                self.cut.2 += bytes;
                let ip = Ip { identification, offset, more: self.cut.2 < length, ..ip };
                if offset > 0 { Headers::new(ip, &[], bytes) } else { self.datagram(ip, length, bytes) }
            }
        }
    }

    /// A datagram of `length` bytes above IP, or its first fragment with `bytes` of them.
    fn datagram(&self, ip: Ip, length: u32, bytes: u32) -> Headers {
        let mut header = [0; HEADER_BYTES as usize];
        header[0..2].copy_from_slice(&self.ports.source.to_be_bytes());
        header[2..4].copy_from_slice(&self.ports.destination.to_be_bytes());
        header[4..6].copy_from_slice(&(length as u16).to_be_bytes());
        // Zero would say that there is none.
        let checksum = match transport_checksum(&ip, &header, length) {
            0 => u16::MAX,
            sum => sum,
        };
        header[6..8].copy_from_slice(&checksum.to_be_bytes());
        Headers::new(ip, &header, bytes - HEADER_BYTES)
    }
}

//! Whose a packet is: the addresses, the protocol and the ports of its IP header, and which kind of packet. Bytes that
//! are no IP packet, or one that is cut off, are of nobody: nothing here fails.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of a [`Header::key`].
pub const KEY_BYTES: usize = 38;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Kinds of packets, as the trace names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Anything else.
    #[default]
    Other,
    /// TCP that carries data or opens a connection.
    Tcp,
    /// TCP that carries neither.
    Ack,
    /// UDP.
    Udp,
    /// ICMP.
    Icmp,
}

const KINDS: [Kind; 5] = [Kind::Other, Kind::Tcp, Kind::Ack, Kind::Udp, Kind::Icmp];

impl Kind {
    /// The kind with this number.
    #[must_use]
    pub fn decode(number: u8) -> Option<Self> {
        KINDS.get(usize::from(number)).copied()
    }

    /// Its name in the trace.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Tcp => "tcp",
            Self::Ack => "ack",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
        }
    }
}

/// Whose a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which kind of packet.
    pub kind: Kind,
    /// Version, protocol, source and destination address and port: equal for packets of one direction of a flow.
    pub key: [u8; KEY_BYTES],
}

impl Default for Header {
    fn default() -> Self {
        Self { kind: Kind::Other, key: [0; KEY_BYTES] }
    }
}

impl Header {
    /// Of an IP packet.
    #[must_use]
    pub fn of(packet: &[u8]) -> Self {
        Self::read(packet).unwrap_or_default()
    }

    fn read(packet: &[u8]) -> Option<Self> {
        let version = packet.first()? >> 4;
        // Addresses, protocol, where the next header begins, where the packet ends, whether it is a later fragment.
        let (addresses, width, protocol, begin, end, later) = match version {
            4 => {
                let begin = usize::from(packet[0] & 15) * 4;
                let end = usize::from(u16::from_be_bytes(packet.get(2..4)?.try_into().ok()?));
                let later = u16::from_be_bytes(packet.get(6..8)?.try_into().ok()?) & 0x1fff != 0;
                (packet.get(12..20)?, 4, *packet.get(9)?, begin, end, later)
            }
            6 => {
                let end = 40 + usize::from(u16::from_be_bytes(packet.get(4..6)?.try_into().ok()?));
                (packet.get(8..40)?, 16, *packet.get(6)?, 40, end, false)
            }
            _ => return None,
        };
        let mut key = [0; KEY_BYTES];
        key[0] = version;
        key[1] = protocol;
        key[2..2 + width].copy_from_slice(&addresses[..width]);
        key[18..18 + width].copy_from_slice(&addresses[width..]);
        let transport = if later { None } else { packet.get(begin..) };
        let mut kind = Kind::Other;
        match protocol {
            TCP | UDP => {
                if let Some(ports) = transport.and_then(|bytes| bytes.get(..4)) {
                    key[34..38].copy_from_slice(ports);
                }
                kind = if protocol == UDP { Kind::Udp } else { tcp_kind(transport, end.saturating_sub(begin)) };
            }
            ICMP | ICMPV6 => kind = Kind::Icmp,
            _ => {}
        }
        Some(Self { kind, key })
    }

    /// The same for the other direction of its flow.
    #[must_use]
    pub fn reversed(&self) -> [u8; KEY_BYTES] {
        let mut key = self.key;
        key[2..18].copy_from_slice(&self.key[18..34]);
        key[18..34].copy_from_slice(&self.key[2..18]);
        key[34..36].copy_from_slice(&self.key[36..38]);
        key[36..38].copy_from_slice(&self.key[34..36]);
        key
    }

    /// The protocol, and the ends with their ports, if it is IP.
    #[must_use]
    pub fn ends(&self) -> Option<(u8, [(IpAddr, u16); 2])> {
        let address = |at: usize| match self.key[0] {
            4 => Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(&self.key[at..at + 4]).ok()?))),
            6 => Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(&self.key[at..at + 16]).ok()?))),
            _ => None,
        };
        let port = |at: usize| u16::from_be_bytes([self.key[at], self.key[at + 1]]);
        Some((self.key[1], [(address(2)?, port(34)), (address(18)?, port(36))]))
    }
}

/// Of a segment of so many bytes, header included.
fn tcp_kind(segment: Option<&[u8]>, bytes: usize) -> Kind {
    const SYN: u8 = 2;
    const ACK: u8 = 16;
    let Some((offset, flags)) = segment.and_then(|segment| Some((segment.get(12)? >> 4, *segment.get(13)?))) else {
        // A later fragment carries data.
        return Kind::Tcp;
    };
    let opens = flags & (SYN | ACK) == SYN;
    if bytes > usize::from(offset) * 4 || opens { Kind::Tcp } else { Kind::Ack }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ipv4(protocol: u8, transport: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 20 + transport.len() as u8, 0, 0, 0, 0, 64, protocol, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend(transport);
        packet
    }

    fn segment(flags: u8, data: usize) -> Vec<u8> {
        let mut bytes = vec![0x13, 0x89, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 5 << 4, flags, 0, 0, 0, 0, 0, 0];
        bytes.resize(20 + data, 1);
        bytes
    }

    #[test]
    fn data_and_the_opening_are_tcp_and_the_rest_are_acks() {
        let kind = |flags, data| Header::of(&ipv4(TCP, &segment(flags, data))).kind;
        assert_eq!((kind(16, 100), kind(2, 0), kind(18, 0), kind(16, 0)), (Kind::Tcp, Kind::Tcp, Kind::Ack, Kind::Ack));
    }

    #[test]
    fn both_directions_name_the_same_ends() {
        let header = Header::of(&ipv4(UDP, &[0x13, 0x89, 0, 80, 0, 8, 0, 0]));
        let (protocol, [from, to]) = header.ends().unwrap();
        assert_eq!((protocol, from, to), (UDP, ("10.0.0.1".parse().unwrap(), 5001), ("10.0.0.2".parse().unwrap(), 80)));
        let back = Header { key: header.reversed(), ..header };
        assert_eq!(back.ends().unwrap().1, [to, from]);
        assert_eq!(back.reversed(), header.key);
    }

    #[test]
    fn ipv6_has_wider_addresses() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 8, UDP, 64];
        packet.extend(Ipv6Addr::LOCALHOST.octets());
        packet.extend("fd00::2".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend([0, 53, 0, 54, 0, 8, 0, 0]);
        let (_, ends) = Header::of(&packet).ends().unwrap();
        assert_eq!(ends, [(IpAddr::V6(Ipv6Addr::LOCALHOST), 53), ("fd00::2".parse().unwrap(), 54)]);
    }

    proptest! {
        #[test]
        fn nothing_fails(packet in prop::collection::vec(any::<u8>(), 0..80)) {
            let header = Header::of(&packet);
            prop_assert_eq!(Header { key: header.reversed(), ..header }.reversed(), header.key);
        }
    }
}

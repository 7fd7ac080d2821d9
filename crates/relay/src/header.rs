//! Whose a packet is: the addresses, the protocol and the ports of its IP header, and which kind of packet. Bytes that
//! are no IP packet, or one that is cut off, are of nobody: nothing here fails.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of a [`Header::key`].
pub const KEY_BYTES: usize = 38;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// A flag of TCP.
pub(crate) const ACK: u8 = 16;
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

/// What an IP header says.
struct Internet<'a> {
    /// Source and destination.
    addresses: &'a [u8],
    protocol: u8,
    /// From the next header on; nothing of a later fragment.
    transport: Option<&'a [u8]>,
    /// Bytes from there to the end of the packet, padding of a frame left out.
    transport_bytes: usize,
}

impl<'a> Internet<'a> {
    fn of(packet: &'a [u8]) -> Option<Self> {
        let number = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
        let (addresses, protocol, begin, end, later) = match packet.first()? >> 4 {
            4 => {
                let begin = usize::from(packet[0] & 15) * 4;
                let later = number(6)? & 0x1fff != 0;
                (packet.get(12..20)?, *packet.get(9)?, begin, usize::from(number(2)?), later)
            }
            6 => (packet.get(8..40)?, *packet.get(6)?, 40, 40 + usize::from(number(4)?), false),
            _ => return None,
        };
        let transport = if later { None } else { packet.get(begin..) };
        Some(Self { addresses, protocol, transport, transport_bytes: end.saturating_sub(begin) })
    }
}

/// The TCP segment in an IP packet, if it begins in it.
pub(crate) fn segment(packet: &[u8]) -> Option<&[u8]> {
    let Internet { protocol, transport, transport_bytes, .. } = Internet::of(packet)?;
    transport.filter(|_| protocol == TCP)?.get(..transport_bytes)
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
        Self::NOBODY
    }
}

impl Header {
    /// Of what is no IP packet.
    pub const NOBODY: Self = Self { kind: Kind::Other, key: [0; KEY_BYTES] };

    /// Of an IP packet.
    #[must_use]
    pub fn of(packet: &[u8]) -> Self {
        Self::read(packet).unwrap_or_default()
    }

    fn read(packet: &[u8]) -> Option<Self> {
        let Internet { addresses, protocol, transport, transport_bytes } = Internet::of(packet)?;
        let width = addresses.len() / 2;
        let mut key = [0; KEY_BYTES];
        key[0] = packet[0] >> 4;
        key[1] = protocol;
        key[2..2 + width].copy_from_slice(&addresses[..width]);
        key[18..18 + width].copy_from_slice(&addresses[width..]);
        let mut kind = Kind::Other;
        match protocol {
            TCP | UDP => {
                if let Some(ports) = transport.and_then(|bytes| bytes.get(..4)) {
                    key[34..38].copy_from_slice(ports);
                }
                kind = if protocol == UDP { Kind::Udp } else { tcp_kind(transport, transport_bytes) };
            }
            ICMP | ICMPV6 => kind = Kind::Icmp,
            _ => {}
        }
        Some(Self { kind, key })
    }

    /// Its addresses.
    #[must_use]
    pub fn addresses(&self) -> [u8; 32] {
        self.key[2..34].try_into().unwrap_or_default()
    }

    /// The addresses of packets from one host to another, as the header of one has them.
    #[must_use]
    pub fn between(source: IpAddr, destination: IpAddr) -> [u8; 32] {
        let mut addresses = [0; 32];
        for (place, address) in [source, destination].into_iter().enumerate() {
            addresses[16 * place..][..16].copy_from_slice(&Self::address(address));
        }
        addresses
    }

    /// An address, as [`addresses`](Self::addresses) have it.
    #[must_use]
    pub fn address(address: IpAddr) -> [u8; 16] {
        let mut bytes = [0; 16];
        match address {
            IpAddr::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => bytes = address.octets(),
        }
        bytes
    }

    /// Numbers that stand for its flow and direction, its source and its destination.
    #[must_use]
    pub fn numbers(&self) -> [u64; 3] {
        [&self.key[..], &self.key[2..18], &self.key[18..34]].map(hash)
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
    let Some((offset, flags)) = segment.and_then(|segment| Some((segment.get(12)? >> 4, *segment.get(13)?))) else {
        // A later fragment carries data.
        return Kind::Tcp;
    };
    let opens = flags & (SYN | ACK) == SYN;
    if bytes > usize::from(offset) * 4 || opens { Kind::Tcp } else { Kind::Ack }
}

fn hash(bytes: &[u8]) -> u64 {
    let text = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    tightlink_sim::random::mix(text)
}

/// What the ECN field of an IP packet says (RFC 3168 §5, RFC 9331 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Not-ECT, or no IP packet.
    NotCapable,
    /// ECT(0).
    Capable,
    /// ECT(1).
    Scalable,
    /// CE.
    Experienced,
}

/// The traffic class of an IP packet: six bits of class and two of ECN (RFC 2474 §3).
fn traffic_class(packet: &[u8]) -> u8 {
    match packet {
        [first, second, ..] if first >> 4 == 4 => *second,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => 0,
    }
}

/// What an IP packet says of congestion.
#[must_use]
pub fn congestion(packet: &[u8]) -> Congestion {
    match traffic_class(packet) & 3 {
        0 => Congestion::NotCapable,
        1 => Congestion::Scalable,
        2 => Congestion::Capable,
        _ => Congestion::Experienced,
    }
}

/// The code point of the class of an IP packet.
#[must_use]
pub fn dscp(packet: &[u8]) -> u8 {
    traffic_class(packet) >> 2
}

/// Writes on an IP packet that it experienced congestion.
pub fn mark(packet: &mut [u8]) {
    write(packet, 0b11);
}

/// Clears the ECN field of an IP packet.
pub fn bleach(packet: &mut [u8]) {
    write(packet, 0b00);
}

/// Writes the ECN field of an IP packet, unless it is Not-ECT, and mends the checksum of IPv4 (RFC 1624, eq. 3).
fn write(packet: &mut [u8], field: u8) {
    if congestion(packet) == Congestion::NotCapable {
        return;
    }
    match packet {
        [first, second, ..] if *first >> 4 == 6 => *second = *second & !(0b11 << 4) | field << 4,
        [first, second, _, _, _, _, _, _, _, _, high, low, ..] if *first >> 4 == 4 => {
            let word = |second: u8| u32::from(u16::from_be_bytes([*first, second]));
            let before = word(*second);
            *second = *second & !0b11 | field;
            let sum = u32::from(!u16::from_be_bytes([*high, *low])) + u32::from(!before as u16) + word(*second);
            let folded = (sum & 0xffff) + (sum >> 16);
            [*high, *low] = (!((folded & 0xffff) + (folded >> 16)) as u16).to_be_bytes();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the header's words, the checksum among them, is zero in ones' complement (RFC 1071).
    fn is_sound(header: &[u8]) -> bool {
        let words = header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        (sum & 0xffff) + (sum >> 16) == 0xffff
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        // From 192.0.2.1 to 198.51.100.2, EF; the checksum makes the sum of all words zero.
        for ecn in 0..4u8 {
            let mut packet =
                vec![0x45, 0xb8 | ecn, 0, 20, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2];
            let words = packet.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = words.sum();
            packet[10..12].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
            assert!(is_sound(&packet));
            assert_eq!((congestion(&packet) == Congestion::NotCapable, dscp(&packet)), (ecn == 0, 46));
            mark(&mut packet);
            assert!(is_sound(&packet), "{ecn}");
            let expected = if ecn == 0 { Congestion::NotCapable } else { Congestion::Experienced };
            assert_eq!((congestion(&packet), dscp(&packet)), (expected, 46));
            bleach(&mut packet);
            assert!(is_sound(&packet), "{ecn}");
            assert_eq!((congestion(&packet), dscp(&packet)), (Congestion::NotCapable, 46));
        }
    }

    #[test]
    fn a_mark_of_ipv6_is_in_its_traffic_class() {
        let mut packet = [0x6b, 0x95, 0x67, 0x89];
        assert_eq!((congestion(&packet), dscp(&packet)), (Congestion::Scalable, 0xb9 >> 2));
        mark(&mut packet);
        assert_eq!(packet, [0x6b, 0xb5, 0x67, 0x89]);
        bleach(&mut packet);
        assert_eq!(packet, [0x6b, 0x85, 0x67, 0x89]);
        let mut nothing = [0x12, 0x34];
        mark(&mut nothing);
        assert_eq!((congestion(&nothing), nothing), (Congestion::NotCapable, [0x12, 0x34]));
    }
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

//! IP headers, those of version 6 with their extensions.

use std::net::{Ipv4Addr, Ipv6Addr};

/// An address of either version, in the order of bytes of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    bytes: [u8; 16],
    six: bool,
}

/// One end of a connection: its address, and its port where there is one and it was kept.
pub type End = (Address, Option<u16>);

impl Address {
    fn v4(bytes: [u8; 4]) -> Self {
        let mut all = [0; 16];
        all[..4].copy_from_slice(&bytes);
        Self { bytes: all, six: false }
    }

    fn v6(bytes: [u8; 16]) -> Self {
        Self { bytes, six: true }
    }

    /// Whether it is one of version 6, which needs brackets before a port.
    pub fn is_v6(self) -> bool {
        self.six
    }
}

impl From<Ipv4Addr> for Address {
    fn from(address: Ipv4Addr) -> Self {
        Self::v4(address.octets())
    }
}

impl From<Ipv6Addr> for Address {
    fn from(address: Ipv6Addr) -> Self {
        Self::v6(address.octets())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, ..] = self.bytes;
        if self.six { Ipv6Addr::from(self.bytes).fmt(out) } else { Ipv4Addr::new(a, b, c, d).fmt(out) }
    }
}

/// Which part of a datagram a packet holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Identification.
    pub id: u32,
    /// Bytes of the datagram before it.
    pub offset: u32,
    /// Whether more follow.
    pub more: bool,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Where it comes from.
    pub source: Address,
    /// Where it goes to.
    pub target: Address,
    /// Number of the protocol that it carries.
    pub protocol: u8,
    /// Its length with its headers, as sent.
    pub length: u32,
    /// Whether a router marked congestion (RFC 3168).
    pub marked: bool,
    /// What tells it from others of its source; 0 where there is nothing.
    pub id: u16,
    /// What routers have left of its time to live.
    pub hops: u8,
    /// Where it is a part of a datagram.
    pub fragment: Option<Fragment>,
    /// What it carries, as far as it was kept.
    pub payload: &'a [u8],
    /// How long that was.
    pub payload_length: u32,
    /// Number of the tunnel within which it is; 0 if it is in none.
    pub tunnel: u32,
}

const CONGESTION: u8 = 3;
const V6_HEADER: usize = 40;
/// More extension headers than any real packet has.
const MOST_EXTENSIONS: usize = 16;

/// Reads the header of a packet; nothing if too little was kept or it makes no sense. `room` is what the frame has
/// room for: more is not believed.
pub fn packet(data: &[u8], room: u32) -> Option<Packet<'_>> {
    match data.first()? >> 4 {
        4 => v4(data, room),
        _ => v6(data, room),
    }
}

fn v4(data: &[u8], room: u32) -> Option<Packet<'_>> {
    const LEAST: usize = 20;
    let head = data.get(..LEAST)?;
    let header = usize::from(head[0] & 0xf) * 4;
    // Segmentation offload leaves zero where the length exceeds 16 bits.
    let length = match u32::from(half(head, 2)) {
        0 => room,
        length => length.min(room),
    };
    if header < LEAST || (length as usize) < header {
        return None;
    }
    let (offset, more) = (u32::from(half(head, 6) & 0x1fff) * 8, head[6] & 0x20 != 0);
    let fragment = (more || offset > 0).then(|| Fragment { id: u32::from(half(head, 4)), offset, more });
    Some(Packet {
        source: Address::v4([head[12], head[13], head[14], head[15]]),
        target: Address::v4([head[16], head[17], head[18], head[19]]),
        protocol: head[9],
        length,
        marked: head[1] & 3 == CONGESTION,
        id: half(head, 4),
        hops: head[8],
        fragment,
        payload: data.get(header..data.len().min(length as usize)).unwrap_or_default(),
        payload_length: length - header as u32,
        tunnel: 0,
    })
}

fn v6(data: &[u8], room: u32) -> Option<Packet<'_>> {
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    let head = data.get(..V6_HEADER)?;
    let length = match u32::from(half(head, 4)) {
        0 => room,
        length => (length + V6_HEADER as u32).min(room),
    };
    let address = |at: usize| head[at..at + 16].try_into().map(Address::v6).ok();
    let (source, target) = (address(8)?, address(24)?);
    let (mut protocol, mut at, mut fragment) = (head[6], V6_HEADER, None);
    for _ in 0..MOST_EXTENSIONS {
        let size = |unit: usize, more: usize| Some((usize::from(*data.get(at + 1)?) + more) * unit);
        let step = match protocol {
            0 | 43 | 60 | 135 | 139 | 140 => size(8, 1)?,
            AUTHENTICATION => size(4, 2)?,
            FRAGMENT => {
                let part = data.get(at..at + 8)?;
                let (offset, more) = (u32::from(half(part, 2) & 0xfff8), part[3] & 1 != 0);
                let id = u32::from(half(part, 4)) << 16 | u32::from(half(part, 6));
                // A fragment that is the whole is none (RFC 6946).
                fragment = (more || offset > 0).then_some(Fragment { id, offset, more });
                8
            }
            _ => break,
        };
        protocol = *data.get(at)?;
        at += step;
        if fragment.is_some_and(|part: Fragment| part.offset > 0) {
            break;
        }
    }
    if (length as usize) < at {
        return None;
    }
    Some(Packet {
        source,
        target,
        protocol,
        length,
        marked: head[1] >> 4 & 3 == CONGESTION,
        id: 0,
        hops: head[7],
        fragment,
        payload: data.get(at..data.len().min(length as usize)).unwrap_or_default(),
        payload_length: length - at as u32,
        tunnel: 0,
    })
}

/// The name of a protocol number, or the number.
pub fn protocol_name(protocol: u8) -> String {
    let name = match protocol {
        1 => "icmp",
        2 => "igmp",
        4 => "ipip",
        6 => "tcp",
        17 => "udp",
        33 => "dccp",
        41 => "ipv6 in ip",
        47 => "gre",
        50 => "esp",
        51 => "ah",
        58 => "icmpv6",
        59 => "no next header",
        88 => "eigrp",
        89 => "ospf",
        103 => "pim",
        112 => "vrrp",
        115 => "l2tp",
        132 => "sctp",
        136 => "udplite",
        other => return format!("protocol {other}"),
    };
    name.to_owned()
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

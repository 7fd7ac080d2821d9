//! Packets within packets: what tunnels carry, and which tunnel a packet came through.
//!
//! A flow is one of the innermost packets. What is not looked into stays a packet of the tunnel: fragments of its packets, what
//! is no IP, and headers of which too little was kept.

use std::collections::HashMap;

use super::ip::{self, Address, Packet, protocol_name};
use super::link::{Carried, Rest};

/// Tunnels within each other that are looked into; no network has more.
const MOST_NESTED: usize = 8;
/// Tunnels that are told apart. Packets of further ones stay packets of their outer headers.
const MOST: usize = 1 << 18;

const GRE: u8 = 47;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Protocols that are a packet of IP: RFC 2003, RFC 4213.
const IP_IN_IP: [u8; 2] = [4, 41];
/// That of RFC 7348, and the one that Linux had before there was one.
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
/// EtherType of frames of Ethernet, as GRE and Geneve have it.
const ETHERNET: u16 = 0x6558;

/// What tells a tunnel from others of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// By the protocol of the outer packet.
    Ip(u8),
    /// With its key, where it has one.
    Gre(Option<u32>),
    /// By the number of its session; type I has none.
    Erspan(Option<u16>),
    Vxlan(u32),
    Geneve(u32),
    /// By an identifier (TEID) of its receiving end, another one in each direction.
    Gtp(u32),
}

/// Ends that tell tunnels with the same identifier apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Ends {
    /// The identifier is one of the whole network.
    Any,
    /// In the order of their addresses, so that both directions are one tunnel.
    Between(Address, Address),
    To(Address),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Tunnel {
    kind: Kind,
    ends: Ends,
    /// The number of the tunnel in which this one is; 0 where it is in none.
    around: u32,
}

/// What passed through a tunnel.
#[derive(Clone, Copy, Default)]
pub struct Passed {
    /// Packets.
    pub packets: u64,
    /// Their bytes, with all headers of tunnels.
    pub bytes: u64,
    /// Those of them that are headers of tunnels.
    pub header_bytes: u64,
}

/// The tunnels of a capture.
#[derive(Default)]
pub struct Tunnels {
    numbers: HashMap<Tunnel, u32>,
    /// By number, from 1 on.
    all: Vec<(Tunnel, Passed)>,
    /// Packets of tunnels of which too little was kept to look into them.
    pub cut: u64,
    /// The most that headers of tunnels add to a packet.
    pub most_header_bytes: u32,
}

impl Tunnels {
    /// The innermost packet that can be read; the packet itself, if it is no tunnel's.
    pub fn innermost<'a>(&mut self, outer: Packet<'a>) -> Packet<'a> {
        let mut found = outer;
        for _ in 0..MOST_NESTED {
            let Some(inner) = self.within(&found) else { break };
            found = inner;
        }
        found
    }

    fn within<'a>(&mut self, packet: &Packet<'a>) -> Option<Packet<'a>> {
        if packet.fragment.is_some() || !is_tunnel(packet) {
            return None;
        }
        let rest = Rest { data: packet.payload, length: packet.payload_length };
        let inner = match opened(packet, rest) {
            Some((kind, Carried::Ip(data, room))) => ip::packet(data, room).map(|inner| (kind, inner)),
            Some((_, Carried::Other(_) | Carried::Llc | Carried::Unknown)) => return None,
            Some((_, Carried::Cut)) | None => None,
        };
        let Some((kind, inner)) = inner else {
            self.cut += u64::from((packet.payload.len() as u64) < u64::from(packet.payload_length));
            return None;
        };
        let (low, high) = (packet.source.min(packet.target), packet.source.max(packet.target));
        let ends = match kind {
            Kind::Ip(_) | Kind::Gre(_) | Kind::Erspan(_) => Ends::Between(low, high),
            Kind::Vxlan(_) | Kind::Geneve(_) => Ends::Any,
            Kind::Gtp(_) => Ends::To(packet.target),
        };
        let tunnel = self.number(Tunnel { kind, ends, around: packet.tunnel })?;
        Some(Packet { tunnel, ..inner })
    }

    fn number(&mut self, tunnel: Tunnel) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&tunnel) {
            return Some(number);
        }
        if self.all.len() >= MOST {
            return None;
        }
        self.all.push((tunnel, Passed::default()));
        let number = self.all.len() as u32;
        self.numbers.insert(tunnel, number);
        Some(number)
    }

    /// Counts a packet of `bytes` to the tunnel of its innermost packet.
    pub fn count(&mut self, inner: &Packet<'_>, bytes: u32) {
        let Some((_, passed)) = (inner.tunnel as usize).checked_sub(1).and_then(|place| self.all.get_mut(place)) else {
            return;
        };
        let header_bytes = bytes.saturating_sub(inner.length);
        passed.packets += 1;
        passed.bytes += u64::from(bytes);
        passed.header_bytes += u64::from(header_bytes);
        self.most_header_bytes = self.most_header_bytes.max(header_bytes);
    }

    /// Tunnels with packets that were looked into, by name.
    pub fn used(&self) -> impl Iterator<Item = (String, Passed)> {
        let all = self.all.iter().enumerate().filter(|(_, (_, passed))| passed.packets > 0);
        all.map(|(place, (_, passed))| (self.name(place as u32 + 1), *passed))
    }

    /// What to call a tunnel, the one that it is in behind it; empty for none.
    pub fn name(&self, number: u32) -> String {
        let mut names = Vec::new();
        let mut next = number;
        while let Some((tunnel, _)) = (next as usize).checked_sub(1).and_then(|place| self.all.get(place)) {
            names.push(tunnel.name());
            next = tunnel.around;
        }
        names.join(" in ")
    }
}

impl Tunnel {
    fn name(self) -> String {
        let kind = match self.kind {
            Kind::Ip(protocol) => protocol_name(protocol),
            Kind::Gre(_) => "gre".to_owned(),
            Kind::Erspan(_) => "erspan".to_owned(),
            Kind::Vxlan(network) => format!("vxlan {network}"),
            Kind::Geneve(network) => format!("geneve {network}"),
            Kind::Gtp(end) => format!("gtp-u 0x{end:x}"),
        };
        let ends = match self.ends {
            Ends::Any => String::new(),
            Ends::Between(low, high) => format!(" {low}-{high}"),
            Ends::To(address) => format!(" to {address}"),
        };
        let key = match self.kind {
            Kind::Gre(Some(key)) => format!(" key {key}"),
            Kind::Erspan(Some(session)) => format!(" session {session}"),
            _ => String::new(),
        };
        format!("{kind}{ends}{key}")
    }
}

fn is_tunnel(packet: &Packet<'_>) -> bool {
    match packet.protocol {
        UDP => match packet.payload {
            [_, _, high, low, ..] => {
                let port = u16::from_be_bytes([*high, *low]);
                VXLAN.contains(&port) || [GENEVE, GTP_U].contains(&port)
            }
            _ => false,
        },
        protocol => protocol == GRE || IP_IN_IP.contains(&protocol),
    }
}

/// What a packet of a tunnel carries; nothing where its header is cut off, or another than that of the tunnel.
fn opened<'a>(packet: &Packet<'a>, rest: Rest<'a>) -> Option<(Kind, Carried<'a>)> {
    match packet.protocol {
        GRE => gre(rest),
        UDP => {
            let port = rest.half(2)?;
            let rest = rest.after(UDP_HEADER)?;
            match port {
                GENEVE => geneve(rest),
                GTP_U => gtp(rest),
                _ => vxlan(rest),
            }
        }
        protocol => Some((Kind::Ip(protocol), rest.ip()?)),
    }
}

/// RFC 2784, RFC 2890, for PPTP RFC 2637 §4.1, with what ERSPAN puts behind it.
fn gre(rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    const VERSION: u16 = 7;
    let (flags, kind) = (rest.half(0)?, rest.half(2)?);
    if flags & ROUTING != 0 || flags & VERSION > 1 {
        return None;
    }
    let words = |flag: u16| usize::from(flags & flag != 0) * 4;
    let key_at = 4 + words(CHECKSUM);
    let key = if flags & KEY == 0 { None } else { Some(rest.word(key_at)?) };
    let inner = rest.after(key_at + words(KEY) + words(SEQUENCE) + words(ACKNOWLEDGMENT))?;
    match kind {
        // Of PPTP the upper half is a length, the lower one the call at the receiving end.
        0x880b => Some((Kind::Gre(None), inner.ppp()?)),
        0x88be if flags & SEQUENCE == 0 => Some((Kind::Erspan(None), inner.ethernet()?)),
        0x88be => Some((Kind::Erspan(Some(inner.half(2)? & 0x3ff)), inner.after(8)?.ethernet()?)),
        0x22eb => {
            // The last bit says that there is a part for the platform.
            let header = 12 + usize::from(inner.half(10)? & 1) * 8;
            Some((Kind::Erspan(Some(inner.half(2)? & 0x3ff)), inner.after(header)?.ethernet()?))
        }
        ETHERNET => Some((Kind::Gre(key), inner.ethernet()?)),
        _ => Some((Kind::Gre(key), inner.of_type(kind)?)),
    }
}

/// RFC 7348 §5.
fn vxlan(rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const VALID: u8 = 8;
    let network = rest.word(4)? >> 8;
    if rest.data[0] & VALID == 0 {
        return Some((Kind::Vxlan(network), Carried::Unknown));
    }
    Some((Kind::Vxlan(network), rest.after(8)?.ethernet()?))
}

/// RFC 8926 §3.4.
fn geneve(rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const CONTROL: u8 = 0x80;
    let (kind, network) = (rest.half(2)?, rest.word(4)? >> 8);
    let [version_and_options, flags, ..] = *rest.data else { return None };
    if version_and_options >> 6 != 0 || flags & CONTROL != 0 {
        return Some((Kind::Geneve(network), Carried::Unknown));
    }
    let inner = rest.after(8 + usize::from(version_and_options & 0x3f) * 4)?;
    let carried = if kind == ETHERNET { inner.ethernet()? } else { inner.of_type(kind)? };
    Some((Kind::Geneve(network), carried))
}

/// 3GPP TS 29.281 §5.1, §5.2.
fn gtp(rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const VERSION_1: u8 = 0x30;
    const PACKET: u8 = 255;
    const EXTENDED: u8 = 4;
    /// That, sequence number or N-PDU number: then all three fields are there.
    const ANY: u8 = 7;
    let end = rest.word(4)?;
    let [flags, message, ..] = *rest.data else { return None };
    if flags & 0xf0 != VERSION_1 || message != PACKET {
        return Some((Kind::Gtp(end), Carried::Unknown));
    }
    let mut at = 8;
    if flags & ANY != 0 {
        let mut next = if flags & EXTENDED == 0 { 0 } else { *rest.data.get(11)? };
        at = 12;
        while next != 0 {
            let length = usize::from(*rest.data.get(at)?) * 4;
            if length == 0 {
                return Some((Kind::Gtp(end), Carried::Unknown));
            }
            at += length;
            next = *rest.data.get(at - 1)?;
        }
    }
    Some((Kind::Gtp(end), rest.after(at)?.ip()?))
}

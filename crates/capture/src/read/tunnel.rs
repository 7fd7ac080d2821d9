//! Packets within packets: what tunnels carry, and which tunnel a packet came through.
//!
//! A flow is one of the innermost packets. What is not looked into stays a packet of the tunnel: fragments of its packets, what
//! is no IP, and headers of which too little was kept.

use std::collections::HashMap;

use super::ip::{self, Address, Packet, protocol_name};
use super::link::{Carried, Rest};
use super::tunnel_headers::{is_tunnel, opened};

/// Tunnels within each other that are looked into; no network has more.
const MOST_NESTED: usize = 8;
/// Tunnels that are told apart. Packets of further ones stay packets of their outer headers.
const MOST: usize = 1 << 18;

/// What tells a tunnel from others of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
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
    EtherIp,
    Teredo,
    /// By tunnel and session, numbers of the receiving end, others in each direction.
    L2tp(u16, u16),
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
            Kind::Ip(_) | Kind::Gre(_) | Kind::Erspan(_) | Kind::EtherIp => Ends::Between(low, high),
            // Addresses of Teredo are of the whole Internet, and packets of one connection take several relays.
            Kind::Vxlan(_) | Kind::Geneve(_) | Kind::Teredo => Ends::Any,
            Kind::Gtp(_) | Kind::L2tp(..) => Ends::To(packet.target),
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
            Kind::EtherIp => "etherip".to_owned(),
            Kind::Teredo => "teredo".to_owned(),
            Kind::L2tp(tunnel, session) => format!("l2tp {tunnel}/{session}"),
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

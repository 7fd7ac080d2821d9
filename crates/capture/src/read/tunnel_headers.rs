//! Headers of tunnels: what says that a packet is one of a tunnel, which, and what it carries.

use super::ip::Packet;
use super::link::{Carried, Rest};
use super::tunnel::Kind;

const GRE: u8 = 47;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
const V6_HEADER: u32 = 40;
/// Protocols that are a packet of IP: RFC 2003, RFC 4213.
const IP_IN_IP: [u8; 2] = [4, 41];
/// That of RFC 7348, and the one that Linux had before there was one.
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
/// VXLAN with a protocol (draft-ietf-nvo3-vxlan-gpe).
const VXLAN_GPE: u16 = 4790;
const TEREDO: u16 = 3544;
/// Version 2 over UDP.
const L2TP: u16 = 1701;
/// Frames of Ethernet right behind IP (RFC 3378).
const ETHER_IP: u8 = 97;
/// EtherTypes of frames of Ethernet, as GRE and Geneve have it, and of chained services.
const ETHERNET: u16 = 0x6558;
pub(super) const SERVICES: u16 = 0x894f;

/// Whether a packet looks like one of a tunnel.
pub(super) fn is_tunnel(packet: &Packet<'_>) -> bool {
    match packet.protocol {
        UDP => match packet.payload {
            [from_high, from_low, high, low, ..] => {
                let [from, to] = [[*from_high, *from_low], [*high, *low]].map(u16::from_be_bytes);
                VXLAN.contains(&to)
                    || [GENEVE, GTP_U, VXLAN_GPE, L2TP, TEREDO].contains(&to)
                    || from == TEREDO
                    || from == L2TP
            }
            _ => false,
        },
        protocol => [GRE, ETHER_IP].contains(&protocol) || IP_IN_IP.contains(&protocol),
    }
}

/// What a packet of a tunnel carries; nothing where its header is cut off, or another than that of the tunnel.
pub(super) fn opened<'a>(packet: &Packet<'a>, rest: Rest<'a>) -> Option<(Kind, Carried<'a>)> {
    match packet.protocol {
        GRE => gre(rest),
        UDP => {
            let (from, to) = (rest.half(0)?, rest.half(2)?);
            let rest = rest.after(UDP_HEADER)?;
            match to {
                GENEVE => geneve(rest),
                GTP_U => gtp(rest),
                VXLAN_GPE => vxlan_gpe(rest),
                port if VXLAN.contains(&port) => vxlan(rest),
                // Servers answer from the port, to whichever one it was that asked.
                port if port == L2TP || from == L2TP => l2tp(rest),
                _ => teredo(rest),
            }
        }
        ETHER_IP => Some((Kind::EtherIp, rest.after(2)?.ethernet()?)),
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
        SERVICES => Some((Kind::Gre(key), services(inner)?)),
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

/// What follows a next protocol of VXLAN-GPE (§3.2 of the draft) and of service headers (RFC 8300 §2.2), which are the same.
fn next(rest: Rest<'_>, protocol: u8) -> Option<Carried<'_>> {
    match protocol {
        1 | 2 => rest.ip(),
        3 => rest.ethernet(),
        4 => services(rest),
        _ => Some(Carried::Unknown),
    }
}

/// Draft-ietf-nvo3-vxlan-gpe §3.1.
fn vxlan_gpe(rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const VALID: u8 = 8;
    const PROTOCOL: u8 = 4;
    let network = rest.word(4)? >> 8;
    let carried = match rest.data[0] & (VALID | PROTOCOL) {
        VALID => rest.after(8)?.ethernet()?,
        both if both == VALID | PROTOCOL => next(rest.after(8)?, rest.data[3])?,
        _ => Carried::Unknown,
    };
    Some((Kind::Vxlan(network), carried))
}

/// A network service header: RFC 8300 §2.2.
pub(super) fn services(rest: Rest<'_>) -> Option<Carried<'_>> {
    let (length, protocol) = (usize::from(rest.half(0)? & 0x3f) * 4, *rest.data.get(3)?);
    if rest.data[0] >> 6 != 0 || length < 8 { Some(Carried::Unknown) } else { next(rest.after(length)?, protocol) }
}

/// Version 2, RFC 2661 §3.1: frames of PPP.
fn l2tp(rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = rest.half(0)?;
    if flags & CONTROL != 0 || flags & 0xf != 2 {
        return Some((Kind::L2tp(0, 0), Carried::Unknown));
    }
    let halves = |flag: u16, count: usize| if flags & flag == 0 { 0 } else { 2 * count };
    let at = 2 + halves(LENGTH, 1);
    let kind = Kind::L2tp(rest.half(at)?, rest.half(at + 2)?);
    let mut header = at + 4 + halves(SEQUENCE, 2);
    if flags & OFFSET != 0 {
        header += 2 + usize::from(rest.half(header)?);
    }
    Some((kind, rest.after(header)?.ppp()?))
}

/// RFC 4380 §5.1.1: perhaps authentication, perhaps where the packet came from, then a packet of IPv6.
fn teredo(mut rest: Rest<'_>) -> Option<(Kind, Carried<'_>)> {
    const AUTHENTICATION: u16 = 1;
    const ORIGIN: u16 = 0;
    if rest.half(0)? == AUTHENTICATION {
        let [_, _, identifier, value, ..] = *rest.data else { return None };
        rest = rest.after(13 + usize::from(identifier) + usize::from(value))?;
    }
    if rest.half(0)? == ORIGIN {
        rest = rest.after(8)?;
    }
    let carried = match rest.data.first()? >> 4 {
        // Bubbles, which carry nothing, keep an address translation open. Others use the port, too: lengths must fit.
        6 if rest.length > V6_HEADER && u32::from(rest.half(4)?) + V6_HEADER == rest.length => rest.ip()?,
        _ => Carried::Unknown,
    };
    Some((Kind::Teredo, carried))
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

//! From a frame to what it carries: the headers of links, tags of VLANs, labels of MPLS.

use super::tunnel_headers::{SERVICES, services};

/// What is in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried<'a> {
    /// An IP packet: what was kept of it, and how long it was with what a link may have padded.
    Ip(&'a [u8], u32),
    /// Something else, by its EtherType.
    Other(u16),
    /// A frame of IEEE 802.3 with a length instead of a type: spanning tree and the like.
    Llc,
    /// Less was kept than the headers need.
    Cut,
    /// A link of which the headers are not known here.
    Unknown,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const PPPOE: u16 = 0x8864;
const PPPOE_HEADER: usize = 6;
/// The protocol field of PPP.
const PPP: usize = 2;
/// Stands for what PPP carries beside IP, such as its own negotiation.
const PPP_CONTROL: u16 = 0x880b;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const BACKBONE: u16 = 0x88e7;
const LEAST_TYPE: u16 = 0x0600;

/// What a frame of a link type carries; `length` is its length on the wire.
pub fn carried(link_type: u32, frame: &[u8], length: u32) -> Carried<'_> {
    let rest = Rest { data: frame, length };
    let found = match link_type {
        1 => rest.ethernet(),
        101 | 12 | 14 | 228 | 229 => rest.ip(),
        // The family in the order of bytes of the machine that captured, or in that of the network: IP tells itself.
        0 | 108 => rest.after(4).and_then(Rest::ip),
        9 | 50 => rest.ppp(),
        // The direction first.
        204 => rest.after(1).and_then(Rest::ppp),
        // Cisco's HDLC: address and control, then an EtherType.
        104 => rest.half(2).and_then(|kind| rest.after(4)?.of_type(kind)),
        113 => rest.half(14).and_then(|kind| rest.after(16)?.of_type(kind)),
        276 => rest.half(0).and_then(|kind| rest.after(20)?.of_type(kind)),
        _ => Some(Carried::Unknown),
    };
    found.unwrap_or(Carried::Cut)
}

/// The name of a link type, or its number.
pub fn link_name(link_type: u32) -> String {
    let name = match link_type {
        0 => "null",
        1 => "ethernet",
        12 | 14 | 101 => "raw ip",
        108 => "loop",
        113 => "linux sll",
        228 => "raw ipv4",
        229 => "raw ipv6",
        276 => "linux sll2",
        105 | 119 | 127 | 163 | 192 => "802.11",
        9 | 50 | 204 => "ppp",
        104 => "cisco hdlc",
        189 | 220 | 249 => "usb",
        other => return format!("link type {other}"),
    };
    name.to_owned()
}

/// The name of what has an EtherType that is not IP's, or its number.
pub fn type_name(kind: u16) -> String {
    let name = match kind {
        0x0806 => "arp",
        0x8035 => "rarp",
        0x8808 => "flow control",
        0x8809 => "slow protocols",
        0x8847 | 0x8848 => "mpls",
        0x8863 => "pppoe discovery",
        0x888e => "eapol",
        0x88cc => "lldp",
        0x88f7 => "ptp",
        0x88e5 => "macsec",
        0x8137 => "ipx",
        PPP_CONTROL => "ppp control",
        other => return format!("type 0x{other:04x}"),
    };
    name.to_owned()
}

/// What is left of a frame or of a packet of a tunnel.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    /// As far as it was kept.
    pub data: &'a [u8],
    /// How long it was.
    pub length: u32,
}

impl<'a> Rest<'a> {
    pub fn half(self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes([*self.data.get(at)?, *self.data.get(at + 1)?]))
    }

    pub fn word(self, at: usize) -> Option<u32> {
        Some(u32::from(self.half(at)?) << 16 | u32::from(self.half(at + 2)?))
    }

    pub fn after(self, header: usize) -> Option<Self> {
        let data = self.data.get(header..)?;
        Some(Self { data, length: self.length.saturating_sub(header as u32) })
    }

    /// What follows is a frame of Ethernet.
    pub fn ethernet(self) -> Option<Carried<'a>> {
        let kind = self.half(12)?;
        self.after(14)?.of_type(kind)
    }

    /// Whatever follows, of an EtherType, through any tags.
    pub fn of_type(mut self, mut kind: u16) -> Option<Carried<'a>> {
        while TAGS.contains(&kind) {
            kind = self.half(2)?;
            self = self.after(4)?;
        }
        match kind {
            IPV4 | IPV6 => self.ip(),
            PPPOE => {
                // What is behind the length that the header says is padding (RFC 2516 §4).
                let length = usize::from(self.half(4)?).saturating_sub(PPP);
                let rest = self.after(PPPOE_HEADER + PPP)?;
                let data = rest.data.get(..length).unwrap_or(rest.data);
                Self { data, length: rest.length.min(length as u32) }.ip()
            }
            _ if MPLS.contains(&kind) => {
                const BOTTOM: u8 = 1;
                while self.data.get(2)? & BOTTOM == 0 {
                    self = self.after(4)?;
                }
                let rest = self.after(4)?;
                Some(match (rest.ip()?, rest.pseudowire()) {
                    (Carried::Other(_), Some(packet)) => packet,
                    // Frames of a pseudowire, of which nothing says what they are.
                    (Carried::Other(_), None) => Carried::Other(kind),
                    (packet, _) => packet,
                })
            }
            SERVICES => Some(match services(self)? {
                Carried::Unknown => Carried::Other(kind),
                found => found,
            }),
            // A backbone bridge put a frame of a customer behind four bytes more (IEEE 802.1ah).
            BACKBONE => self.after(4)?.ethernet(),
            _ if kind < LEAST_TYPE => match self.data.get(..8)? {
                // IP within a subnetwork access protocol header (RFC 1042).
                [0xaa, 0xaa, 3, 0, 0, 0, high, low] => self.after(8)?.of_type(u16::from_be_bytes([*high, *low])),
                _ => Some(Carried::Llc),
            },
            other => Some(Carried::Other(other)),
        }
    }

    /// The IP packet in a frame of Ethernet behind the control word of a pseudowire (RFC 4385 §3, RFC 4448 §4.6). That it is
    /// one nothing says, but that what stands there reads as a packet of which the length fits.
    fn pseudowire(self) -> Option<Carried<'a>> {
        if self.data.first()? >> 4 != 0 || self.data.get(4).is_none_or(|first| first & 1 != 0) {
            return None;
        }
        let found = self.after(4)?.ethernet()?;
        let Carried::Ip(data, room) = found else { return None };
        let length = match data.get(..6)? {
            [0x45..=0x4f, _, high, low, ..] => u32::from(u16::from_be_bytes([*high, *low])),
            [0x60..=0x6f, _, _, _, high, low] => u32::from(u16::from_be_bytes([*high, *low])) + 40,
            _ => return None,
        };
        // A short frame was padded, by the 46 bytes that Ethernet asks for.
        (length <= room && (room == length || room <= 46 + 4)).then_some(found)
    }

    /// What follows is a frame of PPP: perhaps address and control, then a protocol, of which a leading zero may be left out
    /// (RFC 1661 §6.5, RFC 1662 §3.1).
    pub fn ppp(self) -> Option<Carried<'a>> {
        let rest = if self.data.starts_with(&[0xff, 3]) { self.after(2)? } else { self };
        let short = usize::from(rest.data.first()? & 1 == 0);
        match rest.data.get(short)? {
            0x21 | 0x57 if short == 0 || rest.data[0] == 0 => rest.after(short + 1)?.ip(),
            _ => Some(Carried::Other(PPP_CONTROL)),
        }
    }

    pub fn ip(self) -> Option<Carried<'a>> {
        Some(match self.data.first()? >> 4 {
            4 | 6 => Carried::Ip(self.data, self.length),
            _ => Carried::Other(0),
        })
    }
}

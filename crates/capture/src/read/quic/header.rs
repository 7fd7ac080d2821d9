//! Headers of QUIC, as far as they are not encrypted (RFC 8999, RFC 9000 §17, RFC 9369 §3).

/// The long form of a header (RFC 8999 §5.1).
const LONG: u8 = 0x80;
/// Set in all packets but those of version negotiation, unless the receiver said that it may vary (RFC 9287).
const FIXED: u8 = 0x40;
/// The spin bit of a short header (RFC 9000 §17.4).
const SPIN: u8 = 0x20;
/// Version 1 (RFC 9000 §15).
const ONE: u32 = 1;
/// Version 2 (RFC 9369 §3.1).
const TWO: u32 = 0x6b33_43cf;
/// Drafts with the headers of version 1, the last one included.
const DRAFTS: std::ops::RangeInclusive<u32> = 0xff00_0017..=0xff00_0022;
/// The longest connection ID of the versions that are known here (RFC 9000 §17.2).
const LONGEST_ID: usize = 20;

/// What a packet with a long header is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first ones of both ends.
    Initial,
    /// Data of a client before the server's answer.
    ZeroRtt,
    /// Later ones of the handshake.
    Handshake,
    /// A server asks the client to prove its address.
    Retry,
    /// A server names the versions that it speaks.
    Negotiation,
    /// Of a version of which nothing more is known.
    Unknown,
}

/// A connection ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id {
    length: u8,
    bytes: [u8; LONGEST_ID],
}

impl Id {
    fn new(bytes: &[u8]) -> Self {
        let mut id = Self { length: bytes.len() as u8, bytes: [0; LONGEST_ID] };
        // Of longer ones, as other versions may have, the beginning.
        id.bytes[..bytes.len().min(LONGEST_ID)].copy_from_slice(&bytes[..bytes.len().min(LONGEST_ID)]);
        id
    }

    /// Its length in bytes.
    pub fn size(&self) -> usize {
        usize::from(self.length)
    }
}

/// A long header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Long {
    /// What the packet is.
    pub kind: Kind,
    /// Version; 0 of version negotiation.
    pub version: u32,
    /// Destination connection ID.
    pub target: Id,
    /// Source connection ID.
    pub source: Id,
    /// Bytes of the packet; the next one of its datagram begins behind them. Nothing where it does not say, or too little was
    /// kept.
    pub length: Option<usize>,
}

impl Long {
    /// Reads the header of a packet in the rest of a datagram: `data` of it was kept, `length` bytes long. Nothing if it has
    /// another form or is not coherent.
    pub fn read(data: &[u8], length: usize) -> Option<Self> {
        let (&first, rest) = data.split_first()?;
        let (version, rest) = rest.split_first_chunk()?;
        let version = u32::from_be_bytes(*version);
        let kind = kind(first, version);
        if first & LONG == 0 {
            return None;
        }
        let (target, rest) = id(rest)?;
        let (source, rest) = id(rest)?;
        if is_known(version) && target.len().max(source.len()) > LONGEST_ID {
            return None;
        }
        let (target, source) = (Id::new(target), Id::new(source));
        let header = data.len() - rest.len();
        let own = match kind {
            Kind::Initial => varint(rest)
                .and_then(|(token, rest)| rest.get(usize::try_from(token).ok()?..))
                .map(|rest| (rest, data.len())),
            Kind::ZeroRtt | Kind::Handshake => Some((rest, data.len())),
            Kind::Retry | Kind::Negotiation | Kind::Unknown => None,
        };
        let own = own.and_then(|(rest, whole)| {
            let (long, rest) = varint(rest)?;
            usize::try_from(long).ok()?.checked_add(whole - rest.len())
        });
        if own.is_some_and(|own| own > length || own <= header) {
            return None;
        }
        Some(Self { kind, version, target, source, length: own })
    }
}

/// Whether the headers of a version are known.
pub fn is_known(version: u32) -> bool {
    matches!(version, ONE | TWO) || DRAFTS.contains(&version)
}

/// What a version is called: v1, v2, draft-29, or its number; those that are reserved for trying out version negotiation are
/// of no protocol (RFC 9000 §15).
pub fn version_name(version: u32) -> String {
    match version {
        ONE => "v1".to_owned(),
        TWO => "v2".to_owned(),
        draft if DRAFTS.contains(&draft) => format!("draft-{}", draft & 0xff),
        reserved if reserved & 0x0f0f_0f0f == 0x0a0a_0a0a => "reserved version".to_owned(),
        other => format!("version {other:#010x}"),
    }
}

/// Whether a packet has a long header.
pub fn is_long(data: &[u8]) -> bool {
    data.first().is_some_and(|first| first & LONG != 0)
}

/// Whether a packet may be the first one of a client, which has no leave to vary the fixed bit.
pub fn is_fixed(data: &[u8]) -> bool {
    data.first().is_some_and(|first| first & FIXED != 0)
}

/// The spin bit of a short header.
pub fn spin_bit(data: &[u8]) -> Option<bool> {
    data.first().filter(|&first| first & LONG == 0).map(|first| first & SPIN != 0)
}

fn kind(first: u8, version: u32) -> Kind {
    const KINDS: [Kind; 4] = [Kind::Initial, Kind::ZeroRtt, Kind::Handshake, Kind::Retry];
    let number = usize::from(first >> 4 & 3);
    match version {
        0 => Kind::Negotiation,
        // One further (RFC 9369 §3.2).
        TWO => KINDS[(number + 3) % 4],
        known if is_known(known) => KINDS[number],
        _ => Kind::Unknown,
    }
}

fn id(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = data.split_first()?;
    rest.split_at_checked(usize::from(length))
}

/// An integer of variable length, and what follows it (RFC 9000 §16).
fn varint(data: &[u8]) -> Option<(u64, &[u8])> {
    let first = *data.first()?;
    let (bytes, rest) = data.split_at_checked(1 << (first >> 6))?;
    let all = bytes.iter().fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
    Some((all & (u64::MAX >> (64 - 8 * bytes.len() + 2)), rest))
}

#[cfg(test)]
mod tests {
    use super::{Id, Kind, Long, varint, version_name};

    #[test]
    fn integers_are_those_of_the_appendix() {
        // RFC 9000 appendix A.1.
        for (bytes, value) in [
            (&[0xc2_u8, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x40, 0x25], 37),
            (&[0x25], 37),
        ] {
            assert_eq!(varint(bytes), Some((value, &[][..])));
            assert_eq!(varint(&bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn headers_are_those_of_the_appendices() {
        // The client's Initial of RFC 9001 appendix A.2, and of RFC 9369 appendix A.2.
        let target = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        for (first, version, length) in [(0xc0, 1_u32, 0x449e_u16), (0xd7, 0x6b33_43cf, 0x449e)] {
            let mut data = vec![first];
            data.extend(version.to_be_bytes());
            data.push(8);
            data.extend(target);
            data.extend([0, 0]);
            data.extend(length.to_be_bytes());
            data.resize(1200, 0);
            let expected = Long {
                kind: Kind::Initial,
                version,
                target: Id::new(&target),
                source: Id::default(),
                length: Some(1200),
            };
            assert_eq!(Long::read(&data, 1200), Some(expected));
            // What was not kept.
            assert_eq!(Long::read(&data[..40], 1200), Some(expected));
            assert_eq!(Long::read(&data[..17], 1200), Some(Long { length: None, ..expected }));
            assert_eq!(Long::read(&data[..14], 1200), None);
            // A length that the datagram does not have.
            assert_eq!(Long::read(&data, 1199), None);
        }
    }

    #[test]
    fn versions_have_names() {
        let names = [1, 0x6b33_43cf, 0xff00_001d, 0x1a2a_3a4a, 0x5130_3530].map(version_name);
        assert_eq!(names, ["v1", "v2", "draft-29", "reserved version", "version 0x51303530"]);
    }
}

//! The headers of a packet, as bytes: IPv4 (RFC 791), and what follows it.

/// Bytes of an IPv4 header without options.
pub const IP_BYTES: usize = 20;
/// Most bytes of IP and TCP headers: the options of TCP take at most 40.
pub const MOST_BYTES: usize = IP_BYTES + 60;
/// TCP (RFC 9293) and UDP (RFC 768) in the header of IP.
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;

/// What routers may do to a packet before it is dropped: the usual default.
const TIME_TO_LIVE: u8 = 64;
const TOS: usize = 1;
const TTL: usize = 8;
const CHECKSUM: usize = 10;
/// Congestion experienced, in the header of IP (RFC 3168 §5).
const CE: u8 = 0b11;
/// The transport understands marks.
const ECT_0: u8 = 0b10;
const ECT_1: u8 = 0b01;

/// What the header of IP says of a packet, besides its addresses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ip {
    pub source: [u8; 4],
    pub destination: [u8; 4],
    pub protocol: u8,
    pub identification: u16,
    /// Routers must not cut it.
    pub whole: bool,
    /// Where a fragment belongs in its datagram, in bytes; a multiple of 8.
    pub offset: u32,
    /// More fragments follow.
    pub more: bool,
    /// Its class (RFC 2474 §3).
    pub dscp: u8,
    /// Queues may mark it.
    pub capable: bool,
    /// If so: a scalable congestion control sends it (RFC 9331 §4.1).
    pub scalable: bool,
}

/// The headers of a packet, and how long it is.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    bytes: [u8; MOST_BYTES],
    length: usize,
    /// Bytes of the packet, headers included.
    pub original: u32,
}

impl Headers {
    /// An IP packet of `above`, the header of its transport, and `payload` bytes.
    pub fn new(ip: Ip, above: &[u8], payload: u32) -> Self {
        let length = IP_BYTES + above.len();
        let original = length as u32 + payload;
        let mut bytes = [0; MOST_BYTES];
        bytes[0] = 4 << 4 | (IP_BYTES / 4) as u8;
        let ecn = match (ip.capable, ip.scalable) {
            (false, _) => 0,
            (true, false) => ECT_0,
            (true, true) => ECT_1,
        };
        bytes[TOS] = ip.dscp << 2 | ecn;
        bytes[2..4].copy_from_slice(&(original as u16).to_be_bytes());
        bytes[4..6].copy_from_slice(&ip.identification.to_be_bytes());
        let flags = u16::from(ip.whole) << 14 | u16::from(ip.more) << 13;
        bytes[6..8].copy_from_slice(&(flags | (ip.offset / 8) as u16).to_be_bytes());
        bytes[TTL] = TIME_TO_LIVE;
        bytes[9] = ip.protocol;
        bytes[12..16].copy_from_slice(&ip.source);
        bytes[16..IP_BYTES].copy_from_slice(&ip.destination);
        bytes[IP_BYTES..length].copy_from_slice(above);
        let mut headers = Self { bytes, length, original };
        headers.check();
        headers
    }

    /// The headers behind so many routers, and congestion on the way if `marked`.
    pub fn after(&self, routers: u32, marked: bool) -> Self {
        let mut headers = *self;
        headers.bytes[TTL] = TIME_TO_LIVE.saturating_sub(routers.min(255) as u8).max(1);
        if marked {
            headers.bytes[TOS] |= CE;
        }
        headers.check();
        headers
    }

    /// Clears the ECN field.
    pub fn bleach(&mut self) {
        self.bytes[TOS] &= !CE;
    }

    /// The bytes that are captured.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The header of its transport.
    pub fn above(&self) -> &[u8] {
        &self.bytes[IP_BYTES..self.length]
    }

    fn check(&mut self) {
        self.bytes[CHECKSUM..CHECKSUM + 2].fill(0);
        let sum = checksum(&[&self.bytes[..IP_BYTES]]);
        self.bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The checksum over a transport's header and a payload of zeros, of `length` bytes together, with the addresses
/// and the protocol of IP before them.
pub fn transport_checksum(ip: &Ip, header: &[u8], length: u32) -> u16 {
    let length = length.to_be_bytes();
    checksum(&[&ip.source, &ip.destination, &[0, ip.protocol], &length, header])
}

/// RFC 1071. All parts have an even number of bytes.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071 §3.
    #[test]
    fn the_checksum_is_that_of_the_internet() {
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03], &[0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
    }

    #[test]
    fn a_header_with_its_checksum_sums_up_to_zero() {
        let ip =
            Ip { source: [10, 0, 0, 1], destination: [10, 0, 0, 2], protocol: UDP, capable: true, ..Ip::default() };
        let headers = Headers::new(ip, &[0; 8], 100);
        assert_eq!((checksum(&[&headers.bytes()[..IP_BYTES]]), headers.original), (0, 128));
        let later = headers.after(3, true);
        assert_eq!((later.bytes()[TTL], later.bytes()[TOS] & CE), (61, CE));
        assert_eq!(checksum(&[&later.bytes()[..IP_BYTES]]), 0);
        assert_eq!(headers.after(1000, false).bytes()[TTL], 1);
        let l4s = Headers::new(Ip { dscp: 46, scalable: true, ..ip }, &[0; 8], 100);
        assert_eq!((l4s.bytes()[TOS], l4s.after(1, true).bytes()[TOS]), (46 << 2 | ECT_1, 46 << 2 | CE));
    }
}

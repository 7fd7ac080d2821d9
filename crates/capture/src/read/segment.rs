//! A TCP segment, as far as its analysis needs it.

/// Flags of the header.
pub const FIN: u8 = 1;
/// Synchronize sequence numbers.
pub const SYN: u8 = 2;
/// Reset.
pub const RST: u8 = 4;
/// The acknowledgment number counts.
pub const ACK: u8 = 16;
/// Marks were seen (RFC 3168 §6.1).
pub const ECE: u8 = 64;
/// The congestion window was reduced.
pub const CWR: u8 = 128;

const LEAST: usize = 20;
/// What of a header must have been kept: all but checksum and urgent pointer.
const NEEDED: usize = 16;

/// What a SYN says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Shift of windows (RFC 7323).
    pub window_scale: Option<u8>,
    /// Whether selective acknowledgments may be sent (RFC 2018).
    pub sack: bool,
    /// Whether there are timestamps (RFC 7323).
    pub timestamps: bool,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Acknowledgment number, whether it counts or not.
    pub ack: u32,
    /// Flags.
    pub flags: u8,
    /// AE, CWR and ECE as a number: in a handshake what is asked for, then a counter (RFC 9768 §3.2).
    pub ace: u8,
    /// Window, as it stands in the header.
    pub window: u16,
    /// Bytes of payload.
    pub payload: u32,
    /// Those of a SYN, if enough of it was kept.
    pub options: Option<Options>,
    /// Timestamp and echo (RFC 7323), where they come first, as all systems send them.
    pub timestamps: Option<(u32, u32)>,
}

impl Segment {
    /// Reads a header; `length` is that of the whole segment. Nothing if too little of it was kept, or if it is
    /// shorter than its header.
    pub fn read(data: &[u8], length: u32) -> Option<Self> {
        let head = data.get(..NEEDED)?;
        let header = usize::from(head[12] >> 4) * 4;
        let payload = length.checked_sub(header as u32)?;
        if header < LEAST {
            return None;
        }
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let flags = head[13];
        let ace = (head[12] & 1) << 2 | flags >> 6;
        let kept = data.get(LEAST..data.len().min(header)).unwrap_or_default();
        // That an option is missing is known only where all of them were kept.
        let options = (flags & SYN != 0)
            .then(|| options(kept))
            .filter(|found| data.len() >= header || found.window_scale.is_some());
        let window = u16::from_be_bytes([head[14], head[15]]);
        let timestamps = timestamps(data);
        Some(Self { seq: word(4), ack: word(8), flags, ace, window, payload, options, timestamps })
    }

    /// Whether any of these flags is set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// What it takes of the sequence space: SYN and FIN take a number, together one.
    pub fn space(&self) -> u32 {
        self.payload.wrapping_add(u32::from(self.has(SYN | FIN)))
    }
}

fn timestamps(data: &[u8]) -> Option<(u32, u32)> {
    let option = data.get(LEAST..LEAST + 12)?;
    let word = |at: usize| u32::from_be_bytes([option[at], option[at + 1], option[at + 2], option[at + 3]]);
    (option[..4] == [1, 1, 8, 10] && data[12] >> 4 >= 8).then(|| (word(4), word(8)))
}

fn options(mut data: &[u8]) -> Options {
    let mut found = Options::default();
    while let [kind, rest @ ..] = data {
        match (kind, rest) {
            (0, _) => break,
            (1, _) => {
                data = rest;
                continue;
            }
            (2, [4, high, low, ..]) => found.mss = Some(u16::from_be_bytes([*high, *low])),
            // Larger shifts count as 14 (RFC 7323 §2.3).
            (3, [3, shift, ..]) => found.window_scale = Some((*shift).min(14)),
            (4, [2, ..]) => found.sack = true,
            (8, [10, ..]) => found.timestamps = true,
            _ => {}
        }
        match rest.first() {
            Some(&length) if length >= 2 && usize::from(length) <= data.len() => data = &data[usize::from(length)..],
            _ => break,
        }
    }
    found
}

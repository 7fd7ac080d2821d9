//! The classic format of libpcap: one interface, a header of 24 bytes, records of 16 bytes and a frame
//! (draft-ietf-opsawg-pcap).

use super::error::{Damage, Error};
use super::frame::{Interface, LONGEST_FRAME, Nanoseconds, Place};
use super::source::Source;

const HEADER: usize = 24;
const RECORD: usize = 16;
/// Where the version stands, and the only one that is written today. Older ones of the same major number differ in nothing
/// but the order of two lengths.
const VERSION: usize = 4;
const MAJOR: u16 = 2;
const MINOR: u16 = 4;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// The state of reading such a file.
pub struct Pcap {
    swapped: bool,
    nanoseconds: bool,
    /// Whether the lengths of a packet may stand in the other order: before version 2.4 some programs wrote them so.
    either_order: bool,
    interface: [Interface; 1],
}

impl Pcap {
    /// Whether a file begins like this.
    pub fn is_magic(head: &[u8]) -> bool {
        let Ok(head) = <[u8; 4]>::try_from(head) else { return false };
        [u32::from_le_bytes(head), u32::from_be_bytes(head)]
            .iter()
            .any(|magic| [MICROSECONDS, NANOSECONDS].contains(magic))
    }

    /// Reads the header.
    pub fn open(source: &mut Source<'_>) -> Result<Self, Error> {
        let head: [u8; HEADER] = source
            .peek(HEADER)?
            .try_into()
            .map_err(|_| Damage::new(0, format!("the file ends within its header of {HEADER} bytes")))?;
        let little = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let swapped = ![MICROSECONDS, NANOSECONDS].contains(&little);
        let magic = if swapped { little.swap_bytes() } else { little };
        let word = |at: usize| number(swapped, &head, at);
        let half = |at: usize| {
            let half = [head[at], head[at + 1]];
            if swapped { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) }
        };
        let (major, minor) = (half(VERSION), half(VERSION + 2));
        if major != MAJOR || minor > MINOR {
            let what = format!("version {major}.{minor} of pcap, of which {MAJOR}.{MINOR} is the last that there is");
            return Err(Damage::new(VERSION as u64, what).into());
        }
        // The upper bits of the last word tell of check sequences, not of the link.
        let interface = Interface { link_type: word(20) & 0xffff, snap_length: word(16), ..Interface::default() };
        source.consume(HEADER);
        Ok(Self { swapped, nanoseconds: magic == NANOSECONDS, either_order: minor < MINOR, interface: [interface] })
    }

    /// Its only interface.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interface
    }

    /// What to call it.
    pub fn name(&self) -> &'static str {
        if self.nanoseconds { "pcap, nanoseconds" } else { "pcap" }
    }

    /// Whether this is the header of a file, not that of a packet.
    fn is_header(head: &[u8]) -> bool {
        head.get(..VERSION).is_some_and(Self::is_magic)
            && matches!(head.get(VERSION..VERSION + 4), Some([2, 0, _, 0] | [0, 2, 0, _]))
    }

    /// Reads the header of a file that was put behind another, as `cat` does.
    fn begin_next(&mut self, source: &mut Source<'_>) -> Result<(), Damage> {
        let offset = source.offset();
        let next = Self::open(source).map_err(|error| match error {
            Error::Damaged(damage) => Damage { offset: offset + damage.offset, ..damage },
            other => Damage::new(offset, other.to_string()),
        })?;
        if next.interface[0].link_type != self.interface[0].link_type {
            let what = "another capture begins, of another link type: mergecap, of Wireshark, makes one file of both";
            return Err(Damage::new(offset, what));
        }
        *self = next;
        Ok(())
    }

    /// Where the next frame is.
    pub fn next_place(&mut self, source: &mut Source<'_>) -> Result<Option<Place>, Damage> {
        while Self::is_header(source.peek(RECORD)?) {
            self.begin_next(source)?;
        }
        let offset = source.offset();
        let head = source.peek(RECORD)?;
        if head.is_empty() {
            return Ok(None);
        }
        if head.len() < RECORD {
            return Err(Damage::new(offset, "the file ends within the header of a packet"));
        }
        let word = |at: usize| number(self.swapped, head, at);
        let (seconds, fraction, mut kept, mut length) = (word(0), word(4), word(8), word(12));
        if self.either_order && kept > length {
            (kept, length) = (length, kept);
        }
        if kept > LONGEST_FRAME {
            let what =
                format!("a packet of which {kept} bytes were kept, more than {LONGEST_FRAME}: the file is damaged");
            return Err(Damage::new(offset, what));
        }
        let record = RECORD + kept as usize;
        if source.peek(record)?.len() < record {
            return Err(Damage::new(offset, "the file ends within a packet"));
        }
        let fraction = i64::from(fraction) * if self.nanoseconds { 1 } else { 1_000 };
        let time: Nanoseconds = i64::from(seconds) * 1_000_000_000 + fraction;
        Ok(Some(Place { time, interface: 0, length: length.max(kept), data: (RECORD, record), record }))
    }
}

fn number(swapped: bool, bytes: &[u8], at: usize) -> u32 {
    let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if swapped { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

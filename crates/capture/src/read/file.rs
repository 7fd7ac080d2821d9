//! A capture file of either format: its interfaces and, one after the other, its frames.

use super::error::{Damage, Error, first};
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::source::Source;

/// The longest frame that is believed; longer ones are taken for damage. Twice what tcpdump and Wireshark keep of a
/// packet of a network.
pub const LONGEST_FRAME: u32 = 1 << 19;

/// Nanoseconds since 1970, in universal time.
pub type Nanoseconds = i64;

/// An interface at which packets were captured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// As the capture calls it; empty if it does not.
    pub name: String,
    /// Number of its link type (LINKTYPE_...).
    pub link_type: u32,
    /// The bytes kept of each frame; 0 for all.
    pub snap_length: u32,
    /// Its capacity in bit/s, where somebody said it.
    pub rate_bps: Option<f64>,
    /// Packets that the capture itself says it lost.
    pub drops: u64,
    /// Whether it said anything of that.
    pub counts_drops: bool,
}

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was captured.
    pub time: Nanoseconds,
    /// Number of its interface among all of the file.
    pub interface: usize,
    /// Link type of that interface.
    pub link_type: u32,
    /// Its length on the wire.
    pub length: u32,
    /// What was kept of it.
    pub data: &'a [u8],
}

/// Where a frame lies in the window of the source.
pub struct Place {
    /// When it was captured.
    pub time: Nanoseconds,
    /// Number of its interface.
    pub interface: usize,
    /// Its length on the wire.
    pub length: u32,
    /// From here to there in what was peeked at.
    pub data: (usize, usize),
    /// Length of the whole record.
    pub record: usize,
}

/// Reads frames from a stream.
pub struct File<'a> {
    source: Source<'a>,
    format: Format,
    pending: usize,
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl<'a> File<'a> {
    /// Reads the beginning of a capture.
    pub fn open(mut source: Source<'a>) -> Result<Self, Error> {
        let head = source.peek(4).map_err(first)?;
        let format = if Pcapng::is_magic(head) {
            Format::Pcapng(Pcapng::default())
        } else if Pcap::is_magic(head) {
            Format::Pcap(Pcap::open(&mut source)?)
        } else {
            return Err(Error::Format(unknown(head)));
        };
        Ok(Self { source, format, pending: 0 })
    }

    /// The next frame; nothing at the end of the file.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Damage> {
        self.source.consume(std::mem::take(&mut self.pending));
        let place = match &mut self.format {
            Format::Pcap(pcap) => pcap.next_place(&mut self.source)?,
            Format::Pcapng(pcapng) => pcapng.next_place(&mut self.source)?,
        };
        let Some(Place { time, interface, length, data: (from, to), record }) = place else { return Ok(None) };
        self.pending = record;
        let link_type = self.interfaces()[interface].link_type;
        Ok(Some(Frame { time, interface, link_type, length, data: self.source.seen(from, to) }))
    }

    /// The interfaces of which the file has told so far.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap(pcap) => pcap.interfaces(),
            Format::Pcapng(pcapng) => pcapng.interfaces(),
        }
    }

    /// What kind of file it is.
    pub fn format(&self) -> &'static str {
        match &self.format {
            Format::Pcap(pcap) => pcap.name(),
            Format::Pcapng(_) => "pcapng",
        }
    }

    /// The stream, for its digest and its offset.
    pub fn source(&self) -> &Source<'a> {
        &self.source
    }
}

fn unknown(head: &[u8]) -> String {
    let other = match head {
        [] => return "the file is empty; expected a capture (pcap or pcapng) or a trace of ns-2".to_owned(),
        [0x04, 0x22, 0x4d, 0x18] => Some("compressed with lz4: unpack it first"),
        [b's', b'n', b'o', b'o'] => Some("a capture of snoop: editcap makes pcapng of it"),
        [b'G', b'M', b'B', b'U'] => Some("a capture of Microsoft's Network Monitor: editcap makes pcapng of it"),
        [0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1] => Some("a modified pcap: editcap makes pcapng of it"),
        _ => None,
    };
    match other {
        Some(other) => format!("expected a capture (pcap or pcapng) or a trace of ns-2, and this is {other}"),
        None => {
            "expected a capture (pcap or pcapng) or a trace of ns-2, and its first bytes are those of none".to_owned()
        }
    }
}

//! A capture file of either format: its interfaces and, one after the other, its frames.

use super::error::{Damage, Error, first};
use super::frame::{Frame, Interface, Place};
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::source::Source;

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

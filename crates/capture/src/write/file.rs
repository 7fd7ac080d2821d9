//! The two formats of capture files, with times in nanoseconds: pcapng, which knows of interfaces and names, and
//! pcap with the magic number of nanoseconds (draft-ietf-opsawg-pcapng and draft-ietf-opsawg-pcap).

use std::io::{self, Write};

use tightlink_sim::time::Time;

use super::headers::{Headers, MOST_BYTES};

/// Raw IP: a packet begins with its IP header.
const LINK_TYPE: u16 = 101;
const SNAP_LENGTH: u32 = MOST_BYTES as u32;
const NANOSECONDS_MAGIC: u32 = 0xa1b2_3c4d;

/// Blocks of pcapng.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const ENHANCED_PACKET: u32 = 6;
/// Options of any block, of a section, of an interface, of a packet.
const END: u16 = 0;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const ADDRESS: u16 = 4;
const TIME_RESOLUTION: u16 = 9;
const FLAGS: u16 = 2;
/// A record of a name resolution block: an IPv4 address and its names.
const ADDRESS_NAME: u16 = 1;

/// How a capture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pcapng.
    PcapNg,
    /// pcap, which tells no interfaces apart.
    Pcap,
}

/// Which way a packet crosses an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It arrives.
    In = 1,
    /// It leaves.
    Out = 2,
}

/// A place at which packets are seen.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Of its node.
    pub name: String,
    /// What is seen there.
    pub description: String,
    /// Of its node.
    pub address: [u8; 4],
}

/// A capture file being written.
pub struct File<W> {
    out: W,
    format: Format,
    /// A block being made.
    block: Vec<u8>,
}

impl<W: Write> File<W> {
    /// A file that begins with these interfaces and the names of addresses.
    pub fn new<'n>(
        out: W,
        format: Format,
        interfaces: &[Interface],
        names: impl Iterator<Item = ([u8; 4], &'n str)>,
    ) -> io::Result<Self> {
        let mut file = Self { out, format, block: Vec::new() };
        match format {
            Format::Pcap => file.begin_pcap()?,
            Format::PcapNg => file.begin_pcapng(interfaces, names)?,
        }
        Ok(file)
    }

    /// A packet, in the order of time.
    pub fn packet(&mut self, interface: u32, time: Time, direction: Direction, headers: &Headers) -> io::Result<()> {
        // Wireshark takes a time of 0 for none, and then knows no first round trip.
        let nanoseconds = ((time.seconds() * 1e9).round() as u64).max(1);
        let bytes = headers.bytes();
        if self.format == Format::Pcap {
            let (seconds, fraction) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
            self.block.clear();
            self.words(&[seconds as u32, fraction as u32, bytes.len() as u32, headers.original]);
            self.block.extend(bytes);
            return self.out.write_all(&self.block);
        }
        self.begin(ENHANCED_PACKET);
        let (high, low) = ((nanoseconds >> 32) as u32, nanoseconds as u32);
        self.words(&[interface, high, low, bytes.len() as u32, headers.original]);
        self.padded(bytes);
        self.option(FLAGS, &(direction as u32).to_le_bytes());
        self.option(END, &[]);
        self.end()
    }

    /// Writes out what is buffered.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin_pcap(&mut self) -> io::Result<()> {
        self.words(&[NANOSECONDS_MAGIC]);
        for version in [2_u16, 4] {
            self.block.extend(version.to_le_bytes());
        }
        // Time zone and accuracy, which nobody uses.
        self.words(&[0, 0, SNAP_LENGTH, u32::from(LINK_TYPE)]);
        self.out.write_all(&self.block)
    }

    fn begin_pcapng<'n>(
        &mut self,
        interfaces: &[Interface],
        names: impl Iterator<Item = ([u8; 4], &'n str)>,
    ) -> io::Result<()> {
        const NANO: u8 = 9;
        self.begin(SECTION_HEADER);
        self.words(&[BYTE_ORDER_MAGIC, 1]);
        // The length of the section is not known beforehand.
        self.block.extend(u64::MAX.to_le_bytes());
        self.option(APPLICATION, concat!("tightlink ", env!("CARGO_PKG_VERSION")).as_bytes());
        self.option(END, &[]);
        self.end()?;
        for interface in interfaces {
            self.begin(INTERFACE_DESCRIPTION);
            self.words(&[u32::from(LINK_TYPE), SNAP_LENGTH]);
            self.option(NAME, interface.name.as_bytes());
            self.option(DESCRIPTION, interface.description.as_bytes());
            let mask = [255, 0, 0, 0];
            self.option(ADDRESS, &[interface.address, mask].concat());
            self.option(TIME_RESOLUTION, &[NANO]);
            self.option(END, &[]);
            self.end()?;
        }
        self.begin(NAME_RESOLUTION);
        for (address, name) in names {
            self.option(ADDRESS_NAME, &[&address, name.as_bytes(), &[0]].concat());
        }
        self.option(END, &[]);
        self.end()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        // The length comes when it is known.
        self.words(&[kind, 0]);
    }

    fn end(&mut self) -> io::Result<()> {
        let length = (self.block.len() + 4) as u32;
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.words(&[length]);
        self.out.write_all(&self.block)
    }

    fn words(&mut self, words: &[u32]) {
        self.block.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// An option, or a record that is made like one.
    fn option(&mut self, kind: u16, value: &[u8]) {
        self.block.extend(kind.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.padded(value);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}

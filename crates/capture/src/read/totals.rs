//! What passed in all: by interface, by protocol, by size of packets, over time.

use std::collections::{BTreeMap, HashMap};

use super::frame::Nanoseconds;
use super::ip::protocol_name;
use super::link::{link_name, type_name};

/// What a packet is, as far as its link and network headers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An IP packet, by its protocol.
    Ip(u8),
    /// Something else, by its EtherType.
    Type(u16),
    /// A frame of IEEE 802.3 without a type.
    Llc,
    /// A frame of a link type of which the headers are not known here.
    Link(u32),
    /// Headers that were not kept, or make no sense.
    Unreadable,
}

impl Kind {
    /// What to call it.
    pub fn name(self) -> String {
        match self {
            Self::Ip(protocol) => protocol_name(protocol),
            Self::Type(kind) => type_name(kind),
            Self::Llc => "llc".to_owned(),
            Self::Link(link_type) => link_name(link_type),
            Self::Unreadable => "unreadable".to_owned(),
        }
    }
}

/// Counts of one interface.
#[derive(Clone, Debug, Default)]
pub struct OfInterface {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP packets; of what is not IP, of frames.
    pub bytes: u64,
    /// Bytes on the wire, link headers included.
    pub frame_bytes: u64,
    /// Packets of which only the beginning was kept.
    pub cut: u64,
    /// Times of its earliest and latest packet.
    pub times: Option<(Nanoseconds, Nanoseconds)>,
}

/// Counts of one protocol.
#[derive(Clone, Debug)]
pub struct OfProtocol {
    /// Which.
    pub kind: Kind,
    /// Packets.
    pub packets: u64,
    /// Bytes, as of interfaces.
    pub bytes: u64,
    /// How many packets there are of each size, up to the largest that IP has without offload.
    pub sizes: Vec<u64>,
    /// The same of larger ones.
    pub giants: BTreeMap<u32, u64>,
}

/// Different sizes above 64 KiB that are told apart.
const MOST_GIANTS: usize = 4096;
const LARGEST: u32 = 65_535;
/// Intervals by names of which there is a number, before intervals are made longer.
const MOST_BINS: usize = 1 << 20;

/// What passed during one interval: packets and bytes.
pub type Bin = (u64, u64);

/// All totals.
pub struct Totals {
    /// Of each interface.
    pub interfaces: Vec<OfInterface>,
    /// Of each protocol, in the order of first packets.
    pub protocols: Vec<OfProtocol>,
    places: HashMap<Kind, usize>,
    last: Option<(Kind, usize)>,
    /// The time of the first packet of the file.
    pub began: Option<Nanoseconds>,
    /// Packets whose time is before that of the packet before them.
    pub backwards: u64,
    /// How far one of them is before it, at most.
    pub backwards_most: Nanoseconds,
    previous: Nanoseconds,
    /// Length of an interval.
    pub interval: Nanoseconds,
    /// By interval and by what it counts: `Column`.
    pub bins: BTreeMap<(i64, Column), Bin>,
    current: (i64, HashMap<Column, Bin>),
}

/// Whose packets a bin counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// Of an interface.
    Interface(usize),
    /// Of a protocol, by its place.
    Protocol(usize),
}

/// What totals count of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// When.
    pub time: Nanoseconds,
    /// Where.
    pub interface: usize,
    /// What.
    pub kind: Kind,
    /// Of IP packets their length, of others that of the frame.
    pub bytes: u32,
    /// On the wire.
    pub frame_bytes: u32,
    /// Whether only its beginning was kept.
    pub cut: bool,
}

impl Totals {
    /// Nothing yet.
    pub fn new(interval: Nanoseconds) -> Self {
        Self {
            interfaces: Vec::new(),
            protocols: Vec::new(),
            places: HashMap::new(),
            last: None,
            began: None,
            backwards: 0,
            backwards_most: 0,
            previous: Nanoseconds::MIN,
            interval: interval.max(1),
            bins: BTreeMap::new(),
            current: (0, HashMap::new()),
        }
    }

    /// Counts a packet.
    pub fn add(&mut self, packet: &Counted) {
        let Counted { time, interface, kind, bytes, frame_bytes, cut } = *packet;
        let began = *self.began.get_or_insert(time);
        if time < self.previous {
            self.backwards += 1;
            self.backwards_most = self.backwards_most.max(self.previous.saturating_sub(time));
        }
        self.previous = time;
        if self.interfaces.len() <= interface {
            self.interfaces.resize_with(interface + 1, OfInterface::default);
        }
        let of = &mut self.interfaces[interface];
        of.packets += 1;
        of.bytes += u64::from(bytes);
        of.frame_bytes += u64::from(frame_bytes);
        of.cut += u64::from(cut);
        let (from, to) = of.times.unwrap_or((time, time));
        of.times = Some((from.min(time), to.max(time)));
        let place = self.place(kind);
        self.protocols[place].add(bytes);
        let index = time.saturating_sub(began).div_euclid(self.interval);
        if index != self.current.0 {
            self.settle();
            self.current.0 = index;
        }
        for column in [Column::Interface(interface), Column::Protocol(place)] {
            let bin = self.current.1.entry(column).or_default();
            bin.0 += 1;
            bin.1 += u64::from(bytes);
        }
    }

    /// Moves what the current interval counted to the others.
    pub fn settle(&mut self) {
        let (index, counts) = (self.current.0, &mut self.current.1);
        for (column, bin) in counts.drain() {
            let all = self.bins.entry((index, column)).or_default();
            all.0 += bin.0;
            all.1 += bin.1;
        }
        if self.bins.len() > MOST_BINS {
            self.coarsen();
        }
    }

    /// Makes intervals ten times as long.
    fn coarsen(&mut self) {
        const TIMES: i64 = 10;
        self.interval = self.interval.saturating_mul(TIMES);
        for ((index, column), bin) in std::mem::take(&mut self.bins) {
            let all = self.bins.entry((index.div_euclid(TIMES), column)).or_default();
            all.0 += bin.0;
            all.1 += bin.1;
        }
    }

    fn place(&mut self, kind: Kind) -> usize {
        if let Some((last, place)) = self.last
            && last == kind
        {
            return place;
        }
        let next = self.protocols.len();
        let place = *self.places.entry(kind).or_insert(next);
        if place == next {
            self.protocols.push(OfProtocol { kind, packets: 0, bytes: 0, sizes: Vec::new(), giants: BTreeMap::new() });
        }
        self.last = Some((kind, place));
        place
    }
}

impl OfProtocol {
    fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        if bytes <= LARGEST {
            let size = bytes as usize;
            if self.sizes.len() <= size {
                self.sizes.resize(size + 1, 0);
            }
            self.sizes[size] += 1;
        } else if self.giants.len() < MOST_GIANTS || self.giants.contains_key(&bytes) {
            *self.giants.entry(bytes).or_default() += 1;
        }
    }

    /// How many packets there are of each size, the smallest first.
    pub fn by_size(&self) -> impl Iterator<Item = (u32, u64)> {
        let small = self.sizes.iter().enumerate().map(|(size, &count)| (size as u32, count));
        small.filter(|&(_, count)| count > 0).chain(self.giants.iter().map(|(&size, &count)| (size, count)))
    }
}

//! A capture from its first packet to its last, or to where it is damaged.

use super::analysis::Found;
use super::connection::TCP;
use super::copies::{Copies, Sighting};
use super::error::{Damage, Error};
use super::file::File;
use super::flows::{Belongs, Flows, Limits};
use super::fragments::{Fragments, Part};
use super::frame::{Frame, Interface, Nanoseconds};
use super::ip::{self, End, Packet};
use super::link::{Carried, carried};
use super::only::Only;
use super::packets::{Owner, Packets, Record};
use super::segment::{FIN, RST, SYN, Segment};
use super::source::Source;
use super::totals::{Counted, Kind, Totals};
use super::tunnel::Tunnels;

/// How a capture is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Length of the intervals of the series.
    pub interval: Nanoseconds,
    /// Whether every packet is kept.
    pub packets: bool,
    /// How much is remembered.
    pub limits: Limits,
    /// What is read, where not all of it is.
    pub only: Option<Only>,
    /// Capacity of the links that were captured, in bit/s, instead of what the file says.
    pub rate_bps: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { interval: 1_000_000_000, packets: false, limits: Limits::default(), only: None, rate_bps: None }
    }
}

/// A capture that was read.
pub struct Capture {
    /// Kind of file.
    pub format: &'static str,
    /// Whether it was compressed.
    pub compressed: bool,
    /// SHA-256 of what was read, and its bytes.
    pub digest: (String, u64),
    /// Packets that were read.
    pub count: u64,
    /// Where they were captured.
    pub interfaces: Vec<Interface>,
    /// What passed in all.
    pub totals: Totals,
    /// Who talked to whom.
    pub flows: Flows,
    /// Through which tunnels.
    pub tunnels: Tunnels,
    /// Every packet, where it was asked for.
    pub packets: Option<Packets>,
    /// Datagrams that never became whole.
    pub incomplete: u64,
    /// Segments of which too little was kept to look at them.
    pub unseen: u64,
    /// Segments that were captured more than once.
    pub copies: Copies,
    /// From where on nothing could be read.
    pub damage: Option<Damage>,
}

/// Between two calls of `proceed`.
const PAUSE: u64 = 1 << 16;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Protocols whose first four bytes are two ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [TCP, UDP, 33, 132, 136];

/// Reads a capture. `proceed` is asked now and then, with the packets and the bytes so far, whether to go on.
pub fn read(source: Source<'_>, options: Options, mut proceed: impl FnMut(u64, u64) -> bool) -> Result<Capture, Error> {
    let mut file = File::open(source)?;
    let mut reading = Reading {
        number: 0,
        count: 0,
        only: options.only,
        totals: Totals::new(options.interval),
        flows: Flows::new(options.limits, options.interval),
        tunnels: Tunnels::default(),
        fragments: Fragments::default(),
        packets: options.packets.then(Packets::default),
        unseen: 0,
        copies: Copies::default(),
        place: 0,
    };
    let damage = loop {
        match file.next_frame() {
            Ok(Some(frame)) => reading.add(&frame),
            Ok(None) => break None,
            Err(damage) if damage.cause.is_some() && reading.number == 0 => {
                return Err(damage.cause.map_or(Error::Interrupted, Error::Io));
            }
            Err(damage) if reading.number == 0 => return Err(Error::Damaged(damage)),
            Err(damage) => break Some(damage),
        }
        if reading.number.is_multiple_of(PAUSE) && !proceed(reading.number, file.source().offset()) {
            return Err(Error::Interrupted);
        }
    };
    let Reading { count, mut totals, flows, tunnels, fragments, packets, unseen, copies, .. } = reading;
    totals.settle();
    let mut interfaces = file.interfaces().to_vec();
    if options.rate_bps.is_some() {
        interfaces.iter_mut().for_each(|interface| interface.rate_bps = options.rate_bps);
    }
    Ok(Capture {
        format: file.format(),
        compressed: file.source().is_compressed(),
        digest: file.source().digest(),
        count,
        interfaces,
        totals,
        flows,
        tunnels,
        packets,
        incomplete: fragments.incomplete(),
        unseen,
        copies,
        damage,
    })
}

struct Reading {
    /// Of the packet, in the file.
    number: u64,
    /// Packets that are read.
    count: u64,
    only: Option<Only>,
    totals: Totals,
    flows: Flows,
    tunnels: Tunnels,
    fragments: Fragments,
    packets: Option<Packets>,
    unseen: u64,
    copies: Copies,
    /// Where the packet was captured.
    place: u32,
}

/// What a packet turned out to be.
struct Seen {
    owner: Option<Owner>,
    bare: bool,
    seq: Option<u32>,
    found: Found,
}

impl Reading {
    fn add(&mut self, frame: &Frame<'_>) {
        self.number += 1;
        let (kind, outer) = match carried(frame.link_type, frame.data, frame.length) {
            Carried::Ip(data, room) => match ip::packet(data, room) {
                Some(packet) => (Kind::Ip(packet.protocol), Some(packet)),
                None => (Kind::Unreadable, None),
            },
            Carried::Other(kind) => (Kind::Type(kind), None),
            Carried::Llc => (Kind::Llc, None),
            Carried::Cut => (Kind::Unreadable, None),
            Carried::Unknown => (Kind::Link(frame.link_type), None),
        };
        let packet = outer.map(|outer| self.tunnels.innermost(outer));
        if let Some(only) = &self.only
            && !outer.is_some_and(|outer| taken(only, &outer, &self.tunnels))
            && !packet.is_some_and(|packet| taken(only, &packet, &self.tunnels))
        {
            return;
        }
        self.count += 1;
        // Through the link went the packet with the headers of its tunnels.
        let bytes = outer.map_or(frame.length, |packet| packet.length);
        let kind = packet.map_or(kind, |packet| Kind::Ip(packet.protocol));
        if let Some(packet) = &packet {
            self.tunnels.count(packet, bytes);
        }
        let Frame { time, interface, length, data, .. } = *frame;
        let cut = (data.len() as u64) < u64::from(length);
        self.place = frame.place();
        self.flows.begin(*self.totals.began.get_or_insert(time));
        self.totals.add(&Counted { time, interface, kind, bytes, frame_bytes: length, cut });
        let seen = packet.and_then(|packet| self.follow(&packet, time));
        if let Some(packets) = &mut self.packets {
            let ends = packet.map(|packet| (packets.place(packet.source), packets.place(packet.target)));
            let Seen { owner, bare, seq, found } =
                seen.unwrap_or(Seen { owner: None, bare: false, seq: None, found: Found::default() });
            let (number, marked) = (self.number, packet.is_some_and(|packet| packet.marked));
            packets.records.push(Record { time, number, ends, kind, bare, bytes, owner, seq, marked, found });
        }
    }

    /// Counts an IP packet to its flow; nothing where that cannot be told.
    fn follow(&mut self, packet: &Packet<'_>, time: Nanoseconds) -> Option<Seen> {
        let Some(fragment) = packet.fragment else {
            return self.whole(packet, packet.payload, packet.payload_length, time);
        };
        let Part { head, early, whole } = self.fragments.add(packet, fragment);
        let head = head?;
        if let Some(length) = whole {
            // The datagram is looked at when it is whole, as its receiver does.
            let header = packet.length - packet.payload_length;
            let (payload, whole_length) = (&head[..], header.saturating_add(length));
            let whole = Packet { fragment: None, payload, payload_length: length, length: whole_length, ..*packet };
            let inner = self.tunnels.innermost(whole);
            let seen = if inner.tunnel == packet.tunnel {
                self.whole(packet, &head, length, time)
            } else {
                self.tunnels.count(&inner, whole_length);
                self.follow(&inner, time)
            };
            self.repay(packet, &head, &early, time);
            return seen;
        }
        self.repay(packet, &head, &early, time);
        let (from, to) = ends(packet, &head);
        let Belongs { connection, serial, direction, .. } =
            self.flows.find(from, to, packet.protocol, packet.tunnel, None, self.number);
        connection.count(direction, self.number, packet.length);
        connection.own(direction, time, packet.length, 0, packet.marked);
        Some(Seen { owner: Some(Owner { serial, direction }), bare: false, seq: None, found: Found::default() })
    }

    /// Counts fragments that came before the first of their datagram.
    fn repay(&mut self, packet: &Packet<'_>, head: &[u8], early: &[u32], time: Nanoseconds) {
        let (from, to) = ends(packet, head);
        for &length in early {
            let Belongs { connection, direction, .. } =
                self.flows.find(from, to, packet.protocol, packet.tunnel, None, self.number);
            connection.count(direction, self.number, length);
            connection.own(direction, time, length, 0, false);
        }
    }

    /// Looks at a datagram of which `data` was kept, `length` bytes long without IP headers.
    fn whole(&mut self, packet: &Packet<'_>, data: &[u8], length: u32, time: Nanoseconds) -> Option<Seen> {
        let segment = if packet.protocol == TCP { Segment::read(data, length) } else { None };
        self.unseen += u64::from(packet.protocol == TCP && segment.is_none());
        let (from, to) = ends(packet, data);
        let Belongs { connection, serial, direction, reopened } =
            self.flows.find(from, to, packet.protocol, packet.tunnel, segment.as_ref(), self.number);
        let owner = Some(Owner { serial, direction });
        if let Some(segment) = &segment {
            let Packet { id, hops, .. } = *packet;
            let at = Sighting { serial, direction: direction as u8, hops, id, place: self.place, time };
            if let Some(lag) = self.copies.look(segment, at) {
                connection.copy(direction, lag);
                let mut found = Found::default();
                found.add(Found::COPY);
                return Some(Seen {
                    owner,
                    bare: is_bare(segment),
                    seq: Some(connection.relative(direction, segment)),
                    found,
                });
            }
        }
        connection.count(direction, self.number, packet.length);
        let Some(segment) = segment else {
            let headers = match packet.protocol {
                TCP => 20,
                UDP => 8,
                _ => 0,
            };
            let payload = length.saturating_sub(headers);
            connection.own(direction, time, packet.length, payload, packet.marked);
            connection.deliver(direction, payload);
            if packet.protocol == UDP {
                connection.look_at_datagram(direction, data.get(UDP_HEADER..).unwrap_or_default(), payload, time);
            }
            return Some(Seen { owner, bare: false, seq: None, found: Found::default() });
        };
        let bare = is_bare(&segment);
        if !bare {
            connection.own(direction, time, packet.length, segment.payload, packet.marked);
        }
        let found = connection.look(direction, &segment, time, reopened);
        Some(Seen { owner, bare, seq: Some(connection.relative(direction, &segment)), found })
    }
}

/// Whether a segment does nothing but acknowledge.
fn is_bare(segment: &Segment) -> bool {
    segment.payload == 0 && !segment.has(SYN | FIN | RST)
}

fn taken(only: &Only, packet: &Packet<'_>, tunnels: &Tunnels) -> bool {
    if !only.takes_tunnel(|| tunnels.name(packet.tunnel)) {
        return false;
    }
    let (from, to) = ends(packet, packet.payload);
    if packet.fragment.is_some_and(|fragment| fragment.offset > 0) {
        // What stands there is no header.
        return only.takes((from.0, None), (to.0, None), true);
    }
    only.takes(from, to, false)
}

fn ends(packet: &Packet<'_>, data: &[u8]) -> (End, End) {
    let (from, to) = match data {
        [a, b, c, d, ..] if WITH_PORTS.contains(&packet.protocol) => {
            (Some(u16::from_be_bytes([*a, *b])), Some(u16::from_be_bytes([*c, *d])))
        }
        _ => (None, None),
    };
    ((packet.source, from), (packet.target, to))
}

//! What happened to a packet at a link, and before and behind it: a record of a fixed length, as it lies on disk while
//! the relay works. Of a packet that crosses several links there is one for each.

use crate::header::{Header, KEY_BYTES, Kind};

/// How a packet ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The relay ended before.
    #[default]
    UnderWay,
    /// It was handed to the host at the other end.
    Delivered,
    /// The queue of the link was full.
    Queue,
    /// The output ring of the processor was full.
    OutputRing,
    /// The input ring of the processor was full.
    InputRing,
    /// The wire lost it.
    Wire,
    /// The host at the other end did not take it.
    Refused,
    /// The queue of the link had room: its discipline keeps it short.
    Management,
    /// It came out of the link and went on to the next.
    Passed,
}

const OUTCOMES: [Outcome; 9] = [
    Outcome::UnderWay,
    Outcome::Delivered,
    Outcome::Queue,
    Outcome::OutputRing,
    Outcome::InputRing,
    Outcome::Wire,
    Outcome::Refused,
    Outcome::Management,
    Outcome::Passed,
];

impl Outcome {
    /// Why the packet was lost, as the simulator's trace names it; nothing if it was not.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::UnderWay | Self::Delivered | Self::Passed => None,
            Self::Queue => Some("queue"),
            Self::OutputRing => Some("output ring"),
            Self::InputRing => Some("input ring"),
            Self::Wire => Some("wire"),
            Self::Refused => Some("host"),
            Self::Management => Some("queue management"),
        }
    }
}

/// What happened to a packet, in seconds since the relay began; NaN: it did not get there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Its number, the same at all links.
    pub uid: u64,
    /// The port by which it came.
    pub port: u8,
    /// The link.
    pub link: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// It left the queue with a congestion mark.
    pub marked: bool,
    /// Its IP bytes.
    pub size: u32,
    /// Whose it is.
    pub header: Header,
    /// It came to the link, or to the processor before it.
    pub arrival_s: f64,
    /// It was offered to the link.
    pub offer_s: f64,
    /// It was first in line.
    pub start_s: f64,
    /// Its last bit left.
    pub departure_s: f64,
    /// When it should be forwarded; of a packet that went on to another link, when it came out of this one; of a packet
    /// that was lost, when.
    pub due_s: f64,
    /// When it was forwarded.
    pub sent_s: f64,
}

/// In the place of a link, of packets that cross none, or have not reached one: nothing is told of them.
pub const NO_LINK: u16 = u16::MAX;

/// Bytes of a record on disk.
pub const BYTES: usize = TIMES + 6 * 8;
/// Beside the outcome.
const MARKED: u8 = 1 << 7;
/// Where the header's key and the times begin.
const KEY: usize = 8 + 1 + 2 + 1 + 1 + 4;
const TIMES: usize = KEY + KEY_BYTES;

impl Record {
    /// Of a packet that has just come, and is at no link.
    #[must_use]
    pub fn new(uid: u64, port: u8, size: u32, header: Header) -> Self {
        Self { uid, port, size, header, ..Self::NOTHING }
    }

    const NOTHING: Self = Self {
        uid: 0,
        port: 0,
        link: NO_LINK,
        outcome: Outcome::UnderWay,
        marked: false,
        size: 0,
        header: Header::NOBODY,
        arrival_s: f64::NAN,
        offer_s: f64::NAN,
        start_s: f64::NAN,
        departure_s: f64::NAN,
        due_s: f64::NAN,
        sent_s: f64::NAN,
    };

    /// Of the same packet, which has just come to a link.
    #[must_use]
    pub fn at(&self, link: u16, arrival_s: f64) -> Self {
        Self { uid: self.uid, port: self.port, link, size: self.size, header: self.header, arrival_s, ..Self::NOTHING }
    }

    /// As it lies on disk.
    #[must_use]
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.uid.to_le_bytes());
        bytes[8] = self.port;
        bytes[9..11].copy_from_slice(&self.link.to_le_bytes());
        bytes[11] = self.outcome as u8 | if self.marked { MARKED } else { 0 };
        bytes[12] = self.header.kind as u8;
        bytes[13..KEY].copy_from_slice(&self.size.to_le_bytes());
        bytes[KEY..TIMES].copy_from_slice(&self.header.key);
        let times = [self.arrival_s, self.offer_s, self.start_s, self.departure_s, self.due_s, self.sent_s];
        for (place, time) in bytes[TIMES..].chunks_exact_mut(8).zip(times) {
            place.copy_from_slice(&time.to_le_bytes());
        }
        bytes
    }

    /// From what lies on disk; nothing if that is no record.
    #[must_use]
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let mut times = [0.0; 6];
        for (time, place) in times.iter_mut().zip(bytes[TIMES..].chunks_exact(8)) {
            *time = f64::from_le_bytes(place.try_into().ok()?);
        }
        let [arrival_s, offer_s, start_s, departure_s, due_s, sent_s] = times;
        let key = bytes[KEY..TIMES].try_into().ok()?;
        Some(Self {
            uid: u64::from_le_bytes(bytes[..8].try_into().ok()?),
            port: bytes[8],
            link: u16::from_le_bytes(bytes[9..11].try_into().ok()?),
            outcome: *OUTCOMES.get(usize::from(bytes[11] & !MARKED))?,
            marked: bytes[11] & MARKED != 0,
            size: u32::from_le_bytes(bytes[13..KEY].try_into().ok()?),
            header: Header { kind: Kind::decode(bytes[12])?, key },
            arrival_s,
            offer_s,
            start_s,
            departure_s,
            due_s,
            sent_s,
        })
    }
}

/// Who is told how packets ended.
pub trait Sink {
    /// A packet has ended.
    fn note(&mut self, record: Record);
}

impl Sink for Vec<Record> {
    fn note(&mut self, record: Record) {
        self.push(record);
    }
}

/// Whoever may be there.
impl<S: Sink> Sink for Option<S> {
    fn note(&mut self, record: Record) {
        if let Some(sink) = self {
            sink.note(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_the_disk() {
        let fresh = Record::new(1 << 40, 1, 1500, Header { kind: Kind::Tcp, key: [7; KEY_BYTES] }).at(300, 0.25);
        for outcome in OUTCOMES {
            let marked = outcome == Outcome::Passed;
            let record = Record {
                outcome,
                marked,
                offer_s: 0.5,
                start_s: 0.75,
                departure_s: 1.0,
                due_s: 2.0,
                sent_s: 3.0,
                ..fresh
            };
            assert_eq!(Record::decode(&record.encode()), Some(record));
        }
        assert_eq!(Record::decode(&[255; BYTES]), None);
    }
}

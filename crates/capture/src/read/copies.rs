//! Segments that a capture has more than once: on two VLANs or interfaces, before and behind a router, by a mirror port; and
//! on both sides of an address translation or of a tunnel, where they belong to two connections.

use std::collections::HashMap;

use super::frame::Nanoseconds;
use super::segment::{ACK, RST, SYN, Segment};

/// Sets of two sightings each: of two connections with the same segments both are remembered.
const SETS: usize = 1 << 13;
/// A copy that was captured elsewhere may have waited in the queue of a router.
const WAITED: Nanoseconds = 1_000_000_000;
/// One that was captured at the same place comes at once: behind that, identifications may have begun again.
const AT_ONCE: Nanoseconds = 10_000_000;
/// Pairs of connections that are remembered, and how many segments make one of them.
const MOST_PAIRS: usize = 1 << 18;
const LEAST_SHARED: u64 = 3;

/// Where and as what a segment was captured.
#[derive(Clone, Copy, Default)]
pub struct Sighting {
    /// Number of its connection.
    pub serial: u32,
    /// Its direction there.
    pub direction: u8,
    /// What routers had left of its time to live.
    pub hops: u8,
    /// Identification of the packet; 0 where it has none (RFC 6864 §4.1).
    pub id: u16,
    /// Interface and VLAN.
    pub place: u32,
    /// When.
    pub time: Nanoseconds,
}

#[derive(Clone, Copy, Default)]
struct Remembered {
    /// What tells its segment from others; 0 for none.
    mark: u64,
    at: Sighting,
}

/// The latest segments of a capture, and connections that share some.
pub struct Copies {
    sets: Vec<[Remembered; 2]>,
    shared: HashMap<(u32, u32), u64>,
    /// Copies so far.
    pub count: u64,
}

impl Default for Copies {
    fn default() -> Self {
        Self { sets: vec![Default::default(); SETS], shared: HashMap::new(), count: 0 }
    }
}

impl Copies {
    /// How long ago the same packet of the same connection was captured, if it was.
    pub fn look(&mut self, segment: &Segment, at: Sighting) -> Option<Nanoseconds> {
        let mark = mark(segment);
        let set = &mut self.sets[(mark >> 32) as usize % SETS];
        let mut same = None;
        let mut other = None;
        for (place, known) in set.iter().enumerate().filter(|(_, known)| known.mark == mark) {
            if (known.at.serial, known.at.direction) == (at.serial, at.direction) {
                same = Some(place);
            } else {
                other = Some(known.at);
            }
        }
        if let Some(place) = same {
            let lag = at.time.abs_diff(set[place].at.time) as Nanoseconds;
            if is_copy(segment, &set[place].at, &at, lag) {
                self.count += 1;
                return Some(lag);
            }
        } else if let Some(other) = other.filter(|other| is_shared(segment, other, &at)) {
            let pair = (other.serial.min(at.serial), other.serial.max(at.serial));
            if self.shared.len() < MOST_PAIRS || self.shared.contains_key(&pair) {
                *self.shared.entry(pair).or_default() += 1;
            }
        }
        let place =
            same.unwrap_or(usize::from(set[0].mark != 0 && (set[1].mark == 0 || set[1].at.time < set[0].at.time)));
        set[place] = Remembered { mark, at };
        None
    }

    /// By connection the first one that has the same segments under other addresses, or within another tunnel; `packets` says
    /// how many packets one has.
    pub fn pairs(&self, packets: impl Fn(u32) -> Option<u64>) -> HashMap<u32, u32> {
        let mut found: HashMap<u32, u32> = HashMap::new();
        for (&(first, second), &count) in &self.shared {
            let (Some(one), Some(two)) = (packets(first), packets(second)) else { continue };
            if count >= LEAST_SHARED && 2 * count >= one.min(two) {
                let known = found.entry(second).or_insert(first);
                *known = first.min(*known);
            }
        }
        found
    }
}

/// Whether two sightings of a segment in one connection are of one packet. What a sender retransmits is another packet: it has
/// another identification, and where there are none, it is captured where the first was.
fn is_copy(segment: &Segment, known: &Sighting, at: &Sighting, lag: Nanoseconds) -> bool {
    let elsewhere = (known.place, known.hops) != (at.place, at.hops);
    match (known.id == at.id, at.id) {
        (false, _) => false,
        _ if elsewhere => lag <= WAITED,
        // No timer of a SYN is that short (RFC 6298 §2).
        (true, 0) => segment.has(SYN) && lag <= AT_ONCE,
        (true, _) => lag <= AT_ONCE,
    }
}

/// Whether sightings of a segment in two connections may be of one packet: its identification is the same, or it has none and a
/// router is between them. Openings and refusals may have the same numbers by chance, those of scans have.
fn is_shared(segment: &Segment, known: &Sighting, at: &Sighting) -> bool {
    let one = known.id == at.id && (at.id != 0 || known.hops != at.hops);
    one && segment.has(ACK) && !segment.has(RST) && at.time.abs_diff(known.time) <= WAITED as u64
}

/// What no other segment has but a copy, and one that is retransmitted before a timestamp or an ACK changes. Never 0.
fn mark(segment: &Segment) -> u64 {
    let (value, echo) = segment.timestamps.unwrap_or_default();
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let flags = u32::from(segment.flags) << 16 | u32::from(segment.window);
    let words = [pair(segment.seq, segment.ack), pair(flags, segment.payload), pair(value, echo)];
    // Steps of splitmix64.
    words.iter().fold(1, |mark: u64, &word| {
        let mixed = (mark ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) ^ mark >> 31
    }) | 1
}

#[cfg(test)]
mod tests {
    use super::{Copies, Sighting};
    use crate::read::segment::{ACK, SYN, Segment};

    fn segment(seq: u32, flags: u8) -> Segment {
        Segment { seq, ack: 7, flags, ace: 0, window: 500, payload: 100, options: None, timestamps: None }
    }

    #[test]
    fn a_packet_is_captured_again_and_a_segment_is_retransmitted() {
        let mut copies = Copies::default();
        let mut look = |seq, time, id, place, hops| {
            copies.look(&segment(seq, ACK), Sighting { serial: 3, direction: 0, hops, id, place, time })
        };
        assert_eq!(look(1, 100, 9, 0, 64), None);
        assert_eq!([look(1, 150, 9, 1, 64), look(1, 170, 9, 0, 63)], [Some(50), Some(70)]);
        // A mirror port, at once; much later, identifications have begun again.
        assert_eq!([look(1, 180, 9, 0, 64), look(1, 20_000_000, 9, 0, 64)], [Some(80), None]);
        // Retransmitted, with another identification; and without any.
        assert_eq!([look(1, 20_000_100, 10, 0, 64), look(1, 20_000_200, 10, 1, 63)], [None, Some(100)]);
        assert_eq!([look(2, 100, 0, 0, 64), look(2, 200, 0, 0, 64), look(2, 300, 0, 0, 63)], [None, None, Some(100)]);
        assert_eq!([look(3, 100, 0, 0, 64), look(3, 2_000_000_000, 0, 0, 63)], [None, None]);
        assert_eq!(copies.count, 5);
    }

    #[test]
    fn a_syn_is_not_retransmitted_at_once() {
        let mut copies = Copies::default();
        let at = Sighting { serial: 3, hops: 64, time: 100, ..Sighting::default() };
        assert_eq!(copies.look(&segment(1, SYN | ACK), at), None);
        assert_eq!(copies.look(&segment(1, SYN | ACK), Sighting { time: 200, ..at }), Some(100));
    }

    #[test]
    fn connections_that_share_their_segments_are_pairs() {
        let mut copies = Copies::default();
        for seq in 0..4 {
            let at = Sighting { hops: 64, id: 9, time: i64::from(seq), ..Sighting::default() };
            // Of connections 5 and 6 behind a router; of 7, the same numbers by chance.
            for (serial, hops, id) in [(5, 64, 9), (6, 63, 9), (7, 64, 0), (6, 62, 9)] {
                copies.look(&segment(seq, ACK), Sighting { serial, hops, id, ..at });
            }
        }
        assert_eq!(copies.pairs(|_| Some(8)), [(6, 5)].into());
        assert_eq!(copies.pairs(|_| Some(20)), [].into());
        assert_eq!(copies.pairs(|serial| (serial == 6).then_some(8)), [].into());
    }
}

//! The format of Wireshark: sections of blocks, each interface with its own clock (draft-ietf-opsawg-pcapng).

use super::error::Damage;
use super::frame::{Interface, LONGEST_FRAME, Nanoseconds, Place};
use super::source::Source;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// Obsolete since 2004, and still met.
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;
const ORDER: u32 = 0x1a2b_3c4d;
/// Where the version stands in the block of a section. 1.2 was written by mistake and means 1.0 (§4.1).
const VERSION: usize = 12;
const VERSIONS: [(u16, u16); 2] = [(1, 0), (1, 2)];
/// Type and length before a block, length again behind it.
const AROUND: usize = 12;
/// No block is longer: comments and secrets have their place, a gigabyte of nonsense has not.
const LONGEST_BLOCK: u32 = 1 << 24;

/// No clock is further off, in seconds: nanoseconds since 1970 reach from 1677 to 2262.
const MOST_OFFSET_S: u64 = 8_000_000_000;

/// The state of reading such a file.
#[derive(Default)]
pub struct Pcapng {
    big: bool,
    interfaces: Vec<Interface>,
    clocks: Vec<Clock>,
    /// Interfaces of earlier sections: numbers begin again in each.
    before: usize,
    last: Nanoseconds,
}

/// How an interface counts time.
#[derive(Clone, Copy)]
struct Clock {
    /// `if_tsresol`: ticks of 10^-n seconds, or of 2^-n with the highest bit.
    resolution: u8,
    offset_s: i64,
}

impl Clock {
    fn time(self, ticks: u64) -> Nanoseconds {
        let power = u32::from(self.resolution & 0x7f);
        let ticks = u128::from(ticks);
        let nanoseconds = if self.resolution & 0x80 != 0 {
            (ticks * 1_000_000_000) >> power
        } else if power <= 9 {
            ticks * 10_u128.pow(9 - power)
        } else {
            10_u128.checked_pow(power - 9).map_or(0, |parts| ticks / parts)
        };
        let since = i64::try_from(nanoseconds).unwrap_or(i64::MAX);
        since.saturating_add(self.offset_s.saturating_mul(1_000_000_000))
    }
}

impl Pcapng {
    /// Whether a file begins like this.
    pub fn is_magic(head: &[u8]) -> bool {
        head == SECTION.to_be_bytes()
    }

    /// The interfaces of all sections so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Where the next frame is, behind whatever other blocks there are.
    pub fn next_place(&mut self, source: &mut Source<'_>) -> Result<Option<Place>, Damage> {
        loop {
            let offset = source.offset();
            let damage = |what: &str| Damage::new(offset, what);
            let head = source.peek(VERSION + 4)?;
            if head.is_empty() {
                return Ok(None);
            }
            if head.len() < AROUND {
                return Err(damage("the file ends within the header of a block"));
            }
            if self.word(head, 0) == SECTION {
                self.big = match u32::from_le_bytes([head[8], head[9], head[10], head[11]]) {
                    ORDER => false,
                    order if order.swap_bytes() == ORDER => true,
                    _ => return Err(damage("a section of which the byte order cannot be told")),
                };
                self.before = self.interfaces.len();
                if let version @ [_, _, _, _] = &head[VERSION..] {
                    let (major, minor) = (self.half(version, 0), self.half(version, 2));
                    if !VERSIONS.contains(&(major, minor)) {
                        let what = format!("version {major}.{minor} of pcapng, of which 1.0 is the only one");
                        return Err(Damage::new(offset + VERSION as u64, what));
                    }
                }
            }
            let (kind, length) = (self.word(head, 0), self.word(head, 4));
            if length < AROUND as u32 || !length.is_multiple_of(4) || length > LONGEST_BLOCK {
                return Err(Damage::new(offset, format!("a block of {length} bytes: the file is damaged")));
            }
            let length = length as usize;
            let block = source.peek(length)?;
            if block.len() < length {
                return Err(damage("the file ends within a block"));
            }
            if self.word(block, length - 4) as usize != length {
                return Err(damage("a block of which the two lengths differ: the file is damaged"));
            }
            let place = match kind {
                ENHANCED | PACKET => Some(self.packet(block, kind == PACKET).ok_or_else(|| damage(WRONG))?),
                SIMPLE => Some(self.simple(block).ok_or_else(|| damage(WRONG))?),
                INTERFACE => {
                    let (interface, clock) = self.interface(block).ok_or_else(|| damage(SHORT))?;
                    self.interfaces.push(interface);
                    self.clocks.push(clock);
                    None
                }
                STATISTICS => {
                    if let Some((interface, drops)) = self.statistics(block) {
                        self.interfaces[interface].drops = drops;
                        self.interfaces[interface].counts_drops = true;
                    }
                    None
                }
                _ => None,
            };
            match place {
                Some(Placed { place, drops }) => {
                    self.last = place.time;
                    if let Some(drops) = drops {
                        let interface = &mut self.interfaces[place.interface];
                        interface.drops = interface.drops.saturating_add(drops);
                        interface.counts_drops = true;
                    }
                    return Ok(Some(place));
                }
                None => source.consume(length),
            }
        }
    }

    /// An enhanced packet block, or the obsolete one, which says in 16 bits each which interface it is and what was
    /// lost.
    fn packet(&self, block: &[u8], obsolete: bool) -> Option<Placed> {
        const BODY: usize = 28;
        if block.len() < BODY + 4 {
            return None;
        }
        let (number, lost) = if obsolete {
            (u32::from(self.half(block, 8)), Some(self.half(block, 10)).filter(|&lost| lost != u16::MAX).map(u64::from))
        } else {
            (self.word(block, 8), None)
        };
        let interface = self.known(number)?;
        let ticks = u64::from(self.word(block, 12)) << 32 | u64::from(self.word(block, 16));
        let (kept, length) = (self.word(block, 20), self.word(block, 24));
        let to = BODY.checked_add(kept as usize).filter(|&to| to <= block.len() - 4 && kept <= LONGEST_FRAME)?;
        let drops = if obsolete { lost } else { self.lost(&block[..block.len() - 4], to.next_multiple_of(4)) };
        let time = self.clocks[interface].time(ticks);
        let record = block.len();
        let place = Place { time, interface, length: length.max(kept), data: (BODY, to), record };
        Some(Placed { place, drops })
    }

    /// A packet without a time, of the first interface: it gets the time of the packet before it.
    fn simple(&self, block: &[u8]) -> Option<Placed> {
        const BODY: usize = 12;
        let interface = self.known(0)?;
        let length = (block.len() >= BODY + 4).then(|| self.word(block, 8))?;
        let snap = self.interfaces[interface].snap_length;
        let kept = if snap == 0 { length } else { length.min(snap) };
        let to = BODY.checked_add(kept as usize).filter(|&to| to <= block.len() - 4 && kept <= LONGEST_FRAME)?;
        let place = Place { time: self.last, interface, length, data: (BODY, to), record: block.len() };
        Some(Placed { place, drops: None })
    }

    fn interface(&self, block: &[u8]) -> Option<(Interface, Clock)> {
        const BODY: usize = 16;
        const NAME: u16 = 2;
        const SPEED: u16 = 8;
        const RESOLUTION: u16 = 9;
        const OFFSET: u16 = 14;
        if block.len() < BODY + 4 {
            return None;
        }
        let mut interface = Interface {
            link_type: u32::from(self.half(block, 8)),
            snap_length: self.word(block, 12),
            ..Interface::default()
        };
        let mut clock = Clock { resolution: 6, offset_s: 0 };
        self.options(&block[..block.len() - 4], BODY, |code, value| match (code, value) {
            (NAME, name) => {
                let text = String::from_utf8_lossy(name);
                interface.name = text.chars().filter(|letter| !letter.is_control()).take(64).collect();
            }
            // In bit/s; 0 where it is not known.
            (SPEED, value) if value.len() == 8 => {
                interface.rate_bps = Some(self.long(value) as f64).filter(|&rate| rate > 0.0);
            }
            (RESOLUTION, [resolution]) => clock.resolution = *resolution,
            (OFFSET, value) if value.len() == 8 => clock.offset_s = self.long(value) as i64,
            _ => {}
        });
        if clock.offset_s.unsigned_abs() > MOST_OFFSET_S {
            interface.offset_s = Some(clock.offset_s);
            clock.offset_s = 0;
        }
        Some((interface, clock))
    }

    /// What the interface itself and the system dropped, by an interface statistics block.
    fn statistics(&self, block: &[u8]) -> Option<(usize, u64)> {
        const BODY: usize = 20;
        const DROPPED: u16 = 5;
        const DROPPED_BY_SYSTEM: u16 = 7;
        if block.len() < BODY + 4 {
            return None;
        }
        let interface = self.known(self.word(block, 8))?;
        let mut drops = None;
        self.options(&block[..block.len() - 4], BODY, |code, value| {
            if [DROPPED, DROPPED_BY_SYSTEM].contains(&code) && value.len() == 8 {
                drops = Some(drops.unwrap_or(0_u64).saturating_add(self.long(value)));
            }
        });
        Some((interface, drops?))
    }

    /// `epb_dropcount`: what was lost between the packet before and this one.
    fn lost(&self, block: &[u8], from: usize) -> Option<u64> {
        const LOST: u16 = 4;
        let mut lost = None;
        self.options(block, from, |code, value| {
            if code == LOST && value.len() == 8 {
                lost = Some(self.long(value));
            }
        });
        lost
    }

    fn options(&self, block: &[u8], mut at: usize, mut take: impl FnMut(u16, &[u8])) {
        const END: u16 = 0;
        while at + 4 <= block.len() {
            let (code, length) = (self.half(block, at), usize::from(self.half(block, at + 2)));
            let Some(value) = block.get(at + 4..at + 4 + length) else { return };
            if code == END {
                return;
            }
            take(code, value);
            at += 4 + length.next_multiple_of(4);
        }
    }

    fn known(&self, number: u32) -> Option<usize> {
        let interface = self.before.checked_add(number as usize)?;
        (interface < self.interfaces.len()).then_some(interface)
    }

    fn half(&self, bytes: &[u8], at: usize) -> u16 {
        let half = [bytes[at], bytes[at + 1]];
        if self.big { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) }
    }

    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self.big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }

    fn long(&self, bytes: &[u8]) -> u64 {
        let (first, second) = (u64::from(self.word(bytes, 0)), u64::from(self.word(bytes, 4)));
        if self.big { first << 32 | second } else { second << 32 | first }
    }
}

struct Placed {
    place: Place,
    drops: Option<u64>,
}

const WRONG: &str = "a packet of an interface that is not there, or longer than its block: the file is damaged";
const SHORT: &str = "an interface that is not described: the file is damaged";

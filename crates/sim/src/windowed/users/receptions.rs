//! The receiving ends of the transfers that come to a site.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::time::Time;
use crate::transport::receiver::Receiver;

/// The receiving end of a transfer.
#[derive(Debug)]
pub struct Reception {
    /// Puts packets in order and acknowledges them.
    pub receiver: Receiver,
    /// Which of the transfers of its source.
    pub transfer: u8,
    /// The pair of classes of the two sites.
    pub path: u8,
    /// The receiving host, by its place among the receivers of its site.
    pub host: u32,
    /// The site of the source.
    pub origin: u16,
    /// The long-lived transfer, if it is one.
    pub long_lived: Option<u16>,
    /// The last packet, once it was seen.
    pub last: Option<u32>,
    /// When a packet came last.
    pub seen: Time,
}

/// All of a site, by source.
#[derive(Debug, Default)]
pub struct Receptions {
    places: HashMap<u32, u32, BuildHasherDefault<Spread>>,
    list: Vec<Option<Reception>>,
    free: Vec<u32>,
}

impl Receptions {
    /// The one of a source's transfer, unless nothing was heard of it since `time`.
    #[inline]
    pub fn get(&mut self, source: u32, transfer: u8, time: Time) -> Option<&mut Reception> {
        self.of(source).filter(|reception| reception.transfer == transfer && reception.seen >= time)
    }

    /// The one of a source.
    #[inline]
    pub fn of(&mut self, source: u32) -> Option<&mut Reception> {
        let place = *self.places.get(&source)?;
        self.list[place as usize].as_mut()
    }

    /// Takes one in, in place of an earlier one of the same source.
    pub fn insert(&mut self, source: u32, reception: Reception) {
        if let Some(&place) = self.places.get(&source) {
            self.list[place as usize] = Some(reception);
            return;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.list.push(None);
            self.list.len() as u32 - 1
        });
        self.list[place as usize] = Some(reception);
        self.places.insert(source, place);
    }

    /// Forgets the one of a source.
    pub fn remove(&mut self, source: u32) {
        if let Some(place) = self.places.remove(&source) {
            self.list[place as usize] = None;
            self.free.push(place);
        }
    }

    /// Gives back the memory of those of which nothing was heard since `time`: their sources have given up.
    pub fn forget(&mut self, time: Time) {
        let Self { places, list, free } = self;
        places.retain(|_, &mut place| {
            let old = list[place as usize].as_ref().is_none_or(|reception| reception.seen < time);
            if old {
                list[place as usize] = None;
                free.push(place);
            }
            !old
        });
        // In an order that does not hang on that of the map.
        free.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Bytes that they occupy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Option<Reception>>() + self.places.capacity() * 9
    }
}

/// Spreads the numbers of sources over a table: one multiplication (Knuth 6.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

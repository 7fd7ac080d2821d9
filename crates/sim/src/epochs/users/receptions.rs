//! The receiving ends of the transfers that come to a site.

use super::source_map::SourceMap;
use crate::prefetch::prefetch;
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
    /// The receiving host, by its place behind the sources of its site.
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

impl Reception {
    /// Whether all packets are here.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.last.is_some_and(|last| self.receiver.in_order() >= last as i32)
    }
}

/// All of a site, by source.
#[derive(Debug, Default)]
pub struct Receptions {
    places: SourceMap,
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
        let place = self.places.get(source)?;
        self.list[place as usize].as_mut()
    }

    /// Asks for the memory that tells where that of a source is.
    #[inline]
    pub fn prefetch_place(&self, source: u32) {
        self.places.prefetch(source);
    }

    /// Asks for the memory of that of a source.
    #[inline]
    pub fn prefetch(&self, source: u32) {
        if let Some(place) = self.places.get(source) {
            prefetch(&self.list[place as usize]);
        }
    }

    /// Takes one in, in place of an earlier one of the same source.
    pub fn insert(&mut self, source: u32, reception: Reception) {
        if let Some(place) = self.places.get(source) {
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
        if let Some(place) = self.places.remove(source) {
            self.list[place as usize] = None;
            self.free.push(place);
        }
    }

    /// Gives back the memory of those of which nothing was heard since `time`: their sources have given up.
    pub fn forget(&mut self, time: Time) {
        let old = |reception: &Reception| reception.seen < time;
        for source in self.places.sources() {
            if self.of(source).is_some_and(|reception| old(reception)) {
                self.remove(source);
            }
        }
    }
}

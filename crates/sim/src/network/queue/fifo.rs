//! Packets that wait, first in, first out.

use std::collections::VecDeque;

use super::{Load, Waiting};

/// A waiting line that knows its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Waiting>,
    bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.packet.size());
        self.packets.push_back(waiting);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.packet.size());
        Some(waiting)
    }

    /// The packet that came first.
    pub(super) fn first(&self) -> Option<&Waiting> {
        self.packets.front()
    }

    /// The packet that came last.
    pub(super) fn last(&self) -> Option<&Waiting> {
        self.packets.back()
    }

    /// Takes the packet that came last.
    pub(super) fn pop_last(&mut self) -> Option<Waiting> {
        let waiting = self.packets.pop_back()?;
        self.bytes -= u64::from(waiting.packet.size());
        Some(waiting)
    }

    /// All packets, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.packets.iter()
    }

    /// Takes the packet at a place.
    pub(super) fn remove(&mut self, place: usize) -> Option<Waiting> {
        let waiting = self.packets.remove(place)?;
        self.bytes -= u64::from(waiting.packet.size());
        Some(waiting)
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn load(&self) -> Load {
        Load { packets: self.packets.len(), bytes: self.bytes }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Time waited until `now_s`, summed over the packets, in seconds, added to `sum_s`.
    pub(super) fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.packets.iter().fold(sum_s, |sum_s, waiting| sum_s + (now_s - waiting.since_s))
    }
}

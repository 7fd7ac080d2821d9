//! Selective acknowledgements on their way: the blocks lie in a slab, because few ACKs have any.

use crate::packet::Packet;
use crate::time::Time;

/// At most three blocks (RFC 2018 with timestamps).
pub const MOST_BLOCKS: usize = 3;

/// The blocks of one ACK: half-open ranges of sequence numbers, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    ranges: [(u32, u32); MOST_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Adds a block; ignored when full.
    pub fn push(&mut self, left: u32, right: u32) {
        if !self.is_full() {
            self.ranges[usize::from(self.count)] = (left, right);
            self.count += 1;
        }
    }

    /// Whether no block fits any more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        usize::from(self.count) == MOST_BLOCKS
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.ranges[..usize::from(self.count)]
    }

    /// Their bytes: two 32-bit words each.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        8 * u32::from(self.count)
    }
}

/// Whether the first SACK block tells of a packet that came twice (RFC 2883 §4: below the ACK, or within the second block),
/// and the others.
#[must_use]
pub fn split_duplicate(ack: i32, blocks: &[(u32, u32)]) -> (bool, &[(u32, u32)]) {
    match blocks {
        [(left, right), rest @ ..]
            if *right as i32 <= ack + 1 || rest.first().is_some_and(|other| other.0 <= *left && *right <= other.1) =>
        {
            (true, rest)
        }
        _ => (false, blocks),
    }
}

/// Where the blocks of ACKs in flight lie, each with the ACK's timestamp.
#[derive(Clone, Debug, Default)]
pub struct SackSlab {
    slots: Vec<(SackBlocks, Time)>,
    free: Vec<u32>,
}

impl SackSlab {
    /// Attaches blocks to an ACK, with `option_bytes` before them. No blocks need no place.
    #[must_use]
    pub fn attach(&mut self, ack: Packet, blocks: SackBlocks, option_bytes: u32) -> Packet {
        if blocks.count == 0 {
            return ack;
        }
        let handle = self.put(blocks, ack.sent());
        ack.with_blocks(handle, option_bytes + blocks.bytes())
    }

    /// Takes in blocks and a timestamp: where they are.
    #[must_use]
    pub fn put(&mut self, blocks: SackBlocks, echo: Time) -> u32 {
        let slot = (blocks, echo);
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize] = slot;
                handle
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The copy of a packet on its way, with blocks of its own if that has some.
    #[must_use]
    pub fn copy(&mut self, packet: Packet) -> Packet {
        let Some(handle) = packet.blocks() else { return packet.again() };
        let (blocks, echo) = *self.get(handle);
        packet.with_blocks(self.put(blocks, echo), 0)
    }

    /// The blocks of an ACK on its way, and its timestamp.
    #[must_use]
    pub fn get(&self, handle: u32) -> &(SackBlocks, Time) {
        &self.slots[handle as usize]
    }

    /// Forgets the blocks of an ACK that was lost.
    pub fn discard(&mut self, handle: u32) {
        self.free.push(handle);
    }

    /// Takes the blocks of an ACK that has arrived, and its timestamp.
    #[must_use]
    pub fn take(&mut self, handle: u32) -> (SackBlocks, Time) {
        self.free.push(handle);
        self.slots[handle as usize]
    }
}

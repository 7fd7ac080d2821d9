//! What options of ACKs say, on their way: it lies in a slab, because few ACKs have other options than a timestamp.

use super::accecn::EcnCounts;
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

/// The options of one ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckOptions {
    /// Its timestamp: when the packet that it answers was sent.
    pub echo: Time,
    /// What arrived beyond what it acknowledges.
    pub blocks: SackBlocks,
    /// What arrived by ECN field, where ACKs count bytes.
    pub counts: Option<EcnCounts>,
}

/// Where the options of ACKs in flight lie.
#[derive(Clone, Debug, Default)]
pub struct SackSlab {
    slots: Vec<AckOptions>,
    free: Vec<u32>,
}

impl SackSlab {
    /// Attaches options to an ACK, with `option_bytes` before its blocks. A timestamp alone needs no place.
    #[must_use]
    pub fn attach(&mut self, ack: Packet, blocks: SackBlocks, counts: Option<EcnCounts>, option_bytes: u32) -> Packet {
        let of_blocks = if blocks.count == 0 { 0 } else { option_bytes + blocks.bytes() };
        let counts = counts.filter(|_| EcnCounts::fields(blocks.count) > 0);
        let of_counts = counts.map_or(0, |_| EcnCounts::bytes(blocks.count));
        if of_blocks + of_counts == 0 {
            return ack;
        }
        let handle = self.put(AckOptions { echo: ack.sent(), blocks, counts });
        ack.with_blocks(handle, of_blocks + of_counts)
    }

    /// Takes in options: where they are.
    #[must_use]
    pub fn put(&mut self, options: AckOptions) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize] = options;
                handle
            }
            None => {
                self.slots.push(options);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The copy of a packet on its way, with options of its own if that has some.
    #[must_use]
    pub fn copy(&mut self, packet: Packet) -> Packet {
        let Some(handle) = packet.blocks() else { return packet.again() };
        let options = *self.get(handle);
        packet.with_blocks(self.put(options), 0)
    }

    /// The options of an ACK on its way.
    #[must_use]
    pub fn get(&self, handle: u32) -> &AckOptions {
        &self.slots[handle as usize]
    }

    /// Forgets the options of an ACK that was lost.
    pub fn discard(&mut self, handle: u32) {
        self.free.push(handle);
    }

    /// Takes the options of an ACK that has arrived.
    #[must_use]
    pub fn take(&mut self, handle: u32) -> AckOptions {
        self.free.push(handle);
        self.slots[handle as usize]
    }
}

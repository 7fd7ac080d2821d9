//! Selective acknowledgements on their way: the blocks lie in a slab, because few ACKs have any.

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

    /// Bytes that they add to an ACK: two 32-bit words each, as ns-2 counts them.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        8 * u32::from(self.count)
    }
}

/// Where the blocks of ACKs in flight lie. Handle 0 means none.
#[derive(Clone, Debug, Default)]
pub struct SackSlab {
    blocks: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackSlab {
    /// Stores blocks; no blocks need no place.
    pub fn store(&mut self, blocks: SackBlocks) -> u32 {
        if blocks.count == 0 {
            return 0;
        }
        if let Some(handle) = self.free.pop() {
            self.blocks[handle as usize - 1] = blocks;
            handle
        } else {
            self.blocks.push(blocks);
            self.blocks.len() as u32
        }
    }

    /// Takes the blocks of a handle out.
    #[inline]
    pub fn take(&mut self, handle: u32) -> SackBlocks {
        if handle == 0 {
            return SackBlocks::default();
        }
        self.free.push(handle);
        self.blocks[handle as usize - 1]
    }
}

//! Blocks of selective acknowledgements (RFC 2018, RFC 2883).

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

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u8 {
        self.count
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

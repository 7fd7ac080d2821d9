//! What selective acknowledgements have told the sender: the ranges beyond the cumulative ACK that the
//! receiver holds.

/// Sorted, disjoint, half-open ranges of sequence numbers.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    ranges: Vec<(i32, i32)>,
    /// Packets in the ranges.
    held: i32,
    /// The next packet to consider for retransmission in this recovery.
    pub resend_from: i32,
    /// Everything before it is acknowledged.
    floor: i32,
    /// ns-2's estimate of the packets in the pipe.
    pub pipe: i32,
}

impl Scoreboard {
    /// Forgets everything but the cumulative ACK.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.held = 0;
        self.resend_from = -1;
    }

    /// Packets that the receiver holds beyond the cumulative ACK.
    #[must_use]
    pub fn held(&self) -> i32 {
        self.held
    }

    /// Takes in an ACK. True if it told anything new.
    pub fn update(&mut self, acked: i32, blocks: &[(u32, u32)]) -> bool {
        let before = self.held;
        let mut changed = false;
        if self.floor <= acked {
            self.floor = acked + 1;
            changed = !self.ranges.is_empty();
            if changed {
                self.drop_through(acked);
            }
        }
        for &(left, right) in blocks {
            self.add(left as i32, right as i32);
        }
        // Progress of the cumulative ACK over held ranges counts as news, as new ranges do.
        changed || before != self.held
    }

    /// The place of the first range that ends behind `seq`. What ACKs tell of is mostly in the last one or behind it.
    #[inline]
    fn first_beyond(&self, seq: i32) -> usize {
        match self.ranges.last() {
            Some(last) if last.0 <= seq + 1 => self.ranges.len() - usize::from(last.1 > seq),
            _ => self.ranges.partition_point(|range| range.1 <= seq),
        }
    }

    fn drop_through(&mut self, acked: i32) {
        let passed = self.first_beyond(acked + 1);
        self.held -= self.ranges.drain(..passed).map(|(left, right)| right - left).sum::<i32>();
        if let Some(first) = self.ranges.first_mut() {
            let left = first.0.max(acked + 1);
            self.held -= left - first.0;
            first.0 = left;
        }
    }

    fn add(&mut self, left: i32, right: i32) {
        let begin = self.first_beyond(left - 1);
        let Some(&first) = self.ranges.get(begin).filter(|range| range.0 <= right) else {
            self.ranges.insert(begin, (left, right));
            self.held += right - left;
            return;
        };
        // ACKs repeat most blocks.
        if first.0 <= left && right <= first.1 {
            return;
        }
        let end = self.ranges.partition_point(|range| range.0 <= right);
        let merged = (left.min(first.0), right.max(self.ranges[end - 1].1));
        let before: i32 = self.ranges[begin..end].iter().map(|(left, right)| right - left).sum();
        self.ranges[begin] = merged;
        self.ranges.drain(begin + 1..end);
        self.held += merged.1 - merged.0 - before;
    }

    /// Calls `each` with the parts of `[left, right)` that the receiver is not known to hold, in order.
    pub fn for_gaps(&self, left: i32, right: i32, mut each: impl FnMut(i32, i32)) {
        let begin = self.first_beyond(left);
        let mut from = left;
        for &(held_from, held_to) in &self.ranges[begin..] {
            if held_from >= right {
                break;
            }
            if held_from > from {
                each(from, held_from);
            }
            from = held_to;
        }
        if from < right {
            each(from, right);
        }
    }

    /// The first packet from `seq` on that the receiver lacks, if it holds any beyond that one.
    #[must_use]
    pub fn hole(&self, seq: i32) -> Option<i32> {
        let next = self.first_beyond(seq - 1);
        let &(left, right) = self.ranges.get(next)?;
        if left > seq {
            return Some(seq);
        }
        (next + 1 < self.ranges.len()).then_some(right)
    }

    /// Notes that `seq` was retransmitted.
    pub fn retransmitted(&mut self, seq: i32) {
        self.resend_from = self.resend_from.max(seq + 1);
    }

    /// The next packet to send again: a hole not yet retransmitted, with data held beyond it.
    pub fn next_to_resend(&mut self) -> Option<i32> {
        self.resend_from = self.resend_from.max(self.floor);
        let seq = self.hole(self.resend_from)?;
        self.resend_from = self.resend_from.max(seq);
        Some(seq)
    }

    /// The packet with which `count` held packets begin, counted from the top: packets missing below
    /// it have at least `count` held ones above them. None if fewer are held.
    #[must_use]
    pub fn held_from_top(&self, count: i32) -> Option<i32> {
        let mut remaining = count;
        for &(left, right) in self.ranges.iter().rev() {
            let length = right - left;
            if length >= remaining {
                return Some(right - remaining);
            }
            remaining -= length;
        }
        None
    }

    /// Packets missing in `[from, to)`.
    #[must_use]
    pub fn missing(&self, from: i32, to: i32) -> i32 {
        let mut missing = 0;
        self.for_gaps(from, to, |left, right| missing += right - left);
        missing
    }

    /// Whether the receiver holds `seq`.
    #[must_use]
    pub fn holds(&self, seq: i32) -> bool {
        self.ranges.get(self.first_beyond(seq)).is_some_and(|range| range.0 <= seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_hold_what_was_told(blocks in prop::collection::vec((1i32..60, 1i32..9), 1..20), acked in 0i32..30) {
            let mut scoreboard = Scoreboard::default();
            let mut held = BTreeSet::new();
            for (left, length) in blocks {
                scoreboard.update(0, &[(left as u32 + 1, (left + 1 + length) as u32)]);
                held.extend(left + 1..left + 1 + length);
            }
            let mut gaps = Vec::new();
            scoreboard.for_gaps(20, 40, |from, to| gaps.extend(from..to));
            gaps.extend(held.range(20..40));
            gaps.sort_unstable();
            prop_assert_eq!(gaps, (20..40).collect::<Vec<_>>());
            scoreboard.update(acked, &[]);
            held.retain(|&seq| seq > acked);
            prop_assert_eq!(scoreboard.held(), held.len() as i32);
            for seq in acked + 1..80 {
                prop_assert_eq!(scoreboard.holds(seq), held.contains(&seq));
            }
            prop_assert_eq!(scoreboard.missing(acked + 1, 70), 70 - acked - 1 - held.len() as i32);
            let third = held.iter().rev().nth(2).copied();
            prop_assert_eq!(scoreboard.held_from_top(3), third);
        }
    }
}

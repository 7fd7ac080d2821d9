//! Which sequence numbers of a direction were captured, to tell what is retransmitted from what is new or was overtaken.

use super::frame::Nanoseconds;
use super::sequence::after;

/// Gaps that are remembered; of more the oldest is forgotten, as if it had been filled.
const MOST: usize = 64;

/// What was captured: all up to an end, but gaps.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    end: Option<u32>,
    gaps: Vec<Gap>,
}

/// Numbers that were not captured, and when that was seen.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u32,
    to: u32,
    since: Nanoseconds,
}

/// What a segment's numbers were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Some of them lie behind all that had been captured.
    New,
    /// Some of them fill a gap, which had been open for so long.
    Missing(Nanoseconds),
    /// All of them had been captured before.
    Known,
}

impl Seen {
    /// Adds the numbers from `from` until before `to`, captured at `time`.
    pub fn add(&mut self, from: u32, to: u32, time: Nanoseconds) -> Numbers {
        let Some(end) = self.end else {
            self.end = Some(to);
            return Numbers::New;
        };
        if after(from, end) {
            if self.gaps.len() == MOST {
                self.gaps.remove(0);
            }
            self.gaps.push(Gap { from: end, to: from, since: time });
        }
        if after(to, end) {
            self.end = Some(to);
            return Numbers::New;
        }
        self.fill(from, to).map_or(Numbers::Known, |since| Numbers::Missing(time.saturating_sub(since)))
    }

    /// Takes numbers out of the gaps; since when the oldest of these was open.
    fn fill(&mut self, from: u32, to: u32) -> Option<Nanoseconds> {
        let mut oldest: Option<Nanoseconds> = None;
        for gap in std::mem::take(&mut self.gaps) {
            if !after(to, gap.from) || !after(gap.to, from) {
                self.gaps.push(gap);
                continue;
            }
            oldest = Some(oldest.map_or(gap.since, |since| since.min(gap.since)));
            if after(from, gap.from) {
                self.gaps.push(Gap { to: from, ..gap });
            }
            if after(gap.to, to) {
                self.gaps.push(Gap { from: to, ..gap });
            }
        }
        oldest
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers::{Known, Missing, New};
    use super::Seen;

    #[test]
    fn only_what_was_there_is_known() {
        let mut seen = Seen::default();
        let start = u32::MAX - 1999;
        let number = |packet: u32| start.wrapping_add(1000 * packet);
        let mut add = |from: u32, to: u32, time| seen.add(number(from), number(to), time);
        // Packets 0, 1 and 4: 2 and 3 are missing.
        assert_eq!([add(0, 1, 1), add(1, 2, 2), add(4, 5, 3)], [New; 3]);
        assert_eq!([add(1, 2, 4), add(4, 5, 5)], [Known; 2]);
        assert_eq!([add(3, 4, 7), add(3, 4, 8)], [Missing(4), Known]);
        assert_eq!([add(1, 3, 9), add(2, 3, 10)], [Missing(6), Known]);
        // Half of it is new.
        assert_eq!([add(4, 6, 11), add(0, 6, 12)], [New, Known]);
    }
}

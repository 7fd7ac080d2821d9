//! Which sequence numbers of a direction were captured, to tell what is retransmitted from what is new or was overtaken.

use super::frame::Nanoseconds;
use super::sequence::after;

/// Gaps that are remembered; of more the oldest is forgotten, as if it had been filled.
const MOST: usize = 64;

/// What was captured: all up to an end, but gaps.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    end: Option<u32>,
    /// The sender's first timestamp and its newest, each with the time at which it was captured first.
    clock: Option<[(u32, Nanoseconds); 2]>,
    gaps: Vec<Gap>,
    /// Numbers that a retransmission filled in: what was sent first may come yet.
    mended: Vec<Gap>,
}

/// Numbers that were not captured, and when that was seen.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u32,
    to: u32,
    since: Nanoseconds,
    /// The sender's timestamp (RFC 7323) in the segment that showed it, which was sent behind them.
    stamp: Option<u32>,
}

/// What a segment's numbers were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Some of them lie behind all that had been captured.
    New,
    /// Some of them fill a gap, and timestamps do not tell whether they were sent before what showed it.
    Missing {
        /// How long it had been open.
        waited: Nanoseconds,
        /// How long the sender's clock shows one value, if they have that of what showed it.
        tick: Option<Nanoseconds>,
    },
    /// They were sent before a segment that came earlier, and are missing in front of it or were filled in since.
    Overtaken,
    /// All of them had been captured before, or they were sent after a segment had shown that they are missing.
    Again,
}

impl Seen {
    /// Adds the numbers from `from` until before `to`, captured at `time` with a timestamp of the sender.
    pub fn add(&mut self, from: u32, to: u32, time: Nanoseconds, stamp: Option<u32>) -> Numbers {
        if let Some(own) = stamp {
            let [_, newest] = self.clock.get_or_insert([(own, time); 2]);
            if after(own, newest.0) {
                *newest = (own, time);
            }
        }
        let Some(end) = self.end else {
            self.end = Some(to);
            return Numbers::New;
        };
        if after(from, end) {
            push(&mut self.gaps, Gap { from: end, to: from, since: time, stamp });
        }
        if after(to, end) {
            self.end = Some(to);
            return Numbers::New;
        }
        let Some(gap) = self.fill(from, to) else {
            return if self.is_late(from, to, stamp) { Numbers::Overtaken } else { Numbers::Again };
        };
        let waited = time.saturating_sub(gap.since);
        match (gap.stamp, stamp) {
            (Some(shown), Some(own)) if after(shown, own) => Numbers::Overtaken,
            (Some(shown), Some(own)) if after(own, shown) => {
                push(&mut self.mended, Gap { from, to, ..gap });
                Numbers::Again
            }
            // A clock of milliseconds has many segments with one value.
            (Some(_), Some(_)) => Numbers::Missing { waited, tick: self.tick() },
            _ => Numbers::Missing { waited, tick: None },
        }
    }

    /// How long the sender's clock shows one value, as far as it was seen to advance.
    fn tick(&self) -> Option<Nanoseconds> {
        let [(first, from), (newest, to)] = self.clock?;
        to.saturating_sub(from).checked_div(i64::from(newest.wrapping_sub(first)))
    }

    /// Takes numbers out of the gaps; the oldest of these, if there is one.
    fn fill(&mut self, from: u32, to: u32) -> Option<Gap> {
        let mut oldest: Option<Gap> = None;
        for gap in std::mem::take(&mut self.gaps) {
            if !after(to, gap.from) || !after(gap.to, from) {
                self.gaps.push(gap);
                continue;
            }
            oldest = oldest.filter(|oldest| oldest.since <= gap.since).or(Some(gap));
            if after(from, gap.from) {
                self.gaps.push(Gap { to: from, ..gap });
            }
            if after(gap.to, to) {
                self.gaps.push(Gap { from: to, ..gap });
            }
        }
        oldest
    }

    /// Whether numbers that a retransmission filled in come as they were sent first: once.
    fn is_late(&mut self, from: u32, to: u32, stamp: Option<u32>) -> bool {
        let is_first = |gap: &Gap| match (gap.stamp, stamp) {
            (Some(shown), Some(own)) => !after(gap.from, from) && !after(to, gap.to) && !after(own, shown),
            _ => false,
        };
        let found = self.mended.iter().position(is_first);
        found.map(|place| self.mended.remove(place)).is_some()
    }
}

fn push(gaps: &mut Vec<Gap>, gap: Gap) {
    if gaps.len() == MOST {
        gaps.remove(0);
    }
    gaps.push(gap);
}

#[cfg(test)]
mod tests {
    use super::Numbers::{Again, Missing, New, Overtaken};
    use super::Seen;

    #[test]
    fn only_what_was_there_is_known() {
        let mut seen = Seen::default();
        let start = u32::MAX - 1999;
        let number = |packet: u32| start.wrapping_add(1000 * packet);
        let mut add = |from: u32, to: u32, time| seen.add(number(from), number(to), time, None);
        // Packets 0, 1 and 4: 2 and 3 are missing.
        assert_eq!([add(0, 1, 1), add(1, 2, 2), add(4, 5, 3)], [New; 3]);
        assert_eq!([add(1, 2, 4), add(4, 5, 5)], [Again; 2]);
        assert_eq!([add(3, 4, 7), add(3, 4, 8)], [Missing { waited: 4, tick: None }, Again]);
        assert_eq!([add(1, 3, 9), add(2, 3, 10)], [Missing { waited: 6, tick: None }, Again]);
        // Half of it is new.
        assert_eq!([add(4, 6, 11), add(0, 6, 12)], [New, Again]);
    }

    #[test]
    fn timestamps_tell_what_was_overtaken_however_late_it_comes() {
        let mut seen = Seen::default();
        // Timestamps wrap around.
        let mut add = |packet: u32, time, stamp: u32| {
            seen.add(1000 * packet, 1000 * (packet + 1), time, Some(stamp.wrapping_sub(5)))
        };
        // Packets 0, 2, 4 and 6; then 1 as it was sent first, 3 retransmitted, and 5 of which the timestamp says nothing.
        assert_eq!([add(0, 1, 3), add(2, 2, 5), add(4, 3, 6), add(6, 7, 7)], [New; 4]);
        // The clock went from 3 to 30 in 90 ns.
        let equal = Missing { waited: 85, tick: Some(90 / 27) };
        assert_eq!([add(1, 90, 4), add(3, 91, 30), add(5, 92, 7)], [Overtaken, Again, equal]);
        // Packet 3 as it was sent first, which was overtaken by its retransmission; and copies.
        assert_eq!([add(3, 93, 6), add(3, 94, 6), add(3, 95, 30), add(1, 96, 40)], [Overtaken, Again, Again, Again]);
    }
}

//! Which sequence numbers of a direction were captured, to tell what is retransmitted from what is new or was overtaken.

use super::sequence::after;

/// Gaps that are remembered; of more the oldest is forgotten, as if it had been filled.
const MOST: usize = 64;

/// What was captured: all up to an end, but gaps.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    end: Option<u32>,
    gaps: Vec<(u32, u32)>,
}

impl Seen {
    /// Adds the numbers from `from` until before `to`. Whether all of them had been captured before.
    pub fn add(&mut self, from: u32, to: u32) -> bool {
        let Some(end) = self.end else {
            self.end = Some(to);
            return false;
        };
        if after(from, end) {
            if self.gaps.len() == MOST {
                self.gaps.remove(0);
            }
            self.gaps.push((end, from));
        }
        let is_new = after(to, end);
        if is_new {
            self.end = Some(to);
        }
        !is_new && !self.fill(from, to)
    }

    /// Takes numbers out of the gaps; whether there were any.
    fn fill(&mut self, from: u32, to: u32) -> bool {
        let mut filled = false;
        for (start, end) in std::mem::take(&mut self.gaps) {
            if !after(to, start) || !after(end, from) {
                self.gaps.push((start, end));
                continue;
            }
            filled = true;
            if after(from, start) {
                self.gaps.push((start, from));
            }
            if after(end, to) {
                self.gaps.push((to, end));
            }
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn only_what_was_there_is_sent_again() {
        let mut seen = Seen::default();
        let start = u32::MAX - 1999;
        let number = |packet: u32| start.wrapping_add(1000 * packet);
        let mut add = |from: u32, to: u32| seen.add(number(from), number(to));
        // Packets 0, 1 and 4: 2 and 3 are missing.
        assert!(!add(0, 1) && !add(1, 2) && !add(4, 5));
        assert!(add(1, 2) && add(4, 5));
        assert!(!add(3, 4) && add(3, 4));
        assert!(!add(1, 3) && add(2, 3));
        // Half of it is new.
        assert!(!add(4, 6) && add(0, 6));
    }
}

//! The segments of one direction that nobody has acknowledged yet, for the round-trip times of their ACKs.

use std::collections::VecDeque;

use super::file::Nanoseconds;
use super::sequence::{after, not_after};

/// As many as tshark keeps: where the ACKs were not captured, they would become ever more.
const MOST: usize = 10_000;

#[derive(Clone, Copy)]
struct Sent {
    seq: u32,
    next: u32,
    time: Nanoseconds,
}

/// Segments, the oldest first.
#[derive(Default)]
pub struct Unacked {
    sent: VecDeque<Sent>,
    /// Whether one overlaps or precedes an older one, so that an ACK must look at all.
    mixed: bool,
}

impl Unacked {
    /// Whether there is no room for another.
    pub fn is_full(&self) -> bool {
        self.sent.len() >= MOST
    }

    /// Adds a segment.
    pub fn push(&mut self, seq: u32, next: u32, time: Nanoseconds) {
        if self.sent.is_empty() {
            self.mixed = false;
        } else if self.sent.back().is_some_and(|last| after(last.next, seq)) {
            self.mixed = true;
        }
        self.sent.push_back(Sent { seq, next, time });
    }

    /// Forgets what an ACK acknowledges. Returns when the oldest segment was sent that ends where the ACK says: of one
    /// that was sent again, the first time.
    pub fn acknowledge(&mut self, ack: u32) -> Option<Nanoseconds> {
        if self.mixed {
            return self.acknowledge_mixed(ack);
        }
        let mut matched = None;
        while let Some(oldest) = self.sent.front_mut() {
            if oldest.next == ack {
                matched = Some(oldest.time);
            } else if after(oldest.next, ack) {
                if after(ack, oldest.seq) {
                    oldest.seq = ack;
                }
                break;
            }
            self.sent.pop_front();
        }
        matched
    }

    fn acknowledge_mixed(&mut self, ack: u32) -> Option<Nanoseconds> {
        let mut matched = None;
        self.sent.retain_mut(|sent| {
            if sent.next == ack {
                // In the order of age: the first match is the oldest.
                matched = matched.or(Some(sent.time));
                return false;
            }
            if after(ack, sent.seq) && not_after(ack, sent.next) {
                sent.seq = ack;
            }
            after(sent.next, ack)
        });
        matched
    }
}

#[cfg(test)]
mod tests {
    use super::Unacked;

    #[test]
    fn the_first_transmission_counts() {
        let mut unacked = Unacked::default();
        unacked.push(u32::MAX - 99, 900, 1);
        unacked.push(900, 1900, 2);
        unacked.push(u32::MAX - 99, 900, 3);
        assert_eq!(unacked.acknowledge(900), Some(1));
        assert_eq!(unacked.acknowledge(1400), None);
        assert_eq!(unacked.acknowledge(1900), Some(2));
        assert_eq!(unacked.acknowledge(1900), None);
    }
}

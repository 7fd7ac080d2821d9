//! The segments of one direction that nobody has acknowledged yet, for the round-trip times of their ACKs.

use std::collections::VecDeque;

use super::frame::Nanoseconds;
use super::sequence::after;

/// As many as tshark keeps: where the ACKs were not captured, they would become ever more.
const MOST: usize = 10_000;
/// No segment on an Ethernet is larger.
const ETHERNET: u32 = 1500;

#[derive(Clone, Copy)]
struct Sent {
    seq: u32,
    next: u32,
    time: Nanoseconds,
    /// Whether it lies, in part or whole, before an older one: retransmitted, or overtaken.
    again: bool,
}

impl Sent {
    /// Whether it is several segments on the wire, of a host that leaves segmentation to its interface.
    fn is_large(self) -> bool {
        self.next.wrapping_sub(self.seq) > ETHERNET
    }
}

/// The segment that an ACK ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When it was sent; of one that was retransmitted, the first time.
    pub time: Nanoseconds,
    /// Whether nothing that the ACK acknowledges was retransmitted since, so that it can be of no other one (Karn's rule).
    pub clear: bool,
    /// Whether the ACK acknowledges one segment only, and no other is in flight: the receiver may have waited for it.
    pub last: bool,
}

/// Segments, the oldest first.
#[derive(Default)]
pub struct Unacked {
    sent: VecDeque<Sent>,
    /// Whether any of them was retransmitted, so that an ACK must look at all.
    mixed: bool,
    highest: u32,
}

impl Unacked {
    /// Whether there is no room for another.
    pub fn is_full(&self) -> bool {
        self.sent.len() >= MOST
    }

    /// Adds a segment.
    pub fn push(&mut self, seq: u32, next: u32, time: Nanoseconds) {
        let again = !self.sent.is_empty() && after(self.highest, seq);
        if self.sent.is_empty() || after(next, self.highest) {
            self.highest = next;
        }
        self.mixed |= again;
        self.sent.push_back(Sent { seq, next, time, again });
    }

    /// Forgets what an ACK acknowledges. Returns the oldest segment that ends where the ACK says.
    pub fn acknowledge(&mut self, ack: u32) -> Option<Ended> {
        if self.mixed {
            return self.acknowledge_mixed(ack);
        }
        let (mut ended, mut segments) = (None, 0);
        while let Some(oldest) = self.sent.front_mut() {
            if oldest.next == ack {
                ended = Some((oldest.time, oldest.is_large()));
            } else if after(oldest.next, ack) {
                if after(ack, oldest.seq) {
                    oldest.seq = ack;
                }
                break;
            }
            segments += 1;
            self.sent.pop_front();
        }
        ended.map(|(time, large)| Ended { time, clear: true, last: segments == 1 && !large && self.sent.is_empty() })
    }

    fn acknowledge_mixed(&mut self, ack: u32) -> Option<Ended> {
        let (mut time, mut clear, mut mixed) = (None, true, false);
        self.sent.retain_mut(|sent| {
            if after(sent.next, ack) {
                if after(ack, sent.seq) {
                    sent.seq = ack;
                }
                mixed |= sent.again;
                return true;
            }
            if sent.next == ack {
                // In the order of age: the first match is the oldest.
                time = time.or(Some(sent.time));
            }
            // What was retransmitted before the segment was sent comes before it, as the ACK tells.
            clear &= !sent.again || time.is_none();
            false
        });
        self.mixed = mixed;
        time.map(|time| Ended { time, clear, last: false })
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Unacked};

    #[test]
    fn the_first_transmission_counts() {
        let mut unacked = Unacked::default();
        unacked.push(u32::MAX - 99, 900, 1);
        unacked.push(900, 1900, 2);
        unacked.push(u32::MAX - 99, 900, 3);
        unacked.push(1900, 2900, 4);
        assert_eq!(unacked.acknowledge(900), Some(Ended { time: 1, clear: false, last: false }));
        assert_eq!(unacked.acknowledge(1400), None);
        assert_eq!(unacked.acknowledge(1900), Some(Ended { time: 2, clear: true, last: false }));
        assert_eq!(unacked.acknowledge(1900), None);
        assert_eq!(unacked.acknowledge(2900), Some(Ended { time: 4, clear: true, last: true }));
    }

    /// New data behind a retransmission is acknowledged with it, by an ACK that only its arrival can cause.
    #[test]
    fn what_was_retransmitted_before_makes_no_doubt() {
        let mut unacked = Unacked::default();
        for (seq, time) in [(0, 1), (100, 2), (0, 3), (200, 4)] {
            unacked.push(seq, seq + 100, time);
        }
        assert_eq!(unacked.acknowledge(300), Some(Ended { time: 4, clear: true, last: false }));
        for (seq, time) in [(300, 5), (400, 6), (300, 7)] {
            unacked.push(seq, seq + 100, time);
        }
        assert_eq!(unacked.acknowledge(500), Some(Ended { time: 6, clear: false, last: false }));
    }
}

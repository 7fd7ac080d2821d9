//! Explicit congestion notification in the ends of a connection: what a sender has to know of marks, and how
//! a receiver tells of them (RFC 3168 §6.1; RFC 8257 §3.2).
//!
//! The handshake is taken to agree on it: both ends of a flow are set by one key. Only data packets sent for
//! the first time are capable (RFC 3168 §6.1.4 and §6.1.5): no SYN, no ACK, no retransmission.

use crate::packet::Packet;

/// What a packet says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// It may be marked (ECT).
    pub capable: bool,
    /// It is (CE).
    pub marked: bool,
    /// The sender has reduced its window (CWR).
    pub reduced: bool,
}

impl Signs {
    /// Those of a packet.
    #[inline]
    #[must_use]
    pub fn of(packet: &Packet) -> Self {
        Self { capable: packet.is_capable(), marked: packet.is_marked(), reduced: packet.is_reduced() }
    }
}

/// What a sender knows of marks.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Packets say that they may be marked.
    pub capable: bool,
    /// The next new packet says that the window was reduced (CWR).
    tell: bool,
    /// The last reduction answered a mark, not a loss.
    by_mark: bool,
    /// The last packet sent before the last reduction: what is told of packets up to it is old news.
    through: i32,
}

impl Marks {
    /// Nothing was marked yet.
    #[must_use]
    pub fn new(capable: bool) -> Self {
        Self { capable, tell: false, by_mark: false, through: -1 }
    }

    /// What a new data packet has to say.
    pub fn signs(&mut self) -> Signs {
        Signs { capable: self.capable, marked: false, reduced: std::mem::take(&mut self.tell) && self.capable }
    }

    /// The window was reduced when `highest` was the highest packet sent, for a mark or for a loss.
    pub fn reduced(&mut self, highest: i32, by_mark: bool) {
        *self = Self { tell: true, by_mark, through: highest, ..*self };
    }

    /// Whether a mark that the ACK of `ack` tells of is news: one reduction in a window of data
    /// (RFC 3168 §6.1.2).
    #[must_use]
    pub fn is_news(&self, ack: i32) -> bool {
        ack > self.through
    }

    /// Whether the window of data after `acked` was answered already, because of a mark.
    #[must_use]
    pub fn answered(&self, acked: i32) -> bool {
        self.by_mark && acked < self.through
    }
}

/// How a receiver tells of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// It does not.
    None,
    /// All ACKs do, from a mark on until the sender says that it has reduced its window (RFC 3168 §6.1.3).
    Latched,
    /// ACKs of marked packets do, and only they (RFC 8257 §3.2).
    Accurate,
}

/// What a receiver knows of marks.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    feedback: Feedback,
    /// ACKs tell of congestion now (ECE).
    pub on: bool,
}

impl Echo {
    /// Nothing was marked yet.
    #[must_use]
    pub fn new(feedback: Feedback) -> Self {
        Self { feedback, on: false }
    }

    /// Whether the receiver looks at marks at all.
    #[inline]
    #[must_use]
    pub fn looks(&self) -> bool {
        self.feedback != Feedback::None
    }

    /// Whether it tells of each mark.
    #[inline]
    #[must_use]
    pub fn is_accurate(&self) -> bool {
        self.feedback == Feedback::Accurate
    }

    /// Whether the packet ends a run of packets that were alike: an ACK that is owed for them must not cover it.
    /// A packet that could not be marked says nothing.
    #[must_use]
    pub fn changes_with(&self, signs: Signs) -> bool {
        self.feedback == Feedback::Accurate && signs.capable && signs.marked != self.on
    }

    /// Takes note of a data packet. True if it must be acknowledged at once (RFC 8257 figure 1).
    pub fn see(&mut self, signs: Signs) -> bool {
        match self.feedback {
            Feedback::None => false,
            Feedback::Latched => {
                self.on = signs.marked || self.on && !signs.reduced;
                false
            }
            Feedback::Accurate => {
                let changes = self.changes_with(signs);
                self.on ^= changes;
                changes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Signs = Signs { capable: true, marked: false, reduced: false };
    const MARKED: Signs = Signs { marked: true, ..PLAIN };
    const REDUCED: Signs = Signs { reduced: true, ..PLAIN };

    /// RFC 3168 §6.1.3: echoed until the sender has answered, even if the answer is marked itself.
    #[test]
    fn a_mark_is_echoed_until_the_sender_has_reduced_its_window() {
        let mut echo = Echo::new(Feedback::Latched);
        let mut after = |signs: Signs| {
            echo.see(signs);
            echo.on
        };
        assert!(!after(PLAIN));
        assert!(after(MARKED));
        assert!(after(PLAIN));
        assert!(after(Signs { reduced: true, ..MARKED }));
        assert!(after(PLAIN));
        assert!(!after(REDUCED));
        assert!(!after(PLAIN));
    }

    /// RFC 8257 figure 1; a retransmission, which is not capable, changes nothing.
    #[test]
    fn accurate_feedback_follows_the_marks() {
        let mut echo = Echo::new(Feedback::Accurate);
        let retransmission = Signs::default();
        let packets = [PLAIN, MARKED, MARKED, retransmission, REDUCED, PLAIN];
        let seen: Vec<(bool, bool)> = packets.iter().map(|&signs| (echo.see(signs), echo.on)).collect();
        let quiet = (false, false);
        assert_eq!(seen, [quiet, (true, true), (false, true), (false, true), (true, false), quiet]);
    }

    /// RFC 3168 §6.1.2: one reduction in a window, which the next new packet tells of, once.
    #[test]
    fn a_sender_answers_once_in_a_window_and_says_so_once() {
        let mut marks = Marks::new(true);
        assert!(marks.is_news(0) && !marks.signs().reduced);
        marks.reduced(20, true);
        assert!(!marks.is_news(20) && marks.is_news(21));
        assert!(marks.answered(19) && !marks.answered(20));
        assert!(marks.signs().reduced && !marks.signs().reduced);
        // A loss of that window is the same congestion; a second loss is the recovery's matter.
        marks.reduced(40, false);
        assert!(!marks.is_news(40) && !marks.answered(30));
    }
}

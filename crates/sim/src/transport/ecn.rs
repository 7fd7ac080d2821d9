//! Explicit congestion notification in the ends of a connection: what a sender has to know of marks, and how
//! a receiver tells of them (RFC 3168 §6.1; RFC 8257 §3.2).
//!
//! The handshake is taken to agree on it: both ends of a flow are set by one key. Only data packets sent for
//! the first time are capable (RFC 3168 §6.1.4 and §6.1.5): no SYN, no ACK, no retransmission.

use crate::packet::Packet;

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

    /// A new data packet with what it has to say.
    pub fn on(&mut self, packet: Packet) -> Packet {
        let packet = packet.capable();
        if std::mem::take(&mut self.tell) { packet.reduced() } else { packet }
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

    /// Whether the packet ends a run of packets that were alike: an ACK that is owed for them must not cover it.
    /// A packet that could not be marked says nothing.
    #[inline]
    #[must_use]
    pub fn changes_with(&self, packet: &Packet) -> bool {
        self.feedback == Feedback::Accurate && packet.is_capable() && packet.is_marked() != self.on
    }

    /// Takes note of a data packet. True if it must be acknowledged at once (RFC 8257 figure 1).
    pub fn see(&mut self, packet: &Packet) -> bool {
        match self.feedback {
            Feedback::None => false,
            Feedback::Latched => {
                self.on = packet.is_marked() || self.on && !packet.is_reduced();
                false
            }
            Feedback::Accurate => {
                let changes = self.changes_with(packet);
                self.on ^= changes;
                changes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn data() -> Packet {
        Packet::new(Kind::Segment, 0, 1, 1000, 0.0).capable()
    }

    /// RFC 3168 §6.1.3: echoed until the sender has answered, even if the answer is marked itself.
    #[test]
    fn a_mark_is_echoed_until_the_sender_has_reduced_its_window() {
        let mut echo = Echo::new(Feedback::Latched);
        let mut after = |packet: Packet| {
            echo.see(&packet);
            echo.on
        };
        assert!(!after(data()));
        assert!(after(data().marked()));
        assert!(after(data()));
        assert!(after(data().reduced().marked()));
        assert!(after(data()));
        assert!(!after(data().reduced()));
        assert!(!after(data()));
    }

    /// RFC 8257 figure 1; a retransmission, which is not capable, changes nothing.
    #[test]
    fn accurate_feedback_follows_the_marks() {
        let mut echo = Echo::new(Feedback::Accurate);
        let retransmission = Packet::new(Kind::Segment, 0, 1, 1000, 0.0);
        let packets = [data(), data().marked(), data().marked(), retransmission, data().reduced(), data()];
        let seen: Vec<(bool, bool)> = packets.iter().map(|packet| (echo.see(packet), echo.on)).collect();
        let quiet = (false, false);
        assert_eq!(seen, [quiet, (true, true), (false, true), (false, true), (true, false), quiet]);
    }

    /// RFC 3168 §6.1.2: one reduction in a window, which the next new packet tells of, once.
    #[test]
    fn a_sender_answers_once_in_a_window_and_says_so_once() {
        let mut marks = Marks::new(true);
        assert!(marks.is_news(0) && !marks.on(data()).is_reduced());
        marks.reduced(20, true);
        assert!(!marks.is_news(20) && marks.is_news(21));
        assert!(marks.answered(19) && !marks.answered(20));
        assert!(marks.on(data()).is_reduced() && !marks.on(data()).is_reduced());
        // A loss of that window is the same congestion; a second loss is the recovery's matter.
        marks.reduced(40, false);
        assert!(!marks.is_news(40) && !marks.answered(30));
    }
}

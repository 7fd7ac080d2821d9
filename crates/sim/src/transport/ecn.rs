//! Explicit congestion notification in the ends of a connection: what a sender has to know of marks, and how
//! a receiver tells of them (RFC 3168 §6.1; RFC 8257 §3.2; by a counter: `accecn.rs`).
//!
//! The handshake agrees on it, but under profile `ns2`, which has none. Only data packets sent for the first time are capable
//! (RFC 3168 §6.1.1, §6.1.4, §6.1.5): no ACK, no retransmission but under profile `ns2`, and no SYN without accurate ECN.

use super::accecn::{Counted, Counter, EcnCounts, handshake};
use super::signs::Signs;
use crate::scenario::Ecn;

/// What a sender knows of marks.
#[derive(Clone, Debug)]
pub struct Marks {
    /// Packets say that they may be marked.
    pub capable: bool,
    /// ns-2: a mark came whose window cannot be cut, so that the next one backs off the timer, which stays so.
    pub(super) backs_off: bool,
    /// The next new packet says that the window was reduced (CWR).
    tell: bool,
    /// The last reduction answered a mark, not a loss.
    by_mark: bool,
    /// The last packet sent before the last reduction: what is told of packets up to it is old news.
    through: i32,
    /// With accurate ECN.
    pub(super) counter: Option<Box<Counter>>,
}

impl Marks {
    /// Nothing was marked yet.
    #[must_use]
    pub fn new(ecn: Ecn) -> Self {
        let counter = (ecn == Ecn::Accurate).then(Box::default);
        Self { capable: ecn != Ecn::Off, backs_off: false, tell: false, by_mark: false, through: -1, counter }
    }

    /// What packet `seq`, which is new, has to say. With accurate ECN nobody waits to hear of reduced windows.
    pub fn signs(&mut self, seq: i32) -> Signs {
        let counts = self.counter.is_some();
        let reduced = seq > 0 && std::mem::take(&mut self.tell) && self.capable && !counts;
        Signs { capable: self.capable && (seq > 0 || counts), reduced, ..Signs::default() }
    }

    /// The SYN was acknowledged with these flags; `again` says that it was not the first, `scalable` whose packets it is among.
    /// True if it was marked on its way, or may have been.
    pub fn open(&mut self, ace: u8, again: bool, scalable: bool) -> bool {
        if matches!(ace, handshake::NO_ECN | handshake::CLASSIC | handshake::BROKEN) {
            let asked_for_more = self.counter.take().is_some();
            // RFC 9768 §3.1.2: the best that both ends have. A scalable control needs to know of each mark (RFC 9331 §4.2), so
            // that it does without (Linux: TCP_CONG_NO_FALLBACK_RFC3168).
            self.capable &= ace == handshake::CLASSIC && !(asked_for_more && scalable);
            // draft-ietf-tcpm-generalized-ecn §3.2.1.4: nobody can tell how a SYN arrived that said ECT.
            return asked_for_more;
        }
        let Some(counter) = &mut self.counter else { return false };
        // RFC 9768 §3.2.2.3: a path that clears the field is not worth using it.
        self.capable &= again || ace != handshake::NOT_ECT;
        let marked = ace == handshake::CE;
        if marked {
            counter.open_marked();
        }
        marked
    }

    /// Of `delivered` packets that an ACK with news of marks acknowledges, those that were marked: all, where nobody counts.
    pub fn news(&mut self, delivered: f64) -> f64 {
        self.counter.as_mut().map_or(delivered, |counter| counter.take_news())
    }

    /// The window was reduced when `highest` was the highest packet sent, for a mark or for a loss.
    pub fn reduced(&mut self, highest: i32, by_mark: bool) {
        (self.tell, self.by_mark, self.through) = (true, by_mark, highest);
    }

    /// The window was reduced, in the window of data that a reduction has answered.
    pub fn tell(&mut self) {
        self.tell = true;
    }

    /// No reduction is remembered (ns-2's `recover_` is zero): ACKs of any packet may tell of news.
    pub fn forget(&mut self) {
        (self.by_mark, self.through) = (false, 0);
    }

    /// Whether a mark that the ACK of `ack` after that of `before` tells of is news: one reduction in a window of data
    /// (RFC 3168 §6.1.2). Where marks are counted, any packet of those that it acknowledges may have had it.
    #[must_use]
    pub fn is_news(&self, before: i32, ack: i32) -> bool {
        if self.counter.is_some() { before >= self.through } else { ack > self.through }
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
    /// All ACKs do, by a counter (RFC 9768), and with `option` by a TCP option, too.
    Counted {
        /// Whether they have the option.
        option: bool,
    },
}

/// What a receiver knows of marks.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    feedback: Feedback,
    /// It says what it has when a SYN asks for ECN; and the next ACK does.
    handshakes: bool,
    answers: bool,
    /// ns-2: a segment was marked that no ACK has covered yet (`save_`).
    marked_since_ack: bool,
    /// A segment came that could be marked (TCP_ECN_SEEN).
    seen: bool,
    /// The flags AE, CWR and ECE of ACKs now.
    ace: u8,
    counted: Counted,
}

impl Echo {
    /// Nothing was marked yet.
    #[must_use]
    pub fn new(feedback: Feedback, handshakes: bool) -> Self {
        let counted = Counted::default();
        Self { feedback, handshakes, answers: false, marked_since_ack: false, seen: false, ace: 0, counted }
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
        self.feedback == Feedback::Accurate && signs.capable && signs.marked != self.on()
    }

    /// ACKs tell of congestion now (ECE).
    fn on(&self) -> bool {
        self.ace != 0
    }

    /// The flags AE, CWR and ECE of an ACK that leaves now, and what its AccECN option says, if it has one.
    #[inline]
    pub fn tell(&mut self) -> (u8, Option<EcnCounts>) {
        if self.looks() { self.tell_of_marks() } else { (0, None) }
    }

    #[inline(never)]
    fn tell_of_marks(&mut self) -> (u8, Option<EcnCounts>) {
        self.counted.told();
        self.marked_since_ack = false;
        let ace = if std::mem::take(&mut self.answers) { handshake::CLASSIC } else { self.ace };
        (ace, (self.feedback == Feedback::Counted { option: true }).then_some(self.counted.counts))
    }

    /// Linux's tcp_ecn_check_ce, before it takes note of a segment with data: whether the sender may have a small window, as
    /// it retransmits, or will, as the segment is the first to be marked since it has reduced its window.
    #[must_use]
    pub fn hurries(&mut self, signs: Signs) -> bool {
        let first = self.feedback == Feedback::Latched && signs.marked && (signs.reduced || !self.on());
        let counts = matches!(self.feedback, Feedback::Counted { .. });
        let again = self.seen && !signs.capable && !counts;
        // What says ECT(1) has accurate ECN in Linux.
        self.seen |= signs.capable && !signs.scalable;
        first || again
    }

    /// Takes note of packet `seq`. True if it must be acknowledged at once (RFC 8257 figure 1).
    pub fn see(&mut self, seq: u32, signs: Signs) -> bool {
        match self.feedback {
            Feedback::None => false,
            Feedback::Latched | Feedback::Accurate if seq == 0 => {
                self.answers = self.handshakes;
                true
            }
            Feedback::Latched => {
                // ns-2's TcpSink::ack looks at both segments of a delayed ACK: at CWR of either, then at CE of either.
                self.marked_since_ack |= signs.marked && !self.handshakes;
                self.ace = u8::from(signs.marked || self.marked_since_ack || self.on() && !signs.reduced);
                false
            }
            Feedback::Accurate => {
                let changes = self.changes_with(signs);
                self.ace ^= u8::from(changes);
                changes
            }
            Feedback::Counted { .. } if seq == 0 => {
                self.ace = self.counted.open(signs);
                true
            }
            Feedback::Counted { .. } => {
                let at_once;
                (self.ace, at_once) = self.counted.see(signs);
                at_once
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Signs = Signs { capable: true, marked: false, reduced: false, scalable: false };
    const MARKED: Signs = Signs { marked: true, ..PLAIN };
    const REDUCED: Signs = Signs { reduced: true, ..PLAIN };

    /// RFC 3168 §6.1.3: echoed until the sender has answered, even if the answer is marked itself.
    #[test]
    fn a_mark_is_echoed_until_the_sender_has_reduced_its_window() {
        let mut echo = Echo::new(Feedback::Latched, true);
        let mut after = |signs: Signs| {
            echo.see(1, signs);
            echo.on()
        };
        assert!(!after(PLAIN));
        assert!(after(MARKED));
        assert!(after(PLAIN));
        assert!(after(Signs { reduced: true, ..MARKED }));
        assert!(after(PLAIN));
        assert!(!after(REDUCED));
        assert!(!after(PLAIN));
    }

    /// ns-2's TcpSink::ack: CWR of a segment does not silence the mark of the one before it, if one ACK is for both.
    #[test]
    fn profile_ns2_tells_of_a_mark_whose_ack_was_delayed() {
        for (handshakes, told) in [(true, 0), (false, 1)] {
            let mut echo = Echo::new(Feedback::Latched, handshakes);
            echo.see(1, MARKED);
            echo.see(2, REDUCED);
            assert_eq!(echo.tell().0, told);
            echo.see(3, REDUCED);
            assert_eq!(echo.tell().0, 0);
        }
    }

    /// RFC 8257 figure 1; a retransmission, which is not capable, changes nothing.
    #[test]
    fn accurate_feedback_follows_the_marks() {
        let mut echo = Echo::new(Feedback::Accurate, true);
        let retransmission = Signs::default();
        let packets = [PLAIN, MARKED, MARKED, retransmission, REDUCED, PLAIN];
        let seen: Vec<(bool, bool)> = packets.iter().map(|&signs| (echo.see(1, signs), echo.on())).collect();
        let quiet = (false, false);
        assert_eq!(seen, [quiet, (true, true), (false, true), (false, true), (true, false), quiet]);
    }

    /// RFC 3168 §6.1.2: one reduction in a window, which the next new packet tells of, once.
    #[test]
    fn a_sender_answers_once_in_a_window_and_says_so_once() {
        let mut marks = Marks::new(Ecn::Classic);
        assert!(marks.is_news(-1, 0) && !marks.signs(1).reduced);
        marks.reduced(20, true);
        assert!(!marks.is_news(18, 20) && marks.is_news(19, 21));
        let mut counting = Marks::new(Ecn::Accurate);
        counting.reduced(20, true);
        assert!(!counting.is_news(19, 21) && counting.is_news(20, 22));
        assert!(marks.answered(19) && !marks.answered(20));
        assert!(marks.signs(2).reduced && !marks.signs(3).reduced);
        // A loss of that window is the same congestion; a second loss is the recovery's matter.
        marks.reduced(40, false);
        assert!(!marks.is_news(39, 40) && !marks.answered(30));
    }
}

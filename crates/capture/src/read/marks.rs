//! Congestion marks as a connection tells of them: by ECE and CWR (RFC 3168), or by a counter (RFC 9768).

use super::frame::Nanoseconds;
use super::segment::{ACK, CWR, ECE, SYN, Segment};
use super::sequence::after;

/// The field ACE of a SYN that asks for the counter, and answers that agree, by how the SYN arrived (RFC 9768 §3.1.1).
const ASKS: u8 = 7;
const ANSWER: u8 = SYN | ACK;
const AGREES: [u8; 4] = [2, 3, 4, 6];
/// The answer that agrees on ECN as RFC 3168 has it; that of RFC 3540 counts as such.
const CLASSIC: [u8; 2] = [1, 5];
/// What the counter begins with (RFC 9768 §3.2.1).
const INITIAL: u8 = 5;

/// What both ends agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// No marks, or the handshake was not seen.
    #[default]
    Unknown,
    /// A SYN asks for the counter.
    Asked,
    /// ECE until CWR.
    Classic,
    /// A counter of the marked packets that arrived.
    Accurate,
}

impl Ecn {
    /// What a segment of the handshake adds.
    #[must_use]
    pub fn after(self, segment: &Segment) -> Self {
        let answered = [Self::Classic, Self::Accurate].contains(&self);
        match (segment.flags & (SYN | ACK), segment.ace) {
            (SYN, ASKS) if !answered => Self::Asked,
            (SYN, _) if !answered => Self::Unknown,
            (ANSWER, ace) if CLASSIC.contains(&ace) => Self::Classic,
            // Also that of a copy.
            (ANSWER, ace) if [Self::Asked, Self::Accurate].contains(&self) && AGREES.contains(&ace) => Self::Accurate,
            (ANSWER, _) => Self::Unknown,
            _ => self,
        }
    }
}

/// Marks of which a receiver tells, for which a sender reduces its window once in a round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    ace: Option<u8>,
    acked: Option<u32>,
    /// The last reduction: what had been sent until then, and when.
    reduced: Option<(u32, Nanoseconds)>,
    /// Whether the receiver told of marks that the sender has not answered.
    echoed: bool,
}

impl Marks {
    /// An ACK of RFC 3168 may tell of marks: until the sender's answer is acknowledged, of those that it answered.
    pub fn echo(&mut self, ack: &Segment) {
        self.echoed |= ack.has(ECE) && self.reduced.is_none_or(|(until, _)| after(ack.ack, until));
    }

    /// Whether a segment says that the window was reduced for marks. It says the same of a loss (RFC 3168 §6.1.2).
    pub fn answers(&mut self, segment: &Segment, time: Nanoseconds) -> bool {
        if segment.payload == 0 || !segment.has(CWR) {
            return false;
        }
        self.reduced = Some((segment.seq, time));
        std::mem::take(&mut self.echoed)
    }

    /// Whether an ACK of RFC 9768 lets the sender of data reduce its window. `sent` is the end of what was sent so far, as far
    /// as it was captured: that falls short of it behind the sender, and a round trip `rtt` of the path must have passed, too.
    pub fn reduces(&mut self, ack: &Segment, sent: u32, time: Nanoseconds, rtt: Option<Nanoseconds>) -> bool {
        // One that was overtaken has an older count.
        if self.acked.is_some_and(|acked| !after(ack.ack, acked)) {
            return false;
        }
        self.acked = Some(ack.ack);
        if self.ace.replace(ack.ace).unwrap_or(INITIAL) == ack.ace {
            return false;
        }
        let again =
            |(until, when): (u32, Nanoseconds)| after(ack.ack, until) && time.saturating_sub(when) >= rtt.unwrap_or(0);
        let reduces = self.reduced.is_none_or(again);
        if reduces {
            self.reduced = Some((sent, time));
        }
        reduces
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::{ACK, CWR, ECE, SYN, Segment};
    use super::{Ecn, Marks};

    fn segment(flags: u8, ace: u8, ack: u32) -> Segment {
        Segment { seq: 0, ack, flags, ace, window: 0, payload: 0, options: None, timestamps: None }
    }

    #[test]
    fn handshakes_agree_or_not() {
        let agreed = |asked, answer| {
            let asks = Ecn::default().after(&segment(SYN, asked, 0));
            asks.after(&segment(SYN | ACK, answer, 1)).after(&segment(ACK, 3, 1))
        };
        assert_eq!([2, 3, 4, 6].map(|answer| agreed(7, answer)), [Ecn::Accurate; 4]);
        assert_eq!([(7, 1), (3, 1), (7, 5)].map(|(asked, answer)| agreed(asked, answer)), [Ecn::Classic; 3]);
        let copied = [(SYN, 7), (SYN, 7), (SYN | ACK, 2), (SYN | ACK, 2), (SYN, 7)];
        let both = copied.iter().fold(Ecn::default(), |ecn, &(flags, ace)| ecn.after(&segment(flags, ace, 1)));
        assert_eq!(both, Ecn::Accurate);
        // Nothing, or flags that were reflected.
        assert_eq!([(7, 0), (7, 7), (3, 3), (0, 2)].map(|(asked, answer)| agreed(asked, answer)), [Ecn::Unknown; 4]);
    }

    #[test]
    fn a_window_is_reduced_once_in_a_round_trip() {
        let mut marks = Marks::default();
        let mut told = |ack, ace, sent, time| marks.reduces(&segment(ACK, ace, ack), sent, time, Some(50));
        assert_eq!([told(100, 5, 1000, 10), told(200, 6, 1100, 20), told(300, 7, 1200, 30)], [false, true, false]);
        // Overtaken; all that was sent then is acknowledged, but no round trip has passed; then it has.
        assert_eq!([told(250, 6, 1300, 35), told(1100, 0, 2000, 60), told(1200, 1, 2000, 65)], [false, false, false]);
        assert_eq!([told(1300, 1, 2000, 80), told(1400, 2, 2100, 90)], [false, true]);
    }

    #[test]
    fn a_reduction_is_for_marks_where_the_receiver_told_of_some() {
        let mut marks = Marks::default();
        let mut sends = |seq| marks.answers(&Segment { seq, payload: 100, ..segment(ACK | CWR, 0, 1) }, 0);
        assert!(!sends(100));
        for (ack, again) in [(150, true), (400, false), (501, true)] {
            marks.echo(&segment(ACK | ECE, 0, ack));
            let mut sends = |seq| marks.answers(&Segment { seq, payload: 100, ..segment(ACK | CWR, 0, 1) }, 0);
            assert_eq!((sends(500), sends(500)), (again, false), "{ack}");
        }
    }
}

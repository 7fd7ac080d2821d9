//! Accurate ECN (RFC 9768): ACKs carry the number of marked packets that came, modulo eight, in the flags AE, CWR and ECE
//! (ACE), so that a sender knows of each mark although ACKs are delayed, merged or lost.
//!
//! The sender asks for it, and what answers the SYN says what the receiver has: this, the ECN of RFC 3168, or none (§3.1). The
//! SYN says ECT (draft-ietf-tcpm-generalized-ecn §3.2.1) and its answer how it arrived, by which a sender sees that a path clears
//! the field (§3.2.2.3).
//!
//! With the TCP option (§3.2.3) ACKs also carry how many bytes came by ECN field, which no number of lost ACKs makes ambiguous.
//! Payloads of a flow are alike, so that packets are counted here. The fields of 24 bits wrap after more bytes than are
//! between two ACKs: the whole number is kept.

use super::signs::Signs;

/// Where both ends begin to count (§3.2.1), so that a flag that is cleared on the way does not look like a beginning.
pub const INITIAL: u8 = 5;
/// The counter wraps at so many marks.
const WRAP: u32 = 8;
/// Marks that may be untold: the second is acknowledged at once (§3.2.2.5.1).
const MOST_UNTOLD: u8 = 2;

/// What the ACK of a SYN says of the receiver, and of the ECN field with which the SYN arrived (§3.1.1, table 2).
pub mod handshake {
    /// The receiver has no ECN.
    pub const NO_ECN: u8 = 0b000;
    /// It has that of RFC 3168.
    pub const CLASSIC: u8 = 0b001;
    /// It sends back what it got, and knows nothing of it.
    pub const BROKEN: u8 = 0b111;
    /// Not-ECT.
    pub const NOT_ECT: u8 = 0b010;
    /// ECT(1).
    pub const ECT1: u8 = 0b011;
    /// ECT(0).
    pub const ECT0: u8 = 0b100;
    /// CE.
    pub const CE: u8 = 0b110;
}

/// Packets with payload that came, by their ECN field (r.ceb, r.e0b and r.e1b, in packets).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// CE.
    pub marked: u32,
    /// ECT(0).
    pub ect0: u32,
    /// ECT(1).
    pub ect1: u32,
}

impl EcnCounts {
    /// How many of the three fit behind a timestamp and a SACK option of so many blocks (§3.2.3, RFC 9293 §3.1: 40 bytes of
    /// options). Two are the mark's and that of packets without one.
    #[must_use]
    pub fn fields(blocks: u8) -> usize {
        match blocks {
            0 | 1 => 3,
            2 => 2,
            _ => 0,
        }
    }

    /// Bytes of the option with what fits, whole words.
    #[must_use]
    pub fn bytes(blocks: u8) -> u32 {
        (2 + 3 * Self::fields(blocks) as u32).next_multiple_of(4)
    }

    fn see(&mut self, signs: Signs) {
        match signs {
            Signs { marked: true, .. } => self.marked += 1,
            Signs { scalable: true, .. } => self.ect1 += 1,
            Signs { capable: true, .. } => self.ect0 += 1,
            _ => {}
        }
    }
}

/// What a receiver counts of marks.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Marked packets that came, modulo eight (r.cep).
    ace: u8,
    /// How many of them no ACK has told of.
    untold: u8,
    /// The last packet was one of them.
    marked: bool,
    /// What the option says.
    pub counts: EcnCounts,
}

impl Default for Counted {
    fn default() -> Self {
        Self { ace: INITIAL, untold: 0, marked: false, counts: EcnCounts::default() }
    }
}

impl Counted {
    /// The SYN came: what its ACK says.
    pub fn open(&mut self, signs: Signs) -> u8 {
        *self = Self { ace: (INITIAL + u8::from(signs.marked)) % WRAP as u8, ..Self::default() };
        match signs {
            Signs { marked: true, .. } => handshake::CE,
            Signs { scalable: true, .. } => handshake::ECT1,
            Signs { capable: true, .. } => handshake::ECT0,
            _ => handshake::NOT_ECT,
        }
    }

    /// Another packet came: what ACKs say from now on, and whether one is due at once (§3.2.2.5.1): at the first mark, and
    /// where enough are untold.
    pub fn see(&mut self, signs: Signs) -> (u8, bool) {
        let changes = signs.marked && !self.marked;
        self.marked = signs.marked;
        self.counts.see(signs);
        if signs.marked {
            self.ace = (self.ace + 1) % WRAP as u8;
            self.untold += 1;
        }
        (self.ace, changes || signs.marked && self.untold >= MOST_UNTOLD)
    }

    /// An ACK leaves.
    pub fn told(&mut self) {
        self.untold = 0;
    }
}

/// What a sender counts of marks.
#[derive(Clone, Debug)]
pub struct Counter {
    /// The last ACE that came (s.cep, modulo eight).
    ace: u8,
    /// Packets that the receiver is known to have had.
    delivered: i32,
    /// Marks that no congestion control has heard of.
    news: u32,
    /// Marked packets with payload of which ACKs have told (s.ceb, in packets).
    marked: u32,
    /// How many the option of the ACK that is taken next counts, if it has one.
    option: Option<u32>,
    /// All of which one has.
    #[cfg(test)]
    pub told: f64,
}

impl Default for Counter {
    fn default() -> Self {
        Self {
            ace: INITIAL,
            delivered: 0,
            news: 0,
            marked: 0,
            option: None,
            #[cfg(test)]
            told: 0.0,
        }
    }
}

impl Counter {
    /// The SYN arrived with a mark, which both ends count.
    pub fn open_marked(&mut self) {
        self.ace = INITIAL + 1;
    }

    /// Packets that the receiver is known to have had.
    pub fn delivered(&self) -> i32 {
        self.delivered
    }

    /// An ACK came, after which the receiver is known to have had `delivered` packets. True if there is news of marks.
    pub fn take(&mut self, ace: u8, delivered: i32) -> bool {
        let packets = (delivered - self.delivered).max(0) as u32;
        self.delivered = self.delivered.max(delivered);
        // One that was overtaken counts less, and so does one after others without the option, of which too many were taken.
        let newly = match self.option.take() {
            Some(marked) => marked.saturating_sub(self.marked),
            None => newly_marked(self.ace, ace, packets),
        };
        self.marked += newly;
        self.news += newly;
        self.ace = ace;
        self.news > 0
    }

    /// The option of the ACK that is taken next counts so many marked packets.
    pub fn read(&mut self, counts: EcnCounts) {
        self.option = Some(counts.marked);
    }

    /// The same where ACKs say what arrived. One that tells of no packet may have been overtaken, so that its count is old
    /// (Linux: FLAG_FORWARD_PROGRESS); if it is new, the next has it, too.
    pub fn take_progress(&mut self, ace: u8, delivered: i32) -> bool {
        if delivered > self.delivered {
            return self.take(ace, delivered);
        }
        self.option = None;
        self.news > 0
    }

    /// Marks of which a congestion control hears now.
    pub fn take_news(&mut self) -> f64 {
        let news = f64::from(std::mem::take(&mut self.news));
        #[cfg(test)]
        {
            self.told += news;
        }
        news
    }
}

/// How many of `packets` that an ACK tells of for the first time were marked, where it has `ace` after `before`: where the
/// counter may have wrapped as ACKs were lost, the most (§3.2.2.5.2 and Appendix A.2). Linux takes the least where ACKs tell
/// of many packets all the time.
fn newly_marked(before: u8, ace: u8, packets: u32) -> u32 {
    let least = (u32::from(ace) + WRAP - u32::from(before)) % WRAP;
    if packets < WRAP { least } else { packets - (packets - least) % WRAP }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Signs = Signs { capable: true, marked: false, reduced: false, scalable: false };
    const MARKED: Signs = Signs { marked: true, ..PLAIN };

    /// Table 2.
    #[test]
    fn the_handshake_tells_how_the_syn_arrived() {
        let code = |signs| Counted::default().open(signs);
        let scalable = Signs { scalable: true, ..PLAIN };
        let codes = [Signs::default(), scalable, PLAIN, MARKED].map(code);
        assert_eq!(codes, [0b010, 0b011, 0b100, 0b110]);
        assert_eq!([scalable, Signs { marked: true, ..scalable }].map(code), [0b011, 0b110]);
    }

    /// §3.2.2.5.1: at once on the first mark after none, then on every second.
    #[test]
    fn marks_are_acknowledged_before_three_are_untold() {
        let mut counted = Counted::default();
        let mut seen = Vec::new();
        for signs in [PLAIN, MARKED, MARKED, MARKED, MARKED, PLAIN, MARKED] {
            let (ace, at_once) = counted.see(signs);
            if at_once {
                counted.told();
            }
            seen.push((ace, at_once));
        }
        assert_eq!(seen, [(5, false), (6, true), (7, false), (0, true), (1, false), (1, false), (2, true)]);
    }

    /// Appendix A.2: up to seven packets the counter is exact; beyond, as many wraps as fit.
    #[test]
    fn where_the_counter_may_have_wrapped_the_most_is_taken() {
        for (before, ace, packets, expected) in
            [(5, 5, 7, 0), (5, 4, 7, 7), (5, 5, 8, 8), (5, 6, 8, 1), (5, 6, 9, 9), (5, 6, 16, 9), (7, 1, 20, 18)]
        {
            assert_eq!(newly_marked(before, ace, packets), expected, "{before} {ace} {packets}");
        }
    }

    /// Of thirty packets one was marked, and one ACK tells of them: the flags leave room for three wraps (1 + 8 · 3).
    #[test]
    fn the_option_tells_what_the_flags_cannot() {
        for (option, told) in [(false, 25.0), (true, 1.0)] {
            let (mut counted, mut counter) = (Counted::default(), Counter::default());
            for place in 0..30 {
                counted.see(if place == 7 { MARKED } else { PLAIN });
            }
            if option {
                counter.read(counted.counts);
            }
            counter.take(6, 30);
            assert_eq!((counted.counts.marked, counted.counts.ect0), (1, 29));
            assert_eq!(counter.take_news(), told);
        }
    }

    /// Where the flags made a sender take too many, it waits until the option has them, too.
    #[test]
    fn marks_are_not_told_twice_where_some_acks_have_no_option() {
        let mut counter = Counter::default();
        let mut told = |option: Option<u32>, ace, delivered| {
            option.into_iter().for_each(|marked| counter.read(EcnCounts { marked, ..EcnCounts::default() }));
            counter.take(ace, delivered);
            counter.take_news()
        };
        assert_eq!(told(Some(2), 7, 4), 2.0);
        assert_eq!(told(None, 0, 13), 9.0);
        assert_eq!(told(Some(3), 0, 14), 0.0);
        assert_eq!(told(Some(12), 1, 24), 1.0);
    }

    /// The options of an ACK have 40 bytes, of which a timestamp takes 12 and a SACK option four, and eight for each block.
    #[test]
    fn the_option_fits_beside_the_others() {
        for blocks in 0..=3 {
            let others = 12 + if blocks == 0 { 0 } else { 4 + 8 * u32::from(blocks) };
            let bytes = if EcnCounts::fields(blocks) == 0 { 0 } else { EcnCounts::bytes(blocks) };
            assert!(others + bytes <= 40 && bytes % 4 == 0, "{blocks}");
            assert!(EcnCounts::fields(blocks) == 3 || others + 2 + 3 * (EcnCounts::fields(blocks) as u32 + 1) > 40);
        }
    }

    /// The ACKs of packets 2 and 3, both marked, change places on their way.
    #[test]
    fn an_ack_that_was_overtaken_tells_of_no_mark() {
        let mut counter = Counter::default();
        for (ace, delivered, told) in [(5, 1, 0.0), (7, 3, 2.0), (6, 3, 0.0), (7, 4, 0.0)] {
            counter.take_progress(ace, delivered);
            assert_eq!(counter.take_news(), told, "{ace} {delivered}");
        }
    }

    proptest! {
        /// Whatever packets were marked and whatever ACKs are lost: what a sender has counted is what the receiver has,
        /// where no ACK tells of more than seven packets or each has the option; otherwise not less, and not more than came.
        #[test]
        fn a_sender_counts_what_the_receiver_does(
            marks in prop::collection::vec(any::<bool>(), 1..300),
            lost in prop::collection::vec(prop::bool::weighted(0.6), 300),
            option: bool,
        ) {
            let (mut counted, mut counter) = (Counted::default(), Counter::default());
            let (mut came, mut heard, mut within) = (0, 0, true);
            let (mut told_of, mut last) = (0, 0);
            for (place, &marked) in marks.iter().enumerate() {
                let (ace, _) = counted.see(if marked { MARKED } else { PLAIN });
                counted.told();
                came += i32::from(marked);
                last = place as i32 + 1;
                if lost[place] && last < marks.len() as i32 {
                    continue;
                }
                within &= option || last - told_of < WRAP as i32;
                told_of = last;
                if option {
                    counter.read(counted.counts);
                }
                counter.take(ace, last);
                heard += counter.take_news() as i32;
                let bounds = if within { came..=came } else { came..=last };
                prop_assert!(bounds.contains(&heard));
            }
            prop_assert_eq!((heard - came) % WRAP as i32, 0);
            prop_assert_eq!(last, marks.len() as i32);
        }
    }
}

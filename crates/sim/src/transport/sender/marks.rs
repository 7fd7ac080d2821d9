//! What a congestion mark does to a sender (RFC 3168 §6.1.2): the window shrinks as after a loss, and nothing is
//! retransmitted.

use super::{Env, LastCut, Sender};
use crate::congestion::{Ack, Loss};
use crate::scenario::Recovery;

impl Sender {
    /// An ACK came, after which the receiver holds `held` packets beyond what it acknowledges: what its counter tells of
    /// marks, if there is one, whatever else the ACK does (RFC 9768 §3.2.2.5.2).
    #[inline]
    pub(in crate::transport) fn count_marks<N>(&mut self, env: &mut Env<'_, N>, ack: i32, held: i32) {
        if let Some(counter) = &mut self.marks.counter {
            env.told = u8::from(counter.take_progress(env.told, self.acked.max(ack) + held));
        }
    }

    /// The same where no ACK says what is held: each stands for a packet at least.
    #[inline]
    pub(super) fn count_marks_of_one<N>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        if let Some(counter) = &mut self.marks.counter {
            let delivered = ack.max(counter.delivered() + 1).min(self.highest);
            env.told = u8::from(counter.take(env.told, delivered));
        }
    }

    /// An ACK that tells of marks has moved the window on.
    #[cold]
    pub(super) fn take_marked<N>(&mut self, env: &mut Env<'_, N>, ack: &Ack, grow: bool) {
        // RFC 3168 §6.1.2: no growth by an ACK that tells of a mark; where a control reads marks, none by marked packets.
        let unmarked = (ack.acked - ack.marked).max(0.0);
        let told = unmarked > 0.0 || env.controls.hears_marks(self.control);
        if grow && told && env.controls.counts_marks(self.control) {
            let used = self.window_use.as_ref().map(|window_use| window_use.is_limited(&self.window));
            env.controls.measure_and_grow(self.control, &mut self.window, &Ack { acked: unmarked, ..*ack }, used);
        } else {
            self.measure(env, ack);
        }
        self.answer_mark(env, ack);
    }

    /// An ACK that tells of a mark has moved the window on. What it acknowledges was in use, too.
    #[cold]
    pub(super) fn answer_mark<N>(&mut self, env: &mut Env<'_, N>, ack: &Ack) {
        let proportionally =
            env.linux() && env.connection.tcp.recovery == Recovery::Rack && !env.controls.is_scalable(self.control);
        // Linux looks for marks again once the reduction is over, whichever packets had them.
        let before = if proportionally { ack.through - 1 } else { ack.through - ack.delivered as i32 };
        // ns-2 heeds every mark behind a timeout.
        let after_timeout = env.ns2() && self.last_cut == LastCut::Timeout;
        if !after_timeout && !self.marks.is_news(before, ack.through) {
            return;
        }
        let mut loss = self.loss(env);
        if !env.ns2() && !env.linux() {
            // In flight are whole packets; the part of one that the window is larger is in use as well.
            loss = Loss { in_use: (ack.in_flight + 1.0).min(self.window.cwnd), ..loss };
        }
        let Some(window) = env.controls.on_mark(self.control, &self.window, &loss) else { return };
        self.set_threshold(env, window);
        self.marks.reduced(self.highest, true);
        if env.ns2() {
            (self.last_cut, self.recover) = (LastCut::Mark, self.highest);
            let again = std::mem::replace(&mut self.marks.backs_off, self.window.cwnd <= 1.0);
            if again && self.marks.backs_off {
                self.rtt.back_off(&env.connection.tcp.rto, env.connection.profile);
            }
        }
        if proportionally {
            return self.rack_answer_mark();
        }
        self.window.cwnd = if env.ns2() { window } else { self.window.ssthresh };
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Packet;
    use crate::scenario::{Ecn, Profile, Recovery, TcpSpec};
    use crate::transport::sack::MOST_BLOCKS;
    use crate::transport::tests::{Ends, Outcome, tcp};
    use proptest::prelude::*;

    /// Behind the SYN and the third step of the handshake.
    const DATA: usize = 2;

    fn with_marks(congestion: &str, recovery: Recovery) -> TcpSpec {
        TcpSpec { ecn: Ecn::Classic, ..tcp(congestion, recovery) }
    }

    fn accurate(congestion: &str, recovery: Recovery) -> TcpSpec {
        TcpSpec { ecn: Ecn::Accurate, ..tcp(congestion, recovery) }
    }

    fn marked(places: &[usize]) -> impl Fn(usize, &Packet) -> Outcome {
        move |place, _| if places.contains(&place) { Outcome::Marked } else { Outcome::Arrives }
    }

    /// RFC 3168 §6.1.2: the window is halved once, the next new packet says so, and nothing is retransmitted.
    #[test]
    fn a_mark_halves_the_window_once() {
        for recovery in Recovery::ALL {
            let mut ends = Ends::new(&with_marks("reno", recovery), Profile::Rfc, 60);
            ends.talk(marked(&[DATA + 2, DATA + 5]));
            assert_eq!(ends.sent.len(), 62, "{recovery:?}");
            let data = ends.acks[1..].iter().map(|ack| ack.1);
            let told: Vec<u32> = data.filter(Packet::is_marked).map(|ack| ack.seq()).collect();
            let reduced: Vec<u32> =
                ends.sent.iter().filter(|sent| sent.packet.is_reduced()).map(|sent| sent.packet.seq()).collect();
            // ACKs 1 and 2 each release two packets, 11 to 14; the window of twelve becomes six. 3 to 14 are out:
            // ACK 9 finds less than six, and 15 says that the window was reduced.
            assert_eq!(reduced, [15], "{recovery:?}");
            assert_eq!(told, (3..15).collect::<Vec<_>>(), "{recovery:?}");
            assert_eq!(ends.sender.window.ssthresh, 6.0, "{recovery:?}");
            assert_eq!((ends.sender.totals.packets_retransmitted, ends.receiver.totals.packets_marked), (0, 2));
            assert!(ends.sent[DATA..].iter().all(|sent| sent.packet.is_capable()));
        }
    }

    /// BBR and Vivace set the window by how fast packets are delivered. A threshold of theirs is no window.
    #[test]
    fn what_samples_set_takes_no_note_of_marks() {
        for control in ["bbr", "bbr3", "vivace"] {
            for (profile, recovery) in [(Profile::Linux, Recovery::Rack), (Profile::Rfc, Recovery::Sack)] {
                let sent = |marks: &[usize]| {
                    let mut ends = Ends::new(&with_marks(control, recovery), profile, 60);
                    ends.talk(marked(marks));
                    assert_eq!(ends.receiver.totals.packets_marked, marks.len() as u64);
                    assert!(ends.sender.window.cwnd < 200.0, "{control}: {}", ends.sender.window.cwnd);
                    ends.sent.iter().map(|sent| (sent.at_s, sent.packet.seq())).collect::<Vec<_>>()
                };
                assert_eq!(sent(&[DATA + 2, DATA + 5, DATA + 14]), sent(&[]), "{control} {recovery:?}");
            }
        }
    }

    /// Twenty packets, of which the first is marked: how many new ones each of the ACKs of the others releases, and the ends.
    fn reduces(profile: Profile, outcome: impl Fn(usize, &Packet) -> Outcome) -> (Vec<usize>, Ends) {
        let start = TcpSpec {
            initial_window_packets: 20.0,
            initial_ssthresh_packets: Some(20.0),
            ..tcp("reno", Recovery::Rack)
        };
        let mut ends = Ends::new(&TcpSpec { ecn: Ecn::Classic, ..start }, profile, 80);
        ends.talk(outcome);
        let sent = |until_s: f64| ends.sent.iter().filter(|sent| sent.at_s <= until_s).count();
        let acks: Vec<usize> = ends.acks[1..=20].iter().map(|ack| sent(ack.0)).collect();
        (acks.windows(2).map(|pair| pair[1] - pair[0]).collect(), ends)
    }

    /// Profile `linux`: over a round trip a packet leaves for each two that are delivered; then the window is the threshold. A
    /// second mark of that window changes nothing, and the window does not grow. RFC 3168 leaves how it gets there open; cut
    /// at once, it waits for half of the round trip.
    #[test]
    fn a_mark_reduces_proportionally_as_in_linux() {
        let marks = marked(&[DATA, DATA + 9]);
        let (released, ends) = reduces(Profile::Linux, &marks);
        assert_eq!(released.iter().sum::<usize>(), 9);
        assert!(released[..16].windows(2).all(|pair| pair[0] + pair[1] == 1), "{released:?}");
        assert_eq!(ends.sender.window.ssthresh, 10.0);
        // The window when it arrives, half of a round trip after it was sent by the ACK that ends the reduction.
        let after = ends.sent.iter().find(|sent| sent.packet.seq() == 31).expect("there are eighty");
        assert!((10.0..11.0).contains(&after.cwnd), "{}", after.cwnd);
        let (released, ends) = reduces(Profile::Rfc, &marks);
        assert_eq!(released.iter().position(|&count| count > 0), Some(9));
        assert_eq!(ends.sender.window.ssthresh, 10.0);
    }

    /// What is lost meanwhile is retransmitted, and the window is not reduced again.
    #[test]
    fn a_loss_while_a_mark_is_answered_changes_no_threshold() {
        let (_, ends) = reduces(Profile::Linux, |place, _| match place {
            DATA => Outcome::Marked,
            place if place == DATA + 7 => Outcome::Lost,
            _ => Outcome::Arrives,
        });
        assert_eq!(ends.sender.window.ssthresh, 10.0);
        assert_eq!((ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts), (1, 0));
    }

    /// RFC 3168 §6.1.2: one reduction in a window, be it for marks or losses; §6.1.5: what is retransmitted is not
    /// capable.
    #[test]
    fn a_mark_and_a_loss_of_one_window_are_one_congestion() {
        for recovery in Recovery::ALL {
            let mut ends = Ends::new(&with_marks("reno", recovery), Profile::Rfc, 60);
            ends.talk(|place, _| match place {
                4 => Outcome::Marked,
                7 => Outcome::Lost,
                _ => Outcome::Arrives,
            });
            assert_eq!(ends.sender.window.ssthresh, 6.0, "{recovery:?}");
            assert_eq!(ends.sender.totals.timeouts, 0, "{recovery:?}");
            let again: Vec<_> = ends.sent.iter().skip(DATA).filter(|sent| !sent.packet.is_capable()).collect();
            assert_eq!(again.iter().map(|sent| sent.packet.seq()).collect::<Vec<_>>(), [6], "{recovery:?}");
        }
    }

    /// A connection without ECN is never marked, and its packets say that they cannot be.
    #[test]
    fn without_ecn_nothing_is_marked() {
        let mut ends = Ends::new(&tcp("reno", Recovery::Sack), Profile::Rfc, 30);
        ends.talk(|_, _| Outcome::Marked);
        assert!(ends.sent.iter().all(|sent| !sent.packet.is_capable() && !sent.packet.is_marked()));
        assert!(ends.acks.iter().all(|ack| !ack.1.is_marked()));
    }

    /// RFC 8257 §3.2: with delayed ACKs, each ACK covers packets that are alike.
    #[test]
    fn delayed_acks_of_dctcp_tell_exactly_how_many_were_marked() {
        for pattern in [1_u64, 0b0110, 0b0010_1101, 0b1010_1010_1011, 0xF0F0_F0F5_5555_1234] {
            let mut spec = with_marks("dctcp", Recovery::Sack);
            spec.delayed_ack_s = Some(0.2);
            let mut ends = Ends::new(&spec, Profile::Rfc, 200);
            ends.talk(|place, _| if pattern >> (place % 64) & 1 == 1 { Outcome::Marked } else { Outcome::Arrives });
            let (mut before, mut told) = (0, 0);
            for (_, ack) in &ends.acks {
                let covered = ack.seq() - before;
                told += u64::from(if ack.is_marked() { covered } else { 0 });
                before = ack.seq();
            }
            assert_eq!(before, 200);
            assert_eq!(told, ends.receiver.totals.packets_marked, "{pattern:x}");
            assert!(ends.acks.len() < 200, "some ACKs cover two packets");
        }
    }

    /// RFC 8257 §3.3: where an eighth of the packets is marked in each round, a round takes a sixteenth of the
    /// window, and growth by the ACKs without a mark gives seven eighths of a packet back: 14 packets stay.
    #[test]
    fn dctcp_settles_where_growth_balances_the_marks() {
        for spec in [with_marks("dctcp", Recovery::Sack), accurate("dctcp", Recovery::Sack)] {
            let mut ends = Ends::new(&spec, Profile::Rfc, 6000);
            ends.talk(|place, _| if place % 8 == 0 { Outcome::Marked } else { Outcome::Arrives });
            let late = &ends.sent[3000..];
            let mean = late.iter().map(|sent| sent.cwnd).sum::<f64>() / late.len() as f64;
            assert!((13.0..15.0).contains(&mean), "{mean}");
            assert_eq!(ends.sender.totals.packets_retransmitted, 0);
        }
    }

    /// RFC 9768 §3.2.2: with a counter a mark halves a window once as well, and nobody says that it was reduced (CWR).
    #[test]
    fn a_counted_mark_halves_the_window_once() {
        for recovery in Recovery::ALL {
            let mut ends = Ends::new(&accurate("reno", recovery), Profile::Rfc, 60);
            ends.talk(marked(&[DATA + 2, DATA + 5]));
            assert_eq!(ends.sender.window.ssthresh, 6.0, "{recovery:?}");
            assert!(ends.sent.iter().all(|sent| !sent.packet.is_reduced()));
            let counts: Vec<u8> = ends.acks.iter().map(|ack| ack.1.ace()).collect();
            // Table 2: the SYN came as ECT(0). Then five, and a mark more each.
            assert_eq!(counts[..8], [0b100, 5, 5, 6, 6, 6, 7, 7], "{recovery:?}");
        }
    }

    /// RFC 9768 §3.2.2.3: a path that clears the ECN field shows by the SYN, and nothing says ECT from then on. A SYN that is
    /// retransmitted says nothing of the path.
    #[test]
    fn a_path_that_bleaches_is_not_used_for_marks() {
        let capable = |outcome: fn(usize) -> Outcome| {
            let mut ends = Ends::new(&accurate("cubic", Recovery::Rack), Profile::Linux, 30);
            ends.talk(|place, _| outcome(place));
            assert_eq!(ends.receiver.in_order(), 30);
            ends.sent.iter().filter(|sent| sent.packet.seq() > 0 && sent.packet.is_capable()).count()
        };
        assert_eq!(capable(|_| Outcome::Arrives), 30);
        assert_eq!(capable(|place| if place == 0 { Outcome::Bleached } else { Outcome::Arrives }), 0);
        assert_eq!(capable(|place| if place == 0 { Outcome::Lost } else { Outcome::Arrives }), 30);
    }

    /// RFC 9768 §3.1, table 2: what answers the SYN says what the receiver has, and the best that both have is used: with that of
    /// RFC 3168 the sender says that it has reduced its window. After a SYN that said ECT to one without accurate ECN the first
    /// window is one packet (draft-ietf-tcpm-generalized-ecn §3.2.1.4).
    #[test]
    fn the_ends_agree_on_what_both_have() {
        let table = [
            (Ecn::Classic, Ecn::Off, 0b000, 0, 10, false),
            (Ecn::Classic, Ecn::Classic, 0b001, 60, 10, true),
            (Ecn::Classic, Ecn::Accurate, 0b001, 60, 10, true),
            (Ecn::Accurate, Ecn::Off, 0b000, 0, 1, false),
            (Ecn::Accurate, Ecn::Classic, 0b001, 60, 1, true),
            (Ecn::Accurate, Ecn::Accurate, 0b100, 60, 10, false),
        ];
        for (ecn, receiver, answer, capable, first, reduced) in table {
            let spec = TcpSpec { ecn, receiver_ecn: Some(receiver), ..tcp("reno", Recovery::Rack) };
            let mut ends = Ends::new(&spec, Profile::Rfc, 60);
            ends.talk(marked(&[DATA + 20]));
            let data: Vec<_> = ends.sent.iter().filter(|sent| sent.packet.seq() > 0).collect();
            let at_once = data.iter().filter(|sent| sent.at_s == data[0].at_s).count();
            let told = data.iter().any(|sent| sent.packet.is_reduced());
            let found =
                (ends.acks[0].1.ace(), data.iter().filter(|sent| sent.packet.is_capable()).count(), at_once, told);
            assert_eq!(found, (answer, capable, first, reduced), "{ecn:?}, {receiver:?}");
            assert_eq!(
                ends.sender.window.ssthresh < f64::MAX,
                capable > 0,
                "a mark is answered where there can be one"
            );
        }
    }

    /// RFC 9331 §4.2: whose receiver does not tell of each mark says ECT(1) no more, nor ECT(0) (Linux:
    /// TCP_CONG_NO_FALLBACK_RFC3168).
    #[test]
    fn a_scalable_control_goes_without_ecn_where_marks_are_not_counted() {
        for (receiver, capable) in [(Ecn::Off, 0), (Ecn::Classic, 0), (Ecn::Accurate, 30)] {
            let spec = TcpSpec { receiver_ecn: Some(receiver), ..accurate("prague", Recovery::Rack) };
            let mut ends = Ends::new(&spec, Profile::Linux, 30);
            ends.talk(|_, _| Outcome::Arrives);
            assert!(ends.sent[0].packet.is_scalable());
            assert_eq!(ends.sent[1..].iter().filter(|sent| sent.packet.is_capable()).count(), capable, "{receiver:?}");
        }
    }

    /// draft-ietf-tcpm-generalized-ecn §3.2.1.4: a SYN that was marked is answered by a window of one packet.
    #[test]
    fn a_marked_syn_begins_with_one_packet() {
        for (outcome, first) in [(Outcome::Arrives, 10), (Outcome::Marked, 1)] {
            let mut ends = Ends::new(&accurate("reno", Recovery::Rack), Profile::Rfc, 30);
            ends.talk(|place, _| if place == 0 { outcome } else { Outcome::Arrives });
            let data: Vec<f64> = ends.sent.iter().filter(|sent| sent.packet.seq() > 0).map(|sent| sent.at_s).collect();
            assert_eq!(data.iter().filter(|&&at_s| at_s == data[0]).count(), first);
            assert_eq!(ends.acks[0].1.ace(), if outcome == Outcome::Marked { 0b110 } else { 0b100 });
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is marked, whatever the recovery and however ACKs are delayed: a congestion control hears of as many marks
        /// as came, and what it has counted is what the receiver has. With more losses than SACK has blocks an ACK may tell of
        /// eight packets and more, so that it hears of more.
        #[test]
        fn a_control_hears_of_every_mark(
            outcomes in prop::collection::vec(prop_oneof![2 => Just(Outcome::Arrives), 1 => Just(Outcome::Marked)], 400),
            lost in prop_oneof![prop::collection::btree_set(1..150_usize, 0..=MOST_BLOCKS), prop::collection::btree_set(1..150_usize, 10..30)],
            recovery in prop::sample::select(Recovery::ALL.to_vec()),
            delayed: bool,
            ecn_option: bool,
        ) {
            let mut spec = TcpSpec { ecn_option, ..accurate("dctcp", recovery) };
            spec.delayed_ack_s = delayed.then_some(0.2);
            let mut ends = Ends::new(&spec, Profile::Rfc, 150);
            ends.talk(|place, _| match place {
                place if lost.contains(&place) => Outcome::Lost,
                0 => Outcome::Arrives,
                place => outcomes.get(place).copied().unwrap_or(Outcome::Arrives),
            });
            prop_assert_eq!(ends.receiver.in_order(), 150);
            let counter = ends.sender.marks.counter.as_ref().expect("it counts");
            let marked = ends.receiver.totals.packets_marked as f64;
            prop_assert!(counter.told == marked || counter.told > marked && lost.len() > MOST_BLOCKS);
        }
    }
}

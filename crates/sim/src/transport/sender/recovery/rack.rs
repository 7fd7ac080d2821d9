//! RACK-TLP (RFC 8985) with proportional rate reduction: losses show by time, a probe shows those at the tail.
//! Which packets are lost is `flight.rs`' matter, how fast recovery sends is that of `prr.rs`.
//!
//! One timer has three purposes, as in Linux: it waits for late packets, for a probe, or for the retransmission
//! timeout; the first two come before the third.

use super::flight::Flight;
use super::prr::Prr;
use super::tail_probe::{LEAST_TIMER_S, Probe as TailProbe};
use super::undo::Undo;
use crate::congestion::Ack;
use crate::congestion::slow_start::rapid::Convergence;
use crate::time::Time;
use crate::transport::network::{Network, Schedule};
use crate::transport::sender::{Env, LastCut, Sender};

/// What the timer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// The retransmission timeout.
    #[default]
    Timeout,
    /// Packets that may be late only.
    Reordering,
    /// The time to probe.
    TailProbe,
}

/// What a sender with RACK-TLP knows beyond what all senders know.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// What is outstanding.
    pub flight: Flight,
    pub(super) timer: Purpose,
    pub(super) tail_probe: Option<TailProbe>,
    /// From when on the retransmission timeout counts, though the timer wait for something else.
    pub(in crate::transport) timeout_from: Time,
    /// How many packets the present ACK told of for the first time.
    pub(in crate::transport) delivered: i32,
    pub(super) prr: Option<Prr>,
    /// Where that answers a mark: the last packet sent before (Linux's CWR). Its end is the ACK of a later one.
    pub(in crate::transport) marked_through: Option<i32>,
    /// In its place, how the window of rapid start comes down.
    pub(super) convergence: Option<Convergence>,
    /// The highest packet acknowledged when the retransmission timer expired last.
    pub(in crate::transport) timed_out_behind: Option<i32>,
    /// What the last reduction of the window may be undone to.
    pub(in crate::transport) undo: Option<Undo>,
}

impl Rack {
    /// The window is no longer on its way to a threshold.
    pub(super) fn end_reduction(&mut self) {
        (self.prr, self.marked_through, self.convergence) = (None, None, None);
    }
}

impl Sender {
    /// Every connection with RACK has one.
    pub(super) fn rack_state(&mut self) -> &mut Rack {
        self.rack.get_or_insert_default()
    }

    pub(crate) fn rack_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, blocks: &[(u32, u32)], twice: bool) {
        let overtaken = ack < self.acked;
        if overtaken && blocks.is_empty() {
            return;
        }
        // What it tells of packets beyond is news all the same; of marks, the one that overtook it has told.
        let ack = ack.max(self.acked);
        let advances = ack > self.acked;
        if twice {
            let (retransmitted, highest) = (self.totals.packets_retransmitted, self.highest);
            let rack = self.rack_state();
            let probe = rack.tail_probe.is_some_and(|probe| probe.is_again());
            rack.flight.reordering.note_twice(retransmitted, highest, probe);
        }
        self.rack_probed(env, ack, blocks.is_empty());
        let delivery = if self.samples_delivery() { self.take_delivery(env.now.time, ack, blocks) } else { None };
        let rack = self.rack_state();
        let delivered = rack.flight.deliver(ack, blocks, env.now.time);
        rack.delivered = delivered;
        let (held, lost_before) = (rack.flight.held(), rack.flight.lost());
        self.count_marks(env, ack, held);
        let mends = self.recovering || self.timed_out;
        let purpose = self.rack_state().timer;
        if advances {
            self.rack_undo(env, ack);
            self.rack_state().flight.reordering.advance(ack);
            self.rack_advance(env, ack);
        }
        if !advances && delivered > 0 && self.recovering && env.controls.goes_on(self.control()) {
            self.rack_go_on(env, delivered);
        }
        let restarts = !advances && env.linux() && self.rack_sample(env);
        let ended = mends && !self.recovering && !self.timed_out;
        let wait_s = self.rack_detect(env, delivered, ended);
        let safe = advances && self.rack_state().flight.lost() == lost_before;
        if let Some(delivery) = delivery {
            self.give_sample(env, delivery);
        }
        if delivered > 0 {
            self.rack_reduce(delivered, safe);
        }
        let sent = self.rack_send(env);
        if restarts && wait_s.is_none() && purpose == Purpose::Timeout {
            self.rack_arm_rto(env);
        }
        self.rack_arm(env, (purpose, wait_s), advances || delivered > 0, sent);
    }

    /// Linux's tcp_clean_rtx_queue: what SACK blocks tell of packets sent once is a round trip, too. True if the timeout
    /// begins anew, as it does where no ACK of the first packet's last transmission can have come.
    fn rack_sample<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        let Some((rtt_s, too_soon)) = self.rack_state().flight.round_trip(env.now.time) else { return false };
        self.end_backoff(env);
        self.sample_rtt(env, rtt_s, self.acked);
        too_soon
    }

    /// SACK blocks told of packets in recovery, and the control takes no break.
    #[cold]
    fn rack_go_on<N: Network>(&mut self, env: &mut Env<'_, N>, delivered: i32) {
        let flight = &self.rack_state().flight;
        let (pipe, through) = (flight.pipe(), flight.highest_arrived());
        let Some((rtt_s, _)) = flight.round_trip(env.now.time) else { return };
        let (acked, highest) = (f64::from(delivered), self.highest);
        let (control, now) = (self.control(), env.now.time);
        let news =
            Ack { now, acked, delivered: acked, marked: 0.0, rtt_s, in_flight: f64::from(pipe), through, highest };
        env.controls.measure_and_grow(control, &mut self.window, &news, Some(true));
    }

    /// A mark set the threshold: the window comes down to it in proportion to what is delivered (Linux's `tcp_enter_cwr`).
    #[cold]
    pub(in crate::transport) fn rack_answer_mark(&mut self) {
        let (window, highest) = (self.window.cwnd as i32, self.highest);
        let rack = self.rack_state();
        (rack.prr, rack.marked_through) = (Some(Prr::new(window)), Some(highest));
    }

    fn rack_advance<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        let rack = self.rack_state();
        if rack.marked_through.is_some_and(|through| ack > through) {
            rack.end_reduction();
            self.window.cwnd = self.window.ssthresh;
        }
        let reduced = self.rack_reduces(env);
        if ack >= self.recover {
            if self.recovering || self.timed_out {
                self.rack_state().flight.reordering.recovered();
            }
            self.timed_out = false;
            if std::mem::take(&mut self.recovering) {
                if self.rack_state().prr.take().is_some() {
                    // RFC 6937 §3.1: what the control keeps, whatever was sent.
                    self.window.cwnd = self.window.ssthresh;
                } else if let Some(convergence) = self.rack_state().convergence.take() {
                    (self.window.cwnd, self.window.ssthresh) = (convergence.cwnd(), convergence.cwnd());
                }
                self.last_cut = LastCut::Recovered;
            }
        }
        self.rack_state().timer = Purpose::Timeout;
        // With Linux the ACK that ends recovery lets the window grow already (tcp_cong_control).
        let reduces = if env.linux() { self.rack_reduces(env) } else { reduced };
        self.advance(env, ack, !reduces);
    }

    /// Whether the window is on its way down, after a loss or a mark.
    fn rack_reduces<N>(&mut self, env: &Env<'_, N>) -> bool {
        self.recovering && !env.controls.goes_on(self.control()) || self.rack_state().marked_through.is_some()
    }

    /// Looks for losses after an ACK that told of `delivered` packets, and begins recovery for those of which nobody
    /// knew, or which were sent in the recovery that has just `ended`. Returns how long to wait for packets that may be late.
    fn rack_detect<N: Network>(&mut self, env: &mut Env<'_, N>, delivered: i32, ended: bool) -> Option<f64> {
        let recovering = self.recovering || self.timed_out;
        let srtt_s = self.srtt_s(env.connection).unwrap_or_default();
        let flight = &mut self.rack_state().flight;
        let wait_s = flight.detect(env.now.time, recovering, srtt_s);
        let (found, lost) = (flight.take_found(), flight.lost());
        self.note_lost(&found);
        let remains = lost > 0 || ended && self.rack_state().flight.awaits_again();
        if remains && !recovering {
            self.recover = self.highest;
            self.recovering = true;
            self.last_cut = LastCut::DuplicateAcks;
            let (window, in_use) = (self.window, self.loss(env).in_use);
            let rack = self.rack_state();
            rack.tail_probe = None;
            rack.undo = Some(Undo::to(window));
            let converges = window.in_slow_start() && self.slow_start.as_ref().is_some_and(|kind| kind.converges());
            self.cut(env);
            let kept = (self.window.ssthresh / in_use).min(1.0);
            // A control that knows how fast packets are delivered sets the window in recovery, too.
            if converges {
                self.rack_state().convergence = Some(Convergence::new(&window, kept));
            } else if self.rack_state().marked_through.take().is_none()
                && !self.samples_delivery()
                && !env.controls.goes_on(self.control())
            {
                let rack = self.rack_state();
                // RFC 9937: what is to be delivered in recovery, by the ACK at hand and later. Linux: its window.
                let flight = if env.linux() { window.cwnd as i32 } else { rack.flight.missing() + delivered };
                rack.prr = Some(Prr::new(flight));
            }
        }
        if let Some(convergence) = &mut self.rack_state().convergence {
            convergence.take(0, found.len() as i32);
        }
        wait_s
    }

    /// Sets the window of recovery after an ACK that told of `delivered` packets.
    fn rack_reduce(&mut self, delivered: i32, safe: bool) {
        let ssthresh = self.window.ssthresh;
        let rack = self.rack_state();
        let pipe = rack.flight.pipe();
        if let Some(prr) = &mut rack.prr {
            let count = prr.allowance(delivered, pipe, ssthresh, safe);
            self.window.cwnd = f64::from((pipe + count).max(1));
        } else if let Some(convergence) = &mut rack.convergence {
            convergence.take(delivered, 0);
            self.window.cwnd = convergence.cwnd();
        }
    }

    /// First what is lost, then new data, as long as the pipe is smaller than the window. True if anything was sent.
    pub(in crate::transport) fn rack_send<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        let whole = self.window.cwnd.min(1e9) as i32;
        let mut sent = false;
        loop {
            let Rack { flight, .. } = self.rack_state();
            let (room, lost, held) = (flight.pipe() < whole, flight.first_lost(), flight.held());
            if !room {
                break;
            }
            if let Some(seq) = lost {
                // Linux's tcp_xmit_retransmit_queue paces, too: a burst of retransmissions would be lost again.
                if self.is_early(env) {
                    return sent;
                }
                self.transmit(env, seq);
                // Linux's tcp_xmit_retransmit_queue: the timeout waits for this transmission of the first packet.
                if env.linux() && seq == self.acked + 1 && self.rack_state().timer != Purpose::Reordering {
                    self.rack_arm_rto(env);
                }
            } else {
                // Behind a gap, and before it counts as a loss, this is limited transmit (RFC 3042).
                let waits = held > 0 && !self.recovering && !self.timed_out && !env.connection.tcp.limited_transmit;
                if waits || self.next >= self.limit || !self.receiver_takes(env, self.next) {
                    break;
                }
                if self.is_held_back(env) {
                    return sent;
                }
                self.transmit(env, self.next);
                self.next += 1;
            }
            sent = true;
            if let Some(prr) = &mut self.rack_state().prr {
                prr.sent();
            }
        }
        self.note_limit(env);
        sent
    }

    /// The application or the interface lets the sender send.
    pub(in crate::transport) fn rack_offer<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if self.acked < 0 {
            // The SYN.
            self.send(env);
        } else if self.rack_send(env) && self.rack_state().timer != Purpose::Reordering {
            let purpose = self.rack_state().timer;
            self.rack_arm(env, (purpose, None), false, true);
        }
    }

    /// Arms the timer for what comes first, where it waited for `before`. Something was `told` or `sent`, from which on to wait.
    fn rack_arm<N: Schedule>(
        &mut self,
        env: &mut Env<'_, N>,
        (before, wait_s): (Purpose, Option<f64>),
        told: bool,
        sent: bool,
    ) {
        if self.acked >= self.highest {
            // `advance` has switched it off.
            self.rack_state().timer = Purpose::Timeout;
        } else if let Some(wait_s) = wait_s {
            self.rack_state().timer = Purpose::Reordering;
            self.arm_timer(env, if env.linux() { wait_s + LEAST_TIMER_S } else { wait_s });
        } else if let Some(delay_s) = self.tail_probe_s(env, sent) {
            if told || sent || before == Purpose::Reordering {
                self.rack_state().timer = Purpose::TailProbe;
                self.arm_timer(env, delay_s);
            }
        } else if before != Purpose::Timeout {
            self.rack_return_to_rto(env);
        }
    }

    /// Has the timer wait for the retransmission timeout again, which has been counting meanwhile.
    fn rack_return_to_rto<N: Schedule>(&mut self, env: &mut Env<'_, N>) {
        self.rack_state().timer = Purpose::Timeout;
        let left_s = self.timeout_left_s(env, env.linux());
        self.arm_timer(env, left_s.max(0.0));
    }

    /// Has the timer wait for the retransmission timeout, from now on.
    fn rack_arm_rto<N: Schedule>(&mut self, env: &mut Env<'_, N>) {
        self.rack_state().timer = Purpose::Timeout;
        self.arm_rto(env);
    }

    /// The timer expired with data outstanding.
    pub(in crate::transport) fn rack_timer<N: Network>(&mut self, env: &mut Env<'_, N>) {
        match std::mem::take(&mut self.rack_state().timer) {
            Purpose::Timeout => self.rack_time_out(env),
            Purpose::TailProbe => {
                self.send_tail_probe(env);
                self.arm_rto(env);
            }
            Purpose::Reordering => {
                self.rack_return_to_rto(env);
                let mends = self.recovering;
                let wait_s = self.rack_detect(env, 0, false);
                // In recovery only an ACK sets the window (RFC 9937 §6); Linux's tcp_rack_reo_timeout begins with one delivered.
                let begins = self.recovering && !mends;
                if begins || self.rack_state().prr.is_none() {
                    self.rack_reduce(i32::from(begins && env.linux()), false);
                }
                let sent = self.rack_send(env);
                self.rack_arm(env, (Purpose::Timeout, wait_s), false, sent);
            }
        }
    }

    /// RFC 8985 §6.3: only what must be lost is. The window lets one packet go beyond those still in flight, as
    /// Linux's does, or the first would have to wait for them.
    fn rack_time_out<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if !self.recovering && !self.timed_out {
            // Linux' tcp_enter_cwr has forgotten what a mark took.
            let undoes = !env.linux() || !self.is_reduced();
            let window = self.window;
            self.rack_state().undo = undoes.then(|| Undo::to(window));
        }
        self.note_timeout(env);
        self.recovering = false;
        self.timed_out = true;
        let rack = self.rack_state();
        rack.end_reduction();
        rack.tail_probe = None;
        rack.flight.lose_by_timeout(env.now.time, !env.linux());
        let found = rack.flight.take_found();
        self.note_lost(&found);
        let own = env.controls.loss_window(self.control());
        self.window.cwnd = own.unwrap_or_else(|| f64::from(self.rack_state().flight.pipe() + 1));
        self.arm_rto(env);
        self.rack_send(env);
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Kind;
    use crate::scenario::{Profile, Recovery, SlowStartKind, TcpSpec};
    use crate::transport::tests::{Ends, Outcome, tcp};
    use proptest::prelude::*;

    /// Behind the SYN and the third step of the handshake.
    const DATA: usize = 2;

    fn ends(packets: u64) -> Ends {
        Ends::new(&tcp("reno", Recovery::Rack), Profile::Rfc, packets)
    }

    /// Loses the packets of the first window whose bits are set.
    fn lose_first(ends: &mut Ends, pattern: u32) {
        ends.talk(|place, _| match place.checked_sub(DATA) {
            Some(bit @ 0..10) if pattern >> bit & 1 == 1 => Outcome::Lost,
            _ => Outcome::Arrives,
        });
    }

    /// Whatever the first window loses, also all of it, also where nothing follows: it is mended without a timeout,
    /// and nothing is retransmitted that was not lost, but for the probe.
    #[test]
    fn every_loss_in_the_first_window_is_mended_without_a_timeout() {
        let mut linux =
            TcpSpec { delayed_ack_s: Some(0.2), slow_start: SlowStartKind::HyStart, ..tcp("cubic", Recovery::Rack) };
        linux.rto.min_s = 0.2;
        let rfc = tcp("reno", Recovery::Rack);
        for (profile, spec, packets) in [
            (Profile::Rfc, &rfc, 10),
            (Profile::Rfc, &rfc, 11),
            (Profile::Rfc, &rfc, 60),
            (Profile::Linux, &linux, 10),
            (Profile::Linux, &linux, 60),
        ] {
            for pattern in 0..1024_u32 {
                let mut ends = Ends::new(spec, profile, packets);
                lose_first(&mut ends, pattern);
                let totals = ends.sender.totals;
                assert!(totals.finished.is_some(), "{packets} {pattern:b}");
                assert_eq!(ends.receiver.in_order() as u64, packets);
                assert_eq!(totals.timeouts, 0, "{packets} {pattern:b}");
                let spare = totals.packets_retransmitted - u64::from(pattern.count_ones());
                assert!(spare <= 1, "{packets} {pattern:b}: {spare} needless");
            }
        }
    }

    /// RFC 8985 §7.2: the tail is probed after two round trips (and the time of a delayed ACK, where one packet is
    /// alone), not after the retransmission timeout.
    #[test]
    fn a_lost_tail_is_probed_after_two_round_trips() {
        let mut ends = ends(10);
        lose_first(&mut ends, 0b11_0000_0000);
        let again: Vec<(f64, u32)> = ends.sent[DATA..]
            .windows(2)
            .filter(|pair| pair[1].packet.seq() <= pair[0].packet.seq() || pair[1].at_s > pair[0].at_s)
            .map(|pair| (pair[1].at_s, pair[1].packet.seq()))
            .collect();
        // The ACK of 8 comes at 0.2 s and a little; two smoothed round trips later 10 is retransmitted. When it has come,
        // 9 has been on its way for longer than a round trip and the reordering window: it is lost.
        assert_eq!(again.iter().map(|sent| sent.1).collect::<Vec<_>>(), [10, 9], "{again:?}");
        assert!((0.40..0.45).contains(&again[0].0), "{again:?}");
        assert!((0.10..0.11).contains(&(again[1].0 - again[0].0)), "{again:?}");
    }

    /// §7.4: a probe that mends the loss of the last packet silently does not go unanswered.
    #[test]
    fn a_loss_that_the_probe_mends_reduces_the_window() {
        let mut ends = ends(10);
        lose_first(&mut ends, 0b10_0000_0000);
        assert_eq!((ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts), (1, 0));
        // Until an ACK goes beyond it, the packet itself may have been late.
        assert_eq!(ends.sender.window.ssthresh, f64::MAX);
        ends.say_more(5.0);
        assert_eq!(ends.receiver.in_order(), 11);
        assert_eq!(ends.sender.window.ssthresh, 2.0);
    }

    /// RFC 6937 §4: one packet of twenty is lost; in recovery every other ACK lets one go, and ten are in flight
    /// at its end.
    #[test]
    fn recovery_sends_at_half_the_rate() {
        let mut spec = tcp("reno", Recovery::Rack);
        spec.initial_window_packets = 20.0;
        spec.initial_ssthresh_packets = Some(20.0);
        spec.limited_transmit = false;
        let mut ends = Ends::new(&spec, Profile::Rfc, 200);
        ends.talk(|place, _| if place == DATA { Outcome::Lost } else { Outcome::Arrives });
        assert_eq!(ends.sender.window.ssthresh, 10.0);
        let sent = |from_s: f64, to_s: f64| ends.sent.iter().filter(|sent| (from_s..to_s).contains(&sent.at_s)).count();
        // The first window leaves at 0.1 s, the retransmission and what recovery sends in the round trip from 0.2 s on.
        assert_eq!(sent(0.19, 0.3), 10);
        assert_eq!((ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts), (1, 0));
    }

    /// A packet that is lost again and again holds the cumulative ACK for longer than the timeout. Linux's timer begins anew
    /// with each transmission of it, and while it cannot have been acknowledged; RFC 6298's (§5.3) only with new data.
    #[test]
    fn linux_waits_for_the_last_transmission_of_the_first_packet() {
        let timeouts = |profile| {
            let mut spec =
                TcpSpec { initial_window_packets: 40.0, window_packets: 1000.0, ..tcp("reno", Recovery::Rack) };
            spec.rto.min_s = 0.2;
            let mut ends = Ends::new(&spec, profile, 4000);
            let mut losses = 0;
            ends.talk(|_, packet| {
                let lost = packet.kind() == Kind::Segment && packet.seq() == 2 && losses < 7;
                losses += usize::from(lost);
                if lost { Outcome::Lost } else { Outcome::Arrives }
            });
            assert!(ends.sender.totals.finished.is_some());
            ends.sender.totals.timeouts
        };
        assert_eq!((timeouts(Profile::Rfc), timeouts(Profile::Linux)), (1, 0));
    }

    /// Packets that leave at 1, 1.01 and 1.03 s, of which the first two are lost, and all behind them: the timer that waits for
    /// late ones gives way to the timeout, which counts all the while. With Linux since the first packet was sent last, when the
    /// third had arrived (tcp_rearm_rto); by RFC 6298 §5.1 since it was sent.
    #[test]
    fn waiting_for_late_packets_does_not_put_off_the_timeout() {
        for (profile, least_s) in [(Profile::Rfc, 1.0), (Profile::Linux, 0.2)] {
            let mut spec = tcp("reno", Recovery::Rack);
            spec.rto.min_s = least_s;
            let mut ends = Ends::new(&spec, profile, 200);
            ends.start_with(1);
            // One is overtaken, so that others are waited for, too.
            [0.5, 0.505, 1.0, 1.01, 1.03].iter().for_each(|&at_s| ends.offer(at_s));
            let mut lost = Vec::new();
            while ends
                .step(|_, packet| {
                    let at_s = packet.sent().seconds();
                    if packet.seq() == 2 {
                        return Outcome::Late(0.01);
                    }
                    if at_s < 1.0 || packet.seq() == 6 {
                        return Outcome::Arrives;
                    }
                    lost.push((at_s, packet.seq()));
                    Outcome::Lost
                })
                .is_some_and(|at_s| at_s < 3.0)
            {}
            assert_eq!(
                lost[..5].iter().map(|lost| lost.1).collect::<Vec<_>>(),
                [4, 5, 4, 5, 4],
                "{profile:?}: {lost:?}"
            );
            let (first_s, last_s) = (lost[if profile == Profile::Linux { 2 } else { 0 }].0, lost[4].0);
            let timeout_s = if profile == Profile::Linux { 0.301 } else { 1.0 };
            assert!((last_s - first_s - timeout_s).abs() < 2e-3, "{profile:?}: {lost:?}");
        }
    }

    /// What recovery sends is lost, too, and found missing before it ends: another loss, for which the window shrinks again (RFC 6675
    /// §5; Linux, whose lost_out is not zero then).
    #[test]
    fn a_loss_of_what_recovery_sends_begins_another() {
        let threshold = |also: Option<u32>| {
            let spec = TcpSpec {
                initial_window_packets: 20.0,
                initial_ssthresh_packets: Some(20.0),
                ..tcp("reno", Recovery::Rack)
            };
            let (mut ends, mut lost) = (Ends::new(&spec, Profile::Linux, 200), Vec::new());
            // The first packet twice, so that what is sent meanwhile is found missing first.
            ends.talk(|_, packet| {
                let losses = lost.iter().filter(|&&seq| seq == packet.seq()).count();
                let loses =
                    packet.seq() == 1 && !packet.is_bare() && losses < 2 || Some(packet.seq()) == also && losses < 1;
                lost.extend(loses.then_some(packet.seq()));
                if loses { Outcome::Lost } else { Outcome::Arrives }
            });
            assert_eq!(
                (ends.sender.totals.timeouts, ends.sender.totals.packets_retransmitted as usize),
                (0, lost.len())
            );
            ends.sender.window.ssthresh
        };
        assert_eq!((threshold(None), threshold(Some(25))), (10.0, 5.0));
    }

    /// While a loss is mended Copa's window follows the delay as before; others have cut theirs.
    #[test]
    fn copa_goes_on_in_recovery() {
        let goes_on = |control| {
            let mut ends = Ends::new(&tcp(control, Recovery::Rack), Profile::Linux, 4000);
            let (mut losses, mut windows) = (0, Vec::new());
            ends.start();
            while ends
                .step(|_, packet| {
                    let lost = packet.kind() == Kind::Segment && packet.seq() == 200 && losses < 5;
                    losses += usize::from(lost);
                    if lost { Outcome::Lost } else { Outcome::Arrives }
                })
                .is_some()
            {
                windows.extend(ends.sender.recovering.then_some(ends.sender.window.cwnd));
            }
            assert!(ends.sender.totals.finished.is_some());
            let (first, last) = (windows[0], windows[windows.len() - 1]);
            last != first && last > 0.9 * first
        };
        assert_eq!((goes_on("copa"), goes_on("reno")), (true, false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// Any losses, also of retransmissions: every packet arrives, and no more is in flight than was counted.
        #[test]
        fn everything_arrives(lost in prop::collection::btree_set(0_usize..300, 0..120), window in 1..40, delayed: bool) {
            let mut spec = tcp("cubic", Recovery::Rack);
            spec.window_packets = f64::from(window);
            spec.delayed_ack_s = delayed.then_some(0.2);
            let mut ends = Ends::new(&spec, Profile::Rfc, 150);
            ends.talk(|place, _| if lost.contains(&place) { Outcome::Lost } else { Outcome::Arrives });
            prop_assert!(ends.sender.totals.finished.is_some());
            prop_assert_eq!(ends.receiver.in_order(), 150);
            let flight = &ends.sender.rack.as_ref().expect("it has one").flight;
            prop_assert_eq!((flight.missing(), flight.held(), flight.lost(), flight.pipe()), (0, 0, 0, 0));
        }
    }
}

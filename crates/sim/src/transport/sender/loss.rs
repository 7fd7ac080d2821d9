//! What a loss does to a sender: window and threshold are cut; and the retransmission timer, which finds the
//! losses that nothing else does.

use super::{Env, LastCut, RecoveryState, Sender};
use crate::congestion::Loss;
use crate::scenario::Recovery;
use crate::transport::network::Network;

impl Sender {
    /// A loss now, and the window as it counts when it is cut. ns-2 and Linux cut the window, whatever of it is
    /// in use; Linux's grows to twice that. RFC 5681 eq. 4 cuts what is in flight; but what is beyond the congestion window only is in
    /// flight because duplicate ACKs let it out (limited transmit, which §3.2 excludes, and fast
    /// recovery, of which it does not speak: a timeout at its end would set a threshold far too high).
    pub(in crate::transport) fn loss<N>(&self, env: &Env<'_, N>) -> Loss {
        let in_use = if env.ns2() {
            (self.window.cwnd + f64::from(self.inflation)).min(env.connection.tcp.window_packets)
        } else if env.linux() {
            self.window.cwnd
        } else {
            self.in_flight().min(self.window.cwnd)
        };
        Loss { now: env.now.time, in_use }
    }

    /// A loss was detected without the timer: cuts window and threshold, unless a mark of the same window has. A scalable
    /// control answers marks by less, so that it answers the loss, too (RFC 9331 §4.3, item 2).
    pub fn cut<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if self.marks.answered(self.acked) && !env.controls.is_scalable(self.control) {
            return;
        }
        let loss = self.loss(env);
        let window = env.controls.on_loss(self.control, &self.window, &loss);
        self.set_threshold(env, window);
        self.window.cwnd = if env.ns2() { window } else { self.window.ssthresh };
    }

    /// ns-2 and Linux keep thresholds in whole packets; nobody goes below two (RFC 5681 eq. 4).
    pub(super) fn set_threshold<N>(&mut self, env: &Env<'_, N>, window: f64) {
        let window = match () {
            () if env.ns2() => window.trunc(),
            () if env.linux() => env.controls.whole(self.control).of(window),
            () => window,
        };
        self.window.ssthresh = window.max(2.0);
        self.marks.reduced(self.highest, false);
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.congestion();
        }
    }

    /// The retransmission timer's event came.
    pub fn timer<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if !self.rto.expires(env.network, env.now) {
            return;
        }
        if !env.ns2() && self.acked == self.highest {
            return;
        }
        if env.linux() && self.acked < 0 {
            return self.repeat_syn(env);
        }
        match env.connection.tcp.recovery {
            Recovery::Rack if self.acked >= 0 => return self.rack_timer(env),
            Recovery::Tahoe | Recovery::Rack => {}
            Recovery::Reno | Recovery::Newreno => {
                self.inflation = 0;
                self.duplicates = 0;
            }
            Recovery::Sack => {
                self.duplicates = 0;
                self.recovering = false;
                self.timed_out = true;
                self.last_ack = self.acked;
                if let Some(scoreboard) = &mut self.scoreboard {
                    scoreboard.clear();
                }
            }
        }
        self.time_out(env);
    }

    /// Nothing answered Linux' SYN: the timer is not backed off at first (tcp_retransmit_timer), and what it may have taught of the
    /// path is forgotten when the connection is established (tcp_init_metrics).
    fn repeat_syn<N: Network>(&mut self, env: &mut Env<'_, N>) {
        /// By default: net.ipv4.tcp_syn_linear_timeouts.
        const LINEAR_TIMEOUTS: u64 = 4;
        self.count_timeout(env);
        if self.totals.timeouts > LINEAR_TIMEOUTS {
            self.rtt.back_off(&env.connection.tcp.rto, env.connection.profile);
        }
        self.window.cwnd = 1.0;
        self.go_back(env);
    }

    /// RFC 5681 §3.1 and RFC 6298 §5.4 to §5.6: threshold to half, window to one packet or what the scenario says, and
    /// again from the first packet that is not acknowledged.
    fn time_out<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.note_timeout(env);
        let own = env.controls.loss_window(self.control);
        self.window.cwnd = own.or(env.connection.tcp.loss_window_packets).unwrap_or(1.0);
        self.go_back(env);
    }

    /// Goes back to the first packet that is not acknowledged, and sends from there.
    fn go_back<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.arm_rto(env);
        self.next = self.acked + 1;
        self.timing = false;
        self.send(env);
    }

    fn count_timeout<N>(&mut self, env: &Env<'_, N>) {
        self.totals.timeouts += 1;
        self.account.timed_out(self.rtt.timeout_s(), env.now.time);
        self.note_all_lost();
    }

    /// Counts the timeout, sets the threshold and doubles the timer.
    pub(in crate::transport) fn note_timeout<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let is_cut = env.linux() && self.is_reduced() && !self.times_out_anew();
        self.recover = self.highest;
        let outstanding = self.acked < self.highest;
        if outstanding {
            self.count_timeout(env);
            let behind_mark = env.ns2() && self.last_cut == LastCut::Mark;
            if behind_mark {
                // ns-2's TcpAgent::timeout: CLOSE_CWND_ONE alone, as the mark has cut the threshold; and CWR again.
                self.marks.tell();
            } else if env.ns2() || !self.times_out_again() {
                // RFC 5681 §3.1: the threshold is cut once per loss, not again by every backoff.
                let loss = self.loss(env);
                let threshold = env.controls.on_timeout(self.control, &self.window, &loss);
                if let Some(slow_start) = &mut self.slow_start {
                    slow_start.timeout(self.highest);
                }
                if !is_cut {
                    // Below the window that follows, the threshold would end slow start before it begins.
                    self.set_threshold(env, threshold.max(env.connection.tcp.loss_window_packets.unwrap_or(1.0)));
                }
            }
            if env.linux() {
                // Whatever has cut it, it says so, and no mark counts until all is acknowledged (high_seq, tcp_ecn_queue_cwr).
                self.marks.reduced(self.highest, false);
            }
            self.rtt.back_off(&env.connection.tcp.rto, env.connection.profile);
        }
        self.last_cut = LastCut::Timeout;
    }

    /// Linux's tcp_enter_loss: recovery, or a mark of this window, has cut the threshold already.
    pub(in crate::transport) fn is_reduced(&self) -> bool {
        self.recovery_state() == RecoveryState::Recovery || self.marks.answered(self.acked)
    }

    /// Linux's tcp_enter_loss, of a timeout behind another: something was acknowledged since, so that it counts as the first.
    fn times_out_anew(&self) -> bool {
        self.timed_out && self.rack.as_ref().is_some_and(|rack| rack.timed_out_behind != Some(self.acked))
    }

    /// Whether the timer has expired for the first packet before. With RACK other packets may have ended the backoff since.
    fn times_out_again(&mut self) -> bool {
        let (acked, backed_off) = (self.acked, self.rtt.is_backed_off());
        self.rack.as_mut().map_or(backed_off, |rack| rack.timed_out_behind.replace(acked) == Some(acked))
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Packet;
    use crate::scenario::{Ecn, Profile, Recovery, TcpSpec};
    use crate::transport::tests::{Ends, Outcome, tcp};

    /// Loses the whole first window, behind the SYN and the third step of the handshake: how many packets the timeout
    /// sends again at once, and the threshold that it sets.
    fn after_a_timeout(loss_window: Option<f64>) -> (usize, f64) {
        let mut spec = tcp("reno", Recovery::Newreno);
        spec.initial_window_packets = 4.0;
        spec.loss_window_packets = loss_window;
        let mut ends = Ends::new(&spec, Profile::Rfc, 40);
        ends.talk(|place, _| if (2..6).contains(&place) { Outcome::Lost } else { Outcome::Arrives });
        let data: Vec<_> = ends.sent.iter().filter(|sent| sent.packet.seq() > 0).collect();
        assert_eq!(ends.sender.totals.timeouts, 1);
        (data.iter().filter(|sent| sent.at_s == data[0].at_s).count(), ends.sender.window.ssthresh)
    }

    /// A packet that is lost three times, while all behind it arrive: the ACK that ends the timeout acknowledges hundreds, of
    /// which one was sent since then.
    #[test]
    fn what_arrived_before_a_timeout_does_not_open_the_window_after_it() {
        for control in ["copa", "ledbat", "reno"] {
            let spec = TcpSpec { window_packets: 400.0, initial_window_packets: 100.0, ..tcp(control, Recovery::Sack) };
            let (mut ends, mut losses) = (Ends::new(&spec, Profile::Rfc, 300), 0);
            ends.start();
            let mut widest: f64 = 0.0;
            loop {
                let lose = |_, packet: &Packet| {
                    let lost = packet.seq() == 20 && losses < 3;
                    losses += u32::from(lost);
                    if lost { Outcome::Lost } else { Outcome::Arrives }
                };
                if ends.step(lose).is_none() {
                    break;
                }
                if ends.sender.totals.timeouts > 0 {
                    widest = widest.max(ends.sender.window.cwnd / ends.sender.window.ssthresh.max(2.0));
                }
            }
            assert!(ends.sender.totals.timeouts > 0 && widest < 3.0, "{control}: {widest}");
        }
    }

    /// Linux' tcp_enter_loss: the threshold is cut once in a window. What is lost in recovery, or behind a mark, and found by
    /// the timer alone, does not cut it again; nor does the second timeout of a packet, though others arrived meanwhile.
    #[test]
    fn linux_cuts_the_threshold_once_in_a_window() {
        let start = |recovery| TcpSpec {
            initial_window_packets: 20.0,
            initial_ssthresh_packets: Some(20.0),
            ..tcp("reno", recovery)
        };
        let mut ends = Ends::new(&start(Recovery::Newreno), Profile::Linux, 60);
        ends.talk(
            |place, packet| if place > 1 && packet.seq() == 1 && place < 50 { Outcome::Lost } else { Outcome::Arrives },
        );
        assert_eq!((ends.sender.window.ssthresh, ends.sender.totals.timeouts), (10.0, 1));

        let spec = TcpSpec { ecn: Ecn::Classic, ..start(Recovery::Rack) };
        let mut ends = Ends::new(&spec, Profile::Linux, 60);
        ends.talk(|place, _| match place {
            2 => Outcome::Marked,
            3..30 => Outcome::Lost,
            _ => Outcome::Arrives,
        });
        assert_eq!(ends.sender.window.ssthresh, 10.0);
        assert!(ends.sender.totals.timeouts > 0);

        let (mut ends, mut losses) = (Ends::new(&start(Recovery::Rack), Profile::Linux, 60), 0);
        ends.talk(|place, packet| {
            losses += usize::from(place > 1 && packet.seq() == 1);
            match place {
                // They begin recovery, in which F-RTO does not ask whether the timeout is needed.
                3..6 => Outcome::Arrives,
                6..22 => Outcome::Late(1.6),
                _ if place > 1 && packet.seq() == 1 && losses <= 3 => Outcome::Lost,
                // What else recovery sends.
                22..25 if packet.seq() > 1 => Outcome::Lost,
                _ => Outcome::Arrives,
            }
        });
        assert_eq!((ends.sender.window.ssthresh, ends.sender.totals.timeouts), (10.0, 2));
    }

    /// Linux since 6.5: SYNs leave after 0, 1, 2, 3, 4 and 5 s, and then after twice as long each time.
    #[test]
    fn linux_repeats_its_syn_each_second_at_first() {
        let arrives_s = |lost| {
            let mut ends = Ends::new(&tcp("cubic", Recovery::Rack), Profile::Linux, 4);
            ends.talk(|place, _| if place < lost { Outcome::Lost } else { Outcome::Arrives });
            ends.sent[0].at_s
        };
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(arrives_s), [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0]);
    }

    /// Linux's tcp_init_transfer: one lost SYN leaves the initial window, another one a packet. Neither leaves a threshold
    /// (tcp_init_metrics), and the timestamps of the handshake have measured the round trip.
    #[test]
    fn a_lost_syn_teaches_linux_nothing() {
        for (lost, window) in [(0, 10), (1, 10), (2, 1)] {
            let spec = TcpSpec { initial_window_packets: 10.0, ..tcp("cubic", Recovery::Rack) };
            let mut ends = Ends::new(&spec, Profile::Linux, 40);
            ends.talk(|place, _| if place < lost { Outcome::Lost } else { Outcome::Arrives });
            let data: Vec<_> = ends.sent.iter().filter(|sent| sent.packet.seq() > 0).collect();
            let first = data.iter().take_while(|sent| sent.at_s < data[0].at_s + 0.05).count();
            assert_eq!((first, ends.sender.totals.timeouts), (window, lost as u64));
            assert_eq!(ends.sender.window.ssthresh, f64::MAX);
            assert!(ends.sender.rtt.timeout_s() < 2.0);
        }
    }

    /// Linux's tcp_try_undo_spurious_syn: where the answer to the first SYN comes after two others left, nothing was lost.
    #[test]
    fn a_late_answer_to_the_syn_leaves_linux_its_window() {
        let spec = TcpSpec { initial_window_packets: 10.0, ..tcp("cubic", Recovery::Rack) };
        let mut ends = Ends::new(&spec, Profile::Linux, 40);
        ends.talk(|place, _| match place {
            0 => Outcome::Late(2.5),
            1 | 2 => Outcome::Lost,
            _ => Outcome::Arrives,
        });
        let data: Vec<_> = ends.sent.iter().filter(|sent| sent.packet.seq() > 0).collect();
        let first = data.iter().take_while(|sent| sent.at_s < data[0].at_s + 0.05).count();
        assert_eq!((first, ends.sender.totals.timeouts), (10, 2));
    }

    /// Linux's tcp_enter_loss, `icsk_retransmits` being zero: where something was acknowledged since the timeout before, another one
    /// cuts what that has left of a window of 20.
    #[test]
    fn linux_cuts_the_threshold_again_where_a_timeout_has_helped() {
        let spec = TcpSpec {
            initial_window_packets: 20.0,
            initial_ssthresh_packets: Some(20.0),
            ..tcp("reno", Recovery::Rack)
        };
        let mut ends = Ends::new(&spec, Profile::Linux, 60);
        let mut thresholds = Vec::new();
        ends.start();
        // Of what the timer sends again, the first packet arrives, and no other for a while.
        let outcome = |place: usize, packet: &Packet| match place {
            2..22 => Outcome::Lost,
            22..40 if packet.seq() > 1 => Outcome::Lost,
            _ => Outcome::Arrives,
        };
        while ends.step(outcome).is_some() && thresholds.len() < 2 {
            if ends.sender.totals.timeouts as usize > thresholds.len() {
                thresholds.push(ends.sender.window.ssthresh);
            }
        }
        assert_eq!((thresholds, ends.sender.acked), (vec![10.0, 2.0], 1));
    }

    /// RFC 5681 §3.1 by itself: one packet, and a threshold of half the window.
    #[test]
    fn a_timeout_is_followed_by_the_loss_window() {
        assert_eq!(after_a_timeout(None), (1, 2.0));
        assert_eq!(after_a_timeout(Some(2.0)), (2, 2.0));
        assert_eq!(after_a_timeout(Some(4.0)), (4, 4.0));
    }
}

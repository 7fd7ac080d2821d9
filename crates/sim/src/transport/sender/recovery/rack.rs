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
    /// Whether it is still open if the last timeout was needed (Linux's frto).
    pub(super) frto: bool,
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
        let delivered = rack.flight.deliver(ack, blocks, env.now.time, env.linux().then_some(env.echo));
        rack.delivered = delivered;
        let (held, lost_before) = (rack.flight.held(), rack.flight.lost());
        self.count_marks(env, ack, held);
        let mends = self.recovering || self.timed_out;
        let purpose = self.rack_state().timer;
        if advances {
            self.rack_undo(env, ack);
        }
        let probes = self.rack_state().frto && self.rack_probe_timeout(env, ack);
        if advances {
            self.rack_state().flight.reordering.advance(ack);
            self.rack_advance(env, ack);
        }
        if !advances && delivered > 0 && self.recovering && env.controls.goes_on(self.control()) {
            self.rack_go_on(env, delivered);
        }
        let restarts = !advances && env.linux() && self.rack_sample(env);
        let ended = mends && ack >= self.recover && !self.recovering && !self.timed_out;
        let wait_s = self.rack_detect(env, delivered, ended);
        let safe = advances && self.rack_state().flight.lost() == lost_before;
        if let Some(delivery) = delivery {
            self.give_sample(env, delivery);
        }
        if delivered > 0 {
            self.rack_reduce(delivered, safe);
        }
        let sent = probes && self.rack_send_new(env) || self.rack_send(env);
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
                    // What the control keeps, whatever was sent (Linux's tcp_end_cwnd_reduction; RFC 5681 §4.3: at most that).
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
        self.rack_send_of(env, true)
    }

    /// The same, with what is `lost` or without.
    pub(super) fn rack_send_of<N: Network>(&mut self, env: &mut Env<'_, N>, lost: bool) -> bool {
        let whole = self.window.cwnd.min(1e9) as i32;
        let mut sent = false;
        loop {
            let Rack { flight, .. } = self.rack_state();
            let (room, first, held) =
                (flight.pipe() < whole, lost.then(|| flight.first_lost()).flatten(), flight.held());
            if !room {
                break;
            }
            if let Some(seq) = first {
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
        let behind = self.rack_state().timed_out_behind;
        let first = !self.recovering && !self.timed_out;
        self.rack_state().frto = env.linux() && (first || self.timed_out && behind == Some(self.acked));
        if first {
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
mod tests;

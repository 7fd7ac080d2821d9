//! What a sender may send, sends, and why it stops.

use super::{Env, Sender};
use crate::packet::{Kind, Packet};
use crate::scenario::Recovery;
use crate::time::Time;
use crate::transport::accounting::Limit;
use crate::transport::network::Network;
use crate::transport::signs::Signs;
use crate::transport::window_use::Outstanding;

/// What answers an ACK leaves within this part of a round trip, as pacing may let it wait.
const SOON: f64 = 0.125;

impl Sender {
    /// Whether packet `seq` lies within the window: congestion window in whole packets and inflation, and
    /// the receiver's window.
    #[inline]
    fn allows<N>(&self, env: &Env<'_, N>, seq: i32) -> bool {
        // Of a whole number it is the same whether it is compared with a window or with its whole part.
        self.receiver_takes(env, seq) && f64::from(seq - self.acked - self.inflation as i32) <= self.window.cwnd
    }

    /// Whether packet `seq` lies within the receiver's window. One packet may always be outstanding, as the ACK that tells of
    /// an open window may be lost (Linux probes when a timer expires).
    #[inline]
    pub(in crate::transport) fn receiver_takes<N>(&self, env: &Env<'_, N>, seq: i32) -> bool {
        let outstanding = seq - self.acked;
        outstanding <= env.connection.window && (seq < self.right_edge || outstanding == 1)
    }

    /// Sends what the window allows.
    #[inline(always)]
    pub fn send<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.send_at_most(env, u32::MAX);
    }

    /// The interface has room again, the next paced packet is due, or the application has more: sends what the recovery
    /// allows (RFC 6675 §5 (C): by the pipe; ns-2's `sendmsg` calls the agent's own `send_much`).
    pub fn resume<N: Network>(&mut self, env: &mut Env<'_, N>) {
        match env.connection.tcp.recovery {
            Recovery::Sack if env.ns2() => self.sack1_send(env),
            Recovery::Sack if self.recovering => self.sack_send(env),
            Recovery::Rack => self.rack_offer(env),
            _ => self.send(env),
        }
    }

    /// Sends what the window allows, in a burst of at most `burst` packets.
    #[inline(always)]
    pub fn send_at_most<N: Network>(&mut self, env: &mut Env<'_, N>, burst: u32) {
        let mut sent = 0;
        while self.next < self.limit && sent < burst && self.allows(env, self.next) {
            if self.is_held_back(env) {
                return;
            }
            self.transmit(env, self.next);
            self.next += 1;
            sent += 1;
            // Behind the SYN nothing goes out before it is acknowledged.
            if self.acked < 0 {
                break;
            }
        }
        self.note_limit(env);
    }

    /// Whether the next packet has to wait, though the windows allow it: for its time, where packets are paced, or
    /// for room in the interface.
    #[inline]
    pub(in crate::transport) fn is_held_back<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        self.paced.is_some() && self.is_early(env) || self.is_pushed_back(env)
    }

    /// Whether the host's interface does not take the next packet now; it wakes the sender later. The SYN
    /// it always takes.
    #[inline]
    pub(in crate::transport) fn is_pushed_back<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        env.network.pushes_back() && self.must_wait(env)
    }

    #[cold]
    fn must_wait<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        let waits = self.acked >= 0 && !env.network.takes(self.flow, env.connection.size(self.next), env.now);
        if waits {
            self.note(env, Limit::SenderRate);
        }
        waits
    }

    /// Limited transmit (RFC 3042): a new packet for each of the first two duplicate ACKs.
    pub fn send_one_new<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let tcp = &env.connection.tcp;
        let next = f64::from(self.next);
        let acked = f64::from(self.acked);
        let allowed =
            next <= acked + tcp.window_packets && next <= acked + self.window.cwnd + f64::from(self.duplicates);
        if tcp.limited_transmit && allowed && self.next < self.limit && (env.ns2() || self.next > self.highest) {
            self.transmit(env, self.next);
            self.next += 1;
        }
    }

    /// A packet that may be sent so soon after the ACK that asked for one that it answers it.
    #[cold]
    fn answer<N: Network>(&mut self, env: &Env<'_, N>, packet: Packet) -> Packet {
        let soon_s = SOON * self.srtt_s(env.connection).unwrap_or(0.0);
        let answers = self.window_use.as_mut().is_some_and(|window_use| window_use.answers(env.now.time, soon_s));
        if answers { packet.answering() } else { packet }
    }

    /// Sends one packet, new or again.
    pub fn transmit<N: Network>(&mut self, env: &mut Env<'_, N>, seq: i32) {
        let now = env.now.time;
        let again = seq <= self.highest;
        let size = env.connection.size(seq);
        let mut packet = Packet::new(Kind::Segment, self.flow, seq as u32, size, now.seconds());
        self.totals.packets_sent += 1;
        self.totals.bytes_sent += u64::from(size);
        self.totals.packets_retransmitted += u64::from(again);
        let idle = self.acked == self.highest;
        if !again {
            self.highest = seq;
            if !self.timing {
                self.timing = true;
                if seq > self.timed_seq {
                    self.timed_seq = seq;
                    self.timed_at = now;
                }
            }
        }
        if seq == self.account.round_end() {
            packet = packet.ending_round();
            self.pace_if_asked(env);
        }
        if self.paced.is_some() {
            self.note_paced(env, seq);
        }
        if self.takes_notes {
            if self.window_use.as_ref().is_some_and(|window_use| window_use.asked.is_some()) {
                packet = self.answer(env, packet);
            }
            if self.window_use.as_mut().is_some_and(|window_use| !std::mem::take(&mut window_use.heard)) {
                packet = packet.echoing_again();
            }
            if seq + 1 >= self.limit && self.window_use.as_ref().is_some_and(|window_use| window_use.pushes) {
                packet = packet.pushed();
            }
            if idle && let Some(window_use) = &self.window_use {
                env.controls.on_silence(self.control, window_use.last_sent(), now);
            }
            let signs = self.note_sending(env, seq, again);
            if signs.capable {
                let scalable = env.controls.is_scalable(self.control);
                packet = if scalable { packet.scalable() } else { packet.capable() };
            }
            if signs.reduced {
                packet = packet.reduced();
            }
        }
        env.network.send(packet, env.now);
        if idle || !self.rto.is_armed() {
            self.arm_rto(env);
        }
    }

    /// Has RACK and the use of the window hear of a packet that is sent. Returns what ECN has it say.
    #[cold]
    fn note_sending<N: Network>(&mut self, env: &Env<'_, N>, seq: i32, again: bool) -> Signs {
        let now = env.now.time;
        if let Some(rack) = &mut self.rack {
            rack.flight.sent(seq, now);
            if again && let Some(undo) = &mut rack.undo {
                undo.note_retransmission(now);
            }
        }
        if let Some(window_use) = &mut self.window_use {
            window_use.sent(now);
            if !again {
                let in_flight = self.rack.as_ref().map_or(self.highest - self.acked, |rack| rack.flight.pipe());
                let outstanding = Outstanding { acked: self.acked, highest: self.highest, in_flight };
                window_use.sent_new(&self.window, outstanding);
            }
        }
        // RFC 3168 §6.1.5: only the first time. ns-2 makes no difference.
        if again && !env.ns2() { Signs::default() } else { self.marks.signs(seq) }
    }

    /// Profile `linux`, before an ACK changes anything: a window that the application did not use shrinks. One that
    /// the receiver's window kept unused does not, as data fill the socket's buffer then (SOCK_NOSPACE).
    #[cold]
    pub(super) fn validate_window(&mut self, now: Time) {
        if let Some(window_use) = &mut self.window_use
            && !self.recovering
            && !self.timed_out
        {
            let (limits, outstanding) = (self.account.limit() != Limit::Application, self.highest - self.acked);
            window_use.validate(&mut self.window, limits, outstanding, now, self.rtt.timeout_s());
        }
    }

    /// Takes note of why nothing more is sent now.
    #[inline(always)]
    pub(crate) fn note_limit<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let limit = if self.acked < 0 {
            Limit::Handshake
        } else if self.next >= self.limit {
            if self.paced.is_some() {
                self.note_app_limited();
            }
            Limit::Application
        } else if self.receiver_limits(env) {
            Limit::ReceiverWindow
        } else {
            Limit::CongestionWindow
        };
        self.note(env, limit);
    }

    /// Whether the receiver's window is what lets nothing more out.
    #[inline]
    fn receiver_limits<N>(&self, env: &Env<'_, N>) -> bool {
        if self.next - self.acked > env.connection.window {
            return self.window.cwnd + f64::from(self.inflation) >= env.connection.tcp.window_packets;
        }
        let in_flight = || self.rack.as_ref().map_or(self.next - 1 - self.acked, |rack| rack.flight.pipe());
        self.next >= self.right_edge && in_flight() < self.window.cwnd as i32
    }

    #[inline]
    pub(super) fn note<N: Network>(&mut self, env: &mut Env<'_, N>, limit: Limit) {
        if !self.account.continues(limit, self.acked) {
            self.account_for(env, limit);
        }
    }

    #[inline(never)]
    fn account_for<N: Network>(&mut self, env: &mut Env<'_, N>, limit: Limit) {
        let full = |seq| env.network.was_full(self.flow, seq);
        let last = env.connection.bytes.map(|_| self.limit - 1);
        self.account.note(limit, env.now.time, (self.acked, self.highest, last), full);
    }
}

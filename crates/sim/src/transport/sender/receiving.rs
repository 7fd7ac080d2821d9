//! What the ACKs that arrive tell a sender, before and beside what its recovery makes of them.

use super::{Env, LastCut, Sender};
use crate::congestion::Ack;
use crate::packet::{Kind, Packet};
use crate::scenario::{Ecn, Recovery};
use crate::time::Time;
use crate::transport::ack_options::AckOptions;
use crate::transport::network::{Network, Schedule};
use crate::transport::sack::split_duplicate;

impl Sender {
    /// The ACK that is received next, `now`, has these options.
    pub fn read_options(&mut self, options: &AckOptions, now: Time) {
        if let (Some(counts), Some(counter)) = (options.counts, &mut self.marks.counter) {
            counter.read(counts);
        }
        if let (Some(told), Some(window_use)) = (options.told, &mut self.window_use) {
            window_use.told = Some(told.window as i32);
            if told.asks {
                window_use.asked = Some(now);
            }
        }
    }

    /// Profile `linux`: an ACK moves the receiver's window on, which is the one told last.
    fn note_window(&mut self, ack: i32) {
        if let Some(window) = self.window_use.as_ref().and_then(|window_use| window_use.told) {
            let known = if self.acked < 0 { 0 } else { self.right_edge };
            self.right_edge = known.max(ack + 1 + window);
        }
    }

    /// An ACK arrived, with SACK blocks, half-open.
    pub fn receive<N: Network>(&mut self, env: &mut Env<'_, N>, ack: u32, blocks: &[(u32, u32)]) {
        let ack = ack as i32;
        if self.takes_notes {
            if let Some(window_use) = &mut self.window_use {
                window_use.heard = true;
            }
            self.note_window(ack);
            self.validate_window(env.now.time);
        }
        if !env.ns2() {
            if self.acked < 0 {
                self.establish(env);
                return;
            }
            if ack > self.acked {
                // RFC 6298 §5 and RFC 7323 §4: with timestamps every ACK of new data gives a sample, and
                // a sample ends the backoff.
                self.rtt.end_backoff(&env.connection.tcp.rto);
                self.sample_rtt(env, env.now.time.since(env.echo), ack);
            }
        }
        if env.ns2() && env.told != 0 && !env.controls.counts_marks(self.control) {
            // ns-2 looks for marks first, on every ACK.
            let news = Ack { through: ack, ..self.news(env, self.acked) };
            self.answer_mark(env, &news);
        }
        if self.takes_notes && !env.connection.tcp.recovery.acknowledges_each() {
            self.count_marks_of_one(env, ack);
        }
        let (twice, blocks) = if self.rack.is_some() { split_duplicate(ack, blocks) } else { (false, blocks) };
        // RACK finds losses first.
        if self.paced.is_some() && self.rack.is_none() {
            self.take_sample(env, ack, blocks);
        }
        match env.connection.tcp.recovery {
            Recovery::Tahoe => self.tahoe_ack(env, ack),
            Recovery::Reno => self.reno_ack(env, ack),
            Recovery::Newreno => self.newreno_ack(env, ack),
            Recovery::Sack if env.ns2() => self.sack1_ack(env, ack, blocks),
            Recovery::Sack => self.sack_ack(env, ack, blocks),
            Recovery::Rack => self.rack_ack(env, ack, blocks, twice),
        }
    }

    /// The SYN was acknowledged: the third step of the handshake, then data.
    fn establish<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let tcp = &env.connection.tcp;
        let scalable = env.controls.is_scalable(self.control);
        let lost = self.totals.timeouts;
        let marked = tcp.ecn != Ecn::Off && self.marks.open(env.told, lost > 0, scalable);
        if scalable && !self.marks.capable {
            env.controls.goes_without_marks(self.control);
        }
        self.acked = 0;
        self.last_ack = 0;
        self.next = 1;
        let rtt_s = env.now.time.since(env.echo);
        self.sample_rtt(env, rtt_s, 0);
        let told_s = self.note_handshake(rtt_s);
        if let Some(rack) = &mut self.rack {
            rack.flight.measured(rtt_s);
        }
        // RFC 5681 §3.1: a lost SYN means one packet, or two do (Linux's tcp_init_transfer), unless the first one is answered
        // (tcp_try_undo_spurious_syn); and as little after a marked SYN (draft-ietf-tcpm-generalized-ecn §3.2.1.4).
        let late = env.linux() && env.echo == self.timed_at;
        let begins_anew = lost > u64::from(env.linux()) && !late || marked;
        self.window.cwnd = if begins_anew { 1.0 } else { tcp.initial_window_packets };
        env.controls.on_handshake(self.control, &mut self.window, env.now.time, told_s);
        self.rtt.end_backoff(&tcp.rto);
        if lost > 0 && !env.linux() {
            self.rtt.distrust_handshake(&tcp.rto);
        }
        self.rto.cancel();
        let now = env.now.time.seconds();
        let reply = Packet::new(Kind::Segment, self.flow, 0, tcp.ack_bytes, now).bare();
        self.totals.packets_sent += 1;
        self.totals.bytes_sent += u64::from(tcp.ack_bytes);
        env.network.send(reply, env.now);
        self.check_finished(env);
        self.offer(env);
    }

    /// An ACK acknowledged data that was outstanding, outside of recovery or ending it: advances,
    /// measures, restarts the timer and, with `grow`, opens the window.
    pub fn advance<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, grow: bool) {
        let news = self.news(env, ack);
        self.duplicates = 0;
        self.last_ack = ack;
        self.acked = ack;
        self.next = self.next.max(ack + 1);
        if env.ns2() {
            // One packet per window is timed, from its sending to an ACK that covers it.
            if self.timing && ack >= self.timed_seq {
                self.marks.backs_off &= env.told != 0;
                if !self.marks.backs_off {
                    self.rtt.end_backoff(&env.connection.tcp.rto);
                }
                self.timing = false;
                let rtt = env.now.time.since(self.timed_at);
                self.sample_rtt(env, rtt, ack);
            }
            self.arm_rto(env);
        } else {
            self.restart_rto(env);
        }
        if news.marked > 0.0 {
            self.take_marked(env, &news, grow);
        } else if grow {
            if env.ns2() && self.acked == 0 {
                // ns-2's delay_growth_: the initial window opens when the SYN is acknowledged. The small
                // packet's round trip tells a control nothing about those of data.
                self.window.cwnd = self.initial_window(env);
            } else {
                // Around the one place where windows grow, which stays in line.
                if let Some(slow_start) = &mut self.slow_start {
                    slow_start.before(&mut self.window, &news);
                }
                let used = self.window_use.as_ref().map(|window_use| window_use.is_limited(&self.window));
                env.controls.measure_and_grow(self.control, &mut self.window, &news, used);
                if let Some(slow_start) = &mut self.slow_start {
                    slow_start.after(&mut self.window, &news);
                }
            }
        } else {
            self.measure(env, &news);
        }
        self.check_finished(env);
    }

    /// An ACK lets no window grow, in loss recovery or while the window comes down for a mark.
    pub(super) fn measure<N>(&mut self, env: &mut Env<'_, N>, news: &Ack) {
        if self.rack.as_ref().is_some_and(|rack| rack.marked_through.is_some()) {
            env.controls.hear(self.control, &self.window, news);
        } else {
            env.controls.measure(self.control, news);
        }
    }

    /// What an ACK of new data tells a congestion control.
    #[inline]
    fn news<N>(&mut self, env: &Env<'_, N>, ack: i32) -> Ack {
        let delivered = f64::from(ack - self.acked);
        Ack {
            now: env.now.time,
            // ns-2 counts ACKs, whatever they acknowledge.
            acked: if env.ns2() { 1.0 } else { self.counted(env, delivered) },
            delivered,
            marked: if env.told == 0 { 0.0 } else { self.marks.news(delivered) },
            rtt_s: env.now.time.since(env.echo),
            in_flight: self.in_flight(),
            through: ack,
            highest: self.highest,
        }
    }

    /// Of packets that an ACK acknowledges cumulatively those that growth counts: with Linux, which had not been acknowledged
    /// selectively before (acked_sacked of tcp_cong_control), or by a duplicate ACK each (tcp_remove_reno_sacks); with SACK, of
    /// which a timeout forgets all, those that were sent since then.
    #[inline]
    fn counted<N>(&self, env: &Env<'_, N>, delivered: f64) -> f64 {
        match &self.rack {
            Some(rack) if env.linux() => f64::from(rack.delivered),
            None if env.linux() => (delivered - f64::from(self.duplicates)).max(1.0),
            None if self.scoreboard.is_some() => delivered.min(f64::from(self.next - self.acked - 1)).max(1.0),
            _ => delivered,
        }
    }

    /// An ACK acknowledged a part of what was outstanding when recovery began: moves on to it.
    pub fn acknowledge_part<N>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        let news = self.news(env, ack);
        env.controls.measure(self.control, &news);
        self.acked = ack;
    }

    /// RFC 6298 §5.2 and §5.3: off when nothing is outstanding, restarted otherwise.
    pub fn restart_rto<N: Schedule>(&mut self, env: &mut Env<'_, N>) {
        if self.acked >= self.highest {
            self.rto.cancel();
        } else {
            self.arm_rto(env);
        }
    }

    /// Resets the backoff of the timer.
    pub fn end_backoff<N>(&mut self, env: &Env<'_, N>) {
        self.rtt.end_backoff(&env.connection.tcp.rto);
    }

    /// ns-2, on a partial ACK: the timed packet came through.
    pub fn end_timing<N>(&mut self, env: &Env<'_, N>, ack: i32) {
        if self.timing && ack >= self.timed_seq {
            self.timing = false;
            self.end_backoff(env);
        }
    }

    fn initial_window<N>(&self, env: &Env<'_, N>) -> f64 {
        // After a lost SYN ns-2 (bugfix_ss_) begins with one packet.
        if self.last_cut == LastCut::Timeout { 1.0 } else { env.connection.tcp.initial_window_packets }
    }

    pub(in crate::transport) fn sample_rtt<N: Network>(&mut self, env: &mut Env<'_, N>, rtt_s: f64, ack: i32) {
        let connection = env.connection;
        self.rtt.sample(&connection.tcp.rto, connection.profile, env.now.time, rtt_s, (ack, self.highest));
        self.rtts.add(rtt_s);
    }

    fn check_finished<N>(&mut self, env: &Env<'_, N>) {
        if self.acked + 1 >= self.limit && env.connection.bytes.is_some() && self.totals.finished.is_none() {
            self.totals.finished = Some(env.now.time);
        }
    }
}

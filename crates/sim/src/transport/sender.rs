//! The sending end of a TCP connection.
//!
//! Sequence numbers count packets of full size: 0 is the SYN, data begins at 1. Read RFC 5681 and
//! RFC 6298 before editing; `recovery/` holds what each kind of loss recovery adds. Under profile
//! `ns2` the sender does what ns-2.35's one-way agents do, including where they differ from the RFCs;
//! each difference is a branch on the profile with its reason beside it.

use crate::congestion::slow_start::SlowStart;
use crate::congestion::{Ack, Controls, Handle, Window};
use crate::events::{Entity, Key};
use crate::packet::{Kind, Packet};
use crate::scenario::{Ecn, Profile, Recovery};
use crate::time::Time;
use crate::transport::accounting::{Account, LIMITS};
use crate::transport::connection::Connection;
use crate::transport::ecn::Marks;
use crate::transport::linux::WindowUse;
use crate::transport::network::{Network, Schedule};
use crate::transport::pacing::Paced;
use crate::transport::recovery::rack::Rack;
use crate::transport::recovery::scoreboard::Scoreboard;
use crate::transport::rtt::RttEstimator;
use crate::transport::sack::split_duplicate;
use crate::transport::timer::Timer;

mod loss;
mod marks;
mod paced;
#[cfg(test)]
mod scripted;
mod sending;

/// Duplicate ACKs that signal a loss (RFC 5681 §3.2).
pub const DUPLICATE_ACKS: u32 = 3;

/// What last made the window shrink (ns-2's agents and recoveries ask).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastCut {
    /// Nothing yet.
    #[default]
    None,
    /// Duplicate ACKs, and that recovery is not over.
    DuplicateAcks,
    /// Duplicate ACKs, and that recovery is over.
    Recovered,
    /// The retransmission timer.
    Timeout,
}

/// What losses a sender mends, by its number in series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryState {
    /// None.
    Open,
    /// Those that duplicate ACKs, SACK or RACK found.
    Recovery,
    /// Those that the retransmission timer found.
    Timeout,
}

/// Totals of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderTotals {
    /// Packets offered to the first link.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets retransmitted.
    pub packets_retransmitted: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// When everything that the application offered was acknowledged.
    pub finished: Option<Time>,
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Congestion window and threshold.
    pub window: Window,
    /// The next packet to send.
    pub next: i32,
    /// The highest packet acknowledged cumulatively, −1 before the SYN is.
    pub acked: i32,
    /// The last ACK that counted; behind `acked` during ns-2's SACK recovery.
    pub last_ack: i32,
    /// The highest packet sent.
    pub highest: i32,
    /// What the application offered ends before this packet.
    pub limit: i32,
    /// Packets up to here were outstanding when the last loss was detected.
    pub recover: i32,
    /// Duplicate ACKs in a row.
    pub duplicates: u32,
    /// Packets by which fast recovery inflates the window (ns-2's dupwnd).
    pub inflation: u32,
    /// What made the window shrink last.
    pub last_cut: LastCut,
    /// A partial ACK arrived in this recovery.
    pub partial_seen: bool,
    /// In SACK recovery.
    pub recovering: bool,
    /// Since the last timeout no new data was acknowledged.
    pub timed_out: bool,
    timing: bool,
    /// What congestion marks told.
    pub(super) marks: Marks,
    timed_seq: i32,
    timed_at: Time,
    rtt: RttEstimator,
    rto: Timer,
    control: Handle,
    /// Slow start, where it is not the standard one.
    pub(super) slow_start: Option<Box<SlowStart>>,
    /// It has to take note of what it sends, beyond what all senders do.
    takes_notes: bool,
    /// Profile `linux`: how much of the window is used.
    window_use: Option<Box<WindowUse>>,
    account: Account,
    flow: u32,
    timer_entity: Entity,
    /// What SACK blocks told, where recovery uses them.
    pub scoreboard: Option<Box<Scoreboard>>,
    /// What a connection that is paced has beyond others.
    paced: Option<Box<Paced>>,
    /// What RACK knows, where it is the recovery.
    pub rack: Option<Box<Rack>>,
    /// Totals.
    pub totals: SenderTotals,
}

/// What a sender acts upon.
pub struct Env<'a, N> {
    /// Where packets go, and timers have their events.
    pub network: &'a mut N,
    /// All congestion controls.
    pub controls: &'a mut Controls,
    /// The connection's parameters.
    pub connection: &'a Connection,
    /// The event being handled.
    pub now: Key,
    /// When it is an ACK: when the packet was sent that it answers.
    pub echo: Time,
    /// When it is an ACK: its flags AE, CWR and ECE; from where marks are counted on, one if there is news of them.
    pub told: u8,
}

impl<N> Env<'_, N> {
    /// Whether the profile is `ns2`.
    #[inline]
    #[must_use]
    pub fn ns2(&self) -> bool {
        self.connection.profile == Profile::Ns2
    }

    /// Whether the profile is `linux`.
    #[inline]
    #[must_use]
    pub fn linux(&self) -> bool {
        self.connection.profile == Profile::Linux
    }
}

impl Sender {
    /// A closed connection of flow `flow`, whose retransmission timer is `timer_entity`. `phase_s` is where ns-2's clock
    /// stands within its tick.
    #[must_use]
    pub fn new(
        connection: &Connection,
        flow: u32,
        timer_entity: Entity,
        control: Handle,
        phase_s: f64,
        start: Time,
    ) -> Self {
        let tcp = &connection.tcp;
        Self {
            window: Window { cwnd: 1.0, ssthresh: tcp.initial_ssthresh_packets.unwrap_or(f64::MAX) },
            next: 0,
            acked: -1,
            last_ack: -1,
            highest: -1,
            limit: 0,
            recover: 0,
            duplicates: 0,
            inflation: 0,
            last_cut: LastCut::None,
            partial_seen: false,
            recovering: false,
            timed_out: false,
            timing: false,
            marks: Marks::new(tcp.ecn),
            timed_seq: -1,
            timed_at: Time::ZERO,
            rtt: RttEstimator::new(&tcp.rto, connection.profile, phase_s),
            rto: Timer::default(),
            control,
            slow_start: SlowStart::new(tcp.slow_start, tcp.max_ssthresh_packets),
            takes_notes: tcp.ecn != Ecn::Off || tcp.recovery == Recovery::Rack || connection.profile == Profile::Linux,
            window_use: (connection.profile == Profile::Linux)
                .then(|| Box::new(WindowUse::new(tcp.initial_window_packets))),
            account: Account::new(start),
            flow,
            timer_entity,
            scoreboard: (tcp.recovery == Recovery::Sack).then(Box::default),
            paced: None,
            rack: (tcp.recovery == Recovery::Rack).then(Box::default),
            totals: SenderTotals::default(),
        }
    }

    /// The application starts with all that it has (bulk).
    pub fn start<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.begin(env, env.connection.packets());
    }

    /// The application starts with so many packets.
    pub fn begin<N: Network>(&mut self, env: &mut Env<'_, N>, packets: i32) {
        // The SYN takes a sequence number.
        self.limit = packets.saturating_add(1);
        self.offer(env);
    }

    /// The application offers one more packet.
    pub fn push<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.limit = self.limit.max(1) + 1;
        self.offer(env);
    }

    /// There may be something to send that no ACK lets out.
    fn offer<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if self.acked == self.highest
            && let Some(window_use) = &self.window_use
        {
            window_use.restart(&mut self.window, env.now.time, self.rtt.timeout_s());
        }
        if self.rack.is_some() { self.rack_offer(env) } else { self.send(env) }
    }

    /// The application stops: nothing is sent but what was sent before and is missing.
    pub fn stop<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.limit = self.limit.min(self.highest + 1);
        self.next = self.next.min(self.limit);
        self.account.stop(env.now.time);
    }

    /// Whether it has sent so many SYNs, and none was answered.
    #[inline]
    #[must_use]
    pub fn has_tried(&self, times: u32) -> bool {
        self.acked < 0 && self.totals.packets_sent >= u64::from(times)
    }

    /// The retransmission timer's event came, after the last SYN that it may send: whether the connection failed.
    pub fn gives_up<S: Schedule>(&mut self, events: &mut S, now: Key) -> bool {
        self.rto.expires(events, now)
    }

    /// Its congestion control.
    #[must_use]
    pub fn control(&self) -> Handle {
        self.control
    }

    /// What losses it mends.
    #[must_use]
    pub fn recovery_state(&self) -> RecoveryState {
        match self.last_cut {
            LastCut::DuplicateAcks if self.acked < self.recover => RecoveryState::Recovery,
            LastCut::Timeout if self.acked < self.recover => RecoveryState::Timeout,
            _ => RecoveryState::Open,
        }
    }

    /// Packets outstanding.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        f64::from(self.highest - self.acked)
    }

    /// Its flow.
    #[inline]
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// When its retransmission timer expires, unless it is rearmed.
    #[inline]
    #[must_use]
    pub fn retransmits_at(&self) -> Time {
        self.rto.deadline()
    }

    /// Until when the sender does nothing but react to ACKs, if the application does nothing.
    #[inline]
    #[must_use]
    pub fn reacts_until(&self) -> Time {
        let until = self.retransmits_at();
        self.paced.as_ref().map_or(until, |paced| until.min(paced.pacer.deadline()))
    }

    /// (Re)arms the retransmission timer.
    #[inline]
    pub fn arm_rto<N: Schedule>(&mut self, env: &mut Env<'_, N>) {
        let timeout = self.rtt.timeout_s();
        self.rto.arm(env.network, self.timer_entity, env.now, timeout);
    }

    /// (Re)arms the same timer to expire earlier.
    pub(super) fn arm_timer<N: Schedule>(&mut self, env: &mut Env<'_, N>, delay_s: f64) {
        self.rto.arm(env.network, self.timer_entity, env.now, delay_s);
    }

    /// The smoothed round-trip time in seconds, if there was a sample.
    pub(super) fn srtt_s(&self, connection: &Connection) -> Option<f64> {
        self.rtt.srtt_s(&connection.tcp.rto, connection.profile)
    }

    /// The retransmission timeout, in seconds.
    pub(super) fn timeout_s(&self) -> f64 {
        self.rtt.timeout_s()
    }

    /// Stops timing the packet that is being timed: it may be retransmitted (Karn).
    pub fn stop_timing(&mut self) {
        self.timing = false;
    }

    /// An ACK arrived, with SACK blocks, half-open.
    pub fn receive<N: Network>(&mut self, env: &mut Env<'_, N>, ack: u32, blocks: &[(u32, u32)]) {
        let ack = ack as i32;
        if self.takes_notes {
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
        let marked = tcp.ecn != Ecn::Off && self.marks.open(env.told, self.rtt.is_backed_off(), scalable);
        if scalable && !self.marks.capable {
            env.controls.goes_without_marks(self.control);
        }
        self.acked = 0;
        self.last_ack = 0;
        self.next = 1;
        let rtt_s = env.now.time.since(env.echo);
        self.sample_rtt(env, rtt_s, 0);
        if self.paced.is_some() {
            self.note_handshake(env, rtt_s);
        }
        if let Some(rack) = &mut self.rack {
            rack.flight.measured(rtt_s);
        }
        // RFC 5681 §3.1 and RFC 6298 §5.7: a lost SYN means one packet and a cautious timer.
        if self.rtt.is_backed_off() {
            self.window.cwnd = 1.0;
            self.rtt.end_backoff(&tcp.rto);
            self.rtt.distrust_handshake(&tcp.rto);
        } else {
            // draft-ietf-tcpm-generalized-ecn §3.2.1.4: as little after a marked SYN.
            self.window.cwnd = if marked { 1.0 } else { tcp.initial_window_packets };
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
                self.rtt.end_backoff(&env.connection.tcp.rto);
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
                env.controls.on_ack(self.control, &mut self.window, &news, used);
                if let Some(slow_start) = &mut self.slow_start {
                    slow_start.after(&mut self.window, &news);
                }
            }
        } else {
            env.controls.measure(self.control, &news);
        }
        self.check_finished(env);
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
    /// selectively before (acked_sacked of tcp_cong_control), or by a duplicate ACK each (tcp_remove_reno_sacks).
    #[inline]
    fn counted<N>(&self, env: &Env<'_, N>, delivered: f64) -> f64 {
        match &self.rack {
            Some(rack) if env.linux() => f64::from(rack.delivered),
            None if env.linux() => (delivered - f64::from(self.duplicates)).max(1.0),
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

    fn sample_rtt<N: Network>(&mut self, env: &mut Env<'_, N>, rtt_s: f64, ack: i32) {
        let connection = env.connection;
        self.rtt.sample(&connection.tcp.rto, connection.profile, env.now.time, rtt_s, (ack, self.highest));
        env.network.note_rtt(self.flow, rtt_s);
    }

    fn check_finished<N>(&mut self, env: &Env<'_, N>) {
        if self.acked + 1 >= self.limit && env.connection.bytes.is_some() && self.totals.finished.is_none() {
            self.totals.finished = Some(env.now.time);
        }
    }

    /// The shares of its time that each limit took, from the start to `stop`.
    #[must_use]
    pub fn limit_shares(&self, stop: Time) -> [f64; LIMITS] {
        self.account.shares(stop)
    }
}

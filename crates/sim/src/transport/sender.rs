//! The sending end of a TCP connection.
//!
//! Sequence numbers count packets of full size: 0 is the SYN, data begins at 1. Read RFC 5681 and
//! RFC 6298 before editing; `recovery/` holds what each kind of loss recovery adds. Under profile
//! `ns2` the sender does what ns-2.35's one-way agents do, including where they differ from the RFCs;
//! each difference is a branch on the profile with its reason beside it.

use crate::congestion::{Ack, Controls, Handle, Window};
use crate::events::{Entity, Key};
use crate::network::fabric::Fabric;
use crate::packet::{Kind, Packet};
use crate::probe::Probe;
use crate::scenario::{Profile, Recovery};
use crate::time::Time;
use crate::transport::accounting::{Account, Limit};
use crate::transport::connection::Connection;
use crate::transport::recovery::scoreboard::Scoreboard;
use crate::transport::rtt::RttEstimator;
use crate::transport::sack::SackBlocks;
use crate::transport::timer::Timer;

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

/// Totals of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderTotals {
    /// Packets offered to the first link.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets sent again.
    pub packets_retransmitted: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Sum of round-trip time samples, in seconds.
    pub rtt_sum_s: f64,
    /// Number of samples.
    pub rtt_samples: u64,
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
    timed_seq: i32,
    timed_at: Time,
    rtt: RttEstimator,
    rto: Timer,
    control: Handle,
    account: Account,
    bottleneck: u32,
    flow: u32,
    timer_entity: Entity,
    /// What SACK blocks told, where recovery uses them.
    pub scoreboard: Option<Box<Scoreboard>>,
    /// Totals.
    pub totals: SenderTotals,
}

/// What a sender acts upon.
pub struct Env<'a, P> {
    /// Where packets go.
    pub fabric: &'a mut Fabric<P>,
    /// All congestion controls.
    pub controls: &'a mut Controls,
    /// The connection's parameters.
    pub connection: &'a Connection,
    /// The event being handled.
    pub now: Key,
}

impl<P> Env<'_, P> {
    /// Whether the profile is `ns2`.
    #[inline]
    #[must_use]
    pub fn ns2(&self) -> bool {
        self.connection.profile == Profile::Ns2
    }
}

impl Sender {
    /// A closed connection of flow `flow`, whose retransmission timer is `timer_entity` and whose
    /// slowest link is `bottleneck`. `phase_s` is where ns-2's clock stands within its tick.
    #[must_use]
    pub fn new(
        connection: &Connection,
        flow: u32,
        timer_entity: Entity,
        control: Handle,
        bottleneck: u32,
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
            timed_seq: -1,
            timed_at: Time::ZERO,
            rtt: RttEstimator::new(&tcp.rto, connection.profile, phase_s),
            rto: Timer::default(),
            control,
            account: Account::new(start),
            bottleneck,
            flow,
            timer_entity,
            scoreboard: (tcp.recovery == Recovery::Sack).then(Box::default),
            totals: SenderTotals::default(),
        }
    }

    /// The application starts with all that it has (bulk).
    pub fn start<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        // The SYN takes a sequence number.
        self.limit = env.connection.packets().saturating_add(1);
        self.send(env);
    }

    /// The application offers one more packet.
    pub fn push<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        self.limit = self.limit.max(1) + 1;
        self.send(env);
    }

    /// The application stops: nothing is sent but what was sent before and is missing.
    pub fn stop<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        self.limit = self.limit.min(self.highest + 1);
        self.next = self.next.min(self.limit);
        let fabric = &*env.fabric;
        self.account.stop(env.now.time, |since, now| fabric.busy_throughout(self.bottleneck, since, now));
    }

    /// Packets outstanding.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        f64::from(self.highest - self.acked)
    }

    /// Whether packet `seq` lies within the window: congestion window in whole packets and inflation, and
    /// the receiver's window.
    #[inline]
    fn allows<P>(&self, env: &Env<'_, P>, seq: i32) -> bool {
        let outstanding = seq - self.acked;
        // Of a whole number it is the same whether it is compared with a window or with its whole part.
        outstanding <= env.connection.window && f64::from(outstanding - self.inflation as i32) <= self.window.cwnd
    }

    /// The window as it counts when it is cut, in packets. ns-2 cuts the window, whatever of it is in
    /// use. RFC 5681 eq. 4 cuts what is in flight; but what is beyond the congestion window only is in
    /// flight because duplicate ACKs let it out (limited transmit, which §3.2 excludes, and fast
    /// recovery, of which it does not speak: a timeout at its end would set a threshold far too high).
    fn window_in_use<P>(&self, env: &Env<'_, P>) -> f64 {
        if env.ns2() {
            (self.window.cwnd + f64::from(self.inflation)).min(env.connection.tcp.window_packets)
        } else {
            self.in_flight().min(self.window.cwnd)
        }
    }

    /// Sends what the window allows.
    #[inline]
    pub fn send<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        self.send_at_most(env, u32::MAX);
    }

    /// The interface has room again.
    pub fn resume<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        match env.connection.tcp.recovery {
            Recovery::Sack if env.ns2() => self.sack1_send(env),
            Recovery::Sack if self.recovering => self.sack_send(env),
            _ => self.send(env),
        }
    }

    /// Sends what the window allows, in a burst of at most `burst` packets.
    #[inline]
    pub fn send_at_most<P: Probe>(&mut self, env: &mut Env<'_, P>, burst: u32) {
        let mut sent = 0;
        while self.next < self.limit && sent < burst && self.allows(env, self.next) {
            if self.is_pushed_back(env) {
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

    /// Whether the host's interface does not take the next packet now; it wakes the sender later. The SYN
    /// it always takes.
    #[inline]
    pub(super) fn is_pushed_back<P: Probe>(&mut self, env: &mut Env<'_, P>) -> bool {
        let pushed_back = self.acked >= 0 && !env.fabric.takes(self.flow, env.connection.size(self.next), env.now);
        if pushed_back {
            self.note(env, Limit::SenderRate);
        }
        pushed_back
    }

    /// Limited transmit (RFC 3042): a new packet for each of the first two duplicate ACKs.
    pub fn send_one_new<P: Probe>(&mut self, env: &mut Env<'_, P>) {
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

    /// Sends one packet, new or again.
    pub fn transmit<P: Probe>(&mut self, env: &mut Env<'_, P>, seq: i32) {
        let now = env.now.time;
        let again = seq <= self.highest;
        let size = env.connection.size(seq);
        let packet = Packet::new(Kind::Segment, self.flow, seq as u32, size, now.seconds());
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
        env.fabric.send(packet, env.now);
        if idle || !self.rto.is_armed() {
            self.arm_rto(env);
        }
    }

    /// Until when the sender does nothing but react to ACKs, if the application does nothing. At the
    /// receiver's window the account looks at the bottleneck, which must not be ahead of it or behind.
    #[inline]
    #[must_use]
    pub fn reacts_until(&self) -> Time {
        if self.account.looks_at_bottleneck() { Time::ZERO } else { self.rto.pending() }
    }

    /// (Re)arms the retransmission timer.
    #[inline]
    pub fn arm_rto<P>(&mut self, env: &mut Env<'_, P>) {
        let timeout = self.rtt.timeout_s();
        self.rto.arm(&mut env.fabric.queue, self.timer_entity, env.now, timeout);
    }

    /// Stops timing the packet that is being timed: it may be sent again (Karn).
    pub fn stop_timing(&mut self) {
        self.timing = false;
    }

    /// Takes note of why nothing more is sent now.
    #[inline]
    pub(crate) fn note_limit<P>(&mut self, env: &mut Env<'_, P>) {
        let limit = if self.acked < 0 {
            Limit::Handshake
        } else if self.next >= self.limit {
            Limit::Application
        } else if self.next - self.acked > env.connection.window
            && self.window.cwnd + f64::from(self.inflation) >= env.connection.tcp.window_packets
        {
            Limit::ReceiverWindow
        } else {
            Limit::CongestionWindow
        };
        self.note(env, limit);
    }

    #[inline]
    fn note<P>(&mut self, env: &mut Env<'_, P>, limit: Limit) {
        let (fabric, bottleneck) = (&*env.fabric, self.bottleneck);
        let busy = |since, now| fabric.busy_throughout(bottleneck, since, now);
        self.account.note(limit, env.now.time, (self.acked, self.highest), busy);
    }

    /// An ACK arrived. `echo` is when the packet that it answers was sent.
    pub fn receive<P: Probe>(&mut self, env: &mut Env<'_, P>, ack: u32, blocks: SackBlocks, echo: Time) {
        let ack = ack as i32;
        if !env.ns2() {
            if self.acked < 0 {
                self.establish(env, echo);
                return;
            }
            if ack > self.acked {
                // RFC 6298 §5 and RFC 7323 §4: with timestamps every ACK of new data gives a sample, and
                // a sample ends the backoff.
                self.rtt.end_backoff(&env.connection.tcp.rto);
                self.sample_rtt(env, env.now.time.since(echo));
            }
        }
        match env.connection.tcp.recovery {
            Recovery::Tahoe => self.tahoe_ack(env, ack),
            Recovery::Reno => self.reno_ack(env, ack),
            Recovery::Newreno => self.newreno_ack(env, ack),
            Recovery::Sack if env.ns2() => self.sack1_ack(env, ack, &blocks),
            Recovery::Sack => self.sack_ack(env, ack, &blocks),
        }
    }

    /// The SYN was acknowledged: the third step of the handshake, then data.
    fn establish<P: Probe>(&mut self, env: &mut Env<'_, P>, echo: Time) {
        let tcp = &env.connection.tcp;
        self.acked = 0;
        self.last_ack = 0;
        self.next = 1;
        self.sample_rtt(env, env.now.time.since(echo));
        // RFC 5681 §3.1 and RFC 6298 §5.7: a lost SYN means one packet and a cautious timer.
        if self.rtt.is_backed_off() {
            self.window.cwnd = 1.0;
            self.rtt.end_backoff(&tcp.rto);
            self.rtt.distrust_handshake(&tcp.rto);
        } else {
            self.window.cwnd = tcp.initial_window_packets;
        }
        self.rto.cancel();
        let now = env.now.time.seconds();
        let reply = Packet::new(Kind::Segment, self.flow, 0, tcp.ack_bytes, now).bare();
        self.totals.packets_sent += 1;
        self.totals.bytes_sent += u64::from(tcp.ack_bytes);
        env.fabric.send(reply, env.now);
        self.check_finished(env);
        self.send(env);
    }

    /// An ACK acknowledged data that was outstanding, outside of recovery or ending it: advances,
    /// measures, restarts the timer and, with `grow`, opens the window.
    pub fn advance<P: Probe>(&mut self, env: &mut Env<'_, P>, ack: i32, grow: bool) {
        let newly = f64::from(ack - self.acked);
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
                self.sample_rtt(env, rtt);
            }
            self.arm_rto(env);
        } else {
            self.restart_rto(env);
        }
        if grow {
            // ns-2 counts ACKs, whatever they acknowledge.
            let acked = if env.ns2() { 1.0 } else { newly };
            let ack = Ack { now: env.now.time, acked, rtt_s: None };
            env.controls.on_ack(self.control, &mut self.window, &ack);
            if env.ns2() && self.acked == 0 {
                // ns-2's delay_growth_: the initial window opens when the SYN is acknowledged.
                self.window.cwnd = self.initial_window(env);
            }
        }
        self.check_finished(env);
    }

    /// RFC 6298 §5.2 and §5.3: off when nothing is outstanding, restarted otherwise.
    pub fn restart_rto<P>(&mut self, env: &mut Env<'_, P>) {
        if self.acked >= self.highest {
            self.rto.cancel();
        } else {
            self.arm_rto(env);
        }
    }

    /// Resets the backoff of the timer.
    pub fn end_backoff<P>(&mut self, env: &Env<'_, P>) {
        self.rtt.end_backoff(&env.connection.tcp.rto);
    }

    /// ns-2, on a partial ACK: the timed packet came through.
    pub fn end_timing<P>(&mut self, env: &Env<'_, P>, ack: i32) {
        if self.timing && ack >= self.timed_seq {
            self.timing = false;
            self.end_backoff(env);
        }
    }

    fn initial_window<P>(&self, env: &Env<'_, P>) -> f64 {
        // After a lost SYN ns-2 (bugfix_ss_) begins with one packet.
        if self.last_cut == LastCut::Timeout { 1.0 } else { env.connection.tcp.initial_window_packets }
    }

    fn sample_rtt<P>(&mut self, env: &Env<'_, P>, rtt_s: f64) {
        let connection = env.connection;
        self.rtt.sample(&connection.tcp.rto, connection.profile, env.now.time, rtt_s);
        self.totals.rtt_sum_s += rtt_s;
        self.totals.rtt_samples += 1;
    }

    fn check_finished<P>(&mut self, env: &Env<'_, P>) {
        if self.acked + 1 >= self.limit && env.connection.bytes.is_some() && self.totals.finished.is_none() {
            self.totals.finished = Some(env.now.time);
        }
    }

    /// A loss was detected without the timer: cuts window and threshold.
    pub fn cut<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        let in_use = self.window_in_use(env);
        let window = env.controls.on_loss(self.control, &self.window, in_use);
        self.set_threshold(env, window);
        self.window.cwnd = if env.ns2() { window } else { self.window.ssthresh };
    }

    /// ns-2 keeps thresholds in whole packets; nobody goes below two (RFC 5681 eq. 4).
    fn set_threshold<P>(&mut self, env: &Env<'_, P>, window: f64) {
        let window = if env.ns2() { window.trunc() } else { window };
        self.window.ssthresh = window.max(2.0);
    }

    /// The retransmission timer's event came.
    pub fn timer<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        if !self.rto.expires(&mut env.fabric.queue, env.now) {
            return;
        }
        if !env.ns2() && self.acked == self.highest {
            return;
        }
        match env.connection.tcp.recovery {
            Recovery::Tahoe => {}
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

    /// RFC 5681 §3.1 and RFC 6298 §5.4 to §5.6: threshold to half, window to one packet, and again
    /// from the first packet that is not acknowledged.
    fn time_out<P: Probe>(&mut self, env: &mut Env<'_, P>) {
        self.recover = self.highest;
        let outstanding = self.acked < self.highest;
        if outstanding {
            self.totals.timeouts += 1;
            // RFC 5681 §3.1: the threshold is cut once per loss, not again by every backoff.
            if env.ns2() || !self.rtt.is_backed_off() {
                let in_use = self.window_in_use(env);
                let threshold = env.controls.on_timeout(self.control, &self.window, in_use);
                self.set_threshold(env, threshold);
            }
            self.rtt.back_off(&env.connection.tcp.rto, env.connection.profile);
        }
        self.window.cwnd = 1.0;
        self.last_cut = LastCut::Timeout;
        self.arm_rto(env);
        self.next = self.acked + 1;
        self.timing = false;
        self.send(env);
    }

    /// The shares of its time that each limit took, from the start to `stop`.
    #[must_use]
    pub fn limit_shares<P>(&self, fabric: &Fabric<P>, stop: Time) -> [f64; crate::transport::accounting::LIMITS] {
        self.account.shares(stop, |since, now| fabric.busy_throughout(self.bottleneck, since, now))
    }
}

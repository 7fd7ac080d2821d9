//! The sending end of a TCP connection.
//!
//! Sequence numbers count packets of full size: 0 is the SYN, data begins at 1. Read RFC 5681 and
//! RFC 6298 before editing; `recovery/` holds what each kind of loss recovery adds. Under profile
//! `ns2` the sender does what ns-2.35's one-way agents do, including where they differ from the RFCs;
//! each difference is a branch on the profile with its reason beside it.
//!
//! Here are its state and what the application does with it; `receiving` has what ACKs tell, `loss` how windows shrink, `marks`
//! what congestion marks do, `sending` what leaves, `paced` when.

use crate::congestion::slow_start::SlowStart;
use crate::congestion::{Controls, Handle, Window};
use crate::delays::Delays;
use crate::events::{Entity, Key};
use crate::scenario::{Ecn, Profile, Recovery};
use crate::time::Time;
use crate::transport::accounting::{Account, LIMITS};
use crate::transport::connection::Connection;
use crate::transport::ecn::Marks;
use crate::transport::network::{Network, Schedule};
use crate::transport::pacing::Paced;
use crate::transport::rtt::RttEstimator;
use crate::transport::sender::recovery::rack::Rack;
use crate::transport::sender::recovery::scoreboard::Scoreboard;
use crate::transport::timer::Timer;
use crate::transport::window_use::WindowUse;

mod loss;
mod marks;
mod paced;
mod receiving;
pub mod recovery;
#[cfg(test)]
mod scripted;
mod sending;

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
    /// ns-2: a mark, whose window of data may have lost packets as well.
    Mark,
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
    /// The receiver's window ends before this packet, as far as ACKs told.
    right_edge: i32,
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
    /// Samples of the round-trip time.
    pub rtts: Delays,
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
    /// What it has beyond others if packets wait for more than a window.
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
            right_edge: i32::MAX,
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
            rtts: Delays::default(),
            rto: Timer::default(),
            control,
            slow_start: SlowStart::new(tcp.slow_start, tcp.pacing, tcp.max_ssthresh_packets),
            takes_notes: tcp.ecn != Ecn::Off || tcp.recovery == Recovery::Rack || connection.profile == Profile::Linux,
            window_use: (connection.profile == Profile::Linux).then(|| Box::new(WindowUse::new(tcp))),
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

    /// The application writes single segments. Under profile `linux`, those that wait in the socket for the window are one
    /// buffer, of which the end alone is pushed (tcp_sendmsg_locked, tcp_push).
    pub fn write_singly(&mut self) {
        if let Some(window_use) = &mut self.window_use {
            window_use.pushes = true;
        }
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
        self.resume(env);
    }

    /// The application stops: nothing is sent but what was sent before and is missing. `clocked`: it wrote packet by packet.
    pub fn stop<N: Network>(&mut self, env: &mut Env<'_, N>, clocked: bool) {
        if env.ns2() && clocked {
            // `CBR_Traffic::stop` stops its clock alone: what the agent was given it sends.
        } else if env.ns2() {
            // `Application/FTP stop` is `advance 0`: data end before maxseq_, which no timeout sends again.
            self.limit = self.limit.min(self.highest);
        } else {
            self.limit = self.limit.min(self.highest + 1);
            self.next = self.next.min(self.limit);
        }
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
        if let Some(rack) = &mut self.rack {
            rack.timeout_from = env.now.time;
        }
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

    /// The shares of its time that each limit took, from the start to `stop`.
    #[must_use]
    pub fn limit_shares(&self, stop: Time) -> [f64; LIMITS] {
        self.account.shares(stop)
    }
}

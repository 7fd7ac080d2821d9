//! Tail loss probes (RFC 8985 §7): when no ACK has come for two round trips, one packet more makes the receiver
//! show what is lost at the tail, long before the retransmission timeout.

use crate::scenario::Profile;
use crate::transport::connection::Connection;
use crate::transport::network::Network;
use crate::transport::sender::{Env, Sender};

/// A probe waits for two round trips (§7.2).
const ROUND_TRIPS: f64 = 2.0;
/// A single packet may be acknowledged late by this many seconds: TLP.max_ack_delay, as Linux has it.
const MAX_ACK_DELAY_S: f64 = 0.2;

/// With Linux, the timers of RACK and of tail probes wait for so many seconds more: TCP_TIMEOUT_MIN_US, and what ticks of
/// 250 Hz add on average.
pub(super) const LEAST_TIMER_S: f64 = 0.006;

/// A probe that was sent and not accounted for: TLP.end_seq and TLP.is_retrans.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    through: i32,
    again: bool,
}

impl Probe {
    /// Whether it sent a packet again.
    #[must_use]
    pub fn is_again(&self) -> bool {
        self.again
    }
}

impl Sender {
    /// After how many seconds without an ACK to probe; none if there is no cause to (§7.2).
    pub(super) fn tail_probe_s(&mut self, connection: &Connection) -> Option<f64> {
        let (recovering, timeout_s) = (self.recovering || self.timed_out, self.timeout_s());
        let srtt_s = self.srtt_s(connection)?;
        let rack = self.rack_state();
        let flight = &rack.flight;
        if recovering || rack.tail_probe.is_some() || flight.held() > 0 || flight.missing() == 0 {
            return None;
        }
        let late_s = match connection.profile {
            _ if flight.missing() == 1 => MAX_ACK_DELAY_S,
            Profile::Linux => LEAST_TIMER_S,
            _ => 0.0,
        };
        Some((ROUND_TRIPS * srtt_s + late_s).min(timeout_s))
    }

    /// §7.3: a new packet, if the application has one and the receiver's window room; else the last one again. The
    /// congestion window does not count.
    pub(super) fn send_tail_probe<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let new = self.next < self.limit && self.receiver_takes(env, self.next);
        if new && self.is_pushed_back(env) {
            return;
        }
        let seq = if new { self.next } else { self.highest };
        self.transmit(env, seq);
        self.next = self.next.max(seq + 1);
        self.rack_state().tail_probe = Some(Probe { through: self.highest, again: !new });
    }

    /// §7.4.2: an ACK, `plain` without SACK blocks, tells what became of the probe. One that was retransmitted and came
    /// alone has mended a loss, which the control must hear of.
    pub(super) fn rack_probed<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, plain: bool) {
        let Some(probe) = self.rack_state().tail_probe else { return };
        let both_arrived = ack == self.acked && plain;
        if ack < probe.through || probe.again && ack == probe.through && !both_arrived {
            return;
        }
        self.rack_state().tail_probe = None;
        if probe.again && ack > probe.through && !self.recovering && !self.timed_out {
            self.cut(env);
        }
    }
}

//! NewReno: fast recovery lasts until everything that was outstanding at its begin is acknowledged;
//! each partial ACK shows the next loss (RFC 6582).

use super::DUPLICATE_ACKS;
use crate::transport::network::Network;
use crate::transport::sender::{Env, LastCut, Sender};

/// ns-2 sends at most this many packets per duplicate ACK in recovery.
const NS2_BURST: u32 = 2;

impl Sender {
    pub(crate) fn newreno_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        if ack > self.last_ack {
            if ack >= self.recover || self.last_cut != LastCut::DuplicateAcks {
                self.newreno_full_ack(env, ack);
            } else {
                self.newreno_partial_ack(env, ack);
            }
        } else if ack == self.last_ack {
            let outstanding = env.ns2() || self.acked < self.highest;
            self.count_duplicate(env, outstanding, Self::newreno_loss);
        }
        if self.duplicates == 0 {
            self.send(env);
        } else if self.duplicates >= DUPLICATE_ACKS {
            let burst = if env.ns2() { NS2_BURST } else { u32::MAX };
            self.send_at_most(env, burst);
        }
    }

    fn newreno_loss<N: Network>(&mut self, env: &mut Env<'_, N>) {
        // RFC 6582 §3.2 step 2: only beyond what was outstanding at the last loss.
        if self.acked > self.recover || self.acked == 0 {
            self.fast_retransmit(env);
        } else {
            self.retransmit_behind_mark(env);
        }
    }

    fn newreno_full_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        let recovered = self.inflation > 0 && self.last_cut == LastCut::DuplicateAcks;
        if self.inflation > 0 {
            self.inflation = 0;
            if recovered {
                self.last_cut = LastCut::Recovered;
            }
        }
        self.partial_seen = false;
        self.advance(env, ack, env.ns2() || !recovered);
        if recovered && !env.ns2() {
            // RFC 6582 §3.2 step 3, full ACK, the choice that avoids a burst.
            self.window.cwnd = self.window.ssthresh.min(self.in_flight().max(1.0) + 1.0);
        }
    }

    /// RFC 6582 §3.2 step 3, partial ACK: send the next missing packet, take what was acknowledged
    /// off the window and add one packet back; restart the timer for the first of them only, but in Linux for each
    /// (tcp_rearm_rto).
    fn newreno_partial_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        if !self.partial_seen || env.linux() {
            self.partial_seen = true;
            self.arm_rto(env);
        }
        let acked = (ack - self.last_ack) as u32;
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            self.window.cwnd -= f64::from(acked - self.inflation);
            // Above zero: it says that recovery continues.
            self.inflation = 1;
        }
        self.window.cwnd = self.window.cwnd.max(1.0);
        self.last_ack = ack;
        self.acknowledge_part(env, ack);
        self.next = self.next.max(ack + 1);
        self.end_timing(env, ack);
        self.transmit(env, ack + 1);
    }
}

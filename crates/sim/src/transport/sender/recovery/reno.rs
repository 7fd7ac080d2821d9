//! Reno: fast retransmit and fast recovery, ended by the first ACK of new data (RFC 5681 §3.2).

use super::DUPLICATE_ACKS;
use crate::transport::network::Network;
use crate::transport::sender::{Env, LastCut, Sender};

impl Sender {
    pub(crate) fn reno_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        if ack > self.last_ack {
            let recovered = self.last_cut == LastCut::DuplicateAcks && self.inflation > 0;
            if self.last_cut == LastCut::DuplicateAcks {
                self.last_cut = LastCut::Recovered;
            }
            self.inflation = 0;
            // RFC 5681 §3.2 step 6 deflates to the threshold; ns-2 already is there, and grows.
            let grow = env.ns2() || !recovered;
            self.advance(env, ack, grow);
        } else if ack == self.last_ack {
            let lost = env.ns2() || self.acked < self.highest;
            self.count_duplicate(env, lost, Self::reno_loss);
        }
        if self.duplicates == 0 || self.duplicates >= DUPLICATE_ACKS {
            self.send(env);
        }
    }

    /// A duplicate ACK: limited transmit, fast retransmit or inflation (RFC 5681 §3.2 steps 1 to 4).
    pub(super) fn count_duplicate<N: Network>(
        &mut self,
        env: &mut Env<'_, N>,
        outstanding: bool,
        loss: fn(&mut Self, &mut Env<'_, N>),
    ) {
        if !outstanding {
            return;
        }
        self.duplicates += 1;
        if self.duplicates == DUPLICATE_ACKS {
            loss(self, env);
        } else if self.duplicates < DUPLICATE_ACKS {
            self.send_one_new(env);
        } else if self.last_cut == LastCut::DuplicateAcks {
            self.inflation += 1;
        }
    }

    fn reno_loss<N: Network>(&mut self, env: &mut Env<'_, N>) {
        // After a timeout the ACKs of needless retransmissions are no sign of loss. Otherwise RFC 5681
        // knows no limit to fast retransmits; ns-2 only lets a recovery that is not over begin again.
        let again = match self.last_cut {
            LastCut::DuplicateAcks => true,
            LastCut::None | LastCut::Recovered => !env.ns2(),
            LastCut::Timeout | LastCut::Mark => false,
        };
        if self.acked > self.recover || again || self.acked == 0 {
            self.fast_retransmit(env);
        } else {
            self.retransmit_behind_mark(env);
        }
    }

    /// ns-2: whether what is missing now is of a window that a mark has cut already, which is not cut again.
    pub(super) fn is_behind_mark(&self) -> bool {
        self.acked <= self.recover && self.last_cut == LastCut::Mark
    }

    /// ns-2: the first missing packet of such a window is retransmitted.
    pub(super) fn retransmit_behind_mark<N: Network>(&mut self, env: &mut Env<'_, N>) {
        if self.is_behind_mark() {
            self.last_cut = LastCut::DuplicateAcks;
            self.arm_rto(env);
            self.stop_timing();
            self.transmit(env, self.last_ack + 1);
            self.inflation = DUPLICATE_ACKS;
        }
    }

    /// Cuts the window, sends the first missing packet and inflates by the packets that have left
    /// the network (RFC 5681 §3.2 steps 2 and 3).
    pub(super) fn fast_retransmit<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.recover = self.highest;
        self.last_cut = LastCut::DuplicateAcks;
        self.cut(env);
        self.arm_rto(env);
        self.stop_timing();
        self.transmit(env, self.last_ack + 1);
        self.inflation = DUPLICATE_ACKS;
    }
}

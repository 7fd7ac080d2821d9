//! Tahoe: three duplicate ACKs mean a loss; then slow start from the first missing packet.

use super::DUPLICATE_ACKS;
use crate::transport::network::Network;
use crate::transport::sender::{Env, LastCut, Sender};

impl Sender {
    pub(crate) fn tahoe_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        if ack > self.last_ack {
            self.advance(env, ack, true);
        } else if ack == self.last_ack {
            self.duplicates += 1;
            if self.duplicates == DUPLICATE_ACKS {
                self.tahoe_loss(env);
            } else if self.duplicates < DUPLICATE_ACKS {
                self.send_one_new(env);
            }
        }
        self.send(env);
    }

    fn tahoe_loss<N: Network>(&mut self, env: &mut Env<'_, N>) {
        // Not again for the same window of data: what it lost, this slow start already sends again.
        // ns-2 begins one behind a mark, whose threshold stays.
        let marked = self.is_behind_mark();
        if self.acked <= self.recover && self.acked != 0 && !marked {
            return;
        }
        self.last_cut = LastCut::DuplicateAcks;
        if marked {
            self.marks.tell();
        } else {
            self.recover = self.highest;
            self.cut(env);
        }
        self.window.cwnd = 1.0;
        self.arm_rto(env);
        self.next = self.acked + 1;
        self.stop_timing();
    }
}

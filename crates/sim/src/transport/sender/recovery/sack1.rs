//! ns-2's `Agent/TCP/Sack1`: an estimate of the packets in the pipe, counted down by ACKs and up by
//! transmissions, allows packets out during recovery. Profile `rfc` has RFC 6675 instead (`sack.rs`).

use super::DUPLICATE_ACKS;
use crate::transport::network::Network;
use crate::transport::sender::{Env, LastCut, Sender};

impl Sender {
    pub(crate) fn sack1_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, blocks: &[(u32, u32)]) {
        if self.recovering {
            self.sack1_recovery_ack(env, ack, blocks);
            self.sack1_send(env);
            return;
        }
        if ack > self.last_ack {
            self.advance(env, ack, true);
            self.timed_out = false;
            self.board().clear();
        } else if ack == self.last_ack && !self.timed_out {
            let acked = self.acked;
            if self.board().update(acked, blocks) {
                self.duplicates += 1;
                if self.duplicates == DUPLICATE_ACKS {
                    self.sack1_loss(env);
                } else if self.duplicates < DUPLICATE_ACKS {
                    self.send_one_new(env);
                }
            }
        }
        if self.duplicates == 0 {
            self.sack1_send(env);
        }
    }

    fn sack1_recovery_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, blocks: &[(u32, u32)]) {
        self.board().pipe -= 1;
        if ack >= self.recover {
            self.recover = 0;
            self.recovering = false;
            self.advance(env, ack, false);
            // This ACK was still held against `recover_`; duplicates of it are not.
            self.marks.forget();
            self.timed_out = false;
            self.board().clear();
        } else if ack > self.acked {
            // A partial ACK: `last_ack` stays where recovery began.
            self.acknowledge_part(env, ack);
            self.board().update(ack, blocks);
            self.board().pipe -= 1;
            self.arm_rto(env);
            self.end_backoff(env);
        } else if !self.timed_out {
            let acked = self.acked;
            if self.board().update(acked, blocks) && self.duplicates > 0 {
                self.duplicates += 1;
            }
        }
    }

    fn sack1_loss<N: Network>(&mut self, env: &mut Env<'_, N>) {
        // The window of a mark is not cut twice, but what it lost is retransmitted.
        let marked = self.is_behind_mark();
        if self.acked <= self.recover && self.acked != 0 && !marked {
            return;
        }
        let pipe = self.highest - self.acked - DUPLICATE_ACKS as i32;
        self.arm_rto(env);
        self.stop_timing();
        self.recovering = true;
        let missing = self.acked + 1;
        let board = self.board();
        board.pipe = pipe;
        board.retransmitted(missing);
        self.last_cut = LastCut::DuplicateAcks;
        if !marked {
            self.recover = self.highest;
            self.cut(env);
        }
        self.transmit(env, self.last_ack + 1);
    }

    /// As long as the window, or in recovery the pipe, has room: first what is missing, then new data.
    pub(in crate::transport) fn sack1_send<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let largest = env.connection.window;
        let whole = self.window.cwnd.min(1e9) as i32;
        let window = (whole + self.inflation as i32).min(largest);
        loop {
            let room = if self.recovering {
                self.board().pipe < whole
            } else {
                self.next <= self.last_ack.saturating_add(window)
            };
            if !room || self.last_ack + 1 >= self.limit {
                break;
            }
            let seq = match self.board().next_to_resend() {
                Some(seq) if self.recover > 0 && seq <= self.acked.saturating_add(largest) => {
                    if self.is_early(env) {
                        return;
                    }
                    self.board().retransmitted(seq);
                    seq
                }
                Some(_) => break,
                None => {
                    let last = self.acked.saturating_add(if self.recovering { largest } else { window });
                    if self.next > last || self.next >= self.limit {
                        break;
                    }
                    if self.is_held_back(env) {
                        return;
                    }
                    self.next += 1;
                    self.next - 1
                }
            };
            self.transmit(env, seq);
            self.next = self.next.max(seq + 1);
            self.board().pipe += 1;
            if self.acked < 0 {
                break;
            }
        }
        self.note_limit(env);
    }

    /// The scoreboard: every connection with SACK has one.
    pub(super) fn board(&mut self) -> &mut super::scoreboard::Scoreboard {
        self.scoreboard.get_or_insert_default()
    }
}

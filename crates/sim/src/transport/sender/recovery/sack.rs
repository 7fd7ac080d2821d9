//! Loss recovery with selective acknowledgements as RFC 6675 has it: a packet is lost when three
//! packets above it were received; the pipe is computed from the scoreboard, not counted.

use super::DUPLICATE_ACKS;
use crate::transport::network::Network;
use crate::transport::sender::{Env, LastCut, Sender};

impl Sender {
    pub(crate) fn sack_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, blocks: &[(u32, u32)]) {
        let acked = ack.max(self.acked);
        let news = self.board().update(acked, blocks);
        let held = self.board().held();
        self.count_marks(env, ack, held);
        if ack > self.acked {
            self.sack_new_ack(env, ack);
        } else if ack == self.acked && news && self.acked < self.highest && !self.recovering {
            self.duplicates += 1;
            // RFC 6675 §5: three duplicates, or as much held above the first missing packet.
            let first_is_lost = self.first_lost_before() > self.acked + 1;
            if (self.duplicates >= DUPLICATE_ACKS || first_is_lost) && self.acked >= self.recover {
                self.sack_loss(env);
            } else if self.duplicates < DUPLICATE_ACKS {
                self.send_one_new(env);
            }
        }
        if self.recovering {
            self.sack_send(env);
        } else if self.duplicates == 0 || self.timed_out {
            self.send(env);
        }
    }

    fn sack_new_ack<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        if !self.recovering {
            self.timed_out = self.timed_out && ack < self.recover;
            self.advance(env, ack, true);
            return;
        }
        self.advance(env, ack, false);
        if ack >= self.recover {
            self.recovering = false;
            self.last_cut = LastCut::Recovered;
            self.board().clear();
        }
    }

    fn sack_loss<N: Network>(&mut self, env: &mut Env<'_, N>) {
        self.recover = self.highest;
        self.recovering = true;
        self.last_cut = LastCut::DuplicateAcks;
        self.cut(env);
        let first = self.acked + 1;
        self.board().resend_from = first;
        self.board().retransmitted(first);
        self.transmit(env, first);
        self.arm_rto(env);
    }

    /// Packets before this one, and missing, are lost (RFC 6675 IsLost, in whole packets).
    fn first_lost_before(&mut self) -> i32 {
        let acked = self.acked;
        self.board().held_from_top(DUPLICATE_ACKS as i32).unwrap_or(acked)
    }

    /// RFC 6675 SetPipe: what was sent and neither received nor lost, and what was retransmitted.
    fn sack_pipe(&mut self) -> i32 {
        let (from, to) = (self.acked + 1, self.highest + 1);
        let lost_before = self.first_lost_before().max(from);
        let board = self.board();
        let not_lost = board.missing(lost_before, to);
        let retransmitted = board.missing(from, board.resend_from.min(to));
        not_lost + retransmitted
    }

    /// RFC 6675 NextSeg: lost packets, then new data, then what is missing but not known to be lost.
    pub(in crate::transport) fn sack_send<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let mut pipe = self.sack_pipe();
        let room = self.window.cwnd.min(1e9) as i32;
        while pipe < room {
            let lost_before = self.first_lost_before();
            let candidate = self.board().next_to_resend();
            let lost = candidate.filter(|&seq| seq < lost_before);
            let fits = self.receiver_takes(env, self.next);
            let seq = match (lost, candidate) {
                (Some(seq), _) => seq,
                (None, _) if self.next < self.limit && fits => self.next,
                (None, Some(seq)) => seq,
                (None, None) => break,
            };
            if seq < self.next {
                if self.is_early(env) {
                    return;
                }
                self.board().retransmitted(seq);
            } else if self.is_held_back(env) {
                return;
            } else {
                self.next = seq + 1;
            }
            self.transmit(env, seq);
            pipe += 1;
        }
        self.note_limit(env);
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Profile, Recovery};
    use crate::transport::tests::{Ends, Outcome, tcp};

    /// RFC 6675 §5 (C): what the application writes in recovery goes out if the pipe has room, though a whole window is not
    /// acknowledged.
    #[test]
    fn what_is_written_in_recovery_goes_out_by_the_pipe() {
        let mut ends = Ends::new(&tcp("reno", Recovery::Sack), Profile::Rfc, 13);
        ends.start_with(10);
        // Everything but the first packet was received, and that is on its way again: one packet in a window of five.
        for _ in 0..3 {
            ends.offer(0.25);
        }
        while ends.step(|place, _| if place == 2 { Outcome::Lost } else { Outcome::Arrives }).is_some() {}
        let written = ends.sent.iter().filter(|sent| sent.packet.seq() > 10).map(|sent| sent.at_s);
        assert_eq!(written.collect::<Vec<_>>(), [0.25; 3]);
        assert_eq!((ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts), (1, 0));
    }
}

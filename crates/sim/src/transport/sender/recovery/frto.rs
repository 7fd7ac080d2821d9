//! Whether a timeout was needed (F-RTO, RFC 5682 §3.1), as Linux's tcp_process_loss finds out of receivers with SACK: upon the first
//! ACK that moves on new packets leave in the place of retransmissions, and what the next ACKs tell decides.

use crate::transport::network::Network;
use crate::transport::sender::{Env, Sender};

impl Sender {
    /// An ACK came after a timeout. Where it tells of packets that were sent once, not all was lost, and the timeout is undone
    /// (step 3b); one that tells of what was sent since, or of nothing, shows that it was needed (step 3a). Whether new packets
    /// are to leave first (step 2b).
    pub(super) fn rack_probe_timeout<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) -> bool {
        let (recover, highest) = (self.recover, self.highest);
        let advances = ack > self.acked;
        let (once, held) = self.rack_state().flight.told();
        if once.is_some_and(|seq| seq <= recover) {
            self.rack_restore(env);
            return false;
        }
        if highest > recover {
            self.rack_state().frto = advances && held == 0;
            return false;
        }
        advances && ack < recover && self.next < self.limit && self.receiver_takes(env, self.next)
    }

    /// New packets leave in the place of retransmissions. Whether any did.
    pub(super) fn rack_send_new<N: Network>(&mut self, env: &mut Env<'_, N>) -> bool {
        let sent = self.rack_send_of(env, false);
        self.rack_state().frto = sent;
        sent
    }
}

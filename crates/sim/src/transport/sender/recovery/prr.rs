//! Proportional rate reduction (RFC 6937; RFC 9937): in recovery, packets leave at the rate at which the network
//! delivers them times the share of the window that the control keeps, until the window is what it keeps.

/// One recovery. All numbers are in packets.
#[derive(Clone, Copy, Debug)]
pub struct Prr {
    /// What was to be delivered when recovery began: RecoverFS.
    flight: i64,
    /// Delivered since: prr_delivered.
    delivered: i64,
    /// Sent since: prr_out.
    out: i64,
}

impl Prr {
    /// A recovery that begins with `flight` packets sent and not yet known to have arrived.
    #[must_use]
    pub fn new(flight: i32) -> Self {
        Self { flight: i64::from(flight).max(1), delivered: 0, out: 0 }
    }

    /// A packet was sent.
    pub fn sent(&mut self) {
        self.out += 1;
    }

    /// How many packets may be sent now, after an ACK that told of `delivered` more and left `pipe` in flight. It is
    /// `safe` if it moved on and told of no further loss (RFC 9937's SafeACK).
    pub fn allowance(&mut self, delivered: i32, pipe: i32, ssthresh: f64, safe: bool) -> i32 {
        let (ssthresh, pipe) = (ssthresh as i64, i64::from(pipe));
        self.delivered += i64::from(delivered);
        let count = if pipe > ssthresh {
            // RFC 6937 §3, rounded up.
            (self.delivered * ssthresh + self.flight - 1) / self.flight - self.out
        } else {
            // The slow-start reduction bound, or without a safe ACK the conservative one.
            let limit = (self.delivered - self.out).max(i64::from(delivered)) + i64::from(safe);
            limit.min(ssthresh - pipe)
        };
        // Recovery begins with a retransmission.
        count.max(i64::from(self.out == 0)) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 §3.1: twenty packets in flight, of which the first `lost` were; each of the others makes an ACK.
    /// Returns how many packets each ACK released, from the first of recovery on.
    fn released(lost: i32, already_held: i32, ssthresh: f64) -> Vec<i32> {
        let mut pipe = 20 - lost - already_held;
        let mut prr = Prr::new(20 - already_held);
        (0..20 - lost - already_held)
            .map(|_| {
                pipe -= 1;
                let count = prr.allowance(1, pipe, ssthresh, false);
                pipe += count;
                (0..count).for_each(|_| prr.sent());
                count
            })
            .collect()
    }

    /// One loss: every other ACK releases a packet, and what is left in flight is half of it.
    #[test]
    fn a_single_loss_halves_the_rate_evenly() {
        let counts = released(1, 0, 10.0);
        assert_eq!(counts[..6], [1, 0, 1, 0, 1, 0]);
        assert_eq!(counts.len() as i32, 19);
        assert_eq!(counts.iter().sum::<i32>(), 10);
        // Seven tenths are kept, as CUBIC does.
        assert_eq!(released(1, 0, 14.0).iter().sum::<i32>(), 14);
    }

    /// Fifteen losses: each of the five ACKs releases one packet, as many as were delivered; there is no burst
    /// although the pipe is far below the threshold, and no pause either.
    #[test]
    fn after_many_losses_it_sends_what_is_delivered() {
        assert_eq!(released(15, 0, 10.0), [1, 1, 1, 1, 1]);
    }

    /// RFC 6937 §3: with safe ACKs it catches up as slow start does.
    #[test]
    fn safe_acks_catch_up() {
        let mut prr = Prr::new(20);
        let mut pipe = 4;
        let mut sizes = Vec::new();
        for _ in 0..4 {
            let count = prr.allowance(1, pipe - 1, 10.0, true);
            (0..count).for_each(|_| prr.sent());
            pipe += count - 1;
            sizes.push((count, pipe));
        }
        assert_eq!(sizes, [(2, 5), (2, 6), (2, 7), (2, 8)]);
        // Never above the threshold.
        assert_eq!(prr.allowance(5, 9, 10.0, true), 1);
    }
}

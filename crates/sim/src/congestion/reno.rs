//! Standard TCP: slow start and congestion avoidance (RFC 5681 §3.1). With `whole_packets` as Linux computes it
//! (`tcp_reno_cong_avoid`): a window grows when all of it is acknowledged, and by a whole packet.

use super::counted::{self, Counted};
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// Standard TCP.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    beta_ecn: f64,
    /// In whole packets.
    counted: Option<Counted>,
}

/// What an ACK adds to a window.
#[inline]
pub(super) fn grow(window: &mut Window, ack: &Ack) {
    if window.in_slow_start() {
        window.slow_start(ack.acked);
    } else {
        // One segment per window acknowledged: eq. 3, counting data as §3.1 recommends.
        window.cwnd += (ack.acked / window.cwnd).min(1.0);
    }
}

/// The same in whole packets.
pub(super) fn grow_whole(counted: &mut Counted, window: &mut Window, ack: &Ack) {
    if let Some(acked) = counted::slow_start(window, ack.acked) {
        let every = (window.cwnd as u64).max(1);
        counted.grow(window, acked, every);
    }
}

impl CongestionControl for Reno {
    const HELP: &'static str = "standard TCP: slow start, then one packet per round trip (RFC 5681)";
    // The window of RFC 5681 counts ACKs, whoever limits the sender; so do ns-2's.
    const GROWS_UNUSED: bool = true;

    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("beta_ecn", 0.5, [0.1, 0.99], "share of the window kept after a mark (RFC 8511: 0.8)"),
        ControlOption::switch("whole_packets", false, "a window grows when all of it is acknowledged (Linux)"),
    ];

    fn new(options: &Options<'_>) -> Self {
        let [beta_ecn, whole] = options.values();
        Self { beta_ecn, counted: (whole > 0.5).then(Counted::default) }
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match &mut self.counted {
            Some(counted) => grow_whole(counted, window, ack),
            None => grow(window, ack),
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.counted.iter_mut().for_each(Counted::reset);
        loss.in_use / 2.0
    }

    fn on_mark(&mut self, _window: &Window, loss: &Loss) -> Option<f64> {
        self.counted.iter_mut().for_each(Counted::reset);
        // RFC 3168 §6.1.2: as after a loss; RFC 8511 §3.1 (ABE): less, as a queue that marks is short.
        Some(loss.in_use * self.beta_ecn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{ack, fresh, loss, with};

    #[test]
    fn slow_start_adds_one_packet_per_ack_and_avoidance_one_per_window() {
        let mut window = Window { cwnd: 2.0, ssthresh: 4.0 };
        let mut reno: Reno = fresh();
        reno.on_ack(&mut window, &Ack { acked: 2.0, ..ack(0.1) });
        assert_eq!(window.cwnd, 3.0);
        reno.on_ack(&mut window, &ack(0.1));
        assert_eq!(window.cwnd, 4.0);
        for _ in 0..4 {
            reno.on_ack(&mut window, &ack(0.1));
        }
        assert!((window.cwnd - 4.94).abs() < 0.03, "{}", window.cwnd);
        assert_eq!(reno.on_loss(&window, &loss(8.0)), 4.0);
    }

    /// RFC 8511 §3.1.
    #[test]
    fn a_mark_may_cut_less_than_a_loss() {
        let window = Window { cwnd: 10.0, ssthresh: 4.0 };
        for (options, kept) in [(&[][..], 5.0), (&[("beta_ecn", 0.8)], 8.0)] {
            let mut reno: Reno = with(options);
            assert_eq!(reno.on_mark(&window, &loss(10.0)), Some(kept));
            assert_eq!(reno.on_loss(&window, &loss(10.0)), 5.0);
        }
    }
}

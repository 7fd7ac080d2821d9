//! Undoing a needless reduction of the window: an ACK that echoes the time of a packet's first transmission tells that it
//! had not been lost, only late (RFC 3522 §3.2, the Eifel detection algorithm, without its step 5). Window and threshold are as
//! before (Linux's tcp_undo_cwnd_reduction), where RFC 4015 §3.4 sets the window to what is in flight and a little more.

use crate::congestion::Window;
use crate::time::Time;
use crate::transport::network::Network;
use crate::transport::sender::{Env, LastCut, Sender};

/// A time as Linux's timestamps have it, in whole milliseconds (tcp_tsopt_ecr_before): what is retransmitted in the one in which
/// it left looks as if it was needed.
pub(super) fn ticks(time: Time) -> i64 {
    (time.seconds() * 1000.0) as i64
}

/// What a reduction may be undone to.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// The window before.
    window: Window,
    /// When the first packet was retransmitted.
    retransmitted_at: Option<Time>,
}

impl Undo {
    /// The window before a reduction.
    #[must_use]
    pub fn to(window: Window) -> Self {
        Self { window, retransmitted_at: None }
    }

    /// A packet is retransmitted.
    pub fn note_retransmission(&mut self, now: Time) {
        self.retransmitted_at.get_or_insert(now);
    }
}

impl Sender {
    /// An ACK moved on: undoes the reduction if what it answers was sent before anything was retransmitted, and if no other
    /// packet is taken for lost, or was retransmitted and is missing (tcp_try_undo_partial, which takes note that packets overtake
    /// each other). After a timeout, what is lost is only known from it.
    pub(super) fn rack_undo<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32) {
        let (recovering, timed_out) = (self.recovering, self.timed_out);
        let recover = self.recover;
        let rack = self.rack_state();
        let Some(Undo { retransmitted_at: Some(at), .. }) = rack.undo else { return };
        let lost = rack.flight.lost() > 0 && !timed_out;
        let needless = if env.linux() { ticks(env.echo) < ticks(at) } else { env.echo < at };
        if recovering && needless && ack < recover {
            rack.flight.reordering.note();
        }
        if (recovering || timed_out) && needless && !lost && !rack.flight.awaits_again() {
            self.rack_restore(env);
        }
    }

    /// Nothing need be lost, and the window is as it was, if it is known (tcp_undo_cwnd_reduction).
    pub(super) fn rack_restore<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let rack = self.rack_state();
        let undo = rack.undo.take();
        rack.frto = false;
        rack.end_reduction();
        rack.flight.find_again();
        self.recovering = false;
        self.timed_out = false;
        self.last_cut = LastCut::Recovered;
        if let Some(Undo { window, .. }) = undo {
            self.window.cwnd = self.window.cwnd.max(window.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(window.ssthresh);
            env.controls.on_spurious(self.control(), &mut self.window);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Profile, Recovery, TcpSpec};
    use crate::transport::tests::{Ends, Outcome, tcp};

    /// Behind the SYN and the third step of the handshake.
    const DATA: usize = 2;

    fn spec() -> TcpSpec {
        TcpSpec { initial_window_packets: 20.0, initial_ssthresh_packets: Some(20.0), ..tcp("reno", Recovery::Rack) }
    }

    /// A packet overtaken by the nineteen behind it is taken for lost, and retransmitted. It arrives before that, so its ACK
    /// says when it was sent first: the window is as large as without, and grows by what was acknowledged.
    #[test]
    fn a_late_packet_gives_the_window_back() {
        let after = |outcome: Outcome| {
            let mut ends = Ends::new(&spec(), Profile::Rfc, 60);
            ends.talk(|place, _| if place == DATA { outcome } else { Outcome::Arrives });
            (ends.sender.window.ssthresh, ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts)
        };
        assert_eq!(after(Outcome::Lost), (10.0, 1, 0));
        assert_eq!(after(Outcome::Late(0.03)), (20.0, 1, 0));
    }

    /// All packets of a window, and the tail probe, come after the timer, and before what it sends again: nothing was lost.
    #[test]
    fn a_needless_timeout_gives_the_window_back() {
        let mut ends = Ends::new(&spec(), Profile::Rfc, 60);
        ends.talk(|place, _| match place.checked_sub(DATA) {
            Some(0..20) => Outcome::Late(1.2),
            // The probe, behind them.
            Some(20) => Outcome::Late(1.05),
            Some(21) => Outcome::Late(0.5),
            _ => Outcome::Arrives,
        });
        assert_eq!(ends.sender.totals.timeouts, 1);
        assert_eq!(ends.sender.window.ssthresh, 20.0);
        assert!(ends.sender.window.cwnd >= 20.0, "{:?}", ends.sender.window);
    }

    /// Linux's timer expires twice meanwhile; the first ACK answers the first packet alone. That it was retransmitted does not make
    /// those behind it lost.
    #[test]
    fn after_needless_timeouts_nothing_else_is_retransmitted() {
        let mut spec = spec();
        spec.rto.min_s = 0.2;
        let mut ends = Ends::new(&spec, Profile::Linux, 60);
        ends.talk(|place, _| match place.checked_sub(DATA) {
            Some(0..20) => Outcome::Late(1.2),
            // The probe, and what the timer sends, behind them.
            Some(20) => Outcome::Late(1.05),
            Some(21..23) => Outcome::Late(1.15),
            _ => Outcome::Arrives,
        });
        assert_eq!((ends.sender.totals.timeouts, ends.sender.totals.packets_retransmitted), (2, 2));
        assert_eq!(ends.sender.window.ssthresh, 20.0);
    }

    /// The same with one of them lost, as where a queue outlives an outage and has been full: that shows when the packets behind
    /// it come, and not by the timer again.
    #[test]
    fn what_was_lost_among_late_packets_shows_by_those_behind_it() {
        let mut ends = Ends::new(&spec(), Profile::Rfc, 60);
        ends.talk(|place, _| match place.checked_sub(DATA) {
            Some(10) => Outcome::Lost,
            Some(0..20) => Outcome::Late(1.2),
            // The probe, behind them.
            Some(20) => Outcome::Late(1.05),
            Some(21) => Outcome::Late(0.5),
            _ => Outcome::Arrives,
        });
        assert_eq!((ends.receiver.in_order(), ends.sender.totals.timeouts), (60, 1));
        assert_eq!(ends.sender.window.ssthresh, 10.0);
    }

    /// With another packet lost, the reduction stands.
    #[test]
    fn a_loss_among_late_packets_is_still_a_loss() {
        let mut ends = Ends::new(&spec(), Profile::Rfc, 60);
        ends.talk(|place, _| match place {
            DATA => Outcome::Late(0.03),
            place if place == DATA + 1 => Outcome::Lost,
            _ => Outcome::Arrives,
        });
        assert_eq!(ends.sender.window.ssthresh, 10.0);
    }
}

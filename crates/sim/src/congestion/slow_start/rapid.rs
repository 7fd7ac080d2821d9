//! Rapid start (draft-kazuho-ccwg-rapid-start-00): the window triples in a round trip as long as the round trip shows no queue,
//! and doubles then. The first congestion does not cut the window at once: it comes down by what is delivered and lost until
//! what was in flight then is answered for, to the share of it that the control keeps.
//!
//! The first window is spread over a round trip; others are paced as all are. That a congestion mark begins the same (§3.3) is
//! left out: a mark is the control's matter. So are losses of recoveries that do not know of each delivery.

use std::collections::VecDeque;

use crate::congestion::{Ack, Window};
use crate::time::Time;

/// A queue shows by so much over the smallest round trip (§3.1): at most so many seconds, ...
const MARGIN_S: f64 = 0.004;
/// ... and at most this share of it.
const MARGIN: f64 = 0.1;
/// Packets of growth for each that is acknowledged, while no queue shows.
const GROWTH: f64 = 2.0;
/// §3.3.1: K.
const K: f64 = 11.0 / 18.0;

/// The state of rapid start.
#[derive(Clone, Debug)]
pub struct Rapid {
    min_rtt_s: f64,
    /// Samples of the last smallest round trip, each smaller than all that came after it.
    recent: VecDeque<(Time, f64)>,
    /// There was congestion.
    pub(super) ended: bool,
}

impl Default for Rapid {
    fn default() -> Self {
        Self { min_rtt_s: f64::INFINITY, recent: VecDeque::new(), ended: false }
    }
}

impl Rapid {
    /// Takes in an ACK of slow start. Returns by how many packets the window grows.
    pub(super) fn growth(&mut self, ack: &Ack) -> f64 {
        let packets = ack.acked.max(1.0);
        if self.ended {
            return packets;
        }
        self.min_rtt_s = self.min_rtt_s.min(ack.rtt_s);
        while self.recent.back().is_some_and(|sample| sample.1 >= ack.rtt_s) {
            self.recent.pop_back();
        }
        self.recent.push_back((ack.now, ack.rtt_s));
        while self.recent.front().is_some_and(|sample| ack.now.since(sample.0) > self.min_rtt_s) {
            self.recent.pop_front();
        }
        let floor_s = self.recent.front().map_or(ack.rtt_s, |sample| sample.1);
        let queues = floor_s > self.min_rtt_s + MARGIN_S.min(MARGIN * self.min_rtt_s);
        if queues { packets } else { GROWTH * packets }
    }
}

/// The window on its way down (§3.3).
#[derive(Clone, Copy, Debug)]
pub struct Convergence {
    cwnd: f64,
    least: f64,
    ack_factor: f64,
    loss_factor: f64,
}

impl Convergence {
    /// From this window on, of which the control keeps the share `beta` after losses.
    #[must_use]
    pub fn new(window: &Window, beta: f64) -> Self {
        // §3.3.1; what silences the sender at first is as much as a loss takes.
        let (ack_factor, loss_factor) = (K * (1.0 - beta), beta + K * (1.0 - beta));
        let least = window.cwnd * (loss_factor - ack_factor / 3.0 - 2.0 * loss_factor / 3.0);
        // RFC 5681 eq. 4.
        Self { cwnd: loss_factor * window.cwnd, least: least.max(2.0), ack_factor, loss_factor }
    }

    /// So many packets were delivered and lost.
    pub fn take(&mut self, delivered: i32, lost: i32) {
        let less = self.ack_factor * f64::from(delivered) + self.loss_factor * f64::from(lost);
        self.cwnd = (self.cwnd - less).max(self.least);
    }

    /// The window.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::slow_start::tests::grow;
    use crate::scenario::{Profile, Recovery, SlowStartKind, TcpSpec};
    use crate::transport::tests::{Ends, Outcome, tcp};

    /// §3.1: three times the window in a round trip without a queue, twice with one; 4 ms or a tenth of a round trip is one.
    #[test]
    fn windows_triple_until_the_round_trip_grows() {
        for (rtts, sizes) in [
            ([0.1, 0.1, 0.1, 0.1], [16.0, 48.0, 144.0, 432.0]),
            ([0.1, 0.1, 0.1041, 0.1041], [16.0, 48.0, 144.0, 288.0]),
            ([0.1, 0.1, 0.1039, 0.1039], [16.0, 48.0, 144.0, 432.0]),
            ([0.02, 0.02, 0.0221, 0.0221], [16.0, 48.0, 144.0, 288.0]),
        ] {
            for (rounds, expected) in sizes.into_iter().enumerate() {
                // The ACK that first shows a queue comes while the last round trip has samples without.
                let grown = grow(SlowStartKind::Rapid, 0.0, rounds, |round| rtts[round]).1;
                assert!((grown / expected - 1.0).abs() < 0.02, "{rtts:?} {rounds}: {grown}");
            }
        }
    }

    /// §3.3.1: the factors of the draft's two examples, and what they are made for: with two thirds lost the window ends where
    /// the control's share of what was delivered is; without losses at its share of the window.
    #[test]
    fn the_window_converges_to_the_share_of_what_was_delivered() {
        for (beta, factors) in [(0.5, [29.0 / 36.0, 11.0 / 36.0]), (0.7, [53.0 / 60.0, 11.0 / 60.0])] {
            let window = Window { cwnd: 900.0, ssthresh: f64::MAX };
            let mut some = Convergence::new(&window, beta);
            assert!((some.loss_factor - factors[0]).abs() < 1e-12 && (some.ack_factor - factors[1]).abs() < 1e-12);
            let mut none = some;
            some.take(300, 600);
            assert!((some.cwnd() - 900.0 * (factors[0] - factors[1] / 3.0 - factors[0] * 2.0 / 3.0)).abs() < 1e-9);
            none.take(900, 0);
            assert!((none.cwnd() - beta * 900.0).abs() < 1e-9);
        }
    }

    /// A path that drops two of three of a window: in recovery the window comes down to the control's share of what arrived,
    /// and nothing times out.
    #[test]
    fn recovery_ends_at_the_share_of_what_arrived() {
        let window = |kind: SlowStartKind| {
            let spec = TcpSpec { slow_start: kind, initial_window_packets: 90.0, ..tcp("reno", Recovery::Rack) };
            let mut ends = Ends::new(&spec, Profile::Rfc, 200);
            ends.talk(
                |place, _| if (2..92).contains(&place) && place % 3 != 0 { Outcome::Lost } else { Outcome::Arrives },
            );
            assert_eq!((ends.receiver.in_order(), ends.sender.totals.timeouts), (200, 0));
            ends.sender.window.ssthresh
        };
        let factors = [29.0 / 36.0, 11.0 / 36.0];
        let least = factors[0] - factors[1] / 3.0 - factors[0] * 2.0 / 3.0;
        // The first ACKs come before losses show, and let packets go which count, too.
        let (rapid, standard) = (window(SlowStartKind::Rapid), window(SlowStartKind::ByteCounting));
        assert!((90.0 * least..0.25 * 90.0).contains(&rapid), "{rapid}");
        assert!((0.45 * 90.0..0.55 * 90.0).contains(&standard), "{standard}");
    }

    /// The first window is spread over a round trip, where others of a paced sender are sent in half of it.
    #[test]
    fn the_first_window_takes_a_round_trip() {
        for (kind, expected_s) in [(SlowStartKind::Rapid, 0.1), (SlowStartKind::ByteCounting, 0.05)] {
            let spec = TcpSpec { slow_start: kind, pacing: true, ..tcp("reno", Recovery::Rack) };
            let mut ends = Ends::new(&spec, Profile::Rfc, 60);
            ends.talk(|_, _| Outcome::Arrives);
            let data: Vec<f64> = ends.sent.iter().filter(|sent| sent.packet.seq() > 0).map(|sent| sent.at_s).collect();
            let spread_s = data[9] - data[0];
            assert!((spread_s / expected_s - 0.9).abs() < 0.05, "{spread_s}");
        }
    }
}

//! What becomes under profile `linux` of a window that the application does not use (RFC 7661's concern, RFC 2861's way).
//!
//! From Linux 6's TCP, by its names: `tcp_cwnd_restart`, `tcp_cwnd_validate`, `tcp_is_cwnd_limited`. Left out: the limit of
//! bytes in local queues.

use crate::congestion::Window;
use crate::scenario::TcpSpec;
use crate::time::Time;

/// How much of the window the application uses.
#[derive(Clone, Copy, Debug)]
pub struct WindowUse {
    initial_window: f64,
    /// The window stays, however little of it is used: where the scenario says so (tcp_slow_start_after_idle), and that of a
    /// control that knows the path's rate (Linux: one with cong_control; draft-ietf-ccwg-bbr-06 §5.4.1).
    keeps: bool,
    /// When something was sent last.
    last_sent: Time,
    /// Since when the window has not limited the sender, and the most packets that were outstanding since.
    since: Time,
    most: i32,
    /// Whether the window limits what is sent in this round trip, and if not, the most packets that were outstanding in
    /// it; it ends when `round_end` is acknowledged.
    limits: bool,
    most_in_round: i32,
    round_end: i32,
    /// The application writes single segments, of which the last one written is pushed when it leaves.
    pub(super) pushes: bool,
    /// The receiver's window as ACKs told it last, in packets beyond what they acknowledge.
    pub(super) told: Option<i32>,
    /// When an ACK came that asks for an answer, which nothing has been yet.
    pub(super) asked: Option<Time>,
    /// An ACK came since something was sent last.
    pub(super) heard: bool,
}

/// What is outstanding when a packet has been sent.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// The highest packet acknowledged, and the highest one sent.
    pub acked: i32,
    /// See `acked`.
    pub highest: i32,
    /// Packets in the network.
    pub in_flight: i32,
}

impl WindowUse {
    /// Of a connection.
    #[must_use]
    pub fn new(tcp: &TcpSpec) -> Self {
        Self {
            initial_window: tcp.initial_window_packets,
            keeps: !tcp.slow_start_after_idle,
            last_sent: Time::ZERO,
            since: Time::ZERO,
            most: 0,
            limits: false,
            most_in_round: 0,
            round_end: 0,
            pushes: false,
            told: None,
            asked: None,
            heard: false,
        }
    }

    /// The window stays from now on, however little of it is used.
    pub fn keep_window(&mut self) {
        self.keeps = true;
    }

    /// Whether a segment that is sent now answers an ACK that asked for one within `soon_s`: later it would be one that
    /// waited for something else.
    pub fn answers(&mut self, now: Time, soon_s: f64) -> bool {
        self.asked.take().is_some_and(|asked| now.since(asked) <= soon_s)
    }

    /// When a packet was sent.
    #[must_use]
    pub fn last_sent(&self) -> Time {
        self.last_sent
    }

    /// A packet is sent.
    pub fn sent(&mut self, now: Time) {
        self.last_sent = now;
    }

    /// That packet is a new one, which leaves so much outstanding.
    pub fn sent_new(&mut self, window: &Window, now: Outstanding) {
        let limits = now.in_flight >= window.cwnd as i32;
        let out = now.highest - now.acked;
        if limits || now.acked >= self.round_end || !self.limits && out > self.most_in_round {
            (self.limits, self.most_in_round, self.round_end) = (limits, out, now.highest);
        }
    }

    /// Whether growth would be by a window in use: it has limited the sender in the last round trip, or in slow start half
    /// of it was out, as the other half those ACKs have only just allowed.
    #[must_use]
    pub fn is_limited(&self, window: &Window) -> bool {
        self.limits || window.in_slow_start() && window.cwnd < f64::from(2 * self.most_in_round)
    }

    /// There is something to send, and nothing outstanding: a window that was idle for longer than the retransmission timeout
    /// is halved for each of them (RFC 2861 §3.1), down to the initial one, where RFC 5681 §4.1 would go at once.
    pub fn restart(&self, window: &mut Window, now: Time, timeout_s: f64) {
        let mut idle_s = now.since(self.last_sent);
        if self.keeps || idle_s <= timeout_s {
            return;
        }
        let least = self.initial_window.min(window.cwnd);
        remember(window);
        while idle_s > timeout_s && window.cwnd > least {
            window.cwnd /= 2.0;
            idle_s -= timeout_s;
        }
        window.cwnd = window.cwnd.max(least);
    }

    /// The sender has sent what it may, and the window limits it or not. A window that has not for a retransmission
    /// timeout goes half of the way to what was used.
    pub fn validate(&mut self, window: &mut Window, limits: bool, outstanding: i32, now: Time, timeout_s: f64) {
        if limits || self.keeps {
            (self.since, self.most) = (now, 0);
            return;
        }
        self.most = self.most.max(outstanding);
        if now.since(self.since) >= timeout_s {
            let used = self.initial_window.max(f64::from(self.most));
            if used < window.cwnd {
                remember(window);
                window.cwnd = f64::midpoint(window.cwnd, used);
            }
            (self.since, self.most) = (now, 0);
        }
    }
}

/// Slow start may come back to three quarters of the window that is given up.
fn remember(window: &mut Window) {
    window.ssthresh = window.ssthresh.max(0.75 * window.cwnd);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Profile, Recovery};
    use crate::transport::tests::{Ends, Outcome, tcp};

    #[test]
    fn an_idle_window_is_halved_for_each_timeout() {
        let mut usage = WindowUse::new(&tcp("reno", Recovery::Rack));
        usage.sent(Time::new(1.0));
        let after = |idle_s: f64| {
            let mut window = Window { cwnd: 100.0, ssthresh: 20.0 };
            usage.restart(&mut window, Time::new(1.0 + idle_s), 0.25);
            (window.cwnd, window.ssthresh)
        };
        assert_eq!(after(0.25), (100.0, 20.0));
        assert_eq!(after(0.4), (50.0, 75.0));
        assert_eq!(after(0.6), (25.0, 75.0));
        assert_eq!(after(60.0), (10.0, 75.0));
    }

    #[test]
    fn the_window_stays_where_the_scenario_says_so() {
        let mut usage = WindowUse::new(&TcpSpec { slow_start_after_idle: false, ..tcp("reno", Recovery::Rack) });
        usage.sent(Time::new(1.0));
        let mut window = Window { cwnd: 100.0, ssthresh: 20.0 };
        usage.restart(&mut window, Time::new(61.0), 0.25);
        usage.validate(&mut window, false, 20, Time::new(62.0), 0.25);
        assert_eq!((window.cwnd, window.ssthresh), (100.0, 20.0));
    }

    /// Linux: a control with cong_control keeps its window over a silence, and where the application uses little of it.
    #[test]
    fn bbr_keeps_a_window_that_is_not_used() {
        let mut ends = Ends::new(&tcp("bbr", Recovery::Rack), Profile::Linux, 2000);
        ends.start_with(1500);
        while ends.step(|_, _| Outcome::Arrives).is_some() {}
        let before = ends.sender.window.cwnd;
        assert!(before > 100.0, "{before}");
        (0..100).for_each(|place| ends.offer(10.0 + 0.05 * f64::from(place)));
        while ends.step(|_, _| Outcome::Arrives).is_some() {}
        assert!(ends.sender.window.cwnd >= before, "{} {before}", ends.sender.window.cwnd);
    }

    /// Of those that leave after an ACK came the first echoes its timestamp, and all others do again: ten at the begin, then one or
    /// two, as an ACK allows and whenever pacing lets them go.
    #[test]
    fn one_segment_for_each_ack_echoes_it_first() {
        for congestion in ["reno", "bbr"] {
            let mut ends = Ends::new(&tcp(congestion, Recovery::Rack), Profile::Linux, 60);
            ends.talk(|_, _| Outcome::Arrives);
            let data: Vec<_> =
                ends.sent.iter().filter(|sent| sent.packet.seq() > 0 && !sent.packet.is_bare()).collect();
            assert!(data[1..10].iter().all(|sent| sent.packet.echoes_again()), "{congestion}");
            for pair in data.windows(2) {
                let (before, sent) = (pair[0], pair[1]);
                let heard = ends.acks.iter().any(|&(at_s, _)| before.at_s < at_s && at_s <= sent.at_s);
                assert_eq!(sent.packet.echoes_again(), !heard, "{congestion}: {sent:?}");
            }
        }
    }

    #[test]
    fn an_unused_window_shrinks_towards_what_is_used() {
        let mut usage = WindowUse::new(&tcp("reno", Recovery::Rack));
        let mut window = Window { cwnd: 100.0, ssthresh: f64::MAX };
        let mut at = |usage: &mut WindowUse, now_s, limits| {
            usage.validate(&mut window, limits, 20, Time::new(now_s), 0.3);
            window.cwnd
        };
        assert_eq!(at(&mut usage, 1.0, true), 100.0);
        assert_eq!(at(&mut usage, 1.2, false), 100.0);
        assert_eq!(at(&mut usage, 1.4, false), 60.0);
        assert_eq!(at(&mut usage, 1.5, false), 60.0);
        assert_eq!(at(&mut usage, 1.8, false), 40.0);
    }
}

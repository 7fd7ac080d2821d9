//! Why is this flow slow? Each flow's time, from start to stop, divided by what held it back.
//!
//! The reason can only change where the send loop stops, so it costs two comparisons per ACK. Time at a window, at the
//! pacing timer or at the interface is booked round by round, from the ACK of one marked packet to that of the next: if
//! a hop of the path was busy throughout that round trip ([`saturation`](crate::network::saturation)), the flow was
//! limited by the *network*, for with more room it would have lengthened the queue or taken the rate from others.

use crate::time::Time;

/// What holds a flow back. The order is that of the columns `limited_by_*`, and of precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Limit {
    /// The connection is not established.
    #[default]
    Handshake,
    /// The application has nothing to send.
    Application,
    /// The receiver's window is full, and no hop of the path is.
    ReceiverWindow,
    /// A window is full, the pacing timer runs or the interface takes no more, and a hop of the path is saturated.
    Network,
    /// The pacing timer.
    Pacing,
    /// The sender's own packet rate.
    SenderRate,
    /// The congestion window, or a retransmission timeout is awaited.
    CongestionWindow,
}

/// How many limits there are.
pub const LIMITS: usize = 7;

/// The columns of the shares of time, in the order of the limits.
pub const LIMITED_BY: [&str; LIMITS] = [
    "limited_by_handshake",
    "limited_by_application",
    "limited_by_receiver_window",
    "limited_by_network",
    "limited_by_pacing",
    "limited_by_sender_rate",
    "limited_by_congestion_window",
];

/// The running account of one flow: what holds it back now, and since when.
#[derive(Clone, Debug)]
pub struct Account {
    since: Time,
    /// The round ends when this packet is acknowledged; it carries the mark.
    round_end: i32,
    limit: Limit,
    /// The flow has stopped.
    closed: bool,
    /// A hop was busy throughout the last round.
    full: bool,
    /// What is touched where the limit changes or a round ends.
    spent: Box<Spent>,
}

/// Seconds spent under each limit.
#[derive(Clone, Debug, Default)]
struct Spent {
    /// Before this round.
    before_s: [f64; LIMITS],
    /// In this round.
    round_s: [f64; LIMITS],
}

/// A round lasts for so many packets at least: flows with small windows need not look at each round trip.
const LEAST_PACKETS: i32 = 32;

impl Account {
    /// An account that opens at `start`. The first packet with data ends the first round.
    #[must_use]
    pub fn new(start: Time) -> Self {
        Self { since: start, round_end: 1, limit: Limit::default(), closed: false, full: false, spent: Box::default() }
    }

    /// The send loop stopped at `now` because of `limit`. `acked` and `sent` are the highest sequence numbers
    /// acknowledged and sent, `last` that of a flow that ends, with which its last round does; `full` says whether a hop was busy
    /// throughout the round, and is asked when it ends.
    #[inline]
    pub fn note(
        &mut self,
        limit: Limit,
        now: Time,
        (acked, sent, last): (i32, i32, Option<i32>),
        full: impl FnOnce(i32) -> bool,
    ) {
        if self.closed {
            return;
        }
        self.book(now);
        self.limit = limit;
        if acked >= self.round_end {
            self.full = full(self.round_end);
            self.close_round();
            let next = sent.max(acked - 1 + LEAST_PACKETS) + 1;
            // One that was sent already can carry no mark.
            self.round_end = last.filter(|&last| last > sent).map_or(next, |last| next.min(last));
        }
    }

    /// Whether nothing changes: the same limit, in the same round.
    #[inline]
    #[must_use]
    pub fn continues(&self, limit: Limit, acked: i32) -> bool {
        limit == self.limit && acked < self.round_end
    }

    /// The packet with whose ACK the round ends.
    #[inline]
    #[must_use]
    pub fn round_end(&self) -> i32 {
        self.round_end
    }

    /// What holds the flow back now.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// A timeout that was awaited for `waited_s` comes at `now`: for so long losses held the flow back, whatever it could
    /// have sent. A hop that was busy before may have been idle since.
    pub fn timed_out(&mut self, waited_s: f64, now: Time) {
        if self.closed || self.limit == Limit::Handshake {
            return;
        }
        self.book(now);
        let Spent { before_s, round_s } = &mut *self.spent;
        let waited_s = waited_s.min(round_s[self.limit as usize]);
        round_s[self.limit as usize] -= waited_s;
        before_s[Limit::CongestionWindow as usize] += waited_s;
        self.full = false;
    }

    /// The flow stops: what comes after does not count.
    pub fn stop(&mut self, now: Time) {
        self.book(now);
        self.close_round();
        self.closed = true;
    }

    /// Books the time since the last change.
    fn book(&mut self, now: Time) {
        self.spent.round_s[self.limit as usize] += now.since(self.since);
        self.since = now;
    }

    /// Books the round that ends.
    fn close_round(&mut self) {
        use Limit::{CongestionWindow, Network, Pacing, ReceiverWindow, SenderRate};
        let Spent { before_s, round_s } = &mut *self.spent;
        if self.full {
            for limit in [ReceiverWindow, Pacing, SenderRate, CongestionWindow] {
                round_s[Network as usize] += std::mem::take(&mut round_s[limit as usize]);
            }
        }
        for (before, round) in before_s.iter_mut().zip(round_s) {
            *before += std::mem::take(round);
        }
    }

    /// The shares of the time from the start to `stop`; all zero for a flow that had no time. A round that does not end
    /// is booked as the one before it.
    #[must_use]
    pub fn shares(&self, stop: Time) -> [f64; LIMITS] {
        let mut account = self.clone();
        if !account.closed && stop > account.since {
            account.book(stop);
        }
        account.close_round();
        let total: f64 = account.spent.before_s.iter().sum();
        account.spent.before_s.map(|spent| if total > 0.0 { spent / total } else { 0.0 })
    }
}

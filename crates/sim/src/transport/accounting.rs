//! Why is this flow slow? Each flow's time, from start to stop, divided by what held it back.
//!
//! The reason can only change where the send loop stops, so it costs two comparisons per ACK. Time at
//! the receiver's window is looked at round by round (from the sending of a packet to its ACK): a
//! round during which the flow's bottleneck was never idle counts as limited by the *network*, for
//! then a larger window would have lengthened the queue and not raised the goodput. So does the time for
//! which the sender's interface pushed back while the bottleneck was never idle, packet by packet.

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
    /// The receiver's window is full, and the path is not.
    ReceiverWindow,
    /// The receiver's window or the interface is full, and so is the path.
    Network,
    /// The pacing timer.
    Pacing,
    /// The sender's own packet rate.
    SenderRate,
    /// The congestion window.
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    limit: Limit,
    since: Time,
    /// Seconds spent under each limit so far.
    spent_s: [f64; LIMITS],
    /// The round at the receiver's window ends when this packet is acknowledged.
    round_end: i32,
    /// The flow has stopped.
    closed: bool,
}

impl Account {
    /// An account that opens at `start`.
    #[must_use]
    pub fn new(start: Time) -> Self {
        Self { since: start, ..Self::default() }
    }

    /// The send loop stopped at `now` because of `limit`. `acked` and `sent` are the highest sequence
    /// numbers acknowledged and sent; `busy` says whether the bottleneck was busy throughout an interval.
    #[inline]
    pub fn note(&mut self, limit: Limit, now: Time, (acked, sent): (i32, i32), busy: impl Fn(Time, Time) -> bool) {
        if self.closed || limit == self.limit && !self.renews(limit, acked) {
            return;
        }
        self.close(now, busy);
        self.limit = limit;
        self.round_end = sent;
    }

    /// Whether a limit is that which holds the flow back already, and there is nothing to look at.
    #[inline]
    #[must_use]
    pub fn goes_on(&self, limit: Limit) -> bool {
        limit == self.limit && !self.is_outside()
    }

    /// What holds the flow back now.
    #[must_use]
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Whether the next change of the limit looks at the bottleneck.
    #[inline]
    #[must_use]
    pub fn looks_at_bottleneck(&self) -> bool {
        self.is_outside() && !self.closed
    }

    /// Whether what holds the flow back now lies outside of the path, unless that is full.
    #[inline]
    fn is_outside(&self) -> bool {
        matches!(self.limit, Limit::ReceiverWindow | Limit::SenderRate)
    }

    /// Whether a limit that goes on is looked at anew: the network may be behind it.
    #[inline]
    fn renews(&self, limit: Limit, acked: i32) -> bool {
        limit == Limit::ReceiverWindow && acked >= self.round_end || limit == Limit::SenderRate
    }

    /// The flow stops: what comes after does not count.
    pub fn stop(&mut self, now: Time, busy: impl Fn(Time, Time) -> bool) {
        self.close(now, busy);
        self.closed = true;
    }

    /// Books the time since the last change.
    fn close(&mut self, now: Time, busy: impl Fn(Time, Time) -> bool) {
        let full = self.is_outside() && busy(self.since, now);
        let limit = if full { Limit::Network } else { self.limit };
        self.spent_s[limit as usize] += now.since(self.since);
        self.since = now;
    }

    /// The shares of the time from the start to `stop`; all zero for a flow that had no time.
    #[must_use]
    pub fn shares(mut self, stop: Time, busy: impl Fn(Time, Time) -> bool) -> [f64; LIMITS] {
        if !self.closed && stop > self.since {
            self.close(stop, busy);
        }
        let total: f64 = self.spent_s.iter().sum();
        self.spent_s.map(|spent| if total > 0.0 { spent / total } else { 0.0 })
    }
}

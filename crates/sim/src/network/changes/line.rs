//! A line whose capacity changes, which may be down at times or shaped.

use super::capacity::Capacity;
use super::outages::{Outage, Outages};
use super::shaper::Shaper;
use crate::network::wire::Wire;
use crate::random::Stream;
use crate::scenario::LinkSpec;

/// When a packet has left the line, or was lost there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// It has left.
    Left(f64),
    /// The line went down, and what was there is lost.
    Flushed(f64),
}

impl End {
    /// When that was.
    #[must_use]
    pub fn at_s(self) -> f64 {
        let (Self::Left(at_s) | Self::Flushed(at_s)) = self;
        at_s
    }
}

/// The line, looked at from the past to the future.
#[derive(Clone, Debug)]
pub struct Line {
    /// How fast bits leave while it is up.
    pub capacity: Capacity,
    wire: Wire,
    outages: Option<Outages>,
    /// What is there when it goes down is lost.
    flushes: bool,
    shaper: Option<Shaper>,
    /// When the packet that has left last began to, in seconds: until then it waited, be it first in line.
    begun_s: f64,
    /// Of the packet that has left last: how long it waited for tokens on the line, and how long its own take to come.
    tokens_s: (f64, f64),
    /// The work that was asked for and will be done.
    granted: f64,
}

impl Line {
    /// That of a link, at its beginning.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let stream = || Stream::new(seed, spec.drawn_as(), 0, "outages");
        Self {
            capacity: Capacity::new(spec, seed),
            wire: spec.wire(),
            outages: spec.outages.as_ref().map(|outages| Outages::new(&outages.times, stream())),
            flushes: spec.outages.as_ref().is_some_and(|outages| outages.flush),
            shaper: spec.shaper.map(Shaper::new),
            begun_s: 0.0,
            tokens_s: (0.0, 0.0),
            granted: 0.0,
        }
    }

    /// The wire of its nominal rate.
    #[must_use]
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Whether it may lose packets.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.flushes
    }

    /// The outage at `at_s`, which does not fall from call to call, or the next one.
    fn outage(&mut self, at_s: f64) -> Outage {
        self.outages.as_mut().map_or(Outage::NEVER, |outages| outages.next(at_s))
    }

    /// A packet that came at `now_s` is first from `start_s` on: when it has left.
    #[inline(always)]
    pub fn transmit(&mut self, now_s: f64, start_s: f64, size: u32) -> End {
        if self.outages.is_some() || self.shaper.is_some() {
            return self.transmit_at_times(now_s, start_s, size);
        }
        let at_s = self.capacity.begin(now_s, start_s);
        let mut left = self.capacity.work(size);
        self.granted += left;
        self.begun_s = self.capacity.opens_s(at_s);
        let end_s = self.capacity.serve(at_s, &mut left, f64::INFINITY).unwrap_or(f64::INFINITY);
        if self.capacity.leaves_at_once() {
            self.begun_s = end_s;
        }
        End::Left(end_s)
    }

    /// The same on a line that may be down or is shaped.
    #[inline(never)]
    fn transmit_at_times(&mut self, now_s: f64, start_s: f64, size: u32) -> End {
        let outage = self.outage(start_s);
        self.begun_s = start_s;
        if self.flushes && start_s >= outage.from_s {
            return End::Flushed(start_s);
        }
        let mut shaped_s = start_s;
        if let Some(shaper) = &mut self.shaper {
            let bytes = self.wire.frame_bytes(size);
            shaped_s = shaper.begin(start_s, bytes);
            self.tokens_s = (shaped_s - start_s, shaper.tokens_s(bytes));
        }
        let at_s = self.capacity.begin(now_s, shaped_s);
        self.serve(at_s, size, outage)
    }

    /// The packet that has left last, at `start_s`, is retransmitted at once.
    pub fn transmit_again(&mut self, start_s: f64, size: u32) -> End {
        self.capacity.follow();
        let at_s = self.capacity.begin(start_s, start_s);
        let outage = self.outage(start_s);
        self.serve(at_s, size, outage)
    }

    /// A packet is on the line from `at_s` on, where `outage` is the next one.
    fn serve(&mut self, mut at_s: f64, size: u32, mut outage: Outage) -> End {
        let work = self.capacity.work(size);
        let mut left = work;
        self.begun_s = f64::INFINITY;
        loop {
            if at_s < outage.from_s {
                // What opens in an outage only begins behind it.
                let opens_s = self.capacity.opens_s(at_s);
                if opens_s < outage.from_s {
                    self.begun_s = self.begun_s.min(opens_s);
                }
                if let Some(end_s) = self.capacity.serve(at_s, &mut left, outage.from_s) {
                    self.granted += work;
                    self.begun_s = if self.capacity.leaves_at_once() { end_s } else { self.begun_s };
                    return End::Left(end_s);
                }
            }
            if self.flushes {
                self.begun_s = self.begun_s.min(outage.from_s);
                self.granted += work - left;
                return End::Flushed(outage.from_s);
            }
            at_s = at_s.max(outage.until_s);
            self.capacity.resume(at_s);
            outage = self.outage(at_s);
        }
    }

    /// When the packet that has left last began to, in seconds.
    #[must_use]
    pub fn begun_s(&self) -> f64 {
        self.begun_s
    }

    /// Whether tokens decide when packets leave.
    #[must_use]
    pub fn is_shaped(&self) -> bool {
        self.shaper.is_some()
    }

    /// For how long the packet that has left last, after `took_s`, used it up: where tokens are scarce, as long as they take to
    /// come, though it may have left in a burst.
    #[inline]
    pub fn used_s(&self, took_s: f64) -> f64 {
        let (waited_s, come_s) = self.tokens_s;
        (took_s - waited_s).max(come_s)
    }

    /// Work that could be done from `from_s` on and before `until_s`, neither of which falls from call to call.
    pub fn offered(&mut self, from_s: f64, until_s: f64) -> f64 {
        let (mut at_s, mut sum) = (from_s, 0.0);
        while at_s < until_s {
            let outage = self.outage(at_s);
            let end_s = outage.from_s.min(until_s);
            if at_s < end_s {
                sum += self.capacity.offered(at_s, end_s);
            }
            at_s = outage.until_s;
            if at_s < until_s {
                self.capacity.resume(at_s);
            }
        }
        sum
    }

    /// The work that was asked for and will be done, with what an instant leaves over at which the last of it is.
    #[must_use]
    pub fn granted(&self) -> (f64, f64) {
        (self.granted, self.capacity.left_over())
    }

    /// Where bursts share their waits for the medium: for how long all packets so far would have used the line in full bursts, in
    /// seconds.
    #[must_use]
    pub fn used_by_bursts_s(&self) -> Option<f64> {
        self.capacity.bursts().map(|bursts| self.granted + bursts.shares_s())
    }

    /// Whether how much it can do is known without knowing who wants it done, and changes.
    #[must_use]
    pub fn varies(&self) -> bool {
        let changes = !matches!(self.capacity, Capacity::Constant(_)) || self.outages.is_some();
        changes && self.shaper.is_none() && self.capacity.bits().is_some()
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.capacity.random_draws() + self.outages.as_ref().map_or(0, Outages::random_draws)
    }
}

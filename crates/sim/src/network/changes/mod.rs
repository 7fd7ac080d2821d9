//! Links that change: their capacity and their delay are known ahead, so that a packet's departure and its delivery are known
//! when it arrives, as they are where nothing changes.

pub mod account;
mod airtime;
mod bursts;
mod capacity;
pub mod course;
mod gamma;
mod line;
mod opportunities;
mod outages;
mod propagation;
mod shaper;

use self::account::{Account, Estimate, Work};
use self::airtime::Airtime;
use self::line::{End, Line};
use self::propagation::Propagation;
use crate::network::loss::Loss;
use crate::ring::Ring;
use crate::scenario::{ArqSpec, LinkSpec};

/// Frames that the wire loses are retransmitted. They take their time on the line one after another; the wait for the news of
/// a loss, in which a real line sends what comes next, is added to the delay.
#[derive(Clone, Debug)]
struct Arq {
    spec: ArqSpec,
    loss: Loss,
}

/// What changes of one link.
#[derive(Clone, Debug)]
pub struct Changes {
    line: Line,
    propagation: Propagation,
    arq: Option<Arq>,
    /// The packet that was granted last is lost on the line.
    lost: bool,
    /// Time that was spent transmitting what was admitted, or that its tokens take to come, in seconds.
    busy_s: f64,
    /// Until when that lasts.
    busy_until_s: f64,
    account: Option<Account>,
    /// The account that samples have advanced: what sums up in other steps differs in its last digit.
    sampled: Option<Account>,
    air: Option<Airtime>,
    estimate: Option<Estimate>,
    /// When it begins to change, in seconds.
    begins_s: f64,
    /// When the packet that was granted last begins to be transmitted, in seconds.
    begun_s: f64,
    /// The same of the packets that wait.
    begins: Ring<f64>,
}

/// What is sampled of what changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangesSample {
    /// What was done and what was possible since the start; nothing: the rate does not change.
    pub work: Option<Work>,
    /// The delay now, in seconds; nothing: it does not change.
    pub delay_s: Option<f64>,
}

impl Changes {
    /// What changes of a link; nothing if nothing does.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Option<Self> {
        let LinkSpec { rate, delay, jitter, outages, shaper, arq, reorder, .. } = spec;
        let line_changes = rate.is_some() || outages.is_some() || shaper.is_some();
        if !(line_changes || delay.is_some() || jitter.is_some() || arq.is_some() || reorder.is_some()) {
            return None;
        }
        let (line, propagation) = (Line::new(spec, seed), Propagation::new(spec, seed));
        let arq = arq.and_then(|spec_of_arq| {
            let loss = Loss::new(&spec.loss, spec.wire(), seed, &spec.name)?;
            Some(Arq { spec: spec_of_arq, loss })
        });
        let account = Account::of(&line);
        let air = line.used_by_bursts_s().map(|_| Airtime::default());
        let estimate = account.clone().map(|account| Estimate::new(account, spec.rate_bps));
        Some(Self {
            line,
            propagation,
            arq,
            lost: false,
            busy_s: 0.0,
            busy_until_s: 0.0,
            account,
            sampled: None,
            air,
            estimate,
            begins_s: 0.0,
            begun_s: 0.0,
            begins: Ring::default(),
        })
    }

    /// It begins to change at `begins_s` only, from which its times are counted; before, nothing is granted yet.
    pub fn begin_at(&mut self, begins_s: f64) {
        self.begins_s = begins_s;
    }

    /// A packet that came at `now_s` is first in line at `start_s`: when it has left, and when it reaches the other end.
    /// Each leaves later than the one before it, as keys of events tell packets apart by when their service began.
    #[inline]
    pub fn grant(&mut self, now_s: f64, start_s: f64, size: u32) -> (f64, f64) {
        if self.begins_s > 0.0 {
            return self.grant_since_it_began(now_s, start_s, size);
        }
        let (end, retransmitted_s) = self.transmit(now_s, start_s, size);
        let departure_s = end.at_s().max(start_s.next_up());
        let delivery_s = self.propagation.delivery_s(departure_s, retransmitted_s);
        self.book(now_s, start_s, departure_s);
        self.note_waiting(now_s);
        (departure_s, delivery_s)
    }

    /// The packet that was granted last came at `now_s`.
    #[inline]
    fn note_waiting(&mut self, now_s: f64) {
        self.waiting(now_s);
        if self.begun_s > now_s {
            self.begins.push_back(self.begun_s);
        }
    }

    /// When the packet that was granted last begins to be transmitted, in seconds: until then it waits, be it first in line.
    #[must_use]
    pub fn begun_s(&self) -> f64 {
        self.begun_s
    }

    /// Where the delay changes: for how much longer than over the empty link at its best the packet that was granted last is
    /// under way, in seconds from when its transmission begins to its delivery at `delivery_s`.
    #[must_use]
    pub fn longer_s(&self, size: u32, delivery_s: f64) -> Option<f64> {
        let shortest_s = if self.line.capacity.leaves_at_once() {
            self.line.wire().delay_s
        } else {
            self.line.wire().crossing_s(size)
        };
        (!self.propagation.is_constant()).then_some(delivery_s - self.begun_s - shortest_s)
    }

    /// Packets that wait at `now_s`, which does not fall from call to call: for those before them, or for the line.
    pub fn waiting(&mut self, now_s: f64) -> usize {
        while self.begins.front().is_some_and(|&begun_s| begun_s <= now_s) {
            self.begins.pop_front();
        }
        self.begins.len()
    }

    /// The line was used from `start_s` to `departure_s` by a packet that came at `now_s`; where tokens are scarce, by as many as
    /// it took.
    #[inline]
    fn book(&mut self, now_s: f64, start_s: f64, departure_s: f64) {
        if let Some(air) = &mut self.air {
            air.grant(now_s, departure_s, self.line.used_by_bursts_s().unwrap_or_default());
        }
        let used_s = self.line.used_s(departure_s - start_s);
        self.busy_s += used_s;
        self.busy_until_s = if self.line.is_shaped() { self.busy_until_s.max(start_s) + used_s } else { departure_s };
    }

    /// The same, where it begins to change later: until then it is constant.
    #[cold]
    fn grant_since_it_began(&mut self, now_s: f64, start_s: f64, size: u32) -> (f64, f64) {
        let begins_s = self.begins_s;
        let (departure_s, delivery_s) = if start_s < begins_s {
            self.lost = false;
            self.begun_s = start_s;
            let departure_s = start_s + self.line.wire().transmission_s(size);
            (departure_s, departure_s + self.line.wire().delay_s)
        } else {
            let (end, retransmitted_s) = self.transmit(now_s - begins_s, start_s - begins_s, size);
            let delivery_s = self.propagation.delivery_s(end.at_s(), retransmitted_s);
            self.begun_s += begins_s;
            ((end.at_s() + begins_s).max(start_s.next_up()), delivery_s + begins_s)
        };
        self.book(now_s, start_s, departure_s);
        self.note_waiting(now_s);
        (departure_s, delivery_s)
    }

    /// A packet is transmitted, as often as it is lost and retransmitted: when it has left for the last time, and what that
    /// adds to its delay.
    fn transmit(&mut self, now_s: f64, start_s: f64, size: u32) -> (End, f64) {
        let mut end = self.line.transmit(now_s, start_s, size);
        self.begun_s = self.line.begun_s();
        let mut longer_s = 0.0;
        self.lost = matches!(end, End::Flushed(_));
        let Some(Arq { spec, loss }) = &mut self.arq else { return (end, longer_s) };
        let (mut begun_s, mut retransmitted) = (start_s, 0);
        while let End::Left(end_s) = end
            && loss.loses(size, begun_s)
        {
            if retransmitted == spec.most {
                self.lost = true;
                break;
            }
            retransmitted += 1;
            longer_s += spec.after_s;
            begun_s = end_s;
            end = self.line.transmit_again(end_s, size);
            self.lost = matches!(end, End::Flushed(_));
        }
        (end, longer_s)
    }

    /// The next packet has waited for the one before it, wherever that was.
    pub fn follow(&mut self) {
        self.line.capacity.follow();
    }

    /// Whether packets may be lost on the line.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.arq.is_some() || self.line.loses()
    }

    /// Whether the packet that was granted last is lost on the line.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.lost
    }

    /// Time that was spent transmitting what was admitted, or that its tokens take to come, in seconds.
    #[must_use]
    pub fn busy_s(&self) -> f64 {
        self.busy_s
    }

    /// Until when that lasts, the last of it without a gap: behind a shaper until the tokens of a burst have come, too.
    #[must_use]
    pub fn busy_until_s(&self) -> f64 {
        self.busy_until_s
    }

    /// What was done until `at_s` and what was possible, where all that was granted has left at `departure_s`; neither falls
    /// from call to call.
    pub fn work(&mut self, at_s: f64, departure_s: f64) -> Option<Work> {
        let begins_s = self.begins_s;
        if let Some(air) = &mut self.air {
            return Some(air.work(at_s));
        }
        self.account
            .as_mut()
            .map(|account| account.work(&self.line, (at_s - begins_s).max(0.0), departure_s - begins_s))
    }

    /// What it is at `at_s`, which does not fall from call to call, where all that was granted has left at `departure_s`.
    pub fn sample(&mut self, at_s: f64, departure_s: f64) -> ChangesSample {
        let account = self.sampled.take().or_else(|| self.account.clone());
        let whole = std::mem::replace(&mut self.account, account);
        let work = self.work(at_s, departure_s);
        self.sampled = std::mem::replace(&mut self.account, whole);
        ChangesSample { work, delay_s: self.propagation.seen_s((at_s - self.begins_s).max(0.0)) }
    }

    /// When the line is free, as far as one knows at `now_s`, where all that was granted has left at `departure_s`.
    pub fn believed_free_s(&mut self, now_s: f64, departure_s: f64) -> f64 {
        match &mut self.estimate {
            Some(estimate) if departure_s > now_s && now_s >= self.begins_s => {
                let begins_s = self.begins_s;
                estimate.free_s(&self.line, now_s - begins_s, departure_s - begins_s) + begins_s
            }
            _ => departure_s,
        }
    }

    /// Seconds for which so many packets of so many bytes occupy the line from `free_s` on, if none is retransmitted.
    #[must_use]
    pub fn occupied_s(&self, free_s: f64, packets: usize, bytes: u64) -> f64 {
        if packets == 0 {
            return 0.0;
        }
        let mut line = self.line.clone();
        let size = (bytes / packets as u64) as u32;
        let free_s = (free_s - self.begins_s).max(0.0);
        let mut end_s = free_s;
        for _ in 0..packets {
            end_s = line.transmit(free_s, end_s, size).at_s();
        }
        end_s - free_s
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let arq = self.arq.as_ref().map_or(0, |arq| arq.loss.random_draws());
        self.line.random_draws() + self.propagation.random_draws() + arq
    }
}

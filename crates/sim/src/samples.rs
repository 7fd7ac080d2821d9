//! Samples of links and flows, as rows of the time series, whoever takes them. What a sample of a flow is `hosts` say.
//!
//! A link changes by what comes to it alone, and an end of a flow by what its host does: so each may be looked at when it is
//! next touched, with what it was until then.

use crate::entities::SAMPLER;
use crate::events::Key;
use crate::network::changes::ChangesSample;
use crate::network::changes::account::Work;
use crate::network::link::managed::Surroundings;
use crate::network::link::{Link, LinkSample};
use crate::network::processor::Processor;
use crate::probe::series::Series;
use crate::scenario::{FlowSpec, Scenario};
use crate::time::Time;

/// When samples are taken: at each multiple of an interval before the end of the run. A sample precedes all that happens at
/// the same instant.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    interval_s: f64,
    end: Time,
}

impl Moments {
    /// Those of a scenario that asks for any.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let end = Time::new(scenario.duration_s);
        scenario.observe.interval_s.map(|interval_s| Self { interval_s, end })
    }

    /// Seconds from one to the next.
    #[must_use]
    pub fn interval_s(self) -> f64 {
        self.interval_s
    }

    /// When the sample behind so many others is taken.
    #[inline]
    #[must_use]
    pub fn at(self, samples: u64) -> Time {
        // Multiples of the interval, not a sum of it: the thousandth sample lies where it should.
        Time::new(self.interval_s * (samples + 1) as f64)
    }

    /// The same if that is not after `now`, and in the run.
    #[inline]
    #[must_use]
    fn due(self, samples: u64, now: Time) -> Option<Time> {
        Some(self.at(samples)).filter(|&at| at <= now && at < self.end)
    }
}

/// Whether the queue of a link may mark, how many samples were taken, and what it had at the last one: time spent
/// transmitting, packets dropped and marked, and what it had sent of what it could have.
#[derive(Clone, Copy, Debug, Default)]
struct LastOfLink {
    marks: bool,
    taken: u64,
    busy_s: f64,
    dropped: u64,
    marked: u64,
    work: Work,
}

/// How many samples of a processor were taken, and what it had at the last one: time busy, and packets dropped.
#[derive(Clone, Copy, Debug, Default)]
struct LastOfProcessor {
    taken: u64,
    busy_s: f64,
    dropped: u64,
}

/// How many samples of the sending end of a flow were taken and how many of the receiving end, and what it had at the last
/// ones: payload and bytes, and the sum and the number of its one-way delays and of its samples of the round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastOfFlow {
    pub(crate) taken: [u64; 2],
    pub(crate) payload: u64,
    pub(crate) bytes: u64,
    pub(crate) one_way: (f64, u64),
    pub(crate) rtt: (f64, u64),
}

/// The end of a flow that sends data, or the one that receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}

impl End {
    /// Where it is.
    #[must_use]
    pub fn node(self, flow: &FlowSpec) -> u32 {
        match self {
            Self::Sender => flow.from,
            Self::Receiver => flow.to,
        }
    }
}

/// The samples of a run, or of a part of its network.
#[derive(Clone, Debug)]
pub struct Samples {
    /// When.
    pub moments: Moments,
    /// The values.
    pub series: Series,
    links: Vec<LastOfLink>,
    pub(crate) flows: Vec<LastOfFlow>,
    processors: Vec<LastOfProcessor>,
    pub(crate) transport: bool,
}

impl Samples {
    /// None yet, if the scenario asks for any.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let links = scenario.links.iter();
        let links: Vec<_> =
            links.map(|link| LastOfLink { marks: link.queue.marks(), ..LastOfLink::default() }).collect();
        let flows = vec![LastOfFlow::default(); scenario.single_flows()];
        let processors = vec![LastOfProcessor::default(); scenario.processors()];
        let series = Series::of(links.len(), flows.len(), processors.len());
        let transport = scenario.observe.transport;
        Moments::of(scenario).map(|moments| Self { moments, series, links, flows, processors, transport })
    }

    /// The number of the first flow in the series: links come before.
    pub(crate) fn first_flow(&self) -> u32 {
        self.links.len() as u32
    }

    /// When the next sample of a link is taken, if that precedes what happens at `now`.
    #[inline]
    #[must_use]
    pub fn due(&self, link: u32, now: Time) -> Option<Time> {
        self.moments.due(self.links[link as usize].taken, now)
    }

    /// The same of an end of a flow.
    #[inline]
    #[must_use]
    pub fn due_at(&self, flow: u32, end: End, now: Time) -> Option<Time> {
        // Of transfers there are no samples, and they come last.
        self.moments.due(self.flows.get(flow as usize)?.taken[end as usize], now)
    }

    /// Takes the samples of a link that precede what happens to it at `now`; `whole` adds what it does not know of itself.
    pub fn link_before<S: Surroundings>(
        &mut self,
        (index, link): (u32, &mut Link),
        now: Time,
        around: &mut S,
        whole: impl Fn(LinkSample) -> LinkSample,
    ) {
        while let Some(at) = self.due(index, now) {
            let key = Key::planned(at, SAMPLER);
            link.decide_until(key, around);
            self.link(index, whole(link.sample(key)));
        }
    }

    /// Takes the samples of a processor that precede what happens to it at `now`.
    pub fn processor_before(&mut self, (index, processor): (usize, &mut Processor), now: Time) {
        let entity = (self.links.len() + self.flows.len() + index) as u32;
        let last = &mut self.processors[index];
        while let Some(at) = self.moments.due(last.taken, now) {
            let ((busy_s, reading), dropped) = (processor.look(at.seconds()), processor.totals().packets_dropped);
            let share = (busy_s - last.busy_s) / self.moments.interval_s;
            let (ring, lost) = (processor.packets() as f64, (dropped - last.dropped) as f64);
            let values = [share, reading.unwrap_or(f64::NAN), ring, lost];
            self.series.values(last.taken, entity).copy_from_slice(&values);
            *last = LastOfProcessor { taken: last.taken + 1, busy_s, dropped };
        }
    }

    /// Takes a sample of a link.
    fn link(&mut self, link: u32, sample: LinkSample) {
        let LinkSample { waiting, busy_s, dropped, marked, backlog_s, changes: ChangesSample { work, delay_s } } =
            sample;
        let (last, interval_s) = (&mut self.links[link as usize], self.moments.interval_s);
        let before = *last;
        let (taken, work_done) = (before.taken + 1, work.unwrap_or_default());
        *last = LastOfLink { taken, busy_s, dropped, marked, work: work_done, ..before };
        // Where the rate does not change it is the share of time.
        let (share, capacity_bps) = work.map_or(((busy_s - before.busy_s) / interval_s, f64::NAN), |work| {
            let possible = work.possible - before.work.possible;
            // Rounded, what was done may be more. Of nothing there is no share.
            let share = ((work.done - before.work.done) / possible).clamp(0.0, 1.0);
            (share, if work.in_bits { possible / interval_s } else { f64::NAN })
        });
        let dropped = (dropped - before.dropped) as f64;
        let marked = if before.marks { (marked - before.marked) as f64 } else { f64::NAN };
        let values = [waiting as f64, share, dropped, marked, backlog_s, capacity_bps, delay_s.unwrap_or(f64::NAN)];
        self.series.values(last.taken - 1, link).copy_from_slice(&values);
    }
}

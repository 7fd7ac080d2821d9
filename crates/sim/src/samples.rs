//! Samples of links and flows, as rows of the time series, whoever takes them.
//!
//! A link changes by what comes to it alone, and an end of a flow by what its host does: so each may be looked at when it is
//! next touched, with what it was until then, and rows are put in order at the end.

use crate::congestion::Controls;
use crate::delays::Delays;
use crate::hosts::Ends;
use crate::probe::series::{Metric, Series};
use crate::scenario::Scenario;
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
    #[must_use]
    pub fn at(self, samples: u64) -> Time {
        // Multiples of the interval, not a sum of it: the thousandth sample lies where it should.
        Time::new(self.interval_s * (samples + 1) as f64)
    }

    /// The same if that is not after `now`, and in the run.
    #[must_use]
    pub fn due(self, samples: u64, now: Time) -> Option<Time> {
        Some(self.at(samples)).filter(|&at| at <= now && at < self.end)
    }
}

/// A link at the time of a sample; totals are those since the start.
#[derive(Clone, Copy, Debug)]
pub struct LinkSample {
    /// Packets waiting, without the one in service.
    pub waiting: usize,
    /// Time spent transmitting, in seconds.
    pub busy_s: f64,
    /// Packets that the queue refused or the wire lost.
    pub dropped: u64,
    /// Seconds until what is there has been sent.
    pub backlog_s: f64,
}

/// What a flow had at its last sample: payload and bytes, and the sum and the number of its one-way delays and of its
/// samples of the round-trip time.
#[derive(Clone, Copy, Debug, Default)]
struct FlowSample {
    payload: u64,
    bytes: u64,
    one_way: (f64, u64),
    rtt: (f64, u64),
}

/// The samples of a run, or of a part of its network.
#[derive(Clone, Debug)]
pub struct Samples {
    /// When.
    pub moments: Moments,
    /// The rows.
    pub series: Series,
    links: Vec<(f64, u64)>,
    flows: Vec<FlowSample>,
    transport: bool,
}

impl Samples {
    /// None yet, if the scenario asks for any.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let (links, flows) = (vec![(0.0, 0); scenario.links.len()], vec![FlowSample::default(); scenario.flows.len()]);
        let (series, transport) = (Series::default(), scenario.observe.transport);
        Moments::of(scenario).map(|moments| Self { moments, series, links, flows, transport })
    }

    /// Takes a sample of a link.
    pub fn link(&mut self, at: Time, link: u32, sample: LinkSample) {
        let LinkSample { waiting, busy_s, dropped, backlog_s } = sample;
        let (busy_before_s, dropped_before) = std::mem::replace(&mut self.links[link as usize], (busy_s, dropped));
        let share = (busy_s - busy_before_s) / self.moments.interval_s;
        self.series.push(at.seconds(), link, Metric::QueuePackets, waiting as f64);
        self.series.push(at.seconds(), link, Metric::Utilization, share);
        self.series.push(at.seconds(), link, Metric::PacketsDropped, (dropped - dropped_before) as f64);
        self.series.push(at.seconds(), link, Metric::QueueingDelayS, backlog_s);
    }

    /// Takes a sample of the receiving end of a flow, whose one-way delays these are.
    pub fn receiver(&mut self, at: Time, flow: u32, ends: Ends<'_>, one_way: &Delays) {
        let entity = self.links.len() as u32 + flow;
        let (payload, bytes) = match ends {
            Ends::Tcp { receiver, connection, .. } => {
                (connection.payload_through(receiver.in_order()), receiver.totals.bytes)
            }
            Ends::Udp { sink, .. } => (sink.payload_delivered, sink.bytes_delivered),
        };
        let before = &mut self.flows[flow as usize];
        let rate = |now: u64, before: u64| (now - before) as f64 * 8.0 / self.moments.interval_s;
        self.series.push(at.seconds(), entity, Metric::GoodputBps, rate(payload, before.payload));
        self.series.push(at.seconds(), entity, Metric::ThroughputBps, rate(bytes, before.bytes));
        (before.payload, before.bytes) = (payload, bytes);
        push_mean(&mut self.series, (at, entity), Metric::OneWayDelayS, one_way, &mut before.one_way);
    }

    /// Takes a sample of the sending end of a flow, whose round-trip times these are.
    pub fn sender(&mut self, at: Time, flow: u32, ends: Ends<'_>, controls: &Controls, rtt: &Delays) {
        let Ends::Tcp { sender, connection, .. } = ends else { return };
        let (time_s, entity) = (at.seconds(), self.links.len() as u32 + flow);
        push_mean(&mut self.series, (at, entity), Metric::RttS, rtt, &mut self.flows[flow as usize].rtt);
        self.series.push(time_s, entity, Metric::CwndPackets, sender.window.cwnd);
        if sender.window.ssthresh < f64::MAX {
            self.series.push(time_s, entity, Metric::SsthreshPackets, sender.window.ssthresh);
        }
        self.series.push(time_s, entity, Metric::InFlightPackets, sender.in_flight());
        if let Some(rate) = sender.pacing_rate(controls, connection) {
            let bits = 8.0 * f64::from(connection.full_size());
            self.series.push(time_s, entity, Metric::PacingRateBps, rate * bits);
        }
        if self.transport {
            let phase = controls.phase(sender.control(), &sender.window);
            self.series.push(time_s, entity, Metric::CongestionPhase, phase as f64);
            self.series.push(time_s, entity, Metric::RecoveryState, f64::from(sender.recovery_state() as u8));
        }
    }
}

/// Adds the mean of what was measured since the last sample, if anything was.
fn push_mean(series: &mut Series, at: (Time, u32), metric: Metric, delays: &Delays, before: &mut (f64, u64)) {
    let now = (delays.sum_s, delays.count);
    if now.1 > before.1 {
        series.push(at.0.seconds(), at.1, metric, (now.0 - before.0) / (now.1 - before.1) as f64);
    }
    *before = now;
}

//! What links and flows did in each interval.

use super::flows::Flows;
use super::links::Links;
use crate::read::error::Error;
use crate::read::frame::Nanoseconds;

/// More rows than these take too much memory.
const MOST: u64 = 1 << 24;
const BITS: f64 = 8.0;

/// Who has a series: a link or a flow, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Link(usize),
    Flow(usize),
}

/// What is sampled, in the order of codes in tables.
pub const METRICS: [&str; 3] = ["throughput_bps", "queue_packets", "packets_dropped"];

/// A sample.
pub struct Sample {
    pub time_s: f64,
    pub who: Who,
    pub metric: u32,
    pub value: f64,
}

/// Samples at the ends of intervals.
pub struct Series {
    interval: Nanoseconds,
    /// Intervals that are over.
    done: u64,
    /// Counts of links (bytes, drops) and of flows (bytes) at the end of the last one.
    links: Vec<(u64, u64)>,
    flows: Vec<u64>,
    pub samples: Vec<Sample>,
}

impl Series {
    pub fn new(interval: Nanoseconds) -> Self {
        let interval = interval.max(1);
        Self { interval, done: 0, links: Vec::new(), flows: Vec::new(), samples: Vec::new() }
    }

    /// Samples all intervals that end before or at a time, of which nothing was counted yet.
    pub fn until(&mut self, time_s: f64, flows: &Flows, links: &mut Links) -> Result<(), Error> {
        if time_s < self.end_s() {
            return Ok(());
        }
        let over = (time_s * 1e9 / self.interval as f64) as u64;
        let rows = (links.all.len() * METRICS.len() + flows.all.len()).max(1);
        if over.saturating_sub(self.done).saturating_mul(rows as u64).saturating_add(self.samples.len() as u64) > MOST {
            let seconds = self.interval as f64 / 1e9;
            return Err(Error::Format(format!(
                "at {time_s} s the series has more than {MOST} values: expected intervals longer than {seconds} s"
            )));
        }
        while time_s >= self.end_s() {
            links.settle(self.end_s());
            self.sample(flows, links);
            self.done += 1;
        }
        Ok(())
    }

    fn end_s(&self) -> f64 {
        (self.done + 1) as f64 * (self.interval as f64 / 1e9)
    }

    fn sample(&mut self, flows: &Flows, links: &Links) {
        let (time_s, seconds) = (self.end_s(), self.interval as f64 / 1e9);
        self.links.resize(links.all.len(), (0, 0));
        self.flows.resize(flows.all.len(), 0);
        for (place, (link, before)) in links.all.iter().zip(&mut self.links).enumerate() {
            let bits = (link.bytes_received - before.0) as f64 * BITS;
            let values = [bits / seconds, link.waiting as f64, (link.dropped - before.1) as f64];
            *before = (link.bytes_received, link.dropped);
            for (metric, value) in (0..).zip(values) {
                self.samples.push(Sample { time_s, who: Who::Link(place), metric, value });
            }
        }
        for (place, (flow, before)) in flows.all.iter().zip(&mut self.flows).enumerate() {
            let value = (flow.bytes_delivered - *before) as f64 * BITS / seconds;
            *before = flow.bytes_delivered;
            self.samples.push(Sample { time_s, who: Who::Flow(place), metric: 0, value });
        }
    }
}

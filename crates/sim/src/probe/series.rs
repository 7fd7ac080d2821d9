//! Time series: a sample of every link and every flow at a constant interval.

use crate::congestion::known::{BANDWIDTH_BPS, MARKED_SHARE, PLATEAU_PACKETS, RTT_BASE_S};
use std::borrow::Cow;

/// What is sampled of a link, of a flow and of a processor, in the order of rows.
const LINK: [Metric; 7] = [
    Metric::QueuePackets,
    Metric::Utilization,
    Metric::PacketsDropped,
    Metric::PacketsMarked,
    Metric::QueueingDelayS,
    Metric::CapacityBps,
    Metric::DelayS,
];
const FLOW: [Metric; 10] = [
    Metric::GoodputBps,
    Metric::ThroughputBps,
    Metric::OneWayDelayS,
    Metric::RttS,
    Metric::CwndPackets,
    Metric::SsthreshPackets,
    Metric::InFlightPackets,
    Metric::PacingRateBps,
    Metric::CongestionPhase,
    Metric::RecoveryState,
];
const PROCESSOR: [Metric; 4] = [Metric::Load, Metric::LoadReported, Metric::RingPackets, Metric::PacketsDropped];

/// Samples of links, flows and processors. Each has its place, so that they may be taken in any order.
#[derive(Clone, Debug)]
pub struct Series {
    links: u32,
    flows: u32,
    /// Values of one sample.
    width: usize,
    /// Of each sample the values, not a number where there are none.
    samples: Vec<Vec<f64>>,
    /// What the congestion controls of some flows know: sample, entity, metric as [`Series::names`] has it, and value.
    known: Vec<(u32, u32, u32, f64)>,
    /// Names that controls written in Python give to that, behind those of [`METRICS`].
    own: Vec<String>,
}

/// A value of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The number of the sample.
    pub sample: usize,
    /// Index into the links, the flows and the processors, counted through in this order.
    pub entity: u32,
    /// What: index into [`Series::names`].
    pub metric: u32,
    /// The value.
    pub value: f64,
}

macro_rules! metrics {
    ($($metric:ident $name:tt: $help:literal),+ $(,)?) => {
        /// What is sampled.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric {
            $(#[doc = $help] $metric,)+
        }

        /// The words in the column `metric`, by the numbers of metrics, with a line of help each.
        pub const METRICS: &[(&str, &str)] = &[$(($name, $help),)+];
    };
}

metrics! {
    QueuePackets "queue_packets": "packets waiting at a link, without the one in service",
    Utilization "utilization":
        "share of the past interval during which a link transmitted; of what it could send, where its rate changes or is shaped",
    PacketsDropped "packets_dropped":
        "packets that a link, or the input rings of a processor, dropped during the past interval",
    PacketsMarked "packets_marked":
        "packets that the queue of a link marked during the past interval, where it may mark any",
    QueueingDelayS "queueing_delay_s": "how long a packet would wait that joined the queue of a link now, in seconds",
    CapacityBps "capacity_bps": "what a link whose rate changes could have sent during the past interval, in bit/s",
    DelayS "delay_s": "delay of a link whose delay changes, without jitter, in seconds",
    GoodputBps "goodput_bps": "payload of a flow delivered in order during the past interval, in bit/s",
    ThroughputBps "throughput_bps": "bytes of a flow delivered during the past interval, in bit/s",
    OneWayDelayS "one_way_delay_s":
        "mean one-way delay of the packets of a flow that arrived in the past interval, in seconds",
    RttS "rtt_s": "mean of a TCP flow's samples of the round-trip time in the past interval, in seconds",
    CwndPackets "cwnd_packets": "congestion window of a TCP flow",
    SsthreshPackets "ssthresh_packets": "slow-start threshold of a TCP flow",
    InFlightPackets "in_flight_packets": "packets of a TCP flow sent and not acknowledged",
    PacingRateBps "pacing_rate_bps":
        "rate at which the packets of a paced TCP flow are sent, headers included, in bit/s",
    CongestionPhase "congestion_phase":
        "phase of a TCP flow's congestion control, by its number; with observe.transport",
    RecoveryState "recovery_state":
        "losses that a TCP flow mends: 0 none, 1 found by ACKs, 2 by the retransmission timer; with observe.transport",
    BandwidthBps BANDWIDTH_BPS:
        "what BBR takes for the bandwidth of the path, headers included, in bit/s; with observe.transport",
    RttBaseS RTT_BASE_S: "what BBR takes for the round-trip time of an empty path, in seconds; with observe.transport",
    PlateauPackets PLATEAU_PACKETS:
        "window at which CUBIC's growth is flat, once there was a loss (W_max of RFC 9438); with observe.transport",
    MarkedShare MARKED_SHARE:
        "what DCTCP and Prague take for the share of packets that queues mark; with observe.transport",
    Load "load": "share of the past interval during which a processor was busy",
    LoadReported "load_reported": "load of a processor as its meter reports it",
    RingPackets "ring_packets": "packets in the input rings of a processor, the one in service included",
}

impl Series {
    /// None yet, of so many links, flows and processors.
    #[must_use]
    pub fn of(links: usize, flows: usize, processors: usize) -> Self {
        let width = LINK.len() * links + FLOW.len() * flows + PROCESSOR.len() * processors;
        Self {
            links: links as u32,
            flows: flows as u32,
            width,
            samples: Vec::new(),
            known: Vec::new(),
            own: Vec::new(),
        }
    }

    /// The metrics of an entity, and the place of the first.
    fn places(&self, entity: u32) -> (&'static [Metric], usize) {
        let (link, links, flows) = (entity as usize, self.links as usize, self.flows as usize);
        let Some(flow) = link.checked_sub(links) else { return (&LINK, LINK.len() * link) };
        let behind_links = LINK.len() * links;
        let Some(processor) = flow.checked_sub(flows) else { return (&FLOW, behind_links + FLOW.len() * flow) };
        (&PROCESSOR, behind_links + FLOW.len() * flows + PROCESSOR.len() * processor)
    }

    /// The values of an entity in a sample, in the order of its metrics, to be filled in.
    pub fn values(&mut self, sample: u64, entity: u32) -> &mut [f64] {
        let (metrics, first) = self.places(entity);
        let sample = sample as usize;
        if sample >= self.samples.len() {
            self.samples.resize_with(sample + 1, Vec::new);
        }
        let values = &mut self.samples[sample];
        if values.is_empty() {
            values.resize(self.width, f64::NAN);
        }
        &mut values[first..first + metrics.len()]
    }

    /// Adds what the congestion control of a flow knows.
    pub fn know(&mut self, sample: u64, entity: u32, name: &str, value: f64) {
        let there = METRICS
            .iter()
            .map(|&(name, _)| name)
            .chain(self.own.iter().map(String::as_str))
            .position(|one| one == name);
        let metric = there.unwrap_or_else(|| {
            self.own.push(name.to_owned());
            METRICS.len() + self.own.len() - 1
        });
        self.known.push((sample as u32, entity, metric as u32, value));
    }

    /// The words in the column `metric`: those that there always are, and those of congestion controls written in Python.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        METRICS.iter().map(|&(name, _)| name.to_owned()).chain(self.own.iter().cloned()).collect()
    }

    /// Those of all parts of a network, if there are any.
    pub fn merged<'a>(mut parts: impl Iterator<Item = &'a Self>) -> Option<Cow<'a, Self>> {
        let first = parts.next()?;
        Some(parts.fold(Cow::Borrowed(first), |mut merged, part| {
            merged.to_mut().merge(part);
            merged
        }))
    }

    /// Adds the samples of another part of the network.
    fn merge(&mut self, other: &Self) {
        self.samples.resize_with(self.samples.len().max(other.samples.len()), Vec::new);
        for (ours, theirs) in self.samples.iter_mut().zip(&other.samples) {
            if ours.is_empty() {
                ours.clone_from(theirs);
            }
            for (our, their) in ours.iter_mut().zip(theirs).filter(|(_, their)| !their.is_nan()) {
                *our = *their;
            }
        }
        let names = other.names();
        for &(sample, entity, metric, value) in &other.known {
            self.know(sample.into(), entity, &names[metric as usize], value);
        }
    }

    /// Gives all values that there are: by sample, then by entity, then by metric.
    pub fn each(&self, mut each: impl FnMut(Row)) {
        let mut known = self.known.clone();
        known.sort_by_key(|&(sample, entity, ..)| (sample, entity));
        let mut known = known.into_iter().peekable();
        for (sample, values) in self.samples.iter().enumerate() {
            let (mut entity, mut place) = (0, 0);
            while place < values.len() {
                let (metrics, _) = self.places(entity);
                for (&metric, &value) in metrics.iter().zip(&values[place..]).filter(|(_, value)| !value.is_nan()) {
                    each(Row { sample, entity, metric: metric as u32, value });
                }
                while let Some((.., metric, value)) = known.next_if(|one| (one.0 as usize, one.1) == (sample, entity)) {
                    each(Row { sample, entity, metric, value });
                }
                (entity, place) = (entity + 1, place + metrics.len());
            }
        }
    }
}

//! Time series: a sample of every link and every flow at a constant interval.

/// What is sampled of a link, of a flow and of a processor, in the order of rows.
const LINK: [Metric; 6] = [
    Metric::QueuePackets,
    Metric::Utilization,
    Metric::PacketsDropped,
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
}

/// A value of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The number of the sample.
    pub sample: usize,
    /// Index into the links, the flows and the processors, counted through in this order.
    pub entity: u32,
    /// What.
    pub metric: Metric,
    /// The value.
    pub value: f64,
}

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Packets waiting at a link, without the one in service.
    QueuePackets,
    /// Share of the past interval during which a link transmitted; where its rate changes, of the bits that it could have sent.
    Utilization,
    /// Packets that a link, or the input rings of a processor, dropped during the past interval.
    PacketsDropped,
    /// How long a packet would wait that joined the queue of a link now.
    QueueingDelayS,
    /// Bits that a link whose rate changes could have sent during the past interval, in bit/s.
    CapacityBps,
    /// Delay of a link whose delay changes, jitter aside.
    DelayS,
    /// Payload delivered in order during the past interval, in bit/s.
    GoodputBps,
    /// Bytes delivered during the past interval, in bit/s.
    ThroughputBps,
    /// Mean one-way delay of the packets of a flow that arrived during the past interval.
    OneWayDelayS,
    /// Mean of the samples of a flow's round-trip time during the past interval.
    RttS,
    /// Congestion window.
    CwndPackets,
    /// Slow-start threshold.
    SsthreshPackets,
    /// Packets outstanding.
    InFlightPackets,
    /// Rate at which a flow is paced, in bit/s.
    PacingRateBps,
    /// Phase of a flow's congestion control.
    CongestionPhase,
    /// What losses a flow mends.
    RecoveryState,
    /// Share of the past interval during which a processor was busy.
    Load,
    /// Load as a device reports it.
    LoadReported,
    /// Packets in the input rings of a processor.
    RingPackets,
}

impl Metric {
    /// All metrics, with a line of help each.
    pub const ALL: [(Self, &'static str); 19] = [
        (Self::QueuePackets, "packets waiting at a link, without the one in service"),
        (
            Self::Utilization,
            "share of the past interval during which a link transmitted; where its rate changes, of what it could have sent",
        ),
        (
            Self::PacketsDropped,
            "packets that a link, or the input rings of a processor, dropped during the past interval",
        ),
        (Self::QueueingDelayS, "how long a packet would wait that joined the queue of a link now, in seconds"),
        (Self::CapacityBps, "what a link whose rate changes could have sent during the past interval, in bit/s"),
        (Self::DelayS, "delay of a link whose delay changes, without jitter, in seconds"),
        (Self::GoodputBps, "payload of a flow delivered in order during the past interval, in bit/s"),
        (Self::ThroughputBps, "bytes of a flow delivered during the past interval, in bit/s"),
        (
            Self::OneWayDelayS,
            "mean one-way delay of the packets of a flow that arrived in the past interval, in seconds",
        ),
        (Self::RttS, "mean of a TCP flow's samples of the round-trip time in the past interval, in seconds"),
        (Self::CwndPackets, "congestion window of a TCP flow"),
        (Self::SsthreshPackets, "slow-start threshold of a TCP flow"),
        (Self::InFlightPackets, "packets of a TCP flow sent and not acknowledged"),
        (Self::PacingRateBps, "rate at which the packets of a paced TCP flow are sent, headers included, in bit/s"),
        (Self::CongestionPhase, "phase of a TCP flow's congestion control, by its number; with observe.transport"),
        (
            Self::RecoveryState,
            "losses that a TCP flow mends: 0 none, 1 found by ACKs, 2 by the retransmission timer; with observe.transport",
        ),
        (Self::Load, "share of the past interval during which a processor was busy"),
        (Self::LoadReported, "load of a processor as its meter reports it"),
        (Self::RingPackets, "packets in the input rings of a processor, the one in service included"),
    ];

    /// The word in the column `metric`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::QueuePackets => "queue_packets",
            Self::Utilization => "utilization",
            Self::PacketsDropped => "packets_dropped",
            Self::QueueingDelayS => "queueing_delay_s",
            Self::CapacityBps => "capacity_bps",
            Self::DelayS => "delay_s",
            Self::GoodputBps => "goodput_bps",
            Self::ThroughputBps => "throughput_bps",
            Self::OneWayDelayS => "one_way_delay_s",
            Self::RttS => "rtt_s",
            Self::CwndPackets => "cwnd_packets",
            Self::SsthreshPackets => "ssthresh_packets",
            Self::InFlightPackets => "in_flight_packets",
            Self::PacingRateBps => "pacing_rate_bps",
            Self::CongestionPhase => "congestion_phase",
            Self::RecoveryState => "recovery_state",
            Self::Load => "load",
            Self::LoadReported => "load_reported",
            Self::RingPackets => "ring_packets",
        }
    }
}

impl Series {
    /// None yet, of so many links, flows and processors.
    #[must_use]
    pub fn of(links: usize, flows: usize, processors: usize) -> Self {
        let width = LINK.len() * links + FLOW.len() * flows + PROCESSOR.len() * processors;
        Self { links: links as u32, flows: flows as u32, width, samples: Vec::new() }
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

    /// Adds the samples of other parts of the network.
    pub fn merge(&mut self, other: &Self) {
        self.samples.resize_with(self.samples.len().max(other.samples.len()), Vec::new);
        for (ours, theirs) in self.samples.iter_mut().zip(&other.samples) {
            if ours.is_empty() {
                ours.clone_from(theirs);
            }
            for (our, their) in ours.iter_mut().zip(theirs).filter(|(_, their)| !their.is_nan()) {
                *our = *their;
            }
        }
    }

    /// Gives all values that there are: by sample, then by entity, then by metric.
    pub fn each(&self, mut each: impl FnMut(Row)) {
        for (sample, values) in self.samples.iter().enumerate() {
            let (mut entity, mut place) = (0, 0);
            while place < values.len() {
                let (metrics, _) = self.places(entity);
                for (&metric, &value) in metrics.iter().zip(&values[place..]).filter(|(_, value)| !value.is_nan()) {
                    each(Row { sample, entity, metric, value });
                }
                (entity, place) = (entity + 1, place + metrics.len());
            }
        }
    }
}

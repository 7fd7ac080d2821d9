//! Time series: a sample of every link and every flow at a constant interval.

/// Samples in long form, column by column.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// When, in seconds.
    pub time_s: Vec<f64>,
    /// Index into the links, the flows and the processors, counted through in this order.
    pub entity: Vec<u32>,
    /// What.
    pub metric: Vec<Metric>,
    /// The sample.
    pub value: Vec<f64>,
}

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Packets waiting at a link, without the one in service.
    QueuePackets,
    /// Share of the past interval during which a link transmitted.
    Utilization,
    /// Packets that a link, or the input rings of a processor, dropped during the past interval.
    PacketsDropped,
    /// How long a packet would wait that joined the queue of a link now.
    QueueingDelayS,
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
    pub const ALL: [(Self, &'static str); 17] = [
        (Self::QueuePackets, "packets waiting at a link, without the one in service"),
        (Self::Utilization, "share of the past interval during which a link transmitted"),
        (
            Self::PacketsDropped,
            "packets that a link, or the input rings of a processor, dropped during the past interval",
        ),
        (Self::QueueingDelayS, "how long a packet would wait that joined the queue of a link now, in seconds"),
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
    /// The samples that were taken in several places: by time, then by entity, then by metric.
    #[must_use]
    pub fn in_order(parts: &[&Self]) -> Self {
        let rows = |part: usize| (0..parts[part].time_s.len()).map(move |row| (part, row));
        let mut order: Vec<(usize, usize)> = (0..parts.len()).flat_map(rows).collect();
        order.sort_by_key(|&(part, row)| {
            let Self { time_s, entity, metric, .. } = parts[part];
            // The bits of times, which are not negative, order as they do.
            (time_s[row].to_bits(), entity[row], metric[row] as u8)
        });
        let mut series = Self::default();
        for (part, row) in order {
            let Self { time_s, entity, metric, value } = parts[part];
            series.push(time_s[row], entity[row], metric[row], value[row]);
        }
        series
    }

    /// Adds a sample.
    pub fn push(&mut self, time_s: f64, entity: u32, metric: Metric, value: f64) {
        self.time_s.push(time_s);
        self.entity.push(entity);
        self.metric.push(metric);
        self.value.push(value);
    }
}

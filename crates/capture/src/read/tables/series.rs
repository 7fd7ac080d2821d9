//! The table ``series``: interfaces and protocols at the interval that was asked for, and the largest flows, each at
//! its own interval.

use tightlink_sim::tables::{Column, Table};

use super::{BITS, Flow, seconds};
use crate::read::quic::spin::Verdict;
use crate::read::totals::{self, Totals};

/// More rows of the series than this are not filled up with intervals in which nothing passed.
const MOST_FILLED: i64 = 1 << 21;

/// What is sampled.
#[derive(Clone, Copy)]
enum Metric {
    Throughput,
    PacketRate,
    InFlight,
    ReceiverWindow,
    Rtt,
    Sent,
    Acknowledged,
    Retransmitted,
}

impl Metric {
    /// In the order of the variants.
    const NAMES: [&str; 8] = [
        "throughput_bps",
        "packet_rate_pps",
        "in_flight_bytes",
        "receiver_window_bytes",
        "rtt_s",
        "sent_bytes",
        "acknowledged_bytes",
        "packets_retransmitted",
    ];
}

#[derive(Default)]
struct Rows {
    times: Vec<f64>,
    whose: Vec<u32>,
    what: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn push(&mut self, time_s: f64, entity: usize, metric: Metric, value: f64) {
        self.times.push(time_s);
        self.whose.push(entity as u32);
        self.what.push(metric as u32);
        self.values.push(value);
    }
}

/// Interfaces, called `names`, protocols and flows over time.
pub fn series(totals: &Totals, names: &[String], flows: &[Flow<'_>]) -> Table {
    let mut rows = Rows::default();
    let mut entities = of_totals(totals, names, &mut rows);
    for flow in flows {
        if of_flow(flow, entities.len(), &mut rows) {
            entities.push(flow.label());
        }
    }
    Table {
        columns: vec![
            ("time_s", Column::Float(rows.times)),
            ("entity", Column::Category(rows.whose, entities)),
            ("metric", Column::Category(rows.what, Metric::NAMES.map(str::to_owned).to_vec())),
            ("value", Column::Float(rows.values)),
        ],
    }
}

/// Rows of interfaces and protocols; returns what they are called.
fn of_totals(totals: &Totals, names: &[String], rows: &mut Rows) -> Vec<String> {
    let columns: Vec<totals::Column> = (0..totals.interfaces.len())
        .map(totals::Column::Interface)
        .chain((0..totals.protocols.len()).map(totals::Column::Protocol))
        .collect();
    let index = |at: &(i64, totals::Column)| at.0;
    let (from, to) = match (totals.bins.keys().next(), totals.bins.keys().next_back()) {
        (Some(first), Some(last)) => (index(first), index(last)),
        _ => (0, -1),
    };
    let span = to.saturating_sub(from).saturating_add(1);
    let filled = span.saturating_mul(columns.len() as i64) <= MOST_FILLED;
    let indices: Vec<i64> = if filled {
        (from..=to).collect()
    } else {
        let mut all: Vec<i64> = totals.bins.keys().map(index).collect();
        all.dedup();
        all
    };
    let lasts = seconds(totals.interval);
    for index in indices {
        for (entity, &column) in columns.iter().enumerate() {
            let (packets, bytes) = totals.bins.get(&(index, column)).copied().unwrap_or_default();
            let time_s = (index as f64 + 1.0) * lasts;
            rows.push(time_s, entity, Metric::Throughput, bytes as f64 * BITS / lasts);
            rows.push(time_s, entity, Metric::PacketRate, packets as f64 / lasts);
        }
    }
    let interfaces = names.iter().take(totals.interfaces.len()).cloned();
    interfaces.chain(totals.protocols.iter().map(|of| of.kind.name())).collect()
}

/// The mean of round trips by how many there are and their sum.
fn mean_s((count, sum): (u64, u64)) -> f64 {
    sum as f64 / count as f64 / 1e9
}

/// Rows of a flow; whether there are any.
fn of_flow(flow: &Flow<'_>, entity: usize, rows: &mut Rows) -> bool {
    let Some(samples) = flow.connection.samples.as_ref().map(|both| &both[flow.direction]) else { return false };
    let lasts = seconds(samples.interval);
    let spins = flow.quic().is_some_and(|quic| quic.verdict() == Verdict::Spins);
    let (mut sent, mut acked) = (0, 0);
    for (place, bin) in samples.bins.iter().enumerate() {
        let time_s = ((samples.first + place as i64) as f64 + 1.0) * lasts;
        rows.push(time_s, entity, Metric::Throughput, bin.bytes as f64 * BITS / lasts);
        if !flow.is_tcp() {
            if spins && bin.rtt.0 > 0 {
                rows.push(time_s, entity, Metric::Rtt, mean_s(bin.rtt));
            }
            continue;
        }
        // Nothing is known of intervals in which nothing was sent, no window told, or no round trip ended.
        if bin.in_flight > 0 {
            rows.push(time_s, entity, Metric::InFlight, f64::from(bin.in_flight));
        }
        if let Some(window) = bin.receiver_window {
            rows.push(time_s, entity, Metric::ReceiverWindow, f64::from(window));
        }
        if bin.rtt.0 > 0 {
            rows.push(time_s, entity, Metric::Rtt, mean_s(bin.rtt));
        }
        (sent, acked) = (bin.sent.max(sent), bin.acked.max(acked));
        rows.push(time_s, entity, Metric::Sent, sent as f64);
        rows.push(time_s, entity, Metric::Acknowledged, acked as f64);
        rows.push(time_s, entity, Metric::Retransmitted, bin.retransmitted as f64);
    }
    !samples.bins.is_empty()
}

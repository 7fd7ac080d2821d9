//! What was read of a trace, as tables with the names and columns of runs; a column of which a trace knows nothing is
//! left out.

use tightlink_sim::tables::{Column, Table};

use super::flows::Flow;
use super::line::{End, Event};
use super::links::Link;
use super::series::{METRICS, Series, Who};
use super::{Packets, Trace};

const BITS: f64 = 8.0;

/// The tables of a trace, by name.
pub fn tables(trace: Trace) -> Vec<(&'static str, Table)> {
    let numbers = trace.flows.numbers();
    let labels: Vec<String> = trace.flows.all.iter().map(label).collect();
    let names: Vec<String> = trace.links.all.iter().map(|link| format!("{}-{}", link.ends.0, link.ends.1)).collect();
    let mut tables = vec![
        ("flows", flows(&trace.flows.all, &numbers, &labels)),
        ("links", links(&trace.links.all, &names, trace.end_s, trace.rate_bps)),
        ("delays", delays(&trace.flows.all, &labels)),
        ("series", series(trace.series, &names, &labels)),
    ];
    if let Some(kept) = trace.packets {
        tables.push(("packets", packets(kept, &numbers)));
    }
    tables
}

fn label(flow: &Flow) -> String {
    let end = |(node, port): End| format!("{node}.{port}");
    format!("{}-{}", end(flow.source), end(flow.target))
}

fn flows(all: &[Flow], numbers: &[i64], labels: &[String]) -> Table {
    let floats = |value: fn(&Flow) -> f64| Column::Float(all.iter().map(value).collect());
    let counts = |value: fn(&Flow) -> u64| Column::Integer(all.iter().map(|flow| value(flow) as i64).collect());
    let texts = |value: fn(&Flow) -> String| Column::Text(all.iter().map(value).collect());
    let rate_bps = |flow: &Flow| {
        let lasts = flow.times.1 - flow.times.0;
        if lasts > 0.0 { flow.bytes_delivered as f64 * BITS / lasts } else { f64::NAN }
    };
    // Sequence numbers of datagrams say nothing of retransmissions.
    let again = |flow: &Flow| if flow.transport() == "tcp" { flow.retransmitted as f64 } else { f64::NAN };
    Table {
        columns: vec![
            ("flow", Column::Integer(numbers.to_vec())),
            ("label", Column::Text(labels.to_vec())),
            ("from", texts(|flow| flow.source.0.to_string())),
            ("to", texts(|flow| flow.target.0.to_string())),
            ("transport", texts(|flow| flow.transport().to_owned())),
            ("start_s", floats(|flow| flow.times.0)),
            ("stop_s", floats(|flow| flow.times.1)),
            ("packets_sent", counts(|flow| flow.sent)),
            ("packets_delivered", counts(|flow| flow.delivered)),
            ("packets_dropped", counts(|flow| flow.dropped)),
            ("packets_retransmitted", floats(again)),
            ("bytes_sent", counts(|flow| flow.bytes_sent)),
            ("bytes_delivered", counts(|flow| flow.bytes_delivered)),
            ("throughput_bps", floats(rate_bps)),
            ("one_way_delay_mean_s", floats(|flow| flow.one_way.mean_s())),
            ("one_way_delay_p50_s", floats(|flow| flow.one_way.quantile_s(0.5))),
            ("one_way_delay_p95_s", floats(|flow| flow.one_way.quantile_s(0.95))),
            ("one_way_delay_p99_s", floats(|flow| flow.one_way.quantile_s(0.99))),
            ("one_way_delay_max_s", floats(|flow| flow.one_way.most_s())),
            ("jitter_mean_s", floats(|flow| flow.one_way.jitter_mean_s())),
            // Old names, for a release.
            ("latency_mean_s", floats(|flow| flow.one_way.mean_s())),
            ("latency_max_s", floats(|flow| flow.one_way.most_s())),
        ],
    }
}

fn delays(all: &[Flow], labels: &[String]) -> Table {
    let steps = (0..).zip(all).flat_map(|(place, flow)| flow.one_way.steps().map(move |step| (place, step)));
    let rows: Vec<(u32, (f64, u64))> = steps.collect();
    Table {
        columns: vec![
            ("entity", Column::Category(rows.iter().map(|row| row.0).collect(), labels.to_vec())),
            ("delay", Column::Category(vec![0; rows.len()], vec!["one_way_delay".to_owned()])),
            ("at_most_s", Column::Float(rows.iter().map(|row| row.1.0).collect())),
            ("packets", Column::Integer(rows.iter().map(|row| row.1.1 as i64).collect())),
        ],
    }
}

fn links(all: &[Link], names: &[String], end_s: f64, rate_bps: Option<f64>) -> Table {
    let counts = |value: fn(&Link) -> u64| Column::Integer(all.iter().map(|link| value(link) as i64).collect());
    let texts = |value: fn(&Link) -> String| Column::Text(all.iter().map(value).collect());
    let busy = |link: &Link| rate_bps.map_or(f64::NAN, |rate_bps| link.bytes_out as f64 * BITS / rate_bps / end_s);
    Table {
        columns: vec![
            ("link", Column::Text(names.to_vec())),
            ("from", texts(|link| link.ends.0.to_string())),
            ("to", texts(|link| link.ends.1.to_string())),
            ("packets_in", counts(|link| link.packets_in)),
            ("packets_out", counts(|link| link.packets_out)),
            ("packets_dropped", counts(|link| link.dropped)),
            ("bytes_out", counts(|link| link.bytes_out)),
            ("utilization", Column::Float(all.iter().map(busy).collect())),
            ("queue_mean_packets", Column::Float(all.iter().map(|link| link.waiting_s / end_s).collect())),
            ("queue_max_packets", counts(|link| link.waiting_most)),
        ],
    }
}

fn series(series: Series, links: &[String], flows: &[String]) -> Table {
    let samples = series.samples;
    let code = |who: Who| match who {
        Who::Link(place) => place as u32,
        Who::Flow(place) => (links.len() + place) as u32,
    };
    let entities = links.iter().chain(flows).cloned().collect();
    Table {
        columns: vec![
            ("time_s", Column::Float(samples.iter().map(|one| one.time_s).collect())),
            ("entity", Column::Category(samples.iter().map(|one| code(one.who)).collect(), entities)),
            (
                "metric",
                Column::Category(samples.iter().map(|one| one.metric).collect(), METRICS.map(str::to_owned).to_vec()),
            ),
            ("value", Column::Float(samples.iter().map(|one| one.value).collect())),
        ],
    }
}

fn packets(packets: Packets, numbers: &[i64]) -> Table {
    let records = &packets.records;
    let texts = |value: fn((i64, i64)) -> i64| {
        let mut nodes: Vec<i64> = records.iter().map(|one| value(one.ends)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let codes = records.iter().map(|one| nodes.partition_point(|&node| node < value(one.ends)) as u32).collect();
        Column::Category(codes, nodes.iter().map(ToString::to_string).collect())
    };
    let event = |event: Event| match event {
        Event::Enqueue => 0,
        Event::Dequeue => 1,
        Event::Receive => 2,
        Event::Drop => 3,
    };
    let signs = Event::SIGNS.map(str::to_owned).to_vec();
    Table {
        columns: vec![
            ("event", Column::Category(records.iter().map(|one| event(one.event)).collect(), signs)),
            ("time_s", Column::Float(records.iter().map(|one| one.time_s).collect())),
            ("from", texts(|(from, _)| from)),
            ("to", texts(|(_, to)| to)),
            ("type", Column::Category(records.iter().map(|one| one.kind).collect(), packets.kinds)),
            ("size_bytes", Column::Integer(records.iter().map(|one| i64::from(one.size)).collect())),
            ("flow", Column::Integer(records.iter().map(|one| numbers[one.flow]).collect())),
            ("seq", Column::Integer(records.iter().map(|one| one.seq).collect())),
            ("uid", Column::Integer(records.iter().map(|one| one.uid as i64).collect())),
        ],
    }
}

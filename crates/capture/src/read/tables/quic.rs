//! What is not encrypted of connections of QUIC.

use tightlink_sim::tables::{Column, Table};

use super::Flow;
use crate::read::quantiles::Times;
use crate::read::quic::Quic;
use crate::read::quic::header::version_name;
use crate::read::quic::spin::Verdict;

/// A row for each flow of QUIC.
pub fn quic(flows: &[Flow<'_>]) -> Table {
    let flows: Vec<(usize, &Flow<'_>, &Quic)> =
        flows.iter().enumerate().filter_map(|(number, flow)| Some((number, flow, flow.quic()?))).collect();
    let count = |value: fn(&Quic, usize) -> u64| {
        Column::Integer(flows.iter().map(|(_, flow, quic)| value(quic, flow.direction) as i64).collect())
    };
    let float = |value: fn(&Quic, usize) -> f64| {
        Column::Float(flows.iter().map(|(_, flow, quic)| value(quic, flow.direction)).collect())
    };
    let text = |value: fn(&Quic, usize) -> String| {
        Column::Text(flows.iter().map(|(_, flow, quic)| value(quic, flow.direction)).collect())
    };
    let rtt: Vec<Times> = flows.iter().map(|(_, flow, quic)| quic.rtt(flow.direction)).collect();
    let behind: Vec<Times> = flows.iter().map(|(_, flow, quic)| quic.rtt_behind(flow.direction)).collect();
    let of = |times: &[Times], value: fn(&Times) -> f64| Column::Float(times.iter().map(value).collect());
    Table {
        columns: vec![
            ("flow", Column::Integer(flows.iter().map(|&(number, _, _)| number as i64).collect())),
            ("connection", Column::Integer(flows.iter().map(|(_, flow, _)| i64::from(flow.serial)).collect())),
            ("label", Column::Text(flows.iter().map(|(_, flow, _)| flow.label()).collect())),
            ("version", text(|quic, _| version_name(quic.version()))),
            ("sender", text(|quic, direction| sender(quic, direction).to_owned())),
            ("state", text(|quic, _| quic.state().to_owned())),
            ("version_negotiated", count(|quic, _| u64::from(quic.negotiated))),
            ("retries", count(|quic, _| quic.retries)),
            ("zero_rtt_packets", count(|quic, _| quic.early)),
            ("initial_rtt_s", float(|quic, _| quic.initial_rtt_s())),
            ("handshake_behind_s", float(Quic::handshake_behind_s)),
            ("spin_bit", text(|quic, _| spin_bit(quic).to_owned())),
            ("rtt_samples", Column::Integer(rtt.iter().map(|times| times.count as i64).collect())),
            ("rtt_mean_s", of(&rtt, Times::mean_s)),
            ("rtt_min_s", of(&rtt, Times::least_s)),
            ("rtt_median_s", of(&rtt, |times| times.quantile_s(0.5))),
            ("rtt_p95_s", of(&rtt, |times| times.quantile_s(0.95))),
            ("rtt_max_s", of(&rtt, Times::most_s)),
            ("rtt_behind_min_s", of(&behind, Times::least_s)),
            ("rtt_behind_median_s", of(&behind, |times| times.quantile_s(0.5))),
            ("rtt_behind_p95_s", of(&behind, |times| times.quantile_s(0.95))),
            ("spin_edges_ignored", count(|quic, direction| quic.spins[direction].ignored)),
            ("idle_s", float(|quic, _| quic.idle_s())),
        ],
    }
}

fn sender(quic: &Quic, direction: usize) -> &'static str {
    match quic.client {
        Some(client) if client == direction => "client",
        Some(_) => "server",
        None => "",
    }
}

fn spin_bit(quic: &Quic) -> &'static str {
    match quic.verdict() {
        Verdict::Spins => "spins",
        Verdict::Constant => "constant",
        Verdict::Random => "random",
        Verdict::Unknown => "",
    }
}

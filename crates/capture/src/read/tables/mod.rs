//! What was read, as tables with the names and columns of runs; a column of which a capture knows nothing is left out.
//! Times count from the first packet of the file.

mod packets;
mod quic;
mod series;
mod totals;

use std::collections::HashMap;

use tightlink_sim::tables::{Column, Table};

use super::analysis::Scale;
use super::capture::Capture;
use super::connection::{Connection, TCP};
use super::flows::Finished;
use super::frame::Nanoseconds;
use super::ip::{End, protocol_name};
use super::marks::Ecn;
use super::quantiles::Times;
use super::quic::Quic;
use super::quic::header::version_name;
use super::tunnel::Tunnels;
use super::way::Way;

const BITS: f64 = 8.0;

/// A flow: a direction of a connection that carries data, or the first of one that carries none.
struct Flow<'a> {
    serial: u32,
    direction: usize,
    connection: &'a Connection,
    /// The name of the tunnel through which its packets came; empty for none.
    tunnel: String,
}

impl Flow<'_> {
    fn way(&self) -> &Way {
        &self.connection.ways[self.direction]
    }

    fn back(&self) -> &Way {
        &self.connection.ways[1 - self.direction]
    }

    fn from(&self) -> End {
        if self.direction == 0 { self.connection.ends.first } else { self.connection.ends.second }
    }

    fn to(&self) -> End {
        if self.direction == 0 { self.connection.ends.second } else { self.connection.ends.first }
    }

    fn is_tcp(&self) -> bool {
        self.connection.ends.protocol == TCP
    }

    fn label(&self) -> String {
        let within = if self.tunnel.is_empty() { "" } else { " in " };
        format!("{}-{}{within}{}", end(self.from()), end(self.to()), self.tunnel)
    }

    fn quic(&self) -> Option<&Quic> {
        self.connection.quic()
    }

    /// TCP, QUIC with its version, or another protocol by name.
    fn transport(&self) -> String {
        let of_quic = self.quic().map(|quic| format!("quic {}", version_name(quic.version())));
        of_quic.unwrap_or_else(|| protocol_name(self.connection.ends.protocol))
    }

    /// Round trips as a sender takes them: of QUIC those of a spin bit that spins.
    fn rtt(&self) -> Times {
        match self.quic() {
            Some(quic) => quic.rtt(self.direction),
            None => self.way().clear_rtt(),
        }
    }

    /// Of TCP segments that were looked at, otherwise none.
    fn tcp(&self, count: u64) -> f64 {
        if self.is_tcp() && self.way().looked_at { count as f64 } else { f64::NAN }
    }

    fn rate_bps(&self, bytes: u64) -> f64 {
        let lasts = self.way().times.map_or(0, |(from, to)| to.saturating_sub(from));
        if lasts > 0 { bytes as f64 * BITS / seconds(lasts) } else { f64::NAN }
    }
}

/// The tables of a capture, by name.
pub fn tables(capture: Capture) -> Vec<(&'static str, Table)> {
    let Capture { totals: all, flows, tunnels, packets: kept, interfaces, copies, .. } = capture;
    let began = all.began.unwrap_or(0);
    let names = totals::names(&interfaces);
    let Finished { listed: connections, unlisted } = flows.finish();
    let flows = listed(&connections, &tunnels);
    let sizes: HashMap<u32, u64> = connections.iter().map(|(serial, one)| (*serial, one.packets())).collect();
    let pairs = copies.pairs(|serial| sizes.get(&serial).copied());
    let mut tables = vec![
        ("flows", flows_table(&flows, began)),
        ("connections", connections_table(&flows, &pairs)),
        ("links", totals::links(&interfaces, &all, &names)),
        ("interfaces", totals::interfaces(&interfaces, &all, &names, began)),
        ("protocols", totals::protocols(&all, &flows, &unlisted)),
        ("packet_sizes", totals::sizes(&all)),
        ("series", series::series(&all, &names, &flows)),
    ];
    if flows.iter().any(|flow| flow.quic().is_some()) {
        tables.push(("quic", quic::quic(&flows)));
    }
    if tunnels.used().next().is_some() {
        tables.push(("tunnels", totals::tunnels(&tunnels)));
    }
    if let Some(kept) = kept {
        let numbers = packets::Numbers::new(&flows);
        tables.push(("packets", packets::packets(&kept, &numbers, began)));
        tables.push(("findings", packets::findings(&kept, &numbers, began)));
    }
    tables
}

fn listed<'a>(connections: &'a [(u32, Connection)], tunnels: &Tunnels) -> Vec<Flow<'a>> {
    let mut flows: Vec<Flow<'_>> = Vec::new();
    for (serial, connection) in connections {
        let directions = connection.flows().into_iter();
        flows.extend(directions.map(|direction| {
            let tunnel = tunnels.name(connection.tunnels[direction]);
            Flow { serial: *serial, direction, connection, tunnel }
        }));
    }
    flows.sort_by_key(|flow| flow.way().first_packet);
    flows
}

fn flows_table(flows: &[Flow<'_>], began: Nanoseconds) -> Table {
    let floats = |value: fn(&Flow<'_>) -> f64| Column::Float(flows.iter().map(value).collect());
    let since = |pick: fn((Nanoseconds, Nanoseconds)) -> Nanoseconds| {
        let time = |flow: &Flow<'_>| flow.way().times.map_or(f64::NAN, |times| since_s(pick(times), began));
        Column::Float(flows.iter().map(time).collect())
    };
    let texts = |value: fn(&Flow<'_>) -> String| Column::Text(flows.iter().map(value).collect());
    let rtt: Vec<Times> = flows.iter().map(Flow::rtt).collect();
    let round_trip = |value: fn(&Times) -> f64| Column::Float(rtt.iter().map(value).collect());
    Table {
        columns: vec![
            ("flow", Column::Integer((0..flows.len() as i64).collect())),
            ("label", texts(|flow| flow.label())),
            ("from", texts(|flow| flow.from().0.to_string())),
            ("to", texts(|flow| flow.to().0.to_string())),
            ("transport", texts(|flow| flow.transport())),
            ("start_s", since(|(from, _)| from)),
            ("stop_s", since(|(_, to)| to)),
            ("packets_sent", floats(|flow| flow.way().own_packets as f64)),
            ("packets_retransmitted", floats(|flow| flow.tcp(flow.way().retransmitted))),
            ("packets_marked", floats(|flow| flow.way().marked as f64)),
            ("bytes_sent", floats(|flow| flow.way().own_bytes as f64)),
            ("goodput_bps", floats(|flow| flow.rate_bps(flow.way().delivered))),
            ("throughput_bps", floats(|flow| flow.rate_bps(flow.way().own_bytes))),
            ("rtt_mean_s", round_trip(Times::mean_s)),
            ("rtt_p50_s", round_trip(|times| times.quantile_s(0.5))),
            ("rtt_p95_s", round_trip(|times| times.quantile_s(0.95))),
            ("rtt_p99_s", round_trip(|times| times.quantile_s(0.99))),
            ("rtt_max_s", round_trip(Times::most_s)),
        ],
    }
}

fn connections_table(flows: &[Flow<'_>], pairs: &HashMap<u32, u32>) -> Table {
    let flows: Vec<(usize, &Flow<'_>)> = flows.iter().enumerate().filter(|(_, flow)| flow.is_tcp()).collect();
    let count = |value: fn(&Flow<'_>) -> u64| Column::Integer(flows.iter().map(|(_, one)| value(one) as i64).collect());
    let float = |value: fn(&Flow<'_>) -> f64| Column::Float(flows.iter().map(|(_, one)| value(one)).collect());
    let text = |value: fn(&Flow<'_>) -> String| Column::Text(flows.iter().map(|(_, one)| value(one)).collect());
    let rtt: Vec<Times> = flows.iter().map(|(_, one)| one.way().rtt()).collect();
    let round_trip = |value: fn(&Times) -> f64| Column::Float(rtt.iter().map(value).collect());
    let same = |flow: &Flow<'_>| pairs.get(&flow.serial).map_or(f64::NAN, |&serial| f64::from(serial));
    Table {
        columns: vec![
            ("flow", Column::Integer(flows.iter().map(|&(number, _)| number as i64).collect())),
            ("connection", Column::Integer(flows.iter().map(|(_, one)| i64::from(one.serial)).collect())),
            ("label", text(|flow| flow.label())),
            ("state", text(|flow| flow.connection.state().to_owned())),
            ("packets_captured", count(|flow| flow.way().packets)),
            ("bytes_captured", count(|flow| flow.way().bytes)),
            ("data_packets", count(|flow| flow.way().data_packets)),
            ("payload_bytes", count(|flow| flow.way().payload)),
            ("delivered_bytes", count(|flow| flow.way().delivered)),
            ("retransmitted_bytes", count(|flow| flow.way().retransmitted_bytes)),
            ("retransmissions", count(|flow| flow.way().counts.retransmissions)),
            ("fast_retransmissions", count(|flow| flow.way().counts.fast_retransmissions)),
            ("spurious_retransmissions", count(|flow| flow.way().counts.spurious_retransmissions)),
            ("out_of_order", count(|flow| flow.way().counts.out_of_order)),
            ("lost_segments", count(|flow| flow.way().counts.lost_segments)),
            ("window_full", count(|flow| flow.way().counts.window_full)),
            ("keep_alives", count(|flow| flow.way().counts.keep_alives)),
            ("window_reductions", count(|flow| flow.way().reduced)),
            ("acks", count(|flow| flow.back().packets)),
            ("duplicate_acks", count(|flow| flow.back().counts.duplicate_acks)),
            ("acked_unseen", count(|flow| flow.back().counts.acked_unseen)),
            ("zero_windows", count(|flow| flow.back().counts.zero_windows)),
            ("window_updates", count(|flow| flow.back().counts.window_updates)),
            ("window_max_bytes", count(|flow| u64::from(flow.back().window_most))),
            ("in_flight_max_bytes", count(|flow| u64::from(flow.way().in_flight_most))),
            ("initial_rtt_s", float(|flow| flow.connection.initial_rtt_s())),
            ("handshake_behind_s", float(|flow| flow.connection.handshake_behind_s(flow.direction))),
            ("rtt_samples", Column::Integer(rtt.iter().map(|times| times.count as i64).collect())),
            ("rtt_mean_s", round_trip(Times::mean_s)),
            ("rtt_min_s", round_trip(Times::least_s)),
            ("rtt_median_s", round_trip(|times| times.quantile_s(0.5))),
            ("rtt_p95_s", round_trip(|times| times.quantile_s(0.95))),
            ("rtt_max_s", round_trip(Times::most_s)),
            ("rtt_prompt_p95_s", float(|flow| flow.way().prompt_rtt.quantile_s(0.95))),
            ("rtt_echoed_min_s", float(|flow| flow.way().echoes.times.least_s())),
            ("rtt_echoed_median_s", float(|flow| flow.way().echoes.times.quantile_s(0.5))),
            ("rtt_echoed_p95_s", float(|flow| flow.way().echoes.times.quantile_s(0.95))),
            ("idle_s", float(|flow| flow.way().waits.idle as f64 / 1e9)),
            ("idle_beyond_rtt_s", float(|flow| flow.way().waits.idle_beyond as f64 / 1e9)),
            ("window_limited_s", float(|flow| flow.way().waits.window as f64 / 1e9)),
            ("mss_bytes", float(|flow| flow.back().options.and_then(|one| one.mss).map_or(f64::NAN, f64::from))),
            ("options", text(options)),
            ("copies", count(|flow| flow.way().copies.0)),
            ("ack_copy_delay_s", float(|flow| mean_s(flow.back().copies))),
            ("same_packets_as", Column::Float(flows.iter().map(|(_, one)| same(one)).collect())),
        ],
    }
}

/// What both ends agreed on; empty where the handshake was not seen.
fn options(flow: &Flow<'_>) -> String {
    let (Some(own), Some(other)) = (flow.way().options, flow.back().options) else { return String::new() };
    let mut agreed: Vec<String> = Vec::new();
    if own.sack && other.sack {
        agreed.push("sack".to_owned());
    }
    if own.timestamps && other.timestamps {
        agreed.push("timestamps".to_owned());
    }
    match flow.connection.ecn {
        Ecn::Classic => agreed.push("ecn".to_owned()),
        Ecn::Accurate => agreed.push("accurate ecn".to_owned()),
        Ecn::Unknown | Ecn::Asked => {}
    }
    if let Scale::By(shift) = flow.connection.scale(1 - flow.direction) {
        agreed.push(format!("window scale {}", 1_u32 << shift));
    }
    agreed.join(", ")
}

/// Of so many what they took in all.
fn mean_s((count, all): (u64, Nanoseconds)) -> f64 {
    if count > 0 { seconds(all) / count as f64 } else { f64::NAN }
}

fn end((address, port): End) -> String {
    match (port, address.is_v6()) {
        (None, _) => address.to_string(),
        (Some(port), true) => format!("[{address}]:{port}"),
        (Some(port), false) => format!("{address}:{port}"),
    }
}

fn seconds(nanoseconds: Nanoseconds) -> f64 {
    nanoseconds as f64 / 1e9
}

/// From the beginning of the capture on; before it where clocks differ.
fn since_s(time: Nanoseconds, began: Nanoseconds) -> f64 {
    seconds(time.saturating_sub(began))
}

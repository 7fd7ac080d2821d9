//! The tables of a run: totals of flows, links and nodes, and the time series.

mod completions;
mod distributions;
mod longer;

pub use completions::{Transferred, measured_completions};
pub use distributions::delays;

use std::borrow::Cow;

use crate::delays::{Delays, Summary};
use crate::hosts::Ends;
use crate::network::flow_delays::OneWay;
use crate::network::link::LongerByPosition;
use crate::network::node::Node;
use crate::network::server::ServerTotals;
use crate::network::topology::Paths;
use crate::probe::series::{METRICS, Row, Series};
use crate::samples::Moments;
use crate::scenario::{FlowSpec, ObserveFlows, Scenario, TransportSpec};
use crate::time::Time;
use crate::transport::accounting::{LIMITED_BY, LIMITS};

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; NaN where there is none.
    Float(Vec<f64>),
    /// Counts.
    Integer(Vec<i64>),
    /// Words.
    Text(Vec<String>),
    /// Words of which there are few: a number for each row and what it stands for.
    Category(Vec<u32>, Vec<String>),
}

/// A table: named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Columns in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    pub(crate) fn float(&mut self, name: &'static str, values: impl Iterator<Item = f64>) {
        self.columns.push((name, Column::Float(values.collect())));
    }

    pub(crate) fn integer(&mut self, name: &'static str, values: impl Iterator<Item = u64>) {
        self.columns.push((name, Column::Integer(values.map(|value| value as i64).collect())));
    }

    /// A column for each number of a summary.
    pub(crate) fn delays(&mut self, names: [&'static str; 5], summaries: impl Iterator<Item = Summary>) {
        let rows: Vec<[f64; 5]> = summaries.map(|summary| summary.values()).collect();
        for (place, name) in names.into_iter().enumerate() {
            self.float(name, rows.iter().map(|row| row[place]));
        }
    }

    pub(crate) fn text(&mut self, name: &'static str, values: impl Iterator<Item = String>) {
        self.columns.push((name, Column::Text(values.collect())));
    }
}

/// Columns of the one-way delays of a flow.
const ONE_WAY_DELAY: [&str; 5] = [
    "one_way_delay_mean_s",
    "one_way_delay_p50_s",
    "one_way_delay_p95_s",
    "one_way_delay_p99_s",
    "one_way_delay_max_s",
];
/// Columns of the queueing delays of a flow or a link.
const QUEUEING_DELAY: [&str; 5] = [
    "queueing_delay_mean_s",
    "queueing_delay_p50_s",
    "queueing_delay_p95_s",
    "queueing_delay_p99_s",
    "queueing_delay_max_s",
];
/// Columns of the round-trip times of a flow.
const RTT: [&str; 5] = ["rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s"];

/// What a link did, how many packets its wire lost, and how long packets waited.
pub type LinkRow = (ServerTotals, u64, Delays);

/// A run of flows whose totals are asked for, whatever ran it.
pub trait Finished {
    /// What was run.
    fn scenario(&self) -> &Scenario;
    /// What was simulated of it.
    fn until(&self) -> Time;
    /// The paths of flows.
    fn paths(&self) -> &Paths;
    /// Both ends of a flow.
    fn ends(&self, flow: usize) -> Ends<'_>;
    /// Delays of a flow's packets, and its round-trip times.
    fn delays(&self, flow: usize) -> (&OneWay, &Delays);
    /// Packets of a flow that were lost on their way.
    fn dropped(&self, flow: usize) -> u64;
    /// What a link did.
    fn link(&self, link: u32) -> LinkRow;
    /// What the changing delay of a link adds to those of packets.
    fn longer(&self, link: u32) -> Option<&LongerByPosition>;
    /// Packets that came out of a link, and those that its queue refused.
    fn delivered_and_refused(&self, link: u32) -> (u64, u64);
    /// Whether a link had something to transmit throughout, from `since` to `until`.
    fn busy_throughout(&self, link: u32, since: Time, until: Time) -> bool;
    /// The nodes with processors.
    fn processors(&self) -> impl Iterator<Item = &Node>;
    /// The samples that were taken, if the scenario asks for any.
    fn series(&self) -> Option<Cow<'_, Series>>;
}

/// What a flow, or a group of flows, did.
#[derive(Clone, Debug, Default)]
struct FlowTotals<'a> {
    start_s: f64,
    stop_s: f64,
    /// When the last of it arrived, if that is later: queues empty when nothing more is sent.
    arrived_s: f64,
    packets_sent: u64,
    packets_delivered: u64,
    packets_dropped: u64,
    packets_retransmitted: u64,
    packets_marked: u64,
    timeouts: u64,
    bytes_sent: u64,
    bytes_delivered: u64,
    payload_delivered: u64,
    one_way: Cow<'a, Delays>,
    /// What of these was spent in queues, where it is not what exceeds the empty path: of packets of several sizes, which
    /// is not known, of several flows, and where the delay of a link changes.
    queueing: Option<Delays>,
    jitter_count: u64,
    jitter_sum_s: f64,
    rtt: Cow<'a, Delays>,
    limited_by: [f64; LIMITS],
    /// Of UDP flows, the last three of video.
    datagram_flows: u64,
    loss_runs: u64,
    lost_in_runs: u64,
    longest_run: u64,
    rfc3550_jitter_s: f64,
    videos: u64,
    frames_sent: u64,
    frames_complete: u64,
    flows: u64,
    seconds: f64,
}

impl<'a> FlowTotals<'a> {
    /// Those of a flow; links whose delay changes add `longer_s` to the mean of its one-way delays.
    fn of(run: &'a impl Finished, index: usize, longer_s: Option<f64>) -> Self {
        let spec = &run.scenario().flows[index];
        let (duration_s, until_s) = (run.scenario().duration_s, run.until().seconds());
        let planned = spec.stop_s.min(duration_s);
        // Of a part of a run, flows that have not begun have no time.
        let planned = if until_s < duration_s { planned.min(until_s).max(spec.start_s) } else { planned };
        let mut totals = Self {
            start_s: spec.start_s,
            stop_s: planned,
            packets_dropped: run.dropped(index),
            flows: 1,
            ..Self::default()
        };
        match run.ends(index) {
            Ends::Tcp { sender, receiver, connection } => {
                let (sent, received) = (&sender.totals, &receiver.totals);
                totals.stop_s = sent.finished.map_or(planned, |time| time.seconds().min(planned));
                totals.packets_sent = sent.packets_sent;
                totals.packets_delivered = received.packets;
                totals.packets_retransmitted = sent.packets_retransmitted;
                totals.packets_marked = received.packets_marked;
                totals.timeouts = sent.timeouts;
                totals.bytes_sent = sent.bytes_sent;
                totals.bytes_delivered = received.bytes;
                totals.payload_delivered = connection.payload_through(receiver.in_order());
                totals.arrived_s = received.advanced.seconds();
                totals.limited_by = sender.limit_shares(Time::new(totals.stop_s));
            }
            Ends::Udp { source, sink } => {
                totals.packets_sent = source.packets_sent;
                totals.packets_delivered = sink.packets_delivered;
                totals.packets_marked = sink.packets_marked;
                totals.bytes_sent = source.bytes_sent;
                totals.bytes_delivered = sink.bytes_delivered;
                totals.payload_delivered = sink.payload_delivered;
                totals.arrived_s = sink.arrived.seconds();
                totals.datagram_flows = 1;
                let playout = sink.playout.settled();
                totals.loss_runs = playout.loss_runs;
                totals.lost_in_runs = playout.lost;
                totals.longest_run = playout.longest_run;
                totals.rfc3550_jitter_s = playout.jitter_s;
                if let Some(frames) = sink.frames() {
                    totals.videos = 1;
                    totals.frames_sent = frames.sent;
                    totals.frames_complete = frames.complete;
                }
                totals.limited_by = source.limit_shares(
                    |link, since| run.busy_throughout(link, since, Time::new(planned)),
                    Time::new(planned),
                );
                totals.queueing = source.is_mixed().then(Delays::default);
            }
        }
        let (one_way, rtt) = run.delays(index);
        (totals.one_way, totals.rtt) = (Cow::Borrowed(&one_way.delays), Cow::Borrowed(rtt));
        if let Some(longer_s) = longer_s.filter(|_| totals.queueing.is_none()) {
            let excess = one_way.delays.excess();
            let waited_s = mean(excess.sum_s, excess.count) - longer_s;
            totals.queueing = Some(Delays::of_mean(waited_s.max(0.0), excess.count));
        }
        totals.jitter_count = one_way.delays.count.saturating_sub(1);
        totals.jitter_sum_s = one_way.jitter_sum_s;
        totals.seconds = totals.stop_s - totals.start_s;
        totals
    }

    /// Adds another flow of the group. Shares of time are weighted by time.
    fn add(&mut self, other: &Self) {
        let seconds = self.seconds + other.seconds;
        for (share, more) in self.limited_by.iter_mut().zip(other.limited_by) {
            *share = if seconds > 0.0 { (*share * self.seconds + more * other.seconds) / seconds } else { 0.0 };
        }
        self.start_s = self.start_s.min(other.start_s);
        self.stop_s = self.stop_s.max(other.stop_s);
        self.arrived_s = self.arrived_s.max(other.arrived_s);
        self.packets_sent += other.packets_sent;
        self.packets_delivered += other.packets_delivered;
        self.packets_dropped += other.packets_dropped;
        self.packets_retransmitted += other.packets_retransmitted;
        self.packets_marked += other.packets_marked;
        self.timeouts += other.timeouts;
        self.bytes_sent += other.bytes_sent;
        self.bytes_delivered += other.bytes_delivered;
        self.payload_delivered += other.payload_delivered;
        let mut queueing = self.queueing.take().unwrap_or_else(|| self.one_way.excess());
        queueing.merge(&other.queueing());
        self.queueing = Some(queueing);
        self.one_way.to_mut().merge(&other.one_way);
        self.jitter_count += other.jitter_count;
        self.jitter_sum_s += other.jitter_sum_s;
        self.rtt.to_mut().merge(&other.rtt);
        self.datagram_flows += other.datagram_flows;
        self.loss_runs += other.loss_runs;
        self.lost_in_runs += other.lost_in_runs;
        self.longest_run = self.longest_run.max(other.longest_run);
        self.rfc3550_jitter_s += other.rfc3550_jitter_s;
        self.videos += other.videos;
        self.frames_sent += other.frames_sent;
        self.frames_complete += other.frames_complete;
        self.flows += other.flows;
        self.seconds = seconds;
    }

    fn queueing(&self) -> Delays {
        self.queueing.clone().unwrap_or_else(|| self.one_way.excess())
    }

    fn rate_bps(&self, bytes: u64) -> f64 {
        let seconds = self.stop_s.max(self.arrived_s) - self.start_s;
        if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
    }
}

pub(crate) fn mean(sum: f64, count: u64) -> f64 {
    if count > 0 { sum / count as f64 } else { f64::NAN }
}

/// A count, or nothing where nobody counts.
fn counted(count: u64, among: u64) -> f64 {
    if among > 0 { count as f64 } else { f64::NAN }
}

/// The tables of totals of a run of flows.
#[must_use]
pub fn totals(run: &impl Finished) -> Vec<(&'static str, Table)> {
    let mut tables = vec![("flows", flows(run)), ("links", links(run)), ("nodes", nodes(run))];
    tables.extend(completions::completions(run));
    tables.extend(delays(run).map(|delays| ("delays", delays)));
    tables
}

/// The rows of the `flows` table: of each flow, or of each group, as the scenario asks; of each group of transfers.
fn rows_of_flows(run: &impl Finished) -> Vec<(&FlowSpec, &str, FlowTotals<'_>)> {
    let scenario = run.scenario();
    let mut rows: Vec<(&FlowSpec, &str, FlowTotals<'_>)> = Vec::new();
    let (single, longer_s) = (scenario.single_flows(), longer::longer_s(run));
    let totals = |index: usize| FlowTotals::of(run, index, longer_s.get(&(index as u32)).copied());
    for (index, spec) in scenario.flows.iter().enumerate() {
        match scenario.observe.flows {
            ObserveFlows::None => break,
            ObserveFlows::Each if index < single => rows.push((spec, &spec.label, totals(index))),
            ObserveFlows::Each | ObserveFlows::Group => {
                let totals = totals(index);
                // Flows of a group may stand apart, but transfers stand together, and are many.
                match rows.iter_mut().rev().find(|(known, ..)| known.group == spec.group) {
                    Some((.., sum)) => sum.add(&totals),
                    None => rows.push((spec, &spec.group, totals)),
                }
            }
        }
    }
    rows
}

/// The `flows` table.
#[must_use]
pub fn flows(run: &impl Finished) -> Table {
    let (scenario, rows) = (run.scenario(), rows_of_flows(run));
    let node = |index: u32| scenario.nodes[index as usize].name.clone();
    let totals = || rows.iter().map(|(.., totals)| totals);
    let specs = || rows.iter().map(|(spec, ..)| *spec);
    let mut table = Table::default();
    table.integer("flow", 0..rows.len() as u64);
    table.text("label", rows.iter().map(|(_, label, _)| (*label).to_owned()));
    table.text("from", specs().map(|spec| node(spec.from)));
    table.text("to", specs().map(|spec| node(spec.to)));
    table.text("transport", specs().map(|spec| transport_name(spec).to_owned()));
    table.text("congestion", specs().map(|spec| congestion_name(spec).to_owned()));
    table.float("start_s", totals().map(|t| t.start_s));
    table.float("stop_s", totals().map(|t| t.stop_s));
    table.integer("packets_sent", totals().map(|t| t.packets_sent));
    table.integer("packets_delivered", totals().map(|t| t.packets_delivered));
    table.integer("packets_dropped", totals().map(|t| t.packets_dropped));
    table.integer("packets_retransmitted", totals().map(|t| t.packets_retransmitted));
    table.integer("packets_marked", totals().map(|t| t.packets_marked));
    table.integer("timeouts", totals().map(|t| t.timeouts));
    table.integer("bytes_sent", totals().map(|t| t.bytes_sent));
    table.integer("bytes_delivered", totals().map(|t| t.bytes_delivered));
    table.float("goodput_bps", totals().map(|t| t.rate_bps(t.payload_delivered)));
    table.float("throughput_bps", totals().map(|t| t.rate_bps(t.bytes_delivered)));
    let one_way: Vec<Summary> = totals().map(|t| t.one_way.summary()).collect();
    table.delays(ONE_WAY_DELAY, one_way.iter().copied());
    table.delays(QUEUEING_DELAY, totals().map(|t| t.queueing().summary()));
    table.float("jitter_mean_s", totals().map(|t| mean(t.jitter_sum_s, t.jitter_count)));
    table.delays(RTT, totals().map(|t| t.rtt.summary()));
    for (index, column) in LIMITED_BY.into_iter().enumerate() {
        table.float(column, totals().map(|t| t.limited_by[index]));
    }
    table.float("jitter_rfc3550_s", totals().map(|t| mean(t.rfc3550_jitter_s, t.datagram_flows)));
    table.float("loss_runs", totals().map(|t| counted(t.loss_runs, t.datagram_flows)));
    table.float("loss_run_mean_packets", totals().map(|t| mean(t.lost_in_runs as f64, t.loss_runs)));
    table.float("loss_run_max_packets", totals().map(|t| counted(t.longest_run, t.datagram_flows)));
    table.float("frames_sent", totals().map(|t| counted(t.frames_sent, t.videos)));
    table.float("frames_complete", totals().map(|t| counted(t.frames_complete, t.videos)));
    // Old names, for a release.
    table.float("latency_mean_s", one_way.iter().map(|delays| delays.mean_s));
    table.float("latency_max_s", one_way.iter().map(|delays| delays.max_s));
    table
}

fn transport_name(spec: &FlowSpec) -> &'static str {
    match spec.transport {
        TransportSpec::Tcp(_) => "tcp",
        TransportSpec::Udp(_) => "udp",
    }
}

fn congestion_name(spec: &FlowSpec) -> &str {
    match &spec.transport {
        TransportSpec::Tcp(tcp) => &tcp.congestion.kind,
        TransportSpec::Udp(_) => "",
    }
}

/// The `links` table: a row for each direction of each link.
#[must_use]
pub fn links(run: &impl Finished) -> Table {
    let (scenario, duration_s) = (run.scenario(), run.until().seconds());
    let rows: Vec<LinkRow> = (0..scenario.links.len() as u32).map(|link| run.link(link)).collect();
    let node = |index: u32| scenario.nodes[index as usize].name.clone();
    let mut table = Table::default();
    table.text("link", scenario.links.iter().map(|link| link.name.clone()));
    table.text("from", scenario.links.iter().map(|link| node(link.from)));
    table.text("to", scenario.links.iter().map(|link| node(link.to)));
    table.integer("packets_in", rows.iter().map(|(t, ..)| t.packets_in));
    table.integer("packets_out", rows.iter().map(|(t, ..)| t.packets_out));
    table.integer("packets_dropped", rows.iter().map(|(t, lost, _)| t.packets_dropped + lost));
    table.integer("packets_lost", rows.iter().map(|&(_, lost, _)| lost));
    table.integer("packets_marked", rows.iter().map(|(t, ..)| t.packets_marked));
    table.integer("bytes_out", rows.iter().map(|(t, ..)| t.bytes_out));
    table.float("utilization", rows.iter().map(|(t, ..)| t.utilization(duration_s)));
    table.float("queue_mean_packets", rows.iter().map(|(t, ..)| t.waiting_s / duration_s));
    table.integer("queue_max_packets", rows.iter().map(|(t, ..)| t.queue_max_packets));
    table.delays(QUEUEING_DELAY, rows.iter().map(|row| row.2.summary()));
    table
}

/// What happened at one node.
#[derive(Clone, Copy, Debug)]
struct NodeTotals {
    packets_in: u64,
    packets_served: u64,
    dropped_input_ring: u64,
    dropped_output_ring: u64,
    load_true: f64,
    load_reported: f64,
}

/// The `nodes` table: of a node with a processor, what it was offered and what it did with it; of others,
/// what came in by links, which they serve at once.
#[must_use]
pub fn nodes(run: &impl Finished) -> Table {
    let (scenario, until_s) = (run.scenario(), run.until().seconds());
    let mut arrived = vec![0u64; scenario.nodes.len()];
    let mut refused = vec![0u64; scenario.nodes.len()];
    for (index, spec) in (0..).zip(&scenario.links) {
        let (came_out, not_taken) = run.delivered_and_refused(index);
        arrived[spec.to as usize] += came_out;
        refused[spec.from as usize] += not_taken;
    }
    let without = |packets| NodeTotals {
        packets_in: packets,
        packets_served: packets,
        dropped_input_ring: 0,
        dropped_output_ring: 0,
        load_true: f64::NAN,
        load_reported: f64::NAN,
    };
    let mut rows: Vec<NodeTotals> = arrived.into_iter().map(without).collect();
    for node in run.processors() {
        let Some(spec) = &scenario.nodes[node.index as usize].processor else { continue };
        let totals = node.processor.totals();
        rows[node.index as usize] = NodeTotals {
            packets_in: totals.packets_in,
            packets_served: totals.packets_served,
            dropped_input_ring: totals.packets_dropped,
            dropped_output_ring: if spec.output_ring { refused[node.index as usize] } else { 0 },
            load_true: node.processor.demand_s(until_s, spec) / until_s,
            load_reported: node.processor.reading(until_s).unwrap_or(f64::NAN),
        };
    }
    let mut table = Table::default();
    table.text("node", scenario.nodes.iter().map(|node| node.name.clone()));
    table.integer("packets_in", rows.iter().map(|row| row.packets_in));
    table.integer("packets_served", rows.iter().map(|row| row.packets_served));
    table.integer("dropped_input_ring", rows.iter().map(|row| row.dropped_input_ring));
    table.integer("dropped_output_ring", rows.iter().map(|row| row.dropped_output_ring));
    table.float("load_true", rows.iter().map(|row| row.load_true));
    table.float("load_reported", rows.iter().map(|row| row.load_reported));
    table
}

/// The `series` table, in long form; nothing if the scenario asks for none.
#[must_use]
pub fn series(run: &impl Finished) -> Option<Table> {
    let (scenario, series) = (run.scenario(), run.series()?);
    let processors = run.processors().map(|node| &scenario.nodes[node.index as usize].name);
    let names = scenario
        .links
        .iter()
        .map(|link| &link.name)
        .chain(scenario.flows[..scenario.single_flows()].iter().map(|flow| &flow.label));
    let entities = names.chain(processors).cloned();
    let (mut times_s, mut of, mut what, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let moments = Moments::of(scenario)?;
    series.each(|Row { sample, entity, metric, value }| {
        times_s.push(moments.at(sample as u64).seconds());
        of.push(entity);
        what.push(metric as u32);
        values.push(value);
    });
    let mut table = Table::default();
    table.columns.push(("time_s", Column::Float(times_s)));
    table.columns.push(("entity", Column::Category(of, entities.collect())));
    let names = METRICS.iter().map(|(name, _)| (*name).to_owned()).collect();
    table.columns.push(("metric", Column::Category(what, names)));
    table.columns.push(("value", Column::Float(values)));
    Some(table)
}

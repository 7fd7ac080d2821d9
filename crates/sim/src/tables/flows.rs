//! The table of what flows, and groups of flows, did.

use std::borrow::Cow;
use std::collections::HashMap;

use super::longer::longer_s;
use super::{Finished, QUEUEING_DELAY, Table, mean};
use crate::delays::{Delays, Summary};
use crate::hosts::Ends;
use crate::scenario::{FlowSpec, ObserveFlows, Scenario, TransportSpec};
use crate::time::Time;
use crate::transport::accounting::{LIMITED_BY, LIMITS};

/// Columns of the one-way delays of a flow.
const ONE_WAY_DELAY: [&str; 5] = [
    "one_way_delay_mean_s",
    "one_way_delay_p50_s",
    "one_way_delay_p95_s",
    "one_way_delay_p99_s",
    "one_way_delay_max_s",
];
/// Columns of the round-trip times of a flow.
const RTT: [&str; 5] = ["rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s"];

/// What a flow, or a group of flows, did.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowTotals<'a> {
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
    pub(super) one_way: Cow<'a, Delays>,
    /// What of these was spent in queues, where it is not what exceeds one delay of the empty path: of packets of several
    /// sizes, of several flows, and where the delay of a link changes.
    queueing: Option<Cow<'a, Delays>>,
    jitter_count: u64,
    jitter_sum_s: f64,
    pub(super) rtt: Cow<'a, Delays>,
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
        let ends = run.ends(index);
        match ends {
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
                totals.rtt = Cow::Borrowed(&sender.rtts);
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
            }
        }
        let one_way = ends.one_way();
        (totals.one_way, totals.queueing) = (one_way.distribution(), one_way.waits());
        if let Some(longer_s) = longer_s {
            let excess = totals.queueing();
            let waited_s = mean(excess.sum_s, excess.count) - longer_s;
            totals.queueing = Some(Cow::Owned(Delays::of_mean(waited_s.max(0.0), excess.count)));
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
        let mut queueing = self.queueing().into_owned();
        queueing.merge(&other.queueing());
        self.queueing = Some(Cow::Owned(queueing));
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

    pub(super) fn queueing(&self) -> Cow<'_, Delays> {
        self.queueing.as_deref().map_or_else(|| Cow::Owned(self.one_way.excess()), Cow::Borrowed)
    }

    /// Has room for one-way delays that are shorter than its own: from `base_s` on.
    fn begin_at(&mut self, base_s: f64) {
        if base_s < self.one_way.base_s() {
            self.queueing = Some(Cow::Owned(self.queueing().into_owned()));
            let mut one_way = Delays::above(base_s);
            one_way.merge(&self.one_way);
            self.one_way = Cow::Owned(one_way);
        }
    }

    fn rate_bps(&self, bytes: u64) -> f64 {
        let seconds = self.stop_s.max(self.arrived_s) - self.start_s;
        if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
    }
}

/// A count, or nothing where nobody counts.
fn counted(count: u64, among: u64) -> f64 {
    if among > 0 { count as f64 } else { f64::NAN }
}

/// How a row is called that a flow is a part of, and whether others are, too; nothing if there are no rows.
fn row_of<'a>(scenario: &'a Scenario, single: usize, (index, spec): (usize, &'a FlowSpec)) -> Option<(&'a str, bool)> {
    match scenario.observe.flows {
        ObserveFlows::None => None,
        ObserveFlows::Each if index < single => Some((&spec.label, false)),
        ObserveFlows::Each | ObserveFlows::Group => Some((&spec.group, true)),
    }
}

/// The rows of the `flows` table: of each flow, or of each group, as the scenario asks; of each group of transfers.
pub(super) fn rows_of_flows(run: &impl Finished) -> Vec<(&FlowSpec, &str, FlowTotals<'_>)> {
    let scenario = run.scenario();
    let mut rows: Vec<(&FlowSpec, &str, FlowTotals<'_>)> = Vec::new();
    let (single, longer_s) = (scenario.single_flows(), longer_s(run));
    let totals = |index: usize| FlowTotals::of(run, index, longer_s.get(&(index as u32)).copied());
    let named =
        |(index, spec)| row_of(scenario, single, (index, spec)).map(|(label, joint)| (index, spec, label, joint));
    let flows = || scenario.flows.iter().enumerate().filter_map(named);
    // The shortest delay that there can be of each group.
    let mut bases_s: HashMap<&str, f64> = HashMap::new();
    for (index, _, label, _) in flows().filter(|(.., joint)| *joint) {
        let base_s = run.ends(index).one_way().distribution().base_s();
        bases_s.entry(label).and_modify(|least_s| *least_s = least_s.min(base_s)).or_insert(base_s);
    }
    // The last row of each group: flows of a group may stand apart, and groups be many.
    let mut last_of: HashMap<&str, usize> = HashMap::new();
    for (index, spec, label, joint) in flows() {
        let mut own = totals(index);
        if joint {
            if let Some(&row) = last_of.get(label) {
                rows[row].2.add(&own);
                continue;
            }
            own.begin_at(bases_s[label]);
            last_of.insert(label, rows.len());
        }
        rows.push((spec, label, own));
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

//! The tables of a run with users or scattered datagrams.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;

use super::EpochSimulation;
use super::region::Counted;
use super::scatter::ScatterCounts;
use super::users::counts::{Kind, Row, Transfers, WINDOW_UNIT};
use crate::hosts::Ends;
use crate::network::link::LongerByPosition;
use crate::network::node::Node;
use crate::network::topology::Paths;
use crate::probe::series::Series;
use crate::scenario::Scenario;
use crate::tables::{self, Finished, LinkRow, Table, mean};
use crate::time::Time;

const NS: f64 = 1e-9;

impl EpochSimulation<'_> {
    /// All tables of the run, with their names.
    #[must_use]
    pub fn tables(&self) -> Vec<(&'static str, Table)> {
        let mut tables = if self.scenario.flows.is_empty() {
            let delays = tables::delays(self).map(|delays| ("delays", delays));
            iter::once(("links", tables::links(self))).chain(delays).collect()
        } else {
            tables::totals(self)
        };
        tables.extend(tables::series(self).map(|series| ("series", series)));
        let counted = self.counted();
        if !self.groups.is_empty() {
            tables.push(("users", self.users(&counted)));
            tables.push(("user_paths", self.user_paths(&counted)));
            tables.push(("transfers", self.transfers(&counted)));
            tables.push(("long_lived", self.long_lived(&counted)));
        }
        if !self.scenario.scatter.is_empty() {
            tables.push(("scatter", self.scatter()));
        }
        tables
    }

    /// The rows of each group, with the group's label and the end of the interval.
    fn rows<'b>(&'b self, counted: &'b [Counted]) -> Vec<(&'b str, f64, &'b Row)> {
        let mut rows = Vec::new();
        for (group, counted) in self.groups.iter().zip(counted) {
            for (index, row) in counted.rows.iter().enumerate() {
                rows.push((group.spec.label.as_str(), self.end_of_interval(index), row));
            }
        }
        rows
    }

    /// When an interval ends, in seconds.
    fn end_of_interval(&self, index: usize) -> f64 {
        let end_s = self.simulated_s();
        self.scenario.observe.interval_s.map_or(end_s, |interval_s| (interval_s * (index + 1) as f64).min(end_s))
    }

    fn users(&self, counted: &[Counted]) -> Table {
        let rows = self.rows(counted);
        let counts = || rows.iter().map(|row| &row.2.counts);
        let states = || rows.iter().map(|row| &row.2.states);
        let mut table = Table::default();
        table.float("time_s", rows.iter().map(|row| row.1));
        table.text("label", rows.iter().map(|row| row.0.to_owned()));
        table.integer("sources_transmitting", states().map(|s| s.transmitting));
        table.integer("sources_connecting", states().map(|s| s.connecting));
        table.integer("sources_thinking", states().map(|s| s.thinking));
        table.integer("packets_sent", counts().map(|c| c.sent));
        table.integer("packets_delivered", counts().map(|c| c.delivered));
        table.integer("transfers_completed", counts().map(|c| c.completed));
        table.integer("connections_failed", counts().map(|c| c.failed));
        table.integer("transfers_abandoned", counts().map(|c| c.abandoned));
        table.integer("packets_retransmitted", counts().map(|c| c.retransmitted));
        table.integer("window_increases", counts().map(|c| c.increases));
        table.integer("duplicate_acks", counts().map(|c| c.duplicates));
        table.integer("timeouts", counts().map(|c| c.timeouts));
        table.float("cwnd_mean_packets", states().map(|s| mean(s.windows as f64 * WINDOW_UNIT, s.transmitting)));
        table.float("rtt_mean_s", counts().map(|c| mean(c.rtt_ns as f64 * NS, c.rtt_samples)));
        table.float("queueing_delay_mean_s", counts().map(|c| mean(c.queueing_ns as f64 * NS, c.rtt_samples)));
        table
    }

    fn user_paths(&self, counted: &[Counted]) -> Table {
        let mut rows = Vec::new();
        for (group, counted) in self.groups.iter().zip(counted) {
            let names = group.path_names();
            for (index, row) in counted.rows.iter().enumerate() {
                for (path, name) in names.iter().enumerate() {
                    let transmitting = row.states.by_path.get(path).copied().unwrap_or_default();
                    let delivered = row.counts.by_path.get(path).copied().unwrap_or_default();
                    rows.push((self.end_of_interval(index), &group.spec.label, name.clone(), transmitting, delivered));
                }
            }
        }
        let mut table = Table::default();
        table.float("time_s", rows.iter().map(|row| row.0));
        table.text("label", rows.iter().map(|row| row.1.clone()));
        table.text("path", rows.iter().map(|row| row.2.clone()));
        table.integer("sources_transmitting", rows.iter().map(|row| row.3));
        table.integer("packets_delivered", rows.iter().map(|row| row.4));
        table
    }

    fn transfers(&self, counted: &[Counted]) -> Table {
        let mut rows: Vec<(usize, Kind, Transfers)> = Vec::new();
        for (group, counted) in counted.iter().enumerate() {
            let sorted: BTreeMap<Kind, Transfers> = counted.by_kind.iter().map(|(kind, sum)| (*kind, *sum)).collect();
            rows.extend(sorted.into_iter().map(|(kind, sum)| (group, kind, sum)));
        }
        let specs = || rows.iter().map(|(group, kind, _)| (&self.groups[*group], kind));
        let sums = || rows.iter().map(|row| &row.2);
        let or = |name: Option<&String>, other: &str| name.cloned().unwrap_or_else(|| other.to_owned());
        let periods = &self.scenario.observe.periods;
        let mut table = Table::default();
        table.text("label", specs().map(|(group, _)| group.spec.label.clone()));
        table.text("period", specs().map(|(_, kind)| or(periods.get(kind.period as usize).map(|p| &p.name), "")));
        let file = |(group, kind): (&std::sync::Arc<super::Group>, &Kind)| {
            or(group.spec.files.get(kind.file as usize).map(|file| &file.name), "crowd")
        };
        table.text("file", specs().map(file));
        table.text("path", specs().map(|(group, kind)| group.path_names().swap_remove(kind.path as usize)));
        table.text(
            "interface",
            specs().map(|(group, kind)| group.spec.interfaces[kind.interface as usize].name.clone()),
        );
        table.text(
            "congestion",
            specs().map(|(group, kind)| group.spec.controls[kind.control as usize].congestion.kind.clone()),
        );
        table.integer("completed", sums().map(|t| t.completed));
        table.integer("packets", sums().map(|t| t.packets));
        table.float("seconds", sums().map(|t| t.ns as f64 * NS));
        table.float("throughput_mean_pps", sums().map(|t| mean(t.rate_mpps as f64 * 1e-3, t.completed)));
        table.integer("packets_retransmitted", sums().map(|t| t.retransmitted));
        table
    }

    fn long_lived(&self, counted: &[Counted]) -> Table {
        let mut rows = Vec::new();
        for (group, counted) in self.groups.iter().zip(counted) {
            for (index, row) in counted.rows.iter().enumerate() {
                for (flow, spec) in group.spec.long_lived.iter().enumerate() {
                    let delivered = row.counts.by_long_lived.get(flow).copied().unwrap_or_default();
                    rows.push((self.end_of_interval(index), &group.spec.label, &spec.name, delivered));
                }
            }
        }
        let mut table = Table::default();
        table.float("time_s", rows.iter().map(|row| row.0));
        table.text("label", rows.iter().map(|row| row.1.clone()));
        table.text("flow", rows.iter().map(|row| row.2.clone()));
        table.integer("packets_delivered", rows.iter().map(|row| row.3));
        table
    }

    fn scatter(&self) -> Table {
        let mut rows: Vec<(f64, &str, ScatterCounts, u64)> = Vec::new();
        for (index, spec) in self.scenario.scatter.iter().enumerate() {
            let mut in_network = 0_u64;
            for (interval, counts) in self.scatter_counts(index).into_iter().enumerate() {
                in_network = in_network + counts.sent + counts.duplicated - counts.delivered - counts.dropped;
                rows.push((self.end_of_interval(interval), &spec.label, counts, in_network));
            }
        }
        let counts = || rows.iter().map(|row| &row.2);
        let mut table = Table::default();
        table.float("time_s", rows.iter().map(|row| row.0));
        table.text("label", rows.iter().map(|row| row.1.to_owned()));
        table.integer("packets_sent", counts().map(|c| c.sent));
        table.integer("packets_delivered", counts().map(|c| c.delivered));
        table.integer("packets_dropped", counts().map(|c| c.dropped));
        table.integer("packets_in_network", rows.iter().map(|row| row.3));
        table.float("one_way_delay_mean_s", counts().map(|c| mean(c.latency_ns as f64 * NS, c.delivered)));
        table.float("hops_mean", counts().map(|c| mean(c.hops as f64, c.delivered)));
        // Its old name, for a release.
        table.float("latency_mean_s", counts().map(|c| mean(c.latency_ns as f64 * NS, c.delivered)));
        table
    }
}

impl Finished for EpochSimulation<'_> {
    fn scenario(&self) -> &Scenario {
        self.scenario
    }

    fn until(&self) -> Time {
        Time::new(self.simulated_s())
    }

    fn paths(&self) -> &Paths {
        &self.paths.paths
    }

    fn ends(&self, flow: usize) -> Ends<'_> {
        self.sending(flow).hosts.ends_with(&self.receiving(flow).hosts, flow)
    }

    fn dropped(&self, flow: usize) -> u64 {
        self.regions.iter().filter_map(|region| region.flows.as_ref()).map(|flows| flows.dropped[flow]).sum()
    }

    fn link(&self, link: u32) -> LinkRow {
        let link = self.at_work(link);
        (link.until(self.until(), link.totals()), link.packets_lost(), link.queueing())
    }

    fn longer(&self, link: u32) -> Option<&LongerByPosition> {
        self.at_work(link).longer()
    }

    fn delivered_and_refused(&self, link: u32) -> (u64, u64) {
        let link = self.at_work(link);
        (link.packets_delivered(), link.refused())
    }

    fn busy_throughout(&self, link: u32, since: Time, until: Time) -> bool {
        self.at_work(link).server.busy_throughout(since, until)
    }

    fn processors(&self) -> impl Iterator<Item = &Node> {
        self.nodes_at_work()
    }

    fn series(&self) -> Option<Cow<'_, Series>> {
        Series::merged(self.regions.iter().filter_map(|region| Some(&region.samples.as_ref()?.series)))
    }
}

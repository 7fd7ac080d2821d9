//! The tables of a run: totals of flows, links and nodes, and the time series.

mod completions;
mod distributions;
mod flows;
mod longer;
mod nodes;
mod series;

pub use completions::{Transferred, measured_completions};
pub use distributions::delays;
pub use flows::flows;
pub use nodes::nodes;
pub use series::series;

use std::borrow::Cow;

use crate::delays::{Delays, Summary};
use crate::hosts::Ends;
use crate::network::link::LongerByPosition;
use crate::network::node::Node;
use crate::network::server::ServerTotals;
use crate::network::topology::Paths;
use crate::probe::series::Series;
use crate::scenario::Scenario;
use crate::time::Time;

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
    /// A column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
    }

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

/// Columns of the queueing delays of a flow or a link.
const QUEUEING_DELAY: [&str; 5] = [
    "queueing_delay_mean_s",
    "queueing_delay_p50_s",
    "queueing_delay_p95_s",
    "queueing_delay_p99_s",
    "queueing_delay_max_s",
];
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

pub(crate) fn mean(sum: f64, count: u64) -> f64 {
    if count > 0 { sum / count as f64 } else { f64::NAN }
}

/// The tables of totals of a run of flows.
#[must_use]
pub fn totals(run: &impl Finished) -> Vec<(&'static str, Table)> {
    let mut tables = vec![("flows", flows(run)), ("links", links(run)), ("nodes", nodes(run))];
    tables.extend(completions::completions(run));
    tables.extend(delays(run).map(|delays| ("delays", delays)));
    tables
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

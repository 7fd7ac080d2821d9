//! The table of how delays are distributed.

use super::flows::rows_of_flows;
use super::{Column, Finished, Table};
use crate::delays::Delays;

/// What is distributed, by the names that the columns of its mean and quantiles begin with.
const OF: [&str; 3] = ["one_way_delay", "queueing_delay", "rtt"];

/// The `delays` table: how many packets of each flow, or group, and of each link took how long; nothing if the scenario does
/// not ask for it.
#[must_use]
pub fn delays(run: &impl Finished) -> Option<Table> {
    let scenario = run.scenario();
    if !scenario.observe.delays {
        return None;
    }
    let flows = rows_of_flows(run);
    let names = flows.iter().map(|(_, label, _)| *label).chain(scenario.links.iter().map(|link| &*link.name));
    let names = names.map(str::to_owned).collect();
    let mut steps = Steps::default();
    for (entity, (.., totals)) in (0..).zip(&flows) {
        steps.add(entity, 0, &totals.one_way);
        steps.add(entity, 1, &totals.queueing());
        steps.add(entity, 2, &totals.rtt);
    }
    for link in 0..scenario.links.len() as u32 {
        steps.add(flows.len() as u32 + link, 1, &run.link(link).2);
    }
    let mut table = Table::default();
    table.columns.push(("entity", Column::Category(steps.entities, names)));
    table.columns.push(("delay", Column::Category(steps.of, OF.map(str::to_owned).into())));
    table.columns.push(("at_most_s", Column::Float(steps.at_most_s)));
    table.columns.push(("packets", Column::Integer(steps.counts)));
    Some(table)
}

/// The rows, by column.
#[derive(Default)]
struct Steps {
    entities: Vec<u32>,
    of: Vec<u32>,
    at_most_s: Vec<f64>,
    counts: Vec<i64>,
}

impl Steps {
    fn add(&mut self, entity: u32, of: u32, delays: &Delays) {
        for (at_most_s, count) in delays.steps() {
            self.entities.push(entity);
            self.of.push(of);
            self.at_most_s.push(at_most_s);
            self.counts.push(count as i64);
        }
    }
}

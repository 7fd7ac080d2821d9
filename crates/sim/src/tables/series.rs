//! The table of samples over time.

use super::{Column, Finished, Table};
use crate::probe::series::Row;
use crate::samples::Moments;

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
        what.push(metric);
        values.push(value);
    });
    let mut table = Table::default();
    table.columns.push(("time_s", Column::Float(times_s)));
    table.columns.push(("entity", Column::Category(of, entities.collect())));
    table.columns.push(("metric", Column::Category(what, series.names())));
    table.columns.push(("value", Column::Float(values)));
    Some(table)
}

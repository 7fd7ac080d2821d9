//! The table of what nodes did.

use super::{Finished, Table};

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

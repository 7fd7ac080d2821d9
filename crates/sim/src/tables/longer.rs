//! What links whose delay changes add to the delays of flows.

use std::collections::BTreeMap;

use super::Finished;

/// By flow: the mean of what the changes of all links on its way add to the delay of its packets, in seconds; of the flows
/// that cross such a link.
#[must_use]
pub fn longer_s(run: &impl Finished) -> BTreeMap<u32, f64> {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for link in 0..run.scenario().links.len() as u32 {
        for (&position, longer) in run.longer(link).into_iter().flatten() {
            let flow = run.paths().flow_at(position);
            // A packet that is sprayed takes one of the paths.
            let packets = if run.paths().is_sprayed(flow) {
                run.ends(flow as usize).one_way().delays.count
            } else {
                longer.packets
            };
            *sums.entry(flow).or_default() += longer.sum_s / packets.max(1) as f64;
        }
    }
    sums
}

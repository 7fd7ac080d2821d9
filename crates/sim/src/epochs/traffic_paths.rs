//! The paths that packets take through a network, and the epochs that follow from them.

use super::clock::Clock;
use super::flows::FlowPaths;
use super::plan::{Plan, Stop, Successions};
use super::routes::Routes;
use crate::error::ScenarioError;
use crate::scenario::Scenario;

/// What may follow what on the paths that packets take, and the epochs and the order that follow from it.
pub(super) fn plan(
    scenario: &Scenario,
    (routes, paths): (&Routes, &FlowPaths),
    longest_s: f64,
) -> Result<Plan, ScenarioError> {
    let sites: Vec<(u32, f64)> = (scenario.users.iter())
        .flat_map(|group| {
            let least_s = group.interfaces.iter().map(|interface| interface.delay_s).fold(f64::INFINITY, f64::min);
            group.sites.iter().map(move |site| (site.node, least_s))
        })
        .collect();
    let mut taken = TrafficPaths {
        scenario,
        routes,
        successions: Successions::new([scenario.links.len(), scenario.processors(), sites.len(), paths.nodes.len()]),
        towards: vec![None; scenario.nodes.len()],
    };
    let mut first = 0;
    for group in &scenario.users {
        let last = first + group.sites.len();
        for to in first..last {
            let target = Stop::Site(to as u32);
            for (from, &(node, least_s)) in sites.iter().enumerate().take(last).skip(first) {
                if from != to {
                    taken.add(node, to as u16, Some((Stop::Site(from as u32), least_s, target)))?;
                }
            }
        }
        first = last;
    }
    for group in &scenario.scatter {
        for to in first..first + group.nodes.len() {
            group.nodes.iter().try_for_each(|&from| taken.add(from, to as u16, None))?;
        }
        first += group.nodes.len();
    }
    taken.add_flows(paths);
    let shortest_s = Clock::shortest_s(scenario.duration_s);
    let plan = taken.successions.plan(longest_s).filter(|plan| plan.epoch_s >= shortest_s);
    plan.ok_or_else(|| {
        ScenarioError::traffic(format!(
            "links with a delay of at least {shortest_s:.1e} s on every circle that traffic can take, as times are \
             rounded: give links or interfaces a longer delay"
        ))
    })
}

/// The paths that packets take, destination by destination.
struct TrafficPaths<'a> {
    scenario: &'a Scenario,
    routes: &'a Routes,
    successions: Successions,
    /// The last destination to which the path from each node is known.
    towards: Vec<Option<u16>>,
}

impl TrafficPaths<'_> {
    /// Adds the paths of flows.
    fn add_flows(&mut self, paths: &FlowPaths) {
        for (index, flow) in (0..).zip(&self.scenario.flows) {
            for (reverse, from, to) in [(false, flow.from, flow.to), (true, flow.to, flow.from)] {
                let host = |node| paths.host_at(node).map(Stop::Host);
                let Some((first, last)) = host(from).zip(host(to)) else { continue };
                for path in paths.paths.each(index, reverse) {
                    let (mut before, mut delay_s) = (first, 0.0);
                    for stop in path {
                        // When a processor has served a packet is not known before, as interrupts may delay it.
                        let (stop, next_s) = match self.scenario.links.get(stop as usize) {
                            Some(link) => (Stop::Link(stop), link.delay_s),
                            None => (Stop::Processor(stop - paths.paths.number_of_links()), 0.0),
                        };
                        self.successions.add(before, stop, delay_s);
                        (before, delay_s) = (stop, next_s);
                    }
                    if before != first {
                        self.successions.add(before, last, delay_s);
                    }
                }
            }
        }
    }

    /// Adds the path from a node to a destination, up to where it meets the path from another node: from there on it is
    /// the same.
    fn add(&mut self, from: u32, to: u16, ends: Option<(Stop, f64, Stop)>) -> Result<(), ScenarioError> {
        let Self { scenario, routes, successions, towards } = self;
        let mut before = ends.map(|(site, least_s, _)| (site, least_s));
        let mut node = from;
        loop {
            let stop = routes.from_node(node)[to as usize];
            let Some(link) = scenario.links.get(stop as usize) else {
                if stop != routes.stop(to) {
                    let name = &scenario.nodes[from as usize].name;
                    let expected = format!("a way from {name:?} to every other place: connect them by links");
                    return Err(ScenarioError::traffic(expected));
                }
                if let (Some((stop, delay_s)), Some((_, _, target))) = (before, ends) {
                    successions.add(stop, target, delay_s);
                }
                return Ok(());
            };
            if let Some((before, delay_s)) = before {
                successions.add(before, Stop::Link(stop), delay_s);
            }
            if towards[node as usize].replace(to) == Some(to) {
                return Ok(());
            }
            before = Some((Stop::Link(stop), link.delay_s));
            node = link.to;
        }
    }
}

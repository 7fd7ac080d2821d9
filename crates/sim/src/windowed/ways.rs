//! The ways that packets take through a network, and the windows that follow from them.

use super::plan::{Plan, Stop, Successions};
use super::routes::Routes;
use crate::error::ScenarioError;
use crate::scenario::Scenario;

/// What may follow what on the ways that packets take, and the windows and the order that follow from it.
pub(super) fn plan(scenario: &Scenario, routes: &Routes, longest_s: f64) -> Result<Plan, ScenarioError> {
    let sites: Vec<(u32, f64)> = (scenario.users.iter())
        .flat_map(|group| {
            let least_s = group.interfaces.iter().map(|interface| interface.delay_s).fold(f64::INFINITY, f64::min);
            group.sites.iter().map(move |site| (site.node, least_s))
        })
        .collect();
    let mut successions = Successions::new(scenario.links.len(), sites.len());
    let delay_s = |link: u32| scenario.links[link as usize].delay_s;
    let mut add_path = |from: u32, to: u16, ends: Option<(Stop, f64, Stop)>| {
        let name = |node: u32| scenario.nodes[node as usize].name.clone();
        let path = routes.path(&scenario.links, from, to).ok_or_else(|| ScenarioError::Traffic {
            expected: format!("a way from {:?} to every other place: connect them by links", name(from)),
        })?;
        for pair in path.windows(2) {
            successions.add(Stop::Link(pair[0]), Stop::Link(pair[1]), delay_s(pair[0]));
        }
        if let Some((site, least_s, target)) = ends {
            match (path.first(), path.last()) {
                (Some(&first), Some(&last)) => {
                    successions.add(site, Stop::Link(first), least_s);
                    successions.add(Stop::Link(last), target, delay_s(last));
                }
                _ => successions.add(site, target, least_s),
            }
        }
        Ok::<(), ScenarioError>(())
    };
    let mut first = 0;
    for group in &scenario.users {
        let last = first + group.sites.len();
        for (from, &(node, least_s)) in sites.iter().enumerate().take(last).skip(first) {
            for to in (first..last).filter(|&to| to != from) {
                let ends = (Stop::Site(from as u32), least_s, Stop::Site(to as u32));
                add_path(node, to as u16, Some(ends))?;
            }
        }
        first = last;
    }
    for group in &scenario.scatter {
        for &from in &group.nodes {
            for to in first..first + group.nodes.len() {
                add_path(from, to as u16, None)?;
            }
        }
        first += group.nodes.len();
    }
    successions.plan(longest_s).ok_or_else(|| ScenarioError::Traffic {
        expected: "links with a delay on every circle that traffic can take: give links or interfaces a delay".into(),
    })
}

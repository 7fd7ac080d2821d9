//! Building a network and its users from a scenario.

use std::sync::Arc;

use super::{Counted, Place, Region};
use crate::entities::Entities;
use crate::epochs::active::Active;
use crate::epochs::clock::Clock;
use crate::epochs::flows::{self, FlowHosts, FlowPaths};
use crate::epochs::inbox::{Inbox, Sorter};
use crate::epochs::parts::Parts;
use crate::epochs::plan::{Plan, Stop};
use crate::epochs::routes::Routes;
use crate::epochs::scatter::Scatter;
use crate::epochs::users::group::Group;
use crate::epochs::users::outlet::Calendar;
use crate::epochs::users::site::{Looks, Site};
use crate::epochs::wheel::Wheel;
use crate::error::ScenarioError;
use crate::network::link::Link;
use crate::network::node::Nodes;
use crate::samples::Samples;
use crate::scenario::{ScatterSpec, Scenario};
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

/// The groups of users.
pub fn groups(scenario: &Scenario, routes: &Routes, destinations: &[u32]) -> Vec<Arc<Group>> {
    let crossing_s = |from: u16, to: u16, size: u32| {
        let path = routes.path(&scenario.links, destinations[from as usize], to).unwrap_or_default();
        path.iter().map(|&link| crossing_s(scenario, link, size)).sum()
    };
    let mut numbers = Numbers::first(scenario);
    let group = |spec| {
        let group = Group::new(spec, (scenario.profile, scenario.seed), numbers.next(), crossing_s);
        numbers.advance(group.extent());
        Arc::new(group)
    };
    scenario.users.iter().map(group).collect()
}

/// A part of the network, in which nothing has happened.
pub fn region(
    scenario: &Scenario,
    plan: &Plan,
    (parts, part): (&Parts, u32),
    (groups, routes, paths): (&[Arc<Group>], &Arc<Routes>, &Arc<FlowPaths>),
) -> Result<Region, ScenarioError> {
    let (clock, end) = (Clock::new(plan.epoch_s, scenario.duration_s), Time::new(scenario.duration_s));
    let is_here = |node: u32| parts.of_node[node as usize] == part;
    let links = Link::all(scenario, Entities::new(scenario).first_link, end);
    let (nodes, ends) = (Nodes::new(scenario), scenario.links.iter().map(|spec| spec.to).collect());
    let looks = Looks { interval_s: scenario.observe.interval_s, periods: scenario.observe.periods.clone(), end };
    let looks = Arc::new(looks);
    let mut calendar = Calendar::new(clock, end);
    let mut places = Vec::new();
    // Of all places, the index among those that are here.
    let mut place_of = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        for (index, spec) in (0..).zip(&group.spec.sites) {
            place_of.push(is_here(spec.node).then_some(places.len() as u32));
            if !is_here(spec.node) {
                continue;
            }
            let site = Site::new(group, (index, places.len() as u32), &looks, &mut calendar)?;
            places.push(Place { site, node: spec.node, group: number, destination: group.first_destination + index });
        }
    }
    let mut numbers = Numbers::first(scenario);
    groups.iter().for_each(|group| numbers.advance(group.extent()));
    let mut scatter = Vec::new();
    for spec in &scenario.scatter {
        let observed = (clock, scenario.observe.interval_s);
        // The last epoch ends behind the end of the run.
        let spec = &ScatterSpec { stop_s: spec.stop_s.min(scenario.duration_s), ..spec.clone() };
        scatter.push(Scatter::new(spec, scenario.seed, numbers.next(), observed, is_here));
        let count = spec.nodes.len() as u32;
        numbers.advance((count, count as u16, count));
    }
    let part_of = |node: u32| parts.of_node[node as usize];
    let flows = if scenario.flows.is_empty() {
        None
    } else {
        let elsewhere = scenario.flows.iter().map(|flow| (!is_here(flow.from)).then(|| part_of(flow.from)));
        for (node, event) in flows::planned(scenario).filter(|(node, _)| is_here(*node)) {
            calendar.plan(event, places.len() as u32 + paths.host_at(node).unwrap_or_default());
        }
        Some(Box::new(FlowHosts::new(scenario, paths, elsewhere.collect())?))
    };
    // Users and datagrams are counted by intervals, and links with them.
    let samples = Samples::of(scenario).filter(|_| !scenario.flows.is_empty());
    let abroad = scenario.links.iter().map(|link| (!is_here(link.to)).then(|| part_of(link.to)));
    let order = plan.order.iter().filter_map(|&stop| match stop {
        Stop::Link(link) => is_here(scenario.links[link as usize].from).then_some(stop),
        Stop::Processor(number) => is_here(nodes.list[number as usize].index).then_some(stop),
        Stop::Site(place) => place_of[place as usize].map(Stop::Site),
        Stop::Host(host) => is_here(paths.nodes[host as usize]).then_some(stop),
    });
    let order: Vec<Stop> = order.collect();
    // What has no place in the order has the one behind: destinations of datagrams only take.
    let hosts = if flows.is_some() { paths.nodes.len() } else { 0 };
    let mut place_of = vec![order.len() as u32; routes.stops() + nodes.list.len() + hosts];
    for (place, stop) in (0..).zip(&order) {
        let stop = match stop {
            Stop::Link(link) => *link,
            Stop::Processor(number) => links.len() as u32 + number,
            Stop::Site(place) => routes.stop(places[*place as usize].destination),
            Stop::Host(host) => (routes.stops() + nodes.list.len()) as u32 + host,
        };
        place_of[stop as usize] = place;
    }
    let mut active = Active::new(order.len() + 1);
    // Some may have something to do at once.
    for place in &places {
        active.add(0, place_of[routes.stop(place.destination) as usize]);
    }
    Ok(Region {
        inboxes: place_of.into_iter().map(Inbox::new).collect(),
        active,
        calendar,
        keeping: Wheel::default(),
        holding: Wheel::default(),
        arrivals: Vec::new(),
        again: Vec::new(),
        due: Vec::new(),
        sorter: Sorter::default(),
        ack_options: AckOptionSlab::default(),
        counted: vec![Counted::default(); groups.len()],
        messages: vec![Vec::new(); parts.count as usize],
        samples: samples.map(Box::new),
        notes: None,
        links,
        nodes,
        ends,
        places,
        scatter,
        paths: flows.as_ref().map(|flows| Arc::clone(&flows.paths)),
        flows,
        routes: Arc::clone(routes),
        order,
        abroad: abroad.collect(),
        clock,
        end,
    })
}

/// The next destination, source and entity that are free.
struct Numbers {
    destination: u16,
    source: u32,
    entity: u32,
}

impl Numbers {
    fn first(scenario: &Scenario) -> Self {
        Self { destination: 0, source: 0, entity: Entities::new(scenario).behind(scenario.flows.len()) }
    }

    fn next(&self) -> (u16, u32, u32) {
        (self.destination, self.source, self.entity)
    }

    fn advance(&mut self, (sources, destinations, entities): (u32, u16, u32)) {
        self.source += sources;
        self.destination += destinations;
        self.entity += entities;
    }
}

/// Seconds that a packet of `size` bytes takes over a link where nothing is ahead of it.
fn crossing_s(scenario: &Scenario, link: u32, size: u32) -> f64 {
    scenario.links[link as usize].wire().crossing_s(size)
}

//! A large network, worked through in windows of time instead of event by event.
//!
//! Nothing that happens in a window has effects earlier than the shortest delay on its way. So in each window every
//! link can take all that arrives at it in that window at once, put it in the order of the events that bring it, and
//! serve it: what it does is what it would do in a loop over all events, as their keys decide the order and nothing
//! else. There is no queue of events; memory is walked through in large steps; and parts of the network that a delay
//! separates can be worked through at the same time.

use std::sync::Arc;

use crate::error::ScenarioError;
use crate::network::link::Link;
use crate::network::managed::Managed;
use crate::network::queue::Site as QueueSite;
use crate::scenario::Scenario;
use crate::simulation::Interrupted;
use crate::time::Time;

pub mod clock;
pub mod intervals;
pub mod line;
pub mod plan;
pub mod region;
pub mod routes;
pub mod scatter;
pub mod tables;
pub mod users;
pub mod wheel;

use clock::{Clock, Window};
use line::Line;
use plan::{Plan, Stop, Successions};
use region::{Place, Region};
use routes::Routes;
use scatter::Scatter;
use users::group::Group;
use users::site::{Looks, Site};

/// Windows are no longer than this, in seconds, however long the delays: what arrives in one must fit into a cache.
const LONGEST_S: f64 = 5e-3;

/// The number of a link's entity: before it comes the look at all.
const FIRST_LINK: u32 = 1;

/// One run of a scenario with users or scattered datagrams.
#[derive(Debug)]
pub struct Windowed<'a> {
    scenario: &'a Scenario,
    groups: Vec<Arc<Group>>,
    region: Region,
    clock: Clock,
    window: Window,
    end: Time,
}

impl<'a> Windowed<'a> {
    /// Builds the network and its users.
    ///
    /// # Errors
    /// What only the engine can see to be wrong: places that cannot be reached, circles without delay, an unknown
    /// congestion control.
    pub fn new(scenario: &'a Scenario) -> Result<Self, ScenarioError> {
        Self::with_windows(scenario, LONGEST_S)
    }

    /// The same, with windows of at most `longest_s` seconds. Nothing but the time that a run takes hangs on it.
    ///
    /// # Errors
    /// As above.
    pub fn with_windows(scenario: &'a Scenario, longest_s: f64) -> Result<Self, ScenarioError> {
        check(scenario)?;
        let destinations: Vec<u32> = (scenario.users.iter().flat_map(|group| group.sites.iter().map(|site| site.node)))
            .chain(scenario.scatter.iter().flat_map(|group| group.nodes.iter().copied()))
            .collect();
        if destinations.len() > usize::from(u16::MAX) {
            let expected = format!("at most {} places that packets go to, not {}", u16::MAX, destinations.len());
            return Err(ScenarioError::Traffic { expected });
        }
        let routes = Routes::new(scenario.nodes.len(), &scenario.links, &destinations);
        let Plan { window_s, order } = plan(scenario, &routes, longest_s)?;
        let (clock, end) = (Clock::new(window_s), Time::new(scenario.duration_s));
        let lines = (scenario.links.iter().zip(FIRST_LINK..))
            .map(|(spec, entity)| Line::new(Link::new(spec, entity, QueueSite::new(scenario, spec), end), spec.to))
            .collect();
        let is_long = scenario.links.iter().map(|link| link.delay_s >= window_s).collect();

        let mut numbers = Numbers { destination: 0, source: 0, entity: FIRST_LINK + scenario.links.len() as u32 };
        let looks = Looks { interval_s: scenario.observe.interval_s, periods: scenario.observe.periods.clone(), end };
        let looks = Arc::new(looks);
        let (mut groups, mut places) = (Vec::new(), Vec::new());
        for spec in &scenario.users {
            let crossing_s = |from: u16, to: u16, size: u32| {
                let path = routes.path(&scenario.links, destinations[from as usize], to).unwrap_or_default();
                path.iter().map(|&link| crossing_s(scenario, link, size)).sum()
            };
            let first = (numbers.destination, numbers.source, numbers.entity);
            let group = Arc::new(Group::new(spec, (scenario.profile, scenario.seed), first, crossing_s));
            for index in 0..spec.sites.len() as u16 {
                let site = Site::new(&group, index, &looks, clock).map_err(|expected| ScenarioError::Flow {
                    flow: spec.label.clone(),
                    key: "tcp.congestion",
                    value: String::new(),
                    expected,
                })?;
                let node = spec.sites[index as usize].node;
                places.push(Place { site, node, group: groups.len(), destination: numbers.destination + index });
            }
            numbers.advance(group.extent());
            groups.push(group);
        }
        let mut scatter = Vec::new();
        for spec in &scenario.scatter {
            let first = (numbers.destination, numbers.source, numbers.entity);
            let count = spec.nodes.len() as u32;
            let interval_s = scenario.observe.interval_s;
            scatter.push(Scatter::new(spec, scenario.seed, first, (clock, interval_s), |_| true));
            numbers.advance((count, count as u16, count));
        }
        let region = Region::new(
            lines,
            (places, groups.len()),
            scatter,
            (Arc::new(routes), destinations.len()),
            (order, is_long),
            (clock, end),
        );
        Ok(Self { scenario, groups, region, clock, window: 0, end })
    }

    /// Runs to the end. `interrupted` is asked now and then; true stops the run there.
    ///
    /// # Errors
    /// `interrupted` said so; what was counted until then is there.
    pub fn run(&mut self, mut interrupted: impl FnMut() -> bool) -> Result<(), Interrupted> {
        /// Windows between questions, and between times at which memory is given back.
        const QUESTION: u64 = 1 << 8;
        const TIDY: u64 = 1 << 16;
        let windows = self.clock.window(self.end) + 1;
        while self.window < windows {
            self.region.work(self.window);
            self.window += 1;
            if self.window.is_multiple_of(TIDY) {
                self.region.tidy(self.clock.end(self.window));
            }
            if self.window.is_multiple_of(QUESTION) && interrupted() {
                self.region.finish();
                return Err(Interrupted);
            }
        }
        self.region.finish();
        Ok(())
    }

    /// Link crossings, data and ACKs, those of the hosts' interfaces included.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.region.packet_hops()
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.region.random_draws()
    }

    /// All links.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.region.lines.iter()
    }

    /// What was counted of each group of users.
    fn counted(&self) -> &[region::Counted] {
        &self.region.counted
    }

    /// What was counted of a group of nodes that scatter datagrams.
    fn scatter_counts(&self, group: usize) -> Vec<scatter::ScatterCounts> {
        self.region.scatter[group].counts.all().to_vec()
    }

    /// Length of the windows, in seconds, at most.
    #[must_use]
    pub fn window_s(&self) -> f64 {
        self.clock.end(0).seconds()
    }

    /// What has been simulated so far, in seconds.
    #[must_use]
    pub fn simulated_s(&self) -> f64 {
        self.window.checked_sub(1).map_or(0.0, |window| self.clock.end(window).min(self.end).seconds())
    }
}

/// The next destination, source and entity that are free.
struct Numbers {
    destination: u16,
    source: u32,
    entity: u32,
}

impl Numbers {
    fn advance(&mut self, (sources, destinations, entities): (u32, u16, u32)) {
        self.source += sources;
        self.destination += destinations;
        self.entity += entities;
    }
}

/// Seconds that a packet of `size` bytes takes over a link where nothing is ahead of it.
fn crossing_s(scenario: &Scenario, link: u32, size: u32) -> f64 {
    let spec = &scenario.links[link as usize];
    let frame = (size + spec.framing.overhead_bytes).max(spec.framing.smallest_bytes);
    8.0 * f64::from(frame) / spec.rate_bps + spec.delay_s
}

/// What may follow what on the ways that packets take, and the windows and the order that follow from it.
fn plan(scenario: &Scenario, routes: &Routes, longest_s: f64) -> Result<Plan, ScenarioError> {
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
        for from in first..last {
            for to in (first..last).filter(|&to| to != from) {
                let ends = (Stop::Site(from as u32), sites[from].1, Stop::Site(to as u32));
                add_path(sites[from].0, to as u16, Some(ends))?;
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

/// What this engine does not know.
fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wrong = |expected: &str| Err(ScenarioError::Traffic { expected: expected.into() });
    if !scenario.flows.is_empty() {
        return wrong("no other kinds of traffic beside users and scatter");
    }
    if scenario.nodes.iter().any(|node| node.processor.is_some()) {
        return wrong("no processors in a network with users or scatter");
    }
    for link in &scenario.links {
        if link.flow_control || Managed::new(&link.queue, QueueSite::new(scenario, link)).is_some() {
            return Err(ScenarioError::Link {
                link: link.name.clone(),
                key: "queue.kind",
                value: format!("{:?}", link.queue.kind()),
                expected: "with users or scatter, a queue that decides on arrival".into(),
            });
        }
    }
    Ok(())
}

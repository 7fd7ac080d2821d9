//! A large network, worked through in windows of time instead of event by event.
//!
//! Nothing that happens in a window has effects earlier than the shortest delay on its way. So in each window every
//! link can take all that arrives at it in that window at once, put it in the order of the events that bring it, and
//! serve it: what it does is what it would do in a loop over all events, as their keys decide the order and nothing
//! else. There is no queue of events; memory is walked through in large steps; and parts of the network that a delay
//! separates can be worked through at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::ScenarioError;
use crate::network::link::Link;
use crate::network::managed::Managed;
use crate::network::queue::Site as QueueSite;
use crate::network::server::Wire;
use crate::scenario::{ScatterSpec, Scenario};
use crate::simulation::Interrupted;
use crate::simulation::checks::check_recovery;
use crate::time::Time;

pub mod active;
pub mod clock;
pub mod exchange;
pub mod inbox;
pub mod intervals;
pub mod line;
pub mod parts;
pub mod plan;
pub mod region;
pub mod routes;
pub mod scatter;
pub mod tables;
pub mod users;
pub mod wheel;

use clock::{Clock, Window};
use exchange::{Meeting, Party, Post};
use line::Line;
use parts::Parts;
use plan::{Plan, Stop, Successions};
use region::{Counted, Place, Region};
use routes::Routes;
use scatter::Scatter;
use users::group::Group;
use users::outlet::Calendar;
use users::site::{Looks, Site};

/// Windows are no longer than this, in seconds, however long the delays: what arrives in one must fit into a cache.
const LONGEST_S: f64 = 5e-3;

/// Most windows from one meeting of the parts to the next: then they hear of interruptions.
const LONGEST_TURN: u64 = 256;

/// The number of a link's entity: before it comes the look at all.
const FIRST_LINK: u32 = 1;

/// One run of a scenario with users or scattered datagrams.
#[derive(Debug)]
pub struct Windowed<'a> {
    scenario: &'a Scenario,
    groups: Vec<Arc<Group>>,
    regions: Vec<Region>,
    /// The part of each node.
    part_of: Vec<u32>,
    /// Windows from one meeting of the parts to the next.
    windows_per_turn: u64,
    clock: Clock,
    window: Window,
    end: Time,
}

/// How a run is worked through. Nothing but the time that it takes hangs on it.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Threads, each of which has a part of the network.
    pub threads: u32,
    /// Windows are no longer than this, in seconds.
    pub longest_window_s: f64,
}

impl Work {
    /// On so many threads.
    #[must_use]
    pub fn on(threads: u32) -> Self {
        Self { threads, longest_window_s: LONGEST_S }
    }
}

impl<'a> Windowed<'a> {
    /// Builds the network and its users.
    ///
    /// # Errors
    /// What only the engine can see to be wrong: places that cannot be reached, circles without delay, an unknown
    /// congestion control.
    pub fn new(scenario: &'a Scenario, work: Work) -> Result<Self, ScenarioError> {
        check(scenario)?;
        let destinations: Vec<u32> = (scenario.users.iter().flat_map(|group| group.sites.iter().map(|site| site.node)))
            .chain(scenario.scatter.iter().flat_map(|group| group.nodes.iter().copied()))
            .collect();
        if destinations.len() > usize::from(u16::MAX) {
            let expected = format!("at most {} places that packets go to, not {}", u16::MAX, destinations.len());
            return Err(ScenarioError::Traffic { expected });
        }
        let routes = Arc::new(Routes::new(scenario.nodes.len(), &scenario.links, &destinations));
        let plan = plan(scenario, &routes, work.longest_window_s)?;
        let clock = Clock::new(plan.window_s);
        let parts = match work.threads {
            0 | 1 => Parts::one(scenario),
            threads => Parts::new(scenario, &routes, threads, plan.window_s),
        };
        let groups = groups(scenario, &routes, &destinations);
        let regions = (0..parts.count)
            .map(|part| region(scenario, &plan, (&parts, part), (&groups, &routes)))
            .collect::<Result<_, _>>()?;
        let turn = (parts.delay_s / plan.window_s).min(LONGEST_TURN as f64) as u64;
        Ok(Self {
            scenario,
            groups,
            regions,
            part_of: parts.of_node,
            windows_per_turn: turn.max(1),
            clock,
            window: 0,
            end: Time::new(scenario.duration_s),
        })
    }

    /// Runs to the end. `watch` is told now and then how far the run is; if it says true, the run stops there.
    ///
    /// # Errors
    /// `watch` said so; what was counted until then is there.
    pub fn run(&mut self, mut watch: impl FnMut(&Progress) -> bool) -> Result<(), Interrupted> {
        let windows = self.clock.window(self.end) + 1;
        let span = Span { windows, per_turn: self.windows_per_turn, clock: self.clock };
        let (meeting, post) = (Meeting::new(self.regions.len() as u32), Post::new(self.regions.len()));
        let far: Vec<Far> = self.regions.iter().map(|_| Far::default()).collect();
        let (clock, end) = (self.clock, self.end);
        let progress = |window: Window| Progress {
            simulated_s: window.checked_sub(1).map_or(0.0, |window| clock.end(window).min(end).seconds()),
            packet_hops: far.iter().map(|far| far.packet_hops.load(Ordering::Relaxed)).sum(),
            sending: far.iter().map(|far| far.sending.load(Ordering::Relaxed)).sum(),
        };
        let Some((first, others)) = self.regions.split_first_mut() else { return Ok(()) };
        self.window = std::thread::scope(|scope| {
            for (part, region) in (1..).zip(others) {
                let (meeting, post, far) = (&meeting, &post, &far[part]);
                scope.spawn(move || work_through(region, part, span, (meeting, post, far), |_| false));
            }
            work_through(first, 0, span, (&meeting, &post, &far[0]), |window| watch(&progress(window)))
        });
        for region in &mut self.regions {
            region.finish();
        }
        if self.window < windows { Err(Interrupted) } else { Ok(()) }
    }

    /// Link crossings, data and ACKs, those of the hosts' interfaces included.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.regions.iter().map(Region::packet_hops).sum()
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.regions.iter().map(Region::random_draws).sum()
    }

    /// All links.
    fn lines(&self) -> impl Iterator<Item = &Line> {
        let parts = self.scenario.links.iter().map(|link| self.part_of[link.from as usize]);
        parts.enumerate().map(|(index, part)| &self.regions[part as usize].lines[index])
    }

    /// What was counted of each group of users.
    fn counted(&self) -> Vec<Counted> {
        let mut sums = vec![Counted::default(); self.groups.len()];
        for region in &self.regions {
            for (sum, counted) in sums.iter_mut().zip(&region.counted) {
                sum.add(counted);
            }
        }
        sums
    }

    /// What was counted of a group of nodes that scatter datagrams, by interval.
    fn scatter_counts(&self, group: usize) -> Vec<scatter::ScatterCounts> {
        let interval_s = self.scenario.observe.interval_s.unwrap_or(f64::INFINITY);
        let others = (1..).take_while(|&index| interval_s * f64::from(index) < self.simulated_s()).count();
        let mut sums = vec![scatter::ScatterCounts::default(); others + 1];
        for region in &self.regions {
            let counts = region.scatter[group].counts.all();
            sums.resize(counts.len().max(sums.len()), scatter::ScatterCounts::default());
            for (sum, counts) in sums.iter_mut().zip(counts) {
                *sum += *counts;
            }
        }
        sums
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

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What has been simulated, in seconds.
    pub simulated_s: f64,
    /// Crossings of links and interfaces, some of the last ones not counted.
    pub packet_hops: u64,
    /// Sources that send, or did a moment ago.
    pub sending: u64,
}

/// How far a part is.
#[derive(Debug, Default)]
struct Far {
    packet_hops: AtomicU64,
    sending: AtomicU64,
}

/// How far a run goes.
#[derive(Clone, Copy, Debug)]
struct Span {
    windows: u64,
    per_turn: u64,
    clock: Clock,
}

/// Works through a part of the network, to the end or until `ends` says true to the first part: the number of windows
/// that are done.
fn work_through(
    region: &mut Region,
    part: usize,
    span: Span,
    (meeting, post, far): (&Meeting, &Post, &Far),
    mut ends: impl FnMut(Window) -> bool,
) -> Window {
    /// Windows between times at which memory is given back.
    const TIDY: u64 = 1 << 16;
    /// Turns between times at which a part says how far it is.
    const WORD: u64 = 1 << 6;
    let _party = Party(meeting);
    let mut window = 0;
    let mut turn = 0;
    while window < span.windows {
        let until = (window + span.per_turn).min(span.windows);
        while window < until {
            region.work(window);
            window += 1;
            if window.is_multiple_of(TIDY) {
                region.tidy(span.clock.end(window));
            }
        }
        region.leave(post, turn, part);
        if turn.is_multiple_of(WORD) {
            far.packet_hops.store(region.packet_hops(), Ordering::Relaxed);
            far.sending.store(region.sending(), Ordering::Relaxed);
        }
        if part == 0 && ends(window) {
            meeting.end();
        }
        if meeting.wait() {
            break;
        }
        region.take(post, turn, part);
        turn += 1;
    }
    window
}

/// The groups of users.
fn groups(scenario: &Scenario, routes: &Routes, destinations: &[u32]) -> Vec<Arc<Group>> {
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
fn region(
    scenario: &Scenario,
    plan: &Plan,
    (parts, part): (&Parts, u32),
    (groups, routes): (&[Arc<Group>], &Arc<Routes>),
) -> Result<Region, ScenarioError> {
    let (clock, end) = (Clock::new(plan.window_s), Time::new(scenario.duration_s));
    let is_here = |node: u32| parts.of_node[node as usize] == part;
    let lines = (scenario.links.iter().zip(FIRST_LINK..))
        .map(|(spec, entity)| Line::new(Link::new(spec, entity, QueueSite::new(scenario, spec), end), spec.to));
    let looks = Looks { interval_s: scenario.observe.interval_s, periods: scenario.observe.periods.clone(), end };
    let looks = Arc::new(looks);
    let mut calendar = Calendar::new(clock, end);
    let mut numbers = Numbers::first(scenario);
    let mut places = Vec::new();
    // Of all places, the index among those that are here.
    let mut place_of = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        for (index, spec) in (0..).zip(&group.spec.sites) {
            place_of.push(is_here(spec.node).then_some(places.len() as u32));
            if !is_here(spec.node) {
                continue;
            }
            let site = Site::new(group, (index, places.len() as u32), &looks, &mut calendar).map_err(|expected| {
                ScenarioError::Flow {
                    flow: group.spec.label.clone(),
                    key: "tcp.congestion",
                    value: format!("{:?}", group.spec.tcp.congestion.kind),
                    expected,
                }
            })?;
            places.push(Place { site, node: spec.node, group: number, destination: numbers.destination + index });
        }
        numbers.advance(group.extent());
    }
    let mut scatter = Vec::new();
    for spec in &scenario.scatter {
        let observed = (clock, scenario.observe.interval_s);
        // The last window ends behind the end of the run.
        let spec = &ScatterSpec { stop_s: spec.stop_s.min(scenario.duration_s), ..spec.clone() };
        scatter.push(Scatter::new(spec, scenario.seed, numbers.next(), observed, is_here));
        let count = spec.nodes.len() as u32;
        numbers.advance((count, count as u16, count));
    }
    let abroad = scenario.links.iter().map(|link| (!is_here(link.to)).then(|| parts.of_node[link.to as usize]));
    let order = plan.order.iter().filter_map(|&stop| match stop {
        Stop::Link(link) => is_here(scenario.links[link as usize].from).then_some(stop),
        Stop::Site(place) => place_of[place as usize].map(Stop::Site),
    });
    Ok(Region::new(
        lines.collect(),
        (places, groups.len()),
        scatter,
        Arc::clone(routes),
        calendar,
        (order.collect(), abroad.collect()),
        (clock, end, parts.count),
    ))
}

/// The next destination, source and entity that are free.
struct Numbers {
    destination: u16,
    source: u32,
    entity: u32,
}

impl Numbers {
    fn first(scenario: &Scenario) -> Self {
        Self { destination: 0, source: 0, entity: FIRST_LINK + scenario.links.len() as u32 }
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
    Wire::new(&scenario.links[link as usize]).crossing_s(size)
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

/// What this engine does not know.
fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wrong = |expected: &str| Err(ScenarioError::Traffic { expected: expected.into() });
    if !scenario.flows.is_empty() {
        return wrong("no other kinds of traffic beside users and scatter");
    }
    if scenario.nodes.iter().any(|node| node.processor.is_some()) {
        return wrong("no processors in a network with users or scatter");
    }
    for users in &scenario.users {
        check_recovery(&users.label, users.tcp.recovery, scenario.profile)?;
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

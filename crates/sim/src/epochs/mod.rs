//! A large network, processed in epochs instead of event by event.
//!
//! Nothing that happens in an epoch has effects earlier than the shortest delay on its way. So in each epoch every
//! link can take all that arrives at it in that epoch at once, put it in the order of the events that bring it, and
//! serve it: what it does is what it would do in a loop over all events, as their keys decide the order and nothing
//! else. There is no queue of events; memory is walked through in large steps; and parts of the network that a delay
//! separates can be processed at the same time.

use std::sync::Arc;

use crate::error::{Interrupted, ScenarioError};
use crate::hosts::checks::{check_recovery, check_scatter_sizes, check_tcp_size};
use crate::network::link::Link;
use crate::network::node::Node;
use crate::probe::Probe;
use crate::scenario::{NodeSpec, Scenario, TrafficSpec, TransportSpec};
use crate::time::Time;

pub mod active;
mod beyond;
mod bisection;
pub mod clock;
mod estimate;
pub mod flows;
pub mod inbox;
pub mod intervals;
pub mod load;
pub mod notes;
pub mod parts;
pub mod plan;
pub mod region;
mod rounds;
pub mod routes;
pub mod scatter;
pub mod tables;
mod traffic_paths;
pub mod users;
pub mod wheel;

pub use estimate::Estimate;
pub use rounds::Progress;

use clock::{Clock, Epoch};
use flows::{FlowHosts, FlowPaths};
use load::Load;
use parts::Parts;
use plan::Plan;
use region::{Counted, Region, build};
use rounds::Span;
use routes::Routes;
use users::group::Group;

/// Epochs are no longer than this, in seconds, however long the delays: what arrives in one must fit into a cache.
const LONGEST_S: f64 = 5e-3;

/// One run of a scenario with users or scattered datagrams.
#[derive(Debug)]
pub struct EpochSimulation<'a> {
    scenario: &'a Scenario,
    groups: Vec<Arc<Group>>,
    regions: Vec<Region>,
    paths: Arc<FlowPaths>,
    /// The part of each node.
    part_of: Vec<u32>,
    span: Span,
    /// Those that are done.
    epochs: Epoch,
}

/// How a run is processed. Nothing but the time that it takes depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Threads, each of which has a part of the network.
    pub threads: u32,
    /// Whether fewer will do, where more are not faster.
    pub or_fewer: bool,
    /// Epochs are no longer than this, in seconds.
    pub longest_epoch_s: f64,
}

impl Work {
    /// On so many threads.
    #[must_use]
    pub fn on(threads: u32) -> Self {
        Self { threads, or_fewer: false, longest_epoch_s: LONGEST_S }
    }

    /// On as many of so many threads as help ([`Estimate`]).
    #[must_use]
    pub fn up_to(threads: u32) -> Self {
        Self { or_fewer: true, ..Self::on(threads) }
    }
}

impl<'a> EpochSimulation<'a> {
    /// Builds the network and its users.
    ///
    /// # Errors
    /// What only the engine can see to be wrong: places that cannot be reached, circles without delay, an unknown
    /// congestion control.
    pub fn new(scenario: &'a Scenario, work: Work) -> Result<Self, ScenarioError> {
        let survey = Survey::new(scenario, work.longest_epoch_s)?;
        let parts = survey.parts(scenario, work);
        let Survey { destinations, routes, paths, plan, .. } = survey;
        let groups = build::groups(scenario, &routes, &destinations);
        let regions = (0..parts.count)
            .map(|part| build::region(scenario, &plan, (&parts, part), (&groups, &routes, &paths)))
            .collect::<Result<_, _>>()?;
        let epochs_per_turn = (parts.turn_s() / plan.epoch_s).max(1.0) as u64;
        let end = Time::new(scenario.duration_s);
        let span = Span { clock: Clock::new(plan.epoch_s, scenario.duration_s), end, epochs_per_turn };
        Ok(Self { scenario, groups, regions, paths, part_of: parts.of_node, span, epochs: 0 })
    }

    /// Runs to the end. `watch` is told now and then how far the run is; if it says true, the run stops there.
    ///
    /// # Errors
    /// `watch` said so; what was counted until then is there.
    pub fn run(&mut self, watch: impl FnMut(&Progress) -> bool) -> Result<(), Interrupted> {
        self.work(watch, |_, _| {})
    }

    /// The same, with a probe that is told what happens to the packets of flows, in the order of events.
    ///
    /// # Errors
    /// `watch` said so.
    pub fn run_traced<P: Probe>(
        &mut self,
        probe: &mut P,
        watch: impl FnMut(&Progress) -> bool,
    ) -> Result<(), Interrupted> {
        self.regions.iter_mut().for_each(|region| region.notes = Some(Box::default()));
        let (span, paths) = (self.span, Arc::clone(&self.paths));
        let ended = self.work(watch, |region, epochs| {
            if let Some(notes) = &mut region.notes {
                notes.tell(Time::new(span.simulated_s(epochs)), probe, &paths.paths);
            }
        });
        let mut rest: Vec<_> = self.regions.iter_mut().filter_map(|region| region.notes.take()).collect();
        if let Some((first, others)) = rest.split_first_mut() {
            others.iter_mut().for_each(|notes| first.extend(notes.take()));
            first.tell(Time::new(self.simulated_s()), probe, &paths.paths);
        }
        probe.finish(Time::new(self.simulated_s()));
        ended
    }

    fn work(
        &mut self,
        watch: impl FnMut(&Progress) -> bool,
        tell: impl FnMut(&mut Region, Epoch),
    ) -> Result<(), Interrupted> {
        self.epochs = rounds::work(&mut self.regions, self.span, watch, tell);
        for region in &mut self.regions {
            region.finish(self.epochs);
        }
        if self.epochs < self.span.epochs() { Err(Interrupted) } else { Ok(()) }
    }

    /// Link crossings, data and ACKs, those of the hosts' interfaces included.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.regions.iter().map(Region::packet_hops).sum()
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let flows = (0..self.scenario.flows.len()).map(|flow| self.sending(flow).hosts.random_draws(flow));
        self.regions.iter().map(Region::random_draws).sum::<u64>() + flows.sum::<u64>()
    }

    /// The part of the network in which a flow sends.
    fn sending(&self, flow: usize) -> &FlowHosts {
        self.flows_at(self.scenario.flows[flow].from)
    }

    /// The part of the network in which a flow's packets arrive.
    fn receiving(&self, flow: usize) -> &FlowHosts {
        self.flows_at(self.scenario.flows[flow].to)
    }

    #[allow(clippy::expect_used, reason = "who asks has a flow")]
    fn flows_at(&self, node: u32) -> &FlowHosts {
        self.regions[self.part_of[node as usize] as usize].flows.as_deref().expect("there are flows")
    }

    fn at_work(&self, link: u32) -> &Link {
        let part = self.part_of[self.scenario.links[link as usize].from as usize];
        &self.regions[part as usize].links[link as usize]
    }

    /// All nodes with processors.
    fn nodes_at_work(&self) -> impl Iterator<Item = &Node> {
        let all = self.regions[0].nodes.list.iter().enumerate();
        all.map(|(number, node)| &self.regions[self.part_of[node.index as usize] as usize].nodes.list[number])
    }

    /// What is run.
    #[must_use]
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// All links.
    pub(crate) fn links_at_work(&self) -> impl Iterator<Item = &Link> {
        (0..self.scenario.links.len() as u32).map(|link| self.at_work(link))
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

    /// The threads of the run, each of which has a part of the network.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.regions.len() as u32
    }

    /// What has been simulated so far, in seconds.
    #[must_use]
    pub fn simulated_s(&self) -> f64 {
        self.span.simulated_s(self.epochs)
    }
}

/// What is known of a network before it is built.
struct Survey {
    /// The nodes that packets with addresses go to.
    destinations: Vec<u32>,
    routes: Arc<Routes>,
    paths: Arc<FlowPaths>,
    plan: Plan,
    load: Load,
}

impl Survey {
    /// Of a scenario that can be processed in epochs.
    fn new(scenario: &Scenario, longest_epoch_s: f64) -> Result<Self, ScenarioError> {
        check(scenario)?;
        let destinations: Vec<u32> = (scenario.users.iter().flat_map(|group| group.sites.iter().map(|site| site.node)))
            .chain(scenario.scatter.iter().flat_map(|group| group.nodes.iter().copied()))
            .collect();
        if destinations.len() > usize::from(u16::MAX) {
            let expected = format!("at most {} places that packets go to, not {}", u16::MAX, destinations.len());
            return Err(ScenarioError::traffic(expected));
        }
        let routes = Arc::new(Routes::new(scenario.nodes.len(), &scenario.links, &destinations));
        let paths = Arc::new(FlowPaths::new(scenario, (routes.stops() + scenario.processors()) as u32)?);
        let plan = traffic_paths::plan(scenario, (&routes, &paths), longest_epoch_s)?;
        let load = load::loads(scenario, &routes, &paths);
        Ok(Self { destinations, routes, paths, plan, load })
    }

    /// The network in as many parts as `work` says.
    fn parts(&self, scenario: &Scenario, work: Work) -> Parts {
        if work.or_fewer {
            estimate::parts(scenario, self, work.threads)
        } else {
            Parts::new(scenario, &self.load, work.threads, self.plan.epoch_s)
        }
    }
}

/// A network of flows in as many parts as `work` says.
///
/// # Errors
/// What cannot be in parts.
pub(crate) fn parts_of(scenario: &Scenario, work: Work) -> Result<Parts, ScenarioError> {
    Ok(Survey::new(scenario, work.longest_epoch_s)?.parts(scenario, work))
}

/// What this engine does not know.
fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wrong = |expected: String| Err(ScenarioError::traffic(expected));
    let only_flows = scenario.users.is_empty() && scenario.scatter.is_empty();
    let several = if only_flows { "on several threads" } else { "in a network with users or scatter" };
    if !only_flows && scenario.processors() > 0 {
        return wrong(format!("no processors {several}"));
    }
    for NodeSpec { name, processor } in &scenario.nodes {
        // Else the packets of one instant may leave in events that no key tells apart.
        let shortest_s = Clock::shortest_s(scenario.duration_s);
        if processor.as_ref().is_some_and(|spec| spec.per_packet_s + spec.per_byte_s < shortest_s) {
            return wrong(format!("at least {shortest_s:.1e} s for each packet in a processor {several}: {name}"));
        }
    }
    for flow in &scenario.flows {
        let answers = matches!(flow.transport, TransportSpec::Tcp(_));
        for node in [Some(flow.from), answers.then_some(flow.to)].into_iter().flatten() {
            let NodeSpec { name, processor } = &scenario.nodes[node as usize];
            if processor.is_some() {
                return wrong(format!("no processor of a host {several}, as it pushes back: {name}"));
            }
        }
        if matches!(flow.traffic, TrafficSpec::Saturate {}) {
            return wrong(format!("no source that waits for its interface {several}: {}", flow.label));
        }
        if matches!(&flow.transport, TransportSpec::Tcp(tcp) if tcp.congestion.external.is_some()) {
            return wrong(format!("no congestion control in Python {several}: {}", flow.label));
        }
    }
    for users in &scenario.users {
        check_recovery(&users.label, users.tcp.recovery, scenario.profile)?;
        check_tcp_size(&users.label, &users.tcp)?;
    }
    scenario.scatter.iter().try_for_each(check_scatter_sizes)?;
    match scenario.links.iter().find(|link| link.flow_control) {
        Some(link) => {
            Err(ScenarioError::link(&link.name, "flow_control", "true", format!("no flow control {several}")))
        }
        None => Ok(()),
    }
}

//! Paths as stops: the links that flows take ([`routing`](super::routing)), and the gates and processors on them.

use crate::error::ScenarioError;
use crate::network::routing::Router;
use crate::scenario::unloaded::{Crossing, Unloaded};
use crate::scenario::{LinkSpec, Scenario, TransportSpec};

/// One entry of a path: a link, or the end of the path of some flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop(u32);

/// The link is evaluated together with the one before it.
const FUSED: u32 = 1 << 31;
/// Not a link: the end of a path, with the flow in the low bits.
const END: u32 = 1 << 30;
/// Of such an end: it is that of a flow's ACKs.
const REVERSE: u32 = 1 << 28;
/// The link takes what several routes bring together that part behind one link (see `lookahead`).
const MERGES: u32 = 1 << 29;

impl Stop {
    /// The link, if it is evaluated together with the one before it.
    #[inline]
    #[must_use]
    pub fn fused_link(self) -> Option<u32> {
        (self.0 & FUSED != 0).then_some(self.0 & !FUSED)
    }

    /// The link, if its packets come together at a confluence.
    #[inline]
    #[must_use]
    pub fn merging_link(self) -> Option<u32> {
        (self.0 & MERGES != 0).then_some(self.0 & !MERGES)
    }

    /// The link, or a gate or a processor, which are numbered behind the links; nothing at the end of the path.
    #[inline]
    #[must_use]
    pub fn server(self) -> Option<u32> {
        (self.0 & END == 0).then_some(self.0 & !(FUSED | MERGES))
    }

    /// The flow whose path ends here, if it does.
    #[inline]
    #[must_use]
    pub fn flow(self) -> Option<u32> {
        (self.0 & END != 0).then_some(self.0 & !(END | REVERSE))
    }

    /// Whether it is the ACKs of a flow whose path ends here.
    #[must_use]
    pub fn is_reverse(self) -> bool {
        self.0 & REVERSE != 0
    }
}

/// The stops of every flow in both directions, one list after the other. A packet on its way carries the
/// position of the stop that it is at.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    stops: Vec<Stop>,
    /// Number of links: stops from here on are gates and processors.
    links: u32,
    /// Of these stops, the node whose processor it is; nothing for gates.
    beyond: Vec<Option<u32>>,
    /// Where the lists of flow f begin: forward at 2f, reverse at 2f + 1. Of several, the first.
    first: Vec<u32>,
    /// Likewise, of flows whose packets take one of several paths, where each begins, and which random numbers lie below those
    /// that choose it and the ones before.
    several: Vec<Vec<(u32, f64)>>,
}

impl Paths {
    /// Finds the path of every flow of the scenario.
    ///
    /// # Errors
    /// A destination that cannot be reached, or a spelled-out path that does not connect.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let mut router = Router::new(scenario);
        let beyond = BeyondLinks::new(scenario);
        let links = scenario.links.len() as u32;
        let mut paths = Self { links, beyond: beyond.nodes(), ..Self::default() };
        for (index, flow) in (0..).zip(&scenario.flows) {
            let spraying = flow.spraying.as_deref();
            let forward = router.path(flow, flow.from, flow.to, flow.path.as_deref())?;
            let others = spraying.map_or(&[][..], |spraying| &spraying.paths);
            let others = router.paths(flow, (flow.from, flow.to), others)?;
            paths.add(END | index, forward, others, &beyond);
            // Datagrams need no path back.
            let (reverse, others) = match flow.transport {
                TransportSpec::Tcp(_) => {
                    let others = spraying.map_or(&[][..], |spraying| &spraying.reverse_paths);
                    let first = router.path(flow, flow.to, flow.from, flow.reverse_path.as_deref())?;
                    (first, router.paths(flow, (flow.to, flow.from), others)?)
                }
                TransportSpec::Udp(_) => (Vec::new(), Vec::new()),
            };
            paths.add(END | REVERSE | index, reverse, others, &beyond);
        }
        Ok(paths)
    }

    /// Adds the list of a path with this end; or those of several, each with its probability.
    fn add(&mut self, end: u32, path: Vec<u32>, several: Vec<(Vec<u32>, f64)>, beyond: &BeyondLinks<'_>) {
        self.first.push(self.stops.len() as u32);
        let mut begin = |path| {
            let begin = self.stops.len() as u32;
            self.stops.extend(beyond.with(path).into_iter().chain([end]).map(Stop));
            begin
        };
        let mut choices = Vec::new();
        if several.len() < 2 {
            begin(path);
        } else {
            let mut below = 0.0;
            for (path, share) in several {
                below += share;
                choices.push((begin(path), below));
            }
        }
        self.several.push(choices);
    }

    /// The position at which a path of flow `flow` begins.
    #[inline]
    #[must_use]
    pub fn begin(&self, flow: u32, reverse: bool) -> u32 {
        self.first[2 * flow as usize + usize::from(reverse)]
    }

    /// The position at which the path of a packet begins that takes one of several, by a random number on [0, 1).
    #[must_use]
    pub fn begin_of(&self, flow: u32, reverse: bool, random: impl FnOnce() -> f64) -> u32 {
        let several = &self.several[2 * flow as usize + usize::from(reverse)];
        let Some(last) = several.len().checked_sub(1) else { return self.begin(flow, reverse) };
        let drawn = random();
        // The shares may sum to less than one, by rounding.
        several[several.partition_point(|&(_, below)| below <= drawn).min(last)].0
    }

    /// Whether the packets of a flow take several paths to its destination.
    #[must_use]
    pub fn is_sprayed(&self, flow: u32) -> bool {
        !self.several[2 * flow as usize].is_empty()
    }

    /// What is at all positions.
    #[must_use]
    pub fn all(&self) -> &[Stop] {
        &self.stops
    }

    /// What is at a position.
    #[inline]
    #[must_use]
    pub fn at(&self, position: u32) -> Stop {
        self.stops[position as usize]
    }

    /// What is before a position on the same path; nothing at its begin.
    #[must_use]
    pub fn before(&self, position: u32) -> Option<u32> {
        position.checked_sub(1).and_then(|before| self.at(before).server())
    }

    /// The flow on whose path a position lies.
    #[must_use]
    pub fn flow_at(&self, position: u32) -> u32 {
        self.stops[position as usize..].iter().find_map(|stop| stop.flow()).unwrap_or_default()
    }

    /// From now on, marks the links for which `fused` is true, and those for which `merges` is. Returns the links
    /// before them.
    pub fn mark(&mut self, fused: impl Fn(u32) -> bool, merges: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut marked = Vec::new();
        let mut before = None;
        for stop in &mut self.stops {
            let link = stop.server().filter(|&server| server < self.links);
            if let Some(link) = link {
                stop.0 |= if fused(link) { FUSED } else { 0 } | if merges(link) { MERGES } else { 0 };
            }
            if stop.0 & (FUSED | MERGES) != 0 {
                marked.extend(before);
            }
            before = link;
        }
        marked
    }

    /// The node whose processor a stop is, if it is one.
    #[must_use]
    pub fn processor_at(&self, stop: u32) -> Option<u32> {
        *self.beyond.get(stop.checked_sub(self.links)? as usize)?
    }

    /// How long packets of a flow take from end to end that wait nowhere, where a link takes as long as `crossing` says.
    #[must_use]
    pub fn unloaded(&self, scenario: &Scenario, flow: u32, crossing: fn(&LinkSpec) -> Crossing) -> Unloaded {
        Unloaded::of(self.each(flow, false).map(|stops| {
            let links = stops.iter().filter(|&&stop| stop < self.links).map(|&link| &scenario.links[link as usize]);
            let nodes = stops.iter().filter_map(|&stop| self.processor_at(stop));
            let processors = nodes.filter_map(|node| scenario.nodes[node as usize].processor.as_ref());
            (links.map(crossing).collect(), processors.map(|spec| (spec.per_packet_s, spec.per_byte_s)).collect())
        }))
    }

    /// How many links there are.
    #[must_use]
    pub fn number_of_links(&self) -> u32 {
        self.links
    }

    /// All stops of the path of flow `flow`; of several, of the first.
    pub fn stops(&self, flow: u32, reverse: bool) -> impl Iterator<Item = u32> {
        self.stops_from(self.begin(flow, reverse))
    }

    fn stops_from(&self, position: u32) -> impl Iterator<Item = u32> {
        self.stops[position as usize..].iter().map_while(|stop| stop.server())
    }

    /// All links of the path of flow `flow`; of several, of the first.
    #[must_use]
    pub fn links(&self, flow: u32, reverse: bool) -> Vec<u32> {
        self.stops(flow, reverse).filter(|&stop| stop < self.links).collect()
    }

    /// The stops of each path of flow `flow`: of several if its packets are sprayed, else of one.
    pub fn each(&self, flow: u32, reverse: bool) -> impl Iterator<Item = Vec<u32>> {
        let several = &self.several[2 * flow as usize + usize::from(reverse)];
        let only = several.is_empty().then(|| self.begin(flow, reverse));
        only.into_iter().chain(several.iter().map(|choice| choice.0)).map(|begin| self.stops_from(begin).collect())
    }

    /// The links of all paths of flow `flow`, those of several paths several times.
    #[must_use]
    pub fn all_links(&self, flow: u32, reverse: bool) -> Vec<u32> {
        self.each(flow, reverse).flatten().filter(|&stop| stop < self.links).collect()
    }

    /// For each link, the only link that feeds it; nothing where a host, a processor or several links do.
    #[must_use]
    pub fn only_feeders(&self) -> Vec<Option<u32>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Fed {
            Never,
            By(u32),
            BySeveral,
        }
        let mut fed = vec![Fed::Never; self.links as usize];
        let mut feeder = None;
        for stop in &self.stops {
            let Some(link) = stop.server().filter(|&server| server < self.links) else {
                feeder = None;
                continue;
            };
            let slot = &mut fed[link as usize];
            *slot = match (*slot, feeder) {
                (Fed::Never, Some(from)) => Fed::By(from),
                (Fed::By(known), Some(from)) if known == from => Fed::By(known),
                _ => Fed::BySeveral,
            };
            feeder = Some(link);
        }
        fed.into_iter().map(|fed| if let Fed::By(link) = fed { Some(link) } else { None }).collect()
    }
}

/// The stops that are no links: a gate before each link with flow control; and a processor at the node where
/// packets begin, at all nodes that forward them, and at the node where they end if it says so.
struct BeyondLinks<'a> {
    scenario: &'a Scenario,
    /// The gate of each link.
    gates: Vec<Option<u32>>,
    /// The processor of each node.
    processors: Vec<Option<u32>>,
}

impl<'a> BeyondLinks<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let mut numbers = scenario.links.len() as u32..;
        let mut stop = |there: bool| if there { numbers.next() } else { None };
        Self {
            scenario,
            gates: scenario.links.iter().map(|link| stop(link.flow_control)).collect(),
            processors: scenario.nodes.iter().map(|node| stop(node.processor.is_some())).collect(),
        }
    }

    /// Of each stop beyond the links, the node whose processor it is; nothing for gates, which come first.
    fn nodes(&self) -> Vec<Option<u32>> {
        let gates = self.gates.iter().flatten().map(|_| None);
        let processors = (0..).zip(&self.processors).filter(|(_, stop)| stop.is_some());
        gates.chain(processors.map(|(node, _)| Some(node))).collect()
    }

    /// A path with the gates and processors on it.
    fn with(&self, path: Vec<u32>) -> Vec<u32> {
        // Flow control needs a processor, too.
        if self.processors.iter().all(Option::is_none) {
            return path;
        }
        let mut stops = Vec::new();
        for &link in &path {
            stops.extend(self.processors[self.scenario.links[link as usize].from as usize]);
            stops.extend(self.gates[link as usize]);
            stops.push(link);
        }
        if let Some(&last) = path.last() {
            let node = self.scenario.links[last as usize].to as usize;
            let receives = self.scenario.nodes[node].processor.as_ref().is_some_and(|processor| processor.receive);
            stops.extend(self.processors[node].filter(|_| receives));
        }
        stops
    }
}

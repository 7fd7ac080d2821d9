//! What lookahead is applied to, found when a simulation is built and marked on the paths of flows.

use super::confluence::Confluence;
use crate::network::link::Link;
use crate::network::topology::Paths;
use crate::scenario::{FlowSpec, Scenario, TrafficSpec, TransportSpec};

/// What is known of the packets that a link delivers, as soon as they are offered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// Nothing: its queue decides at departure, pauses come in between, or packets overtake each other.
    Nothing,
    /// When they come out and in which order, of those that the wire does not lose.
    Times,
    /// That each comes out, too.
    All,
}

/// What of a network is evaluated ahead of its events.
pub(super) struct Plan {
    /// For each link, the only link that feeds it, where the two are evaluated together.
    pub(super) fused: Vec<Option<u32>>,
    /// For each link, whether it leads to a host that only answers.
    pub(super) answering: Vec<bool>,
    /// For each flow, the link on which its ACKs arrive, if they alone move its sending host.
    pub(super) acks_on: Vec<Option<u32>>,
    /// Where routes meet again that part behind one link.
    pub(super) confluences: Vec<Confluence>,
}

impl Plan {
    /// Of the flows of a scenario, on their paths over these links.
    pub(super) fn new(scenario: &Scenario, paths: &Paths, (links, cut): (&[Link], &[bool])) -> Self {
        let network = Network { scenario, paths, links, cut };
        let (fused, answering) = (network.fused_links(), network.links_to_answering_hosts());
        let confluences = network.confluences(&Steps::new(&network, &fused, &answering), &answering);
        Self { fused, answering, acks_on: network.links_of_acks(), confluences }
    }
}

/// A network of which it is asked what can be evaluated ahead of events.
struct Network<'a> {
    scenario: &'a Scenario,
    paths: &'a Paths,
    links: &'a [Link],
    /// Which links end in another part of the network than they begin in; empty where it has no parts.
    cut: &'a [bool],
}

impl Network<'_> {
    /// What is known of the packets that a link delivers: whether lookahead may be applied to it.
    fn known(&self, link: u32) -> Known {
        let at_work = &self.links[link as usize];
        if at_work.managed.is_some() || at_work.reorders() || self.scenario.links[link as usize].flow_control {
            Known::Nothing
        } else if at_work.is_unsure() {
            Known::Times
        } else {
            Known::All
        }
    }

    /// For each link, the only link that feeds it, if it can be evaluated together with that one.
    fn fused_links(&self) -> Vec<Option<u32>> {
        let known = |link: u32| self.known(link) > Known::Nothing;
        let feeders = (0..).zip(self.paths.only_feeders());
        feeders.map(|(link, feeder)| feeder.filter(|&feeder| known(link) && known(feeder))).collect()
    }

    /// The confluences of a network with these steps: links that several others feed, all behind one root, such that everything
    /// in between is evaluated as soon as the root grants.
    ///
    /// A host answers what reaches it when all that was granted before is evaluated as far as hosts. So where hosts answer in
    /// between, the root must not grant packets of several routes at once: it is no confluence itself, nor does a flow begin on it
    /// that sprays its packets, or whose ACKs are sprayed.
    fn confluences(&self, steps: &Steps, answering: &[bool]) -> Vec<Confluence> {
        /// Where routes differ by as much time as the root takes for so many frames, to keep their packets in order costs
        /// more than their events (measured).
        const OUT_OF_ORDER: f64 = 1000.0;
        const FRAME_BYTES: u32 = 1500;
        // Where delays vanish against rounding, nothing is ahead of anything.
        let vanishing_s = 1e-9 * self.scenario.duration_s;
        let mut confluences = Vec::new();
        let mut answered = Vec::new();
        for link in (0..self.links.len() as u32).filter(|&link| self.known(link) > Known::Nothing) {
            let here = |step| step == Onward::Ahead || step == Onward::Link(link);
            let continues = |on: &u32| self.known(*on) == Known::All && steps.behind(*on).all(here);
            let mut routes = Vec::new();
            for step in steps.before(link) {
                let Origin::Link(feeder) = step else { continue };
                let route = steps.route(feeder);
                if route.iter().all(continues) {
                    routes.push(route);
                }
            }
            let roots = || routes.iter().filter_map(|route| route.last());
            let (true, Some(&root)) = (routes.len() > 1 && routes.len() == steps.before(link).count(), roots().next())
            else {
                continue;
            };
            let delay_s = |on: &u32| self.scenario.links[*on as usize].delay_s;
            let delays_s = || routes.iter().map(|route| route.iter().map(delay_s).sum::<f64>());
            let (least_s, most_s) = (delays_s().fold(f64::INFINITY, f64::min), delays_s().fold(0.0, f64::max));
            let frame_s = self.scenario.links[root as usize].wire().transmission_s(FRAME_BYTES);
            let in_order = least_s > vanishing_s && most_s - least_s < OUT_OF_ORDER * frame_s;
            let is_cut = |on: &u32| *on != root && self.cut.get(*on as usize) == Some(&true);
            let in_one_part = !routes.iter().flatten().any(is_cut);
            if in_order && in_one_part && root != link && roots().all(|&other| other == root) {
                let most_links = routes.iter().map(Vec::len).max().unwrap_or_default();
                confluences.push(Confluence::new(link, root, least_s, most_links));
                answered.push(routes.iter().flatten().any(|&on| answering[on as usize]));
            }
        }
        let mut in_bursts: Vec<u32> = confluences.iter().map(|confluence| confluence.link).collect();
        for (index, _) in (0..).zip(&self.scenario.flows).filter(|(_, flow)| flow.spraying.is_some()) {
            in_bursts.extend(self.paths.each(index, false).filter_map(|path| path.into_iter().next()));
        }
        let mut answered = answered.into_iter();
        confluences.retain(|confluence| answered.next() != Some(true) || !in_bursts.contains(&confluence.root));
        confluences
    }

    /// Of each link, whether it leads to a host that only answers: it has TCP receivers that acknowledge each packet at
    /// once, all reached by this link and no processor, and they alone feed the link on which their ACKs leave, without a
    /// processor. What arrives there, and the ACK, is known as soon as the link has granted its service.
    fn links_to_answering_hosts(&self) -> Vec<bool> {
        /// The link into a node and the link out of it, if it has one of each and only answers.
        #[derive(Clone, Copy, PartialEq)]
        enum Host {
            Unused,
            Answers { by: u32, on: u32 },
            Otherwise,
        }
        let is_link = |stop: &&u32| **stop < self.paths.number_of_links();
        let mut hosts = vec![Host::Unused; self.scenario.nodes.len()];
        let mut transit = vec![false; self.links.len()];
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let [forward, reverse] = [false, true].map(|side| self.paths.each(index as u32, side).collect::<Vec<_>>());
            for &link in forward.iter().chain(&reverse).flat_map(|path| path.iter().skip(1)).filter(is_link) {
                transit[link as usize] = true;
            }
            hosts[flow.from as usize] = Host::Otherwise;
            let by = only(forward.iter().map(|path| path.last().copied()));
            let on = only(reverse.iter().map(|path| path.first().copied()));
            let at_once = matches!(&flow.transport, TransportSpec::Tcp(tcp) if tcp.delayed_ack_s.is_none())
                && by.max(on).is_some_and(|stop| is_link(&&stop));
            let host = &mut hosts[flow.to as usize];
            *host = match (*host, by, on) {
                (Host::Unused, Some(by), Some(on)) if at_once => Host::Answers { by, on },
                (Host::Answers { by, on }, Some(last), Some(first)) if at_once && by == last && on == first => *host,
                _ => Host::Otherwise,
            };
        }
        let mut answering = vec![false; self.links.len()];
        for host in hosts {
            if let Host::Answers { by, on } = host {
                answering[by as usize] = !transit[on as usize] && self.known(by) > Known::Nothing;
            }
        }
        answering
    }

    /// For each flow, the link on which its ACKs arrive, if nothing but they moves its sending host, so that the host's reaction
    /// to an ACK is known as soon as the ACK's arrival is: TCP that sends as much as it may, alone at that node.
    fn links_of_acks(&self) -> Vec<Option<u32>> {
        let mut flows_at = vec![0_u32; self.scenario.nodes.len()];
        for (index, flow) in (0..).zip(&self.scenario.flows) {
            let links = [self.paths.all_links(index, false), self.paths.all_links(index, true)].concat();
            let mut nodes: Vec<u32> = links.iter().map(|&link| self.scenario.links[link as usize].to).collect();
            nodes.extend([flow.from, flow.to]);
            nodes.sort_unstable();
            nodes.dedup();
            for node in nodes {
                flows_at[node as usize] += 1;
            }
        }
        let alone = |node: u32| flows_at[node as usize] == 1 && self.scenario.nodes[node as usize].processor.is_none();
        // What a pause does is not known ahead.
        let is_link = |stop: &u32| *stop < self.paths.number_of_links();
        let on_a_link = |flow: u32| self.paths.each(flow, false).all(|path| path.first().is_some_and(is_link));
        let acks_on = |(index, flow): (u32, &FlowSpec)| {
            let bulk = matches!((&flow.transport, &flow.traffic), (TransportSpec::Tcp(_), TrafficSpec::Bulk { .. }));
            let last = only(self.paths.each(index, true).map(|path| path.into_iter().rfind(is_link)));
            let last = last.filter(|&last| self.known(last) > Known::Nothing);
            last.filter(|_| bulk && alone(flow.from) && on_a_link(index))
        };
        (0..).zip(&self.scenario.flows).map(acks_on).collect()
    }
}

/// What all are, if they are the same.
fn only(mut each: impl Iterator<Item = Option<u32>>) -> Option<u32> {
    let first = each.next()??;
    each.all(|other| other == Some(first)).then_some(first)
}

/// Where what a link takes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// From this link, together with which it is evaluated, or from the answering host at its end.
    Ahead(u32),
    /// From this link.
    Link(u32),
    /// From anything else.
    Elsewhere,
}

/// Where what a link delivers goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Onward {
    /// To a link or a host that is evaluated together with it.
    Ahead,
    /// To this link.
    Link(u32),
    /// To anything else.
    Elsewhere,
}

/// Before and behind each link, the steps of all paths; sorted, each once.
struct Steps {
    before: Vec<(u32, Origin)>,
    behind: Vec<(u32, Onward)>,
}

impl Steps {
    /// Of the paths in a network in which these links are fused, and those lead to answering hosts.
    fn new(network: &Network<'_>, fused: &[Option<u32>], answering: &[bool]) -> Self {
        let Network { paths, scenario, .. } = network;
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        let is_link = |stop: u32| stop < paths.number_of_links();
        for flow in 0..scenario.flows.len() as u32 {
            // The route back begins where the one there ends, at an answering host or elsewhere.
            let mut begin = Origin::Elsewhere;
            for reverse in [false, true] {
                let mut end = Origin::Elsewhere;
                for stops in paths.each(flow, reverse) {
                    let mut origin = begin;
                    for (place, &stop) in stops.iter().enumerate() {
                        before.push((stop, origin));
                        let (next, then) = match stops.get(place + 1) {
                            Some(&next) if fused.get(next as usize) == Some(&Some(stop)) => {
                                (Onward::Ahead, Origin::Ahead(stop))
                            }
                            Some(&next) if is_link(stop) && is_link(next) => (Onward::Link(next), Origin::Link(stop)),
                            None if !reverse && answering.get(stop as usize) == Some(&true) => {
                                (Onward::Ahead, Origin::Ahead(stop))
                            }
                            _ => (Onward::Elsewhere, Origin::Elsewhere),
                        };
                        behind.push((stop, next));
                        origin = then;
                    }
                    end = origin;
                }
                begin = end;
            }
        }
        before.sort_unstable();
        before.dedup();
        behind.sort_unstable();
        behind.dedup();
        Self { before, behind }
    }

    fn before(&self, link: u32) -> impl Iterator<Item = Origin> {
        let first = self.before.partition_point(|step| step.0 < link);
        self.before[first..].iter().take_while(move |step| step.0 == link).map(|step| step.1)
    }

    fn behind(&self, link: u32) -> impl Iterator<Item = Onward> {
        let first = self.behind.partition_point(|step| step.0 < link);
        self.behind[first..].iter().take_while(move |step| step.0 == link).map(|step| step.1)
    }

    /// The links from `link` back to the one with which it is evaluated, that one at the end.
    fn route(&self, mut link: u32) -> Vec<u32> {
        let mut route = vec![link];
        while let (Some(Origin::Ahead(previous)), 1) = (self.before(link).next(), self.before(link).count()) {
            route.push(previous);
            link = previous;
        }
        route
    }
}

//! What of a way can be evaluated as soon as what precedes it is, ahead of its time.

use crate::network::confluence::Confluence;
use crate::network::link::Link;
use crate::network::server::Wire;
use crate::network::topology::Paths;
use crate::scenario::{FlowSpec, Scenario, TrafficSpec, TransportSpec};

/// For each link, the only link that feeds it, if it can be evaluated together with that one: unless a queue decides at
/// departure, or what feeds it comes out of order.
#[must_use]
pub fn fused_links(paths: &Paths, links: &[Link]) -> Vec<Option<u32>> {
    let managed = |link: u32| links[link as usize].managed.is_some();
    let mut feeders = paths.only_feeders();
    for (link, feeder) in (0..).zip(&mut feeders) {
        *feeder = feeder.filter(|&feeder| !managed(link) && !managed(feeder) && !links[feeder as usize].reorders());
    }
    feeders
}

/// The confluences of a network in which these links are fused, and those lead to answering hosts: links that several
/// others feed, all behind one root, such that everything in between is evaluated as soon as the root grants.
#[must_use]
pub fn confluences(
    scenario: &Scenario,
    paths: &Paths,
    links: &[Link],
    fused: &[Option<u32>],
    answering: &[bool],
) -> Vec<Confluence> {
    /// Where ways differ by as much time as the root takes for so many frames, to keep their packets in order costs more
    /// than their events (measured).
    const OUT_OF_ORDER: f64 = 1000.0;
    const FRAME_BYTES: u32 = 1500;
    // Where delays vanish against rounding, nothing is ahead of anything.
    let vanishing_s = 1e-9 * scenario.duration_s;
    let steps = Steps::new(scenario, paths, fused, answering);
    let managed = |link: u32| links[link as usize].managed.is_some();
    // What it grants comes out at its other end, and is known there at once.
    let plain =
        |link: u32| !managed(link) && !links[link as usize].is_unsure() && !scenario.links[link as usize].flow_control;
    let mut confluences = Vec::new();
    for link in (0..links.len() as u32).filter(|&link| !managed(link)) {
        let here = |step: &Onward| matches!(step, Onward::Ahead) || *step == Onward::Link(link);
        let goes_on = |on: &u32| plain(*on) && steps.behind(*on).all(|step| here(&step));
        let mut ways = Vec::new();
        for step in steps.before(link) {
            let Origin::Link(feeder) = step else { continue };
            let way = steps.way(feeder);
            if way.iter().all(goes_on) {
                ways.push(way);
            }
        }
        let roots = || ways.iter().filter_map(|way| way.last());
        let (true, Some(&root)) = (ways.len() > 1 && ways.len() == steps.before(link).count(), roots().next()) else {
            continue;
        };
        let delays_s = || ways.iter().map(|way| way.iter().map(|&on| scenario.links[on as usize].delay_s).sum::<f64>());
        let (least_s, most_s) = (delays_s().fold(f64::INFINITY, f64::min), delays_s().fold(0.0, f64::max));
        let frame_s = Wire::new(&scenario.links[root as usize]).transmission_s(FRAME_BYTES);
        let in_order = least_s > vanishing_s && most_s - least_s < OUT_OF_ORDER * frame_s;
        if in_order && root != link && roots().all(|&other| other == root) {
            let most_links = ways.iter().map(Vec::len).max().unwrap_or_default();
            confluences.push(Confluence::new(link, root, least_s, most_links));
        }
    }
    confluences
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

/// Before and behind each link, the steps of all ways; sorted, each once.
struct Steps {
    before: Vec<(u32, Origin)>,
    behind: Vec<(u32, Onward)>,
}

impl Steps {
    fn new(scenario: &Scenario, paths: &Paths, fused: &[Option<u32>], answering: &[bool]) -> Self {
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        let is_link = |stop: u32| stop < paths.number_of_links();
        let answers = |link: &u32| answering.get(*link as usize) == Some(&true);
        for flow in 0..scenario.flows.len() as u32 {
            let [forward, reverse] = [false, true].map(|side| paths.stops(flow, side).collect::<Vec<_>>());
            let answered = forward.last().copied().filter(answers);
            let begin = [Origin::Elsewhere, answered.map_or(Origin::Elsewhere, Origin::Ahead)];
            let end = [answered.map_or(Onward::Elsewhere, |_| Onward::Ahead), Onward::Elsewhere];
            for (stops, (begin, end)) in [forward, reverse].iter().zip(begin.into_iter().zip(end)) {
                before.extend(stops.first().map(|&first| (first, begin)));
                behind.extend(stops.last().map(|&last| (last, end)));
                for step in stops.windows(2) {
                    let ahead = fused.get(step[1] as usize) == Some(&Some(step[0]));
                    let (origin, onward) = match (ahead, is_link(step[0]), is_link(step[1])) {
                        (true, ..) => (Origin::Ahead(step[0]), Onward::Ahead),
                        (_, true, true) => (Origin::Link(step[0]), Onward::Link(step[1])),
                        _ => (Origin::Elsewhere, Onward::Elsewhere),
                    };
                    before.push((step[1], origin));
                    behind.push((step[0], onward));
                }
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
    fn way(&self, mut link: u32) -> Vec<u32> {
        let mut way = vec![link];
        while let (Some(Origin::Ahead(previous)), 1) = (self.before(link).next(), self.before(link).count()) {
            way.push(previous);
            link = previous;
        }
        way
    }
}

/// The links whose packets end at a host that only answers: it has TCP receivers that acknowledge each
/// packet at once, all reached by this link and no processor, and they alone feed the link on which their
/// ACKs leave, without a processor.
/// What arrives there, and the ACK, is known as soon as the link has granted its service.
#[must_use]
pub fn links_to_answering_hosts(scenario: &Scenario, paths: &Paths) -> Vec<bool> {
    /// The link into a node and the link out of it, if it has one of each and only answers.
    #[derive(Clone, Copy, PartialEq)]
    enum Host {
        Unused,
        Answers { by: u32, on: u32 },
        Otherwise,
    }
    let is_link = |stop: &&u32| **stop < paths.number_of_links();
    let mut hosts = vec![Host::Unused; scenario.nodes.len()];
    let mut transit = vec![false; scenario.links.len()];
    for (index, flow) in scenario.flows.iter().enumerate() {
        let [forward, reverse] = [false, true].map(|side| paths.stops(index as u32, side).collect::<Vec<_>>());
        for &link in forward.iter().skip(1).chain(reverse.iter().skip(1)).filter(is_link) {
            transit[link as usize] = true;
        }
        hosts[flow.from as usize] = Host::Otherwise;
        let at_once = matches!(&flow.transport, TransportSpec::Tcp(tcp) if tcp.delayed_ack_s.is_none())
            && forward.last().max(reverse.first()).is_some_and(|stop| is_link(&stop));
        let host = &mut hosts[flow.to as usize];
        *host = match (*host, forward.last(), reverse.first()) {
            (Host::Unused, Some(&by), Some(&on)) if at_once => Host::Answers { by, on },
            (Host::Answers { by, on }, Some(&last), Some(&first)) if at_once && by == last && on == first => *host,
            _ => Host::Otherwise,
        };
    }
    let mut answering = vec![false; scenario.links.len()];
    for host in hosts {
        if let Host::Answers { by, on } = host {
            answering[by as usize] = !transit[on as usize] && !scenario.links[by as usize].reorders();
        }
    }
    answering
}

/// For each flow, whether nothing but it touches its sending host, so that the host's reaction to an ACK
/// is known as soon as the ACK's arrival is: TCP that sends as much as it may, alone at that node.
#[must_use]
pub fn flows_alone_at_their_host(scenario: &Scenario, paths: &Paths) -> Vec<bool> {
    let mut flows_at = vec![0_u32; scenario.nodes.len()];
    for (index, flow) in scenario.flows.iter().enumerate() {
        let links = [paths.links(index as u32, false), paths.links(index as u32, true)].concat();
        let mut nodes: Vec<u32> = links.iter().map(|&link| scenario.links[link as usize].to).collect();
        nodes.extend([flow.from, flow.to]);
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            flows_at[node as usize] += 1;
        }
    }
    let reacts =
        |flow: &FlowSpec| matches!((&flow.transport, &flow.traffic), (TransportSpec::Tcp(_), TrafficSpec::Bulk { .. }));
    let alone = |node: u32| flows_at[node as usize] == 1 && scenario.nodes[node as usize].processor.is_none();
    // What a pause does is not known ahead.
    let on_a_link = |flow: u32| paths.stops(flow, false).next().is_some_and(|stop| stop < paths.number_of_links());
    // Nor is what comes between ACKs that overtake each other.
    let in_order =
        |flow: u32| !paths.links(flow, true).last().is_some_and(|&link| scenario.links[link as usize].reorders());
    (0..)
        .zip(&scenario.flows)
        .map(|(index, flow)| reacts(flow) && alone(flow.from) && on_a_link(index) && in_order(index))
        .collect()
}

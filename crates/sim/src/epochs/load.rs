//! The load to be expected at each node: by it a network is cut into parts, and known beforehand how many threads help.

use super::flows::FlowPaths;
use super::routes::Routes;
use crate::network::processor::ProcessorSpec;
use crate::scenario::unloaded::Crossing;
use crate::scenario::{FlowSpec, LinkSpec, Scenario, TrafficSpec, TransportSpec, UsersSpec};

/// What the hosts at both ends of a path cost for a packet, in crossings of a link.
const HOSTS: [f64; 2] = [3.0, 3.0];
/// What the sender and the receiver of a flow cost for a packet that is acknowledged, likewise (measured on W4 and W6).
const FLOW_ENDS: [f64; 2] = [3.0, 1.0];

/// What is to be expected in a second of simulated time.
#[derive(Clone, Debug)]
pub struct Load {
    /// Crossings of links, by the node where the links begin; what hosts cost is among them.
    pub of_nodes: Vec<f64>,
    /// Crossings of each link.
    pub of_links: Vec<f64>,
}

impl Load {
    fn cross(&mut self, scenario: &Scenario, link: u32, per_s: f64) {
        self.of_links[link as usize] += per_s;
        self.of_nodes[scenario.links[link as usize].from as usize] += per_s;
    }

    fn end(&mut self, nodes: [u32; 2], costs: [f64; 2], per_s: f64) {
        nodes.into_iter().zip(costs).for_each(|(node, cost)| self.of_nodes[node as usize] += cost * per_s);
    }

    /// Of all nodes.
    #[must_use]
    pub fn all(&self) -> f64 {
        self.of_nodes.iter().sum()
    }
}

/// The load of a scenario.
///
/// A guess from the scenario alone: of flows that share a link or a processor each has as much of it as the others, and nothing
/// is lost.
#[must_use]
pub fn loads(scenario: &Scenario, routes: &Routes, paths: &FlowPaths) -> Load {
    let mut load = Load { of_nodes: vec![0.0; scenario.nodes.len()], of_links: vec![0.0; scenario.links.len()] };
    let mut first = 0;
    for group in &scenario.users {
        add_users(group, first, scenario, routes, &mut load);
        first += group.sites.len() as u16;
    }
    for group in &scenario.scatter {
        let active = share_of_run(scenario, group.start_s, group.stop_s);
        // Each sends to all others alike.
        let packets_per_s = group.packets_per_s * active / (group.nodes.len() as f64 - 1.0).max(1.0);
        for &from in &group.nodes {
            for (place, &to) in (0..).zip(&group.nodes) {
                if from != to {
                    add(scenario, routes, (from, to, first + place), packets_per_s, &mut load);
                }
            }
        }
        first += group.nodes.len() as u16;
    }
    add_flows(scenario, paths, &mut load);
    load
}

/// The share of the run between two times.
fn share_of_run(scenario: &Scenario, start_s: f64, stop_s: f64) -> f64 {
    ((stop_s.min(scenario.duration_s) - start_s) / scenario.duration_s).clamp(0.0, 1.0)
}

/// Packets of `size` bytes that a link carries in a second.
fn carries_pps(link: &LinkSpec, size: u32) -> f64 {
    link.carries_bps(size) / (8.0 * f64::from(size))
}

/// Packets of `size` bytes that a processor serves in a second.
fn serves_pps(spec: &ProcessorSpec, size: u32) -> f64 {
    1.0 / (spec.interrupt_s + spec.per_packet_s + spec.per_byte_s * f64::from(size))
}

/// Adds packets from a node to another, which is a destination.
fn add(scenario: &Scenario, routes: &Routes, ends: (u32, u32, u16), packets_per_s: f64, load: &mut Load) {
    let (from, to, destination) = ends;
    for link in routes.path(&scenario.links, from, destination).unwrap_or_default() {
        load.cross(scenario, link, packets_per_s);
    }
    load.end([from, to], HOSTS, packets_per_s);
}

fn add_users(group: &UsersSpec, first: u16, scenario: &Scenario, routes: &Routes, load: &mut Load) {
    let size = group.tcp.packet_bytes();
    let receivers: f64 = group.sites.iter().map(|site| f64::from(site.receivers)).sum();
    let file: f64 = group.files.iter().map(|file| file.share * file.mean_packets).sum();
    let mut pairs = Vec::new();
    for (from, a) in group.sites.iter().enumerate() {
        let elsewhere = (receivers - f64::from(a.receivers)).max(1.0);
        for (to, b) in group.sites.iter().enumerate().filter(|(to, _)| *to != from) {
            let share = f64::from(b.receivers) / elsewhere;
            pairs.push(((from, a.node), (to, b.node), f64::from(a.sources) * share));
        }
    }
    // A transfer for each time to think, as long as no link has more to carry than it can.
    let per_source = file / group.think.mean_s();
    let mut carried = vec![0.0; scenario.links.len()];
    for &((_, from), (to, _), weight) in &pairs {
        for link in routes.path(&scenario.links, from, first + to as u16).unwrap_or_default() {
            carried[link as usize] += weight * per_source;
        }
    }
    let excess = (scenario.links.iter().zip(&carried))
        .map(|(link, carried)| carried / carries_pps(link, size))
        .fold(1.0, f64::max);
    for ((from, a), (to, b), weight) in pairs {
        let packets_per_s = weight * per_source / excess;
        // There the data, back the acknowledgements.
        add(scenario, routes, (a, b, first + to as u16), packets_per_s, load);
        add(scenario, routes, (b, a, first + from as u16), packets_per_s, load);
    }
    for flow in &group.long_lived {
        let (a, b) = (group.sites[flow.from as usize].node, group.sites[flow.to as usize].node);
        let interface = &group.interfaces[flow.interface as usize];
        let interface_pps = interface.rate_pps.unwrap_or(interface.rate_bps / (8.0 * f64::from(size)));
        let path = routes.path(&scenario.links, a, first + flow.to as u16).unwrap_or_default();
        let links = path.iter().map(|&link| carries_pps(&scenario.links[link as usize], size));
        // Beside the others, who are many.
        let packets_per_s = links.fold(interface_pps, f64::min) / excess;
        add(scenario, routes, (a, b, first + flow.to as u16), packets_per_s, load);
        add(scenario, routes, (b, a, first + flow.from as u16), packets_per_s, load);
    }
}

fn add_flows(scenario: &Scenario, paths: &FlowPaths, load: &mut Load) {
    let flows = || (0..).zip(&scenario.flows);
    let end = |link: u32| scenario.links[link as usize].to as usize;
    let (mut sharing, mut sharing_ends) = (vec![0.0; scenario.links.len()], vec![0.0; scenario.nodes.len()]);
    for (index, flow) in flows() {
        let active = share_of_run(scenario, flow.start_s, flow.stop_s) / paths.paths.each(index, false).count() as f64;
        for link in paths.paths.all_links(index, false) {
            sharing[link as usize] += active;
            sharing_ends[end(link)] += active;
        }
    }
    for (index, flow) in flows() {
        let [there, back] = [false, true].map(|reverse| paths.paths.all_links(index, reverse));
        // As if each of several had the same share.
        let [paths_there, paths_back] = [false, true].map(|reverse| paths.paths.each(index, reverse).count() as f64);
        let size = flow.transport.packet_bytes();
        let share = |&link: &u32| {
            let of_link = carries_pps(&scenario.links[link as usize], size) / sharing[link as usize].max(1.0);
            let processor = scenario.nodes[end(link)].processor.as_ref();
            processor.map_or(of_link, |spec| of_link.min(serves_pps(spec, size) / sharing_ends[end(link)].max(1.0)))
        };
        let fair_pps = there.iter().map(share).fold(f64::INFINITY, f64::min);
        let round_trip_s = paths.paths.unloaded(scenario, index, Crossing::of).seconds(size);
        let packets_per_s = fair_pps.min(offered_pps(flow, 2.0 * round_trip_s, scenario));
        if packets_per_s.is_finite() {
            let acks_per_s = if matches!(flow.transport, TransportSpec::Tcp(_)) { packets_per_s } else { 0.0 };
            let crossings = there.iter().map(|link| (link, packets_per_s / paths_there));
            let crossings = crossings.chain(back.iter().map(|link| (link, acks_per_s / paths_back)));
            for (&link, per_s) in crossings {
                load.cross(scenario, link, per_s);
            }
            load.end([flow.from, flow.to], FLOW_ENDS, packets_per_s);
        }
    }
}

/// Packets in a second of the run that the application and the receiver's window of a flow allow.
fn offered_pps(flow: &FlowSpec, round_trip_s: f64, scenario: &Scenario) -> f64 {
    let active = share_of_run(scenario, flow.start_s, flow.stop_s);
    let bytes = flow.transport.packet_bytes();
    let offered = match &flow.traffic {
        TrafficSpec::Bulk { bytes: Some(size) } => *size as f64 / f64::from(bytes) / scenario.duration_s,
        TrafficSpec::Bulk { bytes: None } | TrafficSpec::Saturate {} => f64::INFINITY,
        TrafficSpec::Cbr { pace, .. } => active / pace.interval_s(bytes),
        TrafficSpec::OnOff { pace, on, off } => {
            active / pace.interval_s(bytes) * on.mean_s() / (on.mean_s() + off.mean_s())
        }
        TrafficSpec::Video(video) => active * (video.frame_bytes / f64::from(bytes)).max(1.0) / video.interval_s,
    };
    match &flow.transport {
        TransportSpec::Tcp(tcp) => offered.min(active * tcp.window_packets / round_trip_s),
        TransportSpec::Udp(_) => offered,
    }
}

//! Which hops of a path were busy throughout a round trip. A sender asks, to tell a network that is full from a window
//! that is small.
//!
//! One packet of each round trip, or of several where few packets make one
//! ([`accounting`](crate::transport::accounting)), carries a mark ([`Packet::ends_round`]). Where it joins a hop, it is
//! noted how long that hop has transmitted so far. From one such packet to the next of the same flow the difference is the
//! share of that time for which the hop was busy. It depends on the hop's own sequence of packets alone, so that it is the
//! same whether hops are evaluated by events or ahead of them.

use std::collections::HashMap;

use crate::network::queue::QueueSpec;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::scenario::{LinkSpec, Scenario, TransportSpec};
use crate::time::Time;

/// A hop that was busy for this share of a round trip was busy throughout: what the flow does not use is too little to
/// gain by, and controls that pace leave as much unused on purpose (Linux's BBR paces 1 % below its estimate, and empties
/// the queue in one round of eight).
const THROUGHOUT: f64 = 0.95;

/// A hop, as the flow's last marked packet found it.
#[derive(Clone, Copy, Debug)]
struct Passage {
    at_s: f64,
    busy_s: f64,
    /// The sequence number of that packet: copies that are retransmitted do not count.
    seq: u32,
    /// The same of the last packet since whose predecessor the hop was busy throughout.
    full: u32,
}

/// The hops of all TCP flows, on the paths of their data, that may be saturated.
#[derive(Clone, Debug)]
pub struct Saturation {
    hops: Vec<Passage>,
    /// Where those of flow f begin, and behind all flows where they end.
    first: Vec<u32>,
    /// For each position on a path, which of them it is, if it is one.
    at: Vec<u32>,
}

/// A hop of a flow that was busy throughout a round trip, which ends with the ACK of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Full {
    hop: u32,
    seq: u32,
}

/// At a position where nothing is looked at.
const NONE: u32 = u32::MAX;

/// Whether a link may carry less than its rate says.
fn may_be_slower(link: &LinkSpec) -> bool {
    let shapes = matches!(&link.queue, QueueSpec::Cake(cake) if cake.rate_bps.is_some());
    shapes || link.shaper.is_some() || link.rate.is_some() || link.outages.is_some() || link.arq.is_some()
}

/// The stops of a flow's path; of several paths, each once.
fn stops(paths: &Paths, flow: u32, reverse: bool) -> Vec<u32> {
    let mut stops: Vec<u32> = paths.each(flow, reverse).flatten().collect();
    if paths.each(flow, reverse).count() > 1 {
        stops.sort_unstable();
        stops.dedup();
    }
    stops
}

impl Saturation {
    /// Of the flows on these paths, before anything was sent.
    #[must_use]
    pub fn new(scenario: &Scenario, paths: &Paths) -> Self {
        let flows = || (0..).zip(&scenario.flows);
        let mut users = Vec::new();
        for (index, _) in flows() {
            for stop in stops(paths, index, false).into_iter().chain(stops(paths, index, true)) {
                users.resize(users.len().max(stop as usize + 1), 0_u32);
                users[stop as usize] += 1;
            }
        }
        let mut looked_at = vec![true; users.len()];
        for (index, flow) in flows() {
            let TransportSpec::Tcp(tcp) = &flow.transport else { continue };
            let size = tcp.packet_bytes();
            let service_s = |link: u32| scenario.links[link as usize].wire().transmission_s(size);
            let path = paths.all_links(index, false);
            let slowest =
                path.iter().copied().reduce(|slow, link| if service_s(link) > service_s(slow) { link } else { slow });
            let mut before = None;
            for stop in paths.each(index, false).flatten() {
                if let Some(link) = scenario.links.get(stop as usize)
                    && users[stop as usize] == 1
                    && Some(stop) != slowest
                    && !may_be_slower(link)
                {
                    // With flow control, packets join the gate before the link.
                    for stop in before.filter(|_| link.flow_control).into_iter().chain([stop]) {
                        looked_at[stop as usize] = false;
                    }
                }
                before = Some(stop);
            }
        }
        let (mut first, mut at, mut hops) = (vec![0], Vec::new(), 0);
        for (index, flow) in flows() {
            if matches!(flow.transport, TransportSpec::Tcp(_)) {
                at.resize(paths.begin(index, false) as usize, NONE);
                // On several paths a hop is the same one.
                let mut known = HashMap::new();
                let sprayed = flow.spraying.is_some();
                for path in paths.each(index, false) {
                    for stop in path {
                        let next = hops;
                        let hop = if sprayed { *known.entry(stop).or_insert(next) } else { next };
                        at.push(if looked_at[stop as usize] { hop } else { NONE });
                        hops += u32::from(looked_at[stop as usize] && hop == next);
                    }
                    at.push(NONE);
                }
            }
            first.push(hops);
        }
        // Packets with data have numbers from 1 on.
        let never = Passage { at_s: f64::NAN, busy_s: 0.0, seq: 0, full: 0 };
        Self { hops: vec![never; hops as usize], first, at }
    }

    /// A marked packet joins a hop at `now`, where the server has been busy for so many seconds: whether it was throughout
    /// the round trip.
    pub fn pass(&mut self, packet: Packet, now: Time, busy_s: impl FnOnce() -> f64) -> Option<Full> {
        let (seq, hop) = (packet.seq(), self.at[packet.position() as usize]);
        let last = self.hops.get_mut(hop as usize)?;
        if seq <= last.seq {
            return None;
        }
        let (now_s, busy_s) = (now.seconds(), busy_s());
        // Not a number, and so false, for the first that passes.
        let full = busy_s - last.busy_s >= THROUGHOUT * (now_s - last.at_s);
        if full {
            last.full = seq;
        }
        (last.at_s, last.busy_s, last.seq) = (now_s, busy_s, seq);
        full.then_some(Full { hop, seq })
    }

    /// Another part of the network says that a hop was busy throughout.
    pub fn hear(&mut self, Full { hop, seq }: Full) {
        self.hops[hop as usize].full = seq;
    }

    fn of(&self, flow: u32) -> &[Passage] {
        &self.hops[self.first[flow as usize] as usize..self.first[flow as usize + 1] as usize]
    }

    /// Whether a hop of a flow was busy throughout the round trip at the end of which the packet `seq` was acknowledged.
    #[must_use]
    pub fn is_full(&self, flow: u32, seq: i32) -> bool {
        self.of(flow).iter().any(|hop| hop.full == seq as u32)
    }
}

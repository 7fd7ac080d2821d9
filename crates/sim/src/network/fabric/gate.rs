//! Ethernet flow control (IEEE 802.3x): the queue of a link whose transmitter pauses while the input ring at
//! its far end is full. None of it is touched where no link has it.
//!
//! Other links compute departures on arrival. Here they depend on what happens at the far end, so the packets
//! wait at a stop of their own before the link, the gate, which puts one at a time on the line: when the one
//! before it has left, and the ring is not full. Without a pause all times are those of a link without it.

use std::collections::VecDeque;

use crate::error::ScenarioError;
use crate::events::{Entity, Key};
use crate::network::fabric::Fabric;
use crate::network::link::managed::HeldCounts;
use crate::network::node::Nodes;
use crate::network::queue::{Arrival, Queue, Verdict};
use crate::network::server::ServerTotals;
use crate::network::sources::Sources;
use crate::network::wire::Wire;
use crate::packet::Packet;
use crate::probe::{Probe, Seen};
use crate::scenario::Scenario;
use crate::time::Time;

/// The queue of a link with flow control.
#[derive(Clone, Debug)]
pub struct Gate {
    link: u32,
    /// Who may join.
    queue: Queue,
    /// Packets that wait, and when they came, in seconds.
    waiting: VecDeque<(Packet, f64)>,
    waiting_bytes: u64,
    /// Bytes of the packet that was last put on the line.
    on_line_bytes: u32,
    /// When that packet has left, in seconds.
    departure: f64,
    /// The line is free, and the ring at its far end is full.
    paused: bool,
    /// That ring: of which processor in the list, and which of its rings.
    ring: (usize, u32),
    /// Since when there was always something to transmit, in seconds.
    busy_since: f64,
    /// The event of the near host's processor, if it holds a packet until there is room.
    pub(super) holder: Option<Entity>,
    /// Packets of the near host that its processor has served during a pause. They still count in its ring.
    set_aside: VecDeque<Packet>,
    /// Saturating sources that it pushes back.
    pub(super) sources: Sources,
    /// Of the packets that came.
    pub(super) counts: HeldCounts,
}

impl Gate {
    /// What a packet of `size` bytes finds while `on_line` packets are on the line.
    fn arrival(&self, now: Time, on_line: usize, size: u32, capable: bool) -> Arrival {
        let serving_bytes = if on_line > 0 { u64::from(self.on_line_bytes) } else { 0 };
        Arrival {
            now,
            packets: self.waiting.len() + on_line,
            bytes: self.waiting_bytes + serving_bytes,
            serving_bytes,
            free_s: self.departure,
            size,
            capable,
        }
    }

    /// Whether the queue would take such a packet now. One that even an empty queue refuses need not wait.
    fn has_room(&self, arrival: &Arrival) -> bool {
        arrival.packets == 0 || self.queue.has_room(arrival)
    }

    /// Packets waiting.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Seconds for which what waits will occupy the line.
    pub(super) fn backlog_s(&self, wire: &Wire) -> f64 {
        self.waiting.iter().map(|(packet, _)| wire.transmission_s(packet.size())).sum()
    }

    /// Whether there was always something to transmit, from `since` to `now`.
    pub(super) fn busy_throughout(&self, since: Time, now: Time) -> bool {
        let still = !self.waiting.is_empty() || self.departure >= now.seconds();
        still && self.busy_since <= since.seconds()
    }

    /// What it did before `end`, with what the line did.
    pub(super) fn totals(&self, line: ServerTotals, end: Time) -> ServerTotals {
        let waiting_s = |sum_s: f64, &(_, since_s): &(Packet, f64)| sum_s + (end.seconds() - since_s);
        self.counts.totals(line, self.waiting.len(), self.waiting.iter().fold(self.counts.waiting_s, waiting_s))
    }

    /// Random numbers that the queue has drawn.
    pub(super) fn random_draws(&self) -> u64 {
        self.queue.random_draws()
    }

    /// Whether packets of the near host for which there is no room are set aside, rather than held: they
    /// cannot join before the pause is over.
    pub(super) fn sets_aside(&self) -> bool {
        self.paused || !self.set_aside.is_empty()
    }
}

/// The queues of all links with flow control.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    /// In the order of the links.
    list: Vec<Gate>,
    /// For each link its gate; empty where no link has one.
    of_link: Vec<Option<u32>>,
}

impl Gates {
    /// The empty queues of a scenario with these processors.
    ///
    /// # Errors
    /// A link with flow control ends where no processor could pause it, or its queue needs a line that never
    /// pauses.
    pub fn new(scenario: &Scenario, nodes: &Nodes) -> Result<Self, ScenarioError> {
        let mut gates = Self::default();
        if scenario.links.iter().all(|link| !link.flow_control) {
            return Ok(gates);
        }
        for (link, spec) in (0..).zip(&scenario.links) {
            gates.of_link.push(spec.flow_control.then_some(gates.list.len() as u32));
            if !spec.flow_control {
                continue;
            }
            let wrong = |expected: &str| ScenarioError::link(&spec.name, "flow_control", "true", expected);
            let ring = (nodes.ring_at_end(link, spec.to))
                .ok_or_else(|| wrong("a processor at its far end, whose input ring pauses it"))?;
            let queue = Queue::new(&spec.queue, spec.site(scenario.profile, scenario.seed));
            if spec.queue.decides_at_departure() || queue.needs().free_line {
                return Err(wrong(
                    "a queue that looks at its length: drop-tail, threshold or red, as delays depend on pauses",
                ));
            }
            gates.list.push(Gate {
                link,
                queue,
                waiting: VecDeque::new(),
                waiting_bytes: 0,
                on_line_bytes: 0,
                // Before the first event, so that the line is idle when it comes.
                departure: -1.0,
                paused: false,
                ring,
                busy_since: 0.0,
                holder: None,
                set_aside: VecDeque::new(),
                sources: Sources::default(),
                counts: HeldCounts::new(),
            });
        }
        Ok(gates)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Random numbers that their queues have drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.list.iter().map(Gate::random_draws).sum()
    }

    /// The gate with this index.
    pub(super) fn get_mut(&mut self, gate: usize) -> &mut Gate {
        &mut self.list[gate]
    }

    /// The index of the gate of a link, if it has one.
    pub(super) fn index_of(&self, link: u32) -> Option<usize> {
        self.of_link.get(link as usize).copied().flatten().map(|gate| gate as usize)
    }

    pub(super) fn of(&self, link: u32) -> Option<&Gate> {
        self.index_of(link).map(|gate| &self.list[gate])
    }

    /// The link behind a gate.
    pub(super) fn link(&self, gate: usize) -> u32 {
        self.list[gate].link
    }
}

impl<P: Probe> Fabric<P> {
    /// Offers a packet to the queue of a link with flow control.
    pub(super) fn offer_gate(&mut self, index: usize, packet: Packet, now: Key) {
        let gate = &mut self.gates.list[index];
        let on_line = self.links[gate.link as usize].server.advance(now);
        let (at_s, size, seen) = (now.time.seconds(), packet.size(), Seen::new(&packet, &self.paths));
        let arrival = gate.arrival(now.time, on_line, size, packet.is_capable());
        let marked = match gate.queue.admit(&arrival) {
            Verdict::Take => packet,
            Verdict::Mark => {
                gate.counts.marked += 1;
                packet.marked()
            }
            Verdict::Refuse(refusal) => {
                gate.counts.dropped += 1;
                self.probe.dropped(now, gate.link, seen, self.nodes.rings.drop_reason(gate.link, refusal));
                self.lose(&packet);
                return;
            }
        };
        if packet.ends_round() {
            let server = &self.links[gate.link as usize].server;
            self.saturation.pass(packet, now.time, || server.busy_until(now.time));
        }
        self.probe.queued(now, gate.link, seen);
        gate.waiting.push_back((marked, at_s));
        gate.waiting_bytes += u64::from(size);
        if arrival.packets > 0 {
            // While it pauses none is on the line, and the first of them waits, too.
            gate.counts.most_waiting = gate.counts.most_waiting.max(arrival.packets + usize::from(gate.paused));
            return;
        }
        if at_s > gate.departure {
            gate.busy_since = at_s;
        }
        self.transmit(index, now);
        let gate = &mut self.gates.list[index];
        gate.counts.most_waiting = gate.counts.most_waiting.max(gate.waiting.len());
    }

    /// The event of a gate: the packet on the line has left it.
    pub(super) fn departed(&mut self, index: usize, key: Key) {
        let link = self.gates.list[index].link;
        // A packet that came in the same instant, before this event, may have taken the line already.
        if self.links[link as usize].server.advance(key) == 0 {
            self.transmit(index, key);
        }
        self.make_room(index, key);
    }

    /// A packet has left the ring at the end of a link.
    pub(super) fn end_pause(&mut self, link: u32, now: Key) {
        if let Some(index) = self.gates.index_of(link)
            && self.gates.list[index].paused
        {
            self.transmit(index, now);
        }
    }

    /// The line is free: puts the next packet on it, if there is one and the ring at its far end is not full.
    /// What is on the wire when that ring fills still finds a place there, so it never drops.
    fn transmit(&mut self, index: usize, now: Key) {
        let gate = &mut self.gates.list[index];
        let Some(&(packet, since_s)) = gate.waiting.front() else { return };
        let ((node, ring), size) = (gate.ring, packet.size());
        gate.paused = !self.nodes.list[node].takes(ring, size);
        if gate.paused {
            return;
        }
        gate.waiting.pop_front();
        gate.waiting_bytes -= u64::from(size);
        self.probe.dequeued(now, gate.link, Seen::new(&packet, &self.paths));
        let gate_entity = self.first_link + (self.links.len() + index) as u32;
        let link = &mut self.links[gate.link as usize];
        let service = link.server.transmit(now, size);
        gate.counts.leaves(since_s, link.server.begun(now.time), &link.server);
        gate.on_line_bytes = size;
        gate.departure = service.departure.seconds();
        self.queue.push(service.departure_key(gate_entity));
        let (packet, passage) = link.pass(packet.forwarded(), &service);
        let index = gate.link;
        self.set_off(index, packet, passage, service.delivery_key(self.first_link + index));
    }

    /// A packet has left the line: there may be room for those that its host's processor has set aside or
    /// holds, or for a source that waits.
    fn make_room(&mut self, index: usize, key: Key) {
        while let Some(&packet) = self.gates.list[index].set_aside.front()
            && self.has_room(index, packet.size(), key)
        {
            self.gates.list[index].set_aside.pop_front();
            self.let_go(index, packet, key);
        }
        let gate = &mut self.gates.list[index];
        if let Some(holder) = gate.holder.take() {
            self.queue.push(key.with_entity(holder));
        }
        if let Some(source) = gate.sources.next()
            && self.has_room(index, source.size, key)
        {
            self.gates.list[index].sources.wake();
            self.queue.push(key.with_entity(self.first_source + source.flow));
        }
    }

    /// Whether a gate takes a packet of its host, which comes behind those that were set aside.
    pub(super) fn gate_takes(&mut self, index: usize, size: u32, now: Key) -> bool {
        self.gates.list[index].set_aside.is_empty() && self.has_room(index, size, now)
    }

    /// Whether the queue of a gate has room for a packet that would rather wait than be dropped.
    fn has_room(&mut self, index: usize, size: u32, now: Key) -> bool {
        let gate = &self.gates.list[index];
        let on_line = self.links[gate.link as usize].server.advance(now);
        gate.has_room(&gate.arrival(now.time, on_line, size, false))
    }

    /// Sets a packet aside that the near host's processor has served, until the gate has room.
    pub(super) fn set_aside(&mut self, index: usize, packet: Packet) {
        self.probe.joined((self.links.len() + index) as u32, Seen::new(&packet, &self.paths));
        self.gates.list[index].set_aside.push_back(packet);
    }
}

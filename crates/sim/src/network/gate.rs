//! Ethernet flow control (IEEE 802.3x): the queue of a link whose transmitter pauses while the input ring at
//! its far end is full. None of it is touched where no link has it.
//!
//! Other links compute departures on arrival. Here they hang on what happens at the far end, so the packets
//! wait at a stop of their own before the link, the gate, which puts one at a time on the line: when the one
//! before it has left, and the ring is not full. Without a pause all times are those of a link without it.

use std::collections::VecDeque;

use crate::error::ScenarioError;
use crate::events::{Entity, Key};
use crate::network::fabric::Fabric;
use crate::network::node::Nodes;
use crate::network::queue::{Arrival, Queue};
use crate::network::server::ServerTotals;
use crate::network::sources::Sources;
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
    dropped: u64,
    most_waiting: usize,
    waiting_s: f64,
}

impl Gate {
    /// What a packet of `size` bytes finds while `on_line` packets are on the line.
    fn arrival(&self, now: Time, on_line: usize, size: u32) -> Arrival {
        let on_line_bytes = if on_line > 0 { u64::from(self.on_line_bytes) } else { 0 };
        Arrival { now, packets: self.waiting.len() + on_line, bytes: self.waiting_bytes + on_line_bytes, size }
    }

    /// Whether the queue would take such a packet now. One that even an empty queue refuses need not wait.
    fn has_room(&self, arrival: &Arrival) -> bool {
        // A copy is asked: looking changes nothing.
        arrival.packets == 0 || self.queue.clone().admit(arrival)
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
    /// A link with flow control ends where no processor could pause it.
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
            let ring = nodes.ring_at_end(link, spec.to).ok_or_else(|| ScenarioError::Link {
                link: spec.name.clone(),
                key: "flow_control",
                value: "true".into(),
                expected: "a processor at its far end, whose input ring pauses it".into(),
            })?;
            gates.list.push(Gate {
                link,
                queue: Queue::new(&spec.queue, scenario.profile),
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
                dropped: 0,
                most_waiting: 0,
                waiting_s: 0.0,
            });
        }
        Ok(gates)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The gate with this index.
    pub(super) fn get_mut(&mut self, gate: usize) -> &mut Gate {
        &mut self.list[gate]
    }

    /// The index of the gate of a link, if it has one.
    pub(super) fn index_of(&self, link: u32) -> Option<usize> {
        self.of_link.get(link as usize).copied().flatten().map(|gate| gate as usize)
    }

    fn of(&self, link: u32) -> Option<&Gate> {
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
        let arrival = gate.arrival(now.time, on_line, size);
        if !gate.queue.admit(&arrival) {
            gate.dropped += 1;
            self.probe.dropped(now, gate.link, seen, self.nodes.drop_reason(gate.link));
            self.lose(packet.position(), packet.is_reverse(), packet.blocks());
            return;
        }
        self.probe.queued(now, gate.link, seen);
        gate.waiting.push_back((packet, at_s));
        gate.waiting_bytes += u64::from(size);
        if arrival.packets > 0 {
            // While it pauses none is on the line, and the first of them waits, too.
            gate.most_waiting = gate.most_waiting.max(arrival.packets + usize::from(gate.paused));
            return;
        }
        if at_s > gate.departure {
            gate.busy_since = at_s;
        }
        self.transmit(index, now);
        let gate = &mut self.gates.list[index];
        gate.most_waiting = gate.most_waiting.max(gate.waiting.len());
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
        gate.waiting_s += now.time.seconds() - since_s;
        self.probe.dequeued(now, gate.link);
        let gate_entity = self.first_link + (self.links.len() + index) as u32;
        let link = &mut self.links[gate.link as usize];
        let service = link.server.transmit(now, size);
        gate.on_line_bytes = size;
        gate.departure = service.departure.seconds();
        let key = |time, entity| Key::new(time, service.start, service.precedence, entity);
        self.queue.push(key(service.departure, gate_entity));
        let mut packet = packet.forwarded().served(service.start, service.precedence);
        if service.delivery >= self.end {
            link.note_late();
        } else if link.lossy && link.loses_next() {
            packet = packet.lost();
        }
        if link.flight.is_empty() {
            self.queue.push(key(service.delivery, self.first_link + gate.link));
        }
        link.flight.push_back(packet);
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
        gate.has_room(&gate.arrival(now.time, on_line, size))
    }

    /// Sets a packet aside that the near host's processor has served, until the gate has room.
    pub(super) fn set_aside(&mut self, index: usize, packet: Packet) {
        self.probe.joined((self.links.len() + index) as u32, Seen::new(&packet, &self.paths));
        self.gates.list[index].set_aside.push_back(packet);
    }
}

/// A link and its queue, seen as one.
impl<P> Fabric<P> {
    /// Packets waiting at a link, without the one in service.
    pub fn waiting(&mut self, link: u32, now: Key) -> usize {
        match self.gates.of(link) {
            Some(gate) => gate.waiting.len(),
            None => self.links[link as usize].server.waiting(now),
        }
    }

    /// Packets that the queue of a link has refused so far.
    #[must_use]
    pub fn refused(&self, link: u32) -> u64 {
        self.gates.of(link).map_or_else(|| self.links[link as usize].server.dropped(), |gate| gate.dropped)
    }

    /// Whether a link had something to transmit throughout, from `since` to `now`.
    #[must_use]
    pub fn busy_throughout(&self, link: u32, since: Time, now: Time) -> bool {
        match self.gates.of(link) {
            Some(gate) => {
                let still = !gate.waiting.is_empty() || gate.departure >= now.seconds();
                still && gate.busy_since <= since.seconds()
            }
            None => self.links[link as usize].server.busy_throughout(since, now),
        }
    }

    /// What a link and its queue did before the end of the run.
    #[must_use]
    pub fn totals(&self, link: u32) -> ServerTotals {
        let totals = self.links[link as usize].server.totals();
        let Some(gate) = self.gates.of(link) else { return totals };
        let waiting_s = |sum_s: f64, &(_, since_s): &(Packet, f64)| sum_s + (self.end.seconds() - since_s);
        ServerTotals {
            packets_in: totals.packets_in + gate.waiting.len() as u64 + gate.dropped,
            packets_dropped: gate.dropped,
            waiting_s: gate.waiting.iter().fold(gate.waiting_s, waiting_s),
            queue_max_packets: gate.most_waiting as u64,
            ..totals
        }
    }
}

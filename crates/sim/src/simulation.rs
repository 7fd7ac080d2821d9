//! The loop: takes the next event, lets it happen, until the end.

use crate::congestion::Controls;
use crate::events::{self, Entity, Key};
use crate::network::fabric::Fabric;
use crate::packet::{Kind, Packet};
use crate::probe::Probe;
use crate::probe::series::Series;
use crate::scenario::Scenario;
use crate::time::Time;
use crate::traffic::pulse::Pulse;
use crate::transport::connection::Connection;
use crate::transport::datagram::DatagramFlow;
use crate::transport::ecn::Signs;
use crate::transport::receiver::Receiver;
use crate::transport::sender::{Env, Sender};
use crate::transport::timer::{APPLICATION, DELAYED_ACK, PACING, RETRANSMISSION, TIMERS};

mod build;
pub(crate) mod checks;
mod sampler;

use sampler::Sampled;

/// A number that changes whenever a change of the engine changes results: stored runs of another
/// number are not reused.
pub const ENGINE_BEHAVIOUR: u32 = 11;

/// The numbers of entities: the sampler, starts and stops, looks at confluences, links, gates, processors, timers,
/// sources that wait.
#[derive(Clone, Copy, Debug)]
struct Entities {
    first_link: Entity,
    first_timer: Entity,
    first_source: Entity,
}

const SAMPLER: Entity = 0;

impl Entities {
    fn new(scenario: &Scenario) -> Self {
        let first_link = events::first_link(scenario.flows.len());
        let gates = scenario.links.iter().filter(|link| link.flow_control).count();
        let processors = scenario.nodes.iter().filter(|node| node.processor.is_some()).count();
        let first_timer = first_link + (scenario.links.len() + gates + processors) as u32;
        Self { first_link, first_timer, first_source: first_timer + TIMERS * scenario.flows.len() as u32 }
    }

    fn timer(self, flow: u32, timer: u32) -> Entity {
        self.first_timer + flow * TIMERS + timer
    }
}

/// Both ends of a TCP connection.
#[derive(Debug)]
pub struct TcpFlow {
    /// Index of its parameters.
    connection: u32,
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    /// The link on which its ACKs arrive, if they alone move the sending host.
    acks_on: Option<u32>,
    /// When the application stops.
    stop: Time,
}

impl TcpFlow {
    /// Tells the link on which its ACKs arrive until when the sending host does nothing but react to them.
    #[inline]
    fn tell_reaction<P>(&self, fabric: &mut Fabric<P>, now: Time) {
        if let Some(link) = self.acks_on {
            let until = self.sender.reacts_until();
            let until = if now < self.stop { until.min(self.stop) } else { until };
            fabric.links[link as usize].host_reacts_until = until;
        }
    }
}

/// The ends of a flow: an index into the arena of its transport.
#[derive(Clone, Copy, Debug)]
enum Endpoint {
    Tcp(u32),
    Udp(u32),
}

/// One run of a scenario.
#[derive(Debug)]
pub struct Simulation<'a, P> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) fabric: Fabric<P>,
    pub(crate) series: Series,
    controls: Controls,
    connections: Vec<Connection>,
    tcp: Vec<TcpFlow>,
    udp: Vec<DatagramFlow>,
    endpoints: Vec<Endpoint>,
    /// ACKs that were evaluated through to a sender which has an event before them.
    late: Vec<(Key, Packet)>,
    /// How often hosts answered each other for long without an event.
    long: u32,
    pulses: Vec<Option<Pulse>>,
    running: Vec<bool>,
    entities: Entities,
    end: Time,
    events: u64,
    sampled: Sampled,
}

impl<P: Probe> Simulation<'_, P> {
    /// Runs to the end. `interrupted` is asked every few thousand events, and told the simulated time in seconds; true
    /// stops the run there.
    ///
    /// # Errors
    /// `interrupted` said so.
    pub fn run(&mut self, mut interrupted: impl FnMut(f64) -> bool) -> Result<(), Interrupted> {
        const EVENTS_BETWEEN_QUESTIONS: u64 = 1 << 12;
        while let Some(key) = self.fabric.queue.pop_before(self.end) {
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_BETWEEN_QUESTIONS) && interrupted(key.words().0) {
                return Err(Interrupted);
            }
            if key.entity() >= self.entities.first_timer {
                self.timer(key);
            } else if key.entity() >= self.entities.first_link {
                // One call of what is the busiest, so that it stays in line.
                if (self.late.is_empty() || !self.arrive_late(key))
                    && let Some(packet) = self.fabric.deliver(key)
                {
                    let (words, (time, caused_at, rank)) = (packet.words(), key.words());
                    self.arrive(words.0, words.1, words.2, rank, time, caused_at);
                }
            } else {
                self.control(key);
            }
            self.hand_over(&mut interrupted)?;
        }
        self.fabric.finish();
        Ok(())
    }

    /// Hands over the packets that were evaluated through to an answering host, and evaluates the ACKs.
    #[inline]
    fn hand_over(&mut self, interrupted: &mut impl FnMut(f64) -> bool) -> Result<(), Interrupted> {
        /// Hosts that only react may answer each other for long, even to the end of the run.
        const LONG: usize = 1 << 10;
        const LONG_BETWEEN_QUESTIONS: u32 = 1 << 2;
        if self.fabric.arrived.is_empty() {
            return Ok(());
        }
        // Of the first it was asked just now, when it was evaluated.
        let (mut next, mut ask) = (0, !self.late.is_empty());
        while let Some(arrived) = self.fabric.arrived.get(next) {
            let (key, packet) = (arrived.key(), arrived.packet());
            let ((stamp, identity, state), (time, caused_at, rank)) = (packet.words(), key.words());
            next += 1;
            if next == LONG {
                self.fabric.arrived.drain(..next);
                next = 0;
                self.long += 1;
                if self.long.is_multiple_of(LONG_BETWEEN_QUESTIONS) && interrupted(time) {
                    return Err(Interrupted);
                }
            }
            if ask && packet.is_reverse() && self.comes_too_late(packet.flow(), time) {
                // It has the event after all that it would have had.
                self.fabric.queue.push(key);
                self.late.push((key, packet));
                continue;
            }
            self.arrive(stamp, identity, state, rank, time, caused_at);
            // An ACK that comes after this one was evaluated before it, or because of it.
            ask |= packet.is_reverse();
        }
        self.fabric.arrived.clear();
        Ok(())
    }

    /// Whether an ACK that was evaluated through to its sender comes after an event of that host: one of the ACKs
    /// before it may have set a timer, or have to wait itself.
    #[inline]
    fn comes_too_late(&self, flow: u32, time: f64) -> bool {
        let Endpoint::Tcp(index) = self.endpoints[flow as usize] else { return false };
        let Some(link) = self.tcp[index as usize].acks_on else { return false };
        time >= self.fabric.links[link as usize].host_reacts_until.seconds()
            || self.late.iter().any(|(_, packet)| packet.flow() == flow)
    }

    /// An event of a link: whether it is that of an ACK which waits, and now has arrived.
    #[cold]
    fn arrive_late(&mut self, key: Key) -> bool {
        let Some(place) = self.late.iter().position(|late| late.0 == key) else { return false };
        let ((stamp, identity, state), (time, caused_at, rank)) = (self.late.remove(place).1.words(), key.words());
        self.arrive(stamp, identity, state, rank, time, caused_at);
        true
    }

    /// A packet has reached the end of its path.
    #[inline(never)]
    fn arrive(&mut self, stamp: u64, identity: u64, state: u64, rank: u64, time: f64, caused_at: f64) {
        let packet = &Packet::from_words((stamp, identity, state));
        let endpoint = self.endpoints[packet.flow() as usize];
        // Made for each from its words, so that none of them needs it whole in memory.
        let now = || Key::from_words((time, caused_at, rank));
        match (endpoint, packet.kind()) {
            (Endpoint::Tcp(index), Kind::Ack) => {
                let opened;
                let (blocks, echo) = match packet.blocks() {
                    None => (&[][..], packet.sent()),
                    Some(handle) => {
                        opened = self.fabric.sacks.take(handle);
                        (opened.0.as_slice(), opened.1)
                    }
                };
                let flow = &mut self.tcp[index as usize];
                let connection = &self.connections[flow.connection as usize];
                let (controls, marked) = (&mut self.controls, packet.is_marked());
                let mut env = Env { network: &mut self.fabric, controls, connection, now: now(), echo, marked };
                flow.sender.receive(&mut env, packet.seq(), blocks);
                flow.tell_reaction(&mut self.fabric, Time::new(time));
            }
            (Endpoint::Tcp(index), _) => {
                let receiver = &mut self.tcp[index as usize].receiver;
                if receiver.reads_marks() {
                    receiver.send_owed(&mut self.fabric, now(), Signs::of(packet));
                }
                receiver.receive(&mut self.fabric, now(), packet);
            }
            (Endpoint::Udp(index), _) => self.udp[index as usize].receive(&mut self.fabric, now(), packet),
        }
    }

    fn timer(&mut self, now: Key) {
        if now.entity() >= self.entities.first_source {
            self.source(now);
            return;
        }
        let number = now.entity() - self.entities.first_timer;
        let (flow, timer) = (number / TIMERS, number % TIMERS);
        match (timer, self.endpoints[flow as usize]) {
            (RETRANSMISSION, Endpoint::Tcp(index)) => self.with_sender(index, now, Sender::timer),
            (DELAYED_ACK, Endpoint::Tcp(index)) => {
                self.tcp[index as usize].receiver.timer(&mut self.fabric, now);
            }
            (APPLICATION, _) => self.pulse(flow, now),
            (PACING, Endpoint::Tcp(index)) => self.with_sender(index, now, Sender::pacing_timer),
            _ => {}
        }
    }

    /// It is the turn of a source that was pushed back.
    fn source(&mut self, now: Key) {
        let flow = now.entity() - self.entities.first_source;
        self.fabric.begin_turn(flow);
        match self.endpoints[flow as usize] {
            Endpoint::Tcp(index) => self.with_sender(index, now, Sender::resume),
            Endpoint::Udp(index) if self.running[flow as usize] => {
                self.udp[index as usize].saturate(&mut self.fabric, now);
            }
            Endpoint::Udp(_) => {}
        }
        self.fabric.end_turn(flow, now);
    }

    fn with_sender(&mut self, index: u32, now: Key, act: impl FnOnce(&mut Sender, &mut Env<'_, Fabric<P>>)) {
        let flow = &mut self.tcp[index as usize];
        let connection = &self.connections[flow.connection as usize];
        let (network, controls) = (&mut self.fabric, &mut self.controls);
        let mut env = Env { network, controls, connection, now, echo: Time::ZERO, marked: false };
        act(&mut flow.sender, &mut env);
        flow.tell_reaction(&mut self.fabric, now.time);
    }

    /// A start, a stop, a sample or a look at the confluences.
    fn control(&mut self, now: Key) {
        if now.entity() == SAMPLER {
            self.sample(now);
            return;
        }
        if now.entity() == events::look(self.entities.first_link) {
            self.fabric.look(now);
            return;
        }
        let (flow, stop) = ((now.entity() - 1) / 2, (now.entity() - 1) % 2 == 1);
        self.running[flow as usize] = !stop;
        if stop {
            match self.endpoints[flow as usize] {
                Endpoint::Tcp(index) => self.with_sender(index, now, Sender::stop),
                Endpoint::Udp(index) => self.udp[index as usize].stop(&mut self.fabric, now),
            }
            return;
        }
        match &mut self.pulses[flow as usize] {
            Some(pulse) => {
                pulse.start(now.time);
                self.pulse(flow, now);
            }
            None => match self.endpoints[flow as usize] {
                Endpoint::Tcp(index) => self.with_sender(index, now, Sender::start),
                Endpoint::Udp(index) => self.udp[index as usize].saturate(&mut self.fabric, now),
            },
        }
    }

    /// The application of a flow offers a packet and sets the time of its next.
    fn pulse(&mut self, flow: u32, now: Key) {
        if !self.running[flow as usize] {
            return;
        }
        let bytes = match self.endpoints[flow as usize] {
            Endpoint::Tcp(index) => {
                self.with_sender(index, now, Sender::push);
                self.connections[self.tcp[index as usize].connection as usize].full_size()
            }
            Endpoint::Udp(index) => {
                let datagrams = &mut self.udp[index as usize];
                match &mut self.pulses[flow as usize] {
                    Some(Pulse::Video(video)) => {
                        let cut = video.cut();
                        datagrams.send_frame(&mut self.fabric, now, cut);
                        cut.bytes
                    }
                    _ => datagrams.send(&mut self.fabric, now),
                }
            }
        };
        if let Some(pulse) = &mut self.pulses[flow as usize] {
            let next = now.time + pulse.pause_s(now.time, bytes);
            let entity = self.entities.timer(flow, APPLICATION);
            self.fabric.queue.push(Key::new(next, now.time, now.precedence_of_effects(), entity));
        }
    }

    /// Events handled.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Links on which ways meet again that part behind one link, evaluated without events.
    #[must_use]
    pub fn confluences(&self) -> usize {
        self.fabric.confluences.len()
    }

    /// Link crossings, data and ACKs.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.fabric.links.iter().map(|link| link.packets_delivered()).sum()
    }

    /// Random numbers drawn, ns-2's agents' clocks not counted.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let links = self.fabric.random_draws();
        let pulses: u64 = self.pulses.iter().flatten().map(Pulse::random_draws).sum();
        let senders: u64 = self.tcp.iter().map(|flow| flow.sender.random_draws()).sum();
        let sizes: u64 = self.udp.iter().map(DatagramFlow::random_draws).sum();
        links + pulses + senders + sizes
    }

    /// A TCP flow with its parameters, by index of the flow.
    pub(crate) fn tcp_flow(&self, flow: usize) -> Option<(&TcpFlow, &Connection)> {
        match self.endpoints[flow] {
            Endpoint::Tcp(index) => {
                let flow = &self.tcp[index as usize];
                Some((flow, &self.connections[flow.connection as usize]))
            }
            Endpoint::Udp(_) => None,
        }
    }

    /// A UDP flow, by index of the flow.
    pub(crate) fn udp_flow(&self, flow: usize) -> Option<&DatagramFlow> {
        match self.endpoints[flow] {
            Endpoint::Udp(index) => Some(&self.udp[index as usize]),
            Endpoint::Tcp(_) => None,
        }
    }
}

/// The run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

//! The loop: takes the next event, lets it happen, until the end.

use crate::congestion::external::NoMaker;
use crate::congestion::{Controls, Maker};
use crate::error::ScenarioError;
use crate::events::{self, Entity, Key};
use crate::network::fabric::Fabric;
use crate::network::link::Link;
use crate::network::queue::{QueueSpec, Site};
use crate::network::topology::{Paths, flows_alone_at_their_host};
use crate::packet::{Kind, Packet};
use crate::probe::Probe;
use crate::probe::series::Series;
use crate::random::Stream;
use crate::scenario::{FlowSpec, Profile, QueueLimit, Recovery, Scenario, TcpSpec, TrafficSpec, TransportSpec};
use crate::time::Time;
use crate::traffic::pulse::Pulse;
use crate::transport::connection::Connection;
use crate::transport::datagram::{DatagramFlow, Fragments};
use crate::transport::ecn::{Feedback, Signs};
use crate::transport::ns2;
use crate::transport::receiver::Receiver;
use crate::transport::sender::{Env, Sender};

mod sampler;

use sampler::Sampled;

/// A number that changes whenever a change of the engine changes results: stored runs of another
/// number are not reused.
pub const ENGINE_BEHAVIOUR: u32 = 3;

/// Timers of a flow, in the order of their entities.
const TIMERS: u32 = 4;
const RETRANSMISSION: u32 = 0;
const DELAYED_ACK: u32 = 1;
const APPLICATION: u32 = 2;
const PACING: u32 = 3;

/// The numbers of entities: the sampler, starts and stops, links, gates, processors, timers, sources that
/// wait.
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
    pulses: Vec<Option<Pulse>>,
    running: Vec<bool>,
    entities: Entities,
    end: Time,
    events: u64,
    sampled: Sampled,
}

impl<'a, P: Probe> Simulation<'a, P> {
    /// Builds the network and the flows of a scenario.
    ///
    /// # Errors
    /// What only the engine can see to be wrong: unreachable destinations, broken paths, packets that
    /// no link on the path carries, an unknown congestion control.
    pub fn new(scenario: &'a Scenario, probe: P) -> Result<Self, ScenarioError> {
        Self::with_controls(scenario, probe, &mut NoMaker)
    }

    /// The same, of a scenario with congestion controls that live outside of the engine.
    ///
    /// # Errors
    /// As above, and what `maker` finds to be wrong.
    pub fn with_controls(scenario: &'a Scenario, probe: P, maker: &mut dyn Maker) -> Result<Self, ScenarioError> {
        let entities = Entities::new(scenario);
        let first = (entities.first_link, entities.first_source);
        let fabric = Fabric::new(scenario, first, probe, |paths| watched(scenario, paths))?;
        let mut simulation = Self {
            scenario,
            fabric,
            series: Series::default(),
            controls: Controls::default(),
            connections: Vec::new(),
            tcp: Vec::new(),
            udp: Vec::new(),
            endpoints: Vec::new(),
            pulses: Vec::new(),
            running: vec![false; scenario.flows.len()],
            entities,
            end: Time::new(scenario.duration_s),
            events: 0,
            sampled: Sampled::default(),
        };
        let phases = match scenario.profile {
            Profile::Ns2 => ns2::clock_phases(scenario).0,
            Profile::Rfc | Profile::Linux => vec![0.0; scenario.flows.len()],
        };
        let alone = flows_alone_at_their_host(scenario, &simulation.fabric.paths);
        for (index, (flow, phase_s)) in scenario.flows.iter().zip(phases).enumerate() {
            simulation.add_flow(index as u32, flow, phase_s, alone[index] && P::ALLOWS_FUSION, maker)?;
        }
        simulation.schedule_samples();
        Ok(simulation)
    }

    fn add_flow(
        &mut self,
        index: u32,
        flow: &FlowSpec,
        phase_s: f64,
        alone: bool,
        maker: &mut dyn Maker,
    ) -> Result<(), ScenarioError> {
        let start = Time::planned(flow.start_s);
        let endpoint = match &flow.transport {
            TransportSpec::Tcp(tcp) => {
                check_size(
                    flow,
                    "tcp.payload",
                    tcp.payload_bytes,
                    tcp.header_bytes.max(tcp.ack_bytes + MOST_SACK_BYTES),
                )?;
                let bytes = if let TrafficSpec::Bulk { bytes } = flow.traffic { bytes } else { None };
                let connection = Connection::new(tcp, self.scenario.profile, bytes);
                check_recovery(flow, tcp.recovery, self.scenario.profile)?;
                let control = match tcp.congestion.external {
                    None => self.controls.add(&tcp.congestion),
                    Some(_) => maker.make(&tcp.congestion, &flow.label).map(|made| self.controls.connect(made)),
                };
                let control = control.map_err(|expected| ScenarioError::Flow {
                    flow: flow.label.clone(),
                    key: "tcp.congestion",
                    value: format!("{:?}", tcp.congestion.kind),
                    expected,
                })?;
                let bottleneck = slowest(self.scenario, &self.fabric.paths.links(index, false));
                let retransmission = self.entities.timer(index, RETRANSMISSION);
                let mut sender = Sender::new(&connection, index, retransmission, control, bottleneck, phase_s, start);
                let samples = self.controls.samples_delivery(control);
                if samples {
                    check_samples(flow, tcp)?;
                }
                if samples || tcp.pacing {
                    let random = || Stream::new(self.scenario.seed, &flow.group, flow.index, "congestion");
                    sender.pace(self.entities.timer(index, PACING), samples.then(random));
                }
                let feedback = feedback(flow, tcp.ecn, self.controls.reads_marks(control))?;
                let delayed_ack = self.entities.timer(index, DELAYED_ACK);
                let receiver = Receiver::new(tcp, self.scenario.profile, feedback, index, delayed_ack);
                let connection = self.connection(connection);
                let acks_on = if alone { self.fabric.paths.links(index, true).last().copied() } else { None };
                let stop = Time::planned(flow.stop_s);
                self.tcp.push(TcpFlow { connection, sender, receiver, acks_on, stop });
                Endpoint::Tcp(self.tcp.len() as u32 - 1)
            }
            TransportSpec::Udp(udp) => {
                check_size(flow, "udp.payload", udp.payload_bytes, udp.header_bytes)?;
                let path = self.fabric.paths.links(index, false);
                let mtu = path.iter().filter_map(|&link| self.scenario.links[link as usize].mtu_bytes).min();
                let fragments = Fragments::new(udp, mtu);
                let mut datagrams = DatagramFlow::new(index, udp, fragments);
                if let (TrafficSpec::Saturate {}, Some(&first)) = (&flow.traffic, path.first()) {
                    check_pushes_back(self.scenario, first, fragments.size)?;
                    datagrams = datagrams.saturating(start, first);
                }
                self.udp.push(datagrams);
                Endpoint::Udp(self.udp.len() as u32 - 1)
            }
        };
        self.endpoints.push(endpoint);
        self.pulses.push(Pulse::new(flow, self.scenario.seed));
        let queue = &mut self.fabric.queue;
        queue.push(Key::planned(start, 1 + 2 * index));
        if flow.stop_s < self.scenario.duration_s {
            queue.push(Key::planned(Time::planned(flow.stop_s), 2 + 2 * index));
        }
        Ok(())
    }

    /// Connections of one group usually have equal parameters: they share them.
    fn connection(&mut self, connection: Connection) -> u32 {
        let same = |known: &Connection| known.tcp == connection.tcp && known.bytes == connection.bytes;
        if !self.connections.last().is_some_and(same) {
            self.connections.push(connection);
        }
        self.connections.len() as u32 - 1
    }

    /// Runs to the end. `interrupted` is asked now and then; true stops the run there.
    ///
    /// # Errors
    /// `interrupted` said so.
    pub fn run(&mut self, mut interrupted: impl FnMut() -> bool) -> Result<(), Interrupted> {
        const EVENTS_BETWEEN_QUESTIONS: u64 = 1 << 20;
        while let Some(key) = self.fabric.queue.pop_before(self.end) {
            self.events += 1;
            if self.events.is_multiple_of(EVENTS_BETWEEN_QUESTIONS) && interrupted() {
                return Err(Interrupted);
            }
            if key.entity() >= self.entities.first_timer {
                self.timer(key);
            } else if key.entity() >= self.entities.first_link {
                if let Some(packet) = self.fabric.deliver(key) {
                    let (words, (time, caused_at, rank)) = (packet.words(), key.words());
                    self.arrive(words.0, words.1, words.2, rank, time, caused_at);
                }
            } else {
                self.control(key);
            }
            self.hand_over();
        }
        self.fabric.finish();
        Ok(())
    }

    /// Hands over the packets that were evaluated through to an answering host, and evaluates the ACKs.
    #[inline]
    fn hand_over(&mut self) {
        /// Hosts that only react may answer each other for long.
        const LONG: usize = 1024;
        if self.fabric.arrived.is_empty() {
            return;
        }
        let mut next = 0;
        while let Some((key, packet)) = self.fabric.arrived.get(next) {
            let ((stamp, identity, state), (time, caused_at, rank)) = (packet.words(), key.words());
            next += 1;
            if next == LONG {
                self.fabric.arrived.drain(..next);
                next = 0;
            }
            self.arrive(stamp, identity, state, rank, time, caused_at);
        }
        self.fabric.arrived.clear();
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
                let mut env = Env { fabric: &mut self.fabric, controls, connection, now: now(), echo, marked };
                flow.sender.receive(&mut env, packet.seq(), blocks);
                flow.tell_reaction(&mut self.fabric, Time::new(time));
            }
            (Endpoint::Tcp(index), _) => {
                let receiver = &mut self.tcp[index as usize].receiver;
                if receiver.reads_marks() {
                    send_owed(receiver, &mut self.fabric, Signs::of(packet), (time, caused_at, rank));
                }
                let Fabric { queue, sacks, .. } = &mut self.fabric;
                if let Some(ack) = receiver.receive(queue, sacks, now(), packet) {
                    self.fabric.send(ack, now());
                }
            }
            (Endpoint::Udp(index), _) => self.udp[index as usize].receive(now(), packet),
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
                let receiver = &mut self.tcp[index as usize].receiver;
                if let Some(ack) = receiver.timer(&mut self.fabric.queue, now) {
                    self.fabric.send(ack, now);
                }
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

    fn with_sender(&mut self, index: u32, now: Key, act: impl FnOnce(&mut Sender, &mut Env<'_, P>)) {
        let flow = &mut self.tcp[index as usize];
        let connection = &self.connections[flow.connection as usize];
        let (fabric, controls) = (&mut self.fabric, &mut self.controls);
        let mut env = Env { fabric, controls, connection, now, echo: Time::ZERO, marked: false };
        act(&mut flow.sender, &mut env);
        flow.tell_reaction(&mut self.fabric, now.time);
    }

    /// A start, a stop or a sample.
    fn control(&mut self, now: Key) {
        if now.entity() == SAMPLER {
            self.sample(now);
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
        match self.endpoints[flow as usize] {
            Endpoint::Tcp(index) => self.with_sender(index, now, Sender::push),
            Endpoint::Udp(index) => {
                let datagrams = &mut self.udp[index as usize];
                match &mut self.pulses[flow as usize] {
                    Some(Pulse::Video(video)) => datagrams.send_frame(&mut self.fabric, now, video.cut()),
                    _ => datagrams.send(&mut self.fabric, now),
                }
            }
        }
        if let Some(pulse) = &mut self.pulses[flow as usize] {
            let next = now.time + pulse.pause_s(now.time);
            let entity = self.entities.timer(flow, APPLICATION);
            self.fabric.queue.push(Key::new(next, now.time, now.precedence_of_effects(), entity));
        }
    }

    /// Events handled.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
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
        links + pulses + senders
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

/// Sends the ACK that must not cover the packet which comes now, if one is owed; the key in words.
#[cold]
fn send_owed<P: Probe>(
    receiver: &mut Receiver,
    fabric: &mut Fabric<P>,
    signs: Signs,
    (time, caused_at, rank): (f64, f64, u64),
) {
    if let Some(ack) = receiver.owed(signs) {
        fabric.send(ack, Key::from_words((time, caused_at, rank)));
    }
}

/// Bytes that SACK blocks may add to an ACK.
const MOST_SACK_BYTES: u32 = 4 + 8 * 3;

/// IP has sixteen bits for the length of a packet, and so has this engine.
fn check_size(flow: &FlowSpec, key: &'static str, payload: u32, header: u32) -> Result<(), ScenarioError> {
    let largest = u32::from(u16::MAX) - header.min(u32::from(u16::MAX));
    if payload <= largest {
        return Ok(());
    }
    Err(ScenarioError::Flow {
        flow: flow.label.clone(),
        key,
        value: format!("\"{payload} B\""),
        expected: format!("an IP packet has at most 65535 bytes: at most {largest} B of payload here"),
    })
}

/// A control that is told of each delivery needs acknowledgements of each.
fn check_samples(flow: &FlowSpec, tcp: &TcpSpec) -> Result<(), ScenarioError> {
    if tcp.recovery.acknowledges_each() {
        return Ok(());
    }
    Err(ScenarioError::Flow {
        flow: flow.label.clone(),
        key: "tcp.recovery",
        value: format!("{:?}", tcp.recovery.name()),
        expected: format!("\"sack\" or \"rack\" with {}, which samples the rate of deliveries", tcp.congestion.kind),
    })
}

/// ns-2.35 has no RACK, and its clock ticks are too coarse for one.
fn check_recovery(flow: &FlowSpec, recovery: Recovery, profile: Profile) -> Result<(), ScenarioError> {
    if recovery != Recovery::Rack || profile != Profile::Ns2 {
        return Ok(());
    }
    Err(ScenarioError::Flow {
        flow: flow.label.clone(),
        key: "tcp.recovery",
        value: format!("{:?}", recovery.name()),
        expected: "profile ns2 has no such recovery: another one, or another profile".into(),
    })
}

/// How the receiver tells of congestion marks: exactly, if the control reads them.
fn feedback(flow: &FlowSpec, ecn: bool, reads_marks: bool) -> Result<Feedback, ScenarioError> {
    match (ecn, reads_marks) {
        (false, false) => Ok(Feedback::None),
        (true, false) => Ok(Feedback::Latched),
        (true, true) => Ok(Feedback::Accurate),
        (false, true) => Err(ScenarioError::Flow {
            flow: flow.label.clone(),
            key: "tcp.ecn",
            value: "false".into(),
            expected: "its congestion control reads congestion marks: true, or another control".into(),
        }),
    }
}

/// A source that sends as fast as it can needs a queue that pushes back, and that takes its packets.
fn check_pushes_back(scenario: &Scenario, link: u32, size: u32) -> Result<(), ScenarioError> {
    let spec = &scenario.links[link as usize];
    let wrong = |expected: String| {
        let (link, value) = (spec.name.clone(), format!("{:?}", spec.queue));
        Err(ScenarioError::Link { link, key: "queue", value, expected })
    };
    let processor = scenario.nodes[spec.from as usize].processor.as_ref();
    if spec.queue.limit() == QueueLimit::Unlimited
        || processor.is_some_and(|processor| processor.input_ring == QueueLimit::Unlimited)
    {
        return wrong("a source that saturates it needs a limit here and in the input ring before it".into());
    }
    if matches!(spec.queue, QueueSpec::Red(_) | QueueSpec::Pie(_)) {
        // It would send for ever at one instant.
        return Err(ScenarioError::Link {
            link: spec.name.clone(),
            key: "queue.kind",
            value: format!("{:?}", spec.queue.kind()),
            expected: "a source that saturates it needs a queue that takes what it has room for".into(),
        });
    }
    let empty = Link::new(spec, 0, Site::new(scenario, spec), Time::ZERO);
    if empty.takes_alone(size) {
        return Ok(());
    }
    wrong(format!("a queue that takes a packet of {size} B"))
}

/// The slowest of `links`, the first of equals.
fn slowest(scenario: &Scenario, links: &[u32]) -> u32 {
    let rate = |link: u32| scenario.links[link as usize].rate_bps;
    let slowest = links.iter().copied().reduce(|slow, link| if rate(link) < rate(slow) { link } else { slow });
    slowest.unwrap_or_default()
}

/// The links whose busy periods the flows' accounts look at: they must not be evaluated ahead of time.
fn watched(scenario: &Scenario, paths: &Paths) -> Vec<bool> {
    let mut watched = vec![false; scenario.links.len()];
    for (index, flow) in scenario.flows.iter().enumerate() {
        if matches!(flow.transport, TransportSpec::Tcp(_)) {
            watched[slowest(scenario, &paths.links(index as u32, false)) as usize] = true;
        }
    }
    watched
}

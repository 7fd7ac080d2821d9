//! Hosts: the ends of flows, their timers and their applications, whatever moves packets between them.
//!
//! A scheduler gives each event of a host to it in the order of keys, with the network as it sees it. Nothing here knows
//! how links are evaluated, nor in which order hosts are.

use crate::congestion::Controls;
use crate::entities::Entities;
use crate::events::Key;
use crate::packet::{Kind, Packet};
use crate::time::Time;
use crate::traffic::pulse::Pulse;
use crate::transport::connection::Connection;
use crate::transport::datagram::DatagramFlow;
use crate::transport::network::Backpressure;
use crate::transport::one_way::OneWay;
use crate::transport::receiver::Receiver;
use crate::transport::sender::{Env, Sender};
use crate::transport::signs::Signs;
use crate::transport::timer::{APPLICATION, DELAYED_ACK, PACING, RETRANSMISSION, TIMERS};

mod build;
pub(crate) mod checks;
mod samples;

/// Both ends of a TCP connection.
#[derive(Debug)]
struct TcpFlow {
    /// Index of its parameters.
    connection: u32,
    sender: Sender,
    receiver: Receiver,
    /// When the application stops.
    stop: Time,
}

impl TcpFlow {
    /// Until when its sending end does nothing but react to ACKs and pace its packets in between, as it stands at `now`.
    #[inline]
    fn reacts_until(&self, now: Time) -> Time {
        let until = self.sender.retransmits_at();
        if now < self.stop { until.min(self.stop) } else { until }
    }
}

/// The ends of a flow: an index into the arena of its transport.
#[derive(Clone, Copy, Debug)]
enum Endpoint {
    Tcp(u32),
    Udp(u32),
}

/// What the two ends of a flow know.
#[derive(Clone, Copy, Debug)]
pub enum Ends<'a> {
    /// Of a connection.
    Tcp {
        /// The sending end.
        sender: &'a Sender,
        /// The receiving end.
        receiver: &'a Receiver,
        /// Their parameters.
        connection: &'a Connection,
    },
    /// Of datagrams: the same where one host has both ends.
    Udp {
        /// Who sends them.
        source: &'a DatagramFlow,
        /// Who receives them.
        sink: &'a DatagramFlow,
    },
}

impl<'a> Ends<'a> {
    /// How long packets were on their way from one to the other.
    #[must_use]
    pub fn one_way(&self) -> &'a OneWay {
        match self {
            Self::Tcp { receiver, .. } => &receiver.one_way,
            Self::Udp { sink, .. } => &sink.one_way,
        }
    }
}

/// The ends of all flows of a scenario.
#[derive(Debug)]
pub struct Hosts {
    controls: Controls,
    connections: Vec<Connection>,
    tcp: Vec<TcpFlow>,
    udp: Vec<DatagramFlow>,
    endpoints: Vec<Endpoint>,
    pulses: Vec<Option<Pulse>>,
    running: Vec<bool>,
    /// Any sender lets packets wait for more than a window: it paces, or its host takes time.
    paces: bool,
    entities: Entities,
}

impl Hosts {
    /// A packet has reached the end of its path; it and the key of its arrival are in words (see [`Key::words`]).
    #[allow(clippy::too_many_arguments, reason = "they are registers")]
    #[inline(never)]
    pub(crate) fn arrive<N: Backpressure>(
        &mut self,
        network: &mut N,
        stamp: u64,
        identity: u64,
        state: u64,
        rank: u64,
        time: f64,
        caused_at: f64,
    ) {
        let packet = &Packet::from_words((stamp, identity, state));
        let endpoint = self.endpoints[packet.flow() as usize];
        // Made for each from its words, so that none of them needs it whole in memory.
        let now = || Key::from_words((time, caused_at, rank));
        match (endpoint, packet.kind()) {
            (Endpoint::Tcp(index), Kind::Ack) => {
                let flow = &mut self.tcp[index as usize];
                let opened;
                let (blocks, echo) = match packet.options() {
                    None => (&[][..], packet.sent()),
                    Some(handle) => {
                        opened = network.ack_options().take(handle);
                        flow.sender.read_options(&opened, Time::new(time));
                        (opened.blocks.as_slice(), opened.echo)
                    }
                };
                let connection = &self.connections[flow.connection as usize];
                let (controls, told) = (&mut self.controls, packet.ace());
                let mut env = Env { network, controls, connection, now: now(), echo, told };
                flow.sender.receive(&mut env, packet.seq(), blocks);
                network.only_reacts(packet.flow(), || flow.reacts_until(Time::new(time)));
            }
            (Endpoint::Tcp(index), _) => {
                let receiver = &mut self.tcp[index as usize].receiver;
                if receiver.reads_marks() {
                    receiver.send_owed(network, now(), Signs::of(packet));
                }
                receiver.receive(network, now(), packet);
            }
            (Endpoint::Udp(index), _) => self.udp[index as usize].receive(now(), packet),
        }
    }

    /// The event of a timer.
    pub fn timer<N: Backpressure>(&mut self, network: &mut N, now: Key) {
        let number = now.entity() - self.entities.first_timer;
        let (flow, timer) = (number / TIMERS, number % TIMERS);
        match (timer, self.endpoints[flow as usize]) {
            (RETRANSMISSION, Endpoint::Tcp(index)) => self.with_sender(network, index, now, Sender::timer),
            (DELAYED_ACK, Endpoint::Tcp(index)) => {
                self.tcp[index as usize].receiver.timer(network, now);
            }
            (APPLICATION, _) => self.pulse(network, flow, now),
            (PACING, Endpoint::Tcp(index)) => self.with_sender(network, index, now, Sender::pacing_timer),
            _ => {}
        }
    }

    /// Whether any sender lets packets wait for more than a window: it paces, or its host takes time.
    #[inline]
    #[must_use]
    pub fn paces(&self) -> bool {
        self.paces
    }

    /// An ACK of a flow is known before it arrives at `key`: when a packet is due that its sender paces, if that is before.
    /// The sender has to [resume](Self::resume) then.
    #[inline]
    pub fn is_due_before(&mut self, flow: u32, key: Key) -> Option<Key> {
        let Endpoint::Tcp(index) = self.endpoints[flow as usize] else { return None };
        self.tcp[index as usize].sender.is_due_before(key)
    }

    /// A source that was pushed back has its turn, or a packet is due that a sender paces.
    pub fn resume<N: Backpressure>(&mut self, network: &mut N, flow: u32, now: Key) {
        match self.endpoints[flow as usize] {
            Endpoint::Tcp(index) => self.with_sender(network, index, now, Sender::resume),
            Endpoint::Udp(index) if self.running[flow as usize] => self.udp[index as usize].saturate(network, now),
            Endpoint::Udp(_) => {}
        }
    }

    fn with_sender<N: Backpressure>(
        &mut self,
        network: &mut N,
        index: u32,
        now: Key,
        act: impl FnOnce(&mut Sender, &mut Env<'_, N>),
    ) {
        let flow = &mut self.tcp[index as usize];
        let connection = &self.connections[flow.connection as usize];
        let controls = &mut self.controls;
        let mut env = Env { network: &mut *network, controls, connection, now, echo: Time::ZERO, told: 0 };
        act(&mut flow.sender, &mut env);
        network.only_reacts(flow.sender.flow(), || flow.reacts_until(now.time));
    }

    /// A flow starts or stops: the event with this key.
    pub fn start_or_stop<N: Backpressure>(&mut self, network: &mut N, now: Key) {
        let (flow, stop) = ((now.entity() - 1) / 2, (now.entity() - 1) % 2 == 1);
        self.running[flow as usize] = !stop;
        if stop {
            match self.endpoints[flow as usize] {
                Endpoint::Tcp(index) => {
                    let clocked = self.pulses[flow as usize].is_some();
                    self.with_sender(network, index, now, |sender, env| sender.stop(env, clocked));
                }
                Endpoint::Udp(index) => self.udp[index as usize].stop(network, now),
            }
            return;
        }
        match &mut self.pulses[flow as usize] {
            Some(pulse) => {
                pulse.start(now.time);
                self.pulse(network, flow, now);
            }
            None => match self.endpoints[flow as usize] {
                Endpoint::Tcp(index) => self.with_sender(network, index, now, Sender::start),
                Endpoint::Udp(index) => self.udp[index as usize].saturate(network, now),
            },
        }
    }

    /// The application of a flow offers a packet and sets the time of its next.
    fn pulse<N: Backpressure>(&mut self, network: &mut N, flow: u32, now: Key) {
        if !self.running[flow as usize] {
            return;
        }
        let bytes = match self.endpoints[flow as usize] {
            Endpoint::Tcp(index) => {
                self.with_sender(network, index, now, Sender::push);
                self.connections[self.tcp[index as usize].connection as usize].full_size()
            }
            Endpoint::Udp(index) => {
                let datagrams = &mut self.udp[index as usize];
                match &mut self.pulses[flow as usize] {
                    Some(Pulse::Video(video)) => {
                        let cut = video.cut();
                        datagrams.send_frame(network, now, cut);
                        cut.bytes
                    }
                    _ => datagrams.send(network, now),
                }
            }
        };
        if let Some(pulse) = &mut self.pulses[flow as usize] {
            let next = now.time + pulse.pause_s(now.time, bytes);
            let entity = self.entities.timer(flow, APPLICATION);
            network.schedule(Key::new(next, now.time, now.precedence_of_effects(), entity));
        }
    }

    /// The states of the congestion controls.
    #[must_use]
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// The numbers of all entities.
    #[must_use]
    pub fn entities(&self) -> Entities {
        self.entities
    }

    /// Both ends of a flow.
    #[must_use]
    pub fn ends(&self, flow: usize) -> Ends<'_> {
        self.ends_with(self, flow)
    }

    /// Both ends of a flow of which another has the receiving host.
    #[must_use]
    pub fn ends_with<'a>(&'a self, receiving: &'a Self, flow: usize) -> Ends<'a> {
        match self.endpoints[flow] {
            Endpoint::Tcp(index) => {
                let TcpFlow { sender, connection, .. } = &self.tcp[index as usize];
                let connection = &self.connections[*connection as usize];
                Ends::Tcp { sender, receiver: &receiving.tcp[index as usize].receiver, connection }
            }
            Endpoint::Udp(index) => {
                Ends::Udp { source: &self.udp[index as usize], sink: &receiving.udp[index as usize] }
            }
        }
    }

    /// Random numbers that a flow has drawn, ns-2's agents' clocks not counted.
    #[must_use]
    pub fn random_draws(&self, flow: usize) -> u64 {
        let transport = match self.endpoints[flow] {
            Endpoint::Tcp(index) => self.tcp[index as usize].sender.random_draws(),
            Endpoint::Udp(index) => self.udp[index as usize].random_draws(),
        };
        transport + self.pulses[flow].as_ref().map_or(0, Pulse::random_draws)
    }
}

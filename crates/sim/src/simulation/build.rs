//! From a scenario to a simulation that has not begun.

use super::checks::{check_pushes_back, check_recovery, check_samples, check_tcp_size, check_udp_size, feedback};
use super::sampler::Sampled;
use super::{Endpoint, Entities, Simulation, TcpFlow};
use crate::congestion::external::NoMaker;
use crate::congestion::{Controls, Maker};
use crate::error::ScenarioError;
use crate::events::Key;
use crate::network::ahead::flows_alone_at_their_host;
use crate::network::fabric::Fabric;
use crate::network::server::Wire;
use crate::probe::Probe;
use crate::probe::series::Series;
use crate::random::Stream;
use crate::scenario::{FlowSpec, Profile, Scenario, TcpSpec, TrafficSpec, TransportSpec, UdpSpec};
use crate::time::Time;
use crate::traffic::pulse::Pulse;
use crate::traffic::sizes::Sizes;
use crate::transport::connection::Connection;
use crate::transport::datagram::{DatagramFlow, Fragments};
use crate::transport::ns2;
use crate::transport::receiver::Receiver;
use crate::transport::sender::Sender;
use crate::transport::timer::{DELAYED_ACK, PACING, RETRANSMISSION};

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
        let fabric = Fabric::new(scenario, first, probe)?;
        let mut simulation = Self {
            scenario,
            fabric,
            series: Series::default(),
            controls: Controls::default(),
            connections: Vec::new(),
            tcp: Vec::new(),
            udp: Vec::new(),
            endpoints: Vec::new(),
            late: Vec::new(),
            long: 0,
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
            TransportSpec::Tcp(tcp) => self.add_tcp(index, flow, tcp, phase_s, alone, maker)?,
            TransportSpec::Udp(udp) => self.add_udp(index, flow, udp)?,
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

    fn add_tcp(
        &mut self,
        index: u32,
        flow: &FlowSpec,
        tcp: &TcpSpec,
        phase_s: f64,
        alone: bool,
        maker: &mut dyn Maker,
    ) -> Result<Endpoint, ScenarioError> {
        check_tcp_size(&flow.label, tcp)?;
        let bytes = if let TrafficSpec::Bulk { bytes } = flow.traffic { bytes } else { None };
        let connection = Connection::new(tcp, self.scenario.profile, bytes);
        check_recovery(&flow.label, tcp.recovery, self.scenario.profile)?;
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
        let retransmission = self.entities.timer(index, RETRANSMISSION);
        let mut sender = Sender::new(&connection, index, retransmission, control, phase_s, Time::planned(flow.start_s));
        let samples = self.controls.samples_delivery(control);
        if samples {
            check_samples(flow, tcp)?;
        }
        if self.controls.is_paced(control) || tcp.pacing {
            let random = || Stream::new(self.scenario.seed, &flow.group, flow.index, "congestion");
            sender.pace(self.entities.timer(index, PACING), samples.then(random));
        }
        let feedback = feedback(&flow.label, tcp.ecn, self.controls.reads_marks(control))?;
        let delayed_ack = self.entities.timer(index, DELAYED_ACK);
        let mut receiver = Receiver::new(tcp, self.scenario.profile, feedback, index, delayed_ack);
        self.fabric.delays.add_flow(self.unloaded_s(index, connection.size(1)));
        let single = !matches!(flow.traffic, TrafficSpec::Bulk { .. });
        receiver.expect(single, bytes.map(|_| connection.packets() as u32));
        let connection = self.connection(connection);
        let acks_on = if alone { self.fabric.paths.links(index, true).last().copied() } else { None };
        let stop = Time::planned(flow.stop_s);
        self.tcp.push(TcpFlow { connection, sender, receiver, acks_on, stop });
        Ok(Endpoint::Tcp(self.tcp.len() as u32 - 1))
    }

    fn add_udp(&mut self, index: u32, flow: &FlowSpec, udp: &UdpSpec) -> Result<Endpoint, ScenarioError> {
        let path = self.fabric.paths.links(index, false);
        let mtu = path.iter().filter_map(|&link| self.scenario.links[link as usize].mtu_bytes).min();
        check_udp_size(flow, udp, mtu)?;
        let fragments = Fragments::new(udp, mtu);
        let mut datagrams = DatagramFlow::new(index, udp, fragments);
        if let Some(sizes) = Sizes::new(&udp.sizes) {
            datagrams = datagrams.mixed(sizes, Stream::new(self.scenario.seed, &flow.group, flow.index, "sizes"));
        }
        let largest = if datagrams.is_mixed() { None } else { Some(datagrams.largest()) };
        self.fabric.delays.add_flow(largest.map_or(0.0, |size| self.unloaded_s(index, size)));
        if let (TrafficSpec::Saturate {}, Some(&first)) = (&flow.traffic, path.first()) {
            check_pushes_back(self.scenario, first, fragments.size)?;
            datagrams = datagrams.saturating(Time::planned(flow.start_s), first);
        }
        self.udp.push(datagrams);
        Ok(Endpoint::Udp(self.udp.len() as u32 - 1))
    }

    /// Seconds from end to end of a flow's path for a packet of `size` bytes that waits nowhere.
    fn unloaded_s(&self, flow: u32, size: u32) -> f64 {
        let (links, nodes) = (&self.scenario.links, &self.scenario.nodes);
        let path = self.fabric.paths.links(flow, false);
        let links_s: f64 = path.iter().map(|&link| Wire::new(&links[link as usize]).crossing_s(size)).sum();
        let processors = self.fabric.paths.stops(flow, false).filter_map(|stop| self.fabric.processor_at(stop));
        let specs = processors.filter_map(|node| nodes[node as usize].processor.as_ref());
        links_s + specs.map(|spec| spec.per_packet_s + spec.per_byte_s * f64::from(size)).sum::<f64>()
    }

    /// Connections of one group usually have equal parameters: they share them.
    fn connection(&mut self, connection: Connection) -> u32 {
        let same = |known: &Connection| known.tcp == connection.tcp && known.bytes == connection.bytes;
        if !self.connections.last().is_some_and(same) {
            self.connections.push(connection);
        }
        self.connections.len() as u32 - 1
    }
}

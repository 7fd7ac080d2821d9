//! From a scenario to hosts at which nothing has happened.

use std::borrow::Cow;

use super::checks::{
    check_fragments, check_pushes_back, check_recovery, check_samples, check_tcp_size, check_udp_size, feedback,
};
use super::{Endpoint, Hosts, TcpFlow};
use crate::congestion::{Controls, Handle, Maker, Opening, Window};
use crate::entities::Entities;
use crate::error::ScenarioError;
use crate::network::topology::Paths;
use crate::random::Stream;
use crate::scenario::unloaded::{Crossing, Unloaded};
use crate::scenario::{FlowSpec, Profile, Scenario, TcpSpec, TrafficSpec, TransportSpec, UdpSpec};
use crate::time::Time;
use crate::traffic::pulse::Pulse;
use crate::traffic::sizes::Sizes;
use crate::transport::connection::Connection;
use crate::transport::datagram::{DatagramFlow, Fragments};
use crate::transport::ns2;
use crate::transport::one_way::OneWay;
use crate::transport::receiver::Receiver;
use crate::transport::sender::Sender;
use crate::transport::timer::{DELAYED_ACK, PACING, RETRANSMISSION};

impl Hosts {
    /// The hosts of a scenario.
    ///
    /// # Errors
    /// What only the engine can see to be wrong: packets that no link on the path carries, an unknown congestion control,
    /// and what `maker` finds to be wrong.
    pub fn new(scenario: &Scenario, paths: &Paths, maker: &mut dyn Maker) -> Result<Self, ScenarioError> {
        let hosts = Self {
            controls: Controls::default(),
            connections: Vec::new(),
            tcp: Vec::new(),
            udp: Vec::new(),
            endpoints: Vec::new(),
            pulses: Vec::new(),
            running: vec![false; scenario.flows.len()],
            paces: false,
            entities: Entities::new(scenario),
        };
        let mut builder = Builder { hosts, scenario, paths };
        let phases = match scenario.profile {
            Profile::Ns2 => ns2::clock_phases(scenario).0,
            Profile::Rfc | Profile::Linux => vec![0.0; scenario.flows.len()],
        };
        for (index, (flow, phase_s)) in scenario.flows.iter().zip(phases).enumerate() {
            builder.add_flow(index as u32, flow, phase_s, maker)?;
        }
        Ok(builder.hosts)
    }
}

struct Builder<'a> {
    hosts: Hosts,
    scenario: &'a Scenario,
    paths: &'a Paths,
}

impl Builder<'_> {
    fn add_flow(
        &mut self,
        index: u32,
        flow: &FlowSpec,
        phase_s: f64,
        maker: &mut dyn Maker,
    ) -> Result<(), ScenarioError> {
        let endpoint = match &flow.transport {
            TransportSpec::Tcp(tcp) => self.add_tcp(index, flow, tcp, phase_s, maker)?,
            TransportSpec::Udp(udp) => self.add_udp(index, flow, udp)?,
        };
        self.hosts.endpoints.push(endpoint);
        self.hosts.pulses.push(Pulse::new(flow, self.scenario.seed));
        Ok(())
    }

    fn add_tcp(
        &mut self,
        index: u32,
        flow: &FlowSpec,
        tcp: &TcpSpec,
        phase_s: f64,
        maker: &mut dyn Maker,
    ) -> Result<Endpoint, ScenarioError> {
        check_tcp_size(&flow.label, tcp)?;
        check_recovery(&flow.label, tcp.recovery, self.scenario.profile)?;
        let mut tcp = Cow::Borrowed(tcp);
        let control = self.control(flow, &mut tcp, maker);
        let control =
            control.map_err(|expected| ScenarioError::congestion(&flow.label, &tcp.congestion.kind, expected))?;
        let tcp = tcp.as_ref();
        let bytes = if let TrafficSpec::Bulk { bytes } = flow.traffic { bytes } else { None };
        let connection = Connection::new(tcp, self.scenario.profile, bytes);
        let retransmission = self.hosts.entities.timer(index, RETRANSMISSION);
        let mut sender = Sender::new(&connection, index, retransmission, control, phase_s, Time::planned(flow.start_s));
        let samples = self.hosts.controls.samples_delivery(control);
        if samples {
            check_samples(flow, tcp)?;
        }
        if self.hosts.controls.is_paced(control) || tcp.paces() {
            let random = || Stream::new(self.scenario.seed, &flow.group, flow.index, "congestion");
            sender.pace(self.hosts.entities.timer(index, PACING), samples.then(random));
            self.hosts.paces = true;
        }
        // One outside of the engine may come to ask for it.
        self.hosts.paces |= tcp.congestion.external.is_some();
        if let Some(longest_s) = tcp.processing_delay_s {
            let random = Stream::new(self.scenario.seed, &flow.group, flow.index, "processing");
            sender.take_time(self.hosts.entities.timer(index, PACING), longest_s, random);
            self.hosts.paces = true;
        }
        let feedback = feedback(&flow.label, tcp, self.scenario.profile, self.hosts.controls.counts_marks(control))?;
        let delayed_ack = self.hosts.entities.timer(index, DELAYED_ACK);
        let mut receiver = Receiver::new(tcp, self.scenario.profile, feedback, index, delayed_ack);
        let (size, last) = (connection.size(1), connection.packets());
        let (unloaded, smallest) = (self.unloaded(index), connection.size(last));
        receiver.one_way = OneWay::new(self.shortest_s(index, size), unloaded.seconds(size));
        if smallest < size {
            receiver.tell_last_apart(last as u32, self.shortest_s(index, smallest), unloaded.seconds(smallest));
        }
        if !matches!(flow.traffic, TrafficSpec::Bulk { .. }) {
            sender.write_singly();
        }
        receiver.expect(bytes.map(|_| connection.packets() as u32));
        let connection = self.connection(connection);
        let stop = Time::planned(flow.stop_s);
        self.hosts.tcp.push(TcpFlow { connection, sender, receiver, stop });
        Ok(Endpoint::Tcp(self.hosts.tcp.len() as u32 - 1))
    }

    /// The congestion control of a flow. One outside of the engine may have the connection begin with another window.
    fn control(
        &mut self,
        flow: &FlowSpec,
        tcp: &mut Cow<'_, TcpSpec>,
        maker: &mut dyn Maker,
    ) -> Result<Handle, String> {
        let controls = &mut self.hosts.controls;
        if tcp.congestion.external.is_none() {
            return controls.add(&tcp.congestion);
        }
        let ssthresh = tcp.initial_ssthresh_packets.unwrap_or(f64::MAX);
        let window = Window { cwnd: tcp.initial_window_packets, ssthresh };
        let (seed, payload_bytes) = (self.scenario.seed, tcp.payload_bytes);
        let opening = Opening { flow: &flow.label, seed, payload_bytes, window };
        let (made, begin) = maker.make(&tcp.congestion, &opening)?;
        if begin != window {
            let own = tcp.to_mut();
            own.initial_window_packets = begin.cwnd;
            own.initial_ssthresh_packets = (begin.ssthresh < f64::MAX).then_some(begin.ssthresh);
        }
        Ok(controls.connect(made))
    }

    fn add_udp(&mut self, index: u32, flow: &FlowSpec, udp: &UdpSpec) -> Result<Endpoint, ScenarioError> {
        let path = self.paths.all_links(index, false);
        let mtu = path.iter().filter_map(|&link| self.scenario.links[link as usize].mtu_bytes).min();
        check_udp_size(flow, udp, mtu)?;
        let fragments = Fragments::new(udp, mtu);
        check_fragments(self.scenario, fragments.count, &path)?;
        let mut datagrams = DatagramFlow::new(index, udp, fragments);
        if let Some(sizes) = Sizes::new(&udp.sizes) {
            datagrams = datagrams.mixed(sizes, Stream::new(self.scenario.seed, &flow.group, flow.index, "sizes"));
        }
        let smallest = datagrams.smallest(matches!(flow.traffic, TrafficSpec::Video(_)));
        let unloaded = self.unloaded(index);
        datagrams.one_way = OneWay::new(self.shortest_s(index, smallest), unloaded.seconds(smallest));
        if smallest < datagrams.largest() {
            datagrams.one_way.tell_sizes_apart(unloaded);
        }
        if let (TrafficSpec::Saturate {}, Some(&first)) = (&flow.traffic, path.first()) {
            check_pushes_back(self.scenario, first, fragments.size)?;
            datagrams = datagrams.saturating(Time::planned(flow.start_s), first);
        }
        self.hosts.udp.push(datagrams);
        Ok(Endpoint::Udp(self.hosts.udp.len() as u32 - 1))
    }

    /// How long packets of a flow take from end to end that wait nowhere.
    fn unloaded(&self, flow: u32) -> Unloaded {
        self.paths.unloaded(self.scenario, flow, Crossing::of)
    }

    /// The same of a packet of `size` bytes where each link is as fast as it ever can be, in seconds.
    fn shortest_s(&self, flow: u32, size: u32) -> f64 {
        self.paths.unloaded(self.scenario, flow, Crossing::fastest).seconds(size)
    }

    /// Connections of one group usually have equal parameters: they share them.
    fn connection(&mut self, connection: Connection) -> u32 {
        let same = |known: &Connection| known.tcp == connection.tcp && known.bytes == connection.bytes;
        if !self.hosts.connections.last().is_some_and(same) {
            self.hosts.connections.push(connection);
        }
        self.hosts.connections.len() as u32 - 1
    }
}

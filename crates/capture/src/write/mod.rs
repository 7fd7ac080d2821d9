//! Packet captures of what was simulated, for Wireshark, tshark, tcpdump and whatever else reads pcap.
//!
//! Packets have the headers that they would have on a wire, and no payload, as if a capture had been limited to
//! headers: the original lengths are there, and checksums are those of a payload of zeros. The link type is raw IP,
//! as links add a number of bytes to packets, and no protocol of their own.

use std::collections::HashMap;
use std::io::{self, Write};

use tightlink_sim::packet::Kind;
use tightlink_sim::probe::Seen;
use tightlink_sim::probe::trace::{Event, Listener, Record};
use tightlink_sim::scenario::{FlowSpec, Scenario};
use tightlink_sim::time::Time;
use tightlink_sim::transport::ack_options::AckOptionSlab;

mod file;
mod flow;
mod headers;
mod ports;
mod tcp;
mod udp;

pub use file::Format;
use file::{Direction, File, Interface};
use flow::Flow;
use headers::{Headers, Ip};

/// Where packets are seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Each flow at the host that sends its data: every packet once.
    Senders,
    /// All packets at these nodes.
    Nodes(Vec<u32>),
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct InFlight {
    headers: Headers,
    /// Links behind it.
    links: u32,
}

/// Writes a capture from the trace of a run.
pub struct Capture<'a, W> {
    scenario: &'a Scenario,
    file: File<W>,
    /// Whether each flow is seen at its sender only.
    at_senders: bool,
    /// The interface of each node, if it has one.
    interfaces: Vec<Option<u32>>,
    flows: Vec<Flow>,
    /// The last number that each node put into the identification of a packet (RFC 791).
    identifications: Vec<u16>,
    in_flight: HashMap<u64, InFlight>,
    failed: Option<io::Error>,
}

impl<'a, W: Write> Capture<'a, W> {
    /// A capture of a run of `scenario`, written to `out`.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(scenario: &'a Scenario, format: Format, places: &Places, out: W) -> io::Result<Self> {
        let mut nodes: Vec<u32> = match places {
            Places::Senders => scenario.flows.iter().map(|flow| flow.from).collect(),
            Places::Nodes(nodes) => nodes.clone(),
        };
        nodes.sort_unstable();
        nodes.dedup();
        let at_senders = *places == Places::Senders;
        let mut interfaces = vec![None; scenario.nodes.len()];
        for (index, &node) in (0..).zip(&nodes) {
            interfaces[node as usize] = Some(index);
        }
        let name = |node: u32| scenario.nodes[node as usize].name.as_str();
        let seen = if at_senders { "the flows that it sends, and their ACKs" } else { "all packets, once each" };
        let described = |&node: &u32| Interface {
            name: name(node).to_owned(),
            description: format!("{}: {seen}", name(node)),
            address: address(node),
        };
        let described: Vec<Interface> = nodes.iter().map(described).collect();
        let hosts = scenario.flows.iter().flat_map(|flow| [flow.from, flow.to]);
        let mut hosts: Vec<u32> = hosts.collect();
        hosts.sort_unstable();
        hosts.dedup();
        let names = hosts.into_iter().map(|node| (address(node), name(node)));
        let mut at_node = vec![0; scenario.nodes.len()];
        let flow = |flow: &FlowSpec| {
            let among = &mut at_node[flow.from as usize];
            *among += 1;
            Flow::new(scenario.profile, flow, *among - 1)
        };
        Ok(Self {
            scenario,
            file: File::new(out, format, &described, names)?,
            at_senders,
            interfaces,
            flows: scenario.flows.iter().map(flow).collect(),
            identifications: vec![0; scenario.nodes.len()],
            in_flight: HashMap::new(),
            failed: None,
        })
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The output could not be written.
    pub fn finish(self) -> io::Result<W> {
        self.failed.map_or(Ok(()), Err).and_then(|()| self.file.finish())
    }

    /// The interface on which the packets of a flow are seen at a node, if they are.
    fn interface(&self, flow: u32, node: u32) -> Option<u32> {
        let elsewhere = self.at_senders && self.scenario.flows[flow as usize].from != node;
        self.interfaces[node as usize].filter(|_| !elsewhere)
    }

    fn write(&mut self, interface: u32, time: Time, direction: Direction, headers: &Headers) {
        if self.failed.is_none() {
            self.failed = self.file.packet(interface, time, direction, headers).err();
        }
    }

    /// A packet has come out at the far end of a link.
    fn received(&mut self, record: &Record) {
        let node = self.scenario.links[record.link as usize].to;
        let Some(packet) = self.in_flight.get_mut(&record.uid) else { return };
        packet.links += 1;
        let marked = record.marked && record.kind != Kind::Ack;
        if self.scenario.links[record.link as usize].bleaches_ecn {
            packet.headers.bleach();
        }
        let headers = packet.headers.after(packet.links - 1, marked);
        let flow = &self.scenario.flows[record.flow as usize];
        if node == if record.kind == Kind::Ack { flow.from } else { flow.to } {
            self.in_flight.remove(&record.uid);
            self.flows[record.flow as usize].arrived(&headers);
        }
        if let Some(interface) = self.interface(record.flow, node) {
            self.write(interface, record.time, Direction::In, &headers);
        }
    }
}

impl<W: Write> Listener for Capture<'_, W> {
    fn sent(&mut self, time: Time, uid: u64, packet: Seen<'_>, ack_options: &AckOptionSlab) {
        let index = packet.flow();
        let spec = &self.scenario.flows[index as usize];
        let ends = if packet.packet.is_reverse() { (spec.to, spec.from) } else { (spec.from, spec.to) };
        let (source, destination) = (address(ends.0), address(ends.1));
        let ip = Ip { source, destination, dscp: spec.dscp, ..Ip::default() };
        let identification = &mut self.identifications[ends.0 as usize];
        let headers = self.flows[index as usize].headers(packet.packet, time, ack_options, ip, identification);
        if let Some(interface) = self.interface(index, ends.0) {
            self.write(interface, time, Direction::Out, &headers);
        }
        // Of datagrams, nobody has to know at their sender that they arrived.
        if !self.at_senders || packet.packet.kind() != Kind::Datagram {
            self.in_flight.insert(uid, InFlight { headers, links: 0 });
        }
    }

    fn duplicated(&mut self, uid: u64, copy: u64) {
        if let Some(&packet) = self.in_flight.get(&uid) {
            self.in_flight.insert(copy, packet);
        }
    }

    fn record(&mut self, record: &Record) {
        match record.event {
            Event::Receive => self.received(record),
            Event::Drop(_) => {
                self.in_flight.remove(&record.uid);
            }
            Event::Enqueue | Event::Dequeue => {}
        }
    }
}

/// The address of a node: 10.0.0.1 for the first of the scenario, and so on.
fn address(node: u32) -> [u8; 4] {
    ((10 << 24) + (node + 1) % (1 << 24)).to_be_bytes()
}

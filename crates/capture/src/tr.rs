//! ns-2's trace format: twelve columns, one line per event, so that scripts written for ns-2 work.

use std::fmt::Write as _;
use std::io::{self, Write};

use tightlink_sim::packet::Kind;
use tightlink_sim::probe::trace::Record;
use tightlink_sim::scenario::Scenario;

/// Writes records as lines.
#[derive(Debug)]
pub struct TrWriter<'a, W> {
    scenario: &'a Scenario,
    out: W,
    line: String,
    /// The places of each flow's sender and receiver among the agents of their nodes.
    ports: Vec<(u32, u32)>,
}

impl<'a, W: Write> TrWriter<'a, W> {
    /// A writer for the trace of a run of `scenario`.
    pub fn new(scenario: &'a Scenario, out: W) -> Self {
        let mut agents = vec![0; scenario.nodes.len()];
        let mut attach = |node: u32| {
            agents[node as usize] += 1;
            agents[node as usize] - 1
        };
        let ports = scenario.flows.iter().map(|flow| (attach(flow.from), attach(flow.to))).collect();
        Self { scenario, out, line: String::new(), ports }
    }

    /// Writes one record: event, time, from, to, type, size, flags, flow, source, destination,
    /// sequence number, packet number. Nodes are numbered in the order of the scenario, ports in the order
    /// in which flows begin or end at a node, as ns-2 numbers agents that are attached in that order.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let link = &self.scenario.links[record.link as usize];
        let flow = &self.scenario.flows[record.flow as usize];
        let (sender, receiver) = self.ports[record.flow as usize];
        let mut ends = [(flow.from, sender), (flow.to, receiver)];
        if record.kind == Kind::Ack {
            ends.swap(0, 1);
        }
        let [(source, source_port), (destination, destination_port)] = ends;
        self.line.clear();
        let _ = writeln!(
            self.line,
            "{} {} {} {} {} {} ------- {} {source}.{source_port} {destination}.{destination_port} {} {}",
            record.event.sign(),
            rounded(record.time.seconds()),
            link.from,
            link.to,
            type_name(record.kind),
            record.size,
            record.flow,
            record.seq,
            record.uid
        );
        self.out.write_all(self.line.as_bytes())
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The column `type`.
#[must_use]
pub fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Segment => "tcp",
        Kind::Ack => "ack",
        Kind::Datagram => "cbr",
    }
}

/// Seconds as ns-2 prints them: rounded to microseconds, without trailing zeros.
#[must_use]
pub fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6 + 0.5).floor() / 1e6
}

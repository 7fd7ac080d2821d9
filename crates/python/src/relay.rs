//! Emulated links.

use std::fs::File;
use std::os::fd::{OwnedFd, RawFd};
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use tightlink_relay::journal::Journal;
use tightlink_relay::network::Network;
use tightlink_relay::port::{Datagrams, Frames, Port};
use tightlink_relay::probe::duplicate;
use tightlink_relay::record::Outcome;
use tightlink_relay::relay::{self as real_time, RelayOutcome};
use tightlink_relay::route::{Route, Routes};
use tightlink_relay::spec::Device;
use tightlink_relay::summary::Summary;
use tightlink_relay::system::{System, be_punctual, thread_s};
use tightlink_relay::trace::{self, Flow, Line};
use tightlink_relay::{RelayError, RelaySpec};
use tightlink_sim::tables::Column;

use crate::ScenarioError;
use crate::fault::detached;
use crate::parquet_file::{Growing, WriteError};

/// Lines of the trace that are written at a time.
const PART: usize = 1 << 18;

/// What can go wrong.
enum Failure {
    Relay(RelayError),
    Trace(WriteError),
}

impl From<RelayError> for Failure {
    fn from(error: RelayError) -> Self {
        Self::Relay(error)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Trace(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Relay(error.into())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Relay(RelayError::Spec(message)) => ScenarioError::new_err(message),
            Failure::Relay(error) => PyOSError::new_err(error.to_string()),
            Failure::Trace(error) => PyOSError::new_err(format!("trace: {error}")),
        }
    }
}

/// Is what lies between ports until its duration is over or `stop`, a socket, becomes readable; a byte is written to
/// that when it begins. `trace`, if any, is a file to which the trace is written as a table. All of them are
/// descriptors. What it did, as JSON.
#[pyfunction]
#[pyo3(signature = (spec, ports, *, stop, trace = None))]
pub fn relay(py: Python<'_>, spec: &str, ports: Vec<RawFd>, stop: RawFd, trace: Option<RawFd>) -> PyResult<String> {
    let spec: RelaySpec =
        serde_json::from_str(spec).map_err(|error| ScenarioError::new_err(format!("relay: {error}")))?;
    let ports = ports.into_iter().map(duplicate).collect::<std::io::Result<Vec<_>>>()?;
    let stop = duplicate(stop)?;
    let trace = trace.map(duplicate).transpose()?.map(File::from);
    let done = detached(py, || match spec.device {
        Device::Datagram => run(&spec, opened(ports, Datagrams::new)?, stop, trace),
        Device::Packet => run(&spec, opened(ports, Frames::new)?, stop, trace),
    });
    Ok(done??.to_string())
}

fn opened<P>(ports: Vec<OwnedFd>, open: fn(OwnedFd) -> std::io::Result<P>) -> std::io::Result<Vec<P>> {
    ports.into_iter().map(open).collect()
}

fn run<P: Port>(spec: &RelaySpec, ports: Vec<P>, stop: OwnedFd, trace: Option<File>) -> Result<Value, Failure> {
    spec.check()?;
    let mut journal = trace.as_ref().map(|_| Journal::new()).transpose()?;
    let memory_locked = be_punctual()?;
    let names = spec.ports.iter().map(|port| port.node.clone()).collect();
    // Memory takes up to seconds to come: what hosts send meanwhile would wait, and nobody would call it late.
    let mut network = Network::new(spec);
    let began_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let mut world = System::new(ports, names, stop, spec.spin_share)?;
    let cpu_s = thread_s();
    world.say_ready();
    let begins_s = spec.begins_ns.map_or(0.0, |begins_ns| (begins_ns as f64 - world.origin_ns() as f64) / 1e9);
    network.begin_at(begins_s.max(0.0));
    let outcome = real_time::run(spec, network, &mut world, &mut journal)?;
    let cpu_s = thread_s() - cpu_s;
    let mut flows = Vec::new();
    let mut lost = 0;
    if let (Some(journal), Some(file)) = (journal, trace) {
        let (mut records, unwritten) = journal.finish()?;
        lost = unwritten;
        flows = write(spec, &mut records, file)?;
    }
    let mut told = summary(spec, &outcome);
    if let Some(entries) = told.as_object_mut() {
        entries.insert("began_s".to_owned(), json!(began_s));
        entries.insert("began_monotonic_s".to_owned(), json!(world.origin_ns() as f64 / 1e9));
        entries.insert("cpu_s".to_owned(), json!(cpu_s));
        entries.insert("memory_locked".to_owned(), json!(memory_locked));
        entries.insert("trace_lost".to_owned(), json!(lost));
        let routes = Routes::new(spec);
        entries.insert("flows".to_owned(), flows.iter().map(|flow| told_flow(spec, &routes, flow)).collect());
    }
    Ok(told)
}

fn summary(spec: &RelaySpec, outcome: &RelayOutcome) -> Value {
    serde_json::to_value(Summary::new(spec, outcome)).unwrap_or_default()
}

/// A flow, from where its first link begins to where its last one ends.
fn told_flow(spec: &RelaySpec, routes: &Routes, flow: &Flow) -> Value {
    let route = routes.find(usize::from(flow.port), &flow.header).map(|route| routes.get(route));
    let link = |number: Option<usize>| &spec.links[number.unwrap_or_default()];
    let from = link(route.and_then(|route| route.link_from(0))).from;
    let to = link(route.and_then(Route::last_link)).to;
    let [from, to] = [from, to].map(|node| spec.nodes[node as usize].as_str());
    let [source, destination] = match flow.ends {
        Some(ends) => ends.map(|(address, port)| json!([address.to_string(), port])),
        None => [Value::Null, Value::Null],
    };
    json!({ "protocol": flow.protocol, "source": source, "destination": destination, "from": from, "to": to })
}

/// Writes the trace as a table: `packets`, with the time at which each packet was due where it was forwarded to a host.
fn write(spec: &RelaySpec, records: &mut File, file: File) -> Result<Vec<Flow>, Failure> {
    let mut table = Growing::new(file, &columns(spec, &[]))?;
    let mut lines = Vec::new();
    let flows = trace::read::<Failure>(records, |line| {
        lines.push(*line);
        if lines.len() == PART {
            table.add(&columns(spec, &lines))?;
            lines.clear();
        }
        Ok(())
    })?;
    table.add(&columns(spec, &lines))?;
    table.finish()?;
    Ok(flows)
}

fn columns(spec: &RelaySpec, lines: &[Line]) -> [(&'static str, Column); 11] {
    let ends = |end: fn(&tightlink_sim::scenario::LinkSpec) -> u32| {
        let codes = lines.iter().map(|line| end(&spec.links[usize::from(line.record.link)]));
        Column::Category(codes.collect(), spec.nodes.clone())
    };
    let words = |word: fn(&Line) -> &'static str| {
        let mut names: Vec<String> = Vec::new();
        let code = |line: &Line| {
            let found = names.iter().position(|name| name == word(line));
            found.unwrap_or_else(|| {
                names.push(word(line).to_owned());
                names.len() - 1
            }) as u32
        };
        let codes = lines.iter().map(code).collect();
        Column::Category(codes, names)
    };
    let integers = |value: fn(&Line) -> i64| Column::Integer(lines.iter().map(value).collect());
    let floats = |value: fn(&Line) -> f64| Column::Float(lines.iter().map(value).collect());
    let reason = |line: &Line| match line.sign {
        trace::Sign::Drop => line.record.outcome.reason().unwrap_or_default(),
        _ => "",
    };
    let mark = |line: &Line| match line.sign {
        trace::Sign::Dequeue | trace::Sign::Receive if line.record.marked => "CE",
        _ => "",
    };
    let due_s = |line: &Line| match (line.sign, line.record.outcome) {
        // What continues to another link is never late.
        (trace::Sign::Receive, Outcome::Delivered) => line.record.due_s,
        _ => f64::NAN,
    };
    [
        ("event", words(|line| line.sign.text())),
        ("time_s", floats(|line| line.time_s)),
        ("from", ends(|link| link.from)),
        ("to", ends(|link| link.to)),
        ("type", words(|line| line.record.header.kind.name())),
        ("size_bytes", integers(|line| i64::from(line.record.size))),
        ("flow", integers(|line| i64::from(line.flow))),
        ("uid", integers(|line| line.record.uid as i64)),
        ("reason", words(reason)),
        ("mark", words(mark)),
        ("due_s", floats(due_s)),
    ]
}

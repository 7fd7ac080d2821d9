//! Reading captures and traces.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use tightlink_capture::read::capture::{Capture, Options, read};
use tightlink_capture::read::error::{Damage, Error, first};
use tightlink_capture::read::flows::Limits;
use tightlink_capture::read::ns2::{self, Trace, is_trace};
use tightlink_capture::read::source::Source;
use tightlink_capture::read::tables::tables;
use tightlink_sim::tables::Table;

use crate::CaptureError;
use crate::fault::detached;
use crate::outcome::Outcome;

/// Facts as JSON, and tables by name.
type Found = (String, Vec<(&'static str, Table)>);

/// Reads a capture or a trace of ns-2, of standard input without a path, into an outcome whose manifest tells what was found
/// beside the tables. Series count by intervals of `interval_ns`; with `packets` there is a row for every packet. `rate_bps`
/// is the capacity of the links that were captured. `limits` says how many connections are followed at a time and how many
/// are listed in the end; `only` says which packets are read. `watch` hears now and then of the packets and the bytes so
/// far, and of how many bytes of the file these are, which may be compressed.
#[pyfunction]
#[pyo3(signature = (path, *, interval_ns, packets = false, rate_bps = None, limits = None, only = None, watch = None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn capture(
    py: Python<'_>,
    path: Option<PathBuf>,
    interval_ns: i64,
    packets: bool,
    rate_bps: Option<f64>,
    limits: Option<(usize, usize)>,
    only: Option<&str>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let limits = limits.map_or_else(Limits::default, |(open, listed)| Limits { open, listed });
    let only = only.map(str::parse).transpose().map_err(|()| PyValueError::new_err("no end of a flow"))?;
    let options = Options { interval: interval_ns, packets, limits, only, rate_bps };
    let failed = |error: Error| match error {
        Error::Io(error) => PyOSError::new_err((error.raw_os_error(), error.to_string(), path.clone())),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => CaptureError::new_err(other.to_string()),
    };
    let found = detached(py, || {
        let input: Box<dyn Read> = match &path {
            Some(path) => Box::new(File::open(path)?),
            None => Box::new(io::stdin().lock()),
        };
        let bytes = Cell::new(0);
        found(Source::new(Counted { input, bytes: &bytes })?, options, watched(watch.as_ref(), &bytes))
    });
    let (facts, tables) = found?.map_err(failed)?;
    Ok(Outcome::new(facts, tables, None))
}

/// What is read, and how many bytes of it so far.
struct Counted<'a> {
    input: Box<dyn Read>,
    bytes: &'a Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.set(self.bytes.get() + count as u64);
        Ok(count)
    }
}

fn found(mut source: Source<'_>, options: Options, proceed: impl FnMut(u64, u64) -> bool) -> Result<Found, Error> {
    if is_trace(source.peek_whole(ns2::HEAD).map_err(first)?) {
        let Options { interval, packets, rate_bps, .. } = options;
        let trace = ns2::read(source, ns2::Options { interval, packets, rate_bps }, proceed)?;
        return Ok((facts_of_trace(&trace, interval), ns2::tables::tables(trace)));
    }
    let found = read(source, options, proceed)?;
    Ok((facts(&found), tables(found)))
}

/// Asks now and then whether to go on, and tells how far it is.
fn watched<'a>(watch: Option<&'a Py<PyAny>>, read: &'a Cell<u64>) -> impl FnMut(u64, u64) -> bool + 'a {
    const QUESTION: Duration = Duration::from_millis(100);
    let mut asked = Instant::now();
    move |packets, bytes| {
        if asked.elapsed() < QUESTION {
            return true;
        }
        asked = Instant::now();
        Python::attach(|py| {
            // An error of a listener is no reason to stop.
            let _ = watch.map(|watch| watch.call1(py, (packets, bytes, read.get())));
            py.check_signals().is_ok()
        })
    }
}

fn facts(found: &Capture) -> String {
    let (sha256, bytes) = &found.digest;
    json!({
        "trace": false,
        "format": found.format,
        "compressed": found.compressed,
        "sha256": sha256,
        "bytes": bytes,
        "packets": found.count,
        "connections": found.flows.count(),
        "listed": found.flows.listed(),
        "concluded": found.flows.concluded,
        "began_ns": found.totals.began,
        "interval_ns": found.totals.interval,
        "backwards": found.totals.backwards,
        "backwards_most_s": found.totals.backwards_most as f64 / 1e9,
        "incomplete": found.incomplete,
        "unseen": found.unseen,
        "copies": found.copies.count,
        "offsets": offsets(found),
        "unopened": found.tunnels.cut,
        "tunnel_header_bytes": found.tunnels.most_header_bytes,
        "damage": found.damage.as_ref().map(told),
    })
    .to_string()
}

/// Interfaces whose clocks are off by what no clock can be: how many, and the first with its offset in seconds.
fn offsets(found: &Capture) -> Value {
    let mut absurd = found.interfaces.iter().enumerate().filter_map(|(number, one)| Some((number, one.offset_s?)));
    let first = absurd.next();
    json!(
        first.map(|(number, offset_s)| json!({"count": 1 + absurd.count(), "interface": number, "offset_s": offset_s}))
    )
}

fn facts_of_trace(found: &Trace, interval_ns: i64) -> String {
    let (sha256, bytes) = &found.digest;
    json!({
        "trace": true,
        "format": "ns-2 trace",
        "compressed": found.compressed,
        "sha256": sha256,
        "bytes": bytes,
        "packets": found.events,
        "end_s": found.end_s,
        "interval_ns": interval_ns,
        "backwards": found.backwards,
        "skipped": found.skipped,
        "binary": found.binary,
        "damage": found.damage.as_ref().map(told),
    })
    .to_string()
}

fn told(damage: &Damage) -> Value {
    json!({"offset": damage.offset, "what": damage.what})
}

//! Reading captures.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use serde_json::json;
use tightlink_capture::read::capture::{Capture, Options, read};
use tightlink_capture::read::error::Error;
use tightlink_capture::read::flows::Limits;
use tightlink_capture::read::tables::tables;

use crate::CaptureError;
use crate::outcome::Outcome;

/// Reads a capture, of standard input without a path, into an outcome whose manifest tells what was found beside the
/// tables. Series count by intervals of `interval_ns`; with `packets` there is a row for every packet. `followed`
/// and `listed` say how many connections are followed at a time and listed in the end. `watch` hears now and then of the
/// packets and the bytes so far.
#[pyfunction]
#[pyo3(signature = (path, *, interval_ns, packets = false, followed = None, listed = None, watch = None))]
pub fn capture(
    py: Python<'_>,
    path: Option<PathBuf>,
    interval_ns: i64,
    packets: bool,
    followed: Option<usize>,
    listed: Option<usize>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let usual = Limits::default();
    let limits = Limits { open: followed.unwrap_or(usual.open), listed: listed.unwrap_or(usual.listed) };
    let options = Options { interval: interval_ns, packets, limits };
    let failed = |error: Error| match error {
        Error::Io(error) => PyOSError::new_err((error.raw_os_error(), error.to_string(), path.clone())),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => CaptureError::new_err(other.to_string()),
    };
    let found = py.detach(|| {
        let input: Box<dyn Read> = match &path {
            Some(path) => Box::new(File::open(path)?),
            None => Box::new(io::stdin().lock()),
        };
        let found = read(input, options, watched(watch.as_ref()))?;
        let facts = facts(&found);
        Ok((facts, tables(found)))
    });
    let (facts, tables) = found.map_err(failed)?;
    Ok(Outcome::new(facts, tables, None))
}

/// Asks now and then whether to go on, and tells how far it is.
fn watched(watch: Option<&Py<PyAny>>) -> impl FnMut(u64, u64) -> bool {
    const QUESTION: Duration = Duration::from_millis(100);
    let mut asked = Instant::now();
    move |packets, bytes| {
        if asked.elapsed() < QUESTION {
            return true;
        }
        asked = Instant::now();
        Python::attach(|py| {
            // An error of a listener is no reason to stop.
            let _ = watch.map(|watch| watch.call1(py, (packets, bytes)));
            py.check_signals().is_ok()
        })
    }
}

fn facts(found: &Capture) -> String {
    let damage = found.damage.as_ref().map(|damage| json!({"offset": damage.offset, "what": damage.what}));
    let (sha256, bytes) = &found.digest;
    json!({
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
        "incomplete": found.incomplete,
        "unseen": found.unseen,
        "damage": damage,
    })
    .to_string()
}

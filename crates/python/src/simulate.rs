//! Running a scenario.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use serde_json::json;
use tightlink_run::{Wrong, tables_digest};
use tightlink_sim::epochs::{EpochSimulation, Work};
use tightlink_sim::network::link::Link;
use tightlink_sim::probe::trace::Trace;
use tightlink_sim::probe::{Probe, Sampled, Totals};
use tightlink_sim::tables::{self, Finished, Table};
use tightlink_sim::warnings;
use tightlink_sim::{ENGINE_BEHAVIOUR, Interrupted, PartedSimulation, Scenario, Simulation};

use crate::control::{InPython, Trouble};
use crate::fault::detached;
use crate::interruption::Interruption;
use crate::observers::{Observers, Wanted};
use crate::outcome::Outcome;
use crate::threads::{LONG, PILOT, most, several};
use crate::{ControlError, ScenarioError};

/// What can go wrong in a run.
enum Failure {
    Scenario(String),
    Output(PathBuf, std::io::Error),
    Interrupted,
    Control(String, PyErr),
}

impl From<tightlink_sim::ScenarioError> for Failure {
    fn from(error: tightlink_sim::ScenarioError) -> Self {
        Self::Scenario(error.to_string())
    }
}

impl From<Interrupted> for Failure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(message) => ScenarioError::new_err(message),
            Failure::Output(path, error) => PyOSError::new_err((error.raw_os_error(), error.to_string(), path)),
            Failure::Interrupted => PyKeyboardInterrupt::new_err(()),
            Failure::Control(place, cause) => Python::attach(|py| {
                if cause.is_instance_of::<PyKeyboardInterrupt>(py) {
                    return cause;
                }
                let error = ControlError::new_err(place);
                error.set_cause(py, Some(cause));
                error
            }),
        }
    }
}

/// Simulates a resolved scenario, given as JSON. With `trace` the outcome has a table `packets`; with `tr` the trace is
/// written to that file in ns-2's format, with `pcap` as a capture: of each flow at the host that sends it, or of all
/// packets at the nodes `pcap_at`. `make` makes the controls that are written in Python. Of `threads`, or of as many as
/// there are processors, as many are used as help. `watch` is told now and then how far the run is, with the packet-hops and
/// the sources that send of one with users or scatter; with `part` such a run that is interrupted has its tables until then.
#[pyfunction]
#[pyo3(signature = (scenario, *, trace = false, tr = None, pcap = None, pcap_at = None, threads = None, make = None, watch = None, part = false))]
#[allow(clippy::too_many_arguments, reason = "they are keywords")]
pub fn simulate(
    py: Python<'_>,
    scenario: &str,
    trace: bool,
    tr: Option<PathBuf>,
    pcap: Option<PathBuf>,
    pcap_at: Option<Vec<u32>>,
    threads: Option<u32>,
    make: Option<Py<PyAny>>,
    watch: Option<Py<PyAny>>,
    part: bool,
) -> PyResult<Outcome> {
    let scenario: Scenario = serde_json::from_str(scenario)
        .map_err(|error| ScenarioError::new_err(format!("resolved scenario: {error}")))?;
    let has_users = !scenario.users.is_empty() || !scenario.scatter.is_empty();
    let wanted = Wanted { trace, tr, pcap, pcap_at };
    if has_users && !wanted.is_nothing() {
        return Err(ScenarioError::new_err("trace: packets of users and scatter are not traced"));
    }
    // The Python side may be asked for anything while the engine runs.
    let call = Call { watch: watch.as_ref(), part };
    if has_users {
        return Ok(detached(py, || run_epochs(&scenario, most(threads), &call))??);
    }
    Ok(detached(py, || run(&scenario, &wanted, threads, make, &call))??)
}

/// What the caller wants beside the tables.
struct Call<'a> {
    /// Who is told how far the run is.
    watch: Option<&'a Py<PyAny>>,
    /// A run that is interrupted has its tables until then.
    part: bool,
}

fn run(
    scenario: &Scenario,
    wanted: &Wanted,
    threads: Option<u32>,
    make: Option<Py<PyAny>>,
    call: &Call<'_>,
) -> Result<Outcome, Failure> {
    if wanted.is_nothing() {
        return if scenario.observe.interval_s.is_some() {
            run_with(scenario, Sampled, threads, make, call)
        } else {
            run_with(scenario, Totals, threads, make, call)
        };
    }
    let mut observers = Observers::new(scenario, wanted).map_err(|(path, error)| Failure::Output(path, error))?;
    let mut probe = Trace::new(scenario.links.len(), scenario.flows.len(), &mut observers);
    // A trace is written once: which scheduler is faster is not tried.
    let mut outcome = match several(scenario, threads).map_err(Failure::Scenario)? {
        Some((_, Some(several))) if several > 1 => run_traced(scenario, &mut probe, several, call)?,
        _ => run_with(scenario, probe, Some(1), make, call)?,
    };
    let records = observers.finish().map_err(|(path, error)| Failure::Output(path, error))?;
    if wanted.trace {
        outcome.add(PACKETS, crate::tables::packets(scenario, &records));
    }
    Ok(outcome)
}

/// Name of the table that `trace` adds. It is not part of the digest: it repeats what the totals say.
pub const PACKETS: &str = "packets";

fn run_epochs(scenario: &Scenario, most: u32, call: &Call<'_>) -> Result<Outcome, Failure> {
    let mut run = EpochSimulation::new(scenario, Work::up_to(most))?;
    let begin = Instant::now();
    let mut interruption = Interruption::new(call.watch);
    let ended = run.run(|far| interruption.has_come(far.simulated_s, || Some((far.packet_hops, Some(far.sending)))));
    finish_epochs(scenario, &run, ended, begin, call.part)
}

/// A run of flows on several threads, of which a probe sees the packets.
fn run_traced(scenario: &Scenario, probe: &mut impl Probe, threads: u32, call: &Call<'_>) -> Result<Outcome, Failure> {
    let mut run = EpochSimulation::new(scenario, Work::on(threads))?;
    let begin = Instant::now();
    let mut interruption = Interruption::new(call.watch);
    let ended = run.run_traced(probe, |far| interruption.has_come(far.simulated_s, || Some((far.packet_hops, None))));
    finish_epochs(scenario, &run, ended, begin, call.part)
}

/// The outcome of a run epoch by epoch.
fn finish_epochs(
    scenario: &Scenario,
    run: &EpochSimulation<'_>,
    ended: Result<(), Interrupted>,
    begin: Instant,
    part: bool,
) -> Result<Outcome, Failure> {
    if !part {
        ended?;
    }
    let wall_s = begin.elapsed().as_secs_f64();
    let tables = run.tables();
    let until = ended.is_err().then(|| run.simulated_s());
    let counts = (run.packet_hops(), 0, run.random_draws());
    let manifest = manifest(scenario, &tables, counts, &warnings::of_epochs(run), (wall_s, run.threads()))?;
    Ok(Outcome::new(manifest, tables, until))
}

/// The manifest of a run with so many packet-hops, events and random draws.
fn manifest(
    scenario: &Scenario,
    tables: &[(&'static str, Table)],
    (packet_hops, events, random_draws): (u64, u64, u64),
    warnings: &[String],
    (wall_s, threads): (f64, u32),
) -> Result<String, Interrupted> {
    let mut interruption = Interruption::new(None);
    let manifest = json!({
        "seed": scenario.seed,
        "version": env!("CARGO_PKG_VERSION"),
        "engine_behaviour": ENGINE_BEHAVIOUR,
        "digest": tables_digest(tables, || interruption.has_come(0.0, || None))?,
        "packet_hops": packet_hops,
        "events": events,
        "random_draws": random_draws,
        "warnings": warnings,
        "timing": {
            "wall_s": wall_s,
            "threads": threads,
            "packet_hops_per_s": packet_hops as f64 / wall_s,
            "peak_rss_bytes": peak_rss_bytes(),
        },
    });
    Ok(manifest.to_string())
}

fn run_with<P: Probe>(
    scenario: &Scenario,
    probe: P,
    threads: Option<u32>,
    make: Option<Py<PyAny>>,
    call: &Call<'_>,
) -> Result<Outcome, Failure> {
    let trouble = Arc::new(Trouble::default());
    let mut several = several(scenario, threads).map_err(Failure::Scenario)?;
    let mut simulation = match make {
        None => Simulation::new(scenario, probe)?,
        Some(make) => Simulation::with_controls(scenario, probe, &mut InPython::new(make, Arc::clone(&trouble)))
            .map_err(|error| {
                trouble.take().map_or_else(|| error.into(), |(place, cause)| Failure::Control(place, cause))
            })?,
    };
    let begin = Instant::now();
    let mut interruption = Interruption::new(call.watch);
    let hops = |links: &[Link]| Some((links.iter().map(Link::packets_delivered).sum(), None));
    let mut pilot = several.is_some().then_some(begin);
    let mut again = true;
    let mut ended = Ok(());
    while again {
        let mut is_long = false;
        ended = simulation.run_watched(|now_s, links| {
            if pilot.is_some_and(|begin| begin.elapsed() >= PILOT) {
                pilot = None;
                is_long = begin.elapsed().as_secs_f64() * (scenario.duration_s / now_s - 1.0) >= LONG.as_secs_f64();
            }
            is_long || trouble.happened() || interruption.has_come(now_s, || hops(links))
        });
        again = is_long;
        if let Some((most, _)) = several.take_if(|_| is_long)
            && let Some(outcome) =
                overtaking((scenario, most), (begin, simulation.reached().seconds()), &mut interruption, call.part)?
        {
            return Ok(outcome);
        }
    }
    // Ctrl-C while Python runs a control is raised there.
    let broken = |cause: &PyErr| call.part && Python::attach(|py| cause.is_instance_of::<PyKeyboardInterrupt>(py));
    if let Some((place, cause)) = trouble.take()
        && !broken(&cause)
    {
        return Err(Failure::Control(place, cause));
    }
    if !call.part {
        ended?;
    }
    let wall_s = begin.elapsed().as_secs_f64();
    if ended.is_err() {
        simulation.sample_rest(simulation.reached());
    }
    let counts = (simulation.packet_hops(), simulation.events(), simulation.random_draws());
    finish_flows(&simulation, ended, counts, (wall_s, 1))
}

/// The outcome of a run of flows, with so many packet-hops, events and random draws.
fn finish_flows(
    run: &impl Finished,
    ended: Result<(), Interrupted>,
    counts: (u64, u64, u64),
    timing: (f64, u32),
) -> Result<Outcome, Failure> {
    let mut tables = tables::totals(run);
    tables.extend(tables::series(run).map(|table| ("series", table)));
    let until = ended.is_err().then(|| run.until().seconds());
    let manifest = manifest(run.scenario(), &tables, counts, &warnings::of_flows(run), timing)?;
    Ok(Outcome::new(manifest, tables, until))
}

/// A run on as many threads as help, at most so many, if these are as far as the loop over events was after as long, since
/// `began`; the tables do not depend on it.
fn overtaking(
    (scenario, most): (&Scenario, u32),
    (began, reached_s): (Instant, f64),
    interruption: &mut Interruption<'_>,
    part: bool,
) -> Result<Option<Outcome>, Failure> {
    let begin = Instant::now();
    let (mut tried, mut slower) = (false, false);
    let mut watch = |slower: &mut bool, simulated_s: f64, packet_hops: u64| {
        if !tried && begin.elapsed() >= PILOT {
            tried = true;
            *slower = simulated_s < reached_s;
        }
        *slower || interruption.has_come(simulated_s, || Some((packet_hops, None)))
    };
    if scenario.processors() > 0 {
        let Ok(mut epochs) = EpochSimulation::new(scenario, Work::up_to(most)) else { return Ok(None) };
        if epochs.threads() == 1 {
            return Ok(None);
        }
        let ended = epochs.run(|far| watch(&mut slower, far.simulated_s, far.packet_hops));
        return if slower { Ok(None) } else { finish_epochs(scenario, &epochs, ended, began, part).map(Some) };
    }
    let Ok(mut parts) = PartedSimulation::new(scenario, Sampled, Work::up_to(most)) else { return Ok(None) };
    if parts.threads() == 1 {
        return Ok(None);
    }
    let ended = parts.run(|simulated_s, packet_hops| watch(&mut slower, simulated_s, packet_hops));
    if slower {
        return Ok(None);
    }
    if !part {
        ended?;
    }
    let counts = (parts.packet_hops(), parts.events(), parts.random_draws());
    finish_flows(&parts, ended, counts, (began.elapsed().as_secs_f64(), parts.threads())).map(Some)
}

/// Fills in the quantities of a scenario that depend on others, such as bandwidth-delay products: JSON in, JSON out.
///
/// What cannot be is a `ScenarioError` of expected, key and value, or of one sentence.
#[pyfunction]
pub fn fill(py: Python<'_>, scenario: &str) -> PyResult<String> {
    let mut scenario: serde_json::Value = serde_json::from_str(scenario)
        .map_err(|error| ScenarioError::new_err(format!("resolved scenario: {error}")))?;
    match detached(py, || tightlink_run::fill(&mut scenario).map(|()| scenario.to_string()))? {
        Ok(filled) => Ok(filled),
        Err(Wrong::Key { key, value, expected }) => Err(ScenarioError::new_err((expected, key, value))),
        Err(Wrong::Scenario(sentence)) => Err(ScenarioError::new_err(sentence)),
    }
}

/// The largest resident set of this process so far, in bytes, where the system tells.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

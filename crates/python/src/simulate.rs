//! Running a scenario.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use serde_json::json;
use tightlink_run::{Wrong, tables_digest};
use tightlink_sim::congestion::CONTROLS;
use tightlink_sim::epochs::{EpochSimulation, Estimate, Work};
use tightlink_sim::network::link::Link;
use tightlink_sim::network::queue::QUEUES;
use tightlink_sim::probe::series::METRICS;
use tightlink_sim::probe::trace::Trace;
use tightlink_sim::probe::{Probe, Sampled, Totals};
use tightlink_sim::scenario::Recovery;
use tightlink_sim::tables::{self, Table};
use tightlink_sim::warnings;
use tightlink_sim::{ENGINE_BEHAVIOUR, Interrupted, Scenario, Simulation};

use crate::control::{InPython, Trouble};
use crate::fault::detached;
use crate::observers::{Observers, Wanted, Watching};
use crate::outcome::Outcome;
use crate::{ControlError, ScenarioError};

/// Whether runs on other threads than the main one must end: only the main one hears of signals.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

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
    let mut probe = Trace::new(scenario.links.len(), scenario.flows.len(), Watching(&mut observers));
    // A trace is written once: which scheduler is faster is not tried.
    let mut outcome = match several(scenario, threads)? {
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

/// Between questions whether a run is to end; they need Python's lock.
const QUESTION: Duration = Duration::from_millis(50);

/// Whether the run is to end, as it is asked now and then.
fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) || Python::attach(|py| py.check_signals().is_err())
}

/// The same, asked as often as one likes; and who is told now and then how far the run is.
struct Interruption<'a> {
    asked: Instant,
    told: Instant,
    watch: Option<&'a Py<PyAny>>,
}

impl<'a> Interruption<'a> {
    fn new(watch: Option<&'a Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { asked: now, told: now, watch }
    }

    /// Out of line: it is asked from the midst of the loop over events.
    #[cold]
    #[inline(never)]
    fn has_come(&mut self, simulated_s: f64, counts: impl FnOnce() -> Counts) -> bool {
        const WORD: Duration = Duration::from_millis(500);
        if self.asked.elapsed() < QUESTION {
            return false;
        }
        self.asked = Instant::now();
        if self.told.elapsed() >= WORD {
            self.told = self.asked;
            if tell(self.watch, simulated_s, counts()) {
                return true;
            }
        }
        is_interrupted()
    }
}

/// The most threads for a run that may have so many: no more than processors, as they would wait for each other. Where
/// nobody said how many, no more than other programs leave.
fn most(threads: Option<u32>) -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    threads.unwrap_or_else(|| processors.saturating_sub(others_running()).max(1)).min(processors)
}

/// What else runs on this machine at the moment, where the system tells.
fn others_running() -> u32 {
    // proc(5): the fourth field is what can run, this thread among it, of all there is.
    let running = std::fs::read_to_string("/proc/loadavg").ok();
    let running = running.as_deref().and_then(|text| text.split_ascii_whitespace().nth(3)?.split('/').next());
    running.and_then(|count| count.parse::<u32>().ok()).map_or(0, |count| count.saturating_sub(1))
}

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

/// Packet-hops so far, and sources that send, of a run with users.
type Counts = Option<(u64, Option<u64>)>;

/// Tells Python how far a run is, and whether it was interrupted meanwhile: a signal that arrives while Python runs is
/// raised there. What else goes wrong there does not end the run.
fn tell(watch: Option<&Py<PyAny>>, simulated_s: f64, counts: Counts) -> bool {
    let Some(watch) = watch else { return false };
    Python::attach(|py| {
        let (packet_hops, sending) = (counts.map(|counts| counts.0), counts.and_then(|counts| counts.1));
        let Err(error) = watch.call1(py, (simulated_s, packet_hops, sending)) else { return false };
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return true;
        }
        error.write_unraisable(py, None);
        false
    })
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
    let mut several = several(scenario, threads)?;
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
    let mut tables = tables::totals(&simulation);
    tables.extend(tables::series(&simulation).map(|table| ("series", table)));
    let until = ended.is_err().then(|| simulation.reached().seconds());
    let counts = (simulation.packet_hops(), simulation.events(), simulation.random_draws());
    let manifest = manifest(scenario, &tables, counts, &warnings::of_flows(&simulation), (wall_s, 1))?;
    Ok(Outcome::new(manifest, tables, until))
}

/// The most threads that a run of flows may try, if any; and as many as help, where a number was asked for: what cannot be
/// on several is an error there. By default that is known when they are tried.
fn several(scenario: &Scenario, threads: Option<u32>) -> Result<Option<(u32, Option<u32>)>, Failure> {
    let most = most(threads);
    let estimate = match threads.filter(|&threads| threads > 1) {
        None => None,
        Some(threads) => Some(Estimate::new(scenario, most).map_err(|error| match error {
            tightlink_sim::ScenarioError::Traffic { expected } => {
                Failure::Scenario(format!("threads = {threads}: expected {expected}"))
            }
            other => other.into(),
        })?),
    };
    Ok((most > 1).then(|| (most, estimate.map(|estimate| estimate.threads))))
}

/// For so long the loop over events runs before several threads are tried, and these as long: which is faster depends on
/// what can be evaluated ahead of events, and on who else uses the machine.
const PILOT: Duration = Duration::from_millis(250);

/// Several threads are tried where a run takes so much longer, by its pace: where they are slower, that costs a twentieth.
const LONG: Duration = Duration::from_secs(5);

/// A run on as many threads as help, at most so many, if these are as far as the loop over events was after as long, since
/// `began`; the tables do not depend on it.
fn overtaking(
    (scenario, most): (&Scenario, u32),
    (began, reached_s): (Instant, f64),
    interruption: &mut Interruption<'_>,
    part: bool,
) -> Result<Option<Outcome>, Failure> {
    let begin = Instant::now();
    let Ok(mut epochs) = EpochSimulation::new(scenario, Work::up_to(most)) else { return Ok(None) };
    if epochs.threads() == 1 {
        return Ok(None);
    }
    let (mut tried, mut slower) = (false, false);
    let ended = epochs.run(|far| {
        if !tried && begin.elapsed() >= PILOT {
            tried = true;
            slower = far.simulated_s < reached_s;
        }
        slower || interruption.has_come(far.simulated_s, || Some((far.packet_hops, None)))
    });
    if slower {
        return Ok(None);
    }
    finish_epochs(epochs.scenario(), &epochs, ended, began, part).map(Some)
}

/// The threads that are used of at most so many, or of as many as there are processors; by the estimate with which share of
/// the load the heaviest part has, the seconds of simulated time after which the parts meet, and packet-hops in these; and,
/// of a scenario of flows, after how many seconds they are tried.
#[pyfunction]
#[pyo3(signature = (scenario, threads = None))]
pub fn threads(py: Python<'_>, scenario: &str, threads: Option<u32>) -> PyResult<(u32, f64, f64, f64, Option<f64>)> {
    let scenario: Scenario = serde_json::from_str(scenario)
        .map_err(|error| ScenarioError::new_err(format!("resolved scenario: {error}")))?;
    let estimate = detached(py, || Estimate::new(&scenario, most(threads)))?
        .map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let only_flows = scenario.users.is_empty() && scenario.scatter.is_empty();
    let Estimate { threads, heaviest_share, turn_s, packet_hops_per_turn } = estimate;
    Ok((threads, heaviest_share, turn_s, packet_hops_per_turn, only_flows.then_some(LONG.as_secs_f64())))
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

/// Ends the runs of all threads, which raise `KeyboardInterrupt`, until it is called with `false`.
#[pyfunction]
pub fn interrupt(on: bool) {
    INTERRUPTED.store(on, Ordering::Relaxed);
}

/// The largest resident set of this process so far, in bytes, where the system tells.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn named(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|&(name, help)| (name.to_owned(), help.to_owned())).collect()
}

/// Names and descriptions of all congestion controls.
#[pyfunction]
pub fn congestion() -> Vec<(String, String)> {
    CONTROLS.iter().map(|control| (control.name.to_owned(), control.help.to_owned())).collect()
}

/// An option of a congestion control: name, unit, default, smallest and largest value, help.
type ControlOption = (&'static str, &'static str, f64, f64, f64, &'static str);

/// The options of a congestion control; none of a name that is not known.
#[pyfunction]
pub fn congestion_options(name: &str) -> Vec<ControlOption> {
    let known = CONTROLS.iter().filter(|control| control.name == name).flat_map(|control| control.options);
    known.map(|o| (o.name, o.unit.name(), o.default, o.least, o.most, o.help)).collect()
}

/// Whether a congestion control needs congestion marks; not, if it is not known.
#[pyfunction]
pub fn reads_marks(name: &str) -> bool {
    tightlink_sim::congestion::reads_marks(name)
}

/// The kinds of loss recovery that a congestion control works with; none of a name that is not known.
#[pyfunction]
pub fn congestion_recoveries(name: &str) -> Vec<&'static str> {
    let known = CONTROLS.iter().filter(|control| control.name == name);
    known
        .flat_map(|control| Recovery::ALL.into_iter().filter(|&kind| control.works_with(kind)))
        .map(Recovery::name)
        .collect()
}

/// Names and descriptions of all queue disciplines.
#[pyfunction]
pub fn queues() -> Vec<(String, String)> {
    named(QUEUES)
}

/// Names and descriptions of all kinds of loss recovery.
#[pyfunction]
pub fn recoveries() -> Vec<(String, String)> {
    named(&Recovery::ALL.map(|recovery| (recovery.name(), recovery.help())))
}

/// Names and descriptions of all metrics of the time series.
#[pyfunction]
pub fn metrics() -> Vec<(String, String)> {
    named(METRICS)
}

//! How many threads a run has.

use std::time::Duration;

use pyo3::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::epochs::Estimate;

use crate::ScenarioError;
use crate::fault::detached;

/// The most threads for a run that may have so many: no more than processors, as they would wait for each other. Where
/// nobody said how many, no more than other programs leave.
pub fn most(threads: Option<u32>) -> u32 {
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

/// The most threads that a run of flows may try, if any; and as many as help, where a number was asked for: what cannot be
/// on several is an error there. By default that is known when they are tried.
pub fn several(scenario: &Scenario, threads: Option<u32>) -> Result<Option<(u32, Option<u32>)>, String> {
    let most = most(threads);
    let estimate = match threads.filter(|&threads| threads > 1) {
        None => None,
        Some(threads) => Some(Estimate::new(scenario, most).map_err(|error| match error {
            tightlink_sim::ScenarioError::Traffic { expected } => format!("threads = {threads}: expected {expected}"),
            other => other.to_string(),
        })?),
    };
    Ok((most > 1).then(|| (most, estimate.map(|estimate| estimate.threads))))
}

/// For so long the loop over events runs before several threads are tried, and these as long: which is faster depends on
/// what can be evaluated ahead of events, and on who else uses the machine.
pub const PILOT: Duration = Duration::from_millis(250);

/// Several threads are tried where a run takes so much longer, by its pace: where they are slower, that costs a twentieth.
pub const LONG: Duration = Duration::from_secs(5);

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

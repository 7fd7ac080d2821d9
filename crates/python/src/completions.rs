//! Completion times of transfers that were measured.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tightlink_sim::Scenario;
use tightlink_sim::tables::{Transferred, measured_completions};

use crate::{ScenarioError, tables};

/// The tables of transfers of a resolved scenario, given as JSON, by name: nothing where all flows are without end. Of each
/// flow is given how long it took in seconds, if it was complete, packets retransmitted and timeouts.
#[pyfunction]
pub fn completions<'py>(
    py: Python<'py>,
    scenario: &str,
    seen: Vec<(Option<f64>, u64, u64)>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario: Scenario = serde_json::from_str(scenario)
        .map_err(|error| ScenarioError::new_err(format!("resolved scenario: {error}")))?;
    let transferred = |flow: usize| {
        let (took_s, packets_retransmitted, timeouts) = seen[flow];
        Transferred { took_s, packets_retransmitted, timeouts }
    };
    let found =
        measured_completions(&scenario, transferred).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let answer = PyDict::new(py);
    for (name, table) in &found {
        answer.set_item(name, tables::to_python(py, table)?)?;
    }
    Ok(answer)
}

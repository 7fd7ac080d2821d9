//! When the applications of a scenario offer their packets, for those who send them otherwise than by simulating.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use tightlink_sim::scenario::FlowSpec;
use tightlink_sim::traffic::pulse;

use crate::ScenarioError;
use crate::fault::detached;

/// The times in seconds at which a resolved flow with a clock offers its packets; nothing for other traffic.
#[pyfunction]
pub fn departures<'py>(py: Python<'py>, flow: &str, seed: u64) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
    let flow: FlowSpec = serde_json::from_str(flow).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let found = detached(py, || pulse::departures(&flow, seed))?;
    Ok(found.map(|times| times.into_pyarray(py)))
}

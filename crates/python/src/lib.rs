//! The extension module `tightlink._core`: thin. A resolved scenario goes in as JSON, tables come out as
//! arrays or Parquet files.

use pyo3::prelude::*;

mod capture;
mod completions;
mod control;
mod departures;
mod fault;
mod interruption;
mod names;
mod observers;
mod outcome;
mod parquet_file;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod relay;
mod simulate;
mod tables;
mod threads;

pyo3::create_exception!(_core, ScenarioError, pyo3::exceptions::PyValueError, "A scenario that cannot be simulated.");
pyo3::create_exception!(
    _core,
    ControlError,
    pyo3::exceptions::PyRuntimeError,
    "What went wrong in a congestion control written in Python, and where; the cause says why."
);

pyo3::create_exception!(
    _core,
    CaptureError,
    pyo3::exceptions::PyValueError,
    "A file that is no capture, or a damaged one."
);

pyo3::create_exception!(
    _core,
    EngineError,
    pyo3::exceptions::PyRuntimeError,
    "A mistake of the engine itself: what went wrong, and where in its code."
);

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fault::note_panics();
    module.add("EngineError", module.py().get_type::<EngineError>())?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("engine_behaviour", tightlink_sim::ENGINE_BEHAVIOUR)?;
    module.add("ControlError", module.py().get_type::<ControlError>())?;
    module.add("CaptureError", module.py().get_type::<CaptureError>())?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<control::Report>()?;
    module.add_class::<control::RateSample>()?;
    module.add_class::<control::Handshake>()?;
    module.add_class::<control::Ack>()?;
    module.add_class::<control::Loss>()?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(threads::threads, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::fill, module)?)?;
    module.add_function(wrap_pyfunction!(interruption::interrupt, module)?)?;
    module.add_function(wrap_pyfunction!(names::congestion, module)?)?;
    module.add_function(wrap_pyfunction!(names::congestion_options, module)?)?;
    module.add_function(wrap_pyfunction!(names::reads_marks, module)?)?;
    module.add_function(wrap_pyfunction!(names::congestion_recoveries, module)?)?;
    module.add_function(wrap_pyfunction!(names::queues, module)?)?;
    module.add_function(wrap_pyfunction!(names::recoveries, module)?)?;
    module.add_function(wrap_pyfunction!(names::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(completions::completions, module)?)?;
    module.add_function(wrap_pyfunction!(departures::departures, module)?)?;
    module.add_function(wrap_pyfunction!(outcome::write_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(outcome::digest, module)?)?;
    module.add_function(wrap_pyfunction!(capture::capture, module)?)?;
    #[cfg(target_os = "linux")]
    add_live(module)?;
    Ok(())
}

/// Adds the emulated link and the senders and receivers of real traffic.
#[cfg(target_os = "linux")]
fn add_live(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(relay::relay, module)?)?;
    module.add_function(wrap_pyfunction!(probe::probe_tcp_send, module)?)?;
    module.add_function(wrap_pyfunction!(probe::probe_tcp_receive, module)?)?;
    module.add_function(wrap_pyfunction!(probe::probe_udp_send, module)?)?;
    module.add_function(wrap_pyfunction!(probe::probe_udp_receive, module)?)?;
    module.add_function(wrap_pyfunction!(probe::probe_udp_echo, module)?)
}

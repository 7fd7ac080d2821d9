//! What controls say: windows, rates and other numbers, read from Python and shown there.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};
use tightlink_sim::congestion::Window;

/// Where a control says its rate.
const PACING_RATE: &str = "pacing_rate";

/// What a call has set of a window, be it to what it was.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    pub cwnd: Option<f64>,
    pub ssthresh: Option<f64>,
}

impl Set {
    /// Since these were shown.
    pub fn since(shown: &[Bound<'_, PyFloat>; 2], object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let (cwnd, ssthresh) = (object.getattr(intern!(py, "cwnd"))?, object.getattr(intern!(py, "ssthresh"))?);
        Ok(Self {
            cwnd: if cwnd.is(&shown[0]) { None } else { Some(packets(&cwnd, "cwnd")?) },
            ssthresh: if ssthresh.is(&shown[1]) { None } else { Some(limit(&ssthresh)?) },
        })
    }
}

/// Of what a method returns and what it has set an attribute to, the one that there is.
pub fn either(returned: Option<f64>, set: Option<f64>, name: &str) -> PyResult<Option<f64>> {
    match (returned, set) {
        (Some(returned), Some(set)) if returned != set => Err(PyValueError::new_err(format!(
            "it returns {returned} and sets self.{name} to {set}: expected one of them"
        ))),
        _ => Ok(returned.or(set)),
    }
}

/// The same of what has to be one of them.
pub fn given(returned: Option<f64>, set: Option<f64>, name: &str) -> PyResult<Option<f64>> {
    let found = either(returned, set, name)?;
    if found.is_none() {
        let message = format!("what it returns is None: expected packets, or that it sets self.{name}");
        return Err(PyValueError::new_err(message));
    }
    Ok(found)
}

/// Shows a control the window.
pub fn show<'py>(object: &Bound<'py, PyAny>, window: &Window) -> PyResult<[Bound<'py, PyFloat>; 2]> {
    let py = object.py();
    let shown = [window.cwnd, threshold(window)].map(|packets| PyFloat::new(py, packets));
    object.setattr(intern!(py, "cwnd"), &shown[0])?;
    object.setattr(intern!(py, "ssthresh"), &shown[1])?;
    Ok(shown)
}

/// The threshold as Python has it.
pub fn threshold(window: &Window) -> f64 {
    if window.ssthresh == f64::MAX { f64::INFINITY } else { window.ssthresh }
}

/// A threshold from Python.
pub fn limit(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let unlimited = value.extract::<f64>().is_ok_and(|packets| packets == f64::INFINITY);
    if unlimited { Ok(f64::MAX) } else { packets(value, "ssthresh") }
}

/// The rate at which a control says that its connection is paced, if it says one.
pub fn rate(object: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let value = object.getattr(intern!(object.py(), PACING_RATE))?;
    if value.is_none() {
        return Ok(None);
    }
    match value.extract::<f64>() {
        Ok(rate) if rate > 0.0 && rate.is_finite() && !value.is_instance_of::<PyBool>() => Ok(Some(rate)),
        _ => {
            let expected = "packets per second, a number above zero, or None";
            let message = format!("{PACING_RATE} is {}: expected {expected}", value.repr()?);
            Err(PyValueError::new_err(message))
        }
    }
}

/// A number to sample; none of what there is nothing to say.
pub fn number(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let found = value.extract::<Option<f64>>().map_err(|_| {
        let shown = value.repr().map_or_else(|_| "what it is".to_owned(), |shown| shown.to_string());
        PyValueError::new_err(format!("it is {shown}: expected a number, or None"))
    })?;
    Ok(found.filter(|value| !value.is_nan()))
}

/// That a method returns nothing: who returns a window means to set one.
pub fn nothing(answer: &Bound<'_, PyAny>, _: Set) -> PyResult<()> {
    if answer.is_none() {
        return Ok(());
    }
    let message = format!("it returns {}: expected nothing, as it sets self.cwnd", answer.repr()?);
    Err(PyValueError::new_err(message))
}

/// As many as a window of a scenario has.
const MOST_PACKETS: f64 = i32::MAX as f64;

/// A number of packets; less than one counts as one.
pub fn packets(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(packets) if packets > 0.0 && !value.is_instance_of::<PyBool>() && packets <= MOST_PACKETS => {
            Ok(packets.max(1.0))
        }
        _ => {
            let expected = format!("packets, a number above zero and up to {MOST_PACKETS}");
            let message = format!("{what} is {}: expected {expected}", value.repr()?);
            Err(PyValueError::new_err(message))
        }
    }
}

//! Congestion controls written in Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tightlink_sim::congestion::{self, ControlSpec, External, Maker, Window};

/// What happened to a connection since the last report: a round trip, or less after a loss.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Report {
    /// When, in seconds.
    now_s: f64,
    /// Since the last report, in seconds.
    interval_s: f64,
    /// Packets acknowledged since then.
    delivered: f64,
    /// Those of them that had a congestion mark, as far as ACKs tell: each with accurate ECN; with classic ECN all that an
    /// ACK acknowledges which says that there was one.
    marked: f64,
    /// Packets outstanding.
    in_flight: f64,
    /// The mean round-trip time of the ACKs since then, in seconds.
    rtt_s: f64,
    /// The smallest of them, in seconds.
    rtt_min_s: f64,
    /// The smallest of the connection, in seconds.
    rtt_base_s: f64,
    /// Whether the window was in use, so that its size tells something of the path.
    in_use: bool,
}

/// An ACK that acknowledged new data.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Ack {
    /// When it arrived, in seconds.
    now_s: f64,
    /// Packets that it acknowledges; 1 under profile ns2, which counts ACKs.
    acked: f64,
    /// Packets that had a congestion mark, which are not among them, as far as it tells.
    marked: f64,
    /// The round-trip time that its timestamp tells, in seconds.
    rtt_s: f64,
    /// Packets outstanding before it came.
    in_flight: f64,
    /// Whether the window was in use.
    in_use: bool,
}

/// A loss that the sender has detected.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Loss {
    /// When it was detected, in seconds.
    now_s: f64,
    /// Packets of the window in use then: what a cut starts from; not a truth value, as that of reports and ACKs.
    in_use: f64,
}

/// A sample of the delivery rate, of the flight of the packet that was sent last of those that an ACK tells of
/// (draft-cheng-iccrg-delivery-rate-estimation).
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct RateSample {
    /// When the ACK arrived, in seconds.
    now_s: f64,
    /// When that packet was sent, in seconds.
    sent_s: f64,
    /// The delivery rate, in packets per second; 0 if it cannot be told.
    rate: f64,
    /// Packets delivered in the span of the sample.
    delivered: f64,
    /// Packets delivered in all when that packet was sent: one that is sent after a round trip began ends it.
    prior_delivered: f64,
    /// Packets delivered in all.
    total_delivered: f64,
    /// The round-trip time of that packet in seconds; None if it was sent more than once.
    rtt_s: Option<f64>,
    /// Packets of which this ACK tells for the first time, acknowledged or selectively.
    newly_delivered: f64,
    /// Packets that were found lost since the sample before.
    newly_lost: f64,
    /// Packets that were found lost in the span of the sample.
    lost: f64,
    /// Packets in flight when that packet had been sent, itself included.
    sent_in_flight: f64,
    /// Packets in flight now: sent, and neither delivered nor lost.
    in_flight: f64,
    /// Whether the application had too little to send, so that the path may be faster.
    app_limited: bool,
    /// Whether losses are being mended.
    recovering: bool,
}

macro_rules! shown_in_python {
    ($($told:ident),*) => {$(
        #[pymethods]
        impl $told {
            fn __repr__(&self) -> String {
                as_python(&format!("{self:?}"))
            }
        }
    )*};
}

shown_in_python!(Report, Ack, Loss, RateSample);

/// What went wrong first in a control, after which the run ends.
#[derive(Debug, Default)]
pub struct Trouble {
    happened: AtomicBool,
    first: Mutex<Option<(String, PyErr)>>,
}

impl Trouble {
    /// Whether something went wrong.
    pub fn happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }

    /// Where it happened, and what.
    pub fn take(&self) -> Option<(String, PyErr)> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, place: String, error: PyErr) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((place, error));
        self.happened.store(true, Ordering::Relaxed);
    }
}

/// Makes controls by calling Python with the digest of their code and the options.
#[derive(Debug)]
pub struct InPython {
    make: Py<PyAny>,
    trouble: Arc<Trouble>,
}

impl InPython {
    /// Calls `make`; what goes wrong in a control is noted in `trouble`.
    pub fn new(make: Py<PyAny>, trouble: Arc<Trouble>) -> Self {
        Self { make, trouble }
    }
}

impl Maker for InPython {
    fn make(&mut self, spec: &ControlSpec, flow: &str) -> Result<Box<dyn External>, String> {
        let made = Python::attach(|py| {
            let options = PyDict::new(py);
            for (name, value) in &spec.options {
                options.set_item(name, value)?;
            }
            let object = self.make.call1(py, (&spec.external, options))?;
            let wants_acks = object.bind(py).hasattr(intern!(py, "on_ack"))?;
            let wants_marks = object.bind(py).hasattr(intern!(py, "on_mark"))?;
            let wants_samples = object.bind(py).hasattr(intern!(py, "on_sample"))?;
            let paces = object.bind(py).hasattr(intern!(py, PACING_RATE))?;
            let (flow, trouble) = (flow.to_owned(), Arc::clone(&self.trouble));
            let pacing_rate = if paces { rate(object.bind(py))? } else { None };
            PyResult::Ok(Control { object, wants_acks, wants_marks, wants_samples, paces, pacing_rate, flow, trouble })
        });
        let control = made.map_err(|error| Python::attach(|py| error.value(py).to_string()))?;
        Ok(Box::new(control))
    }
}

/// A control of one connection.
#[derive(Debug)]
struct Control {
    object: Py<PyAny>,
    wants_acks: bool,
    wants_marks: bool,
    wants_samples: bool,
    /// Whether it says at which rate its connection is paced.
    paces: bool,
    /// Packets per second, as it has said last.
    pacing_rate: Option<f64>,
    flow: String,
    trouble: Arc<Trouble>,
}

/// Where it says that.
const PACING_RATE: &str = "pacing_rate";

impl Control {
    /// Sets the window, calls a method and reads the window; what the method returns is read by `read`.
    fn call<T>(
        &mut self,
        method: &'static str,
        now_s: f64,
        window: &mut Window,
        argument: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if self.trouble.happened() {
            return None;
        }
        let called = Python::attach(|py| {
            let object = self.object.bind(py);
            let (cwnd, ssthresh) = (intern!(py, "cwnd"), intern!(py, "ssthresh"));
            object.setattr(cwnd, window.cwnd)?;
            object.setattr(ssthresh, if window.ssthresh == f64::MAX { f64::INFINITY } else { window.ssthresh })?;
            let answer = object.call_method1(PyString::intern(py, method), (argument(py)?,))?;
            window.cwnd = packets(&object.getattr(cwnd)?, "cwnd")?;
            let threshold = object.getattr(ssthresh)?;
            let unlimited = threshold.extract::<f64>().is_ok_and(|packets| packets == f64::INFINITY);
            window.ssthresh = if unlimited { f64::MAX } else { packets(&threshold, "ssthresh")? };
            if self.paces {
                self.pacing_rate = rate(object)?;
            }
            read(&answer)
        });
        called.map_err(|error| self.trouble.note(format!("{method} of {} at {now_s:.6} s", self.flow), error)).ok()
    }

    fn cut(&mut self, method: &'static str, window: &Window, loss: &congestion::Loss) -> f64 {
        let now_s = loss.now.seconds();
        let argument = Loss { now_s, in_use: loss.in_use };
        let mut window = *window;
        let read = |answer: &Bound<'_, PyAny>| packets(answer, "what it returns");
        let answer = self.call(method, now_s, &mut window, |py| Ok(Bound::new(py, argument)?.into_any()), read);
        answer.unwrap_or(loss.in_use)
    }
}

/// A struct as Python writes an object with its fields.
fn as_python(written: &str) -> String {
    let fields = written.replace(" { ", "(").replace(" }", ")").replace(": ", "=");
    let fields = fields.replace("=Some(", "=").replace("),", ",");
    fields.replace("=true", "=True").replace("=false", "=False")
}

/// The rate at which a control says that its connection is paced, if it says one.
fn rate(object: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let value = object.getattr(intern!(object.py(), PACING_RATE))?;
    if value.is_none() {
        return Ok(None);
    }
    match value.extract::<f64>() {
        Ok(rate) if rate > 0.0 && rate.is_finite() => Ok(Some(rate)),
        _ => {
            let expected = "packets per second, a number above zero, or None";
            let message = format!("{PACING_RATE} is {}: expected {expected}", value.repr()?);
            Err(pyo3::exceptions::PyValueError::new_err(message))
        }
    }
}

/// That a method returns nothing: who returns a window means to set one.
fn nothing(answer: &Bound<'_, PyAny>) -> PyResult<()> {
    if answer.is_none() {
        return Ok(());
    }
    let message = format!("it returns {}: expected nothing, as it sets self.cwnd", answer.repr()?);
    Err(pyo3::exceptions::PyValueError::new_err(message))
}

/// As many as a window of a scenario has.
const MOST_PACKETS: f64 = i32::MAX as f64;

/// A number of packets.
fn packets(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(packets) if packets > 0.0 && packets <= MOST_PACKETS => Ok(packets.max(1.0)),
        _ => {
            let expected = format!("packets, a number above zero and up to {MOST_PACKETS}");
            let message = format!("{what} is {}: expected {expected}", value.repr()?);
            Err(pyo3::exceptions::PyValueError::new_err(message))
        }
    }
}

impl External for Control {
    fn wants_acks(&self) -> bool {
        self.wants_acks
    }

    fn wants_marks(&self) -> bool {
        self.wants_marks
    }

    fn on_mark(&mut self, window: &Window, loss: &congestion::Loss) -> Option<f64> {
        let now_s = loss.now.seconds();
        let argument = Loss { now_s, in_use: loss.in_use };
        let read = |answer: &Bound<'_, PyAny>| {
            if answer.is_none() { Ok(None) } else { packets(answer, "what it returns").map(Some) }
        };
        let mut window = *window;
        self.call("on_mark", now_s, &mut window, |py| Ok(Bound::new(py, argument)?.into_any()), read).flatten()
    }

    fn on_report(&mut self, window: &mut Window, report: &congestion::Report) {
        let &congestion::Report { now_s, interval_s, delivered, marked, in_flight, .. } = report;
        let &congestion::Report { rtt_s, rtt_min_s, rtt_base_s, in_use, .. } = report;
        let argument = Report { now_s, interval_s, delivered, marked, in_flight, rtt_s, rtt_min_s, rtt_base_s, in_use };
        self.call("on_report", now_s, window, |py| Ok(Bound::new(py, argument)?.into_any()), nothing);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &congestion::Ack, in_use: bool) {
        let now_s = ack.now.seconds();
        let &congestion::Ack { acked, marked, rtt_s, in_flight, .. } = ack;
        let argument = Ack { now_s, acked, marked, rtt_s, in_flight, in_use };
        self.call("on_ack", now_s, window, |py| Ok(Bound::new(py, argument)?.into_any()), nothing);
    }

    fn wants_samples(&self) -> bool {
        self.wants_samples
    }

    fn is_paced(&self) -> bool {
        self.paces || self.wants_samples
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn on_sample(&mut self, window: &mut Window, sample: &congestion::RateSample) -> bool {
        let now_s = sample.now.seconds();
        let argument = RateSample {
            now_s,
            sent_s: sample.sent.seconds(),
            rate: sample.rate,
            delivered: sample.delivered,
            prior_delivered: sample.prior_delivered,
            total_delivered: sample.total_delivered,
            rtt_s: sample.rtt_s,
            newly_delivered: sample.newly_delivered,
            newly_lost: sample.newly_lost,
            lost: sample.lost,
            sent_in_flight: sample.sent_in_flight,
            in_flight: sample.in_flight,
            app_limited: sample.app_limited,
            recovering: sample.recovering,
        };
        let read = |answer: &Bound<'_, PyAny>| match answer.extract::<Option<bool>>() {
            Ok(slow) => Ok(slow == Some(true)),
            Err(_) => {
                let message = format!("it returns {}: expected True, or nothing", answer.repr()?);
                Err(pyo3::exceptions::PyValueError::new_err(message))
            }
        };
        let called = self.call("on_sample", now_s, window, |py| Ok(Bound::new(py, argument)?.into_any()), read);
        called.unwrap_or_default()
    }

    fn on_loss(&mut self, window: &Window, loss: &congestion::Loss) -> f64 {
        self.cut("on_loss", window, loss)
    }

    fn on_timeout(&mut self, window: &Window, loss: &congestion::Loss) -> f64 {
        self.cut("on_timeout", window, loss)
    }
}

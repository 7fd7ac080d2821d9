//! Congestion controls written in Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};
use tightlink_sim::congestion::{self, ControlSpec, Cut, External, Maker, Opening, Window};
use tightlink_sim::time::Time;

/// What happened to a connection since the last report: a round trip, and before it a loss recovery if there was one.
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

/// An ACK that acknowledged new data, outside of loss recovery.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Ack {
    /// When it arrived, in seconds.
    now_s: f64,
    /// Packets that it acknowledges, but for marked ones; 1 under profile ns2, which counts ACKs.
    acked: f64,
    /// Packets that had a congestion mark, as far as it tells; they are not among those above. Of a class with on_mark; to
    /// others a mark is a loss.
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
    /// The round-trip time of that packet in seconds; None if it was sent more than once, as nobody can tell which one
    /// was answered. So it may be None from the first sample on.
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
    fn make(&mut self, spec: &ControlSpec, opening: &Opening<'_>) -> Result<(Box<dyn External>, Window), String> {
        let Opening { flow, seed, payload_bytes, window } = *opening;
        let made = Python::attach(|py| {
            let options = PyDict::new(py);
            for (name, value) in &spec.options {
                options.set_item(name, value)?;
            }
            let of = (&spec.external, options, flow, seed, payload_bytes, window.cwnd, threshold(&window));
            let made = self.make.call1(py, of)?.into_bound(py);
            if let Ok(expected) = made.extract::<String>() {
                return Ok(Err(expected));
            }
            let (object, [wants_acks, wants_marks, wants_samples, wants_undone, paces], sampled) =
                made.extract::<(Py<PyAny>, [bool; 5], Vec<String>)>()?;
            let begun = object.bind(py);
            let cwnd = packets(&begun.getattr(intern!(py, "cwnd"))?, "cwnd")?;
            let window = Window { cwnd, ssthresh: limit(&begun.getattr(intern!(py, "ssthresh"))?)? };
            let pacing_rate = rate(begun)?;
            let (flow, trouble) = (flow.to_owned(), Arc::clone(&self.trouble));
            let paces = paces || wants_samples || pacing_rate.is_some();
            let wants = Wants { acks: wants_acks, marks: wants_marks, samples: wants_samples, undone: wants_undone };
            let control = Control { object, wants, sampled, paces, pacing_rate, flow, trouble };
            Ok(Ok((Box::new(control) as Box<dyn External>, window)))
        });
        made.unwrap_or_else(|error| {
            self.trouble.note(format!("__init__ of {flow}"), error);
            Err(String::new())
        })
    }
}

/// Whether a class has each of the methods that are only called where it has them.
#[derive(Clone, Copy, Debug)]
struct Wants {
    acks: bool,
    marks: bool,
    samples: bool,
    undone: bool,
}

/// A control of one connection.
#[derive(Debug)]
struct Control {
    object: Py<PyAny>,
    wants: Wants,
    /// Attributes that series have.
    sampled: Vec<String>,
    /// Whether its connection is paced: from the beginning, or since it said a rate.
    paces: bool,
    /// Packets per second, as it has said last.
    pacing_rate: Option<f64>,
    flow: String,
    trouble: Arc<Trouble>,
}

/// Where it says that.
const PACING_RATE: &str = "pacing_rate";

/// A method's name and its argument, if it has one.
type Told<'py> = (&'py Bound<'py, PyString>, Option<Bound<'py, PyAny>>);

impl Control {
    /// Sets the window, calls a method, for each ACK if `often`, and reads the window; what the method returns is read by
    /// `read`.
    fn call<T>(
        &mut self,
        now: Time,
        window: &mut Window,
        often: bool,
        told: impl for<'py> FnOnce(Python<'py>) -> PyResult<Told<'py>>,
        read: impl FnOnce(&Bound<'_, PyAny>, Set) -> PyResult<T>,
    ) -> Option<T> {
        if self.trouble.happened() {
            return None;
        }
        Python::attach(|py| {
            let object = self.object.bind(py);
            let (method, argument) = told(py).ok()?;
            let called = || {
                let shown = show(object, window)?;
                let answer = match argument {
                    Some(argument) => object.call_method1(method, (argument,))?,
                    None => object.call_method0(method)?,
                };
                let set = Set::since(&shown, object)?;
                window.cwnd = set.cwnd.unwrap_or(window.cwnd);
                window.ssthresh = set.ssthresh.unwrap_or(window.ssthresh);
                // Whether it has come to pace need not be looked at with each ACK.
                if self.paces || !often {
                    self.pacing_rate = rate(object)?;
                    self.paces |= self.pacing_rate.is_some();
                }
                read(&answer, set)
            };
            let place =
                |error| self.trouble.note(format!("{method} of {} at {:.6} s", self.flow, now.seconds()), error);
            called().map_err(place).ok()
        })
    }

    /// Asks what to make of a loss: `read` has what the method returns, and what it has set.
    fn cut(
        &mut self,
        method: impl for<'py> FnOnce(Python<'py>) -> &'py Bound<'py, PyString>,
        window: &Window,
        loss: &congestion::Loss,
        read: impl FnOnce(Option<f64>, Set) -> PyResult<Cut>,
    ) -> Cut {
        let told = Loss { now_s: loss.now.seconds(), in_use: loss.in_use };
        let answer = self.call(
            loss.now,
            &mut window.clone(),
            false,
            |py| Ok((method(py), Some(Bound::new(py, told)?.into_any()))),
            |answer, set| {
                let returned = if answer.is_none() { None } else { Some(packets(answer, "what it returns")?) };
                read(returned, set)
            },
        );
        answer.unwrap_or_default()
    }
}

/// What a call has set of a window, be it to what it was.
#[derive(Clone, Copy, Debug)]
struct Set {
    cwnd: Option<f64>,
    ssthresh: Option<f64>,
}

impl Set {
    /// Since these were shown.
    fn since(shown: &[Bound<'_, PyFloat>; 2], object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let (cwnd, ssthresh) = (object.getattr(intern!(py, "cwnd"))?, object.getattr(intern!(py, "ssthresh"))?);
        Ok(Self {
            cwnd: if cwnd.is(&shown[0]) { None } else { Some(packets(&cwnd, "cwnd")?) },
            ssthresh: if ssthresh.is(&shown[1]) { None } else { Some(limit(&ssthresh)?) },
        })
    }
}

/// Of what a method returns and what it has set an attribute to, the one that there is.
fn either(returned: Option<f64>, set: Option<f64>, name: &str) -> PyResult<Option<f64>> {
    match (returned, set) {
        (Some(returned), Some(set)) if returned != set => Err(PyValueError::new_err(format!(
            "it returns {returned} and sets self.{name} to {set}: expected one of them"
        ))),
        _ => Ok(returned.or(set)),
    }
}

/// The same of what has to be one of them.
fn given(returned: Option<f64>, set: Option<f64>, name: &str) -> PyResult<Option<f64>> {
    let found = either(returned, set, name)?;
    if found.is_none() {
        let message = format!("what it returns is None: expected packets, or that it sets self.{name}");
        return Err(PyValueError::new_err(message));
    }
    Ok(found)
}

/// Shows a control the window.
fn show<'py>(object: &Bound<'py, PyAny>, window: &Window) -> PyResult<[Bound<'py, PyFloat>; 2]> {
    let py = object.py();
    let shown = [window.cwnd, threshold(window)].map(|packets| PyFloat::new(py, packets));
    object.setattr(intern!(py, "cwnd"), &shown[0])?;
    object.setattr(intern!(py, "ssthresh"), &shown[1])?;
    Ok(shown)
}

/// The threshold as Python has it.
fn threshold(window: &Window) -> f64 {
    if window.ssthresh == f64::MAX { f64::INFINITY } else { window.ssthresh }
}

/// A threshold from Python.
fn limit(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let unlimited = value.extract::<f64>().is_ok_and(|packets| packets == f64::INFINITY);
    if unlimited { Ok(f64::MAX) } else { packets(value, "ssthresh") }
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
        Ok(rate) if rate > 0.0 && rate.is_finite() && !value.is_instance_of::<PyBool>() => Ok(Some(rate)),
        _ => {
            let expected = "packets per second, a number above zero, or None";
            let message = format!("{PACING_RATE} is {}: expected {expected}", value.repr()?);
            Err(PyValueError::new_err(message))
        }
    }
}

/// A number to sample; none of what there is nothing to say.
fn number(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let found = value.extract::<Option<f64>>().map_err(|_| {
        let shown = value.repr().map_or_else(|_| "what it is".to_owned(), |shown| shown.to_string());
        PyValueError::new_err(format!("it is {shown}: expected a number, or None"))
    })?;
    Ok(found.filter(|value| !value.is_nan()))
}

/// That a method returns nothing: who returns a window means to set one.
fn nothing(answer: &Bound<'_, PyAny>, _: Set) -> PyResult<()> {
    if answer.is_none() {
        return Ok(());
    }
    let message = format!("it returns {}: expected nothing, as it sets self.cwnd", answer.repr()?);
    Err(PyValueError::new_err(message))
}

/// As many as a window of a scenario has.
const MOST_PACKETS: f64 = i32::MAX as f64;

/// A number of packets; less than one counts as one.
fn packets(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
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

impl External for Control {
    fn wants_acks(&self) -> bool {
        self.wants.acks
    }

    fn wants_marks(&self) -> bool {
        self.wants.marks
    }

    fn on_mark(&mut self, window: &Window, loss: &congestion::Loss) -> Cut {
        self.cut(
            |py| intern!(py, "on_mark"),
            window,
            loss,
            |returned, set| Ok(Cut { window: either(returned, set.cwnd, "cwnd")?, threshold: set.ssthresh }),
        )
    }

    fn on_report(&mut self, window: &mut Window, report: &congestion::Report) {
        let &congestion::Report { now_s, interval_s, delivered, marked, in_flight, .. } = report;
        let &congestion::Report { rtt_s, rtt_min_s, rtt_base_s, in_use, .. } = report;
        let argument = Report { now_s, interval_s, delivered, marked, in_flight, rtt_s, rtt_min_s, rtt_base_s, in_use };
        self.call(
            Time::new(now_s),
            window,
            false,
            |py| Ok((intern!(py, "on_report"), Some(Bound::new(py, argument)?.into_any()))),
            nothing,
        );
    }

    fn on_ack(&mut self, window: &mut Window, ack: &congestion::Ack, in_use: bool) {
        let now_s = ack.now.seconds();
        let &congestion::Ack { acked, marked, rtt_s, in_flight, .. } = ack;
        let argument = Ack { now_s, acked, marked, rtt_s, in_flight, in_use };
        self.call(
            ack.now,
            window,
            true,
            |py| Ok((intern!(py, "on_ack"), Some(Bound::new(py, argument)?.into_any()))),
            nothing,
        );
    }

    fn wants_samples(&self) -> bool {
        self.wants.samples
    }

    fn known(&self, each: &mut dyn FnMut(&str, f64)) {
        if self.sampled.is_empty() || self.trouble.happened() {
            return;
        }
        Python::attach(|py| {
            let object = self.object.bind(py);
            for name in &self.sampled {
                match object.getattr(name.as_str()).and_then(|value| number(&value)) {
                    Ok(Some(value)) => each(name, value),
                    Ok(None) => {}
                    Err(error) => self.trouble.note(format!("the sample of {name} of {}", self.flow), error),
                }
            }
        });
    }

    fn is_paced(&self) -> bool {
        self.paces
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
        let read = |answer: &Bound<'_, PyAny>, _: Set| match answer.extract::<Option<bool>>() {
            Ok(slow) => Ok(slow == Some(true)),
            Err(_) => {
                let message = format!("it returns {}: expected True, or nothing", answer.repr()?);
                Err(PyValueError::new_err(message))
            }
        };
        let called = self.call(
            sample.now,
            window,
            true,
            |py| Ok((intern!(py, "on_sample"), Some(Bound::new(py, argument)?.into_any()))),
            read,
        );
        called.unwrap_or_default()
    }

    fn on_undo(&mut self, window: &mut Window, now: Time) {
        if self.wants.undone {
            self.call(now, window, false, |py| Ok((intern!(py, "on_undo"), None)), nothing);
        }
    }

    fn on_loss(&mut self, window: &Window, loss: &congestion::Loss) -> Cut {
        self.cut(
            |py| intern!(py, "on_loss"),
            window,
            loss,
            |returned, set| Ok(Cut { window: given(returned, set.cwnd, "cwnd")?, threshold: set.ssthresh }),
        )
    }

    fn on_timeout(&mut self, window: &Window, loss: &congestion::Loss) -> Cut {
        self.cut(
            |py| intern!(py, "on_timeout"),
            window,
            loss,
            |returned, set| Ok(Cut { window: set.cwnd, threshold: given(returned, set.ssthresh, "ssthresh")? }),
        )
    }
}

//! Congestion controls written in Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tightlink_sim::congestion::{self, ControlSpec, Cut, External, Maker, Opening, Window};
use tightlink_sim::time::Time;

mod told;
mod values;

pub use told::{Ack, Handshake, Loss, RateSample, Report};
use values::{Set, either, given, limit, nothing, number, packets, rate, show, threshold};

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
            let (object, [acks, marks, samples, undone, recovery, handshake, paces], sampled) =
                made.extract::<(Py<PyAny>, [bool; 7], Vec<String>)>()?;
            let begun = object.bind(py);
            let cwnd = packets(&begun.getattr(intern!(py, "cwnd"))?, "cwnd")?;
            let window = Window { cwnd, ssthresh: limit(&begun.getattr(intern!(py, "ssthresh"))?)? };
            let pacing_rate = rate(begun)?;
            let (flow, trouble) = (flow.to_owned(), Arc::clone(&self.trouble));
            let paces = paces || samples || pacing_rate.is_some();
            let wants = Wants { acks, marks, samples, undone, recovery, handshake };
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
    recovery: bool,
    handshake: bool,
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
        (loss, marked): (&congestion::Loss, bool),
        read: impl FnOnce(Option<f64>, Set) -> PyResult<Cut>,
    ) -> Cut {
        let told = Loss { now_s: loss.now.seconds(), in_use: loss.in_use, marked };
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
            (loss, true),
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
        let argument = Ack::of(ack, in_use);
        self.call(
            ack.now,
            window,
            true,
            |py| Ok((intern!(py, "on_ack"), Some(Bound::new(py, argument)?.into_any()))),
            nothing,
        );
    }

    fn on_handshake(&mut self, window: &mut Window, now: Time, rtt_s: f64) {
        if self.wants.handshake {
            let argument = Handshake { now_s: now.seconds(), rtt_s };
            self.call(
                now,
                window,
                false,
                |py| Ok((intern!(py, "on_handshake"), Some(Bound::new(py, argument)?.into_any()))),
                nothing,
            );
        }
    }

    fn on_recovery_ack(&mut self, ack: &congestion::Ack) {
        if !self.wants.recovery || self.trouble.happened() {
            return;
        }
        let told = Ack::of(ack, false);
        let called =
            Python::attach(|py| self.object.call_method1(py, intern!(py, "on_recovery_ack"), (told,)).map(|_| ()));
        if let Err(error) = called {
            self.trouble.note(format!("on_recovery_ack of {} at {:.6} s", self.flow, ack.now.seconds()), error);
        }
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

    fn on_loss(&mut self, window: &Window, loss: &congestion::Loss, marked: bool) -> Cut {
        self.cut(
            |py| intern!(py, "on_loss"),
            window,
            (loss, marked),
            |returned, set| Ok(Cut { window: given(returned, set.cwnd, "cwnd")?, threshold: set.ssthresh }),
        )
    }

    fn on_timeout(&mut self, window: &Window, loss: &congestion::Loss) -> Cut {
        self.cut(
            |py| intern!(py, "on_timeout"),
            window,
            (loss, false),
            |returned, set| Ok(Cut { window: set.cwnd, threshold: given(returned, set.ssthresh, "ssthresh")? }),
        )
    }
}

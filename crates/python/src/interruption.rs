//! Runs that end before their time: by Ctrl-C, or because somebody says so; and who is told meanwhile how far they are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Whether runs on other threads than the main one must end: only the main one hears of signals.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends the runs of all threads, which raise `KeyboardInterrupt`, until it is called with `false`.
#[pyfunction]
pub fn interrupt(on: bool) {
    INTERRUPTED.store(on, Ordering::Relaxed);
}

/// Packet-hops so far, and sources that send, of a run with users.
pub type Counts = Option<(u64, Option<u64>)>;

/// Between questions whether a run is to end; they need Python's lock.
const QUESTION: Duration = Duration::from_millis(50);

/// Whether the run is to end, as it is asked now and then.
fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) || Python::attach(|py| py.check_signals().is_err())
}

/// The same, asked as often as one likes; and who is told now and then how far the run is.
pub struct Interruption<'a> {
    asked: Instant,
    told: Instant,
    watch: Option<&'a Py<PyAny>>,
}

impl<'a> Interruption<'a> {
    pub fn new(watch: Option<&'a Py<PyAny>>) -> Self {
        let now = Instant::now();
        Self { asked: now, told: now, watch }
    }

    /// Out of line: it is asked from the midst of the loop over events.
    #[cold]
    #[inline(never)]
    pub fn has_come(&mut self, simulated_s: f64, counts: impl FnOnce() -> Counts) -> bool {
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

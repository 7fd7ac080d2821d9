//! Faults of the engine: a panic reaches Python as an exception, and says nothing by itself.

use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::EngineError;

/// The environment variable that has panics told on standard error, with a backtrace if `RUST_BACKTRACE` asks for one.
const TOLD: &str = "TIGHTLINK_TRACEBACK";

/// What happened first, and where. The panic that is caught may be that of a thread which waited for another.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics are noted instead of told.
pub fn note_panics() {
    let tell = take_hook();
    set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        let place = panic.location().map_or_else(String::new, |place| format!(" ({}:{})", place.file(), place.line()));
        let what = format!("{}{place}", text(panic.payload()));
        FIRST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
        if std::env::var_os(TOLD).is_some_and(|value| !value.is_empty()) {
            tell(panic);
        }
    }));
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

/// Does something without Python's lock.
///
/// # Errors
/// It panicked.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // What was noted before is another call's.
    take_first();
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|payload| EngineError::new_err(take_first().unwrap_or_else(|| text(&*payload).to_owned())))
}

fn take_first() -> Option<String> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

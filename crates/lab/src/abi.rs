//! What a browser calls: numbers and places in memory, as that is all that WebAssembly passes. Text goes in through
//! [`tightlink_input`]; answers lie where [`tightlink_text`] and [`tightlink_data`] say until the next call.
#![allow(unsafe_code, reason = "names that a browser can call, and a separate function, take it; no memory is touched")]

use std::cell::RefCell;

use crate::{Answer, Laboratory, Request};

#[derive(Default)]
struct State {
    input: Vec<u8>,
    laboratory: Option<Laboratory>,
    answer: Answer,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Told the simulated time now and then.
    safe fn watch(simulated_s: f64);
    /// Told what went wrong in the engine itself, before it ends.
    safe fn fault(text: *const u8, length: usize);
}

/// Makes room for so many bytes of text; where to put them.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input = vec![0; length];
        state.input.as_mut_ptr()
    })
}

/// Opens the laboratory of the text: 0, or 1 with a sentence.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_open() -> u32 {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        fault(text.as_ptr(), text.len());
    }));
    answered(|state| {
        state.laboratory = Some(Laboratory::new(&String::from_utf8_lossy(&state.input))?);
        Ok(Answer::default())
    })
}

/// Simulates what the text asks for: 0, or 1 with a sentence.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_run() -> u32 {
    answered(|state| {
        let request: Request = serde_json::from_slice(&state.input).map_err(|error| format!("request: {error}"))?;
        let laboratory = state.laboratory.as_ref().ok_or("there is no laboratory")?;
        laboratory.run(&request, |simulated_s| watch(simulated_s))
    })
}

fn answered(what: impl FnOnce(&mut State) -> Result<Answer, String>) -> u32 {
    STATE.with_borrow_mut(|state| {
        // What was answered before makes room.
        state.answer = Answer::default();
        let (answer, code) = match what(state) {
            Ok(answer) => (answer, 0),
            Err(sentence) => (Answer { text: sentence, data: Vec::new() }, 1),
        };
        state.answer = answer;
        code
    })
}

/// Where the text of the answer begins.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_text() -> *const u8 {
    STATE.with_borrow(|state| state.answer.text.as_ptr())
}

/// Its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_text_length() -> usize {
    STATE.with_borrow(|state| state.answer.text.len())
}

/// Where the numbers of the answer begin.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_data() -> *const f64 {
    STATE.with_borrow(|state| state.answer.data.as_ptr())
}

/// How many there are.
#[unsafe(no_mangle)]
pub extern "C" fn tightlink_data_length() -> usize {
    STATE.with_borrow(|state| state.answer.data.len())
}

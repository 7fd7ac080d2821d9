//! Asking for memory before it is needed.

/// Asks for all cache lines of a place, and does not wait for them. Nothing but time depends on it.
#[inline]
pub fn prefetch<T>(place: &T) {
    const LINE: usize = 64;
    let begin = std::ptr::from_ref(place).cast::<i8>();
    for offset in (0..size_of::<T>()).step_by(LINE) {
        line(begin.wrapping_add(offset));
    }
}

/// Asks for one line.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "the instruction reads nothing: it is a hint, whatever the address")]
#[inline]
fn line(place: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: part of SSE, which every x86-64 has; it cannot fault.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(place) }
}

/// Other processors have no such instruction in stable Rust.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn line(_place: *const i8) {}

//! Sequence numbers, which wrap around (RFC 9293 §3.4).

/// Whether one number lies behind another.
pub fn after(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) > 0
}

/// Whether one number does not lie behind another.
pub fn not_after(one: u32, other: u32) -> bool {
    !after(one, other)
}

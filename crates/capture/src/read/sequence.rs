//! Sequence numbers, which wrap around (RFC 9293 §3.4).

/// Whether one number lies behind another. Of two that are half of all numbers apart each lies behind the other, as tshark
/// has it; the RFC leaves that open.
pub fn after(one: u32, other: u32) -> bool {
    (other.wrapping_sub(one) as i32) < 0
}

/// Whether one number is another or lies before it.
pub fn not_after(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) <= 0
}

#[cfg(test)]
mod tests {
    use super::{after, not_after};

    #[test]
    fn numbers_wrap_around_and_opposite_ones_lie_behind_each_other() {
        assert!(after(5, u32::MAX) && !after(u32::MAX, 5) && not_after(5, 5) && !after(5, 5));
        let (one, opposite) = (1_911_349_326, 1_911_349_326 + (1 << 31));
        assert!(after(one, opposite) && after(opposite, one) && not_after(one, opposite) && not_after(opposite, one));
    }
}

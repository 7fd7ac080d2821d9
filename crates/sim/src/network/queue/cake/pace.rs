//! What packets take of a shaper, in whole nanoseconds, as Linux reckons: a byte takes a number of 34 bits with as many behind the
//! point as it leaves, and what is behind the point of a packet's time is dropped. So it is the same for the classes of a
//! shaper, whose rates are simple shares of its rate: which of them may send is decided where two such times meet.

/// Linux's smallest rate, in bytes per second.
const LEAST_BYTES_PER_S: u64 = 64;
const BITS: u32 = 34;
const NANOSECONDS_PER_S: u64 = 1_000_000_000;

/// The time that a byte takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    byte: u64,
    /// So many bits of it are behind the point.
    fraction: u32,
}

impl Pace {
    /// At a rate in bytes per second.
    pub(super) fn new(bytes_per_s: u64) -> Self {
        let mut pace = Self { byte: (NANOSECONDS_PER_S << BITS) / bytes_per_s.max(LEAST_BYTES_PER_S), fraction: BITS };
        while pace.byte >> BITS > 0 {
            pace.byte >>= 1;
            pace.fraction -= 1;
        }
        pace
    }

    /// What so many bytes take, in nanoseconds.
    pub(super) fn of(self, bytes: u32) -> i64 {
        ((u64::from(bytes) * self.byte) >> self.fraction) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1500 bytes take 12 us at 1 Gbit/s; 631,578.947 ns at 19 Mbit/s, and four times that, 2,526,315.789 ns, at a quarter,
    /// where the shaper takes 2,526,312 ns for four packets. At 3 Mbit/s a byte takes 2666.67 ns, which is cut: of 4 ms a
    /// nanosecond is missing.
    #[test]
    fn what_is_behind_the_point_is_dropped() {
        assert_eq!(Pace::new(125_000_000).of(1500), 12_000);
        assert_eq!((Pace::new(2_375_000).of(1500), Pace::new(2_375_000 / 4).of(1500)), (631_578, 2_526_315));
        assert_eq!(Pace::new(375_000).of(1500), 3_999_999);
        assert_eq!(Pace::new(1).of(64), 1_000_000_000);
    }
}

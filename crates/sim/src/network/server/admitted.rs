//! What a server has admitted.

/// Packets of one size: how long each takes, and how many were admitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub transmission_s: f64,
    /// From the start of its service to the other end: ns-2 adds transmission and delay first.
    pub crossing_s: f64,
    pub count: u64,
    pub size: u32,
}

/// What was admitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Admitted {
    pub packets: u64,
    pub bytes: u64,
    pub busy_s: f64,
}

impl Admitted {
    /// With the packets of one size.
    pub fn with(self, timing: &Timing) -> Self {
        Self {
            packets: self.packets + timing.count,
            bytes: self.bytes + timing.count * u64::from(timing.size),
            busy_s: self.busy_s + timing.count as f64 * timing.transmission_s,
        }
    }
}

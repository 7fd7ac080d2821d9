//! How long packets take on a wire of which nothing changes.

use serde::{Deserialize, Serialize};

/// Line overhead: it costs time on the line and is not counted in any byte total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FramingSpec {
    /// Bytes added to each packet.
    pub overhead_bytes: u32,
    /// Smallest frame, overhead included.
    pub smallest_bytes: u32,
}

/// How long packets take on a wire.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// In bit/s.
    pub rate_bps: f64,
    /// Packets per second, where every packet takes as long, whatever its size; none: bits decide.
    pub rate_pps: Option<f64>,
    /// Propagation delay in seconds.
    pub delay_s: f64,
    /// What is added to each packet.
    pub framing: FramingSpec,
}

impl Wire {
    /// Seconds that a packet of `size` bytes occupies the line.
    #[inline]
    #[must_use]
    pub fn transmission_s(&self, size: u32) -> f64 {
        if let Some(packets_per_s) = self.rate_pps {
            return 1.0 / packets_per_s;
        }
        // ns-2's order: eight times the bytes, then the division.
        8.0 * f64::from(self.frame_bytes(size)) / self.rate_bps
    }

    /// Bytes on the line of a packet of `size` bytes.
    #[inline]
    #[must_use]
    pub fn frame_bytes(&self, size: u32) -> u32 {
        (size + self.framing.overhead_bytes).max(self.framing.smallest_bytes)
    }

    /// Seconds that so many packets of so many bytes in all occupy the line, none of which is padded.
    #[must_use]
    pub fn occupied_s(&self, packets: usize, bytes: u64) -> f64 {
        let overhead = packets as u64 * u64::from(self.framing.overhead_bytes);
        self.rate_pps.map_or(8.0 * (bytes + overhead) as f64 / self.rate_bps, |rate| packets as f64 / rate)
    }

    /// Seconds from its first bit at this end to its last at the other.
    #[inline]
    #[must_use]
    pub fn crossing_s(&self, size: u32) -> f64 {
        self.transmission_s(size) + self.delay_s
    }
}

//! What empties a queue: the line behind it, or what lets less through to that.

use num_rational::BigRational;
use serde::Deserialize;
use serde_json::Value;
use tightlink_sim::network::queue::cake::Overhead;

use crate::exact;

/// The packet by which a time is one of full packets, in bytes.
pub const FULL: u32 = 1500;

/// What empties the queue of a link.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// In bit/s: of the line, of its shaper, or of CAKE's, whatever is least.
    pub rate_bps: f64,
    /// In packets per second, whatever their sizes; none: bits decide.
    pub rate_pps: Option<f64>,
    /// Propagation delay of the link in seconds.
    pub delay_s: f64,
    /// Bytes for which a full packet is taken.
    pub frame_bytes: u64,
}

impl Line {
    /// That of a link, of which quantities may still depend on others.
    #[must_use]
    pub fn of(link: &Value) -> Self {
        let number = |place: &str| link.pointer(place).and_then(Value::as_f64);
        let framing = |key: &str| link["framing"][key].as_u64().unwrap_or_default();
        let framed = framing("smallest_bytes").max(u64::from(FULL) + framing("overhead_bytes"));
        let line_bps = number("/rate_bps").unwrap_or_default();
        let shaped_bps = number("/shaper/rate_bps").map_or(line_bps, |rate_bps| rate_bps.min(line_bps));
        let line = Self {
            rate_bps: shaped_bps,
            rate_pps: number("/rate_pps"),
            delay_s: number("/delay_s").unwrap_or_default(),
            frame_bytes: framed,
        };
        let cake_bps = number("/queue/rate_bps").filter(|_| link["queue"]["kind"] == "cake");
        let Some(rate_bps) = cake_bps.filter(|&rate_bps| rate_bps < shaped_bps) else { return line };
        let overhead = Overhead::deserialize(&link["queue"]["overhead"]);
        let frame_bytes = overhead.map_or(framed, |overhead| overhead.adjusted(FULL).into());
        Self { rate_bps, frame_bytes, ..line }
    }

    /// Bit/s of packets of `size` bytes that it sends, framing aside.
    #[must_use]
    pub fn carries(self, size: f64) -> f64 {
        self.rate_pps.map_or(self.rate_bps, |packets_per_s| packets_per_s * 8.0 * size)
    }

    /// The same, exactly.
    #[must_use]
    pub fn carries_exactly(self, size: u32) -> BigRational {
        match self.rate_pps {
            None => exact::of_double(self.rate_bps),
            Some(packets_per_s) => exact::of_double(packets_per_s) * exact::whole(8 * u64::from(size)),
        }
    }
}

//! What a server did, in sums.

use crate::network::changes::account::Work;

/// What a server did, up to the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerTotals {
    /// Packets offered.
    pub packets_in: u64,
    /// Packets whose transmission ended.
    pub packets_out: u64,
    /// Packets refused.
    pub packets_dropped: u64,
    /// Packets admitted and marked.
    pub packets_marked: u64,
    /// Bytes, without framing, of the packets whose transmission ended.
    pub bytes_out: u64,
    /// Time spent transmitting, in seconds.
    pub busy_s: f64,
    /// Time that packets waited, summed over packets, in seconds.
    pub waiting_s: f64,
    /// Most packets waiting at once, without the one in service.
    pub queue_max_packets: u64,
    /// What was sent and what could have been, where that is not a matter of time alone.
    pub work: Option<Work>,
}

impl ServerTotals {
    /// The share of the time that it transmitted; where its rate changes, of what it could have sent.
    #[must_use]
    pub fn utilization(&self, duration_s: f64) -> f64 {
        self.work.map_or(self.busy_s / duration_s, |work| work.done / work.possible)
    }
}

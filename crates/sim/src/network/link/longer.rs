//! What a link whose delay changes adds to the delays of flows: it is no wait in a queue.

use std::collections::BTreeMap;

/// By the position of the link on the path of a flow: for how much longer than at best its packets were under way.
pub type LongerByPosition = BTreeMap<u32, Longer>;

/// For how much longer than at best packets were under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Longer {
    /// All of them together, in seconds.
    pub sum_s: f64,
    /// How many packets.
    pub packets: u64,
}

impl Longer {
    /// Counts a packet.
    pub fn add(&mut self, longer_s: f64) {
        self.sum_s += longer_s;
        self.packets += 1;
    }
}

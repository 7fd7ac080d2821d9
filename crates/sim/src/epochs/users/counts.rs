//! What users and their transfers are counted by. All counts are whole numbers, so that their sums do not depend on
//! the order in which parts of the network are processed.

use std::collections::HashMap;
use std::ops::AddAssign;

/// Congestion epochs are counted in this part of a packet.
pub const WINDOW_UNIT: f64 = 1.0 / 1024.0;

/// Counts of one interval, or until now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Data packets offered to the network, again ones included.
    pub sent: u64,
    /// Data packets that reached their receiver.
    pub delivered: u64,
    /// Transfers completed.
    pub completed: u64,
    /// Connections that failed.
    pub failed: u64,
    /// Transfers given up.
    pub abandoned: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// ACKs that made an epoch grow.
    pub increases: u64,
    /// ACKs that acknowledged nothing new.
    pub duplicates: u64,
    /// Expiries of retransmission timers with data outstanding.
    pub timeouts: u64,
    /// Round-trip times, summed, in nanoseconds.
    pub rtt_ns: u64,
    /// What of them was queueing, likewise.
    pub queueing_ns: u64,
    /// How many.
    pub rtt_samples: u64,
    /// Data packets delivered by path.
    pub by_path: Vec<u64>,
    /// Data packets delivered by long-lived transfer.
    pub by_long_lived: Vec<u64>,
}

impl Counts {
    /// No counts of so many paths and long-lived transfers.
    #[must_use]
    pub fn new(paths: usize, long_lived: usize) -> Self {
        Self { by_path: vec![0; paths], by_long_lived: vec![0; long_lived], ..Self::default() }
    }
}

fn add(sums: &mut Vec<u64>, more: &[u64]) {
    sums.resize(sums.len().max(more.len()), 0);
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

impl AddAssign<&Self> for Counts {
    fn add_assign(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.completed += other.completed;
        self.failed += other.failed;
        self.abandoned += other.abandoned;
        self.retransmitted += other.retransmitted;
        self.increases += other.increases;
        self.duplicates += other.duplicates;
        self.timeouts += other.timeouts;
        self.rtt_ns += other.rtt_ns;
        self.queueing_ns += other.queueing_ns;
        self.rtt_samples += other.rtt_samples;
        add(&mut self.by_path, &other.by_path);
        add(&mut self.by_long_lived, &other.by_long_lived);
    }
}

/// What the sources do at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// Sources that send.
    pub transmitting: u64,
    /// Sources that connect.
    pub connecting: u64,
    /// Sources that think.
    pub thinking: u64,
    /// Their congestion windows, summed, in units of [`WINDOW_UNIT`].
    pub windows: u64,
    /// Sources that send, by path.
    pub by_path: Vec<u64>,
}

/// One interval: what was counted in it, and how the sources stood at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// In the interval.
    pub counts: Counts,
    /// At its end.
    pub states: States,
}

impl AddAssign<&Self> for Row {
    fn add_assign(&mut self, other: &Self) {
        self.counts += &other.counts;
        self.states.transmitting += other.states.transmitting;
        self.states.connecting += other.states.connecting;
        self.states.thinking += other.states.thinking;
        self.states.windows += other.states.windows;
        add(&mut self.states.by_path, &other.states.by_path);
    }
}

/// What transfers have in common that are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind {
    /// The period in which they were completed; one more than there are, outside of all.
    pub period: u8,
    /// The kind of file; one more than there are, of a crowd.
    pub file: u8,
    /// The path.
    pub path: u8,
    /// The slower of the interfaces at both ends.
    pub interface: u8,
    /// The congestion control.
    pub control: u8,
}

/// Completed transfers of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// How many.
    pub completed: u64,
    /// Their packets.
    pub packets: u64,
    /// From the end of the handshake to the last acknowledgement, in nanoseconds.
    pub ns: u64,
    /// Packets per second of each, summed, in thousandths.
    pub rate_mpps: u64,
    /// Packets retransmitted.
    pub retransmitted: u64,
}

impl AddAssign for Transfers {
    fn add_assign(&mut self, other: Self) {
        self.completed += other.completed;
        self.packets += other.packets;
        self.ns += other.ns;
        self.rate_mpps += other.rate_mpps;
        self.retransmitted += other.retransmitted;
    }
}

/// Completed transfers by kind.
pub type ByKind = HashMap<Kind, Transfers>;

//! The links of a trace, each direction for itself.

use std::collections::HashMap;

use super::line::{Event, Line};

/// Packets at a link that are remembered; of a trace that says only how they begin there are ever more.
const MOST: usize = 1 << 20;

/// A direction of a link.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// Nodes at which it begins and ends.
    pub ends: (i64, i64),
    /// Packets that joined its queue.
    pub packets_in: u64,
    /// Packets that left it for the wire.
    pub packets_out: u64,
    /// Packets lost at the queue or on the wire.
    pub dropped: u64,
    /// Bytes that left the queue.
    pub bytes_out: u64,
    /// Bytes that arrived at the far end.
    pub bytes_received: u64,
    /// The packets waiting, summed over time.
    pub waiting_s: f64,
    /// The most that waited.
    pub waiting_most: u64,
    /// Packets in the queue.
    pub waiting: u64,
    /// Whether each packet at the link waits, or is on the wire.
    packets: HashMap<u64, bool>,
    settled_s: f64,
}

impl Link {
    /// Counts what waited until a time. What comes and is served at that instant never waited.
    fn settle(&mut self, time_s: f64) {
        if time_s > self.settled_s {
            self.waiting_most = self.waiting_most.max(self.waiting);
            self.waiting_s += self.waiting as f64 * (time_s - self.settled_s);
            self.settled_s = time_s;
        }
    }

    fn add(&mut self, line: &Line<'_>) {
        self.settle(line.time_s);
        match line.event {
            Event::Enqueue => {
                self.packets_in += 1;
                if self.packets.len() < MOST && self.packets.insert(line.uid, true) != Some(true) {
                    self.waiting += 1;
                }
            }
            Event::Dequeue => {
                self.packets_out += 1;
                self.bytes_out += u64::from(line.size);
                if let Some(waits) = self.packets.get_mut(&line.uid) {
                    self.waiting -= u64::from(std::mem::take(waits));
                }
            }
            Event::Receive => {
                self.bytes_received += u64::from(line.size);
                self.forget(line.uid);
            }
            // What never joined the queue was dropped by a node.
            Event::Drop => self.dropped += u64::from(self.forget(line.uid)),
        }
    }

    fn forget(&mut self, uid: u64) -> bool {
        let found = self.packets.remove(&uid);
        self.waiting -= u64::from(found == Some(true));
        found.is_some()
    }
}

/// All links, in the order of their first lines.
#[derive(Default)]
pub struct Links {
    /// One by one.
    pub all: Vec<Link>,
    places: HashMap<(i64, i64), usize>,
}

impl Links {
    /// Counts a line.
    pub fn add(&mut self, line: &Line<'_>) {
        let ends = (line.from, line.to);
        let next = self.all.len();
        let place = *self.places.entry(ends).or_insert(next);
        if place == next {
            self.all.push(Link { ends, ..Link::default() });
        }
        self.all[place].add(line);
    }

    /// Counts what waits until a time.
    pub fn settle(&mut self, time_s: f64) {
        for link in &mut self.all {
            link.settle(time_s);
        }
    }
}

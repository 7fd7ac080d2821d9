//! Packets on a wire that need not come out in the order in which they went in, or that come out twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::events::{Key, Keyed};
use crate::packet::Packet;
use crate::random::Stream;
use crate::scenario::LinkSpec;

/// What is on such a wire.
#[derive(Clone, Debug)]
pub struct OutOfOrder {
    /// By the keys of their deliveries, which differ.
    under_way: BinaryHeap<Reverse<Keyed<Packet>>>,
    /// Which share of the packets comes out twice.
    duplicate: f64,
    stream: Stream,
    /// Packets that did.
    copies: u64,
    /// The first epoch in which somebody will look at it.
    awaited: u64,
}

impl OutOfOrder {
    /// That of a link, at its beginning; nothing where all comes out once and in order.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Option<Self> {
        spec.reorders().then(|| Self {
            under_way: BinaryHeap::new(),
            duplicate: spec.duplicate,
            stream: Stream::new(seed, &spec.name, 0, "duplicate"),
            copies: 0,
            awaited: u64::MAX,
        })
    }

    /// Whether the next packet comes out twice.
    pub fn duplicates(&mut self) -> bool {
        self.duplicate > 0.0 && self.stream.chance(self.duplicate)
    }

    /// A copy comes out before the end of the run.
    pub fn count_copy(&mut self) {
        self.copies += 1;
    }

    /// Copies that came out.
    #[must_use]
    pub fn copies(&self) -> u64 {
        self.copies
    }

    /// A packet is under way.
    pub fn keep(&mut self, packet: Packet, delivery: Key) {
        self.under_way.push(Reverse(Keyed { key: delivery, item: packet }));
    }

    /// The key of the next delivery.
    #[must_use]
    pub fn next(&self) -> Option<Key> {
        self.under_way.peek().map(|Reverse(next)| next.key)
    }

    /// Takes the packet that comes out next.
    pub fn take(&mut self) -> Option<Packet> {
        self.under_way.pop().map(|Reverse(next)| next.item)
    }

    /// The next packet comes out in `epoch`: whether nobody will look in time.
    pub fn is_awaited(&mut self, epoch: u64) -> bool {
        let earlier = epoch < self.awaited;
        self.awaited = self.awaited.min(epoch);
        earlier
    }

    /// Somebody looks at it in `epoch`.
    pub fn seen(&mut self, epoch: u64) {
        if self.awaited <= epoch {
            self.awaited = u64::MAX;
        }
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

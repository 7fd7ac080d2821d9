//! A confluence: a link whose packets all come from one other link, its root, over several routes that lie between them.
//!
//! So it is with the ACKs of a dumbbell. When they arrive is known as soon as the root grants its services, but not in
//! which order, as routes differ, and packets. So they wait here, in order, until nothing that the root grants later can
//! come before them. That is soon: the next grant of a busy root settles it. None of it is an event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::events::{Key, Keyed};
use crate::packet::Packet;
use crate::time::Time;

/// A packet that arrives somewhere, and the key of its arrival; in words (see `Key::words`), the times not side by side:
/// they are written one by one and soon read, which a compiler would do at once, and for which a processor has to wait.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Arrived {
    time: f64,
    rank: u64,
    caused_at: f64,
    stamp: u64,
    identity: u64,
    state: u64,
}

impl Arrived {
    /// A packet that arrives at `key`.
    #[inline]
    #[must_use]
    pub fn new(key: Key, packet: Packet) -> Self {
        let ((time, caused_at, rank), (stamp, identity, state)) = (key.words(), packet.words());
        Self { time, caused_at, rank, stamp, identity, state }
    }

    /// When.
    #[inline]
    #[must_use]
    pub fn key(&self) -> Key {
        Key::from_words((self.time, self.caused_at, self.rank))
    }

    /// What.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> Packet {
        Packet::from_words((self.stamp, self.identity, self.state))
    }
}

/// What waits at a confluence.
#[derive(Debug)]
pub struct Confluence {
    /// The link on which the routes meet.
    pub link: u32,
    /// The link behind which they part.
    pub root: u32,
    /// What leaves the root takes so many seconds at least to come here.
    least_s: f64,
    /// What is left of a sum of so many times after rounding, at least, as a factor.
    rounded: f64,
    /// In order.
    waiting: VecDeque<Arrived>,
    /// What overtook many others of those, and waits beside them.
    fast: BinaryHeap<Reverse<Keyed<Packet>>>,
}

impl Confluence {
    /// An empty one at `link`, `least_s` seconds at least and `most_links` links at most from `root`.
    #[must_use]
    pub fn new(link: u32, root: u32, least_s: f64, most_links: usize) -> Self {
        let rounded = 1.0 - 4.0 * most_links as f64 * f64::EPSILON;
        Self { link, root, least_s, rounded, waiting: VecDeque::new(), fast: BinaryHeap::new() }
    }

    /// A packet comes here at `key`.
    #[inline]
    pub fn join(&mut self, key: Key, packet: Packet) {
        if self.waiting.back().is_some_and(|last| key.before(&last.key())) {
            let ((time, caused_at, rank), (stamp, identity, state)) = (key.words(), packet.words());
            return self.overtake(stamp, identity, state, rank, time, caused_at);
        }
        self.waiting.push_back(Arrived::new(key, packet));
    }

    /// A packet comes before others that are here already.
    #[inline(never)]
    fn overtake(&mut self, stamp: u64, identity: u64, state: u64, rank: u64, time: f64, caused_at: f64) {
        /// So many it overtakes one by one.
        const FEW: usize = 8;
        let (key, packet) = (Key::from_words((time, caused_at, rank)), Packet::from_words((stamp, identity, state)));
        let mut place = self.waiting.len();
        if place > FEW && key.before(&self.waiting[place - FEW - 1].key()) {
            self.fast.push(Reverse(Keyed { key, item: packet }));
            return;
        }
        self.waiting.push_back(Arrived::new(key, packet));
        while place > 0 && key.before(&self.waiting[place - 1].key()) {
            self.waiting.swap(place, place - 1);
            place -= 1;
        }
    }

    /// The next packet, if nothing can come before it that leaves the root at `free` or later.
    #[inline]
    pub fn next(&mut self, free: Time) -> Option<Arrived> {
        let settled = (free.seconds() + self.least_s) * self.rounded;
        if !self.fast.is_empty() {
            return self.next_of_all(settled);
        }
        if self.waiting.front()?.time < settled { self.waiting.pop_front() } else { None }
    }

    #[inline(never)]
    fn next_of_all(&mut self, settled: f64) -> Option<Arrived> {
        let Reverse(fast) = self.fast.peek()?;
        if self.waiting.front().is_some_and(|first| first.key().before(&fast.key)) {
            return if self.waiting.front()?.time < settled { self.waiting.pop_front() } else { None };
        }
        if fast.key.time.seconds() >= settled {
            return None;
        }
        self.fast.pop().map(|Reverse(Keyed { key, item })| Arrived::new(key, item))
    }

    /// When the next packet comes, if one waits.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        let first = self.waiting.front().map(|first| Time::new(first.time));
        first.into_iter().chain(self.fast.peek().map(|Reverse(fast)| fast.key.time)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use proptest::prelude::*;

    const LEAST_S: f64 = 5.0;

    proptest! {
        /// Packets leave the root one second after another or more, and take the least time or more to come.
        #[test]
        fn packets_go_on_in_order_and_none_before_its_time(packets in prop::collection::vec((1u32..4, 0u32..30, any::<bool>()), 0..200)) {
            let mut confluence = Confluence::new(0, 1, LEAST_S, 2);
            let (mut free_s, mut here): (f64, Vec<Key>) = (0.0, Vec::new());
            let mut gone = Key::FIRST;
            for (pause, more, look) in packets {
                free_s += f64::from(pause);
                let key = Key::planned(Time::new(free_s + LEAST_S + f64::from(more)), pause);
                confluence.join(key, Packet::new(Kind::Ack, pause, 0, 40, 0.0));
                here.push(key);
                here.sort();
                while let Some(arrived) = confluence.next(Time::new(free_s)) {
                    prop_assert_eq!(arrived.key(), here.remove(0));
                    prop_assert_eq!(arrived.packet().flow(), arrived.key().entity());
                    prop_assert!(gone <= arrived.key() && arrived.key().time < Time::new(free_s + LEAST_S));
                    gone = arrived.key();
                    if !look {
                        break;
                    }
                }
                prop_assert_eq!(confluence.next_time(), here.first().map(|key| key.time));
            }
        }
    }
}

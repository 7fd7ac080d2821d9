//! Datagrams in parts: which flow each part belongs to, and when a datagram is whole.
//!
//! A datagram is whole when as many bytes have come as its last fragment says, each fragment counted once: where a mirror
//! port shows packets twice, copies come between the others and after the last. What is kept is the beginning of the first
//! fragment, where the ports are.

use std::collections::{HashMap, VecDeque};

use super::ip::{Address, Fragment, Packet};

/// Datagrams of which parts are awaited; the oldest is given up for one more.
const MOST: usize = 4096;
/// As much of the first fragment as a TCP header may need behind those of tunnels.
const HEAD: usize = 256;
/// Whole datagrams of which copies of fragments may come.
const MOST_WHOLE: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    source: Address,
    target: Address,
    protocol: u8,
    tunnel: u32,
    id: u32,
}

#[derive(Clone)]
struct Datagram {
    number: u64,
    head: Vec<u8>,
    /// Where the fragments begin that have come.
    offsets: Vec<u32>,
    /// Bytes of these.
    seen: u32,
    whole: Option<u32>,
    /// Parts that came before the first: packets and bytes.
    early: Vec<u32>,
}

/// What is known once a fragment has been looked at.
pub struct Part {
    /// The beginning of the datagram's payload, where it is known.
    pub head: Option<Vec<u8>>,
    /// Lengths of packets before this one that the same flow owns.
    pub early: Vec<u32>,
    /// The length of the datagram's payload, if it is whole now.
    pub whole: Option<u32>,
}

/// Datagrams of which parts have come.
#[derive(Default)]
pub struct Fragments {
    waiting: HashMap<Key, Datagram>,
    order: VecDeque<(u64, Key)>,
    /// What became whole last, with the beginning of each.
    whole: VecDeque<(Key, Vec<u8>)>,
    next: u64,
    given_up: u64,
}

impl Fragments {
    /// Looks at a fragment.
    pub fn add(&mut self, packet: &Packet<'_>, fragment: Fragment) -> Part {
        let Packet { source, target, protocol, tunnel, .. } = *packet;
        let key = Key { source, target, protocol, tunnel, id: fragment.id };
        if !self.waiting.contains_key(&key) {
            if fragment.offset > 0
                && let Some((_, head)) = self.whole.iter().find(|(known, _)| *known == key)
            {
                return Part { head: Some(head.clone()), early: Vec::new(), whole: None };
            }
            self.make_room();
            self.order.push_back((self.next, key));
            let number = self.next;
            let new =
                Datagram { number, head: Vec::new(), offsets: Vec::new(), seen: 0, whole: None, early: Vec::new() };
            self.waiting.insert(key, new);
            self.next += 1;
        }
        let Some(datagram) = self.waiting.get_mut(&key) else { return Part::unknown() };
        if !datagram.offsets.contains(&fragment.offset) {
            datagram.offsets.push(fragment.offset);
            datagram.seen = datagram.seen.saturating_add(packet.payload_length);
        }
        if !fragment.more {
            datagram.whole = Some(fragment.offset.saturating_add(packet.payload_length));
        }
        if fragment.offset == 0 && datagram.head.is_empty() {
            datagram.head = packet.payload[..packet.payload.len().min(HEAD)].to_vec();
        }
        if datagram.head.is_empty() {
            // No more parts than the largest datagram has.
            if datagram.early.len() < usize::from(u16::MAX) / 8 {
                datagram.early.push(packet.length);
            }
            return Part::unknown();
        }
        let whole = datagram.whole.filter(|&whole| datagram.seen >= whole);
        let part = Part { head: Some(datagram.head.clone()), early: std::mem::take(&mut datagram.early), whole };
        if whole.is_some()
            && let Some(datagram) = self.waiting.remove(&key)
        {
            self.whole.retain(|(known, _)| *known != key);
            self.whole.truncate(MOST_WHOLE - 1);
            self.whole.push_front((key, datagram.head));
        }
        part
    }

    /// Datagrams that never became whole.
    pub fn incomplete(&self) -> u64 {
        self.given_up + self.waiting.len() as u64
    }

    fn make_room(&mut self) {
        while self.waiting.len() >= MOST || self.order.len() >= 2 * MOST {
            let Some((number, key)) = self.order.pop_front() else { return };
            if self.waiting.get(&key).is_some_and(|datagram| datagram.number == number) {
                self.waiting.remove(&key);
                self.given_up += 1;
            }
        }
    }
}

impl Part {
    fn unknown() -> Self {
        Self { head: None, early: Vec::new(), whole: None }
    }
}

//! Packet traces: every packet joining a queue, leaving it, arriving or being dropped, in order.
//!
//! A link that computes its departures on arrival knows of a departure before it happens. Such records
//! wait in a heap and leave it when the simulation reaches their place in the order of events.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::{DropReason, Probe, Seen};
use crate::entities::Entities;
use crate::events::{Key, Keyed};
use crate::network::server::Service;
use crate::packet::Kind;
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// It joined the queue of a link.
    Enqueue,
    /// It was first in line.
    Dequeue,
    /// It arrived at the other end.
    Receive,
    /// It was lost.
    Drop(DropReason),
}

impl Event {
    /// ns-2's sign for it.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Enqueue => '+',
            Self::Dequeue => '-',
            Self::Receive => 'r',
            Self::Drop(_) => 'd',
        }
    }

    /// Why the packet was lost, if it was.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Drop(reason) => reason.name(),
            _ => "",
        }
    }
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// What happened.
    pub event: Event,
    /// When.
    pub time: Time,
    /// At which link.
    pub link: u32,
    /// What kind of packet.
    pub kind: Kind,
    /// Its bytes.
    pub size: u32,
    /// Its flow.
    pub flow: u32,
    /// Its sequence number, or the one that it acknowledges.
    pub seq: u32,
    /// Its number, in the order in which packets joined their first queue; a copy that a link made has its own.
    pub uid: u64,
    /// Whether it tells of congestion: CE on a data packet; on an ACK, ECE.
    pub marked: bool,
}

/// Hears of what a trace collects, in order. A function is one that hears of the records alone.
pub trait Listener {
    /// A packet was sent, and will have this number; the options of ACKs are in `ack_options`. Its records follow.
    fn sent(&mut self, _time: Time, _uid: u64, _packet: Seen<'_>, _sacks: &AckOptionSlab) {}

    /// A packet on a link will come out twice: the number of its copy, which no record begins.
    fn duplicated(&mut self, _uid: u64, _copy: u64) {}

    /// The next line of the trace.
    fn record(&mut self, record: &Record);
}

impl<F: FnMut(&Record)> Listener for F {
    fn record(&mut self, record: &Record) {
        self(record);
    }
}

/// A packet in words: what it is, and when it was sent.
type Words = (u64, u64, u64);

/// Collects the trace of a run.
#[derive(Debug)]
pub struct Trace<'a, L> {
    listener: &'a mut L,
    /// Records whose place lies ahead.
    ahead: BinaryHeap<Reverse<Keyed<Record>>>,
    /// When the packets on each link began to be served, not falling, and their numbers.
    on_link: Vec<VecDeque<(f64, u64)>>,
    /// Numbers of the packets at each other stop, in order.
    at_stop: BTreeMap<u32, VecDeque<u64>>,
    /// The records of packets that joined a queue, and whose departure from it is not known yet, each with its packet's words.
    queued: BTreeMap<u32, VecDeque<(Record, Words)>>,
    /// Number of the packet that the current event carries from link to link.
    carried: u64,
    next_uid: u64,
    /// The departure of the packet that each link served last: when the next one leaves the queue.
    last_departure: Vec<Key>,
    first_link: u32,
}

impl<'a, L: Listener> Trace<'a, L> {
    /// A trace of `links` links and `flows` flows that `listener` hears of.
    #[must_use]
    pub fn new(links: usize, flows: usize, listener: &'a mut L) -> Self {
        Self {
            listener,
            ahead: BinaryHeap::new(),
            on_link: vec![VecDeque::new(); links],
            at_stop: BTreeMap::new(),
            queued: BTreeMap::new(),
            carried: 0,
            next_uid: 0,
            last_departure: vec![Key::FIRST; links],
            first_link: Entities::first_link(flows),
        }
    }

    /// Writes the waiting records that precede `now`.
    fn catch_up(&mut self, now: Key) {
        while let Some(Reverse(next)) = self.ahead.peek()
            && next.key < now
        {
            self.listener.record(&next.item);
            self.ahead.pop();
        }
    }

    /// The record of a packet that leaves a queue. A retransmission looks like what it repeats, but for when it was sent. Of
    /// packets that look alike in all, and where the queue has changed one, the first that came.
    fn take_queued(&mut self, link: u32, packet: Seen<'_>) -> Option<Record> {
        let flow = packet.flow();
        let queued = self.queued.get_mut(&link)?;
        let (kind, seq, size) = (packet.packet.kind(), packet.packet.seq(), packet.packet.size());
        let same = |(record, _): &(Record, Words)| {
            record.flow == flow && record.kind == kind && record.seq == seq && record.size == size
        };
        let words = packet.packet.words();
        let itself = |queued: &(Record, Words)| queued.1 == words && same(queued);
        let place = queued.iter().position(itself).or_else(|| queued.iter().position(same))?;
        queued.remove(place).map(|(record, _)| record)
    }

    /// Where a packet on a link is among the others, which may have overtaken it.
    fn place_on(&self, link: u32, packet: Seen<'_>) -> Option<usize> {
        let (others, start) = (&self.on_link[link as usize], packet.packet.start);
        let place = others.partition_point(|other| other.0 < start);
        (others.get(place)?.0 == start).then_some(place)
    }

    /// The number of a packet that comes out of a link, or is lost there.
    fn take_from(&mut self, link: u32, packet: Seen<'_>) -> u64 {
        let place = self.place_on(link, packet);
        place.and_then(|place| self.on_link[link as usize].remove(place)).map_or(0, |taken| taken.1)
    }

    /// The number of a packet that is offered to a stop: a new one at its first, the carried one after.
    fn uid(&mut self, packet: Seen<'_>) -> u64 {
        if packet.is_at_begin() {
            self.next_uid += 1;
            self.next_uid - 1
        } else {
            self.carried
        }
    }
}

fn record(event: Event, time: Time, link: u32, packet: Seen<'_>, uid: u64) -> Record {
    let (flow, packet) = (packet.flow(), packet.packet);
    let (kind, size, seq, marked) = (packet.kind(), packet.size(), packet.seq(), packet.is_marked());
    Record { event, time, link, kind, size, flow, seq, uid, marked }
}

impl<L: Listener> Probe for Trace<'_, L> {
    const ALLOWS_FUSION: bool = false;
    const SEES_PACKETS: bool = true;

    fn sent(&mut self, key: Key, packet: Seen<'_>, ack_options: &AckOptionSlab) {
        self.listener.sent(key.time, self.next_uid, packet, ack_options);
    }

    fn enqueued(&mut self, key: Key, link: u32, packet: Seen<'_>, service: Service) {
        self.catch_up(key);
        let uid = self.uid(packet);
        self.on_link[link as usize].push_back((service.start.seconds(), uid));
        self.listener.record(&record(Event::Enqueue, key.time, link, packet, uid));
        let dequeue = record(Event::Dequeue, service.start, link, packet, uid);
        // Straight into service, or when the packet before it has left: at that departure's place.
        let before = self.last_departure[link as usize];
        if before >= key {
            self.ahead.push(Reverse(Keyed { key: before, item: dequeue }));
        } else {
            self.listener.record(&dequeue);
        }
        self.last_departure[link as usize] =
            Key::new(service.departure, service.start, service.precedence, self.first_link + link);
    }

    fn queued(&mut self, key: Key, link: u32, packet: Seen<'_>) {
        self.catch_up(key);
        let uid = self.uid(packet);
        self.listener.record(&record(Event::Enqueue, key.time, link, packet, uid));
        let dequeue = record(Event::Dequeue, key.time, link, packet, uid);
        self.queued.entry(link).or_default().push_back((dequeue, packet.packet.words()));
    }

    fn dequeued(&mut self, key: Key, link: u32, packet: Seen<'_>) {
        self.catch_up(key);
        if let Some(record) = self.take_queued(link, packet) {
            self.on_link[link as usize].push_back((key.time.seconds(), record.uid));
            self.listener.record(&Record { time: key.time, ..record });
        }
    }

    fn discarded(&mut self, key: Key, link: u32, packet: Seen<'_>, reason: DropReason) {
        self.catch_up(key);
        if let Some(record) = self.take_queued(link, packet) {
            self.listener.record(&Record { event: Event::Drop(reason), time: key.time, ..record });
        }
    }

    fn received(&mut self, key: Key, link: u32, packet: Seen<'_>) {
        self.catch_up(key);
        self.carried = self.take_from(link, packet);
        self.listener.record(&record(Event::Receive, key.time, link, packet, self.carried));
    }

    fn duplicated(&mut self, link: u32, copy: Seen<'_>) {
        let Some(place) = self.place_on(link, copy) else { return };
        let on_link = &mut self.on_link[link as usize];
        let (start, uid) = on_link[place];
        on_link.insert(place + 1, (start, self.next_uid));
        self.listener.duplicated(uid, self.next_uid);
        self.next_uid += 1;
    }

    fn joined(&mut self, stop: u32, packet: Seen<'_>) {
        let uid = self.uid(packet);
        self.at_stop.entry(stop).or_default().push_back(uid);
    }

    fn left(&mut self, stop: u32) {
        self.carried = self.at_stop.get_mut(&stop).and_then(VecDeque::pop_front).unwrap_or_default();
    }

    fn dropped(&mut self, key: Key, link: u32, packet: Seen<'_>, reason: DropReason) {
        self.catch_up(key);
        match reason {
            // ns-2 notes a drop as an arrival at the queue, too.
            DropReason::Queue | DropReason::OutputRing | DropReason::Management => {
                let uid = self.uid(packet);
                self.listener.record(&record(Event::Enqueue, key.time, link, packet, uid));
                self.listener.record(&record(Event::Drop(reason), key.time, link, packet, uid));
            }
            DropReason::InputRing => {
                let uid = self.uid(packet);
                self.listener.record(&record(Event::Drop(reason), key.time, link, packet, uid));
            }
            DropReason::Wire => {
                let uid = self.take_from(link, packet);
                self.listener.record(&record(Event::Drop(reason), key.time, link, packet, uid));
            }
        }
    }

    fn finish(&mut self, end: Time) {
        self.catch_up(Key::planned(end, 0));
    }
}

//! Links whose queue decides at departure: the packets that wait there, and the decisions. None of it is
//! touched where no link has such a queue.
//!
//! When the line is free the queue says which packet is next, and loses others. A decision hangs on what
//! waits, and nothing that waits comes later than the next event: so the decisions that precede an event are
//! made at that event, in order, and the link has one event for each packet, its delivery, as others have. A
//! packet that is on the line has a delivery to come, so none is made too late. Two cost an event more: a probe that
//! must see packets in order, at each departure; and a queue that shapes, where no delivery comes after the next packet
//! may go.

use crate::delays::Delays;
use crate::events::Key;
use crate::network::fabric::Fabric;
use crate::network::queue::{Held, Lost, OnLine, QueueSpec, Site, Waiting};
use crate::network::server::{ServerTotals, Wire, wait_s};
use crate::packet::Packet;
use crate::probe::{Probe, Seen};
use crate::time::Time;

/// The packets that wait for a line.
#[derive(Clone, Debug)]
pub struct Managed {
    queue: Held,
    /// Bytes waiting.
    bytes: u64,
    /// Bytes of the packet that was last put on the line.
    on_line_bytes: u64,
    dropped: u64,
    marked: u64,
    most_waiting: usize,
    /// How long the packets waited that went on the line.
    waits: Delays,
    /// Time that packets waited which have left the queue, those that were lost included, in seconds.
    waiting_s: f64,
    /// Packets that a decision loses; kept for its memory.
    lost: Lost,
    /// The line was free and asked for a packet, and there was none.
    idle: bool,
    /// When the packet that was last put on the line reaches its other end.
    delivery: Time,
    /// The last event that was made only for the next packet to go.
    woken: Key,
}

impl Managed {
    /// The empty queue of a link; nothing if that decides on arrival.
    #[must_use]
    pub fn new(spec: &QueueSpec, site: Site<'_>) -> Option<Self> {
        let queue = Held::new(spec, site)?;
        Some(Self {
            queue,
            bytes: 0,
            on_line_bytes: 0,
            dropped: 0,
            marked: 0,
            most_waiting: 0,
            waits: Delays::above(0.0),
            waiting_s: 0.0,
            lost: Lost::new(),
            idle: true,
            delivery: Time::ZERO,
            woken: Key::FIRST,
        })
    }

    /// What is on the line, if `packets` are: one or none.
    fn on_line(&self, packets: usize) -> OnLine {
        OnLine { packets, bytes: if packets > 0 { self.on_line_bytes } else { 0 } }
    }

    /// Whether the empty queue of an idle link takes a packet of `size` bytes.
    pub(super) fn has_room_when_idle(&self, size: u32) -> bool {
        self.queue.has_room(size, self.on_line(0))
    }

    /// Packets waiting.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Seconds for which what waits will occupy the line, if none of it is padded.
    pub(super) fn backlog_s(&self, wire: &Wire) -> f64 {
        wire.occupied_s(self.queue.len(), self.bytes)
    }

    /// Packets dropped so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Random numbers drawn so far.
    pub(super) fn random_draws(&self) -> u64 {
        self.queue.random_draws()
    }

    /// When the next packet goes on the line, which is free from `free` on.
    fn due(&self, free: Key) -> Key {
        let ready_s = self.queue.ready_s();
        if ready_s <= free.time.seconds() {
            return free;
        }
        Key::new(Time::new(ready_s), free.caused_at, free.precedence(), free.entity())
    }

    /// How long packets waited that went on the line.
    pub(super) fn queueing(&self) -> &Delays {
        &self.waits
    }

    /// What it did before `end`, with what the line did.
    pub(super) fn totals(&self, line: ServerTotals, end: Time) -> ServerTotals {
        ServerTotals {
            packets_in: line.packets_in + self.queue.len() as u64 + self.dropped,
            packets_dropped: self.dropped,
            packets_marked: self.marked,
            waiting_s: self.queue.waited_s(self.waiting_s, end.seconds()),
            queue_max_packets: self.most_waiting as u64,
            ..line
        }
    }
}

impl<P: Probe> Fabric<P> {
    /// Offers a packet to a link whose queue decides at departure.
    pub(super) fn offer_managed(&mut self, index: u32, packet: Packet, now: Key) {
        self.catch_up(index, now);
        let key = self.keys[self.paths.flow_at(packet.position()) as usize][usize::from(packet.is_reverse())];
        let link = &mut self.links[index as usize];
        let on_line = link.server.advance(now);
        let Some(managed) = link.managed.as_deref_mut() else { return };
        let (on_line, seen) = (managed.on_line(on_line), Seen::new(&packet, &self.paths));
        let waiting = Waiting { packet, since_s: now.time.seconds(), key, marked: false };
        let mut lost = std::mem::take(&mut managed.lost);
        match managed.queue.join(waiting, on_line, &mut lost) {
            Ok(()) => {
                managed.bytes += u64::from(packet.size());
                self.probe.queued(now, index, seen);
            }
            Err(refusal) => {
                managed.dropped += 1;
                self.probe.dropped(now, index, seen, self.nodes.drop_reason(index, refusal));
                self.lose(packet.position(), packet.is_reverse(), packet.blocks());
            }
        }
        self.discard(index, &mut lost, now);
        let link = &mut self.links[index as usize];
        let Some(managed) = link.managed.as_deref_mut() else { return };
        let ready = managed.queue.ready_s() <= now.time.seconds();
        if on_line.packets == 0 && ready {
            self.decide(index, now);
        }
        if !ready {
            self.wake_shaped(index);
        }
        if let Some(managed) = &mut self.links[index as usize].managed {
            managed.most_waiting = managed.most_waiting.max(managed.queue.len());
        }
    }

    /// Makes an event for the next packet to go on the line of a link, if one waits and no delivery comes after that.
    #[cold]
    fn wake_shaped(&mut self, index: u32) {
        let link = &mut self.links[index as usize];
        let Some(managed) = link.managed.as_deref_mut().filter(|managed| !managed.queue.is_empty()) else { return };
        let free = link.server.free();
        let due = managed.due(free);
        if due.time > free.time && (P::SEES_PACKETS || due.time > managed.delivery) && due != managed.woken {
            managed.woken = due;
            self.queue.push(due);
        }
    }

    /// Makes the decisions of a link, if its queue makes any at departures, that precede `now`.
    #[inline]
    pub fn catch_up(&mut self, index: u32, now: Key) {
        if self.links.get(index as usize).is_some_and(|link| link.managed.is_some()) {
            self.make_decisions(index, now);
        }
    }

    /// Makes the decisions that precede the event `key` of the link itself. False if that event was there for
    /// a departure only.
    #[cold]
    pub(super) fn advance(&mut self, index: u32, key: Key) -> bool {
        self.make_decisions(index, key);
        self.links[index as usize].next_delivery() == Some(key)
    }

    #[cold]
    fn make_decisions(&mut self, index: u32, now: Key) {
        loop {
            let link = &mut self.links[index as usize];
            let Some(managed) = link.managed.as_deref_mut() else { return };
            if managed.idle {
                return;
            }
            // There was a packet on the line. Its delivery, which may be in the same instant and has the same key, comes
            // after its departure.
            let free = link.server.free();
            let due = managed.due(free);
            if due > now {
                if due.time > free.time {
                    self.wake_shaped(index);
                }
                return;
            }
            self.decide(index, due);
        }
    }

    /// The line is free at `at`: the next packet goes on it.
    fn decide(&mut self, index: u32, at: Key) {
        let (end, link) = (self.end, &mut self.links[index as usize]);
        let Some(managed) = link.managed.as_deref_mut() else { return };
        let mut lost = std::mem::take(&mut managed.lost);
        let next = managed.queue.next(at.time, &mut lost);
        managed.idle = next.is_none();
        self.discard(index, &mut lost, at);
        let Some(Waiting { mut packet, since_s, marked, .. }) = next else { return };
        self.probe.dequeued(at, index, Seen::new(&packet, &self.paths));
        let link = &mut self.links[index as usize];
        let service = link.server.transmit(at, packet.size());
        if packet.ends_round() {
            self.saturation.pass(packet, at.time, || link.server.busy_until(at.time));
        }
        if let Some(managed) = &mut link.managed {
            managed.on_line_bytes = u64::from(packet.size());
            managed.delivery = service.delivery;
            managed.bytes -= managed.on_line_bytes;
            managed.waiting_s += at.time.seconds() - since_s;
            managed.waits.add(wait_s(since_s, at.time.seconds()));
            managed.marked += u64::from(marked);
        }
        packet = packet.served(service.start, service.precedence);
        if marked {
            packet = packet.marked();
        }
        if service.delivery >= end {
            link.note_late();
        } else if link.lossy && link.loses_next() {
            packet = packet.lost();
        }
        let key = |time| Key::new(time, service.start, service.precedence, self.first_link + index);
        if link.flight.is_empty() {
            self.queue.push(key(service.delivery));
        }
        link.flight.push_back(packet);
        if P::SEES_PACKETS {
            self.queue.push(key(service.departure));
        }
    }

    /// Counts packets of the queue of a link as lost, and gives their list back.
    fn discard(&mut self, index: u32, lost: &mut Lost, at: Key) {
        for (Waiting { packet, since_s, .. }, refusal) in lost.drain(..) {
            let reason = self.nodes.drop_reason(index, refusal);
            if let Some(managed) = &mut self.links[index as usize].managed {
                managed.dropped += 1;
                managed.bytes -= u64::from(packet.size());
                managed.waiting_s += at.time.seconds() - since_s;
            }
            self.probe.discarded(at, index, Seen::new(&packet, &self.paths), reason);
            self.lose(packet.position(), packet.is_reverse(), packet.blocks());
        }
        if let Some(managed) = &mut self.links[index as usize].managed {
            managed.lost = std::mem::take(lost);
        }
    }

    /// When a link will have room, perhaps, for a packet for which it has none at `now`: at its next departure.
    /// Nothing if it has room, or if nothing is ahead that could make some.
    pub(super) fn next_room(&mut self, index: u32, size: u32, now: Key) -> Option<Key> {
        self.catch_up(index, now);
        let link = &mut self.links[index as usize];
        let Some(managed) = &link.managed else { return link.server.next_room(now, size) };
        let on_line = managed.on_line(link.server.advance(now));
        if on_line.packets == 0 && managed.queue.is_empty() || managed.queue.has_room(size, on_line) {
            return None;
        }
        Some(managed.due(link.server.free()))
    }

    /// The run is over: nothing happens from its end on.
    pub fn finish(&mut self) {
        for index in 0..self.links.len() as u32 {
            self.catch_up(index, Key::planned(self.end, 0));
        }
        self.probe.finish(self.end);
    }
}

//! Links whose queue decides at departure: the packets that wait there, and the decisions. None of it is
//! touched where no link has such a queue.
//!
//! When the line is free the queue says which packet is next, and loses others. A decision depends on what
//! waits, and nothing that waits comes later than the next event: so the decisions that precede an event are
//! made at that event, in order, and the link has one event for each packet, its delivery, as others have. A
//! packet that is on the line has a delivery to come, so none is made too late. Three cost an event more: a probe that
//! must see packets in order, at each departure; a link whose packets overtake each other, there too; and a queue that
//! shapes, where no delivery comes after the next packet may go. Where links are processed epoch by epoch, the decisions
//! of an epoch are made when all that arrives in it is there.

use crate::delays::Delays;
use crate::events::Key;
use crate::network::link::{Link, Passage};
use crate::network::queue::QueueLimit;
use crate::network::queue::{FlowKey, Held, Load, Lost, QueueSpec, Refusal, Site, Waiting};
use crate::network::server::{Server, ServerTotals, Service, wait_s};
use crate::packet::Packet;
use crate::time::Time;

/// What lies around a link, and what becomes there of the packets that its queue held.
pub trait Surroundings {
    /// Each departure is its own event, for someone who must see packets in order.
    const SEES_DEPARTURES: bool;

    /// A packet joins the queue.
    fn joins(&mut self, packet: &Packet, at: Key);

    /// The queue loses a packet, which had waited there or had just come.
    fn loses(&mut self, packet: &Packet, at: Key, refusal: Refusal, had_waited: bool);

    /// A packet enters the line, which transmitted for so many seconds before, or was kept from it by the queue's shaper.
    fn enters_line(&mut self, packet: &Packet, at: Key, busy_s: impl FnOnce() -> f64);

    /// A packet was served by the link.
    fn served(&mut self, link: &mut Link, packet: Packet, passage: Passage, service: &Service);

    /// The next packet enters the line at `at`, and no delivery comes after that.
    fn wake(&mut self, at: Key);
}

/// What is counted of a queue that holds its packets.
#[derive(Clone, Debug)]
pub(in crate::network) struct HeldCounts {
    /// Packets dropped so far.
    pub(in crate::network) dropped: u64,
    pub(in crate::network) marked: u64,
    pub(in crate::network) most_waiting: usize,
    /// How long packets waited that entered the line.
    pub(in crate::network) waits: Delays,
    /// Time that packets waited which have left the queue, those that were lost included, in seconds.
    pub(in crate::network) waiting_s: f64,
}

impl HeldCounts {
    /// Nothing yet.
    pub(in crate::network) fn new() -> Self {
        Self { dropped: 0, marked: 0, most_waiting: 0, waits: Delays::above(0.0), waiting_s: 0.0 }
    }

    /// A packet that came at `since_s` begins to be transmitted at `begun`, if that is before the end of the run.
    pub(in crate::network) fn leaves(&mut self, since_s: f64, begun: Time, server: &Server) {
        let begun_s = begun.min(server.end()).seconds();
        self.waiting_s += begun_s - since_s;
        if !server.ends_before(begun) {
            self.waits.add(wait_s(since_s, begun_s));
        }
    }

    /// What it did, with what the line did; `waiting` packets are still there, and all have waited for `waiting_s` seconds.
    pub(in crate::network) fn totals(&self, line: ServerTotals, waiting: usize, waiting_s: f64) -> ServerTotals {
        ServerTotals {
            packets_in: line.packets_in + waiting as u64 + self.dropped,
            packets_dropped: self.dropped,
            packets_marked: self.marked,
            waiting_s,
            queue_max_packets: self.most_waiting as u64,
            ..line
        }
    }
}

/// The packets that wait for a line.
#[derive(Clone, Debug)]
pub struct Managed {
    queue: Held,
    /// What "full" means; the packet on the line counts.
    limit: QueueLimit,
    /// What waits.
    load: Load,
    /// Bytes of the packet that was last put on the line.
    on_line_bytes: u64,
    /// Of those that came.
    pub(super) counts: HeldCounts,
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
            limit: spec.limit(),
            load: Load::NONE,
            on_line_bytes: 0,
            counts: HeldCounts::new(),
            lost: Lost::new(),
            idle: true,
            delivery: Time::ZERO,
            woken: Key::FIRST,
        })
    }

    /// What is on the line, if `packets` are: one or none.
    fn on_line(&self, packets: usize) -> Load {
        Load { packets, bytes: if packets > 0 { self.on_line_bytes } else { 0 } }
    }

    /// Whether the limit leaves room for a packet of `size` bytes.
    fn has_room(&self, size: u32, on_line: Load) -> bool {
        self.limit.takes(self.load + on_line, size)
    }

    /// Whether the empty queue of an idle link takes a packet of `size` bytes.
    pub(super) fn has_room_when_idle(&self, size: u32) -> bool {
        self.has_room(size, self.on_line(0))
    }

    /// Packets waiting.
    pub(super) fn waiting(&self) -> usize {
        self.load.packets
    }

    /// Seconds from `now` until all that waits has left the line, or its shaper, if that takes longer; if none is padded.
    pub(super) fn backlog_s(&self, line: &Server, now: Time) -> f64 {
        let line_s = line.backlog_s(now) + line.occupied_s(self.load.packets, self.load.bytes);
        line_s.max(self.queue.backlog_s(now.seconds()))
    }

    /// For how long the line, or its shaper, has been busy until `now`, in seconds.
    pub(super) fn busy_until(&self, line: &Server, now: Time) -> f64 {
        line.busy_until(now).max(self.queue.shaped_s(now.seconds()))
    }

    /// Random numbers drawn so far.
    pub(super) fn random_draws(&self) -> u64 {
        self.queue.random_draws()
    }

    /// When the next packet enters the line, which is free from `free` on.
    fn due(&self, free: Key) -> Key {
        let ready_s = self.queue.ready_s();
        if ready_s <= free.time.seconds() {
            return free;
        }
        Key::new(Time::new(ready_s), free.caused_at, free.precedence(), free.entity())
    }

    /// What it did before `end`, with what the line did.
    pub(super) fn totals(&self, line: ServerTotals, end: Time) -> ServerTotals {
        let busy_s = line.busy_s.max(self.queue.shaped_s(end.seconds()));
        let waiting_s = self.queue.waited_s(self.counts.waiting_s, end.seconds());
        self.counts.totals(ServerTotals { busy_s, ..line }, self.load.packets, waiting_s)
    }
}

impl Managed {
    /// A packet comes to the link, after the decisions that precede it.
    fn join<S: Surroundings>(&mut self, link: &mut Link, packet: Packet, key: FlowKey, now: Key, around: &mut S) {
        self.decide_until(link, now, around);
        let on_line = self.on_line(link.server.advance(now));
        let waiting = Waiting { packet, since_s: now.time.seconds(), key, marked: false };
        let mut lost = std::mem::take(&mut self.lost);
        match self.queue.join(waiting, on_line, &mut lost) {
            Ok(()) => {
                self.load.add(&packet);
                around.joins(&packet, now);
            }
            Err(refusal) => {
                self.counts.dropped += 1;
                around.loses(&packet, now, refusal, false);
            }
        }
        self.discard(lost, now, around);
        let ready = self.queue.ready_s() <= now.time.seconds();
        if on_line.packets == 0 && ready {
            self.decide(link, now, around);
        }
        if !ready {
            self.wake_shaped(link, around);
        }
        self.counts.most_waiting = self.counts.most_waiting.max(link.waiting_on_line(now) + self.load.packets);
    }

    /// When the next packet enters the line, if one waits.
    fn next_due(&self, link: &Link) -> Option<Key> {
        (self.load.packets > 0).then(|| self.due(link.server.free()))
    }

    /// Has an event made for the next packet to go on the line, if one waits and no delivery comes after that.
    #[cold]
    fn wake_shaped<S: Surroundings>(&mut self, link: &Link, around: &mut S) {
        let Some(due) = self.next_due(link) else { return };
        let waits = due.time > link.server.free().time;
        let seen = !S::SEES_DEPARTURES && !link.reorders() && due.time <= self.delivery;
        if waits && !seen && due != self.woken {
            self.woken = due;
            around.wake(due);
        }
    }

    /// Makes the decisions that precede `now`.
    fn decide_until<S: Surroundings>(&mut self, link: &mut Link, now: Key, around: &mut S) {
        while !self.idle {
            // There was a packet on the line. Its delivery, which may be in the same instant and has the same key, comes
            // after its departure.
            let free = link.server.free();
            let due = self.due(free);
            if due > now {
                if due.time > free.time {
                    self.wake_shaped(link, around);
                }
                return;
            }
            self.decide(link, due, around);
        }
    }

    /// The line is free at `at`: the next packet continues it.
    fn decide<S: Surroundings>(&mut self, link: &mut Link, at: Key, around: &mut S) {
        let mut lost = std::mem::take(&mut self.lost);
        let next = self.queue.next(at.time, &mut lost);
        self.idle = next.is_none();
        self.discard(lost, at, around);
        let Some(Waiting { packet, since_s, marked, .. }) = next else { return };
        let service = Service { marked, ..link.server.transmit(at, packet.size()) };
        let busy_s = || self.busy_until(&link.server, at.time);
        around.enters_line(&packet, at, busy_s);
        self.on_line_bytes = u64::from(packet.size());
        self.delivery = service.delivery;
        self.load.remove(&packet);
        self.counts.leaves(since_s, link.server.begun(at.time), &link.server);
        self.counts.marked += u64::from(marked);
        let (packet, passage) = link.pass(packet, &service);
        around.served(link, packet, passage, &service);
    }

    /// Counts packets of the queue as lost, and keeps the memory of their list.
    fn discard<S: Surroundings>(&mut self, mut lost: Lost, at: Key, around: &mut S) {
        for (Waiting { packet, since_s, .. }, refusal) in lost.drain(..) {
            self.counts.dropped += 1;
            self.load.remove(&packet);
            self.counts.waiting_s += at.time.seconds() - since_s;
            around.loses(&packet, at, refusal, true);
        }
        self.lost = lost;
    }
}

impl Link {
    /// With the packets that wait, if the queue decides at departure.
    fn managing<T>(&mut self, act: impl FnOnce(&mut Managed, &mut Self) -> T) -> Option<T> {
        let mut managed = self.managed.take()?;
        let value = act(&mut managed, self);
        self.managed = Some(managed);
        Some(value)
    }

    /// Offers a packet, whose key is `key`, to the link, whose queue decides at departure.
    pub fn join<S: Surroundings>(&mut self, packet: Packet, key: FlowKey, now: Key, around: &mut S) {
        self.managing(|managed, link| managed.join(link, packet, key, now, around));
    }

    /// Makes the decisions at departures, if there are any, that precede `now`.
    pub fn decide_until<S: Surroundings>(&mut self, now: Key, around: &mut S) {
        self.managing(|managed, link| managed.decide_until(link, now, around));
    }

    /// When the next packet enters the line that waits for a decision.
    #[must_use]
    pub fn next_due(&self) -> Option<Key> {
        self.managed.as_ref()?.next_due(self)
    }

    /// When there will be room, perhaps, for a packet for which there is none at `now`, up to which decisions are made:
    /// at the next departure. Nothing if there is room, or if nothing is ahead that could make some.
    pub fn next_room(&mut self, size: u32, now: Key) -> Option<Key> {
        let Some(managed) = &self.managed else { return self.server.next_room(now, size) };
        let on_line = managed.on_line(self.server.advance(now));
        if on_line.packets == 0 && managed.load.packets == 0 || managed.has_room(size, on_line) {
            return None;
        }
        Some(managed.due(self.server.free()))
    }
}

//! A transmitter with its waiting line, as times only: it holds no packets and makes no events, so
//! that the simulator and the real-time relay use the same code and the same tests.
//!
//! The departures of a first-in-first-out server are known when a packet arrives. What remains to be
//! kept is which of them lie ahead, to know whether the queue is full; [`Server::advance`] forgets
//! those that precede an event. That holds where rate and delay change, too: how they change is known ahead.

mod admitted;
mod service;
mod state;
mod totals;

use self::admitted::{Admitted, Timing};
pub(crate) use self::service::Granted;
pub use self::service::Service;
pub use self::totals::ServerTotals;
use crate::delays::Delays;
use crate::events::{Entity, Key, Precedence};
use crate::network::changes::{Changes, ChangesSample};
use crate::network::queue::{Arrival, Needs, Queue, Refusal, Verdict};
use crate::network::wire::Wire;
use crate::ring::Ring;
use crate::time::Time;

/// What is shorter than this is no wait, but what rounding leaves of one: where a packet comes as the one before it leaves,
/// over links of the same rate, for example. In seconds.
const ROUNDED_S: f64 = 1e-9;

/// A wait, without what rounding leaves of none, in seconds.
pub(super) fn wait_s(since_s: f64, until_s: f64) -> f64 {
    let wait_s = until_s - since_s;
    if wait_s > ROUNDED_S { wait_s } else { 0.0 }
}

/// A FIFO server of constant rate with a finite waiting line.
#[derive(Clone, Debug)]
pub struct Server {
    /// The last service granted; earlier ones that lie ahead are in `ahead`.
    last: Granted,
    /// Start of the current busy period.
    busy_since: f64,
    /// Of the size that most packets have.
    recent: Timing,
    entity: Entity,
    most_waiting: u32,
    end: f64,
    /// With fewer packets than this ahead a packet joins, and the queue is not asked.
    unasked: u32,
    /// How long packets waited, summed, in seconds.
    waiting_s: f64,
    ahead: Ring<Granted>,
    rare: Box<Rare>,
    /// How long packets waited that did.
    waits: Delays,
}

/// What is seldom looked at, out of the way: a large network has more links than a cache has lines.
#[derive(Clone, Debug)]
struct Rare {
    wire: Wire,
    /// What changes; nothing: nothing does.
    changes: Option<Box<Changes>>,
    queue: Queue,
    /// What it has to be told.
    needs: Needs,
    /// Of the size seen last among the others: data and ACKs are all there is, on most links.
    previous: Timing,
    /// Packets of sizes seen before those.
    others: Admitted,
    /// Packets and their bytes that were admitted and are not transmitted when the run ends.
    late: (u64, u64),
    /// Packets that wait when the run ends, and the time that all packets have waited by then, in seconds.
    still_waiting: (u64, f64),
    dropped: u64,
    marked: u64,
    /// Sizes of the packets ahead and their sum, kept for a queue that counts bytes.
    sizes: Ring<u32>,
    bytes_ahead: u64,
}

impl Rare {
    /// Of a size that is not that of most packets.
    fn timing(&mut self, size: u32) -> &mut Timing {
        if self.previous.size != size {
            // Where it takes now this, now that, it is asked anew for each packet: what never ends is looked at again.
            let transmission_s = if self.changes.is_some() { f64::INFINITY } else { self.wire.transmission_s(size) };
            self.others = self.others.with(&self.previous);
            self.previous = Timing { size, transmission_s, crossing_s: transmission_s + self.wire.delay_s, count: 0 };
        }
        &mut self.previous
    }

    /// When a packet whose service began at `start` reaches the other end.
    fn delivery(&self, start: Time, size: u32) -> Time {
        let Self { wire, previous, .. } = self;
        if previous.size == size { start + previous.crossing_s } else { start + wire.crossing_s(size) }
    }
}

impl Server {
    /// An idle server. Totals count what happens before `end`.
    #[must_use]
    pub fn new(entity: Entity, wire: Wire, queue: Queue, end: Time) -> Self {
        let never = Timing { size: u32::MAX, transmission_s: 0.0, crossing_s: 0.0, count: 0 };
        let needs = queue.needs();
        Self {
            last: Granted::BEFORE_ALL,
            busy_since: 0.0,
            recent: never,
            entity,
            most_waiting: 0,
            end: end.seconds(),
            unasked: needs.unasked,
            waiting_s: 0.0,
            ahead: Ring::default(),
            rare: Box::new(Rare {
                wire,
                changes: None,
                needs,
                queue,
                previous: never,
                others: Admitted::default(),
                late: (0, 0),
                still_waiting: (0, 0.0),
                dropped: 0,
                marked: 0,
                sizes: Ring::default(),
                bytes_ahead: 0,
            }),
            waits: Delays::above(0.0),
        }
    }

    /// With a rate or a delay that changes.
    #[must_use]
    pub fn changing(mut self, changes: Option<Changes>) -> Self {
        self.rare.changes = changes.map(Box::new);
        self
    }

    /// What changes; nothing: nothing does.
    pub fn changes(&mut self) -> Option<&mut Changes> {
        self.rare.changes.as_deref_mut()
    }

    /// Whether what changes may lose packets.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.rare.changes.as_ref().is_some_and(|changes| changes.loses())
    }

    /// What changes as it is at `now`, which does not fall from call to call.
    pub fn sample_changes(&mut self, now: Time) -> ChangesSample {
        let departure_s = self.last.departure;
        self.changes().map_or_else(ChangesSample::default, |changes| changes.sample(now.seconds(), departure_s))
    }

    /// Whose departures these are.
    #[inline]
    #[must_use]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// When the run ends.
    #[must_use]
    pub fn end(&self) -> Time {
        Time::new(self.end)
    }

    /// Whether the run ends before `time`, or then.
    #[inline]
    #[must_use]
    pub fn ends_before(&self, time: Time) -> bool {
        time.seconds() >= self.end
    }

    #[inline]
    fn timing(&mut self, size: u32) -> &mut Timing {
        if self.recent.size == size { &mut self.recent } else { self.other_timing(size) }
    }

    /// Of another size. If most packets have that size, it comes to the front; not at each change of sizes, for what
    /// was just counted in part and then moved as a whole makes a processor wait.
    fn other_timing(&mut self, size: u32) -> &mut Timing {
        let previous = self.rare.timing(size);
        // Never where something changes, so that the common path is that of links where nothing does.
        if previous.count > 2 * self.recent.count && previous.transmission_s < f64::INFINITY {
            std::mem::swap(&mut self.recent, previous);
            return &mut self.recent;
        }
        previous
    }

    /// When a packet whose service began at `start` reaches the other end, where nothing changes.
    #[inline]
    pub fn delivery(&self, start: Time, size: u32) -> Time {
        if self.recent.size == size { start + self.recent.crossing_s } else { self.rare.delivery(start, size) }
    }

    /// Forgets the departures that precede the event `now`, and counts those ahead.
    #[inline(always)]
    pub fn advance(&mut self, now: Key) -> usize {
        if self.last.precedes(now, self.entity) {
            self.ahead.clear();
            return 0;
        }
        while self.ahead.front().is_some_and(|granted| granted.precedes(now, self.entity)) {
            self.ahead.pop_front();
        }
        self.ahead.len() + 1
    }

    /// A packet of `size` bytes, which may be marked if it is `capable`, arrives at `now`: when it is served.
    ///
    /// # Errors
    /// The queue refuses it.
    #[inline(always)]
    pub fn offer(&mut self, now: Key, size: u32, capable: bool) -> Result<Service, Refusal> {
        let packets = self.advance(now);
        let marked = packets >= self.unasked as usize && self.ask(now.time, packets, size, capable)?;
        Ok(Service { marked, ..self.grant(now, packets, size) })
    }

    /// Asks the queue: whether it marks the packet.
    #[cold]
    #[inline(never)]
    fn ask(&mut self, now: Time, packets: usize, size: u32, capable: bool) -> Result<bool, Refusal> {
        let arrival = self.arrival(now, packets, size, capable);
        let rare = &mut *self.rare;
        let verdict = rare.queue.admit(&arrival);
        if let Verdict::Refuse(refusal) = verdict {
            rare.dropped += u64::from(refusal != Refusal::Elsewhere);
            return Err(refusal);
        }
        if rare.needs.bytes {
            rare.sizes.push_back(size);
            rare.bytes_ahead += u64::from(size);
        }
        rare.marked += u64::from(verdict == Verdict::Mark);
        Ok(verdict == Verdict::Mark)
    }

    /// What a packet finds that arrives while `packets` are ahead.
    fn arrival(&mut self, now: Time, packets: usize, size: u32, capable: bool) -> Arrival {
        let (bytes, serving_bytes) = if self.rare.needs.bytes { self.bytes_ahead(packets) } else { (0, 0) };
        let mut free_s = self.last.departure;
        if let Rare { changes: Some(changes), needs, .. } = &mut *self.rare
            && needs.free_line
        {
            free_s = changes.believed_free_s(now.seconds(), free_s);
        }
        Arrival { now, packets, bytes, serving_bytes, free_s, size, capable }
    }

    /// A packet of `size` bytes enters the line at `now`, whatever the queue says: it has waited elsewhere.
    pub fn transmit(&mut self, now: Key, size: u32) -> Service {
        let packets = self.advance(now);
        if self.last.departure == now.time.seconds()
            && let Some(changes) = &mut self.rare.changes
        {
            changes.follow();
        }
        self.grant(now, packets, size)
    }

    /// Bytes of the `packets` packets ahead, and of the first of them.
    fn bytes_ahead(&mut self, packets: usize) -> (u64, u64) {
        let Rare { sizes, bytes_ahead, .. } = &mut *self.rare;
        while sizes.len() > packets
            && let Some(gone) = sizes.pop_front()
        {
            *bytes_ahead -= u64::from(gone);
        }
        (*bytes_ahead, sizes.front().map_or(0, |&size| u64::from(size)))
    }

    /// Books the next free slot of the line. Totals are booked at once, cut off at the end of the run,
    /// so that none needs a second visit.
    #[inline(always)]
    fn grant(&mut self, at: Key, packets: usize, size: u32) -> Service {
        let now = at.time.seconds();
        let timing = self.timing(size);
        timing.count += 1;
        let (transmission_s, crossing_s) = (timing.transmission_s, timing.crossing_s);
        let last = Granted { departure: self.last.departure, start: self.last.start, precedence: self.last.precedence };
        let (start, precedence) = if packets == 0 {
            // Its service is caused by its arrival …
            if now > last.departure {
                self.busy_since = now;
            }
            (now, at.precedence_of_effects())
        } else {
            // … or by the departure of the packet before it.
            let start = last.departure;
            let precedence = Precedence::of(start - last.start);
            self.ahead.push_back(last);
            self.most_waiting = self.most_waiting.max(packets as u32);
            (start, precedence)
        };
        let (mut departure, mut delivery) = (start + transmission_s, start + crossing_s);
        if departure >= self.end {
            (departure, delivery) = self.end_beyond(now, start, size, (departure, delivery));
        } else if packets > 0 {
            self.note_wait(start - now);
        }
        self.last = Granted { departure, start, precedence };
        let (departure, delivery) = (Time::new(departure), Time::new(delivery));
        Service { start: Time::new(start), departure, delivery, precedence, marked: false }
    }

    /// A packet has waited for so long when its transmission begins.
    #[inline]
    fn note_wait(&mut self, wait_s: f64) {
        self.waiting_s += wait_s;
        if wait_s > ROUNDED_S {
            self.waits.add(wait_s);
        }
    }

    /// A service that seems to end after the run: where something changes it does only if the link says so, too, and what is
    /// first in line may have to wait.
    #[cold]
    fn end_beyond(&mut self, now: f64, start: f64, size: u32, mut times: (f64, f64)) -> (f64, f64) {
        let mut begun = start;
        if let Some(changes) = &mut self.rare.changes {
            times = changes.grant(now, start, size);
            begun = changes.begun_s();
            self.most_waiting = self.most_waiting.max(changes.waiting(now) as u32);
        }
        if begun < self.end {
            self.note_wait(begun - now);
        } else {
            self.note_waiting(now);
        }
        if times.0 >= self.end {
            self.note_late(size);
        }
        times
    }

    /// A packet that came at `now` still waits when the run ends.
    #[cold]
    fn note_waiting(&mut self, now: f64) {
        let still = &mut self.rare.still_waiting;
        // They are the last that come.
        let before_s = if still.0 == 0 { self.waiting_s } else { still.1 };
        *still = (still.0 + 1, before_s + (self.end - now));
    }

    /// The service just granted does not end before the run does.
    fn note_late(&mut self, size: u32) {
        let late = &mut self.rare.late;
        late.0 += 1;
        late.1 += u64::from(size);
    }
}

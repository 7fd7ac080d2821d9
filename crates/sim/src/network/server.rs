//! A transmitter with its waiting line, as times only: it holds no packets and makes no events, so
//! that the simulator and the real-time relay use the same code and the same tests.
//!
//! The departures of a first-in-first-out server are known when a packet arrives. What remains to be
//! kept is which of them lie ahead, to know whether the queue is full; [`Server::advance`] forgets
//! those that precede an event.

use crate::events::{Entity, Key, Precedence};
use crate::network::queue::{Arrival, Queue};
use crate::ring::Ring;
use crate::scenario::FramingSpec;
use crate::time::Time;

/// When a packet is served, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// Its first bit enters the line.
    pub start: Time,
    /// Its last bit has left.
    pub departure: Time,
    /// The precedence of its departure and of its delivery.
    pub precedence: Precedence,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    departure: f64,
    start: f64,
    precedence: Precedence,
}

/// What a server did, up to the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerTotals {
    /// Packets offered.
    pub packets_in: u64,
    /// Packets whose transmission ended.
    pub packets_out: u64,
    /// Packets refused.
    pub packets_dropped: u64,
    /// Bytes, without framing, of the packets whose transmission ended.
    pub bytes_out: u64,
    /// Time spent transmitting, in seconds.
    pub busy_s: f64,
    /// Time that packets waited, summed over packets, in seconds.
    pub waiting_s: f64,
    /// Most packets waiting at once, without the one in service.
    pub queue_max_packets: u64,
}

/// A FIFO server of constant rate with a finite waiting line.
#[derive(Clone, Debug)]
pub struct Server {
    /// Departures that lie ahead, in order.
    ahead: Ring<Pending>,
    /// End of the last service granted.
    free_at: f64,
    /// Its start.
    last_start: f64,
    /// Start of the current busy period.
    busy_since: f64,
    rate_bps: f64,
    delay_s: f64,
    framing: FramingSpec,
    /// Transmission times of the two sizes seen last: data and ACKs, on most links.
    recent: [(u32, f64); 2],
    queue: Queue,
    /// Sizes beside `ahead` and their sum, kept for a queue that counts bytes.
    sizes: Ring<u32>,
    bytes_ahead: u64,
    counts_bytes: bool,
    entity: Entity,
    end: f64,
    totals: ServerTotals,
}

impl Server {
    /// An idle server. Totals count what happens before `end`.
    #[must_use]
    pub fn new(entity: Entity, rate_bps: f64, delay_s: f64, framing: FramingSpec, queue: Queue, end: Time) -> Self {
        Self {
            counts_bytes: queue.counts_bytes(),
            ahead: Ring::default(),
            free_at: 0.0,
            last_start: 0.0,
            busy_since: 0.0,
            rate_bps,
            delay_s,
            framing,
            recent: [(u32::MAX, 0.0); 2],
            queue,
            sizes: Ring::default(),
            bytes_ahead: 0,
            entity,
            end: end.seconds(),
            totals: ServerTotals::default(),
        }
    }

    /// Whose departures these are.
    #[must_use]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// What was done so far.
    #[must_use]
    pub fn totals(&self) -> &ServerTotals {
        &self.totals
    }

    /// Seconds that a packet of `size` bytes occupies the line.
    #[inline]
    pub fn transmission_s(&mut self, size: u32) -> f64 {
        if self.recent[0].0 == size {
            return self.recent[0].1;
        }
        if self.recent[1].0 != size {
            let frame = (size + self.framing.overhead_bytes).max(self.framing.smallest_bytes);
            // ns-2's order: eight times the bytes, then the division.
            self.recent[1] = (size, 8.0 * f64::from(frame) / self.rate_bps);
        }
        self.recent.swap(0, 1);
        self.recent[0].1
    }

    /// When a packet whose service began at `start` reaches the other end.
    #[inline]
    pub fn delivery(&mut self, start: Time, size: u32) -> Time {
        // ns-2 schedules the delivery `transmission + delay` after the start: one addition each.
        start + (self.transmission_s(size) + self.delay_s)
    }

    /// Forgets the departures that precede the event `now`: those with a smaller key.
    #[inline]
    pub fn advance(&mut self, now: Key) {
        while let Some(&Pending { departure, start, precedence }) = self.ahead.front() {
            if departure > now.time.seconds() {
                break;
            }
            if departure == now.time.seconds() && Key::new(now.time, Time::new(start), precedence, self.entity) >= now {
                break;
            }
            self.ahead.pop_front();
            if self.counts_bytes {
                self.bytes_ahead -= u64::from(self.sizes.pop_front().unwrap_or(0));
            }
        }
    }

    /// Packets waiting, without the one in service, as of the last `advance`.
    #[inline]
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.ahead.len().saturating_sub(1)
    }

    /// Whether the line transmits, as of the last `advance`.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// A packet of `size` bytes arrives at `now`: when it is served, or nothing if it is dropped.
    #[inline]
    pub fn offer(&mut self, now: Key, size: u32) -> Option<Service> {
        self.advance(now);
        self.totals.packets_in += 1;
        let in_system = self.ahead.len();
        let arrival = Arrival { now: now.time, packets: in_system, bytes: self.bytes_ahead, size };
        if !self.queue.admit(&arrival) {
            self.totals.packets_dropped += 1;
            return None;
        }
        Some(self.grant(now, in_system, size))
    }

    /// Books the next free slot of the line.
    #[inline]
    fn grant(&mut self, at: Key, in_system: usize, size: u32) -> Service {
        let now = at.time.seconds();
        let start = if now > self.free_at { now } else { self.free_at };
        if start > self.free_at {
            self.busy_since = start;
        }
        // Its service is caused by its arrival, or by the departure of the packet before it.
        let precedence =
            if in_system == 0 { at.precedence_of_effects() } else { Precedence::of(start - self.last_start) };
        let departure = start + self.transmission_s(size);
        self.free_at = departure;
        self.last_start = start;
        self.ahead.push_back(Pending { departure, start, precedence });
        if self.counts_bytes {
            self.sizes.push_back(size);
            self.bytes_ahead += u64::from(size);
        }
        self.count(now, start, departure, in_system, size);
        Service { start: Time::new(start), departure: Time::new(departure), precedence }
    }

    /// Books the totals at once, cut off at the end of the run, so that none needs a second visit.
    #[inline]
    fn count(&mut self, now: f64, start: f64, departure: f64, in_system: usize, size: u32) {
        let totals = &mut self.totals;
        totals.queue_max_packets = totals.queue_max_packets.max(in_system as u64);
        if departure < self.end {
            totals.packets_out += 1;
            totals.bytes_out += u64::from(size);
            totals.busy_s += departure - start;
            totals.waiting_s += start - now;
        } else {
            totals.busy_s += (self.end - start).max(0.0);
            totals.waiting_s += start.min(self.end) - now;
        }
    }

    /// Time spent transmitting before `now`, in seconds. Services granted and not over are cut off.
    #[must_use]
    pub fn busy_until(&self, now: Time) -> f64 {
        // The services ahead follow one another without a pause.
        let overhang = (self.free_at.min(self.end) - now.seconds()).max(0.0);
        self.totals.busy_s - if self.is_busy() { overhang } else { 0.0 }
    }

    /// Whether the line has been busy without a pause from `since` to `now`.
    #[inline]
    #[must_use]
    pub fn busy_throughout(&self, since: Time, now: Time) -> bool {
        self.busy_since <= since.seconds() && self.free_at >= now.seconds()
    }
}

//! What one may ask of a server at a time.

use super::Server;
use super::service::Granted;
use crate::events::Key;
use crate::network::queue::Arrival;
use crate::network::wire::Wire;
use crate::time::Time;

impl Server {
    /// Whether the queue takes a packet of `size` bytes where nothing is ahead of it.
    #[must_use]
    pub fn takes_alone(&self, size: u32) -> bool {
        let (now, free_s) = (Time::ZERO, self.last.departure);
        self.rare.queue.has_room(&Arrival { now, packets: 0, bytes: 0, serving_bytes: 0, free_s, size, capable: false })
    }

    /// When there will be room, perhaps, for a packet for which there is none at `now`: at the next departure.
    /// Nothing if there is room, or if nothing is ahead that could make some.
    #[cold]
    pub fn next_room(&mut self, now: Key, size: u32) -> Option<Key> {
        let packets = self.advance(now);
        let arrival = self.arrival(now.time, packets, size, false);
        if packets == 0 || self.rare.queue.has_room(&arrival) {
            return None;
        }
        let next = *self.ahead.front().unwrap_or(&self.last);
        Some(self.key_of(next))
    }

    fn key_of(&self, Granted { departure, start, precedence }: Granted) -> Key {
        Key::new(Time::new(departure), Time::new(start), precedence, self.entity)
    }

    /// The departure of the last packet that was put on the line: it is free from then on. There was one.
    #[must_use]
    pub fn free(&self) -> Key {
        self.key_of(self.last)
    }

    /// Elsewhere, where it is at work, nothing more is granted that begins before `start_s`.
    pub fn was_granted(&mut self, start_s: f64) {
        self.last.departure = self.last.departure.max(start_s);
    }

    /// When the packet begins to be transmitted that was put on the line last, at `start`.
    #[must_use]
    pub fn begun(&self, start: Time) -> Time {
        self.rare.changes.as_ref().map_or(start, |changes| Time::new(changes.begun_s()))
    }

    /// Packets waiting at `now`, without the one in service.
    pub fn waiting(&mut self, now: Key) -> usize {
        match &mut self.rare.changes {
            None => self.advance(now).saturating_sub(1),
            Some(changes) => changes.waiting(now.time.seconds()),
        }
    }

    /// Whether the line has been busy without a pause from `since` to `now`.
    #[inline]
    #[must_use]
    pub fn busy_throughout(&self, since: Time, now: Time) -> bool {
        self.busy_since <= since.seconds() && self.last.departure >= now.seconds()
    }

    /// Seconds from `now` until all that was granted has been sent.
    #[must_use]
    pub fn backlog_s(&self, now: Time) -> f64 {
        (self.last.departure - now.seconds()).max(0.0)
    }

    /// Seconds that so many packets of so many bytes in all will occupy the line when it is free, if none is padded.
    #[must_use]
    pub fn occupied_s(&self, packets: usize, bytes: u64) -> f64 {
        match &self.rare.changes {
            None => self.rare.wire.occupied_s(packets, bytes),
            Some(changes) => changes.occupied_s(self.last.departure.max(0.0), packets, bytes),
        }
    }

    /// How long packets take.
    #[must_use]
    pub fn wire(&self) -> &Wire {
        &self.rare.wire
    }
}

//! Packets on a wire: which comes out next, and when.

use super::out_of_order::OutOfOrder;
use super::{Link, Rare};
use crate::events::Key;
use crate::packet::Packet;
use crate::time::Time;

/// How packets come out of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// In the order in which they went in, at times that follow from when their service began.
    Kept,
    /// In that order, at times that are noted.
    Noted,
    /// In any order, or twice.
    Free,
}

impl Link {
    /// Whether packets are on their way that keep to their order, of which the first is announced.
    #[inline]
    #[must_use]
    pub fn is_announced(&self) -> bool {
        !self.flight.is_empty()
    }

    /// Whether packets need not come out in the order in which they went in, or come out twice.
    #[inline]
    #[must_use]
    pub fn reorders(&self) -> bool {
        self.order == Order::Free
    }

    /// It ends in another part of the network: each delivery is noted there, and none here.
    pub fn end_elsewhere(&mut self) {
        if self.order == Order::Kept {
            self.order = Order::Noted;
        }
    }

    /// A packet that was granted a service is on its way and comes out at `delivery`: whether that is to be announced. Each
    /// is where they do not keep to their order; else the first, and each when the one before it has come out.
    #[inline]
    pub fn keep(&mut self, packet: Packet, delivery: Key) -> bool {
        if self.notes_deliveries() {
            let (stamp, identity, state) = packet.words();
            self.note(stamp, identity, state, packet.start, delivery.time.seconds())
        } else {
            self.follow(packet)
        }
    }

    /// Whether each delivery is noted as it is granted, since it does not follow from the beginning of its service.
    #[inline]
    #[must_use]
    pub fn notes_deliveries(&self) -> bool {
        self.order != Order::Kept
    }

    /// A packet is on its way that comes out when its delivery says: whether it is the first.
    #[inline(always)]
    pub fn follow(&mut self, packet: Packet) -> bool {
        let first = self.flight.is_empty();
        self.flight.push_back(packet);
        first
    }

    /// A packet, in words, so that nobody who keeps one must have it in memory for this, comes out at `delivery_s`.
    #[cold]
    #[inline(never)]
    fn note(&mut self, stamp: u64, identity: u64, state: u64, start_s: f64, delivery_s: f64) -> bool {
        let packet = Packet::under_way((stamp, identity, state), start_s);
        if let Some(out_of_order) = &mut self.rare.out_of_order {
            let (at, entity) = (Time::new(delivery_s), self.server.entity());
            out_of_order.keep(packet, Key::new(at, Time::new(start_s), packet.precedence(), entity));
            return true;
        }
        self.rare.deliveries.push_back(delivery_s);
        self.follow(packet)
    }

    /// Asks for the packet that comes out next.
    #[inline]
    pub fn prefetch_follower(&self) {
        self.flight.prefetch();
    }

    /// The packet that was granted a service last and comes out at `delivery` comes out twice: when the second time.
    #[inline]
    pub fn duplicate(&mut self, packet: &Packet, delivery: Key) -> Option<Key> {
        if self.reorders() { self.draw_duplicate(packet.size(), delivery) } else { None }
    }

    #[cold]
    fn draw_duplicate(&mut self, size: u32, delivery: Key) -> Option<Key> {
        let out_of_order = self.rare.out_of_order.as_mut()?;
        // As soon as a line of this rate could bring it.
        let at = delivery.time + self.server.wire().transmission_s(size);
        let begun = delivery.caused_at.seconds() >= self.rare.begins_s;
        if !begun || !out_of_order.duplicates() || self.server.ends_before(at) {
            return None;
        }
        out_of_order.count_copy();
        Some(Key::new(at, delivery.caused_at, delivery.precedence(), self.server.entity()))
    }

    /// Takes the packet that comes out next.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        if self.notes_deliveries() { self.take_noted() } else { self.take_follower() }
    }

    /// The same, where deliveries are not noted.
    #[inline(always)]
    pub fn take_follower(&mut self) -> Option<Packet> {
        self.flight.pop_front()
    }

    fn take_noted(&mut self) -> Option<Packet> {
        let Rare { out_of_order, deliveries, .. } = &mut *self.rare;
        if let Some(out_of_order) = out_of_order {
            return out_of_order.take();
        }
        deliveries.pop_front();
        self.flight.pop_front()
    }

    /// The next packet comes out in `epoch`: whether somebody must be told to look at it then.
    pub fn is_awaited(&mut self, epoch: u64) -> bool {
        self.rare.out_of_order.as_mut().is_none_or(|out_of_order| out_of_order.is_awaited(epoch))
    }

    /// Somebody looks at it in `epoch`.
    pub fn seen(&mut self, epoch: u64) {
        if let Some(out_of_order) = &mut self.rare.out_of_order {
            out_of_order.seen(epoch);
        }
    }

    /// The key of the next delivery, if a packet is in flight.
    #[inline]
    #[must_use]
    pub fn next_delivery(&self) -> Option<Key> {
        if self.reorders() {
            return self.rare.out_of_order.as_ref().and_then(OutOfOrder::next);
        }
        self.next_in_order()
    }

    /// The same, if packets keep to their order: it is to be announced when the one before it has come out.
    #[inline]
    #[must_use]
    pub fn next_in_order(&self) -> Option<Key> {
        if !self.notes_deliveries() {
            return self.next_follower();
        }
        let (packet, &delivery) = self.flight.front().zip(self.rare.deliveries.front())?;
        let start = Time::new(packet.start);
        Some(Key::new(Time::new(delivery), start, packet.precedence(), self.server.entity()))
    }

    /// The packet that comes out next, where deliveries are not noted.
    #[must_use]
    pub fn follower(&self) -> Option<&Packet> {
        self.flight.front()
    }

    /// When that is.
    #[inline(always)]
    #[must_use]
    pub fn next_follower(&self) -> Option<Key> {
        let packet = self.flight.front()?;
        let (start, precedence) = (Time::new(packet.start), packet.precedence());
        Some(Key::new(self.server.delivery(start, packet.size()), start, precedence, self.server.entity()))
    }
}

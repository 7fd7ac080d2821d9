//! The network below transports, as they see it: all that their ends ask of what runs them, whichever engine
//! that is.

use crate::events::{EventQueue, Key};
use crate::packet::Packet;
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

/// Where timers have their events.
pub trait Schedule {
    /// Has `event` come in its turn. It cannot be taken back.
    fn schedule(&mut self, event: Key);
}

impl Schedule for EventQueue {
    #[inline]
    fn schedule(&mut self, event: Key) {
        self.push(event);
    }
}

/// A network between the two ends of a flow. Unless it says otherwise, no host has to wait for its interface, and
/// nobody asks what links do.
pub trait Network: Schedule {
    /// Puts a packet to the first stop of its path.
    fn send(&mut self, packet: Packet, now: Key);

    /// Where the SACK blocks of ACKs in flight lie.
    fn ack_options(&mut self) -> &mut AckOptionSlab;

    /// Whether any host has an interface that may not take a packet now.
    #[inline]
    fn pushes_back(&self) -> bool {
        false
    }

    /// Whether the interface of a flow's host takes a packet of `size` bytes from it at `now`. If not, the flow
    /// is told to resume when it is its turn.
    #[inline]
    fn takes(&mut self, _flow: u32, _size: u32, _now: Key) -> bool {
        true
    }

    /// Whether a hop of a flow's path was busy throughout the round trip that the ACK of the packet `seq` ends.
    #[inline]
    #[must_use]
    fn was_full(&self, _flow: u32, _seq: i32) -> bool {
        false
    }

    /// Until `until`, the sending end of a flow does nothing but react to ACKs.
    #[inline]
    fn only_reacts(&mut self, _flow: u32, _until: impl FnOnce() -> Time) {}

    /// Brings what is known of a link up to `now`.
    #[inline]
    fn catch_up(&mut self, _link: u32, _now: Key) {}

    /// Whether a link had something to transmit throughout, from `since` to `now`, up to which it has been
    /// brought ([`Network::catch_up`]).
    #[inline]
    #[must_use]
    fn busy_throughout(&self, _link: u32, _since: Time, _now: Time) -> bool {
        false
    }
}

/// A network in which the first queue of a path holds back a source that sends as fast as it can, instead of
/// dropping what it sends.
pub trait Backpressure: Network {
    /// Whether the first stop of a flow, be it an interface or a queue, takes a packet of `size` bytes at `now`.
    /// If not, the flow is told to resume when it is its turn.
    fn takes_or_wakes(&mut self, flow: u32, size: u32, now: Key) -> bool;
}

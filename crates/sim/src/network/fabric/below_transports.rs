//! The fabric as transports see it.

use crate::events::Key;
use crate::network::fabric::{Fabric, Place};
use crate::packet::Packet;
use crate::probe::{Probe, Seen};
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;
use crate::transport::network::{Backpressure, Network, Schedule};

impl<P> Schedule for Fabric<P> {
    #[inline]
    fn schedule(&mut self, event: Key) {
        self.queue.push(event);
    }
}

impl<P: Probe> Network for Fabric<P> {
    // In line, so that a packet stays in registers from where it is made.
    #[inline(always)]
    fn send(&mut self, packet: Packet, now: Key) {
        let position = self.spraying.begin(&self.paths, packet.flow(), packet.is_reverse());
        if let Some(link) = self.paths.at(position).server() {
            let packet = packet.departing(position);
            self.probe.sent(now, Seen::new(&packet, &self.paths), &self.ack_options);
            self.offer(link, packet, now);
        }
    }

    #[inline]
    fn ack_options(&mut self) -> &mut AckOptionSlab {
        &mut self.ack_options
    }

    #[inline]
    fn pushes_back(&self) -> bool {
        !self.nodes.list.is_empty()
    }

    fn takes(&mut self, flow: u32, size: u32, now: Key) -> bool {
        !matches!(self.place(self.first_stop(flow)), Place::Processor(_)) || self.takes_or_wakes(flow, size, now)
    }

    fn was_full(&self, flow: u32, seq: i32) -> bool {
        self.saturation.is_full(flow, seq)
    }

    #[inline]
    fn only_reacts(&mut self, flow: u32, until: impl FnOnce() -> Time) {
        if let Some(link) = self.lookahead.acks_on(flow) {
            self.links[link as usize].ahead.host_reacts_until = until();
        }
    }

    #[inline]
    fn catch_up(&mut self, link: u32, now: Key) {
        self.catch_up(link, now);
    }

    fn busy_throughout(&self, link: u32, since: Time, now: Time) -> bool {
        self.busy_throughout(link, since, now)
    }
}

impl<P: Probe> Backpressure for Fabric<P> {
    fn takes_or_wakes(&mut self, flow: u32, size: u32, now: Key) -> bool {
        self.takes_or_wakes(flow, size, now)
    }
}

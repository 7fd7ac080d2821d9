//! The fabric as transports see it.

use crate::events::Key;
use crate::network::fabric::Fabric;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use crate::transport::network::{Backpressure, Network, Schedule};
use crate::transport::sack::SackSlab;

impl<P> Schedule for Fabric<P> {
    #[inline]
    fn schedule(&mut self, event: Key) {
        self.queue.push(event);
    }
}

impl<P: Probe> Network for Fabric<P> {
    #[inline(always)]
    fn send(&mut self, packet: Packet, now: Key) {
        self.send(packet, now);
    }

    #[inline]
    fn sacks(&mut self) -> &mut SackSlab {
        &mut self.sacks
    }

    #[inline]
    fn pushes_back(&self) -> bool {
        self.pushes_back()
    }

    fn takes(&mut self, flow: u32, size: u32, now: Key) -> bool {
        self.takes(flow, size, now)
    }

    fn was_full(&self, flow: u32, seq: i32) -> bool {
        self.saturation.is_full(flow, seq)
    }

    #[inline]
    fn note_one_way_delay(&mut self, flow: u32, delay_s: f64) {
        self.delays.note_one_way(flow, delay_s);
    }

    #[inline]
    fn note_rtt(&mut self, flow: u32, rtt_s: f64) {
        self.delays.note_rtt(flow, rtt_s);
    }

    #[inline]
    fn only_reacts(&mut self, flow: u32, until: impl FnOnce() -> Time) {
        if let Some(link) = self.lookahead.acks_on(flow) {
            self.links[link as usize].host_reacts_until = until();
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

//! What lies around a link in a part of the network that is processed epoch by epoch.

use super::clock::{Clock, Epoch};
use super::exchange::Export;
use super::flows::FlowHosts;
use super::inbox::Arrival;
use super::scatter::Scatter;
use super::users::outlet::Router;
use crate::events::Key;
use crate::network::link::{Link, Passage};
use crate::network::managed::Surroundings;
use crate::network::queue::{FlowKey, Refusal};
use crate::network::server::{Server, Service};
use crate::packet::Packet;
use crate::time::Time;
use crate::transport::sack::SackSlab;

/// A part of the network around one of its links.
pub struct Beyond<'a> {
    /// What comes after the link.
    pub router: Router<'a>,
    /// What comes out before this epoch continues at once; the rest is kept in the link.
    pub ahead: Epoch,
    /// Where epochs begin.
    pub clock: Clock,
    /// What goes to each other part.
    pub messages: &'a mut [Vec<Export>],
    /// Groups of nodes that send to each other.
    pub scatter: &'a mut [Scatter],
    /// The hosts of flows, where there are any.
    pub flows: Option<&'a mut FlowHosts>,
    /// SACK blocks of the ACKs in flight.
    pub sacks: &'a mut SackSlab,
}

impl Beyond<'_> {
    /// Whose a packet is.
    pub fn key(&self, packet: &Packet) -> FlowKey {
        match &self.flows {
            Some(flows) if !packet.is_addressed() => flows.key(packet),
            _ => FlowKey::of_address(packet),
        }
    }

    /// A packet that the link has served continues to its next stop at once, or is kept until it comes out.
    #[inline]
    fn deliver(&mut self, link: &mut Link, packet: Packet, delivery: Key) {
        let epoch = self.clock.epoch(delivery.time);
        if epoch < self.ahead {
            self.router.pass_on(epoch, Arrival::served(delivery.time, packet, link.server.entity()));
        } else {
            link.keep(packet, delivery);
        }
    }

    /// The copy of a packet that the link has served comes out at `delivery`.
    #[cold]
    fn duplicate(&mut self, link: &mut Link, packet: Packet, delivery: Key, service: &Service) {
        if let Some(group) = self.scatter.iter_mut().find(|group| packet.is_addressed() && group.has(&packet)) {
            group.duplicate(service.delivery);
        }
        let copy = self.sacks.copy(packet);
        self.deliver(link, copy, delivery);
    }

    #[cold]
    fn lose(&mut self, packet: &Packet, at: Time) {
        if let Some(handle) = packet.blocks() {
            self.sacks.discard(handle);
        }
        if packet.is_addressed() {
            if let Some(group) = self.scatter.iter_mut().find(|group| group.has(packet)) {
                group.lose(at);
            }
        } else if let Some(flows) = &mut self.flows {
            flows.lose(packet);
        }
    }
}

impl Surroundings for Beyond<'_> {
    const SEES_DEPARTURES: bool = false;

    fn joins(&mut self, _: &Packet, _: Key) {}

    fn loses(&mut self, packet: &Packet, at: Key, _: Refusal, _: bool) {
        self.lose(packet, at.time);
    }

    #[inline]
    fn enters_line(&mut self, packet: &Packet, at: Key, server: &Server) {
        if packet.ends_round()
            && let Some(flows) = &mut self.flows
        {
            let full = flows.saturation.pass(*packet, at.time, || server.busy_until(at.time));
            if let Some((full, part)) = full.zip(flows.sender_elsewhere(packet)) {
                self.messages[part as usize].push(Export::Full(full));
            }
        }
    }

    #[inline]
    fn served(&mut self, link: &mut Link, packet: Packet, passage: Passage, service: &Service) {
        match passage {
            Passage::Through => {
                let delivery = service.delivery_key(link.server.entity());
                if let Some(again) = link.duplicate(&packet, delivery) {
                    self.duplicate(link, packet, again, service);
                }
                self.deliver(link, packet, delivery);
            }
            Passage::Late => {}
            Passage::Lost => self.lose(&packet, service.delivery),
        }
    }

    /// Links that hold packets are looked at when the epoch of the next decision begins.
    fn wake(&mut self, _: Key) {}
}

//! What lies around a link or a processor in a part of the network that is processed epoch by epoch.

use super::clock::{Clock, Epoch};
use super::flows::FlowHosts;
use super::inbox::Arrival;
use super::notes::{Notes, Place, What};
use super::region::Export;
use super::scatter::{Scatter, ScatterCounts};
use super::users::outlet::Router;
use crate::events::{Entity, Key};
use crate::network::letter::Letter;
use crate::network::link::managed::Surroundings;
use crate::network::link::{Link, Passage};
use crate::network::node::Rings;
use crate::network::queue::{FlowKey, Refusal};
use crate::network::server::{Server, Service};
use crate::packet::Packet;
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

/// A part of the network around one of its links or processors.
pub struct Beyond<'a> {
    /// What comes after it.
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
    /// Options of the ACKs in flight.
    pub ack_options: &'a mut AckOptionSlab,
    /// Which it is.
    pub place: Place,
    /// The rings of processors.
    pub rings: &'a Rings,
    /// What a probe is told, where one watches.
    pub notes: Option<&'a mut Notes>,
    /// The event in which packets go on the line, where one watches.
    pub at: Key,
}

impl Beyond<'_> {
    /// Whose a packet is.
    pub fn key(&self, packet: &Packet) -> FlowKey {
        match &self.flows {
            Some(flows) if !packet.is_addressed() => flows.key(packet),
            _ => FlowKey::of_address(packet),
        }
    }

    /// A packet comes to it.
    #[inline]
    pub fn comes(&mut self, packet: &Packet, now: Key) {
        if let Some((notes, flows)) = self.notes.as_mut().zip(self.flows.as_ref()) {
            notes.arrives(now, packet, &flows.paths.paths, self.ack_options);
        }
    }

    /// The link, which decides on arrival, grants a packet a service.
    #[inline]
    pub fn grants(&mut self, packet: &Packet, now: Key, server: &Server, service: &Service) {
        self.ends_round(packet, now, || server.busy_until(now.time));
        if let Some(notes) = &mut self.notes {
            notes.add(now, self.place, packet, What::Enqueued(*service));
            self.at = now;
        }
    }

    /// A packet may end a round trip, for `busy_s` of which, in seconds since the begin of the run, it was busy.
    #[inline]
    pub fn ends_round(&mut self, packet: &Packet, at: Key, busy_s: impl FnOnce() -> f64) {
        if packet.ends_round()
            && let Some(flows) = &mut self.flows
        {
            let full = flows.saturation.pass(*packet, at.time, busy_s);
            if let Some((full, part)) = full.zip(flows.sender_elsewhere(packet)) {
                self.messages[part as usize].push(Export::Letter(Letter::Full(full)));
            }
        }
    }

    /// A packet that the link has served continues to its next stop at once, or is kept until it comes out.
    #[inline(always)]
    fn deliver(&mut self, link: &mut Link, packet: Packet, delivery: Key) {
        let epoch = self.clock.epoch(delivery.time);
        if epoch < self.ahead {
            self.router.pass_on(epoch, Arrival::served(delivery.time, packet, link.server.entity()));
        } else {
            link.keep(packet, delivery);
        }
    }

    /// The copy of a packet that the link has served, and that comes out `first`, comes out at `delivery`.
    #[cold]
    #[inline(never)]
    fn duplicate(&mut self, link: &mut Link, packet: Packet, delivery: Key, first: Time) {
        if let Some(counts) = self.counts_of(&packet, first) {
            counts.duplicated += 1;
        }
        let copy = self.ack_options.copy(packet);
        if let Some(notes) = &mut self.notes {
            notes.add(self.at, self.place, &copy, What::Duplicated);
        }
        self.deliver(link, copy, delivery);
    }

    /// A packet, in words, is lost that the link has served, when it would come out.
    #[cold]
    #[inline(never)]
    fn lose_under_way(&mut self, stamp: u64, identity: u64, state: u64, start: Time, delivery: Time, entity: Entity) {
        let packet = Packet::under_way((stamp, identity, state), start.seconds());
        let delivery = Key::new(delivery, start, packet.precedence(), entity);
        if let Some(notes) = &mut self.notes {
            notes.lost(delivery, self.place, &packet);
        }
        self.lose(&packet, delivery.time);
    }

    /// A packet is lost.
    #[cold]
    pub fn lose(&mut self, packet: &Packet, at: Time) {
        if let Some(handle) = packet.options() {
            self.ack_options.discard(handle);
        }
        if let Some(counts) = self.counts_of(packet, at) {
            counts.dropped += 1;
        } else if let Some(flows) = self.flows.as_mut().filter(|_| !packet.is_addressed()) {
            flows.lose(packet);
        }
    }

    /// Where a packet counts, at `at`, if it is a scattered datagram.
    fn counts_of(&mut self, packet: &Packet, at: Time) -> Option<&mut ScatterCounts> {
        let group = self.scatter.iter_mut().find(|group| packet.is_addressed() && group.has(packet))?;
        Some(group.counts.at(at))
    }
}

impl Surroundings for Beyond<'_> {
    const SEES_DEPARTURES: bool = false;

    fn joins(&mut self, packet: &Packet, at: Key) {
        if let Some(notes) = &mut self.notes {
            notes.add(at, self.place, packet, What::Queued);
        }
    }

    fn loses(&mut self, packet: &Packet, at: Key, refusal: Refusal, had_waited: bool) {
        if let Some(notes) = &mut self.notes {
            let reason = self.rings.drop_reason(self.place.0, refusal);
            notes.add(at, self.place, packet, if had_waited { What::Discarded(reason) } else { What::Dropped(reason) });
        }
        self.lose(packet, at.time);
    }

    #[inline]
    fn enters_line(&mut self, packet: &Packet, at: Key, busy_s: impl FnOnce() -> f64) {
        if let Some(notes) = &mut self.notes {
            notes.add(at, self.place, packet, What::Dequeued);
            self.at = at;
        }
        self.ends_round(packet, at, busy_s);
    }

    // What is seldom done takes words: a packet or a service whose address is taken is written to memory at every hop.
    #[inline(always)]
    fn served(&mut self, link: &mut Link, packet: Packet, passage: Passage, service: &Service) {
        match passage {
            Passage::Through => {
                let delivery = service.delivery_key(link.server.entity());
                if let Some(again) = link.duplicate(&packet, delivery) {
                    self.duplicate(link, packet, again, service.delivery);
                }
                self.deliver(link, packet, delivery);
            }
            Passage::Late => {}
            Passage::Lost => {
                let (stamp, identity, state) = packet.words();
                self.lose_under_way(stamp, identity, state, service.start, service.delivery, link.server.entity());
            }
        }
    }

    /// Links that hold packets are looked at when the epoch of the next decision begins.
    fn wake(&mut self, _: Key) {}
}

//! Links whose queue holds packets, among the events of a network.

use crate::events::{Entity, EventQueue, Key};
use crate::network::fabric::elsewhere::Elsewhere;
use crate::network::fabric::{Fabric, lose};
use crate::network::link::managed::Surroundings;
use crate::network::link::{Link, Passage};
use crate::network::node::Nodes;
use crate::network::queue::Refusal;
use crate::network::saturation::Saturation;
use crate::network::server::Service;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::probe::{Probe, Seen};
use crate::transport::ack_options::AckOptionSlab;

/// A network around one of its links.
pub(super) struct Around<'a, P> {
    index: u32,
    entity: Entity,
    queue: &'a mut EventQueue,
    nodes: &'a Nodes,
    paths: &'a Paths,
    ack_options: &'a mut AckOptionSlab,
    saturation: &'a mut Saturation,
    elsewhere: Option<&'a mut Elsewhere>,
    dropped: &'a mut [u64],
    probe: &'a mut P,
}

impl<P: Probe> Around<'_, P> {
    /// A packet that was granted a service is on its way, and perhaps a copy of it.
    pub(super) fn set_off(&mut self, link: &mut Link, packet: Packet, passage: Passage, delivery: Key) {
        if passage == Passage::Through || !self.ends_elsewhere() {
            self.leave(link, packet, delivery);
        } else if passage == Passage::Lost {
            lose(&packet, self.paths, self.ack_options, self.dropped);
        }
        if passage == Passage::Through
            && let Some(again) = link.duplicate(&packet, delivery)
        {
            let copy = self.ack_options.copy(packet);
            self.probe.duplicated(self.index, Seen::new(&copy, self.paths));
            self.leave(link, copy, again);
        }
    }

    fn ends_elsewhere(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.has_end(self.index))
    }

    /// A packet is on its way to the other end of the link, here or elsewhere.
    fn leave(&mut self, link: &mut Link, packet: Packet, delivery: Key) {
        match self.elsewhere.as_deref_mut().filter(|elsewhere| elsewhere.has_end(self.index)) {
            Some(elsewhere) => elsewhere.send(self.index, packet, delivery.time, self.ack_options),
            None if link.keep(packet, delivery) => self.queue.push(delivery),
            None => {}
        }
    }
}

impl<P: Probe> Surroundings for Around<'_, P> {
    const SEES_DEPARTURES: bool = P::SEES_PACKETS;

    fn joins(&mut self, packet: &Packet, at: Key) {
        self.probe.queued(at, self.index, Seen::new(packet, self.paths));
    }

    fn loses(&mut self, packet: &Packet, at: Key, refusal: Refusal, had_waited: bool) {
        let (seen, reason) = (Seen::new(packet, self.paths), self.nodes.rings.drop_reason(self.index, refusal));
        if had_waited {
            self.probe.discarded(at, self.index, seen, reason);
        } else {
            self.probe.dropped(at, self.index, seen, reason);
        }
        lose(packet, self.paths, self.ack_options, self.dropped);
    }

    fn enters_line(&mut self, packet: &Packet, at: Key, busy_s: impl FnOnce() -> f64) {
        self.probe.dequeued(at, self.index, Seen::new(packet, self.paths));
        if packet.ends_round() {
            let full = self.saturation.pass(*packet, at.time, busy_s);
            if let Some((full, elsewhere)) = full.zip(self.elsewhere.as_deref_mut()) {
                elsewhere.tell(full, self.paths.flow_at(packet.position()));
            }
        }
    }

    fn served(&mut self, link: &mut Link, packet: Packet, passage: Passage, service: &Service) {
        self.set_off(link, packet, passage, service.delivery_key(self.entity));
        // The delivery of one that others overtake is too late for the next to go.
        if P::SEES_PACKETS || link.reorders() {
            self.queue.push(service.departure_key(self.entity));
        }
    }

    fn wake(&mut self, at: Key) {
        self.queue.push(at);
    }
}

impl<P: Probe> Fabric<P> {
    /// A link, and the network around it.
    pub(super) fn around(&mut self, index: u32) -> (&mut Link, Around<'_, P>) {
        let Self { links, queue, nodes, paths, ack_options, saturation, elsewhere, dropped, probe, first_link, .. } =
            self;
        let entity = *first_link + index;
        (
            &mut links[index as usize],
            Around {
                index,
                entity,
                queue,
                nodes,
                paths,
                ack_options,
                saturation,
                elsewhere: elsewhere.as_deref_mut(),
                dropped,
                probe,
            },
        )
    }

    /// Makes the decisions of a link, if its queue makes any at departures, that precede `now`.
    #[inline]
    pub fn catch_up(&mut self, index: u32, now: Key) {
        if self.links.get(index as usize).is_some_and(|link| link.managed.is_some()) {
            self.sample_before(index, now.time);
            let (link, mut around) = self.around(index);
            link.decide_until(now, &mut around);
        }
    }

    /// The run is over: nothing happens from its end on.
    pub fn finish(&mut self) {
        for index in 0..self.links.len() as u32 {
            self.catch_up(index, Key::planned(self.end, 0));
        }
        self.probe.finish(self.end);
    }
}

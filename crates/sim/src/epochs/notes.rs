//! What a probe is told of packets: noted stop by stop, and told in the order of events.
//!
//! An event of a link or a host is one key, and what happens in it to a packet lies at one stop, but for its arrival there. So
//! the notes of all parts, sorted by their keys, are what the loop over events would have told.

use crate::events::{Entity, Key};
use crate::network::server::Service;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::probe::{DropReason, Probe, Seen};
use crate::time::Time;
use crate::transport::ack_options::{AckOptionSlab, AckOptions};

/// What happened to a packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A transport sent it, an ACK with these options.
    Sent(Option<AckOptions>),
    Received,
    /// A link that knows its departures has granted it a service.
    Enqueued(Service),
    /// It joined a queue that holds it.
    Queued,
    /// It enters the line from such a queue.
    Dequeued,
    /// It was lost after it had waited there.
    Discarded(DropReason),
    Dropped(DropReason),
    /// It will come out twice; this is the copy.
    Duplicated,
    /// It came into the ring of a processor.
    Joined,
    /// A processor has served it.
    Left,
}

/// One thing to tell.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    key: Key,
    /// Within its event: the decisions of a link at a departure, which may have the key of a delivery; the end of the link
    /// behind the packet; what follows from it.
    step: u8,
    /// The number of the link, or the processor's among stops.
    link: u32,
    packet: Packet,
    what: What,
}

/// What was not told yet.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    list: Vec<Note>,
}

/// A link or a processor, by its number and its entity, of which something is noted.
pub type Place = (u32, Entity);

impl Notes {
    /// A packet comes to a stop of its path: off the link or the processor before, or from its transport.
    pub fn arrives(&mut self, key: Key, packet: &Packet, paths: &Paths, ack_options: &AckOptionSlab) {
        let (packet, before) = (*packet, paths.before(packet.position()));
        let (step, link, what) = match before {
            Some(link) if link < paths.number_of_links() => (1, link, What::Received),
            // With what follows, which comes next, should the processor serve several at once.
            Some(processor) => (2, processor, What::Left),
            None => (2, 0, What::Sent(packet.options().map(|handle| *ack_options.get(handle)))),
        };
        self.list.push(Note { key, step, link, packet, what });
    }

    /// A wire has lost a packet, at its other end.
    pub fn lost(&mut self, key: Key, (link, _): Place, packet: &Packet) {
        self.list.push(Note { key, step: 1, link, packet: *packet, what: What::Dropped(DropReason::Wire) });
    }

    /// Something happened to a packet at a link or a processor.
    pub(super) fn add(&mut self, key: Key, (link, entity): Place, packet: &Packet, what: What) {
        let step = if key.entity() == entity { 0 } else { 2 };
        self.list.push(Note { key, step, link, packet: *packet, what });
    }

    /// Takes out all notes.
    pub fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.list)
    }

    /// Adds the notes of another part.
    pub fn extend(&mut self, others: Vec<Note>) {
        self.list.extend(others);
    }

    /// Tells what happened before `until`, to where all parts have come.
    pub fn tell<P: Probe>(&mut self, until: Time, probe: &mut P, paths: &Paths) {
        // Those of one event and step are of one stop, and so in their order.
        self.list.sort_by_key(|note| (note.key, note.step));
        let count = self.list.partition_point(|note| note.key.time < until);
        for Note { key, link, packet, what, .. } in self.list.drain(..count) {
            let seen = Seen::new(&packet, paths);
            match what {
                What::Sent(None) => probe.sent(key, seen, &AckOptionSlab::default()),
                What::Sent(Some(options)) => {
                    let mut ack_options = AckOptionSlab::default();
                    let packet = packet.with_options_at(ack_options.put(options));
                    probe.sent(key, Seen::new(&packet, paths), &ack_options);
                }
                What::Received => probe.received(key, link, seen),
                What::Enqueued(service) => probe.enqueued(key, link, seen, service),
                What::Queued => probe.queued(key, link, seen),
                What::Dequeued => probe.dequeued(key, link, seen),
                What::Discarded(reason) => probe.discarded(key, link, seen, reason),
                What::Dropped(reason) => probe.dropped(key, link, seen, reason),
                What::Duplicated => probe.duplicated(link, seen),
                What::Joined => probe.joined(link, seen),
                What::Left => probe.left(link),
            }
        }
    }
}

//! Processors in a part of the network. When a packet leaves one is not known before it does, as what comes meanwhile may
//! delay it: so the packets that come in an epoch, and those that leave in it, are taken in the order of their events.

use super::{Region, next};
use crate::epochs::beyond::Beyond;
use crate::epochs::clock::Epoch;
use crate::epochs::inbox::Arrival;
use crate::epochs::notes::What;
use crate::epochs::users::outlet::Router;
use crate::events::Key;
use crate::network::node::Node;
use crate::probe::DropReason;
use crate::samples::Samples;

impl Region {
    /// The processor with this number takes all that arrives in this epoch, and lets go what it has served.
    pub(super) fn work_processor(&mut self, number: u32, epoch: Epoch) {
        let Self { links, nodes, inboxes, active, arrivals, sorter, routes, paths, scatter, flows, .. } = self;
        let Some(paths) = paths.as_deref() else { return };
        let stop = links.len() as u32 + number;
        inboxes[stop as usize].swap(epoch, arrivals);
        let (node, rings) = (&mut nodes.list[number as usize], &nodes.rings);
        let beyond = Beyond {
            router: Router { next: next(Some(paths), routes, node.index), inboxes, active },
            ahead: epoch,
            clock: self.clock,
            messages: &mut self.messages,
            scatter,
            flows: flows.as_deref_mut(),
            ack_options: &mut self.ack_options,
            place: (stop, node.entity),
            rings,
            notes: self.notes.as_deref_mut(),
            at: Key::FIRST,
        };
        let mut work = Work { node, number: number as usize, epoch, samples: self.samples.as_deref_mut(), beyond };
        for &(_, place) in sorter.sort(arrivals) {
            let arrival = &arrivals[place as usize];
            if let Some(link) = paths.paths.before(arrival.packet.position()) {
                work.take(arrival, rings.at_end_of(link), link);
            }
        }
        work.let_go(Key::planned(self.clock.end(epoch).min(self.end), 0));
        if let Some(departure) = work.node.departure().filter(|departure| departure.time < self.end) {
            self.holding.push(self.clock.epoch(departure.time).max(epoch + 1), stop);
        }
        arrivals.clear();
        self.inboxes[stop as usize].swap(epoch, arrivals);
    }
}

/// A processor in an epoch, and what lies around it.
struct Work<'a> {
    node: &'a mut Node,
    number: usize,
    epoch: Epoch,
    samples: Option<&'a mut Samples>,
    beyond: Beyond<'a>,
}

impl Work<'_> {
    /// Something happens at `now`: takes the samples that precede it.
    fn sample_before(&mut self, now: Key) {
        if let Some(samples) = &mut self.samples {
            samples.processor_before((self.number, &mut self.node.processor), now.time);
        }
    }

    /// A packet comes by a link, to whose end this ring belongs.
    fn take(&mut self, arrival: &Arrival, ring: u32, link: u32) {
        let (packet, now) = (arrival.packet, arrival.key());
        self.let_go(now);
        self.sample_before(now);
        let Self { node, beyond, .. } = self;
        beyond.comes(&packet, now);
        let at = now.time.seconds();
        if node.processor.interrupt(at, ring, packet.size()) {
            beyond.ends_round(&packet, now, || node.processor.busy_s(at));
            if let Some(notes) = &mut beyond.notes {
                notes.add(now, beyond.place, &packet, What::Joined);
            }
            node.enter(packet, ring, now);
        } else {
            node.processor.refuse(packet.size());
            if let Some(notes) = &mut beyond.notes {
                notes.add(now, (link, beyond.place.1), &packet, What::Dropped(DropReason::InputRing));
            }
            beyond.lose(&packet, now.time);
        }
    }

    /// The packets whose service ends before `until` continue to their next stops.
    fn let_go(&mut self, until: Key) {
        while let Some((key, packet)) = self.node.departure().zip(self.node.first()).filter(|(key, _)| *key < until) {
            self.sample_before(key);
            self.node.leave(key);
            self.beyond.router.pass_on(self.epoch, Arrival::new(key, packet));
        }
    }
}

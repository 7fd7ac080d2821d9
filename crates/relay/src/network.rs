//! All between the ports: when each packet is offered to a link and to the processor, and when it is due at its port. All
//! times are computed, by the simulator's own links and processor; nothing here looks at a clock.
//!
//! ```text
//! port 0 ──▶ (processor) ──▶ link ──────────────────▶ port 1
//! port 0 ◀────────────────── (processor) ◀── link ◀── port 1
//!
//! port 0 ──▶ link ──┬──────────▶ link ──▶ port 2
//! port 1 ───────────┴──▶ link ──▶ …
//! ```

use std::collections::VecDeque;

use tightlink_sim::events::{Key, Precedence};
use tightlink_sim::network::processor::Processor;
use tightlink_sim::time::Time;

use crate::direction::{Direction, LinkTotals};
use crate::packets::{Agenda, Id, Packets, line_up, take_until};
use crate::record::{Outcome, Sink};
use crate::route::Stop;
use crate::spec::RelaySpec;

/// Everything between the ports.
#[derive(Debug)]
pub struct Network {
    directions: Vec<Direction>,
    packets: Packets,
    processor: Option<Processor>,
    /// The packets in the input rings of the processor, one for each port.
    rings: Vec<VecDeque<Id>>,
    /// What comes later may meet what came before, or be before it at a stop.
    coupled: bool,
    /// Where that is so, what came and has not reached its first stop, and when it does.
    came: Agenda<Time>,
    /// For how long everything has happened.
    at: Time,
}

/// What happens between the ports.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// The queue of a link decides.
    Decision(usize),
    /// A packet reaches its next stop from a link.
    Reached(usize),
    /// A packet leaves the processor.
    Served,
}

impl Network {
    /// An idle one, with memory for all packets that it may hold: where queues are long, that takes a while.
    #[must_use]
    pub fn new(spec: &RelaySpec) -> Self {
        let ports = spec.ports.len();
        let farther = spec.routes.iter().any(|route| route.links.len() > 1 || route.before_s > 0.0);
        // An input ring for each direction.
        let processor = spec.modelled().map(|router| Processor::new(&router.processor, ports));
        Self {
            directions: (0..spec.links.len()).map(|link| Direction::new(spec, link)).collect(),
            packets: Packets::new(spec),
            rings: vec![VecDeque::new(); ports],
            coupled: processor.is_some() || ports > 2 || farther,
            processor,
            came: Agenda::new(),
            at: Time::ZERO,
        }
    }

    /// The scenario begins then, in seconds: before, links are constant and lose nothing.
    pub fn begin_at(&mut self, begins_s: f64) {
        self.directions.iter_mut().for_each(|direction| direction.begin_at(begins_s));
    }

    /// Where the bytes of the next packet from a port may be written; nothing if there is no room.
    pub fn room(&mut self, port: usize) -> Option<&mut [u8]> {
        self.packets.room(port)
    }

    /// A packet, of which `length` bytes were written, came by a port at `at`, or at the latest instant of which its link
    /// knows.
    pub fn arrive(&mut self, port: usize, at: Time, length: usize, sink: &mut impl Sink) {
        let Some(id) = self.packets.keep(port, length) else { return };
        if self.coupled {
            line_up(&mut self.came, at + self.packets.before_s(id), id);
            return;
        }
        let latest = match self.packets.stop(id) {
            Some(Stop::Link(link)) => self.directions[link].latest,
            _ => Time::ZERO,
        };
        self.enter(id, at.max(latest), sink);
    }

    /// All that comes from now on came after `until`: what reaches its first stop before is there, in this order.
    pub fn admit(&mut self, until: Time, sink: &mut impl Sink) {
        while let Some((at, id)) = take_until(&mut self.came, until) {
            let at = at.max(self.at);
            self.advance(at, sink);
            self.enter(id, at, sink);
        }
    }

    fn enter(&mut self, id: Id, at: Time, sink: &mut impl Sink) {
        self.packets.enter(id, at);
        self.reach(id, beginning(at), sink);
    }

    /// A packet reaches the stop at which its way continues.
    fn reach(&mut self, id: Id, now: Key, sink: &mut impl Sink) {
        match self.packets.stop(id) {
            Some(Stop::Link(link)) => self.directions[link].offer(id, now, &mut self.packets, sink),
            Some(Stop::Processor) => self.reach_processor(id, now.time, sink),
            None => self.packets.leave(id, now.time),
        }
    }

    /// Lets everything happen until `until`.
    pub fn advance(&mut self, until: Time, sink: &mut impl Sink) {
        while let Some((now, event)) = self.next_event().filter(|(now, _)| now.time <= until) {
            match event {
                Event::Decision(link) => self.directions[link].decide(now, &mut self.packets, sink),
                Event::Reached(link) => {
                    if let Some((now, id)) = self.directions[link].take_onward() {
                        self.packets.pass(id, now.time, sink);
                        self.reach(id, now, sink);
                    }
                }
                Event::Served => self.leave_processor(now.time, sink),
            }
        }
        self.at = self.at.max(until);
    }

    /// What happens next that is not due at a port, in the simulator's order.
    fn next_event(&self) -> Option<(Key, Event)> {
        let departure = self.processor.as_ref().and_then(Processor::departure);
        // What is served comes before what reaches the processor at the same instant.
        let served = departure.map(|at| (Key::planned(Time::new(at), 0), Event::Served));
        let of_directions = self.directions.iter().enumerate().flat_map(|(number, direction)| {
            let decision = direction.next_decision().map(|key| (key, Event::Decision(number)));
            decision.into_iter().chain(direction.next_onward().map(|key| (key, Event::Reached(number))))
        });
        served.into_iter().chain(of_directions).min_by_key(|&(key, _)| key)
    }

    /// A packet reaches the processor at `at`.
    fn reach_processor(&mut self, id: Id, at: Time, sink: &mut impl Sink) {
        let Some(processor) = &mut self.processor else { return };
        let (now, input, size) = (at.seconds(), id.port as u32, self.packets.size(id));
        if processor.interrupt(now, input, size) {
            processor.take(now, input, size);
            self.rings[id.port].push_back(id);
        } else {
            processor.refuse(size);
            self.packets.lose(id, Outcome::InputRing, at, sink);
        }
    }

    fn leave_processor(&mut self, at: Time, sink: &mut impl Sink) {
        let Some(processor) = &mut self.processor else { return };
        let Some(input) = processor.serving() else { return };
        processor.release(at.seconds());
        if let Some(id) = self.rings[input as usize].pop_front() {
            self.packets.pass(id, at, sink);
            self.reach(id, beginning(at), sink);
        }
    }

    /// When something is to be done next, if ever.
    #[must_use]
    pub fn next_change(&self) -> Option<Time> {
        let inside = self.next_event().map(|(key, _)| key.time);
        let came = self.came.front().map(|&(at, _)| at);
        let lost = self.directions.iter().filter_map(Direction::next_lost);
        lost.chain(inside).chain(came).chain(self.packets.next_due()).min()
    }

    /// Ends what was lost on a wire until `now`.
    pub fn clear(&mut self, now: Time, sink: &mut impl Sink) {
        self.directions.iter_mut().for_each(|direction| direction.clear(now, &mut self.packets, sink));
    }

    /// When the next packet is due at a port, if that is not after `now`, and nothing may still be due before.
    #[must_use]
    pub fn due(&self, port: usize, now: Time) -> Option<Time> {
        let sure = if self.coupled { now.min(self.at) } else { now };
        self.packets.due(port).filter(|&due| due <= sure)
    }

    /// The bytes of the packet that is due next at a port.
    #[must_use]
    pub fn next(&self, port: usize) -> &[u8] {
        self.packets.next(port)
    }

    /// The packet that was due next at a port was forwarded at `sent_s`, or not.
    pub fn forward(&mut self, port: usize, outcome: Outcome, sent_s: f64, sink: &mut impl Sink) {
        self.packets.forward(port, outcome, sent_s, sink);
    }

    /// Ends everything at `end`; what is under way is noted as such. What the links did until then.
    pub fn finish(&mut self, end: Time, sink: &mut impl Sink) -> Vec<LinkTotals> {
        // What happens then does not happen any more.
        let before = Time::new(end.seconds().next_down());
        self.advance(before, sink);
        self.clear(before, sink);
        let mut totals: Vec<_> = self.directions.iter().map(|direction| direction.totals(end)).collect();
        self.packets.finish(sink, |record, begun_s, copied| {
            if let Some(totals) = totals.get_mut(usize::from(record.link)) {
                totals.take_back(record, begun_s, copied, end);
            }
        });
        totals
    }

    /// The processor, if its costs are added up.
    #[must_use]
    pub fn processor(&self) -> Option<&Processor> {
        self.processor.as_ref()
    }
}

/// A packet that comes to a stop by itself. Departures at the same instant come first: their services began before.
fn beginning(at: Time) -> Key {
    Key::new(at, at, Precedence::FIRST, 0)
}

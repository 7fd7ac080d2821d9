//! The packets between two ports: when each is offered to the link and to the processor, and when it is due at the
//! other port. All times are computed, by the simulator's own link and processor; nothing here looks at a clock.
//!
//! ```text
//! port 0 ──▶ (processor) ──▶ link ──────────────────▶ port 1
//! port 0 ◀────────────────── (processor) ◀── link ◀── port 1
//! ```

use tightlink_sim::network::processor::Processor;
use tightlink_sim::time::Time;

use crate::record::{Outcome, Sink};
use crate::spec::RelaySpec;
use crate::way::{LinkTotals, Way};

/// Everything between the two ports.
#[derive(Debug)]
pub struct Path {
    ways: [Way; 2],
    processor: Option<Processor>,
    /// For how long everything has happened.
    at: Time,
}

/// What happens between the ports. In this order at the same instant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// The queue of the link from a port decides.
    Decision(usize),
    /// A packet reaches the processor from the link of a port.
    Reached(usize),
    /// A packet leaves the processor.
    Served,
}

impl Path {
    /// An idle path.
    #[must_use]
    pub fn new(spec: &RelaySpec) -> Self {
        Self {
            ways: [Way::new(spec, 0), Way::new(spec, 1)],
            // An input ring for each direction.
            processor: spec.modelled().map(|router| Processor::new(&router.processor, 2)),
            at: Time::ZERO,
        }
    }

    /// Where the bytes of the next packet from a port may be written; nothing if there is no room.
    pub fn room(&mut self, port: usize) -> Option<&mut [u8]> {
        self.ways[port].room()
    }

    /// A packet, of which `length` bytes were written, came by a port at `at`, or at the latest instant of which the
    /// path knows.
    pub fn arrive(&mut self, port: usize, at: Time, length: usize, sink: &mut impl Sink) {
        // A processor has both directions hang together.
        let at = if self.processor.is_some() {
            let at = at.max(self.at);
            self.advance(at, sink);
            at
        } else {
            at.max(self.ways[port].latest)
        };
        let way = &mut self.ways[port];
        let number = way.keep(port, at, length);
        match &mut self.processor {
            Some(processor) if way.near => take(processor, way, port, number, at, sink),
            _ => way.offer(number, at, sink),
        }
    }

    /// Lets everything happen until `until`.
    pub fn advance(&mut self, until: Time, sink: &mut impl Sink) {
        while let Some((at, event)) = self.next_event().filter(|(at, _)| *at <= until) {
            match event {
                Event::Decision(port) => self.ways[port].decide(at, sink),
                Event::Reached(port) => self.reach_processor(port, at, sink),
                Event::Served => self.leave_processor(at, sink),
            }
        }
        self.at = self.at.max(until);
    }

    /// The next instant at which something changes that is not due at a port, and what.
    fn next_event(&mut self) -> Option<(Time, Event)> {
        let [one, other] = [0, 1].map(|port| Some((self.ways[port].next_decision()?, Event::Decision(port))));
        let processor = self.processor.as_ref();
        let served = processor.and_then(Processor::departure).map(|at| (Time::new(at), Event::Served));
        let port = usize::from(self.ways[0].near);
        let reached = if processor.is_some() { self.ways[port].next_on_link() } else { None };
        let reached = reached.map(|at| (at, Event::Reached(port)));
        let first = |best: Option<(Time, Event)>, next: Option<(Time, Event)>| match (best, next) {
            (Some(best), Some(next)) => Some(if next.0 < best.0 { next } else { best }),
            (best, next) => best.or(next),
        };
        // What is served comes before what reaches the processor at the same instant.
        [one, other, served, reached].into_iter().fold(None, first)
    }

    fn reach_processor(&mut self, port: usize, at: Time, sink: &mut impl Sink) {
        let way = &mut self.ways[port];
        if let (Some(processor), Some(number)) = (&mut self.processor, way.leave_link()) {
            take(processor, way, port, number, at, sink);
        }
    }

    fn leave_processor(&mut self, at: Time, sink: &mut impl Sink) {
        let Some(processor) = &mut self.processor else { return };
        let Some(port) = processor.serving() else { return };
        processor.release(at.seconds());
        let way = &mut self.ways[port as usize];
        let Some(number) = way.leave_ring() else { return };
        if way.near {
            way.offer(number, at, sink);
        } else {
            way.leave_processor(number, at);
        }
    }

    /// When something is to be done next, if ever.
    pub fn next_change(&mut self) -> Option<Time> {
        let inside = self.next_event().map(|(at, _)| at);
        self.ways.iter_mut().filter_map(Way::next_due).chain(inside).min()
    }

    /// When the next packet from a port is due at the other, if that is not after `now`.
    pub fn due(&mut self, port: usize, now: Time, sink: &mut impl Sink) -> Option<Time> {
        self.ways[port].due(now, sink)
    }

    /// The bytes of the packet from a port that is due next.
    #[must_use]
    pub fn next(&self, port: usize) -> &[u8] {
        self.ways[port].next()
    }

    /// The packet from a port that was due next was forwarded at `sent_s`, or not.
    pub fn forward(&mut self, port: usize, outcome: Outcome, sent_s: f64, sink: &mut impl Sink) {
        self.ways[port].forward(outcome, sent_s, sink);
    }

    /// Ends everything at `end`; what is under way is noted as such. What the links did until then.
    pub fn finish(&mut self, end: Time, sink: &mut impl Sink) -> [LinkTotals; 2] {
        // What happens then does not happen any more.
        self.advance(Time::new(end.seconds().next_down()), sink);
        [0, 1].map(|port| self.ways[port].finish(end, sink))
    }

    /// The processor, if its costs are added up.
    #[must_use]
    pub fn processor(&self) -> Option<&Processor> {
        self.processor.as_ref()
    }
}

/// A packet reaches the processor at `at`.
fn take(processor: &mut Processor, way: &mut Way, port: usize, number: u64, at: Time, sink: &mut impl Sink) {
    let (now, input, size) = (at.seconds(), port as u32, way.size(number));
    if processor.interrupt(now, input, size) {
        processor.take(now, input, size);
        way.enter_ring(number);
    } else {
        processor.refuse(size);
        way.refuse(number, at, sink);
    }
}

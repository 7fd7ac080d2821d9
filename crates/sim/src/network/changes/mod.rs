//! Links that change: their capacity and their delay are known ahead, so that a packet's departure and its delivery are known
//! when it arrives, as they are where nothing changes.

pub mod course;
mod opportunities;
mod propagation;

use std::collections::VecDeque;

use self::course::Course;
use self::opportunities::Opportunities;
use self::propagation::Propagation;
use crate::network::server::Wire;
use crate::random::Stream;
use crate::scenario::{LinkSpec, RateSpec};

/// How fast bits leave.
#[derive(Clone, Debug)]
enum Capacity {
    Constant,
    Course(Course),
    Opportunities(Opportunities),
}

impl Capacity {
    /// When a packet has left that came at `now_s` and is first in line from `start_s` on.
    fn finish(&mut self, wire: &Wire, now_s: f64, start_s: f64, size: u32) -> f64 {
        match self {
            Self::Constant => start_s + wire.transmission_s(size),
            Self::Course(course) => course.finish(start_s, 8.0 * f64::from(wire.frame_bytes(size))),
            Self::Opportunities(opportunities) => opportunities.finish(now_s, size),
        }
    }
}

/// What changes of one link.
#[derive(Clone, Debug)]
pub struct Changes {
    wire: Wire,
    capacity: Capacity,
    propagation: Propagation,
    /// Of packets under way: when their service began, and when they reach the other end. Those that nobody asked about are
    /// forgotten with the next one that is asked about.
    deliveries: VecDeque<(f64, f64)>,
    /// Time that was spent transmitting what was admitted, in seconds.
    busy_s: f64,
}

impl Changes {
    /// What changes of a link; nothing if nothing does.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Option<Self> {
        if spec.rate.is_none() && spec.delay.is_none() && spec.jitter.is_none() {
            return None;
        }
        let capacity = match &spec.rate {
            None => Capacity::Constant,
            Some(RateSpec::Course(course)) => {
                Capacity::Course(Course::new(course, Stream::new(seed, &spec.name, 0, "rate")))
            }
            Some(RateSpec::Trace(trace)) => Capacity::Opportunities(Opportunities::new(&trace.trace_ms)),
        };
        let (wire, propagation) = (Wire::new(spec), Propagation::new(spec, seed));
        Some(Self { wire, capacity, propagation, deliveries: VecDeque::new(), busy_s: 0.0 })
    }

    /// A packet that came at `now_s` enters the line at `start_s`: when it has left, and when it reaches the other end.
    /// Each leaves later than the one before it, as keys of events tell packets apart by when their service began.
    pub fn grant(&mut self, now_s: f64, start_s: f64, size: u32) -> (f64, f64) {
        let departure_s = self.capacity.finish(&self.wire, now_s, start_s, size).max(start_s.next_up());
        let delivery_s = self.propagation.delivery_s(departure_s);
        self.busy_s += departure_s - start_s;
        self.keep(start_s, delivery_s);
        (departure_s, delivery_s)
    }

    /// The next packet has waited for the one before it, wherever that was.
    pub fn follow(&mut self) {
        if let Capacity::Opportunities(opportunities) = &mut self.capacity {
            opportunities.follow();
        }
    }

    /// A packet is under way whose service began at `start_s`.
    pub fn keep(&mut self, start_s: f64, delivery_s: f64) {
        self.deliveries.push_back((start_s, delivery_s));
    }

    /// When the packet whose service began at `start_s` reaches the other end: it is under way.
    pub fn delivery_s(&mut self, start_s: f64) -> f64 {
        while self.deliveries.front().is_some_and(|&(start, _)| start < start_s) {
            self.deliveries.pop_front();
        }
        self.deliveries.front().map_or(f64::INFINITY, |&(_, delivery_s)| delivery_s)
    }

    /// Nothing is under way that will be asked about, but perhaps what was granted last.
    pub fn forget(&mut self) {
        while self.deliveries.len() > 1 {
            self.deliveries.pop_front();
        }
    }

    /// Time that was spent transmitting what was admitted, in seconds.
    #[must_use]
    pub fn busy_s(&self) -> f64 {
        self.busy_s
    }

    /// Seconds for which so many packets of so many bytes occupy the line from `free_s` on.
    #[must_use]
    pub fn occupied_s(&self, free_s: f64, packets: usize, bytes: u64) -> f64 {
        if packets == 0 {
            return 0.0;
        }
        let mut capacity = self.capacity.clone();
        let size = (bytes / packets as u64) as u32;
        let mut end_s = free_s;
        for _ in 0..packets {
            end_s = capacity.finish(&self.wire, free_s, end_s, size);
        }
        end_s - free_s
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let capacity = if let Capacity::Course(course) = &self.capacity { course.random_draws() } else { 0 };
        capacity + self.propagation.random_draws()
    }
}

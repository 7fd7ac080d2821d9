//! Per-packet spraying: which of the equal-cost paths of its flow a packet takes (Dixit, Prakash, Hu, Kompella 2013).
//!
//! A router that sprays sends each packet to one of its next hops at random, whatever waits there. So the whole path may as
//! well be drawn where the packet is sent: the probabilities are the same, and results do not depend on the order in which
//! routers are processed.

use crate::network::topology::Paths;
use crate::random::Stream;
use crate::scenario::Scenario;

/// The random numbers of all flows whose packets are sprayed.
#[derive(Clone, Debug, Default)]
pub struct Spraying {
    /// Of each flow, for its packets and its ACKs; empty where no flow has several paths.
    streams: Vec<Option<[Stream; 2]>>,
}

impl Spraying {
    /// Of the flows of a scenario, before anything was sent.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        if scenario.flows.iter().all(|flow| flow.spraying.is_none()) {
            return Self::default();
        }
        let streams = scenario.flows.iter().map(|flow| {
            let stream = |purpose| Stream::new(scenario.seed, &flow.group, flow.index, purpose);
            flow.spraying.is_some().then(|| ["path of a packet", "path of an ACK"].map(stream))
        });
        Self { streams: streams.collect() }
    }

    /// The position at which the path of the next packet of a flow begins.
    #[inline(always)]
    pub fn begin(&mut self, paths: &Paths, flow: u32, reverse: bool) -> u32 {
        if self.streams.is_empty() { paths.begin(flow, reverse) } else { self.draw(paths, flow, reverse) }
    }

    #[cold]
    #[inline(never)]
    fn draw(&mut self, paths: &Paths, flow: u32, reverse: bool) -> u32 {
        match &mut self.streams[flow as usize] {
            Some(streams) => paths.begin_of(flow, reverse, || streams[usize::from(reverse)].uniform()),
            None => paths.begin(flow, reverse),
        }
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.streams.iter().flatten().flatten().map(Stream::draws).sum()
    }
}

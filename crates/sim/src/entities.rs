//! The numbers of entities, to which events belong, in the order of a scenario.

use crate::events::Entity;
use crate::scenario::Scenario;
use crate::transport::timer::TIMERS;

/// Looks at everything at a constant interval.
pub const SAMPLER: Entity = 0;

/// The numbers of entities: the sampler, starts and stops of flows, the look at confluences, links, gates, processors, timers,
/// sources that wait.
#[derive(Clone, Copy, Debug)]
pub struct Entities {
    /// The first link.
    pub first_link: Entity,
    /// The first processor.
    pub first_processor: Entity,
    /// The first flow's first timer.
    pub first_timer: Entity,
    /// The first flow's source, where it waits.
    pub first_source: Entity,
}

impl Entities {
    /// The numbers of a scenario's entities.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let first_link = Self::first_link(scenario.flows.len());
        let gates = scenario.links.iter().filter(|link| link.flow_control).count();
        let first_processor = first_link + (scenario.links.len() + gates) as u32;
        let first_timer = first_processor + scenario.processors() as u32;
        let first_source = first_timer + TIMERS * scenario.flows.len() as u32;
        Self { first_link, first_processor, first_timer, first_source }
    }

    /// The first link's number in a scenario with so many flows.
    #[must_use]
    pub fn first_link(flows: usize) -> Entity {
        2 + 2 * flows as Entity
    }

    /// Who looks at the confluences, where that is the first link's number.
    #[must_use]
    pub fn look(first_link: Entity) -> Entity {
        first_link - 1
    }

    /// The first number behind those of flows.
    #[must_use]
    pub fn behind(self, flows: usize) -> Entity {
        self.first_source + flows as Entity
    }

    /// A timer of a flow.
    #[must_use]
    pub fn timer(self, flow: u32, timer: u32) -> Entity {
        self.first_timer + flow * TIMERS + timer
    }

    /// The start of a flow.
    #[must_use]
    pub fn start(flow: u32) -> Entity {
        1 + 2 * flow
    }

    /// The stop of a flow.
    #[must_use]
    pub fn stop(flow: u32) -> Entity {
        2 + 2 * flow
    }
}

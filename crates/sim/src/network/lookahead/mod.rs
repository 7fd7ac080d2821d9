//! Lookahead: what the loop over events evaluates before its event.
//!
//! What a link delivers is known as soon as it grants the service. Where nothing else can come in between, the next link, or a
//! host that does nothing but react, is evaluated at once, and the delivery between the two is no event. What this is
//! applied to is found once, when a simulation is built (`plan.rs`); transports and hosts know nothing of it.

mod confluence;
mod plan;

pub use self::confluence::{Arrived, Confluence};
use self::plan::Plan;
use crate::events::Key;
use crate::network::link::Link;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::scenario::Scenario;
use crate::time::Time;

/// What is evaluated ahead of its events, at work.
#[derive(Debug)]
pub struct Lookahead {
    /// Packets that have reached, or will certainly reach, a host that only reacts to them, in order; the simulation hands
    /// them over before its next event.
    pub arrived: Vec<Arrived>,
    /// ACKs that were evaluated through to a sender which has an event before them.
    pub late: Vec<(Key, Packet)>,
    /// Of each flow, the link on which its ACKs arrive, if they alone move its sending host.
    acks_on: Vec<Option<u32>>,
    /// Where routes meet again that part behind one link.
    pub confluences: Vec<Confluence>,
    /// When the confluences are looked at next, whatever happens; never, if nothing waits there.
    pub look: Time,
}

impl Default for Lookahead {
    /// Nothing is evaluated ahead of its event.
    fn default() -> Self {
        let (arrived, late) = (Vec::new(), Vec::new());
        Self { arrived, late, acks_on: Vec::new(), confluences: Vec::new(), look: Time::NEVER }
    }
}

impl Lookahead {
    /// Of a network in which nothing has happened: marks on paths and links what is evaluated ahead.
    #[must_use]
    pub fn new(scenario: &Scenario, paths: &mut Paths, links: &mut [Link], cut: &[bool]) -> Self {
        let Plan { fused, answering, acks_on, confluences } = Plan::new(scenario, paths, (links, cut));
        for (link, _) in links.iter_mut().zip(answering).filter(|(_, answering)| *answering) {
            link.ahead.host_reacts_until = Time::NEVER;
        }
        let mut merging = vec![false; links.len()];
        for (number, confluence) in (0..).zip(&confluences) {
            links[confluence.link as usize].ahead.confluence = number;
            merging[confluence.link as usize] = true;
        }
        for before in paths.mark(|link| fused[link as usize].is_some(), |link| merging[link as usize]) {
            links[before as usize].ahead.continues = true;
        }
        Self { acks_on, confluences, ..Self::default() }
    }

    /// The link on which the ACKs of a flow arrive, if they alone move its sending host.
    #[inline]
    #[must_use]
    pub fn acks_on(&self, flow: u32) -> Option<u32> {
        *self.acks_on.get(flow as usize)?
    }

    /// A packet comes to the confluence at a link. Returns the packet that continues in its place, most often the one that
    /// came before it.
    #[inline(always)]
    pub fn merge(&mut self, links: &[Link], link: u32, key: Key, packet: Packet) -> Option<Arrived> {
        let confluence = &mut self.confluences[links[link as usize].ahead.confluence as usize];
        confluence.join(key, packet);
        confluence.next(links[confluence.root as usize].server.free().time)
    }
}

//! A link and its queue, seen as one: its packets wait in the server, in a gate or in a managed queue.

use crate::delays::Summary;
use crate::events::Key;
use crate::network::fabric::Fabric;
use crate::network::gate::Gate;
use crate::network::server::ServerTotals;
use crate::probe::Probe;
use crate::samples::LinkSample;
use crate::time::Time;

impl<P: Probe> Fabric<P> {
    /// What a link and its queue are and did at `now`.
    pub fn sample(&mut self, link: u32, now: Key) -> LinkSample {
        self.catch_up(link, now);
        let sample = self.links[link as usize].sample(now);
        let Some(gate) = self.gates.of(link) else { return sample };
        let held_s = gate.backlog_s(self.links[link as usize].server.wire());
        LinkSample {
            waiting: gate.waiting(),
            dropped: gate.dropped() + self.links[link as usize].packets_lost(),
            backlog_s: sample.backlog_s + held_s,
            ..sample
        }
    }
}

impl<P> Fabric<P> {
    /// Packets that the queue of a link has dropped so far.
    #[must_use]
    pub fn refused(&self, link: u32) -> u64 {
        self.gates.of(link).map_or_else(|| self.links[link as usize].refused(), Gate::dropped)
    }

    /// Whether a link had something to transmit throughout, from `since` to `now`, up to which its decisions
    /// are made ([`Fabric::catch_up`]).
    #[must_use]
    pub fn busy_throughout(&self, link: u32, since: Time, now: Time) -> bool {
        match self.gates.of(link) {
            Some(gate) => gate.busy_throughout(since, now),
            None => self.links[link as usize].server.busy_throughout(since, now),
        }
    }

    /// What a link and its queue did before the end of the run.
    #[must_use]
    pub fn totals(&self, link: u32) -> ServerTotals {
        let line = self.links[link as usize].totals();
        self.gates.of(link).map_or(line, |gate| gate.totals(line, self.end))
    }

    /// How long packets waited at a link that went on the line before the end of the run.
    #[must_use]
    pub fn queueing(&self, link: u32) -> Summary {
        self.gates.of(link).map_or_else(|| self.links[link as usize].queueing(), |gate| gate.queueing().summary())
    }

    /// Random numbers that links and their queues have drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.links.iter().map(|link| link.random_draws()).sum::<u64>() + self.gates.random_draws()
    }
}

//! A link and its queue, seen as one: its packets wait in the server, in a gate or in a managed queue.

use crate::delays::Delays;
use crate::network::fabric::Fabric;
use crate::network::link::LinkSample;
use crate::network::server::ServerTotals;
use crate::probe::Probe;
use crate::time::Time;

impl<P: Probe> Fabric<P> {
    /// Something happens to a link, or to another stop, at `now`: takes the samples of it that precede that.
    #[inline]
    pub(super) fn sample_before(&mut self, link: u32, now: Time) {
        if P::TAKES_SAMPLES
            && let Some(samples) = &self.samples
            && (link as usize) < self.links.len()
            && samples.due(link, now).is_some()
        {
            self.take_samples(link, now);
        }
    }

    #[cold]
    fn take_samples(&mut self, index: u32, now: Time) {
        // Without them, decisions are made up to the first of them.
        let Some(mut samples) = self.samples.take() else { return };
        // A gate changes at events alone, and is sampled at one; behind it, the server refuses nothing.
        let wire = self.links[index as usize].server.wire();
        let gate = self
            .gates
            .of(index)
            .map(|gate| (gate.waiting(), gate.counts.dropped, gate.counts.marked, gate.backlog_s(wire)));
        let (link, mut around) = self.around(index);
        samples.link_before((index, link), now, &mut around, |sample| match gate {
            None => sample,
            Some((waiting, dropped, marked, held_s)) => LinkSample {
                waiting,
                dropped: dropped + sample.dropped,
                marked: marked + sample.marked,
                backlog_s: sample.backlog_s + held_s,
                ..sample
            },
        });
        self.samples = Some(samples);
    }

    /// Takes the samples of the links whose queues are gates, at the event of the sampler: others change only where they
    /// are offered a packet.
    pub fn sample_gates(&mut self, now: Time) {
        for gate in 0..self.gates.len() {
            self.sample_before(self.gates.link(gate), now);
        }
    }

    /// Takes all samples of links that precede `until`.
    pub fn sample_links(&mut self, until: Time) {
        for link in 0..self.links.len() as u32 {
            if self.elsewhere.as_ref().is_none_or(|elsewhere| !elsewhere.begins_elsewhere(link)) {
                self.sample_before(link, until);
            }
        }
    }
}

impl<P> Fabric<P> {
    /// Packets that the queue of a link has dropped so far.
    #[must_use]
    pub fn refused(&self, link: u32) -> u64 {
        self.gates.of(link).map_or_else(|| self.links[link as usize].refused(), |gate| gate.counts.dropped)
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

    /// How long packets waited at a link that entered the line before the end of the run.
    #[must_use]
    pub fn queueing(&self, link: u32) -> Delays {
        self.gates.of(link).map_or_else(|| self.links[link as usize].queueing(), |gate| gate.counts.waits.clone())
    }

    /// Random numbers that links, their queues and the choice of paths have drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.links.iter().map(|link| link.random_draws()).sum::<u64>()
            + self.gates.random_draws()
            + self.spraying.random_draws()
    }
}

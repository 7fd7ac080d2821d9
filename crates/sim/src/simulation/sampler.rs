//! The sampler: looks at every link, flow and processor at a constant interval.

use super::Simulation;
use crate::entities::SAMPLER;
use crate::events::Key;
use crate::hosts::Ends;
use crate::probe::{FlowLook, Probe};
use crate::samples::End;
use crate::scenario::TransportSpec;
use crate::time::Time;
use crate::transport::accounting::LIMITS;

impl<P: Probe> Simulation<'_, P> {
    /// Sets the time of the first sample, if the scenario asks for any that has an event.
    pub(super) fn schedule_samples(&mut self) {
        let Some(samples) = &self.fabric.samples else { return };
        let processors = !self.fabric.nodes.list.is_empty();
        let datagrams = || self.scenario.flows.iter().any(|flow| matches!(flow.transport, TransportSpec::Udp(_)));
        if processors || P::LOOKS && datagrams() {
            self.fabric.queue.push(Key::planned(samples.moments.at(0), SAMPLER));
        }
    }

    /// Looks at what has to be looked at now and sets the time of the next sample.
    pub(super) fn sample(&mut self, now: Key) {
        self.fabric.sample_gates(now.time);
        if P::LOOKS {
            (0..self.scenario.single_flows() as u32).for_each(|flow| self.look_at_source(flow, now.time));
        }
        self.samples_taken += 1;
        if let Some(samples) = &mut self.fabric.samples {
            for (index, node) in self.fabric.nodes.list.iter_mut().enumerate() {
                samples.processor_before((index, &mut node.processor), now.time);
            }
            self.fabric.queue.push(Key::planned(samples.moments.at(self.samples_taken), SAMPLER));
        }
    }

    /// Something happens to an end of a flow at `now`: takes the samples of it that precede that.
    #[inline]
    pub(super) fn sample_before(&mut self, flow: u32, end: End, now: Time) {
        while P::TAKES_SAMPLES
            && let Some(samples) = &self.fabric.samples
            && let Some(at) = samples.due_at(flow, end, now)
            && self.fabric.is_here(end.node(&self.scenario.flows[flow as usize]))
            && let Some(samples) = &mut self.fabric.samples
        {
            samples.flow((flow, end), &self.hosts);
            if P::LOOKS
                && let Ends::Tcp { sender, receiver, .. } = self.hosts.ends(flow as usize)
            {
                let until = sender.totals.finished.map_or(at, |finished| finished.min(at));
                let look = match end {
                    End::Sender => self.spent(flow, sender.limit_shares(until), until),
                    End::Receiver => FlowLook::Receiver(receiver.totals.packets_marked),
                };
                self.fabric.probe.looked(flow, look);
            }
        }
    }

    fn spent(&self, flow: u32, shares: [f64; LIMITS], until: Time) -> FlowLook {
        let seconds = (until.seconds() - self.scenario.flows[flow as usize].start_s).max(0.0);
        FlowLook::Sender(shares.map(|share| share * seconds))
    }

    /// Takes all samples that precede `until` and were not taken, of a run that goes no further.
    pub fn sample_rest(&mut self, until: Time) {
        self.fabric.sample_links(until);
        for flow in 0..self.scenario.single_flows() as u32 {
            self.sample_before(flow, End::Sender, until);
            self.sample_before(flow, End::Receiver, until);
        }
    }

    /// Shows a source of datagrams to the probe: what holds it back depends on its link, at the time of the sample.
    fn look_at_source(&mut self, flow: u32, now: Time) {
        if let Ends::Udp { source, .. } = self.hosts.ends(flow as usize) {
            let shares = source.limit_shares(|link, since| self.fabric.busy_throughout(link, since, now), now);
            let look = self.spent(flow, shares, now);
            self.fabric.probe.looked(flow, look);
        }
    }
}

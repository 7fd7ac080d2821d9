//! The sampler: looks at every link, flow and processor at a constant interval.

use super::Simulation;
use crate::events::Key;
use crate::hosts::{Ends, SAMPLER};
use crate::probe::series::Metric;
use crate::probe::{FlowLook, Probe};
use crate::samples::Samples;
use crate::time::Time;

/// What the sampler saw last.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    taken: u64,
    pub(super) samples: Samples,
    /// Of each processor, time busy and packets dropped.
    nodes: Vec<(f64, u64)>,
}

impl<P: Probe> Simulation<'_, P> {
    /// Sets the time of the first sample, if the scenario asks for any.
    pub(super) fn schedule_samples(&mut self) {
        let Some(samples) = Samples::of(self.scenario) else { return };
        self.fabric.queue.push(Key::planned(samples.moments.at(0), SAMPLER));
        self.sampler = Some(Sampler { taken: 0, samples, nodes: vec![(0.0, 0); self.fabric.nodes.list.len()] });
    }

    /// What was sampled, if the scenario asks for it.
    pub(crate) fn samples(&self) -> Option<&Samples> {
        self.sampler.as_ref().map(|sampler| &sampler.samples)
    }

    /// Looks at everything and sets the time of the next sample.
    pub(super) fn sample(&mut self, now: Key) {
        let Some(mut sampler) = self.sampler.take() else { return };
        for link in 0..self.fabric.links.len() as u32 {
            let sample = self.fabric.sample(link, now);
            sampler.samples.link(now.time, link, sample);
        }
        for flow in 0..self.scenario.flows.len() as u32 {
            let (ends, delays) = (self.hosts.ends(flow as usize), &self.fabric.delays);
            sampler.samples.receiver(now.time, flow, ends, &delays.one_way(flow as usize).delays);
            sampler.samples.sender(now.time, flow, ends, self.hosts.controls(), delays.rtt(flow as usize));
            if P::LOOKS {
                self.look_at(now.time, flow as usize);
            }
        }
        for node in 0..self.fabric.nodes.list.len() {
            self.sample_processor(now.time.seconds(), node, &mut sampler);
        }
        sampler.taken += 1;
        self.fabric.queue.push(Key::planned(sampler.samples.moments.at(sampler.taken), SAMPLER));
        self.sampler = Some(sampler);
    }

    /// Shows a flow to the probe.
    fn look_at(&mut self, now: Time, flow: usize) {
        let (limited_by, until, packets_marked) = match self.hosts.ends(flow) {
            Ends::Tcp { sender, receiver, .. } => {
                let until = sender.totals.finished.map_or(now, |finished| finished.min(now));
                (sender.limit_shares(until), until, receiver.totals.packets_marked)
            }
            Ends::Udp { source, .. } => {
                (source.limit_shares(|link, since| self.fabric.busy_throughout(link, since, now), now), now, 0)
            }
        };
        let seconds = (until.seconds() - self.scenario.flows[flow].start_s).max(0.0);
        self.fabric.probe.looked(FlowLook { flow: flow as u32, limited_by, seconds, packets_marked });
    }

    fn sample_processor(&mut self, time_s: f64, index: usize, sampler: &mut Sampler) {
        let processor = &mut self.fabric.nodes.list[index].processor;
        let entity = (self.fabric.links.len() + self.scenario.flows.len() + index) as u32;
        let (busy_s, reading) = processor.look(time_s);
        let dropped = processor.totals().packets_dropped;
        let (busy_before_s, dropped_before) = std::mem::replace(&mut sampler.nodes[index], (busy_s, dropped));
        let (series, interval_s) = (&mut sampler.samples.series, sampler.samples.moments.interval_s());
        series.push(time_s, entity, Metric::Load, (busy_s - busy_before_s) / interval_s);
        if let Some(reading) = reading {
            series.push(time_s, entity, Metric::LoadReported, reading);
        }
        series.push(time_s, entity, Metric::RingPackets, processor.packets() as f64);
        series.push(time_s, entity, Metric::PacketsDropped, (dropped - dropped_before) as f64);
    }
}

//! The sampler: looks at every link, flow and processor at a constant interval.

use super::Simulation;
use crate::delays::Delays;
use crate::events::Key;
use crate::hosts::{Ends, SAMPLER};
use crate::probe::series::{Metric, Series};
use crate::probe::{FlowLook, Probe};
use crate::time::Time;

/// What the sampler saw last.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampled {
    samples: u64,
    busy_s: Vec<f64>,
    dropped: Vec<u64>,
    payload: Vec<u64>,
    bytes: Vec<u64>,
    /// Of each flow, the sum and the number of its one-way delays, and of its samples of the round-trip time.
    one_way: Vec<(f64, u64)>,
    rtt: Vec<(f64, u64)>,
    /// Of each processor, time busy and packets dropped.
    nodes: Vec<(f64, u64)>,
}

impl<P: Probe> Simulation<'_, P> {
    /// Sets the time of the first sample, if the scenario asks for any.
    pub(super) fn schedule_samples(&mut self) {
        let Some(interval_s) = self.scenario.observe.interval_s else { return };
        let (links, flows) = (self.scenario.links.len(), self.scenario.flows.len());
        self.sampled = Sampled {
            samples: 0,
            busy_s: vec![0.0; links],
            dropped: vec![0; links],
            payload: vec![0; flows],
            bytes: vec![0; flows],
            one_way: vec![(0.0, 0); flows],
            rtt: vec![(0.0, 0); flows],
            nodes: vec![(0.0, 0); self.fabric.nodes.list.len()],
        };
        self.fabric.queue.push(Key::planned(Time::new(interval_s), SAMPLER));
    }

    /// Looks at everything and sets the time of the next sample.
    pub(super) fn sample(&mut self, now: Key) {
        let Some(interval_s) = self.scenario.observe.interval_s else { return };
        let time_s = now.time.seconds();
        for index in 0..self.fabric.links.len() {
            self.sample_link(now, index, interval_s);
        }
        for flow in 0..self.scenario.single_flows() {
            self.sample_flow(time_s, flow, interval_s);
            if P::LOOKS {
                self.look_at(now.time, flow);
            }
        }
        for node in 0..self.fabric.nodes.list.len() {
            self.sample_processor(time_s, node, interval_s);
        }
        self.sampled.samples += 1;
        // Multiples of the interval, not a sum of it: the thousandth sample lies where it should.
        let next = Time::new(interval_s * (self.sampled.samples + 1) as f64);
        self.fabric.queue.push(Key::planned(next, SAMPLER));
    }

    fn sample_link(&mut self, now: Key, index: usize, interval_s: f64) {
        let (time_s, entity) = (now.time.seconds(), index as u32);
        let waiting = self.fabric.waiting(entity, now);
        let link = &self.fabric.links[index];
        let busy_s = link.server.busy_until(now.time);
        let dropped = self.fabric.refused(entity) + link.packets_lost();
        self.series.push(time_s, entity, Metric::QueuePackets, waiting as f64);
        self.series.push(time_s, entity, Metric::Utilization, (busy_s - self.sampled.busy_s[index]) / interval_s);
        self.series.push(time_s, entity, Metric::PacketsDropped, (dropped - self.sampled.dropped[index]) as f64);
        self.series.push(time_s, entity, Metric::QueueingDelayS, self.fabric.backlog_s(entity, now.time));
        self.sampled.busy_s[index] = busy_s;
        self.sampled.dropped[index] = dropped;
    }

    fn sample_flow(&mut self, time_s: f64, flow: usize, interval_s: f64) {
        let entity = (self.fabric.links.len() + flow) as u32;
        let (payload, bytes) = match self.hosts.ends(flow) {
            Ends::Tcp { receiver, connection, .. } => {
                (connection.payload_through(receiver.in_order()), receiver.totals.bytes)
            }
            Ends::Udp { sink, .. } => (sink.payload_delivered, sink.bytes_delivered),
        };
        let rate = |now: u64, before: u64| (now - before) as f64 * 8.0 / interval_s;
        self.series.push(time_s, entity, Metric::GoodputBps, rate(payload, self.sampled.payload[flow]));
        self.series.push(time_s, entity, Metric::ThroughputBps, rate(bytes, self.sampled.bytes[flow]));
        let one_way = so_far(&self.fabric.delays.one_way(flow).delays);
        let before = std::mem::replace(&mut self.sampled.one_way[flow], one_way);
        push_mean(&mut self.series, (time_s, entity), Metric::OneWayDelayS, one_way, before);
        self.sampled.payload[flow] = payload;
        self.sampled.bytes[flow] = bytes;
        if let Ends::Tcp { sender, connection, .. } = self.hosts.ends(flow) {
            let rtt = so_far(self.fabric.delays.rtt(flow));
            let before = std::mem::replace(&mut self.sampled.rtt[flow], rtt);
            push_mean(&mut self.series, (time_s, entity), Metric::RttS, rtt, before);
            self.series.push(time_s, entity, Metric::CwndPackets, sender.window.cwnd);
            if sender.window.ssthresh < f64::MAX {
                self.series.push(time_s, entity, Metric::SsthreshPackets, sender.window.ssthresh);
            }
            self.series.push(time_s, entity, Metric::InFlightPackets, sender.in_flight());
            if let Some(rate) = sender.pacing_rate(self.hosts.controls(), connection) {
                let bits = 8.0 * f64::from(connection.full_size());
                self.series.push(time_s, entity, Metric::PacingRateBps, rate * bits);
            }
            if self.scenario.observe.transport {
                let phase = self.hosts.controls().phase(sender.control(), &sender.window);
                self.series.push(time_s, entity, Metric::CongestionPhase, phase as f64);
                let recovery = f64::from(sender.recovery_state() as u8);
                self.series.push(time_s, entity, Metric::RecoveryState, recovery);
            }
        }
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

    fn sample_processor(&mut self, time_s: f64, index: usize, interval_s: f64) {
        let processor = &mut self.fabric.nodes.list[index].processor;
        let entity = (self.fabric.links.len() + self.scenario.flows.len() + index) as u32;
        let (busy_s, reading) = processor.look(time_s);
        let dropped = processor.totals().packets_dropped;
        let (busy_before_s, dropped_before) = std::mem::replace(&mut self.sampled.nodes[index], (busy_s, dropped));
        self.series.push(time_s, entity, Metric::Load, (busy_s - busy_before_s) / interval_s);
        if let Some(reading) = reading {
            self.series.push(time_s, entity, Metric::LoadReported, reading);
        }
        self.series.push(time_s, entity, Metric::RingPackets, processor.packets() as f64);
        self.series.push(time_s, entity, Metric::PacketsDropped, (dropped - dropped_before) as f64);
    }
}

/// The sum of delays, in seconds, and how many they are.
fn so_far(delays: &Delays) -> (f64, u64) {
    (delays.sum_s, delays.count)
}

/// Adds the mean of what was measured since the last sample, if anything was.
fn push_mean(series: &mut Series, at: (f64, u32), metric: Metric, now: (f64, u64), before: (f64, u64)) {
    if now.1 > before.1 {
        series.push(at.0, at.1, metric, (now.0 - before.0) / (now.1 - before.1) as f64);
    }
}

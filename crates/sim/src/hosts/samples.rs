//! Samples of the ends of flows, which hosts know.

use super::{Ends, Hosts};
use crate::congestion::Controls;
use crate::delays::Delays;
use crate::samples::{End, Samples};
use crate::time::Time;

impl Samples {
    /// Takes the sample of an end of a flow that is due.
    pub fn flow(&mut self, (flow, end): (u32, End), hosts: &Hosts) {
        let (ends, index) = (hosts.ends(flow as usize), flow as usize);
        match end {
            End::Sender => self.sender(flow, ends, hosts.controls()),
            End::Receiver => self.receiver(flow, ends),
        }
        self.flows[index].taken[end as usize] += 1;
    }

    /// Takes the samples of ends that precede what happens at `now`.
    pub fn before(&mut self, ends: &[(u32, End)], now: Time, hosts: &Hosts) {
        for &(flow, end) in ends {
            while self.due_at(flow, end, now).is_some() {
                self.flow((flow, end), hosts);
            }
        }
    }

    /// Takes a sample of the receiving end of a flow.
    fn receiver(&mut self, flow: u32, ends: Ends<'_>) {
        let (payload, bytes) = match ends {
            Ends::Tcp { receiver, connection, .. } => {
                (connection.payload_through(receiver.in_order()), receiver.totals.bytes)
            }
            Ends::Udp { sink, .. } => (sink.payload_delivered, sink.bytes_delivered),
        };
        let (entity, last) = (self.first_flow() + flow, &mut self.flows[flow as usize]);
        let rate = |now: u64, before: u64| (now - before) as f64 * 8.0 / self.moments.interval_s();
        let values =
            [rate(payload, last.payload), rate(bytes, last.bytes), mean(&ends.one_way().delays, &mut last.one_way)];
        (last.payload, last.bytes) = (payload, bytes);
        self.series.values(last.taken[End::Receiver as usize], entity)[..3].copy_from_slice(&values);
    }

    /// Takes a sample of the sending end of a flow.
    fn sender(&mut self, flow: u32, ends: Ends<'_>, controls: &Controls) {
        let Ends::Tcp { sender, connection, .. } = ends else { return };
        let (entity, last) = (self.first_flow() + flow, &mut self.flows[flow as usize]);
        let ssthresh = sender.window.ssthresh;
        let bits = 8.0 * f64::from(connection.full_size());
        let (phase, recovery) = if self.transport {
            (controls.phase(sender.control(), &sender.window) as f64, f64::from(sender.recovery_state() as u8))
        } else {
            (f64::NAN, f64::NAN)
        };
        let values = [
            mean(&sender.rtts, &mut last.rtt),
            sender.window.cwnd,
            if ssthresh < f64::MAX { ssthresh } else { f64::NAN },
            sender.in_flight(),
            sender.pacing_rate(controls, connection).map_or(f64::NAN, |rate| rate * bits),
            phase,
            recovery,
        ];
        let sample = last.taken[End::Sender as usize];
        self.series.values(sample, entity)[3..].copy_from_slice(&values);
        if self.transport || controls.is_external(sender.control()) {
            let mut know = |name: &str, value| self.series.know(sample, entity, name, value);
            controls.known(sender.control(), bits, &mut know);
        }
    }
}

/// The mean of what was measured since the last sample; not a number if nothing was.
fn mean(delays: &Delays, last: &mut (f64, u64)) -> f64 {
    let before = std::mem::replace(last, (delays.sum_s, delays.count));
    if delays.count > before.1 { (delays.sum_s - before.0) / (delays.count - before.1) as f64 } else { f64::NAN }
}

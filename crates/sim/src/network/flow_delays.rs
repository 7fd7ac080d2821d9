//! How long the packets of flows were on their way.

use crate::delays::Delays;

/// Delays of the flows.
#[derive(Clone, Debug)]
pub struct FlowDelays {
    one_way: Vec<OneWay>,
    rtt: Vec<Delays>,
}

/// From the source to the destination.
#[derive(Clone, Debug)]
pub struct OneWay {
    /// The delays.
    pub delays: Delays,
    /// The sum of the differences of successive ones, in seconds.
    pub jitter_sum_s: f64,
    last_s: f64,
}

impl FlowDelays {
    /// Of so many flows, which are to be added.
    #[must_use]
    pub fn of(flows: usize) -> Self {
        Self { one_way: Vec::with_capacity(flows), rtt: Vec::with_capacity(flows) }
    }

    /// Adds the next flow, whose packets need `unloaded_s` seconds where none waits.
    pub fn add_flow(&mut self, unloaded_s: f64) {
        self.one_way.push(OneWay { delays: Delays::above(unloaded_s), jitter_sum_s: 0.0, last_s: 0.0 });
        self.rtt.push(Delays::default());
    }

    /// A packet of a flow was on its way for so long.
    #[inline]
    pub fn note_one_way(&mut self, flow: u32, delay_s: f64) {
        let OneWay { delays, jitter_sum_s, last_s } = &mut self.one_way[flow as usize];
        if delays.count > 0 {
            *jitter_sum_s += (delay_s - *last_s).abs();
        }
        *last_s = delay_s;
        delays.add(delay_s);
    }

    /// A round-trip time was measured.
    #[inline]
    pub fn note_rtt(&mut self, flow: u32, rtt_s: f64) {
        self.rtt[flow as usize].add(rtt_s);
    }

    /// The one-way delays of a flow's packets.
    #[must_use]
    pub fn one_way(&self, flow: usize) -> &OneWay {
        &self.one_way[flow]
    }

    /// The round-trip times of a flow.
    #[must_use]
    pub fn rtt(&self, flow: usize) -> &Delays {
        &self.rtt[flow]
    }
}

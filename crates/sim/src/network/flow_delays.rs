//! How long the packets of flows were on their way.
//!
//! What is counted of a thousand flows fills a cache, and each packet would take a part of it from what hosts and links
//! know. So delays of many flows are noted one after the other, and counted when there are many.

use crate::delays::Delays;

/// Flows up to which delays are counted at once: what is counted of them, half a kibibyte each, fits into a second-level cache.
const FEW: usize = 256;
/// So many are noted before they are counted: a sixteenth of a second-level cache of a mebibyte.
const NOTED: usize = 1 << 12;
/// The bit of a note that tells a round trip.
const ROUND_TRIP: u32 = 1 << 31;

/// Delays of the flows.
#[derive(Clone, Debug)]
pub struct FlowDelays {
    one_way: Vec<OneWay>,
    rtt: Vec<Delays>,
    /// What was not counted yet, `noted` of them: of which flow and which way, and the delay in seconds, in the order in
    /// which they were seen.
    notes: Box<[(u32, f64)]>,
    noted: usize,
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

impl OneWay {
    #[inline]
    fn add(&mut self, delay_s: f64) {
        if self.delays.count > 0 {
            self.jitter_sum_s += (delay_s - self.last_s).abs();
        }
        self.last_s = delay_s;
        self.delays.add(delay_s);
    }
}

impl FlowDelays {
    /// Of so many flows, which are to be added.
    #[must_use]
    pub fn of(flows: usize) -> Self {
        let (one_way, rtt) = (Vec::with_capacity(flows), Vec::with_capacity(flows));
        Self { one_way, rtt, notes: vec![(0, 0.0); if flows > FEW { NOTED } else { 0 }].into(), noted: 0 }
    }

    /// Adds the next flow, whose packets need `unloaded_s` seconds where none waits.
    pub fn add_flow(&mut self, unloaded_s: f64) {
        self.one_way.push(OneWay { delays: Delays::above(unloaded_s), jitter_sum_s: 0.0, last_s: 0.0 });
        self.rtt.push(Delays::default());
    }

    /// A packet of a flow was on its way for so long.
    #[inline(always)]
    pub fn note_one_way(&mut self, flow: u32, delay_s: f64) {
        if !self.is_noted(flow, delay_s) {
            self.one_way[flow as usize].add(delay_s);
        }
    }

    /// A round-trip time was measured.
    #[inline(always)]
    pub fn note_rtt(&mut self, flow: u32, rtt_s: f64) {
        if !self.is_noted(flow | ROUND_TRIP, rtt_s) {
            self.rtt[flow as usize].add(rtt_s);
        }
    }

    /// Whether there was room for a note; else all are counted, and that of which there is none can be.
    #[inline]
    fn is_noted(&mut self, of: u32, delay_s: f64) -> bool {
        if let Some(note) = self.notes.get_mut(self.noted) {
            *note = (of, delay_s);
            self.noted += 1;
            return true;
        }
        if self.noted > 0 {
            self.settle();
        }
        false
    }

    /// Counts what is noted, of each flow in its order.
    #[cold]
    #[inline(never)]
    pub fn settle(&mut self) {
        for &(of, delay_s) in &self.notes[..std::mem::take(&mut self.noted)] {
            if of & ROUND_TRIP > 0 {
                self.rtt[(of ^ ROUND_TRIP) as usize].add(delay_s);
            } else {
                self.one_way[of as usize].add(delay_s);
            }
        }
    }

    /// The one-way delays of a flow's packets, all of which are counted.
    #[must_use]
    pub fn one_way(&self, flow: usize) -> &OneWay {
        debug_assert_eq!(self.noted, 0);
        &self.one_way[flow]
    }

    /// The round-trip times of a flow, all of which are counted.
    #[must_use]
    pub fn rtt(&self, flow: usize) -> &Delays {
        debug_assert_eq!(self.noted, 0);
        &self.rtt[flow]
    }
}

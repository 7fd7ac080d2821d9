//! How long the packets of flows were on their way.
//!
//! What is counted of a thousand flows fills a cache, and each packet would take a part of it from what hosts and links
//! know. So delays of many flows are noted one after the other, and counted when there are many.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::delays::Delays;
use crate::network::unloaded::Unloaded;

/// Flows up to which delays are counted at once: what is counted of them, half a kibibyte each, fits into a second-level cache.
const FEW: usize = 256;
/// So many of a kind are noted before they are counted: an eighth of a first-level cache of 32 KiB.
const NOTED: usize = 1 << 8;

/// Delays of the flows.
#[derive(Clone, Debug)]
pub struct FlowDelays {
    one_way: Counted<OneWay>,
    rtt: Counted<Delays>,
    /// Of flows whose packets have several sizes: how long each takes without waiting, and how long they waited.
    waits: HashMap<u32, (Unloaded, Delays)>,
    /// Of transfers whose last packet is shorter than the others.
    short: HashMap<u32, Short>,
}

/// What is counted of each flow: at once, or when there are many notes.
#[derive(Clone, Debug)]
struct Counted<T> {
    /// Of few flows; else of none.
    at_once: Vec<T>,
    /// Of many flows; else of none.
    later: Vec<T>,
    /// Delays in the order in which they were seen, each of which flow, and how long it was in seconds. Of a kind, or the
    /// processor would guess in vain which comes next.
    notes: Box<[(u32, f64)]>,
    noted: usize,
}

/// What counts delays.
trait Count {
    fn add(&mut self, delay_s: f64);
}

impl<T: Count> Counted<T> {
    /// Of so many flows, which are to be added.
    fn of(flows: usize) -> Self {
        let (few, many) = if flows > FEW { (0, flows) } else { (flows, 0) };
        let notes = vec![(0, 0.0); if many > 0 { NOTED } else { 0 }].into();
        Self { at_once: Vec::with_capacity(few), later: Vec::with_capacity(many), notes, noted: 0 }
    }

    fn push(&mut self, flow: T) {
        if self.notes.is_empty() { self.at_once.push(flow) } else { self.later.push(flow) }
    }

    #[inline(always)]
    fn add(&mut self, flow: u32, delay_s: f64) {
        if let Some(counted) = self.at_once.get_mut(flow as usize) {
            counted.add(delay_s);
            return;
        }
        let Some(note) = self.notes.get_mut(self.noted) else { return self.settle_for(flow, delay_s) };
        *note = (flow, delay_s);
        self.noted += 1;
    }

    /// Counts what is noted, and a delay for which no place is left.
    #[cold]
    #[inline(never)]
    fn settle_for(&mut self, flow: u32, delay_s: f64) {
        self.settle();
        self.later[flow as usize].add(delay_s);
    }

    /// Counts what is noted, of each flow in its order.
    fn settle(&mut self) {
        let noted = &self.notes[..std::mem::take(&mut self.noted)];
        noted.iter().for_each(|&(flow, delay_s)| self.later[flow as usize].add(delay_s));
    }

    /// What was counted of a flow, all of whose delays are.
    fn counted(&self, flow: usize) -> &T {
        debug_assert_eq!(self.noted, 0);
        if self.notes.is_empty() { &self.at_once[flow] } else { &self.later[flow] }
    }
}

/// The last packet of a transfer, which is shorter than the others.
#[derive(Clone, Debug)]
struct Short {
    /// How long it takes at least, in seconds.
    shortest_s: f64,
    /// How long it takes as a rule, without waiting, in seconds.
    unloaded_s: f64,
    /// How long it was on its way, each time it arrived.
    delays_s: Vec<f64>,
}

/// From the source to the destination.
#[derive(Clone, Debug)]
pub struct OneWay {
    /// The delays.
    pub delays: Delays,
    /// The sum of the differences of successive ones, in seconds.
    pub jitter_sum_s: f64,
    /// The last one, in seconds; not a number before the first.
    last_s: f64,
}

impl Count for OneWay {
    #[inline]
    fn add(&mut self, delay_s: f64) {
        // The first one differs from not a number, the larger of which and zero is zero.
        self.jitter_sum_s += (delay_s - self.last_s).abs().max(0.0);
        self.last_s = delay_s;
        self.delays.add(delay_s);
    }
}

impl Count for Delays {
    #[inline]
    fn add(&mut self, delay_s: f64) {
        self.add(delay_s);
    }
}

impl FlowDelays {
    /// Of so many flows, which are to be added.
    #[must_use]
    pub fn of(flows: usize) -> Self {
        Self { one_way: Counted::of(flows), rtt: Counted::of(flows), waits: HashMap::new(), short: HashMap::new() }
    }

    /// Adds the next flow, whose packets take `shortest_s` seconds at least, and `unloaded_s` as a rule, where none waits.
    pub fn add_flow(&mut self, shortest_s: f64, unloaded_s: f64) {
        self.one_way.push(OneWay {
            delays: Delays::between(shortest_s, unloaded_s),
            jitter_sum_s: 0.0,
            last_s: f64::NAN,
        });
        self.rtt.push(Delays::default());
    }

    /// The packets of a flow have several sizes, each of which takes another time without waiting.
    pub fn tell_sizes_apart(&mut self, flow: u32, unloaded: Unloaded) {
        self.waits.insert(flow, (unloaded, Delays::default()));
    }

    /// The last packet of a flow is shorter than the others: it takes `shortest_s` seconds at least, and `unloaded_s` as a
    /// rule, where it does not wait.
    pub fn tell_last_apart(&mut self, flow: u32, shortest_s: f64, unloaded_s: f64) {
        self.short.insert(flow, Short { shortest_s, unloaded_s, delays_s: Vec::new() });
    }

    /// The last packet of a flow, shorter than the others, was on its way for so long; that is noted besides.
    #[cold]
    pub fn note_last(&mut self, flow: u32, delay_s: f64) {
        if let Some(short) = self.short.get_mut(&flow) {
            short.delays_s.push(delay_s);
        }
    }

    /// A datagram of `size` bytes of a flow was on its way for so long.
    #[inline]
    pub fn note_datagram(&mut self, flow: u32, size: u32, delay_s: f64) {
        self.note_one_way(flow, delay_s);
        if let Some((unloaded, waits)) = self.waits.get_mut(&flow) {
            waits.add((delay_s - unloaded.seconds(size)).max(0.0));
        }
    }

    /// A packet of a flow was on its way for so long.
    #[inline(always)]
    pub fn note_one_way(&mut self, flow: u32, delay_s: f64) {
        self.one_way.add(flow, delay_s);
    }

    /// A round-trip time was measured.
    #[inline(always)]
    pub fn note_rtt(&mut self, flow: u32, rtt_s: f64) {
        self.rtt.add(flow, rtt_s);
    }

    /// Counts what is noted.
    pub fn settle(&mut self) {
        self.one_way.settle();
        self.rtt.settle();
    }

    /// How long the packets of a flow, all of which are counted, waited, if they have several sizes.
    #[must_use]
    pub fn waits(&self, flow: usize) -> Option<Cow<'_, Delays>> {
        if let Some((_, waits)) = self.waits.get(&(flow as u32)) {
            return Some(Cow::Borrowed(waits));
        }
        let short = self.short_arrived(flow)?;
        let mut waits = self.full(flow, short).excess();
        short.delays_s.iter().for_each(|&delay_s| waits.add((delay_s - short.unloaded_s).max(0.0)));
        Some(Cow::Owned(waits))
    }

    /// The last packet of a flow, if it is shorter than the others and has arrived.
    fn short_arrived(&self, flow: usize) -> Option<&Short> {
        self.short.get(&(flow as u32)).filter(|short| !short.delays_s.is_empty())
    }

    /// The one-way delays of a flow's packets but the short last one.
    fn full(&self, flow: usize, short: &Short) -> Delays {
        let mut full = self.one_way(flow).delays.clone();
        short.delays_s.iter().for_each(|&delay_s| full.take_back(delay_s));
        full
    }

    /// How the one-way delays of a flow's packets, all of which are counted, are distributed.
    #[must_use]
    pub fn distribution(&self, flow: usize) -> Cow<'_, Delays> {
        let counted = &self.one_way(flow).delays;
        let Some(short) = self.short_arrived(flow) else { return Cow::Borrowed(counted) };
        let mut all = Delays::above(short.shortest_s);
        all.merge(&self.full(flow, short));
        short.delays_s.iter().for_each(|&delay_s| all.add(delay_s));
        (all.sum_s, all.max_s) = (counted.sum_s, counted.max_s);
        Cow::Owned(all)
    }

    /// The one-way delays of a flow's packets, all of which are counted.
    #[must_use]
    pub fn one_way(&self, flow: usize) -> &OneWay {
        self.one_way.counted(flow)
    }

    /// The round-trip times of a flow, all of which are counted.
    #[must_use]
    pub fn rtt(&self, flow: usize) -> &Delays {
        self.rtt.counted(flow)
    }
}

//! How long the packets of a flow were on their way to its receiving end.

use std::borrow::Cow;

use crate::delays::Delays;
use crate::scenario::unloaded::Unloaded;

/// From the source to the destination.
#[derive(Clone, Debug)]
pub struct OneWay {
    /// Of all packets, as if each took as long as the others where none waits.
    pub delays: Delays,
    /// The sum of the differences of successive ones, in seconds.
    pub jitter_sum_s: f64,
    /// The last one, in seconds; not a number before the first.
    last_s: f64,
    /// Of packets of several sizes.
    apart: Option<Box<Apart>>,
}

/// What is known besides of packets that take another time than others where none waits.
#[derive(Clone, Debug)]
enum Apart {
    /// Datagrams of several sizes: how long each takes without waiting, and how long they waited.
    Sizes(Unloaded, Delays),
    /// The last packet of a transfer, shorter than the others.
    Last(Short),
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

impl OneWay {
    /// None yet: packets take `shortest_s` seconds at least, and `unloaded_s` as a rule, where none waits.
    #[must_use]
    pub fn new(shortest_s: f64, unloaded_s: f64) -> Self {
        Self { delays: Delays::between(shortest_s, unloaded_s), jitter_sum_s: 0.0, last_s: f64::NAN, apart: None }
    }

    /// The packets have several sizes, each of which takes another time without waiting.
    pub fn tell_sizes_apart(&mut self, unloaded: Unloaded) {
        self.apart = Some(Box::new(Apart::Sizes(unloaded, Delays::default())));
    }

    /// The last packet is shorter than the others: it takes `shortest_s` seconds at least, and `unloaded_s` as a rule, where
    /// it does not wait.
    pub fn tell_last_apart(&mut self, shortest_s: f64, unloaded_s: f64) {
        self.apart = Some(Box::new(Apart::Last(Short { shortest_s, unloaded_s, delays_s: Vec::new() })));
    }

    /// A packet was on its way for so long.
    #[inline]
    pub fn add(&mut self, delay_s: f64) {
        // The first one differs from not a number, the larger of which and zero is zero.
        self.jitter_sum_s += (delay_s - self.last_s).abs().max(0.0);
        self.last_s = delay_s;
        self.delays.add(delay_s);
    }

    /// The same of a datagram of `size` bytes.
    pub fn add_datagram(&mut self, size: u32, delay_s: f64) {
        self.add(delay_s);
        if let Some(Apart::Sizes(unloaded, waits)) = self.apart.as_deref_mut() {
            waits.add((delay_s - unloaded.seconds(size)).max(0.0));
        }
    }

    /// The packet that was added is the last, shorter than the others.
    #[cold]
    pub fn note_last(&mut self) {
        if let Some(Apart::Last(short)) = self.apart.as_deref_mut() {
            short.delays_s.push(self.last_s);
        }
    }

    /// How long the packets waited, if they have several sizes.
    #[must_use]
    pub fn waits(&self) -> Option<Cow<'_, Delays>> {
        if let Some(Apart::Sizes(_, waits)) = self.apart.as_deref() {
            return Some(Cow::Borrowed(waits));
        }
        let short = self.short_arrived()?;
        let mut waits = self.full(short).excess();
        short.delays_s.iter().for_each(|&delay_s| waits.add((delay_s - short.unloaded_s).max(0.0)));
        Some(Cow::Owned(waits))
    }

    /// How the delays are distributed.
    #[must_use]
    pub fn distribution(&self) -> Cow<'_, Delays> {
        let Some(short) = self.short_arrived() else { return Cow::Borrowed(&self.delays) };
        let mut all = Delays::above(short.shortest_s);
        all.merge(&self.full(short));
        short.delays_s.iter().for_each(|&delay_s| all.add(delay_s));
        (all.sum_s, all.max_s) = (self.delays.sum_s, self.delays.max_s);
        Cow::Owned(all)
    }

    /// The last packet, if it is shorter than the others and has arrived.
    fn short_arrived(&self) -> Option<&Short> {
        match self.apart.as_deref()? {
            Apart::Last(short) if !short.delays_s.is_empty() => Some(short),
            _ => None,
        }
    }

    /// The delays of the packets but the short last one.
    fn full(&self, short: &Short) -> Delays {
        let mut full = self.delays.clone();
        short.delays_s.iter().for_each(|&delay_s| full.take_back(delay_s));
        full
    }
}

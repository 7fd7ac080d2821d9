//! CAKE (Høiland-Jørgensen, Täht, Morton 2018; Linux's `sch_cake`): a shaper without bursts, classes ("tins") by code point,
//! in each of them fair queueing over hosts and over their flows, COBALT over each flow, and a filter of ACKs.
//!
//! What is not here, of Linux: ingress mode, autorate, NAT, washing of code points, splitting of large segments.

use serde::{Deserialize, Serialize};

use super::cobalt::Law;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::random::{self, Stream};
use crate::time::Time;

mod ack_filter;
mod tin;
mod tins;

pub use ack_filter::AckFilter;
pub use tin::Isolation;
use tin::Tin;
pub use tins::Tins;

/// Parameters of CAKE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CakeSpec {
    /// What "full" means for all flows together; the packet in service counts.
    pub limit: QueueLimit,
    /// Time in the queue that is acceptable, in seconds.
    pub target_s: f64,
    /// How long it may be longer, in seconds.
    pub interval_s: f64,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
    /// The rate of the shaper, in bit/s; none: the line's own.
    pub rate_bps: Option<f64>,
    /// What each packet is taken for on the line of the shaper's rate.
    pub overhead: Overhead,
    /// Between whom the line is divided evenly.
    pub isolation: Isolation,
    /// Classes.
    pub tins: Tins,
    /// Which ACKs are dropped because a later one waits behind them.
    pub ack_filter: AckFilter,
}

/// What a link layer makes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// Bytes added to each packet.
    pub bytes: u32,
    /// Smallest packet, these included.
    pub smallest_bytes: u32,
    /// How it is cut.
    pub cells: Cells,
}

/// How a link layer cuts packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cells {
    /// It does not.
    None,
    /// Cells of 53 bytes, which carry 48 (ATM, AAL5).
    Atm,
    /// A byte more for each 64 that are begun (PTM, 64b/65b).
    Ptm,
}

impl Overhead {
    /// Bytes for which the shaper takes a packet of `size` bytes.
    #[must_use]
    pub fn adjusted(&self, size: u32) -> u32 {
        let size = (size + self.bytes).max(self.smallest_bytes);
        match self.cells {
            Cells::None => size,
            Cells::Atm => size.div_ceil(48) * 53,
            Cells::Ptm => size + size.div_ceil(64),
        }
    }
}

/// A large packet with its Ethernet header, in bytes: what Linux takes for one.
const LARGE_BYTES: f64 = 1514.0;

/// A CAKE queue.
#[derive(Clone, Debug)]
pub struct Cake {
    spec: CakeSpec,
    tins: Vec<Tin>,
    /// The tin whose turn it is, without a shaper.
    current: usize,
    /// Which flows meet in a queue differs from link to link and from seed to seed.
    perturbation: u64,
    /// What waits in all.
    load: Load,
    /// When the shaper lets the next packet go, in seconds.
    ready_s: f64,
    /// Time that all packets so far took of the shaper, in seconds.
    shaped_s: f64,
    stream: Stream,
}

impl Cake {
    /// The shaper has nothing to make up for where no packet waited.
    fn begin(&mut self, tin: usize, now_s: f64) {
        if self.tins[tin].is_empty() {
            self.tins[tin].ready_s = self.tins[tin].ready_s.max(now_s);
        }
        if self.load.packets == 0 {
            self.ready_s = self.ready_s.max(now_s);
        }
    }

    /// Charges a packet that goes at `now_s` to the shaper and to its tin's.
    fn advance(&mut self, tin: usize, adjusted: f64, now_s: f64) {
        let Some(rate_bps) = self.spec.rate_bps else { return };
        let own = &mut self.tins[tin];
        let own_s = 8.0 * adjusted / own.rate_bps;
        if own.ready_s < now_s {
            own.ready_s += own_s;
        } else {
            own.ready_s = own.ready_s.max(now_s + own_s);
        }
        let shaped_s = 8.0 * adjusted / rate_bps;
        self.ready_s += shaped_s;
        self.shaped_s += shaped_s;
    }

    /// The tin that is served at `now_s`.
    fn choose(&mut self, now_s: f64) -> usize {
        if self.spec.rate_bps.is_none() {
            // Deficit round robin, as there is no rate of which a tin could have a share.
            loop {
                let count = self.tins.len();
                let tin = &mut self.tins[self.current];
                if tin.deficit >= 0.0 && tin.has_turns() {
                    return self.current;
                }
                if tin.deficit <= 0.0 {
                    tin.deficit += tin.quantum;
                }
                self.current = (self.current + 1) % count;
            }
        }
        // The highest within its share, or the one that is the first to be.
        let (mut best, mut least_s) = (0, f64::INFINITY);
        for (place, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.has_turns()) {
            let until_s = tin.ready_s - now_s;
            if until_s <= 0.0 || until_s <= least_s {
                (best, least_s) = (place, until_s);
            }
        }
        best
    }

    /// Takes the first packet of the longest queue in bytes, the first of equals.
    fn relieve(&mut self, now_s: f64) -> Option<Waiting> {
        let longest = |tin: &Tin| tin.longest().map_or(0, |(bytes, _)| bytes);
        let fattest = self.tins.iter_mut().reduce(|fat, tin| if longest(tin) > longest(fat) { tin } else { fat })?;
        let waiting = fattest.relieve(now_s)?;
        self.load.remove(&waiting.packet);
        Some(waiting)
    }
}

impl Store for Cake {
    type Spec = CakeSpec;
    const HELP: &'static str = "shaper, classes, fair queueing over hosts and flows, COBALT, ACK filter (Linux's cake)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &CakeSpec, site: Site<'_>) -> Self {
        let law = |rate_bps: Option<f64>| {
            let packet_s = rate_bps.map_or(0.0, |rate_bps| 8.0 * LARGE_BYTES / rate_bps);
            // Linux's `cake_set_rate`: at small rates a single packet waits longer than that.
            let target_s = spec.target_s.max(1.5 * packet_s);
            let interval_s = (spec.interval_s + target_s - spec.target_s).max(2.0 * target_s);
            Law::new(target_s, interval_s, packet_s, spec.ecn)
        };
        let tin = |share: f64| {
            let rate_bps = spec.rate_bps.map(|rate_bps| share * rate_bps);
            Tin::new(law(rate_bps), rate_bps.unwrap_or(f64::INFINITY), share, spec.isolation)
        };
        Self {
            tins: spec.tins.shares().iter().map(|&share| tin(share)).collect(),
            spec: spec.clone(),
            current: 0,
            perturbation: random::hash(site.seed, site.link, 0, "queue"),
            load: Load::NONE,
            ready_s: 0.0,
            shaped_s: 0.0,
            stream: Stream::new(site.seed, site.link, 0, "queue"),
        }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal> {
        let (place, now_s) = (self.spec.tins.of(packet.key.dscp), packet.since_s);
        self.begin(place, now_s);
        self.load.add(&packet.packet);
        let hash = random::mix(packet.key.flow ^ self.perturbation);
        if let Some(ack) = self.tins[place].push(packet, hash, self.spec.ack_filter) {
            self.load.remove(&ack.packet);
            lost.push((ack, Refusal::Managed));
        }
        while !self.spec.limit.holds(self.load + on_line)
            && let Some(victim) = self.relieve(now_s)
        {
            lost.push((victim, Refusal::Full));
        }
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        let mut first = true;
        while self.load.packets > 0 {
            let (place, before) = (self.choose(now.seconds()), lost.len());
            let overhead = self.spec.overhead;
            let next = self.tins[place].next(now, first, (&mut self.stream, lost), |size| overhead.adjusted(size));
            let gone = lost[before..].iter().map(|(waiting, _)| waiting).chain(&next);
            gone.for_each(|waiting| self.load.remove(&waiting.packet));
            if let Some(waiting) = next {
                self.advance(place, f64::from(overhead.adjusted(waiting.packet.size())), now.seconds());
                return Some(waiting);
            }
            first = false;
        }
        None
    }

    fn ready_s(&self) -> f64 {
        if self.spec.rate_bps.is_some() { self.ready_s } else { 0.0 }
    }

    fn shaped_s(&self, now_s: f64) -> f64 {
        self.shaped_s - (self.ready_s - now_s).max(0.0)
    }

    fn backlog_s(&self, now_s: f64) -> f64 {
        let (Some(rate_bps), packets @ 1..) = (self.spec.rate_bps, self.load.packets as u64) else { return 0.0 };
        let adjusted = packets * u64::from(self.spec.overhead.adjusted((self.load.bytes / packets) as u32));
        (self.ready_s - now_s).max(0.0) + 8.0 * adjusted as f64 / rate_bps
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.tins.iter().fold(sum_s, |sum_s, tin| tin.waited_s(sum_s, now_s))
    }

    fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

#[cfg(test)]
mod tests;

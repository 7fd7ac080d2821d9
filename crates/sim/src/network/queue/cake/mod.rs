//! CAKE (Høiland-Jørgensen, Täht, Morton 2018; Linux's `sch_cake`): a shaper without bursts, classes ("tins") by code point,
//! in each of them fair queueing over hosts and over their flows, COBALT over each flow, and a filter of ACKs.
//!
//! What is not here, of Linux: ingress mode, autorate, NAT, washing of code points, splitting of large segments.

use serde::{Deserialize, Serialize};

use super::cobalt::nanoseconds;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::random::{self, Stream};
use crate::time::Time;

mod ack_filter;
mod pace;
mod tin;
mod tins;

pub use ack_filter::AckFilter;
use pace::Pace;
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
const LARGE_BYTES: u32 = 1514;

/// A CAKE queue.
#[derive(Clone, Debug)]
pub struct Cake {
    spec: CakeSpec,
    tins: Vec<Tin>,
    /// What packets take of the shaper.
    pace: Option<Pace>,
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
            self.tins[tin].ready = self.tins[tin].ready.max(nanoseconds(now_s));
        }
        if self.load.packets == 0 {
            self.ready_s = self.ready_s.max(now_s);
        }
    }

    /// Charges a packet that goes at `now_s` to the shaper and to its tin's.
    fn advance(&mut self, tin: usize, adjusted: u32, now_s: f64) {
        let Some(pace) = self.pace else { return };
        self.tins[tin].advance(adjusted, nanoseconds(now_s));
        let shaped_s = pace.of(adjusted) as f64 * 1e-9;
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
        let (mut best, mut least, now) = (0, i64::MAX, nanoseconds(now_s));
        for (place, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.has_turns()) {
            let until = tin.ready - now;
            if until <= 0 || until <= least {
                (best, least) = (place, until);
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
        let bytes_per_s = spec.rate_bps.map(|rate_bps| (rate_bps / 8.0) as u64);
        let tin = |share: f64| Tin::new(spec, bytes_per_s.map(|rate| (share * rate as f64) as u64), share);
        Self {
            tins: spec.tins.shares().iter().map(|&share| tin(share)).collect(),
            pace: bytes_per_s.map(Pace::new),
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
                self.advance(place, overhead.adjusted(waiting.packet.size()), now.seconds());
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

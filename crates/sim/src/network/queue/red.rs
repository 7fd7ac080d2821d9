//! Random early detection: the longer the average queue, the more likely an arrival is dropped or marked
//! (Floyd and Jacobson 1993), gently above the upper threshold (Floyd 2000), with a largest probability that
//! adapts itself (Floyd, Gummadi and Shenker 2001, "Adaptive RED").
//!
//! The queue that is averaged does not include the packet in service. With thresholds in bytes, a packet's
//! probability is in proportion to its size.

use serde::{Deserialize, Serialize};

use super::{Arrival, Discipline, Needs, Refusal, Site, Verdict};
use crate::network::queue::limit::QueueLimit;
use crate::random::{Mrg32k3a, Stream};
use crate::scenario::Profile;
use crate::time::Time;

/// Parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
    /// Below this average no packet is dropped.
    pub min: f64,
    /// At this average the probability is `max_probability`.
    pub max: f64,
    /// Whether the thresholds and the average are in bytes, rather than in packets.
    pub in_bytes: bool,
    /// Weight of an arrival in the average.
    pub weight: f64,
    /// Probability at the upper threshold.
    pub max_probability: f64,
    /// Whether the probability rises on to 1 at twice the upper threshold, rather than jumps.
    pub gentle: bool,
    /// Whether at least 1/p packets pass between two drops, and at most 2/p, rather than none and 1/p.
    pub wait: bool,
    /// Size of the packets that an idle line could have sent, in bytes.
    pub packet_bytes: u32,
    /// How the largest probability adapts itself; none: it does not.
    pub adaptive: Option<AdaptiveSpec>,
    /// Whether packets are marked instead of dropped, below the upper threshold (under `ns2` below a probability of 0.1).
    pub ecn: bool,
}

/// How RED's largest probability adapts itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveSpec {
    /// Time from change to change, in seconds.
    pub interval_s: f64,
    /// Smallest largest probability.
    pub least: f64,
    /// Largest one.
    pub most: f64,
}

/// Adaptive RED §4.1: the increment, at most a quarter of the probability, and the factor of a decrease.
const INCREMENT: f64 = 0.01;
const LARGEST_SHARE: f64 = 0.25;
const DECREASE: f64 = 0.9;
/// Adaptive RED §4: the part of the way between the thresholds on either side of the target range.
const OUTSIDE: f64 = 0.4;
/// ns-2's `mark_p_`: from this probability of the average on, packets are dropped, for marks did not help.
const MARK_P: f64 = 0.1;

/// A RED queue.
#[derive(Clone, Debug)]
pub struct Red(Box<State>);

#[derive(Clone, Debug)]
struct State {
    spec: RedSpec,
    profile: Profile,
    /// Packets that the line sends in a second.
    packets_per_s: f64,
    average: f64,
    max_probability: f64,
    /// When that was last changed.
    adapted: Time,
    /// What arrived since the last drop.
    packets: u64,
    bytes: u64,
    /// The average was above the lower threshold at the last arrival.
    above: bool,
    dice: Dice,
}

/// Where random numbers come from.
#[derive(Clone, Debug)]
enum Dice {
    Own(Stream),
    /// ns-2's generator, and how many numbers were drawn.
    Ns2(Mrg32k3a, u64),
}

impl Dice {
    fn uniform(&mut self) -> f64 {
        match self {
            Self::Own(stream) => stream.uniform(),
            Self::Ns2(generator, draws) => {
                *draws += 1;
                generator.uniform()
            }
        }
    }
}

impl State {
    /// The queue, in the unit of the thresholds.
    fn queue(&self, arrival: &Arrival) -> f64 {
        if self.spec.in_bytes { arrival.waiting_bytes() as f64 } else { arrival.waiting() as f64 }
    }

    /// Takes an arrival into the average; over an idle time, as if small packets had found an empty queue.
    fn average(&mut self, arrival: &Arrival) {
        let missed = if arrival.packets == 0 {
            (self.packets_per_s * (arrival.now.seconds() - arrival.free_s.max(0.0))).floor()
        } else {
            0.0
        };
        if missed > 0.0 {
            self.average *= libm::pow(1.0 - self.spec.weight, missed);
        }
        self.average = self.average * (1.0 - self.spec.weight) + self.spec.weight * self.queue(arrival);
    }

    /// Brings the average back into the middle between the thresholds, slowly.
    fn adapt(&mut self, now: Time) {
        let Some(AdaptiveSpec { interval_s, least, most }) = self.spec.adaptive else { return };
        if now.seconds() <= self.adapted.seconds() + interval_s {
            return;
        }
        let RedSpec { min, max, .. } = self.spec;
        let part = OUTSIDE * (max - min);
        if self.average < min + part && self.max_probability > least {
            self.max_probability *= DECREASE;
        } else if self.average > max - part && self.max_probability < most {
            self.max_probability += INCREMENT.min(LARGEST_SHARE * self.max_probability);
        } else {
            return;
        }
        self.adapted = now;
    }

    /// The probability that the average alone makes.
    fn probability(&self) -> f64 {
        let RedSpec { min, max, gentle, max_probability, .. } = self.spec;
        let p = self.max_probability;
        if self.average < max {
            p * (self.average - min) / (max - min)
        } else if gentle {
            // ns-2 computes this slope once: what adapts the largest probability leaves it.
            let p = if self.profile == Profile::Ns2 { max_probability } else { p };
            ((1.0 - p) * self.average / max + 2.0 * p - 1.0).min(1.0)
        } else {
            1.0
        }
    }

    /// The probability with what arrived since the last drop: drops come evenly, not in bunches.
    fn spread(&self, p: f64, size: u32) -> f64 {
        let RedSpec { in_bytes, wait, packet_bytes, .. } = self.spec;
        let since = if in_bytes { (self.bytes / u64::from(packet_bytes)) as f64 } else { self.packets as f64 };
        let due = since * p;
        let p = match wait {
            true if due < 1.0 => 0.0,
            true if due < 2.0 => p / (2.0 - due),
            false if due < 1.0 => p / (1.0 - due),
            _ => 1.0,
        };
        let p = if in_bytes && p < 1.0 { p * f64::from(size) / f64::from(packet_bytes) } else { p };
        p.min(1.0)
    }

    fn forget(&mut self) {
        (self.packets, self.bytes) = (0, 0);
    }

    /// What the average says to an arrival.
    fn judge(&mut self, arrival: &Arrival) -> Verdict {
        self.packets += 1;
        self.bytes += u64::from(arrival.size);
        // Behind a single packet nobody is dropped, whatever the average remembers.
        if self.average < self.spec.min || self.queue(arrival) <= 1.0 {
            self.above = false;
            return Verdict::Take;
        }
        if !self.above {
            // The count begins where the average crosses the lower threshold.
            self.above = true;
            (self.packets, self.bytes) = (1, u64::from(arrival.size));
            return Verdict::Take;
        }
        let p = self.probability();
        if self.dice.uniform() > self.spread(p, arrival.size) {
            return Verdict::Take;
        }
        self.forget();
        let marks = match self.profile {
            Profile::Ns2 => p < MARK_P,
            // RFC 3168 §7: above the upper threshold packets are dropped, for marks did not help.
            _ => self.average < self.spec.max,
        };
        Verdict::too_long(self.spec.ecn && arrival.capable && marks)
    }
}

impl Discipline for Red {
    type Spec = RedSpec;
    const HELP: &'static str = "random early detection: the longer the average queue, the likelier a drop or mark";
    const TAKES_WHAT_FITS: bool = false;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &RedSpec, site: Site<'_>) -> Self {
        Self(Box::new(State {
            spec: *spec,
            profile: site.profile,
            packets_per_s: site.packets_per_s(spec.packet_bytes),
            average: 0.0,
            max_probability: spec.max_probability,
            adapted: Time::ZERO,
            packets: 0,
            bytes: 0,
            above: false,
            dice: match site.ns2 {
                Some(generator) => Dice::Ns2(generator.clone(), 0),
                None => Dice::Own(Stream::new(site.seed, site.link, 0, "queue")),
            },
        }))
    }

    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        self.0.average(arrival);
        self.0.adapt(arrival.now);
        let verdict = self.0.judge(arrival);
        if self.has_room(arrival) {
            return verdict;
        }
        self.0.forget();
        Verdict::Refuse(Refusal::Full)
    }

    fn has_room(&self, arrival: &Arrival) -> bool {
        let RedSpec { limit, in_bytes, packet_bytes, .. } = self.0.spec;
        match (limit, self.0.profile) {
            // ns-2's RED does not count the packet in service, and with thresholds in bytes it counts bytes.
            (QueueLimit::Packets(limit), Profile::Ns2) if in_bytes => {
                arrival.waiting_bytes() < u64::from(limit) * u64::from(packet_bytes)
            }
            (QueueLimit::Packets(limit), Profile::Ns2) => arrival.waiting() < limit as usize,
            _ => arrival.fits(limit),
        }
    }

    fn needs(&self) -> Needs {
        Needs { bytes: self.0.spec.in_bytes || self.0.spec.limit.counts_bytes(), ..Needs::default() }
    }

    fn random_draws(&self) -> u64 {
        match &self.0.dice {
            Dice::Own(stream) => stream.draws(),
            Dice::Ns2(_, draws) => *draws,
        }
    }
}

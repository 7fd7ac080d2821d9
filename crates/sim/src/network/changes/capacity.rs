//! How fast bits leave a line.

use super::bursts::Bursts;
use super::course::Course;
use super::opportunities::Opportunities;
use crate::network::wire::Wire;
use crate::random::Stream;
use crate::scenario::{LinkSpec, RateSpec};

/// What a line can do, looked at from the past to the future. It does work: of a packet as many bits, bytes or seconds as it
/// counts.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// In seconds.
    Constant(Wire),
    /// In bits.
    Course(Wire, Course),
    /// In bytes.
    Opportunities(Opportunities),
    /// In seconds.
    Bursts(Wire, Bursts),
}

impl Capacity {
    /// That of a link, from its beginning.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let wire = spec.wire();
        let stream = || Stream::new(seed, &spec.name, 0, "rate");
        match &spec.rate {
            None => Self::Constant(wire),
            Some(RateSpec::Course(course)) => Self::Course(wire, Course::new(course, stream())),
            Some(RateSpec::Trace(trace)) => Self::Opportunities(Opportunities::new(&trace.trace_ms)),
            Some(RateSpec::Aggregating(aggregating)) => Self::Bursts(wire, Bursts::new(aggregating, stream())),
        }
    }

    /// The work that a packet is.
    #[inline(always)]
    #[must_use]
    pub fn work(&self, size: u32) -> f64 {
        match self {
            Self::Constant(wire) | Self::Bursts(wire, _) => wire.transmission_s(size),
            Self::Course(wire, _) => 8.0 * f64::from(wire.frame_bytes(size)),
            Self::Opportunities(_) => Opportunities::work(size),
        }
    }

    /// Bits of a unit of work; nothing where it does not say how many.
    #[must_use]
    pub fn bits(&self) -> Option<f64> {
        match self {
            Self::Constant(wire) => wire.rate_pps.is_none().then_some(wire.rate_bps),
            Self::Course(..) => Some(1.0),
            Self::Opportunities(_) => Some(8.0),
            Self::Bursts(..) => None,
        }
    }

    /// The bursts in which packets leave, if they do.
    #[must_use]
    pub fn bursts(&self) -> Option<&Bursts> {
        if let Self::Bursts(_, bursts) = self { Some(bursts) } else { None }
    }

    /// When a packet enters the line that came at `now_s` and is first from `start_s` on.
    #[inline(always)]
    pub fn begin(&mut self, now_s: f64, start_s: f64) -> f64 {
        match self {
            Self::Constant(_) | Self::Course(..) => {}
            Self::Opportunities(opportunities) => opportunities.begin(now_s),
            Self::Bursts(_, bursts) => return bursts.begin(now_s, start_s),
        }
        start_s
    }

    /// Does work from `at_s` on, but not beyond `until_s`: when it is done. If it is not done by then, `left` says what is
    /// left.
    #[inline(always)]
    pub fn serve(&mut self, at_s: f64, left: &mut f64, until_s: f64) -> Option<f64> {
        match self {
            Self::Constant(_) => served_evenly(at_s, left, until_s),
            Self::Course(_, course) => course.serve(at_s, left, until_s),
            Self::Opportunities(opportunities) => opportunities.serve(left, until_s),
            Self::Bursts(_, bursts) => {
                let end_s = served_evenly(at_s, left, until_s);
                bursts.end(end_s.unwrap_or(until_s));
                end_s
            }
        }
    }

    /// When it can do work from `at_s` on: where it stands still, later.
    #[inline(always)]
    #[must_use]
    pub fn opens_s(&self, at_s: f64) -> f64 {
        if let Self::Course(_, course) = self { course.opens_s(at_s) } else { at_s }
    }

    /// Whether a packet leaves at an instant, and takes no time for it.
    #[inline(always)]
    #[must_use]
    pub fn leaves_at_once(&self) -> bool {
        matches!(self, Self::Opportunities(_))
    }

    /// The line was down until `at_s`.
    pub fn resume(&mut self, at_s: f64) {
        if let Self::Opportunities(opportunities) = self {
            opportunities.skip(at_s);
        }
    }

    /// Work that could be done from `from_s` on and before `until_s`, neither of which falls from call to call; of bursts,
    /// waits for the medium included.
    pub fn offered(&mut self, from_s: f64, until_s: f64) -> f64 {
        match self {
            Self::Constant(_) | Self::Bursts(..) => until_s - from_s,
            Self::Course(_, course) => course.between(from_s, until_s),
            Self::Opportunities(opportunities) => opportunities.offered(from_s, until_s),
        }
    }

    /// Work that could be done at the instant of the last packet's departure and was not.
    #[must_use]
    pub fn left_over(&self) -> f64 {
        if let Self::Opportunities(opportunities) = self { opportunities.left_over() } else { 0.0 }
    }

    /// The next packet has waited for the one before it, wherever that was.
    pub fn follow(&mut self) {
        match self {
            Self::Constant(_) | Self::Course(..) => {}
            Self::Opportunities(opportunities) => opportunities.follow(),
            Self::Bursts(_, bursts) => bursts.follow(),
        }
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        match self {
            Self::Constant(_) | Self::Opportunities(_) => 0,
            Self::Course(_, course) => course.random_draws(),
            Self::Bursts(_, bursts) => bursts.random_draws(),
        }
    }
}

/// When work is done that takes `left` seconds.
fn served_evenly(at_s: f64, left: &mut f64, until_s: f64) -> Option<f64> {
    let end_s = at_s + *left;
    if end_s <= until_s {
        return Some(end_s);
    }
    *left -= until_s - at_s;
    None
}

//! Drop-tail behind a policer: a bucket that fills with tokens at a rate, and loses each packet for whose bytes it has
//! too few (RFC 2697 §3 with one bucket and without colours, as Linux's `police` and the routers of providers do).
//! Unlike a shaper, it lets nothing wait.

use serde::{Deserialize, Serialize};

use super::{Arrival, Discipline, Needs, Refusal, Site, Verdict};
use crate::network::queue::limit::QueueLimit;

/// Parameters of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicerSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
    /// Rate at which tokens come, in bit/s.
    pub rate_bps: f64,
    /// Tokens that the bucket holds, in bytes; it is full at first.
    pub burst_bytes: u64,
}

/// A queue behind a policer.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    spec: PolicerSpec,
    /// The bucket's tokens, in bytes, and when they were so many, in seconds.
    tokens: f64,
    counted_s: f64,
}

impl Discipline for Policer {
    type Spec = PolicerSpec;
    const HELP: &'static str = "first in, first out, of what a token bucket lets through; the rest is dropped";
    const TAKES_WHAT_FITS: bool = false;

    fn new(spec: &PolicerSpec, _: Site<'_>) -> Self {
        Self { spec: *spec, tokens: spec.burst_bytes as f64, counted_s: 0.0 }
    }

    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        let now_s = arrival.now.seconds();
        let came = (now_s - self.counted_s) * self.spec.rate_bps / 8.0;
        self.tokens = (self.tokens + came).min(self.spec.burst_bytes as f64);
        self.counted_s = now_s;
        let needed = f64::from(arrival.size);
        if self.tokens < needed {
            return Verdict::Refuse(Refusal::Managed);
        }
        self.tokens -= needed;
        // What the queue behind it loses has used its tokens.
        if self.has_room(arrival) { Verdict::Take } else { Verdict::Refuse(Refusal::Full) }
    }

    fn has_room(&self, arrival: &Arrival) -> bool {
        u64::from(arrival.size) <= self.spec.burst_bytes && arrival.fits(self.spec.limit)
    }

    fn needs(&self) -> Needs {
        Needs { bytes: self.spec.limit.counts_bytes(), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site;
    use super::*;
    use crate::time::Time;
    use proptest::prelude::*;

    fn arrival(at_s: f64, packets: usize, size: u32) -> Arrival {
        let now = Time::new(at_s);
        Arrival { now, packets, bytes: 0, serving_bytes: 0, free_s: 0.0, size, capable: false }
    }

    /// 8 kbit/s are a token a millisecond; the bucket holds 3000.
    fn policer() -> Policer {
        Policer::new(&PolicerSpec { limit: QueueLimit::Packets(2), rate_bps: 8000.0, burst_bytes: 3000 }, site())
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut policer = policer();
        let mut verdict = |at_s, size| policer.admit(&arrival(at_s, 0, size));
        let lost = Verdict::Refuse(Refusal::Managed);
        assert_eq!([verdict(9.0, 1500), verdict(9.0, 1500), verdict(9.0, 40)], [Verdict::Take, Verdict::Take, lost]);
        // What is lost uses no tokens: a second later there are a thousand.
        assert_eq!([verdict(10.0, 1001), verdict(10.0, 1000), verdict(10.0, 1)], [lost, Verdict::Take, lost]);
        // It never has more than it holds.
        assert_eq!([verdict(99.0, 3000), verdict(99.0, 1)], [Verdict::Take, lost]);
    }

    #[test]
    fn what_the_bucket_cannot_hold_never_passes() {
        let mut policer = policer();
        assert_eq!(policer.admit(&arrival(0.0, 0, 3001)), Verdict::Refuse(Refusal::Managed));
        assert!(!policer.has_room(&arrival(0.0, 0, 3001)) && policer.has_room(&arrival(0.0, 0, 3000)));
    }

    #[test]
    fn the_queue_behind_it_has_its_limit() {
        let mut policer = policer();
        assert_eq!(policer.admit(&arrival(0.0, 2, 1000)), Verdict::Refuse(Refusal::Full));
        assert_eq!(policer.admit(&arrival(0.0, 1, 2001)), Verdict::Refuse(Refusal::Managed));
    }

    proptest! {
        /// In whole bytes and seconds, so that nothing is rounded.
        #[test]
        fn in_any_time_the_bucket_and_what_fills_it_pass_and_no_less(arrivals in prop::collection::vec((0u32..5, 1u32..1500), 1..60)) {
            let spec = PolicerSpec { limit: QueueLimit::Unlimited, rate_bps: 8.0 * 300.0, burst_bytes: 2000 };
            let mut policer = Policer::new(&spec, site());
            let (mut passed, mut now): (Vec<(u32, u32)>, u32) = (Vec::new(), 0);
            for (pause, size) in arrivals {
                now += pause;
                // The most that may come now so that from no packet on too much has passed.
                let since = |first: usize| passed[first..].iter().map(|packet| packet.1).sum::<u32>();
                let left = |first: usize| 2000 + 300 * (now - passed[first].0) - since(first);
                let most = (0..passed.len()).map(left).min().unwrap_or(2000).min(2000);
                let passes = policer.admit(&arrival(f64::from(now), 0, size)) == Verdict::Take;
                prop_assert_eq!(passes, size <= most);
                if passes {
                    passed.push((now, size));
                }
            }
        }
    }
}

//! Random exponential marking (Athuraliya, Low, Li, Yin: "REM: active queue management", IEEE Network 15 (3),
//! 2001): the link has a price, which rises while more comes than it carries or more waits than it aims at. An
//! arrival is marked with the probability 1 − φ^−price, so that of the packets of a path the share without a
//! mark tells the sum of its prices.
//!
//! On a line of constant rate the work that waits falls evenly from arrival to arrival. So the updates between
//! two arrivals are made at the second, with the backlog and the arrivals as they were, and need no event.

use serde::{Deserialize, Serialize};

use super::pie::updates_until;
use super::{Arrival, Discipline, Needs, Refusal, Site, Verdict};
use crate::network::queue::limit::QueueLimit;
use crate::network::wire::Wire;
use crate::random::Stream;

/// Parameters of REM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
    /// By how much a packet too many raises the price: γ.
    pub gamma: f64,
    /// Weight of a packet that waits, over that of one that comes: α.
    pub alpha: f64,
    /// Base of the probability: φ, above 1.
    pub phi: f64,
    /// Backlog that it aims at, in packets: b*.
    pub target_packets: f64,
    /// Time from update to update, in seconds.
    pub interval_s: f64,
    /// Size of the packets that backlog and arrivals are counted in, in bytes.
    pub packet_bytes: u32,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
    /// Whether those chosen that cannot be marked are dropped.
    pub drop: bool,
}

/// A REM queue.
#[derive(Clone, Debug)]
pub struct Rem(Box<State>);

#[derive(Clone, Debug)]
struct State {
    spec: RemSpec,
    wire: Wire,
    /// How long a packet of `packet_bytes` is on the line, in seconds.
    packet_s: f64,
    /// ln φ.
    ln_phi: f64,
    price: f64,
    /// Packets that came since the last update.
    arrived: f64,
    /// Updates made so far.
    updates: u64,
    /// What the price makes of it.
    probability: f64,
    stream: Stream,
}

impl State {
    /// Makes the updates up to `now_s`. The line has been, or will be, free from `free_s` on.
    fn catch_up(&mut self, now_s: f64, free_s: f64) {
        let before = self.price;
        loop {
            let at_s = (self.updates + 1) as f64 * self.spec.interval_s;
            if at_s > now_s {
                break;
            }
            if at_s >= free_s && self.price == 0.0 && self.arrived == 0.0 {
                // Nothing changes until a packet comes: the rest at once.
                self.updates = updates_until(self.spec.interval_s, now_s);
                break;
            }
            self.updates += 1;
            self.update((free_s - at_s).max(0.0) / self.packet_s);
        }
        if self.price != before {
            self.probability = -libm::expm1(-self.price * self.ln_phi);
        }
    }

    /// One update, with `backlog` packets waiting or in service.
    fn update(&mut self, backlog: f64) {
        let RemSpec { gamma, alpha, target_packets, interval_s, .. } = self.spec;
        let excess = self.arrived - interval_s / self.packet_s;
        self.price = (self.price + gamma * (alpha * (backlog - target_packets) + excess)).max(0.0);
        self.arrived = 0.0;
    }
}

impl Discipline for Rem {
    type Spec = RemSpec;
    const HELP: &'static str = "random exponential marking: arrivals are marked or dropped by the price of the link";
    const TAKES_WHAT_FITS: bool = false;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &RemSpec, site: Site<'_>) -> Self {
        Self(Box::new(State {
            spec: *spec,
            wire: site.wire,
            packet_s: site.wire.transmission_s(spec.packet_bytes),
            ln_phi: libm::log(spec.phi),
            price: 0.0,
            arrived: 0.0,
            updates: 0,
            probability: 0.0,
            stream: Stream::new(site.seed, site.link, 0, "queue"),
        }))
    }

    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        let state = &mut *self.0;
        state.catch_up(arrival.now.seconds(), arrival.free_s);
        // Those that find it full are demand as well.
        state.arrived += state.wire.transmission_s(arrival.size) / state.packet_s;
        let RemSpec { limit, ecn, drop, .. } = state.spec;
        if !arrival.fits(limit) {
            return Verdict::Refuse(Refusal::Full);
        }
        let marks = ecn && arrival.capable;
        if (marks || drop) && state.probability > 0.0 && state.stream.chance(state.probability) {
            Verdict::too_long(marks)
        } else {
            Verdict::Take
        }
    }

    fn has_room(&self, arrival: &Arrival) -> bool {
        arrival.fits(self.0.spec.limit)
    }

    fn needs(&self) -> Needs {
        Needs { unasked: 0, bytes: self.0.spec.limit.counts_bytes(), free_line: true }
    }

    fn random_draws(&self) -> u64 {
        self.0.stream.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{FramingSpec, Profile};
    use crate::time::Time;
    use proptest::prelude::*;

    const SPEC: RemSpec = RemSpec {
        limit: QueueLimit::Unlimited,
        gamma: 0.001,
        alpha: 0.1,
        phi: 1.001,
        target_packets: 20.0,
        interval_s: 0.002,
        packet_bytes: 1000,
        ecn: true,
        drop: true,
    };

    /// On a line that a frame of 1000 bytes occupies for a millisecond.
    fn rem(spec: RemSpec) -> Rem {
        let framing = FramingSpec { overhead_bytes: 25, smallest_bytes: 75 };
        let wire = Wire { rate_bps: 8.2e6, rate_pps: None, delay_s: 0.1, framing };
        Rem::new(&spec, Site { link: "wire", wire, profile: Profile::Rfc, seed: 1, ns2: None })
    }

    fn arrival(now_s: f64, free_s: f64, size: u32, capable: bool) -> Arrival {
        Arrival { now: Time::new(now_s), packets: 0, bytes: 0, serving_bytes: 0, free_s, size, capable }
    }

    /// The price after each interval up to `end_s`, by the formula alone: arrivals are (time, packets), each of which
    /// adds as many milliseconds of work.
    fn prices(spec: RemSpec, arrivals: &[(f64, f64)], end_s: f64) -> Vec<f64> {
        let mut prices = vec![0.0];
        for interval in 0.. {
            let (from_s, until_s) = (f64::from(interval) * spec.interval_s, f64::from(interval + 1) * spec.interval_s);
            if until_s > end_s {
                return prices;
            }
            // An arrival at the instant of an update comes after it.
            let came: f64 = arrivals.iter().filter(|(at_s, _)| (from_s..until_s).contains(at_s)).map(|one| one.1).sum();
            let (mut free_s, before) = (0.0f64, arrivals.iter().filter(|(at_s, _)| *at_s < until_s));
            for (at_s, packets) in before {
                free_s = free_s.max(*at_s) + 0.001 * packets;
            }
            let backlog = (free_s - until_s).max(0.0) / 0.001;
            let mismatch = spec.alpha * (backlog - spec.target_packets) + came - spec.interval_s / 0.001;
            prices.push((prices[prices.len() - 1] + spec.gamma * mismatch).max(0.0));
        }
        prices
    }

    proptest! {
        /// Updates that are made late, many at once, are those of the formula at the end of each interval; no price is
        /// below zero, and every probability is one.
        #[test]
        fn the_price_is_that_of_the_formula(
            packets in prop::collection::vec((0.0..0.004f64, any::<bool>(), 1u32..4), 1..80),
            target_packets in 0.0..5.0f64,
            gamma in 0.001..1.0f64,
        ) {
            let spec = RemSpec { target_packets, gamma, ..SPEC };
            let mut queue = rem(spec);
            let (mut now_s, mut free_s, mut arrivals) = (0.0f64, -1.0f64, Vec::new());
            for (pause_s, long, count) in packets {
                now_s += if long { 10.0 * pause_s } else { pause_s / 4.0 };
                let verdict = queue.admit(&arrival(now_s, free_s, 1025 * count - 25, true));
                prop_assert!(matches!(verdict, Verdict::Take | Verdict::Mark));
                let expected = prices(spec, &arrivals, now_s);
                let price = expected[expected.len() - 1];
                prop_assert!((queue.0.price - price).abs() < 1e-9 * (1.0 + price), "{} {price}", queue.0.price);
                prop_assert_eq!(queue.0.updates, expected.len() as u64 - 1);
                prop_assert!(queue.0.price >= 0.0 && (0.0..1.0).contains(&queue.0.probability));
                let probability = 1.0 - libm::pow(spec.phi, -queue.0.price);
                prop_assert!((queue.0.probability - probability).abs() < 1e-9);
                free_s = free_s.max(now_s) + 0.001 * f64::from(count);
                arrivals.push((now_s, f64::from(count)));
            }
        }
    }

    /// Shares of 100,000 arrivals that are marked and dropped, at a price that does not move.
    fn shares(spec: RemSpec, price: f64, capable: bool) -> (f64, f64) {
        let mut queue = rem(RemSpec { interval_s: 1e9, ..spec });
        (queue.0.price, queue.0.probability) = (price, 1.0 - libm::pow(spec.phi, -price));
        let (mut marks, mut drops) = (0, 0);
        for _ in 0..100_000 {
            match queue.admit(&arrival(1.0, -1.0, 1000, capable)) {
                Verdict::Take => {}
                Verdict::Mark => marks += 1,
                Verdict::Refuse(_) => drops += 1,
            }
        }
        (f64::from(marks) / 1e5, f64::from(drops) / 1e5)
    }

    #[test]
    fn marks_and_drops_have_the_probability_of_the_price() {
        // 1 − 1.001^−500. Five standard deviations of 100,000 draws.
        let (p, tolerance) = (0.3933, 5.0 * (0.3933 * 0.6067 / 1e5f64).sqrt());
        let chosen = |share: f64| (share - p).abs() < tolerance;
        let (marks, drops) = shares(SPEC, 500.0, true);
        assert!(chosen(marks) && drops == 0.0, "{marks} {drops}");
        let (marks, drops) = shares(SPEC, 500.0, false);
        assert!(marks == 0.0 && chosen(drops), "{marks} {drops}");
        let (marks, drops) = shares(RemSpec { ecn: false, ..SPEC }, 500.0, true);
        assert!(marks == 0.0 && chosen(drops), "{marks} {drops}");
        assert_eq!(shares(RemSpec { drop: false, ..SPEC }, 500.0, false), (0.0, 0.0));
    }

    /// Where every packet takes as long, each is one packet.
    #[test]
    fn a_line_in_packets_counts_packets() {
        let wire = Wire { rate_bps: 1.0, rate_pps: Some(1000.0), delay_s: 0.0, framing: FramingSpec::default() };
        let site = Site { link: "wire", wire, profile: Profile::Rfc, seed: 1, ns2: None };
        let mut queue = Rem::new(&RemSpec { target_packets: 0.0, ..SPEC }, site);
        for size in [40, 1500, 40, 9000] {
            queue.admit(&arrival(0.001, -1.0, size, true));
        }
        queue.admit(&arrival(0.002, 0.005, 40, true));
        // Four came where two could go, and three wait.
        assert!((queue.0.price - 0.001 * (2.0 + 0.1 * 3.0)).abs() < 1e-12, "{}", queue.0.price);
    }

    #[test]
    fn a_full_queue_takes_nothing_and_counts_what_it_refuses() {
        let mut queue = rem(RemSpec { limit: QueueLimit::Packets(10), ..SPEC });
        let full = Arrival { packets: 10, ..arrival(0.001, 0.011, 1000, true) };
        assert_eq!(queue.admit(&full), Verdict::Refuse(Refusal::Full));
        assert_eq!(queue.0.arrived, 1.0);
    }
}

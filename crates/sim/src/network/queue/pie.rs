//! PIE (RFC 8033): a proportional-integral controller of the queueing delay. At each update the probability
//! of a drop moves with the delay's distance from the target and with its change.
//!
//! On a line of constant rate the delay of the queue is known exactly at every instant: it is the time until
//! the line is free, and falls evenly from arrival to arrival. So the updates between two arrivals are made at
//! the second, and need no event. Where no packet waits there is none, whatever is on the line. Of the optional parts (§5)
//! there are ECN (§5.1) and the cap of the increment (§5.5).

use serde::{Deserialize, Serialize};

use super::{Arrival, Discipline, Needs, Refusal, Site, Verdict};
use crate::network::queue::limit::QueueLimit;
use crate::random::Stream;

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieSpec {
    /// What "full" means; the packet in service counts.
    pub limit: QueueLimit,
    /// Queueing delay that it aims at, in seconds: `QDELAY_REF`.
    pub target_s: f64,
    /// Time from update to update, in seconds: `T_UPDATE`.
    pub update_s: f64,
    /// For so long a burst may pass a queue that was short, in seconds: `MAX_BURST`.
    pub burst_s: f64,
    /// Whether packets are marked instead of dropped, while the probability is small.
    pub ecn: bool,
}

/// Appendix A: weights of the delay's distance from its target and of its change (§4.2), in 1/s.
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// §4.2: below each probability, what the change is divided by.
const TUNING: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];
/// §4.2: what is left of the probability after an update without any delay.
const DECAY: f64 = 0.98;
/// By how much the probability grows in addition where the delay is far too long, if anything is.
const FAR_STEP: f64 = 0.02;
/// §4.1: below this probability, a delay of less than half the target lets all packets pass.
const MILD: f64 = 0.2;
/// §4.1: two mean packets may always wait.
const SHORT_BYTES: u64 = 2 * 1024;
/// §5.1: above this probability packets are dropped, not marked: `mark_ecnth`.
const MARKS_BELOW: f64 = 0.1;
/// §5.5: from this probability on, the largest increment.
const CAPPED_FROM: f64 = 0.1;
const CAP: f64 = 0.02;

/// The parameters of the controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) target_s: f64,
    pub(super) update_s: f64,
    pub(super) burst_s: f64,
    /// So many bytes may always wait.
    pub(super) short_bytes: u64,
    /// What is left of the probability after an update without any delay.
    pub(super) decay: f64,
    /// From this delay on it is far too long, in seconds.
    pub(super) far_s: f64,
}

/// Of updates that are so many seconds apart, the number of the last one that is not later than `now_s`.
pub(super) fn updates_until(every_s: f64, now_s: f64) -> u64 {
    let mut updates = (now_s / every_s) as u64;
    while updates as f64 * every_s > now_s {
        updates -= 1;
    }
    updates
}

/// The state of the controller over one waiting line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Controller {
    pub(super) probability: f64,
    /// Delay at the last update, in seconds.
    pub(super) delay_s: f64,
    /// How long a burst may still last, in seconds.
    pub(super) burst_s: f64,
}

impl Controller {
    /// At rest.
    pub(super) fn new(law: Law) -> Self {
        Self { probability: 0.0, delay_s: 0.0, burst_s: law.burst_s }
    }

    /// Whether an update without delay changes nothing.
    pub(super) fn is_at_rest(&self, law: Law) -> bool {
        self.probability == 0.0 && self.delay_s == 0.0 && self.burst_s == law.burst_s
    }

    /// One update (§4.2, §4.4); without a delay, packets may be `waiting` of which none has left. True if a burst may come
    /// anew.
    pub(super) fn update(&mut self, law: Law, delay_s: f64, waiting: bool) -> bool {
        let Law { target_s, update_s, burst_s, decay, far_s, .. } = law;
        let mut change = ALPHA * (delay_s - target_s) + BETA * (delay_s - self.delay_s);
        if let Some((_, divisor)) = TUNING.iter().find(|(below, _)| self.probability < *below) {
            change /= divisor;
        }
        if self.probability >= CAPPED_FROM {
            change = change.min(CAP);
        }
        if delay_s > far_s {
            change += FAR_STEP;
        }
        self.probability += change;
        if delay_s == 0.0 && self.delay_s == 0.0 && !waiting {
            self.probability *= decay;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let calm = self.probability == 0.0 && delay_s < target_s / 2.0 && self.delay_s < target_s / 2.0;
        self.burst_s = if calm { burst_s } else { (self.burst_s - update_s).max(0.0) };
        self.delay_s = delay_s;
        calm
    }

    /// Whether an arrival may be chosen to tell its sender, where so many bytes wait, and the delay is that.
    pub(super) fn may_choose(&self, law: Law, delay_s: f64, bytes: u64) -> bool {
        let short = delay_s < law.target_s / 2.0 && self.probability < MILD || bytes <= law.short_bytes;
        self.burst_s == 0.0 && !short
    }

    /// Whether an arrival that is chosen is marked, if it can be.
    pub(super) fn marks(&self) -> bool {
        self.probability <= MARKS_BELOW
    }
}

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie(Box<State>);

#[derive(Clone, Debug)]
struct State {
    spec: PieSpec,
    law: Law,
    controller: Controller,
    /// Updates made so far.
    updates: u64,
    /// When the last packet that joined enters the line, in seconds: from then on none waits.
    begins_s: f64,
    stream: Stream,
}

impl State {
    /// Makes the updates up to `now_s`. The line has been, or will be, free from `free_s` on.
    fn catch_up(&mut self, now_s: f64, free_s: f64) {
        loop {
            let at_s = (self.updates + 1) as f64 * self.law.update_s;
            if at_s > now_s {
                return;
            }
            if at_s >= self.begins_s && self.controller.is_at_rest(self.law) {
                // Nothing changes until a packet comes: the rest at once.
                self.updates = updates_until(self.law.update_s, now_s);
                return;
            }
            self.updates += 1;
            let delay_s = if at_s < self.begins_s { free_s - at_s } else { 0.0 };
            self.controller.update(self.law, delay_s, false);
        }
    }
}

impl Discipline for Pie {
    type Spec = PieSpec;
    const HELP: &'static str = "a controller of the queueing delay drops or marks arrivals (RFC 8033)";
    const TAKES_WHAT_FITS: bool = false;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &PieSpec, site: Site<'_>) -> Self {
        let PieSpec { target_s, update_s, burst_s, .. } = *spec;
        let law = Law { target_s, update_s, burst_s, short_bytes: SHORT_BYTES, decay: DECAY, far_s: f64::INFINITY };
        Self(Box::new(State {
            spec: *spec,
            law,
            controller: Controller::new(law),
            updates: 0,
            begins_s: 0.0,
            stream: Stream::new(site.seed, site.link, 0, "queue"),
        }))
    }

    fn admit(&mut self, arrival: &Arrival) -> Verdict {
        self.0.catch_up(arrival.now.seconds(), arrival.free_s);
        let State { spec, law, controller, stream, begins_s, .. } = &mut *self.0;
        let verdict = if !arrival.fits(spec.limit) {
            Verdict::Refuse(Refusal::Full)
        } else if controller.may_choose(*law, controller.delay_s, arrival.waiting_bytes())
            && stream.chance(controller.probability)
        {
            Verdict::too_long(spec.ecn && arrival.capable && controller.marks())
        } else {
            Verdict::Take
        };
        if !matches!(verdict, Verdict::Refuse(_)) {
            *begins_s = arrival.free_s.max(arrival.now.seconds());
        }
        verdict
    }

    fn has_room(&self, arrival: &Arrival) -> bool {
        arrival.fits(self.0.spec.limit)
    }

    fn needs(&self) -> Needs {
        Needs { unasked: 0, bytes: true, free_line: true }
    }

    fn random_draws(&self) -> u64 {
        self.0.stream.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::wire::Wire;
    use crate::scenario::{FramingSpec, Profile};
    use proptest::prelude::*;

    fn state() -> State {
        let limit = QueueLimit::Unlimited;
        let spec = PieSpec { limit, target_s: 0.015, update_s: 0.015, burst_s: 0.15, ecn: false };
        let wire = Wire { rate_bps: 1e6, rate_pps: None, delay_s: 0.0, framing: FramingSpec::default() };
        *Pie::new(&spec, Site { link: "wire", wire, profile: Profile::Rfc, seed: 1, ns2: None }).0
    }

    proptest! {
        /// Updates that are made late, many at once, are those that are made in time.
        #[test]
        fn late_updates_are_exact(packets in prop::collection::vec((0.0..0.2f64, 0.0..0.2f64, 0.0..3.0f64), 1..60)) {
            let (mut late, mut punctual) = (state(), state());
            let (mut now_s, mut free_s) = (0.0, -1.0f64);
            for (pause_s, work_s, long_s) in packets {
                let pause_s = if pause_s < 0.01 { 10.0 * long_s } else { pause_s * work_s };
                let next_s = now_s + pause_s;
                while now_s < next_s {
                    now_s += 0.0071;
                    punctual.catch_up(now_s.min(next_s), free_s);
                }
                now_s = next_s;
                late.catch_up(now_s, free_s);
                punctual.catch_up(now_s, free_s);
                let seen = |state: &State| {
                    let Controller { probability, delay_s, burst_s } = state.controller;
                    (probability, delay_s, burst_s, state.updates)
                };
                prop_assert_eq!(seen(&late), seen(&punctual));
                let begins_s = free_s.max(now_s);
                (late.begins_s, punctual.begins_s) = (begins_s, begins_s);
                free_s = begins_s + work_s;
            }
        }
    }

    #[test]
    fn the_probability_moves_as_the_controller_says() {
        let State { law, mut controller, .. } = state();
        controller.update(law, 0.055, false);
        // §4.2: 0.125 (55 − 15) ms + 1.25 (55 − 0) ms, over 2048 at first.
        let expected = (0.125 * 0.04 + 1.25 * 0.055) / 2048.0;
        assert!((controller.probability / expected - 1.0).abs() < 1e-12, "{}", controller.probability);
        assert_eq!(controller.burst_s, 0.15 - 0.015);
        (controller.probability, controller.delay_s) = (0.3, 0.0);
        controller.update(law, 10.0, false);
        assert!((controller.probability - 0.32).abs() < 1e-12, "§5.5: by 2 % at most, not {}", controller.probability);
        (controller.probability, controller.delay_s) = (0.3, 0.0);
        controller.update(law, 0.0, false);
        assert!((controller.probability - 0.98 * (0.3 - 0.125 * 0.015)).abs() < 1e-12, "{}", controller.probability);
    }
}

//! PCC Vivace (M. Dong et al.: PCC Vivace: Online-Learning Congestion Control, NSDI 2018): tries rates a little above and
//! below its own, each for a round trip, and moves along the gradient of a utility of what came of them.
//!
//! Utility (§3, equation 1): x^t − b x max(0, dRTT/dt) − c x L, of the rate x in Mbit/s, how fast the round trip lengthens and
//! the share L that is lost; t = 0.9, b = 900, c = 11.35. The control knows packets, not bytes: they are taken to have 1500 B.
//! The paper has no window; here one of two round trips bounds what is in flight.

use std::collections::VecDeque;

use super::rate_sample::{LostPacket, RateSample};
use super::rounds::smooth;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::random::Stream;
use crate::time::Time;

/// Exponent of the rate in the utility, and the factors of delay and of loss (§3; b = 0 would be Allegro's).
const EXPONENT: f64 = 0.9;
const LOSS_FACTOR: f64 = 11.35;
/// Rates that are tried differ from the base by this share (§4.2: ε).
const EPSILON: f64 = 0.05;
/// The first bound of a change, as a share of the rate, and by how much it moves (§4.3: ω and δ).
const FIRST_BOUND: f64 = 0.05;
const BOUND_STEP: f64 = 0.1;
/// Mbit/s per unit of the gradient (§4.3: θ₀).
const CONVERSION: f64 = 1.0;
/// Gradients of the round-trip time below this are noise (§4.4).
const RTT_NOISE: f64 = 0.01;
/// Mbit in a packet of 1500 B.
const PACKET_MBIT: f64 = 0.012;
/// Packets a second at least, and in the window.
const LEAST_RATE: f64 = 1.0;
const LEAST_WINDOW: f64 = 4.0;
/// The window has room for so many round trips at the rate, and an interval never lasts shorter than so many packets.
const WINDOW_ROUNDS: f64 = 2.0;
const INTERVAL_PACKETS: f64 = 10.0;

/// What an interval is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The rate doubled.
    Start,
    /// The rate is tried above, or below.
    Above,
    Below,
    /// Until results are there.
    Wait,
}

/// A monitor interval: what was sent in it at one rate, and what became of that.
#[derive(Clone, Copy, Debug)]
struct Interval {
    role: Role,
    begin: Time,
    rate: f64,
    acked: f64,
    lost: f64,
    /// Sums of sending times from its begin, round-trip times, their products and squares.
    sums: [f64; 5],
}

impl Interval {
    fn new(role: Role, begin: Time, rate: f64) -> Self {
        Self { role, begin, rate, acked: 0.0, lost: 0.0, sums: [0.0; 5] }
    }

    fn sample(&mut self, sent: Time, rtt_s: f64) {
        let at_s = sent.since(self.begin);
        for (sum, value) in self.sums.iter_mut().zip([1.0, at_s, rtt_s, at_s * rtt_s, at_s * at_s]) {
            *sum += value;
        }
    }

    /// How fast the round trip lengthens: the slope of a regression.
    fn rtt_gradient(&self) -> f64 {
        let [count, at, rtt, product, square] = self.sums;
        let spread = count * square - at * at;
        let slope = if spread > 0.0 { (count * product - at * rtt) / spread } else { 0.0 };
        if slope.abs() < RTT_NOISE { 0.0 } else { slope }
    }

    fn utility(&self, latency: f64) -> f64 {
        let rate = self.rate * PACKET_MBIT;
        let lost = self.lost / (self.lost + self.acked).max(1.0);
        libm::pow(rate, EXPONENT) - latency * rate * self.rtt_gradient().max(0.0) - LOSS_FACTOR * rate * lost
    }
}

/// PCC Vivace.
#[derive(Clone, Debug)]
pub struct Vivace {
    latency: f64,
    /// Packets per second: the base, and what is sent now.
    base: f64,
    rate: f64,
    srtt_s: f64,
    starting: bool,
    /// Utility of the last interval that doubled the rate.
    start_utility: f64,
    /// Intervals whose packets are not all accounted for; the last is the present one.
    intervals: VecDeque<Interval>,
    ends: Time,
    /// Intervals to come, and gradients that their like have shown.
    plan: VecDeque<Role>,
    results: Vec<Interval>,
    /// Steps in one direction, and how often the bound was met in a row.
    direction: f64,
    steps: f64,
    bounded: f64,
}

impl Vivace {
    fn interval_s(&self) -> f64 {
        self.srtt_s.max(INTERVAL_PACKETS / self.base)
    }

    /// Two pairs of rates, each in a random order (§4.2).
    fn plan_pairs(&mut self, random: &mut Stream) {
        self.results.clear();
        for _ in 0..2 {
            let pair = if random.chance(0.5) { [Role::Above, Role::Below] } else { [Role::Below, Role::Above] };
            self.plan.extend(pair);
        }
    }

    fn begin_interval(&mut self, now: Time) {
        let role = self.plan.pop_front().unwrap_or(if self.starting { Role::Start } else { Role::Wait });
        self.rate = match role {
            Role::Start => {
                self.base *= 2.0;
                self.base
            }
            Role::Above => self.base * (1.0 + EPSILON),
            Role::Below => self.base * (1.0 - EPSILON),
            Role::Wait => self.base,
        };
        self.intervals.push_back(Interval::new(role, now, self.rate));
        self.ends = now + self.interval_s();
    }

    /// All that was sent in an interval is accounted for.
    fn conclude(&mut self, interval: Interval, random: &mut Stream) {
        match interval.role {
            Role::Start if self.starting => {
                let utility = interval.utility(self.latency);
                if utility > self.start_utility {
                    self.start_utility = utility;
                    return;
                }
                // §4.1: back to the rate before the utility fell.
                self.starting = false;
                self.base = (interval.rate / 2.0).max(LEAST_RATE);
                self.rate = self.base;
                self.plan_pairs(random);
            }
            Role::Above | Role::Below => {
                self.results.push(interval);
                if self.results.len() == 4 {
                    self.step();
                    self.plan_pairs(random);
                }
            }
            Role::Start | Role::Wait => {}
        }
    }

    /// §4.2 and §4.3: moves along the gradient that two pairs have shown, if they agree.
    fn step(&mut self) {
        let gradient = |pair: &[Interval]| {
            let (above, below) = if pair[0].role == Role::Above { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
            let rates = (above.rate - below.rate) * PACKET_MBIT;
            (above.utility(self.latency) - below.utility(self.latency)) / rates
        };
        let [one, two] = [gradient(&self.results[..2]), gradient(&self.results[2..])];
        if one * two <= 0.0 {
            self.steps = 0.0;
            self.bounded = 0.0;
            return;
        }
        let gradient = f64::midpoint(one, two);
        if gradient.signum() == self.direction {
            self.steps += 1.0;
        } else {
            (self.direction, self.steps, self.bounded) = (gradient.signum(), 1.0, 0.0);
        }
        // The confidence amplifier, and the bound of a change, which widens while it is met.
        let amplifier = if self.steps <= 3.0 { self.steps } else { 2.0 * self.steps - 3.0 };
        let change = amplifier * CONVERSION * gradient / PACKET_MBIT;
        let bound = (FIRST_BOUND + self.bounded * BOUND_STEP) * self.base;
        self.bounded = if change.abs() > bound { self.bounded + 1.0 } else { 0.0 };
        self.base = (self.base + change.clamp(-bound, bound)).max(LEAST_RATE);
    }
}

impl CongestionControl for Vivace {
    const HELP: &'static str = "PCC Vivace: tries rates and follows the gradient of their utility (Dong et al. 2018)";
    const OPTIONS: &'static [ControlOption] = &[ControlOption::number(
        "latency",
        900.0,
        [0.0, 1e6],
        "weight of a round trip that lengthens: b (§3); 0 minds losses only",
    )];
    const SAMPLES_DELIVERY: bool = true;
    const PHASES: &'static [&'static str] = &["starting", "moving"];

    fn new(options: &Options<'_>) -> Self {
        let [latency] = options.values();
        Self {
            latency,
            base: 0.0,
            rate: 0.0,
            srtt_s: 0.0,
            starting: true,
            start_utility: f64::NEG_INFINITY,
            intervals: VecDeque::new(),
            ends: Time::ZERO,
            plan: VecDeque::new(),
            results: Vec::new(),
            direction: 0.0,
            steps: 0.0,
            bounded: 0.0,
        }
    }

    fn on_sample(
        &mut self,
        window: &mut Window,
        sample: &RateSample,
        losses: &[LostPacket],
        random: &mut Stream,
    ) -> bool {
        window.ssthresh = f64::MAX;
        if let Some(rtt_s) = sample.rtt_s {
            smooth(&mut self.srtt_s, rtt_s);
        }
        if self.base == 0.0 {
            // The first interval doubles it.
            self.base = (window.cwnd / self.srtt_s.max(1e-3) / 2.0).max(LEAST_RATE);
        }
        for lost in losses {
            if let Some(interval) = self.intervals.iter_mut().rfind(|interval| interval.begin <= lost.sent) {
                interval.lost += 1.0;
            }
        }
        if let Some(interval) = self.intervals.iter_mut().rfind(|interval| interval.begin <= sample.sent) {
            interval.acked += sample.newly_delivered;
            if let Some(rtt_s) = sample.rtt_s {
                interval.sample(sample.sent, rtt_s);
            }
        }
        // What was sent before the packet acknowledged now is accounted for, but for what is late.
        while self.intervals.len() > 1 && self.intervals[1].begin <= sample.sent {
            if let Some(interval) = self.intervals.pop_front() {
                self.conclude(interval, random);
            }
        }
        if sample.now >= self.ends {
            self.begin_interval(sample.now);
        }
        window.cwnd = (WINDOW_ROUNDS * self.rate * self.srtt_s).max(LEAST_WINDOW);
        false
    }

    /// Only samples set the window.
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}

    fn on_loss(&mut self, window: &Window, _loss: &Loss) -> f64 {
        window.cwnd
    }

    /// The utility answers losses; a timeout says that nothing arrives: half of the rate.
    fn on_timeout(&mut self, window: &Window, _loss: &Loss) -> f64 {
        self.base = (self.base / 2.0).max(LEAST_RATE);
        self.rate = self.base;
        self.starting = false;
        window.cwnd
    }

    fn phase(&self, _window: &Window) -> usize {
        usize::from(!self.starting)
    }

    fn pacing_rate(&self, window: &Window, _in_flight: f64, srtt_s: f64) -> f64 {
        if self.rate > 0.0 { self.rate } else { window.cwnd / srtt_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::fresh;

    fn interval(role: Role, rate: f64, lost: f64, rtts_s: &[f64]) -> Interval {
        let mut interval = Interval::new(role, Time::ZERO, rate);
        (interval.acked, interval.lost) = (100.0 - lost, lost);
        for (place, &rtt_s) in rtts_s.iter().enumerate() {
            interval.sample(Time::new(0.01 * place as f64), rtt_s);
        }
        interval
    }

    /// §3, equation 1, of 1000 packets a second, which are 12 Mbit/s.
    #[test]
    fn utility_is_the_papers() {
        let rate = libm::pow(12.0, 0.9);
        assert!((interval(Role::Wait, 1000.0, 0.0, &[0.1, 0.1, 0.1]).utility(900.0) - rate).abs() < 1e-9);
        assert!((interval(Role::Wait, 1000.0, 5.0, &[0.1, 0.1, 0.1]).utility(900.0) - rate + 11.35 * 0.6).abs() < 1e-9);
        let lengthens = interval(Role::Wait, 1000.0, 0.0, &[0.1, 0.101, 0.102]);
        assert!((lengthens.rtt_gradient() - 0.1).abs() < 1e-9);
        assert!((lengthens.utility(900.0) - rate + 900.0 * 12.0 * 0.1).abs() < 1e-6);
    }

    /// §4.3: agreeing pairs move the rate, by more with each step in the same direction; pairs that disagree do not.
    #[test]
    fn it_moves_along_the_gradient() {
        let mut control: Vivace = fresh();
        control.base = 1000.0;
        let pair = |better: f64| {
            [interval(Role::Above, 1050.0, 5.0 - better, &[]), interval(Role::Below, 950.0, 5.0 + better, &[])]
        };
        let mut moved = |one: f64, two: f64| {
            let before = control.base;
            control.results = [pair(one), pair(two)].concat();
            control.step();
            control.base - before
        };
        assert_eq!(moved(1.0, -1.0), 0.0);
        let steps = [moved(1.0, 1.0), moved(1.0, 1.0), moved(-1.0, -1.0)];
        assert!(steps[0] > 0.0 && steps[1] > steps[0] && steps[2] < 0.0, "{steps:?}");
    }
}

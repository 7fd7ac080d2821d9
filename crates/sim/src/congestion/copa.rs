//! Copa (V. Arun, H. Balakrishnan: Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018): moves
//! towards the rate 1 / (δ d), where d is the queueing delay, so that each flow keeps about 1 / δ packets in the queue, and
//! empties it now and then. Where it finds no empty queue, others fill it: then δ falls and rises as Reno's window does.
//!
//! A loss changes nothing but δ where others fill the queue, as the paper has it (§2.2), and while it is mended the window
//! follows the delay. A queue counts as nearly empty also
//! where less than half of 1 / δ packets wait: it is made of whole packets, and a tenth of its variation is less than one.

use std::collections::VecDeque;

use super::rounds::{Rounds, smooth};
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::time::Time;

/// How long the smallest round-trip time is remembered (§2.1), in seconds: as many intervals of one second.
const REMEMBERED: usize = 10;
/// The standing round-trip time is the smallest of this part of a round trip (§2.1).
const STANDING: f64 = 0.5;
/// The velocity doubles after so many round trips in one direction (§2.1, step 3).
const STEADY_ROUNDS: u32 = 3;
/// A queue that was not nearly empty in so many round trips is filled by others (§2.2) ...
const FULL_ROUNDS: u32 = 5;
/// ... nearly empty: this share of the variation in so many round trips.
const NEARLY_EMPTY: f64 = 0.1;
const VARIATION_ROUNDS: usize = 4;
/// ... or this share of what it keeps there itself.
const NEARLY_EMPTY_SHARE: f64 = 0.5;
/// Packets in a window at least.
const LEAST_WINDOW: f64 = 2.0;
/// It paces at so many times its window in a standing round trip (§2.1).
const PACING: f64 = 2.0;

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    delta: f64,
    competes: bool,
    srtt_s: f64,
    /// The smallest samples of the last seconds, and which second is the last.
    least_s: [f64; REMEMBERED],
    second: u64,
    /// Samples of which none later is smaller, in order: the first is the standing round-trip time.
    recent: VecDeque<(Time, f64)>,
    /// The largest samples of the last round trips, the present one first.
    largest_s: [f64; VARIATION_ROUNDS],
    rounds: Rounds,
    /// Round trips since the queue was nearly empty.
    full_rounds: u32,
    /// 1 / δ where others fill the queue.
    packets: f64,
    lost: bool,
    velocity: f64,
    grows: bool,
    steady: u32,
    window_before: f64,
}

impl Copa {
    fn base_s(&self) -> f64 {
        self.least_s.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn standing_s(&self) -> f64 {
        self.recent.front().map_or(self.srtt_s, |&(_, rtt_s)| rtt_s)
    }

    /// 1 / δ.
    fn kept(&self) -> f64 {
        if self.full_rounds >= FULL_ROUNDS && self.competes { self.packets } else { 1.0 / self.delta }
    }

    fn sample(&mut self, ack: &Ack) {
        smooth(&mut self.srtt_s, ack.rtt_s);
        let second = ack.now.seconds() as u64;
        for passed in (self.second + 1..=second).take(REMEMBERED) {
            self.least_s[(passed % REMEMBERED as u64) as usize] = f64::INFINITY;
        }
        if second - self.second >= REMEMBERED as u64 {
            self.least_s = [f64::INFINITY; REMEMBERED];
        }
        self.second = second;
        let least_s = &mut self.least_s[(second % REMEMBERED as u64) as usize];
        *least_s = least_s.min(ack.rtt_s);
        while self.recent.back().is_some_and(|last| last.1 >= ack.rtt_s) {
            self.recent.pop_back();
        }
        self.recent.push_back((ack.now, ack.rtt_s));
        while self.recent.len() > 1 && ack.now.since(self.recent[0].0) > STANDING * self.srtt_s {
            self.recent.pop_front();
        }
        self.largest_s[0] = self.largest_s[0].max(ack.rtt_s);
    }

    /// A round trip is over: who fills the queue, and which way the window went.
    fn begin_round(&mut self, window: &Window, ack: &Ack) {
        self.rounds.begin(ack);
        self.largest_s.rotate_right(1);
        self.largest_s[0] = ack.rtt_s;
        self.full_rounds = self.full_rounds.saturating_add(1);
        if self.full_rounds < FULL_ROUNDS {
            self.packets = 1.0 / self.delta;
        } else if !self.lost {
            self.packets += 1.0;
        }
        self.lost = false;
        let grew = window.cwnd > self.window_before;
        self.window_before = window.cwnd;
        if grew == self.grows {
            self.steady += 1;
            if self.steady >= STEADY_ROUNDS {
                self.velocity *= 2.0;
            }
        } else {
            self.turn(grew);
        }
    }

    fn turn(&mut self, grows: bool) {
        (self.grows, self.steady, self.velocity) = (grows, 0, 1.0);
    }
}

impl CongestionControl for Copa {
    const HELP: &'static str =
        "Copa: a rate of one over the queueing delay, a few packets in the queue (Arun, Balakrishnan 2018)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("delta", 0.5, [0.01, 10.0], "one over the packets kept in queues: δ (§2)"),
        ControlOption::switch("competes", true, "keeps more where others fill the queue (§2.2)"),
    ];
    const PACED: bool = true;
    const GOES_ON: bool = true;
    const PHASES: &'static [&'static str] = &["slow-start", "default", "competitive"];

    fn new(options: &Options<'_>) -> Self {
        let [delta, competes] = options.values();
        Self {
            delta,
            competes: competes > 0.5,
            srtt_s: 0.0,
            least_s: [f64::INFINITY; REMEMBERED],
            second: 0,
            recent: VecDeque::new(),
            largest_s: [0.0; VARIATION_ROUNDS],
            rounds: Rounds::default(),
            full_rounds: 0,
            packets: 1.0 / delta,
            lost: false,
            velocity: 1.0,
            grows: true,
            steady: 0,
            window_before: 0.0,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        self.sample(ack);
        let base_s = self.base_s();
        let variation_s = self.largest_s.iter().copied().fold(0.0, f64::max) - base_s;
        let (standing_s, delay_s) = (self.standing_s(), self.standing_s() - base_s);
        let few = delay_s * ack.in_flight <= NEARLY_EMPTY_SHARE / self.delta * standing_s;
        if delay_s <= NEARLY_EMPTY * variation_s || few {
            self.full_rounds = 0;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let standing_s = self.standing_s();
        // §2.1: λ ≤ 1 / (δ d), where λ is the window in a standing round trip.
        let slower = window.cwnd * (standing_s - self.base_s()) <= self.kept() * standing_s;
        if window.in_slow_start() {
            if slower {
                window.cwnd += ack.acked;
                return;
            }
            window.ssthresh = window.cwnd;
        }
        if self.rounds.is_over(ack) {
            self.begin_round(window, ack);
        }
        if slower != self.grows && self.velocity > 1.0 {
            self.turn(slower);
        }
        // By v / δ packets in a round trip, no faster than slow start.
        let change = (self.velocity * self.kept() * ack.acked / window.cwnd).min(ack.acked);
        window.cwnd = (window.cwnd + if slower { change } else { -change }).max(LEAST_WINDOW);
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }

    fn on_loss(&mut self, window: &Window, _loss: &Loss) -> f64 {
        self.lost = true;
        self.packets = (self.packets / 2.0).max(1.0 / self.delta);
        window.cwnd
    }

    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.on_loss(window, loss);
        self.turn(true);
        loss.in_use / 2.0
    }

    fn phase(&self, window: &Window) -> usize {
        if window.in_slow_start() { 0 } else { 1 + usize::from(self.full_rounds >= FULL_ROUNDS && self.competes) }
    }

    fn pacing_rate(&self, window: &Window, _in_flight: f64, srtt_s: f64) -> f64 {
        let standing_s = self.standing_s();
        PACING * window.cwnd / if standing_s > 0.0 { standing_s } else { srtt_s.max(1e-9) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh, with};

    /// §3: on a path of 100 packets the queue goes from empty to a few packets and back. (How many there are on average is a
    /// test of the whole network: `crates/sim/tests/engine/congestion.rs`.)
    #[test]
    fn it_moves_around_a_short_queue() {
        for delta in [0.5, 0.1] {
            let mut control: Copa = with(&[("delta", delta), ("competes", 0.0)]);
            let mut path = Path::new(90.0);
            path.window.ssthresh = 95.0;
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            for round in 0..200 {
                let rtt_s = 0.1 * (path.window.cwnd / 100.0).max(1.0);
                path.round(&mut control, rtt_s);
                if round >= 50 {
                    (least, most) = (least.min(path.window.cwnd), most.max(path.window.cwnd));
                }
            }
            assert!(least < 101.0 && most > 100.0 && most < 100.0 + 30.0 / delta, "δ = {delta}: {least} to {most}");
        }
    }

    /// §2.1: the window goes faster and faster as long as it goes in one direction.
    #[test]
    fn the_velocity_doubles_from_the_fourth_round_trip_on() {
        let mut control: Copa = fresh();
        let mut path = Path::new(1000.0);
        let mut grown = Vec::new();
        for _ in 0..8 {
            let before = path.window.cwnd;
            path.round(&mut control, 0.1);
            grown.push((path.window.cwnd - before).round());
        }
        // Two packets in a round trip, and then twice as many as in the one before.
        assert_eq!(grown[..2], [2.0, 2.0]);
        assert!(grown.windows(2).skip(3).all(|pair| (1.9..2.1).contains(&(pair[1] / pair[0]))), "{grown:?}");
    }

    /// §2.2: a queue that is never empty is others'. δ falls by additive steps, and doubles with a loss.
    #[test]
    fn it_competes_where_the_queue_is_never_empty() {
        let mut control: Copa = fresh();
        let mut path = Path::new(50.0);
        path.round(&mut control, 0.1);
        for _ in 0..20 {
            path.round(&mut control, 0.18);
            path.round(&mut control, 0.2);
        }
        assert!(control.kept() > 20.0, "{}", control.kept());
        let before = control.kept();
        path.lose(&mut control);
        assert_eq!(control.kept(), before / 2.0);
        path.round(&mut control, 0.1);
        assert_eq!(control.kept(), 2.0);
    }
}

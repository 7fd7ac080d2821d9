//! A control by economic means: links have prices, and the source pays a constant amount for each second.
//!
//! The source has the utility w log x of a rate of x packets/s, and chooses the rate at which a packet more is not
//! worth its price: x = w / p (Low and Lapsley: "Optimization flow control, I", `ToN` 7 (6), 1999). With p the sum of
//! the prices of the links on its path, all rates together are proportionally fair (Kelly, Maulloo, Tan:
//! "Rate control for communication networks", J. Opl. Res. Soc. 49, 1998). Links that mark by random exponential
//! marking tell the sum by the share of packets that arrive without a mark: φ^−p.
//!
//! What is paid are marks: at small prices w ln φ of them come in each second, at any rate and round trip. So the
//! share is taken over a number of marks rather than over a time, and is as exact for slow sources as for fast ones.

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};

/// A target is at least that share of the window: a share of marks of which little is known says little.
const LEAST: f64 = 0.5;
/// A window grows by this share of itself in a round trip at most, or by a packet. Links take seconds to find their
/// price: sources that double meanwhile make them swing between too much and nothing.
const MOST_GROWTH: f64 = 0.05;
/// Rounds in the mean round-trip time. Long, so that a queue that grows slows the source at once, as a window
/// does, and gives it its rate back only slowly; at once, rate and queue would swing.
const ROUNDS: f64 = 64.0;
/// Below that, nothing tells of losses and marks.
const SMALLEST: f64 = 2.0;

/// A source that pays for its rate.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// What is paid in a second: w.
    weight: f64,
    gain: f64,
    memory: f64,
    ln_phi: f64,
    rounds: Rounds,
    /// Packets with a mark, and without, that are remembered.
    marked: f64,
    unmarked: f64,
    /// Mean round-trip time, in seconds, and the rounds that it is over.
    rtt_s: f64,
    count: f64,
    /// A round is over, and the window's way to the target is to be set.
    due: bool,
    /// Share of a packet by which each packet acknowledged changes the window in this round.
    step: f64,
    /// Packets acknowledged that have not changed it yet.
    pending: f64,
}

impl Prices {
    /// The price of the path. Half a packet of each kind keeps it finite and above zero.
    fn price(&self) -> f64 {
        libm::log((self.marked + self.unmarked + 1.0) / (self.unmarked + 0.5)) / self.ln_phi
    }

    /// Forgets what is older than the marks that are to be remembered; of packets without one, where they are fewer.
    fn forget(&mut self) {
        let fewer = self.marked.min(self.unmarked);
        if fewer > self.memory {
            self.marked *= self.memory / fewer;
            self.unmarked *= self.memory / fewer;
        }
    }

    /// The window on its way to the target, which it takes packet by packet. It does not grow unless it is in use.
    fn follow(&mut self, cwnd: f64, in_use: bool) -> f64 {
        let step = if in_use { self.step } else { self.step.min(0.0) };
        let moved = (cwnd + step * std::mem::take(&mut self.pending)).max(SMALLEST.min(cwnd));
        if std::mem::take(&mut self.due) {
            let target = (self.weight * self.rtt_s / self.price()).max(LEAST * moved);
            self.step = (self.gain * (target - moved)).min((MOST_GROWTH * moved).max(1.0)) / moved;
        }
        moved
    }

    /// A window that was cut, or grows by itself, is not on the way to a target.
    fn rest(&mut self) {
        (self.step, self.pending) = (0.0, 0.0);
    }
}

impl CongestionControl for Prices {
    const HELP: &'static str =
        "proportional fairness by link prices, which queues of kind rem tell by marks; needs ECN (Low, Lapsley 1999)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number(
            "weight",
            50_000.0,
            [1.0, 1e9],
            "what is paid in a second: price times packets per second",
        ),
        ControlOption::number("gain", 0.5, [0.01, 1.0], "share of the way to the target in each round trip"),
        ControlOption::packets("memory", 8.0, "marks that the price is taken from"),
        ControlOption::number("phi", 1.001, [1.000_001, 10.0], "base of the marks' probability, as all links have it"),
    ];
    /// A price may lower a window that is not in use; growth sees to it itself.
    const SEES_UNUSED: bool = true;
    const READS_MARKS: bool = true;

    fn new(options: &Options<'_>) -> Self {
        let [weight, gain, memory, phi] = options.values();
        Self {
            weight,
            gain,
            memory,
            ln_phi: libm::log(phi),
            rounds: Rounds::default(),
            marked: 0.0,
            unmarked: 0.0,
            rtt_s: 0.0,
            count: 0.0,
            due: false,
            step: 0.0,
            pending: 0.0,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
        self.marked += ack.marked;
        self.unmarked += (ack.delivered - ack.marked).max(0.0);
        self.pending += ack.delivered;
        if let (true, Some(mean_s)) = (self.rounds.is_over(ack), self.rounds.mean_s()) {
            self.forget();
            self.count = (self.count + 1.0).min(ROUNDS);
            self.rtt_s += (mean_s - self.rtt_s) / self.count;
            self.due = true;
            self.rounds.begin(ack);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let in_use = ack.finds_in_use(window);
        if window.in_slow_start() {
            self.rest();
            if in_use {
                window.slow_start(ack.acked);
            }
            return;
        }
        window.cwnd = self.follow(window.cwnd, in_use);
        // It may be below the threshold from here on, and slow start is over.
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.rest();
        loss.in_use / 2.0
    }

    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        if window.in_slow_start() {
            // The first mark ends slow start. What came before it was cheaper: a mark in a window is what is known.
            self.rest();
            (self.marked, self.unmarked) = (1.0, window.cwnd);
        }
        // What is left of a window's way is made up for here, as an ACK that tells
        // of a mark brings none, and where prices are high there are few others.
        Some(self.follow(window.cwnd, loss.in_use + 1.0 > window.cwnd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{ack, loss, with};
    use crate::time::Time;

    /// A connection whose round trips last `rtt_s`; of the packets every `1 / share`th is marked.
    struct Connection {
        control: Prices,
        window: Window,
        rtt_s: f64,
        share: f64,
        through: i32,
        told: i32,
    }

    impl Connection {
        fn new(options: &[(&str, f64)], rtt_s: f64, share: f64) -> Self {
            let window = Window { cwnd: 2.0, ssthresh: f64::MAX };
            Self { control: with(options), window, rtt_s, share, through: 0, told: 0 }
        }

        /// So many round trips, as the sender has them: a mark a window is answered, and others are measured.
        fn run(&mut self, rounds: u32) -> &mut Self {
            for _ in 0..rounds {
                let highest = self.through + self.window.cwnd as i32;
                for through in self.through + 1..=highest {
                    let marked =
                        (f64::from(through) * self.share).floor() > (f64::from(through - 1) * self.share).floor();
                    let newest = through + self.window.cwnd as i32 - 1;
                    let told = f64::from(u8::from(marked));
                    let ack = Ack { through, highest: newest, marked: told, ..ack(self.rtt_s) };
                    self.control.measure(&ack);
                    if !marked {
                        self.control.on_ack(&mut self.window, &ack);
                    } else if through > self.told {
                        let in_use = self.window.cwnd;
                        let cwnd = self.control.on_mark(&self.window, &Loss { now: Time::ZERO, in_use });
                        let cwnd = cwnd.expect("every mark is news");
                        self.window = Window { cwnd, ssthresh: cwnd };
                        self.told = newest;
                    }
                }
                self.through = highest;
            }
            self
        }

        fn rate(&self) -> f64 {
            self.window.cwnd / self.rtt_s
        }
    }

    const EXACT: (&str, f64) = ("memory", 1000.0);

    /// x = w / p with p = −ln(1 − share) / ln φ: at any price, weight and round trip.
    #[test]
    fn the_rate_is_what_the_weight_buys() {
        for share in [0.01, 0.1, 0.5, 0.9] {
            let price = -libm::log(1.0 - share) / libm::log(1.001);
            for weight in [price * 200.0, price * 1000.0] {
                for rtt_s in [0.05, 0.2] {
                    let mut connection = Connection::new(&[("weight", weight), EXACT], rtt_s, share);
                    let rate = connection.run(4000).rate();
                    // Half a mark of a thousand, and marks come one by one.
                    assert!((rate * price / weight - 1.0).abs() < 0.005, "{share} {weight} {rtt_s}: {rate}");
                }
            }
        }
    }

    #[test]
    fn phi_is_that_of_the_links() {
        let mut connection = Connection::new(&[("weight", 1000.0), ("phi", 2.0), EXACT], 0.1, 0.5);
        let rate = connection.run(2000).rate();
        assert!((rate / 1000.0 - 1.0).abs() < 0.005, "half of the packets have a mark at a price of 1: {rate}");
    }

    #[test]
    fn slow_start_ends_with_the_first_mark_and_a_loss_halves() {
        let mut connection = Connection::new(&[], 0.1, 0.0);
        assert_eq!(connection.run(4).window.cwnd, 32.0);
        let ends = connection.control.on_mark(&connection.window, &loss(32.0));
        assert_eq!(ends, Some(32.0));
        assert_eq!(connection.control.on_loss(&connection.window, &loss(32.0)), 16.0);
    }

    /// A round trip brings a window by `gain` nearer to its target, from which it is a half away at most.
    #[test]
    fn the_gain_is_the_share_of_the_way() {
        for gain in [0.5, 0.1] {
            let mut control: Prices = with(&[("gain", gain), ("weight", 1.0)]);
            let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
            // The first ACK ends the round before it and sets the target, half of the window; the others go there.
            for through in 1..=101 {
                let ack = Ack { through, highest: 101, ..ack(0.1) };
                control.measure(&ack);
                control.on_ack(&mut window, &ack);
            }
            let expected = 100.0 - gain * 50.0;
            assert!((window.cwnd - expected).abs() < 1e-9, "{gain}: {}", window.cwnd);
        }
    }

    /// What is remembered are so many marks, or so many packets without one, whichever are fewer.
    #[test]
    fn memory_counts_the_rarer_kind() {
        let mut control: Prices = with(&[("memory", 8.0)]);
        for (marked, unmarked, kept) in
            [(16.0, 160.0, (8.0, 80.0)), (90.0, 9.0, (80.0, 8.0)), (3.0, 500.0, (3.0, 500.0))]
        {
            (control.marked, control.unmarked) = (marked, unmarked);
            control.forget();
            assert_eq!((control.marked, control.unmarked), kept);
        }
    }
}

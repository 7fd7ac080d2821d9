//! The test cases of draft-ietf-ccwg-bbr-06, appendix A, by their numbers there. A path of 1000 packets a second and
//! 0.1 s: 101 packets fit in it.

use super::{BANDWIDTH_CYCLES, Bbr3, State};
use crate::packet::Packet;
use crate::scenario::{Profile, Recovery, TcpSpec};
use crate::transport::tests::{Ends, Outcome, RATE_BPS, tcp};

/// Packets a second, and in the path.
const RATE: f64 = 1000.0;
const BDP: f64 = 101.0;

struct Bench {
    ends: Ends,
    now_s: f64,
    /// When which state began, and with how many packets in flight.
    states: Vec<(f64, State, f64)>,
}

impl Bench {
    fn new() -> Self {
        let mut spec = TcpSpec { window_packets: 100_000.0, ..tcp("bbr3", Recovery::Rack) };
        spec.rto.min_s = 0.2;
        Self { ends: Ends::new(&spec, Profile::Rfc, 1_000_000), now_s: 0.0, states: Vec::new() }
    }

    /// With all to send that the window allows.
    fn bulk() -> Self {
        let mut bench = Self::new();
        bench.ends.start();
        bench
    }

    fn control(&self) -> &Bbr3 {
        &self.ends.controls.bbr3[0]
    }

    /// Packets in flight.
    fn in_flight(&self) -> f64 {
        f64::from(self.ends.sender.rack.as_ref().expect("its recovery is RACK").flight.pipe())
    }

    fn pacing_gain(&self) -> f64 {
        self.control().state.gains().0
    }

    /// Whether it happens before `end_s` that `done`.
    fn until(
        &mut self,
        end_s: f64,
        mut outcome: impl FnMut(usize, &Packet) -> Outcome,
        mut done: impl FnMut(&Self) -> bool,
    ) -> bool {
        while self.now_s < end_s {
            let Some(now_s) = self.ends.step(&mut outcome) else { return false };
            self.now_s = now_s;
            let state = self.control().state;
            if self.states.last().is_none_or(|last| last.1 != state) {
                self.states.push((now_s, state, self.in_flight()));
            }
            if done(self) {
                return true;
            }
        }
        false
    }

    /// Lets everything arrive until `state`: when that is.
    fn reach(&mut self, state: State) -> f64 {
        let end_s = self.now_s + 30.0;
        let reached = self.until(end_s, |_, _| Outcome::Arrives, |bench| bench.control().state == state);
        assert!(reached, "no {state:?} in 30 s, but {:?}", self.states);
        self.now_s
    }

    fn run(&mut self, duration_s: f64) {
        let end_s = self.now_s + duration_s;
        self.until(end_s, |_, _| Outcome::Arrives, |_| false);
    }

    /// From now on the application offers so many packets a second, for so long.
    fn limit_application(&mut self, rate: f64, duration_s: f64) {
        self.ends.sender.limit = self.ends.sender.next;
        for place in 1..=(rate * duration_s) as u32 {
            self.ends.offer(self.now_s + f64::from(place) / rate);
        }
    }

    /// Packets delivered in the next `duration_s`, a second.
    fn throughput(&mut self, duration_s: f64) -> f64 {
        let before = self.ends.receiver.in_order();
        self.run(duration_s);
        f64::from(self.ends.receiver.in_order() - before) / duration_s
    }
}

/// One packet of `count` is lost.
fn lose_every(count: usize) -> impl Fn(usize, &Packet) -> Outcome {
    move |place, _| if place.is_multiple_of(count) { Outcome::Lost } else { Outcome::Arrives }
}

fn is_close(value: f64, expected: f64, share: f64) -> bool {
    (value / expected - 1.0).abs() <= share
}

/// A.1. The bandwidth within 2 %, and three round trips without a quarter more.
#[test]
fn case_1_startup_ends_at_the_plateau() {
    let mut bench = Bench::bulk();
    bench.reach(State::Drain);
    let control = bench.control();
    assert!(control.full.now && control.full.reached && control.full.rounds == 3, "{:?}", control.full);
    assert!(is_close(control.bandwidth.get(), RATE, 0.02), "{}", control.bandwidth.get());
}

/// A.2. Losses of a fifth, in ten places of a round trip, though the application sends half of what the path carries.
#[test]
fn case_2_losses_end_startup_where_the_application_limits() {
    let mut bench = Bench::new();
    bench.ends.start_with(1);
    bench.limit_application(RATE / 2.0, 4.0);
    assert!(!bench.until(1.5, |_, _| Outcome::Arrives, |bench| bench.control().state != State::Startup));
    let lossy = lose_every(5);
    // Little enough is in flight that Drain is over with the ACK that it begins with.
    assert!(bench.until(3.0, lossy, |bench| bench.control().state != State::Startup));
    assert!(bench.control().full.reached && bench.control().bounds.long_term.is_finite());
}

/// A.3. At half of the rate until no more is in flight than fits.
#[test]
fn case_3_drain_ends_when_the_queue_is_empty() {
    let mut bench = Bench::bulk();
    bench.reach(State::Drain);
    assert_eq!(bench.pacing_gain(), 0.5);
    assert!(bench.in_flight() > 1.5 * BDP, "{}", bench.in_flight());
    let mut before = 0.0;
    bench.until(
        10.0,
        |_, _| Outcome::Arrives,
        |bench| {
            let over = bench.control().state != State::Drain;
            before = if over { before } else { bench.in_flight() };
            over
        },
    );
    assert!(is_close(before, BDP, 0.03), "{before}");
    assert!(bench.control().state.is_probe_bw());
}

/// A.4. The path becomes so slow that what is in flight does not fall: after three round trips Drain is over.
#[test]
fn case_4_drain_ends_after_three_round_trips() {
    let mut bench = Bench::bulk();
    // Before Drain, so that what is in flight by then is delivered slowly as well.
    bench.until(5.0, |_, _| Outcome::Arrives, |bench| bench.control().full.rounds == 2);
    bench.ends.wire.rate_bps = 0.45 * RATE_BPS;
    bench.reach(State::Drain);
    let begin = bench.control().rounds.count;
    bench.reach(State::Down);
    assert_eq!(bench.control().rounds.count - begin, 4, "{:?}", bench.states);
    assert!(bench.in_flight() > 1.5 * BDP, "{}", bench.in_flight());
}

/// A.5. Without losses, up to a plateau of three round trips.
#[test]
fn case_5_a_probe_ends_at_the_plateau() {
    let mut bench = Bench::bulk();
    bench.reach(State::Up);
    let begin = bench.control().rounds.count;
    bench.reach(State::Down);
    assert!(bench.control().full.now && bench.control().full.rounds == 3);
    assert!((3..=5).contains(&(bench.control().rounds.count - begin)));
    assert_eq!(bench.ends.sender.totals.packets_retransmitted, 0);
}

/// A.6. Losses end a probe also where the application limits; what they were found at says nothing of the path.
#[test]
fn case_6_losses_end_a_probe_where_the_application_limits() {
    let mut bench = Bench::bulk();
    bench.reach(State::Up);
    bench.limit_application(RATE / 2.0, 3.0);
    let end_s = bench.now_s + 2.0;
    let lossy = lose_every(10);
    // Little enough is in flight to cruise at once.
    assert!(bench.until(end_s, lossy, |bench| bench.control().state != State::Up));
    assert!(bench.control().state.is_probe_bw() && bench.control().probing.too_high);
    assert_eq!(bench.control().undo.left, Some(State::Up));
}

/// A.7. Without losses, and limited by the application, neither Startup nor a probe ends (but by a probe for the
/// round-trip time).
#[test]
fn case_7_the_application_ends_neither_startup_nor_a_probe() {
    let mut bench = Bench::new();
    bench.ends.start_with(1);
    bench.limit_application(RATE / 3.0, 20.0);
    let left = |bench: &Bench| !matches!(bench.control().state, State::Startup | State::ProbeRtt);
    assert!(!bench.until(19.0, |_, _| Outcome::Arrives, left));
    let mut bench = Bench::bulk();
    bench.reach(State::Up);
    bench.limit_application(RATE / 3.0, 3.0);
    let end_s = bench.now_s + 2.9;
    bench.until(end_s, |_, _| Outcome::Arrives, |bench| bench.control().state != State::Up);
    assert_eq!(bench.control().state, State::ProbeRtt);
    assert!(bench.now_s > 5.0, "{}", bench.now_s);
}

/// A.8. At nine tenths of the rate, until there is headroom and the queue is empty.
#[test]
fn case_8_down_ends_when_little_enough_is_in_flight() {
    let mut bench = Bench::bulk();
    bench.reach(State::Down);
    assert_eq!(bench.pacing_gain(), 0.9);
    bench.reach(State::Cruise);
    let control = bench.control();
    let most = control.with_budget(control.packets_at(control.bandwidth.get(), 1.0));
    assert!(bench.in_flight() - 1.0 <= most.min(control.bounds.with_headroom()), "{} {most}", bench.in_flight());
}

/// A.9. Where the path becomes slower than what is sent, the next probe begins without a cruise.
#[test]
fn case_9_down_ends_after_its_time() {
    // A short path: the next probe is due after as many round trips as five packets are to Reno.
    let mut bench = Bench::new();
    (bench.ends.wire.rate_bps, bench.ends.wire.delay_s) = (0.1 * RATE_BPS, 0.02);
    bench.ends.start();
    bench.reach(State::Up);
    let begin_s = bench.reach(State::Down);
    bench.ends.wire.rate_bps = 0.08 * RATE_BPS;
    let mut cruised = false;
    let refilled = bench.until(
        begin_s + 4.0,
        |_, _| Outcome::Arrives,
        |bench| {
            cruised |= bench.control().state == State::Cruise;
            bench.control().state == State::Refill
        },
    );
    assert!(refilled && !cruised, "{:?}", bench.states);
    let waited_s = bench.now_s - begin_s;
    assert!((0.2..3.5).contains(&waited_s), "{waited_s}");
}

/// A.10. Five seconds after the smallest round trip, for 0.2 s and a round trip, with half of what fits.
#[test]
fn case_10_the_round_trip_time_is_probed() {
    let mut bench = Bench::bulk();
    bench.reach(State::Cruise);
    let begin_s = bench.reach(State::ProbeRtt);
    assert!((5.0..6.0).contains(&begin_s), "{begin_s}");
    assert_eq!(bench.control().state.gains().1, 0.5);
    let end_s = bench.reach(State::Cruise);
    assert!((0.2..0.6).contains(&(end_s - begin_s)), "{}", end_s - begin_s);
    bench.run(0.5);
    assert!(is_close(bench.throughput(1.0), RATE, 0.05));
}

/// A.11. After six seconds of silence it is not probed.
#[test]
fn case_11_silence_stands_for_a_probe_of_the_round_trip_time() {
    let mut bench = Bench::bulk();
    bench.reach(State::Cruise);
    bench.limit_application(1.0, 0.0);
    let silent_s = bench.now_s + 6.0;
    for place in 0..2000 {
        bench.ends.offer(silent_s + f64::from(place) / RATE);
    }
    let probes = |bench: &Bench| bench.control().state == State::ProbeRtt;
    assert!(!bench.until(silent_s + 2.0, |_, _| Outcome::Arrives, probes));
    assert!(bench.ends.receiver.in_order() > 1900);
}

/// A.12. ACKs that come in ticks as long as one and as two round trips: Startup finds the rate, and the window has room
/// for what comes at once.
#[test]
fn case_12_startup_finds_the_rate_with_aggregated_acks() {
    for tick_s in [0.05, 0.1, 0.2] {
        let mut bench = Bench::bulk();
        bench.ends.wire.ack_tick_s = Some(tick_s);
        bench.reach(State::Drain);
        let control = bench.control();
        // A packet that left amid the ACKs of one tick has the rest of them to its credit: a tick in a round trip.
        let (bandwidth, most) = (control.bandwidth.get(), 1.05 * RATE * (1.0 + tick_s / (0.1 + tick_s)));
        assert!((0.95 * RATE..most).contains(&bandwidth), "{tick_s}: {bandwidth}");
        assert!(control.extra_acked.most.get() > 0.0 && bench.ends.sender.window.cwnd > 2.0 * BDP, "{tick_s}");
    }
}

/// A.13. In ticks from the cruise on: the window is larger by what comes at once, and the path stays full.
#[test]
fn case_13_cruising_bears_aggregated_acks() {
    for tick_s in [0.02, 0.05, 0.1] {
        let mut bench = Bench::bulk();
        bench.reach(State::Cruise);
        bench.ends.wire.ack_tick_s = Some(tick_s);
        bench.run(1.0);
        let extra = bench.control().extra_acked.most.get();
        // What arrives in a tick comes at once: one tick of it more than the rate explains.
        assert!((0.8 * RATE * tick_s..2.5 * RATE * tick_s).contains(&extra), "{tick_s}: {extra}");
        let rate = bench.throughput(2.0);
        assert!(is_close(rate, RATE, 0.05), "{tick_s}: {rate}");
    }
}

/// A.14. A path of a fourteenth of a packet: four packets of window, and pacing at what it carries.
#[test]
fn case_14_less_than_a_packet_fits() {
    let mut bench = Bench::new();
    (bench.ends.wire.rate_bps, bench.ends.wire.delay_s) = (64e3, 0.004);
    bench.ends.start();
    bench.reach(State::Cruise);
    let packets_s = 64e3 / (8.0 * 1052.0);
    assert!(is_close(bench.throughput(20.0), packets_s, 0.02));
    let control = bench.control();
    assert!(bench.ends.sender.window.cwnd >= 4.0, "{:?}", control.extra_acked);
    assert!(is_close(control.bandwidth.get(), packets_s, 0.02), "{} {packets_s}", control.bandwidth.get());
    assert!(is_close(control.rate / bench.pacing_gain(), 0.99 * packets_s, 0.02), "{}", control.rate);
}

/// A.15. Ten times the rate is found in a logarithmic number of round trips: each probe finds a quarter more in three, …
#[test]
fn case_15_ten_times_the_rate_is_found() {
    let mut bench = Bench::bulk();
    bench.reach(State::Cruise);
    let begin = bench.control().rounds.count;
    bench.ends.wire.rate_bps = 10.0 * RATE_BPS;
    let found = |bench: &Bench| bench.control().bandwidth.get() > 9.0 * RATE;
    let end_s = bench.now_s + 20.0;
    assert!(bench.until(end_s, |_, _| Outcome::Arrives, found), "{}", bench.control().bandwidth.get());
    // From the cruise to the probe as many as Reno's window allows, and log₁.₂₅ 10 of growth at least.
    let rounds = bench.control().rounds.count - begin;
    assert!((10..200).contains(&rounds), "{rounds}");
}

/// A.16. A tenth of the rate: losses at once reduce what is sent now, and two cycles later the old rate is forgotten.
#[test]
fn case_16_a_tenth_of_the_rate_is_found() {
    let mut bench = Bench::bulk();
    bench.ends.wire.longest_queue_s = 0.2;
    bench.reach(State::Cruise);
    bench.ends.wire.rate_bps = RATE_BPS / 10.0;
    let end_s = bench.now_s + 3.0;
    let reduced = |bench: &Bench| bench.control().bounds.bandwidth < 0.5 * RATE;
    assert!(bench.until(end_s, |_, _| Outcome::Arrives, reduced), "{:?}", bench.control().bounds);
    let cycles = bench.control().cycles + BANDWIDTH_CYCLES as u64 + 1;
    let end_s = bench.now_s + 60.0;
    assert!(bench.until(end_s, |_, _| Outcome::Arrives, |bench| bench.control().cycles >= cycles));
    let bandwidth = bench.control().bandwidth.get();
    assert!(is_close(bandwidth, RATE / 10.0, 0.15), "{bandwidth}");
}

/// A.17. A policer of half of the path's rate with a bucket of 50 packets: little more is sent than it lets through.
#[test]
fn case_17_a_policer_is_conformed_to() {
    let mut bench = Bench::bulk();
    bench.reach(State::Cruise);
    let (mut tokens, mut last_s, mut passed, mut lost) = (50.0_f64, bench.now_s, 0, 0);
    let mut police = |_: usize, packet: &Packet| {
        let now_s = packet.sent().seconds();
        tokens = (tokens + (now_s - last_s).max(0.0) * RATE / 2.0).min(50.0);
        last_s = last_s.max(now_s);
        if tokens < 1.0 {
            lost += 1;
            return Outcome::Lost;
        }
        tokens -= 1.0;
        passed += 1;
        Outcome::Arrives
    };
    let (settled_s, end_s) = (bench.now_s + 10.0, bench.now_s + 30.0);
    let mut reduced = false;
    bench.until(settled_s, &mut police, |bench| {
        reduced |= bench.control().bounds.bandwidth.is_finite() && bench.control().bounds.short_term.is_finite();
        false
    });
    assert!(reduced);
    bench.until(end_s, &mut police, |_| false);
    let share = f64::from(lost) / f64::from(lost + passed);
    let rate = f64::from(passed) / 30.0;
    assert!(share < 0.1 && rate > 0.7 * RATE / 2.0, "{share} lost, {rate} packets/s");
}

/// A.18. Packets that are overtaken while it probes: recovery begins needlessly, and all is as before when they arrive.
#[test]
fn case_18_a_needless_recovery_is_undone() {
    let mut bench = Bench::bulk();
    bench.reach(State::Up);
    let before = (bench.ends.sender.window.cwnd, bench.control().bounds);
    let (first, mut seen) = (bench.ends.sender.next, false);
    let end_s = bench.now_s + 1.0;
    // Twenty packets come as much later as shows as a loss, and before they would be retransmitted.
    let late = |_: usize, packet: &Packet| {
        let is_late = (first..first + 20).contains(&(packet.seq() as i32));
        if is_late { Outcome::Late(0.04) } else { Outcome::Arrives }
    };
    let mut left = false;
    bench.until(end_s, late, |bench| {
        seen |= bench.ends.sender.recovering;
        left |= bench.control().state == State::Down;
        seen && !bench.ends.sender.recovering
    });
    assert!(seen && left, "it was taken for losses");
    bench.run(0.05);
    let after = bench.control().bounds;
    assert!(after.long_term >= before.1.long_term && after.bandwidth >= before.1.bandwidth);
    assert!(matches!(bench.control().state, State::Refill | State::Up), "{:?}", bench.control().state);
    assert!(bench.ends.sender.window.cwnd >= before.0.min(2.0 * BDP), "{:?}", bench.ends.sender.window);
}

/// A.19. The path becomes longer by half a second at once: the timer expires needlessly.
#[test]
fn case_19_a_needless_timeout_is_undone() {
    let mut bench = Bench::bulk();
    bench.reach(State::Cruise);
    let before = bench.ends.sender.window.cwnd;
    let first = bench.ends.sender.next;
    let late = |_: usize, packet: &Packet| {
        if packet.seq() as i32 >= first { Outcome::Late(0.6) } else { Outcome::Arrives }
    };
    let end_s = bench.now_s + 3.0;
    assert!(bench.until(end_s, late, |bench| bench.ends.sender.timed_out));
    assert!(bench.until(end_s, late, |bench| !bench.ends.sender.timed_out));
    assert!(bench.ends.sender.totals.timeouts >= 1);
    assert!(bench.ends.sender.window.cwnd >= 0.9 * before, "{:?} {before}", bench.ends.sender.window);
}

/// A.20. Of a slow start by the application the round-trip time is probed: Startup continues after it.
#[test]
fn case_20_startup_goes_on_after_a_probe_of_the_round_trip_time() {
    let mut bench = Bench::new();
    bench.ends.start_with(1);
    bench.limit_application(RATE / 3.0, 20.0);
    bench.reach(State::ProbeRtt);
    assert!(!bench.control().full.reached);
    bench.reach(State::Startup);
}

/// A.21. The second probe with losses: the bound falls by no more than 0.7, and the probe is over.
#[test]
fn case_21_losses_in_a_probe_lower_the_bound() {
    let mut bench = Bench::bulk();
    bench.ends.wire.longest_queue_s = 0.02;
    let bounded = |bench: &Bench| bench.control().bounds.long_term.is_finite();
    assert!(bench.until(20.0, |_, _| Outcome::Arrives, bounded));
    bench.reach(State::Up);
    let before = bench.control().bounds.long_term;
    let lossy = lose_every(10);
    let end_s = bench.now_s + 1.0;
    assert!(bench.until(end_s, lossy, |bench| bench.control().state == State::Down));
    let after = bench.control().bounds.long_term;
    assert!(bench.control().probing.too_high && after < before && after >= 0.69 * before.min(BDP), "{before} {after}");
}

/// §5.3.3.6. A probe after one that lost too much ends where that one did. If nothing is lost by it, the next follows
/// without a cruise, and stays.
#[test]
fn a_probe_after_losses_is_cautious() {
    let mut bench = Bench::bulk();
    bench.reach(State::Up);
    let lossy = lose_every(10);
    let end_s = bench.now_s + 1.0;
    assert!(bench.until(end_s, lossy, |bench| bench.control().state == State::Down));
    assert!(bench.control().probing.too_high);
    bench.reach(State::Up);
    let begin = bench.control().rounds.count;
    bench.reach(State::Down);
    assert!(bench.control().rounds.count - begin <= 1, "at once");
    assert!(!bench.control().probing.too_high);
    let mut cruised = false;
    let end_s = bench.now_s + 2.0;
    let refilled = bench.until(
        end_s,
        |_, _| Outcome::Arrives,
        |bench| {
            cruised |= bench.control().state == State::Cruise && bench.control().probing.rounds > 2;
            bench.control().state == State::Refill
        },
    );
    assert!(refilled && !cruised, "{:?}", bench.states);
}

/// A.22. The application pauses while the pipe is refilled: its slow samples are not the path's, and the probe begins.
#[test]
fn case_22_the_application_pauses_in_a_refill() {
    let mut bench = Bench::bulk();
    bench.reach(State::Refill);
    let before = bench.control().bandwidth.get();
    bench.limit_application(RATE / 10.0, 3.0);
    bench.reach(State::Up);
    bench.run(0.5);
    assert!(bench.control().bandwidth.get() >= 0.99 * before);
    assert_eq!(bench.control().state, State::Up);
}

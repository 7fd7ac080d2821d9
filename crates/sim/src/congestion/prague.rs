//! Prague (draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331 §4): DCTCP for the Internet. It gives up half of the
//! share of packets that queues mark, in fractions of a packet; grows by each ACK without a mark, also in the round trip
//! after a cut; grows and is cut on short paths as on one of 25 ms; and is paced, below a window of two packets by pacing
//! alone.
//!
//! The fall back where marks come from a classic queue (§2.4.5, optional there) is an option, off as in Linux. Where the draft
//! leaves the growth after a loss open, it is Reno's; so is all where the receiver does not tell of each mark. Windows below
//! two packets (RFC 9331 §4.3, item 5) are those of TCP Prague in Linux (tcp_prague.c 0.7, change 6), which makes its packets
//! smaller, too; here they keep their size.

use super::rounds::smooth;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Whole, Window, known};
use crate::time::Time;

mod classic_ecn;
use classic_ecn::ClassicEcn;

/// Weight of a round trip in the share of marks (§2.4.2).
const EWMA_GAIN: f64 = 1.0 / 16.0;
/// It paces by this share faster in the first half of a virtual round trip, and slower in the second (as TCP Prague in
/// Linux does), so that queues show less of it.
const PACING_OFFSET: f64 = 0.03;
/// The sender's window is never smaller (RFC 5681 eq. 4; Linux: MIN_CWND_RTT).
const LEAST_WINDOW: f64 = 2.0;
/// It never sends fewer packets per second: 100 kbit/s in packets of 1500 B (Linux: MINIMUM_RATE, MTU_SYS).
const LEAST_RATE: f64 = 100e3 / (8.0 * 1500.0);

/// Prague.
#[derive(Clone, Copy, Debug)]
pub struct Prague {
    virtual_s: f64,
    transition: f64,
    srtt_s: f64,
    /// Estimated share of packets that are marked; none before the first mark.
    alpha: Option<f64>,
    /// The virtual round trip in which marks are counted: its begin, packets acknowledged, and marked ones of them.
    round_at: Time,
    acked: f64,
    marked: f64,
    /// The actual round trip: its last packet; and round trips since slow start.
    last: i32,
    rounds: f64,
    first_half: bool,
    /// What round trips tell of the queue that marks, where it falls back.
    classic_ecn: Option<ClassicEcn>,
    /// The last cut for a mark: when, and by how many packets.
    cut: Option<(Time, f64)>,
    /// The window where it is below the sender's least; and what it was before the last loss.
    fraction: Option<f64>,
    fraction_before: Option<f64>,
}

impl Prague {
    /// Whether it acts as on a path of the virtual round trip (§2.4.4).
    fn is_virtual(&self) -> bool {
        self.rounds >= self.transition
    }

    /// §2.4.4: what an ACK grows by, over Reno's.
    fn growth(&self) -> f64 {
        if !self.is_virtual() || self.srtt_s >= self.virtual_s {
            return 1.0;
        }
        let share = self.srtt_s / self.virtual_s;
        share * share
    }

    /// The round trip in which it acts.
    fn round_s(&self) -> f64 {
        if self.is_virtual() { self.srtt_s.max(self.virtual_s) } else { self.srtt_s }
    }

    /// Continues with a window of `cwnd` packets. Returns that of the sender.
    fn set(&mut self, cwnd: f64) -> f64 {
        let cwnd = cwnd.max(LEAST_WINDOW.min(LEAST_RATE * self.srtt_s));
        self.fraction = (cwnd < LEAST_WINDOW).then_some(cwnd);
        cwnd.max(LEAST_WINDOW)
    }
}

impl CongestionControl for Prague {
    const HELP: &'static str = "Prague: DCTCP for the Internet, for queues that mark at once; needs ECN (RFC 9331)";
    const WHOLE: Whole = Whole::No;
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::seconds("virtual_rtt", 0.025, "round trip as of which it grows on shorter paths (§2.4.4)"),
        ControlOption::number("transition", 500.0, [0.0, 1e6], "round trips after slow start before it does (§2.4.4)"),
        ControlOption::switch("ecn_fallback", false, "gives up more where round trips show a classic queue (§2.4.5)"),
    ];
    const READS_MARKS: bool = true;
    const PACED: bool = true;

    fn new(options: &Options<'_>) -> Self {
        let [virtual_s, transition, fallback] = options.values();
        Self {
            virtual_s,
            transition,
            srtt_s: 0.0,
            alpha: None,
            round_at: Time::ZERO,
            acked: 0.0,
            marked: 0.0,
            last: -1,
            rounds: 0.0,
            first_half: true,
            classic_ecn: (fallback > 0.5).then(ClassicEcn::default),
            cut: None,
            fraction: None,
            fraction_before: None,
        }
    }

    /// RFC 9331 §4.1.
    fn is_scalable(&self) -> bool {
        true
    }

    /// Linux's continues as Reno then. It is paced still.
    fn goes_without_marks(&mut self) {
        self.transition = f64::INFINITY;
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(queue) = &mut self.classic_ecn {
            queue.sample(ack.rtt_s);
        }
        smooth(&mut self.srtt_s, ack.rtt_s);
        self.acked += ack.delivered;
        if ack.marked > 0.0 {
            self.marked += ack.marked;
            // §2.4.2: nothing is known before the first mark; then the worst is assumed.
            self.alpha.get_or_insert(1.0);
        }
        if ack.through > self.last {
            self.last = ack.highest;
            self.rounds += 1.0;
        }
        let past_s = ack.now.since(self.round_at);
        self.first_half = past_s < self.round_s() / 2.0;
        if past_s >= self.round_s() {
            if let Some(alpha) = &mut self.alpha {
                *alpha += EWMA_GAIN * ((self.marked / self.acked).min(1.0) - *alpha);
                if let Some(queue) = &mut self.classic_ecn {
                    queue.judge();
                }
            }
            (self.round_at, self.acked, self.marked, self.first_half) = (ack.now, 0.0, 0.0, true);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() && self.fraction.is_none() {
            self.rounds = 0.0;
            window.slow_start(ack.acked);
        } else {
            let mut grown = Window { cwnd: self.fraction.unwrap_or(window.cwnd), ..*window };
            grown.grow(self.growth(), ack.acked);
            window.cwnd = self.set(grown.cwnd);
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        self.fraction_before = self.fraction;
        // §2.4.3: a loss in the round trip of a cut for a mark cuts to half of the window before that.
        let before = self.cut.filter(|cut| loss.now.since(cut.0) < self.round_s()).map_or(0.0, |cut| cut.1);
        self.cut = None;
        self.set((self.fraction.unwrap_or(loss.in_use) + before) / 2.0)
    }

    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        // §2.4.2 and §2.4.4: one cut in a round trip, and in a virtual one, where that counts.
        if self.is_virtual() && self.cut.is_some_and(|cut| loss.now.since(cut.0) < self.virtual_s) {
            return None;
        }
        let in_use = self.fraction.unwrap_or(loss.in_use);
        let least = self.classic_ecn.as_mut().map_or(0.0, |queue| queue.least_share(window.ssthresh));
        let cut = in_use * self.alpha.unwrap_or(1.0).max(least) / 2.0;
        self.cut = Some((loss.now, cut));
        Some(self.set(in_use - cut))
    }

    fn known(&self, _packet_bits: f64, each: &mut dyn FnMut(&str, f64)) {
        if let Some(alpha) = self.alpha {
            each(known::MARKED_SHARE, alpha);
        }
    }

    fn on_spurious(&mut self, _window: &mut Window) {
        self.fraction = self.fraction_before;
    }

    fn pacing_rate(&self, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        let offset = if self.first_half { 1.0 + PACING_OFFSET } else { 1.0 - PACING_OFFSET };
        match self.fraction {
            Some(fraction) => fraction / srtt_s * offset,
            None if window.cwnd < window.ssthresh / 2.0 => 2.0 * window.cwnd.max(in_flight) / srtt_s,
            None => window.cwnd.max(in_flight) / srtt_s * offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, ack, fresh, loss, with};
    use crate::scenario::{Ecn, Profile, Recovery, TcpSpec};
    use crate::transport::tests::{Ends, Outcome, tcp};

    /// §2.4.2: the first mark halves; then by half of the share, which follows in sixteenths of a round trip.
    #[test]
    fn it_gives_up_half_of_the_share_that_is_marked() {
        let mut control: Prague = fresh();
        let window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let mut through = 0;
        let mut round = |control: &mut Prague, now_s: f64, marked: i32| {
            for place in 1..=10 {
                through += 1;
                let now = Time::new(now_s + 0.005 * f64::from(place));
                control.measure(&Ack {
                    now,
                    through,
                    highest: through + 10,
                    marked: f64::from(u8::from(place <= marked)),
                    ..ack(0.05)
                });
            }
        };
        round(&mut control, 1.0, 0);
        assert_eq!(control.alpha, None);
        round(&mut control, 1.05, 1);
        let cut = |control: &mut Prague| 1.0 - control.on_mark(&window, &loss(100.0)).unwrap_or_default() / 100.0;
        let expected = control.alpha.unwrap_or_default() / 2.0;
        assert!((cut(&mut control) - expected).abs() < 1e-9);
        for count in 0..200 {
            round(&mut control, 1.1 + 0.05 * f64::from(count), 2);
        }
        let cut = cut(&mut control);
        assert!((cut - 0.1).abs() < 0.005, "{cut}");
    }

    /// §2.4.4: as fast as a flow of 25 ms, which is the square of the ratio per round trip, once it is old.
    #[test]
    fn short_paths_grow_as_of_25_ms() {
        for (rtt_s, transition, packets) in [(0.005, 0.0, 0.04), (0.005, 1000.0, 1.0), (0.05, 0.0, 1.0)] {
            let mut control: Prague = with(&[("transition", transition)]);
            let mut path = Path::new(100.0);
            (0..10).for_each(|_| path.round(&mut control, rtt_s));
            let grown = (path.window.cwnd - 100.0) / 10.0;
            assert!((grown / packets - 1.0).abs() < 0.05, "{rtt_s} s: {grown}");
        }
    }

    /// §2.4.4: once it is old, one cut in 25 ms on shorter paths, and one in each round trip on longer ones.
    #[test]
    fn short_paths_are_cut_as_of_25_ms() {
        for (rtt_s, transition, expected) in [(0.005, 0.0, 5), (0.005, 1000.0, 1), (0.05, 0.0, 1)] {
            let mut control: Prague = with(&[("transition", transition)]);
            let mut path = Path::new(100.0);
            let mut rounds = 0;
            // Every round trip has a mark; what they say of the path is the same.
            control.alpha = Some(0.1);
            while rounds < 100 {
                path.round(&mut control, rtt_s);
                rounds += 1;
                let now = Time::new(path.now_s);
                if rounds > 5 && control.on_mark(&path.window, &Loss { now, in_use: 100.0 }).is_some() {
                    break;
                }
            }
            let first = rounds;
            loop {
                path.round(&mut control, rtt_s);
                rounds += 1;
                let now = Time::new(path.now_s + 1e-9);
                if control.on_mark(&path.window, &Loss { now, in_use: 100.0 }).is_some() {
                    break;
                }
            }
            assert_eq!(rounds - first, expected, "{rtt_s} s, {transition}");
        }
    }

    /// tcp_prague.c, change 6: below two packets the window of the sender stays, and the pacing rate follows the rest.
    #[test]
    fn below_two_packets_the_rate_follows_the_fraction() {
        let mut control: Prague = with(&[("transition", 1000.0)]);
        let mut window = Window { cwnd: 3.0, ssthresh: 3.0 };
        control.measure(&Ack { now: Time::new(1.0), marked: 1.0, ..ack(0.05) });
        // The share of marks stays 1: each cut halves. 0.375 packets in 50 ms are less than 100 kbit/s.
        for left in [1.5, 0.75, LEAST_RATE * 0.05] {
            assert_eq!(control.on_mark(&window, &loss(window.cwnd)), Some(2.0));
            window = Window { cwnd: 2.0, ssthresh: 2.0 };
            let rate = control.pacing_rate(&window, 2.0, 0.05) * 0.05;
            assert!((rate / left - 1.0).abs() < 1.01 * PACING_OFFSET, "{rate} {left}");
        }
        // Growth continues from there, by no more than what is acknowledged.
        for grown in [1.0 + LEAST_RATE * 0.05, 1.0 + LEAST_RATE * 0.05 + 1.0 / (1.0 + LEAST_RATE * 0.05)] {
            control.on_ack(&mut window, &ack(0.05));
            assert!((control.fraction.unwrap_or(window.cwnd) - grown).abs() < 1e-9, "{grown}");
        }
        assert_eq!(control.fraction, None);
    }

    /// A path that marks everything: at two packets in a round trip of 101 ms they would stay.
    #[test]
    fn where_all_is_marked_it_sends_100_kbit() {
        let spec = TcpSpec { ecn: Ecn::Classic, ..tcp("prague", Recovery::Rack) };
        let mut ends = Ends::new(&spec, Profile::Linux, 200);
        ends.talk(|_, _| Outcome::Marked);
        let late = &ends.sent[150..];
        let rate = (late.len() - 1) as f64 / (late[late.len() - 1].at_s - late[0].at_s);
        assert!((rate / LEAST_RATE - 1.0).abs() < 2.0 * PACING_OFFSET, "{rate}");
    }

    /// RFC 9331 §4.3, item 2: a loss halves, also in the window of data that a smaller cut for a mark was for.
    #[test]
    fn a_loss_halves_also_where_a_mark_was_answered() {
        let spec = TcpSpec { ecn: Ecn::Classic, initial_ssthresh_packets: Some(10.0), ..tcp("prague", Recovery::Rack) };
        let least = |outcome: fn(usize) -> Outcome| {
            let mut ends = Ends::new(&spec, Profile::Rfc, 400);
            ends.talk(|place, _| outcome(place));
            ends.sent[200..].iter().map(|sent| sent.cwnd).fold(f64::INFINITY, f64::min)
        };
        // One mark in the first round, and sixteenths less of its share in each that follows.
        let marks = |place| if matches!(place, 5 | 200) { Outcome::Marked } else { Outcome::Arrives };
        let both = |place| {
            if matches!(place, 5 | 200) {
                Outcome::Marked
            } else if place == 203 {
                Outcome::Lost
            } else {
                Outcome::Arrives
            }
        };
        let (kept, halved) = (least(marks), least(both));
        assert!(halved < 0.7 * kept, "{kept} {halved}");
    }

    /// §2.4.3: a mark and a loss of one round trip are one halving.
    #[test]
    fn a_loss_after_a_mark_is_no_second_cut() {
        let mut control: Prague = fresh();
        control.srtt_s = 0.05;
        let window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let after_mark = control.on_mark(&window, &loss(100.0)).unwrap_or_default();
        assert_eq!(after_mark, 50.0);
        assert_eq!(control.on_loss(&window, &loss(after_mark)), 50.0);
        assert_eq!(control.on_loss(&window, &loss(50.0)), 25.0);
    }
}

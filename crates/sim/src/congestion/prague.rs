//! Prague (draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331 §4): DCTCP for the Internet. It gives up half of the
//! share of packets that queues mark, in fractions of a packet; grows by each ACK without a mark, also in the round trip
//! after a cut; grows on short paths as on one of 25 ms; and is paced.
//!
//! Of the draft it has no fall back where marks come from a classic queue (§2.4.5, optional there), and no window below two
//! packets. Where the draft leaves the growth after a loss open, it is Reno's.

use super::{Ack, CongestionControl, ControlOption, Loss, Options, Window};
use crate::time::Time;

/// Weight of a round trip in the share of marks (§2.4.2).
const EWMA_GAIN: f64 = 1.0 / 16.0;
/// Weight of a sample in the smoothed round-trip time (RFC 6298 §2).
const SRTT_GAIN: f64 = 0.125;
/// It paces by this share faster in the first half of a virtual round trip, and slower in the second (as TCP Prague in
/// Linux does), so that queues show less of it.
const PACING_OFFSET: f64 = 0.03;

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
    /// The last cut for a mark: when, and by how many packets.
    cut: Option<(Time, f64)>,
}

impl Prague {
    /// §2.4.4: what an ACK grows by, over Reno's.
    fn growth(&self) -> f64 {
        if self.rounds < self.transition || self.srtt_s >= self.virtual_s {
            return 1.0;
        }
        let share = self.srtt_s / self.virtual_s;
        share * share
    }

    /// The round trip in which it acts.
    fn round_s(&self) -> f64 {
        if self.rounds < self.transition { self.srtt_s } else { self.srtt_s.max(self.virtual_s) }
    }
}

impl CongestionControl for Prague {
    const HELP: &'static str = "Prague: DCTCP for the Internet, for queues that mark at once; needs ECN (RFC 9331)";
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::seconds("virtual_rtt", 0.025, "round trip as of which it grows on shorter paths (§2.4.4)"),
        ControlOption::number("transition", 500.0, [0.0, 1e6], "round trips after slow start before it does (§2.4.4)"),
    ];
    const READS_MARKS: bool = true;
    const PACED: bool = true;

    fn new(options: &Options<'_>) -> Self {
        let [virtual_s, transition] = options.values();
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
            cut: None,
        }
    }

    /// RFC 9331 §4.1.
    fn is_scalable(&self) -> bool {
        true
    }

    fn measure(&mut self, ack: &Ack) {
        self.srtt_s += if self.srtt_s > 0.0 { SRTT_GAIN } else { 1.0 } * (ack.rtt_s - self.srtt_s);
        self.acked += ack.delivered;
        if ack.marked {
            self.marked += ack.delivered;
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
                *alpha += EWMA_GAIN * (self.marked / self.acked - *alpha);
            }
            (self.round_at, self.acked, self.marked, self.first_half) = (ack.now, 0.0, 0.0, true);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start() {
            self.rounds = 0.0;
            window.slow_start(ack.acked);
        } else {
            window.grow(self.growth(), ack.acked);
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        // §2.4.3: a loss in the round trip of a cut for a mark cuts to half of the window before that.
        let before = self.cut.filter(|cut| loss.now.since(cut.0) < self.round_s()).map_or(0.0, |cut| cut.1);
        self.cut = None;
        (loss.in_use + before) / 2.0
    }

    fn on_mark(&mut self, _window: &Window, loss: &Loss) -> f64 {
        // §2.4.2.
        let cut = loss.in_use * self.alpha.unwrap_or(1.0) / 2.0;
        self.cut = Some((loss.now, cut));
        loss.in_use - cut
    }

    fn pacing_rate(&self, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        let rate = window.cwnd.max(in_flight) / srtt_s;
        if window.cwnd < window.ssthresh / 2.0 {
            return 2.0 * rate;
        }
        rate * if self.first_half { 1.0 + PACING_OFFSET } else { 1.0 - PACING_OFFSET }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, ack, fresh, loss, with};

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
                control.measure(&Ack { now, through, highest: through + 10, marked: place <= marked, ..ack(0.05) });
            }
        };
        round(&mut control, 1.0, 0);
        assert_eq!(control.alpha, None);
        round(&mut control, 1.05, 1);
        let expected = 100.0 * (1.0 - control.alpha.unwrap_or_default() / 2.0);
        assert!((control.on_mark(&window, &loss(100.0)) - expected).abs() < 1e-9);
        for count in 0..200 {
            round(&mut control, 1.1 + 0.05 * f64::from(count), 2);
        }
        let cut = 1.0 - control.on_mark(&window, &loss(100.0)) / 100.0;
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

    /// §2.4.3: a mark and a loss of one round trip are one halving.
    #[test]
    fn a_loss_after_a_mark_is_no_second_cut() {
        let mut control: Prague = fresh();
        control.srtt_s = 0.05;
        let window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let after_mark = control.on_mark(&window, &loss(100.0));
        assert_eq!(after_mark, 50.0);
        assert_eq!(control.on_loss(&window, &loss(after_mark)), 50.0);
        assert_eq!(control.on_loss(&window, &loss(50.0)), 25.0);
    }
}

//! DCTCP (RFC 8257): gives up as much of the window as queues have marked of it.
//!
//! Growth, and what a loss or a timeout leaves, are Reno's (§3.4 and §3.5). With `whole_packets` as Linux computes it
//! (`tcp_dctcp.c`): windows in whole packets, the share of marks in whole parts of 1024.

use super::counted::Counted;
use super::reno;
use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlOption, Loss, Options, Whole, Window, known};

/// DCTCP.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    g: f64,
    ect1: bool,
    /// Estimated share of packets that are marked.
    alpha: f64,
    rounds: Rounds,
    /// Packets acknowledged in this round, and the marked ones of them.
    acked: f64,
    marked: f64,
    /// In whole packets.
    counted: Option<Counted>,
}

/// Parts of the share of marks, where it is kept in whole ones.
const PARTS: f64 = 1024.0;

impl Dctcp {
    /// The share of marks after a round: §3.3, steps 4 to 8.
    fn share(&self) -> f64 {
        if self.counted.is_none() {
            return self.alpha + self.g * ((self.marked / self.acked).min(1.0) - self.alpha);
        }
        let alpha = self.alpha * PARTS;
        let faded = (alpha * self.g).floor();
        let left = if faded > 0.0 { alpha - faded } else { 0.0 };
        (left + (PARTS * self.g * self.marked / self.acked.max(1.0)).floor()).min(PARTS) / PARTS
    }

    fn count(&mut self, ack: &Ack) {
        self.acked += ack.delivered;
        self.marked += ack.marked;
    }
}

impl CongestionControl for Dctcp {
    const HELP: &'static str = "DCTCP: shrinks by the share of packets that queues mark; needs ECN (RFC 8257)";
    const WHOLE: Whole = Whole::Up;
    const OPTIONS: &'static [ControlOption] = &[
        ControlOption::number("g", 0.0625, [1e-4, 1.0], "weight of a round trip in the share of marks (§4.2)"),
        ControlOption::switch("ect1", false, "packets say ECT(1), so that DualPI2 serves them as L4S (RFC 9331 §4.1)"),
        ControlOption::switch("whole_packets", false, "windows in whole packets, and marks in parts of 1024 (Linux)"),
    ];
    const GROWS_UNUSED: bool = reno::Reno::GROWS_UNUSED;
    const READS_MARKS: bool = true;

    fn new(options: &Options<'_>) -> Self {
        let [g, ect1, whole] = options.values();
        let (counted, rounds) = ((whole > 0.5).then(Counted::default), Rounds::default());
        // §3.3 begins with the share that is the safest.
        Self { g, ect1: ect1 > 0.5, alpha: 1.0, rounds, acked: 0.0, marked: 0.0, counted }
    }

    fn is_scalable(&self) -> bool {
        self.ect1
    }

    fn measure(&mut self, ack: &Ack) {
        // In Linux an ACK that ends a round belongs to the next.
        let before = self.counted.is_some();
        if !before {
            self.count(ack);
        }
        if self.rounds.is_over(ack) {
            self.alpha = self.share();
            self.rounds.begin(ack);
            (self.acked, self.marked) = (0.0, 0.0);
        }
        if before {
            self.count(ack);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match &mut self.counted {
            Some(counted) => reno::grow_whole(counted, window, ack),
            None => reno::grow(window, ack),
        }
    }

    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        let half = loss.in_use / 2.0;
        let Some(counted) = &mut self.counted else { return half };
        counted.reset();
        half.floor()
    }

    fn known(&self, _packet_bits: f64, each: &mut dyn FnMut(&str, f64)) {
        each(known::MARKED_SHARE, self.alpha);
    }

    fn on_mark(&mut self, _window: &Window, loss: &Loss) -> Option<f64> {
        // §3.3, step 9.
        self.counted.iter_mut().for_each(Counted::reset);
        Some(loss.in_use * (1.0 - self.alpha / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{ack, fresh, loss, with};

    /// Rounds of ten packets, of which `marked` are marked.
    fn rounds(control: &mut Dctcp, count: i32, marked: i32) {
        let begin = control.acked as i32;
        assert_eq!(begin, 0);
        for round in 0..count {
            for place in 1..=10 {
                let through = 10 * round + place;
                control.measure(&Ack {
                    through,
                    highest: through + 9,
                    marked: f64::from(u8::from(place <= marked)),
                    ..ack(0.1)
                });
            }
        }
    }

    #[test]
    fn a_window_shrinks_by_half_of_the_share_that_is_marked() {
        let window = Window { cwnd: 100.0, ssthresh: 2.0 };
        let mut control: Dctcp = fresh();
        // Nothing is known yet: half, as after a loss.
        assert_eq!(control.on_mark(&window, &loss(100.0)), Some(50.0));
        // After ln(1000) / g rounds a thousandth of the beginning is left.
        rounds(&mut control, 111, 2);
        assert!((control.alpha - 0.2).abs() < 1e-3, "{}", control.alpha);
        assert!(control.on_mark(&window, &loss(100.0)).is_some_and(|cwnd| (cwnd - 90.0).abs() < 0.1));
        assert_eq!(control.on_loss(&window, &loss(100.0)), 50.0);
    }

    /// Linux's dctcp_update_alpha: a sixteenth of 1024 parts, rounded down, until a step is none; and marks in such parts.
    #[test]
    fn the_share_is_kept_in_whole_parts() {
        let mut control: Dctcp = with(&[("whole_packets", 1.0)]);
        let mut parts = vec![];
        for through in 1..100 {
            control.measure(&Ack { through, highest: through, ..ack(0.1) });
            parts.push(control.alpha * PARTS);
        }
        assert_eq!(parts[..4], [960.0, 900.0, 844.0, 792.0]);
        let last = parts.iter().position(|&parts| parts == 0.0).unwrap();
        assert_eq!(parts[last - 1], 15.0);
        control.measure(&Ack { through: 100, highest: 102, marked: 1.0, ..ack(0.1) });
        control.measure(&Ack { through: 102, highest: 102, delivered: 2.0, acked: 2.0, ..ack(0.1) });
        control.measure(&Ack { through: 103, highest: 103, ..ack(0.1) });
        // One of three packets: 64 / 3.
        assert_eq!(control.alpha * PARTS, 21.0);
        let mut window = Window { cwnd: 97.0, ssthresh: 2.0 };
        assert_eq!(control.on_mark(&window, &loss(97.0)).map(|cwnd| Dctcp::WHOLE.of(cwnd)), Some(97.0));
        assert_eq!(control.on_loss(&window, &loss(97.0)), 48.0);
        control.on_ack(&mut window, &Ack { acked: 96.0, ..ack(0.1) });
        assert_eq!(window.cwnd, 97.0);
    }

    #[test]
    fn g_is_the_weight_of_one_round() {
        let mut control: Dctcp = with(&[("g", 0.5)]);
        // The first packet is its own round, and ends a round that had no packet before it.
        control.measure(&Ack { through: 1, highest: 11, ..ack(0.1) });
        assert_eq!(control.alpha, 0.5);
        for through in 2..=12 {
            control.measure(&Ack { through, highest: 30, marked: 1.0, ..ack(0.1) });
        }
        assert_eq!(control.alpha, 0.75);
    }
}

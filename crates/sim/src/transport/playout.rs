//! What a receiver of datagrams sees beyond counts: losses in a row, jitter as RFC 3550 has it, and
//! whether frames arrive whole.

use std::collections::VecDeque;

/// So many datagrams behind the newest one that arrived, one may still be late; beyond, it is lost.
const WINDOW: u32 = u128::BITS;

/// Runs of lost datagrams and jitter, from the datagrams that arrive whole.
#[derive(Clone, Copy, Debug)]
pub struct Playout {
    /// Runs of datagrams lost in a row, seen by the datagram behind them.
    pub loss_runs: u64,
    /// Datagrams in all runs.
    pub lost: u64,
    /// The longest run.
    pub longest_run: u64,
    /// Interarrival jitter (RFC 3550 §6.4.1), in seconds.
    pub jitter_s: f64,
    /// Datagrams that arrived.
    pub arrived: u64,
    next: u64,
    transit_s: f64,
    /// Which of the last datagrams before `next` arrived, the last one in the lowest bit.
    window: u128,
    /// Datagrams that left it in a row without having arrived.
    run: u64,
}

impl Default for Playout {
    fn default() -> Self {
        // Before the first one nothing is missing.
        let window = u128::MAX;
        let (next, transit_s, jitter_s) = (0, 0.0, 0.0);
        Self { loss_runs: 0, lost: 0, longest_run: 0, jitter_s, arrived: 0, next, transit_s, window, run: 0 }
    }
}

impl Playout {
    /// Datagram `seq` arrived whole after `transit_s` seconds. True if it had not before, and is not too late to tell.
    #[inline]
    pub fn count(&mut self, seq: u32, transit_s: f64) -> bool {
        let seq = u64::from(seq);
        let fresh = if seq >= self.next {
            self.advance(seq + 1 - self.next);
            self.next = seq + 1;
            self.window |= 1;
            true
        } else {
            let bit = 1_u128.checked_shl((self.next - 1 - seq).min(u64::from(WINDOW)) as u32).unwrap_or_default();
            let fresh = self.window & bit != bit;
            self.window |= bit;
            fresh
        };
        if self.arrived > 0 {
            self.jitter_s += ((transit_s - self.transit_s).abs() - self.jitter_s) / 16.0;
        }
        self.transit_s = transit_s;
        self.arrived += 1;
        fresh
    }

    /// The window moves on by so many datagrams, none of which has arrived.
    #[inline]
    fn advance(&mut self, datagrams: u64) {
        for _ in 0..datagrams.min(u64::from(WINDOW)) {
            let arrived = self.window >> (WINDOW - 1) == 1;
            self.window <<= 1;
            if !arrived {
                self.run += 1;
            } else if self.run > 0 {
                self.end_run();
            }
        }
        self.run += datagrams.saturating_sub(u64::from(WINDOW));
    }

    #[cold]
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        self.loss_runs += 1;
        self.lost += run;
        self.longest_run = self.longest_run.max(run);
    }

    /// When nothing more arrives: what is missing before the last one is lost.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.advance(u64::from(WINDOW));
        if self.run > 0 {
            self.end_run();
        }
        self
    }
}

/// Frames of a video on their way.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// Frames sent.
    pub sent: u64,
    /// Frames of which every packet arrived.
    pub complete: u64,
    /// Of frames that may still arrive: the number of the datagram behind them, and how many of theirs
    /// are missing.
    open: VecDeque<(u32, u32)>,
}

impl Frames {
    /// A frame of `packets` datagrams is sent, `first` being its first one.
    pub fn begin(&mut self, first: u32, packets: u32) {
        self.sent += 1;
        self.open.push_back((first + packets, packets));
    }

    /// Datagram `seq` arrived for the first time.
    pub fn arrive(&mut self, seq: u32) {
        while self.open.front().is_some_and(|&(end, _)| end + WINDOW <= seq) {
            self.open.pop_front();
        }
        let place = self.open.partition_point(|&(end, _)| end <= seq);
        if let Some((_, missing)) = self.open.get_mut(place) {
            *missing -= 1;
            self.complete += u64::from(*missing == 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_are_runs_of_losses() {
        let mut playout = Playout::default();
        for seq in [0, 1, 4, 5, 7, 12] {
            playout.count(seq, 0.1);
        }
        let settled = playout.settled();
        assert_eq!((settled.loss_runs, settled.lost, settled.longest_run), (3, 7, 4));
        assert_eq!(playout.jitter_s, 0.0);
        // The first datagrams may be lost, too.
        let mut late = Playout::default();
        late.count(3, 0.1);
        assert_eq!((late.settled().loss_runs, late.settled().lost), (1, 3));
    }

    #[test]
    fn what_comes_late_is_not_lost_and_what_comes_twice_is_no_news() {
        let mut playout = Playout::default();
        let fresh: Vec<bool> = [0, 3, 1, 3, 5, 1, 4].into_iter().map(|seq| playout.count(seq, 0.1)).collect();
        assert_eq!(fresh, [true, true, true, false, true, false, true]);
        let settled = playout.settled();
        assert_eq!((settled.loss_runs, settled.lost, settled.arrived), (1, 1, 7));
        // Behind as many others nobody waits for it.
        playout.count(2 + WINDOW, 0.1);
        assert!(!playout.count(2, 0.1));
        assert_eq!(playout.settled().lost, 1 + u64::from(WINDOW) - 4);
    }

    proptest! {
        /// Runs as one finds them who looks at everything that arrived.
        #[test]
        fn runs_of_losses_are_those_between_what_arrived(steps in prop::collection::vec(0u32..300, 1..50)) {
            let (mut playout, mut seq, mut runs) = (Playout::default(), 0, Vec::new());
            for step in steps {
                // Most come one after the other.
                let gap = step.saturating_sub(250) * 4;
                seq += gap;
                runs.extend((gap > 0).then_some(u64::from(gap)));
                playout.count(seq, 0.1);
                seq += 1;
            }
            let settled = playout.settled();
            prop_assert_eq!(settled.loss_runs, runs.len() as u64);
            prop_assert_eq!(settled.lost, runs.iter().sum::<u64>());
            prop_assert_eq!(settled.longest_run, runs.into_iter().max().unwrap_or_default());
        }
    }

    #[test]
    fn jitter_moves_by_a_sixteenth() {
        let mut playout = Playout::default();
        for (seq, transit_s) in [(0, 1.0), (1, 17.0), (2, 17.0), (3, 1.0)] {
            playout.count(seq, transit_s);
        }
        // 16 / 16, then that less a sixteenth, then towards 16 again.
        assert_eq!(playout.jitter_s, 0.9375 + (16.0 - 0.9375) / 16.0);
    }

    #[test]
    fn a_frame_is_complete_with_its_last_packet() {
        let mut frames = Frames::default();
        frames.begin(0, 3);
        frames.begin(3, 2);
        frames.begin(5, 1);
        for seq in [0, 1, 3, 4, 5] {
            frames.arrive(seq);
        }
        assert_eq!((frames.sent, frames.complete), (3, 2));
    }
}

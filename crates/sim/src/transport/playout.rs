//! What a receiver of datagrams sees beyond counts: losses in a row, jitter as RFC 3550 has it, and
//! whether frames arrive whole.

use std::collections::VecDeque;

/// Runs of lost datagrams and jitter, from the datagrams that arrive whole. Links keep their order.
#[derive(Clone, Copy, Debug, Default)]
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
}

impl Playout {
    /// Datagram `seq` arrived whole after `transit_s` seconds.
    #[inline]
    pub fn count(&mut self, seq: u32, transit_s: f64) {
        let seq = u64::from(seq);
        if seq > self.next {
            let run = seq - self.next;
            self.loss_runs += 1;
            self.lost += run;
            self.longest_run = self.longest_run.max(run);
        }
        self.next = seq + 1;
        if self.arrived > 0 {
            self.jitter_s += ((transit_s - self.transit_s).abs() - self.jitter_s) / 16.0;
        }
        self.transit_s = transit_s;
        self.arrived += 1;
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

    /// Datagram `seq` arrived.
    pub fn arrive(&mut self, seq: u32) {
        while self.open.front().is_some_and(|&(end, _)| end <= seq) {
            self.open.pop_front();
        }
        if let Some((_, missing)) = self.open.front_mut() {
            *missing -= 1;
            self.complete += u64::from(*missing == 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_runs_of_losses() {
        let mut playout = Playout::default();
        for seq in [0, 1, 4, 5, 7, 12] {
            playout.count(seq, 0.1);
        }
        assert_eq!((playout.loss_runs, playout.lost, playout.longest_run), (3, 7, 4));
        assert_eq!(playout.jitter_s, 0.0);
        // The first datagrams may be lost, too.
        let mut late = Playout::default();
        late.count(3, 0.1);
        assert_eq!((late.loss_runs, late.lost), (1, 3));
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

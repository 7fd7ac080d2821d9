//! How a flow went over time, in little memory: intervals become twice as long whenever there are too many of them.

use super::analysis::RoundTrip;
use super::frame::Nanoseconds;
use super::way::Way;

/// Intervals of a flow.
const MOST: usize = 256;
/// The longest interval that a flow begins with, so that a short capture is more than a few points.
pub const FINEST: Nanoseconds = 20_000_000;

/// What one end sent in an interval, and what came back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Bytes of packets with payload, IP headers included.
    pub bytes: u64,
    /// Packets of which all had been captured before, or that were lost before the capture.
    pub retransmitted: u64,
    /// The most that was sent beyond the last ACK; zero where nothing was sent.
    pub in_flight: u32,
    /// The smallest window that the other end told, in bytes, as far as its scale is known.
    pub receiver_window: Option<u32>,
    /// Round-trip times that ended: how many, and their sum in nanoseconds.
    pub rtt: (u64, u64),
    /// Payload sent so far, each byte once; zero before the first.
    pub sent: u64,
    /// Payload acknowledged so far.
    pub acked: u64,
}

impl Bin {
    fn add(&mut self, later: &Self) {
        self.bytes += later.bytes;
        self.retransmitted += later.retransmitted;
        self.in_flight = self.in_flight.max(later.in_flight);
        self.receiver_window = self.receiver_window.into_iter().chain(later.receiver_window).min();
        self.rtt.0 += later.rtt.0;
        self.rtt.1 += later.rtt.1;
        self.sent = self.sent.max(later.sent);
        self.acked = self.acked.max(later.acked);
    }
}

/// One direction of a connection over time.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Length of an interval.
    pub interval: Nanoseconds,
    /// When intervals begin: the time of the first packet of the file.
    began: Nanoseconds,
    /// Number of the first interval.
    pub first: i64,
    /// One after the other.
    pub bins: Vec<Bin>,
}

impl Samples {
    /// None yet.
    pub fn new(interval: Nanoseconds, began: Nanoseconds) -> Self {
        Self { interval: interval.clamp(1, FINEST), began, first: 0, bins: Vec::new() }
    }

    /// The interval of a time; of one before all others the first.
    pub fn at(&mut self, time: Nanoseconds) -> &mut Bin {
        loop {
            let index = time.saturating_sub(self.began).div_euclid(self.interval);
            if self.bins.is_empty() {
                self.first = index;
            }
            let place = usize::try_from(index.saturating_sub(self.first)).unwrap_or(0);
            if place < MOST {
                if self.bins.len() <= place {
                    self.bins.resize(place + 1, Bin::default());
                }
                return &mut self.bins[place];
            }
            self.coarsen();
        }
    }

    /// A segment was sent, and all of it perhaps `again`.
    pub fn sent(&mut self, time: Nanoseconds, way: &Way, again: bool, in_flight: u32) {
        let bin = self.at(time);
        bin.retransmitted += u64::from(again);
        bin.sent = way.reached;
        // Not where an ACK of what was never captured has run ahead.
        if (in_flight as i32) > 0 {
            bin.in_flight = bin.in_flight.max(in_flight);
        }
    }

    /// An ACK came back, with a window as far as that is known.
    pub fn acknowledged(&mut self, time: Nanoseconds, way: &Way, rtt: Option<RoundTrip>, window: Option<u32>) {
        let bin = self.at(time);
        bin.acked = way.delivered;
        bin.receiver_window = bin.receiver_window.into_iter().chain(window).min();
        if let Some(RoundTrip { lasted, .. }) = rtt {
            bin.rtt = (bin.rtt.0 + 1, bin.rtt.1.saturating_add(lasted));
        }
    }

    fn coarsen(&mut self) {
        self.interval = self.interval.saturating_mul(2);
        let first = self.first.div_euclid(2);
        let mut merged: Vec<Bin> = Vec::with_capacity(self.bins.len() / 2 + 1);
        for (place, bin) in self.bins.iter().enumerate() {
            let at = ((self.first + place as i64).div_euclid(2) - first) as usize;
            match merged.get_mut(at) {
                Some(both) => both.add(bin),
                None => merged.push(*bin),
            }
        }
        (self.first, self.bins) = (first, merged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stay_and_intervals_are_bounded() {
        let mut samples = Samples::new(1, 5);
        for time in 0..10_000 {
            let bin = samples.at(5 + time);
            bin.bytes += 3;
            bin.in_flight = bin.in_flight.max(time as u32);
            if time % 7 == 0 {
                bin.receiver_window = Some(bin.receiver_window.unwrap_or(u32::MAX).min(time as u32));
            }
        }
        assert!(samples.bins.len() <= MOST);
        assert!(samples.bins.len() > MOST / 2);
        assert_eq!(samples.bins.iter().map(|bin| bin.bytes).sum::<u64>(), 30_000);
        assert_eq!(samples.bins.last().map(|bin| bin.in_flight), Some(9999));
        assert_eq!(samples.bins[..2].iter().map(|bin| bin.receiver_window).collect::<Vec<_>>(), [Some(0), Some(70)]);
        let whole = &samples.bins[..samples.bins.len() - 1];
        assert!(whole.iter().all(|bin| bin.bytes == 3 * samples.interval as u64));
    }

    #[test]
    fn a_pause_takes_no_memory_beyond_the_bound() {
        let mut samples = Samples::new(FINEST, 0);
        samples.at(0).bytes += 1;
        samples.at(Nanoseconds::MAX).bytes += 1;
        assert!(samples.bins.len() <= MOST);
        assert_eq!(samples.bins.iter().map(|bin| bin.bytes).sum::<u64>(), 2);
        samples.at(-7).bytes += 1;
        assert_eq!(samples.bins[0].bytes, 2);
    }
}

//! A medium that is waited for before each burst: packets leave one after another as long as one waits when the one before
//! it has left, up to a number, and then the medium is waited for anew. So a station of a wireless network works in a
//! transmission opportunity (IEEE 802.11-2020, 10.23.2); who else waits for the medium is in the distribution of its wait.

use crate::random::Stream;
use crate::scenario::{AggregatingSpec, Duration};

/// The bursts of a line.
#[derive(Clone, Debug)]
pub struct Bursts {
    access: Duration,
    most: u32,
    stream: Stream,
    /// Packets of this burst.
    packets: u32,
    /// When the last of them has left.
    end_s: f64,
    /// The next packet waited for the last one.
    follows: bool,
    /// What a packet has of the mean wait of a full burst, and what all packets so far had, in seconds.
    share_s: f64,
    shares_s: f64,
}

impl Bursts {
    /// Before the first burst.
    #[must_use]
    pub fn new(spec: &AggregatingSpec, stream: Stream) -> Self {
        let access = Duration::Exponential { mean_s: spec.access_s };
        Self {
            access,
            most: spec.burst_packets,
            stream,
            packets: 0,
            end_s: -1.0,
            follows: false,
            share_s: spec.access_s / f64::from(spec.burst_packets),
            shares_s: 0.0,
        }
    }

    /// The next packet has waited for the last one, though it comes when that leaves.
    pub fn follow(&mut self) {
        self.follows = true;
    }

    /// When a packet enters the line that came at `now_s` and is first from `start_s` on.
    pub fn begin(&mut self, now_s: f64, start_s: f64) -> f64 {
        let follows = std::mem::take(&mut self.follows) || now_s < self.end_s;
        self.shares_s += self.share_s;
        if follows && self.packets < self.most {
            self.packets += 1;
            return start_s;
        }
        self.packets = 1;
        start_s + self.stream.duration(self.access)
    }

    /// What the packets so far had of the waits for the medium, in the mean, if all bursts had as many as they may have.
    #[must_use]
    pub fn shares_s(&self) -> f64 {
        self.shares_s
    }

    /// That packet has left at `end_s`.
    pub fn end(&mut self, end_s: f64) {
        self.end_s = end_s;
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(burst_packets: u32) -> Bursts {
        Bursts::new(&AggregatingSpec { access_s: 0.002, burst_packets }, Stream::new(1, "air", 0, "rate"))
    }

    /// Packets of 1 ms, of which one always waits: the medium is waited for once for as many as a burst may have. The
    /// mean of exponential waits, with four standard errors.
    #[test]
    fn the_medium_is_waited_for_once_a_burst() {
        const PACKETS: u32 = 40_000;
        for most in [1, 4, 32] {
            let (mut bursts, mut end_s) = (bursts(most), 0.0);
            let mut waits = Vec::new();
            for _ in 0..PACKETS {
                let begin_s = bursts.begin(0.0, end_s);
                waits.extend((begin_s > end_s).then_some(begin_s - end_s));
                end_s = begin_s + 0.001;
                bursts.end(end_s);
            }
            assert_eq!(waits.len() as u32, PACKETS.div_ceil(most));
            let mean_s = waits.iter().sum::<f64>() / waits.len() as f64;
            assert!((mean_s - 0.002).abs() < 4.0 * 0.002 / (waits.len() as f64).sqrt(), "{mean_s}");
        }
    }

    /// What comes when the last packet leaves comes too late for its burst, unless it has waited elsewhere.
    #[test]
    fn a_burst_ends_when_none_waits() {
        let mut bursts = bursts(9);
        let begin_s = bursts.begin(1.0, 1.0);
        bursts.end(begin_s + 0.001);
        let end_s = begin_s + 0.001;
        let mut other = bursts.clone();
        assert!(bursts.begin(end_s, end_s) > end_s);
        other.follow();
        assert_eq!(other.begin(end_s, end_s), end_s);
    }
}

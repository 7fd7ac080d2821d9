//! HyStart (S. Ha, I. Rhee: Taming the elephants: New TCP slow start, Computer Networks 55, 2011), as Linux's
//! CUBIC has it since: slow start ends when the ACKs of a round have come without a pause for half of the smallest
//! round trip, or all of it where pacing spreads them over half, or when the round trip has become longer.

use crate::congestion::{Ack, Window};
use crate::time::Time;

/// Below this many packets it does not look (hystart_low_window).
const LOW_WINDOW: f64 = 16.0;
/// ACKs at most this far apart are of one train (hystart_ack_delta_us).
const TRAIN_GAP_S: f64 = 0.002;
/// The smallest round trip counts as longer by the time of so many packets at twice the present rate, four bursts of
/// segmentation offload of 64 KiB, up to a millisecond (hystart_ack_delay).
const BURSTS: f64 = 4.0 * 65_536.0 / 1448.0;
const MOST_OF_BURSTS_S: f64 = 0.001;
/// The first samples of a round make its delay (HYSTART_MIN_SAMPLES).
const SAMPLES: u32 = 8;
/// An eighth of the smallest round trip more is a queue, within these bounds.
const DELAY_SHARE: f64 = 0.125;
const DELAY_BOUNDS_S: [f64; 2] = [0.004, 0.016];

/// The state of HyStart.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    /// The sender paces: at twice a window in a round trip its ACKs come for half of it, however long the path is.
    paced: bool,
    /// The round ends when more than this packet is acknowledged.
    last: i32,
    begin: Time,
    /// The last ACK of the train with which the round began.
    train: Time,
    /// The smallest sample of the connection, and of this round, in seconds.
    base_s: f64,
    least_s: f64,
    samples: u32,
    /// It has found the limit, and looks for it again after a timeout only.
    found: bool,
}

impl HyStart {
    /// In the first round of a sender that paces, or does not.
    pub(super) fn new(paced: bool) -> Self {
        let (begin, train, endless_s) = (Time::ZERO, Time::ZERO, f64::INFINITY);
        Self { paced, last: -1, begin, train, base_s: endless_s, least_s: endless_s, samples: 0, found: false }
    }

    /// Begins anew, in a round that ends behind packet `highest`.
    pub(super) fn after_timeout(&self, highest: i32) -> Self {
        Self { last: highest, ..Self::new(self.paced) }
    }

    /// Takes in an ACK of slow start. True if the path is full, once.
    pub(super) fn finds_limit(&mut self, window: &Window, ack: &Ack) -> bool {
        let finds = !self.found && self.sees_limit(window, ack);
        self.found |= finds;
        finds
    }

    fn sees_limit(&mut self, window: &Window, ack: &Ack) -> bool {
        self.base_s = self.base_s.min(ack.rtt_s);
        // Rounds are those of the connection's flights from the first on, however small they are.
        if ack.through > self.last {
            let (last, begin, train) = (ack.highest, ack.now, ack.now);
            *self = Self { last, begin, train, least_s: f64::INFINITY, samples: 0, ..*self };
        }
        if window.cwnd < LOW_WINDOW {
            return false;
        }
        if ack.now.since(self.train) <= TRAIN_GAP_S {
            self.train = ack.now;
            let bursts_s = (BURSTS * ack.rtt_s / (2.0 * window.cwnd)).min(MOST_OF_BURSTS_S);
            let longest_s = self.base_s + bursts_s;
            if ack.now.since(self.begin) > if self.paced { longest_s } else { longest_s / 2.0 } {
                return true;
            }
        }
        self.least_s = self.least_s.min(ack.rtt_s);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least_s > self.base_s + (DELAY_SHARE * self.base_s).clamp(DELAY_BOUNDS_S[0], DELAY_BOUNDS_S[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::slow_start::tests::grow;
    use crate::congestion::tests::ack;
    use crate::scenario::SlowStartKind;

    /// ACKs of 1 ms each: those of half of a round trip of 100 ms are 50, in the round of 64 packets.
    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        let (rounds, window) = grow(SlowStartKind::HyStart, 0.001, 9, |_| 0.1);
        assert_eq!(rounds, 2);
        assert!((64.0 + 50.0..64.0 + 54.0).contains(&window), "{window}");
    }

    /// At twice a window in a round trip the ACKs of 100 ms come for 50 ms, however much the path holds.
    #[test]
    fn a_train_of_a_paced_sender_takes_a_whole_round_trip() {
        let window = Window { cwnd: 64.0, ssthresh: 1e9 };
        let after = |paced| {
            let mut state = HyStart::new(paced);
            let mut at_ms = 0..200;
            at_ms.find(|&ms| {
                let now = Time::new(f64::from(ms) / 1e3);
                state.finds_limit(&window, &Ack { now, through: ms, highest: 1000, ..ack(0.1) })
            })
        };
        assert!(after(false).is_some_and(|ms| (50..53).contains(&ms)));
        assert!(after(true).is_some_and(|ms| (100..103).contains(&ms)));
    }

    /// After the first time it finds nothing until a timeout (found), after which the smallest round trip is another.
    #[test]
    fn it_finds_a_limit_once() {
        let window = Window { cwnd: 64.0, ssthresh: 1e9 };
        let of_a_round = |state: &mut HyStart, rtt_s: f64, first: i32| {
            let acks = (0..20).map(|place| Ack { through: first + place, highest: first + 20, ..ack(rtt_s) });
            acks.filter(|ack| state.finds_limit(&window, ack)).count()
        };
        let mut state = HyStart::new(false);
        let found = [(0.1, 0), (0.12, 30), (0.2, 60)].map(|(rtt_s, first)| of_a_round(&mut state, rtt_s, first));
        assert_eq!(found, [0, 1, 0]);
        state = state.after_timeout(80);
        assert_eq!([(0.12, 81), (0.14, 111)].map(|(rtt_s, first)| of_a_round(&mut state, rtt_s, first)), [0, 1]);
    }

    /// ACKs 2.1 ms apart are no train; an eighth more of the round trip is a queue.
    #[test]
    fn a_longer_round_trip_ends_slow_start() {
        let longer =
            |extra_s: f64| grow(SlowStartKind::HyStart, 0.0021, 6, |round| if round < 4 { 0.1 } else { 0.1 + extra_s });
        assert_eq!(longer(0.012), (6, 1024.0));
        // Eight samples, then the decision.
        assert_eq!(longer(0.013), (4, 264.0));
        // At most 16 ms.
        let of_a_second =
            |extra_s: f64| grow(SlowStartKind::HyStart, 0.0021, 6, |round| if round < 4 { 1.0 } else { 1.0 + extra_s });
        assert_eq!((of_a_second(0.0159).0, of_a_second(0.0161).0), (6, 4));
    }
}

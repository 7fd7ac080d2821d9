//! HyStart++ (RFC 9406): when the round trip becomes longer, the window grows more slowly for some rounds; if it
//! does not become shorter again, slow start ends. Only for the first slow start of a connection (§4.3).

use crate::congestion::Ack;

/// §4.3: constants.
const MIN_RTT_THRESH_S: f64 = 0.004;
const MAX_RTT_THRESH_S: f64 = 0.016;
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L, without pacing.
const UNPACED_L: f64 = 8.0;

/// The state of HyStart++.
#[derive(Clone, Copy, Debug)]
pub struct HyStartPlusPlus {
    /// The first slow start is over.
    ended: bool,
    /// Packets by which the window grows for an ACK at most: L.
    most: f64,
    /// The round ends when more than this packet is acknowledged: windowEnd.
    last: i32,
    /// The smallest samples of this round and of the one before, in seconds; infinite without.
    current_s: f64,
    before_s: f64,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The round trip that it began with, in seconds: cssBaselineMinRtt.
    baseline_s: f64,
    rounds_left: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        let endless_s = f64::INFINITY;
        let (current_s, before_s) = (endless_s, endless_s);
        Self { ended: false, most: UNPACED_L, last: -1, current_s, before_s, samples: 0, conservative: None }
    }
}

impl HyStartPlusPlus {
    /// The sender paces, so that no ACK lets out a burst (§4.3: L is infinite).
    pub(super) fn pace(&mut self) {
        self.most = f64::INFINITY;
    }

    /// The growth for an ACK, over that of standard slow start (§4.2).
    pub(super) fn factor(&self, ack: &Ack) -> f64 {
        if self.ended {
            return 1.0;
        }
        let packets = ack.acked.clamp(1.0, self.most);
        if self.conservative.is_some() { packets / CSS_GROWTH_DIVISOR } else { packets }
    }

    /// Takes in an ACK of slow start (§4.2). True if the path is full.
    pub(super) fn finds_limit(&mut self, ack: &Ack) -> bool {
        if self.ended {
            return false;
        }
        if ack.through > self.last {
            (self.last, self.before_s, self.current_s, self.samples) = (ack.highest, self.current_s, f64::INFINITY, 0);
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds_left -= 1;
                if conservative.rounds_left == 0 {
                    self.ended = true;
                    return true;
                }
            }
        }
        self.current_s = self.current_s.min(ack.rtt_s);
        self.samples += 1;
        if self.samples >= N_RTT_SAMPLE {
            self.compare();
        }
        false
    }

    fn compare(&mut self) {
        match self.conservative {
            Some(Conservative { baseline_s, .. }) if self.current_s < baseline_s => self.conservative = None,
            Some(_) => {}
            None if self.before_s.is_finite() => {
                let threshold_s = (self.before_s / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH_S, MAX_RTT_THRESH_S);
                if self.current_s >= self.before_s + threshold_s {
                    let baseline_s = self.current_s;
                    self.conservative = Some(Conservative { baseline_s, rounds_left: CSS_ROUNDS });
                }
            }
            None => {}
        }
    }

    /// The first slow start is over.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::slow_start::SlowStart;
    use crate::congestion::slow_start::tests::grow;
    use crate::congestion::tests::ack;
    use crate::congestion::{Ack, Window};
    use crate::scenario::SlowStartKind::HyStartPlusPlus;

    /// Round 3 has a longer round trip: seven ACKs of it add a packet each, the eighth finds out, the rest add a
    /// quarter. It is the first of five rounds.
    #[test]
    fn five_rounds_of_slower_growth_then_congestion_avoidance() {
        let longer = |rounds| grow(HyStartPlusPlus, 0.0, rounds, |round| if round < 3 { 0.1 } else { 0.12 });
        assert_eq!(longer(3), (3, 128.0));
        let (_, after_one) = longer(4);
        assert_eq!(after_one, 128.0 + 8.0 + 120.0 / 4.0);
        let (rounds, window) = longer(20);
        // The first ACK of round 8 ends it.
        assert_eq!(rounds, 8);
        let expected = after_one * 1.25 * 1.25 * 1.25 * 1.25;
        assert!((window / expected - 1.0).abs() < 0.02, "{window} {expected}");
    }

    /// §4.2: a round trip that becomes shorter again was no queue.
    #[test]
    fn jitter_resumes_slow_start() {
        let once = grow(HyStartPlusPlus, 0.0, 6, |round| if round == 3 { 0.12 } else { 0.1 });
        assert_eq!(once.0, 6);
        // Rounds 4 and 5 double, but for the first ACKs of round 4.
        assert!(once.1 > 1.9 * 1.9 * 166.0, "{}", once.1);
    }

    #[test]
    fn small_changes_are_no_queue() {
        assert_eq!(grow(HyStartPlusPlus, 0.0, 6, |round| 0.1 + 0.012 * round as f64 / 6.0), (6, 1024.0));
    }

    /// §4.3: an ACK of twenty packets adds eight of them, and all where they leave at a rate.
    #[test]
    fn a_paced_sender_grows_by_all_that_is_acknowledged() {
        let grown = |paced: bool| {
            let mut slow_start = SlowStart::new(HyStartPlusPlus, false, None).expect("not the standard one");
            if paced {
                slow_start.pace();
            }
            let (mut window, ack) = (Window { cwnd: 40.0, ssthresh: f64::MAX }, Ack { acked: 20.0, ..ack(0.1) });
            slow_start.before(&mut window, &ack);
            window.slow_start(1.0);
            slow_start.after(&mut window, &ack);
            window.cwnd
        };
        assert_eq!((grown(false), grown(true)), (48.0, 60.0));
    }
}

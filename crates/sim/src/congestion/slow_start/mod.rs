//! Slow start of other kinds than RFC 5681's, one file each, for any control: each changes by how much the window
//! grew below the threshold, or sets the threshold before a loss does.

mod hystart;
mod hystart_plus_plus;
pub mod rapid;
mod search;

use self::hystart::HyStart;
use self::hystart_plus_plus::HyStartPlusPlus;
use self::rapid::Rapid;
use self::search::Search;
use super::{Ack, Window};
use crate::scenario::SlowStartKind;

/// A slow start that is not the standard one.
#[derive(Clone, Debug)]
pub struct SlowStart {
    kind: Kind,
    /// The window before the ACK at hand, if it was below the threshold.
    before: Option<f64>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Counts what was acknowledged, however few ACKs say so: Linux's tcp_slow_start, RFC 3465 without its limit.
    ByteCounting,
    /// Counts so, too, and ends with a train of ACKs or with a longer round trip.
    HyStart(HyStart),
    /// Ends with longer round trips, after some rounds of slower growth.
    HyStartPlusPlus(HyStartPlusPlus),
    /// Ends when deliveries no longer double.
    Search(Search),
    /// Triples while no queue shows.
    Rapid(Rapid),
    /// Slower above so many packets.
    Limited(f64),
}

impl SlowStart {
    /// The slow start that a scenario asks for, of a sender that paces or does not, with the limit of one that has a limit;
    /// none is the standard one.
    #[must_use]
    pub fn new(kind: SlowStartKind, paced: bool, max_ssthresh: Option<f64>) -> Option<Box<Self>> {
        let kind = match kind {
            SlowStartKind::Standard => return None,
            SlowStartKind::ByteCounting => Kind::ByteCounting,
            SlowStartKind::HyStart => Kind::HyStart(HyStart::new(paced)),
            SlowStartKind::HyStartPlusPlus => Kind::HyStartPlusPlus(HyStartPlusPlus::default()),
            SlowStartKind::Search => Kind::Search(Search::default()),
            SlowStartKind::Rapid => Kind::Rapid(Rapid::default()),
            SlowStartKind::Limited => Kind::Limited(max_ssthresh?),
        };
        Some(Box::new(Self { kind, before: None }))
    }

    /// An ACK came, and the control has not grown the window yet. HyStart decides first, as in Linux, so that the ACK which
    /// shows the limit no longer belongs to slow start.
    #[cold]
    pub fn before(&mut self, window: &mut Window, ack: &Ack) {
        if let Kind::HyStart(state) = &mut self.kind
            && window.in_slow_start()
            && state.finds_limit(window, ack)
        {
            window.ssthresh = window.cwnd;
        }
        self.before = window.in_slow_start().then_some(window.cwnd);
    }

    /// Now it has, in slow start by one packet if it is like most.
    #[cold]
    pub fn after(&mut self, window: &mut Window, ack: &Ack) {
        let Some(before) = self.before else { return };
        let factor = match &mut self.kind {
            Kind::ByteCounting | Kind::HyStart(_) | Kind::Search(_) => ack.acked.max(1.0),
            Kind::HyStartPlusPlus(state) => state.factor(ack),
            Kind::Rapid(state) => state.growth(ack),
            Kind::Limited(most) => limited(*most, before),
        };
        let growth = window.cwnd - before;
        if growth > 0.0 {
            window.cwnd = (before + growth * factor).min(window.ssthresh.max(window.cwnd));
        }
        let found = match &mut self.kind {
            Kind::HyStartPlusPlus(state) => state.finds_limit(ack),
            Kind::Search(state) => state.finds_limit(ack),
            Kind::ByteCounting | Kind::HyStart(_) | Kind::Rapid(_) | Kind::Limited(_) => false,
        };
        if found && window.in_slow_start() {
            window.ssthresh = window.cwnd;
        }
    }

    /// A loss, a mark or a timeout set the threshold.
    pub fn congestion(&mut self) {
        match &mut self.kind {
            Kind::HyStartPlusPlus(state) => state.end(),
            Kind::Rapid(state) => state.ended = true,
            Kind::ByteCounting | Kind::HyStart(_) | Kind::Search(_) | Kind::Limited(_) => {}
        }
    }

    /// The retransmission timer expired: HyStart looks for the limit again, from behind the highest packet sent.
    pub fn timeout(&mut self, highest: i32) {
        if let Kind::HyStart(state) = &mut self.kind {
            *state = state.after_timeout(highest);
        }
    }

    /// The sender paces.
    pub fn pace(&mut self) {
        if let Kind::HyStartPlusPlus(state) = &mut self.kind {
            state.pace();
        }
    }

    /// Whether the window converges where losses show now, rather than being cut at once.
    #[must_use]
    pub fn converges(&self) -> bool {
        matches!(&self.kind, Kind::Rapid(state) if !state.ended)
    }

    /// Whether it spreads the first window over a whole round trip.
    #[must_use]
    pub fn spreads_first_window(&self) -> bool {
        matches!(self.kind, Kind::Rapid(_))
    }
}

/// RFC 3742 §2: at most half of `most` packets for each round trip above `most`.
fn limited(most: f64, cwnd: f64) -> f64 {
    if cwnd > most { 1.0 / (cwnd / (0.5 * most)).floor() } else { 1.0 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::congestion::tests::ack;
    use crate::time::Time;

    /// A path of one connection in slow start: an ACK for each packet, `spacing_s` apart, until it ends or `rounds`
    /// are over. The round trip is `rtt_s` of the round. Returns the rounds that it took, and the window.
    pub(crate) fn grow(
        kind: SlowStartKind,
        spacing_s: f64,
        rounds: usize,
        rtt_s: impl Fn(usize) -> f64,
    ) -> (usize, f64) {
        let mut slow_start = SlowStart::new(kind, false, Some(100.0)).expect("not the standard one");
        let mut window = Window { cwnd: 16.0, ssthresh: f64::MAX };
        let (mut through, mut start_s) = (0, 0.0);
        for round in 0..rounds {
            let rtt_s = rtt_s(round);
            let (count, first) = (window.cwnd as i32, through);
            start_s += rtt_s;
            for place in 1..=count {
                let now = Time::new(start_s + f64::from(place) * spacing_s);
                through += 1;
                let highest = first + count + 2 * (place - 1);
                let ack = Ack { now, through, highest, ..ack(rtt_s) };
                slow_start.before(&mut window, &ack);
                if window.in_slow_start() {
                    window.slow_start(1.0);
                }
                slow_start.after(&mut window, &ack);
                if !window.in_slow_start() {
                    return (round, window.cwnd);
                }
            }
        }
        (rounds, window.cwnd)
    }

    /// RFC 3742 §2: below the limit it doubles; above it grows by half of the limit in a round trip.
    #[test]
    fn limited_slow_start_is_linear_above_its_limit() {
        let sizes: Vec<f64> = (0..8).map(|rounds| grow(SlowStartKind::Limited, 0.0, rounds, |_| 0.1).1).collect();
        assert_eq!(sizes[..3], [16.0, 32.0, 64.0]);
        for pair in sizes[4..].windows(2) {
            assert!((45.0..=55.0).contains(&(pair[1] - pair[0])), "{sizes:?}");
        }
        assert_eq!((limited(100.0, 100.0), limited(100.0, 101.0), limited(100.0, 250.0)), (1.0, 0.5, 0.2));
    }
}

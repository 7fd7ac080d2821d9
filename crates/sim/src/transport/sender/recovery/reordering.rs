//! For how long a packet that others overtook may only be late (RFC 8985 §6.2, steps 3 and 4): a quarter of the smallest round
//! trip, but not at all in recovery or behind three arrivals, until packets are seen to overtake each other; from then on as
//! much more in each round trip in which the receiver had a packet twice (RFC 2883), until 16 recoveries had none.

/// Recoveries without a packet that came twice, after which it is a quarter again.
const PERSISTS: u32 = 16;

/// What is known of packets that overtake each other.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// RACK.reordering_seen.
    seen: bool,
    /// RACK.reo_wnd_mult.
    multiple: u32,
    /// RACK.reo_wnd_persist.
    persists: u32,
    /// RACK.dsack_round: until this packet is acknowledged, it does not grow again.
    round: Option<i32>,
    /// Packets that the receiver had twice.
    twice: u64,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { seen: false, multiple: 1, persists: PERSISTS, round: None, twice: 0 }
    }
}

impl Reordering {
    /// A packet arrived after one that was sent later.
    pub fn note(&mut self) {
        self.seen = true;
    }

    /// The receiver had a packet twice, where so many were retransmitted and `highest` is the last one sent. What the
    /// network made two of, and what a tail probe retransmitted, says nothing (Linux's tcp_dsack_seen).
    pub fn note_twice(&mut self, retransmitted: u64, highest: i32, probe: bool) {
        self.twice += 1;
        if self.seen && self.round.is_none() && self.twice <= retransmitted && !probe {
            self.round = Some(highest);
            self.multiple += 1;
            self.persists = PERSISTS;
        }
    }

    /// All packets up to `acked` are acknowledged.
    pub fn advance(&mut self, acked: i32) {
        self.round = self.round.filter(|&round| acked < round);
    }

    /// A recovery is over.
    pub fn recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.multiple = 1;
        }
    }

    /// The reordering window, in seconds; `hasty` where a loss is expected anyway.
    #[must_use]
    pub fn window_s(&self, least_rtt_s: f64, srtt_s: f64, hasty: bool) -> f64 {
        if hasty && !self.seen {
            return 0.0;
        }
        (least_rtt_s / 4.0 * f64::from(self.multiple)).min(srtt_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_by_a_quarter_in_each_round_trip_with_a_packet_that_came_twice() {
        let mut reordering = Reordering::default();
        let window_s = |reordering: &Reordering| reordering.window_s(0.1, 0.5, true);
        reordering.note_twice(9, 10, false);
        assert_eq!(window_s(&reordering), 0.0);
        reordering.note();
        assert_eq!(window_s(&reordering), 0.025);
        // Once until what was sent by then is acknowledged; not for a probe.
        for (twice, acked, probe, expected_s) in
            [(20, 5, false, 0.05), (25, 19, false, 0.05), (30, 20, true, 0.05), (30, 20, false, 0.075)]
        {
            reordering.advance(acked);
            reordering.note_twice(9, twice, probe);
            assert!((window_s(&reordering) - expected_s).abs() < 1e-12);
        }
        for _ in 0..PERSISTS {
            assert!((window_s(&reordering) - 0.075).abs() < 1e-12);
            reordering.recovered();
        }
        assert_eq!(window_s(&reordering), 0.025);
    }

    #[test]
    fn copies_that_the_network_made_say_nothing() {
        let mut reordering = Reordering::default();
        reordering.note();
        for highest in 1..10 {
            reordering.advance(highest);
            reordering.note_twice(0, highest + 5, false);
        }
        assert_eq!(reordering.window_s(0.1, 0.5, true), 0.025);
    }

    #[test]
    fn the_window_is_a_round_trip_at_most() {
        let mut reordering = Reordering::default();
        reordering.note();
        for highest in 1..100 {
            reordering.advance(highest);
            reordering.note_twice(1000, highest + 1, false);
        }
        assert_eq!(reordering.window_s(0.1, 0.12, false), 0.12);
    }
}

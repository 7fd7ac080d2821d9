//! Round trips by the spin bit of one direction: a client inverts what it receives, a server returns it, so that the bit
//! switches once in a round trip (RFC 9000 §17.4).

use crate::read::frame::Nanoseconds;
use crate::read::quantiles::Times;

/// A switch sooner than this part of a usual round trip after the one before it is of packets that overtook others: a heuristic
/// of the kind that RFC 9312 §3.8.2 has in mind.
const SOON: u64 = 4;
/// But not where so many packets in a row have the new value, and the same part of those before: a round trip may become short.
const MANY: u64 = 3;
/// So many packets, or more, before a bit that never switches is one that does not spin, and in so many round trips.
const CONSTANT: (u64, u64) = (8, 3);
/// The same where no round trip is known.
const CONSTANT_PACKETS: u64 = 32;
/// With as many packets and round trips for each switch it is one that is constant for each connection ID.
const PER_ID: (u64, u64) = (100, 20);
/// So many packets, or more, before a bit is one that is chosen at random.
const RANDOM: u64 = 16;

/// From so many packets on their shares are those of chance, or not.
const SURE: u64 = 64;
/// Fewer round trips do not show that a bit spins.
const LEAST: u64 = 3;

/// What a spin bit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Too few packets, or too few round trips.
    Unknown,
    /// It switches once in a round trip.
    Spins,
    /// It never does: it is disabled.
    Constant,
    /// It is another one for each packet: it is disabled.
    Random,
}

/// A switch that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When the first packet with the new value came.
    pub time: Nanoseconds,
    /// The new value.
    pub value: bool,
    /// Nanoseconds since the switch before, unless either end may have waited for its application.
    pub rtt: Option<u64>,
}

/// The spin bit of one direction.
#[derive(Clone, Debug, Default)]
pub struct Spin {
    /// From switch to switch.
    pub times: Times,
    /// From a switch to the one of the other direction that answers it: the part of the path behind the capture point.
    pub behind: Times,
    /// Switches that came too soon.
    pub ignored: u64,
    packets: u64,
    times_of: Option<(Nanoseconds, Nanoseconds)>,
    /// The bit of the last packet, and how many before had it, too.
    last: (bool, u64),
    switches: u64,
    /// Packets in a row with one value: alone, and three or more.
    alone: u64,
    three: u64,
    value: bool,
    /// Packets since the last switch that counts, and from the one before it to that.
    run: u64,
    before: u64,
    /// That switch.
    edge: Option<Nanoseconds>,
    /// The one that was answered last.
    answered: Option<Nanoseconds>,
    /// Packets in a row that may be of a new switch, and when the first of them came.
    candidate: Option<(Nanoseconds, u64)>,
    /// The longest silence of both ends since the last switch that counts.
    silence: Nanoseconds,
    /// The median of the round trips so far.
    typical: Option<u64>,
}

impl Spin {
    /// Nobody sent for some time.
    pub fn silent(&mut self, lasted: Nanoseconds) {
        self.silence = self.silence.max(lasted);
    }

    /// The path's round trip: that of the handshake, or a usual one, whichever is shorter.
    pub fn usual(&self, handshake: Option<u64>) -> Option<u64> {
        self.typical.into_iter().chain(handshake).min()
    }

    /// A packet came; a switch, where there was one that counts.
    pub fn add(&mut self, bit: bool, time: Nanoseconds, handshake: Option<u64>) -> Option<Edge> {
        self.count(bit, time);
        if self.packets == 1 {
            (self.value, self.run) = (bit, 1);
            return None;
        }
        if bit == self.value {
            self.run += 1;
            self.ignored += u64::from(self.candidate.take().is_some());
            return None;
        }
        let usual = self.usual(handshake);
        let too_soon = |at: Nanoseconds| {
            let passed = self.edge.map(|edge| u64::try_from(at.saturating_sub(edge)).unwrap_or(0));
            passed.is_some_and(|passed| usual.is_none_or(|usual| passed < usual / SOON))
        };
        let (mut from, count) = self.candidate.map_or((time, 1), |(from, count)| (from, count + 1));
        let many = if usual.is_some() {
            count >= MANY && SOON * count >= self.run
        } else {
            SOON * count >= self.before.max(self.run)
        };
        if too_soon(from) && !many {
            if too_soon(time) {
                self.candidate = Some((from, count));
                return None;
            }
            // What came too soon had been overtaken, and the switch is this one.
            self.ignored += u64::from(count > 1);
            from = time;
        }
        let rtt = self.edge.map(|edge| u64::try_from(from.saturating_sub(edge)).unwrap_or(0));
        let rtt = rtt.filter(|&rtt| !self.waited(rtt, usual));
        if let Some(rtt) = rtt {
            self.times.add(rtt);
            self.typical = Some((self.times.quantile_s(0.5) * 1e9) as u64);
        }
        (self.before, self.run, self.value) = (self.run, count, bit);
        (self.edge, self.candidate, self.silence) = (Some(from), None, 0);
        Some(Edge { time: from, value: bit, rtt })
    }

    /// A switch of the other direction answers the one to `value`, if that was the last one here and neither waited.
    pub fn answer(&mut self, value: bool, edge: Edge) {
        let Some(from) = self.edge.filter(|_| self.value == value && edge.rtt.is_some()) else { return };
        if self.answered != Some(from)
            && let Ok(lasted) = u64::try_from(edge.time.saturating_sub(from))
        {
            self.answered = Some(from);
            self.behind.add(lasted);
        }
    }

    /// What the bit does; `handshake` is a round trip of the path, if one is known.
    pub fn verdict(&self, handshake: Option<u64>) -> Verdict {
        let lasts = self.times_of.map_or(0, |(from, to)| u64::try_from(to.saturating_sub(from)).unwrap_or(0));
        let rounds = handshake.map(|rtt| lasts / rtt.max(1));
        let runs = self.switches + 1;
        if self.switches == 0 {
            let enough = rounds.map_or(self.packets >= CONSTANT_PACKETS, |rounds| rounds >= CONSTANT.1);
            return if self.packets >= CONSTANT.0 && enough { Verdict::Constant } else { Verdict::Unknown };
        }
        if self.packets / runs >= PER_ID.0 && rounds.is_some_and(|rounds| rounds / runs >= PER_ID.1) {
            return Verdict::Constant;
        }
        // At random half of all pairs are a switch; half of all values then stand alone, and a quarter three times or more.
        let pairs = self.packets - 1;
        let half = 3 * self.switches > pairs && 3 * self.switches < 2 * pairs;
        let spread = 4 * self.alone > runs && 4 * self.alone < 3 * runs && 10 * self.three > runs;
        let too_soon = 4 * self.ignored > self.switches;
        if self.packets >= RANDOM && half && (spread || too_soon) {
            return Verdict::Random;
        }
        // Of few packets chance may leave other shares, and so much of a bit that spins is seldom out of order.
        let near_half = 4 * self.switches > pairs && 4 * self.switches < 3 * pairs;
        let near_spread = 8 * self.alone > runs && 8 * self.alone < 7 * runs;
        let by_chance = self.packets < SURE && near_half && near_spread || too_soon && 8 * self.switches > pairs;
        if self.times.count >= LEAST && !by_chance { Verdict::Spins } else { Verdict::Unknown }
    }

    /// Whether a round trip may be longer than the path's since no end had anything to send.
    fn waited(&self, rtt: u64, usual: Option<u64>) -> bool {
        let silence = u64::try_from(self.silence).unwrap_or(0);
        usual.is_some_and(|usual| 2 * silence > 3 * usual && 2 * silence > rtt)
    }

    fn count(&mut self, bit: bool, time: Nanoseconds) {
        let (from, to) = self.times_of.unwrap_or((time, time));
        self.times_of = Some((from.min(time), to.max(time)));
        self.packets += 1;
        let (last, so_often) = self.last;
        if self.packets > 1 && bit == last {
            self.three += u64::from(so_often == 2);
            self.last.1 += 1;
            return;
        }
        if self.packets > 1 {
            self.switches += 1;
            self.alone += u64::from(so_often == 1);
        }
        self.last = (bit, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Spin, Verdict};

    /// Packets each `step`, of which the bit switches every `rtt`.
    fn spinning(step: i64, rtt: i64, lasts: i64) -> Vec<(i64, bool)> {
        (0..lasts / step).map(|number| (number * step, number * step / rtt % 2 == 1)).collect()
    }

    fn seen(packets: &[(i64, bool)], handshake: Option<u64>) -> Spin {
        let mut spin = Spin::default();
        for &(time, bit) in packets {
            spin.add(bit, time, handshake);
        }
        spin
    }

    #[test]
    fn each_switch_is_a_round_trip() {
        let spin = seen(&spinning(10, 1000, 10_500), Some(1000));
        assert_eq!((spin.times.count, spin.times.least_s(), spin.times.most_s()), (9, 1e-6, 1e-6));
        assert_eq!((spin.verdict(Some(1000)), spin.ignored), (Verdict::Spins, 0));
        // One packet in a round trip.
        let spin = seen(&spinning(1000, 1000, 10_500), Some(1000));
        assert_eq!((spin.times.count, spin.times.mean_s(), spin.verdict(Some(1000))), (8, 1e-6, Verdict::Spins));
    }

    #[test]
    fn packets_that_are_overtaken_make_no_round_trips() {
        let mut packets = spinning(10, 1000, 10_500);
        // Packets before a switch change places with later ones, up to twenty further.
        for (number, later) in [(99, 3), (198, 2), (199, 1), (299, 20), (400, 0)] {
            let moved = packets[number].1;
            packets[number].1 = packets[number + later].1;
            packets[number + later].1 = moved;
        }
        for handshake in [Some(1000), None] {
            let spin = seen(&packets, handshake);
            assert_eq!(spin.times.count, 9, "{spin:?}");
            assert!(spin.times.least_s() >= 0.97e-6 && spin.times.most_s() <= 1.03e-6);
            assert_eq!(spin.verdict(handshake), Verdict::Spins);
        }
    }

    #[test]
    fn a_round_trip_may_become_short() {
        let slow = spinning(10, 10_000, 40_000);
        let fast = spinning(10, 200, 4000).into_iter().map(|(time, bit)| (40_000 + time, bit));
        let spin = seen(&slow.into_iter().chain(fast).collect::<Vec<_>>(), Some(10_000));
        // The first one has to be as many packets as a part of those before.
        assert!(spin.times.count > 12, "{spin:?}");
        assert!(spin.times.least_s() < 0.25e-6);
    }

    #[test]
    fn a_pause_makes_no_round_trip() {
        let mut spin = Spin::default();
        for (time, bit) in spinning(100, 1000, 5000) {
            spin.add(bit, time, Some(1000));
        }
        spin.silent(60_000);
        spin.add(true, 65_000, Some(1000));
        assert_eq!((spin.times.count, spin.times.most_s()), (3, 1e-6));
    }

    #[test]
    fn disabled_bits_do_not_spin() {
        let constant: Vec<(i64, bool)> = (0..100).map(|time| (time * 100, true)).collect();
        for handshake in [Some(1000), None] {
            assert_eq!(seen(&constant, handshake).verdict(handshake), Verdict::Constant);
            assert_eq!(seen(&constant[..7], handshake).verdict(handshake), Verdict::Unknown);
        }
        assert_eq!(seen(&constant, Some(5000)).verdict(Some(5000)), Verdict::Unknown);
        // Another value for a second connection ID, and the first one for a third.
        let per_id: Vec<(i64, bool)> = (0..900).map(|time| (time * 100, time / 300 == 1)).collect();
        assert_eq!(seen(&per_id, Some(1000)).verdict(Some(1000)), Verdict::Constant);
        let mut state = 1_u32;
        for step in [100, 3000] {
            let random: Vec<(i64, bool)> = (0..200)
                .map(|time| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (time * step, state >> 31 == 1)
                })
                .collect();
            assert_eq!(seen(&random, Some(1000)).verdict(Some(1000)), Verdict::Random);
        }
    }
}

//! Round trips of what a receiver sends: from a timestamp of it to the data that echo it (RFC 7323 §3).

use super::frame::Nanoseconds;
use super::quantiles::Times;
use super::sequence::not_after;

/// A silence of the sender, in initial round trips, beyond which the next echo tells of its application.
const SILENCE: f64 = 1.5;
/// The same in round trips behind the capture point, where the handshake was not captured: an echo after a longer silence may
/// be as late as that, and would show a path before the capture point that is not there.
const SILENCE_BEHIND: f64 = 0.25;

/// Of the time to an echo, a silence of the sender that may be part of it: the path then takes two thirds of that time at
/// least, as the data before the silence did not echo it yet.
const SILENCE_WITHIN: f64 = 1.0 / 3.0;

/// One round trip at a time, as receivers themselves measure it.
#[derive(Clone, Debug, Default)]
pub struct Echoes {
    /// From a timestamp to the data that echo it.
    pub times: Times,
    /// The timestamp that is awaited, and when it was sent first.
    awaited: Option<(u32, Nanoseconds)>,
    told: Option<u32>,
    data: Option<Nanoseconds>,
}

impl Echoes {
    /// The receiver sent a timestamp.
    pub fn sent(&mut self, value: u32, time: Nanoseconds) {
        // A clock of milliseconds has many packets with one value: the first of them counts.
        if self.told != Some(value) && self.awaited.is_none() {
            self.awaited = Some((value, time));
        }
        self.told = Some(value);
    }

    /// Data came that echo one. `initial_rtt` is the handshake's, if it was captured, `behind` the shortest round trip from
    /// here to the receiver, zero where none was seen.
    pub fn echoed(&mut self, echo: u32, time: Nanoseconds, initial_rtt: Option<Nanoseconds>, behind: u64) {
        let silent = self.data.replace(time).map_or(Nanoseconds::MAX, |before| time.saturating_sub(before));
        let Some((_, since)) = self.awaited.filter(|&(value, _)| not_after(value, echo)) else { return };
        self.awaited = None;
        let Ok(lasted) = u64::try_from(time.saturating_sub(since)) else { return };
        let expected = initial_rtt.map_or(SILENCE_BEHIND * behind as f64, |rtt| SILENCE * rtt as f64);
        if silent as f64 <= expected.max(SILENCE_WITHIN * lasted as f64) {
            self.times.add(lasted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Echoes;

    #[test]
    fn the_first_of_equal_timestamps_counts_and_no_pause() {
        let mut echoes = Echoes::default();
        echoes.echoed(0, 10, Some(100), 0);
        echoes.sent(7, 100);
        echoes.sent(7, 150);
        echoes.echoed(6, 110, Some(100), 0);
        echoes.echoed(7, 210, Some(100), 0);
        assert_eq!((echoes.times.count, echoes.times.most_s()), (1, 110e-9));
        // What comes after a pause says nothing of the path.
        echoes.sent(8, 220);
        echoes.echoed(8, 900, Some(100), 0);
        assert_eq!(echoes.times.count, 1);
    }

    #[test]
    fn without_the_handshake_data_before_the_echo_tell_it_from_a_pause() {
        let mut echoes = Echoes::default();
        echoes.echoed(0, 10, None, 0);
        // A sender that sends something each 100 ns: nothing says that the path, and not its application, takes so long.
        echoes.sent(7, 20);
        echoes.echoed(7, 110, None, 0);
        assert_eq!(echoes.times.count, 0);
        // Data 70 ns later do not echo it yet: it takes so long at least.
        echoes.sent(8, 120);
        echoes.echoed(7, 190, None, 0);
        echoes.echoed(8, 220, None, 0);
        assert_eq!((echoes.times.count, echoes.times.most_s()), (1, 100e-9));
        // At the sender an ACK and the data that it lets out follow each other at once.
        for (behind, count) in [(70, 1), (80, 2)] {
            let begin = 1000 * i64::from(count);
            echoes.echoed(8, begin, None, behind);
            echoes.sent(8 + count, begin + 19);
            echoes.echoed(8 + count, begin + 20, None, behind);
            assert_eq!(echoes.times.count, u64::from(count));
        }
    }
}

//! Round trips of what a receiver sends: from a timestamp of it to the data that echo it (RFC 7323 §3).

use super::frame::Nanoseconds;
use super::quantiles::Times;
use super::sequence::not_after;

/// A silence of the sender, in initial round trips, beyond which the next echo tells of its application.
const SILENCE: f64 = 1.5;

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

    /// Data came that echo one.
    pub fn echoed(&mut self, echo: u32, time: Nanoseconds, initial_rtt: Nanoseconds) {
        let silent = self.data.replace(time).map_or(Nanoseconds::MAX, |before| time.saturating_sub(before));
        let Some((_, since)) = self.awaited.filter(|&(value, _)| not_after(value, echo)) else { return };
        self.awaited = None;
        let lasted = u64::try_from(time.saturating_sub(since)).unwrap_or(0);
        if lasted > 0 && silent as f64 <= SILENCE * initial_rtt as f64 {
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
        echoes.echoed(0, 10, 100);
        echoes.sent(7, 100);
        echoes.sent(7, 150);
        echoes.echoed(6, 110, 100);
        echoes.echoed(7, 210, 100);
        assert_eq!((echoes.times.count, echoes.times.most_s()), (1, 110e-9));
        // What comes after a pause says nothing of the path.
        echoes.sent(8, 220);
        echoes.echoed(8, 900, 100);
        assert_eq!(echoes.times.count, 1);
    }
}

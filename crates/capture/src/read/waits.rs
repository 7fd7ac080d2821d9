//! What a sender waits for, as far as its packets and their ACKs tell where they were captured.

use super::frame::Nanoseconds;

/// What holds a sender back at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Neither is known to.
    #[default]
    Other,
    /// Nothing is in flight: there is nothing to send.
    Data,
    /// The receiver's window has no room for another segment.
    Window,
}

/// How long a sender waited for what: for room in the window up to the last packet of the connection, for data until it sent
/// some, as one that has delivered everything waits for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// With nothing in flight, in nanoseconds.
    pub idle: u64,
    /// Of that, what each pause was longer than a round trip: behind the path, where the next packet takes that long to come,
    /// no more of a pause is the sender's. Of pauses before a round trip is known, nothing.
    pub idle_beyond: u64,
    /// With no room in the receiver's window, in nanoseconds.
    pub window: u64,
    wait: Wait,
    since: Nanoseconds,
}

impl Waits {
    /// From `time` on the sender waits for `wait`; `rtt` is the path's round trip, if it is known.
    pub fn turn(&mut self, wait: Wait, time: Nanoseconds, rtt: Option<Nanoseconds>) {
        let lasted = u64::try_from(time.saturating_sub(self.since)).unwrap_or(0);
        match self.wait {
            Wait::Other => {}
            Wait::Data if wait == Wait::Data => return,
            Wait::Data => {
                self.idle += lasted;
                let path = rtt.map_or(u64::MAX, |rtt| u64::try_from(rtt).unwrap_or(0));
                self.idle_beyond += lasted.saturating_sub(path);
            }
            Wait::Window => self.window += lasted,
        }
        (self.wait, self.since) = (wait, time);
    }
}

#[cfg(test)]
mod tests {
    use super::{Wait, Waits};

    #[test]
    fn a_pause_counts_when_it_ends_and_a_full_window_while_it_lasts() {
        let mut waits = Waits::default();
        for (wait, time) in [(Wait::Data, 10), (Wait::Data, 20), (Wait::Other, 110), (Wait::Window, 120)] {
            waits.turn(wait, time, Some(30));
        }
        assert_eq!((waits.idle, waits.idle_beyond, waits.window), (100, 70, 0));
        waits.turn(Wait::Data, 150, Some(30));
        // A clock that goes backwards.
        waits.turn(Wait::Other, 140, Some(30));
        assert_eq!((waits.idle, waits.idle_beyond, waits.window), (100, 70, 30));
        for (wait, time) in [(Wait::Window, 200), (Wait::Window, 220), (Wait::Window, 270)] {
            waits.turn(wait, time, Some(30));
        }
        assert_eq!((waits.idle, waits.window), (100, 100));
    }
}

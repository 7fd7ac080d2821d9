//! Looking at all sources of a site, at the end of each interval.

use super::Site;
use crate::epochs::users::counts::{Counts, Row, States, WINDOW_UNIT};
use crate::epochs::users::outlet::Calendar;
use crate::epochs::users::source::{State, Transfer};
use crate::events::Key;
use crate::time::Time;
use crate::transport::network::Schedule as _;

impl Site {
    /// When all are looked at next: at multiples of the interval, not at sums of it.
    pub(super) fn plan_look(&mut self, calendar: &mut Calendar) {
        self.looks_done += 1;
        let Some(interval_s) = self.looks.interval_s else { return };
        self.next_look = Time::new(interval_s * self.looks_done as f64);
        let look = Key::planned(self.next_look, 0);
        self.hosts.turns(calendar).schedule(look);
    }

    /// Looks at all sources, and moves what was counted to the present interval.
    pub(super) fn look(&mut self, rows: &mut Vec<Row>) {
        let row = self.looks_done as usize - 1;
        if rows.len() <= row {
            rows.resize_with(row + 1, Row::default);
        }
        let mut states = States { by_path: vec![0; self.counts.by_path.len()], ..States::default() };
        let ordinary = self.sources.len() - self.long_lived.len();
        for (source, Transfer { sender, .. }) in self.sources[..ordinary].iter().zip(&self.transfers) {
            match source.state {
                State::Thinking => states.thinking += 1,
                State::Connecting => states.connecting += 1,
                State::Sending => {
                    states.transmitting += 1;
                    states.by_path[source.path as usize] += 1;
                    states.windows += (sender.window.cwnd / WINDOW_UNIT).round() as u64;
                }
            }
        }
        let fresh = Counts::new(self.counts.by_path.len(), self.counts.by_long_lived.len());
        let counts = std::mem::replace(&mut self.counts, fresh);
        rows[row] += &Row { counts, states };
    }

    /// The last look, at the end of the run, if an interval ends there or none was asked for.
    pub fn finish(&mut self, rows: &mut Vec<Row>) {
        self.look(rows);
    }
}

//! What the application of a TCP sender has to write by when: all at once, or a segment at each of its times.

use super::clock::from_seconds;
use super::schedule::Schedule;
use super::tcp_spec::TcpFlow;

/// The application of a flow.
#[derive(Clone, Debug)]
pub struct Application {
    /// Nothing where it has everything from the start on.
    schedule: Option<Schedule>,
    /// What the schedule has offered so far.
    offered: u64,
    /// Without it, data never end.
    size: Option<u64>,
    /// Whether its flow ends with its schedule, rather than at its own time.
    ends: bool,
}

impl Application {
    /// Of a flow whose times count from `begin`, until `stop_ns`.
    pub fn new(flow: &TcpFlow, begin: i64, stop_ns: i64) -> Self {
        let start_ns = begin.saturating_add(from_seconds(flow.start_s));
        let schedule = flow.pattern.clone().map(|pattern| Schedule::new(pattern, start_ns, stop_ns));
        Self { schedule, offered: 0, size: flow.size_bytes, ends: flow.stop_s.is_none() }
    }

    /// How many bytes it has to write by `now`, in all; each of its times is for `segment` of them.
    pub fn offered(&mut self, now: i64, segment: usize) -> u64 {
        let size = self.size.unwrap_or(u64::MAX);
        let Some(schedule) = &mut self.schedule else { return size };
        while schedule.due_ns().is_some_and(|due| due <= now) {
            schedule.advance(now);
            self.offered = self.offered.saturating_add(segment as u64);
        }
        self.offered.min(size)
    }

    /// When it has more to write; nothing if it has all that will come.
    pub fn next_ns(&self) -> Option<i64> {
        if self.size.is_some_and(|size| self.offered >= size) {
            return None;
        }
        self.schedule.as_ref().and_then(Schedule::due_ns)
    }

    /// Whether a flow that has written all that was offered has nothing to stay for.
    pub fn is_over(&self) -> bool {
        match &self.schedule {
            None => true,
            Some(_) => self.next_ns().is_none() && (self.ends || self.size.is_some_and(|size| self.offered >= size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Application;
    use crate::probe::{Pattern, TcpFlow};

    const MS: i64 = 1_000_000;

    fn flow(pattern: Option<Pattern>, size_bytes: Option<u64>, stop_s: Option<f64>) -> TcpFlow {
        TcpFlow {
            flow: 0,
            to: ([127, 0, 0, 1], 1).into(),
            start_s: 0.01,
            stop_s,
            size_bytes,
            window_bytes: None,
            receiver_keeps_window: false,
            segment_bytes: None,
            pattern,
        }
    }

    #[test]
    fn without_times_everything_is_there_at_once() {
        let mut all = Application::new(&flow(None, Some(5000), None), 0, i64::MAX);
        assert_eq!((all.offered(0, 1000), all.next_ns(), all.is_over()), (5000, None, true));
        let mut endless = Application::new(&flow(None, None, None), 0, i64::MAX);
        assert_eq!(endless.offered(0, 1000), u64::MAX);
    }

    #[test]
    fn each_time_is_for_a_segment_and_late_ones_add_up() {
        let constant = Some(Pattern::Constant { interval_s: 0.004 });
        let mut paced = Application::new(&flow(constant, None, Some(0.02)), 5 * MS, 25 * MS);
        assert_eq!((paced.offered(14 * MS, 1000), paced.next_ns()), (0, Some(15 * MS)));
        assert_eq!((paced.offered(15 * MS, 1000), paced.next_ns()), (1000, Some(19 * MS)));
        // What is due when it stops does not come; the flow stays until then.
        assert_eq!((paced.offered(90 * MS, 1000), paced.next_ns(), paced.is_over()), (3000, None, false));
    }

    #[test]
    fn a_flow_ends_with_its_size_or_with_its_times() {
        let constant = Some(Pattern::Constant { interval_s: 0.001 });
        let mut sized = Application::new(&flow(constant, Some(2500), Some(1.0)), 0, 1000 * MS);
        assert_eq!((sized.offered(11 * MS, 1000), sized.is_over()), (2000, false));
        assert_eq!((sized.offered(12 * MS, 1000), sized.next_ns(), sized.is_over()), (2500, None, true));
        let times = Some(Pattern::Times { at_s: vec![0.0, 0.5] });
        let mut listed = Application::new(&flow(times, None, None), 0, i64::MAX);
        assert_eq!((listed.offered(10 * MS, 100), listed.is_over()), (100, false));
        assert_eq!((listed.offered(510 * MS, 100), listed.is_over()), (200, true));
    }
}

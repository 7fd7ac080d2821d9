//! Low-priority work of a processor: jobs released at a constant interval, which run where nothing of
//! higher priority does, in order of their release. A fluid: it is advanced between events, and none of
//! it makes separate events.
//!
//! A job that is released while the one before it of the same kind has not ended is skipped: a process
//! that was woken and has not run yet is not woken twice. So overload leaves no backlog behind.

use serde::{Deserialize, Serialize};

/// Work that is released at a constant interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Processor time that each job needs, in seconds.
    pub cpu_s: f64,
    /// From one release to the next, in seconds; the first comes that long after the start.
    pub every_s: f64,
}

impl JobSpec {
    /// The share of the processor's time that it needs.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.cpu_s / self.every_s
    }

    /// Jobs released before `now`.
    #[must_use]
    pub fn released(&self, now: f64) -> f64 {
        (now / self.every_s).ceil() - 1.0
    }
}

/// One kind of jobs at work.
#[derive(Clone, Copy, Debug)]
struct Kind {
    spec: JobSpec,
    /// Which release comes next, counted from one.
    next: u64,
    /// Processor time that the pending job still needs, in seconds; none is pending: nothing.
    left_s: Option<f64>,
}

impl Kind {
    fn next_release(&self) -> f64 {
        // Multiples of the interval, not a sum of it.
        self.next as f64 * self.spec.every_s
    }
}

/// How far the jobs came, and why they did not come farther.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Processor time that they took, in seconds.
    pub taken_s: f64,
    /// The kind of the job that ended there.
    pub ended: Option<usize>,
}

/// Low-priority jobs of some kinds, at most one of each pending.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<const KINDS: usize> {
    kinds: [Option<Kind>; KINDS],
    /// Pending kinds in order of release.
    order: [usize; KINDS],
    pending: usize,
    at: f64,
}

impl<const KINDS: usize> Jobs<KINDS> {
    /// Nothing released yet.
    #[must_use]
    pub fn new(specs: [Option<JobSpec>; KINDS]) -> Self {
        let kinds = specs.map(|spec| spec.map(|spec| Kind { spec, next: 1, left_s: None }));
        Self { kinds, order: [0; KINDS], pending: 0, at: 0.0 }
    }

    /// Up to when they were advanced, in seconds.
    #[must_use]
    pub fn at(&self) -> f64 {
        self.at
    }

    /// Whether a job is pending.
    #[must_use]
    pub fn are_pending(&self) -> bool {
        self.pending > 0
    }

    /// Releases what is due.
    fn release(&mut self) {
        for index in 0..KINDS {
            let Some(kind) = &mut self.kinds[index] else { continue };
            while kind.next_release() <= self.at {
                kind.next += 1;
                if kind.left_s.is_none() {
                    kind.left_s = Some(kind.spec.cpu_s);
                    self.order[self.pending] = index;
                    self.pending += 1;
                }
            }
        }
    }

    /// Continues until `until`, or until a job is released or ends, whichever comes first. Jobs get the
    /// share `share` of the processor meanwhile.
    pub fn step(&mut self, until: f64, share: f64) -> Step {
        self.release();
        let next = self.kinds.iter().flatten().map(Kind::next_release).fold(until, f64::min);
        let (begin, first) = (self.at, self.order[0]);
        self.at = next;
        let running = if self.pending > 0 { self.kinds[first].as_mut() } else { None };
        let Some(left_s) = running.and_then(|kind| kind.left_s.as_mut()) else { return Step::default() };
        if share <= 0.0 {
            return Step::default();
        }
        let end = begin + *left_s / share;
        if end > next {
            let taken_s = ((next - begin) * share).min(*left_s);
            *left_s -= taken_s;
            return Step { taken_s, ended: None };
        }
        let taken_s = *left_s;
        self.at = end;
        if let Some(kind) = &mut self.kinds[first] {
            kind.left_s = None;
        }
        self.order.rotate_left(1);
        self.pending -= 1;
        // What was released at this very instant stands behind in the line, and does so from now on.
        self.release();
        Step { taken_s, ended: Some(first) }
    }

    /// When other work that begins at `begin` and needs `work_s` seconds ends, if these jobs get the share
    /// `share` of the processor while they are pending. Of an end behind `until` it is only known that it is there.
    #[must_use]
    pub fn end_of_work(mut self, begin: f64, work_s: f64, share: f64, until: f64) -> f64 {
        while self.at < begin {
            self.step(begin, 0.0);
        }
        let mut left_s = work_s;
        loop {
            self.release();
            let speed = if self.are_pending() { 1.0 - share } else { 1.0 };
            let (from, end) = (self.at, self.at + left_s / speed);
            if from >= until {
                return end;
            }
            let step = self.step(end, share);
            if self.at >= end {
                return end;
            }
            left_s = (left_s - (self.at - from - step.taken_s)).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(cpu_s: f64, every_s: f64) -> Jobs<1> {
        Jobs::new([Some(JobSpec { cpu_s, every_s })])
    }

    fn run(jobs: &mut Jobs<1>, until: f64, share: f64) -> (f64, Vec<f64>) {
        let (mut taken_s, mut ends) = (0.0, Vec::new());
        while jobs.at() < until {
            let step = jobs.step(until, share);
            taken_s += step.taken_s;
            ends.extend(step.ended.map(|_| jobs.at()));
        }
        (taken_s, ends)
    }

    #[test]
    fn jobs_run_when_they_are_released() {
        assert_eq!(run(&mut jobs(0.25, 1.0), 3.5, 1.0), (0.75, vec![1.25, 2.25, 3.25]));
        assert_eq!(run(&mut jobs(0.25, 1.0), 3.5, 0.5), (0.75, vec![1.5, 2.5, 3.5]));
    }

    #[test]
    fn a_job_whose_predecessor_has_not_ended_is_skipped() {
        let mut jobs = jobs(0.25, 1.0);
        assert_eq!(run(&mut jobs, 5.5, 0.0), (0.0, vec![]));
        // One job, not five, and the sixth when its time comes.
        assert_eq!(run(&mut jobs, 6.5, 1.0), (0.5, vec![5.75, 6.25]));
    }

    #[test]
    fn work_beside_them_takes_what_they_leave() {
        // Alone until 1 s, then half the speed until the job has had its 0.25 s, then alone again.
        let end = |work_s, share| jobs(0.25, 1.0).end_of_work(0.5, work_s, share, f64::INFINITY);
        assert_eq!([(1.0, 0.5), (1.0, 0.0), (0.25, 0.5)].map(|(work_s, share)| end(work_s, share)), [1.75, 1.5, 0.75]);
    }

    #[test]
    fn work_behind_the_end_of_the_run_is_not_followed() {
        // To its end it would be as many steps as there are releases until then.
        assert!(jobs(1e-10, 1e-9).end_of_work(1e-5, 1e9, 0.5, 2e-5) > 2e-5);
    }

    #[test]
    fn releases_are_counted_up_to_an_instant() {
        let spec = JobSpec { cpu_s: 0.1, every_s: 1.0 };
        assert_eq!([0.5, 1.0, 1.5, 10.0].map(|now| spec.released(now)), [0.0, 0.0, 1.0, 9.0]);
    }
}

//! Working through the parts of a network, turn by turn: each as many windows as nothing reaches it from others.

use std::sync::atomic::{AtomicU64, Ordering};

use super::clock::{Clock, Window};
use super::exchange::{Meeting, Party, Post};
use super::region::Region;
use crate::time::Time;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What has been simulated, in seconds.
    pub simulated_s: f64,
    /// Crossings of links and interfaces, some of the last ones not counted.
    pub packet_hops: u64,
    /// Sources that send, or did a moment ago.
    pub sending: u64,
}

/// How far a part is.
#[derive(Debug, Default)]
struct Far {
    packet_hops: AtomicU64,
    sending: AtomicU64,
}

/// How far a run goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// When windows are.
    pub clock: Clock,
    /// The end of the run.
    pub end: Time,
    /// Windows from one meeting of the parts to the next.
    pub windows_per_turn: u64,
}

impl Span {
    /// Windows of the whole run.
    pub fn windows(&self) -> u64 {
        self.clock.window(self.end) + 1
    }

    /// What has been simulated, in seconds, when so many windows are done.
    pub fn simulated_s(&self, windows: Window) -> f64 {
        windows.checked_sub(1).map_or(0.0, |last| self.clock.end(last).min(self.end).seconds())
    }
}

/// Works through all parts, each on a thread of its own, to the end or until `watch`, which is told now and then how
/// far the run is, says true: the number of windows that are done.
pub(super) fn work(regions: &mut [Region], span: Span, mut watch: impl FnMut(&Progress) -> bool) -> Window {
    let (meeting, post) = (Meeting::new(regions.len() as u32), Post::new(regions.len()));
    let far: Vec<Far> = regions.iter().map(|_| Far::default()).collect();
    let progress = |window: Window| Progress {
        simulated_s: span.simulated_s(window),
        packet_hops: far.iter().map(|far| far.packet_hops.load(Ordering::Relaxed)).sum(),
        sending: far.iter().map(|far| far.sending.load(Ordering::Relaxed)).sum(),
    };
    if let [region] = regions {
        return work_alone(region, span, &far[0], |window| watch(&progress(window)));
    }
    let Some((first, others)) = regions.split_first_mut() else { return span.windows() };
    std::thread::scope(|scope| {
        for (part, region) in (1..).zip(others) {
            let (meeting, post, far) = (&meeting, &post, &far[part]);
            scope.spawn(move || work_through(region, part, span, (meeting, post, far), |_| false));
        }
        work_through(first, 0, span, (&meeting, &post, &far[0]), |window| watch(&progress(window)))
    })
}

/// Seconds of simulated time between times at which memory is given back.
const TIDY_S: f64 = 300.0;

impl Far {
    fn note(&self, region: &Region) {
        self.packet_hops.store(region.packet_hops(), Ordering::Relaxed);
        self.sending.store(region.sending(), Ordering::Relaxed);
    }
}

/// Windows of a part of the network, one after the other. Those in which nothing happens cost nothing: windows are as
/// short as the shortest delays of some networks ask for.
struct Windows<'a> {
    region: &'a mut Region,
    clock: Clock,
    next: Window,
    tidy_at: Window,
}

impl<'a> Windows<'a> {
    fn new(region: &'a mut Region, clock: Clock) -> Self {
        Self { region, clock, next: 0, tidy_at: clock.window(Time::new(TIDY_S)) }
    }

    /// Works through the next window, and goes on to the one after it in which something may happen, or to `until`.
    fn work(&mut self, until: Window) {
        self.region.work(self.next);
        self.next = self.region.go_on(self.next, until);
        if self.next >= self.tidy_at {
            let now = self.clock.end(self.next);
            self.region.tidy(now);
            self.tidy_at = self.clock.window(now + TIDY_S);
        }
    }
}

/// Works through a network in one part, to the end or until `ends` says true: the number of windows that are done.
fn work_alone(region: &mut Region, span: Span, far: &Far, mut ends: impl FnMut(Window) -> bool) -> Window {
    /// Windows with events between times at which it says how far it is.
    const WORD: u64 = 1 << 8;
    let mut windows = Windows::new(region, span.clock);
    let mut worked = 0_u64;
    while windows.next < span.windows() {
        windows.work(span.windows());
        worked += 1;
        if worked.is_multiple_of(WORD) {
            far.note(windows.region);
        }
        if ends(windows.next) {
            break;
        }
    }
    windows.next
}

/// Works through a part of the network, to the end or until `ends` says true to the first part: the number of windows
/// that are done.
fn work_through(
    region: &mut Region,
    part: usize,
    span: Span,
    (meeting, post, far): (&Meeting, &Post, &Far),
    mut ends: impl FnMut(Window) -> bool,
) -> Window {
    /// Turns between times at which a part says how far it is.
    const WORD: u64 = 1 << 6;
    let _party = Party(meeting);
    let mut windows = Windows::new(region, span.clock);
    let mut turn = 0;
    while windows.next < span.windows() {
        let until = (windows.next + span.windows_per_turn).min(span.windows());
        while windows.next < until {
            windows.work(until);
        }
        windows.region.leave(post, turn, part);
        if turn.is_multiple_of(WORD) {
            far.note(windows.region);
        }
        if part == 0 && ends(windows.next) {
            meeting.end();
        }
        if meeting.wait() {
            break;
        }
        windows.region.take(post, turn, part);
        turn += 1;
    }
    windows.next
}

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
    let Some((first, others)) = regions.split_first_mut() else { return span.windows() };
    std::thread::scope(|scope| {
        for (part, region) in (1..).zip(others) {
            let (meeting, post, far) = (&meeting, &post, &far[part]);
            scope.spawn(move || work_through(region, part, span, (meeting, post, far), |_| false));
        }
        work_through(first, 0, span, (&meeting, &post, &far[0]), |window| watch(&progress(window)))
    })
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
    /// Windows between times at which memory is given back.
    const TIDY: u64 = 1 << 16;
    /// Turns between times at which a part says how far it is.
    const WORD: u64 = 1 << 6;
    let _party = Party(meeting);
    let (mut window, mut turn) = (0, 0);
    while window < span.windows() {
        let until = (window + span.windows_per_turn).min(span.windows());
        while window < until {
            region.work(window);
            window += 1;
            if window.is_multiple_of(TIDY) {
                region.tidy(span.clock.end(window));
            }
        }
        region.leave(post, turn, part);
        if turn.is_multiple_of(WORD) {
            far.packet_hops.store(region.packet_hops(), Ordering::Relaxed);
            far.sending.store(region.sending(), Ordering::Relaxed);
        }
        if part == 0 && ends(window) {
            meeting.end();
        }
        if meeting.wait() {
            break;
        }
        region.take(post, turn, part);
        turn += 1;
    }
    window
}

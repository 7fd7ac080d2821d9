//! Working through the parts of a network, turn by turn: each as many epochs as nothing reaches it from others.

use std::sync::atomic::{AtomicU64, Ordering};

use super::clock::{Clock, Epoch};
use super::region::{Export, Region};
use crate::meeting::{Barrier, Mailbox, Participant};
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
    /// When epochs are.
    pub clock: Clock,
    /// The end of the run.
    pub end: Time,
    /// Epochs from one barrier of the parts to the next.
    pub epochs_per_turn: u64,
}

impl Span {
    /// Epochs of the whole run.
    pub fn epochs(&self) -> u64 {
        self.clock.epoch(self.end) + 1
    }

    /// What has been simulated, in seconds, when so many epochs are done.
    pub fn simulated_s(&self, epochs: Epoch) -> f64 {
        epochs.checked_sub(1).map_or(0.0, |last| self.clock.end(last).min(self.end).seconds())
    }
}

/// Works through all parts, each on its own thread, to the end or until `watch`, which is told now and then how
/// far the run is, says true: the number of epochs that are done. `tell` gets the first part when all have come so far.
pub(super) fn work(
    regions: &mut [Region],
    span: Span,
    mut watch: impl FnMut(&Progress) -> bool,
    tell: impl FnMut(&mut Region, Epoch),
) -> Epoch {
    let (barrier, mailbox) = (Barrier::new(regions.len() as u32), Mailbox::new(regions.len()));
    let far: Vec<Far> = regions.iter().map(|_| Far::default()).collect();
    let progress = |epoch: Epoch| Progress {
        simulated_s: span.simulated_s(epoch),
        packet_hops: far.iter().map(|far| far.packet_hops.load(Ordering::Relaxed)).sum(),
        sending: far.iter().map(|far| far.sending.load(Ordering::Relaxed)).sum(),
    };
    if let [region] = regions {
        return work_alone(region, span, &far[0], (|epoch| watch(&progress(epoch)), tell));
    }
    let Some((first, others)) = regions.split_first_mut() else { return span.epochs() };
    std::thread::scope(|scope| {
        for (part, region) in (1..).zip(others) {
            let (barrier, mailbox, far) = (&barrier, &mailbox, &far[part]);
            scope.spawn(move || work_through(region, part, span, (barrier, mailbox, far), (|_| false, |_, _| {})));
        }
        work_through(first, 0, span, (&barrier, &mailbox, &far[0]), (|epoch| watch(&progress(epoch)), tell))
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

/// Epochs of a part of the network, one after the other. Those in which nothing happens cost nothing: epochs are as
/// short as the shortest delays of some networks ask for.
struct Epochs<'a> {
    region: &'a mut Region,
    clock: Clock,
    next: Epoch,
    tidy_at: Epoch,
}

impl<'a> Epochs<'a> {
    fn new(region: &'a mut Region, clock: Clock) -> Self {
        Self { region, clock, next: 0, tidy_at: clock.epoch(Time::new(TIDY_S)) }
    }

    /// Works through the next epoch, and continues to the one after it in which something may happen, or to `until`.
    fn work(&mut self, until: Epoch) {
        self.region.work(self.next);
        self.next = self.region.go_on(self.next, until);
        if self.next >= self.tidy_at {
            let now = self.clock.end(self.next);
            self.region.tidy(now);
            self.tidy_at = self.clock.epoch(now + TIDY_S);
        }
    }
}

/// Works through a network in one part, to the end or until `ends` says true: the number of epochs that are done.
fn work_alone(
    region: &mut Region,
    span: Span,
    far: &Far,
    (mut ends, mut tell): (impl FnMut(Epoch) -> bool, impl FnMut(&mut Region, Epoch)),
) -> Epoch {
    /// Epochs with events between times at which it says how far it is.
    const WORD: u64 = 1 << 8;
    let mut epochs = Epochs::new(region, span.clock);
    let mut worked = 0_u64;
    while epochs.next < span.epochs() {
        epochs.work(span.epochs());
        tell(epochs.region, epochs.next);
        worked += 1;
        if worked.is_multiple_of(WORD) {
            far.note(epochs.region);
        }
        if ends(epochs.next) {
            break;
        }
    }
    epochs.next
}

/// Works through a part of the network, to the end or until `ends` says true to the first part: the number of epochs
/// that are done.
fn work_through(
    region: &mut Region,
    part: usize,
    span: Span,
    (barrier, mailbox, far): (&Barrier, &Mailbox<Export>, &Far),
    (mut ends, mut tell): (impl FnMut(Epoch) -> bool, impl FnMut(&mut Region, Epoch)),
) -> Epoch {
    /// Epochs between times at which a part says how far it is.
    const WORD: u64 = 1 << 6;
    let _participant = Participant(barrier);
    let mut epochs = Epochs::new(region, span.clock);
    let mut turn = 0;
    while epochs.next < span.epochs() {
        let until = (epochs.next + span.epochs_per_turn).min(span.epochs());
        while epochs.next < until {
            epochs.work(until);
        }
        epochs.region.leave(mailbox, turn, part);
        if turn.is_multiple_of(WORD) {
            far.note(epochs.region);
        }
        if part == 0 && ends(epochs.next) {
            barrier.end();
        }
        let over = barrier.wait();
        epochs.region.take(mailbox, turn, part);
        tell(epochs.region, epochs.next);
        if over {
            break;
        }
        turn += 1;
    }
    epochs.next
}

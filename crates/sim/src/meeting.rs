//! How parts of a network that are processed at the same time meet: each leaves what goes to others, waits for
//! them, and takes what they left.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

/// Letters from each part to each other.
#[derive(Debug)]
pub struct Mailbox<T> {
    /// By turn (even and odd ones), sender and receiver.
    boxes: Vec<Mutex<Vec<T>>>,
    parts: usize,
}

impl<T> Mailbox<T> {
    /// Between so many parts.
    #[must_use]
    pub fn new(parts: usize) -> Self {
        Self { boxes: (0..2 * parts * parts).map(|_| Mutex::default()).collect(), parts }
    }

    fn place(&self, turn: u64, from: usize, to: usize) -> &Mutex<Vec<T>> {
        &self.boxes[((turn % 2) as usize * self.parts + from) * self.parts + to]
    }

    /// Leaves messages of one turn, in exchange for an empty bag.
    pub fn leave(&self, turn: u64, from: usize, to: usize, messages: &mut Vec<T>) {
        let mut place = self.place(turn, from, to).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::swap(&mut *place, messages);
    }

    /// Takes the messages of one turn, when all have left theirs.
    pub fn take(&self, turn: u64, to: usize, mut each: impl FnMut(T)) {
        for from in 0..self.parts {
            let mut place = self.place(turn, from, to).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            place.drain(..).for_each(&mut each);
        }
    }
}

/// Where all wait for all. Epochs are short, so nobody sleeps unless others take long: where there are fewer processors
/// than parts, or other programs have them.
#[derive(Debug)]
pub struct Barrier {
    parties: u32,
    arrived: AtomicU32,
    turn: AtomicU64,
    /// The turn after which all end.
    last: AtomicU64,
    /// One of them will never come.
    broken: AtomicBool,
    /// Who sleeps until the turn changes.
    asleep: Mutex<()>,
    changed: Condvar,
}

impl Barrier {
    /// Of so many.
    #[must_use]
    pub fn new(parties: u32) -> Self {
        Self {
            parties,
            arrived: AtomicU32::new(0),
            turn: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
            broken: AtomicBool::new(false),
            asleep: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits for all others. True if all end now.
    pub fn wait(&self) -> bool {
        /// Looks before the processor is left to others.
        const PATIENCE: u32 = 1 << 12;
        let turn = self.turn.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.store(0, Ordering::Relaxed);
            let asleep = self.asleep.lock();
            self.turn.store(turn + 1, Ordering::Release);
            drop(asleep);
            self.changed.notify_all();
        } else {
            let waits = || self.turn.load(Ordering::Acquire) == turn && !self.broken.load(Ordering::Relaxed);
            let mut looks = 0;
            while looks < PATIENCE && waits() {
                looks += 1;
                std::hint::spin_loop();
            }
            let asleep = self.asleep.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            drop(self.changed.wait_while(asleep, |()| waits()));
            if self.broken.load(Ordering::Relaxed) {
                return true;
            }
        }
        self.last.load(Ordering::Acquire) == turn
    }

    /// Has all end after the next barrier.
    pub fn end(&self) {
        self.last.store(self.turn.load(Ordering::Acquire), Ordering::Release);
    }
}

/// One that takes part. If it fails the others need not wait for it.
#[derive(Debug)]
pub struct Participant<'a>(pub &'a Barrier);

impl Drop for Participant<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let asleep = self.0.asleep.lock();
            self.0.broken.store(true, Ordering::Relaxed);
            drop(asleep);
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_meet_as_often_and_end_together() {
        let (barrier, mailbox) = (Barrier::new(3), Mailbox::new(3));
        let work = |me: usize| {
            let _participant = Participant(&barrier);
            let (mut turns, mut heard) = (0, Vec::new());
            loop {
                for to in 0..3 {
                    mailbox.leave(turns, me, to, &mut vec![turns as u32]);
                }
                if me == 1 && turns == 999 {
                    barrier.end();
                }
                let over = barrier.wait();
                mailbox.take(turns, me, |letter| heard.push(letter));
                turns += 1;
                if over {
                    return (turns, heard);
                }
            }
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|me| scope.spawn(move || work(me))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let expected: Vec<u32> = (0..1000).flat_map(|turn| [turn; 3]).collect();
        for result in results {
            assert_eq!(result, (1000, expected.clone()));
        }
    }
}

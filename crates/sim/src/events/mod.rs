//! The total order of events.
//!
//! An event's key is (time, caused_at, precedence, entity). `caused_at` is when it became inevitable: the
//! start of service for a delivery or a departure, the moment of (re)arming for a timer, zero for what
//! the scenario itself fixes. Of two events that became inevitable at one instant, that one precedes
//! whose cause was itself inevitable for longer. Nothing in the key depends on how many threads run or
//! on which event happened to be pushed first, and the order agrees with a simulator that breaks ties
//! by insertion.

use crate::time::Time;

mod calendar;
mod heap;
mod queue;

pub use queue::EventQueue;

/// Who an event belongs to: a number in the order of the scenario ([`Entities`](crate::entities::Entities)).
pub type Entity = u32;

/// Where an event stands in the order of all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When it happens.
    pub time: Time,
    /// When it became inevitable.
    pub caused_at: Time,
    /// How long its cause had been inevitable, and below that whose it is: one word, written whole.
    rank: u64,
}

/// How long the cause of an event had been inevitable when it happened: the longest comes first. Single
/// precision suffices, because rounding never turns an order round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence(u32);

impl Precedence {
    /// Before all others.
    pub const FIRST: Self = Self(0);

    /// The precedence with these bits.
    #[inline]
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Bits that order as precedences do.
    #[inline]
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Of an event whose cause had been inevitable for `seconds`.
    #[inline]
    #[must_use]
    pub fn of(seconds: f64) -> Self {
        // Bits of non-negative floats order as the numbers do; the complement turns the order round.
        Self(!(seconds as f32).to_bits())
    }
}

impl Key {
    /// Before every event.
    pub const FIRST: Self = Self::planned(Time::ZERO, 0);

    /// An event of which the scenario itself says when it happens.
    #[must_use]
    pub const fn planned(time: Time, entity: Entity) -> Self {
        Self { time, caused_at: Time::ZERO, rank: entity as u64 }
    }

    /// An event that became inevitable at `caused_at`.
    #[inline]
    #[must_use]
    pub fn new(time: Time, caused_at: Time, precedence: Precedence, entity: Entity) -> Self {
        Self { time, caused_at, rank: u64::from(precedence.0) << 32 | u64::from(entity) }
    }

    /// The key in words, which functions on the hot path pass to each other in registers: a processor that
    /// writes a value to memory in parts and at once copies it whole waits for the memory in between.
    #[inline]
    pub(crate) fn words(self) -> (f64, f64, u64) {
        (self.time.seconds(), self.caused_at.seconds(), self.rank)
    }

    /// The key with these words.
    #[inline]
    pub(crate) fn from_words((time, caused_at, rank): (f64, f64, u64)) -> Self {
        Self { time: Time::new(time), caused_at: Time::new(caused_at), rank }
    }

    /// Whose it is.
    #[inline]
    #[must_use]
    pub fn entity(&self) -> Entity {
        self.rank as u32
    }

    /// The same place in the order for another entity: right behind, if its number is greater.
    #[must_use]
    pub fn with_entity(self, entity: Entity) -> Self {
        Self { rank: self.rank & !u64::from(u32::MAX) | u64::from(entity), ..self }
    }

    /// How long its cause had been inevitable.
    #[inline]
    #[must_use]
    pub fn precedence(&self) -> Precedence {
        Precedence((self.rank >> 32) as u32)
    }

    /// The precedence of what this event causes.
    #[inline]
    #[must_use]
    pub fn precedence_of_effects(&self) -> Precedence {
        Precedence::of(self.time.since(self.caused_at))
    }

    #[inline]
    pub(crate) fn before(&self, other: &Self) -> bool {
        // Times rarely tie. Which of two comes first is hard to foresee, whether they tie is not: asked in
        // this order, the answer needs no branch that a processor would guess wrong.
        let (mine, its) = (self.time.seconds(), other.time.seconds());
        if mine == its { (self.caused_at, self.rank) < (other.caused_at, other.rank) } else { mine < its }
    }
}

/// Something with its place in the order of events, by which alone it is compared.
#[derive(Clone, Copy, Debug)]
pub struct Keyed<T> {
    /// When.
    pub key: Key,
    /// What.
    pub item: T,
}

impl<T> PartialEq for Keyed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Keyed<T> {}

impl<T> PartialOrd for Keyed<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Keyed<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_24_bytes() {
        assert_eq!(size_of::<Key>(), 24);
    }

    #[test]
    fn the_cause_that_was_inevitable_longer_comes_first() {
        assert!(Precedence::of(0.02) < Precedence::of(0.004));
        assert!(Precedence::FIRST < Precedence::of(1e9));
    }
}

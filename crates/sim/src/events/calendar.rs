//! Many pending events in exact order, at a cost that does not grow with their number.
//!
//! A calendar: time is cut into days of equal length, and each day of the year ahead has a list of its
//! events in no order. When a day comes, its few events are sorted; later ones join them in their place.
//! Events beyond the year wait in a heap, and so do those of a day that has too many for that: no length of days
//! tells apart what happens at one instant. Day and year adapt to how densely events come. Only the cost
//! depends on that, never the order: of two events on different days the earlier day's is the earlier.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Entity, Key};
use crate::time::Time;

const NOBODY: u32 = u32::MAX;

/// Many pending events.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The events of the current day, the next one last.
    today: Vec<Key>,
    /// Those of the current day whose place among them would have been far.
    crowd: BinaryHeap<Reverse<Key>>,
    day: u64,
    days_per_second: f64,
    /// First event of each day of the year, by the day's number modulo the length of the year.
    days: Vec<u32>,
    /// One bit for each day that has events.
    busy_days: Vec<u64>,
    nodes: Vec<Node>,
    free: u32,
    /// Events beyond the year.
    far: BinaryHeap<Reverse<Key>>,
    len: usize,
    census: Census,
    /// Days had too many events: whether these share instants is counted, too.
    crowded: bool,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Key,
    next: u32,
}

/// What the length of days and years is judged by.
#[derive(Clone, Copy, Debug, Default)]
struct Census {
    events: u32,
    days: u32,
    far: u32,
    /// Of events that were on the list of a day when it came, how many there were, and at how many instants.
    listed: u32,
    instants: u32,
}

/// How many events make a census.
const CENSUS: u32 = 1 << 14;
/// Times that differ by less, relatively, are one instant: a thousand roundings.
const ROUNDED: f64 = 1000.0 * f64::EPSILON;
/// Places that an event which joins today moves at most.
const STEPS: usize = 64;
/// Days of a year, at first and at most.
const SHORT_YEAR: usize = 1 << 10;
const LONG_YEAR: usize = 1 << 22;

impl Default for Calendar {
    fn default() -> Self {
        let mut queue = Self {
            today: Vec::new(),
            crowd: BinaryHeap::new(),
            day: 0,
            days_per_second: 1e5,
            days: Vec::new(),
            busy_days: Vec::new(),
            nodes: Vec::new(),
            free: NOBODY,
            far: BinaryHeap::new(),
            len: 0,
            census: Census::default(),
            crowded: true,
        };
        queue.set_year(SHORT_YEAR);
        queue
    }
}

impl Calendar {
    /// Finds out which event is the next, where it is not the last of today's.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) {
        if self.today.is_empty() && self.crowd.is_empty() {
            self.next_day();
        }
        if let Some(&Reverse(key)) = self.crowd.peek()
            && self.today.last().is_none_or(|next| key.before(next))
        {
            self.crowd.pop();
            self.today.push(key);
        }
    }

    /// Removes the next event, if it comes before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Key> {
        if self.today.is_empty() || !self.crowd.is_empty() {
            self.settle();
        }
        let next = self.today.pop_if(|key| key.time < end)?;
        self.len -= 1;
        self.census.events += 1;
        Some(next)
    }

    /// Whose event comes after so many others, as far as is known.
    #[inline]
    pub fn coming(&self, after: usize) -> Option<Entity> {
        self.today.iter().nth_back(after).map(Key::entity)
    }

    /// Adds the event whose key has these words.
    #[inline(never)]
    pub fn push_words(&mut self, time: f64, caused_at: f64, rank: u64) {
        self.push(Key::from_words((time, caused_at, rank)));
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, key: Key) {
        self.len += 1;
        let day = self.day_of(key.time);
        if day <= self.day {
            self.join_today(key);
        } else if day - self.day < self.days.len() as u64 {
            self.enter(day, key);
        } else {
            self.census.far += 1;
            self.far.push(Reverse(key));
        }
    }

    /// The number of a day. Monotonic: rounding never turns an order round.
    #[inline]
    fn day_of(&self, time: Time) -> u64 {
        // By way of i64, which processors convert to in one instruction.
        (time.seconds() * self.days_per_second) as i64 as u64
    }

    /// Puts an event in its place among those of today, from the next one on: it rarely goes far.
    #[inline(always)]
    fn join_today(&mut self, key: Key) {
        let first = self.today.len().saturating_sub(STEPS);
        if first > 0 && self.today[first].before(&key) {
            self.crowd.push(Reverse(key));
            return;
        }
        self.today.push(key);
        let mut place = self.today.len() - 1;
        while place > 0 && self.today[place - 1].before(&key) {
            self.today[place] = self.today[place - 1];
            place -= 1;
        }
        self.today[place] = key;
    }

    /// Puts an event on the list of a day of the year.
    #[inline(always)]
    fn enter(&mut self, day: u64, key: Key) {
        let slot = day as usize & (self.days.len() - 1);
        let node = Node { key, next: self.days[slot] };
        let index = self.free;
        if index == NOBODY {
            self.days[slot] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            let place = &mut self.nodes[index as usize];
            self.free = place.next;
            *place = node;
            self.days[slot] = index;
        }
        self.busy_days[slot / 64] |= 1 << (slot % 64);
    }

    /// Today has no events left: go on to the next day that has some.
    fn next_day(&mut self) {
        if self.census.events >= CENSUS {
            self.adapt();
            if !self.today.is_empty() || !self.crowd.is_empty() {
                return;
            }
        }
        match self.next_busy_day() {
            Some(day) => self.begin(day),
            None => {
                let Some(Reverse(first)) = self.far.peek() else { return };
                self.begin(self.day_of(first.time));
            }
        }
    }

    /// Makes `day` today: its events and those that come within the year now leave their lists.
    fn begin(&mut self, day: u64) {
        self.day = day;
        self.census.days += 1;
        let slot = day as usize & (self.days.len() - 1);
        let mut index = std::mem::replace(&mut self.days[slot], NOBODY);
        self.busy_days[slot / 64] &= !(1 << (slot % 64));
        while index != NOBODY {
            let Node { key, next } = self.nodes[index as usize];
            self.nodes[index as usize].next = self.free;
            self.free = index;
            index = next;
            self.join_today(key);
        }
        let end_of_year = day.saturating_add(self.days.len() as u64);
        while let Some(&Reverse(key)) = self.far.peek() {
            let day = self.day_of(key.time);
            if day >= end_of_year {
                break;
            }
            self.far.pop();
            if day <= self.day { self.join_today(key) } else { self.enter(day, key) }
        }
        if self.crowded {
            self.count_instants();
        }
    }

    /// Counts how many of today's events share an instant, or nearly so, as sums that were rounded in different orders do: a
    /// shorter day would not tell those apart.
    #[cold]
    #[inline(never)]
    fn count_instants(&mut self) {
        let differ = |later: Time, time: Time| later.since(time) > ROUNDED * later.seconds();
        let apart = self.today.windows(2).filter(|pair| differ(pair[0].time, pair[1].time)).count();
        self.census.listed += self.today.len() as u32;
        self.census.instants += apart as u32 + u32::from(!self.today.is_empty());
    }

    /// The next day of the year with events.
    fn next_busy_day(&self) -> Option<u64> {
        let year = self.days.len();
        let first = (self.day as usize + 1) & (year - 1);
        let words = self.busy_days.len();
        let ahead = |slot: usize| {
            let distance = slot.wrapping_sub(first) & (year - 1);
            self.day + 1 + distance as u64
        };
        let rest = self.busy_days[first / 64] & (u64::MAX << (first % 64));
        if rest != 0 {
            return Some(ahead(first / 64 * 64 + rest.trailing_zeros() as usize));
        }
        // All other words, and at last the days before `first` in its own.
        (1..=words).find_map(|step| {
            let word = (first / 64 + step) & (words - 1);
            let bits = self.busy_days[word];
            (bits != 0).then(|| ahead(word * 64 + bits.trailing_zeros() as usize))
        })
    }

    fn set_year(&mut self, days: usize) {
        self.days = vec![NOBODY; days];
        self.busy_days = vec![0; days / 64];
        self.nodes.clear();
        self.free = NOBODY;
    }

    /// Two or three events make a good day, and few should lie beyond the year. Events at one instant count as one: else,
    /// where hosts go in step, days would become shorter and shorter, and nearly all of a long year would be empty.
    #[cold]
    fn adapt(&mut self) {
        let Census { events, days, far, listed, instants } = std::mem::take(&mut self.census);
        let mut per_day = f64::from(events) / f64::from(days.max(1));
        let mut year = self.days.len();
        let mut days_per_second = self.days_per_second;
        let counted = self.crowded;
        self.crowded = per_day >= 6.0;
        if self.crowded && !counted {
            // The next census tells.
            return;
        }
        if self.crowded {
            per_day *= f64::from(instants) / f64::from(listed.max(1));
        }
        if !(1.3..6.0).contains(&per_day) {
            days_per_second *= (per_day / 2.5).clamp(1.0 / 64.0, 64.0);
        }
        if far > events / 16 && year < LONG_YEAR {
            year *= 4;
        }
        if year != self.days.len() || days_per_second != self.days_per_second {
            self.rebuild(year, days_per_second);
        }
    }

    pub(super) fn rebuild(&mut self, year: usize, days_per_second: f64) {
        let mut keys = std::mem::take(&mut self.today);
        keys.extend(self.crowd.drain().chain(self.far.drain()).map(|Reverse(key)| key));
        for slot in 0..self.days.len() {
            let mut index = self.days[slot];
            while index != NOBODY {
                let Node { key, next } = self.nodes[index as usize];
                keys.push(key);
                index = next;
            }
        }
        self.set_year(year);
        self.days_per_second = days_per_second;
        let first = keys.iter().map(|key| key.time).min().unwrap_or_default();
        self.day = self.day_of(first);
        self.len = 0;
        for key in keys {
            self.push(key);
        }
        self.census = Census::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn days_do_not_shrink_for_events_that_share_an_instant() {
        const GAP_S: f64 = 1e-6;
        let mut queue = Calendar::default();
        for step in 0..10 {
            for entity in 0..400 {
                // Some are rounded otherwise.
                let rounded = 1.0 + f64::from(entity % 5) * f64::EPSILON;
                queue.push(Key::planned(Time::new(f64::from(step) * GAP_S * rounded), entity));
            }
        }
        for _ in 0..400_000 {
            let key = queue.pop_before(Time::NEVER).unwrap();
            queue.push(Key::planned(key.time + 10.0 * GAP_S, key.entity()));
        }
        // A day holds few instants, and few days hold none.
        assert!((0.1..10.0).contains(&(queue.days_per_second * GAP_S)), "{}", queue.days_per_second);
        assert!(queue.days.len() <= 4 * SHORT_YEAR, "{}", queue.days.len());
    }

    #[test]
    fn days_adapt_to_events_that_come_a_million_times_faster() {
        let mut queue = Calendar::default();
        let mut time = 0.0;
        for _ in 0..64 {
            queue.push(Key::planned(Time::new(time), 0));
            time += 1e-9;
        }
        let mut last = Key::FIRST;
        for _ in 0..200_000 {
            let key = queue.pop_before(Time::NEVER).unwrap();
            assert!(last <= key);
            last = key;
            queue.push(Key::planned(key.time + 64e-9, 0));
        }
        assert!(queue.days_per_second > 1e7, "{}", queue.days_per_second);
    }

    #[test]
    fn a_million_events_at_one_instant_leave_in_order() {
        // Quadratic in their number this would take hours.
        const EVENTS: u32 = 1_000_000;
        let mut queue = Calendar::default();
        let key = |entity| Key::planned(Time::new(1.0), entity);
        (0..EVENTS).for_each(|entity| queue.push(key(entity)));
        for entity in 0..EVENTS {
            assert_eq!(queue.pop_before(Time::NEVER), Some(key(entity)));
            if entity % 2 == 0 {
                queue.push(Key::planned(Time::new(1.5), EVENTS - entity));
            }
        }
        for rest in (2..=EVENTS).step_by(2) {
            assert_eq!(queue.pop_before(Time::NEVER).map(|key| key.entity()), Some(rest));
        }
        assert_eq!(queue.pop_before(Time::NEVER), None);
    }
}

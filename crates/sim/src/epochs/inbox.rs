//! What arrives at a stop, by epochs, and the order in which it does.

use super::clock::Epoch;
use crate::events::{Entity, Key};
use crate::packet::Packet;
use crate::time::Time;

/// A packet that comes to a stop. It carries the begin of its last service, which caused its coming, and that
/// service's precedence.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    time: f64,
    /// The packet.
    pub packet: Packet,
    entity: Entity,
}

impl Arrival {
    /// The event with this key brings a packet.
    #[inline]
    #[must_use]
    pub fn new(key: Key, packet: Packet) -> Self {
        let packet = packet.served(key.caused_at, key.precedence());
        Self { time: key.time.seconds(), packet, entity: key.entity() }
    }

    /// A packet that was served comes from `entity`, at `time`.
    #[inline]
    #[must_use]
    pub fn served(time: Time, packet: Packet, entity: Entity) -> Self {
        Self { time: time.seconds(), packet, entity }
    }

    /// When it comes.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Time {
        Time::new(self.time)
    }

    /// The key of the event that brings it.
    #[inline]
    #[must_use]
    pub fn key(&self) -> Key {
        let (caused_at, precedence) = (Time::new(self.packet.start), self.packet.precedence());
        Key::new(Time::new(self.time), caused_at, precedence, self.entity)
    }
}

/// Epochs for which an inbox holds arrivals, the present one first.
pub const AHEAD: u64 = 8;

/// What arrives at a stop in the present epoch and the next few.
#[derive(Clone, Debug)]
pub struct Inbox {
    slots: [Vec<Arrival>; AHEAD as usize],
    /// The stop's place in the order of stops.
    place: u32,
}

impl Inbox {
    /// The empty inbox of the stop at a place in the order of stops.
    #[must_use]
    pub fn new(place: u32) -> Self {
        Self { slots: std::array::from_fn(|_| Vec::new()), place }
    }

    /// The stop's place in the order of stops.
    #[inline]
    #[must_use]
    pub fn place(&self) -> u32 {
        self.place
    }

    /// Puts in what arrives in `epoch`, which is the present one or less than [`AHEAD`] after it: whether it is the first.
    #[inline]
    pub fn push(&mut self, epoch: Epoch, arrival: Arrival) -> bool {
        let slot = &mut self.slots[(epoch % AHEAD) as usize];
        let first = slot.is_empty();
        slot.push(arrival);
        first
    }

    /// Takes out what arrives in `epoch`, in exchange for the memory of other arrivals.
    #[inline]
    pub fn swap(&mut self, epoch: Epoch, arrivals: &mut Vec<Arrival>) {
        std::mem::swap(&mut self.slots[(epoch % AHEAD) as usize], arrivals);
    }
}

/// Puts arrivals in order.
#[derive(Clone, Debug, Default)]
pub struct Sorter {
    order: Vec<(u64, u32)>,
    ends: Vec<u32>,
    places: Vec<u32>,
}

impl Sorter {
    /// The arrivals by the order of their events, those of one event as they were put in; each entry's second part is
    /// an index.
    pub fn sort(&mut self, arrivals: &[Arrival]) -> &[(u64, u32)] {
        /// Fewer are sorted by insertion alone.
        const FEW: usize = 12;
        self.order.clear();
        if arrivals.len() > FEW && !arrivals.is_sorted_by(|a, b| a.time <= b.time) {
            self.distribute(arrivals);
        } else {
            self.order.extend(arrivals.iter().zip(0..).map(|(arrival, index)| (arrival.time.to_bits(), index)));
        }
        self.insert(arrivals);
        &self.order
    }

    /// Puts arrivals into as many equal parts of their time as there are arrivals: few are out of place then.
    fn distribute(&mut self, arrivals: &[Arrival]) {
        let Self { order, ends, places } = self;
        let times = || arrivals.iter().map(|arrival| arrival.time);
        let (first, last) = times().fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), time| {
            (if time < least { time } else { least }, if time > most { time } else { most })
        });
        // Times differ, since they are not sorted.
        let scale = (arrivals.len() - 1) as f64 / (last - first);
        places.clear();
        places.extend(times().map(|time| ((time - first) * scale) as i32 as u32));
        ends.clear();
        ends.resize(arrivals.len() + 1, 0);
        for &place in &*places {
            ends[place as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut *ends {
            sum += *end;
            *end = sum;
        }
        order.resize(arrivals.len(), (0, 0));
        for ((place, arrival), index) in places.iter().zip(arrivals).zip(0..) {
            let begin = &mut ends[*place as usize];
            order[*begin as usize] = (arrival.time.to_bits(), index);
            *begin += 1;
        }
    }

    /// Sorts what is nearly sorted; gives up where it is not.
    fn insert(&mut self, arrivals: &[Arrival]) {
        /// Steps for each entry, on average.
        const STEPS: usize = 8;
        let order = &mut self.order;
        let key = |index: u32| arrivals[index as usize].key();
        let before = |a: (u64, u32), b: (u64, u32)| {
            // Times rarely tie.
            if a.0 == b.0 { (key(a.1), a.1) < (key(b.1), b.1) } else { a.0 < b.0 }
        };
        let mut steps = STEPS * (order.len() + STEPS);
        for end in 1..order.len() {
            let entry = order[end];
            let mut place = end;
            while place > 0 && before(entry, order[place - 1]) {
                order[place] = order[place - 1];
                place -= 1;
            }
            order[place] = entry;
            steps = match steps.checked_sub(end - place) {
                Some(steps) => steps,
                None => return order.sort_unstable_by_key(|&(time, index)| (time, key(index), index)),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Precedence;
    use crate::packet::Kind;
    use proptest::prelude::*;

    fn arrival() -> impl Strategy<Value = Arrival> {
        // Few distinct times, where ties are the point; others all over; and some close together.
        let time = prop_oneof![(0u8..4).prop_map(f64::from), 0.0..1.0f64, 0.5..0.5 + 1e-9f64, Just(1e3)];
        (time, 0u8..3, 0u8..3, 0u32..3).prop_map(|(time, caused_at, age, entity)| {
            let precedence = Precedence::of(f64::from(age));
            let key = Key::new(Time::new(time), Time::new(f64::from(caused_at)), precedence, entity);
            Arrival::new(key, Packet::new(Kind::Segment, 0, 0, 40, 0.0))
        })
    }

    #[test]
    fn an_arrival_takes_48_bytes() {
        assert_eq!(size_of::<Arrival>(), 48);
    }

    proptest! {
        #[test]
        fn arrivals_come_in_the_order_of_their_events(arrivals in prop::collection::vec(arrival(), 0..200)) {
            let mut expected: Vec<u32> = (0..arrivals.len() as u32).collect();
            expected.sort_by_key(|&index| arrivals[index as usize].key());
            let mut sorter = Sorter::default();
            for _ in 0..2 {
                let order: Vec<u32> = sorter.sort(&arrivals).iter().map(|entry| entry.1).collect();
                prop_assert_eq!(&order, &expected);
            }
        }
    }
}

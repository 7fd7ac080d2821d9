//! The bytes of packets, first in, first out, in memory of a fixed size: each lies in one piece, as it is read
//! straight into its place and written from there.

/// Room that each packet needs while it is read: the largest IP packet with the header of a frame.
pub const LARGEST: usize = 65_535 + 17;

/// A ring of bytes.
#[derive(Debug)]
pub struct Buffer {
    bytes: Box<[u8]>,
    /// Of the oldest packet.
    head: usize,
    /// Behind the newest packet.
    tail: usize,
    packets: usize,
}

/// Where a packet lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    begin: usize,
    length: usize,
}

impl Buffer {
    /// An empty buffer, all of whose memory is there from the start.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let mut memory = vec![0; bytes.max(2 * LARGEST)];
        // Pages come with the first write.
        memory.fill(1);
        Self { bytes: memory.into(), head: 0, tail: 0, packets: 0 }
    }

    /// Where the next packet may be written; nothing if there is no room.
    pub fn room(&mut self) -> Option<&mut [u8]> {
        if self.packets == 0 {
            (self.head, self.tail) = (0, 0);
        }
        let wrapped = self.packets > 0 && self.tail <= self.head;
        let end = if wrapped { self.head } else { self.bytes.len() };
        if end - self.tail < LARGEST {
            if wrapped || self.head < LARGEST {
                return None;
            }
            self.tail = 0;
        }
        Some(&mut self.bytes[self.tail..self.tail + LARGEST])
    }

    /// What was written last into the room has this length and stays.
    pub fn keep(&mut self, length: usize) -> Place {
        let place = Place { begin: self.tail, length };
        self.tail += length;
        self.packets += 1;
        place
    }

    /// Keeps a copy of a packet as well; nothing if there is no room.
    pub fn copy(&mut self, place: Place) -> Option<Place> {
        self.room()?;
        self.bytes.copy_within(place.begin..place.begin + place.length, self.tail);
        Some(self.keep(place.length))
    }

    /// The bytes of a packet.
    #[must_use]
    pub fn packet(&self, place: Place) -> &[u8] {
        &self.bytes[place.begin..place.begin + place.length]
    }

    /// The bytes of a packet, to be changed.
    pub fn packet_mut(&mut self, place: Place) -> &mut [u8] {
        &mut self.bytes[place.begin..place.begin + place.length]
    }

    /// The oldest packet, which lies at `place`, is not needed any longer.
    pub fn forget(&mut self, place: Place) {
        self.head = place.begin + place.length;
        self.packets -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn packets_keep_their_bytes(sizes in prop::collection::vec(prop::option::weighted(0.7, 1usize..40_000), 1..400)) {
            let mut buffer = Buffer::new(4 * LARGEST);
            let mut held: VecDeque<(Place, usize, u8)> = VecDeque::new();
            for (number, size) in sizes.into_iter().enumerate() {
                match size {
                    Some(size) => {
                        let Some(room) = buffer.room() else {
                            // What is there leaves no piece that is large enough.
                            let used: usize = held.iter().map(|&(_, size, _)| size).sum();
                            prop_assert!(used + 2 * LARGEST > 4 * LARGEST - LARGEST);
                            continue;
                        };
                        room[..size].fill(number as u8);
                        held.push_back((buffer.keep(size), size, number as u8));
                    }
                    None => if let Some((place, ..)) = held.pop_front() {
                        buffer.forget(place);
                    }
                }
                for &(place, size, value) in &held {
                    prop_assert_eq!(buffer.packet(place), &vec![value; size][..]);
                }
            }
        }
    }
}

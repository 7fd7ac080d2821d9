//! What options of ACKs say, on their way: it lies in a slab, because few ACKs have other options than a timestamp.

use super::accecn::EcnCounts;
use super::sack::SackBlocks;
use crate::packet::Packet;
use crate::time::Time;

/// The options of one ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckOptions {
    /// Its timestamp: when the packet that it answers was sent.
    pub echo: Time,
    /// What arrived beyond what it acknowledges.
    pub blocks: SackBlocks,
    /// What arrived by ECN field, where ACKs count bytes.
    pub counts: Option<EcnCounts>,
    /// The receiver's window, where that has changed or something is asked.
    pub told: Option<Advertised>,
}

/// What a receiver tells of its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advertised {
    /// The window in packets beyond what the ACK acknowledges.
    pub window: u32,
    /// The receiver asks for a segment by which it times how long ACKs take.
    pub asks: bool,
}

/// Where the options of ACKs in flight lie.
#[derive(Clone, Debug, Default)]
pub struct AckOptionSlab {
    slots: Vec<AckOptions>,
    free: Vec<u32>,
}

impl AckOptionSlab {
    /// Attaches options to an ACK, with `option_bytes` before its blocks, and the receiver's window, if it tells of one. A
    /// timestamp alone needs no place.
    #[must_use]
    pub fn attach(
        &mut self,
        ack: Packet,
        blocks: SackBlocks,
        counts: Option<EcnCounts>,
        told: Option<Advertised>,
        option_bytes: u32,
    ) -> Packet {
        let of_blocks = if blocks.count() == 0 { 0 } else { option_bytes + blocks.bytes() };
        let counts = counts.filter(|_| EcnCounts::fields(blocks.count()) > 0);
        let of_counts = counts.map_or(0, |_| EcnCounts::bytes(blocks.count()));
        let bytes = of_blocks + of_counts;
        if bytes == 0 && told.is_none() {
            return ack;
        }
        let handle = self.put(AckOptions { echo: ack.sent(), blocks, counts, told });
        ack.with_options(handle, bytes)
    }

    /// Takes in options: where they are.
    #[must_use]
    pub fn put(&mut self, options: AckOptions) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                self.slots[handle as usize] = options;
                handle
            }
            None => {
                self.slots.push(options);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The copy of a packet on its way, with its options if it has some.
    #[must_use]
    pub fn copy(&mut self, packet: Packet) -> Packet {
        let Some(handle) = packet.options() else { return packet.again() };
        let options = *self.get(handle);
        packet.with_options_at(self.put(options))
    }

    /// The options of an ACK on its way.
    #[must_use]
    pub fn get(&self, handle: u32) -> &AckOptions {
        &self.slots[handle as usize]
    }

    /// Forgets the options of an ACK that was lost.
    pub fn discard(&mut self, handle: u32) {
        self.free.push(handle);
    }

    /// Takes the options of an ACK that has arrived.
    #[must_use]
    pub fn take(&mut self, handle: u32) -> AckOptions {
        self.free.push(handle);
        self.slots[handle as usize]
    }
}

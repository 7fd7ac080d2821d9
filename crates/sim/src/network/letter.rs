//! What a part of a network that is processed beside others has another one know.

use crate::network::saturation::Full;
use crate::packet::Packet;
use crate::time::Time;
use crate::transport::ack_options::{AckOptionSlab, AckOptions};

/// What one part has another one know.
#[derive(Clone, Debug)]
pub enum Letter {
    /// A link carries a packet there.
    Packet(Carried),
    /// A hop of a flow that sends from there was busy throughout a round trip.
    Full(Full),
}

/// A packet that a link carries to another part.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The link.
    pub link: u32,
    /// When it reaches the other end.
    pub delivery: Time,
    /// The packet, served.
    packet: Packet,
    /// Of an ACK with other options than a timestamp: all of them. Few have any, and letters are many.
    options: Option<Box<AckOptions>>,
}

impl Carried {
    /// A packet that leaves a part, of whose ACK options these are.
    pub fn new(link: u32, packet: Packet, delivery: Time, ack_options: &mut AckOptionSlab) -> Self {
        let options = packet.options().map(|handle| Box::new(ack_options.take(handle)));
        Self { link, delivery, packet, options }
    }

    /// The packet in the part to which it comes, among whose ACK options its own are now.
    #[must_use]
    pub fn unpack(self, ack_options: &mut AckOptionSlab) -> Packet {
        match self.options {
            None => self.packet,
            Some(options) => self.packet.with_options_at(ack_options.put(*options)),
        }
    }
}

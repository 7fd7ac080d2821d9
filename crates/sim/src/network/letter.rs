//! What a part of a network that is processed beside others has another one know.

use crate::network::saturation::Full;
use crate::packet::Packet;
use crate::time::Time;
use crate::transport::ack_options::AckOptions;

/// What one part has another one know.
#[derive(Clone, Debug)]
pub enum Letter {
    /// A link carries a packet there.
    Packet {
        /// The link.
        link: u32,
        /// The packet, served.
        packet: Packet,
        /// When it reaches the other end.
        delivery: Time,
        /// Of an ACK with other options than a timestamp: all of them. Few have any, and letters are many.
        options: Option<Box<AckOptions>>,
    },
    /// A hop of a flow that sends from there was busy throughout a round trip.
    Full(Full),
}

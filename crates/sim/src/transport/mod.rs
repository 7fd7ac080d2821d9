//! Transports: TCP's two ends, and datagrams.

pub mod accecn;
pub mod accounting;
pub mod ack_delay;
pub mod ack_options;
pub mod connection;
pub mod datagram;
pub mod delivery_rate;
pub mod ecn;
pub mod network;
pub mod ns2;
pub mod one_way;
pub mod pacing;
pub mod playout;
pub mod receive_window;
pub mod receiver;
pub mod rtt;
pub mod sack;
pub mod sender;
pub mod signs;
pub mod timer;
pub mod window_use;

#[cfg(test)]
pub(crate) mod tests;

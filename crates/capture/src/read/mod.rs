//! Captures of other programs, read once and in bounded memory: packets of pcap and pcapng files become totals of
//! flows, interfaces and protocols.
//!
//! Blocks and headers are read by our own code: a damaged file must say at which byte it is, a packet of which only
//! the beginning was kept must count for what its header says, and nothing may be copied on the way.

pub mod analysis;
pub mod capture;
pub mod connection;
pub mod copies;
pub mod echoes;
pub mod error;
pub mod file;
pub mod flows;
pub mod fragments;
pub mod frame;
pub mod ip;
pub mod link;
pub mod marks;
pub mod ns2;
pub mod only;
pub mod packets;
mod pcap;
mod pcapng;
pub mod quantiles;
pub mod quic;
pub mod samples;
pub mod seen;
pub mod segment;
mod sequence;
pub mod source;
pub mod tables;
pub mod totals;
pub mod tunnel;
mod tunnel_headers;
mod unacked;
mod unpack;
pub mod waits;
pub mod way;

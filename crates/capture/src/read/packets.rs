//! Every packet, for the table `packets`, where it was asked for.

use std::collections::HashMap;

use super::analysis::Found;
use super::frame::Nanoseconds;
use super::ip::Address;
use super::totals::Kind;

/// Whose packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Number of its connection.
    pub serial: u32,
    /// Whether it went from the end that was seen second.
    pub direction: usize,
}

/// One packet.
#[derive(Clone, Debug)]
pub struct Record {
    /// When it was captured.
    pub time: Nanoseconds,
    /// Its number in the file, from 1 on.
    pub number: u64,
    /// Where it came from and went to, by their places; nothing of what is not IP.
    pub ends: Option<(u32, u32)>,
    /// What it is.
    pub kind: Kind,
    /// Whether it only acknowledges.
    pub bare: bool,
    /// Its length, as totals count it.
    pub bytes: u32,
    /// Whose it is.
    pub owner: Option<Owner>,
    /// First byte of its payload, counted from the connection's beginning.
    pub seq: Option<u32>,
    /// Whether a router marked congestion.
    pub marked: bool,
    /// What was found of it.
    pub found: Found,
}

/// All packets, in the order of the file.
#[derive(Default)]
pub struct Packets {
    /// One by one.
    pub records: Vec<Record>,
    /// Addresses, by place.
    pub addresses: Vec<Address>,
    places: HashMap<Address, u32>,
}

impl Packets {
    /// The place of an address.
    pub fn place(&mut self, address: Address) -> u32 {
        let next = self.addresses.len() as u32;
        let place = *self.places.entry(address).or_insert(next);
        if place == next {
            self.addresses.push(address);
        }
        place
    }
}

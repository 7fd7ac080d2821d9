//! A world in which time passes only when the relay waits.

use std::collections::VecDeque;

use tightlink_relay::RelayError;
use tightlink_relay::world::{Arrival, World};
use tightlink_sim::time::Time;

/// How many random networks are tried: what `make test` has time for, or `TIGHTLINK_CASES` times as many, as in the
/// tests of the engine.
pub fn cases(usual: u32) -> u32 {
    let times = std::env::var("TIGHTLINK_CASES").map_or(1, |times| times.parse().expect("TIGHTLINK_CASES is a number"));
    usual * times
}

/// A packet that came or was forwarded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    pub at: Time,
    pub size: u32,
    pub number: u32,
    /// Whose it is, from 1; 0: nobody's.
    pub flow: u32,
    /// The last byte of the address to which it goes.
    pub to: u8,
    /// A TCP acknowledgement of its number, without data or options, of 40 bytes.
    pub ack: bool,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Where its number and its flow stand among its bytes: of a TCP segment its acknowledgement number and its ports.
const NUMBER: std::ops::Range<usize> = 28..32;
const PORTS: std::ops::Range<usize> = 20..24;

/// Its bytes, with an IP header if it is anybody's.
fn bytes(packet: Packet) -> Vec<u8> {
    let mut bytes = vec![0; packet.size as usize];
    bytes[NUMBER].copy_from_slice(&packet.number.to_be_bytes());
    bytes[PORTS].copy_from_slice(&packet.flow.to_le_bytes());
    if packet.flow > 0 {
        // From 0.0.0.1, 0.0.0.2 and so on, over UDP.
        (bytes[0], bytes[9], bytes[15], bytes[19]) = (0x45, UDP, packet.flow as u8, packet.to);
    }
    if packet.ack {
        bytes[2..4].copy_from_slice(&(packet.size as u16).to_be_bytes());
        (bytes[9], bytes[32], bytes[33]) = (TCP, 5 << 4, 16);
    }
    bytes
}

/// A clock, packets that will come, and packets that were forwarded.
#[derive(Debug)]
pub struct Virtual {
    pub now: Time,
    pub coming: Vec<VecDeque<Packet>>,
    pub sent: Vec<Vec<Packet>>,
    /// How much too long each sleep takes, in turn.
    pub oversleeps_s: Vec<f64>,
    pub worked_s: f64,
    pub sleeps: usize,
    /// When it is told to end.
    pub stop: Time,
}

impl Virtual {
    pub fn new(coming: Vec<Vec<Packet>>) -> Self {
        Self {
            now: Time::ZERO,
            sent: vec![Vec::new(); coming.len()],
            coming: coming.into_iter().map(VecDeque::from).collect(),
            oversleeps_s: vec![0.0],
            worked_s: 0.0,
            sleeps: 0,
            stop: Time::NEVER,
        }
    }
}

impl World for Virtual {
    fn now(&mut self) -> Time {
        self.now
    }

    fn receive(&mut self, port: usize, into: &mut [u8]) -> Result<Option<Arrival>, RelayError> {
        if self.coming[port].front().is_none_or(|packet| packet.at > self.now) {
            return Ok(None);
        }
        Ok(self.coming[port].pop_front().map(|packet| {
            into[..packet.size as usize].copy_from_slice(&bytes(packet));
            Arrival { length: packet.size as usize, at: packet.at }
        }))
    }

    fn send(&mut self, port: usize, packet: &[u8]) -> Result<bool, RelayError> {
        let number = u32::from_be_bytes(packet[NUMBER].try_into().unwrap());
        let flow = u32::from_le_bytes(packet[PORTS].try_into().unwrap());
        let to = if flow > 0 { packet[19] } else { 0 };
        let sent = Packet { at: self.now, size: packet.len() as u32, number, flow, to, ack: packet[9] == TCP };
        assert_eq!(packet, bytes(sent));
        self.sent[port].push(sent);
        Ok(true)
    }

    fn wait(&mut self, until: Time) -> Result<bool, RelayError> {
        let coming = self.coming.iter().filter_map(|coming| Some(coming.front()?.at)).min();
        let wakes = coming.map_or(until, |coming| coming.min(until)).min(self.stop);
        let oversleep_s = self.oversleeps_s[self.sleeps % self.oversleeps_s.len()];
        self.sleeps += 1;
        self.now = self.now.max(wakes) + oversleep_s;
        Ok(self.now < self.stop)
    }

    fn work(&mut self, seconds: f64) {
        self.now = self.now + seconds;
        self.worked_s += seconds;
    }

    fn spent_s(&self) -> f64 {
        self.worked_s
    }
}

//! The life of a source: it thinks, connects, sends, and thinks again.

use crate::packet::Address;
use crate::random::Stream;
use crate::time::Time;
use crate::transport::sender::Sender;

/// What a source does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has nothing to send.
    Thinking,
    /// It has sent a SYN.
    Connecting,
    /// It sends a file.
    Sending,
}

/// A source: all that one which thinks is looked at for, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Source {
    /// Its random numbers.
    pub stream: Stream,
    /// When it stops thinking, or has no more patience.
    pub alarm: Time,
    /// Packets of its file; the SYN is packet 0.
    pub packets: u32,
    /// ACKs that arrive for it later than the present event.
    pub put_off: u32,
    /// The site of the receiver.
    pub target: u16,
    /// Which of its transfers it is, modulo [`Address::TRANSFERS`].
    pub transfer: u8,
    /// What it does.
    pub state: State,
    /// The kind of its file.
    pub file: u8,
    /// The pair of classes of the two sites.
    pub path: u8,
    /// The slower of the interfaces at both ends.
    pub interface: u8,
    /// Its congestion control.
    pub control: u8,
}

const _: () = assert!(size_of::<Source>() == 64);

/// The transfer of a source that does not think.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// What sends it.
    pub sender: Sender,
    /// When the handshake was over.
    pub began: Time,
    /// The round trip where nothing is ahead of it, in seconds.
    pub round_trip_s: f64,
}

impl Transfer {
    /// One that has not begun.
    #[must_use]
    pub fn new(sender: Sender) -> Self {
        Self { sender, began: Time::ZERO, round_trip_s: 0.0 }
    }
}

impl Source {
    /// A source that thinks until `alarm`.
    #[must_use]
    pub fn thinking(stream: Stream, alarm: Time, control: u8) -> Self {
        Self {
            stream,
            alarm,
            packets: 0,
            put_off: 0,
            target: 0,
            transfer: 0,
            state: State::Thinking,
            file: 0,
            path: 0,
            interface: 0,
            control,
        }
    }

    /// What is still on its way of the present transfer belongs to an earlier one from now on.
    pub fn next_transfer(&mut self) {
        self.transfer = (self.transfer + 1) % Address::TRANSFERS;
    }
}

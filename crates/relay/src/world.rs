//! What a relay lives in: a clock and ports. The system's is in `system`; tests have a virtual one, in which time
//! passes only when the relay waits.

use tightlink_sim::time::Time;

use crate::RelayError;

/// A packet that came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Bytes written.
    pub length: usize,
    /// When it came.
    pub at: Time,
}

/// A clock and ports.
pub trait World {
    /// Time since the relay began.
    fn now(&mut self) -> Time;

    /// The next packet from a port, written to `into`, if one is there.
    ///
    /// # Errors
    /// The port does not work any more.
    fn receive(&mut self, port: usize, into: &mut [u8]) -> Result<Option<Arrival>, RelayError>;

    /// Hands a packet to the host behind a port. False if it takes none at the moment.
    ///
    /// # Errors
    /// The port does not work any more.
    fn send(&mut self, port: usize, packet: &[u8]) -> Result<bool, RelayError>;

    /// Waits until `until`, but not longer than until a packet comes, and perhaps shorter. False if the relay is to end.
    ///
    /// # Errors
    /// The system does not let it wait.
    fn wait(&mut self, until: Time) -> Result<bool, RelayError>;

    /// Spends so many seconds of the processor, as a router does with a packet.
    fn work(&mut self, seconds: f64);

    /// Processor time that the loop has had so far, in seconds.
    fn spent_s(&self) -> f64;
}

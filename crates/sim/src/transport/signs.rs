//! What a packet says of congestion marks (RFC 3168 §5, §6.1.2; RFC 9331 §4.1).

use crate::packet::Packet;

/// What a packet says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// It may be marked (ECT).
    pub capable: bool,
    /// It is (CE).
    pub marked: bool,
    /// The sender has reduced its window (CWR).
    pub reduced: bool,
    /// A scalable congestion control sends it (ECT(1)).
    pub scalable: bool,
}

impl Signs {
    /// Those of a packet.
    #[inline]
    #[must_use]
    pub fn of(packet: &Packet) -> Self {
        let (capable, scalable) = (packet.is_capable(), packet.is_scalable());
        Self { capable, marked: packet.is_marked(), reduced: packet.is_reduced(), scalable }
    }
}

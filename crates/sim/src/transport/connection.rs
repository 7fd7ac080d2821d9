//! What the two ends of a connection, and others of its group, have in common.

use crate::scenario::{Profile, TcpSpec};

/// More packets than any run sends: the application never runs dry.
const UNLIMITED: i32 = i32::MAX - 1;

/// What one connection has in common with others of its group.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The parameters.
    pub tcp: TcpSpec,
    /// The profile.
    pub profile: Profile,
    /// Application bytes to send in all; none: unlimited.
    pub bytes: Option<u64>,
    /// The receiver's window, in whole packets.
    pub window: i32,
}

impl Connection {
    /// What connections with these parameters have in common.
    #[must_use]
    pub fn new(tcp: &TcpSpec, profile: Profile, bytes: Option<u64>) -> Self {
        Self { tcp: tcp.clone(), profile, bytes, window: tcp.window_packets as i32 }
    }

    /// Wire bytes of a full packet.
    #[must_use]
    pub fn full_size(&self) -> u32 {
        self.tcp.packet_bytes()
    }

    /// Wire bytes of the packet with sequence number `seq`.
    #[inline]
    #[must_use]
    pub fn size(&self, seq: i32) -> u32 {
        if seq == 0 { self.tcp.ack_bytes } else { self.payload(seq) + self.tcp.header_bytes }
    }

    /// Application bytes in the packet with sequence number `seq`.
    #[inline]
    fn payload(&self, seq: i32) -> u32 {
        match self.bytes {
            // ns-2 counts whole packets: its last one is as large as the others.
            Some(bytes) if self.profile != Profile::Ns2 => {
                let before = (seq as u64 - 1) * u64::from(self.tcp.payload_bytes);
                bytes.saturating_sub(before).min(u64::from(self.tcp.payload_bytes)) as u32
            }
            _ => self.tcp.payload_bytes,
        }
    }

    /// Application bytes in the packets 1 to `seq`.
    #[must_use]
    pub fn payload_through(&self, seq: i32) -> u64 {
        let whole = u64::from(seq.max(0) as u32) * u64::from(self.tcp.payload_bytes);
        self.bytes.map_or(whole, |bytes| whole.min(bytes))
    }

    /// Packets that the application offers when it starts.
    #[must_use]
    pub fn packets(&self) -> i32 {
        let packets = |bytes: u64| bytes.div_ceil(u64::from(self.tcp.payload_bytes));
        self.bytes.map_or(UNLIMITED, |bytes| packets(bytes).min(UNLIMITED as u64 - 1) as i32)
    }
}

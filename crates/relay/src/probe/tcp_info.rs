//! What the kernel tells of a connection, read from its bytes: fields were only ever added at the end.

/// Of `struct tcp_info` in `linux/tcp.h`, what a measurement needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TcpInfo {
    /// Payload of a full segment.
    pub segment_bytes: u32,
    /// Segments sent and neither acknowledged nor known to be lost.
    pub unacked_packets: u32,
    /// Segments that are taken for lost.
    pub lost_packets: u32,
    /// Smoothed round-trip time.
    pub rtt_us: u32,
    /// Smallest round-trip time.
    pub rtt_min_us: u32,
    /// Congestion window.
    pub cwnd_packets: u32,
    /// Slow-start threshold; 2³¹ − 1 where there is none yet.
    pub ssthresh_packets: u32,
    /// Segments retransmitted.
    pub retransmitted_packets: u32,
    /// Segments sent, control segments included.
    pub sent_packets: u32,
    /// Segments with payload sent, those retransmitted included.
    pub sent_data_packets: u32,
    /// Payload acknowledged, and the SYN.
    pub acked_bytes: u64,
    /// Payload sent, that retransmitted included.
    pub sent_bytes: u64,
    /// Payload waiting that was not sent yet.
    pub unsent_bytes: u32,
    /// Time with data to send or outstanding.
    pub busy_us: u64,
    /// Time limited by the window that the receiver advertises.
    pub receiver_limited_us: u64,
    /// Time limited by the sender's own buffer.
    pub buffer_limited_us: u64,
    /// Segments that came out of order.
    #[serde(skip)]
    pub out_of_order_packets: u32,
    /// Window that the receiver advertises.
    pub receiver_window_bytes: u32,
    /// Expiries of the retransmission timer; zero before Linux 6.7, which does not tell.
    pub timeouts: u16,
}

impl TcpInfo {
    /// As far as this version of the structure reaches.
    pub const BYTES: usize = 248;

    /// Reads the structure as the kernel left it.
    pub fn of(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| {
            let mut long = [0; 8];
            long.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(long)
        };
        Self {
            segment_bytes: word(16),
            unacked_packets: word(24),
            lost_packets: word(32),
            rtt_us: word(68),
            ssthresh_packets: word(76),
            cwnd_packets: word(80),
            retransmitted_packets: word(100),
            acked_bytes: long(120),
            sent_packets: word(136),
            unsent_bytes: word(144),
            rtt_min_us: word(148),
            sent_data_packets: word(156),
            busy_us: long(168),
            receiver_limited_us: long(176),
            buffer_limited_us: long(184),
            sent_bytes: long(200),
            out_of_order_packets: word(224),
            receiver_window_bytes: word(228),
            timeouts: u16::from_ne_bytes([bytes[240], bytes[241]]),
        }
    }
}

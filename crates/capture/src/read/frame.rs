//! Frames of a capture, and where they were captured.

/// The longest frame that is believed; longer ones are taken for damage. Twice what tcpdump and Wireshark keep of a
/// packet of a network.
pub const LONGEST_FRAME: u32 = 1 << 19;

/// Nanoseconds since 1970, in universal time.
pub type Nanoseconds = i64;

/// An interface at which packets were captured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// As the capture calls it; empty if it does not.
    pub name: String,
    /// Number of its link type (LINKTYPE_...).
    pub link_type: u32,
    /// The bytes kept of each frame; 0 for all.
    pub snap_length: u32,
    /// Its capacity in bit/s, where somebody said it.
    pub rate_bps: Option<f64>,
    /// What the file says that its clock is off by, in seconds, where no clock can be: times are then without it.
    pub offset_s: Option<i64>,
    /// Packets that the capture itself says it lost.
    pub drops: u64,
    /// Whether it said anything of that.
    pub counts_drops: bool,
}

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was captured.
    pub time: Nanoseconds,
    /// Number of its interface among all of the file.
    pub interface: usize,
    /// Link type of that interface.
    pub link_type: u32,
    /// Its length on the wire.
    pub length: u32,
    /// What was kept of it.
    pub data: &'a [u8],
}

impl Frame<'_> {
    /// Where it was captured, as a number: its interface with its VLAN, or what Linux' "any" interface calls interfaces.
    pub fn place(&self) -> u32 {
        const ETHERNET: u32 = 1;
        const SLL2: u32 = 276;
        let within = match (self.link_type, self.data) {
            (ETHERNET, [_, _, _, _, _, _, _, _, _, _, _, _, 0x81 | 0x88, 0x00 | 0xa8, high, low, ..]) => {
                u32::from(u16::from_be_bytes([*high & 0xf, *low])) + 1
            }
            (SLL2, [_, _, _, _, index @ ..]) if index.len() >= 4 => {
                u32::from_be_bytes([index[0], index[1], index[2], index[3]])
            }
            _ => 0,
        };
        // Interfaces have small numbers: those of one file do not meet.
        (self.interface as u32).wrapping_mul(0x9e37_79b1) ^ within
    }
}

/// Where a frame lies in the window of the source.
pub struct Place {
    /// When it was captured.
    pub time: Nanoseconds,
    /// Number of its interface.
    pub interface: usize,
    /// Its length on the wire.
    pub length: u32,
    /// From here to there in what was peeked at.
    pub data: (usize, usize),
    /// Length of the whole record.
    pub record: usize,
}

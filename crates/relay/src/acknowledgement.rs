//! What a TCP segment says that does nothing but acknowledge: CAKE's ACK filter drops those of which a later one says more.

use crate::header::{ACK, segment};

/// URG, PSH, RST, SYN and FIN, beside which a segment says something else, too.
const OTHERS: u8 = 0b10_1111;
const ECE: u8 = 64;
const CWR: u8 = 128;
/// AE (RFC 9768 §3.1.2), and the bits of the same byte that are reserved.
const AE: u8 = 1;
const RESERVED: u8 = 0b1110;
/// Kinds of options that do not count: the end, padding, timestamps (RFC 9293 §3.2, RFC 7323 §3).
const END: u8 = 0;
const PADDING: u8 = 1;
const TIMESTAMPS: u8 = 8;

/// An acknowledgement without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Its acknowledgement number.
    pub number: u32,
    /// The flags ECE, CWR and AE, from the lowest bit on.
    pub ace: u8,
    /// Whether it has options other than timestamps, such as SACK blocks.
    pub options: bool,
}

impl Acknowledgement {
    /// Of an IP packet that is one.
    #[must_use]
    pub fn of(packet: &[u8]) -> Option<Self> {
        let segment = segment(packet)?;
        let [high, flags] = segment.get(12..14)?.try_into().ok()?;
        let header = usize::from(high >> 4) * 4;
        if segment.len() != header || flags & (ACK | OTHERS) != ACK || high & RESERVED != 0 {
            return None;
        }
        let bit = |is_set: bool, place: u8| u8::from(is_set) << place;
        Some(Self {
            number: u32::from_be_bytes(segment.get(8..12)?.try_into().ok()?),
            ace: bit(flags & ECE != 0, 0) | bit(flags & CWR != 0, 1) | bit(high & AE != 0, 2),
            options: has_others(segment.get(20..header)?),
        })
    }
}

/// Whether there is an option that is neither padding nor timestamps; what cannot be read is one.
fn has_others(mut options: &[u8]) -> bool {
    loop {
        options = match options {
            [] | [END, ..] => return false,
            [PADDING, rest @ ..] => rest,
            [TIMESTAMPS, length @ (2..), ..] if usize::from(*length) <= options.len() => {
                &options[usize::from(*length)..]
            }
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flags: [u8; 2], options: &[u8], data: usize) -> Vec<u8> {
        let bytes = 40 + options.len() + data;
        let mut packet = vec![0; bytes];
        (packet[0], packet[9]) = (0x45, 6);
        packet[2..4].copy_from_slice(&(bytes as u16).to_be_bytes());
        packet[28..32].copy_from_slice(&0xffff_fff0_u32.to_be_bytes());
        packet[32] = (5 + options.len() as u8 / 4) << 4 | flags[0];
        packet[33] = flags[1];
        packet[40..40 + options.len()].copy_from_slice(options);
        packet
    }

    fn plain(ace: u8, options: bool) -> Option<Acknowledgement> {
        Some(Acknowledgement { number: 0xffff_fff0, ace, options })
    }

    #[test]
    fn what_it_says_is_read() {
        assert_eq!(Acknowledgement::of(&packet([0, ACK], &[], 0)), plain(0, false));
        assert_eq!(Acknowledgement::of(&packet([AE, ACK | ECE], &[], 0)), plain(0b101, false));
        assert_eq!(Acknowledgement::of(&packet([0, ACK | CWR], &[], 0)), plain(0b010, false));
        let timestamps = [PADDING, PADDING, TIMESTAMPS, 10, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Acknowledgement::of(&packet([0, ACK], &timestamps, 0)), plain(0, false));
        let blocks = [PADDING, PADDING, 5, 10, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Acknowledgement::of(&packet([0, ACK], &[timestamps, blocks].concat(), 0)), plain(0, true));
        for damaged in [[TIMESTAMPS, 0, 0, 0], [TIMESTAMPS, 10, 0, 0], [PADDING, PADDING, PADDING, TIMESTAMPS]] {
            assert_eq!(Acknowledgement::of(&packet([0, ACK], &damaged, 0)), plain(0, true), "{damaged:?}");
        }
    }

    #[test]
    fn what_says_something_else_is_none() {
        assert_eq!(Acknowledgement::of(&packet([0, ACK], &[], 1)), None);
        assert_eq!(Acknowledgement::of(&packet([2, ACK], &[], 0)), None);
        for flags in [0, ACK | 1, ACK | 2, ACK | 4, ACK | 8, ACK | 32] {
            assert_eq!(Acknowledgement::of(&packet([0, flags], &[], 0)), None, "{flags}");
        }
        let mut later = packet([0, ACK], &[], 0);
        later[7] = 1;
        assert_eq!(Acknowledgement::of(&later), None);
        let whole = packet([0, ACK], &[], 0);
        for length in 0..whole.len() {
            assert_eq!(Acknowledgement::of(&whole[..length]), None, "{length}");
        }
        // Padding of a short frame is not data.
        assert_eq!(Acknowledgement::of(&[whole, vec![0; 6]].concat()), plain(0, false));
    }
}

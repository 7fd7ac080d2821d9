//! The classes of CAKE, by the code points of packets (Linux's tables `diffserv3` and `diffserv4`).

use serde::{Deserialize, Serialize};

/// Which classes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tins {
    /// One for all packets.
    Besteffort,
    /// Best effort, bulk, and what must not wait.
    Diffserv3,
    /// Best effort, bulk, video, voice.
    Diffserv4,
}

/// LE (RFC 8622) and CS1.
const BULK: [u8; 2] = [1, 8];
/// TOS4, VA, EF, CS6, CS7.
const LATENCY: [u8; 5] = [4, 44, 46, 48, 56];
/// TOS4, CS2, AF2x, CS3, AF3x, AF4x.
const VIDEO: [u8; 12] = [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38];
/// CS4, CS5, VA, EF, CS6, CS7.
const VOICE: [u8; 6] = [32, 40, 44, 46, 48, 56];

impl Tins {
    /// For each, the share of the rate up to which it goes before those that come earlier here.
    pub(super) fn shares(self) -> &'static [f64] {
        match self {
            Self::Besteffort => &[1.0],
            Self::Diffserv3 => &[1.0, 1.0 / 16.0, 1.0 / 4.0],
            Self::Diffserv4 => &[1.0, 1.0 / 16.0, 1.0 / 2.0, 1.0 / 4.0],
        }
    }

    /// The place of the class of a code point.
    pub(super) fn of(self, dscp: u8) -> usize {
        match self {
            Self::Besteffort => 0,
            _ if BULK.contains(&dscp) => 1,
            Self::Diffserv3 => {
                if LATENCY.contains(&dscp) {
                    2
                } else {
                    0
                }
            }
            Self::Diffserv4 if VOICE.contains(&dscp) => 3,
            Self::Diffserv4 => {
                if VIDEO.contains(&dscp) {
                    2
                } else {
                    0
                }
            }
        }
    }
}

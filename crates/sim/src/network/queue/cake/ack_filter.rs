//! CAKE's filter of ACKs (Linux's `cake_ack_filter`): where the way back is much slower, ACKs wait there of which later ones
//! say the same and more.
//!
//! An ACK with SACK blocks is left alone, as a queue does not see what they say; Linux compares them.

use serde::{Deserialize, Serialize};

use crate::network::queue::Waiting;
use crate::network::queue::fifo::Fifo;
use crate::packet::Kind;

/// Which ACKs are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    None,
    /// The first, where two wait that the one that comes makes superfluous.
    Normal,
    /// Also the only one, where it is the last before the one that comes.
    Aggressive,
}

/// Takes the ACK out of the queue that the last packet in it makes superfluous.
pub(super) fn superfluous(line: &mut Fifo, filter: AckFilter) -> Option<Waiting> {
    if filter == AckFilter::None {
        return None;
    }
    let place = find(line, filter == AckFilter::Aggressive)?;
    line.remove(place)
}

fn find(line: &Fifo, aggressive: bool) -> Option<usize> {
    let last = line.len().checked_sub(1)?;
    let new = line.last().filter(|new| new.packet.kind() == Kind::Ack)?;
    let (mut first, mut found) = (None, 0);
    for (place, old) in line.iter().enumerate().take(last) {
        if old.key.flow != new.key.flow {
            continue;
        }
        // What it tells of congestion must not be lost with it, if the next tells otherwise.
        if first.is_some_and(|(_, ace)| ace != old.packet.ace()) {
            (first, found) = (None, found - 1);
        }
        if !says_less(old, new) {
            continue;
        }
        let (candidate, _) = *first.get_or_insert((place, old.packet.ace()));
        found += 1;
        if found > 1 {
            return Some(candidate);
        }
    }
    let (only, ace) = first?;
    (aggressive && only + 1 == last && ace == new.packet.ace()).then_some(only)
}

/// Whether all that an ACK says is said by a later one.
fn says_less(old: &Waiting, new: &Waiting) -> bool {
    let (old, new) = (&old.packet, &new.packet);
    old.kind() == Kind::Ack
        && !old.is_longer()
        && (is_before(old.seq(), new.seq()) || old.seq() == new.seq() && new.is_longer())
}

/// Sequence numbers are compared modulo 2³² (RFC 9293 §3.4), as those of real segments are, which begin anywhere.
fn is_before(old: u32, new: u32) -> bool {
    (1..1 << 31).contains(&new.wrapping_sub(old))
}

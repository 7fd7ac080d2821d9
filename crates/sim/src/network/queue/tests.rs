//! What the tests of disciplines share.

use super::{FlowKey, Load, Lost, Site, Store, Waiting};
use crate::network::wire::Wire;
use crate::packet::{Kind, Packet};
use crate::scenario::{FramingSpec, Profile};
use crate::time::Time;

/// Nothing is on the line.
pub(crate) const IDLE: Load = Load { packets: 0, bytes: 0 };

/// A link of 8 Mbit/s.
pub(crate) fn site() -> Site<'static> {
    let wire = Wire { rate_bps: 8e6, rate_pps: None, delay_s: 0.0, framing: FramingSpec::default() };
    Site { link: "wire", wire, profile: Profile::Rfc, seed: 1, ns2: None }
}

/// A packet of `size` bytes, of flow `flow` from and to hosts of no other flow, that comes at `since_s`.
pub(crate) fn packet(flow: u64, since_s: f64, size: u32) -> Waiting {
    let key = FlowKey { flow, source: flow, destination: flow, dscp: 0 };
    Waiting { packet: Packet::new(Kind::Segment, 0, 1, size, 0.0), since_s, key, marked: false }
}

/// The flows of all packets that leave a queue at `now_s`, in order.
pub(crate) fn drain(queue: &mut impl Store, now_s: f64) -> Vec<u64> {
    let mut lost = Lost::new();
    let mut flows = Vec::new();
    while let Some(next) = queue.next(Time::new(now_s), &mut lost) {
        flows.push(next.key.flow);
    }
    flows.extend(lost.iter().map(|(waiting, _)| waiting.key.flow));
    flows
}

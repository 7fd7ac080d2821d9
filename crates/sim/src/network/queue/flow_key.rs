//! Whose a packet is: what a queue that tells flows, hosts or classes apart looks at.

use crate::random;
use crate::scenario::{FlowSpec, Scenario};

/// Numbers that stand for the flow and the hosts of a packet, and its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowKey {
    /// Its flow and direction.
    pub flow: u64,
    /// The host that sent it.
    pub source: u64,
    /// The host that it goes to.
    pub destination: u64,
    /// The code point of its class (RFC 2474 §3: DSCP).
    pub dscp: u8,
}

impl FlowKey {
    /// Those of a flow's packets, and of those that answer them. They come of names, not of places in the scenario.
    #[must_use]
    pub fn of(scenario: &Scenario, spec: &FlowSpec) -> [Self; 2] {
        let flow = |way| random::hash(0, &spec.group, spec.index, way);
        let host = |node: u32| random::hash(0, &scenario.nodes[node as usize].name, 0, "host");
        let (from, to, dscp) = (host(spec.from), host(spec.to), spec.dscp);
        [
            Self { flow: flow("forward"), source: from, destination: to, dscp },
            Self { flow: flow("reverse"), source: to, destination: from, dscp },
        ]
    }
}

//! What a relay did, in the words of a run's tables.

use serde::Serialize;
use tightlink_sim::scenario::LinkSpec;

use crate::direction::LinkTotals;
use crate::lateness::{Lateness, MOST_LATE};
use crate::relay::RelayOutcome;
use crate::spec::{RelaySpec, RouterSpec};

/// A row of table `links`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "as in the table")]
pub struct LinkRow {
    pub link: String,
    pub from: String,
    pub to: String,
    pub packets_in: u64,
    pub packets_out: u64,
    pub packets_dropped: u64,
    pub packets_lost: u64,
    pub packets_marked: u64,
    pub bytes_out: u64,
    pub utilization: f64,
    pub queue_mean_packets: f64,
    pub queue_max_packets: u64,
}

/// A row of table `nodes`, of a router whose processor the relay adds up or spends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "as in the table")]
pub struct NodeRow {
    pub node: String,
    pub packets_in: u64,
    pub packets_served: u64,
    /// Nothing where the rings are those of devices, which the relay does not see.
    pub dropped_input_ring: Option<u64>,
    pub dropped_output_ring: u64,
    pub load_true: f64,
    pub load_reported: Option<f64>,
}

/// How much later than planned packets were forwarded, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "quantiles say what they are")]
pub struct LatenessRow {
    /// Packets forwarded.
    pub packets: u64,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub p999_s: Option<f64>,
    pub max_s: f64,
    /// Beyond which packets are late.
    pub bound_s: f64,
    /// The share of the packets that were late.
    pub share_late: f64,
    /// The largest share that is accepted.
    pub share_accepted: f64,
    /// More were late.
    pub invalid: bool,
}

/// What a relay did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How long it worked, in seconds.
    pub duration_s: f64,
    /// Of each link.
    pub links: Vec<LinkRow>,
    /// The router's processor.
    pub node: Option<NodeRow>,
    /// How late it was.
    pub lateness: LatenessRow,
    /// Packets that the hosts did not take when they were due.
    pub refused: u64,
    /// How often there was no room for packets that might have come.
    pub full: u64,
    /// Packets whose cost was spent, and that cost, in seconds.
    pub burnt: (u64, f64),
}

impl Summary {
    /// Of what was done.
    #[must_use]
    pub fn new(spec: &RelaySpec, outcome: &RelayOutcome) -> Self {
        let duration_s = outcome.end.seconds();
        let row = |(link, LinkTotals { server, lost_on_wire }): (&LinkSpec, &LinkTotals)| {
            let name = |node: u32| spec.nodes.get(node as usize).cloned().unwrap_or_default();
            LinkRow {
                link: link.name.clone(),
                from: name(link.from),
                to: name(link.to),
                packets_in: server.packets_in,
                packets_out: server.packets_out,
                packets_dropped: server.packets_dropped + lost_on_wire,
                packets_lost: *lost_on_wire,
                packets_marked: server.packets_marked,
                bytes_out: server.bytes_out,
                utilization: server.utilization(duration_s),
                queue_mean_packets: server.waiting_s / duration_s,
                queue_max_packets: server.queue_max_packets,
            }
        };
        let node = spec.processor.as_ref().map(|router| node(spec, router, outcome, duration_s));
        let counts = &outcome.counts;
        Self {
            duration_s,
            links: spec.links.iter().zip(&outcome.links).map(row).collect(),
            node,
            lateness: lateness(&counts.lateness),
            refused: counts.refused,
            full: counts.full,
            burnt: (counts.burnt, counts.burnt_s),
        }
    }
}

fn node(spec: &RelaySpec, router: &RouterSpec, outcome: &RelayOutcome, duration_s: f64) -> NodeRow {
    // Behind it is the link that packets cross from its port.
    let behind = spec.routes.iter().find(|route| route.from == router.port).and_then(|route| route.links.first());
    let behind = behind.filter(|_| router.processor.output_ring).map(|&link| &outcome.links[link]);
    let dropped_output_ring = behind.map_or(0, |totals| totals.server.packets_dropped);
    let node = router.node.clone();
    match outcome.network.processor() {
        Some(processor) => {
            let totals = processor.totals();
            NodeRow {
                node,
                packets_in: totals.packets_in,
                packets_served: totals.packets_served,
                dropped_input_ring: Some(totals.packets_dropped),
                dropped_output_ring,
                load_true: processor.demand_s(duration_s, &router.processor) / duration_s,
                load_reported: processor.reading(duration_s),
            }
        }
        None => NodeRow {
            node,
            packets_in: outcome.counts.burnt,
            packets_served: outcome.counts.burnt,
            dropped_input_ring: None,
            dropped_output_ring,
            load_true: outcome.counts.burnt_s / duration_s,
            load_reported: None,
        },
    }
}

fn lateness(lateness: &Lateness) -> LatenessRow {
    LatenessRow {
        packets: lateness.packets(),
        mean_s: lateness.mean_s(),
        p50_s: lateness.quantile_s(0.5),
        p99_s: lateness.quantile_s(0.99),
        p999_s: lateness.quantile_s(0.999),
        max_s: lateness.max_s(),
        bound_s: lateness.bound_s(),
        share_late: lateness.share_late(),
        share_accepted: MOST_LATE,
        invalid: lateness.invalidates(),
    }
}

//! Sources that pay by links with prices: what the theory says of their rates.
//!
//! Tolerances. A source sees weight × ln φ marks in a second, 50 here, and knows its price by them. Over a minute that
//! are 3000, whose number has a standard deviation of 1.8 %: a source's share may be three of them off. Shares are of
//! what a link carries, which is another matter: a price that swings leaves a little of it idle.

use crate::engine::common::{floats, flow, integers, packets, run, scenario, tcp, wire};
use tightlink_sim::Scenario;
use tightlink_sim::congestion::ControlSpec;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::rem::RemSpec;
use tightlink_sim::scenario::{Ecn, Profile, Recovery, TrafficSpec, TransportSpec};

const TOLERANCE: f64 = 0.055;
const WEIGHT: f64 = 50_000.0;
/// Packets that a link of the row carries in a second.
const PACKETS_PER_S: f64 = 4000.0;
/// From half of a run to its end.
const HALF_S: f64 = 60.0;

/// A source over the links from router `from` to router `to`, whose round trip has `delay_s` beside theirs.
#[derive(Clone, Copy)]
struct Source {
    from: u32,
    to: u32,
    delay_s: f64,
    weight: f64,
}

fn source(from: u32, to: u32) -> Source {
    Source { from, to, delay_s: 0.04, weight: WEIGHT }
}

fn rem() -> QueueSpec {
    QueueSpec::Rem(RemSpec {
        limit: packets(500),
        gamma: 0.001,
        alpha: 0.1,
        phi: 1.001,
        target_packets: 20.0,
        interval_s: 0.002,
        packet_bytes: 1000,
        ecn: true,
        drop: true,
    })
}

/// Routers in a row, with so many links of 32 Mbit/s and 10 ms, and sources with hosts of their own.
fn row(links: u32, sources: &[Source], duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, duration_s, links + 1 + 2 * sources.len() as u32);
    for index in 0..links {
        let mut both = wire(&format!("hop{index}"), (index, index + 1), 8000.0 * PACKETS_PER_S, 0.01, packets(500));
        both[0].queue = rem();
        scenario.links.extend(both);
    }
    for (index, source) in (0..).zip(sources) {
        let (left, right) = (links + 1 + 2 * index, links + 2 + 2 * index);
        let delay_s = source.delay_s / 4.0;
        scenario.links.extend(wire(&format!("left{index}"), (left, source.from), 1e9, delay_s, packets(5000)));
        scenario.links.extend(wire(&format!("right{index}"), (source.to, right), 1e9, delay_s, packets(5000)));
        let mut tcp = tcp(Profile::Rfc, Recovery::Sack);
        (tcp.payload_bytes, tcp.ecn) = (948, Ecn::Classic);
        let options = [("weight".to_owned(), source.weight)].into();
        tcp.congestion = ControlSpec { kind: "prices".into(), external: None, options };
        let bulk = TrafficSpec::Bulk { bytes: None };
        let mut flow = flow(&scenario, "source", index, (left, right), bulk, TransportSpec::Tcp(tcp));
        flow.start_s = 0.1 * f64::from(index);
        scenario.flows.push(flow);
    }
    scenario
}

/// What is found in the second half of a run.
#[derive(Debug)]
struct Found {
    /// Of each source, in packets per second.
    rates: Vec<f64>,
    /// Packets waiting at each link of the row.
    queues: Vec<f64>,
    utilizations: Vec<f64>,
    dropped: i64,
}

/// A run of twice the time begins as the shorter one: what is more of everything belongs to its second half.
fn found(links: u32, sources: &[Source]) -> Found {
    let halves = [HALF_S, 2.0 * HALF_S].map(|duration_s| run(&row(links, sources, duration_s)));
    let more = |column: &str| -> Vec<f64> {
        let [first, whole] = halves.each_ref().map(|tables| floats(&tables.links, column).to_vec());
        (0..links as usize).map(|link| 2.0 * whole[2 * link] - first[2 * link]).collect()
    };
    let [first, whole] = halves.each_ref().map(|tables| integers(&tables.flows, "packets_delivered"));
    let dropped = halves.each_ref().map(|tables| integers(&tables.links, "packets_dropped").iter().sum::<i64>());
    Found {
        rates: first.iter().zip(whole).map(|(first, whole)| (whole - first) as f64 / HALF_S).collect(),
        queues: more("queue_mean_packets"),
        utilizations: more("utilization"),
        dropped: dropped[1] - dropped[0],
    }
}

/// Each source has its share of what the links carry; they are busy, their queues near the target of 20 packets, one of
/// which is in service, and nothing is lost.
fn are_shared(found: &Found, shares: &[f64]) {
    let carried = PACKETS_PER_S * found.utilizations.iter().sum::<f64>() / found.utilizations.len() as f64;
    for (rate, share) in found.rates.iter().zip(shares) {
        assert!((rate / (share * carried) - 1.0).abs() < TOLERANCE, "{share} expected: {found:?}");
    }
    assert!(found.utilizations.iter().all(|&used| used > 0.92), "{found:?}");
    assert!(found.queues.iter().all(|packets| (14.0..26.0).contains(packets)), "{found:?}");
    assert_eq!(found.dropped, 0, "{found:?}");
}

/// REM's aims: all demand that fits, b* packets waiting, nothing lost.
#[test]
fn one_link_is_shared_equally_with_the_queue_that_it_aims_at() {
    for count in [1, 4, 12] {
        are_shared(&found(1, &vec![source(0, 1); count]), &vec![1.0 / count as f64; count]);
    }
}

/// Kelly, Maulloo, Tan 1998: w log x summed is largest where a source over k links has 1/(k + 1) of each, and one that
/// has a link for itself but for it the rest.
#[test]
fn who_uses_more_links_pays_for_each() {
    for links in [2, 3] {
        let mut sources = vec![source(0, links)];
        sources.extend((0..links).map(|link| source(link, link + 1)));
        let share = 1.0 / f64::from(links + 1);
        let mut shares = vec![1.0 - share; sources.len()];
        shares[0] = share;
        are_shared(&found(links, &sources), &shares);
    }
}

/// Standard TCP's rates go with 1 / RTT; these do not.
#[test]
fn rates_do_not_hang_on_round_trips() {
    let sources = [0.02, 0.02, 0.08, 0.08, 0.18, 0.18].map(|delay_s| Source { delay_s, ..source(0, 1) });
    are_shared(&found(1, &sources), &[1.0 / 6.0; 6]);
}

/// Who pays more gets more, in proportion.
#[test]
fn rates_go_with_weights() {
    let weights = [1.0, 2.0, 3.0];
    let sources = weights.map(|weight| Source { weight: weight * WEIGHT, ..source(0, 1) });
    are_shared(&found(1, &sources), &weights.map(|weight| weight / 6.0));
}

//! Networks in which sources and speeds are fewer and slower by the same factor.
//!
//! Where buffers are round trips at the speed of the link, each source has the same share of the link, the same round
//! trip with a full queue and so the same window at any size: losses, utilization and the rate of a source agree, up to
//! what chance does more to few sources than to many. Where buffers shrink with the root of the number of sources, the
//! time that packets queue does so too.

use super::theory::estimate;
use super::{Outcome, file, run, site, users};
use crate::engine::common::{floats, integers, packets, scenario, wire};
use tightlink_sim::Scenario;
use tightlink_sim::scenario::Profile;

/// Seconds of a round trip, for the sizes of buffers.
const RTT_S: f64 = 0.2;
/// At full size: sources behind each of four access routers, and packets per second between the two sides.
const SOURCES: f64 = 1000.0;
const PER_S: f64 = 10_000.0;

/// How many packets a buffer holds, by the packets per second of its link and the sources that share it.
type Rule = fn(f64, f64) -> f64;

fn round_trips(per_s: f64, _: f64) -> f64 {
    RTT_S * per_s
}

fn by_root(per_s: f64, sources: f64) -> f64 {
    RTT_S * per_s / sources.sqrt()
}

/// A part of the full network: two routers with a slow line between them and two access routers each.
fn network((sources, speed): (f64, f64), rule: Rule, seed: u64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 30.0, 6);
    scenario.seed = seed;
    let sources = SOURCES * sources;
    let between = |per_s: f64, name: &str, ends, delay_s| {
        let limit = rule(per_s, 2.0 * sources).round() as u32;
        wire(name, ends, 8.0 * 1500.0 * per_s, delay_s, packets(limit))
    };
    scenario.links.extend(between(PER_S * speed, "middle", (0, 1), 0.08));
    for (access, core) in [(2, 0), (3, 0), (4, 1), (5, 1)] {
        scenario.links.extend(between(4.0 * PER_S * speed, &format!("access{access}"), (access, core), 0.01));
    }
    let sites: Vec<_> = (2..6).map(|node| site(node, sources as u32, sources as u32)).collect();
    let mut group = users("users", Profile::Rfc, &sites);
    (group.tcp.payload_bytes, group.tcp.header_bytes) = (1448, 52);
    group.files = vec![file(30.0, Some(1.5))];
    scenario.users.push(group);
    scenario
}

/// What agrees or does not: of the line in the middle the losses and the utilization; packets delivered per source;
/// seconds of queueing.
#[derive(Clone, Debug, Default)]
struct Found {
    loss: Vec<f64>,
    utilization: Vec<f64>,
    per_source: Vec<f64>,
    queueing_s: Vec<f64>,
}

impl Found {
    fn add(&mut self, outcome: &Outcome, sources: f64) {
        let links = outcome.table("links");
        let of_middle = |name| integers(links, name)[..2].iter().sum::<i64>() as f64;
        self.loss.push(of_middle("packets_dropped") / of_middle("packets_in"));
        self.utilization.push(floats(links, "utilization")[..2].iter().sum::<f64>() / 2.0);
        self.per_source.push(outcome.total("users", "packets_delivered") as f64 / (4.0 * SOURCES * sources));
        self.queueing_s.push(floats(outcome.table("users"), "queueing_delay_mean_s")[0]);
    }
}

fn found(scale: (f64, f64), rule: Rule, seeds: u64) -> Found {
    let mut found = Found::default();
    for seed in 0..seeds {
        found.add(&run(&network(scale, rule, seed)), scale.0);
    }
    found
}

/// That a mean agrees with another one to a part of it, and that the samples are large enough to say so.
fn agrees(what: &str, part: &[f64], full: &[f64], margin: f64) {
    let [(part, error), (full, full_error)] = [part, full].map(estimate);
    let error = error.hypot(full_error) / full;
    assert!(2.0 * error < margin, "{what}: the samples say little, {error}");
    assert!((part / full - 1.0).abs() < margin, "{what}: {part} instead of {full}");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_tenth_of_the_network_fares_as_the_whole() {
    let full = found((1.0, 1.0), round_trips, 6);
    let tenth = found((0.1, 0.1), round_trips, 30);
    agrees("loss", &tenth.loss, &full.loss, 0.1);
    agrees("utilization", &tenth.utilization, &full.utilization, 0.02);
    agrees("packets per source", &tenth.per_source, &full.per_source, 0.04);
    agrees("queueing", &tenth.queueing_s, &full.queueing_s, 0.2);
    // Of forty sources so few send at a time that by chance the line is often idle, and its queue of twenty packets full.
    let hundredth = found((0.01, 0.01), round_trips, 12);
    assert!(mean(&hundredth.utilization) < 0.9 * mean(&full.utilization), "{hundredth:?}");
    assert!(mean(&hundredth.loss) > 1.1 * mean(&full.loss), "{hundredth:?}");
    // Slower lines for as many sources are another network: their windows are a few packets, and losses many.
    let slow = found((1.0, 0.1), round_trips, 1);
    assert!(slow.loss[0] > 3.0 * mean(&full.loss) && slow.per_source[0] < 0.2 * mean(&full.per_source), "{slow:?}");
}

#[test]
fn with_buffers_by_the_root_of_sources_delays_grow_as_networks_shrink() {
    let full = mean(&found((1.0, 1.0), by_root, 1).queueing_s);
    for (scale, seeds) in [(0.1, 4), (0.01, 12)] {
        let ratio = mean(&found((scale, scale), by_root, seeds).queueing_s) / full;
        let expected = (1.0_f64 / scale).sqrt();
        assert!((ratio / expected - 1.0).abs() < 0.3, "{scale}: {ratio} times as long, instead of {expected}");
    }
}

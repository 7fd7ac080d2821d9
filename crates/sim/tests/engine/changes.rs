//! Links that change, in whole runs.

use crate::engine::common::{Unfused, flow, packets, run_with, scenario, trace, udp, wire};
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::strict::StrictSpec;
use tightlink_sim::probe::trace::Event;
use tightlink_sim::scenario::{CourseSpec, Pace, Profile, RateSpec, Scenario, TraceSpec, TrafficSpec};

/// Datagrams at a constant pace over a link that is too slow for them at times.
fn datagrams(rate: RateSpec, interval_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 4.0, 2);
    scenario.links = wire("wire", (0, 1), 1e6, 0.01, packets(50)).to_vec();
    scenario.links[0].rate = Some(rate);
    let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(interval_s) };
    scenario.flows = vec![flow(&scenario, "udp", 0, (0, 1), traffic, udp(500))];
    scenario
}

/// When packets leave the link's far end.
fn arrivals_s(scenario: &Scenario) -> Vec<f64> {
    let (_, records) = trace(scenario);
    let arrived = records.iter().filter(|record| record.event == Event::Receive && record.link == 0);
    arrived.map(|record| record.time.seconds()).collect()
}

/// A queue that holds its packets uses what an instant leaves over as one does that knows their departures.
#[test]
fn instants_serve_all_queues_alike() {
    let rate = RateSpec::Trace(TraceSpec { trace_ms: vec![3, 3, 10, 14, 15, 16, 31] });
    let drop_tail = datagrams(rate, 0.0031);
    let mut held = drop_tail.clone();
    held.links[0].queue = QueueSpec::Strict(StrictSpec { limit: packets(50), order: vec![0] });
    let (one, other) = (arrivals_s(&drop_tail), arrivals_s(&held));
    assert!(one.len() > 800, "{}", one.len());
    assert_eq!(one, other);
    assert!(run_with(&held, Unfused).is_ok());
}

/// 500 B each 4 ms are 1 Mbit/s. At 2 Mbit/s a packet takes 2 ms; in the second in which the rate is 500 kbit/s the queue
/// grows by a packet in 8 ms, and is full after 0.4 s.
#[test]
fn a_queue_grows_while_the_rate_is_low() {
    let steps = |values: Vec<f64>| {
        let at_s = vec![0.0, 1.0, 2.0];
        RateSpec::Course(CourseSpec::Schedule { at_s, values, linear: false, period_s: None })
    };
    let arrived = arrivals_s(&datagrams(steps(vec![2e6, 5e5, 2e6]), 0.004));
    let between = |from_s: f64, until_s: f64| arrived.iter().filter(|&&at| at >= from_s && at < until_s).count();
    // 10 ms later at the far end.
    assert_eq!(between(0.011, 1.011), 250);
    let apart = |from_s: f64, until_s: f64, by_s: f64| {
        let within = |pair: &&[f64]| pair[0] > from_s && pair[1] < until_s;
        let mut gaps = arrived.windows(2).filter(within).map(|pair| pair[1] - pair[0]);
        assert!(gaps.all(|gap_s| (gap_s - by_s).abs() < 1e-9), "{by_s} s apart from {from_s} s to {until_s} s");
    };
    apart(1.02, 2.01, 0.008);
    // 50 packets wait, and come as fast as they can until none does: in 0.1 s 25 more go than come.
    apart(2.02, 2.2, 0.002);
    apart(2.22, 4.0, 0.004);
    assert_eq!(between(2.3, 3.3), 250);
    // An outage keeps the queue, and what it has no room for is lost.
    let arrived = arrivals_s(&datagrams(steps(vec![2e6, 0.0, 2e6]), 0.004));
    let silent_s = arrived.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    assert!((1.0..1.006).contains(&silent_s), "{silent_s}");
}

//! Links that change, in whole runs.

use crate::engine::common::{
    Unfused, column, floats, flow, integers, link, packets, run, run_with, scenario, tcp, trace, udp, wire,
};
use tightlink_sim::network::changes::Changes;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::strict::StrictSpec;
use tightlink_sim::probe::trace::Event;
use tightlink_sim::scenario::{
    AggregatingSpec, ArqSpec, CourseSpec, Intervals, JitterDistribution, JitterSpec, OutageSpec, OutageTimes, Pace,
    Profile, RateSpec, Recovery, Scenario, ShaperSpec, TraceSpec, TrafficSpec, TransportSpec,
};
use tightlink_sim::tables::Column;

/// Datagrams at a constant pace over a link that is too slow for them at times.
fn datagrams(rate: RateSpec, interval_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 4.0, 2);
    scenario.links = wire("wire", (0, 1), 1e6, 0.01, packets(50)).to_vec();
    scenario.links[0].rate = Some(rate);
    let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(interval_s), random: Intervals::Constant };
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
    held.links[0].queue = QueueSpec::Strict(StrictSpec { limit: packets(50), order: vec![0], mark: None });
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

/// Packets of the one link that datagrams go over.
fn packets_of(scenario: &Scenario, name: &str) -> f64 {
    integers(&run(scenario).links, name)[0] as f64
}

fn schedule(at_s: &[f64], values: &[f64]) -> RateSpec {
    let (at_s, values) = (at_s.to_vec(), values.to_vec());
    RateSpec::Course(CourseSpec::Schedule { at_s, values, linear: false, period_s: None })
}

/// Datagrams over 2 Mbit/s that is down for half a second.
fn interrupted(flush: bool) -> Scenario {
    let mut scenario = datagrams(schedule(&[0.0], &[2e6]), 0.0019);
    let times = OutageTimes::Schedule { at_s: vec![1.001], for_s: vec![0.5], period_s: None };
    scenario.links[0].outages = Some(OutageSpec { times, flush });
    scenario
}

/// An outage that keeps the queue is a rate of zero.
#[test]
fn an_outage_is_a_rate_of_zero() {
    let without = datagrams(schedule(&[0.0, 1.001, 1.501], &[2e6, 0.0, 2e6]), 0.0019);
    assert_eq!(arrivals_s(&interrupted(false)), arrivals_s(&without));
}

/// An outage that flushes the queue loses what waits and what comes, and leaves nothing behind that would delay others.
#[test]
fn an_outage_may_lose_what_waits() {
    let scenario = interrupted(true);
    let arrived = arrivals_s(&scenario);
    // A packet takes 2 ms, and one comes in 1.9 ms: after a second 26 wait, and one is on the line.
    let waiting = (1.001f64 / 0.0019).ceil() - (1.001f64 / 0.002).floor();
    let sent_while_down = (1.501f64 / 0.0019).ceil() - (1.001f64 / 0.0019).ceil();
    assert_eq!(packets_of(&scenario, "packets_lost"), waiting + sent_while_down);
    let first_after = arrived.iter().copied().find(|&at| at > 1.2).expect("it comes back");
    // It came after the end of the outage and found nothing ahead.
    assert!((0.012..0.0139).contains(&(first_after - 1.501)), "{first_after}");
    assert_eq!(arrived.iter().filter(|&&at| at > 1.011 && at < 1.501).count(), 0);
    let mut held = scenario.clone();
    held.links[0].queue = QueueSpec::Strict(StrictSpec { limit: packets(50), order: vec![0], mark: None });
    assert_eq!(arrived, arrivals_s(&held));
}

/// Frames far apart: each is sent 1 / (1 − p) times in the mean, and each retransmission adds its own time and the wait for
/// the news: the mean delay of a channel with selective repeat (Bertsekas and Gallager 1992, §2.4). Four standard errors.
#[test]
fn retransmissions_delay_as_their_theory_says() {
    let mut scenario = datagrams(schedule(&[0.0], &[8e6]), 0.1);
    scenario.duration_s = 2000.0;
    scenario.flows[0].stop_s = 2000.0;
    let (lost, after_s, transmission_s) = (0.3, 0.008, 0.0005);
    scenario.links[0].loss = lost.into();
    scenario.links[0].arq = Some(ArqSpec { after_s, most: 40 });
    let (found, of) = (floats(&run(&scenario).flows, "one_way_delay_mean_s")[0], 20_000.0f64);
    let more = after_s + transmission_s;
    let expected = 0.010 + transmission_s + more * lost / (1.0 - lost);
    let error = more * (lost.sqrt() / (1.0 - lost)) / of.sqrt();
    assert!((found - expected).abs() < 4.0 * error, "{found} instead of {expected}");
    assert_eq!(packets_of(&scenario, "packets_lost"), 0.0);
    // With at most one retransmission two in a row are lost.
    scenario.links[0].arq = Some(ArqSpec { after_s, most: 1 });
    let share = packets_of(&scenario, "packets_lost") / of;
    assert!((share - lost * lost).abs() < 4.0 * (lost * lost * (1.0 - lost * lost) / of).sqrt(), "{share}");
}

/// A queue that is never empty: a burst of so many packets takes a wait for the medium and their transmissions.
#[test]
fn bursts_share_their_wait_for_the_medium() {
    for most in [1, 8] {
        let mut scenario = datagrams(schedule(&[0.0], &[1.0]), 0.0001);
        (scenario.duration_s, scenario.flows[0].stop_s) = (100.0, 100.0);
        let (access_s, transmission_s) = (0.002, 0.0005);
        scenario.links[0].rate_bps = 8e6;
        scenario.links[0].rate = Some(RateSpec::Aggregating(AggregatingSpec { access_s, burst_packets: most }));
        let per_burst_s = access_s + f64::from(most) * transmission_s;
        let bursts = 100.0 / per_burst_s;
        let expected = f64::from(most) * bursts;
        let found = packets_of(&scenario, "packets_out");
        // The number of renewals has variance t σ² / μ³.
        let error = f64::from(most) * (100.0 * access_s * access_s / (per_burst_s * per_burst_s * per_burst_s)).sqrt();
        assert!((found - expected).abs() < 4.0 * error + f64::from(most), "{found} instead of {expected}");
    }
}

/// A medium that short bursts of few packets keep busy has room: what is used of it is what they would take in full bursts.
#[test]
fn short_bursts_leave_room_on_a_medium() {
    let (most, access_s, transmission_s) = (32, 0.002, 0.0005);
    let per_packet_s = access_s / f64::from(most) + transmission_s;
    for load in [0.25, 0.5, 2.0] {
        let mut scenario = datagrams(schedule(&[0.0], &[1.0]), per_packet_s / load);
        (scenario.duration_s, scenario.flows[0].stop_s) = (100.0, 100.0);
        scenario.links[0].rate_bps = 8e6;
        scenario.links[0].rate = Some(RateSpec::Aggregating(AggregatingSpec { access_s, burst_packets: most }));
        let found = floats(&run(&scenario).links, "utilization")[0];
        // Full bursts take as long as their waits, which are drawn: four standard errors of the time of so many. Else a full burst
        // may be on the line at the end.
        let (bursts, expected) = (100.0 / (f64::from(most) * per_packet_s), f64::min(load, 1.0));
        let error =
            if load > 1.0 { 4.0 * access_s * bursts.sqrt() / 100.0 } else { f64::from(most) * per_packet_s / 100.0 };
        assert!((found - expected).abs() < error && found <= 1.0, "{load}: {found}");
    }
}

/// A token bucket lets a burst pass at the rate of the line, and the rest at its own.
#[test]
fn a_shaper_lets_a_burst_pass() {
    let mut scenario = datagrams(schedule(&[0.0], &[8e6]), 0.001);
    scenario.links[0].shaper = Some(ShaperSpec { rate_bps: 2e6, burst_bytes: 5000 });
    let arrived = arrivals_s(&scenario);
    // 500 B each millisecond are 4 Mbit/s, twice the rate of tokens: the bucket of ten packets is empty after nineteen.
    let late = |number: usize| arrived[number] - (0.001 * number as f64 + 0.010 + 0.0005);
    assert!((0..19).all(|number| late(number).abs() < 1e-9));
    assert!((20..40).all(|number| (arrived[number + 1] - arrived[number] - 0.002).abs() < 1e-9));
    let mut held = scenario.clone();
    held.links[0].queue = QueueSpec::Strict(StrictSpec { limit: packets(50), order: vec![0], mark: None });
    assert_eq!(arrived, arrivals_s(&held));
}

/// Where a queue is never empty a link does what it can, whatever that is; where it is idle for half of the time, less.
#[test]
fn utilization_is_of_the_capacity_that_was_there() {
    let steps = || schedule(&[0.0, 1.0, 2.0, 3.0], &[2e6, 0.0, 5e5, 2e6]);
    let trace = || RateSpec::Trace(TraceSpec { trace_ms: vec![3, 3, 10, 14, 15, 16, 31] });
    let share_of = |scenario: &Scenario| floats(&run(scenario).links, "utilization")[0];
    for rate in [steps(), trace()] {
        let mut scenario = datagrams(rate, 0.0005);
        assert!(share_of(&scenario) > 0.999);
        scenario.observe.interval_s = Some(0.1);
        let series = run(&scenario).series.expect("samples");
        let Column::Category(metrics, names) = column(&series, "metric") else { panic!("words") };
        let values = floats(&series, "value");
        let of = |name: &str| -> Vec<f64> {
            let wanted = |&(&metric, _): &(&u32, &f64)| names[metric as usize] == name;
            metrics.iter().zip(values).filter(wanted).map(|(_, &value)| value).collect()
        };
        let (shares, capacities) = (of("utilization"), of("capacity_bps"));
        // Of the reverse direction, too, in which nothing changes and nothing goes.
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        assert!(shares.iter().filter(|&&share| share > 0.99).count() >= 28, "{shares:?}");
        assert_eq!(capacities.len(), 39);
    }
    // 2 Mbit/s for a second, nothing for a second, 0.5 Mbit/s for one, 2 Mbit/s for one: 4.5 Mbit, of which 160 packets are
    // 0.64 Mbit. One may be on the line at the end.
    let share = share_of(&datagrams(steps(), 0.025));
    assert!((share - 0.64 / 4.5).abs() <= 0.004 / 4.5, "{share}");
}

/// An emulated link is there before the scenario begins: until then it is constant, and then it does what it would have
/// done from the start.
#[test]
fn it_may_begin_to_change_later() {
    let mut spec = link("wire", (0, 1), 1e6, 0.01, packets(50));
    spec.rate = Some(schedule(&[0.0, 0.5], &[2e6, 5e5]));
    spec.jitter = Some(JitterSpec { distribution: JitterDistribution::Uniform { most_s: 0.003 }, correlation_s: None });
    let changes = || Changes::new(&spec, 1).expect("it changes");
    let (mut now, mut later) = (changes(), changes());
    later.begin_at(4.0);
    assert_eq!(later.grant(1.0, 1.0, 125), (1.001, 1.011));
    for packet in 0..100 {
        let at_s = f64::from(packet) * 0.015625;
        let (departure_s, delivery_s) = now.grant(at_s, at_s, 125);
        let shifted = later.grant(4.0 + at_s, 4.0 + at_s, 125);
        assert!((shifted.0 - 4.0 - departure_s).abs() < 1e-12 && (shifted.1 - 4.0 - delivery_s).abs() < 1e-12);
    }
    let (one, other) = (now.work(2.0, 1.9).expect("its rate changes"), later.work(6.0, 5.9).expect("its rate changes"));
    assert!((one.done - other.done).abs() < 1e-6 && (one.possible - other.possible).abs() < 1e-6);
}

/// What packets wait in the queues of their path is the queueing delay of their flow, however long the wires take. Nothing else
/// crosses the links, and all that is sent arrives.
#[test]
fn a_flow_waits_in_queues_and_not_on_wires() {
    let mut scenario = scenario(Profile::Rfc, 20.0, 3);
    let [there, _] = wire("one", (0, 1), 1e6, 0.01, packets(500));
    let [further, _] = wire("other", (1, 2), 0.9e6, 0.02, packets(500));
    scenario.links = vec![there, further];
    let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(0.005), random: Intervals::Exponential };
    scenario.flows = vec![flow(&scenario, "udp", 0, (0, 2), traffic, udp(500))];
    scenario.flows[0].stop_s = 15.0;
    let distribution = JitterDistribution::Uniform { most_s: 0.03 };
    scenario.links[0].jitter = Some(JitterSpec { distribution, correlation_s: None });
    let delay = CourseSpec::Schedule { at_s: vec![0.0, 4.0], values: vec![0.02, 0.3], linear: true, period_s: None };
    let arq = ArqSpec { after_s: 0.008, most: 40 };
    for changed in 0..4 {
        if changed > 0 {
            scenario.links[1].delay = Some(delay.clone());
        }
        if changed > 1 {
            (scenario.links[0].loss, scenario.links[0].arq) = (0.1.into(), Some(arq));
        }
        if changed > 2 {
            scenario.links[0].overtaking = true;
        }
        let tables = run(&scenario);
        let of_links: f64 = floats(&tables.links, "queueing_delay_mean_s").iter().sum();
        let of_flow = floats(&tables.flows, "queueing_delay_mean_s")[0];
        assert!(of_links > 0.001 && (of_flow - of_links).abs() < 1e-12, "{changed}: {of_flow} instead of {of_links}");
        assert!(floats(&tables.flows, "queueing_delay_p95_s")[0].is_nan());
        let sent = integers(&tables.flows, "packets_sent");
        assert_eq!(sent, integers(&tables.flows, "packets_delivered"));
    }
}

/// The SYN of a transfer that crosses a long wire says nothing of the data, for which the wire is short.
#[test]
fn what_the_syn_takes_is_no_delay_of_the_data() {
    let mut scenario = scenario(Profile::Rfc, 5.0, 2);
    let [there, back] = wire("one", (0, 1), 1e6, 0.02, packets(500));
    scenario.links = vec![there, back];
    scenario.links[0].delay =
        Some(CourseSpec::Schedule { at_s: vec![0.0, 0.1], values: vec![0.3, 0.02], linear: false, period_s: None });
    let (traffic, tcp) = (TrafficSpec::Bulk { bytes: Some(6000) }, tcp(Profile::Rfc, Recovery::Newreno));
    scenario.flows = vec![flow(&scenario, "transfer", 0, (0, 1), traffic, TransportSpec::Tcp(tcp))];
    let tables = run(&scenario);
    let of = |table, column| floats(table, column)[0];
    let waited_s = of(&tables.links, "queueing_delay_mean_s") * integers(&tables.links, "packets_out")[0] as f64;
    assert_eq!(integers(&tables.flows, "packets_delivered")[0], 8);
    assert!(waited_s > 0.01 && (of(&tables.flows, "queueing_delay_mean_s") - waited_s / 6.0).abs() < 1e-12);
}

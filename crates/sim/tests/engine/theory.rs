//! The engine against formulas.

use crate::engine::common::{column, floats, flow, integers, link, packets, run, scenario, tcp, trace, udp, wire};
use tightlink_sim::Scenario;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::cake::{AckFilter, CakeSpec, Cells, Isolation, Overhead, Tins};
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::scenario::{
    CourseSpec, Intervals, Pace, Profile, QueueLimit, RateSpec, Recovery, TrafficSpec, TransportSpec,
};
use tightlink_sim::tables::{Column, Table};

fn assert_close(what: &str, value: f64, expected: f64, tolerance: f64) {
    let deviation = value / expected - 1.0;
    assert!(deviation.abs() <= tolerance, "{what}: {value} instead of {expected}, {:+.2} % off", 100.0 * deviation);
}

/// Packets of 125 bytes at the times of a Poisson process through a link that serves 1000 a second.
fn poisson(rho: f64, seed: u64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 400.0, 2);
    scenario.seed = seed;
    scenario.links = wire("wire", (0, 1), 1e6, 0.01, QueueLimit::Unlimited).to_vec();
    let pace = Pace::IntervalS(1.0 / (1000.0 * rho));
    let traffic = TrafficSpec::Cbr { pace, random: Intervals::Exponential };
    scenario.flows = vec![flow(&scenario, "poisson", 0, (0, 1), traffic, udp(125))];
    scenario
}

/// M/D/1 (Pollaczek and Khinchine): the mean waiting time is ρ / (2 μ (1 − ρ)).
#[test]
fn poisson_arrivals_wait_as_long_as_queueing_theory_says() {
    const RUNS: u32 = 20;
    for rho in [0.3, 0.6, 0.8] {
        let waits_s: Vec<f64> = (0..RUNS)
            .map(|seed| {
                let tables = run(&poisson(rho, u64::from(seed)));
                // Latency is waiting, transmission and propagation.
                let waiting_s = floats(&tables.flows, "one_way_delay_mean_s")[0] - 0.001 - 0.01;
                // Little's law ties it to the mean queue.
                let queued = floats(&tables.links, "queue_mean_packets")[0];
                let arrivals_per_s = integers(&tables.links, "packets_in")[0] as f64 / 400.0;
                assert_close("Little's law", arrivals_per_s * waiting_s, queued, 1e-3);
                waiting_s
            })
            .collect();
        let runs = f64::from(RUNS);
        let mean_s = waits_s.iter().sum::<f64>() / runs;
        let variance = waits_s.iter().map(|wait| (wait - mean_s) * (wait - mean_s)).sum::<f64>() / (runs - 1.0);
        let error_s = (variance / runs).sqrt();
        let expected_s = rho / (2.0 * 1000.0 * (1.0 - rho));
        assert!(error_s < 0.01 * expected_s, "the sample says little: {error_s} of {expected_s}");
        assert!((mean_s - expected_s).abs() < 3.0 * error_s, "ρ = {rho}: {mean_s} ± {error_s} instead of {expected_s}");
    }
}

/// A rate that has two values, each for long: packets wait as at an M/D/1 queue of each, which forgets the other within a
/// hundredth of a second, of twenty.
#[test]
fn poisson_arrivals_wait_at_two_rates_as_queueing_theory_says() {
    const RUNS: u32 = 20;
    let delays_s: Vec<f64> = (0..RUNS)
        .map(|seed| {
            let mut scenario = poisson(0.3, u64::from(seed));
            let (at_s, values) = (vec![0.0, 20.0], vec![1e6, 5e5]);
            let course = CourseSpec::Schedule { at_s, values, linear: false, period_s: Some(40.0) };
            scenario.links[0].rate = Some(RateSpec::Course(course));
            floats(&run(&scenario).flows, "one_way_delay_mean_s")[0] - 0.01
        })
        .collect();
    let runs = f64::from(RUNS);
    let mean_s = delays_s.iter().sum::<f64>() / runs;
    let variance = delays_s.iter().map(|delay| (delay - mean_s) * (delay - mean_s)).sum::<f64>() / (runs - 1.0);
    let error_s = (variance / runs).sqrt();
    let at = |rho: f64, per_s: f64| 1.0 / per_s + rho / (2.0 * per_s * (1.0 - rho));
    let expected_s = 0.5 * (at(0.3, 1000.0) + at(0.6, 500.0));
    assert!(error_s < 0.01 * expected_s, "the sample says little: {error_s} of {expected_s}");
    assert!((mean_s - expected_s).abs() < 3.0 * error_s, "{mean_s} ± {error_s} instead of {expected_s}");
}

/// A window that is longer than the path waits in its queue: whatever the rate was before, a round trip later it takes what
/// its packets take at the new one.
#[test]
fn a_round_trip_of_a_window_follows_a_step_of_the_rate() {
    const WINDOW: f64 = 40.0;
    let mut scenario = scenario(Profile::Rfc, 30.0, 2);
    scenario.links = wire("wire", (0, 1), 20e6, 0.01, QueueLimit::Unlimited).to_vec();
    let (at_s, values) = (vec![0.0, 10.0, 20.0], vec![20e6, 2e6, 20e6]);
    let course = CourseSpec::Schedule { at_s, values, linear: false, period_s: None };
    scenario.links[0].rate = Some(RateSpec::Course(course));
    let mut spec = tcp(Profile::Rfc, Recovery::Newreno);
    (spec.window_packets, spec.delayed_ack_s) = (WINDOW, None);
    let packet_s = |rate_bps: f64| 8.0 * f64::from(spec.payload_bytes + spec.header_bytes) / rate_bps;
    let (fast_s, slow_s) = (packet_s(20e6), packet_s(2e6));
    let ack_s = 8.0 * f64::from(spec.ack_bytes) / 20e6;
    scenario.flows =
        vec![flow(&scenario, "tcp", 0, (0, 1), TrafficSpec::Bulk { bytes: None }, TransportSpec::Tcp(spec))];
    scenario.observe.interval_s = Some(0.1);
    let series = run(&scenario).series.expect("samples");
    let Column::Category(metrics, names) = column(&series, "metric") else { panic!("words") };
    let (times_s, values) = (floats(&series, "time_s"), floats(&series, "value"));
    let rtt_s = |from_s: f64, until_s: f64| -> Vec<f64> {
        (0..values.len())
            .filter(|&row| names[metrics[row] as usize] == "rtt_s" && times_s[row] > from_s && times_s[row] < until_s)
            .map(|row| values[row])
            .collect()
    };
    // The path itself, which is longer than the window at 20 Mbit/s and shorter at 2.
    let path_s = 0.02 + ack_s;
    assert!(WINDOW * fast_s < path_s + fast_s && WINDOW * slow_s > path_s + slow_s);
    let close = |from_s: f64, until_s: f64, expected_s: f64| {
        let found = rtt_s(from_s, until_s);
        assert!(found.len() > 50);
        assert!(found.iter().all(|rtt_s| (rtt_s - expected_s).abs() < 1e-9), "{expected_s}: {found:?}");
    };
    // After a sample's interval and a round trip.
    close(10.1 + WINDOW * slow_s + path_s, 20.0, WINDOW * slow_s);
    let settled_s = 20.1 + WINDOW * slow_s + path_s;
    let after = rtt_s(settled_s, 30.0);
    assert!(after.iter().all(|&rtt_s| rtt_s < WINDOW * fast_s + path_s), "{after:?}");
}

/// The same in packets: bytes of any size wait no longer, and framing costs nothing.
#[test]
fn a_link_limited_in_packets_serves_large_ones_as_fast_as_small_ones() {
    for rho in [0.3, 0.8] {
        let mut small = poisson(rho, 7);
        // A packet of 125 bytes takes 1 ms at 1 Mbit/s.
        let in_bits = run(&small);
        small.links.iter_mut().for_each(|link| link.rate_pps = Some(1000.0));
        let mut large = small.clone();
        large.links.iter_mut().for_each(|link| link.framing.overhead_bytes = 38);
        large.flows[0].transport = udp(1500);
        let [small, large] = [small, large].map(|scenario| run(&scenario));
        for name in ["one_way_delay_mean_s", "one_way_delay_max_s"] {
            assert_eq!(floats(&small.flows, name), floats(&in_bits.flows, name), "{name}");
            assert_eq!(floats(&large.flows, name), floats(&in_bits.flows, name), "{name}");
        }
        for name in ["utilization", "queue_mean_packets"] {
            assert_eq!(floats(&large.links, name), floats(&in_bits.links, name), "{name}");
        }
        assert_eq!(integers(&large.links, "bytes_out")[0], 12 * integers(&in_bits.links, "bytes_out")[0]);
    }
}

/// Packets of two sizes share a link limited in packets, and it sends so many in all.
#[test]
fn a_saturated_link_limited_in_packets_carries_its_packets() {
    let mut scenario = scenario(Profile::Rfc, 8.0, 2);
    scenario.links = wire("wire", (0, 1), 12_000.0 * 128.0, 0.0, packets(10)).to_vec();
    scenario.links[0].rate_pps = Some(128.0);
    let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(1.0 / 128.0), random: Intervals::Constant };
    scenario.flows = [(0, 40), (1, 1460)]
        .map(|(index, size)| flow(&scenario, "udp", index, (0, 1), traffic.clone(), udp(size)))
        .to_vec();
    let tables = run(&scenario);
    // The last service would end with the run, when nothing happens any more.
    assert_eq!(integers(&tables.links, "packets_out")[0], 8 * 128 - 1);
    assert_eq!(floats(&tables.links, "utilization")[0], 1.0);
}

/// A shaper in the queue is as good a bottleneck as a line of its rate, though the line itself idles.
#[test]
fn time_at_the_window_is_the_networks_where_a_queues_shaper_is_busy() {
    let limited_by = |rate_bps: f64| {
        let mut scenario = scenario(Profile::Linux, 20.0, 2);
        scenario.links = wire("wire", (0, 1), 1e8, 0.01, QueueLimit::Unlimited).to_vec();
        scenario.links[0].queue = QueueSpec::Cake(CakeSpec {
            limit: QueueLimit::Bytes(1 << 22),
            // The queue of the whole window is no cause to drop.
            target_s: 0.05,
            interval_s: 0.1,
            ecn: false,
            rate_bps: Some(rate_bps),
            overhead: Overhead { bytes: 0, smallest_bytes: 0, cells: Cells::None },
            isolation: Isolation::Flows,
            tins: Tins::Besteffort,
            ack_filter: AckFilter::None,
        });
        let mut spec = tcp(Profile::Linux, Recovery::Rack);
        spec.congestion = "cubic".into();
        // As much as fills 10 Mbit/s and a queue, and a tenth of 100 Mbit/s.
        spec.window_packets = 40.0;
        let traffic = TrafficSpec::Bulk { bytes: None };
        scenario.flows = vec![flow(&scenario, "tcp", 0, (0, 1), traffic, TransportSpec::Tcp(spec))];
        let flows = run(&scenario).flows;
        [floats(&flows, "limited_by_network")[0], floats(&flows, "limited_by_receiver_window")[0]]
    };
    let ([network, _], [_, window]) = (limited_by(1e7), limited_by(9e7));
    assert!(network > 0.9 && window > 0.9, "{network} {window}");
}

/// The bottleneck of a connection is what carries the fewest of its segments, be they counted or weighed.
#[test]
fn time_at_the_window_of_the_receiver_is_the_networks_where_a_link_limited_in_packets_is_busy() {
    let mut scenario = scenario(Profile::Rfc, 60.0, 3);
    let first = wire("first", (0, 1), 2e6, 0.001, QueueLimit::Unlimited);
    let second = wire("second", (1, 2), 12e6, 0.001, QueueLimit::Unlimited);
    scenario.links = [first, second].concat();
    // 1000 packets/s are 12 Mbit/s of full packets, and 1.2 Mbit/s of those sent here.
    scenario.links[2].rate_pps = Some(1000.0);
    let mut spec = tcp(Profile::Rfc, Recovery::Newreno);
    (spec.payload_bytes, spec.window_packets) = (98, 50.0);
    scenario.flows =
        vec![flow(&scenario, "tcp", 0, (0, 2), TrafficSpec::Bulk { bytes: None }, TransportSpec::Tcp(spec))];
    let tables = run(&scenario);
    assert!(floats(&tables.flows, "limited_by_network")[0] > 0.9, "{:?}", tables.flows);
    assert!((integers(&tables.links, "packets_out")[2] - 60_000).abs() < 200);
}

/// The share of time that a Poisson source keeps a link busy is ρ.
#[test]
fn utilization_is_the_offered_load() {
    for rho in [0.3, 0.8] {
        let tables = run(&poisson(rho, 99));
        assert_close("utilization", floats(&tables.links, "utilization")[0], rho, 0.01);
    }
}

/// A flow that offers more than the link carries leaves exactly what the link can send.
#[test]
fn a_saturated_link_carries_its_rate() {
    // A packet takes 1/128 s. All times are exact in binary, and so are the counts.
    for (per_s, limit) in [(256.0, 10), (512.0, 1), (512.0, 40), (64.0, 10)] {
        let mut scenario = scenario(Profile::Rfc, 8.0, 2);
        scenario.links = wire("wire", (0, 1), 1_024_000.0, 0.0, packets(limit)).to_vec();
        scenario.flows = vec![flow(
            &scenario,
            "udp",
            0,
            (0, 1),
            TrafficSpec::Cbr { pace: Pace::IntervalS(1.0 / per_s), random: Intervals::Constant },
            udp(1000),
        )];
        let tables = run(&scenario);
        let count = |name| integers(&tables.flows, name)[0];
        let sent = (8.0 * per_s) as i64;
        assert_eq!(count("packets_sent"), sent);
        if per_s > 128.0 {
            // The last service would end with the run, when nothing happens any more.
            assert_eq!(count("packets_delivered"), 8 * 128 - 1);
            assert_eq!(count("packets_dropped"), sent - (8 * 128 - 1) - i64::from(limit));
            assert_eq!(floats(&tables.links, "utilization")[0], 1.0);
        } else {
            assert_eq!((count("packets_dropped"), count("packets_delivered")), (0, sent));
            assert_eq!(floats(&tables.links, "utilization")[0], 0.5);
        }
    }
}

/// One Reno flow without delayed ACKs through a link of `rate_bps` and a round trip of `rtt_s`.
fn bulk(recovery: Recovery, rate_bps: f64, rtt_s: f64, limit: QueueLimit, duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Ns2, duration_s, 2);
    scenario.links = vec![
        link("forward", (0, 1), rate_bps, rtt_s / 2.0, limit),
        link("back", (1, 0), rate_bps * 100.0, rtt_s / 2.0, QueueLimit::Unlimited),
    ];
    let mut tcp = tcp(Profile::Ns2, recovery);
    tcp.payload_bytes = 960;
    tcp.initial_ssthresh_packets = Some(20.0);
    scenario.flows =
        vec![flow(&scenario, "tcp", 0, (0, 1), TrafficSpec::Bulk { bytes: None }, TransportSpec::Tcp(tcp))];
    scenario
}

/// Times at which the queue was full, and at which data arrived.
fn drops_and_arrivals_s(records: &[Record]) -> [Vec<f64>; 2] {
    [Event::Drop(DropReason::Queue), Event::Receive].map(|event| {
        let wanted = records.iter().filter(|record| record.kind == Kind::Segment && record.event == event);
        wanted.map(|record| record.time.seconds()).collect()
    })
}

/// A window that grows by one packet per round trip and is halved at the top W = pipe + queue: while
/// the queue is short, a tooth lasts W / 2 round trips and carries 3/8 W² packets, so that the goodput is
/// 3/4 of the top's.
#[test]
fn the_sawtooth_has_its_period_and_carries_three_quarters_of_the_top() {
    const RTT_S: f64 = 0.2;
    const QUEUE: u32 = 4;
    // 1000 packets a second: 200 fit into the pipe, one into the transmitter.
    const TOP: f64 = 1000.0 * RTT_S + 1.0 + QUEUE as f64;
    for recovery in [Recovery::Reno, Recovery::Newreno, Recovery::Sack] {
        let mut scenario = bulk(recovery, 8e6, RTT_S, packets(QUEUE), 600.0);
        scenario.observe.interval_s = Some(0.05);
        let (tables, records) = trace(&scenario);
        let [drops_s, arrivals_s] = drops_and_arrivals_s(&records);
        // Slow start loses several packets; then there is one loss per tooth.
        let tops_s: Vec<f64> = drops_s.into_iter().filter(|&drop_s| drop_s > 50.0).collect();
        let (begin_s, end_s) = (tops_s[0], tops_s[tops_s.len() - 1]);
        let period_s = (end_s - begin_s) / (tops_s.len() - 1) as f64;
        assert!(tops_s.windows(2).all(|pair| (pair[1] - pair[0] - period_s).abs() < RTT_S), "{recovery:?}: {tops_s:?}");
        // One round more for the recovery.
        assert_close("period", period_s, (TOP / 2.0 + 1.0) * RTT_S, 0.03);
        let settled = |time_s: f64| (begin_s..end_s).contains(&time_s);
        let arrived = arrivals_s.iter().filter(|&&arrival_s| settled(arrival_s)).count() as f64;
        assert_close("goodput in packets/s", arrived / (end_s - begin_s), 0.75 * TOP / RTT_S, 0.02);
        let series = tables.series.as_ref().expect("an interval was given");
        let samples = floats(series, "time_s").iter().zip(cwnd(series)).filter(|(time_s, _)| settled(**time_s));
        let windows: Vec<f64> = samples.filter_map(|(_, window)| window).collect();
        assert_close("mean window", windows.iter().sum::<f64>() / windows.len() as f64, 0.75 * TOP, 0.02);
    }
}

/// Of each sample the congestion window, if it is one.
fn cwnd(series: &Table) -> impl Iterator<Item = Option<f64>> {
    let Column::Category(codes, names) = column(series, "metric") else { panic!("metrics are words") };
    codes
        .iter()
        .zip(floats(series, "value"))
        .map(|(&code, &value)| (names[code as usize] == "cwnd_packets").then_some(value))
}

/// A queue as long as the pipe bridges the time until the halved window fills the pipe again.
#[test]
fn a_queue_of_one_bandwidth_delay_product_keeps_the_link_busy() {
    const TOP: f64 = 100.0 + 1.0 + 110.0;
    let (_, records) = trace(&bulk(Recovery::Newreno, 8e6, 0.1, packets(110), 300.0));
    let [drops_s, arrivals_s] = drops_and_arrivals_s(&records);
    let tops_s: Vec<f64> = drops_s.into_iter().filter(|&drop_s| drop_s > 30.0).collect();
    let (begin_s, end_s) = (tops_s[0], tops_s[tops_s.len() - 1]);
    // The tooth carries its 3/8 W² packets at the rate of the link.
    assert_close("period", (end_s - begin_s) / (tops_s.len() - 1) as f64, 0.375 * TOP * TOP / 1000.0, 0.03);
    let arrived = arrivals_s.iter().filter(|&arrival_s| (begin_s..end_s).contains(arrival_s)).count() as f64;
    assert_close("packets/s", arrived / (end_s - begin_s), 1000.0, 0.001);
}

/// Mathis, Semke, Mahdavi and Ott (1997): √(3/2) / √p packets per round trip.
#[test]
fn random_loss_limits_the_goodput_as_mathis_says() {
    const RTT_S: f64 = 0.1;
    for (profile, recovery) in [
        (Profile::Ns2, Recovery::Reno),
        (Profile::Ns2, Recovery::Newreno),
        (Profile::Ns2, Recovery::Sack),
        (Profile::Rfc, Recovery::Reno),
        (Profile::Rfc, Recovery::Newreno),
        (Profile::Rfc, Recovery::Sack),
    ] {
        for loss in [1e-3, 3e-3, 1e-2] {
            let mut scenario = bulk(recovery, 1e9, RTT_S, QueueLimit::Unlimited, 2500.0);
            scenario.profile = profile;
            scenario.links[0].loss = loss.into();
            let goodput = floats(&run(&scenario).flows, "goodput_bps")[0] / (8.0 * 960.0);
            assert_close(&format!("{profile:?} {recovery:?} p = {loss}"), goodput, (1.5 / loss).sqrt() / RTT_S, 0.15);
        }
    }
}

//! BBR on paths of which the bandwidth-delay product is known.

use crate::engine::common::{Tables, column, floats, flow, integers, link, packets, run, scenario, tcp};
use tightlink_sim::Scenario;
use tightlink_sim::scenario::{Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec};
use tightlink_sim::tables::Column;

const RATE_BPS: f64 = 10e6;
const RTT_S: f64 = 0.04;
/// Packets of 1052 bytes that the path holds without a queue.
const BDP: f64 = RATE_BPS * RTT_S / (8.0 * 1052.0);
const BOTH: [&str; 2] = ["bbr", "bbr3"];

/// `flows` flows, one every two seconds, through a link with a queue of `buffer` bandwidth-delay products.
fn path(control: &str, buffer: f64, flows: u32, duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, duration_s, 2);
    scenario.links = vec![
        link("forward", (0, 1), RATE_BPS, RTT_S / 2.0, packets((buffer * BDP) as u32)),
        link("back", (1, 0), 1e9, RTT_S / 2.0, QueueLimit::Unlimited),
    ];
    for index in 0..flows {
        let mut tcp = tcp(Profile::Rfc, Recovery::Sack);
        tcp.congestion = control.into();
        // Lost retransmissions wait for the timer: as long as with Linux.
        tcp.rto.min_s = 0.2;
        let traffic = TrafficSpec::Bulk { bytes: None };
        let mut flow = flow(&scenario, "tcp", index, (0, 1), traffic, TransportSpec::Tcp(tcp));
        flow.start_s = 2.0 * f64::from(index);
        scenario.flows.push(flow);
    }
    scenario
}

/// Times and values of a metric of the first flow.
fn series(tables: &Tables, metric: &str) -> Vec<(f64, f64)> {
    let series = tables.series.as_ref().expect("the scenario asks for series");
    let word = |name, row: usize| match column(series, name) {
        Column::Category(codes, words) => words[codes[row] as usize].clone(),
        other => panic!("{name} is {other:?}"),
    };
    let (times, values) = (floats(series, "time_s"), floats(series, "value"));
    (0..times.len())
        .filter(|&row| word("metric", row) == metric && word("entity", row) == "tcp[0]")
        .map(|row| (times[row], values[row]))
        .collect()
}

/// Sampled every ten milliseconds.
fn sampled(mut scenario: Scenario) -> Tables {
    scenario.observe.interval_s = Some(0.01);
    run(&scenario)
}

/// 95 % of the rate whatever the buffer from one bandwidth-delay product on, with a short queue, and little lost.
#[test]
fn one_flow_fills_the_path_and_not_the_queue() {
    for control in BOTH {
        for buffer in [1.0, 2.0, 4.0, 8.0] {
            let tables = run(&path(control, buffer, 1, 60.0));
            let utilization = floats(&tables.links, "utilization")[0];
            let queue = floats(&tables.links, "queue_mean_packets")[0];
            let [sent, lost] = ["packets_in", "packets_dropped"].map(|name| integers(&tables.links, name)[0]);
            assert!(utilization > 0.95, "{control} with {buffer} BDP: {utilization}");
            assert!(queue < 0.2 * BDP, "{control} with {buffer} BDP: {queue} packets wait");
            assert!(lost * 100 < sent, "{control} with {buffer} BDP: {lost} of {sent} lost");
        }
    }
}

/// Once it has started, about one bandwidth-delay product is in flight, and never more than the window's gain of two.
#[test]
fn about_one_bandwidth_delay_product_is_in_flight() {
    for control in BOTH {
        let tables = sampled(path(control, 4.0, 1, 60.0));
        let settled = |metric| series(&tables, metric).into_iter().filter(|&(time_s, _)| time_s > 5.0);
        let in_flight: Vec<f64> = settled("in_flight_packets").map(|sample| sample.1).collect();
        let mean = in_flight.iter().sum::<f64>() / in_flight.len() as f64;
        assert!((0.9..1.2).contains(&(mean / BDP)), "{control}: {mean} packets in flight on average");
        let window = settled("cwnd_packets").map(|sample| sample.1).fold(0.0, f64::max);
        // Two to two and a quarter products, and a few packets for delayed ACKs and hosts.
        assert!(window < 2.25 * BDP + 10.0, "{control}: a window of {window} packets");
    }
}

/// Startup doubles the rate in each round trip, finds in three more that the pipe is full, and drains it.
#[test]
fn startup_ends_within_rounds() {
    // From ten packets to a window of twice the path's, and three rounds without growth, each with a queue.
    let doublings = libm::log2(2.0 * BDP / 10.0).ceil();
    for control in BOTH {
        let tables = sampled(path(control, 8.0, 1, 10.0));
        let faster = series(&tables, "pacing_rate_bps").into_iter().filter(|&(_, rate_bps)| rate_bps > 1.3 * RATE_BPS);
        let last_s = faster.map(|(time_s, _)| time_s).fold(0.0, f64::max);
        let most_s = (1.0 + doublings) * RTT_S + 4.0 * 3.0 * RTT_S;
        assert!((3.0 * RTT_S..most_s).contains(&last_s), "{control}: Startup until {last_s} s, not {most_s} s");
    }
}

/// The window shows the probes for the round-trip time: every ten seconds in version 1, every five in version 3.
/// Alone, version 1 empties the queue in each of its cycles, and so has nothing to probe for.
#[test]
fn the_round_trip_time_is_probed_for() {
    for (control, flows, every_s, window) in [("bbr", 2, 10.0, 4.0), ("bbr3", 1, 5.0, 0.55 * BDP)] {
        let tables = sampled(path(control, 4.0, flows, 64.0));
        let mut probes: Vec<f64> = Vec::new();
        for (time_s, cwnd) in series(&tables, "cwnd_packets").into_iter().filter(|sample| sample.0 > 1.0) {
            if cwnd <= window && probes.last().is_none_or(|last| time_s > last + 1.0) {
                probes.push(time_s);
            }
        }
        assert!(probes.len() >= 5, "{control}: {probes:?}");
        // Behind the first, two flows empty the queue once more as their windows come down, and have seen the path again.
        for pair in probes[1..].windows(2) {
            // A probe lasts 0.2 s and some round trips.
            let apart_s = pair[1] - pair[0];
            assert!((every_s..every_s + 0.6).contains(&apart_s), "{control}: probes at {probes:?}");
        }
    }
}

/// The probes for the round-trip time bring flows together that began one after the other.
#[test]
fn two_flows_converge() {
    for control in BOTH {
        let both = floats(&run(&path(control, 4.0, 2, 120.0)).flows, "goodput_bps").to_vec();
        let (sum, squares) = (both[0] + both[1], both[0] * both[0] + both[1] * both[1]);
        let fairness = sum * sum / (2.0 * squares);
        assert!(fairness > 0.95, "{control}: Jain's index {fairness} of {both:?}");
        assert!(sum > 0.9 * RATE_BPS, "{control}: {both:?}");
    }
}

/// One packet in a hundred lost at random: Reno's rate is Mathis', 1.22 / (RTT √p), a quarter of the path's. Version 1
/// does not care up to where its probes at 1.25 no longer make up for what is lost; version 3 bears up to 2 %.
#[test]
fn random_losses_do_not_stop_it() {
    let goodput = |control: &str, loss: f64| {
        let mut scenario = path(control, 2.0, 1, 60.0);
        scenario.links[0].loss = loss.into();
        floats(&run(&scenario).flows, "goodput_bps")[0] / RATE_BPS
    };
    assert!(goodput("reno", 0.01) < 0.3);
    for (control, loss, least) in [("bbr", 0.01, 0.9), ("bbr", 0.02, 0.8), ("bbr3", 0.001, 0.85), ("bbr3", 0.01, 0.6)] {
        let share = goodput(control, loss);
        assert!(share > least, "{control} at {loss}: {share}");
    }
    // Beyond its threshold version 3 gives way, version 1 does not.
    let (one, three) = (goodput("bbr", 0.05), goodput("bbr3", 0.05));
    assert!(three < 0.3 && one > 2.0 * three, "{one} {three}");
}

/// 64 kbit/s hold less than a packet: the part of the cycle that drains ends at once, as three packets more than fit may be in
/// flight (§4.2.3.2); the one that probes does not. So it paces at 99 % in the middle, and above the link on average.
#[test]
fn on_a_slow_link_version_1_paces_above_it_on_average() {
    let mut scenario = path("bbr", 4.0, 1, 120.0);
    scenario.links[0].rate_bps = 64e3;
    let tables = sampled(scenario);
    let rates = series(&tables, "pacing_rate_bps").into_iter().filter(|&(time_s, _)| time_s > 20.0);
    let mut rates: Vec<f64> = rates.map(|sample| sample.1 / 64e3).collect();
    rates.sort_by(f64::total_cmp);
    let (mean, median) = (rates.iter().sum::<f64>() / rates.len() as f64, rates[rates.len() / 2]);
    assert!((0.985..0.995).contains(&median) && (1.0..1.06).contains(&mean), "{mean} {median}");
}

/// In a buffer of a quarter of the path version 1 loses again and again, version 3 learns how much fits.
#[test]
fn version_3_loses_less_in_a_small_buffer() {
    let lost = |control| {
        let tables = run(&path(control, 0.25, 1, 60.0));
        assert!(floats(&tables.links, "utilization")[0] > 0.9, "{control}");
        let [sent, lost] = ["packets_in", "packets_dropped"].map(|name| integers(&tables.links, name)[0]);
        lost as f64 / sent as f64
    };
    let (one, three) = (lost("bbr"), lost("bbr3"));
    assert!(three < 0.02 && 2.0 * three < one, "{one} {three}");
}

/// It needs the acknowledgement of each packet.
#[test]
fn another_recovery_than_sack_is_an_error() {
    let mut scenario = path("bbr3", 1.0, 1, 1.0);
    let TransportSpec::Tcp(tcp) = &mut scenario.flows[0].transport else { panic!("TCP") };
    tcp.recovery = Recovery::Newreno;
    let error = tightlink_sim::Simulation::new(&scenario, tightlink_sim::probe::Totals).expect_err("no SACK");
    let text = error.to_string();
    assert!(text.contains("tcp.recovery") && text.contains("bbr3") && text.contains("\"sack\""), "{text}");
}

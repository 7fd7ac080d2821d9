//! What each kind of loss recovery achieves under profile `rfc` where several flows share a small
//! dumbbell: tables as text, so that a change of behaviour shows as a readable difference.

use std::fmt::Write as _;

use crate::engine::common::{Tables, floats, flow, integers, packets, run, scenario, tcp, wire};
use tightlink_sim::Scenario;
use tightlink_sim::scenario::{Profile, Recovery, TrafficSpec, TransportSpec};

/// Four flows with round trips of 24 to 84 ms through 10 Mbit/s, the third of them short; the last
/// starts late.
fn dumbbell(recovery: Recovery) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 20.0, 10);
    scenario.links.extend(wire("bottleneck", (0, 1), 10e6, 0.01, packets(25)));
    for pair in 0..4 {
        let (left, right) = (2 + 2 * pair, 3 + 2 * pair);
        let delay_s = 0.001 + 0.005 * f64::from(pair);
        scenario.links.extend(wire(&format!("left{pair}"), (left, 0), 100e6, delay_s, packets(1000)));
        scenario.links.extend(wire(&format!("right{pair}"), (1, right), 100e6, delay_s, packets(1000)));
        let mut tcp = tcp(Profile::Rfc, recovery);
        tcp.payload_bytes = 1448;
        let bytes = (pair == 2).then_some(2_000_000);
        let traffic = TrafficSpec::Bulk { bytes };
        let mut flow = flow(&scenario, "bulk", pair, (left, right), traffic, TransportSpec::Tcp(tcp));
        flow.start_s = [0.0, 0.5, 1.0, 5.0][pair as usize];
        scenario.flows.push(flow);
    }
    scenario
}

fn table(tables: &Tables) -> String {
    let flows = &tables.flows;
    let mut text =
        String::from("flow  sent  delivered  dropped  retransmitted  timeouts  goodput_kbps  rtt_ms  stop_s\n");
    for row in 0..4 {
        let [sent, delivered, dropped, retransmitted, timeouts] =
            ["packets_sent", "packets_delivered", "packets_dropped", "packets_retransmitted", "timeouts"]
                .map(|name| integers(flows, name)[row]);
        let [goodput_bps, rtt_s, stop_s] = ["goodput_bps", "rtt_mean_s", "stop_s"].map(|name| floats(flows, name)[row]);
        let (kbps, rtt_ms) = (goodput_bps / 1e3, rtt_s * 1e3);
        writeln!(
            text,
            "{row:>4} {sent:>5} {delivered:>10} {dropped:>8} {retransmitted:>14} {timeouts:>9} {kbps:>13.0} {rtt_ms:>7.1} {stop_s:>7.3}"
        )
        .expect("strings take everything");
    }
    text
}

#[test]
fn tahoe() {
    assert_eq!(table(&run(&dumbbell(Recovery::Tahoe))), include_str!("recoveries/tahoe.txt"));
}

#[test]
fn reno() {
    assert_eq!(table(&run(&dumbbell(Recovery::Reno))), include_str!("recoveries/reno.txt"));
}

#[test]
fn newreno() {
    assert_eq!(table(&run(&dumbbell(Recovery::Newreno))), include_str!("recoveries/newreno.txt"));
}

#[test]
fn sack() {
    assert_eq!(table(&run(&dumbbell(Recovery::Sack))), include_str!("recoveries/sack.txt"));
}

#[test]
fn rack() {
    assert_eq!(table(&run(&dumbbell(Recovery::Rack))), include_str!("recoveries/rack.txt"));
}

/// Recoveries that know what is missing hardly need the timer here, and lose nothing but time in queues.
#[test]
fn newreno_sack_and_rack_hardly_time_out() {
    for recovery in [Recovery::Newreno, Recovery::Sack, Recovery::Rack] {
        let tables = run(&dumbbell(recovery));
        let timeouts: i64 = integers(&tables.flows, "timeouts").iter().sum();
        assert!(timeouts <= 2, "{recovery:?}: {timeouts} timeouts");
        assert!(floats(&tables.links, "utilization")[0] > 0.9, "{recovery:?}");
    }
}

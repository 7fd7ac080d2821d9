//! A transfer that never ends against the event loop's bulk flow, over links that stand for the interfaces.

use super::{interface, long_lived, run, site, users};
use crate::engine::common::{floats, flow, integers, link, packets, scenario, wire};
use tightlink_sim::Scenario;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::red::RedSpec;
use tightlink_sim::scenario::{Ecn, LongLived, Profile, QueueLimit, Recovery, TcpSpec, TrafficSpec, TransportSpec};

/// Three routers in a row, numbered from 0.
fn routers(profile: Profile, seed: u64, loss: f64) -> Scenario {
    let mut scenario = scenario(profile, 30.0, 3);
    scenario.seed = seed;
    scenario.links.extend(wire("first", (0, 1), 1e7, 3e-3, packets(40)));
    scenario.links.extend(wire("second", (1, 2), 3e6, 1.5e-2, packets(15)));
    scenario.links[2].loss = loss.into();
    // ACKs may be lost too.
    scenario.links[3].loss = loss.into();
    scenario
}

fn random_early_detection() -> QueueSpec {
    QueueSpec::Red(RedSpec {
        limit: packets(40),
        min: 3.0,
        max: 12.0,
        in_bytes: false,
        weight: 0.02,
        max_probability: 0.1,
        gentle: true,
        wait: true,
        packet_bytes: 1000,
        adaptive: None,
        ecn: true,
    })
}

fn has_the_same_flow(routers: &Scenario, tcp: &TcpSpec) {
    const INTERFACE: (f64, f64) = (8e6, 7e-4);
    let mut with_users = routers.clone();
    let mut group = users("users", routers.profile, &[site(0, 0, 1), site(2, 0, 1)]);
    group.tcp = tcp.clone();
    group.controls[0].congestion = tcp.congestion.clone();
    // The interface of its two ends is its own, whatever those of others are.
    group.interfaces = vec![interface("slow", 1e5, 1.0), interface("own", INTERFACE.0, INTERFACE.1)];
    group.interfaces[1].share = 0.0;
    group.long_lived = vec![LongLived { interface: 1, ..long_lived("bulk") }];
    with_users.users.push(group);
    let users = run(&with_users);

    let mut with_hosts = routers.clone();
    with_hosts.nodes = scenario(routers.profile, 1.0, 5).nodes;
    for (name, ends) in [("out", (3, 0)), ("in", (2, 4)), ("acks out", (4, 2)), ("acks in", (0, 3))] {
        with_hosts.links.push(link(name, ends, INTERFACE.0, INTERFACE.1, QueueLimit::Unlimited));
    }
    let (bulk, tcp_flow) = (TrafficSpec::Bulk { bytes: None }, TransportSpec::Tcp(tcp.clone()));
    with_hosts.flows.push(flow(&with_hosts, "bulk", 0, (3, 4), bulk, tcp_flow));
    let hosts = crate::engine::common::run(&with_hosts);

    let what = format!("{:?} {:?} {} seed {}", routers.profile, tcp.recovery, tcp.congestion.kind, routers.seed);
    let count = routers.links.len();
    for name in [
        "packets_in",
        "packets_out",
        "packets_dropped",
        "packets_lost",
        "packets_marked",
        "bytes_out",
        "queue_max_packets",
    ] {
        let (theirs, ours) = (integers(&hosts.links, name), integers(users.table("links"), name));
        assert_eq!(ours, &theirs[..count], "{what}: {name}");
    }
    for name in ["utilization", "queue_mean_packets"] {
        let (theirs, ours) = (floats(&hosts.links, name), floats(users.table("links"), name));
        assert_eq!(ours, &theirs[..count], "{what}: {name}");
    }
    let flow = |name| integers(&hosts.flows, name)[0];
    assert!(flow("packets_retransmitted") > 3, "{what}: too quiet");
    assert_eq!(users.total("users", "packets_retransmitted"), flow("packets_retransmitted"), "{what}");
    assert_eq!(users.total("users", "timeouts"), flow("timeouts"), "{what}");
    assert_eq!(users.packet_hops, hosts.packet_hops, "{what}");
}

/// Packets, drops, marks and waiting times of each link are the same to the last bit.
#[test]
fn a_long_transfer_is_the_event_loops_bulk_flow() {
    for profile in [Profile::Rfc, Profile::Linux] {
        for recovery in Recovery::ALL {
            for (seed, loss) in [(1, 0.0), (2, 0.01), (3, 0.04)] {
                let mut routers = routers(profile, seed, loss);
                let mut tcp = crate::engine::common::tcp(profile, recovery);
                has_the_same_flow(&routers, &tcp);
                tcp.pacing = true;
                tcp.delayed_ack_s = None;
                has_the_same_flow(&routers, &tcp);
                tcp.pacing = false;
                routers.links[2].queue = random_early_detection();
                for ecn in [Ecn::Classic, Ecn::Accurate] {
                    tcp.ecn = ecn;
                    has_the_same_flow(&routers, &tcp);
                }
            }
        }
    }
}

/// Those that draw no random numbers of their own: the two engines name their streams otherwise.
#[test]
fn every_congestion_control_is_the_event_loops() {
    for control in ["cubic", "bic", "compound", "fast", "htcp", "vegas", "westwood", "illinois", "dctcp", "prices"] {
        let mut routers = routers(Profile::Rfc, 5, 0.003);
        let mut tcp = crate::engine::common::tcp(Profile::Rfc, Recovery::Sack);
        tcp.congestion = control.into();
        if matches!(control, "dctcp" | "prices") {
            routers.links[2].queue = random_early_detection();
            tcp.ecn = Ecn::Accurate;
            has_the_same_flow(&routers, &tcp);
            tcp.ecn = Ecn::Classic;
        }
        has_the_same_flow(&routers, &tcp);
    }
}

//! The relay on the system's clock, between pairs of sockets. The machine may be busy: what is asserted of time is loose,
//! what is asserted of packets is not.

#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::time::{Duration, Instant};

use tightlink_relay::RelayError;
use tightlink_relay::network::Network;
use tightlink_relay::port::Datagrams;
use tightlink_relay::record::{Outcome, Record};
use tightlink_relay::relay::{self, RelayOutcome};
use tightlink_relay::spec::{Device, PortSpec, RelaySpec, RouteSpec};
use tightlink_relay::system::System;
use tightlink_sim::scenario::{LinkSpec, Profile, QueueLimit};

fn link(name: &str, ends: (u32, u32)) -> LinkSpec {
    LinkSpec::plain(name, ends, 2e5, 0.02, QueueLimit::Packets(5))
}

fn spec(duration_s: Option<f64>) -> RelaySpec {
    RelaySpec {
        profile: Profile::Linux,
        seed: 1,
        begins_ns: None,
        duration_s,
        nodes: vec!["a".to_owned(), "b".to_owned()],
        links: vec![link("wire", (0, 1)), link("wire.reverse", (1, 0))],
        ports: ["a", "b"].map(|node| PortSpec { node: node.to_owned(), addresses: Vec::new() }).to_vec(),
        routes: [0, 1]
            .map(|from| RouteSpec {
                from,
                to: 1 - from,
                between: None,
                links: vec![from],
                before_s: 0.0,
                gaps_s: Vec::new(),
                beyond_s: 0.0,
            })
            .to_vec(),
        processor: None,
        device: Device::Datagram,
        lateness_bound_s: 1e-3,
        spin_share: 0.5,
    }
}

/// What a relay did between the two sockets that are given to `hosts`.
fn between(
    spec: &RelaySpec,
    hosts: impl FnOnce(UnixDatagram, UnixDatagram, UnixStream) + Send,
) -> (Result<RelayOutcome, RelayError>, Vec<Record>) {
    let [(a, port_a), (b, port_b)] = [(); 2].map(|()| UnixDatagram::pair().unwrap());
    let (tell, stop) = UnixStream::pair().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| hosts(a, b, tell));
        let ports = [port_a, port_b].map(|port| Datagrams::new(OwnedFd::from(port)).unwrap());
        let names = ["a", "b"].map(str::to_owned);
        let network = Network::new(spec);
        let mut world = System::new(ports.into(), names.into(), OwnedFd::from(stop), spec.spin_share).unwrap();
        let mut records = Vec::new();
        (relay::run(spec, network, &mut world, &mut records), records)
    })
}

#[test]
fn packets_cross_and_the_queue_drops_exactly_what_does_not_fit() {
    let hosts = |a: UnixDatagram, b: UnixDatagram, mut tell: UnixStream| {
        // Of 30 packets at once, 40 ms each on the line, the queue takes five.
        for number in 0..30u8 {
            a.send(&[number; 1000]).unwrap();
        }
        b.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut packet = [0; 2000];
        for number in 0..5 {
            assert_eq!((b.recv(&mut packet).unwrap(), packet[0]), (1000, number));
        }
        b.send(&[77; 100]).unwrap();
        a.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        assert_eq!((a.recv(&mut packet).unwrap(), packet[0]), (100, 77));
        tell.write_all(b"x").unwrap();
    };
    let (outcome, records) = between(&spec(None), hosts);
    let outcome = outcome.unwrap();
    let by = |port, outcome| records.iter().filter(|record| (record.port, record.outcome) == (port, outcome)).count();
    assert_eq!((by(0, Outcome::Delivered), by(0, Outcome::Queue), by(1, Outcome::Delivered)), (5, 25, 1));
    assert!(
        records
            .iter()
            .filter(|record| record.outcome == Outcome::Delivered)
            .all(|record| record.sent_s >= record.due_s)
    );
    assert_eq!(outcome.links[0].server.packets_in, 30);
    assert_eq!(outcome.counts.lateness.packets(), 6);
    assert!(outcome.counts.lateness.max_s() < 1.0);
}

#[test]
fn it_ends_with_its_duration() {
    let begin = Instant::now();
    // The descriptors live as long as the relay: a host that goes away would be an error.
    let hosts = |_a, _b, _tell| std::thread::sleep(Duration::from_millis(300));
    let (outcome, _) = between(&spec(Some(0.1)), hosts);
    assert_eq!(outcome.unwrap().end.seconds(), 0.1);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_host_that_goes_away_is_an_error() {
    let hosts = |a: UnixDatagram, b: UnixDatagram, _tell: UnixStream| {
        a.send(&[1; 100]).unwrap();
        drop(b);
        std::thread::sleep(Duration::from_millis(300));
    };
    let (outcome, _) = between(&spec(Some(5.0)), hosts);
    let message = outcome.unwrap_err().to_string();
    assert!(message.starts_with("port of b: "), "{message}");
}

//! Senders and receivers of the probe, on loopback: what must be exact, not how fast this machine is.

#![cfg(target_os = "linux")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
use tightlink_relay::probe::{
    Datagrams, Echo, Ended, Failure, Guard, Incoming, Pattern, TcpFlow, TcpReceive, TcpSend, TcpSent, UdpFlow,
    UdpReceive, UdpSend, UdpSent, echo_udp, receive_tcp, receive_udp, send_tcp, send_udp,
};

const PATIENCE_S: f64 = 20.0;
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn never() -> bool {
    false
}

fn tcp_socket() -> OwnedFd {
    socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).expect("a socket")
}

fn udp_socket() -> (OwnedFd, SocketAddr) {
    let socket = UdpSocket::bind((HERE, 0)).expect("a socket on loopback");
    let address = socket.local_addr().expect("its address");
    (socket.into(), address)
}

fn bulk(flow: u64, to: SocketAddr) -> TcpFlow {
    TcpFlow {
        flow,
        to,
        start_s: 0.0,
        stop_s: None,
        size_bytes: None,
        window_bytes: None,
        receiver_keeps_window: false,
        segment_bytes: None,
        pattern: None,
    }
}

fn transfer(flows: impl Fn(SocketAddr) -> Vec<TcpFlow>) -> (TcpSent, Vec<Incoming>) {
    let listener = TcpListener::bind((HERE, 0)).expect("a port on loopback");
    let flows = flows(listener.local_addr().expect("its address"));
    let count = flows.len();
    let receiver = thread::spawn(move || {
        let guard = Guard::new(PATIENCE_S, None, &never);
        receive_tcp(&TcpReceive { flows: count, windows: vec![] }, vec![listener.into()], &guard).expect("it receives")
    });
    let spec = TcpSend { flows, begin_ns: None, sample_s: Some(0.02), nap_s: 5e-5, drain_s: 1.0 };
    let guard = Guard::new(PATIENCE_S, None, &never);
    let sent = send_tcp(&spec, (0..count).map(|_| tcp_socket()).collect(), &guard).expect("it sends");
    let (ended, incoming) = receiver.join().expect("the receiver");
    assert_eq!((sent.ended, ended), (Ended::Done, Ended::Done));
    (sent, incoming)
}

#[test]
fn what_is_sent_arrives_and_knows_its_flow() {
    let (sent, incoming) = transfer(|to| {
        (1..=3).map(|flow| TcpFlow { size_bytes: Some(flow * 100_003), ..bulk(10 * flow, to) }).collect()
    });
    for ((flow, sent), incoming) in (1..).zip(&sent.flows).zip(&incoming) {
        assert_eq!(sent.error, None);
        assert_eq!((sent.flow, incoming.flow), (10 * flow, 10 * flow));
        assert_eq!((sent.written_bytes, sent.outstanding_bytes), (flow * 100_003, 0));
        assert_eq!(incoming.arrivals.bytes.last(), Some(&(flow * 100_003)));
        assert_eq!(sent.from.as_ref(), Some(&incoming.from));
        assert!(incoming.complete);
        // It stops when the last byte is acknowledged, which is after that byte arrived.
        if incoming.arrivals.unstamped == 0 {
            assert!(sent.stop_ns >= incoming.arrivals.time_ns.last().copied());
        }
        assert!(incoming.arrivals.time_ns.is_sorted());
    }
}

#[test]
fn no_more_than_the_window_is_outstanding_and_time_is_accounted_for() {
    let window = 5000;
    let (sent, _) = transfer(|to| {
        let flow = bulk(1, to);
        vec![TcpFlow { stop_s: Some(0.3), window_bytes: Some(window), segment_bytes: Some(1000), ..flow }]
    });
    let flow = &sent.flows[0];
    assert!(flow.outstanding_bytes <= window, "{flow:?}");
    assert!(!sent.samples.info.is_empty());
    assert!(sent.samples.info.iter().all(|info| info.unacked_packets <= 5), "{:?}", sent.samples);
    assert_eq!(flow.written_bytes % 1000, 0);
    let seconds = (flow.stop_ns.expect("it stopped") - flow.start_ns.expect("it started")) as f64 / 1e9;
    let spent = flow.spent;
    let sum = spent.handshake_s + spent.application_s + spent.window_s + spent.kernel_s;
    assert!((sum - seconds).abs() < 1e-6, "{spent:?} of {seconds}");
    assert!(spent.window_s > 0.5 * seconds, "{spent:?}");
}

#[test]
fn an_application_writes_segments_at_its_times() {
    let (sent, incoming) = transfer(|to| {
        let pattern = Some(Pattern::Constant { interval_s: 0.01 });
        vec![TcpFlow { stop_s: Some(0.195), segment_bytes: Some(1000), pattern, ..bulk(1, to) }]
    });
    let flow = &sent.flows[0];
    // At 0, 10, … 190 ms; on a busy machine the last ones come too late for the end, of which half of the time is enough here.
    assert!((10_000..=20_000).contains(&flow.written_bytes) && flow.written_bytes % 1000 == 0, "{flow:?}");
    assert!(flow.spent.application_s > 0.1, "{:?}", flow.spent);
    let arrivals = &incoming[0].arrivals;
    assert_eq!(arrivals.bytes.last(), Some(&flow.written_bytes));
    let lasted_ns = arrivals.time_ns.last().expect("the last") - arrivals.time_ns[0];
    assert!(lasted_ns > 100_000_000, "{lasted_ns}");
}

#[test]
fn what_is_offered_in_time_is_limited_by_its_size() {
    let (sent, _) = transfer(|to| {
        let pattern = Some(Pattern::Times { at_s: vec![0.0, 0.01, 0.02, 5.0] });
        vec![TcpFlow { size_bytes: Some(2500), segment_bytes: Some(1000), pattern, ..bulk(1, to) }]
    });
    let flow = &sent.flows[0];
    assert_eq!((flow.written_bytes, flow.outstanding_bytes), (2500, 0));
    // It may have started late, but its times count from the beginning.
    assert!(flow.stop_ns.expect("it stopped") - sent.began_ns >= 20_000_000);
}

/// The receiver advertises the window, and the kernel keeps it: to the byte, but for a moment at the beginning.
#[test]
fn the_receiver_keeps_a_window() {
    let listener = TcpListener::bind((HERE, 0)).expect("a port on loopback");
    let to = listener.local_addr().expect("its address");
    let window = 50_000;
    // A buffer that was asked for does not grow, nor does the window with it.
    setsockopt(&listener, sockopt::RcvBuf, &200_000).expect("a buffer");
    let sizes = TcpFlow { size_bytes: Some(20_000_000), segment_bytes: Some(1000), ..bulk(1, to) };
    let flow = TcpFlow { window_bytes: Some(window), receiver_keeps_window: true, ..sizes };
    let spec = TcpSend { flows: vec![flow], begin_ns: None, sample_s: None, nap_s: 5e-5, drain_s: 1.0 };
    let receiver = thread::spawn(move || {
        let guard = Guard::new(PATIENCE_S, None, &never);
        let windows = vec![Some(window as u32)];
        receive_tcp(&TcpReceive { flows: 1, windows }, vec![listener.into()], &guard).expect("it receives")
    });
    let socket = tcp_socket();
    setsockopt(&socket, sockopt::TcpMaxSeg, &1012).expect("segments of 1000 B and timestamps");
    let sent = send_tcp(&spec, vec![socket], &Guard::new(PATIENCE_S, None, &never)).expect("it sends");
    let (_, incoming) = receiver.join().expect("no panic");
    assert!(incoming[0].complete);
    let info = sent.flows[0].info;
    assert!(u64::from(info.receiver_window_bytes) <= window, "{info:?}");
}

#[test]
fn a_flow_that_nobody_accepts_says_so_and_the_others_go_on() {
    let gone = TcpListener::bind((HERE, 0)).expect("a port").local_addr().expect("its address");
    let listener = TcpListener::bind((HERE, 0)).expect("a port on loopback");
    let to = listener.local_addr().expect("its address");
    let flows = vec![bulk(0, gone), TcpFlow { size_bytes: Some(50_000), ..bulk(1, to) }];
    let spec = TcpSend { flows, begin_ns: None, sample_s: None, nap_s: 5e-5, drain_s: 0.2 };
    let receiver = thread::spawn(move || {
        let guard = Guard::new(PATIENCE_S, None, &never);
        receive_tcp(&TcpReceive { flows: 1, windows: vec![] }, vec![listener.into()], &guard).expect("it receives")
    });
    let guard = Guard::new(PATIENCE_S, None, &never);
    let sent = send_tcp(&spec, vec![tcp_socket(), tcp_socket()], &guard).expect("it sends");
    assert_eq!(sent.flows[0].error.as_deref(), Some("connection refused"));
    assert_eq!((sent.flows[0].written_bytes, sent.flows[1].error.as_ref()), (0, None));
    assert_eq!(receiver.join().expect("the receiver").1[0].arrivals.bytes.last(), Some(&50_000));
}

#[test]
fn strangers_are_turned_away() {
    let listener = TcpListener::bind((HERE, 0)).expect("a port on loopback");
    let to = listener.local_addr().expect("its address");
    let stranger = thread::spawn(move || {
        use std::io::{Read, Write};
        let mut socket = std::net::TcpStream::connect(to).expect("a connection");
        socket.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it can be written to");
        let _ = socket.read(&mut [0; 1]);
    });
    let guard = Guard::new(0.3, None, &never);
    let (ended, found) =
        receive_tcp(&TcpReceive { flows: 1, windows: vec![] }, vec![listener.into()], &guard).expect("it receives");
    assert_eq!((ended, found.len()), (Ended::TimeUp, 0));
    stranger.join().expect("the stranger");
}

fn datagrams(flows: impl Fn(SocketAddr) -> Vec<UdpFlow>) -> (UdpSent, Datagrams) {
    let (receiving, to) = udp_socket();
    let flows = flows(to);
    let receiver = thread::spawn(move || {
        let spec = UdpReceive { peer: Some(HERE), most: 100_000, idle_s: Some(0.3) };
        receive_udp(&spec, receiving, &Guard::new(PATIENCE_S, None, &never)).expect("it receives")
    });
    let sockets = flows.iter().map(|_| udp_socket().0).collect();
    let spec = UdpSend { flows, begin_ns: None, most: 100_000 };
    let (ended, sent) = send_udp(&spec, sockets, &Guard::new(PATIENCE_S, None, &never)).expect("it sends");
    let (_, found) = receiver.join().expect("the receiver");
    assert_eq!(ended, Ended::Done);
    (sent, found)
}

#[test]
fn datagrams_are_sent_when_they_are_due_and_arrive_with_their_times() {
    let (sent, found) = datagrams(|to| {
        let constant = Pattern::Constant { interval_s: 0.002 };
        let trains = Pattern::Trains { packets: 5, every_s: 0.05, gap_s: 0.0 };
        [(3, constant, 100), (7, trains, 1200)]
            .map(|(flow, pattern, payload_bytes)| UdpFlow {
                flow,
                to,
                start_s: 0.01,
                stop_s: Some(0.21),
                payload_bytes,
                pattern,
            })
            .to_vec()
    });
    assert_eq!((found.overflowed, found.foreign, sent.unreachable, sent.refused), (0, 0, 0, 0));
    for (flow, count) in [(3, 100), (7, 20)] {
        let ours = |found: &Vec<u16>| found.iter().filter(|&&number| number == flow).count();
        assert_eq!((ours(&sent.flow), ours(&found.flow)), (count, count));
    }
    assert_eq!(sent.due_ns[0] - sent.began_ns, 10_000_000);
    // Two clocks are compared, of which the distance is known to a fraction of a microsecond.
    assert!(
        sent.due_ns.iter().zip(&sent.sent_ns).all(|(due, at)| at + 5000 >= *due),
        "nothing is sent before it is due"
    );
    let by_key = |flow: &[u16], seq: &[u32], time: &[i64]| {
        let mut rows: Vec<_> = flow.iter().zip(seq).zip(time).map(|((flow, seq), time)| (*flow, *seq, *time)).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(by_key(&sent.flow, &sent.seq, &sent.sent_ns), by_key(&found.flow, &found.seq, &found.sent_ns));
    assert!(found.sent_ns.iter().zip(&found.received_ns).all(|(sent, received)| received >= sent));
    assert_eq!(found.payload_bytes.iter().map(|&bytes| u64::from(bytes)).sum::<u64>(), 100 * 100 + 20 * 1200);
}

#[test]
fn a_sender_stops_at_the_most_that_it_may_send() {
    let (to, address) = udp_socket();
    let flow =
        UdpFlow { flow: 0, to: address, start_s: 0.0, stop_s: None, payload_bytes: 16, pattern: Pattern::Saturate };
    let spec = UdpSend { flows: vec![flow], begin_ns: None, most: 1000 };
    let guard = Guard::new(PATIENCE_S, None, &never);
    let (ended, sent) = send_udp(&spec, vec![udp_socket().0], &guard).expect("it sends");
    assert_eq!((ended, sent.seq.len()), (Ended::Done, 1000));
    drop(to);
}

#[test]
fn an_echo_answers_its_peer_and_nobody_else() {
    for (peer, answered) in [(HERE, 20), (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 0)] {
        let (listening, to) = udp_socket();
        let echo = thread::spawn(move || {
            let spec = Echo { peer, most: 1000, idle_s: 0.2 };
            echo_udp(&spec, listening, &Guard::new(1.0, None, &never)).expect("it echoes")
        });
        let (socket, _) = udp_socket();
        let answers = socket.try_clone().expect("a second descriptor");
        let receiver = thread::spawn(move || {
            let spec = UdpReceive { peer: None, most: 20, idle_s: None };
            receive_udp(&spec, answers, &Guard::new(0.8, None, &never)).expect("it receives")
        });
        let pattern = Pattern::Constant { interval_s: 0.005 };
        let flow = UdpFlow { flow: 0, to, start_s: 0.0, stop_s: Some(0.1), payload_bytes: 64, pattern };
        let spec = UdpSend { flows: vec![flow], begin_ns: None, most: 100 };
        send_udp(&spec, vec![socket], &Guard::new(PATIENCE_S, None, &never)).expect("it sends");
        let (_, echoed) = echo.join().expect("the echo");
        assert_eq!((echoed.echoed, echoed.foreign), (answered, 20 - answered));
        assert_eq!(receiver.join().expect("the receiver").1.seq.len() as u64, answered);
    }
}

#[test]
fn everything_ends_when_a_descriptor_says_so_or_the_user_does() {
    let began = Instant::now();
    let (reading, writing) = std::io::pipe().expect("a pipe");
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        drop(writing);
    });
    let listener = TcpListener::bind((HERE, 0)).expect("a port");
    let guard = Guard::new(PATIENCE_S, Some(reading.as_fd()), &never);
    let (ended, _) =
        receive_tcp(&TcpReceive { flows: 1, windows: vec![] }, vec![listener.into()], &guard).expect("it waits");
    assert_eq!(ended, Ended::Stopped);
    stopper.join().expect("the stopper");
    let guard = Guard::new(PATIENCE_S, None, &|| true);
    let spec = UdpReceive { peer: None, most: 1, idle_s: None };
    assert_eq!(receive_udp(&spec, udp_socket().0, &guard).expect("it waits").0, Ended::Interrupted);
    let flow = UdpFlow {
        flow: 0,
        to: udp_socket().1,
        start_s: 10.0,
        stop_s: None,
        payload_bytes: 16,
        pattern: Pattern::Constant { interval_s: 1.0 },
    };
    let spec = UdpSend { flows: vec![flow], begin_ns: None, most: 10 };
    assert_eq!(send_udp(&spec, vec![udp_socket().0], &guard).expect("it waits").0, Ended::Interrupted);
    assert!(began.elapsed() < Duration::from_secs(8), "nothing waits for its time to be up");
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let to = SocketAddr::new(HERE, 9);
    let guard = Guard::new(1.0, None, &never);
    let tcp = |flow: TcpFlow| {
        let spec = TcpSend { flows: vec![flow], begin_ns: None, sample_s: None, nap_s: 5e-5, drain_s: 0.0 };
        send_tcp(&spec, vec![tcp_socket()], &guard).expect_err("it makes no sense").to_string()
    };
    assert_eq!(tcp(TcpFlow { size_bytes: Some(15), ..bulk(4, to) }), "flow 4: expected at least 16 B to send");
    assert_eq!(tcp(TcpFlow { window_bytes: Some(0), ..bulk(4, to) }), "flow 4: expected a window above zero");
    let pattern = Some(Pattern::Saturate);
    assert_eq!(
        tcp(TcpFlow { pattern, ..bulk(4, to) }),
        "flow 4: expected no pattern, with which it writes as fast as it can"
    );
    let pattern = Some(Pattern::Constant { interval_s: 0.0 });
    assert!(tcp(TcpFlow { pattern, ..bulk(4, to) }).contains("expected times above zero"));
    assert!(tcp(TcpFlow { start_s: 2.0, stop_s: Some(1.0), ..bulk(4, to) }).contains("a stop after it"));
    assert!(tcp(TcpFlow { start_s: f64::NAN, ..bulk(4, to) }).contains("a start that is not negative"));
    let udp = |payload_bytes, pattern| {
        let flow = UdpFlow { flow: 2, to, start_s: 0.0, stop_s: None, payload_bytes, pattern };
        let spec = UdpSend { flows: vec![flow], begin_ns: None, most: 1 };
        send_udp(&spec, vec![udp_socket().0], &guard).map(|_| ())
    };
    let small = udp(15, Pattern::Saturate).expect_err("it makes no sense");
    assert_eq!(small.to_string(), "flow 2: expected a payload from 16 to 65507 B");
    assert!(matches!(udp(16, Pattern::Constant { interval_s: -1.0 }), Err(Failure::Wrong(_))));
}

use super::*;
use crate::network::queue::FlowKey;
use crate::network::queue::tests::{IDLE, packet, site};
use crate::packet::{Kind, Packet};

const SPEC: CakeSpec = CakeSpec {
    limit: QueueLimit::Unlimited,
    target_s: 0.005,
    interval_s: 0.1,
    ecn: true,
    rate_bps: None,
    overhead: Overhead { bytes: 0, smallest_bytes: 0, cells: Cells::None },
    isolation: Isolation::TripleIsolate,
    tins: Tins::Besteffort,
    ack_filter: AckFilter::None,
};

fn cake(spec: CakeSpec) -> Cake {
    Cake::new(&spec, site())
}

fn between(flow: u64, (source, destination): (u64, u64), since_s: f64) -> Waiting {
    let waiting = packet(flow, since_s, 1000);
    Waiting { key: FlowKey { source, destination, ..waiting.key }, ..waiting }
}

/// How many packets of each flow go, of 3000 that leave while all flows have some; each with its hosts.
fn shares(isolation: Isolation, flows: &[(u64, u64)]) -> Vec<f64> {
    let mut queue = cake(CakeSpec { isolation, target_s: 1e3, interval_s: 1e4, ..SPEC });
    let mut lost = Lost::new();
    for _ in 0..3000 {
        for (flow, &hosts) in (0..).zip(flows) {
            queue.join(between(flow, hosts, 0.0), IDLE, &mut lost).expect("it takes all");
        }
    }
    let mut gone = vec![0.0; flows.len()];
    for _ in 0..3000 {
        let next = queue.next(Time::ZERO, &mut lost).expect("packets wait");
        gone[next.key.flow as usize] += 1.0 / 3000.0;
    }
    assert!(lost.is_empty());
    gone
}

/// Høiland-Jørgensen, Täht, Morton 2018 §III.B: hosts share, and their flows share what is theirs. A turn is at most a
/// quantum, of which each flow has had some hundreds: within 1 %.
#[test]
fn hosts_share_and_then_their_flows() {
    let is = |found: Vec<f64>, expected: &[f64]| {
        let near = found.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 0.01);
        assert!(near, "{found:?} instead of {expected:?}");
    };
    // One flow of host 1; three of host 2; all to one host.
    let uploads = [(1, 9), (2, 9), (2, 9), (2, 9)];
    is(shares(Isolation::Flows, &uploads), &[0.25, 0.25, 0.25, 0.25]);
    is(shares(Isolation::DualSrchost, &uploads), &[0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
    is(shares(Isolation::DualDsthost, &uploads), &[0.25, 0.25, 0.25, 0.25]);
    let downloads = uploads.map(|(source, destination)| (destination, source));
    is(shares(Isolation::DualDsthost, &downloads), &[0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
    // Triple isolation divides by the host with more flows: with one host on the other side there is nothing to divide.
    is(shares(Isolation::TripleIsolate, &uploads), &[0.25, 0.25, 0.25, 0.25]);
    let apart = [(1, 8), (2, 9), (2, 9), (2, 9)];
    is(shares(Isolation::TripleIsolate, &apart), &[0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
}

/// Eight flows whose hashes are alike have queues of their own; a ninth shares one.
#[test]
fn a_set_has_eight_ways() {
    let mut tin = Tin::new(&CakeSpec { target_s: 1.0, interval_s: 2.0, ..SPEC }, Some(125_000), 1.0);
    let mut queues = std::collections::BTreeSet::new();
    for flow in 0..9u64 {
        let waiting = packet(flow, 0.0, 100);
        // 1024 queues: these are at the same place.
        tin.push(waiting, 13 + 1024 * flow, AckFilter::None);
        queues.insert(tin.number_of(13 + 1024 * flow, &waiting.key));
        assert_eq!(queues.len(), 8.min(flow as usize + 1), "flow {flow}");
    }
    assert_eq!((queues.first(), queues.last()), (Some(&8), Some(&15)));
}

/// A shaper without bursts: packets go at intervals of their adjusted sizes, whatever the line.
#[test]
fn the_shaper_spaces_packets_by_their_adjusted_size() {
    let overhead = Overhead { bytes: 8, smallest_bytes: 0, cells: Cells::Atm };
    let mut queue = cake(CakeSpec { rate_bps: Some(1e6), overhead, target_s: 1e3, interval_s: 1e4, ..SPEC });
    let mut lost = Lost::new();
    for _ in 0..10 {
        queue.join(packet(0, 1.0, 1000), IDLE, &mut lost).expect("it takes all");
    }
    // 1008 bytes are 21 cells of 53.
    for number in 0..10u32 {
        let due_s = 1.0 + f64::from(number) * 8.0 * 21.0 * 53.0 / 1e6;
        assert!((queue.ready_s() - due_s).abs() < 1e-12, "{} {due_s}", queue.ready_s());
        assert!(queue.next(Time::new(queue.ready_s()), &mut lost).is_some());
    }
    // Idle time is not saved up.
    queue.join(packet(0, 5.0, 1000), IDLE, &mut lost).expect("it takes all");
    assert_eq!(queue.ready_s(), 5.0);
}

/// Linux's `cake_calc_overhead`.
#[test]
fn cells_and_overhead_count() {
    let of = |bytes, smallest_bytes, cells, size| Overhead { bytes, smallest_bytes, cells }.adjusted(size);
    assert_eq!(of(38, 84, Cells::None, 40), 84);
    assert_eq!(of(38, 84, Cells::None, 1500), 1538);
    assert_eq!([48, 49, 96, 97].map(|size| of(0, 0, Cells::Atm, size)), [53, 106, 106, 159]);
    assert_eq!([64, 65, 1500].map(|size| of(0, 0, Cells::Ptm, size)), [65, 67, 1524]);
}

/// Linux's tables, by the names of the code points.
#[test]
fn code_points_have_their_tins() {
    let four = |dscp| Tins::Diffserv4.of(dscp);
    let [cs0, le, cs1, af11, cs2, af21, cs3, af33, cs4, af41, cs5, va, ef, cs6, cs7] =
        [0, 1, 8, 10, 16, 18, 24, 30, 32, 34, 40, 44, 46, 48, 56];
    assert_eq!([cs0, af11].map(four), [0; 2]);
    assert_eq!([le, cs1].map(four), [1; 2]);
    assert_eq!([cs2, af21, cs3, af33, af41].map(four), [2; 5]);
    assert_eq!([cs4, cs5, va, ef, cs6, cs7].map(four), [3; 6]);
    let three = |dscp| Tins::Diffserv3.of(dscp);
    assert_eq!([cs0, cs2, af41, cs4, cs5].map(three), [0; 5]);
    assert_eq!([le, cs1].map(three), [1; 2]);
    assert_eq!([va, ef, cs6, cs7].map(three), [2; 4]);
    assert_eq!((Tins::Besteffort.of(ef), Tins::Besteffort.of(le)), (0, 0));
}

/// A tin within its share of the rate goes first; above it, it has that share while others wait.
#[test]
fn a_tin_has_priority_up_to_its_share() {
    let mut queue =
        cake(CakeSpec { rate_bps: Some(8e6), tins: Tins::Diffserv4, target_s: 1e3, interval_s: 1e4, ..SPEC });
    let mut lost = Lost::new();
    for number in 0..4000 {
        for dscp in [0, 46] {
            let waiting = packet(number % 2, 0.0, 1000);
            let key = FlowKey { dscp, ..waiting.key };
            queue.join(Waiting { key, ..waiting }, IDLE, &mut lost).expect("it takes all");
        }
    }
    let mut voice = 0.0;
    for number in 0..4000 {
        let next = queue.next(Time::new(queue.ready_s()), &mut lost).expect("packets wait");
        assert!(number > 0 || next.key.dscp == 46);
        voice += f64::from(u8::from(next.key.dscp == 46)) / 4000.0;
    }
    assert!((voice - 0.25).abs() < 0.01, "{voice}");
}

fn ack(number: u64, seq: u32, ace: u8, blocks: bool) -> Waiting {
    let packet = Packet::new(Kind::Ack, 0, seq, 40, 0.0).with_ace(ace);
    let packet = if blocks { packet.with_options(0, 12) } else { packet };
    // The time tells them apart.
    Waiting { packet, since_s: number as f64, key: FlowKey::default(), marked: false }
}

/// Which of ACKs in a row are dropped, as their numbers.
fn filtered(filter: AckFilter, acks: &[(u32, u8, bool)]) -> Vec<u64> {
    let mut queue = cake(CakeSpec { ack_filter: filter, ..SPEC });
    let mut lost = Lost::new();
    for (number, &(seq, ace, blocks)) in (0..).zip(acks) {
        queue.join(ack(number, seq, ace, blocks), IDLE, &mut lost).expect("it takes all");
    }
    assert_eq!(queue.load.packets + lost.len(), acks.len());
    lost.iter().map(|(waiting, _)| waiting.since_s as u64).collect()
}

/// Linux's `cake_ack_filter`.
#[test]
fn superfluous_acks_are_dropped() {
    let plain = |seqs: &[u32]| seqs.iter().map(|&seq| (seq, 0, false)).collect::<Vec<_>>();
    // Two must wait before the one that comes; with each that comes the first goes.
    assert_eq!(filtered(AckFilter::Normal, &plain(&[1, 2, 3, 4, 5])), [0, 1, 2]);
    assert_eq!(filtered(AckFilter::Aggressive, &plain(&[1, 2, 3, 4])), [0, 1, 2]);
    assert_eq!(filtered(AckFilter::None, &plain(&[1, 2, 3, 4])), [] as [u64; 0]);
    // Duplicates say that packets are missing.
    assert_eq!(filtered(AckFilter::Aggressive, &plain(&[3, 3, 3, 3])), [] as [u64; 0]);
    // What changes is kept: marks begin with the third.
    let marks = [(1, 0, false), (2, 0, false), (3, 1, false), (4, 1, false)];
    assert_eq!(filtered(AckFilter::Aggressive, &marks), [0, 2]);
    // So do counters: a mark more with the third, and none with the fourth.
    let counters = [(1, 5, false), (2, 5, false), (3, 6, false), (4, 6, false)];
    assert_eq!(filtered(AckFilter::Aggressive, &counters), [0, 2]);
    let all_marked = [(1, 5, false), (2, 6, false), (3, 7, false), (4, 0, false), (5, 1, false)];
    assert_eq!(filtered(AckFilter::Aggressive, &all_marked), [] as [u64; 0]);
    // SACK blocks are not thrown away, but say more than none.
    assert_eq!(filtered(AckFilter::Aggressive, &[(1, 0, true), (2, 0, true), (3, 0, false)]), [] as [u64; 0]);
    assert_eq!(filtered(AckFilter::Aggressive, &[(1, 0, false), (1, 0, true)]), [0]);
}

/// Data, other flows' ACKs: none of them is an ACK that waits behind.
#[test]
fn only_acks_of_the_same_flow_are_superfluous() {
    let mut tin = Tin::new(&CakeSpec { target_s: 1.0, interval_s: 2.0, ..SPEC }, Some(125_000), 1.0);
    for number in 0..20u64 {
        let waiting = if number % 2 == 0 { packet(0, 0.0, 1000) } else { ack(number, number as u32, 0, false) };
        // One queue for all.
        let key = FlowKey { flow: number % 4, ..FlowKey::default() };
        let shared = Waiting { key: FlowKey { flow: 0, ..key }, ..waiting };
        let superfluous =
            tin.push(if number % 2 == 0 { shared } else { Waiting { key, ..waiting } }, 0, AckFilter::Normal);
        assert!(superfluous.is_none_or(|ack| ack.packet.kind() == Kind::Ack && ack.key.flow == key.flow));
    }
}

/// At low rates one packet takes longer than the target: target and interval grow (Linux's `cake_set_rate`).
#[test]
fn the_target_of_slow_shapers_is_longer() {
    let law = |rate_bps| cake(CakeSpec { rate_bps, ..SPEC }).tins[0].law;
    assert_eq!((law(None).target, law(None).interval), (5_000_000, 100_000_000));
    assert_eq!(law(Some(1e8)).target, 5_000_000);
    // Half as long again as a packet of 1514 bytes takes at 1 Mbit/s, 12.112 ms, is 13.168 ms more than 5 ms.
    let slow = law(Some(1e6));
    assert_eq!((slow.target, slow.interval), (18_168_000, 113_168_000));
}

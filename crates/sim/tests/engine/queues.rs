//! Queue disciplines against what their sources say of them.

use crate::engine::common::networks::{AT_DEPARTURE, open_loop, with_queues};
use crate::engine::common::{
    cases, column, floats, flow, integers, link, packets, run, scenario, tcp, trace, udp, wire,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tightlink_sim::Scenario;
use tightlink_sim::network::queue::codel::CodelSpec;
use tightlink_sim::network::queue::fq_codel::FqCodelSpec;
use tightlink_sim::network::queue::pie::PieSpec;
use tightlink_sim::network::queue::red::{AdaptiveSpec, RedSpec};
use tightlink_sim::network::queue::threshold::ThresholdSpec;
use tightlink_sim::network::queue::{
    Arrival, FlowKey, Held, Load, Lost, Queue, QueueSpec, Refusal, Site, Verdict, Waiting,
};
use tightlink_sim::network::wire::Wire;
use tightlink_sim::packet::{Kind, Packet};
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::Event;
use tightlink_sim::scenario::{
    Ecn, FramingSpec, Intervals, Pace, Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec,
};
use tightlink_sim::tables::Column;
use tightlink_sim::time::Time;

const SITE: Site<'static> = Site {
    link: "wire",
    wire: Wire {
        rate_bps: 8e6,
        rate_pps: None,
        delay_s: 0.0,
        framing: FramingSpec { overhead_bytes: 0, smallest_bytes: 0 },
    },
    profile: Profile::Rfc,
    seed: 1,
    ns2: None,
};

fn codel(ecn: bool) -> QueueSpec {
    QueueSpec::Codel(CodelSpec { limit: QueueLimit::Unlimited, target_s: 0.005, interval_s: 0.1, ecn })
}

fn fq_codel() -> QueueSpec {
    let (target_s, interval_s) = (0.005, 0.1);
    QueueSpec::FqCodel(FqCodelSpec {
        limit: packets(10_240),
        target_s,
        interval_s,
        flows: 1024,
        quantum_bytes: 1514,
        ecn: false,
    })
}

fn pie() -> PieSpec {
    PieSpec { limit: packets(1000), target_s: 0.015, update_s: 0.015, burst_s: 0.15, ecn: false }
}

/// Thresholds of 5 and 15 packets, and no memory.
fn red() -> RedSpec {
    RedSpec {
        limit: packets(1000),
        min: 5.0,
        max: 15.0,
        in_bytes: false,
        weight: 1.0,
        max_probability: 0.1,
        gentle: true,
        wait: false,
        packet_bytes: 1000,
        adaptive: None,
        ecn: false,
    }
}

fn queue(spec: &QueueSpec) -> Queue {
    Queue::new(spec, SITE)
}

/// An arrival that finds so many packets of 1000 bytes waiting and one in service.
fn arrival(now_s: f64, waiting: usize, capable: bool) -> Arrival {
    let packets = waiting + 1;
    Arrival {
        now: Time::new(now_s),
        packets,
        bytes: 1000 * packets as u64,
        serving_bytes: 1000,
        free_s: now_s + packets as f64 * 0.001,
        size: 1000,
        capable,
    }
}

/// Packets that can be marked, each a millisecond after the other on the line, against twice as many arrivals:
/// the times at which CoDel drops, and those at which it marks.
fn overload_codel(ecn: bool, capable: bool, seconds: u32) -> (Vec<f64>, Vec<f64>) {
    let mut held = Held::new(&codel(ecn), SITE).expect("it holds its packets");
    let (mut lost, mut drops, mut marks) = (Lost::new(), Vec::new(), Vec::new());
    for millisecond in 0..1000 * seconds {
        let now_s = f64::from(millisecond) * 0.001;
        for since_s in [now_s - 0.0005, now_s].into_iter().filter(|&since_s| since_s >= 0.0) {
            let packet = Packet::new(Kind::Segment, 0, 0, 1000, 0.0);
            let packet = if capable { packet.capable() } else { packet };
            let waiting = Waiting { packet, since_s, key: FlowKey::default(), marked: false };
            assert!(held.join(waiting, Load { packets: 1, bytes: 1000 }, &mut lost).is_ok());
        }
        let next = held.next(Time::new(now_s), &mut lost).expect("packets wait");
        drops.extend(lost.drain(..).map(|_| now_s));
        marks.extend(next.marked.then_some(now_s));
    }
    (drops, marks)
}

/// When signals are due that follow the one at `first_s`, in seconds: after interval / √n by RFC 8289 §3.3, with the clock of
/// Linux's CoDel, 1024 ns, and its root, one step of Newton's method for each signal, of which 16 bits are kept.
fn codel_due_s(first_s: f64) -> impl Iterator<Item = f64> {
    let units = |seconds: f64| (seconds * 1e9 / 1024.0 + 1e-6).floor();
    let (mut due, mut root) = (units(first_s), 65_535.0 / 65_536.0);
    (2u32..).map(move |count| {
        let due_s = due * 1.024e-6;
        due += (units(0.1) * root).floor();
        root = (65_536.0 * root * (3.0 - f64::from(count) * root * root) / 2.0).floor() / 65_536.0;
        due_s
    })
}

/// Under a lasting overload drops follow the control law.
#[test]
fn codel_drops_by_its_control_law() {
    let (drops, _) = overload_codel(false, true, 5);
    // 5 ms in the queue are reached after 10 ms, and an interval later the first packet is lost.
    assert!((drops[0] - 0.110).abs() < 0.0015, "first drop at {} s", drops[0]);
    assert!(drops.len() > 500, "{} drops", drops.len());
    for (due_s, &drop_s) in codel_due_s(drops[0]).zip(&drops) {
        // Packets leave the queue each millisecond, and a drop waits for that.
        assert!((-1e-9..0.001 + 1e-9).contains(&(drop_s - due_s)), "a drop at {drop_s} instead of {due_s}");
    }
}

/// With ECN the same law chooses packets, which are marked and stay; one at a time, as each is the next on the line.
#[test]
fn codel_marks_what_can_be_marked() {
    let (drops, marks) = overload_codel(true, true, 2);
    assert!(drops.is_empty() && marks.len() > 60, "{} drops, {} marks", drops.len(), marks.len());
    for (due_s, &mark_s) in codel_due_s(marks[0]).zip(&marks) {
        assert!((-1e-9..0.001 + 1e-9).contains(&(mark_s - due_s)), "a mark at {mark_s} instead of {due_s}");
    }
    let (drops, marks) = overload_codel(true, false, 2);
    assert!(marks.is_empty() && drops.len() > 60, "{} drops, {} marks", drops.len(), marks.len());
    let (drops, marks) = overload_codel(false, true, 2);
    assert!(marks.is_empty() && drops.len() > 60, "{} drops, {} marks", drops.len(), marks.len());
}

/// Shares of arrivals that are dropped and marked, at a constant queue.
fn share(spec: RedSpec, waiting: usize, capable: bool) -> (f64, f64) {
    const ARRIVALS: u32 = 200_000;
    let mut queue = queue(&QueueSpec::Red(spec));
    let (mut drops, mut marks) = (0, 0);
    for index in 0..ARRIVALS {
        match queue.admit(&arrival(f64::from(index) * 0.001, waiting, capable)) {
            Verdict::Take => {}
            Verdict::Mark => marks += 1,
            Verdict::Refuse(Refusal::Managed) => drops += 1,
            Verdict::Refuse(other) => panic!("{other:?}"),
        }
    }
    (f64::from(drops) / f64::from(ARRIVALS), f64::from(marks) / f64::from(ARRIVALS))
}

/// Floyd and Jacobson 1993, §VII: with p at an average, the packets from drop to drop are even from 1 to
/// 1/p − 1; with `wait`, as ns-2 has it, from 1/p to 2/p − 1.
#[test]
fn red_drops_evenly_with_the_probability_of_its_average() {
    for (waiting, p) in [(6usize, 0.01), (7, 0.02), (10, 0.05), (15, 0.1), (20, 0.4), (25, 0.7)] {
        let (drops, _) = share(red(), waiting, false);
        let expected = 2.0 * p;
        if p <= 0.1 {
            assert!((drops / expected - 1.0).abs() < 0.02, "{waiting} waiting: {drops} instead of {expected}");
            let (waited, _) = share(RedSpec { wait: true, ..red() }, waiting, false);
            let expected = 1.0 / (1.5 / p - 0.5);
            assert!((waited / expected - 1.0).abs() < 0.02, "{waiting} waiting: {waited} instead of {expected}");
        } else {
            assert!(drops > p && drops < 2.0 * p, "{waiting} waiting: {drops} at {p}");
        }
    }
    assert_eq!(share(red(), 4, false), (0.0, 0.0), "below the lower threshold");
    let (drops, _) = share(red(), 30, false);
    assert!(drops > 0.9999, "twice the upper threshold: {drops}");
    let (drops, _) = share(RedSpec { gentle: false, ..red() }, 15, false);
    assert!(drops > 0.9999, "the upper threshold, not gentle: {drops}");
}

/// RFC 3168 §7: capable packets are marked up to the upper threshold, and dropped above it.
#[test]
fn red_marks_up_to_the_upper_threshold() {
    let marking = RedSpec { ecn: true, ..red() };
    let (drops, marks) = share(marking, 10, true);
    assert!(drops == 0.0 && (marks / 0.1 - 1.0).abs() < 0.02, "{drops} {marks}");
    let (drops, marks) = share(marking, 16, true);
    assert!(drops > 0.1 && marks == 0.0, "{drops} {marks}");
    let (drops, marks) = share(marking, 10, false);
    assert!(drops > 0.0 && marks == 0.0, "{drops} {marks}");
}

/// With thresholds in bytes, drops are in proportion to size: (size / packet) × p of each.
#[test]
fn red_in_bytes_spares_small_packets() {
    let spec = RedSpec { min: 5000.0, max: 15_000.0, in_bytes: true, ..red() };
    let mut queue = queue(&QueueSpec::Red(spec));
    let mut drops = [0u32; 2];
    for index in 0..400_000u32 {
        let small = index % 2 == 0;
        let size = if small { 100 } else { 1000 };
        let arrival = Arrival { size, ..arrival(f64::from(index) * 0.001, 7, false) };
        drops[usize::from(small)] += u32::from(queue.admit(&arrival) != Verdict::Take);
    }
    let ratio = f64::from(drops[0]) / f64::from(drops[1]);
    assert!((9.0..12.0).contains(&ratio), "{drops:?}");
}

/// Adaptive RED holds the average within its target, the middle fifth between the thresholds.
#[test]
fn adaptive_red_holds_the_average_in_the_middle() {
    let adaptive = Some(AdaptiveSpec { interval_s: 0.5, least: 0.01, most: 0.5 });
    // Recommended thresholds and weight for 10 Mbit/s, but for more packets.
    let spec = RedSpec { min: 20.0, max: 60.0, weight: 0.001, wait: true, adaptive, ..red() };
    for flows in [5, 40] {
        let queue = |adaptive| {
            let tables = run(&bulk(QueueSpec::Red(RedSpec { adaptive, ..spec }), flows, 1e7, 60.0));
            floats(&tables.links, "queue_mean_packets")[0]
        };
        let adapted = queue(adaptive);
        // The mean over the whole run, its start included, lies about the target of 36 to 44 packets.
        assert!((32.0..48.0).contains(&adapted), "{flows} flows: {adapted} packets");
        assert!((adapted - 40.0).abs() < (queue(None) - 40.0).abs(), "{flows} flows: {adapted}, {}", queue(None));
    }
}

/// RFC 8257 §3.1: marks where the queue as it is now is longer than the threshold.
#[test]
fn a_threshold_marks_what_comes_above_it() {
    let spec = QueueSpec::Threshold(ThresholdSpec { limit: packets(100), mark: packets(20) });
    let mut queue = queue(&spec);
    let mut verdict = |waiting, capable| queue.admit(&arrival(1.0, waiting, capable));
    assert_eq!(verdict(18, true), Verdict::Take);
    assert_eq!(verdict(19, true), Verdict::Mark);
    assert_eq!(verdict(19, false), Verdict::Take);
    assert_eq!(verdict(99, true), Verdict::Refuse(Refusal::Full));
}

/// §5.1 of RFC 8033: marks while the probability is small; §4.4: a burst may pass first.
#[test]
fn pie_lets_a_burst_pass_and_then_marks_or_drops() {
    let mut queue = queue(&QueueSpec::Pie(PieSpec { ecn: true, ..pie() }));
    let mut first_s = f64::NAN;
    let (mut marks, mut drops) = (0, 0);
    for index in 0..20_000u32 {
        let now_s = f64::from(index) * 0.001;
        match queue.admit(&arrival(now_s, 40, true)) {
            Verdict::Take => continue,
            Verdict::Mark => marks += 1,
            Verdict::Refuse(_) => drops += 1,
        }
        if first_s.is_nan() {
            first_s = now_s;
            assert_eq!((marks, drops), (1, 0), "marks come first");
        }
    }
    assert!((0.15..1.0).contains(&first_s), "the first at {first_s} s");
    assert!(marks > 20 && drops > 1000, "{marks} marks, {drops} drops");
}

/// So many bulk flows of TCP with packets of 1000 bytes through a link of `rate_bps`, 50 ms there and back.
fn bulk(queue: QueueSpec, flows: u32, rate_bps: f64, duration_s: f64) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, duration_s, 2 + 2 * flows);
    scenario.links = wire("wire", (0, 1), rate_bps, 0.02, QueueLimit::Unlimited).to_vec();
    scenario.links[0].queue = queue;
    for index in 0..flows {
        let (left, right) = (2 + 2 * index, 3 + 2 * index);
        scenario.links.extend(wire(&format!("left{index}"), (left, 0), 1e9, 0.0025, QueueLimit::Unlimited));
        scenario.links.extend(wire(&format!("right{index}"), (1, right), 1e9, 0.0025, QueueLimit::Unlimited));
        let mut tcp = tcp(Profile::Rfc, Recovery::Sack);
        tcp.payload_bytes = 948;
        let traffic = TrafficSpec::Bulk { bytes: None };
        let mut flow = flow(&scenario, "tcp", index, (left, right), traffic, TransportSpec::Tcp(tcp));
        flow.start_s = 0.013 * f64::from(index);
        scenario.flows.push(flow);
    }
    scenario
}

/// Mean time in the queue of a link (Little's law), and its utilization.
fn delay_and_utilization(queue: QueueSpec, flows: u32) -> (f64, f64) {
    let tables = run(&bulk(queue, flows, 1e7, 60.0));
    let packets_per_s = integers(&tables.links, "packets_out")[0] as f64 / 60.0;
    (floats(&tables.links, "queue_mean_packets")[0] / packets_per_s, floats(&tables.links, "utilization")[0])
}

/// In series as in the totals; where nothing marks there is no such series.
#[test]
fn marks_are_sampled_where_a_queue_may_mark() {
    let queues =
        [codel(true), QueueSpec::Pie(PieSpec { ecn: true, ..pie() }), QueueSpec::Red(RedSpec { ecn: true, ..red() })];
    for queue in queues {
        let mut scenario = bulk(queue, 3, 1e7, 6.0);
        scenario.observe.interval_s = Some(0.25);
        for flow in &mut scenario.flows {
            let TransportSpec::Tcp(tcp) = &mut flow.transport else { unreachable!("all are TCP") };
            tcp.ecn = Ecn::Classic;
            flow.stop_s = 5.0;
        }
        let tables = run(&scenario);
        let series = tables.series.expect("an interval was given");
        let Column::Category(metrics, names) = column(&series, "metric") else { panic!("words") };
        let samples = metrics.iter().zip(floats(&series, "value"));
        let marked: Vec<f64> = samples
            .filter(|(metric, _)| names[**metric as usize] == "packets_marked")
            .map(|(_, &value)| value)
            .collect();
        assert_eq!(marked.len(), 23, "of one link, each quarter of a second");
        let total = integers(&tables.links, "packets_marked")[0];
        assert!(total > 5);
        assert_eq!(marked.iter().sum::<f64>(), total as f64);
    }
}

#[test]
fn codel_holds_the_delay_near_its_target() {
    // A single Reno flow that halves its window with so short a queue leaves the link idle for a while.
    // The more flows, the more drops it takes, and the law is slow to find their rate.
    for (flows, most_s, least) in [(1, 0.01, 0.8), (4, 0.01, 0.9), (10, 0.02, 0.95)] {
        let (delay_s, utilization) = delay_and_utilization(codel(false), flows);
        assert!((0.001..most_s).contains(&delay_s), "{flows} flows: {delay_s} s");
        assert!(utilization > least, "{flows} flows: {utilization}");
    }
}

#[test]
fn pie_holds_the_delay_near_its_target() {
    for flows in [4, 10, 20] {
        let (delay_s, utilization) = delay_and_utilization(QueueSpec::Pie(pie()), flows);
        assert!((0.010..0.020).contains(&delay_s), "{flows} flows: {delay_s} s");
        assert!(utilization > 0.95, "{flows} flows: {utilization}");
    }
}

/// Two flows of different rates get equal shares, and a sparse one sees almost no queue: it waits for the packet
/// in service.
#[test]
fn fq_codel_shares_and_spares_the_sparse() {
    let throughput = |queue: Option<QueueSpec>| {
        let mut scenario = scenario(Profile::Rfc, 20.0, 2);
        scenario.links = vec![link("wire", (0, 1), 4e6, 0.01, packets(100))];
        scenario.links[0].queue = queue.unwrap_or_else(|| scenario.links[0].queue.clone());
        // 8 Mbit/s, 3 Mbit/s in smaller packets, and 40 kbit/s.
        for (index, (bytes, interval_s)) in [(1000, 0.001), (750, 0.002), (100, 0.02013)].into_iter().enumerate() {
            let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(interval_s), random: Intervals::Constant };
            let mut flow = flow(&scenario, "udp", index as u32, (0, 1), traffic, udp(bytes));
            // When the first packets of the others, which are new then, too, have gone.
            flow.start_s = if index == 2 { 1.0 } else { 0.0 };
            scenario.flows.push(flow);
        }
        let tables = run(&scenario);
        let latency_s = floats(&tables.flows, "one_way_delay_max_s")[2] - 0.01;
        (floats(&tables.flows, "throughput_bps").to_vec(), latency_s)
    };
    let (fair, sparse_s) = throughput(Some(fq_codel()));
    assert!((fair[0] / fair[1] - 1.0).abs() < 0.02, "{fair:?}");
    assert!((fair[2] / (800.0 / 0.02013) - 1.0).abs() < 0.01, "{fair:?}");
    // Its own transmission and at most that of the packet in service.
    assert!(sparse_s < 8.0 * 1100.0 / 4e6 + 1e-9, "{sparse_s} s");
    let (unfair, queued_s) = throughput(None);
    assert!(unfair[0] > 2.0 * unfair[1] && queued_s > 0.1, "{unfair:?} {queued_s}");
}

/// RFC 8290 §4.1: where all queues together are full, the fattest pays.
#[test]
fn fq_codel_drops_from_the_fattest_queue() {
    let spec = QueueSpec::FqCodel(FqCodelSpec {
        limit: packets(10),
        target_s: 10.0,
        interval_s: 100.0,
        flows: 1024,
        quantum_bytes: 1514,
        ecn: false,
    });
    let mut scenario = scenario(Profile::Rfc, 10.0, 2);
    scenario.links = vec![link("wire", (0, 1), 1e6, 0.0, packets(10))];
    scenario.links[0].queue = spec;
    for (index, interval_s) in [0.002, 0.05].into_iter().enumerate() {
        let traffic = TrafficSpec::Cbr { pace: Pace::IntervalS(interval_s), random: Intervals::Constant };
        scenario.flows.push(flow(&scenario, "udp", index as u32, (0, 1), traffic, udp(1000)));
    }
    let tables = run(&scenario);
    let dropped = integers(&tables.flows, "packets_dropped");
    assert!(dropped[0] > 1000 && dropped[1] == 0, "{dropped:?}");
}

/// The random networks of the other tests do make such queues drop.
#[test]
fn queues_that_decide_at_departure_are_put_to_work() {
    let mut runner = TestRunner::deterministic();
    let (mut managed, mut full) = (0, 0);
    // Of the 400 that each of them makes.
    for _ in 0..150 {
        let scenario = with_queues(open_loop(), &AT_DEPARTURE).new_tree(&mut runner).expect("a network").current();
        let (_, records) = trace(&scenario);
        let some = |wanted| i32::from(records.iter().any(|record| record.event == Event::Drop(wanted)));
        managed += some(DropReason::Management);
        full += some(DropReason::Queue);
    }
    assert!(managed > 20 && full > 20, "{managed} {full}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    /// Of every queue that holds its packets: none is lost but those that it says, each flow keeps its order, the limit
    /// holds, and while packets wait the line gets one as soon as a shaper lets it.
    #[test]
    fn queues_that_hold_packets_keep_them(
        queue in prop::sample::select(&AT_DEPARTURE[..]),
        step in 0u32..1000,
        limit in prop_oneof![(1u32..20).prop_map(QueueLimit::Packets), (1500u64..20_000).prop_map(QueueLimit::Bytes)],
        arrivals in prop::collection::vec((0u64..6, 40u32..1500, 0.0..0.004f64, 0usize..3), 1..200),
    ) {
        let idle = Load { packets: 0, bytes: 0 };
        let spec = queue(limit, step);
        let limit = if let QueueSpec::FqPie(fq_pie) = &spec { fq_pie.limit } else { limit };
        let mut held = Held::new(&spec, SITE).expect("it holds its packets");
        let (mut lost, mut now_s) = (Lost::new(), 0.0);
        let mut last = [0u32; 6];
        let (mut joined, mut refused, mut gone) = (0, 0, 0);
        let classes = [0, 46, 1, 8, 34, 0];
        for (number, (flow, size, pause_s, departures)) in (1u32..).zip(arrivals) {
            now_s += pause_s;
            let packet = Packet::new(Kind::Segment, 0, number, size, 0.0);
            let packet = if flow == 5 { packet.scalable() } else { packet };
            let key = FlowKey { flow, source: flow % 2, destination: flow % 3, dscp: classes[flow as usize] };
            match held.join(Waiting { packet, since_s: now_s, key, marked: false }, idle, &mut lost) {
                Ok(()) => joined += 1,
                Err(_) => refused += 1,
            }
            let waits = joined - gone - lost.len();
            match limit {
                QueueLimit::Packets(limit) => prop_assert!(waits <= limit as usize),
                // Each is 40 bytes at least.
                QueueLimit::Bytes(limit) => prop_assert!(waits as u64 <= limit / 40),
                QueueLimit::Unlimited => {}
            }
            for _ in 0..departures {
                now_s = now_s.max(held.ready_s());
                let Some(next) = held.next(Time::new(now_s), &mut lost) else {
                    prop_assert_eq!(joined, gone + lost.len());
                    continue;
                };
                let flow = next.key.flow as usize;
                prop_assert!(next.packet.seq() > last[flow], "flow {} in order", flow);
                last[flow] = next.packet.seq();
                prop_assert!(!next.marked || next.packet.is_capable());
                gone += 1;
            }
        }
        while held.next(Time::new(now_s.max(held.ready_s())), &mut lost).is_some() {
            gone += 1;
        }
        prop_assert_eq!(joined, gone + lost.len());
        prop_assert!(refused == 0 || joined > 0);
    }
}

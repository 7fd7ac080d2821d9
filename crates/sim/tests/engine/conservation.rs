//! Nothing is lost but what is counted as lost: the tables of random networks against a count of their
//! packet traces.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::engine::common::networks::{
    ALL_OTHERS, BY_LENGTH, chains, closed_loop, dumbbells, open_loop, with_flow_control, with_processors, with_queues,
};
use crate::engine::common::reference::shortest_path;
use crate::engine::common::{
    Tables, Unfused, cases, column, floats, flow, integers, known, packets, run, run_with, scenario, tcp, trace, wire,
};
use proptest::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::scenario::{LinkSpec, Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec};
use tightlink_sim::tables::{Column, Table};

/// What a trace says about one link.
#[derive(Debug, Default)]
struct LinkCount {
    admitted: Vec<Admitted>,
    /// Numbers of the packets that left the queue, with the time.
    dequeued: Vec<(u64, f64)>,
    /// Numbers of the packets that reached the other end or were lost on the way, with the time.
    arrived: Vec<(u64, f64)>,
    dropped: usize,
    lost: usize,
    /// By the ring at the far end.
    refused: usize,
}

#[derive(Debug)]
struct Admitted {
    uid: u64,
    at_s: f64,
    size: u32,
}

fn count_links(scenario: &Scenario, records: &[Record]) -> Vec<LinkCount> {
    let mut links: Vec<LinkCount> = scenario.links.iter().map(|_| LinkCount::default()).collect();
    for record in records {
        let link = &mut links[record.link as usize];
        let at_s = record.time.seconds();
        match record.event {
            Event::Enqueue => link.admitted.push(Admitted { uid: record.uid, at_s, size: record.size }),
            Event::Dequeue => link.dequeued.push((record.uid, at_s)),
            Event::Receive => link.arrived.push((record.uid, at_s)),
            Event::Drop(DropReason::Wire) => {
                link.lost += 1;
                link.arrived.push((record.uid, at_s));
            }
            Event::Drop(DropReason::InputRing) => {
                // Else the socket of its own host refused it.
                link.refused += usize::from(link.arrived.last().is_some_and(|&(uid, _)| uid == record.uid));
            }
            Event::Drop(DropReason::Queue | DropReason::OutputRing | DropReason::Management) => {
                // A drop is noted as an arrival at the queue, too; of a queue that decides at departure, before.
                let place = link.admitted.iter().rposition(|packet| packet.uid == record.uid);
                link.admitted.remove(place.expect("it arrived"));
                link.dropped += 1;
            }
        }
    }
    links
}

fn transmission_s(link: &LinkSpec, size: u32) -> f64 {
    if let Some(packets_per_s) = link.rate_pps {
        return 1.0 / packets_per_s;
    }
    let frame = (size + link.framing.overhead_bytes).max(link.framing.smallest_bytes);
    8.0 * f64::from(frame) / link.rate_bps
}

/// Whether packets of different flows or classes may overtake each other.
fn changes_order(link: &LinkSpec) -> bool {
    link.queue.decides_at_departure() && !matches!(link.queue, QueueSpec::Codel(_) | QueueSpec::Cobalt(_))
}

/// Whether a link may be idle while packets wait.
fn pauses(link: &LinkSpec) -> bool {
    link.flow_control || matches!(&link.queue, QueueSpec::Cake(spec) if spec.rate_bps.is_some())
}

/// The packets that a link admits in the order in which it serves them, and those that wait to the end.
fn in_order_of_service<'a>(link: &LinkSpec, count: &'a LinkCount) -> Vec<&'a Admitted> {
    let mut order: Vec<&Admitted> = count.admitted.iter().collect();
    if changes_order(link) {
        // A packet that takes a detour may come by more than once.
        let mut places: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (place, &(uid, _)) in count.dequeued.iter().enumerate() {
            places.entry(uid).or_default().push_back(place);
        }
        order.sort_by_cached_key(|packet| {
            places.get_mut(&packet.uid).and_then(VecDeque::pop_front).unwrap_or(usize::MAX)
        });
    }
    order
}

/// Every link serves what it admits in order, but for fair queueing, without overlap, and without a pause unless
/// it has flow control or a shaper; and its row of the table says so.
fn links_conserve(scenario: &Scenario, table: &Table, records: &[Record]) -> Result<(), TestCaseError> {
    let end_s = scenario.duration_s;
    for (index, (link, count)) in scenario.links.iter().zip(count_links(scenario, records)).enumerate() {
        let row = |name| integers(table, name)[index] as usize;
        let mut free_s = 0.0f64;
        let mut inside = 0;
        let mut sizes = 0u64;
        for (place, packet) in in_order_of_service(link, &count).into_iter().enumerate() {
            let transmission_s = transmission_s(link, packet.size);
            let mut start_s = packet.at_s.max(free_s);
            if pauses(link) {
                // When the ring at its far end, or its shaper, let it.
                let begun = count.dequeued.get(place).map_or(end_s, |&(_, begun_s)| begun_s);
                prop_assert!(begun >= start_s.min(end_s), "{} overlaps at {:?}", link.name, packet);
                start_s = begun;
            }
            free_s = start_s + transmission_s;
            let delivery_s = start_s + (transmission_s + link.delay_s);
            // First in, first out; what happens after the end does not happen.
            let expected = |at_s: f64| (at_s < end_s).then_some((packet.uid, at_s));
            prop_assert_eq!(count.dequeued.get(place).copied(), expected(start_s), "{} serves {:?}", link.name, packet);
            prop_assert_eq!(
                count.arrived.get(place).copied(),
                expected(delivery_s),
                "{} delivers {:?}",
                link.name,
                packet
            );
            if free_s >= end_s {
                inside += 1;
                sizes += u64::from(packet.size);
            }
        }
        prop_assert_eq!(row("packets_in"), count.admitted.len() + count.dropped);
        prop_assert_eq!(row("packets_lost"), count.lost);
        prop_assert_eq!(row("packets_dropped"), count.dropped + count.lost);
        prop_assert_eq!(row("packets_in"), count.dropped + row("packets_out") + inside);
        let bytes: u64 = count.admitted.iter().map(|packet| u64::from(packet.size)).sum();
        prop_assert_eq!(row("bytes_out") as u64, bytes - sizes);
        let ns2s_red = matches!(link.queue, QueueSpec::Red(_)) && scenario.profile == Profile::Ns2;
        match link.queue.limit() {
            // It counts otherwise.
            QueueLimit::Packets(_) if ns2s_red => {}
            QueueLimit::Packets(limit) => {
                // While it pauses, none is in service.
                let waiting = if pauses(link) { limit } else { limit.max(1) - 1 };
                prop_assert!(inside <= limit as usize && row("queue_max_packets") <= waiting as usize)
            }
            QueueLimit::Bytes(limit) => prop_assert!(sizes <= limit),
            QueueLimit::Unlimited => prop_assert!(count.dropped == 0 || !matches!(link.queue, QueueSpec::DropTail(_))),
        }
        let utilization = floats(table, "utilization")[index];
        prop_assert!((0.0..=1.0 + 1e-12).contains(&utilization), "utilization {}", utilization);
        // A queue that is full throughout is as long as it ever was, but for rounding.
        prop_assert!(floats(table, "queue_mean_packets")[index] <= row("queue_max_packets") as f64 + 1e-9);
    }
    Ok(())
}

/// What a trace says about the packets in a flow's direction.
#[derive(Debug, Default)]
struct FlowCount {
    /// For each packet, how many links it has crossed.
    crossed: HashMap<u64, usize>,
    dropped: BTreeSet<u64>,
    /// Sequence numbers in the order of sending.
    sent: Vec<u32>,
    arrived: BTreeSet<u32>,
    /// The first number that is missing, and when the one before it came.
    next: u32,
    advanced_s: f64,
    delivered: usize,
    acks: Vec<u32>,
}

fn count_flows(scenario: &Scenario, paths: &[Vec<usize>], records: &[Record]) -> Vec<FlowCount> {
    let mut flows: Vec<FlowCount> = scenario.flows.iter().map(|_| FlowCount::default()).collect();
    for record in records {
        let (flow, length) = (&mut flows[record.flow as usize], paths[record.flow as usize].len());
        if record.kind == Kind::Ack {
            if record.event == Event::Enqueue
                && scenario.links[record.link as usize].from == scenario.flows[record.flow as usize].to
            {
                flow.acks.push(record.seq);
            }
            continue;
        }
        match record.event {
            Event::Enqueue => {
                flow.crossed.entry(record.uid).or_insert_with(|| {
                    flow.sent.push(record.seq);
                    0
                });
            }
            Event::Dequeue => {}
            Event::Receive => {
                let crossed = flow.crossed.get_mut(&record.uid).expect("it was sent");
                *crossed += 1;
                if *crossed == length {
                    flow.delivered += 1;
                    flow.arrived.insert(record.seq);
                    if record.seq == flow.next {
                        flow.advanced_s = record.time.seconds();
                        flow.next = (flow.next..).find(|seq| !flow.arrived.contains(seq)).expect("one is missing");
                    }
                }
            }
            Event::Drop(_) => {
                flow.dropped.insert(record.uid);
            }
        }
    }
    flows
}

/// A packet that a flow sent has arrived, was dropped, or is on its way.
fn flows_conserve(scenario: &Scenario, table: &Table, records: &[Record]) -> Result<(), TestCaseError> {
    let path = |flow: &tightlink_sim::scenario::FlowSpec| match &flow.path {
        Some(path) => path.iter().map(|&link| link as usize).collect(),
        None => shortest_path(scenario, flow.from, flow.to),
    };
    let paths: Vec<_> = scenario.flows.iter().map(path).collect();
    for (index, count) in count_flows(scenario, &paths, records).iter().enumerate() {
        let row = |name| integers(table, name)[index] as usize;
        let on_the_way =
            |(uid, crossed): &(&u64, &usize)| **crossed < paths[index].len() && !count.dropped.contains(uid);
        let in_flight = count.crossed.iter().filter(on_the_way).count();
        prop_assert_eq!(row("packets_sent"), count.crossed.len());
        prop_assert_eq!(row("packets_delivered"), count.delivered);
        prop_assert_eq!(row("packets_dropped"), count.dropped.len());
        prop_assert_eq!(row("packets_sent"), row("packets_delivered") + row("packets_dropped") + in_flight);
        prop_assert!(count.acks.is_sorted(), "ACKs fall back");
        shares_are_whole(scenario, table, index)?;
        let spec = &scenario.flows[index];
        let (TransportSpec::Tcp(tcp), TrafficSpec::Bulk { bytes }) = (&spec.transport, &spec.traffic) else { continue };
        // Goodput is what arrived without a gap; packet 0 is the SYN.
        let in_order = (1u64..).take_while(|&seq| count.arrived.contains(&(seq as u32))).count() as u64;
        let payload = (in_order * u64::from(tcp.payload_bytes)).min(bytes.unwrap_or(u64::MAX));
        let seconds = floats(table, "stop_s")[index].max(count.advanced_s) - spec.start_s;
        prop_assert_eq!(floats(table, "goodput_bps")[index], payload as f64 * 8.0 / seconds);
        // The third step of the handshake repeats the number of the SYN and is no retransmission.
        let different: BTreeSet<_> = count.sent.iter().collect();
        let repeated = count.sent.len() - different.len() - row("packets_retransmitted");
        let data_sent = different.len() > 1;
        let expected = if scenario.profile == Profile::Ns2 { 0..=0 } else { usize::from(data_sent)..=1 };
        prop_assert!(expected.contains(&repeated), "{} repetitions, {:?} expected", repeated, expected);
    }
    Ok(())
}

/// The reasons why a flow is slow share its time among themselves.
fn shares_are_whole(scenario: &Scenario, table: &Table, flow: usize) -> Result<(), TestCaseError> {
    let names = table.columns.iter().map(|(name, _)| *name).filter(|name| name.starts_with("limited_by_"));
    let shares: BTreeMap<_, _> = names.map(|name| (name, floats(table, name)[flow])).collect();
    prop_assert_eq!(shares.len(), 7);
    prop_assert!(shares.values().all(|share| (0.0..=1.0).contains(share)), "{:?}", shares);
    prop_assert!((shares.values().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", shares);
    if matches!(scenario.flows[flow].traffic, TrafficSpec::Bulk { bytes: None }) {
        prop_assert_eq!(shares["limited_by_application"], 0.0, "an application that always has data");
    }
    Ok(())
}

/// The sampled windows stay within their bounds.
fn windows_are_sane(scenario: &Scenario, series: &Table) -> Result<(), TestCaseError> {
    let (Column::Category(entities, _), Column::Category(codes, metrics)) =
        (column(series, "entity"), column(series, "metric"))
    else {
        panic!("the series has categories");
    };
    // ns-2 halves a window of one packet.
    let smallest = if scenario.profile == Profile::Ns2 { 0.5 } else { 1.0 };
    for ((&entity, &code), &value) in entities.iter().zip(codes).zip(floats(series, "value")) {
        let flow = (entity as usize).checked_sub(scenario.links.len()).map(|flow| &scenario.flows[flow]);
        let Some(TransportSpec::Tcp(tcp)) = flow.map(|flow| &flow.transport) else { continue };
        match metrics[code as usize].as_str() {
            "cwnd_packets" => prop_assert!(value >= smallest, "congestion window {}", value),
            "ssthresh_packets" => prop_assert!(value >= 2.0, "threshold {}", value),
            "in_flight_packets" => prop_assert!((0.0..=tcp.window_packets).contains(&value), "{} in flight", value),
            _ => {}
        }
    }
    Ok(())
}

/// The distributions of delays are those of which flows and links have the quantiles.
fn distributions_have_the_quantiles(tables: &Tables) -> Result<(), TestCaseError> {
    let delays = tables.delays.as_ref().expect("the scenario asks for it");
    let (Column::Category(entities, _), Column::Category(of, kinds)) =
        (column(delays, "entity"), column(delays, "delay"))
    else {
        panic!("names in both")
    };
    let mut steps: BTreeMap<(u32, u32), Vec<(f64, i64)>> = BTreeMap::new();
    let rows = floats(delays, "at_most_s").iter().zip(integers(delays, "packets"));
    for ((key, kind), (&at_most_s, &count)) in entities.iter().zip(of).zip(rows) {
        steps.entry((*key, *kind)).or_default().push((at_most_s, count));
    }
    let flows = integers(&tables.flows, "flow").len();
    for entity in 0..flows + integers(&tables.links, "packets_in").len() {
        let (table, row) = if entity < flows { (&tables.flows, entity) } else { (&tables.links, entity - flows) };
        for (kind, name) in kinds.iter().enumerate().filter(|(_, name)| entity < flows || *name == "queueing_delay") {
            let own = steps.remove(&(entity as u32, kind as u32)).unwrap_or_default();
            prop_assert!(own.is_sorted_by(|one, next| one.0 <= next.0), "{:?}", own);
            let all: i64 = own.iter().map(|(_, count)| count).sum();
            for (quantile, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)] {
                let value_s = floats(table, &format!("{name}_{quantile}_s"))[row];
                let mut counted = 0;
                let step = own.iter().position(|(_, count)| {
                    counted += count;
                    counted as f64 >= (share * all as f64).ceil().max(1.0)
                });
                let Some(step) = step else {
                    prop_assert!(value_s.is_nan(), "{} of none: {}", name, value_s);
                    continue;
                };
                // Of the largest, the last class may be of what is nothing: then it is said to be nothing.
                let above_s = if step > 0 { own[step - 1].0 } else { f64::NEG_INFINITY };
                let holds = value_s >= above_s && (value_s <= own[step].0 || quantile == "max");
                prop_assert!(holds, "{} {}: {} beside {:?}", name, quantile, value_s, own);
            }
        }
    }
    prop_assert!(steps.is_empty(), "of nothing: {:?}", steps);
    Ok(())
}

fn conserves(scenario: &Scenario) -> Result<(), TestCaseError> {
    let mut sampled = scenario.clone();
    (sampled.observe.interval_s, sampled.observe.delays) = (Some(scenario.duration_s / 50.0), true);
    let (tables, records) = trace(&sampled);
    prop_assert!(records.is_sorted_by_key(|record| record.time));
    links_conserve(&sampled, &tables.links, &records)?;
    flows_conserve(&sampled, &tables.flows, &records)?;
    distributions_have_the_quantiles(&tables)?;
    windows_are_sane(&sampled, &tables.series.expect("an interval was given"))?;
    let arrived = records.iter().filter(|record| record.event == Event::Receive).count();
    prop_assert_eq!(tables.packet_hops, arrived as u64);
    let into_nodes: i64 = integers(&tables.nodes, "packets_in").iter().sum();
    prop_assert_eq!(into_nodes, arrived as i64);
    Ok(())
}

/// A host with a processor drops none of its own packets at its own link, unless the link takes no packet
/// of that size at all.
fn hosts_hold_their_packets(scenario: &Scenario, records: &[Record]) -> Result<(), TestCaseError> {
    let mut seen = BTreeSet::new();
    for record in records {
        let link = &scenario.links[record.link as usize];
        let own = match record.event {
            Event::Enqueue => {
                seen.insert((record.uid, record.link));
                continue;
            }
            // Its first link, where it was enqueued a moment ago, and nowhere before.
            Event::Drop(DropReason::Queue | DropReason::OutputRing) => {
                seen.range((record.uid, 0)..=(record.uid, u32::MAX)).count() == 1
            }
            _ => continue,
        };
        let takes = match link.queue.limit() {
            QueueLimit::Packets(limit) => limit > 1 || scenario.profile != Profile::Ns2,
            QueueLimit::Bytes(limit) => limit >= u64::from(record.size),
            QueueLimit::Unlimited => true,
        };
        let spec = &scenario.flows[record.flow as usize];
        let origin = if record.kind == Kind::Ack { spec.to } else { spec.from };
        // Room for a packet of another may be made at the cost of the host's own.
        let fair = changes_order(link);
        let held = own && takes && !fair && link.from == origin && scenario.nodes[origin as usize].processor.is_some();
        prop_assert!(!held, "{:?} dropped by its own host", record);
    }
    Ok(())
}

/// Every packet that was sent has arrived, was dropped, or is on a link or in a ring; what a processor was
/// offered it served, dropped or holds.
fn processors_conserve(scenario: &Scenario) -> Result<(), TestCaseError> {
    let mut sampled = scenario.clone();
    sampled.observe.interval_s = Some(scenario.duration_s / 20.0);
    let (tables, records) = trace(&sampled);
    links_conserve(&sampled, &tables.links, &records)?;
    hosts_hold_their_packets(&sampled, &records)?;
    let count = |table, name| integers(table, name).to_vec();
    let sum = |values: &[i64]| values.iter().sum::<i64>();
    let flow = |name| sum(&count(&tables.flows, name));
    let on_their_way = flow("packets_sent") - flow("packets_delivered") - flow("packets_dropped");
    let links: i64 =
        (count_links(scenario, &records).iter()).map(|link| (link.admitted.len() - link.arrived.len()) as i64).sum();
    let mut rings = 0;
    let [offered, served, refused] =
        ["packets_in", "packets_served", "dropped_input_ring"].map(|name| count(&tables.nodes, name));
    for (index, node) in scenario.nodes.iter().enumerate().filter(|(_, node)| node.processor.is_some()) {
        let held = offered[index] - served[index] - refused[index];
        prop_assert!(held >= 0, "{} holds {}", node.name, held);
        rings += held;
        let load = floats(&tables.nodes, "load_true")[index];
        prop_assert!(load >= 0.0 && load.is_finite(), "load {}", load);
        let reported = floats(&tables.nodes, "load_reported")[index];
        prop_assert!(reported.is_nan() || reported >= 0.0, "reported {}", reported);
    }
    for (link, count) in scenario.links.iter().zip(count_links(scenario, &records)) {
        prop_assert!(!link.flow_control || count.refused == 0, "the ring behind {} dropped", link.name);
    }
    let refused: i64 = refused.iter().sum();
    let noted = records.iter().filter(|record| record.event == Event::Drop(DropReason::InputRing)).count();
    prop_assert_eq!(refused, noted as i64);
    let without_acks = scenario.flows.iter().all(|flow| matches!(flow.transport, TransportSpec::Udp(_)));
    if without_acks {
        prop_assert_eq!(on_their_way, links + rings);
    } else {
        prop_assert!((0..=links + rings).contains(&on_their_way), "{} on their way", on_their_way);
    }
    for index in 0..scenario.flows.len() {
        shares_are_whole(scenario, &tables.flows, index)?;
    }
    // Nobody watching, and links evaluated ahead of time: the same.
    prop_assert_eq!(run(scenario).text(), run_with(scenario, Unfused).expect("the scenario is valid").text());
    let mut unsampled = tables.clone();
    unsampled.series = None;
    prop_assert_eq!(run(scenario).text(), unsampled.text());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(50), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_networks_conserve_packets(scenario in closed_loop()) {
        conserves(&scenario)?;
    }

    #[test]
    fn chains_conserve_packets(scenario in chains()) {
        conserves(&scenario)?;
    }

    #[test]
    fn dumbbells_conserve_packets(scenario in dumbbells()) {
        conserves(&scenario)?;
    }

    #[test]
    fn all_queues_conserve_packets(scenario in with_queues(closed_loop(), &ALL_OTHERS)) {
        conserves(&scenario)?;
    }

    #[test]
    fn all_queues_conserve_packets_behind_processors(
        scenario in with_processors(with_queues(closed_loop(), &ALL_OTHERS)),
    ) {
        processors_conserve(&scenario)?;
    }

    #[test]
    fn flow_control_conserves_packets_in_other_queues(
        scenario in with_flow_control(with_processors(with_queues(open_loop(), &BY_LENGTH))),
    ) {
        processors_conserve(&scenario)?;
    }

    #[test]
    fn processors_conserve_packets(scenario in with_processors(open_loop())) {
        processors_conserve(&scenario)?;
    }

    #[test]
    fn flow_control_conserves_packets(scenario in with_flow_control(with_processors(open_loop()))) {
        processors_conserve(&scenario)?;
    }

    #[test]
    fn flow_control_conserves_packets_of_tcp_too(scenario in with_flow_control(with_processors(closed_loop()))) {
        processors_conserve(&scenario)?;
    }

    #[test]
    fn processors_conserve_packets_of_tcp_too(scenario in with_processors(closed_loop())) {
        processors_conserve(&scenario)?;
    }

    /// Recovery never gets stuck: whatever the wire loses, all bytes arrive in the end.
    #[test]
    fn every_transfer_completes(
        profile in prop_oneof![Just(Profile::Ns2), Just(Profile::Rfc), Just(Profile::Linux)],
        recovery in prop::sample::select(Recovery::ALL.to_vec()),
        (window, initial_window, limit) in (1u32..40, 1u32..11, 2u32..30),
        (loss, reverse_loss) in (0.0..0.3, 0.0..0.3),
        (delayed_acks, limited_transmit, pacing) in (any::<bool>(), any::<bool>(), any::<bool>()),
        control in prop::sample::select(vec!["reno", "bbr", "bbr3"]),
        seed in any::<u64>(),
    ) {
        const PACKETS: u64 = 80;
        let mut scenario = scenario(profile, 100_000.0, 2);
        scenario.seed = seed;
        scenario.links = wire("wire", (0, 1), 1e6, 0.02, packets(limit)).to_vec();
        (scenario.links[0].loss, scenario.links[1].loss) = (f64::into(loss), f64::into(reverse_loss));
        let mut tcp = tcp(profile, known(recovery, profile));
        tcp.window_packets = f64::from(window);
        tcp.initial_window_packets = f64::from(initial_window);
        tcp.delayed_ack_s = delayed_acks.then_some(0.2);
        tcp.limited_transmit = limited_transmit;
        tcp.pacing = pacing;
        if recovery == Recovery::Sack {
            tcp.congestion = control.into();
        }
        let bytes = PACKETS * u64::from(tcp.payload_bytes);
        let traffic = TrafficSpec::Bulk { bytes: Some(bytes) };
        scenario.flows = vec![flow(&scenario, "tcp", 0, (0, 1), traffic, TransportSpec::Tcp(tcp))];
        let tables = run(&scenario);
        let stop_s = floats(&tables.flows, "stop_s")[0];
        prop_assert!(stop_s < 50_000.0, "not finished after {} s", stop_s);
        let delivered = floats(&tables.flows, "goodput_bps")[0] * stop_s / 8.0;
        prop_assert!((delivered - bytes as f64).abs() < 1e-3, "{} bytes", delivered);
    }
}

//! The same link and the same arrivals in the simulator.

use std::collections::HashMap;

use proptest::prelude::*;
use tightlink_relay::spec::{Device, PortSpec, RelaySpec, RouteSpec, RouterSpec};
use tightlink_relay::summary::LinkRow;
use tightlink_sim::Simulation;
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::network::queue::QueueSpec;
use tightlink_sim::network::queue::codel::CodelSpec;
use tightlink_sim::network::queue::drop_tail::DropTailSpec;
use tightlink_sim::network::queue::fq_codel::FqCodelSpec;
use tightlink_sim::network::queue::pie::PieSpec;
use tightlink_sim::network::queue::strict::StrictSpec;
use tightlink_sim::probe::DropReason;
use tightlink_sim::probe::trace::{Event, Record, Trace};
use tightlink_sim::scenario::{
    AggregatingSpec, ArqSpec, CourseSpec, FlowSpec, FramingSpec, Intervals, JitterDistribution, JitterSpec, LinkSpec,
    LossModel, LossSpec, NodeSpec, ObserveSpec, OutageSpec, OutageTimes, Pace, Profile, QueueLimit, RateSpec,
    ReorderSpec, Scenario, ShaperSpec, TraceSpec, TrafficSpec, TransportSpec, UdpSpec,
};
use tightlink_sim::tables::{self, Column, Table};
use tightlink_sim::time::Time;

use crate::world::Packet;

pub const DURATION_S: f64 = 0.5;

/// Which discipline the queues have.
#[derive(Clone, Copy, Debug)]
pub enum Discipline {
    DropTail,
    Pie,
    Codel,
    FqCodel,
    Strict,
}

impl Discipline {
    /// Its queue. Targets are short, as runs are.
    fn spec(self, limit: QueueLimit) -> QueueSpec {
        let (target_s, interval_s, ecn) = (0.003, 0.02, false);
        match self {
            Self::DropTail => QueueSpec::DropTail(DropTailSpec { limit }),
            Self::Pie => QueueSpec::Pie(PieSpec { limit, target_s, update_s: 0.004, burst_s: 0.01, ecn }),
            Self::Codel => QueueSpec::Codel(CodelSpec { limit, target_s, interval_s, ecn }),
            Self::FqCodel => {
                // So many queues that two flows hardly share one, as their hashes are others there and here.
                let (flows, quantum_bytes) = (1 << 20, 300);
                // Never full: which of two queues of the same length is shortened then depends on their hashes, too.
                let limit = QueueLimit::Packets(10_000);
                QueueSpec::FqCodel(FqCodelSpec { limit, target_s, interval_s, flows, quantum_bytes, ecn })
            }
            Self::Strict => QueueSpec::Strict(StrictSpec { limit, order: vec![0], mark: None }),
        }
    }
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    prop_oneof![
        2 => Just(Discipline::DropTail),
        1 => Just(Discipline::Pie),
        1 => Just(Discipline::Codel),
        1 => Just(Discipline::FqCodel),
        1 => Just(Discipline::Strict),
    ]
}

/// A stream of packets: from which port, their size, their interval and when it starts.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    port: usize,
    size: u32,
    interval_s: f64,
    start_s: f64,
}

/// A link, perhaps a router, and what is sent.
#[derive(Clone, Debug)]
pub struct Given {
    pub rates_bps: [f64; 2],
    pub delays_s: [f64; 2],
    pub limits: [u32; 2],
    pub in_bytes: bool,
    pub discipline: Discipline,
    pub loss: LossSpec,
    pub rate: Option<RateSpec>,
    pub jitter: Option<JitterSpec>,
    pub outages: Option<OutageSpec>,
    pub shaper: Option<ShaperSpec>,
    pub arq: Option<ArqSpec>,
    pub duplicate: f64,
    pub reorder: Option<ReorderSpec>,
    pub overtaking: bool,
    pub overhead_bytes: u32,
    pub processor: Option<ProcessorSpec>,
    pub streams: Vec<Stream>,
}

impl Given {
    /// A link of which nothing limits anything.
    pub fn plain() -> Self {
        Self {
            rates_bps: [1e9; 2],
            delays_s: [0.0; 2],
            limits: [100; 2],
            in_bytes: false,
            discipline: Discipline::DropTail,
            loss: 0.0.into(),
            rate: None,
            jitter: None,
            outages: None,
            shaper: None,
            arq: None,
            duplicate: 0.0,
            reorder: None,
            overtaking: false,
            overhead_bytes: 0,
            processor: None,
            streams: Vec::new(),
        }
    }
}

pub fn costs(per_packet_s: f64, ring: u32) -> ProcessorSpec {
    ProcessorSpec {
        per_packet_s,
        per_byte_s: 0.0,
        interrupt_s: 0.0,
        input_ring: QueueLimit::Packets(ring),
        output_ring: true,
        receive: false,
        background: None,
        guaranteed: 0.0,
        meter: None,
    }
}

fn losses() -> impl Strategy<Value = LossSpec> {
    let bursts = LossModel::GilbertElliott { to_bad: 0.1, to_good: 0.3, loss_good: 0.01, loss_bad: 0.8 };
    let pattern = LossModel::Pattern { packets: vec![1, 5], every: Some(7), from_s: 0.1, until_s: Some(0.4) };
    let schedule = LossModel::Schedule { at_s: vec![0.0, 0.05], loss: vec![0.0, 0.5], period_s: Some(0.1) };
    let models = [bursts, pattern, schedule, LossModel::BitErrors { rate: 1e-5 }];
    let shares = prop::sample::select(vec![0.0, 0.2]).prop_map(LossSpec::from);
    prop_oneof![shares, prop::sample::select(models.to_vec()).prop_map(LossSpec::Model)]
}

fn rates() -> impl Strategy<Value = Option<RateSpec>> {
    let steps = CourseSpec::Schedule {
        at_s: vec![0.0, 0.03, 0.07],
        values: vec![1e6, 0.0, 4e6],
        linear: false,
        period_s: Some(0.11),
    };
    let walk = CourseSpec::RandomWalk { start: 2e6, every_s: 0.01, deviation: 0.4, least: 3e5, most: 9e6 };
    let trace = RateSpec::Trace(TraceSpec { trace_ms: vec![0, 2, 2, 7, 20] });
    let air = RateSpec::Aggregating(AggregatingSpec { access_s: 0.002, burst_packets: 4 });
    prop::option::of(prop::sample::select(vec![RateSpec::Course(steps), RateSpec::Course(walk), trace, air]))
}

fn jitters() -> impl Strategy<Value = Option<JitterSpec>> {
    let distribution = JitterDistribution::Uniform { most_s: 0.01 };
    prop::option::of(prop::sample::select(vec![
        JitterSpec { distribution: distribution.clone(), correlation_s: None },
        JitterSpec { distribution, correlation_s: Some(0.05) },
    ]))
}

/// Outages that keep the queue or not, a token bucket, and frames that are retransmitted.
fn mechanisms() -> impl Strategy<Value = (Option<OutageSpec>, Option<ShaperSpec>, Option<ArqSpec>)> {
    let schedule = OutageTimes::Schedule { at_s: vec![0.05, 0.21], for_s: vec![0.03, 0.01], period_s: None };
    let random = OutageTimes::Random { up_s: 0.1, down_s: 0.02 };
    let outages = (prop::sample::select(vec![schedule, random]), any::<bool>());
    (
        prop::option::of(outages.prop_map(|(times, flush)| OutageSpec { times, flush })),
        prop::option::weighted(0.3, Just(ShaperSpec { rate_bps: 8e5, burst_bytes: 4000 })),
        prop::option::weighted(0.3, Just(ArqSpec { after_s: 0.004, most: 2 })),
    )
}

/// Packets that come twice, take a longer way, or overtake each other.
fn disorder() -> impl Strategy<Value = (f64, Option<ReorderSpec>, bool)> {
    (
        prop_oneof![2 => Just(0.0), 1 => Just(0.2)],
        prop::option::weighted(0.3, Just(ReorderSpec { probability: 0.1, delay_s: 0.008 })),
        any::<bool>(),
    )
}

/// Links that are overloaded or not, with long and short queues.
pub fn given() -> impl Strategy<Value = Given> {
    let stream = (0..2usize, 40..1500u32, 0.001..0.02f64, 0.0..0.1f64)
        .prop_map(|(port, size, interval_s, start_s)| Stream { port, size, interval_s, start_s });
    let costs = (1e-4..5e-3f64, 0.0..1e-6f64, prop::sample::select(vec![0.0, 3e-5]), 1..20u32).prop_map(
        |(per_packet_s, per_byte_s, interrupt_s, ring)| ProcessorSpec {
            per_byte_s,
            interrupt_s,
            ..costs(per_packet_s, ring)
        },
    );
    (
        [2e5..1e7f64, 2e5..1e7f64],
        [0.0..0.05f64, 0.0..0.05f64],
        [1..30u32, 1..30u32],
        (any::<bool>(), disciplines()),
        (losses(), rates(), jitters(), mechanisms(), disorder()),
        0..50u32,
        prop::option::of(costs),
        prop::collection::vec(stream, 1..6),
    )
        .prop_map(
            |(
                rates_bps,
                delays_s,
                limits,
                (in_bytes, discipline),
                (loss, rate, jitter, (outages, shaper, arq), (duplicate, reorder, overtaking)),
                overhead_bytes,
                processor,
                streams,
            )| Given {
                rates_bps,
                delays_s,
                limits,
                in_bytes,
                discipline,
                loss,
                rate,
                jitter,
                outages,
                shaper,
                arq,
                duplicate,
                reorder,
                overtaking,
                overhead_bytes,
                processor,
                streams,
            },
        )
}

fn link(name: &str, ends: (u32, u32), rate_bps: f64, delay_s: f64, limit: QueueLimit) -> LinkSpec {
    LinkSpec::plain(name, ends, rate_bps, delay_s, limit)
}

/// The link from a node to another, and back.
pub fn both(given: &Given, name: &str, (from, to): (u32, u32)) -> [LinkSpec; 2] {
    [(name.to_owned(), (from, to)), (format!("{name}.reverse"), (to, from))].map(|(name, ends)| {
        let way = usize::from(ends != (from, to));
        let limit = given.limits[way];
        let limit =
            if given.in_bytes { QueueLimit::Bytes(u64::from(limit) * 1000) } else { QueueLimit::Packets(limit) };
        let framing = FramingSpec { overhead_bytes: given.overhead_bytes, smallest_bytes: 0 };
        LinkSpec {
            loss: given.loss.clone(),
            rate: given.rate.clone(),
            jitter: given.jitter.clone(),
            outages: given.outages.clone(),
            shaper: given.shaper,
            arq: given.arq,
            duplicate: given.duplicate,
            reorder: given.reorder,
            overtaking: given.overtaking,
            framing,
            queue: given.discipline.spec(limit),
            ..link(&name, ends, given.rates_bps[way], given.delays_s[way], limit)
        }
    })
}

/// The link from node 1 to node 2, and back.
fn bottleneck(given: &Given) -> [LinkSpec; 2] {
    both(given, "bottleneck", (1, 2))
}

/// A packet of so many bytes each interval.
pub fn constant(index: usize, (from, to): (usize, usize), size: u32, interval_s: f64, start_s: f64) -> FlowSpec {
    FlowSpec {
        label: format!("cbr[{index}]"),
        group: "cbr".to_owned(),
        index: index as u32,
        from: from as u32,
        to: to as u32,
        start_s,
        stop_s: DURATION_S,
        path: None,
        reverse_path: None,
        spraying: None,
        dscp: 0,
        traffic: TrafficSpec::Cbr { pace: Pace::IntervalS(interval_s), random: Intervals::Constant },
        transport: TransportSpec::Udp(UdpSpec {
            payload_bytes: size,
            header_bytes: 0,
            fragment_header_bytes: 0,
            sizes: Vec::new(),
            ecn: None,
        }),
    }
}

pub fn scenario(nodes: Vec<NodeSpec>, links: Vec<LinkSpec>, flows: Vec<FlowSpec>) -> Scenario {
    Scenario {
        profile: Profile::Rfc,
        duration_s: DURATION_S,
        seed: 1,
        nodes,
        links,
        flows,
        users: Vec::new(),
        scatter: Vec::new(),
        transfers: Vec::new(),
        observe: ObserveSpec::default(),
    }
}

/// The way from a port to another, which takes no longer than its links do.
pub fn route((from, to): (usize, usize), links: Vec<usize>) -> RouteSpec {
    let gaps_s = vec![0.0; links.len().saturating_sub(1)];
    RouteSpec { from, to, between: None, before_s: 0.0, links, gaps_s, beyond_s: 0.0 }
}

/// The relay that is to do the same.
pub fn spec(given: &Given) -> RelaySpec {
    RelaySpec {
        profile: Profile::Rfc,
        seed: 1,
        begins_ns: None,
        duration_s: Some(DURATION_S),
        nodes: ["sender", "router", "receiver"].map(str::to_owned).to_vec(),
        links: bottleneck(given).to_vec(),
        ports: ["router", "receiver"].map(|node| PortSpec { node: node.to_owned(), addresses: Vec::new() }).to_vec(),
        routes: [0, 1].map(|from| route((from, 1 - from), vec![from])).to_vec(),
        processor: given.processor.clone().map(|processor| RouterSpec {
            node: "router".to_owned(),
            processor,
            port: 0,
            burn: false,
        }),
        device: Device::Datagram,
        lateness_bound_s: 1e-3,
        spin_share: 0.5,
    }
}

/// What the simulator did.
#[derive(Debug)]
pub struct Simulated {
    pub arrivals: [Vec<Packet>; 2],
    pub deliveries: [Vec<Packet>; 2],
    /// By queue, output ring, input ring, wire, queue management.
    pub losses: [[usize; 5]; 2],
    pub links: [Totals; 2],
    /// Load and packets dropped by input rings.
    pub node: Option<(f64, u64)>,
}

#[derive(Debug)]
pub struct Totals {
    pub packets_in: u64,
    pub packets_out: u64,
    pub packets_dropped: u64,
    pub bytes_out: u64,
    pub queue_max_packets: u64,
    pub utilization: f64,
    pub queue_mean_packets: f64,
}

/// Numbers that only differ by the order of additions.
pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1e-3)
}

impl Totals {
    /// A row of the table `links`.
    pub fn of(links: &Table, row: usize) -> Self {
        Self {
            packets_in: integer(links, "packets_in", row),
            packets_out: integer(links, "packets_out", row),
            packets_dropped: integer(links, "packets_dropped", row),
            bytes_out: integer(links, "bytes_out", row),
            queue_max_packets: integer(links, "queue_max_packets", row),
            utilization: float(links, "utilization", row),
            queue_mean_packets: float(links, "queue_mean_packets", row),
        }
    }

    /// Whether a relay says the same.
    pub fn agrees(&self, row: &LinkRow) -> bool {
        let found = (row.packets_in, row.packets_out, row.packets_dropped, row.bytes_out, row.queue_max_packets);
        found == (self.packets_in, self.packets_out, self.packets_dropped, self.bytes_out, self.queue_max_packets)
            && close(row.utilization, self.utilization)
            && close(row.queue_mean_packets, self.queue_mean_packets)
    }
}

fn integer(table: &Table, name: &str, row: usize) -> u64 {
    match &table.columns.iter().find(|(column, _)| *column == name).unwrap().1 {
        Column::Integer(values) => values[row] as u64,
        other => panic!("{name} is {other:?}"),
    }
}

fn float(table: &Table, name: &str, row: usize) -> f64 {
    match &table.columns.iter().find(|(column, _)| *column == name).unwrap().1 {
        Column::Float(values) => values[row],
        other => panic!("{name} is {other:?}"),
    }
}

/// Simulates it: the links of the scenario are bottleneck, its reverse, access and its reverse.
pub fn simulate(given: &Given) -> Simulated {
    let mut links = bottleneck(given).to_vec();
    let unlimited = QueueLimit::Unlimited;
    links.push(link("access", (0, 1), 1e12, 0.0, unlimited));
    links.push(link("access.reverse", (1, 0), 1e12, 0.0, unlimited));
    let mut nodes: Vec<NodeSpec> =
        ["sender", "router", "receiver"].map(|name| NodeSpec { name: name.to_owned(), processor: None }).into();
    nodes[1].processor = given.processor.clone();
    let flow = |(index, stream): (usize, &Stream)| {
        let ends = ([0, 2][stream.port], [2, 0][stream.port]);
        constant(index, ends, stream.size, stream.interval_s, stream.start_s)
    };
    let scenario = scenario(nodes, links, given.streams.iter().enumerate().map(flow).collect());
    let mut records = Vec::new();
    let mut keep = |record: &Record| records.push(*record);
    let probe = Trace::new(scenario.links.len(), scenario.flows.len(), &mut keep);
    let mut simulation = Simulation::new(&scenario, probe).expect("the scenario is valid");
    simulation.run(|_| false).expect("nobody interrupts");
    let (links, nodes) = (tables::links(&simulation), tables::nodes(&simulation));
    drop(simulation);
    // What came twice is the same packet.
    let mut first = HashMap::new();
    for record in &records {
        first.entry((record.flow, record.seq)).or_insert(record.uid);
    }
    let packets = |link: u32, event: Event| -> Vec<Packet> {
        let found = records.iter().filter(|record| (record.link, record.event) == (link, event));
        found
            .map(|record| Packet {
                at: record.time,
                size: record.size,
                number: first[&(record.flow, record.seq)] as u32,
                flow: record.flow + 1,
                to: 0,
                ack: false,
            })
            .collect()
    };
    let from = |port: usize| move |record: &&Record| given.streams[record.flow as usize].port == port;
    let losses = [0, 1].map(|port| {
        let reasons = [
            DropReason::Queue,
            DropReason::OutputRing,
            DropReason::InputRing,
            DropReason::Wire,
            DropReason::Management,
        ];
        reasons.map(|reason| {
            records.iter().filter(from(port)).filter(|record| record.event == Event::Drop(reason)).count()
        })
    });
    let behind_router = if given.processor.is_some() { packets(3, Event::Enqueue) } else { packets(1, Event::Receive) };
    Simulated {
        // What the access link delivers comes to the router; what comes to the link from behind has passed nothing.
        arrivals: [packets(2, Event::Receive), packets(1, Event::Enqueue)],
        deliveries: [
            packets(0, Event::Receive),
            behind_router.into_iter().filter(|packet| packet.at < Time::new(DURATION_S)).collect(),
        ],
        losses,
        links: [0, 1].map(|row| Totals::of(&links, row)),
        node: given
            .processor
            .as_ref()
            .map(|_| (float(&nodes, "load_true", 1), integer(&nodes, "dropped_input_ring", 1))),
    }
}

//! What the tests of the engine share: scenarios in a few words, runs, and tables to look things up in.

pub mod changing;
pub mod networks;
pub mod reference;
pub mod steps;

use proptest::prelude::*;
use proptest::sample::select;
use tightlink_sim::network::processor::ProcessorSpec;
use tightlink_sim::probe::trace::{Record, Trace};
use tightlink_sim::probe::{Probe, Sampled, Totals};
use tightlink_sim::scenario::{
    Ecn, FlowSpec, LinkSpec, NodeSpec, ObserveSpec, Profile, QueueLimit, Recovery, RtoSpec, Scenario, SlowStartKind,
    TcpSpec, TrafficSpec, TransportSpec, UdpSpec,
};
use tightlink_sim::tables::{self, Column, Table};
use tightlink_sim::{ScenarioError, Simulation};

/// On how many random networks a property is tried: what `make test` has time for, or `TIGHTLINK_CASES` times as many.
/// Each run draws others.
pub fn cases(usual: u32) -> u32 {
    let times = std::env::var("TIGHTLINK_CASES").map_or(1, |times| times.parse().expect("TIGHTLINK_CASES is a number"));
    usual * times
}

/// A scenario with `nodes` nodes and nothing else.
pub fn scenario(profile: Profile, duration_s: f64, nodes: u32) -> Scenario {
    Scenario {
        profile,
        duration_s,
        seed: 1,
        nodes: (0..nodes).map(|node| NodeSpec { name: node.to_string(), processor: None }).collect(),
        links: Vec::new(),
        flows: Vec::new(),
        users: Vec::new(),
        scatter: Vec::new(),
        transfers: Vec::new(),
        observe: ObserveSpec::default(),
    }
}

/// One direction of a wire with a drop-tail queue.
pub fn link(name: &str, ends: (u32, u32), rate_bps: f64, delay_s: f64, limit: QueueLimit) -> LinkSpec {
    LinkSpec::plain(name, ends, rate_bps, delay_s, limit)
}

/// Both directions of a wire.
pub fn wire(name: &str, ends: (u32, u32), rate_bps: f64, delay_s: f64, limit: QueueLimit) -> [LinkSpec; 2] {
    [
        link(name, ends, rate_bps, delay_s, limit),
        link(&format!("{name}.reverse"), (ends.1, ends.0), rate_bps, delay_s, limit),
    ]
}

/// A flow from 0 s to the end.
pub fn flow(
    scenario: &Scenario,
    group: &str,
    index: u32,
    ends: (u32, u32),
    traffic: TrafficSpec,
    transport: TransportSpec,
) -> FlowSpec {
    FlowSpec {
        label: format!("{group}[{index}]"),
        group: group.into(),
        index,
        from: ends.0,
        to: ends.1,
        start_s: 0.0,
        stop_s: scenario.duration_s,
        path: None,
        reverse_path: None,
        spraying: None,
        dscp: 0,
        traffic,
        transport,
    }
}

/// The recovery itself, if the profile has it: RACK is none of ns-2's.
pub fn known(recovery: Recovery, profile: Profile) -> Recovery {
    if profile == Profile::Ns2 && recovery == Recovery::Rack { Recovery::Sack } else { recovery }
}

/// What a sender asks for, what its receiver agrees to at most, as far as the profile knows of it, and whether ACKs have the
/// option, where both ends have accurate ECN.
pub type WantedEcn = (Ecn, Option<Ecn>, bool);

/// Any of them.
pub fn wanted_ecn() -> impl Strategy<Value = WantedEcn> {
    let all = vec![Ecn::Off, Ecn::Classic, Ecn::Accurate];
    (select(all.clone()), prop::option::weighted(0.3, select(all)), any::<bool>())
}

/// Sets it.
pub fn set_ecn(tcp: &mut TcpSpec, (ecn, receiver, option): WantedEcn, profile: Profile) {
    let agrees = profile != Profile::Ns2;
    tcp.ecn = if agrees { ecn } else { ecn.min(Ecn::Classic) };
    tcp.receiver_ecn = receiver.filter(|_| agrees && ecn != Ecn::Off);
    tcp.ecn_option = option && tcp.agreed_ecn() == Ecn::Accurate;
}

/// TCP with the defaults of a profile, but packets of 1000 bytes and a window that does not limit.
pub fn tcp(profile: Profile, recovery: Recovery) -> TcpSpec {
    let ns2 = profile == Profile::Ns2;
    let header_bytes = if ns2 { 40 } else { 52 };
    TcpSpec {
        congestion: "reno".into(),
        recovery,
        payload_bytes: 1000,
        header_bytes,
        ack_bytes: header_bytes,
        window_packets: 10_000.0,
        initial_window_packets: if ns2 { 2.0 } else { 10.0 },
        loss_window_packets: None,
        initial_ssthresh_packets: None,
        delayed_ack_s: (!ns2).then_some(0.2),
        rto: if ns2 {
            RtoSpec { initial_s: 3.0, min_s: 0.2, max_s: 60.0, granularity_s: 0.01 }
        } else {
            RtoSpec { initial_s: 1.0, min_s: 1.0, max_s: 60.0, granularity_s: 0.001 }
        },
        limited_transmit: true,
        pacing: false,
        processing_delay_s: None,
        slow_start_after_idle: true,
        ecn: Ecn::Off,
        receiver_ecn: None,
        ecn_option: false,
        slow_start: SlowStartKind::Standard,
        max_ssthresh_packets: None,
    }
}

/// UDP without headers.
pub fn udp(payload_bytes: u32) -> TransportSpec {
    TransportSpec::Udp(UdpSpec {
        payload_bytes,
        header_bytes: 0,
        fragment_header_bytes: 0,
        sizes: Vec::new(),
        ecn: None,
    })
}

/// A processor that costs `per_packet_s` and has input rings of `ring` packets, and nothing else.
pub fn processor(per_packet_s: f64, ring: u32) -> ProcessorSpec {
    ProcessorSpec {
        per_packet_s,
        per_byte_s: 0.0,
        interrupt_s: 0.0,
        input_ring: packets(ring),
        output_ring: false,
        receive: false,
        background: None,
        guaranteed: 0.0,
        meter: None,
    }
}

pub fn packets(limit: u32) -> QueueLimit {
    QueueLimit::Packets(limit)
}

/// The tables of a run.
#[derive(Clone, Debug)]
pub struct Tables {
    pub flows: Table,
    pub links: Table,
    pub nodes: Table,
    pub series: Option<Table>,
    pub delays: Option<Table>,
    pub packet_hops: u64,
    pub random_draws: u64,
}

impl Tables {
    /// Those of a run.
    pub fn of<P: Probe>(simulation: &Simulation<'_, P>) -> Self {
        Self {
            flows: tables::flows(simulation),
            links: tables::links(simulation),
            nodes: tables::nodes(simulation),
            series: tables::series(simulation),
            delays: tables::delays(simulation),
            packet_hops: simulation.packet_hops(),
            random_draws: simulation.random_draws(),
        }
    }

    /// Every bit of them, as text.
    pub fn text(&self) -> String {
        format!("{self:#?}")
    }
}

/// Watches nothing, and keeps links unfused: each has its own events.
#[derive(Clone, Copy, Debug)]
pub struct Unfused;

impl Probe for Unfused {
    const ALLOWS_FUSION: bool = false;
    const SEES_PACKETS: bool = false;
}

/// Runs a scenario under a probe.
pub fn run_with<P: Probe>(scenario: &Scenario, probe: P) -> Result<Tables, ScenarioError> {
    let mut simulation = Simulation::new(scenario, probe)?;
    simulation.run(|_| false).expect("nobody interrupts");
    Ok(Tables::of(&simulation))
}

/// How many events a run has under a probe.
pub fn events<P: Probe>(scenario: &Scenario, probe: P) -> u64 {
    let mut simulation = Simulation::new(scenario, probe).expect("the scenario is valid");
    simulation.run(|_| false).expect("nobody interrupts");
    simulation.events()
}

/// Runs a scenario with nobody watching.
pub fn run(scenario: &Scenario) -> Tables {
    let tables = match scenario.observe.interval_s {
        Some(_) => run_with(scenario, Sampled),
        None => run_with(scenario, Totals),
    };
    tables.expect("the scenario is valid")
}

/// Runs a scenario and records every packet.
pub fn trace(scenario: &Scenario) -> (Tables, Vec<Record>) {
    let mut records = Vec::new();
    let mut keep = |record: &Record| records.push(*record);
    let probe = Trace::new(scenario.links.len(), scenario.flows.len(), &mut keep);
    let tables = run_with(scenario, probe).expect("the scenario is valid");
    (tables, records)
}

/// A column by its name.
pub fn column<'a>(table: &'a Table, name: &str) -> &'a Column {
    table.column(name).unwrap_or_else(|| panic!("no column {name}"))
}

/// A column of counts.
pub fn integers<'a>(table: &'a Table, name: &str) -> &'a [i64] {
    match column(table, name) {
        Column::Integer(values) => values,
        other => panic!("{name} is {other:?}"),
    }
}

/// A column of numbers.
pub fn floats<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match column(table, name) {
        Column::Float(values) => values,
        other => panic!("{name} is {other:?}"),
    }
}

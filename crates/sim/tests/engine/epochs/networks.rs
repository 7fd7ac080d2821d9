//! Random networks for users and scattered datagrams, on the grid of `common/networks`.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use tightlink_sim::Scenario;
use tightlink_sim::congestion::CONTROLS;
use tightlink_sim::scenario::{
    ControlShare, Crowd, Duration, Ecn, FileSpec, InterfaceSpec, LinkSpec, LongLived, Patience, PeriodSpec, Profile,
    QueueLimit, Recovery, ScatterSpec, SizeShare, UserSite, UsersSpec,
};

use crate::engine::common::networks::{ALL_OTHERS, Grid, grid, with_queues};
use crate::engine::common::{WantedEcn, set_ecn, wanted_ecn};

/// Both directions of a wire, in steps of the grid.
#[derive(Clone, Debug)]
struct Wire {
    ends: (Index, Index),
    rates: (u32, u32),
    delays: (u32, u32),
    limit: QueueLimit,
    loss: f64,
    /// It clears the ECN field.
    bleaches: bool,
    /// Its rate is one of packets.
    in_packets: bool,
}

fn wire() -> impl Strategy<Value = Wire> {
    let rate = || select(vec![1_u32, 2, 4, 8]);
    let delay = || prop_oneof![1 => Just(0_u32), 8 => 1_u32..7, 2 => 20_u32..60];
    let limit = prop_oneof![
        6 => (2_u32..20).prop_map(QueueLimit::Packets),
        2 => (500_u64..8000).prop_map(QueueLimit::Bytes),
        1 => Just(QueueLimit::Unlimited),
    ];
    let loss = prop_oneof![4 => Just(0.0), 1 => Just(0.02), 1 => Just(0.2)];
    let loss = (loss, prop::bool::weighted(0.1));
    (any::<(Index, Index)>(), (rate(), rate()), (delay(), delay()), limit, loss, prop::bool::weighted(0.2)).prop_map(
        |(ends, rates, delays, limit, (loss, bleaches), in_packets)| Wire {
            ends,
            rates,
            delays,
            limit,
            loss,
            bleaches,
            in_packets,
        },
    )
}

/// A tree, and some wires more, which close circles.
fn wires() -> impl Strategy<Value = (Vec<Wire>, Vec<Wire>)> {
    (prop::collection::vec(wire(), 1..7), prop::collection::vec(wire(), 0..4))
}

fn links(grid: Grid, (branches, chords): &(Vec<Wire>, Vec<Wire>)) -> Vec<LinkSpec> {
    let nodes = branches.len() as u32 + 1;
    let seconds = |steps: u32| grid.seconds * f64::from(steps);
    let both = |name: String, ends: (u32, u32), wire: &Wire| {
        let one = |name: String, ends, rate: u32, delay| LinkSpec {
            loss: wire.loss.into(),
            bleaches_ecn: wire.bleaches,
            rate_pps: wire.in_packets.then_some(125.0 * f64::from(rate)),
            ..crate::engine::common::link(&name, ends, grid.rate_bps * f64::from(rate), seconds(delay), wire.limit)
        };
        let reverse = one(format!("{name}.reverse"), (ends.1, ends.0), wire.rates.1, wire.delays.1);
        [one(name, ends, wire.rates.0, wire.delays.0), reverse]
    };
    let mut links = Vec::new();
    for (wire, node) in branches.iter().zip(1..) {
        links.extend(both(format!("branch{node}"), (node, wire.ends.0.index(node as usize) as u32), wire));
    }
    for (index, wire) in chords.iter().enumerate() {
        let from = wire.ends.0.index(nodes as usize) as u32;
        let to = (from + 1 + wire.ends.1.index(nodes as usize - 1) as u32) % nodes;
        links.extend(both(format!("chord{index}"), (from, to), wire));
    }
    links
}

fn shares(count: usize) -> f64 {
    1.0 / count as f64
}

fn think() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0.001..0.3f64).prop_map(|mean_s| Duration::Exponential { mean_s }),
        (0.001..0.3f64).prop_map(|mean_s| Duration::Pareto { mean_s, shape: 1.5 }),
    ]
}

fn sites() -> impl Strategy<Value = Vec<(Index, UserSite)>> {
    let site = (any::<Index>(), 0_u32..2, 0_u32..6, 1_u32..4)
        .prop_map(|(node, class, sources, receivers)| (node, UserSite { node: 0, class, sources, receivers }));
    prop::collection::vec(site, 2..5)
}

fn interfaces() -> impl Strategy<Value = Vec<(u32, u32, bool)>> {
    prop::collection::vec((2_u32..40, prop_oneof![1 => Just(0_u32), 6 => 1_u32..4], any::<bool>()), 1..4)
}

/// What else makes users: in steps of the grid where it is a time.
#[derive(Clone, Debug)]
struct Habits {
    think: Duration,
    files: Vec<(f64, Option<f64>)>,
    connect_tries: u32,
    patience: Option<(f64, f64)>,
    crowd: Option<f64>,
    long_lived: Vec<(Index, Index)>,
    sending_at_start: f64,
}

fn habits() -> impl Strategy<Value = Habits> {
    let files = prop::collection::vec((1.0..40.0f64, prop::option::of(Just(1.5))), 1..4);
    let long_lived = prop::collection::vec(any::<(Index, Index)>(), 0..3);
    let rare = (prop::option::of((0.05..1.0f64, 20.0..400.0f64)), prop::option::weighted(0.3, 0.1..0.9f64));
    (think(), files, 1_u32..4, rare, long_lived, 0.0..1.0f64).prop_map(
        |(think, files, connect_tries, (patience, crowd), long_lived, sending_at_start)| Habits {
            think,
            files,
            connect_tries,
            patience,
            crowd,
            long_lived,
            sending_at_start,
        },
    )
}

/// How users connect.
#[derive(Clone, Debug)]
struct Manner {
    recovery: Recovery,
    controls: Vec<Index>,
    ecn: WantedEcn,
    delayed_acks: bool,
    limited_transmit: bool,
    pacing: bool,
    takes_time: bool,
    size: u32,
    window: u32,
}

fn manner() -> impl Strategy<Value = Manner> {
    let flags = (wanted_ecn(), any::<bool>(), any::<bool>());
    let tcp = (select(Recovery::ALL.to_vec()), prop::collection::vec(any::<Index>(), 1..4), 1_u32..9, 2_u32..60);
    (tcp, flags, (prop::bool::weighted(0.3), prop::bool::weighted(0.2))).prop_map(
        |((recovery, controls, size, window), (ecn, delayed_acks, limited_transmit), (pacing, takes_time))| Manner {
            recovery,
            controls,
            ecn,
            delayed_acks,
            limited_transmit,
            pacing,
            takes_time,
            size,
            window,
        },
    )
}

type Crowds = (Vec<(Index, UserSite)>, Vec<(u32, u32, bool)>, Habits, Manner);

fn group(
    grid: Grid,
    profile: Profile,
    nodes: usize,
    label: &str,
    (sites, interfaces, habits, manner): &Crowds,
) -> UsersSpec {
    let sites: Vec<UserSite> =
        sites.iter().map(|(node, site)| UserSite { node: node.index(nodes) as u32, ..*site }).collect();
    let recovery = crate::engine::common::known(manner.recovery, profile);
    let mut users = super::users(label, profile, &sites);
    users.tcp = crate::engine::common::tcp(profile, recovery);
    users.tcp.payload_bytes = manner.size * grid.bytes;
    users.tcp.delayed_ack_s = manner.delayed_acks.then_some(grid.seconds * 40.0);
    users.tcp.limited_transmit = manner.limited_transmit;
    users.tcp.pacing = manner.pacing;
    users.tcp.processing_delay_s = manner.takes_time.then_some(grid.seconds * 0.7);
    users.tcp.window_packets = f64::from(manner.window);
    set_ecn(&mut users.tcp, manner.ecn, profile);
    // Short, so that a run of some seconds sees many expiries.
    (users.tcp.rto.min_s, users.tcp.rto.initial_s) = (0.1, 0.3);
    let known: Vec<&str> = (CONTROLS.iter())
        .filter(|control| control.works_with(recovery) && (manner.ecn.0 != Ecn::Off || !control.reads_marks))
        .map(|control| control.name)
        .collect();
    let control = |pick: &Index| ControlShare {
        share: shares(manner.controls.len()),
        congestion: known[pick.index(known.len())].into(),
    };
    users.controls = manner.controls.iter().map(control).collect();
    users.tcp.congestion = users.controls[0].congestion.clone();
    users.classes = vec!["far".into(), "near".into()];
    let interface = |(index, &(rate, delay, in_packets)): (usize, &(u32, u32, bool))| InterfaceSpec {
        name: format!("interface{index}"),
        rate_bps: grid.rate_bps * f64::from(rate),
        rate_pps: in_packets.then_some(200.0 * f64::from(rate)),
        delay_s: grid.seconds * f64::from(delay),
        share: shares(interfaces.len()),
    };
    users.interfaces = interfaces.iter().enumerate().map(interface).collect();
    let file = |(index, &(mean_packets, shape)): (usize, &(f64, Option<f64>))| FileSpec {
        name: format!("file{index}"),
        share: shares(habits.files.len()),
        mean_packets,
        shape,
    };
    users.files = habits.files.iter().enumerate().map(file).collect();
    users.think = habits.think;
    users.connect_tries = habits.connect_tries;
    users.patience = habits.patience.map(|(least_s, packets_per_s)| Patience { least_s, packets_per_s });
    users.crowd =
        habits.crowd.map(|share| Crowd { start_s: 0.3, stop_s: 0.8, sites: vec![0], share, mean_packets: 100.0 });
    let long_lived = |(index, (from, to)): (usize, &(Index, Index))| {
        let from = from.index(sites.len()) as u32;
        let to = (from + 1 + to.index(sites.len() - 1) as u32) % sites.len() as u32;
        LongLived { name: format!("long{index}"), from, to, interface: 0, start_s: 0.1 * index as f64 }
    };
    users.long_lived = habits.long_lived.iter().enumerate().map(long_lived).collect();
    users.sending_at_start = habits.sending_at_start;
    users
}

/// Datagrams in steps of the grid: nodes to leave out, rate, sizes, times.
type Calls = (Vec<bool>, f64, Vec<u32>, (f64, f64));

fn calls() -> impl Strategy<Value = Calls> {
    let times = (0.0..0.3f64, 0.2..2.0f64);
    (prop::collection::vec(prop::bool::weighted(0.8), 8), 1.0..150.0f64, prop::collection::vec(1_u32..9, 1..4), times)
}

fn datagrams(
    grid: Grid,
    nodes: u32,
    label: &str,
    (kept, packets_per_s, sizes, (start_s, length_s)): &Calls,
) -> ScatterSpec {
    let mut chosen: Vec<u32> = (0..nodes).filter(|&node| kept[node as usize]).collect();
    if chosen.len() < 2 {
        chosen = (0..nodes).collect();
    }
    let share = shares(sizes.len());
    ScatterSpec {
        label: label.into(),
        nodes: chosen,
        packets_per_s: *packets_per_s,
        sizes: sizes.iter().map(|size| SizeShare { bytes: size * grid.bytes, share }).collect(),
        start_s: *start_s,
        stop_s: start_s + length_s,
    }
}

fn networks(groups: std::ops::Range<usize>, scattered: std::ops::Range<usize>) -> impl Strategy<Value = Scenario> {
    let profile = select(vec![Profile::Ns2, Profile::Rfc, Profile::Linux]);
    let frame = (profile, grid(), 0_u64..1000, 500_u32..2500, prop::option::of(30_u32..300));
    let groups = prop::collection::vec((sites(), interfaces(), habits(), manner()), groups);
    (frame, wires(), groups, prop::collection::vec(calls(), scattered)).prop_map(
        |((profile, grid, seed, steps, interval), wires, groups, scattered)| {
            let nodes = wires.0.len() as u32 + 1;
            let mut scenario = crate::engine::common::scenario(profile, grid.seconds * f64::from(steps), nodes);
            scenario.seed = seed;
            scenario.links = links(grid, &wires);
            scenario.observe.interval_s = interval.map(|steps| grid.seconds * f64::from(steps));
            let period = |name: &str, start_s, stop_s| PeriodSpec { name: name.into(), start_s, stop_s };
            scenario.observe.periods = vec![period("early", 0.1, 0.5), period("late", 0.5, 10.0)];
            for (index, spec) in groups.iter().enumerate() {
                scenario.users.push(group(grid, profile, nodes as usize, &format!("users{index}"), spec));
            }
            for (index, spec) in scattered.iter().enumerate() {
                scenario.scatter.push(datagrams(grid, nodes, &format!("calls{index}"), spec));
            }
            scenario
        },
    )
}

/// Networks of users and scattered datagrams, with all queues that they may have.
pub fn mixed() -> impl Strategy<Value = Scenario> {
    with_queues(networks(1..3, 0..3), &ALL_OTHERS)
}

/// Networks of users, with drop-tail queues.
pub fn of_users() -> impl Strategy<Value = Scenario> {
    networks(1..2, 0..1)
}

/// Networks of scattered datagrams, with drop-tail queues.
pub fn of_datagrams() -> impl Strategy<Value = Scenario> {
    networks(0..1, 1..3)
}

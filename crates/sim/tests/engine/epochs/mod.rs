//! Networks processed epoch by epoch: users, scattered datagrams, flows.

mod networks;

mod beside;
mod bulk;
mod conservation;
mod flows;
mod invariance;
mod reference;
mod scale;
mod symmetry;
mod theory;
mod threads;
mod traces;

use tightlink_sim::epochs::{EpochSimulation, Work};
use tightlink_sim::scenario::{
    ControlShare, Duration, FileSpec, InterfaceSpec, LongLived, Profile, Recovery, ScatterSpec, SizeShare, UserSite,
    UsersSpec,
};
use tightlink_sim::tables::Table;
use tightlink_sim::{Scenario, ScenarioError};

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub tables: Vec<(&'static str, Table)>,
    pub packet_hops: u64,
    pub random_draws: u64,
}

impl Outcome {
    /// A table by its name.
    pub fn table(&self, name: &str) -> &Table {
        let found = self.tables.iter().find(|(table, _)| *table == name);
        &found.unwrap_or_else(|| panic!("no table {name}")).1
    }

    /// The sum of a column of counts.
    pub fn total(&self, table: &str, column: &str) -> i64 {
        crate::engine::common::integers(self.table(table), column).iter().sum()
    }

    /// Every bit of it, as text.
    pub fn text(&self) -> String {
        format!("{:#?} {} {}", self.tables, self.packet_hops, self.random_draws)
    }
}

/// Runs a scenario in epochs of at most so many seconds.
pub fn run_as(scenario: &Scenario, threads: u32, longest_epoch_s: f64) -> Result<Outcome, ScenarioError> {
    let mut run = EpochSimulation::new(scenario, Work { longest_epoch_s, ..Work::on(threads) })?;
    run.run(|_| false).expect("nobody interrupts");
    Ok(Outcome { tables: run.tables(), packet_hops: run.packet_hops(), random_draws: run.random_draws() })
}

/// Runs a scenario as it is run by default.
pub fn run(scenario: &Scenario) -> Outcome {
    let mut run = EpochSimulation::new(scenario, Work::on(1)).expect("the scenario is valid");
    run.run(|_| false).expect("nobody interrupts");
    Outcome { tables: run.tables(), packet_hops: run.packet_hops(), random_draws: run.random_draws() }
}

/// Hosts behind a router: so many sources and receivers.
pub fn site(node: u32, sources: u32, receivers: u32) -> UserSite {
    UserSite { node, class: 0, sources, receivers }
}

/// Users with interfaces of 1 Gbit/s and 0.1 ms, who think for a second and send files of ten packets over NewReno.
pub fn users(label: &str, profile: Profile, sites: &[UserSite]) -> UsersSpec {
    let mut tcp = crate::engine::common::tcp(profile, Recovery::Newreno);
    (tcp.delayed_ack_s, tcp.initial_window_packets) = (None, 2.0);
    UsersSpec {
        label: label.into(),
        controls: vec![ControlShare { share: 1.0, congestion: tcp.congestion.clone() }],
        tcp,
        classes: vec!["all".into()],
        sites: sites.to_vec(),
        interfaces: vec![interface("all", 1e9, 1e-4)],
        think: Duration::Exponential { mean_s: 1.0 },
        files: vec![file(10.0, None)],
        connect_tries: 3,
        patience: None,
        crowd: None,
        long_lived: Vec::new(),
        sending_at_start: 0.0,
    }
}

pub fn interface(name: &str, rate_bps: f64, delay_s: f64) -> InterfaceSpec {
    InterfaceSpec { name: name.into(), rate_bps, rate_pps: None, delay_s, share: 1.0 }
}

pub fn file(mean_packets: f64, shape: Option<f64>) -> FileSpec {
    FileSpec { name: "file".into(), share: 1.0, mean_packets, shape }
}

/// A transfer without end from the first site to the second.
pub fn long_lived(name: &str) -> LongLived {
    LongLived { name: name.into(), from: 0, to: 1, interface: 0, start_s: 0.0 }
}

/// Datagrams among these nodes, from 0 s until `stop_s`.
pub fn scatter(nodes: &[u32], packets_per_s: f64, sizes: &[(u32, f64)], stop_s: f64) -> ScatterSpec {
    let sizes = sizes.iter().map(|&(bytes, share)| SizeShare { bytes, share }).collect();
    ScatterSpec { label: "calls".into(), nodes: nodes.to_vec(), packets_per_s, sizes, start_s: 0.0, stop_s }
}

//! Runs a resolved scenario and says how many packet-hops it had: what tools that count instructions are given, without Python
//! around it. `tightlink run --show-config` prints scenarios in another form; `Scenario.resolve()` is this one.

use std::error::Error;
use std::io::Write;

use tightlink_sim::probe::Totals;
use tightlink_sim::{Scenario, Simulation};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: run SCENARIO.json")?;
    let scenario: Scenario = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut simulation = Simulation::new(&scenario, Totals)?;
    simulation.run(|_| false).map_err(|_| "interrupted")?;
    writeln!(std::io::stdout(), "{}", simulation.packet_hops())?;
    Ok(())
}

//! Runs a resolved scenario and says how many packet-hops it had and in how many seconds: what tools that count instructions
//! or compare schedulers are given, without Python around it. With a number of threads it is processed in epochs, whatever
//! is faster. `tightlink run --show-config` prints scenarios in another form; `Scenario.resolve()` is this one.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use tightlink_sim::epochs::{EpochSimulation, Work};
use tightlink_sim::probe::Totals;
use tightlink_sim::{Scenario, Simulation};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: run SCENARIO.json [THREADS]")?;
    let threads: Option<u32> = arguments.next().map(|number| number.parse()).transpose()?;
    let scenario: Scenario = serde_json::from_slice(&std::fs::read(file)?)?;
    let (packet_hops, run_s) = match threads {
        None => {
            let mut simulation = Simulation::new(&scenario, Totals)?;
            let begin = Instant::now();
            simulation.run(|_| false).map_err(|_| "interrupted")?;
            (simulation.packet_hops(), begin.elapsed().as_secs_f64())
        }
        Some(threads) => {
            let mut simulation = EpochSimulation::new(&scenario, Work::on(threads))?;
            let begin = Instant::now();
            simulation.run(|_| false).map_err(|_| "interrupted")?;
            (simulation.packet_hops(), begin.elapsed().as_secs_f64())
        }
    };
    writeln!(std::io::stdout(), "{packet_hops} {run_s:.6}")?;
    Ok(())
}

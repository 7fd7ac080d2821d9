//! Runs a resolved scenario in parts on so many threads, whether these help or not, and says how many packet-hops it had
//! and in how many seconds, without Python around it: what `benchmarks/threads.py` compares.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use tightlink_sim::PartedSimulation;
use tightlink_sim::Scenario;
use tightlink_sim::epochs::Work;
use tightlink_sim::probe::Totals;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, threads] = &arguments[..] else { return Err("usage: parts SCENARIO.json THREADS".into()) };
    let scenario: Scenario = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut simulation = PartedSimulation::new(&scenario, Totals, Work::on(threads.parse()?))?;
    let begin = Instant::now();
    simulation.run(|_, _| false).map_err(|_| "interrupted")?;
    writeln!(std::io::stdout(), "{} {:.6}", simulation.packet_hops(), begin.elapsed().as_secs_f64())?;
    Ok(())
}

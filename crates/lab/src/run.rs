//! A run of the laboratory: what is asked, and what is answered.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tightlink_run::tables_digest;
use tightlink_sim::probe::trace::Trace;
use tightlink_sim::probe::{Probe, Sampled, Totals};
use tightlink_sim::scenario::TrafficSpec;
use tightlink_sim::tables::{self, Column, Table};
use tightlink_sim::{ENGINE_BEHAVIOUR, Scenario, Simulation, warnings};

use crate::charts::{Lines, Looks, Seen};
use crate::document::Laboratory;
use crate::packets::{Collector, Span, WIDTH};

/// What is to be simulated, and what is wanted of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The positions of the sliders.
    pub positions: Vec<usize>,
    /// How many samples charts have; none: there are none, and the run is faster.
    #[serde(default)]
    pub samples: Option<u32>,
    /// The part of the time of which packets are wanted.
    #[serde(default)]
    pub packets: Option<Span>,
}

/// Tables as JSON, and the numbers of charts.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The tables of the run, its digest, and what is where in `data`.
    pub text: String,
    /// Lines over time, or records of packets.
    pub data: Vec<f64>,
}

impl Laboratory {
    /// Simulates. `watch` is told the simulated time now and then.
    ///
    /// # Errors
    /// One sentence: why the scenario cannot be simulated.
    pub fn run(&self, request: &Request, watch: impl FnMut(f64)) -> Result<Answer, String> {
        let mut scenario = self.scenario(&request.positions)?;
        if let Some(span) = request.packets {
            return packets(&scenario, span, watch);
        }
        let own = scenario.observe.interval_s;
        let Some(samples) = request.samples else {
            return if own.is_some() { totals(&scenario, Sampled, watch) } else { totals(&scenario, Totals, watch) };
        };
        if own.is_none() {
            scenario.observe.interval_s = Some(scenario.duration_s / f64::from(samples.max(1)));
        }
        let mut looks = vec![Seen::default(); scenario.single_flows()];
        let waits = scenario.flows.iter().any(|flow| matches!(flow.traffic, TrafficSpec::Saturate {}));
        // Samples that the scenario does not ask for are no part of its tables.
        let own = own.is_some();
        let (mut answer, series) = if waits {
            sampled(&scenario, Looks::<false>(&mut looks), own, watch)?
        } else {
            sampled(&scenario, Looks::<true>(&mut looks), own, watch)?
        };
        let lines = Lines::new(&scenario, &series, &looks);
        answer["samples"] = lines.samples.into();
        answer["interval_s"] = scenario.observe.interval_s.into();
        answer["lines"] = Value::Array(lines.index);
        Ok(Answer { text: answer.to_string(), data: lines.data })
    }
}

fn run<P: Probe>(simulation: &mut Simulation<'_, P>, mut watch: impl FnMut(f64)) {
    // Nobody interrupts it: a browser ends the worker that it runs in.
    let _ = simulation.run(|simulated_s| {
        watch(simulated_s);
        false
    });
}

/// What a run came to, with its series if they are its `own`; and the series.
fn sampled<P: Probe>(
    scenario: &Scenario,
    probe: P,
    own: bool,
    watch: impl FnMut(f64),
) -> Result<(Value, Table), String> {
    let mut simulation = Simulation::new(scenario, probe).map_err(|error| error.to_string())?;
    run(&mut simulation, watch);
    let series = tables::series(&simulation).unwrap_or_default();
    Ok((answer(&simulation, own.then_some(&series)), series))
}

/// Totals alone, as fast as they come; with its series where the scenario asks for them, for the digest.
fn totals<P: Probe>(scenario: &Scenario, probe: P, watch: impl FnMut(f64)) -> Result<Answer, String> {
    let mut simulation = Simulation::new(scenario, probe).map_err(|error| error.to_string())?;
    run(&mut simulation, watch);
    let series = scenario.observe.interval_s.and_then(|_| tables::series(&simulation));
    Ok(Answer { text: answer(&simulation, series.as_ref()).to_string(), data: Vec::new() })
}

fn packets(scenario: &Scenario, span: Span, watch: impl FnMut(f64)) -> Result<Answer, String> {
    let mut collector = Collector::new(span, scenario.flows.len());
    let trace = Trace::new(scenario.links.len(), scenario.flows.len(), &mut collector);
    let mut simulation = Simulation::new(scenario, trace).map_err(|error| error.to_string())?;
    run(&mut simulation, watch);
    drop(simulation);
    let links: Vec<Value> = scenario
        .links
        .iter()
        .map(|link| json!({ "name": link.name, "delay_s": link.delay_s, "rate_bps": link.rate_bps }))
        .collect();
    let flows: Vec<&str> = scenario.flows.iter().map(|flow| flow.label.as_str()).collect();
    let text = json!({ "links": links, "flows": flows, "width": WIDTH, "cut": collector.is_full() }).to_string();
    Ok(Answer { text, data: collector.data })
}

/// What a run came to.
fn answer<P: Probe>(simulation: &Simulation<'_, P>, series: Option<&Table>) -> Value {
    let mut all = tables::totals(simulation);
    let shown: Map<String, Value> = all.iter().map(|(name, table)| ((*name).to_owned(), columns(table))).collect();
    all.extend(series.map(|table| ("series", table.clone())));
    json!({
        "engine_behaviour": ENGINE_BEHAVIOUR,
        "digest": tables_digest(&all, || false).unwrap_or_default(),
        "packet_hops": simulation.packet_hops(),
        "warnings": warnings::of_flows(simulation),
        "tables": shown,
    })
}

/// A table column by column.
fn columns(table: &Table) -> Value {
    let values = |column: &Column| match column {
        Column::Float(values) => json!(values),
        Column::Integer(values) => json!(values),
        Column::Text(values) => json!(values),
        Column::Category(codes, words) => codes.iter().map(|&code| words[code as usize].as_str()).collect(),
    };
    table.columns.iter().map(|(name, column)| ((*name).to_owned(), values(column))).collect::<Map<_, _>>().into()
}

//! How many threads help, by what is known of a scenario before it is simulated.

use super::parts::Parts;
use super::{LONGEST_S, Survey};
use crate::error::ScenarioError;
use crate::scenario::Scenario;

/// The threads that a run should have, each with a part of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// As many as make a run faster than fewer do.
    pub threads: u32,
    /// The share of the load that the heaviest part has, from 0 to 1.
    pub heaviest_share: f64,
    /// Seconds of simulated time after which the parts meet.
    pub turn_s: f64,
    /// Crossings of links to be expected of all parts from one meeting to the next, and what hosts cost, in crossings.
    pub packet_hops_per_turn: f64,
}

impl Estimate {
    /// Of a scenario for which at most so many threads are there.
    ///
    /// # Errors
    /// What cannot be processed in epochs.
    pub fn new(scenario: &Scenario, most: u32) -> Result<Self, ScenarioError> {
        let survey = Survey::new(scenario, LONGEST_S)?;
        let parts = parts(scenario, &survey, most);
        let all = survey.load.all();
        Ok(Self {
            threads: parts.count,
            heaviest_share: if all > 0.0 { parts.heaviest / all } else { 1.0 },
            turn_s: parts.turn_s(),
            packet_hops_per_turn: all * parts.turn_s(),
        })
    }
}

/// The network in as many of at most so many parts as make a run faster.
pub(super) fn parts(scenario: &Scenario, Survey { plan, load, .. }: &Survey, most: u32) -> Parts {
    /// With more threads a run must cost so much of what it costs with fewer: the load is a guess.
    const WORTH: f64 = 0.9;
    /// Crossings that each part must have between two meetings. A thread that sleeps until the others come takes as long to
    /// wake as some hundred take, and it sleeps where other programs have the processors.
    const PORTION: f64 = 1000.0;
    let all = load.all();
    let mut best = Parts::one(scenario, load);
    for count in (1..31).map(|doublings| 1 << doublings).take_while(|&count| count < most).chain([most]) {
        let parts = Parts::new(scenario, load, count, plan.epoch_s);
        if parts.cost() < WORTH * best.cost() && all * parts.turn_s() >= PORTION * f64::from(count) {
            best = parts;
        }
    }
    best
}

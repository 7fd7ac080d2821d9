//! Parts of a network that are simulated at the same time, each by its own loop over events.
//!
//! What leaves a part arrives in another one no earlier than the shortest delay between them. So all let happen what
//! precedes the same time, hand over what has left them, wait for each other, and continue by as much as that delay.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Simulation;
use crate::congestion::external::NoMaker;
use crate::epochs::{Work, parts_of};
use crate::error::{Interrupted, ScenarioError};
use crate::hosts::Ends;
use crate::meeting::{Barrier, Mailbox, Participant};
use crate::network::fabric::elsewhere::Elsewhere;
use crate::network::letter::Letter;
use crate::network::link::{Link, LongerByPosition};
use crate::network::node::Node;
use crate::network::topology::Paths;
use crate::probe::Probe;
use crate::probe::series::Series;
use crate::scenario::Scenario;
use crate::tables::{Finished, LinkRow};
use crate::time::Time;

/// Parts meet so much before what left one arrives in another: sums of times are rounded.
const ROUNDED: f64 = 1.0 - 1e-6;

/// One run of a scenario of flows, in parts.
#[derive(Debug)]
pub struct PartedSimulation<'a, P> {
    parts: Vec<Simulation<'a, P>>,
    /// The part of each node.
    part_of: Vec<u32>,
    /// Seconds of simulated time from one meeting of the parts to the next.
    turn_s: f64,
    reached: Time,
}

impl<'a, P: Probe + Copy + Send> PartedSimulation<'a, P> {
    /// Builds the network and the flows of a scenario.
    ///
    /// # Errors
    /// What cannot be in parts, and what only the engine can see to be wrong.
    pub fn new(scenario: &'a Scenario, probe: P, work: Work) -> Result<Self, ScenarioError> {
        let parts = parts_of(scenario, work)?;
        let simulations = (0..parts.count).map(|part| {
            let elsewhere = Elsewhere::new(scenario, &parts.of_node, (part, parts.count));
            Simulation::of_part(scenario, probe, &mut NoMaker, Some(Box::new(elsewhere)))
        });
        let (turn_s, reached) = (parts.turn_s() * ROUNDED, Time::ZERO);
        Ok(Self { parts: simulations.collect::<Result<_, _>>()?, part_of: parts.of_node, turn_s, reached })
    }

    /// Runs to the end. `interrupted` is told now and then how far the run is, in seconds and packet-hops; if it says true,
    /// the run stops there.
    ///
    /// # Errors
    /// `interrupted` said so.
    pub fn run(&mut self, mut interrupted: impl FnMut(f64, u64) -> bool) -> Result<(), Interrupted> {
        let (barrier, mailbox) = (Barrier::new(self.parts.len() as u32), Mailbox::new(self.parts.len()));
        let hops: Vec<AtomicU64> = self.parts.iter().map(|_| AtomicU64::new(0)).collect();
        let turn_s = self.turn_s;
        let Some((first, others)) = self.parts.split_first_mut() else { return Ok(()) };
        let all = || hops.iter().map(|hops| hops.load(Ordering::Relaxed)).sum();
        self.reached = std::thread::scope(|scope| {
            for (part, hops) in others.iter_mut().zip(&hops[1..]) {
                let between = (&barrier, &mailbox);
                scope.spawn(move || part.take_part(between, turn_s, hops, |_| false));
            }
            first.take_part((&barrier, &mailbox), turn_s, &hops[0], |now_s| interrupted(now_s, all()))
        });
        let ended = self.reached >= first.end;
        for part in &mut self.parts {
            part.reached = self.reached;
            if ended {
                part.finish();
            } else {
                part.sample_rest(self.reached);
            }
        }
        if ended { Ok(()) } else { Err(Interrupted) }
    }

    /// Link crossings, data and ACKs.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.parts.iter().map(Simulation::packet_hops).sum()
    }

    /// Events handled.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.parts.iter().map(Simulation::events).sum()
    }

    /// Random numbers drawn, ns-2's agents' clocks not counted.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let flows = 0..self.scenario().flows.len();
        let draws = |flow| self.sending(flow).hosts.random_draws(flow);
        self.parts.iter().map(|part| part.fabric.random_draws()).sum::<u64>() + flows.map(draws).sum::<u64>()
    }

    /// The threads of the run, each of which has a part of the network.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.parts.len() as u32
    }

    fn at(&self, node: u32) -> &Simulation<'a, P> {
        &self.parts[self.part_of[node as usize] as usize]
    }

    /// The part in which a flow sends.
    fn sending(&self, flow: usize) -> &Simulation<'a, P> {
        self.at(self.scenario().flows[flow].from)
    }

    /// The part in which a flow's packets arrive.
    fn receiving(&self, flow: usize) -> &Simulation<'a, P> {
        self.at(self.scenario().flows[flow].to)
    }

    /// The part to which a link belongs.
    fn at_work(&self, link: u32) -> &Simulation<'a, P> {
        self.at(self.scenario().links[link as usize].from)
    }

    fn link_at_work(&self, link: u32) -> &Link {
        &self.at_work(link).fabric.links[link as usize]
    }
}

impl<P: Probe> Simulation<'_, P> {
    /// Takes what comes from other parts in a turn, in which all that precedes `until` has happened.
    fn take(&mut self, (mailbox, turn): (&Mailbox<Letter>, u64), until: Time) {
        let Some(part) = self.fabric.part() else { return };
        mailbox.take(turn, part, |letter| {
            self.fabric.take(letter);
            self.hand_over_taken();
        });
        while self.fabric.settle_confluence(until) {
            self.hand_over_taken();
        }
    }

    /// Hands over what came of a letter.
    fn hand_over_taken(&mut self) {
        let ask = !self.fabric.lookahead.late.is_empty();
        // It is never told to stop.
        let _done = self.hand_over(ask, &mut |_, _| false);
    }

    /// Simulates a part of a network, in turn with the others, to the end or until `ends` says true to the first part: how far
    /// it came.
    fn take_part(
        &mut self,
        (barrier, mailbox): (&Barrier, &Mailbox<Letter>),
        turn_s: f64,
        hops: &AtomicU64,
        mut ends: impl FnMut(f64) -> bool,
    ) -> Time {
        /// Turns between times at which a part says how far it is.
        const WORD: u64 = 1 << 6;
        let _participant = Participant(barrier);
        let mut turn = 0;
        loop {
            let until = self.end.min(Time::new(turn_s * (turn + 1) as f64));
            // It is never told to stop.
            let _done = self.work(until, |_, _| false);
            self.fabric.leave((mailbox, turn), until);
            if turn.is_multiple_of(WORD) {
                hops.store(self.packet_hops(), Ordering::Relaxed);
            }
            if ends(until.seconds()) {
                barrier.end();
            }
            let over = barrier.wait();
            self.take((mailbox, turn), until);
            if over || until >= self.end {
                return until;
            }
            turn += 1;
        }
    }
}

impl<P: Probe + Copy + Send> Finished for PartedSimulation<'_, P> {
    fn scenario(&self) -> &Scenario {
        self.parts[0].scenario
    }

    fn until(&self) -> Time {
        self.reached
    }

    fn paths(&self) -> &Paths {
        &self.parts[0].fabric.paths
    }

    fn ends(&self, flow: usize) -> Ends<'_> {
        self.sending(flow).hosts.ends_with(&self.receiving(flow).hosts, flow)
    }

    fn dropped(&self, flow: usize) -> u64 {
        self.parts.iter().map(|part| part.fabric.dropped[flow]).sum()
    }

    fn link(&self, link: u32) -> LinkRow {
        self.at_work(link).link(link)
    }

    fn longer(&self, link: u32) -> Option<&LongerByPosition> {
        self.link_at_work(link).longer()
    }

    fn delivered_and_refused(&self, link: u32) -> (u64, u64) {
        self.at_work(link).delivered_and_refused(link)
    }

    fn busy_throughout(&self, link: u32, since: Time, until: Time) -> bool {
        self.at_work(link).busy_throughout(link, since, until)
    }

    fn processors(&self) -> impl Iterator<Item = &Node> {
        self.parts[0].fabric.nodes.list.iter()
    }

    fn series(&self) -> Option<Cow<'_, Series>> {
        Series::merged(self.parts.iter().filter_map(|part| Some(&part.fabric.samples.as_ref()?.series)))
    }
}

//! The loop: takes the next event, lets it happen, until the end.

use crate::congestion::Maker;
use crate::congestion::external::NoMaker;
use crate::entities::{Entities, SAMPLER};
use crate::error::{Interrupted, ScenarioError};
use crate::events::Key;
use crate::hosts::Hosts;
use crate::network::fabric::Fabric;
use crate::network::fabric::elsewhere::Elsewhere;
use crate::network::link::Link;
use crate::network::topology::Paths;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::samples::End;
use crate::scenario::Scenario;
use crate::time::Time;
use crate::transport::timer::TIMERS;

mod finished;
mod parts;
mod sampler;

pub use parts::PartedSimulation;

/// A number that changes whenever a change of the engine changes results: stored runs of another
/// number are not reused.
pub const ENGINE_BEHAVIOUR: u32 = 40;

/// One run of a scenario.
#[derive(Debug)]
pub struct Simulation<'a, P> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) fabric: Fabric<P>,
    pub(crate) hosts: Hosts,
    /// How often hosts answered each other for long without an event.
    long: u32,
    end: Time,
    reached: Time,
    events: u64,
    /// Samples at an event of their own.
    samples_taken: u64,
}

impl<'a, P: Probe> Simulation<'a, P> {
    /// Builds the network and the flows of a scenario.
    ///
    /// # Errors
    /// What only the engine can see to be wrong: unreachable destinations, broken paths, packets that
    /// no link on the path carries, an unknown congestion control.
    pub fn new(scenario: &'a Scenario, probe: P) -> Result<Self, ScenarioError> {
        Self::with_controls(scenario, probe, &mut NoMaker)
    }

    /// The same, of a scenario with congestion controls that live outside of the engine.
    ///
    /// # Errors
    /// As above, and what `maker` finds to be wrong.
    pub fn with_controls(scenario: &'a Scenario, probe: P, maker: &mut dyn Maker) -> Result<Self, ScenarioError> {
        Self::of_part(scenario, probe, maker, None)
    }

    /// The same, of a part of the network, which knows what lies elsewhere.
    fn of_part(
        scenario: &'a Scenario,
        probe: P,
        maker: &mut dyn Maker,
        elsewhere: Option<Box<Elsewhere>>,
    ) -> Result<Self, ScenarioError> {
        let sends: Vec<bool> = (scenario.flows.iter())
            .map(|flow| elsewhere.as_ref().is_none_or(|elsewhere| elsewhere.is_here(flow.from)))
            .collect();
        let paths = Paths::new(scenario)?;
        let hosts = Hosts::new(scenario, &paths, maker)?;
        let mut fabric = Fabric::new(scenario, paths, hosts.entities(), probe, elsewhere)?;
        for (flow, spec) in (0..).zip(&scenario.flows).filter(|(flow, _)| sends[*flow as usize]) {
            fabric.queue.push(Key::planned(Time::planned(spec.start_s), Entities::start(flow)));
            if spec.stop_s < scenario.duration_s {
                fabric.queue.push(Key::planned(Time::planned(spec.stop_s), Entities::stop(flow)));
            }
        }
        let mut simulation = Self {
            scenario,
            fabric,
            hosts,
            long: 0,
            end: Time::new(scenario.duration_s),
            reached: Time::ZERO,
            events: 0,
            samples_taken: 0,
        };
        simulation.schedule_samples();
        Ok(simulation)
    }

    /// Runs to the end. `interrupted` is asked every few thousand events, and told the simulated time in seconds; true
    /// stops the run there. Called again, it continues.
    ///
    /// # Errors
    /// `interrupted` said so.
    pub fn run(&mut self, mut interrupted: impl FnMut(f64) -> bool) -> Result<(), Interrupted> {
        self.run_watched(|now, _| interrupted(now))
    }

    /// The same; `interrupted` may look at the links, too.
    ///
    /// # Errors
    /// `interrupted` said so.
    pub fn run_watched(&mut self, interrupted: impl FnMut(f64, &[Link]) -> bool) -> Result<(), Interrupted> {
        let ended = self.work(self.end, interrupted);
        if ended.is_ok() {
            self.finish();
        }
        ended
    }

    /// Nothing happens before the end that has not happened.
    fn finish(&mut self) {
        self.sample_rest(self.end);
        self.fabric.finish();
        self.reached = self.end;
    }

    /// Lets all happen that precedes `until`.
    fn work(&mut self, until: Time, mut interrupted: impl FnMut(f64, &[Link]) -> bool) -> Result<(), Interrupted> {
        const EVENTS_BETWEEN_QUESTIONS: u64 = 1 << 12;
        let Entities { first_link, first_timer, first_source, .. } = self.hosts.entities();
        // Of a run that was interrupted, what was evaluated and not handed over: the ACKs among it were not asked yet.
        self.hand_over(true, &mut interrupted)?;
        while let Some(key) = self.fabric.queue.pop_before(until) {
            self.events += 1;
            self.fabric.prefetch_coming();
            if self.events.is_multiple_of(EVENTS_BETWEEN_QUESTIONS) && interrupted(key.words().0, &self.fabric.links) {
                self.fabric.queue.push(key);
                self.events -= 1;
                self.reached = key.time;
                return Err(Interrupted);
            }
            let mut seen = false;
            if key.entity() >= first_source {
                self.source(key);
            } else if key.entity() >= first_timer {
                self.timer(key);
            } else if key.entity() >= first_link {
                // One call of what is the busiest, so that it stays in line.
                if (self.fabric.lookahead.late.is_empty() || !self.arrive_late(key))
                    && let Some(packet) = self.fabric.deliver(key)
                {
                    seen = !self.fabric.lookahead.arrived.is_empty();
                    self.arrive(packet.words(), key.words());
                }
            } else {
                self.control(key);
            }
            // Of the first it was asked just now, when it was evaluated, unless its host has seen another packet since.
            self.hand_over(seen || !self.fabric.lookahead.late.is_empty(), &mut interrupted)?;
        }
        Ok(())
    }

    /// Hands over the packets that were evaluated through to an answering host, and evaluates the ACKs; with `ask`, from the
    /// first on it is asked whether they come too late.
    #[inline]
    fn hand_over(
        &mut self,
        mut ask: bool,
        interrupted: &mut impl FnMut(f64, &[Link]) -> bool,
    ) -> Result<(), Interrupted> {
        /// Hosts that only react may answer each other for long, even to the end of the run.
        const LONG: usize = 1 << 10;
        const LONG_BETWEEN_QUESTIONS: u32 = 1 << 2;
        if self.fabric.lookahead.arrived.is_empty() {
            return Ok(());
        }
        let mut next = 0;
        while let Some(arrived) = self.fabric.lookahead.arrived.get(next) {
            let (key, packet) = (arrived.key(), arrived.packet());
            let (words, (time, caused_at, rank)) = (packet.words(), key.words());
            if next == LONG {
                self.fabric.lookahead.arrived.drain(..next);
                next = 0;
                self.long += 1;
                if self.long.is_multiple_of(LONG_BETWEEN_QUESTIONS) && interrupted(time, &self.fabric.links) {
                    self.reached = key.time;
                    return Err(Interrupted);
                }
            }
            next += 1;
            if packet.is_reverse()
                && (ask && self.comes_too_late(packet.flow(), time)
                    || self.hosts.paces() && self.paces_before(packet.flow(), key))
            {
                // It has the event after all that it would have had.
                self.fabric.queue.push(key);
                self.fabric.lookahead.late.push((key, packet));
                continue;
            }
            self.arrive(words, (time, caused_at, rank));
            // An ACK that comes after this one was evaluated before it, or because of it.
            ask |= packet.is_reverse();
        }
        self.fabric.lookahead.arrived.clear();
        Ok(())
    }

    /// A packet arrives at its host; it and its key are in words.
    #[inline(always)]
    fn arrive(&mut self, words: (u64, u64, u64), (time, caused_at, rank): (f64, f64, u64)) {
        let packet = Packet::from_words(words);
        let end = if packet.is_reverse() { End::Sender } else { End::Receiver };
        self.sample_before(packet.flow(), end, Time::new(time));
        self.hosts.arrive(&mut self.fabric, words.0, words.1, words.2, rank, time, caused_at);
    }

    /// The event of a timer of a host.
    #[inline]
    fn timer(&mut self, key: Key) {
        let flow = (key.entity() - self.hosts.entities().first_timer) / TIMERS;
        self.sample_before(flow, End::Sender, key.time);
        self.sample_before(flow, End::Receiver, key.time);
        self.hosts.timer(&mut self.fabric, key);
    }

    /// What was simulated, to the end of the run or as far as it came.
    #[must_use]
    pub fn reached(&self) -> Time {
        self.reached
    }

    /// Whether an ACK that was evaluated through to its sender comes after an event of that host: one of the ACKs
    /// before it may have set a timer, or have to wait itself.
    #[inline]
    fn comes_too_late(&self, flow: u32, time: f64) -> bool {
        let Some(link) = self.fabric.lookahead.acks_on(flow) else { return false };
        time >= self.fabric.links[link as usize].ahead.host_reacts_until.seconds()
            || self.fabric.lookahead.late.iter().any(|(_, packet)| packet.flow() == flow)
    }

    /// Lets the packets leave that a sender paces and that are due before an ACK which was evaluated through to it. Returns
    /// whether something of that host comes before the ACK now that has an event.
    #[inline]
    fn paces_before(&mut self, flow: u32, ack: Key) -> bool {
        while let Some(due) = self.hosts.is_due_before(flow, ack) {
            self.sample_before(flow, End::Sender, due.time);
            self.hosts.resume(&mut self.fabric, flow, due);
            if self.comes_too_late(flow, ack.time.seconds()) {
                return true;
            }
        }
        false
    }

    /// An event of a link: whether it is that of an ACK which waits, and now has arrived.
    #[cold]
    fn arrive_late(&mut self, key: Key) -> bool {
        let late = &mut self.fabric.lookahead.late;
        let Some(place) = late.iter().position(|late| late.0 == key) else { return false };
        let packet = late.remove(place).1;
        self.arrive(packet.words(), key.words());
        true
    }

    /// It is the turn of a source that was pushed back.
    fn source(&mut self, now: Key) {
        let flow = now.entity() - self.hosts.entities().first_source;
        self.sample_before(flow, End::Sender, now.time);
        self.fabric.begin_turn(flow);
        self.hosts.resume(&mut self.fabric, flow, now);
        self.fabric.end_turn(flow, now);
    }

    /// A start, a stop, a sample or a look at the confluences.
    fn control(&mut self, now: Key) {
        if now.entity() == SAMPLER {
            self.sample(now);
        } else if now.entity() == Entities::look(self.hosts.entities().first_link) {
            self.fabric.look(now);
        } else {
            self.sample_before((now.entity() - 1) / 2, End::Sender, now.time);
            self.hosts.start_or_stop(&mut self.fabric, now);
        }
    }

    /// Events handled.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Link crossings, data and ACKs.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.fabric.links.iter().map(|link| link.packets_delivered()).sum()
    }

    /// Random numbers drawn, ns-2's agents' clocks not counted.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let flows = 0..self.scenario.flows.len();
        self.fabric.random_draws() + flows.map(|flow| self.hosts.random_draws(flow)).sum::<u64>()
    }
}

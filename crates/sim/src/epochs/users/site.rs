//! The hosts behind one access router: sources with their senders, receivers, and their interfaces.
//!
//! Hosts touch each other through the network only. So what arrives for one of them is processed at once, in
//! the order in which the router passes it on, unless that host has a timer before, or all are looked at before;
//! then it waits for its turn.

use std::sync::Arc;

use super::counts::{ByKind, Counts, Row};
use super::group::Group;
use super::outlet::{Calendar, Due, Router};
use super::receptions::Receptions;
use super::source::{Source, State, Transfer};
use crate::congestion::{Controls, Handle};
use crate::epochs::inbox::Arrival;
use crate::error::ScenarioError;
use crate::events::Key;
use crate::hosts::checks::feedback;
use crate::packet::{Address, Packet};
use crate::prefetch::prefetch;
use crate::random::Stream;
use crate::scenario::{ControlShare, PeriodSpec, UsersSpec};
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;
use crate::transport::ecn::Feedback;
use crate::transport::network::Schedule as _;
use crate::transport::sender::Sender;
use crate::transport::timer::{APPLICATION, DELAYED_ACK, PACING, RETRANSMISSION};

mod hosts;
mod looks;
mod receivers;
mod sources;
mod transfers;

use hosts::Hosts;

/// What a receiver says that has forgotten a transfer, since it had all of it.
const ALL: u32 = Address::SEQUENCE - 1;

/// When sites are looked at.
#[derive(Clone, Debug)]
pub struct Looks {
    /// Seconds between them; none: never.
    pub interval_s: Option<f64>,
    /// Periods by which transfers are summed up.
    pub periods: Vec<PeriodSpec>,
    /// The end of the run.
    pub end: Time,
}

/// What a site shares with others of its region.
pub struct Shared<'a> {
    /// The router of the site.
    pub router: Router<'a>,
    /// What is to be done later.
    pub calendar: &'a mut Calendar,
    /// Options of the ACKs in flight.
    pub ack_options: &'a mut AckOptionSlab,
    /// What is counted, by interval.
    pub rows: &'a mut Vec<Row>,
    /// Completed transfers.
    pub by_kind: &'a mut ByKind,
}

/// The hosts behind one access router.
#[derive(Debug)]
pub struct Site {
    group: Arc<Group>,
    looks: Arc<Looks>,
    /// Its place in the group.
    index: u16,
    first_source: u32,
    /// Those that never end come last.
    sources: Vec<Source>,
    transfers: Vec<Transfer>,
    /// Of each source that never ends, which it is.
    long_lived: Vec<u16>,
    hosts: Hosts,
    controls: Controls,
    /// Of each control, a state as new.
    fresh: Vec<Handle>,
    feedback: Vec<Feedback>,
    receptions: Receptions,
    counts: Counts,
    /// When all are looked at next.
    next_look: Time,
    looks_done: u64,
    /// Data packets that arrive later than the present event.
    put_off: u32,
    /// Sources that send.
    sending: u32,
}

impl Site {
    /// The site with this place in its group, before anything happens.
    ///
    /// # Errors
    /// What is wrong with a congestion control.
    pub fn new(
        group: &Arc<Group>,
        (index, here): (u16, u32),
        looks: &Arc<Looks>,
        calendar: &mut Calendar,
    ) -> Result<Self, ScenarioError> {
        let place = index as usize;
        let spec = &group.spec;
        let (first_source, last) = (group.sources[place], group.sources[place + 1]);
        let mut controls = Controls::default();
        let fresh: Vec<Handle> =
            spec.controls.iter().map(|control| add(&mut controls, spec, control)).collect::<Result<_, _>>()?;
        let told = |&handle: &Handle| {
            feedback(&spec.label, &spec.tcp, group.connection.profile, controls.counts_marks(handle))
        };
        let long_lived: Vec<u16> =
            (0..).zip(&spec.long_lived).filter(|(_, flow)| flow.from as usize == place).map(|(flow, _)| flow).collect();
        let receivers = spec.sites[place].receivers;
        let ordinary = last - first_source - long_lived.len() as u32;
        let mut interfaces: Vec<u8> = (0..ordinary).map(|source| group.interface(index, false, source)).collect();
        interfaces.extend(long_lived.iter().map(|&flow| spec.long_lived[flow as usize].interface as u8));
        interfaces.extend((0..receivers).map(|receiver| group.interface(index, true, receiver)));
        let ends_here = spec.long_lived.iter().filter(|flow| flow.to as usize == place);
        interfaces.extend(ends_here.map(|flow| flow.interface as u8));
        let paths = spec.classes.len() * (spec.classes.len() + 1) / 2;
        let mut site = Self {
            feedback: fresh.iter().map(told).collect::<Result<_, _>>()?,
            sources: Vec::with_capacity((last - first_source) as usize),
            transfers: Vec::with_capacity((last - first_source) as usize),
            hosts: Hosts::new((index, here), interfaces),
            receptions: Receptions::default(),
            counts: Counts::new(paths, spec.long_lived.len()),
            next_look: Time::NEVER,
            looks_done: 0,
            put_off: 0,
            sending: 0,
            group: Arc::clone(group),
            looks: Arc::clone(looks),
            index,
            first_source,
            long_lived,
            controls,
            fresh,
        };
        for local in 0..last - first_source {
            site.add_source(local, ordinary, calendar)?;
        }
        site.plan_look(calendar);
        Ok(site)
    }

    fn add_source(&mut self, local: u32, ordinary: u32, calendar: &mut Calendar) -> Result<(), ScenarioError> {
        let group = Arc::clone(&self.group);
        let spec = &group.spec;
        let number = self.first_source + local;
        let mut stream = Stream::new(group.seed, &spec.label, number - group.sources[0], "user");
        let control = group.control(self.index, local);
        let handle = add(&mut self.controls, spec, &spec.controls[control as usize])?;
        let alarm = match local.checked_sub(ordinary) {
            Some(flow) => Time::planned(spec.long_lived[self.long_lived[flow as usize] as usize].start_s),
            None if stream.chance(spec.sending_at_start) => Time::new(stream.uniform() * spec.think.mean_s()),
            None => Time::new(stream.duration(spec.think)),
        };
        self.transfers.push(Transfer::new(self.sender(number, handle)));
        self.sources.push(Source::thinking(stream, alarm, control));
        self.hosts.turns(calendar).schedule(Key::planned(alarm, group.timer_entity(number, APPLICATION)));
        Ok(())
    }

    /// A closed connection of a source.
    fn sender(&self, source: u32, control: Handle) -> Sender {
        let entity = self.group.timer_entity(source, RETRANSMISSION);
        Sender::new(&self.group.connection, source, entity, control, 0.0, Time::ZERO)
    }

    /// Something is to be done in the epoch that begins.
    #[inline]
    pub fn note(&mut self, due: Due) {
        self.hosts.agenda.push(std::cmp::Reverse(due));
    }

    /// Works through an epoch, in which these packets come from the router, in this order.
    pub fn work(&mut self, (arrivals, order): (&[Arrival], &[(u64, u32)]), shared: &mut Shared<'_>) {
        /// Arrivals between the first request for memory and the second, and between that and its use.
        const APART: usize = 8;
        let packet = |place: usize| order.get(place).map(|&(_, index)| arrivals[index as usize].packet);
        for place in 0..APART {
            packet(place).into_iter().for_each(|packet| self.foresee(&packet));
        }
        for place in 0..APART {
            packet(place).into_iter().for_each(|packet| self.foresee_reception(&packet));
            packet(APART + place).into_iter().for_each(|packet| self.foresee(&packet));
        }
        for (place, &(_, index)) in order.iter().enumerate() {
            packet(place + APART).into_iter().for_each(|packet| self.foresee_reception(&packet));
            packet(place + 2 * APART).into_iter().for_each(|packet| self.foresee(&packet));
            let arrival = &arrivals[index as usize];
            let (key, packet) = (arrival.key(), arrival.packet);
            if packet.is_reverse() {
                self.take_ack(key, packet, shared);
            } else {
                self.take_data(key, packet, shared);
            }
        }
        while let Some(std::cmp::Reverse(Due { key, item: packet })) = self.hosts.agenda.pop() {
            match packet {
                None => self.timer(key, shared),
                Some(packet) if packet.is_reverse() => {
                    self.sources[(packet.source() - self.first_source) as usize].put_off -= 1;
                    self.receive_ack(key, packet, shared);
                }
                Some(packet) => {
                    self.put_off -= 1;
                    self.receive_data(key, packet, shared);
                }
            }
        }
    }

    /// Asks for the memory that a packet will need which comes soon.
    #[inline]
    fn foresee(&self, packet: &Packet) {
        if packet.is_reverse() {
            let local = (packet.source() - self.first_source) as usize;
            prefetch(&self.sources[local]);
            prefetch(&self.transfers[local]);
            self.hosts.foresee(local);
        } else {
            self.receptions.prefetch_place(packet.source());
        }
    }

    /// The same, of what the first request was needed for to find it.
    #[inline]
    fn foresee_reception(&self, packet: &Packet) {
        if !packet.is_reverse() {
            self.receptions.prefetch(packet.source());
            let host = self.group.receiver(self.index, packet.source(), packet.transfer());
            self.hosts.foresee(self.sources.len() + host as usize);
        }
    }

    /// The event of a timer, or it is time to look at all.
    fn timer(&mut self, now: Key, shared: &mut Shared<'_>) {
        if now.entity() == 0 {
            self.look(shared.rows);
            self.plan_look(shared.calendar);
            return;
        }
        let (source, timer) = self.group.timer(now.entity());
        let quiet = (Time::ZERO, 0);
        if timer == DELAYED_ACK {
            return self.delayed_ack(source, now, shared);
        }
        let local = (source - self.first_source) as usize;
        if timer != APPLICATION && self.sources[local].state == State::Thinking {
            // Of a transfer that was given up.
            return;
        }
        match timer {
            RETRANSMISSION if self.transfers[local].sender.has_tried(self.group.spec.connect_tries) => {
                if self.transfers[local].sender.gives_up(&mut self.hosts.turns(shared.calendar), now) {
                    self.counts.failed += 1;
                    self.think(local, now, shared.calendar);
                }
            }
            RETRANSMISSION => self.with_sender(local, now, quiet, shared, |sender, env| sender.timer(env)),
            PACING => self.with_sender(local, now, quiet, shared, |sender, env| sender.pacing_timer(env)),
            _ => self.alarm(local, now, shared),
        }
    }

    /// Gives back the memory of transfers that were given up.
    pub fn forget(&mut self, now: Time) {
        self.receptions.forget(self.group.heard_since(now));
    }

    /// Sources that send.
    #[must_use]
    pub fn sending(&self) -> u32 {
        self.sending
    }

    /// Packets that have crossed interfaces of hosts.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.hosts.crossed
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let senders: u64 = self.transfers.iter().map(|transfer| transfer.sender.random_draws()).sum();
        senders + self.sources.iter().map(|source| source.stream.draws()).sum::<u64>()
    }
}

/// A state of a congestion control as new.
fn add(controls: &mut Controls, spec: &UsersSpec, control: &ControlShare) -> Result<Handle, ScenarioError> {
    let added = controls.add(&control.congestion);
    added.map_err(|expected| ScenarioError::congestion(&spec.label, &control.congestion.kind, expected))
}

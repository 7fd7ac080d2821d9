//! A part of the network, processed epoch by epoch.

pub(super) mod build;
mod processors;

use std::sync::Arc;

use super::active::Active;
use super::beyond::Beyond;
use super::clock::{Clock, Epoch};
use super::flows::{self, FlowHosts, FlowPaths};
use super::inbox::{AHEAD, Arrival, Inbox, Sorter};
use super::notes::{Note, Notes};
use super::plan::Stop;
use super::routes::Routes;
use super::scatter::Scatter;
use super::users::counts::{ByKind, Row};
use super::users::outlet::{Calendar, Due, Next, Router};
use super::users::site::{Shared, Site};
use super::wheel::Wheel;
use crate::events::Key;
use crate::meeting::Mailbox;
use crate::network::letter::{Carried, Letter};
use crate::network::link::Link;
use crate::network::link::managed::Surroundings;
use crate::network::node::Nodes;
use crate::network::queue::Refusal;
use crate::samples::Samples;
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

/// The hosts at one place, with what a region must know of it.
#[derive(Debug)]
pub struct Place {
    /// The hosts.
    pub site: Site,
    /// The router.
    pub node: u32,
    /// The group of users.
    pub group: usize,
    /// Its destination.
    pub destination: u16,
}

/// What is counted of a group of users.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// By interval.
    pub rows: Vec<Row>,
    /// Completed transfers.
    pub by_kind: ByKind,
}

impl Counted {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.rows.resize(self.rows.len().max(other.rows.len()), Row::default());
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            *row += more;
        }
        for (&kind, &more) in &other.by_kind {
            *self.by_kind.entry(kind).or_default() += more;
        }
    }
}

/// What a part has another one know.
#[derive(Clone, Debug)]
pub enum Export {
    /// What links and hops do.
    Letter(Letter),
    /// What the first part tells a probe.
    Notes(Vec<Note>),
}

/// A part of the network.
#[derive(Debug)]
pub struct Region {
    /// All links of the network; those of other parts stay idle.
    pub links: Vec<Link>,
    /// All processors, likewise.
    pub nodes: Nodes,
    /// The node at the end of each link.
    ends: Vec<u32>,
    /// The places with users.
    pub places: Vec<Place>,
    /// Of each group of users.
    pub counted: Vec<Counted>,
    /// Groups of nodes that send to each other.
    pub scatter: Vec<Scatter>,
    /// The hosts of flows; none in networks without any.
    pub flows: Option<Box<FlowHosts>>,
    /// What arrives at each stop: links, then processors or destinations, then hosts.
    inboxes: Vec<Inbox>,
    /// Which of them have something to do.
    active: Active,
    /// What sites have to do later.
    calendar: Calendar,
    /// Links that end here and keep packets, by the epoch in which the first comes out.
    keeping: Wheel<u32>,
    /// Links whose queues hold packets, by the epoch in which the next enters the line; and processors, by the epoch in which
    /// they have served one.
    holding: Wheel<u32>,
    /// The arrivals that are processed.
    arrivals: Vec<Arrival>,
    /// The links that are.
    again: Vec<u32>,
    /// What sites have to do in the epoch that begins.
    due: Vec<(u32, Due)>,
    sorter: Sorter,
    ack_options: AckOptionSlab,
    routes: Arc<Routes>,
    /// The paths of flows, where there are any.
    paths: Option<Arc<FlowPaths>>,
    /// The stops of this part, in order.
    order: Vec<Stop>,
    /// Of each link, the other part in which it ends, if it does.
    abroad: Vec<Option<u32>>,
    /// What goes to each other part.
    messages: Vec<Vec<Export>>,
    /// The samples of links and flows, if any are taken.
    pub samples: Option<Box<Samples>>,
    /// What a probe is told, where one watches.
    pub notes: Option<Box<Notes>>,
    clock: Clock,
    end: Time,
}

impl Region {
    /// Works through one epoch.
    pub fn work(&mut self, epoch: Epoch) {
        self.deliver(epoch);
        self.begin_places(epoch);
        self.send_scattered(epoch);
        let mut from = 0;
        while let Some(place) = self.active.take_from(epoch, from) {
            from = place;
            match self.order.get(place as usize) {
                Some(&Stop::Link(link)) => self.serve(link, epoch),
                Some(&Stop::Processor(number)) => self.work_processor(number, epoch),
                Some(&Stop::Site(place)) => self.work_place(place, epoch),
                Some(&Stop::Host(host)) => self.work_host(host, epoch),
                None => self.receive_scattered(epoch),
            }
        }
    }

    /// Continues to the first epoch after `epoch`, which is done, in which something may happen, or to `until`.
    pub fn go_on(&mut self, epoch: Epoch, until: Epoch) -> Epoch {
        let Self { active, calendar, keeping, holding, scatter, .. } = self;
        let next = active.next(epoch).unwrap_or(until).min(until);
        if next > epoch + 1 {
            // Few epochs are empty where epochs are long.
            let wheels = keeping.next().into_iter().chain(holding.next()).chain(calendar.next());
            let next = wheels.chain(scatter.iter().filter_map(Scatter::next)).fold(next, Epoch::min);
            keeping.turn_to(next);
            holding.turn_to(next);
            calendar.turn_to(next);
            scatter.iter_mut().for_each(|group| group.turn_to(next));
            return next;
        }
        next
    }

    /// What was on its way for long and reaches the end of its link in this epoch continues to its next stop, and links
    /// that hold packets whose turn has come have something to do.
    fn deliver(&mut self, epoch: Epoch) {
        let Self { links, ends, inboxes, active, keeping, holding, routes, paths, clock, .. } = self;
        let until = clock.end(epoch).min(self.end);
        // Those that still keep some join the wheel again.
        let mut again = std::mem::take(&mut self.again);
        keeping.take(|index| again.push(index));
        keeping.turn();
        for index in again.drain(..) {
            let link = &mut links[index as usize];
            link.seen(epoch);
            let next = next(paths.as_deref(), routes, ends[index as usize]);
            let mut router = Router { next, inboxes, active };
            while let Some(key) = link.next_delivery() {
                if key.time >= until {
                    let next = clock.epoch(key.time).max(epoch + 1);
                    if link.is_awaited(next) {
                        keeping.push(next, index);
                    }
                    break;
                }
                if let Some(packet) = link.take() {
                    router.pass_on(epoch, Arrival::served(key.time, packet, key.entity()));
                }
            }
        }
        self.again = again;
        holding.take(|index| active.add(epoch, inboxes[index as usize].place()));
        holding.turn();
    }

    /// A link serves all that arrives in this epoch, and makes the decisions of it.
    fn serve(&mut self, index: u32, epoch: Epoch) {
        let Self {
            links, inboxes, active, arrivals, sorter, routes, paths, scatter, flows, ack_options, clock, ..
        } = self;
        let (messages, rings) = (&mut self.messages, &self.nodes.rings);
        inboxes[index as usize].swap(epoch, arrivals);
        let link = &mut links[index as usize];
        let kept = link.is_announced();
        let abroad = self.abroad[index as usize];
        let router = Router { next: next(paths.as_deref(), routes, self.ends[index as usize]), inboxes, active };
        // What comes out soon goes to its next stop at once.
        let ahead = if abroad.is_some() { 0 } else { epoch + AHEAD };
        let (place, notes, flows) = ((index, link.server.entity()), self.notes.as_deref_mut(), flows.as_deref_mut());
        let clock = *clock;
        let mut beyond =
            Beyond { router, ahead, clock, messages, scatter, flows, ack_options, place, rings, notes, at: Key::FIRST };
        for &(_, place) in sorter.sort(arrivals) {
            let Arrival { packet, .. } = arrivals[place as usize];
            let now = arrivals[place as usize].key();
            if let Some(samples) = &mut self.samples {
                samples.link_before((index, link), now.time, &mut beyond, |sample| sample);
            }
            beyond.comes(&packet, now);
            match link.server.offer(now, packet.size(), packet.is_capable()) {
                Ok(service) => {
                    beyond.grants(&packet, now, &link.server, &service);
                    let (packet, passage) = link.pass(packet, &service);
                    beyond.served(link, packet, passage, &service);
                }
                Err(Refusal::Elsewhere) => link.join(packet, beyond.key(&packet), now, &mut beyond),
                Err(refusal) => beyond.loses(&packet, now, refusal, false),
            }
        }
        arrivals.clear();
        if let Some(samples) = &mut self.samples {
            // Decisions follow that come later than these.
            samples.link_before((index, link), clock.end(epoch), &mut beyond, |sample| sample);
        }
        if link.managed.is_some() {
            let until = clock.end(epoch).min(self.end);
            link.decide_until(Key::planned(until, 0), &mut beyond);
            if let Some(due) = link.next_due() {
                self.holding.push(clock.epoch(due.time).max(epoch + 1), index);
            }
        }
        inboxes[index as usize].swap(epoch, arrivals);
        match abroad {
            Some(part) => self.export(index, part),
            None if !kept => watch(index, &mut self.links[index as usize], &mut self.keeping, self.clock),
            None => {}
        }
    }

    /// Hands over what a link has served, to the part that has its other end.
    fn export(&mut self, link: u32, part: u32) {
        let Self { links, messages, ack_options, .. } = self;
        while let Some(key) = links[link as usize].next_delivery()
            && let Some(packet) = links[link as usize].take()
        {
            let carried = Carried::new(link, packet, key.time, ack_options);
            messages[part as usize].push(Export::Letter(Letter::Packet(carried)));
        }
    }

    /// Leaves what goes to other parts in this turn. The first tells what all have noted.
    pub fn leave(&mut self, mailbox: &Mailbox<Export>, turn: u64, part: usize) {
        if let Some(notes) = self.notes.as_mut().filter(|_| part > 0) {
            self.messages[0].push(Export::Notes(notes.take()));
        }
        for (to, messages) in self.messages.iter_mut().enumerate().filter(|(to, _)| *to != part) {
            mailbox.leave(turn, part, to, messages);
        }
    }

    /// Takes what comes from other parts in this turn.
    pub fn take(&mut self, mailbox: &Mailbox<Export>, turn: u64, part: usize) {
        let Self { links, ack_options, keeping, flows, notes, clock, .. } = self;
        mailbox.take(turn, part, |message| {
            let carried = match message {
                Export::Letter(Letter::Packet(carried)) => carried,
                Export::Letter(Letter::Full(full)) => {
                    flows.iter_mut().for_each(|flows| flows.saturation.hear(full));
                    return;
                }
                Export::Notes(others) => {
                    if let Some(notes) = notes {
                        notes.extend(others);
                    }
                    return;
                }
            };
            let (link, delivery) = (carried.link, carried.delivery);
            let packet = carried.unpack(ack_options);
            let here = &mut links[link as usize];
            let key = Key::new(delivery, Time::new(packet.start), packet.precedence(), here.server.entity());
            if here.keep(packet, key) {
                watch(link, &mut links[link as usize], keeping, *clock);
            }
        });
    }

    fn begin_places(&mut self, epoch: Epoch) {
        let Self { places, flows, inboxes, active, calendar, routes, .. } = self;
        let mut due = std::mem::take(&mut self.due);
        calendar.begin(
            epoch,
            |place, event| due.push((place, event)),
            |place, arrival| {
                let next = Next::addressed(routes.from_node(places[place as usize].node));
                Router { next, inboxes, active }.pass_on(epoch, arrival);
            },
        );
        for (place, event) in due.drain(..) {
            let Some(Place { site, destination, .. }) = places.get_mut(place as usize) else {
                let host = place - places.len() as u32;
                if let Some(flows) = flows {
                    flows.note(host, event);
                    active.add(epoch, inboxes[flows.paths.stop(host) as usize].place());
                }
                continue;
            };
            site.note(event);
            active.add(epoch, inboxes[routes.stop(*destination) as usize].place());
        }
        self.due = due;
    }

    fn work_place(&mut self, index: u32, epoch: Epoch) {
        let Self { places, counted, inboxes, active, calendar, arrivals, sorter, ack_options, routes, .. } = self;
        let Place { site, node, group, destination } = &mut places[index as usize];
        let Counted { rows, by_kind } = &mut counted[*group];
        let stop = routes.stop(*destination) as usize;
        inboxes[stop].swap(epoch, arrivals);
        let router = Router { next: Next::addressed(routes.from_node(*node)), inboxes, active };
        let order = sorter.sort(arrivals);
        site.work((arrivals, order), &mut Shared { router, calendar, ack_options, rows, by_kind });
        arrivals.clear();
        inboxes[stop].swap(epoch, arrivals);
    }

    fn work_host(&mut self, host: u32, epoch: Epoch) {
        let Self { places, flows, inboxes, active, calendar, arrivals, sorter, ack_options, .. } = self;
        let Some(flows) = flows else { return };
        let (stop, site) = (flows.paths.stop(host) as usize, places.len() as u32 + host);
        inboxes[stop].swap(epoch, arrivals);
        // What it sends begins its path: there is no stop before.
        let router = Router { next: Next::default(), inboxes, active };
        let order = sorter.sort(arrivals);
        let (samples, notes) = (self.samples.as_deref_mut(), self.notes.as_deref_mut());
        let mut shared = flows::Shared { router, calendar, ack_options, samples, notes };
        flows.process((host, site), epoch, (arrivals, order), &mut shared);
        arrivals.clear();
        inboxes[stop].swap(epoch, arrivals);
    }

    fn send_scattered(&mut self, epoch: Epoch) {
        let Self { scatter, inboxes, active, routes, clock, .. } = self;
        for group in scatter {
            group.send(epoch, *clock, |node, arrival| {
                Router { next: Next::addressed(routes.from_node(node)), inboxes, active }.pass_on(epoch, arrival);
            });
        }
    }

    fn receive_scattered(&mut self, epoch: Epoch) {
        let Self { scatter, inboxes, arrivals, routes, .. } = self;
        for group in scatter {
            for destination in group.destinations() {
                let inbox = &mut inboxes[routes.stop(destination) as usize];
                inbox.swap(epoch, arrivals);
                for arrival in arrivals.drain(..) {
                    let packet = &arrival.packet;
                    group.receive(arrival.time(), packet, |node, target| routes.hops(node, target));
                }
                inbox.swap(epoch, arrivals);
            }
        }
    }

    /// Decides and counts what was not yet, when `epochs` are done.
    pub fn finish(&mut self, epochs: Epoch) {
        let last = epochs.saturating_sub(1);
        let until = self.clock.end(last).min(self.end);
        let order = std::mem::take(&mut self.order);
        for &stop in &order {
            match (stop, &mut self.samples, &mut self.flows) {
                (Stop::Link(link), samples, _) if samples.is_some() || self.links[link as usize].managed.is_some() => {
                    self.serve(link, last);
                }
                (Stop::Processor(number), Some(samples), _) => {
                    let number = number as usize;
                    samples.processor_before((number, &mut self.nodes.list[number].processor), until);
                }
                (Stop::Host(host), Some(samples), Some(flows)) => flows.sample(host, samples, until),
                _ => {}
            }
        }
        self.order = order;
        for Place { site, group, .. } in &mut self.places {
            site.finish(&mut self.counted[*group].rows);
        }
    }

    /// Gives back memory that nothing needs any more.
    pub fn tidy(&mut self, now: Time) {
        for place in &mut self.places {
            place.site.forget(now);
        }
    }

    /// Packets that have crossed links and interfaces.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        let links: u64 = self.links.iter().map(|link| link.packets_delivered()).sum();
        links + self.places.iter().map(|place| place.site.packet_hops()).sum::<u64>()
    }

    /// Sources that send.
    #[must_use]
    pub fn sending(&self) -> u64 {
        self.places.iter().map(|place| u64::from(place.site.sending())).sum()
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let links: u64 = self.links.iter().map(|link| link.random_draws()).sum();
        let scattered: u64 = self.scatter.iter().map(Scatter::random_draws).sum();
        let sprayed = self.flows.as_ref().map_or(0, |flows| flows.spraying.random_draws());
        links + scattered + sprayed + self.places.iter().map(|place| place.site.random_draws()).sum::<u64>()
    }
}

/// Which stop is next behind a node.
#[inline]
fn next<'a>(paths: Option<&'a FlowPaths>, routes: &'a Routes, node: u32) -> Next<'a> {
    Next { by_destination: routes.from_node(node), by_position: paths.map_or(&[], FlowPaths::stops) }
}

/// A link that kept nothing may keep packets now, or one that comes out before the others.
#[inline]
fn watch(index: u32, link: &mut Link, keeping: &mut Wheel<u32>, clock: Clock) {
    if let Some(next) = link.next_delivery() {
        let epoch = clock.epoch(next.time);
        if link.is_awaited(epoch) {
            keeping.push(epoch, index);
        }
    }
}

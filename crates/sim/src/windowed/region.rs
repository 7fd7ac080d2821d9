//! A part of the network, worked through window by window.

use std::sync::Arc;

use super::clock::{Clock, Window};
use super::line::{Arrival, Inbox, Line};
use super::plan::Stop;
use super::routes::{Next, Routes};
use super::scatter::Scatter;
use super::users::counts::{ByKind, Row};
use super::users::site::{Shared, Site};
use crate::time::Time;
use crate::transport::sack::SackSlab;

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

/// A part of the network.
#[derive(Debug)]
pub struct Region {
    /// All links of the network; those of other parts stay idle.
    pub lines: Vec<Line>,
    /// The places with users.
    pub places: Vec<Place>,
    /// Of each group of users.
    pub counted: Vec<Counted>,
    /// Groups of nodes that send to each other.
    pub scatter: Vec<Scatter>,
    /// What arrives at each link in the present window.
    inboxes: Vec<Inbox>,
    /// What arrived at each destination.
    arrived: Vec<Vec<Arrival>>,
    at_router: Vec<Arrival>,
    sacks: SackSlab,
    routes: Arc<Routes>,
    /// Links and places of this part, in order.
    order: Vec<Stop>,
    /// Links with a delay of a window or more, which end in this part.
    long: Vec<u32>,
    /// Of each link, whether it is one.
    is_long: Vec<bool>,
    clock: Clock,
    end: Time,
}

impl Region {
    /// A network in which nothing has happened, to be worked through in `order`. Links for which `is_long` is true
    /// have a delay of a window or more.
    #[must_use]
    pub fn new(
        lines: Vec<Line>,
        (places, groups): (Vec<Place>, usize),
        scatter: Vec<Scatter>,
        (routes, destinations): (Arc<Routes>, usize),
        (order, is_long): (Vec<Stop>, Vec<bool>),
        (clock, end): (Clock, Time),
    ) -> Self {
        Self {
            inboxes: vec![Inbox::default(); lines.len()],
            arrived: vec![Vec::new(); destinations],
            at_router: Vec::new(),
            sacks: SackSlab::default(),
            counted: vec![Counted::default(); groups],
            long: (0..).zip(&is_long).filter(|(_, long)| **long).map(|(link, _)| link).collect(),
            lines,
            places,
            scatter,
            routes,
            order,
            is_long,
            clock,
            end,
        }
    }

    /// Works through one window.
    pub fn work(&mut self, window: Window) {
        let until = self.clock.end(window).min(self.end);
        for index in 0..self.long.len() {
            self.deliver(self.long[index], until);
        }
        self.begin_places(window);
        self.send_scattered(window);
        for index in 0..self.order.len() {
            match self.order[index] {
                Stop::Link(link) => self.serve(link, until),
                Stop::Site(place) => self.work_place(place, window),
            }
        }
        self.receive_scattered();
    }

    fn serve(&mut self, index: u32, until: Time) {
        let inbox = &mut self.inboxes[index as usize];
        if !inbox.is_empty() {
            let Self { scatter, sacks, .. } = self;
            self.lines[index as usize].serve(inbox, self.end, |arrival| {
                if let Some(handle) = arrival.packet.blocks() {
                    sacks.discard(handle);
                }
                if let Some(group) = scatter.iter_mut().find(|group| group.has(&arrival.packet)) {
                    group.lose(arrival.key.time);
                }
            });
        }
        if !self.is_long[index as usize] {
            self.deliver(index, until);
        }
    }

    /// What reaches the end of a link goes on to its next stop.
    fn deliver(&mut self, index: u32, until: Time) {
        let Self { lines, inboxes, arrived, routes, .. } = self;
        let line = &mut lines[index as usize];
        let node = line.to;
        line.deliver(until, |arrival| pass_on(routes, node, arrival, inboxes, arrived));
    }

    fn begin_places(&mut self, window: Window) {
        let Self { places, inboxes, arrived, routes, .. } = self;
        for Place { site, node, .. } in places {
            site.begin(window, |arrival| pass_on(routes, *node, arrival, inboxes, arrived));
        }
    }

    fn work_place(&mut self, index: u32, window: Window) {
        let Self { places, counted, inboxes, arrived, at_router, sacks, routes, .. } = self;
        let Place { site, node, group, destination } = &mut places[index as usize];
        let Counted { rows, by_kind } = &mut counted[*group];
        site.work(window, &mut arrived[*destination as usize], &mut Shared { at_router, sacks, rows, by_kind });
        for arrival in at_router.drain(..) {
            pass_on(routes, *node, arrival, inboxes, arrived);
        }
    }

    fn send_scattered(&mut self, window: Window) {
        let Self { scatter, inboxes, arrived, routes, clock, .. } = self;
        for group in scatter {
            group.send(window, *clock, |node, arrival| pass_on(routes, node, arrival, inboxes, arrived));
        }
    }

    fn receive_scattered(&mut self) {
        let Self { scatter, arrived, routes, .. } = self;
        for group in scatter {
            for destination in group.destinations() {
                for Arrival { key, packet } in arrived[destination as usize].drain(..) {
                    group.receive(key.time, &packet, |node, destination| routes.hops(node, destination));
                }
            }
        }
    }

    /// Counts what was not counted yet, at the end.
    pub fn finish(&mut self) {
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
        let links: u64 = self.lines.iter().map(|line| line.link.packets_delivered()).sum();
        links + self.places.iter().map(|place| place.site.packet_hops()).sum::<u64>()
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let links: u64 = self.lines.iter().map(|line| line.link.random_draws()).sum();
        let scattered: u64 = self.scatter.iter().map(Scatter::random_draws).sum();
        links + scattered + self.places.iter().map(|place| place.site.random_draws()).sum::<u64>()
    }
}

/// A packet that came to a node goes to its next stop.
#[inline]
fn pass_on(routes: &Routes, node: u32, arrival: Arrival, inboxes: &mut [Inbox], arrived: &mut [Vec<Arrival>]) {
    let destination = arrival.packet.destination();
    match routes.next(node, destination) {
        Next::Link(next) => inboxes[next as usize].push(arrival),
        Next::Here => arrived[destination as usize].push(arrival),
        Next::Nowhere => {}
    }
}

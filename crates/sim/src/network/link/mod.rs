//! A link: a server with its queue, the packets on their way, and what the wire loses.

mod delivery;
mod longer;
pub mod managed;
mod out_of_order;

use self::delivery::Order;
pub use self::longer::{Longer, LongerByPosition};
use self::out_of_order::OutOfOrder;
use crate::delays::Delays;
use crate::events::{Entity, Key};
use crate::network::changes::{Changes, ChangesSample};
use crate::network::link::managed::Managed;
use crate::network::loss::Loss;
use crate::network::queue::{Queue, QueueSpec, Site};
use crate::network::server::{Server, ServerTotals, Service};
use crate::packet::{Kind, Packet};
use crate::ring::Ring;
use crate::scenario::{LinkSpec, Scenario};
use crate::time::Time;
use crate::transport::ns2;

/// Where a packet comes out that a link has served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// At the other end.
    Through,
    /// There, but after the end of the run.
    Late,
    /// Nowhere: the wire loses it.
    Lost,
}

/// What a wire that alters packets makes of one.
#[derive(Clone, Copy, Debug)]
enum Altered {
    Nothing,
    Bleached,
    Lost,
}

/// What lookahead evaluates together with a link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// What it delivers continues at once, to a link that takes all its packets from this one or to a confluence.
    pub continues: bool,
    /// The number of the confluence that it is, if it is one.
    pub confluence: u32,
    /// Until when the host at its end does nothing but react to what this link delivers. Before every time, where the host
    /// acts by itself, too.
    pub host_reacts_until: Time,
}

/// One direction of a wire, at work. Aligned to cache lines: each hop touches one of many.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Link {
    /// The transmitter and its waiting line.
    pub server: Server,
    /// Packets that were admitted and wait for their delivery event, oldest first, where they keep to their order.
    flight: Ring<Packet>,
    /// What is evaluated together with it; beside what is read with it, for the sake of the cache.
    pub ahead: Ahead,
    /// What comes out may not be what went in: the wire may lose it, or clears its ECN field. Or it takes a time that is noted.
    alters: bool,
    order: Order,
    /// The packets that wait, where the queue decides at departure which is next.
    pub managed: Option<Box<Managed>>,
    rare: Box<Rare>,
}

/// What is seldom looked at.
#[derive(Clone, Debug)]
struct Rare {
    loss: Option<Loss>,
    /// Where something changes: when the packets that keep to their order come out.
    deliveries: Ring<f64>,
    /// Where packets do not keep to their order: those that were admitted.
    out_of_order: Option<OutOfOrder>,
    /// What its delay, where it changes, adds to those of segments and datagrams.
    longer: Option<LongerByPosition>,
    /// When it begins to lose packets, in seconds.
    begins_s: f64,
    /// The ECN field of what it delivers is cleared.
    bleaches_ecn: bool,
    /// Packets that the wire lost before the end of the run.
    packets_lost: u64,
    /// Where samples are taken, when those of them are lost that are granted and still on their way, in seconds.
    losses: Option<Vec<f64>>,
    /// Packets admitted that do not come out at the other end before the run ends.
    packets_late: u64,
}

/// A link at the time of a sample; totals are those since the start.
#[derive(Clone, Copy, Debug)]
pub struct LinkSample {
    /// Packets waiting, without the one in service.
    pub waiting: usize,
    /// Time spent transmitting, in seconds.
    pub busy_s: f64,
    /// Packets that the queue refused or the wire lost.
    pub dropped: u64,
    /// Packets that the queue marked.
    pub marked: u64,
    /// Seconds until what is there has been sent.
    pub backlog_s: f64,
    /// What changes.
    pub changes: ChangesSample,
}

impl Link {
    /// All links of a scenario, idle, which are entities from `first` on.
    #[must_use]
    pub fn all(scenario: &Scenario, first: Entity, end: Time) -> Vec<Self> {
        // ns-2 has one generator for all; it is reproduced as far as one queue draws from it, behind agents of flows.
        let generator = ns2::generator(scenario).filter(|_| !scenario.flows.is_empty());
        let drawing = scenario.links.iter().position(|spec| matches!(spec.queue, QueueSpec::Red(_)));
        let link = |(index, (spec, entity)): (usize, (&LinkSpec, Entity))| {
            let ns2 = generator.as_ref().filter(|_| drawing == Some(index));
            Self::new(spec, entity, Site { ns2, ..spec.site(scenario.profile, scenario.seed) }, end)
                .noting_longer()
                .noting_losses(scenario)
        };
        scenario.links.iter().zip(first..).enumerate().map(link).collect()
    }

    /// An idle link.
    #[must_use]
    pub fn new(spec: &LinkSpec, entity: Entity, site: Site<'_>, end: Time) -> Self {
        let (queue, wire) = (Queue::new(&spec.queue, site), spec.wire());
        // What is retransmitted is lost for the last time on the line.
        let loss = if spec.arq.is_none() { Loss::new(&spec.loss, wire, site.seed, &spec.name) } else { None };
        let (changes, out_of_order) = (Changes::new(spec, site.seed), OutOfOrder::new(spec, site.seed));
        let order = match (&changes, &out_of_order) {
            (_, Some(_)) => Order::Free,
            (Some(_), None) => Order::Noted,
            (None, None) => Order::Kept,
        };
        let flushes = changes.as_ref().is_some_and(Changes::loses);
        Self {
            alters: loss.is_some() || flushes || spec.bleaches_ecn,
            order,
            server: Server::new(entity, wire, queue, end).changing(changes),
            flight: Ring::default(),
            ahead: Ahead::default(),
            managed: Managed::new(&spec.queue, site).map(Box::new),
            rare: Box::new(Rare {
                loss,
                deliveries: Ring::default(),
                out_of_order,
                longer: None,
                bleaches_ecn: spec.bleaches_ecn,
                begins_s: 0.0,
                packets_lost: 0,
                losses: None,
                packets_late: 0,
            }),
        }
    }

    /// It notes when packets are lost, of which samples ask.
    fn noting_losses(mut self, scenario: &Scenario) -> Self {
        self.rare.losses = scenario.observe.interval_s.map(|_| Vec::new());
        self
    }

    /// It notes what its delay, where it changes, adds to those of flows.
    fn noting_longer(mut self) -> Self {
        if self.server.changes().is_some_and(|changes| changes.longer_s(0, 0.0).is_some()) {
            (self.alters, self.rare.longer) = (true, Some(LongerByPosition::new()));
        }
        self
    }

    /// A link of a scenario, idle, of which nothing but what its queue takes is asked.
    #[must_use]
    pub fn idle(scenario: &Scenario, link: u32) -> Self {
        let spec = &scenario.links[link as usize];
        Self::new(spec, 0, spec.site(scenario.profile, scenario.seed), Time::ZERO)
    }

    /// It begins to change, to lose packets and to double them at `begins_s` only, from which their times are counted.
    pub fn begin_at(&mut self, begins_s: f64) {
        self.rare.begins_s = begins_s;
        if let Some(changes) = self.server.changes() {
            changes.begin_at(begins_s);
        }
    }

    /// Whether its queue takes a packet of `size` bytes where nothing is ahead of it.
    #[must_use]
    pub fn takes_alone(&self, size: u32) -> bool {
        match &self.managed {
            Some(managed) => managed.has_room_when_idle(size),
            None => self.server.takes_alone(size),
        }
    }

    /// A packet was granted a service: the packet with what that writes on it, and where it comes out.
    #[inline(always)]
    pub fn pass(&mut self, packet: Packet, service: &Service) -> (Packet, Passage) {
        let packet = packet.served(service.start, service.precedence);
        let packet = if service.marked { packet.marked() } else { packet };
        if self.server.ends_before(service.delivery) {
            self.note_late(packet.size(), service.start);
            (packet, Passage::Late)
        } else if self.alters {
            match self.altered(packet, service.start, service.delivery) {
                Altered::Lost => (packet.lost(), Passage::Lost),
                Altered::Bleached => (packet.bleached(), Passage::Through),
                Altered::Nothing => (packet, Passage::Through),
            }
        } else {
            (packet, Passage::Through)
        }
    }

    /// What the wire makes of a packet. It takes a copy, and gives what fits a register: of a service or a packet whose
    /// address is handed over, every hop of every link writes the words to memory and reads them back as one, for which a
    /// processor waits.
    #[cold]
    #[inline(never)]
    fn altered(&mut self, packet: Packet, start: Time, delivery: Time) -> Altered {
        if self.loses_next(packet.size(), start) {
            if let Some(losses) = &mut self.rare.losses {
                losses.push(delivery.seconds());
            }
            return Altered::Lost;
        }
        if self.rare.longer.is_some() {
            self.note_longer(&packet, delivery.seconds());
        }
        if self.rare.bleaches_ecn { Altered::Bleached } else { Altered::Nothing }
    }

    fn note_longer(&mut self, packet: &Packet, delivery_s: f64) {
        // The delay of a SYN is none of the flow's.
        if (packet.kind() == Kind::Datagram || packet.kind() == Kind::Segment && packet.seq() > 0)
            && !packet.is_addressed()
            && let Some(longer_s) =
                self.server.changes().and_then(|changes| changes.longer_s(packet.size(), delivery_s))
            && let Some(known) = &mut self.rare.longer
        {
            known.entry(packet.position()).or_default().add(longer_s);
        }
    }

    /// Whether the wire loses the packet that it transmits next, from `start` on.
    #[cold]
    fn loses_next(&mut self, size: u32, start: Time) -> bool {
        let flushed = self.server.changes().is_some_and(|changes| changes.has_lost());
        let rare = &mut *self.rare;
        let since_s = start.seconds() - rare.begins_s;
        let loses = flushed || since_s >= 0.0 && rare.loss.as_mut().is_some_and(|loss| loss.loses(size, since_s));
        rare.packets_lost += u64::from(loses);
        loses
    }

    /// A packet was admitted that does not come out at the other end before the run ends.
    #[cold]
    fn note_late(&mut self, size: u32, start: Time) {
        self.rare.packets_late += 1;
        // Those behind it may come out in time, with what they draw however long the run is.
        if self.reorders() {
            let lost = self.loses_next(size, start);
            self.rare.packets_lost -= u64::from(lost);
            if let Some(out_of_order) = self.rare.out_of_order.as_mut().filter(|_| !lost) {
                out_of_order.duplicates();
            }
        }
    }

    /// What it did before the end of the run.
    #[must_use]
    pub fn totals(&self) -> ServerTotals {
        self.totals_until(self.server.end())
    }

    /// What it did before `end`, of which its server need not know.
    #[must_use]
    pub fn totals_until(&self, end: Time) -> ServerTotals {
        let line = self.server.totals();
        self.managed.as_ref().map_or(line, |managed| managed.totals(line, end))
    }

    /// Packets that its queue has dropped so far.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.managed.as_ref().map_or_else(|| self.server.dropped(), |managed| managed.counts.dropped)
    }

    /// How long packets waited that entered the line before the end of the run.
    #[must_use]
    pub fn queueing(&self) -> Delays {
        self.managed.as_ref().map_or_else(|| self.server.queueing(), |managed| managed.counts.waits.clone())
    }

    /// What its changing delay adds to those of segments and datagrams that it delivers.
    #[must_use]
    pub fn longer(&self) -> Option<&LongerByPosition> {
        self.rare.longer.as_ref()
    }

    /// Whether it is not sure that what is granted comes out at the other end, in order and once.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.rare.loss.is_some() || self.server.loses() || self.reorders()
    }

    /// Packets that the wire lost before the end of the run.
    #[must_use]
    pub fn packets_lost(&self) -> u64 {
        self.rare.packets_lost
    }

    /// Packets that came out at the other end before the end of the run.
    #[must_use]
    pub fn packets_delivered(&self) -> u64 {
        let totals = self.server.totals();
        let delivered = totals.packets_in - totals.packets_dropped - self.rare.packets_lost - self.rare.packets_late;
        delivered + self.rare.out_of_order.as_ref().map_or(0, OutOfOrder::copies)
    }

    /// Packets waiting at `now`, up to which decisions are made, without the one in service.
    pub fn waiting(&mut self, now: Key) -> usize {
        match self.managed.as_ref().map(|managed| managed.waiting()) {
            None => self.server.waiting(now),
            Some(packets) => packets + self.waiting_on_line(now),
        }
    }

    /// Packets that its queue has put on the line, and that wait there at `now` for tokens, for the medium or for its return.
    pub(super) fn waiting_on_line(&mut self, now: Key) -> usize {
        if self.server.changes().is_some() { self.server.waiting(now) } else { 0 }
    }

    /// Seconds from `now`, up to which decisions are made, until what is on the line and waits has been sent.
    #[must_use]
    pub fn backlog_s(&self, now: Time) -> f64 {
        match &self.managed {
            None => self.server.backlog_s(now),
            Some(managed) => managed.backlog_s(&self.server, now),
        }
    }

    /// For how long it has been busy until `now`, up to which decisions are made, in seconds.
    #[must_use]
    pub fn busy_until(&self, now: Time) -> f64 {
        match &self.managed {
            None => self.server.busy_until(now),
            Some(managed) => managed.busy_until(&self.server, now),
        }
    }

    /// The totals of a run that was interrupted at `reached`; what was granted then counts as done, but for the time that it takes.
    #[must_use]
    pub fn until(&self, reached: Time, totals: ServerTotals) -> ServerTotals {
        if self.server.ends_before(reached) {
            return totals;
        }
        ServerTotals { busy_s: self.busy_until(reached), work: self.server.work(reached.seconds()), ..totals }
    }

    /// Packets that the wire has lost by `now`, which does not fall from call to call: a loss that is decided with the grant
    /// happens where the packet would have come out.
    fn lost_by(&mut self, now: Time) -> u64 {
        let ahead = self.rare.losses.as_mut().map_or(0, |losses| {
            losses.retain(|&lost_s| lost_s >= now.seconds());
            losses.len()
        });
        self.rare.packets_lost - ahead as u64
    }

    /// What it is and did at `now`, up to which decisions are made.
    pub fn sample(&mut self, now: Key) -> LinkSample {
        LinkSample {
            waiting: self.waiting(now),
            busy_s: self.busy_until(now.time),
            changes: self.server.sample_changes(now.time),
            dropped: self.refused() + self.lost_by(now.time),
            marked: self.managed.as_ref().map_or_else(|| self.server.marked(), |managed| managed.counts.marked),
            backlog_s: self.backlog_s(now.time),
        }
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let queue = self.managed.as_ref().map_or_else(|| self.server.random_draws(), |managed| managed.random_draws());
        queue
            + self.rare.loss.as_ref().map_or(0, Loss::random_draws)
            + self.rare.out_of_order.as_ref().map_or(0, OutOfOrder::random_draws)
    }
}

//! The hosts behind one access router: sources with their senders, receivers, and their interfaces.
//!
//! Hosts touch each other through the network only. So what arrives for one of them is worked through at once, in
//! the order in which the router passes it on, unless that host has a timer before, or all are looked at before;
//! then it waits for its turn.

use std::sync::Arc;

use super::counts::{ByKind, Counts, Kind, Row, States, Transfers, WINDOW_UNIT};
use super::group::Group;
use super::outlet::{Agenda, Due, Leaving, Outlet, Router};
use super::port::Port;
use super::receptions::{Reception, Receptions};
use super::source::{Source, State};
use crate::congestion::{Controls, Handle};
use crate::events::Key;
use crate::packet::{self, Address, Packet};
use crate::prefetch::prefetch;
use crate::random::Stream;
use crate::scenario::{PeriodSpec, Profile};
use crate::time::Time;
use crate::transport::ecn::{Feedback, Signs};
use crate::transport::network::{Network as _, Schedule as _};
use crate::transport::receiver::Receiver;
use crate::transport::sack::SackSlab;
use crate::transport::sender::{Env, Sender};
use crate::windowed::clock::{Clock, Window};
use crate::windowed::inbox::Arrival;

/// Timers of a source, in the order of their entities.
const RETRANSMISSION: u32 = 0;
const DELAYED_ACK: u32 = 1;
const APPLICATION: u32 = 2;
const PACING: u32 = 3;

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
    /// SACK blocks of the ACKs in flight.
    pub sacks: &'a mut SackSlab,
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
    senders: Vec<Sender>,
    /// Of each source that never ends, which it is.
    long_lived: Vec<u16>,
    /// Of each host, sources first: its interfaces, out and in.
    ports: Vec<[Port; 2]>,
    port_kinds: Vec<u8>,
    controls: Controls,
    /// Of each control, a state as new.
    fresh: Vec<Handle>,
    feedback: Vec<Feedback>,
    receptions: Receptions,
    agenda: Agenda,
    leaving: Leaving,
    counts: Counts,
    /// When all are looked at next.
    next_look: Time,
    looks_done: u64,
    /// Data packets that arrive later than the present event.
    put_off: u32,
    /// Packets that reached their host before the end.
    crossed: u64,
}

impl Site {
    /// The site with this place in its group, before anything happens.
    ///
    /// # Errors
    /// What is wrong with a congestion control.
    pub fn new(group: &Arc<Group>, index: u16, looks: &Arc<Looks>, clock: Clock) -> Result<Self, String> {
        let place = index as usize;
        let spec = &group.spec;
        let (first_source, last) = (group.sources[place], group.sources[place + 1]);
        let mut controls = Controls::default();
        let fresh: Vec<Handle> =
            spec.controls.iter().map(|control| controls.add(&control.congestion)).collect::<Result<_, _>>()?;
        let long_lived: Vec<u16> =
            (0..).zip(&spec.long_lived).filter(|(_, flow)| flow.from as usize == place).map(|(flow, _)| flow).collect();
        let receivers = spec.sites[place].receivers;
        let ordinary = last - first_source - long_lived.len() as u32;
        let mut port_kinds: Vec<u8> = (0..ordinary).map(|source| group.interface(index, false, source)).collect();
        port_kinds.extend(long_lived.iter().map(|&flow| spec.long_lived[flow as usize].interface as u8));
        port_kinds.extend((0..receivers).map(|receiver| group.interface(index, true, receiver)));
        let paths = spec.classes.len() * (spec.classes.len() + 1) / 2;
        let mut site = Self {
            feedback: fresh.iter().map(|&handle| feedback(spec.tcp.ecn, controls.reads_marks(handle))).collect(),
            sources: Vec::with_capacity((last - first_source) as usize),
            senders: Vec::with_capacity((last - first_source) as usize),
            ports: vec![[Port::default(); 2]; port_kinds.len()],
            receptions: Receptions::default(),
            agenda: Agenda::new(clock, looks.end),
            leaving: Leaving::new(clock, looks.end),
            counts: Counts::new(paths, spec.long_lived.len()),
            next_look: Time::NEVER,
            looks_done: 0,
            put_off: 0,
            crossed: 0,
            group: Arc::clone(group),
            looks: Arc::clone(looks),
            index,
            first_source,
            long_lived,
            port_kinds,
            controls,
            fresh,
        };
        for local in 0..last - first_source {
            site.add_source(local, ordinary)?;
        }
        site.plan_look();
        Ok(site)
    }

    fn add_source(&mut self, local: u32, ordinary: u32) -> Result<(), String> {
        let group = Arc::clone(&self.group);
        let spec = &group.spec;
        let number = self.first_source + local;
        let mut stream = Stream::new(group.seed, &spec.label, number - group.sources[0], "user");
        let control = group.control(self.index, local);
        let handle = self.controls.add(&spec.controls[control as usize].congestion)?;
        let alarm = match local.checked_sub(ordinary) {
            Some(flow) => Time::planned(spec.long_lived[self.long_lived[flow as usize] as usize].start_s),
            None if stream.chance(spec.sending_at_start) => Time::new(stream.uniform() * spec.think.mean_s()),
            None => Time::new(stream.duration(spec.think)),
        };
        self.senders.push(self.sender(number, handle));
        self.sources.push(Source::thinking(stream, alarm, control));
        self.agenda.schedule(Key::planned(alarm, group.timer_entity(number, APPLICATION)));
        Ok(())
    }

    /// A closed connection of a source.
    fn sender(&self, source: u32, control: Handle) -> Sender {
        let entity = self.group.timer_entity(source, RETRANSMISSION);
        Sender::new(&self.group.connection, source, entity, control, 0, 0.0, Time::ZERO)
    }

    /// When all are looked at next: at multiples of the interval, not at sums of it.
    fn plan_look(&mut self) {
        self.looks_done += 1;
        let Some(interval_s) = self.looks.interval_s else { return };
        self.next_look = Time::new(interval_s * self.looks_done as f64);
        self.agenda.schedule(Key::planned(self.next_look, 0));
    }

    /// Begins a window: the router passes on what reaches it then and was sent long before.
    pub fn begin(&mut self, window: Window, router: &mut Router<'_>) {
        self.leaving.begin(window, router);
    }

    /// Works through a window, in which these packets come from the router, in this order.
    pub fn work(&mut self, window: Window, (arrivals, order): (&[Arrival], &[(u64, u32)]), shared: &mut Shared<'_>) {
        /// Arrivals between the first request for memory and the second, and between that and its use.
        const APART: usize = 8;
        self.agenda.begin(window);
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
        while let Some(std::cmp::Reverse(Due { key, packet })) = self.agenda.now.pop() {
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
            prefetch(&self.senders[local]);
            prefetch(&self.ports[local]);
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
            prefetch(&self.ports[self.sources.len() + host as usize]);
        }
    }

    /// The router passes on an ACK to a source: it crosses the interface.
    fn take_ack(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let local = (packet.source() - self.first_source) as usize;
        let key = self.cross(now, packet.size(), local as u32);
        if key.time >= self.looks.end {
            return;
        }
        self.crossed += 1;
        let source = &mut self.sources[local];
        let until = source.alarm.min(self.senders[local].reacts_until()).min(self.next_look);
        if source.put_off == 0 && key.time < until {
            self.receive_ack(key, packet, shared);
        } else {
            source.put_off += 1;
            self.agenda.put_off(key, packet);
        }
    }

    /// A packet crosses the interface of a host of the site, inwards.
    #[inline]
    fn cross(&mut self, now: Key, size: u32, host: u32) -> Key {
        let timing = &self.group.ports[self.port_kinds[host as usize] as usize];
        let entity = self.group.port_entity(self.group.hosts[self.index as usize] + host, false);
        self.ports[host as usize][1].cross(now, size, timing, entity)
    }

    /// An ACK has reached its source.
    fn receive_ack(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let local = (packet.source() - self.first_source) as usize;
        if packet.transfer() != self.sources[local].transfer || self.sources[local].state == State::Thinking {
            if let Some(handle) = packet.blocks() {
                shared.sacks.discard(handle);
            }
            return;
        }
        let opened;
        let (blocks, echo) = match packet.blocks() {
            None => (&[][..], packet.sent()),
            Some(handle) => {
                opened = shared.sacks.take(handle);
                (opened.0.as_slice(), opened.1)
            }
        };
        let (acked, window) = (self.senders[local].acked, self.senders[local].window.cwnd);
        let ack = packet.unaddressed().seq().min(self.senders[local].highest.max(0) as u32);
        self.with_sender(local, now, (echo, packet.is_marked()), shared, |sender, env| {
            sender.receive(env, ack, blocks)
        });
        let (sender, source, counts) = (&self.senders[local], &mut self.sources[local], &mut self.counts);
        if ack as i32 > acked {
            counts.increases += u64::from(sender.window.cwnd > window);
            let rtt_s = now.time.since(echo);
            // The SYN is small: its round trip tells nothing of those of data.
            if acked >= 0 {
                counts.rtt_ns += (rtt_s * 1e9).round() as u64;
                counts.queueing_ns += ((rtt_s - source.round_trip_s).max(0.0) * 1e9).round() as u64;
                counts.rtt_samples += 1;
            }
        } else {
            counts.duplicates += 1;
        }
        if source.state == State::Connecting && sender.acked >= 0 {
            source.state = State::Sending;
            source.began = now.time;
        }
        if sender.acked >= source.packets as i32 {
            self.complete(local, now, shared);
        }
    }

    /// Has a sender act, and counts what it sends.
    fn with_sender(
        &mut self,
        local: usize,
        now: Key,
        (echo, marked): (Time, bool),
        shared: &mut Shared<'_>,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Outlet<'_, '_>>),
    ) {
        let (group, source, sender) = (&*self.group, &self.sources[local], &mut self.senders[local]);
        let before = (sender.totals.packets_sent, sender.totals.packets_retransmitted, sender.totals.timeouts);
        let connected = sender.acked >= 0;
        let mut outlet = Outlet {
            agenda: &mut self.agenda,
            leaving: &mut self.leaving,
            router: &mut shared.router,
            sacks: shared.sacks,
            port: &mut self.ports[local][0],
            timing: &group.ports[self.port_kinds[local] as usize],
            entity: group.port_entity(group.hosts[self.index as usize] + local as u32, true),
            address: Address {
                destination: group.first_destination + source.target,
                transfer: source.transfer,
                last: false,
            },
            last: source.packets,
        };
        let (controls, connection) = (&mut self.controls, &group.connection);
        act(sender, &mut Env { network: &mut outlet, controls, connection, now, echo, marked });
        let totals = &sender.totals;
        // Not the SYN, nor the third step of the handshake, which ns-2 leaves out.
        let bare = u64::from(sender.acked >= 0 && !connected && connection.profile != Profile::Ns2);
        if sender.acked >= 0 {
            self.counts.sent += totals.packets_sent - before.0 - bare;
            self.counts.retransmitted += totals.packets_retransmitted - before.1;
            self.counts.timeouts += totals.timeouts - before.2;
        }
    }

    /// The router passes on a data packet to a receiver: it crosses the interface.
    fn take_data(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let (source, transfer) = (packet.source(), packet.transfer());
        let heard_since = self.group.heard_since(now.time);
        let host = match self.receptions.get(source, transfer, heard_since) {
            Some(reception) => reception.host,
            None => self.group.receiver(self.index, source, transfer),
        };
        let key = self.cross(now, packet.size(), self.sources.len() as u32 + host);
        if key.time >= self.looks.end {
            return;
        }
        self.crossed += 1;
        if self.put_off == 0 && self.group.spec.tcp.delayed_ack_s.is_none() && key.time < self.next_look {
            self.receive_data(key, packet, shared);
        } else {
            self.put_off += 1;
            self.agenda.put_off(key, packet);
        }
    }

    /// The SYN of a transfer has come.
    fn accept(&mut self, now: Time, source: u32, transfer: u8) {
        let group = &self.group;
        let host = group.receiver(self.index, source, transfer);
        let origin = group.site_of(source);
        let local = source - group.sources[origin as usize];
        let timer = group.timer_entity(source, DELAYED_ACK);
        let feedback = self.feedback[group.control(origin, local) as usize];
        let receiver = Receiver::new(&group.spec.tcp, group.connection.profile, feedback, source, timer);
        let long_lived = group.long_lived(origin, source);
        let path = group.path(origin, self.index);
        let reception = Reception { receiver, transfer, path, host, origin, long_lived, last: None, seen: now };
        self.receptions.insert(source, reception);
    }

    /// A data packet has reached its receiver.
    fn receive_data(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let (source, transfer) = (packet.source(), packet.transfer());
        let plain = packet.unaddressed();
        let carries_data = plain.seq() > 0 && !packet.is_bare();
        let heard_since = self.group.heard_since(now.time);
        if plain.seq() == 0 && !plain.is_bare() && self.receptions.get(source, transfer, heard_since).is_none() {
            self.accept(now.time, source, transfer);
        }
        let (group, counts) = (&*self.group, &mut self.counts);
        counts.delivered += u64::from(carries_data);
        let reception = self.receptions.get(source, transfer, heard_since);
        let (host, origin) = match &reception {
            Some(reception) => (reception.host, reception.origin),
            None => (group.receiver(self.index, source, transfer), group.site_of(source)),
        };
        if carries_data {
            counts.by_path[group.path(origin, self.index) as usize] += 1;
        }
        let local = self.sources.len() + host as usize;
        let mut outlet = Outlet {
            agenda: &mut self.agenda,
            leaving: &mut self.leaving,
            router: &mut shared.router,
            sacks: shared.sacks,
            port: &mut self.ports[local][0],
            timing: &group.ports[self.port_kinds[local] as usize],
            entity: group.port_entity(group.hosts[self.index as usize] + local as u32, true),
            address: Address { destination: group.first_destination + origin, transfer, last: false },
            last: u32::MAX,
        };
        let Some(reception) = reception else {
            // All of the transfer is here; that the source does not know.
            if carries_data {
                let sent = packet.sent().seconds();
                let ack = Packet::new(packet::Kind::Ack, source, ALL, group.spec.tcp.ack_bytes, sent);
                outlet.send(ack, now);
            }
            return;
        };
        reception.seen = now.time;
        if let Some(flow) = reception.long_lived {
            counts.by_long_lived[flow as usize] += u64::from(carries_data);
        }
        if packet.is_last() {
            reception.last = Some(plain.seq());
        }
        let receiver = &mut reception.receiver;
        if receiver.reads_marks()
            && let Some(ack) = receiver.owed(Signs::of(&packet))
        {
            outlet.send(ack, now);
        }
        if let Some(ack) = receiver.receive(&mut outlet, now, &plain) {
            outlet.send(ack, now);
        }
        if reception.last.is_some_and(|last| receiver.in_order() >= last as i32) {
            self.receptions.remove(source);
        }
    }

    /// The event of a timer, or it is time to look at all.
    fn timer(&mut self, now: Key, shared: &mut Shared<'_>) {
        if now.entity() == 0 {
            self.look(shared.rows);
            self.plan_look();
            return;
        }
        let (source, timer) = self.group.timer(now.entity());
        let quiet = (Time::ZERO, false);
        if timer == DELAYED_ACK {
            return self.delayed_ack(source, now, shared);
        }
        let local = (source - self.first_source) as usize;
        if timer != APPLICATION && self.sources[local].state == State::Thinking {
            // Of a transfer that was given up.
            return;
        }
        match timer {
            RETRANSMISSION if self.senders[local].has_tried(self.group.spec.connect_tries) => {
                if self.senders[local].gives_up(&mut self.agenda, now) {
                    self.counts.failed += 1;
                    self.think(local, now);
                }
            }
            RETRANSMISSION => self.with_sender(local, now, quiet, shared, |sender, env| sender.timer(env)),
            PACING => self.with_sender(local, now, quiet, shared, |sender, env| sender.pacing_timer(env)),
            _ => self.alarm(local, now, shared),
        }
    }

    fn delayed_ack(&mut self, source: u32, now: Key, shared: &mut Shared<'_>) {
        // Only one of a source's transfers is here; the timers of others are stale.
        let group = &*self.group;
        let Some(reception) = self.receptions.of(source) else { return };
        let local = self.sources.len() + reception.host as usize;
        let mut outlet = Outlet {
            agenda: &mut self.agenda,
            leaving: &mut self.leaving,
            router: &mut shared.router,
            sacks: shared.sacks,
            port: &mut self.ports[local][0],
            timing: &group.ports[self.port_kinds[local] as usize],
            entity: group.port_entity(group.hosts[self.index as usize] + local as u32, true),
            address: Address {
                destination: group.first_destination + reception.origin,
                transfer: reception.transfer,
                last: false,
            },
            last: u32::MAX,
        };
        if let Some(ack) = reception.receiver.timer(&mut outlet, now) {
            outlet.send(ack, now);
        }
    }

    /// A source has thought enough, or has no more patience.
    fn alarm(&mut self, local: usize, now: Key, shared: &mut Shared<'_>) {
        if self.sources[local].alarm != now.time {
            return;
        }
        if self.sources[local].state == State::Thinking {
            self.begin_transfer(local, now, shared);
        } else {
            self.counts.abandoned += 1;
            self.think(local, now);
        }
    }

    fn begin_transfer(&mut self, local: usize, now: Key, shared: &mut Shared<'_>) {
        let group = Arc::clone(&self.group);
        let number = self.first_source + local as u32;
        let source = &mut self.sources[local];
        let (target, kind) = match group.long_lived(self.index, number) {
            Some(flow) => {
                let flow = &group.spec.long_lived[flow as usize];
                (source.packets, source.file) = (Address::SEQUENCE - 2, u8::MAX);
                (flow.to as u16, Some(flow.interface as u8))
            }
            None => {
                (source.file, source.packets) = group.choose_file(now.time.seconds(), self.index, &mut source.stream);
                (group.choose_site(self.index, &mut source.stream), None)
            }
        };
        source.target = target;
        source.path = group.path(self.index, target);
        source.state = State::Connecting;
        let own = self.port_kinds[local];
        let other =
            kind.unwrap_or_else(|| group.interface(target, true, group.receiver(target, number, source.transfer)));
        source.interface = if group.is_slower(own, other) { own } else { other };
        source.round_trip_s = group.round_trip_s((self.index, own), (target, other));
        source.alarm = match &group.spec.patience {
            Some(patience) if kind.is_none() => {
                now.time + (patience.least_s + f64::from(source.packets) / patience.packets_per_s)
            }
            _ => Time::NEVER,
        };
        let (alarm, control, packets) = (source.alarm, source.control, source.packets as i32);
        let handle = self.senders[local].control();
        self.controls.renew(handle, self.fresh[control as usize]);
        self.senders[local] = self.sender(number, handle);
        let samples = self.controls.samples_delivery(handle);
        if samples || group.spec.tcp.pacing {
            let random = samples.then(|| self.sources[local].stream.branch());
            self.senders[local].pace(group.timer_entity(number, PACING), random);
        }
        self.set_alarm(local, alarm, now);
        self.with_sender(local, now, (Time::ZERO, false), shared, |sender, env| sender.begin(env, packets));
    }

    /// All of a file is acknowledged.
    fn complete(&mut self, local: usize, now: Key, shared: &mut Shared<'_>) {
        let (source, totals) = (&self.sources[local], &self.senders[local].totals);
        let seconds = now.time.since(source.began);
        let periods = &self.looks.periods;
        let period = periods.iter().position(|period| (period.start_s..period.stop_s).contains(&now.time.seconds()));
        let kind = Kind {
            period: period.unwrap_or(periods.len()) as u8,
            file: source.file,
            path: source.path,
            interface: source.interface,
            control: source.control,
        };
        if source.file != u8::MAX {
            *shared.by_kind.entry(kind).or_default() += Transfers {
                completed: 1,
                packets: u64::from(source.packets),
                ns: (seconds * 1e9).round() as u64,
                rate_mpps: (f64::from(source.packets) / seconds * 1e3).round() as u64,
                retransmitted: totals.packets_retransmitted,
            };
            self.counts.completed += 1;
        }
        self.think(local, now);
    }

    /// The transfer of a source is over, one way or the other.
    fn think(&mut self, local: usize, now: Key) {
        let long_lived = local >= self.sources.len() - self.long_lived.len();
        let source = &mut self.sources[local];
        source.next_transfer();
        source.state = State::Thinking;
        let alarm = now.time + if long_lived { 0.0 } else { source.stream.duration(self.group.spec.think) };
        source.alarm = alarm;
        self.set_alarm(local, alarm, now);
    }

    fn set_alarm(&mut self, local: usize, alarm: Time, now: Key) {
        if alarm < Time::NEVER {
            let entity = self.group.timer_entity(self.first_source + local as u32, APPLICATION);
            self.agenda.schedule(Key::new(alarm, now.time, now.precedence_of_effects(), entity));
        }
    }

    /// Looks at all sources, and moves what was counted to the present interval.
    fn look(&mut self, rows: &mut Vec<Row>) {
        let row = self.looks_done as usize - 1;
        if rows.len() <= row {
            rows.resize_with(row + 1, Row::default);
        }
        let mut states = States { by_path: vec![0; self.counts.by_path.len()], ..States::default() };
        let ordinary = self.sources.len() - self.long_lived.len();
        for (source, sender) in self.sources[..ordinary].iter().zip(&self.senders) {
            match source.state {
                State::Thinking => states.thinking += 1,
                State::Connecting => states.connecting += 1,
                State::Sending => {
                    states.transmitting += 1;
                    states.by_path[source.path as usize] += 1;
                    states.windows += (sender.window.cwnd / WINDOW_UNIT).round() as u64;
                }
            }
        }
        let fresh = Counts::new(self.counts.by_path.len(), self.counts.by_long_lived.len());
        let counts = std::mem::replace(&mut self.counts, fresh);
        rows[row] += &Row { counts, states };
    }

    /// The last look, at the end of the run, if an interval ends there or none was asked for.
    pub fn finish(&mut self, rows: &mut Vec<Row>) {
        self.look(rows);
    }

    /// Gives back the memory of transfers that were given up.
    pub fn forget(&mut self, now: Time) {
        self.receptions.forget(self.group.heard_since(now));
    }

    /// Packets that have crossed interfaces of hosts.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.crossed + self.leaving.crossed
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        let senders: u64 = self.senders.iter().map(Sender::random_draws).sum();
        senders + self.sources.iter().map(|source| source.stream.draws()).sum::<u64>()
    }

    /// Bytes that it occupies, without what its senders hold elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sources.len() * (size_of::<Source>() + size_of::<Sender>())
            + self.ports.len() * (size_of::<[Port; 2]>() + 1)
            + self.receptions.bytes()
            + self.agenda.bytes()
            + self.leaving.bytes()
    }
}

/// How receivers tell of marks.
fn feedback(ecn: bool, reads_marks: bool) -> Feedback {
    match (ecn, reads_marks) {
        (false, _) => Feedback::None,
        (true, false) => Feedback::Latched,
        (true, true) => Feedback::Accurate,
    }
}

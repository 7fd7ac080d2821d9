//! What all users of a group have in common.

use crate::events::Entity;
use crate::network::wire::Wire;
use crate::packet::Address;
use crate::random::{Stream, hash, mix, unit};
use crate::scenario::{Duration, InterfaceSpec, Profile, UserSite, UsersSpec};
use crate::time::Time;
use crate::transport::connection::Connection;
use crate::transport::timer::TIMERS;

/// What all users of a group have in common.
#[derive(Debug)]
pub struct Group {
    /// The group as the scenario has it.
    pub spec: UsersSpec,
    /// Their connections.
    pub connection: Connection,
    /// Their interfaces.
    pub ports: Vec<Wire>,
    /// The run's seed.
    pub seed: u64,
    /// The destination of the first site.
    pub first_destination: u16,
    /// The first source of each site, and the end of the last; long-lived ones are the last of their site.
    pub sources: Vec<u32>,
    /// Receivers at the sites before each site.
    receivers: Vec<u64>,
    /// The first host of each site: its sources, then its receivers, long-lived ones last.
    pub hosts: Vec<u32>,
    first_host_entity: Entity,
    first_timer_entity: Entity,
    first_source: u32,
    /// Round-trip times between sites on an empty path without the interfaces, in seconds, by pairs.
    round_trips_s: Vec<f64>,
}

impl Group {
    /// A group whose numbers begin at these; `crossing_s` gives the time that a packet of a size takes from one of its
    /// sites to another where nothing is ahead of it.
    #[must_use]
    pub fn new(
        spec: &UsersSpec,
        (profile, seed): (Profile, u64),
        (first_destination, first_source, first_entity): (u16, u32, Entity),
        crossing_s: impl Fn(u16, u16, u32) -> f64,
    ) -> Self {
        let long_lived = |site: usize| spec.long_lived.iter().filter(|flow| flow.from as usize == site).count() as u32;
        let counts = spec.sites.iter().enumerate().map(|(index, site)| site.sources + long_lived(index));
        let sources = cumulated(first_source, counts.clone());
        let ends = |site: usize| spec.long_lived.iter().filter(|flow| flow.to as usize == site).count() as u32;
        let of_site = |(index, (sources, site)): (usize, (u32, &UserSite))| sources + site.receivers + ends(index);
        let hosts = cumulated(0, counts.zip(&spec.sites).enumerate().map(of_site));
        let mut receivers = 0;
        let connection = Connection::new(&spec.tcp, profile, None);
        let (data, ack) = (connection.full_size(), spec.tcp.ack_bytes);
        let places = (0..spec.sites.len() as u16).map(|index| first_destination + index);
        let round_trip = |a: u16, b: u16| crossing_s(a, b, data) + crossing_s(b, a, ack);
        let round_trips_s = places.clone().flat_map(|a| places.clone().map(move |b| (a, b)));
        Self {
            round_trips_s: round_trips_s.map(|(a, b)| if a == b { 0.0 } else { round_trip(a, b) }).collect(),
            connection,
            ports: spec.interfaces.iter().map(InterfaceSpec::wire).collect(),
            seed,
            first_destination,
            receivers: (spec.sites.iter())
                .map(|site| {
                    receivers += u64::from(site.receivers);
                    receivers - u64::from(site.receivers)
                })
                .collect(),
            first_host_entity: first_entity,
            first_timer_entity: first_entity + 2 * hosts[hosts.len() - 1],
            sources,
            hosts,
            first_source,
            spec: spec.clone(),
        }
    }

    /// Sources, destinations and entities that it has.
    #[must_use]
    pub fn extent(&self) -> (u32, u16, u32) {
        let sources = self.sources[self.sources.len() - 1] - self.first_source;
        (sources, self.spec.sites.len() as u16, 2 * self.hosts[self.hosts.len() - 1] + TIMERS * sources)
    }

    /// The entity of a host's interface, by the host's number in the group; up is out.
    #[inline]
    #[must_use]
    pub fn port_entity(&self, host: u32, up: bool) -> Entity {
        self.first_host_entity + 2 * host + u32::from(!up)
    }

    /// The entity of a source's timer.
    #[inline]
    #[must_use]
    pub fn timer_entity(&self, source: u32, timer: u32) -> Entity {
        self.first_timer_entity + TIMERS * (source - self.first_source) + timer
    }

    /// The source and the timer with this entity.
    #[inline]
    #[must_use]
    pub fn timer(&self, entity: Entity) -> (u32, u32) {
        let number = entity - self.first_timer_entity;
        (self.first_source + number / TIMERS, number % TIMERS)
    }

    /// The site of a source.
    #[must_use]
    pub fn site_of(&self, source: u32) -> u16 {
        self.sources.partition_point(|&first| first <= source) as u16 - 1
    }

    /// Which of the transfers that never end a source of a site has, if it has one.
    #[must_use]
    pub fn long_lived(&self, site: u16, source: u32) -> Option<u16> {
        let from_last = self.sources[site as usize + 1] - 1 - source;
        let here = || (0..).zip(&self.spec.long_lived).filter(|(_, flow)| flow.from == u32::from(site));
        let count = here().count() as u32;
        let place = count.checked_sub(from_last + 1)?;
        here().nth(place as usize).map(|(flow, _)| flow)
    }

    /// A transfer of which nothing was heard since then is over.
    #[inline]
    #[must_use]
    pub fn heard_since(&self, now: Time) -> Time {
        /// More often in a row than any source tries.
        const TIMES: f64 = 10.0;
        Time::new((now.seconds() - TIMES * self.connection.tcp.rto.max_s).max(0.0))
    }

    /// Whether one kind of interface is slower than another.
    #[must_use]
    pub fn is_slower(&self, one: u8, other: u8) -> bool {
        let transmission_s = |kind: u8| self.ports[kind as usize].transmission_s(self.connection.full_size());
        transmission_s(one) > transmission_s(other)
    }

    /// The kind of interface of a host at a site, a receiver or a source.
    #[must_use]
    pub fn interface(&self, site: u16, receiver: bool, index: u32) -> u8 {
        let purpose = if receiver { "receiver's interface" } else { "source's interface" };
        draw(self.spec.interfaces.iter().map(|interface| interface.share), self.uniform(site, purpose, index)) as u8
    }

    /// The congestion control of a source, by its place at its site.
    #[must_use]
    pub fn control(&self, site: u16, index: u32) -> u8 {
        let drawn = self.uniform(site, "congestion", index);
        draw(self.spec.controls.iter().map(|control| control.share), drawn) as u8
    }

    /// A number on [0, 1) for one purpose of one host of a site.
    fn uniform(&self, site: u16, purpose: &str, index: u32) -> f64 {
        unit(mix(hash(self.seed, &self.spec.label, u32::from(site), purpose) ^ mix(u64::from(index))))
    }

    /// A site for a source at `site` to send to: all receivers elsewhere are equally likely.
    pub fn choose_site(&self, site: u16, stream: &mut Stream) -> u16 {
        let own = u64::from(self.spec.sites[site as usize].receivers);
        let (before, all) = (self.receivers[site as usize], self.all_receivers());
        let drawn = (stream.uniform() * (all - own) as f64) as u64;
        let receiver = if drawn < before { drawn } else { drawn + own };
        self.receivers.partition_point(|&first| first <= receiver) as u16 - 1
    }

    fn all_receivers(&self) -> u64 {
        self.spec.sites.iter().map(|site| u64::from(site.receivers)).sum()
    }

    /// Which of the hosts behind the sources of a site takes a transfer of a source: one that never ends has its own.
    #[must_use]
    pub fn host(&self, site: u16, source: u32, transfer: u8) -> u32 {
        let Some(flow) = self.long_lived(self.site_of(source), source) else {
            return self.receiver(site, source, transfer);
        };
        let before = self.spec.long_lived[..usize::from(flow)].iter().filter(|flow| flow.to == u32::from(site));
        self.spec.sites[site as usize].receivers + before.count() as u32
    }

    /// Which of the receivers at a site takes a transfer that ends.
    #[inline]
    #[must_use]
    pub fn receiver(&self, site: u16, source: u32, transfer: u8) -> u32 {
        let number = mix(self.seed ^ mix(u64::from(source) * u64::from(Address::TRANSFERS) + u64::from(transfer)));
        (((number >> 32) * u64::from(self.spec.sites[site as usize].receivers)) >> 32) as u32
    }

    /// The kind of a new file and its size in packets.
    pub fn choose_file(&self, now_s: f64, site: u16, stream: &mut Stream) -> (u8, u32) {
        /// More than any transfer has.
        const MOST: f64 = (Address::SEQUENCE - 2) as f64;
        if let Some(crowd) = &self.spec.crowd
            && (crowd.start_s..crowd.stop_s).contains(&now_s)
            && crowd.sites.contains(&u32::from(site))
            && stream.chance(crowd.share)
        {
            return (self.spec.files.len() as u8, crowd.mean_packets.round() as u32);
        }
        let kind = draw(self.spec.files.iter().map(|file| file.share), stream.uniform());
        let file = &self.spec.files[kind];
        let packets = match file.shape {
            Some(shape) => stream.duration(Duration::Pareto { mean_s: file.mean_packets, shape }),
            None => file.mean_packets,
        };
        (kind as u8, packets.ceil().clamp(1.0, MOST) as u32)
    }

    /// The round-trip time of a full packet between two hosts where nothing is ahead of it, in seconds.
    #[must_use]
    pub fn round_trip_s(&self, (from, from_port): (u16, u8), (to, to_port): (u16, u8)) -> f64 {
        let (data, ack) = (self.connection.full_size(), self.spec.tcp.ack_bytes);
        let ends = [from_port, to_port].map(|port| {
            let wire = &self.ports[port as usize];
            wire.crossing_s(data) + wire.crossing_s(ack)
        });
        self.round_trips_s[from as usize * self.spec.sites.len() + to as usize] + ends[0] + ends[1]
    }

    /// The number of the pair of the classes of two sites, in the order (0, 0), (0, 1), (1, 1), (0, 2), …
    #[must_use]
    pub fn path(&self, from: u16, to: u16) -> u8 {
        let class = |site: u16| self.spec.sites[site as usize].class;
        let (low, high) = (class(from).min(class(to)), class(from).max(class(to)));
        (high * (high + 1) / 2 + low) as u8
    }

    /// The names of all paths, by number.
    #[must_use]
    pub fn path_names(&self) -> Vec<String> {
        let classes = &self.spec.classes;
        (0..classes.len())
            .flat_map(|high| (0..=high).map(move |low| format!("{}-{}", classes[low], classes[high])))
            .collect()
    }
}

fn cumulated(first: u32, counts: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sum = first;
    let mut sums = vec![sum];
    sums.extend(counts.map(|count| {
        sum += count;
        sum
    }));
    sums
}

/// Which of several things with these shares a uniform number stands for.
fn draw(shares: impl ExactSizeIterator<Item = f64>, drawn: f64) -> usize {
    let last = shares.len() - 1;
    let mut sum = 0.0;
    let found = shares.take(last).position(|share| {
        sum += share;
        drawn < sum
    });
    found.unwrap_or(last)
}

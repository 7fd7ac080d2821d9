//! The connections of a capture, in bounded memory.
//!
//! Connections that are quiet longest are concluded when too many are open; of the concluded ones the largest are kept.

use std::collections::HashMap;

use super::connection::{Connection, Ends};
use super::frame::Nanoseconds;
use super::ip::End;
use super::samples::Samples;
use super::segment::Segment;

/// Connections that are sampled over time.
const MOST_SAMPLED: usize = 256;

/// How many connections are followed at a time, and how many are listed in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Followed at a time.
    pub open: usize,
    /// Listed in the end.
    pub listed: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { open: 1 << 17, listed: 1 << 18 }
    }
}

/// Who talks to whom, in the order of their addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    low: End,
    high: End,
    protocol: u8,
    tunnel: u32,
}

struct Open {
    key: Key,
    serial: u32,
    last_packet: u64,
    connection: Connection,
}

/// Connections, by their ends.
pub struct Flows {
    limits: Limits,
    index: HashMap<Key, usize>,
    /// By ends, without a tunnel, the tunnel of their latest connection.
    latest: HashMap<Key, u32>,
    /// By where packets come from, and through which tunnel, the tunnel under which their connection is found: the identifiers
    /// of some tunnels differ by direction, and answers may take none.
    partners: HashMap<(Key, End), u32>,
    open: Vec<Open>,
    /// The one of the last packet: packets come in trains.
    last: Option<usize>,
    closed: Vec<(u32, Connection)>,
    next: u32,
    /// When samples begin and how long their intervals are.
    began: Nanoseconds,
    interval: Nanoseconds,
    sampled: usize,
    /// Bytes from which on a connection is sampled.
    worth: u64,
    /// Connections that were concluded while they may have gone on.
    pub concluded: u64,
    /// Flows of the connections that are not listed, by protocol.
    unlisted: HashMap<u8, u64>,
}

/// The connections of a capture in the end.
pub struct Finished {
    /// Those that are listed, with their numbers, in the order of their first packets.
    pub listed: Vec<(u32, Connection)>,
    /// How many flows the others had, by protocol.
    pub unlisted: HashMap<u8, u64>,
}

/// Where a packet belongs.
pub struct Belongs<'a> {
    /// Its connection.
    pub connection: &'a mut Connection,
    /// Number of the connection.
    pub serial: u32,
    /// 0 from the end that was seen first, 1 from the other.
    pub direction: usize,
    /// Whether it opened another connection of old ports.
    pub reopened: bool,
}

impl Flows {
    /// None yet.
    pub fn new(limits: Limits, interval: Nanoseconds) -> Self {
        Self {
            limits: Limits { open: limits.open.max(1), listed: limits.listed.max(1) },
            index: HashMap::new(),
            latest: HashMap::new(),
            partners: HashMap::new(),
            open: Vec::new(),
            last: None,
            closed: Vec::new(),
            next: 0,
            began: 0,
            interval,
            sampled: 0,
            worth: 0,
            concluded: 0,
            unlisted: HashMap::new(),
        }
    }

    /// The time of the first packet, from which samples count.
    pub fn begin(&mut self, began: Nanoseconds) {
        self.began = began;
    }

    /// The connection of packet `number`, a new one if there is none.
    pub fn find(
        &mut self,
        from: End,
        to: End,
        protocol: u8,
        tunnel: u32,
        segment: Option<&Segment>,
        number: u64,
    ) -> Belongs<'_> {
        let (low, high) = if from <= to { (from, to) } else { (to, from) };
        let key = Key { low, high, protocol, tunnel };
        let known = match self.last {
            Some(last) if self.open[last].key == key => Some(last),
            _ => self.index.get(&key).copied().or_else(|| self.partner(key, from)),
        };
        let mut reopened = false;
        let place = match known {
            Some(place) => {
                let direction = usize::from(self.open[place].connection.ends.first != from);
                reopened = segment.is_some_and(|one| self.open[place].connection.is_reopened_by(direction, one));
                if reopened {
                    self.replace(place, from, to);
                }
                place
            }
            None => self.insert(key, from, to),
        };
        self.last = Some(place);
        self.sample(place);
        let open = &mut self.open[place];
        open.last_packet = number;
        let direction = usize::from(open.connection.ends.first != from);
        if open.connection.ways[direction].packets == 0 {
            open.connection.tunnels[direction] = tunnel;
        }
        Belongs { connection: &mut open.connection, serial: open.serial, direction, reopened }
    }

    /// What there is to tell of them.
    pub fn finish(mut self) -> Finished {
        for open in std::mem::take(&mut self.open) {
            self.close(open.serial, open.connection);
        }
        self.keep_largest();
        self.closed.sort_unstable_by_key(|(serial, _)| *serial);
        Finished { listed: self.closed, unlisted: self.unlisted }
    }

    /// How many connections there were.
    pub fn count(&self) -> u32 {
        self.next
    }

    /// How many of them are listed at most.
    pub fn listed(&self) -> usize {
        self.limits.listed
    }

    /// A connection of which no packet from here came through any tunnel yet, and none from the other end through this one.
    fn partner(&mut self, key: Key, from: End) -> Option<usize> {
        if key.tunnel == 0 && self.latest.is_empty() {
            return None;
        }
        if let Some(&tunnel) = self.partners.get(&(key, from)) {
            return self.index.get(&Key { tunnel, ..key }).copied();
        }
        let latest = self.latest.get(&Key { tunnel: 0, ..key }).copied();
        for tunnel in latest.into_iter().chain([0]) {
            if let Some(&place) = self.index.get(&Key { tunnel, ..key }) {
                let connection = &self.open[place].connection;
                if connection.ways[usize::from(connection.ends.first != from)].packets == 0 {
                    self.partners.insert((key, from), tunnel);
                    return Some(place);
                }
            }
        }
        None
    }

    fn new_connection(&mut self, from: End, to: End, key: Key) -> (u32, Connection) {
        let serial = self.next;
        self.next = self.next.saturating_add(1);
        (serial, Connection::new(Ends { first: from, second: to, protocol: key.protocol }, key.tunnel))
    }

    fn replace(&mut self, place: usize, from: End, to: End) {
        let (serial, connection) = self.new_connection(from, to, self.open[place].key);
        let old = std::mem::replace(&mut self.open[place].connection, connection);
        let old_serial = std::mem::replace(&mut self.open[place].serial, serial);
        self.close(old_serial, old);
    }

    fn insert(&mut self, key: Key, from: End, to: End) -> usize {
        if self.open.len() >= self.limits.open {
            self.conclude();
        }
        let (serial, connection) = self.new_connection(from, to, key);
        if key.tunnel != 0 {
            self.latest.insert(Key { tunnel: 0, ..key }, key.tunnel);
        }
        self.open.push(Open { key, serial, last_packet: 0, connection });
        self.index.insert(key, self.open.len() - 1);
        self.open.len() - 1
    }

    /// Concludes the quarter that was quiet longest.
    fn conclude(&mut self) {
        let mut lasts: Vec<u64> = self.open.iter().map(|open| open.last_packet).collect();
        let (_, &mut until, _) = lasts.select_nth_unstable(self.open.len() / 4);
        let (quiet, open): (Vec<Open>, Vec<Open>) =
            std::mem::take(&mut self.open).into_iter().partition(|open| open.last_packet <= until);
        self.concluded += quiet.len() as u64;
        for quiet in quiet {
            self.close(quiet.serial, quiet.connection);
        }
        self.open = open;
        self.index = self.open.iter().enumerate().map(|(place, open)| (open.key, place)).collect();
        self.latest.retain(|&key, &mut tunnel| self.index.contains_key(&Key { tunnel, ..key }));
        self.partners.retain(|&(key, _), &mut tunnel| self.index.contains_key(&Key { tunnel, ..key }));
        self.last = None;
    }

    /// Samples a connection from now on, if it is one of the largest.
    fn sample(&mut self, place: usize) {
        let connection = &self.open[place].connection;
        if connection.samples.is_some() || bytes(connection) < self.worth {
            return;
        }
        if self.sampled >= MOST_SAMPLED {
            // Whether this one is among those that are worth it then shows with its next packet.
            return self.sample_fewer();
        }
        let new = Samples::new(self.interval, self.began);
        self.open[place].connection.samples = Some(Box::new([new.clone(), new]));
        self.sampled += 1;
    }

    /// Forgets the samples of the smaller half, and asks more of those to come, so that this is rare.
    fn sample_fewer(&mut self) {
        let closed = self.closed.iter_mut().map(|(_, connection)| connection);
        let all = self.open.iter_mut().map(|open| &mut open.connection).chain(closed);
        let mut sampled: Vec<&mut Connection> = all.filter(|connection| connection.samples.is_some()).collect();
        sampled.sort_by_key(|connection| std::cmp::Reverse(bytes(connection)));
        self.sampled = sampled.len() / 2;
        let small = sampled.split_off(self.sampled);
        self.worth = (self.worth * 2).max(small.first().map_or(1, |connection| bytes(connection)));
        for connection in small {
            connection.samples = None;
        }
    }

    fn close(&mut self, serial: u32, mut connection: Connection) {
        connection.conclude();
        self.closed.push((serial, connection));
        // Not each time: to find the smallest takes looking at all.
        if self.closed.len() > self.limits.listed + self.limits.listed / 4 {
            self.keep_largest();
        }
    }

    fn keep_largest(&mut self) {
        let listed = self.limits.listed;
        if self.closed.len() <= listed {
            return;
        }
        self.closed
            .select_nth_unstable_by_key(listed, |(serial, connection)| (std::cmp::Reverse(bytes(connection)), *serial));
        for (_, connection) in self.closed.drain(listed..) {
            *self.unlisted.entry(connection.ends.protocol).or_default() += connection.flows().len() as u64;
        }
    }
}

/// What both ends sent.
fn bytes(connection: &Connection) -> u64 {
    connection.ways.iter().map(|way| way.bytes).sum()
}

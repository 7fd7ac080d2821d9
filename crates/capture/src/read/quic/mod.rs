//! QUIC among datagrams: what of a connection is not encrypted (RFC 9312).
//!
//! It is known by the long headers of its handshake, never by its port alone. Losses, ACKs and windows are encrypted, and so
//! is the end of a connection.

pub mod header;
pub mod spin;

use header::{Id, Kind, Long, is_fixed, is_known, is_long, spin_bit};
use spin::{Spin, Verdict};

use super::frame::Nanoseconds;
use super::quantiles::Times;

/// A client fills up the datagrams of its Initials to so many bytes (RFC 9000 §14.1).
const INITIAL_BYTES: usize = 1200;
/// The first connection ID that a client makes up for a server has so many bytes or more (RFC 9000 §7.2).
const FIRST_ID_BYTES: usize = 8;
/// A silence of both ends of so many halves of a round trip is none that a path makes: neither had anything to send.
const SILENCE_HALVES: u64 = 3;
/// Packets of a datagram that are looked at.
const MOST_COALESCED: usize = 8;

/// A connection of QUIC, or what may become one.
#[derive(Clone, Debug, Default)]
pub struct Quic {
    /// Whether its handshake shows that it is one.
    pub is_recognised: bool,
    /// The end that began it, if that is known.
    pub client: Option<usize>,
    /// Whether the server named the versions that it speaks.
    pub negotiated: bool,
    /// Retries that the server sent.
    pub retries: u64,
    /// Packets with data of the client before the server's answer.
    pub early: u64,
    /// Time in which no end sent anything, beyond a round trip for each pause, in nanoseconds.
    pub idle: u64,
    /// The bit of either direction.
    pub spins: [Spin; 2],
    /// Whether the client's first Initial was captured.
    opened: bool,
    /// Whether a server agreed to a version.
    answered: bool,
    version: u32,
    /// Connection IDs of the last long header of either end.
    ids: [Option<(Id, Id)>; 2],
    /// Version of the first Initial, and the connection ID that its client made up.
    first: (u32, Id),
    /// When the client's first Initial came, and its last one before the answer.
    asked: Option<(Nanoseconds, Nanoseconds)>,
    /// When the server's first packet came, and the connection ID that it chose.
    answer: Option<(Nanoseconds, Id)>,
    /// When the client's first packet came that answers that.
    reply: Option<Nanoseconds>,
    /// When either end sent last.
    last: Option<Nanoseconds>,
    /// Whether either end sent packets with short headers.
    short: [bool; 2],
}

impl Quic {
    /// What may become a connection, if a datagram begins with a long header of which the version is known, or one that a
    /// client may try.
    pub fn begin(data: &[u8], length: usize) -> Option<Box<Self>> {
        let long = (is_long(data) && is_fixed(data)).then(|| Long::read(data, length))??;
        let tried = long.kind == Kind::Unknown && length >= INITIAL_BYTES && long.target.size() >= FIRST_ID_BYTES;
        (is_known(long.version) || tried).then(Box::default)
    }

    /// Looks at a datagram of which `data` was kept, `length` bytes long without headers. A round trip that ended in this
    /// direction: when and how many nanoseconds.
    pub fn look(
        &mut self,
        direction: usize,
        data: &[u8],
        length: usize,
        time: Nanoseconds,
    ) -> Option<(Nanoseconds, u64)> {
        self.wait(time);
        if is_long(data) {
            self.look_at_long(direction, data, length, time);
            return None;
        }
        let bit = spin_bit(data).filter(|_| self.is_recognised)?;
        self.short[direction] = true;
        let path = self.path_rtt();
        let edge = self.spins[direction].add(bit, time, path)?;
        // The client's switch is answered by the same value, the server's by the other one.
        if let Some(client) = self.client {
            let asked = edge.value != (client == direction);
            self.spins[1 - direction].answer(asked, edge);
        }
        edge.rtt.map(|rtt| (edge.time, rtt))
    }

    /// The version of the connection; of one without an answer that of the client's last attempt.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// What became of it, in a word.
    pub fn state(&self) -> &'static str {
        let only_asked = !self.answered && self.short == [false; 2];
        match (self.opened, self.answered) {
            (true, true) => "open",
            (true, false) if self.negotiated && only_asked => "refused",
            (true, false) if only_asked => "unanswered",
            _ => "partial",
        }
    }

    /// From the client's first Initial to its first packet that answers the server, in seconds; NaN where it was not seen.
    pub fn initial_rtt_s(&self) -> f64 {
        match (self.asked, self.reply) {
            (Some((first, _)), Some(reply)) => reply.saturating_sub(first) as f64 / 1e9,
            _ => f64::NAN,
        }
    }

    /// The part of the handshake's round trip that is behind the capture point, as an end sees it, in seconds.
    pub fn handshake_behind_s(&self, direction: usize) -> f64 {
        let Some((answer, _)) = self.answer.filter(|_| self.client.is_some()) else { return f64::NAN };
        let part = if self.client == Some(direction) {
            self.asked.map(|(first, _)| answer.saturating_sub(first))
        } else {
            self.reply.map(|reply| reply.saturating_sub(answer))
        };
        part.map_or(f64::NAN, |part| part as f64 / 1e9)
    }

    /// What the spin bit of either end does.
    pub fn verdict(&self) -> Verdict {
        let both = [0, 1].map(|direction| self.spins[direction].verdict(self.path_rtt()));
        // One end disables it for both, and chooses how.
        [Verdict::Random, Verdict::Spins, Verdict::Constant]
            .into_iter()
            .find(|verdict| both.contains(verdict))
            .unwrap_or(Verdict::Unknown)
    }

    /// Round trips by the spin bit of one direction; none where it does not spin.
    pub fn rtt(&self, direction: usize) -> Times {
        if self.verdict() == Verdict::Spins { self.spins[direction].times.clone() } else { Times::default() }
    }

    /// Those from the capture point to the other end and back.
    pub fn rtt_behind(&self, direction: usize) -> Times {
        if self.verdict() == Verdict::Spins { self.spins[direction].behind.clone() } else { Times::default() }
    }

    /// Time in which no end sent anything, beyond a round trip for each pause, in seconds; NaN where no round trip is known.
    pub fn idle_s(&self) -> f64 {
        let known = self.path_rtt().is_some() || self.verdict() == Verdict::Spins;
        if known { self.idle as f64 / 1e9 } else { f64::NAN }
    }

    /// A round trip of the handshake, without Initials that were not answered.
    fn path_rtt(&self) -> Option<u64> {
        let ((_, last), (answer, _), reply) = (self.asked?, self.answer?, self.reply?);
        u64::try_from(answer.saturating_sub(last).saturating_add(reply.saturating_sub(answer)))
            .ok()
            .filter(|&rtt| rtt > 0)
    }

    fn wait(&mut self, time: Nanoseconds) {
        let silent = self.last.map_or(0, |last| time.saturating_sub(last));
        self.last = self.last.max(Some(time));
        for spin in &mut self.spins {
            spin.silent(silent);
        }
        let path = self.path_rtt();
        let usual = self.spins.iter().filter_map(|spin| spin.usual(path)).min();
        let (silent, usual) = (u64::try_from(silent).unwrap_or(0), usual.unwrap_or(u64::MAX));
        if silent > usual.saturating_mul(SILENCE_HALVES) / 2 {
            self.idle += silent - usual;
        }
    }

    fn look_at_long(&mut self, direction: usize, data: &[u8], length: usize, time: Nanoseconds) {
        let (mut data, mut left) = (data, length);
        for number in 0..MOST_COALESCED {
            let Some(long) = Long::read(data, left) else { return };
            if number == 0 {
                self.recognise(direction, &long, length);
            }
            self.count(direction, &long, time);
            let Some(own) = long.length else { return };
            (data, left) = (data.get(own..).unwrap_or_default(), left - own);
        }
    }

    /// What the first packet of a datagram says of the connection.
    fn recognise(&mut self, direction: usize, long: &Long, length: usize) {
        let other = 1 - direction;
        let answers = self.ids[other].is_some_and(|(_, source)| source == long.target);
        let known = is_known(long.version);
        let opens = long.kind == Kind::Initial || !known && long.kind == Kind::Unknown;
        // Packets with early data may overtake it.
        let is_first = !self.opened && self.ids[other].is_none();
        if is_first && opens && length >= INITIAL_BYTES && long.target.size() >= FIRST_ID_BYTES {
            self.opened = true;
            self.client = Some(direction);
        }
        let negotiates = long.kind == Kind::Negotiation
            && self.ids[other].is_some_and(|(target, source)| (target, source) == (long.source, long.target));
        self.negotiated |= negotiates;
        self.is_recognised |= negotiates || known && (answers || long.kind == Kind::Initial && length >= INITIAL_BYTES);
        match long.kind {
            Kind::Retry | Kind::Negotiation if self.client.is_none() => self.client = Some(other),
            Kind::ZeroRtt if self.client.is_none() => self.client = Some(direction),
            // Of the two ends, clients alone need no connection ID.
            Kind::Initial | Kind::Handshake if self.client.is_none() && long.target.size() == 0 => {
                self.client = Some(other)
            }
            _ => {}
        }
    }

    fn count(&mut self, direction: usize, long: &Long, time: Nanoseconds) {
        let from_client = self.client == Some(direction);
        self.retries += u64::from(long.kind == Kind::Retry);
        self.early += u64::from(long.kind == Kind::ZeroRtt);
        if long.kind != Kind::Negotiation {
            let agrees = !from_client && self.client.is_some() && long.kind != Kind::Retry;
            // Behind an answer only servers say which version it is: a client's Initials may be of the first one (RFC 9368).
            if !self.answered || agrees {
                self.version = long.version;
            }
            self.answered |= agrees;
        }
        self.ids[direction] = Some((long.target, long.source));
        if !self.opened {
            return;
        }
        if from_client {
            self.time_client(long, time);
        } else if self.answer.is_none() {
            self.answer = Some((time, long.source));
        }
    }

    fn time_client(&mut self, long: &Long, time: Nanoseconds) {
        match self.answer {
            None => {
                if self.asked.is_none() {
                    self.first = (long.version, long.target);
                }
                self.asked = Some((self.asked.map_or(time, |(first, _)| first), time));
            }
            Some((_, chosen)) if self.reply.is_none() => {
                // What the client sent before the answer reached it still goes to the connection ID that it made up.
                let (version, made_up) = self.first;
                let heard = long.target == chosen && chosen != made_up;
                if heard || long.kind == Kind::Handshake || long.version != version {
                    self.reply = Some(time);
                }
            }
            Some(_) => {}
        }
    }
}

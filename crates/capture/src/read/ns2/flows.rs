//! The flows of a trace: packets of one agent for another one, whose ACKs come back.

use std::collections::{HashMap, HashSet};

use super::line::{End, Event, Line};
use crate::read::quantiles::Times;

/// Packets under way of which the time is remembered; of a trace that says only how they begin there are ever more.
const MOST: usize = 1 << 20;

/// Number, source and destination.
type Key = (i64, End, End);

/// A flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its number in the trace.
    pub number: i64,
    /// Who sends.
    pub source: End,
    /// Who receives.
    pub target: End,
    /// What its data packets are called.
    pub kind: String,
    /// Data packets that joined a queue at the source.
    pub sent: u64,
    /// Those of them with a sequence number that had been sent before.
    pub retransmitted: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Data packets that arrived at the destination.
    pub delivered: u64,
    /// Their bytes.
    pub bytes_delivered: u64,
    /// Data packets that were lost.
    pub dropped: u64,
    /// Times of its first and its last line.
    pub times: (f64, f64),
    /// Of data packets that arrived, those excepted that open a connection.
    pub one_way: OneWay,
    highest: Option<i64>,
    /// Whether there was an ACK.
    acked: bool,
}

/// One-way delays.
#[derive(Clone, Debug, Default)]
pub struct OneWay {
    count: u64,
    sum_s: f64,
    most_s: f64,
    last_s: f64,
    jitter_sum_s: f64,
    times: Times,
}

impl OneWay {
    fn add(&mut self, seconds: f64) {
        self.times.add((seconds * 1e9).round().max(0.0) as u64);
        if self.count > 0 {
            self.jitter_sum_s += (seconds - self.last_s).abs();
        }
        self.count += 1;
        self.sum_s += seconds;
        self.most_s = self.most_s.max(seconds);
        self.last_s = seconds;
    }

    /// The mean in seconds; NaN without any.
    pub fn mean_s(&self) -> f64 {
        self.sum_s / self.count as f64
    }

    /// The largest in seconds; NaN without any.
    pub fn most_s(&self) -> f64 {
        if self.count > 0 { self.most_s } else { f64::NAN }
    }

    /// The delay that a share of them does not exceed, in seconds and within 1 %; NaN without any.
    pub fn quantile_s(&self, share: f64) -> f64 {
        self.times.quantile_s(share)
    }

    /// Delays in seconds, each with how many are longer than the one before and at most so long.
    pub fn steps(&self) -> impl Iterator<Item = (f64, u64)> {
        self.times.steps()
    }

    /// The mean difference of successive ones in seconds; NaN of fewer than two.
    pub fn jitter_mean_s(&self) -> f64 {
        if self.count > 1 { self.jitter_sum_s / (self.count - 1) as f64 } else { f64::NAN }
    }
}

impl Flow {
    fn new(line: &Line<'_>, (number, source, target): Key) -> Self {
        // What begins with an ACK is TCP whose data goes another way.
        let kind = if line.is_ack() { "tcp" } else { line.kind }.to_owned();
        let times = (line.time_s, line.time_s);
        Self {
            number,
            source,
            target,
            kind,
            times,
            sent: 0,
            retransmitted: 0,
            bytes_sent: 0,
            delivered: 0,
            bytes_delivered: 0,
            dropped: 0,
            one_way: OneWay::default(),
            highest: None,
            acked: false,
        }
    }

    /// Counts a data packet that joins a queue at the source.
    fn send(&mut self, line: &Line<'_>) {
        self.sent += 1;
        self.bytes_sent += u64::from(line.size);
        // The ACK that ends a handshake has the number of the SYN.
        let again = self.highest.is_some_and(|highest| line.seq <= highest) && !(self.acked && opens(line));
        self.retransmitted += u64::from(again);
        self.highest = self.highest.max(Some(line.seq));
    }

    /// The protocol of its packets: ns-2 calls them by what sends them.
    pub fn transport(&self) -> &str {
        match self.kind.as_str() {
            "cbr" | "exp" | "pareto" | "video" | "audio" | "rtp" | "udp" => "udp",
            other => other,
        }
    }
}

/// Whether a packet opens a TCP connection: it is the first, and carries nothing. Agents that do without a SYN begin
/// with data.
fn opens(line: &Line<'_>) -> bool {
    /// Headers of IP and TCP with 40 bytes of options.
    const BARE: u32 = 80;
    line.kind == "tcp" && line.seq == 0 && line.size <= BARE
}

/// All flows, in the order of their first lines.
#[derive(Default)]
pub struct Flows {
    /// One by one.
    pub all: Vec<Flow>,
    places: HashMap<Key, usize>,
    /// When the data packets under way were sent.
    under_way: HashMap<u64, f64>,
}

impl Flows {
    /// Counts a line; the place of its flow.
    pub fn add(&mut self, line: &Line<'_>) -> usize {
        let (source, target) = if line.is_ack() { (line.target, line.source) } else { (line.source, line.target) };
        let key = (line.number, source, target);
        let next = self.all.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.all.push(Flow::new(line, key));
        }
        let flow = &mut self.all[place];
        flow.times.1 = flow.times.1.max(line.time_s);
        if line.is_ack() {
            flow.acked = true;
            return place;
        }
        match line.event {
            Event::Enqueue if line.from == source.0 => {
                flow.send(line);
                if self.under_way.len() < MOST && !opens(line) {
                    self.under_way.insert(line.uid, line.time_s);
                }
            }
            Event::Receive if line.to == target.0 => {
                flow.delivered += 1;
                flow.bytes_delivered += u64::from(line.size);
                if let Some(sent_s) = self.under_way.remove(&line.uid) {
                    flow.one_way.add(line.time_s - sent_s);
                }
            }
            Event::Drop => {
                flow.dropped += 1;
                self.under_way.remove(&line.uid);
            }
            _ => {}
        }
        place
    }

    /// What to number flows by: as the script did, where it gave each its own number.
    pub fn numbers(&self) -> Vec<i64> {
        let told: Vec<i64> = self.all.iter().map(|flow| flow.number).collect();
        let all_differ = told.iter().collect::<HashSet<_>>().len() == told.len();
        if all_differ { told } else { (0..told.len() as i64).collect() }
    }
}

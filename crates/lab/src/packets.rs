//! What happens to single packets during a short time, for the time-sequence graph and the animation.

use serde::Deserialize;
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::Seen;
use tightlink_sim::probe::trace::{Event, Listener, Record};
use tightlink_sim::time::Time;
use tightlink_sim::transport::ack_options::AckOptionSlab;

/// Numbers for each record.
pub const WIDTH: usize = 8;
/// More are not told of.
const MOST: usize = 200_000;

/// A part of the simulated time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Its begin, in seconds.
    from_s: f64,
    /// Its end, in seconds.
    to_s: f64,
}

/// Collects the records of a span: event, time, link, kind, flow, sequence number, bytes, and whether it is marked or
/// repeats what was sent before.
#[derive(Debug)]
pub struct Collector {
    span: Span,
    /// What was collected, one record after the other.
    pub data: Vec<f64>,
    /// The next sequence number of each flow.
    next: Vec<u32>,
}

impl Collector {
    /// Of a run with so many flows.
    pub fn new(span: Span, flows: usize) -> Self {
        Self { span, data: Vec::new(), next: vec![0; flows] }
    }

    /// Whether records are missing, as there were too many.
    pub fn is_full(&self) -> bool {
        self.data.len() >= MOST * WIDTH
    }

    fn add(&mut self, values: [f64; WIDTH]) {
        let time = values[1];
        if time >= self.span.from_s && time <= self.span.to_s && !self.is_full() {
            self.data.extend(values);
        }
    }
}

/// Numbers for kinds of packets.
fn kind(kind: Kind) -> f64 {
    match kind {
        Kind::Segment => 0.0,
        Kind::Ack => 1.0,
        Kind::Datagram => 2.0,
    }
}

impl Listener for Collector {
    fn sent(&mut self, time: Time, _uid: u64, packet: Seen<'_>, ack_options: &AckOptionSlab) {
        let flow = packet.flow();
        let (seq, size) = (packet.packet.seq(), f64::from(packet.packet.size()));
        let of = |event: f64, seq: u32, more: f64| {
            [event, time.seconds(), -1.0, kind(packet.packet.kind()), f64::from(flow), f64::from(seq), size, more]
        };
        if packet.packet.kind() == Kind::Ack {
            if let Some(handle) = packet.packet.options() {
                for &(left, right) in ack_options.get(handle).blocks.as_slice() {
                    self.add(of(5.0, left, f64::from(right)));
                }
            }
            return;
        }
        let next = &mut self.next[flow as usize];
        let again = seq < *next;
        *next = (*next).max(seq + 1);
        self.add(of(4.0, seq, f64::from(u8::from(again))));
    }

    fn record(&mut self, record: &Record) {
        let event = match record.event {
            Event::Enqueue => 0.0,
            Event::Dequeue => 1.0,
            Event::Receive => 2.0,
            Event::Drop(_) => 3.0,
        };
        let numbers = [record.link, record.flow, record.seq, record.size].map(f64::from);
        let [link, flow, seq, size] = numbers;
        let marked = f64::from(u8::from(record.marked));
        self.add([event, record.time.seconds(), link, kind(record.kind), flow, seq, size, marked]);
    }
}

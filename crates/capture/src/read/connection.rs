//! What passed between two ends, each direction for itself.

use super::analysis::{Found, Scale, Tracker, Verdict};
use super::frame::Nanoseconds;
use super::ip::End;
use super::marks::Ecn;
use super::quic::Quic;
use super::samples::Samples;
use super::seen::Numbers;
use super::segment::{ACK, FIN, RST, SYN, Segment};
use super::waits::Wait;
use super::way::Way;

/// What fills a gap within an RTT by this was overtaken, where timestamps do not tell. Later it was lost before the capture and
/// retransmitted, which takes an RTT from the segment that shows the gap, wherever the capture is; the handshake may have
/// waited in queues. RFC 8985 §6.2 begins with a quarter for what is overtaken.
const REORDERED_RTTS: Nanoseconds = 2;

/// Number of its protocol.
pub const TCP: u8 = 6;

/// The two ends, in the order in which they were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The one that sent the first packet.
    pub first: End,
    /// The other one.
    pub second: End,
    /// Number of the IP protocol.
    pub protocol: u8,
}

/// The parts of a connection that were seen, with tshark's numbers (`tcp.completeness`).
pub mod part {
    /// SYN.
    pub const SYN: u8 = 1;
    /// SYN and ACK.
    pub const SYN_ACK: u8 = 2;
    /// An ACK without payload.
    pub const ACK: u8 = 4;
    /// Payload.
    pub const DATA: u8 = 8;
    /// FIN.
    pub const FIN: u8 = 16;
    /// RST.
    pub const RST: u8 = 32;
}

/// Everything that passed between two ends.
pub struct Connection {
    /// Who they are.
    pub ends: Ends,
    /// The tunnels through which the packets of each came, by number; 0 for none.
    pub tunnels: [u32; 2],
    /// What each sent.
    pub ways: [Way; 2],
    /// Parts of a TCP connection that were seen.
    pub parts: u8,
    /// What both ends agreed on of congestion marks.
    pub ecn: Ecn,
    /// Each direction over time, of the largest connections.
    pub samples: Option<Box<[Samples; 2]>>,
    /// What is not encrypted of QUIC, where these datagrams may be some of it.
    quic: Option<Box<Quic>>,
    tracker: Option<Box<Tracker>>,
    handshake: Handshake,
}

/// What of the tracker is of interest when a connection is concluded.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    initial_rtt: Option<Nanoseconds>,
    answer: Option<(usize, Nanoseconds)>,
    scales: [Scale; 2],
}

impl Connection {
    /// One of which the first packet is about to be added.
    pub fn new(ends: Ends, tunnel: u32) -> Self {
        let tracker = (ends.protocol == TCP).then(Box::default);
        Self {
            ends,
            tunnels: [tunnel; 2],
            ways: Default::default(),
            parts: 0,
            ecn: Ecn::default(),
            samples: None,
            quic: None,
            tracker,
            handshake: Handshake::default(),
        }
    }

    /// Whether a segment opens another connection of the same ports.
    pub fn is_reopened_by(&self, direction: usize, segment: &Segment) -> bool {
        self.tracker.as_ref().is_some_and(|tracker| tracker.is_reopened_by(direction, segment))
    }

    /// Counts a packet of `bytes`, without looking into it.
    pub fn count(&mut self, direction: usize, number: u64, bytes: u32) {
        let way = &mut self.ways[direction];
        if way.packets == 0 {
            way.first_packet = number;
        }
        way.packets += 1;
        way.bytes += u64::from(bytes);
    }

    /// Counts a packet that was captured before, so long ago.
    pub fn copy(&mut self, direction: usize, lag: Nanoseconds) {
        let (copies, lags) = &mut self.ways[direction].copies;
        *copies += 1;
        *lags = lags.saturating_add(lag);
    }

    /// Counts a packet as one that carries `payload`, and may be `marked`.
    pub fn own(&mut self, direction: usize, time: Nanoseconds, bytes: u32, payload: u32, marked: bool) {
        let way = &mut self.ways[direction];
        way.own_packets += 1;
        way.own_bytes += u64::from(bytes);
        way.payload += u64::from(payload);
        way.data_packets += u64::from(payload > 0);
        way.marked += u64::from(marked && payload > 0);
        let (from, to) = way.times.unwrap_or((time, time));
        way.times = Some((from.min(time), to.max(time)));
        if let Some(samples) = &mut self.samples {
            samples[direction].at(time).bytes += u64::from(bytes);
        }
    }

    /// Counts payload of datagrams, which are delivered as far as anybody can tell.
    pub fn deliver(&mut self, direction: usize, payload: u32) {
        self.ways[direction].delivered += u64::from(payload);
    }

    /// Looks at the payload of a UDP datagram, of which `data` was kept, `length` bytes long.
    pub fn look_at_datagram(&mut self, direction: usize, data: &[u8], length: u32, time: Nanoseconds) {
        let length = length as usize;
        if self.quic.is_none() {
            self.quic = Quic::begin(data, length);
        }
        let Some(quic) = &mut self.quic else { return };
        if let (Some((at, rtt)), Some(samples)) = (quic.look(direction, data, length, time), &mut self.samples) {
            let bin = samples[direction].at(at);
            bin.rtt = (bin.rtt.0 + 1, bin.rtt.1.saturating_add(rtt));
        }
    }

    /// What is not encrypted of a connection of QUIC; nothing if it is none.
    pub fn quic(&self) -> Option<&Quic> {
        self.quic.as_deref().filter(|quic| quic.is_recognised)
    }

    /// Looks at a segment.
    pub fn look(&mut self, direction: usize, segment: &Segment, time: Nanoseconds, reopened: bool) -> Found {
        let Some(tracker) = &mut self.tracker else { return Found::default() };
        let is_first = self.ways[0].packets + self.ways[1].packets <= 1;
        self.parts |= parts(segment, is_first);
        let Verdict { mut found, rtt, crossed } = tracker.look(direction, segment, time);
        if reopened {
            found.add(Found::PORTS_REUSED);
        }
        let window = tracker.sides[direction].scaled(segment);
        // That of a RST says nothing.
        let told = (tracker.sides[direction].scale != Scale::Unknown && !segment.has(RST)).then_some(window);
        let in_flight = match (tracker.sides[direction].next, tracker.sides[1 - direction].ack) {
            (Some(next), Some(ack)) if segment.payload > 0 => next.wrapping_sub(ack),
            // Data of a first SYN (RFC 7413).
            (Some(_), None) if segment.has(SYN) => segment.payload,
            _ => 0,
        };
        let way = &mut self.ways[direction];
        way.looked_at = true;
        let mut again = false;
        way.counts.count(found);
        // What asks for a sign of life says nothing again.
        if segment.space() > 0 && !found.has(Found::KEEP_ALIVE) {
            let stamp = segment.timestamps.map(|(value, _)| value);
            again = match way.seen.add(segment.seq, segment.seq.wrapping_add(segment.space()), time, stamp) {
                Numbers::New | Numbers::Overtaken => false,
                Numbers::Missing { waited, tick } => {
                    // Where the sender's clock ticks twice in a round trip, nothing that waited for one has the same timestamp.
                    let rtt = tracker.initial_rtt.or_else(|| way.shortest_whole());
                    rtt.is_some_and(|rtt| waited >= rtt / REORDERED_RTTS && tick.is_none_or(|tick| tick > rtt / 2))
                }
                Numbers::Again => !crossed,
            };
            way.retransmitted += u64::from(again);
            way.retransmitted_bytes += if again { u64::from(segment.payload) } else { 0 };
        }
        way.window_most = way.window_most.max(window);
        // Not where an ACK of what was never captured has run ahead.
        if (in_flight as i32) > 0 {
            way.in_flight_most = way.in_flight_most.max(in_flight);
        }
        self.ecn = self.ecn.after(segment);
        way.options = way.options.or(segment.options);
        way.largest_payload = way.largest_payload.max(segment.payload);
        way.advance(segment);
        if segment.has(ACK) {
            self.ways[1 - direction].acknowledge(segment.ack, time, rtt);
            self.count_marks(direction, segment, time);
        }
        self.wait(time);
        self.echo(direction, segment, time);
        if let Some(samples) = &mut self.samples {
            let [way, back] = [&self.ways[direction], &self.ways[1 - direction]];
            if segment.payload > 0 {
                samples[direction].sent(time, way, again, in_flight);
            }
            if segment.has(ACK) && back.data_packets > 0 {
                samples[1 - direction].acknowledged(time, back, rtt, told);
            }
        }
        found
    }

    /// Counts reductions of a window for marks: of this direction's, or of the other one's, whose data it acknowledges.
    fn count_marks(&mut self, direction: usize, segment: &Segment, time: Nanoseconds) {
        let Some(tracker) = self.tracker.as_ref().filter(|_| !segment.has(SYN | RST)) else { return };
        let [own, other] = [direction, 1 - direction];
        let sender = &tracker.sides[other];
        match self.ecn {
            Ecn::Classic => {
                self.ways[own].reduced += u64::from(self.ways[own].marks.answers(segment, time));
                self.ways[other].marks.echo(segment);
            }
            Ecn::Accurate => {
                let (Some(base), Some(sent)) = (sender.base, sender.next) else { return };
                // The ACK of a SYN's answer says by the same bits how that arrived.
                if segment.ack == base.wrapping_add(1) {
                    return;
                }
                let way = &mut self.ways[other];
                let rtt = tracker.initial_rtt.or_else(|| way.shortest_whole());
                way.reduced += u64::from(way.marks.reduces(segment, sent, time, rtt));
            }
            Ecn::Unknown | Ecn::Asked => {}
        }
    }

    /// Timestamps that one end sent come back with the data of the other.
    fn echo(&mut self, direction: usize, segment: &Segment, time: Nanoseconds) {
        let Some((value, echo)) = segment.timestamps else { return };
        let initial_rtt = self.tracker.as_ref().and_then(|tracker| tracker.initial_rtt);
        if segment.payload > 0 {
            let way = &mut self.ways[direction];
            way.echoes.echoed(echo, time, initial_rtt, way.shortest_behind());
        }
        self.ways[1 - direction].echoes.sent(value, time);
    }

    /// What each end waits for from now on.
    fn wait(&mut self, time: Nanoseconds) {
        let Some(tracker) = &self.tracker else { return };
        for direction in 0..2 {
            let mss = self.ways[1 - direction].options.and_then(|options| options.mss).map_or(u32::MAX, u32::from);
            let way = &mut self.ways[direction];
            let wait = match tracker.room(direction) {
                _ if way.own_packets == 0 || way.is_finished() => Wait::Other,
                Some((_, Some(room))) if room < way.largest_payload.min(mss) => Wait::Window,
                Some((0, _)) => Wait::Data,
                _ => Wait::Other,
            };
            way.waits.turn(wait, time, tracker.initial_rtt.or_else(|| way.shortest_whole()));
        }
    }

    /// Packets of both directions.
    pub fn packets(&self) -> u64 {
        self.ways.iter().map(|way| way.packets).sum()
    }

    /// The sequence number of a segment, counted from the beginning of its direction.
    pub fn relative(&self, direction: usize, segment: &Segment) -> u32 {
        let base = self.tracker.as_ref().and_then(|tracker| tracker.sides[direction].base);
        segment.seq.wrapping_sub(base.unwrap_or(segment.seq))
    }

    /// The directions that carry data; of a connection without any, the first.
    pub fn flows(&self) -> Vec<usize> {
        let carries = |way: &Way| if self.ends.protocol == TCP { way.data_packets > 0 } else { way.packets > 0 };
        let directions: Vec<usize> = (0..2).filter(|&direction| carries(&self.ways[direction])).collect();
        if directions.is_empty() { vec![usize::from(self.ways[0].packets == 0)] } else { directions }
    }

    /// Gives up what only further packets would need.
    pub fn conclude(&mut self) {
        self.handshake = self.handshake();
        self.tracker = None;
        self.quic.take_if(|quic| !quic.is_recognised);
    }

    fn handshake(&self) -> Handshake {
        self.tracker.as_ref().map_or(self.handshake, |tracker| Handshake {
            initial_rtt: tracker.initial_rtt,
            answer: tracker.answer,
            scales: [tracker.sides[0].scale, tracker.sides[1].scale],
        })
    }

    /// From the SYN to the first ACK without one, in seconds; NaN where it was not seen.
    pub fn initial_rtt_s(&self) -> f64 {
        self.handshake().initial_rtt.map_or(f64::NAN, |nanoseconds| nanoseconds as f64 / 1e9)
    }

    /// The part of the handshake's round trip that is behind the capture point, as an end sees it, in seconds.
    pub fn handshake_behind_s(&self, direction: usize) -> f64 {
        let Handshake { initial_rtt: Some(whole), answer: Some((opener, answered)), .. } = self.handshake() else {
            return f64::NAN;
        };
        let behind = if direction == opener { answered } else { whole.saturating_sub(answered) };
        behind as f64 / 1e9
    }

    /// How the windows of an end are scaled.
    pub fn scale(&self, direction: usize) -> Scale {
        self.handshake().scales[direction]
    }

    /// What became of it, in a word; empty for what is no connection.
    pub fn state(&self) -> &'static str {
        if self.ends.protocol != TCP {
            return "";
        }
        let saw = |parts: u8| self.parts & parts == parts;
        match (saw(part::SYN), saw(part::SYN_ACK)) {
            _ if saw(part::SYN | part::RST) && !saw(part::SYN_ACK) && !saw(part::DATA) => "refused",
            (true, false) if self.parts & !part::SYN == 0 => "unanswered",
            (true, true) if saw(part::FIN) => "complete",
            (true, true) if saw(part::RST) => "reset",
            (true, true) => "open",
            _ => "partial",
        }
    }
}

fn parts(segment: &Segment, is_first: bool) -> u8 {
    let mut seen = 0;
    match segment.flags & (SYN | ACK) {
        SYN if is_first => seen |= part::SYN | if segment.payload > 0 { part::DATA } else { 0 },
        _ if is_first => {}
        both if both == SYN | ACK => seen |= part::SYN_ACK,
        ACK => seen |= if segment.payload > 0 { part::DATA } else { part::ACK },
        _ => {}
    }
    if !is_first {
        if segment.flags & (FIN | ACK) == FIN | ACK {
            seen |= part::FIN;
        }
        if segment.has(RST) {
            seen |= part::RST;
        }
    }
    seen
}

//! What one end of a connection sent, and how far it came.

use super::analysis::{Found, RoundTrip};
use super::echoes::Echoes;
use super::frame::Nanoseconds;
use super::marks::Marks;
use super::quantiles::Times;
use super::seen::Seen;
use super::segment::{FIN, Options, SYN, Segment};
use super::sequence::after;
use super::waits::Waits;

/// How often each thing was found in one direction.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Neither fast nor spurious.
    pub retransmissions: u64,
    /// Soon after duplicate ACKs.
    pub fast_retransmissions: u64,
    /// Of what had been acknowledged.
    pub spurious_retransmissions: u64,
    /// Overtaken.
    pub out_of_order: u64,
    /// Gaps before a segment.
    pub lost_segments: u64,
    /// ACKs of what was not captured.
    pub acked_unseen: u64,
    /// ACKs that say nothing new.
    pub duplicate_acks: u64,
    /// Segments with a closed window.
    pub zero_windows: u64,
    /// ACKs that tell of another window only.
    pub window_updates: u64,
    /// Segments that fill the window of the other end.
    pub window_full: u64,
    /// Segments that keep the connection alive.
    pub keep_alives: u64,
}

impl Counts {
    /// Counts what was found of a segment.
    pub fn count(&mut self, found: Found) {
        let one = |what: Found, counter: &mut u64| *counter += u64::from(found.has(what));
        one(Found::RETRANSMISSION, &mut self.retransmissions);
        one(Found::FAST_RETRANSMISSION, &mut self.fast_retransmissions);
        one(Found::SPURIOUS_RETRANSMISSION, &mut self.spurious_retransmissions);
        one(Found::OUT_OF_ORDER, &mut self.out_of_order);
        one(Found::LOST_SEGMENT, &mut self.lost_segments);
        one(Found::ACKED_UNSEEN, &mut self.acked_unseen);
        one(Found::DUPLICATE_ACK, &mut self.duplicate_acks);
        one(Found::ZERO_WINDOW, &mut self.zero_windows);
        one(Found::WINDOW_UPDATE, &mut self.window_updates);
        one(Found::WINDOW_FULL, &mut self.window_full);
        one(Found::KEEP_ALIVE, &mut self.keep_alives);
    }
}

/// What one end sent.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Number of its first packet in the file.
    pub first_packet: u64,
    /// All its packets.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// How many of them were captured again, and how long after the first time in all; they count nowhere else.
    pub copies: (u64, Nanoseconds),
    /// Those with payload, SYN, FIN or RST.
    pub own_packets: u64,
    /// Their bytes.
    pub own_bytes: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Payload, what was retransmitted included.
    pub payload: u64,
    /// Packets with a congestion mark and payload.
    pub marked: u64,
    /// Segments that say that the congestion window was reduced for marks, or round trips in which the receiver counted some.
    pub reduced: u64,
    /// What the receiver tells of them.
    pub marks: Marks,
    /// First and last of its own packets, the last possibly an ACK of them.
    pub times: Option<(Nanoseconds, Nanoseconds)>,
    /// What was found of them.
    pub counts: Counts,
    /// Round-trip times that the other end's ACKs ended: those of ACKs that do not wait for a segment, if clear.
    pub prompt_rtt: Times,
    /// Those of ACKs that may, if clear.
    pub last_rtt: Times,
    /// Those that are not clear.
    pub unclear_rtt: Times,
    /// Those from the other end to this one and back.
    pub echoes: Echoes,
    /// What it waited for.
    pub waits: Waits,
    /// Packets of which all had been captured before, or that were lost before the capture.
    pub retransmitted: u64,
    /// Their payload.
    pub retransmitted_bytes: u64,
    /// Whether enough of any segment was kept to look at it.
    pub looked_at: bool,
    /// Payload that the other end acknowledged, or what was seen where no ACK was.
    pub delivered: u64,
    /// Payload seen, each byte once.
    pub reached: u64,
    /// The largest window that it told, in bytes.
    pub window_most: u32,
    /// The most it sent beyond the last ACK, in bytes.
    pub in_flight_most: u32,
    /// What its SYN said.
    pub options: Option<Options>,
    /// The largest payload of a packet.
    pub largest_payload: u32,
    /// Which payload was seen.
    pub seen: Seen,
    progress: Progress,
}

/// How far payload and ACKs of it have come.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Behind the highest payload seen.
    sent: Option<u32>,
    acked: Option<u32>,
    fin: Option<u32>,
    acks: bool,
}

impl Way {
    /// The clear round-trip times.
    pub fn clear_rtt(&self) -> Times {
        self.prompt_rtt.with(&self.last_rtt)
    }

    /// All round-trip times, clear or not.
    pub fn rtt(&self) -> Times {
        self.clear_rtt().with(&self.unclear_rtt)
    }

    /// The shortest clear round trip from the capture point to the other end, in nanoseconds; zero where none was seen.
    pub fn shortest_behind(&self) -> u64 {
        [&self.prompt_rtt, &self.last_rtt].into_iter().filter_map(Times::least).min().unwrap_or(0)
    }

    /// The shortest round trip of the path, both sides of the capture point added, where timestamps tell that before it.
    pub fn shortest_whole(&self) -> Option<Nanoseconds> {
        Nanoseconds::try_from(self.echoes.times.least()?.saturating_add(self.shortest_behind())).ok()
    }

    /// Payload moves the end of what was sent.
    pub fn advance(&mut self, segment: &Segment) {
        let start = segment.seq.wrapping_add(u32::from(segment.has(SYN)));
        let end = start.wrapping_add(segment.payload);
        if segment.has(FIN) {
            self.progress.fin = Some(end.wrapping_add(1));
        }
        if segment.payload == 0 {
            return;
        }
        let sent = self.progress.sent.get_or_insert(start);
        if after(end, *sent) {
            self.reached += u64::from(end.wrapping_sub(*sent));
            if !self.progress.acks {
                self.delivered += u64::from(end.wrapping_sub(*sent));
            }
            *sent = end;
        }
        if self.progress.acked.is_none() && self.progress.acks {
            self.progress.acked = Some(start);
        }
    }

    /// Whether a FIN said that there is no more to send.
    pub fn is_finished(&self) -> bool {
        self.progress.fin.is_some()
    }

    /// An ACK of the other end moves the end of what was delivered.
    pub fn acknowledge(&mut self, ack: u32, time: Nanoseconds, rtt: Option<RoundTrip>) {
        if let Some(RoundTrip { lasted, clear, last }) = rtt {
            let times = match (clear, last) {
                (false, _) => &mut self.unclear_rtt,
                (true, true) => &mut self.last_rtt,
                (true, false) => &mut self.prompt_rtt,
            };
            times.add(lasted);
        }
        let end = if self.progress.fin == Some(ack) { ack.wrapping_sub(1) } else { ack };
        if !self.progress.acks {
            // From now on ACKs say what was delivered: up to the first of them, all that was seen before it.
            self.progress.acks = true;
            let (Some(sent), seen) = (self.progress.sent, self.delivered) else { return };
            let unacked = sent.wrapping_sub(end);
            let start = sent.wrapping_sub(seen as u32);
            self.progress.acked = Some(start);
            self.delivered = if (unacked as i32) < 0 { seen } else { seen.saturating_sub(u64::from(unacked)) };
            if !after(end, start) {
                return;
            }
            self.progress.acked = Some(end);
            return self.last(time);
        }
        let Some(acked) = &mut self.progress.acked else { return };
        if after(end, *acked) {
            self.delivered += u64::from(end.wrapping_sub(*acked));
            *acked = end;
            self.last(time);
        }
    }

    fn last(&mut self, time: Nanoseconds) {
        if let Some((_, to)) = &mut self.times {
            *to = (*to).max(time);
        }
    }
}

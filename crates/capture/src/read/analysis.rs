//! What a segment is: new, retransmitted, out of order, a duplicate ACK… The definitions are those of Wireshark's user's
//! guide ("TCP Analysis"), in the reading of tshark 4.0, against which tests hold every count.

use super::frame::Nanoseconds;
use super::segment::{ACK, FIN, RST, SYN, Segment};
use super::sequence::{after, not_after};
use super::unacked::Unacked;

/// What was found of a segment; several may be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found(u16);

impl Found {
    /// Retransmitted, neither fast nor in vain.
    pub const RETRANSMISSION: Self = Self(1);
    /// Retransmitted at once after two duplicate ACKs or more.
    pub const FAST_RETRANSMISSION: Self = Self(2);
    /// Retransmitted although it had been acknowledged.
    pub const SPURIOUS_RETRANSMISSION: Self = Self(4);
    /// Overtaken on the way.
    pub const OUT_OF_ORDER: Self = Self(8);
    /// A segment before it is missing.
    pub const LOST_SEGMENT: Self = Self(16);
    /// It acknowledges what was not captured.
    pub const ACKED_UNSEEN: Self = Self(32);
    /// An ACK that says nothing new.
    pub const DUPLICATE_ACK: Self = Self(64);
    /// The receiver has no room.
    pub const ZERO_WINDOW: Self = Self(128);
    /// A byte to learn whether it has some.
    pub const ZERO_WINDOW_PROBE: Self = Self(256);
    /// The answer, that it has none.
    pub const ZERO_WINDOW_PROBE_ACK: Self = Self(512);
    /// An ACK that tells of another window only.
    pub const WINDOW_UPDATE: Self = Self(1024);
    /// It fills the receiver's window.
    pub const WINDOW_FULL: Self = Self(2048);
    /// Keeps a connection alive.
    pub const KEEP_ALIVE: Self = Self(4096);
    /// The answer to that.
    pub const KEEP_ALIVE_ACK: Self = Self(8192);
    /// A new connection of old ports.
    pub const PORTS_REUSED: Self = Self(16384);
    /// A packet that was captured before.
    pub const COPY: Self = Self(32768);

    /// Whether all of these were found.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds what else was found.
    pub fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The words for all that was found, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        const WORDS: [&str; 16] = [
            "retransmission",
            "fast retransmission",
            "spurious retransmission",
            "out of order",
            "lost segment",
            "acked unseen segment",
            "duplicate ack",
            "zero window",
            "zero window probe",
            "zero window probe ack",
            "window update",
            "window full",
            "keep-alive",
            "keep-alive ack",
            "ports reused",
            "copy",
        ];
        WORDS.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 != 0).map(|(_, word)| *word)
    }
}

/// Duplicate ACKs after which a segment retransmitted is a fast retransmission.
const DUPLICATES: u32 = 2;
/// Stands for their number where the other end acknowledges more than was captured: tshark counts that as many.
const OVERTAKEN_BY_ACK: u32 = u32::MAX;
/// How soon after the last ACK it must be.
const SOON: Nanoseconds = 20_000_000;
/// How soon after the highest sequence number a segment is taken for overtaken, where no handshake was seen.
const OVERTAKEN: Nanoseconds = 3_000_000;

/// How windows are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// The handshake was not seen.
    #[default]
    Unknown,
    /// They are not.
    Unscaled,
    /// By this shift.
    By(u8),
}

/// What is remembered of the segments of one direction.
#[derive(Default)]
pub struct Side {
    /// The sequence number of its SYN, or the one before the first that was seen.
    pub base: Option<u32>,
    /// Behind the highest sequence number so far.
    pub next: Option<u32>,
    next_time: Nanoseconds,
    /// Behind the highest one of which nothing before is missing.
    unbroken: Option<u32>,
    /// Its last ACK.
    pub ack: Option<u32>,
    last_time: Nanoseconds,
    /// Its last window, not scaled.
    window: Option<u32>,
    /// How its windows are scaled.
    pub scale: Scale,
    /// From a SYN to the first ACK windows are not scaled yet.
    opening: bool,
    /// When its last SYN without an ACK was captured.
    syn_time: Option<Nanoseconds>,
    /// From the other end's SYN, which crossed its own, to its answer.
    answered: Option<Nanoseconds>,
    duplicates: u32,
    last: Found,
    unacked: Unacked,
}

impl Side {
    /// Its last window in bytes, as far as its scale is known.
    fn open_window(&self) -> Option<u32> {
        let shift = match self.scale {
            Scale::By(shift) if !self.opening => shift,
            _ => 0,
        };
        self.window.map(|window| window << shift)
    }

    /// The window that a segment of it tells, in bytes.
    pub fn scaled(&self, segment: &Segment) -> u32 {
        match self.scale {
            Scale::By(shift) if !segment.has(SYN) => u32::from(segment.window) << shift,
            _ => u32::from(segment.window),
        }
    }
}

/// Both directions of a connection, and its handshake.
#[derive(Default)]
pub struct Tracker {
    /// Of the end that was seen first, and of the other.
    pub sides: [Side; 2],
    /// From the last SYN to the first ACK without one. Where SYNs crossed (RFC 9293 §3.5), from each to its answer, both
    /// added: that is one of the path, wherever the capture is.
    pub initial_rtt: Option<Nanoseconds>,
    /// Which end opened the connection, and from its SYN to the answer.
    pub answer: Option<(usize, Nanoseconds)>,
}

/// What a segment tells.
pub struct Verdict {
    /// What it is.
    pub found: Found,
    /// The round trip that it ends.
    pub rtt: Option<RoundTrip>,
    /// Whether it answers a SYN that crossed its own, the first time: what it says again was not lost.
    pub crossed: bool,
}

/// From a segment to its ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Nanoseconds; zero where the clock is too coarse to tell both apart.
    pub lasted: u64,
    /// Whether nothing that the ACK acknowledges was retransmitted.
    pub clear: bool,
    /// Whether the ACK may have waited for a second segment.
    pub last: bool,
}

impl Tracker {
    /// Whether a SYN is not one of this connection, but opens another one with the same ports.
    pub fn is_reopened_by(&self, direction: usize, segment: &Segment) -> bool {
        segment.flags & (SYN | ACK) == SYN && self.sides[direction].base.is_some_and(|base| base != segment.seq)
    }

    /// What is in flight of a direction, and the bytes for which the receiver's window has room, if its scale is known or it is
    /// closed. Nothing before both ends were seen.
    pub fn room(&self, direction: usize) -> Option<(u32, Option<u32>)> {
        let (own, other) = (&self.sides[direction], &self.sides[1 - direction]);
        let (next, ack) = (own.next?, other.ack?);
        // Where ACKs of what was not captured have run ahead, nothing is.
        let in_flight = if after(next, ack) { next.wrapping_sub(ack) } else { 0 };
        let known = other.open_window().filter(|&window| window == 0 || other.scale != Scale::Unknown);
        Some((in_flight, known.map(|window| window.saturating_sub(in_flight))))
    }

    /// Looks at the next segment of a direction.
    pub fn look(&mut self, direction: usize, segment: &Segment, time: Nanoseconds) -> Verdict {
        let mut found = Found::default();
        self.begin(direction, segment, &mut found);
        let [first, second] = &mut self.sides;
        let (own, other) = if direction == 0 { (first, second) } else { (second, first) };
        let within = self.initial_rtt.filter(|&rtt| rtt != 0).unwrap_or(OVERTAKEN);
        judge_window(own, other, segment, &mut found);
        judge_ack(own, other, segment, &mut found);
        judge_order(own, other, segment, time, within, &mut found);
        remember(own, segment, time, found);
        let ended = other.unacked.acknowledge(segment.ack);
        let rtt = ended.and_then(|ended| {
            let lasted = u64::try_from(time.saturating_sub(ended.time)).ok()?;
            Some(RoundTrip { lasted, clear: ended.clear, last: ended.last })
        });
        let crossed = self.crosses(direction, segment, time);
        self.finish(direction, segment, time);
        Verdict { found, rtt, crossed }
    }

    fn begin(&mut self, direction: usize, segment: &Segment, found: &mut Found) {
        let own = &mut self.sides[direction];
        match own.base {
            None => own.base = Some(if segment.has(SYN) { segment.seq } else { segment.seq.wrapping_sub(1) }),
            Some(base) if segment.has(SYN) && segment.has(ACK) && base != segment.seq => {
                own.base = Some(segment.seq);
                found.add(Found::PORTS_REUSED);
            }
            Some(_) => {}
        }
        let other = &mut self.sides[1 - direction];
        if other.base.is_none() && segment.has(ACK) {
            other.base = Some(segment.ack.wrapping_sub(1));
        }
    }

    /// Whether both ends opened the connection, and this is the first answer of one of them.
    fn crosses(&mut self, direction: usize, segment: &Segment, time: Nanoseconds) -> bool {
        let both = segment.flags & (SYN | ACK) == SYN | ACK;
        let [own, other] = [direction, 1 - direction].map(|end| self.sides[end].syn_time);
        let (true, Some(_), Some(asked)) = (both, own, other) else { return false };
        let side = &mut self.sides[direction];
        if side.answered.is_some() {
            return false;
        }
        side.answered = Some(time.saturating_sub(asked));
        if let [Some(one), Some(back)] = [self.sides[0].answered, self.sides[1].answered] {
            self.initial_rtt = Some(one.saturating_add(back));
        }
        true
    }

    /// What is learnt of a segment only after it was judged.
    fn finish(&mut self, direction: usize, segment: &Segment, time: Nanoseconds) {
        let acknowledges = segment.flags & (SYN | ACK) == ACK;
        if segment.has(SYN) {
            self.sides[direction].opening = true;
            if !segment.has(ACK) {
                self.sides[direction].syn_time = Some(time);
            } else if let Some(asked) = self.sides[1 - direction].syn_time {
                self.answer = Some((1 - direction, time.saturating_sub(asked)));
            }
        } else if acknowledges {
            self.sides[direction].opening = false;
        }
        let last_syn = self.sides.iter().filter_map(|side| side.syn_time).max();
        if let (true, None, Some(syn)) = (acknowledges, self.initial_rtt.filter(|&rtt| rtt != 0), last_syn) {
            self.initial_rtt = Some(time.saturating_sub(syn));
        }
        let Some(options) = segment.options else { return };
        let [first, second] = &mut self.sides;
        let (own, other) = if direction == 0 { (first, second) } else { (second, first) };
        match options.window_scale {
            Some(shift) => {
                own.scale = Scale::By(shift);
                // Both ends must offer it (RFC 7323 §2.2).
                if other.scale == Scale::Unscaled {
                    own.scale = Scale::Unscaled;
                }
            }
            None if own.scale == Scale::Unknown => {
                own.scale = Scale::Unscaled;
                other.scale = Scale::Unscaled;
            }
            None => {}
        }
    }
}

fn judge_window(own: &Side, other: &Side, segment: &Segment, found: &mut Found) {
    let plain = !segment.has(SYN | FIN | RST);
    if segment.payload == 1 && own.next == Some(segment.seq) && other.window == Some(0) {
        found.add(Found::ZERO_WINDOW_PROBE);
        return;
    }
    if segment.window == 0 && plain {
        found.add(Found::ZERO_WINDOW);
    }
    if segment.payload > 0 && plain && other.scale != Scale::Unknown {
        let edge = other.open_window().map(|window| other.ack.unwrap_or(0).wrapping_add(window));
        if edge == Some(segment.seq.wrapping_add(segment.payload)) {
            found.add(Found::WINDOW_FULL);
        }
    }
    let Some(next) = own.next else { return };
    if after(segment.seq, next) && !segment.has(RST) {
        found.add(Found::LOST_SEGMENT);
    }
    if segment.payload <= 1 && segment.seq == next.wrapping_sub(1) && plain {
        found.add(Found::KEEP_ALIVE);
    }
}

fn judge_ack(own: &mut Side, other: &mut Side, segment: &Segment, found: &mut Found) {
    let ack = segment.has(ACK).then_some(segment.ack);
    let window = u32::from(segment.window);
    let bare = segment.payload == 0 && !segment.has(SYN | FIN | RST) && own.next == Some(segment.seq);
    let same = ack.is_some() && ack == own.ack;
    let probed = other.last.has(Found::ZERO_WINDOW_PROBE);
    if bare && !found.has(Found::ZERO_WINDOW_PROBE) {
        let unchanged = own.window == Some(window);
        if window != 0 && !unchanged && same {
            found.add(Found::WINDOW_UPDATE);
        } else if window != 0 && same {
            if other.last.has(Found::KEEP_ALIVE) {
                found.add(Found::KEEP_ALIVE_ACK);
            } else {
                own.duplicates = if own.duplicates == OVERTAKEN_BY_ACK { 1 } else { own.duplicates + 1 };
                found.add(Found::DUPLICATE_ACK);
            }
        } else if window == 0 && unchanged && probed && same {
            found.add(Found::ZERO_WINDOW_PROBE_ACK);
        }
    }
    if ack != own.ack {
        own.duplicates = 0;
    }
    let (Some(ack), Some(unbroken)) = (ack, other.unbroken) else { return };
    if !after(ack, unbroken) {
        return;
    }
    if other.next.is_some_and(|next| after(next, unbroken)) {
        found.add(Found::ACKED_UNSEEN);
        other.unbroken = other.next;
    } else {
        // Said once, until the other end acknowledges something else.
        if other.duplicates == 0 {
            found.add(Found::ACKED_UNSEEN);
        }
        other.duplicates = OVERTAKEN_BY_ACK;
    }
}

fn judge_order(own: &Side, other: &Side, segment: &Segment, time: Nanoseconds, within: Nanoseconds, found: &mut Found) {
    if segment.space() == 0 || found.has(Found::KEEP_ALIVE) {
        return;
    }
    let end = segment.seq.wrapping_add(segment.payload);
    if segment.payload > 0 && other.ack.is_some_and(|ack| not_after(end, ack)) {
        found.add(Found::SPURIOUS_RETRANSMISSION);
        return;
    }
    let Some(next) = own.next else { return };
    // One byte less than expected and more than one: what follows a probe of a closed window.
    let follows_probe = segment.payload > 1 && next.wrapping_sub(1) == segment.seq;
    if !after(next, segment.seq) || follows_probe {
        return;
    }
    let soon = |since: Nanoseconds, limit| (0..limit).contains(&time.saturating_sub(since));
    if other.duplicates >= DUPLICATES && other.ack == Some(segment.seq) && soon(other.last_time, SOON) {
        found.add(Found::FAST_RETRANSMISSION);
    } else if soon(own.next_time, within) && next != segment.seq.wrapping_add(segment.space()) {
        found.add(Found::OUT_OF_ORDER);
    } else {
        found.add(Found::RETRANSMISSION);
    }
}

fn remember(own: &mut Side, segment: &Segment, time: Nanoseconds, found: Found) {
    let mut next = segment.seq.wrapping_add(segment.payload);
    if segment.space() > 0 && !own.unacked.is_full() {
        next = segment.seq.wrapping_add(segment.space());
        own.unacked.push(segment.seq, next, time);
    }
    if !found.has(Found::ZERO_WINDOW_PROBE) {
        if own.next.is_none_or(|highest| after(next, highest)) {
            // A RST that refuses a connection has the number zero (RFC 9293 §3.5.2), which says nothing of those that the
            // sender chooses when it accepts the next one.
            own.next = (next != 0).then_some(next);
            own.next_time = time;
        }
        if own.unbroken.is_none_or(|unbroken| unbroken == segment.seq) {
            own.unbroken = own.next;
        }
    }
    own.window = Some(u32::from(segment.window));
    own.ack = segment.has(ACK).then_some(segment.ack);
    own.last_time = time;
    own.last = found;
}

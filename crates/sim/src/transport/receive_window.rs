//! How Linux's receiver opens its window, which shows in when it acknowledges: while the window grows, every segment is
//! acknowledged at once.
//!
//! From Linux 6.18, by its names: `tcp_select_initial_window`, `tcp_grow_window`, `tcp_rcv_space_adjust` and
//! `tcp_rcvbuf_grow`. The application is taken to read at once. A window smaller than the kernel's largest was asked
//! for by an application: it is advertised from the start, and does not grow. For a larger one the largest buffer was
//! raised.

use crate::time::{EQUAL_S, Time, ticks};
use crate::transport::ack_options::Advertised;

/// A connection begins with a buffer of this size, of which half is window: tcp_rmem[1].
const FIRST_BUFFER_BYTES: f64 = 131_072.0;
/// The largest window of profile `linux`: half of a buffer of 6 MiB, which was tcp_rmem[2] for long.
const LARGEST_WINDOW_BYTES: f64 = 3_145_728.0;
/// What a frame of up to 1600 B takes of a buffer: skb->truesize.
const FRAME_BYTES: f64 = 2304.0;
/// The most of a buffer that is window, once segments have been seen (scaling_ratio, of 1448 B in a frame).
const MOST_WINDOW: f64 = 0.625;
/// The first measure of the rate compares with this many segments: TCP_INIT_CWND.
const FIRST_SPACE_SEGMENTS: f64 = 10.0;
/// Segments that one ACK is of.
const UNREAD: f64 = 2.0;
/// Windows are told in units of so many bytes: rcv_wscale, as Linux 6.18 had it (tcp_rmem[2] is 32 MiB there).
const SCALE: i64 = 1024;
/// So many ACKs carry a window that has changed; those after them are read as if they did.
const REPEATS: u32 = 16;
/// How much a longer round trip counts.
const GAIN: f64 = 0.125;
/// An ACK that asked for an answer, or the answer, is taken for lost after so many round trips, or so long.
const PATIENCE: f64 = 4.0;
const LEAST_PATIENCE_S: f64 = 0.2;
/// Ticks of a second of the clock that timestamps are of: TCP_TS_HZ.
const TICKS: f64 = 1000.0;

/// What is beyond the next packet in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beyond {
    /// Packets to the end of the last one that is there.
    pub spanned: u32,
    /// Those of them that were there before the packet that came.
    pub waiting: u32,
}

/// The window of a receiver, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    payload_bytes: f64,
    /// The share of the buffer that is window.
    share: f64,
    /// The window: rcv_ssthresh.
    window: f64,
    /// What it may grow to: window_clamp.
    clamp: f64,
    /// The most that this may grow to.
    largest: f64,
    /// What waits behind a hole leaves it no room to grow.
    full: bool,
    /// What was advertised ends so many bytes from the start: rcv_wup + rcv_wnd.
    right_edge: Option<i64>,
    /// The window told last, in packets, and how many ACKs more tell of it.
    told: u32,
    repeats: u32,
    /// What was read in the round trip before: rcvq_space.space.
    space: f64,
    /// Since when, and from which packet on, the next is measured.
    since: Time,
    first: u32,
    /// When the SYN came, how long ACKs take until the sender answers them, and how long that of the SYN took to be answered,
    /// in seconds.
    synchronized: Time,
    back_s: f64,
    /// When an ACK asked for an answer, which has not come.
    asked: Option<Time>,
    handshake_s: f64,
    rtt_s: f64,
    /// The tick of the timestamp that was echoed last: rcv_rtt_last_tsecr.
    echoed: f64,
}

impl ReceiveWindow {
    /// For segments of `payload_bytes`, and a largest window of `most` of them.
    #[must_use]
    pub fn new(payload_bytes: u32, most: f64) -> Self {
        let payload = f64::from(payload_bytes);
        let share = (payload / FRAME_BYTES).min(MOST_WINDOW);
        let asked_for = (most + 1.0) * payload <= LARGEST_WINDOW_BYTES;
        let window = (FIRST_BUFFER_BYTES / 2.0 / payload).floor().max(1.0) * payload;
        Self {
            payload_bytes: payload,
            share: if asked_for { 0.0 } else { share },
            window,
            clamp: if asked_for { 0.0 } else { FIRST_BUFFER_BYTES * share },
            // What the scenario says is what the sender may use: more is not advertised, and as much while what an ACK is of is unread.
            largest: if asked_for { 0.0 } else { (most + UNREAD) * payload },
            full: false,
            right_edge: (!asked_for).then_some(0),
            told: 0,
            repeats: 0,
            space: window.min(FIRST_SPACE_SEGMENTS * payload),
            since: Time::ZERO,
            first: 1,
            synchronized: Time::ZERO,
            back_s: 0.0,
            asked: None,
            handshake_s: f64::INFINITY,
            rtt_s: f64::INFINITY,
            echoed: f64::NAN,
        }
    }

    /// The round trip as the receiver knows it by the handshake, or by data if these were faster, in seconds.
    #[must_use]
    pub fn rtt_s(&self) -> f64 {
        self.handshake_s.min(self.rtt_s)
    }

    /// Whether what waits behind a hole leaves the window no room to grow.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The room that `held` packets leave in the buffer, of what could be window: tcp_space.
    fn room(&self, held: u32) -> f64 {
        self.clamp - f64::from(held) * FRAME_BYTES * self.share
    }

    /// Whether `held` packets take more than half of the buffer.
    #[must_use]
    pub fn is_half_full(&self, held: u32) -> bool {
        self.room(held) < self.clamp / 2.0
    }

    /// What is advertised beyond what has come in order, with so many held, in bytes: __tcp_select_window.
    fn selected(&self, held: u32) -> i64 {
        let room = self.room(held);
        if room < self.payload_bytes || room < self.clamp / 16.0 {
            return 0;
        }
        let room = if self.is_half_full(held) { room as i64 / SCALE * SCALE } else { room as i64 };
        scaled(room.min(self.window as i64))
    }

    /// An ACK of what is before packet `next` leaves while the buffer holds `held` packets, behind a hole or not yet read:
    /// the window that it advertises, in packets, if one of the last few had another. What was advertised is never taken
    /// back (tcp_select_window).
    pub fn advertise(&mut self, now: Time, next: u32, held: u32) -> Option<Advertised> {
        let read = self.bytes_before(next);
        let right_edge = read + scaled(self.right_edge? - read).max(self.selected(held));
        self.right_edge = Some(right_edge);
        let window = (right_edge as f64 / self.payload_bytes) as u32 + 1 - next;
        self.repeats = if window == self.told { self.repeats.saturating_sub(1) } else { REPEATS };
        self.told = window;
        let patience_s = LEAST_PATIENCE_S.max(PATIENCE * self.rtt_s.min(f64::MAX));
        let asks = self.rtt_s < f64::INFINITY && self.asked.is_none_or(|asked| now.since(asked) > patience_s);
        if asks {
            self.asked = Some(now);
        }
        (self.repeats > 0 || asks).then_some(Advertised { window, asks })
    }

    /// The answer to what an ACK asked for was sent at `sent`: what a segment echoes is so old from now on.
    pub fn answered(&mut self, sent: Time) {
        if let Some(asked) = self.asked.take() {
            self.back_s = sent.since(asked).max(0.0);
        }
    }

    /// Whether what the last ACK left of the window is so much larger now that another must tell: tcp_cleanup_rbuf.
    #[must_use]
    pub fn opens(&self, next: u32, held: u32) -> bool {
        let Some(right_edge) = self.right_edge else { return false };
        let twice = 2 * (right_edge - self.bytes_before(next)).max(0);
        twice <= self.clamp as i64 && self.selected(held) >= twice.max(1)
    }

    fn bytes_before(&self, packet: u32) -> i64 {
        i64::from(packet - 1) * self.payload_bytes as i64
    }

    /// The SYN came.
    pub fn synchronize(&mut self, now: Time) {
        self.synchronized = now;
    }

    /// What ends the handshake came, sent at `sent`.
    pub fn establish(&mut self, now: Time, sent: Time) {
        self.handshake_s = now.since(self.synchronized);
        self.back_s = sent.since(self.synchronized).max(0.0);
        self.since = now;
    }

    /// Segment `seq` came; what is in order ends before packet `next`. True if the window grows.
    pub fn receive(&mut self, now: Time, (seq, next): (u32, u32), beyond: Beyond) -> bool {
        // What waits behind a hole takes its part of the buffer (tcp_space), and so does what comes in order, until it is read.
        let room = self.room(beyond.waiting + u32::from(seq < next)) - self.window;
        let grows = room > 0.0;
        if grows {
            self.window += room.min(2.0 * self.payload_bytes);
        }
        self.full = beyond.waiting > 0 && room <= 2.0 * self.payload_bytes;
        if seq > next {
            self.widen(2.0 * self.space + f64::from(beyond.spanned) * self.payload_bytes);
        }
        // The application reads what is in order, segment by segment, the one that came first, and adjusts the window after each.
        let reads = seq < next;
        // Of equal times the second is a little less, as hosts take some: a measure that begins with a later segment of a
        // round never returns to the first.
        if reads && now.since(self.since) >= self.rtt_s + EQUAL_S {
            let (read, unread) = (f64::from(seq + 1) - f64::from(self.first), f64::from(next - (seq + 1)));
            let read = (read - unread) * self.payload_bytes;
            if read > self.space {
                self.adjust(read, f64::from(beyond.spanned) * self.payload_bytes);
            }
            (self.since, self.first) = (now, seq + 1);
        }
        grows
    }

    /// A segment came that was sent at `sent`: tcp_rcv_rtt_measure_ts, once for each timestamp that comes back, in whole ticks.
    pub fn measure(&mut self, now: Time, sent: Time) {
        let echoed = ticks(sent.seconds() - self.back_s, TICKS);
        if echoed == self.echoed {
            return;
        }
        self.echoed = echoed;
        let sample_s = (ticks(now.seconds(), TICKS) - echoed).max(1.0) / TICKS;
        self.rtt_s = if sample_s < self.rtt_s { sample_s } else { self.rtt_s + GAIN * (sample_s - self.rtt_s) };
    }

    /// tcp_rcvbuf_grow: twice what was read, more where the sender speeds up, and room for what waits behind a hole.
    fn adjust(&mut self, read: f64, early: f64) {
        let twice = 2.0 * read;
        let wanted = twice + 2.0 * twice * (read - self.space) / self.space + early;
        self.space = read;
        self.widen(wanted);
    }

    fn widen(&mut self, wanted: f64) {
        self.clamp = self.clamp.max(wanted.min(self.largest));
    }
}

/// So many bytes in whole units, rounded up.
fn scaled(bytes: i64) -> i64 {
    (bytes + SCALE - 1) & !(SCALE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment that was sent then comes now.
    fn take(window: &mut ReceiveWindow, now: Time, sent: Time, segment: (u32, u32), beyond: Beyond) -> bool {
        window.measure(now, sent);
        window.receive(now, segment, beyond)
    }

    /// Measured on Linux 6.18 with segments of 1448 B: the window grows with the first six of them, from 45
    /// segments to 131072 · 0.625 = 81920 B less the segment that came.
    #[test]
    fn the_first_segments_open_it() {
        let mut window = ReceiveWindow::new(1448, 2172.0);
        assert_eq!(window.window, 45.0 * 1448.0);
        window.synchronize(Time::ZERO);
        window.establish(Time::new(0.08), Time::new(0.08));
        let grown: Vec<bool> = (1..=20_u32)
            .map(|next| take(&mut window, Time::new(0.16), Time::new(0.08), (next - 1, next), Beyond::default()))
            .collect();
        assert_eq!(grown.iter().filter(|grows| **grows).count(), 6);
        assert!(grown[..6].iter().all(|grows| *grows));
        assert_eq!(window.window, 81_920.0 - 1440.0);
    }

    /// A sender that doubles its rate gets six times what was read: segments of a round trip that grow it.
    #[test]
    fn a_sender_in_slow_start_finds_it_open() {
        let mut window = ReceiveWindow::new(1448, 2172.0);
        window.establish(Time::ZERO, Time::ZERO);
        let (mut next, mut counts) = (1, Vec::new());
        for round in 1..8_u32 {
            let mut grown = 0;
            for place in 0..(10 << (round - 1)) {
                let now = Time::new(0.1 * f64::from(round) + 1e-5 * f64::from(place));
                next += 1;
                grown += u32::from(take(
                    &mut window,
                    now,
                    Time::new(now.seconds() - 0.1),
                    (next - 1, next),
                    Beyond::default(),
                ));
            }
            counts.push(grown);
            assert!(window.window * 2.0 >= 1448.0 * f64::from(10 << (round - 1)), "round {round}: {window:?}");
        }
        assert!(counts[2..6].iter().all(|grown| *grown > 10), "{counts:?}");
    }

    /// Traced on Linux 6.18 over 10 Mbit/s and 5 ms: the first measure begins when the handshake ends and not when what ends it was
    /// sent, and is of ten segments.
    #[test]
    fn the_first_measure_begins_when_the_handshake_ends() {
        let mut window = ReceiveWindow::new(1448, 2172.0);
        let at = |ms: f64| Time::new(ms / 1e3);
        window.synchronize(at(5.2));
        window.establish(at(15.25), at(10.2));
        for segment in 1..=11_u32 {
            let now = at(15.23 + 1.2 * f64::from(segment));
            take(&mut window, now, at(10.2), (segment, segment + 1), Beyond::default());
        }
        assert_eq!((window.since, window.first), (at(15.23 + 1.2 * 10.0), 11));
    }

    /// Round trips of 100.6 ms are 100 or 101 ticks, by when they begin: after 101 the next measure begins with a segment
    /// that is later in its round, as in captures of Linux 6.18.
    #[test]
    fn measures_begin_later_in_a_round_where_ticks_are_longer() {
        for (begin_ms, later) in [(0.1, false), (0.5, true)] {
            let mut window = ReceiveWindow::new(1448, 2172.0);
            let at = |ms: f64| Time::new((begin_ms + ms) / 1e3);
            window.establish(at(0.0), at(0.0));
            for (ms, next) in [(100.6, 2), (101.2, 3)] {
                take(&mut window, at(ms), at(ms - 100.6), (next - 1, next), Beyond::default());
            }
            assert_eq!(window.since > at(101.0), later, "{window:?}");
        }
    }

    /// Traced on Linux 6.18: of a window with room for 24 segments' growth (2 · 1448 B each), and 1440 B of the buffer for each that
    /// waits, 16 segments behind a hole use up what is whole. When it is filled the room is there again.
    #[test]
    fn what_waits_behind_a_hole_takes_room() {
        let mut window = ReceiveWindow::new(1448, 2172.0);
        window.clamp = window.window + 24.0 * 2.0 * 1448.0;
        let mut receive = |seq: u32, next: u32, waiting: u32| {
            let beyond = Beyond { spanned: seq.max(next) - next + 1, waiting };
            (take(&mut window, Time::new(0.1), Time::ZERO, (seq, next), beyond), window.is_full())
        };
        let grown: Vec<(bool, bool)> = (0..20).map(|waiting| receive(22 + waiting, 21, waiting)).collect();
        assert!(grown[..16].iter().all(|&each| each == (true, false)), "{grown:?}");
        assert_eq!(grown[16..], [(true, true), (false, true), (false, true), (false, true)]);
        assert_eq!(receive(21, 42, 20), (false, true));
        assert_eq!(receive(42, 43, 0), (true, false));
    }

    /// Traced on Linux 6.18: the last packet that each ACK lets the sender send, with what the buffer holds behind a hole or not
    /// yet read. Nothing is taken back, and where reading opens the window to twice as much, another ACK tells.
    #[test]
    fn what_is_held_takes_of_the_window() {
        let mut window = ReceiveWindow::new(1448, 2172.0);
        (window.window, window.space) = (window.clamp - 1440.0, 11.0 * 1448.0);
        let told = |window: &mut ReceiveWindow, next: u32, held: u32| {
            window.advertise(Time::ZERO, next, held).map(|told| next - 1 + told.window)
        };
        for (next, held, last) in [(22, 1, 76), (26, 28, 77), (32, 25, 77), (33, 23, 77), (39, 22, 78), (48, 19, 85)] {
            assert_eq!(told(&mut window, next, held), Some(last), "{window:?}");
            assert!(!window.opens(next, 0));
        }
        assert_eq!(told(&mut window, 48, 11), Some(92));
        // Of packets behind a hole that reach beyond it the buffer grows at once.
        take(&mut window, Time::new(0.1), Time::ZERO, (83, 48), Beyond { spanned: 36, waiting: 34 });
        assert_eq!(window.clamp, 58.0 * 1448.0);
        assert_eq!(told(&mut window, 78, 34), Some(101));
        assert!(window.opens(78, 4));
        assert_eq!(told(&mut window, 78, 4), Some(131));
        assert!(!window.opens(78, 4));
    }

    /// A window that stays is told some times, in case that ACKs are lost, and then taken as read.
    #[test]
    fn only_a_window_that_changes_is_told() {
        let mut window = ReceiveWindow::new(1448, 2172.0);
        let told =
            (1..40_u32).map(|next| window.advertise(Time::ZERO, next, 0).map(|told| told.window)).collect::<Vec<_>>();
        assert_eq!(told.iter().flatten().collect::<Vec<_>>(), [&45; REPEATS as usize]);
        assert!(told[..REPEATS as usize].iter().all(Option::is_some));
        assert_eq!(ReceiveWindow::new(1448, 700.0).advertise(Time::ZERO, 1, 0), None);
    }

    /// By default, and where a scenario asks for more, which an administrator has allowed for.
    #[test]
    fn a_window_opens_as_far_as_the_scenario_says() {
        let widest = |most| {
            let mut window = ReceiveWindow::new(1448, most);
            window.widen(1e9);
            (window.clamp / 1448.0).floor()
        };
        assert_eq!([2172.0, 2700.0, 10_000.0].map(widest), [2174.0, 2702.0, 10_002.0]);
    }

    /// The application reads what comes in order; behind a hole nothing adjusts the window, and when one is filled, what is not
    /// read yet does not count.
    #[test]
    fn only_what_is_read_opens_it() {
        let after = |last: &[(u32, u32)]| {
            let mut window = ReceiveWindow::new(1448, 2172.0);
            window.establish(Time::ZERO, Time::ZERO);
            for seq in 1..=40 {
                take(&mut window, Time::new(0.1), Time::ZERO, (seq, seq + 1), Beyond::default());
            }
            let clamp = window.clamp;
            for &(seq, next) in last {
                take(&mut window, Time::new(0.25), Time::new(0.15), (seq, next), Beyond::default());
            }
            window.clamp > clamp
        };
        assert!(after(&[(41, 42)]));
        assert!(!after(&[(45, 41)]));
        assert!(after(&[(41, 62)]));
        assert!(!after(&[(41, 92)]));
    }

    /// An application that asks for a window has it from the start.
    #[test]
    fn a_window_that_was_asked_for_does_not_grow() {
        let mut window = ReceiveWindow::new(1448, 700.0);
        window.establish(Time::ZERO, Time::ZERO);
        assert!((1..500_u32).all(|next| !take(
            &mut window,
            Time::new(0.1 * f64::from(next)),
            Time::ZERO,
            (next - 1, next),
            Beyond::default()
        )));
    }

    /// Small segments take as much of the buffer as large ones: their window never grows beyond the first.
    #[test]
    fn small_segments_do_not_open_it() {
        let mut window = ReceiveWindow::new(48, 1e6);
        assert!(!take(&mut window, Time::new(0.1), Time::ZERO, (1, 2), Beyond::default()));
    }
}

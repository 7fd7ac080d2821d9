//! When an ACK may wait under profile `linux`, and which segments are pushed (PSH) and therefore acknowledged at once. The
//! rules of the receiver's window are in `receive_window.rs`.
//!
//! From Linux 6's TCP, by its names: `tcp_event_data_recv`, `tcp_grow_window`, `tcp_enter_quickack_mode`,
//! `__tcp_ack_snd_check`. Left out: that a delay of more than 40 ms is bounded by a round trip (`tcp_send_delayed_ack`), and
//! segmentation offload.

use super::receive_window::{Beyond, ReceiveWindow};
use crate::packet::Packet;
use crate::time::Time;
use crate::transport::ack_options::Advertised;
use crate::transport::sack::SackBlocks;

/// The first segments, and those after a long pause, are acknowledged at once: TCP_MAX_QUICKACKS.
const QUICK_ACKS: u32 = 16;
/// So many are where a mark makes the sender's window small (tcp_ecn_check_ce).
pub(super) const MARKED_QUICK_ACKS: u32 = 2;
/// The shortest delay of an ACK, in seconds: TCP_ATO_MIN.
const SHORTEST_DELAY_S: f64 = 0.04;

/// Behind a hole the first segments are acknowledged at once: TCP_FASTRETRANS_THRESH.
const DUPLICATE_ACKS: u32 = 3;
/// Of the others this many may wait for one ACK: tcp_comp_sack_nr.
const MOST_COMPRESSED: u32 = 44;
/// Blocks that one ACK is expected to have room for, as some networks add options (TCP_SACK_BLOCKS_EXPECTED).
pub const COMPRESSED_BLOCKS: usize = 2;
/// For this share of a round trip, but no longer than so many seconds (tcp_comp_sack_delay_ns), and as much longer as
/// its timer may be late (tcp_comp_sack_slack_ns), which it is where nothing else wakes the machine.
const COMPRESSED_SHARE: f64 = 0.05;
const COMPRESSED_S: f64 = 1e-3;
const COMPRESSED_SLACK_S: f64 = 1e-4;

/// When an ACK may wait.
#[derive(Clone, Copy, Debug)]
pub struct AckDelay {
    /// Segments that are still acknowledged at once.
    quick: u32,
    /// How long the next ACK may wait, in seconds.
    delay_s: f64,
    last: Option<Time>,
    /// The receiver's own timeout in seconds, which the handshake's round trip sets: a longer pause means that the sender may have
    /// started slowly again. And its deviation at least.
    timeout_s: f64,
    deviation_s: f64,
    window: ReceiveWindow,
    pushes: Pushes,
    compressed: Compressed,
}

/// The ACKs of segments behind a hole, of which one stands for many.
#[derive(Clone, Copy, Debug)]
struct Compressed {
    /// Before which packet the hole is, and how many ACKs of what is behind it left at once.
    next: u32,
    at_once: u32,
    /// Those that wait, and the blocks of the one that will stand for them.
    waiting: u32,
    blocks: SackBlocks,
}

impl AckDelay {
    /// At the begin of a connection, whose timeout and its deviation are so many seconds, whose segments carry `payload_bytes` and whose
    /// window has at most `most` of them.
    #[must_use]
    pub fn new((timeout_s, deviation_s): (f64, f64), payload_bytes: u32, most: f64) -> Self {
        let window = ReceiveWindow::new(payload_bytes, most);
        let pushes = Pushes { every: (most / 2.0) as u32 + 1, last: None };
        Self {
            quick: QUICK_ACKS,
            delay_s: SHORTEST_DELAY_S,
            last: None,
            timeout_s,
            deviation_s,
            window,
            pushes,
            compressed: Compressed { next: 0, at_once: 0, waiting: 0, blocks: SackBlocks::default() },
        }
    }

    /// There will be so many packets, if there is an end.
    pub fn expect(&mut self, packets: Option<u32>) {
        self.pushes.last = packets;
    }

    /// A SYN came, or what ends the handshake.
    pub fn connect(&mut self, now: Time, packet: &Packet) {
        if packet.is_bare() {
            self.window.establish(now, packet.sent());
            // The only sample of who sends nothing (tcp_rtt_estimator).
            let rtt_s = self.window.rtt_s();
            self.timeout_s = rtt_s + self.deviation_s.max(2.0 * rtt_s);
        } else {
            self.window.synchronize(now);
        }
    }

    /// A segment came that was not there before; what is in order ends before `next`. It is acknowledged at once if the
    /// window grows.
    pub fn take(&mut self, now: Time, packet: &Packet, next: u32, beyond: Beyond) {
        if packet.is_answering() {
            self.window.answered(packet.sent());
        }
        if !packet.echoes_again() {
            self.window.measure(now, packet.sent());
        }
        if self.window.receive(now, (packet.seq(), next), beyond) {
            self.quick |= 1;
        }
    }

    /// What the next ACK, of what is before packet `next`, advertises: see [`ReceiveWindow::advertise`].
    pub fn advertise(&mut self, now: Time, next: u32, held: u32) -> Option<Advertised> {
        if self.window.is_half_full(held) {
            self.quick = 0;
        }
        self.window.advertise(now, next, held)
    }

    /// See [`ReceiveWindow::opens`].
    #[must_use]
    pub fn opens(&self, next: u32, held: u32) -> bool {
        self.window.opens(next, held)
    }

    /// A segment came again: the sender may have a small window.
    pub fn take_again(&mut self) {
        self.hurry(QUICK_ACKS);
    }

    /// The next `count` segments at least are acknowledged at once, and the ACK behind them waits as briefly as at the begin
    /// (tcp_enter_quickack_mode).
    pub fn hurry(&mut self, count: u32) {
        self.quick = self.quick.max(count);
        self.delay_s = SHORTEST_DELAY_S;
    }

    /// An ACK leaves that could not wait.
    pub fn acknowledged(&mut self) {
        self.quick = self.quick.saturating_sub(1);
        self.compressed.waiting = 0;
    }

    /// A segment came behind a hole before packet `next`; so many in order are not acknowledged. For how many seconds
    /// its ACK may wait for others, if at all.
    pub fn compress(&mut self, next: u32, owed: i64) -> Option<f64> {
        let Self { quick, compressed, .. } = self;
        // What fills a hole in part is acknowledged at once, without being counted where it opens the window.
        if *quick > 0 || owed > 1 && !self.window.is_full() || compressed.waiting >= MOST_COMPRESSED {
            return None;
        }
        if compressed.next != next {
            (compressed.next, compressed.at_once) = (next, 0);
        }
        if compressed.at_once < DUPLICATE_ACKS {
            compressed.at_once += 1;
            return None;
        }
        compressed.waiting += 1;
        Some(COMPRESSED_S.min(COMPRESSED_SHARE * self.window.rtt_s()) + COMPRESSED_SLACK_S)
    }

    /// Whether an ACK waits that stands for several.
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.compressed.waiting > 0
    }

    /// What the ACK that waits will report.
    pub fn report(&mut self, blocks: SackBlocks) {
        self.compressed.blocks = blocks;
    }

    /// The ACK that waits leaves before its time: what it reports.
    pub fn owed(&mut self) -> SackBlocks {
        let waits = std::mem::take(&mut self.compressed.waiting) > 0;
        if waits { self.compressed.blocks } else { SackBlocks::default() }
    }

    /// Segment `seq` arrived in sequence, which the sender may say is `pushed`: for how many seconds its ACK may wait, if at all. One
    /// that was pushed is read by the application, and acknowledged then.
    pub fn hold(&mut self, now: Time, seq: u32, pushed: bool) -> Option<f64> {
        if let Some(last) = self.last.replace(now) {
            let gap_s = now.since(last);
            if gap_s <= SHORTEST_DELAY_S / 2.0 {
                self.delay_s = self.delay_s / 2.0 + SHORTEST_DELAY_S / 2.0;
            } else if gap_s < self.delay_s {
                self.delay_s = self.delay_s / 2.0 + gap_s;
            } else if gap_s > self.timeout_s {
                self.quick = QUICK_ACKS;
            }
        }
        if self.quick > 0 {
            self.quick -= 1;
            return None;
        }
        (!pushed && !self.pushes.mark(seq)).then_some(self.delay_s)
    }

    /// An ACK waited in vain: what it reports. Longer next time, unless it stands for many.
    pub fn waited(&mut self) -> SackBlocks {
        if self.compressed.waiting == 0 {
            self.delay_s = (2.0 * self.delay_s).min(self.timeout_s);
        }
        self.owed()
    }
}

/// Which segments the sender pushes: those that end what the application writes (tcp_push), and one whenever more than
/// half of the largest window that it saw was written since the last (forced_push).
///
/// Segments are numbered alike at both ends, so that none needs to carry its mark but those of an application that writes single
/// segments: of these the last one written is pushed.
#[derive(Clone, Copy, Debug)]
struct Pushes {
    every: u32,
    /// The last segment, if there is an end.
    last: Option<u32>,
}

impl Pushes {
    fn mark(self, seq: u32) -> bool {
        seq.is_multiple_of(self.every) || self.last == Some(seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::scenario::{Ecn, Profile, Recovery, TcpSpec};
    use crate::transport::ecn::{Echo, Feedback};
    use crate::transport::signs::Signs;
    use crate::transport::tests::{Ends, Outcome, tcp};

    #[test]
    fn the_first_sixteen_acks_do_not_wait() {
        let mut ack_delay = AckDelay::new((1.0, 0.2), 1448, 2172.0);
        let held = |ack_delay: &mut AckDelay, from: u32, count: u32| -> Vec<Option<f64>> {
            (from..from + count)
                .map(|place| ack_delay.hold(Time::new(f64::from(place) * 0.001), 1 + place, false))
                .collect()
        };
        assert_eq!(held(&mut ack_delay, 0, 16), [None; 16]);
        assert_eq!(held(&mut ack_delay, 16, 2), [Some(0.04); 2]);
        // A pause as long as the retransmission timeout: the sender may start slowly again.
        assert_eq!(held(&mut ack_delay, 2000, 16), [None; 16]);
    }

    /// Of a window of 6 segments every fourth was seen to be pushed on Linux 6.18; the others are by its rule.
    #[test]
    fn what_is_pushed_is_acknowledged_at_once() {
        let waits = |most: f64, last: Option<u32>| -> Vec<u32> {
            let mut ack_delay = AckDelay { quick: 0, ..AckDelay::new((1.0, 0.2), 1448, most) };
            ack_delay.expect(last);
            (1..=12).filter(|&seq| ack_delay.hold(Time::new(f64::from(seq) * 0.001), seq, false).is_none()).collect()
        };
        assert_eq!(waits(6.0, None), [4, 8, 12]);
        assert_eq!(waits(11.0, Some(7)), [6, 7, 12]);
        assert_eq!(waits(1.0, None), (1..=12).collect::<Vec<_>>());
    }

    #[test]
    fn an_ack_waits_longer_where_packets_come_seldom() {
        let mut ack_delay = AckDelay { quick: 0, ..AckDelay::new((1.0, 0.2), 1448, 2172.0) };
        assert_eq!(ack_delay.hold(Time::new(0.0), 1, false), Some(0.04));
        ack_delay.waited();
        assert_eq!(ack_delay.hold(Time::new(0.06), 1, false), Some(0.1));
        assert_eq!(ack_delay.hold(Time::new(0.07), 1, false), Some(0.07));
    }

    /// Linux's tcp_enter_quickack_mode, which a segment that comes again and a mark call, sets it to TCP_ATO_MIN.
    #[test]
    fn an_ack_waits_briefly_again_after_quick_ones() {
        for hurried in [AckDelay::take_again, |ack_delay: &mut AckDelay| ack_delay.hurry(MARKED_QUICK_ACKS)] {
            let mut ack_delay = AckDelay { quick: 0, delay_s: 0.2, ..AckDelay::new((1.0, 0.2), 1448, 2172.0) };
            assert_eq!(ack_delay.hold(Time::new(0.0), 1, false), Some(0.2));
            hurried(&mut ack_delay);
            let quick = std::iter::from_fn(|| ack_delay.hold(Time::new(0.0), 1, false).is_none().then_some(())).count();
            assert!(quick > 0);
            assert_eq!(ack_delay.delay_s, 0.04);
        }
    }

    /// Linux 6.18, as its rule is: behind a hole three ACKs leave at once, and then one when 1.1 ms have passed.
    #[test]
    fn acks_of_what_is_behind_a_hole_are_compressed() {
        let mut ack_delay = AckDelay { quick: 0, ..AckDelay::new((1.0, 0.2), 1448, 2172.0) };
        let waits = |ack_delay: &mut AckDelay, next: u32, owed: i64| ack_delay.compress(next, owed).is_some();
        assert_eq!([0; 5].map(|owed| waits(&mut ack_delay, 7, owed)), [false, false, false, true, true]);
        // No more than 44 wait.
        assert_eq!((0..43).filter(|_| waits(&mut ack_delay, 7, 0)).count(), 42);
        ack_delay.acknowledged();
        assert!(waits(&mut ack_delay, 7, 0));
        // What fills the hole in part is acknowledged at once.
        assert!(!waits(&mut ack_delay, 8, 1) && !waits(&mut ack_delay, 7, 2));
        // A twentieth of a round trip, up to a millisecond.
        ack_delay.compressed = Compressed { next: 9, at_once: 3, ..ack_delay.compressed };
        assert_eq!(ack_delay.compress(9, 0), Some(0.0011));
        ack_delay.window.establish(Time::new(0.004), Time::new(0.002));
        assert!(ack_delay.compress(9, 0).is_some_and(|wait_s| (wait_s - 0.0003).abs() < 1e-12));
        // Who is in a hurry gets all.
        ack_delay.quick = 1;
        assert_eq!(ack_delay.compress(9, 0), None);
    }

    /// Of packets that come a tenth of a millisecond apart every other one is lost: the ACK that waits tells of two ranges
    /// and leaves before a third, so that none is forgotten, and what arrived is not retransmitted.
    #[test]
    fn no_range_is_forgotten_while_acks_wait() {
        let spec = TcpSpec { delayed_ack_s: Some(0.2), window_packets: 200.0, ..tcp("reno", Recovery::Rack) };
        let mut ends = Ends::new(&spec, Profile::Linux, 1000);
        ends.talk(|place, _| match place.checked_sub(500) {
            Some(behind @ 0..24) if behind % 2 == 0 => Outcome::Lost,
            Some(behind @ 0..24) => Outcome::Late(9e-4 * (24 - behind) as f64),
            _ => Outcome::Arrives,
        });
        assert_eq!((ends.receiver.in_order(), ends.sender.totals.packets_retransmitted), (1000, 12));
    }

    /// One packet in a hundred is lost, on a line that brings one each millisecond: of those behind it half are told of
    /// by the ACK of the next.
    #[test]
    fn one_ack_tells_of_several_packets() {
        let spec = TcpSpec { delayed_ack_s: Some(0.2), window_packets: 200.0, ..tcp("reno", Recovery::Rack) };
        let mut ends = Ends::new(&spec, Profile::Linux, 1000);
        ends.talk(|place, _| if place == 500 { Outcome::Lost } else { Outcome::Arrives });
        // The SYN and what ends the handshake are the first of the 500 segments before it.
        let behind: Vec<f64> = ends.acks.iter().filter(|(_, ack)| ack.seq() == 498).map(|(at_s, _)| *at_s).collect();
        let gaps: Vec<f64> = behind.windows(2).map(|pair| 1e3 * (pair[1] - pair[0])).collect();
        // The packet before the hole, and three behind it; then a timer of 1.1 ms begins with every second packet.
        assert!(gaps[1..3].iter().all(|gap| (gap - 1.0).abs() < 0.01), "{gaps:?}");
        assert!(gaps[4..12].iter().all(|gap| (gap - 2.0).abs() < 0.01), "{gaps:?}");
        assert_eq!(ends.receiver.in_order(), 1000);
    }

    /// The ACKs of a thousand segments, of which one may be marked, and which segment says then that the window was reduced.
    fn acks_of_marked(control: &str, marked: Option<u32>) -> (Vec<u32>, Option<u32>) {
        let spec = TcpSpec {
            ecn: Ecn::Classic,
            delayed_ack_s: Some(0.2),
            window_packets: 60.0,
            ..tcp(control, Recovery::Rack)
        };
        let mut ends = Ends::new(&spec, Profile::Linux, 1000);
        ends.talk(|_, packet| if marked == Some(packet.seq()) { Outcome::Marked } else { Outcome::Arrives });
        let reduced = ends.sent.iter().find(|sent| sent.packet.is_reduced()).map(|sent| sent.packet.seq());
        (ends.acks.iter().map(|ack| ack.1.seq()).collect(), reduced)
    }

    /// Segments from 400 on whose ACKs wait for the next one.
    fn waiting(control: &str) -> Vec<u32> {
        let (acks, _) = acks_of_marked(control, None);
        (400..500).filter(|seq| !acks.contains(seq)).collect()
    }

    /// Linux acknowledges at once the first marked segment and the next one, and the segment that says that the window was reduced;
    /// with DCTCP the latter, and where marks begin and end.
    #[test]
    fn what_a_mark_does_to_the_window_delays_no_ack() {
        for (control, quick) in [("reno", 2), ("dctcp", 1)] {
            let waiting = waiting(control);
            assert!(waiting.len() > 20);
            for (place, first) in (0..20).zip(waiting) {
                let marked = first + place % 2;
                let (acks, reduced) = acks_of_marked(control, Some(marked));
                let reduced = reduced.expect("the window was reduced");
                let at_once = (marked..marked + quick).chain([reduced]).all(|seq| acks.contains(&seq));
                assert!(at_once, "{control} {marked} {reduced}: {acks:?}");
            }
        }
    }

    /// A scalable control has accurate ECN in Linux, where no segment says that the window was reduced.
    #[test]
    fn a_scalable_control_hurries_no_acks() {
        let waits = waiting("prague").into_iter().take(8).filter(|&marked| {
            let (acks, reduced) = acks_of_marked("prague", Some(marked));
            !acks.contains(&reduced.expect("the window was reduced"))
        });
        assert!(waits.count() > 0);
        let mut echo = Echo::new(Feedback::Accurate, true);
        assert!(!echo.hurries(Signs { capable: true, scalable: true, ..Signs::default() }));
        assert!(!echo.hurries(Signs::default()));
    }

    /// What is retransmitted is not capable: Linux acknowledges it and the next segment at once, where others were capable.
    #[test]
    fn what_is_retransmitted_hurries_acks_with_ecn() {
        let mut echo = Echo::new(Feedback::Latched, true);
        let capable = Signs { capable: true, ..Signs::default() };
        assert!(!echo.hurries(Signs::default()) && !echo.hurries(capable) && echo.hurries(Signs::default()));
        let mut counting = Echo::new(Feedback::Counted { option: false }, true);
        assert!(!counting.hurries(capable) && !counting.hurries(Signs::default()));
    }

    /// Behind a hole that is not filled the receiver's window ends what a larger congestion window would send.
    #[test]
    fn a_hole_stops_the_sender_at_the_receivers_window() {
        let highest = |control: &str, profile| {
            let spec = TcpSpec { initial_window_packets: 40.0, ..tcp(control, Recovery::Rack) };
            let (mut ends, mut losses, mut highest) = (Ends::new(&spec, profile, 4000), 0, 0);
            ends.talk(|_, packet| {
                let lost = packet.kind() == Kind::Segment && packet.seq() == 2 && losses < 3;
                losses += usize::from(lost);
                highest = if losses < 3 { packet.seq().max(highest) } else { highest };
                if lost { Outcome::Lost } else { Outcome::Arrives }
            });
            highest
        };
        for control in ["reno", "bbr"] {
            assert!(highest(control, Profile::Rfc) > 60, "{control}");
            assert!((46..58).contains(&highest(control, Profile::Linux)), "{control}");
        }
    }

    /// The receiver's window opens by what comes, and not by which ACKs are held back.
    #[test]
    fn the_window_opens_without_delayed_acks() {
        let took_s = |delayed_ack_s| {
            let spec = TcpSpec { delayed_ack_s, ..tcp("reno", Recovery::Rack) };
            let mut ends = Ends::new(&spec, Profile::Linux, 3000);
            ends.talk(|_, _| Outcome::Arrives);
            ends.acks.last().map_or(f64::NAN, |last| last.0)
        };
        assert!(took_s(None) < 1.05 * took_s(Some(0.2)));
    }
}

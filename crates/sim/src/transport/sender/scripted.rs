//! What a sender of profile `linux` does when given ACKs arrive: the sequences and the windows that Linux's own tests of its
//! TCP expect (google/packetdrill, gtests/net/tcp, by the names of the scripts). Packets are numbered from 1 on, where
//! the scripts number bytes; windows there are whole packets.

use crate::congestion::{ControlSpec, Controls};
use crate::events::{Entity, EventQueue, Key};
use crate::packet::Packet;
use crate::scenario::{Ecn, Profile, Recovery, SlowStartKind, TcpSpec};
use crate::time::Time;
use crate::transport::ack_options::{AckOptionSlab, AckOptions, Advertised};
use crate::transport::connection::Connection;
use crate::transport::network::{Network, Schedule};
use crate::transport::sack::SackBlocks;
use crate::transport::sender::{Env, Sender};
use crate::transport::tests::tcp;

/// A line of a script.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// The application writes so many packets.
    Write(i32),
    /// So many seconds later, an ACK of everything through a packet, with one block, half-open; none: (0, 0).
    Ack(f64, u32, (u32, u32)),
    /// The same with several blocks.
    Sack(f64, u32, &'static [(u32, u32)]),
    /// The same without blocks, with these flags AE, CWR and ECE.
    Told(f64, u32, u8),
    /// So many seconds pass.
    Pause(f64),
    /// What was sent since the last such line.
    Sent(&'static [u32]),
    /// How many packets were.
    Count(usize),
    /// Window and threshold, in whole packets; threshold 0: infinite.
    Window(u32, u32),
}
use Line::{Ack, Count, Pause, Sack, Sent, Told, Window, Write};

const NONE: (u32, u32) = (0, 0);

/// Entities beside the retransmission timer.
const APPLICATION: Entity = 1;
const PACING: Entity = 2;

/// Takes note of what is sent.
struct Tape {
    events: EventQueue,
    ack_options: AckOptionSlab,
    sent: Vec<(u32, f64)>,
    /// Of these, data that say ECT(0), and any that say ECT(1).
    capable: usize,
    scalable: usize,
    told: usize,
}

impl Schedule for Tape {
    fn schedule(&mut self, event: Key) {
        self.events.push(event);
    }
}

impl Network for Tape {
    fn send(&mut self, packet: Packet, now: Key) {
        if packet.seq() > 0 {
            self.sent.push((packet.seq(), now.time.seconds()));
            self.capable += usize::from(packet.is_capable());
            self.scalable += usize::from(packet.is_scalable());
        }
    }

    fn ack_options(&mut self) -> &mut AckOptionSlab {
        &mut self.ack_options
    }
}

struct Script {
    sender: Sender,
    tape: Tape,
    controls: Controls,
    connection: Connection,
    now_s: f64,
}

impl Script {
    /// The connection is established after a handshake of `rtt_s`.
    fn new(congestion: ControlSpec, slow_start: SlowStartKind, rtt_s: f64) -> Self {
        Self::with(TcpSpec { congestion, slow_start, ..tcp("reno", Recovery::Rack) }, rtt_s, 0)
    }

    /// The same of these parameters, where `answer` are the flags AE, CWR and ECE of what answers the SYN.
    fn with(spec: TcpSpec, rtt_s: f64, answer: u8) -> Self {
        let mut spec = TcpSpec { window_packets: 2000.0, ..spec };
        spec.rto.min_s = 0.2;
        let connection = Connection::new(&spec, Profile::Linux, None);
        let mut controls = Controls::default();
        let control = controls.add(&spec.congestion).expect("the control is known");
        let mut sender = Sender::new(&connection, 0, 0, control, 0.0, Time::ZERO);
        if spec.pacing {
            sender.pace(PACING, None);
        }
        let (events, ack_options) = (EventQueue::default(), AckOptionSlab::default());
        let tape = Tape { events, ack_options, sent: Vec::new(), capable: 0, scalable: 0, told: 0 };
        let mut script = Self { sender, tape, controls, connection, now_s: 0.0 };
        script.act(Key::FIRST, Time::ZERO, 0, |sender, env| sender.begin(env, 0));
        script.ack(rtt_s, 0, &[], Time::ZERO, answer);
        script
    }

    fn act(&mut self, now: Key, echo: Time, told: u8, what: impl FnOnce(&mut Sender, &mut Env<'_, Tape>)) {
        let (network, controls, connection) = (&mut self.tape, &mut self.controls, &self.connection);
        what(&mut self.sender, &mut Env { network, controls, connection, now, echo, told });
    }

    /// Time passes, and timers expire.
    fn pause(&mut self, seconds: f64) {
        self.now_s += seconds;
        while let Some(key) = self.tape.events.pop_before(Time::new(self.now_s)) {
            let paced = key.entity() == PACING;
            self.act(
                key,
                Time::ZERO,
                0,
                |sender, env| if paced { sender.pacing_timer(env) } else { sender.timer(env) },
            );
        }
    }

    fn ack(&mut self, after_s: f64, through: u32, blocks: &[(u32, u32)], echo: Time, told: u8) {
        self.pause(after_s);
        let now = Key::planned(Time::new(self.now_s), APPLICATION);
        self.act(now, echo, told, |sender, env| sender.receive(env, through, blocks));
    }

    /// When the packet was sent that causes an ACK: the newest in the block, or the first that was missing.
    fn cause(&self, block: (u32, u32)) -> Time {
        let cause = if block == NONE { self.sender.acked as u32 + 1 } else { block.1 - 1 };
        Time::new(self.tape.sent.iter().rfind(|sent| sent.0 == cause).map_or(0.0, |sent| sent.1))
    }

    fn run(&mut self, name: &str, lines: &[Line]) {
        for (place, &line) in lines.iter().enumerate() {
            let place = format!("{name}, line {}", place + 1);
            let new = self.tape.sent[self.tape.told..].iter().map(|sent| sent.0).collect::<Vec<_>>();
            match line {
                Write(packets) => {
                    for _ in 0..packets - 1 {
                        self.sender.limit = self.sender.limit.max(1) + 1;
                    }
                    let now = Key::planned(Time::new(self.now_s), APPLICATION);
                    self.act(now, Time::ZERO, 0, |sender, env| sender.push(env));
                }
                Ack(after_s, through, block) => {
                    let blocks = [block];
                    let blocks = if block == NONE { &[][..] } else { &blocks[..] };
                    self.ack(after_s, through, blocks, self.cause(block), 0);
                }
                // Where it moves nothing on, nobody asks when what it answers was sent.
                Sack(after_s, through, blocks) => self.ack(after_s, through, blocks, self.cause(NONE), 0),
                Told(after_s, through, flags) => self.ack(after_s, through, &[], self.cause(NONE), flags),
                Pause(seconds) => self.pause(seconds),
                Sent(expected) => {
                    assert_eq!(new, expected, "{place}");
                    self.tape.told = self.tape.sent.len();
                }
                Count(expected) => {
                    assert_eq!(new.len(), expected, "{place}: {new:?}");
                    self.tape.told = self.tape.sent.len();
                }
                Window(cwnd, ssthresh) => {
                    let window = self.sender.window;
                    let threshold = if window.ssthresh == f64::MAX { 0 } else { window.ssthresh as u32 };
                    assert_eq!((window.cwnd as u32, threshold), (cwnd, ssthresh), "{place}: {window:?}");
                }
            }
        }
    }
}

fn cubic() -> ControlSpec {
    // As profile `linux` has it.
    let options = [("growth_before_loss", 0.05), ("by_least_rtt", 1.0), ("whole_packets", 1.0)];
    let options = options.map(|(name, value)| (name.to_owned(), value)).into();
    ControlSpec { options, ..ControlSpec::from("cubic") }
}

/// Slow start: by what is acknowledged, and only as far as twice of what was out.
#[test]
#[rustfmt::skip]
fn slow_start_counts_packets_and_stops_where_the_application_does() {
    let table: &[(&str, f64, &[Line])] = &[
        ("slow-start-ack-per-1pkt", 0.1, &[
            Write(30), Count(10), Window(10, 0),
            Ack(0.105, 1, NONE), Count(2), Ack(0.0, 2, NONE), Count(2), Ack(0.005, 3, NONE), Count(2),
            Ack(0.0, 4, NONE), Count(2), Ack(0.005, 5, NONE), Ack(0.0, 6, NONE), Ack(0.005, 7, NONE),
            Ack(0.0, 8, NONE), Ack(0.005, 9, NONE), Ack(0.0, 10, NONE), Count(12), Window(20, 0),
        ]),
        ("slow-start-ack-per-2pkt", 0.1, &[
            Write(30), Count(10),
            Ack(0.105, 2, NONE), Count(4), Ack(0.005, 4, NONE), Count(4), Ack(0.005, 6, NONE), Count(4),
            Ack(0.005, 8, NONE), Count(4), Ack(0.005, 10, NONE), Count(4), Window(20, 0),
        ]),
        ("slow-start-ack-per-4pkt", 0.1, &[
            Write(30), Count(10),
            Ack(0.11, 4, NONE), Count(8), Ack(0.01, 8, NONE), Count(8), Ack(0.005, 10, NONE), Count(4), Window(20, 0),
        ]),
        ("slow-start-ack-per-2pkt-send-5pkt", 0.1, &[
            Write(5), Count(5), Window(10, 0), Ack(0.1, 2, NONE), Window(10, 0), Ack(0.0, 4, NONE), Window(10, 0),
            Ack(0.0, 5, NONE), Window(10, 0),
        ]),
        ("slow-start-ack-per-2pkt-send-6pkt", 0.1, &[
            Write(6), Count(6), Window(10, 0), Ack(0.1, 2, NONE), Window(12, 0), Ack(0.0, 4, NONE), Window(12, 0),
            Ack(0.0, 6, NONE), Window(12, 0),
        ]),
        ("slow-start-app-limited", 0.1, &[
            Write(10), Count(10),
            Ack(0.105, 2, NONE), Window(12, 0), Ack(0.005, 4, NONE), Window(14, 0), Ack(0.005, 6, NONE), Window(16, 0),
            Ack(0.005, 8, NONE), Window(18, 0), Ack(0.005, 10, NONE), Window(20, 0),
        ]),
        ("slow-start-app-limited-9-packets-out", 0.1, &[
            Write(9), Count(9),
            Ack(0.105, 2, NONE), Window(12, 0), Ack(0.005, 4, NONE), Window(14, 0), Ack(0.005, 6, NONE), Window(16, 0),
            Ack(0.005, 8, NONE), Window(18, 0), Ack(0.005, 9, NONE), Window(18, 0),
        ]),
        ("slow-start-after-idle", 0.1, &[
            Write(26), Count(10), Window(10, 0), Ack(0.1, 10, NONE), Window(20, 0), Count(16),
            Ack(0.1, 26, NONE), Window(36, 0), Pause(2.0), Write(20), Count(10), Window(10, 0),
        ]),
    ];
    for (name, rtt_s, lines) in table {
        for (congestion, slow_start) in
            [("reno".into(), SlowStartKind::ByteCounting), (cubic(), SlowStartKind::HyStart)]
        {
            Script::new(congestion, slow_start, *rtt_s).run(name, lines);
        }
    }
}

/// Linux's tcp_cong_control: the ACK that ends recovery counts toward the next packet of the window, of five here.
#[test]
fn the_ack_that_ends_recovery_lets_the_window_grow() {
    let reno = ControlSpec { options: [("whole_packets".to_owned(), 1.0)].into(), ..ControlSpec::from("reno") };
    let mut script = Script::new(reno, SlowStartKind::ByteCounting, 0.1);
    script.run("lost", &[Write(30), Count(10), Window(10, 0)]);
    for end in 3..12 {
        script.ack(if end == 3 { 0.1 } else { 0.0 }, 0, &[(2, end)], script.cause((2, end)), 0);
    }
    let last = script.sender.recover as u32;
    script.ack(0.1, 0, &[(2, last + 1)], script.cause((2, last + 1)), 0);
    assert!(script.sender.recovering && script.sender.window.ssthresh == 5.0);
    script.ack(0.0, last, &[], script.cause(NONE), 0);
    script.run(
        "ended",
        &[Window(5, 5), Ack(0.01, last + 3, NONE), Window(5, 5), Ack(0.01, last + 4, NONE), Window(6, 5)],
    );
}

/// HyStart decides before the ACK that shows the limit adds to the window, after which CUBIC grows by a twentieth.
#[test]
#[rustfmt::skip]
fn hystart_ends_slow_start_where_it_does_in_linux() {
    let rises: &[Line] = &[
        Write(30), Count(10), Window(10, 0), Ack(0.2, 10, NONE), Count(20), Window(20, 0),
        Ack(0.24, 12, NONE), Window(22, 0), Ack(0.001, 14, NONE), Window(24, 0), Ack(0.001, 16, NONE), Window(26, 0),
        Ack(0.001, 18, NONE), Window(28, 0), Ack(0.001, 20, NONE), Window(30, 0), Ack(0.001, 22, NONE), Window(32, 0),
        Ack(0.001, 24, NONE), Window(34, 0), Ack(0.001, 26, NONE), Window(36, 0),
        Ack(0.001, 28, NONE), Window(36, 36), Ack(0.001, 30, NONE), Window(36, 36),
    ];
    Script::new(cubic(), SlowStartKind::HyStart, 0.2).run("cubic-hystart-delay-rtt-jumps-upward", rises);
    let falls: &[Line] = &[
        Write(28), Count(10), Ack(0.2, 10, NONE), Count(18), Window(20, 0), Pause(0.18), Write(2), Count(2),
        Ack(0.02, 12, NONE), Window(22, 0), Ack(0.001, 14, NONE), Window(24, 0), Ack(0.001, 16, NONE), Window(26, 0),
        Ack(0.001, 18, NONE), Window(28, 0), Ack(0.001, 20, NONE), Window(30, 0), Ack(0.001, 22, NONE), Window(32, 0),
        Ack(0.001, 24, NONE), Window(34, 0), Ack(0.001, 26, NONE), Window(36, 0), Ack(0.001, 28, NONE), Window(38, 0),
        Ack(0.001, 30, NONE), Window(40, 0),
    ];
    Script::new(cubic(), SlowStartKind::HyStart, 0.2).run("cubic-hystart-delay-min-rtt-jumps-downward", falls);
}

/// Two packets arrive in each tenth of a second, in order and without a loss, all at once or with 4 s of silence after the
/// fortieth: windows of the scripts. Their slow start ends at 48 packets, where HyStart finds the limit with the pacing of fq;
/// here that is the threshold. The scripts' host leaves windows as they are after silence; there fq
/// fills the window by and by, and ACKs before it is full count for nothing, so that the 49th packet comes a little later.
#[test]
fn cubic_over_a_slow_path_grows_as_in_linux() {
    let at_once = [(10, 20), (20, 30), (30, 40), (38, 48), (60, 49), (80, 50), (100, 52), (120, 58)];
    let silent = [(10, 20), (20, 30), (30, 40), (38, 48), (40, 48), (100, 52), (120, 58)];
    for (name, silence, windows) in
        [("cubic-bulk-166k", false, &at_once[..]), ("cubic-bulk-166k-idle-restart", true, &silent[..])]
    {
        let mut script = Script::new(cubic(), SlowStartKind::ByteCounting, 0.1);
        script.sender.window.ssthresh = 48.0;
        script.run(name, &[Write(if silence { 40 } else { 400 }), Count(10), Window(10, 48)]);
        let mut through = 0;
        for &(until, cwnd) in windows {
            while through < until {
                through += 2;
                script.run(name, &[Ack(0.1, through, NONE)]);
            }
            let threshold = script.sender.window.ssthresh as u32;
            script.run(name, &[Window(cwnd, threshold)]);
            if silence && through == 40 {
                let window = script.sender.window;
                script.run(name, &[Pause(4.0), Write(160)]);
                script.sender.window = window;
            }
        }
    }
}

/// Proportional rate reduction and RACK: which packets leave upon which ACK.
#[test]
#[rustfmt::skip]
fn recovery_sends_what_linux_sends() {
    let table: &[(&str, &[Line])] = &[
        ("prr-ss-10pkt-lost-1", &[
            Write(10), Count(10),
            Ack(0.11, 0, (2, 3)), Ack(0.01, 0, (2, 4)), Sent(&[]), Ack(0.01, 0, (2, 5)), Sent(&[1]), Window(7, 7),
            Pause(0.02), Write(7), Sent(&[]),
            Ack(0.01, 0, (2, 6)), Sent(&[11]), Ack(0.01, 0, (2, 7)), Sent(&[12]), Ack(0.01, 0, (2, 8)), Sent(&[13]),
            Ack(0.01, 0, (2, 9)), Sent(&[14]), Ack(0.01, 0, (2, 10)), Sent(&[15]), Ack(0.01, 0, (2, 11)), Sent(&[16]),
            Ack(0.02, 10, NONE), Sent(&[17]), Window(7, 7),
        ]),
        ("prr-ss-30pkt-lost1_4", &[
            Write(10), Count(10),
            Ack(0.1, 0, (5, 6)), Ack(0.002, 0, (5, 7)), Sent(&[]), Ack(0.0, 0, (5, 8)), Sent(&[1]),
            Ack(0.0, 0, (5, 9)), Sent(&[2]), Ack(0.0, 0, (5, 10)), Sent(&[3]), Ack(0.0, 0, (5, 11)), Sent(&[4]),
            Ack(0.1, 1, (5, 11)), Ack(0.0, 2, (5, 11)), Ack(0.0, 3, (5, 11)), Ack(0.0, 10, NONE), Sent(&[]),
            Pause(0.01), Write(10), Sent(&[11, 12, 13, 14, 15, 16, 17]),
        ]),
        ("fr-4pkt-sack", &[
            Write(4), Count(4),
            Ack(0.1, 0, (2, 3)), Ack(0.0, 0, (2, 4)), Sent(&[]), Ack(0.0, 0, (2, 5)), Sent(&[1]), Ack(0.1, 4, NONE),
            Sent(&[]),
        ]),
        // Timers may be a tick of 250 Hz later than the scripts have it, which is their tolerance.
        ("sack-shift-sacked-7-5-6-8-9-fack", &[
            Write(10), Count(10), Ack(0.1, 0, (8, 9)), Sent(&[]), Pause(0.03101), Sent(&[1]),
            Sack(0.0, 0, &[(6, 7), (8, 9)]), Sent(&[2]), Ack(0.0, 0, (6, 9)), Sent(&[3]), Ack(0.0, 0, (6, 10)), Sent(&[4]),
            Ack(0.0, 0, (6, 11)), Sent(&[5]),
        ]),
        ("sack-shift-sacked-7-3-4-8-9-fack", &[
            Write(10), Count(10), Ack(0.1, 0, (8, 9)), Sent(&[]), Pause(0.03101), Sent(&[1]),
            Sack(0.002, 0, &[(4, 5), (8, 9)]), Sent(&[2]), Sack(0.002, 0, &[(4, 6), (8, 9)]), Sent(&[3]),
            // The script has it with the next ACK, which its tolerance of 4 ms lets come before.
            Sack(0.002, 0, &[(4, 6), (8, 10)]), Sent(&[6]),
        ]),
        ("sack-shift-sacked-2-6-8-3-9-nofack", &[
            Write(10), Count(10), Ack(0.1, 0, (3, 4)), Sack(0.001, 0, &[(3, 4), (7, 8)]),
            Sent(&[]), Sack(0.001, 0, &[(3, 4), (7, 8), (9, 10)]), Sent(&[1]),
            Sack(0.007, 0, &[(3, 5), (7, 8), (9, 10)]), Sent(&[2]),
        ]),
        ("fr-4pkt-fack-last-mss", &[
            Write(4), Count(4), Ack(0.1, 0, (4, 5)), Sent(&[]), Pause(0.04), Sent(&[1]),
        ]),
        ("cwnd-moderation-disorder-no-moderation", &[
            Write(4), Count(4), Window(10, 0), Ack(0.1, 0, (2, 3)), Window(10, 0),
        ]),
        ("limited-transmit-sack", &[
            Write(15), Count(10),
            Ack(0.11, 0, (2, 3)), Sent(&[11]), Ack(0.01, 0, (2, 4)), Sent(&[12]),
            Ack(0.01, 3, NONE), Sent(&[13, 14]), Ack(0.02, 5, NONE), Sent(&[15]),
        ]),
    ];
    for (name, lines) in table {
        Script::new(cubic(), SlowStartKind::HyStart, 0.1).run(name, lines);
    }
    let twice: &[Line] = &[
        Write(20), Count(10), Ack(0.01, 0, (5, 6)), Sent(&[11]), Ack(0.002, 0, (5, 7)), Sent(&[12]),
        Ack(0.002, 0, (5, 8)), Sent(&[1]), Ack(0.002, 0, (5, 9)), Sent(&[2]), Ack(0.002, 0, (5, 10)), Sent(&[3]),
        Ack(0.002, 0, (5, 11)), Sent(&[4]), Ack(0.002, 0, (5, 12)), Sent(&[13]), Ack(0.002, 0, (5, 13)), Sent(&[14]),
        Ack(0.01, 1, (5, 13)), Sent(&[15, 16]), Ack(0.002, 1, (3, 13)), Sent(&[2, 17]),
        Ack(0.002, 1, (3, 14)), Sent(&[18]), Ack(0.002, 1, (3, 15)), Sent(&[19]),
    ];
    Script::new(cubic(), SlowStartKind::HyStart, 0.01).run("prr-ss-30pkt-lost-1_4-11_16", twice);
}

/// The same where the round trip is short.
#[test]
#[rustfmt::skip]
fn recovery_over_short_paths_sends_what_linux_sends() {
    let table: &[(&str, f64, &[Line])] = &[
        ("prr-ss-ack-below-snd_una-cubic", 0.01, &[
            Write(10), Count(10),
            Ack(0.01, 0, (2, 3)), Ack(0.0, 0, (2, 4)), Sent(&[]), Sack(0.0, 0, &[(2, 4), (9, 10)]), Sent(&[1]),
            Sack(0.012, 4, &[(9, 10)]), Sent(&[5, 6, 7]), Write(10),
            // It comes behind one that acknowledges more.
            Sack(0.002, 3, &[(6, 8)]), Sent(&[8, 11]),
        ]),
        ("sack-route-refresh-ip-tos", 0.01, &[
            Write(4), Count(4), Ack(0.01, 4, NONE), Pause(0.01), Write(4), Count(4), Ack(0.01, 8, NONE), Pause(0.01),
            Write(10), Count(10), Sack(0.01, 9, &[(12, 13), (15, 19)]), Sent(&[10, 11, 13, 14]), Ack(0.01, 18, NONE),
            Sent(&[]),
        ]),
        ("cubic-rack-reo-timeout-retrans-failed-incoming-data", 0.02, &[
            Write(10), Count(10), Ack(0.02, 0, (10, 11)), Sack(0.0, 0, &[(4, 5), (10, 11)]), Ack(0.0, 10, NONE),
            // 19 in the script: where packets have overtaken others Linux grows by SACKs, too.
            Window(18, 0), Sent(&[]),
        ]),
    ];
    for (name, rtt_s, lines) in table {
        Script::new(cubic(), SlowStartKind::HyStart, *rtt_s).run(name, lines);
    }
}

/// Receivers without SACK: three duplicate ACKs, and what they tell is counted.
#[test]
#[rustfmt::skip]
fn without_sack_it_sends_what_linux_sends() {
    let table: &[(&str, &[Line])] = &[
        ("fr-4pkt", &[
            Write(4), Count(4), Ack(0.1, 0, NONE), Ack(0.0, 0, NONE), Sent(&[]), Ack(0.0, 0, NONE), Sent(&[1]),
            Ack(0.1, 4, NONE), Sent(&[]),
        ]),
        ("limited-transmit-no-sack", &[
            Write(15), Count(10), Ack(0.11, 0, NONE), Sent(&[11]), Ack(0.01, 0, NONE), Sent(&[12]),
            Ack(0.01, 3, NONE), Sent(&[13, 14]), Ack(0.02, 5, NONE), Sent(&[15]),
        ]),
    ];
    for (name, lines) in table {
        let spec = TcpSpec { congestion: cubic(), slow_start: SlowStartKind::HyStart, ..tcp("reno", Recovery::Newreno) };
        Script::with(spec, 0.1, 0).run(name, lines);
    }
}

/// Pacing (fq) delays packets, not growth, and not the first ten. (When others leave differs: Linux sends pairs.)
#[test]
#[rustfmt::skip]
fn paced_slow_start_grows_as_in_linux() {
    let lines: &[Line] = &[
        Write(28), Count(10), Window(10, 0), Ack(0.105, 2, NONE), Window(12, 0), Ack(0.003, 4, NONE), Window(14, 0),
        Ack(0.002, 6, NONE), Window(16, 0), Ack(0.009, 8, NONE), Window(18, 0), Ack(0.001, 10, NONE), Window(20, 0),
    ];
    let spec = TcpSpec { pacing: true, slow_start: SlowStartKind::ByteCounting, ..tcp("reno", Recovery::Rack) };
    Script::with(spec, 0.1, 0).run("slow-start-fq-ack-per-2pkt", lines);
}

/// A mark: the window of CUBIC comes down to seven tenths by proportional reduction. After this ACK three are in flight, and two
/// may leave; one, as the script has it, before Linux took an ACK that moves on for a safe one (RFC 9937).
#[test]
fn a_mark_sets_the_threshold_of_linux() {
    let spec = TcpSpec { ecn: Ecn::Classic, congestion: cubic(), ..tcp("reno", Recovery::Rack) };
    let lines = [Write(4), Count(4), Window(10, 0), Told(0.1, 1, 0b001), Window(5, 7)];
    Script::with(spec, 0.1, 0b001).run("cwnd-moderation-ecn-enter-cwr-no-moderation-700", &lines);
}

/// What a server answers a SYN that asks for accurate ECN, and what data say then (Linux's own
/// tools/testing/selftests/net/packetdrill): where the server has the ECN of RFC 3168, or none.
#[test]
fn data_say_ect_if_the_server_does() {
    let table = [
        ("ecn-uses-ect0", Ecn::Classic, 0b001, 4),
        ("tcp_accecn_serverside_accecn_disabled2", Ecn::Accurate, 0b001, 4),
        ("tcp_accecn_serverside_ecn_disabled", Ecn::Accurate, 0b000, 0),
        ("tcp_accecn_serverside_broken", Ecn::Accurate, 0b111, 0),
    ];
    for (name, ecn, answer, capable) in table {
        let spec = TcpSpec { ecn, congestion: cubic(), ..tcp("reno", Recovery::Rack) };
        let mut script = Script::with(spec, 0.1, answer);
        script.run(name, &[Write(4), Ack(0.1, 1, NONE), Ack(0.1, 2, NONE), Ack(0.1, 4, NONE)]);
        assert_eq!((script.tape.capable, script.tape.scalable), (capable, 0), "{name}");
    }
}

/// A probe of the tail in the place of the timer, the timer, slow start up to the threshold of CUBIC, and growth towards the
/// window of the loss.
#[test]
#[rustfmt::skip]
fn a_timeout_is_followed_by_slow_start_as_in_linux() {
    let lines: &[Line] = &[
        Write(1), Sent(&[1]), Ack(0.1, 1, NONE), Window(10, 0), Write(1), Sent(&[2]),
        Pause(0.303), Sent(&[2]), Pause(0.303), Sent(&[2]), Ack(0.1, 2, NONE), Window(2, 7),
        Write(200), Count(2), Window(2, 7), Ack(0.1, 3, NONE), Count(2), Window(3, 7), Ack(0.002, 4, NONE), Count(2),
        Window(4, 7), Ack(0.098, 5, NONE), Count(2), Window(5, 7), Ack(0.002, 6, NONE), Count(2), Window(6, 7),
        Ack(0.002, 7, NONE), Count(2), Window(7, 7), Ack(0.002, 8, NONE), Count(1), Ack(0.098, 9, NONE), Count(1),
        Ack(0.002, 10, NONE), Count(1), Ack(0.002, 11, NONE), Count(1), Ack(0.002, 12, NONE), Count(1),
    ];
    Script::new(cubic(), SlowStartKind::HyStart, 0.1).run("cubic-rto-ss-ca-cwnd-bump", lines);
}

/// F-RTO, as Linux 6.18 did where ten packets and the probe were lost: the first ACK behind a timeout lets new packets out, and
/// what tells of these the retransmissions.
#[test]
#[rustfmt::skip]
fn after_a_timeout_new_packets_leave_first() {
    let timed_out: &[Line] = &[Write(50), Count(10), Pause(0.21), Sent(&[11]), Pause(0.31), Sent(&[1])];
    let needed: &[Line] = &[
        Ack(0.1, 1, NONE), Sent(&[12, 13]), Ack(0.1, 1, (12, 13)), Sent(&[2]), Ack(0.001, 1, (12, 14)), Sent(&[3]),
        Ack(0.1, 2, (12, 14)), Sent(&[4, 5]), Ack(0.001, 3, (12, 14)), Sent(&[6, 7]),
    ];
    // The first was lost, and others came late: not all was lost, and the window is as it was.
    let needless: &[Line] = &[Window(1, 7), Ack(0.01, 0, (2, 3)), Sent(&[]), Window(10, 0)];
    // Without more to send the first ACK lets retransmissions out.
    let nothing_new: &[Line] = &[
        Write(10), Count(10), Pause(0.21), Sent(&[10]), Pause(0.31), Sent(&[1]), Ack(0.1, 1, NONE), Sent(&[2, 3]),
    ];
    for (name, lines) in [("needed", &[timed_out, needed][..]), ("needless", &[timed_out, needless]), ("all", &[nothing_new])] {
        Script::new(cubic(), SlowStartKind::HyStart, 0.1).run(name, &lines.concat());
    }
}

/// Beyond a window that has closed one packet is outstanding at a time, until an ACK tells of a window that is open.
#[test]
fn a_closed_window_lets_one_packet_out() {
    let mut script = Script::new(cubic(), SlowStartKind::ByteCounting, 0.1);
    let told = |window: Option<u32>| {
        let told = window.map(|window| Advertised { window, asks: false });
        AckOptions { echo: Time::ZERO, blocks: SackBlocks::default(), counts: None, told }
    };
    script.run("open", &[Write(30), Count(10)]);
    script.sender.right_edge = 11;
    script.sender.read_options(&told(Some(0)), Time::ZERO);
    script.run("closed", &[Ack(0.1, 10, NONE), Sent(&[11]), Ack(0.1, 11, NONE), Sent(&[12])]);
    script.sender.read_options(&told(None), Time::ZERO);
    script.run("still closed", &[Ack(0.1, 12, NONE), Sent(&[13])]);
    script.sender.read_options(&told(Some(3)), Time::ZERO);
    script.run("open again", &[Ack(0.1, 13, NONE), Sent(&[14, 15, 16])]);
}

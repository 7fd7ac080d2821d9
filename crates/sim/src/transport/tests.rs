//! Both ends of one connection over a wire that marks and loses what a test says. Tests of what needs both ends
//! are in the files that they test; this is what they share.

use std::collections::VecDeque;

use crate::congestion::Controls;
use crate::events::{Entity, EventQueue, Key};
use crate::packet::{Kind, Packet};
use crate::random::Stream;
use crate::scenario::{Ecn, Profile, Recovery, RtoSpec, SlowStartKind, TcpSpec};
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;
use crate::transport::connection::Connection;
use crate::transport::ecn::Feedback;
use crate::transport::network::{Network, Schedule};
use crate::transport::receiver::Receiver;
use crate::transport::sender::{Env, Sender};
use crate::transport::signs::Signs;

/// What the wire does to a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Arrives,
    Marked,
    /// With its ECN field cleared.
    Bleached,
    Lost,
    /// So many seconds later, behind others.
    Late(f64),
}

/// A segment that the sender sent and that came to the end of the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// When it was sent, in seconds.
    pub at_s: f64,
    pub packet: Packet,
    /// The congestion window when it came.
    pub cwnd: f64,
}

/// Both ends.
pub(crate) struct Ends {
    pub sender: Sender,
    pub receiver: Receiver,
    pub sent: Vec<Sent>,
    pub acks: Vec<(f64, Packet)>,
    pub wire: Wire,
    pub controls: Controls,
    connection: Connection,
    segments: usize,
    /// Packets that are late.
    late: Vec<(Key, Packet)>,
}

const THERE: Entity = 0;
const BACK: Entity = 1;
const RETRANSMISSION: Entity = 2;
const DELAYED_ACK: Entity = 3;
const PACING: Entity = 4;
const LATE: Entity = 5;
const APPLICATION: Entity = 6;

/// A packet of 1052 bytes takes 1 ms, a round trip a little over 100 ms.
pub(crate) const RATE_BPS: f64 = 8.416e6;
const DELAY_S: f64 = 0.05;

/// A line each way, of which no queue drops anything unless it has a limit.
pub(crate) struct Wire {
    events: EventQueue,
    ack_options: AckOptionSlab,
    lines: [Line; 2],
    /// Rate of the line there, which a test may change for the packets that it gets from then on.
    pub rate_bps: f64,
    /// Propagation delay of each line in seconds, likewise.
    pub delay_s: f64,
    /// Packets that find as many seconds of others before them are dropped by the line there.
    pub longest_queue_s: f64,
    pub dropped: u64,
    /// ACKs come at multiples of so many seconds.
    pub ack_tick_s: Option<f64>,
}

/// One way over the wire.
#[derive(Default)]
struct Line {
    free: Time,
    flight: VecDeque<Packet>,
}

impl Wire {
    fn new() -> Self {
        Self {
            events: EventQueue::default(),
            ack_options: AckOptionSlab::default(),
            lines: Default::default(),
            rate_bps: RATE_BPS,
            delay_s: DELAY_S,
            longest_queue_s: f64::INFINITY,
            dropped: 0,
            ack_tick_s: None,
        }
    }

    /// The packet whose event at the far end of a line this is.
    fn deliver(&mut self, key: Key) -> Packet {
        let line = &mut self.lines[key.entity() as usize];
        line.flight.pop_front().expect("each event has its packet")
    }
}

impl Schedule for Wire {
    fn schedule(&mut self, event: Key) {
        self.events.push(event);
    }
}

impl Network for Wire {
    fn send(&mut self, packet: Packet, now: Key) {
        let entity = if packet.kind() == Kind::Ack { BACK } else { THERE };
        let line = &mut self.lines[entity as usize];
        let start = line.free.max(now.time);
        if entity == THERE && start.since(now.time) > self.longest_queue_s {
            self.dropped += 1;
            return;
        }
        let rate_bps = if entity == THERE { self.rate_bps } else { RATE_BPS.max(self.rate_bps) };
        line.free = start + f64::from(packet.size()) * 8.0 / rate_bps;
        line.flight.push_back(packet);
        let mut arrival = line.free + self.delay_s;
        if let (BACK, Some(tick_s)) = (entity, self.ack_tick_s) {
            arrival = Time::new((arrival.seconds() / tick_s).ceil() * tick_s);
        }
        self.events.push(Key::new(arrival, start, now.precedence_of_effects(), entity));
    }

    fn ack_options(&mut self) -> &mut AckOptionSlab {
        &mut self.ack_options
    }
}

/// TCP under profile `rfc`: packets of 1000 bytes, an initial window of ten, an ACK for each packet.
pub(crate) fn tcp(congestion: &str, recovery: Recovery) -> TcpSpec {
    TcpSpec {
        congestion: congestion.into(),
        recovery,
        payload_bytes: 1000,
        header_bytes: 52,
        ack_bytes: 52,
        window_packets: 10_000.0,
        initial_window_packets: 10.0,
        loss_window_packets: None,
        initial_ssthresh_packets: None,
        delayed_ack_s: None,
        rto: RtoSpec { initial_s: 1.0, min_s: 1.0, max_s: 60.0, granularity_s: 0.001 },
        limited_transmit: true,
        pacing: false,
        processing_delay_s: None,
        slow_start_after_idle: true,
        ecn: Ecn::Off,
        receiver_ecn: None,
        ecn_option: false,
        slow_start: SlowStartKind::Standard,
        max_ssthresh_packets: None,
    }
}

impl Ends {
    /// The ends of a transfer of `packets` packets.
    pub(crate) fn new(tcp: &TcpSpec, profile: Profile, packets: u64) -> Self {
        let bytes = Some(packets * u64::from(tcp.payload_bytes));
        let mut controls = Controls::default();
        let control = controls.add(&tcp.congestion).expect("the control is known");
        let feedback = match (tcp.agreed_ecn(), controls.counts_marks(control)) {
            (Ecn::Off, _) => Feedback::None,
            (Ecn::Classic, false) => Feedback::Latched,
            (Ecn::Classic, true) => Feedback::Accurate,
            (Ecn::Accurate, _) => Feedback::Counted { option: tcp.ecn_option },
        };
        let connection = Connection::new(tcp, profile, bytes);
        let mut sender = Sender::new(&connection, 0, RETRANSMISSION, control, 0.0, Time::ZERO);
        if tcp.paces() || controls.is_paced(control) {
            let random = controls.samples_delivery(control).then(|| Stream::new(1, "test", 0, "congestion"));
            sender.pace(PACING, random);
        }
        Self {
            sender,
            receiver: Receiver::new(tcp, profile, feedback, 0, DELAYED_ACK),
            sent: Vec::new(),
            acks: Vec::new(),
            wire: Wire::new(),
            controls,
            connection,
            segments: 0,
            late: Vec::new(),
        }
    }

    /// The sender begins, with all that it has.
    pub(crate) fn start(&mut self) {
        self.with_sender(Key::FIRST, Time::ZERO, 0, |sender, env| sender.start(env));
    }

    /// The sender begins, with `packets` of what it has; more by [`Self::offer`].
    pub(crate) fn start_with(&mut self, packets: i32) {
        self.with_sender(Key::FIRST, Time::ZERO, 0, |sender, env| sender.begin(env, packets));
    }

    /// The application has one packet more at `at_s`.
    pub(crate) fn offer(&mut self, at_s: f64) {
        self.wire.events.push(Key::planned(Time::new(at_s), APPLICATION));
    }

    /// Lets them talk until nothing is to be said. `outcome` is asked for each segment with its place, in the order
    /// in which they come to the end of the wire; the SYN is the first.
    pub(crate) fn talk(&mut self, outcome: impl FnMut(usize, &Packet) -> Outcome) {
        self.start();
        self.run(outcome);
    }

    /// One packet more at `at_s`, and all that follows from it, over a perfect wire.
    pub(crate) fn say_more(&mut self, at_s: f64) {
        self.with_sender(Key::planned(Time::new(at_s), 0), Time::ZERO, 0, |sender, env| sender.push(env));
        self.run(|_, _| Outcome::Arrives);
    }

    fn run(&mut self, mut outcome: impl FnMut(usize, &Packet) -> Outcome) {
        while self.step(&mut outcome).is_some() {}
    }

    /// Lets the next thing happen: when it did, in seconds, if there was one.
    pub(crate) fn step(&mut self, mut outcome: impl FnMut(usize, &Packet) -> Outcome) -> Option<f64> {
        let key = self.wire.events.pop_before(Time::NEVER)?;
        match key.entity() {
            RETRANSMISSION => self.with_sender(key, Time::ZERO, 0, |sender, env| sender.timer(env)),
            PACING => self.with_sender(key, Time::ZERO, 0, |sender, env| sender.pacing_timer(env)),
            APPLICATION => self.with_sender(key, Time::ZERO, 0, |sender, env| sender.push(env)),
            DELAYED_ACK => {
                self.receiver.timer(&mut self.wire, key);
            }
            LATE => {
                let place = self.late.iter().position(|late| late.0 == key).expect("each event has its packet");
                let packet = self.late.remove(place).1;
                self.reach(key, packet);
            }
            _ => {
                let packet = self.wire.deliver(key);
                self.arrive(key, packet, &mut outcome);
            }
        }
        Some(key.time.seconds())
    }

    fn arrive(&mut self, key: Key, packet: Packet, outcome: &mut impl FnMut(usize, &Packet) -> Outcome) {
        if packet.kind() == Kind::Ack {
            self.acks.push((key.time.seconds(), packet));
            let (blocks, echo) = match packet.options() {
                Some(handle) => {
                    let options = self.wire.ack_options.take(handle);
                    self.sender.read_options(&options, key.time);
                    (options.blocks.as_slice().to_vec(), options.echo)
                }
                None => (Vec::new(), packet.sent()),
            };
            return self.with_sender(key, echo, packet.ace(), |sender, env| {
                sender.receive(env, packet.seq(), &blocks);
            });
        }
        let place = self.segments;
        self.segments += 1;
        let packet = match outcome(place, &packet) {
            Outcome::Lost => return,
            Outcome::Late(delay_s) => {
                let late = Key::new(key.time + delay_s, key.time, key.precedence_of_effects(), LATE);
                self.late.push((late, packet));
                self.wire.events.push(late);
                return;
            }
            Outcome::Marked if packet.is_capable() => packet.marked(),
            Outcome::Bleached => packet.bleached(),
            _ => packet,
        };
        self.reach(key, packet);
    }

    /// A segment reaches the receiver.
    fn reach(&mut self, key: Key, packet: Packet) {
        self.sent.push(Sent { at_s: packet.sent().seconds(), packet, cwnd: self.sender.window.cwnd });
        self.receiver.send_owed(&mut self.wire, key, Signs::of(&packet));
        self.receiver.receive(&mut self.wire, key, &packet);
    }

    fn with_sender(&mut self, now: Key, echo: Time, told: u8, act: impl FnOnce(&mut Sender, &mut Env<'_, Wire>)) {
        let (network, controls, connection) = (&mut self.wire, &mut self.controls, &self.connection);
        act(&mut self.sender, &mut Env { network, controls, connection, now, echo, told });
    }
}

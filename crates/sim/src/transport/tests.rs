//! Both ends of one connection over a wire that marks and loses what a test says. Tests of what needs both ends
//! are in the files that they test; this is what they share.

use std::collections::VecDeque;

use crate::congestion::Controls;
use crate::events::{Entity, EventQueue, Key};
use crate::packet::{Kind, Packet};
use crate::scenario::{Profile, Recovery, RtoSpec, SlowStartKind, TcpSpec};
use crate::time::Time;
use crate::transport::connection::Connection;
use crate::transport::ecn::{Feedback, Signs};
use crate::transport::network::{Network, Schedule};
use crate::transport::receiver::Receiver;
use crate::transport::sack::SackSlab;
use crate::transport::sender::{Env, Sender};

/// What the wire does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Marked,
    Lost,
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
    wire: Wire,
    controls: Controls,
    connection: Connection,
    segments: usize,
}

const THERE: Entity = 0;
const BACK: Entity = 1;
const RETRANSMISSION: Entity = 2;
const DELAYED_ACK: Entity = 3;

/// A packet of 1052 bytes takes 1 ms, a round trip a little over 100 ms.
const RATE_BPS: f64 = 8.416e6;
const DELAY_S: f64 = 0.05;

/// A line each way, of which no queue ever drops anything.
struct Wire {
    events: EventQueue,
    sacks: SackSlab,
    lines: [Line; 2],
}

/// One way over the wire.
#[derive(Default)]
struct Line {
    free: Time,
    flight: VecDeque<Packet>,
}

impl Wire {
    fn new() -> Self {
        Self { events: EventQueue::for_size(0), sacks: SackSlab::default(), lines: Default::default() }
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
        line.free = start + f64::from(packet.size()) * 8.0 / RATE_BPS;
        line.flight.push_back(packet);
        self.events.push(Key::new(line.free + DELAY_S, start, now.precedence_of_effects(), entity));
    }

    fn sacks(&mut self) -> &mut SackSlab {
        &mut self.sacks
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
        ecn: false,
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
        let feedback = match (tcp.ecn, controls.reads_marks(control)) {
            (false, _) => Feedback::None,
            (true, false) => Feedback::Latched,
            (true, true) => Feedback::Accurate,
        };
        let connection = Connection::new(tcp, profile, bytes);
        Self {
            sender: Sender::new(&connection, 0, RETRANSMISSION, control, 0.0, Time::ZERO),
            receiver: Receiver::new(tcp, profile, feedback, 0, DELAYED_ACK),
            sent: Vec::new(),
            acks: Vec::new(),
            wire: Wire::new(),
            controls,
            connection,
            segments: 0,
        }
    }

    /// Lets them talk until nothing is to be said. `fate` is asked for each segment with its place, in the order
    /// in which they come to the end of the wire; the SYN is the first.
    pub(crate) fn talk(&mut self, fate: impl FnMut(usize, &Packet) -> Fate) {
        self.with_sender(Key::FIRST, Time::ZERO, false, |sender, env| sender.start(env));
        self.run(fate);
    }

    /// One packet more at `at_s`, and all that follows from it, over a perfect wire.
    pub(crate) fn say_more(&mut self, at_s: f64) {
        self.with_sender(Key::planned(Time::new(at_s), 0), Time::ZERO, false, |sender, env| sender.push(env));
        self.run(|_, _| Fate::Arrives);
    }

    fn run(&mut self, mut fate: impl FnMut(usize, &Packet) -> Fate) {
        while let Some(key) = self.wire.events.pop() {
            match key.entity() {
                RETRANSMISSION => self.with_sender(key, Time::ZERO, false, |sender, env| sender.timer(env)),
                DELAYED_ACK => {
                    self.receiver.timer(&mut self.wire, key);
                }
                _ => {
                    let packet = self.wire.deliver(key);
                    self.arrive(key, packet, &mut fate);
                }
            }
        }
    }

    fn arrive(&mut self, key: Key, packet: Packet, fate: &mut impl FnMut(usize, &Packet) -> Fate) {
        if packet.kind() == Kind::Ack {
            self.acks.push((key.time.seconds(), packet));
            let (blocks, echo) = match packet.blocks() {
                Some(handle) => {
                    let (blocks, echo) = self.wire.sacks.take(handle);
                    (blocks.as_slice().to_vec(), echo)
                }
                None => (Vec::new(), packet.sent()),
            };
            return self.with_sender(key, echo, packet.is_marked(), |sender, env| {
                sender.receive(env, packet.seq(), &blocks);
            });
        }
        let place = self.segments;
        self.segments += 1;
        let packet = match fate(place, &packet) {
            Fate::Lost => return,
            Fate::Marked if packet.is_capable() => packet.marked(),
            _ => packet,
        };
        self.sent.push(Sent { at_s: packet.sent().seconds(), packet, cwnd: self.sender.window.cwnd });
        self.receiver.send_owed(&mut self.wire, key, Signs::of(&packet));
        self.receiver.receive(&mut self.wire, key, &packet);
    }

    fn with_sender(&mut self, now: Key, echo: Time, marked: bool, act: impl FnOnce(&mut Sender, &mut Env<'_, Wire>)) {
        let (network, controls, connection) = (&mut self.wire, &mut self.controls, &self.connection);
        act(&mut self.sender, &mut Env { network, controls, connection, now, echo, marked });
    }
}

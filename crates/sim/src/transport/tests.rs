//! Both ends of one connection over a wire that marks and loses what a test says. Tests of what needs both ends
//! are in the files that they test; this is what they share.

use crate::congestion::Controls;
use crate::events::Key;
use crate::network::fabric::Fabric;
use crate::network::queue::QueueSpec;
use crate::network::queue::drop_tail::DropTailSpec;
use crate::packet::{Kind, Packet};
use crate::probe::Sampled;
use crate::scenario::{
    FlowSpec, FramingSpec, LinkSpec, NodeSpec, ObserveFlows, ObserveSpec, Profile, QueueLimit, Recovery, RtoSpec,
    Scenario, SlowStartKind, TcpSpec, TrafficSpec, TransportSpec,
};
use crate::time::Time;
use crate::transport::connection::Connection;
use crate::transport::ecn::{Feedback, Signs};
use crate::transport::receiver::Receiver;
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
    fabric: Fabric<Sampled>,
    controls: Controls,
    connection: Connection,
    segments: usize,
}

const LINKS: u32 = 10;
const RETRANSMISSION: u32 = 12;
const DELAYED_ACK: u32 = 13;
const WAITING: u32 = 20;

/// A packet of 1052 bytes takes 1 ms, a round trip a little over 100 ms.
const RATE_BPS: f64 = 8.416e6;
const DELAY_S: f64 = 0.05;

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
        let scenario = scenario(tcp, profile, bytes);
        let mut controls = Controls::default();
        let control = controls.add(&tcp.congestion).expect("the control is known");
        let feedback = match (tcp.ecn, controls.reads_marks(control)) {
            (false, _) => Feedback::None,
            (true, false) => Feedback::Latched,
            (true, true) => Feedback::Accurate,
        };
        let connection = Connection::new(tcp, profile, bytes);
        let fabric = Fabric::new(&scenario, (LINKS, WAITING), Sampled, |_| vec![true; 2]).expect("the path exists");
        Self {
            sender: Sender::new(&connection, 0, RETRANSMISSION, control, 0, 0.0, Time::ZERO),
            receiver: Receiver::new(tcp, profile, feedback, 0, DELAYED_ACK),
            sent: Vec::new(),
            acks: Vec::new(),
            fabric,
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
        while let Some(key) = self.fabric.queue.pop() {
            match key.entity() {
                RETRANSMISSION => self.with_sender(key, Time::ZERO, false, |sender, env| sender.timer(env)),
                DELAYED_ACK => {
                    if let Some(ack) = self.receiver.timer(&mut self.fabric.queue, key) {
                        self.fabric.send(ack, key);
                    }
                }
                _ => {
                    if let Some(packet) = self.fabric.deliver(key) {
                        self.arrive(key, packet, &mut fate);
                    }
                }
            }
        }
    }

    fn arrive(&mut self, key: Key, packet: Packet, fate: &mut impl FnMut(usize, &Packet) -> Fate) {
        if packet.kind() == Kind::Ack {
            self.acks.push((key.time.seconds(), packet));
            let (blocks, echo) = match packet.blocks() {
                Some(handle) => {
                    let (blocks, echo) = self.fabric.sacks.take(handle);
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
        if let Some(ack) = self.receiver.owed(Signs::of(&packet)) {
            self.fabric.send(ack, key);
        }
        if let Some(ack) = self.receiver.receive(&mut self.fabric.queue, &mut self.fabric.sacks, key, &packet) {
            self.fabric.send(ack, key);
        }
    }

    fn with_sender(
        &mut self,
        now: Key,
        echo: Time,
        marked: bool,
        act: impl FnOnce(&mut Sender, &mut Env<'_, Sampled>),
    ) {
        let (fabric, controls, connection) = (&mut self.fabric, &mut self.controls, &self.connection);
        act(&mut self.sender, &mut Env { fabric, controls, connection, now, echo, marked });
    }
}

fn scenario(tcp: &TcpSpec, profile: Profile, bytes: Option<u64>) -> Scenario {
    let node = |name: &str| NodeSpec { name: name.into(), processor: None };
    let link = |name: &str, from, to| LinkSpec {
        name: name.into(),
        from,
        to,
        rate_bps: RATE_BPS,
        rate_pps: None,
        delay_s: DELAY_S,
        queue: QueueSpec::DropTail(DropTailSpec { limit: QueueLimit::Unlimited }),
        framing: FramingSpec::default(),
        loss: 0.0,
        mtu_bytes: None,
        flow_control: false,
    };
    let flow = FlowSpec {
        label: "flow".into(),
        group: "flow".into(),
        index: 0,
        from: 0,
        to: 1,
        start_s: 0.0,
        stop_s: 1e6,
        path: None,
        reverse_path: None,
        traffic: TrafficSpec::Bulk { bytes },
        transport: TransportSpec::Tcp(tcp.clone()),
    };
    Scenario {
        profile,
        duration_s: 1e6,
        seed: 1,
        nodes: vec![node("sender"), node("receiver")],
        links: vec![link("there", 0, 1), link("back", 1, 0)],
        flows: vec![flow],
        observe: ObserveSpec { interval_s: None, flows: ObserveFlows::Each },
    }
}

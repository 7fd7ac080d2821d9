//! All congestion controls: against random events, and against the formulas of their sources.

use crate::engine::common::{floats, flow, link, packets, run, scenario, tcp};
use proptest::prelude::*;
use tightlink_sim::Scenario;
use tightlink_sim::congestion::{Ack, CONTROLS, ControlSpec, Controls, Loss, Window};
use tightlink_sim::random::Stream;
use tightlink_sim::scenario::{Profile, QueueLimit, Recovery, TrafficSpec, TransportSpec};
use tightlink_sim::time::Time;
use tightlink_sim::transport::delivery_rate::Deliveries;

/// What may happen to a sender.
#[derive(Clone, Debug)]
enum Event {
    /// So many ACKs of so many packets each, with round trips of so many seconds.
    Acks(u32, u32, f64),
    /// An ACK during recovery.
    Partial(f64),
    Loss,
    /// An ACK of so many packets, all of them marked.
    Mark(u32, f64),
    Timeout,
    /// A window of packets in a round trip of so many seconds, whose first is lost or not.
    Flight(f64, bool),
    Silence(f64),
}

fn event() -> impl Strategy<Value = Event> {
    let rtt_s = prop_oneof![Just(0.0), 1e-6..2.0f64, 0.01..0.2f64];
    prop_oneof![
        6 => (1..200u32, 1..4u32, rtt_s.clone()).prop_map(|(count, packets, rtt_s)| Event::Acks(count, packets, rtt_s)),
        4 => (rtt_s.clone(), prop::bool::weighted(0.3)).prop_map(|(rtt_s, lose)| Event::Flight(rtt_s, lose)),
        1 => rtt_s.clone().prop_map(Event::Partial),
        2 => Just(Event::Loss),
        2 => (1..4u32, rtt_s.clone()).prop_map(|(packets, rtt_s)| Event::Mark(packets, rtt_s)),
        1 => Just(Event::Timeout),
        1 => (0.0..100.0f64).prop_map(Event::Silence),
    ]
}

/// A sender whose packets are acknowledged in order.
struct Driver {
    controls: Controls,
    handle: tightlink_sim::congestion::Handle,
    window: Window,
    now_s: f64,
    through: i32,
    deliveries: Deliveries,
    highest: i32,
    recovering: bool,
}

impl Driver {
    fn new(spec: &ControlSpec, window: Window) -> Self {
        let mut controls = Controls::default();
        let handle = controls.add(spec).expect("the control is known");
        let deliveries = Deliveries::new(Stream::new(1, "driver", 0, "congestion"), true);
        Self { controls, handle, window, now_s: 1.0, through: 0, deliveries, highest: 0, recovering: false }
    }

    fn ack(&mut self, packets: u32, rtt_s: f64) -> Ack {
        self.through += packets as i32;
        let in_flight = self.window.cwnd.min(1e6);
        Ack {
            now: Time::new(self.now_s),
            acked: f64::from(packets),
            delivered: f64::from(packets),
            marked: 0.0,
            rtt_s,
            in_flight,
            through: self.through,
            highest: self.through + in_flight as i32,
        }
    }

    fn receive(&mut self, packets: u32, rtt_s: f64) {
        let ack = self.ack(packets, rtt_s);
        self.controls.measure_and_grow(self.handle, &mut self.window, &ack, None);
    }

    /// The window is sent, and `rtt_s` later all of it acknowledged: with `lose`, selectively and all but the first.
    fn sample(&mut self, rtt_s: f64, lose: bool) {
        if !self.controls.samples_delivery(self.handle) {
            return;
        }
        let first = self.highest + 1;
        self.highest += self.window.cwnd.min(1000.0) as i32;
        for seq in first..=self.highest {
            self.deliveries.note_sent(seq, Time::new(self.now_s));
        }
        self.now_s += rtt_s;
        let now = Time::new(self.now_s);
        for seq in first..=self.highest {
            let blocks = [(first as u32 + 1, seq as u32 + 1)];
            let (acked, blocks) = if lose { (first - 1, &blocks[..usize::from(seq > first)]) } else { (seq, &[][..]) };
            self.take_sample(now, acked, blocks);
        }
        if lose {
            self.deliveries.note_sent(first, now);
            self.now_s += rtt_s;
            self.take_sample(Time::new(self.now_s), self.highest, &[]);
        }
    }

    fn take_sample(&mut self, now: Time, acked: i32, blocks: &[(u32, u32)]) {
        let Some(delivery) = self.deliveries.acknowledge(now, acked, blocks) else { return };
        let sample = self.deliveries.sample(delivery, self.recovering);
        assert!(sample.rate.is_finite() && sample.rate >= 0.0, "{sample:?}");
        let (losses, random) = self.deliveries.losses();
        if self.controls.on_sample(self.handle, &mut self.window, &sample, losses, random) {
            self.deliveries.mark_app_limited();
        }
        self.deliveries.forget_losses();
    }

    /// Every control can be paced.
    fn pacing_rate(&self) -> f64 {
        self.controls.pacing_rate(self.handle, &self.window, self.window.cwnd, 0.1)
    }

    fn lose(&mut self) {
        self.recovering = true;
        let loss = Loss { now: Time::new(self.now_s), in_use: self.window.cwnd };
        let window = self.controls.on_loss(self.handle, &self.window, &loss);
        assert!(window.is_finite() && window >= 0.0, "{window}");
        self.window.ssthresh = window.max(2.0);
        self.window.cwnd = self.window.ssthresh;
    }

    fn mark(&mut self, packets: u32, rtt_s: f64) {
        let ack = Ack { marked: f64::from(packets), ..self.ack(packets, rtt_s) };
        self.controls.measure(self.handle, &ack);
        let loss = Loss { now: Time::new(self.now_s), in_use: self.window.cwnd };
        let Some(window) = self.controls.on_mark(self.handle, &self.window, &loss) else { return };
        assert!(window.is_finite() && window >= 0.0, "{window}");
        self.window.ssthresh = window.max(2.0);
        self.window.cwnd = self.window.ssthresh;
    }

    fn time_out(&mut self) {
        self.recovering = true;
        self.deliveries.lose_all();
        let loss = Loss { now: Time::new(self.now_s), in_use: self.window.cwnd };
        let threshold = self.controls.on_timeout(self.handle, &self.window, &loss);
        assert!(threshold.is_finite() && threshold >= 0.0, "{threshold}");
        self.window = Window { cwnd: 1.0, ssthresh: threshold.max(2.0) };
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Acks(count, packets, rtt_s) => {
                for _ in 0..count {
                    self.now_s += rtt_s / f64::from(count);
                    self.receive(packets, rtt_s);
                }
                self.recovering = false;
            }
            Event::Partial(rtt_s) => {
                let ack = self.ack(1, rtt_s);
                self.controls.measure(self.handle, &ack);
            }
            Event::Loss => self.lose(),
            Event::Mark(packets, rtt_s) => self.mark(packets, rtt_s),
            Event::Timeout => self.time_out(),
            Event::Flight(rtt_s, lose) => self.sample(rtt_s, lose),
            Event::Silence(seconds) => {
                self.deliveries.mark_app_limited();
                self.now_s += seconds;
                let now = Time::new(self.now_s);
                self.controls.on_restart(self.handle, &mut self.window, now, self.deliveries.losses().1);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn windows_stay_finite_and_above_one(events in proptest::collection::vec(event(), 1..60), limited in any::<bool>()) {
        for control in CONTROLS {
            let ssthresh = if limited { 64.0 } else { f64::MAX };
            let mut driver = Driver::new(&control.name.into(), Window { cwnd: 2.0, ssthresh });
            for event in &events {
                driver.happen(event);
                let Window { cwnd, ssthresh } = driver.window;
                prop_assert!(cwnd.is_finite() && cwnd >= 1.0, "{}: window {} after {:?}", control.name, cwnd, event);
                prop_assert!(ssthresh >= 1.0, "{}: threshold {} after {:?}", control.name, ssthresh, event);
                let rate = driver.pacing_rate();
                prop_assert!(rate.is_finite() && rate > 0.0, "{}: rate {} after {:?}", control.name, rate, event);
            }
        }
    }
}

/// The mean window, over rounds, where every `1 / loss`th packet is lost.
fn mean_window(spec: &ControlSpec, loss: f64, rtt_s: f64) -> f64 {
    let mut driver = Driver::new(spec, Window { cwnd: 10.0, ssthresh: 2.0 });
    let per_loss = 1.0 / loss;
    let (mut since_loss, mut sum, mut rounds) = (0.0, 0.0, 0.0);
    let mut losses = 0;
    while losses < 60 {
        let count = driver.window.cwnd as u32;
        for _ in 0..count {
            driver.now_s += rtt_s / f64::from(count);
            driver.receive(1, rtt_s);
        }
        since_loss += f64::from(count);
        if losses >= 30 {
            sum += driver.window.cwnd;
            rounds += 1.0;
        }
        if since_loss >= per_loss {
            since_loss -= per_loss;
            losses += 1;
            driver.lose();
        }
    }
    sum / rounds
}

/// Mean windows at periodic losses: RFC 5681 as Mathis has it, RFC 3649 §5, Kelly's a / (b p), RFC 9438 §5.
#[test]
fn response_functions_are_those_of_the_sources() {
    const RTT_S: f64 = 0.1;
    // Packets per round trip: scale / p^exponent, within the tolerance.
    let cases = [
        ("reno", 1.2247, 0.5, 0.03),
        ("highspeed", 0.12, 0.835, 0.05),
        // 1 / p packets in ln(8/7) / a round trips.
        ("scalable", 0.01 / 0.133_53, 1.0, 0.08),
        // The plateau attracts with the cube of the distance in time: windows settle only slowly, and near it.
        ("cubic", 1.054 * libm::pow(RTT_S, 0.75), 0.75, 0.1),
    ];
    for (name, scale, exponent, tolerance) in cases {
        for loss in [1e-4, 1e-5, 1e-6] {
            let mean = mean_window(&name.into(), loss, RTT_S);
            let deviation = mean / (scale / libm::pow(loss, exponent)) - 1.0;
            assert!(deviation.abs() < tolerance, "{name} at {loss}: {mean}, {:+.1} %", 100.0 * deviation);
        }
    }
}

/// One flow through a link of 10 Mbit/s, 40 ms there and back, with a queue of 200 packets.
fn alone(spec: ControlSpec) -> Scenario {
    let mut scenario = scenario(Profile::Rfc, 60.0, 2);
    scenario.links =
        vec![link("forward", (0, 1), 10e6, 0.02, packets(200)), link("back", (1, 0), 1e9, 0.02, QueueLimit::Unlimited)];
    let mut tcp = tcp(Profile::Rfc, Recovery::Sack);
    tcp.congestion = spec;
    tcp.delayed_ack_s = None;
    tcp.initial_ssthresh_packets = Some(20.0);
    scenario.flows =
        vec![flow(&scenario, "tcp", 0, (0, 1), TrafficSpec::Bulk { bytes: None }, TransportSpec::Tcp(tcp))];
    scenario
}

/// FAST keeps alpha packets in the queue, Vegas two to four, LEDBAT its target: mean queues of a run of the network.
#[test]
fn delay_based_controls_keep_the_queue_that_they_aim_at() {
    let option = |kind: &str, name: &str, value| ControlSpec {
        kind: kind.into(),
        external: None,
        options: [(name.to_owned(), value)].into(),
    };
    // LEDBAT's 30 ms of 1052 bytes at 10 Mbit/s.
    let ledbat = 0.03 * 10e6 / (8.0 * 1052.0);
    for (spec, least, most) in [
        (option("fast", "alpha", 20.0), 18.0, 21.0),
        (option("fast", "alpha", 80.0), 74.0, 82.0),
        ("vegas".into(), 1.0, 4.0),
        // Arun, Balakrishnan 2018 §3: 1.25 / δ packets on average; here with whole packets, and its probes for an empty queue.
        (option("copa", "delta", 0.5), 0.5, 5.0),
        (option("copa", "delta", 0.1), 4.0, 25.0),
        (option("ledbat", "target", 0.03), 0.9 * ledbat, 1.05 * ledbat),
    ] {
        let tables = run(&alone(spec.clone()));
        let queue = floats(&tables.links, "queue_mean_packets")[0];
        assert!((least..=most).contains(&queue), "{spec:?}: {queue} packets wait");
        assert!(floats(&tables.links, "utilization")[0] > 0.97, "{spec:?}");
    }
}

//! COBALT (Høiland-Jørgensen, Täht, Morton 2018 §III.C; Linux's `sch_cake`): CoDel, whose count falls as it rose once the
//! queue is short, and BLUE beside it, which drops from the queues of flows that do not answer.

use super::codel::CodelSpec;
use super::fifo::Fifo;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::random::Stream;
use crate::time::Time;

/// The parameters of both algorithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) target_s: f64,
    pub(super) interval_s: f64,
    /// What a large packet takes on the line, in seconds, where that is known: a queue of a few is no queue.
    pub(super) packet_s: f64,
    pub(super) ecn: bool,
}

/// Linux's `cake_set_rate`: by how much the probability of BLUE rises where the queue is full, and falls where it is empty.
const BLUE_UP: f64 = 1.0 / 256.0;
const BLUE_DOWN: f64 = 1.0 / 4096.0;
/// Linux's `cobalt_should_drop`: a wait for that many large packets is no wait.
const SHORT_PACKETS: f64 = 4.0;

/// What happens to a packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

/// The state of both algorithms over one waiting line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// Signals are `interval` / √count apart.
    count: u64,
    /// When the next signal is due, in seconds; without any, when the queue has been quiet for an interval.
    next_s: f64,
    /// The time in the queue is above the target.
    above: bool,
    /// BLUE's probability of a drop, and when it last changed, in seconds.
    probability: f64,
    changed_s: f64,
}

impl Control {
    /// The packet that leaves `line` at `now`; those before it are appended to `lost`. The last is never dropped.
    pub(super) fn next(
        &mut self,
        law: Law,
        line: &mut Fifo,
        now: Time,
        stream: &mut Stream,
        lost: &mut Lost,
    ) -> Option<Waiting> {
        loop {
            let Some(mut waiting) = line.pop() else {
                self.ran_empty(law, now);
                return None;
            };
            match self.judge(law, &waiting, now, stream) {
                Signal::Drop if line.len() > 0 => lost.push((waiting, Refusal::Managed)),
                signal => {
                    waiting.marked |= signal == Signal::Mark;
                    return Some(waiting);
                }
            }
        }
    }

    /// A packet was lost because the queue was full at `now`.
    pub(super) fn was_full(&mut self, law: Law, now_s: f64) {
        if now_s - self.changed_s > law.target_s {
            self.probability = (self.probability + BLUE_UP).min(1.0);
            self.changed_s = now_s;
        }
        (self.above, self.next_s) = (true, now_s);
        self.count = self.count.max(1);
    }

    /// The queue was asked for a packet at `now`, and had none.
    fn ran_empty(&mut self, law: Law, now: Time) {
        let now_s = now.seconds();
        if self.probability > 0.0 && now_s - self.changed_s > law.target_s {
            self.probability = (self.probability - BLUE_DOWN).max(0.0);
            self.changed_s = now_s;
        }
        self.above = false;
        if self.is_due(now_s) {
            self.forget_one(law);
        }
    }

    /// Whether nothing is remembered of congestion at `now`.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0.0 && self.count == 0 && now.seconds() >= self.next_s
    }

    fn is_due(&self, now_s: f64) -> bool {
        self.count > 0 && now_s >= self.next_s
    }

    /// The control law (RFC 8289 §3.3), which Linux has for counts of 0 and 1 alike.
    fn after(&self, law: Law, at_s: f64) -> f64 {
        at_s + law.interval_s / libm::sqrt(self.count.max(1) as f64)
    }

    fn forget_one(&mut self, law: Law) {
        self.count -= 1;
        self.next_s = self.after(law, self.next_s);
    }

    /// Linux's `cobalt_should_drop`, for a packet that leaves at `now`.
    fn judge(&mut self, law: Law, waiting: &Waiting, now: Time, stream: &mut Stream) -> Signal {
        let now_s = now.seconds();
        let wait_s = now_s - waiting.since_s;
        let (mut overdue, due) = (now_s > self.next_s, self.is_due(now_s));
        let mut signal = Signal::None;
        if wait_s > law.target_s && wait_s > SHORT_PACKETS * law.packet_s {
            if !self.above {
                self.above = true;
                self.next_s = self.after(law, now_s);
            }
            self.count = self.count.max(1);
        } else {
            self.above = false;
        }
        if due && self.above {
            signal = if law.ecn && waiting.packet.is_capable() { Signal::Mark } else { Signal::Drop };
            self.count += 1;
            self.next_s = self.after(law, self.next_s);
            overdue = now_s > self.next_s;
        } else if due {
            while self.is_due(now_s) {
                self.forget_one(law);
            }
            overdue = now_s > self.next_s;
        }
        // What does not answer to marks is dropped.
        if self.probability > 0.0 && stream.chance(self.probability) {
            signal = Signal::Drop;
        }
        if self.count == 0 {
            self.next_s = now_s + law.interval_s;
        } else if overdue && signal != Signal::Drop {
            self.next_s = now_s;
        }
        signal
    }
}

/// A COBALT queue.
#[derive(Clone, Debug)]
pub struct Cobalt {
    limit: QueueLimit,
    law: Law,
    line: Fifo,
    control: Control,
    stream: Stream,
}

impl Store for Cobalt {
    /// Its parameters are those of CoDel.
    type Spec = CodelSpec;
    const HELP: &'static str = "CoDel, and BLUE against flows that do not answer (CAKE's)";
    const TAKES_WHAT_FITS: bool = true;

    fn marks(spec: &Self::Spec) -> bool {
        spec.ecn
    }

    fn new(spec: &CodelSpec, site: Site<'_>) -> Self {
        let CodelSpec { limit, target_s, interval_s, ecn } = *spec;
        let law = Law { target_s, interval_s, packet_s: 0.0, ecn };
        let stream = Stream::new(site.seed, site.link, 0, "queue");
        Self { limit, law, line: Fifo::default(), control: Control::default(), stream }
    }

    fn join(&mut self, packet: Waiting, on_line: Load, _: &mut Lost) -> Result<(), Refusal> {
        if !self.limit.takes(self.line.load() + on_line, packet.packet.size()) {
            self.control.was_full(self.law, packet.since_s);
            return Err(Refusal::Full);
        }
        self.line.push(packet);
        Ok(())
    }

    fn next(&mut self, now: Time, lost: &mut Lost) -> Option<Waiting> {
        self.control.next(self.law, &mut self.line, now, &mut self.stream, lost)
    }

    fn waited_s(&self, sum_s: f64, now_s: f64) -> f64 {
        self.line.waited_s(sum_s, now_s)
    }

    fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::tests::{IDLE, packet, site};

    const SPEC: CodelSpec = CodelSpec { limit: QueueLimit::Unlimited, target_s: 0.005, interval_s: 0.1, ecn: true };

    /// Packets of a millisecond each on the line, against twice as many arrivals until `stop_s`, then none: the times of
    /// signals, and how many packets were lost.
    fn overload(capable: bool, stop_s: f64, until_s: f64) -> (Cobalt, Vec<f64>, usize) {
        let mut queue = Cobalt::new(&SPEC, site());
        let (mut lost, mut signals) = (Lost::new(), Vec::new());
        for millisecond in 1..=(until_s * 1000.0) as u32 {
            let now_s = f64::from(millisecond) * 0.001;
            for since_s in [now_s - 0.0005, now_s].into_iter().filter(|&since_s| since_s < stop_s) {
                let waiting = packet(0, since_s, 1000);
                let packet = if capable { waiting.packet.capable() } else { waiting.packet };
                queue.join(Waiting { packet, ..waiting }, IDLE, &mut lost).expect("room");
            }
            let before = lost.len();
            let next = queue.next(Time::new(now_s), &mut lost);
            if lost.len() > before || next.is_some_and(|next| next.marked) {
                signals.push(now_s);
            }
        }
        (queue, signals, lost.len())
    }

    /// RFC 8289 §3.3 with the count that Linux has: the first signal an interval after the queue got long, the second
    /// interval / √2 after it, and so on.
    #[test]
    fn signals_follow_the_control_law() {
        for capable in [true, false] {
            let (_, signals, lost) = overload(capable, 2.0, 2.0);
            assert_eq!(lost > 0, !capable);
            // 5 ms in the queue are passed by the packet that leaves after 11 ms.
            let mut due_s = 0.011 + 0.1;
            assert!(signals.len() > 60, "{} signals", signals.len());
            for (count, &signal_s) in (2u32..).zip(&signals) {
                assert!((-1e-9..0.001 + 1e-9).contains(&(signal_s - due_s)), "at {signal_s} instead of {due_s}");
                due_s += 0.1 / f64::from(count).sqrt();
            }
        }
    }

    /// The count falls as it rose, by interval / √count, instead of at once.
    #[test]
    fn the_count_falls_again_when_the_queue_is_short() {
        let (queue, _, _) = overload(true, 1.0, 1.0);
        let highest = queue.control.count;
        // The backlog is gone after two seconds; then nothing comes.
        let (queue, _, _) = overload(true, 1.0, 2.2);
        let later = queue.control.count;
        let (queue, _, _) = overload(true, 1.0, 8.0);
        assert!(highest > 20 && later > 1, "{highest} {later}");
        assert!(queue.control.is_at_rest(Time::new(8.0)), "{:?}", queue.control);
    }

    /// Linux's `cobalt_queue_full` and `cobalt_queue_empty`: by 1/256 up, by 1/4096 down, once in each target.
    #[test]
    fn blue_rises_where_the_queue_is_full_and_falls_where_it_is_empty() {
        let law = Law { target_s: 0.0055, interval_s: 0.1, packet_s: 0.0, ecn: true };
        let mut control = Control::default();
        (1..=100).for_each(|number| control.was_full(law, 0.001 * f64::from(number)));
        // After 6, 12, 18 … ms: once more than the target has passed.
        assert_eq!(control.probability, 16.0 / 256.0);
        (101..=200).for_each(|number| control.ran_empty(law, Time::new(0.001 * f64::from(number))));
        assert_eq!(control.probability, 16.0 / 256.0 - 17.0 / 4096.0);
        // Marks do not help against who does not answer: these are dropped.
        let mut stream = Stream::new(1, "wire", 0, "queue");
        let waiting = packet(0, 1.0, 1000);
        let capable = Waiting { packet: waiting.packet.capable(), ..waiting };
        let drops = (0..100_000).filter(|_| control.judge(law, &capable, Time::new(1.0), &mut stream) == Signal::Drop);
        let (share, p) = (drops.count() as f64 / 1e5, control.probability);
        assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / 1e5).sqrt(), "{share} {p}");
    }
}

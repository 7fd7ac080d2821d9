//! COBALT (Høiland-Jørgensen, Täht, Morton 2018 §III.C; Linux's `sch_cake`): CoDel, whose count falls as it rose once the
//! queue is short, and BLUE beside it, which drops from the queues of flows that do not answer.

use super::codel::CodelSpec;
use super::fifo::Fifo;
use super::{Load, Lost, Refusal, Site, Store, Waiting};
use crate::network::queue::limit::QueueLimit;
use crate::random::Stream;
use crate::time::Time;

/// The parameters of both algorithms, in nanoseconds, as Linux has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) target: i64,
    pub(super) interval: i64,
    /// How long a few large packets take on the line, where that is known: a queue of so many is no queue.
    short: i64,
    ecn: bool,
}

impl Law {
    /// A law of times in nanoseconds; `packet` is what a large packet takes on the line, or zero if that is not known.
    pub(super) fn new(target: i64, interval: i64, packet: i64, ecn: bool) -> Self {
        Self { target, interval, short: SHORT_PACKETS * packet, ecn }
    }

    /// A law of times in seconds, of a line that may be of any rate.
    pub(super) fn of_seconds(target_s: f64, interval_s: f64, ecn: bool) -> Self {
        Self::new(nanoseconds(target_s), nanoseconds(interval_s), 0, ecn)
    }
}

/// A time by Linux's clock.
pub(super) fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9 + 0.5) as i64
}

/// Linux's `cake_set_rate`: by how much the probability of BLUE rises where the queue is full, and falls where it is empty.
const BLUE_UP: f64 = 1.0 / 256.0;
const BLUE_DOWN: f64 = 1.0 / 4096.0;
/// Linux's `cobalt_should_drop`: a wait for that many large packets is no wait.
const SHORT_PACKETS: i64 = 4;
/// Nothing has happened yet.
const NEVER: i64 = i64::MIN / 2;

/// 1/√n for the smallest counts, with 32 bits behind the point: below so many one step from a neighbour is far off, and Linux
/// has eight. Zero counts as one.
const FIRST_ROOTS: [u32; 16] = first_roots();

const fn first_roots() -> [u32; 16] {
    let (mut roots, mut count, mut root) = ([u32::MAX; 16], 1, u32::MAX);
    while count < roots.len() {
        let mut steps = 8;
        while steps > 0 {
            root = nearer_root(root, count as u32);
            steps -= 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
}

/// One step of Newton's method from `root` towards 1/√count, y (3 − count y²) / 2, with 32 bits behind the point.
const fn nearer_root(root: u32, count: u32) -> u32 {
    let root = root as u64;
    let square = (root * root) >> 32;
    let rest = (3 << 32) - count as u64 * square;
    (((rest >> 2) * root) >> 31) as u32
}

/// What happens to a packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

/// The state of both algorithms over one waiting line. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// Signals are `interval` / √count apart.
    count: u32,
    /// 1/√count, in units of 2⁻³². In Linux it is zero before the first signal, which therefore is not an interval late.
    inverse_root: u32,
    /// When the next signal is due; without any, when the queue has been quiet for an interval.
    next: i64,
    /// The time in the queue is above the target.
    above: bool,
    /// BLUE's probability of a drop, and when it last changed.
    probability: f64,
    changed: i64,
}

impl Default for Control {
    fn default() -> Self {
        Self { count: 0, inverse_root: 0, next: NEVER, above: false, probability: 0.0, changed: NEVER }
    }
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
        let now = nanoseconds(now.seconds());
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

    /// A packet was lost because the queue was full at `now_s`.
    pub(super) fn was_full(&mut self, law: Law, now_s: f64) {
        let now = nanoseconds(now_s);
        if now - self.changed > law.target {
            self.probability = (self.probability + BLUE_UP).min(1.0);
            self.changed = now;
        }
        (self.above, self.next) = (true, now);
        self.count = self.count.max(1);
    }

    /// The queue was asked for a packet at `now`, and had none.
    fn ran_empty(&mut self, law: Law, now: i64) {
        if self.probability > 0.0 && now - self.changed > law.target {
            self.probability = (self.probability - BLUE_DOWN).max(0.0);
            self.changed = now;
        }
        self.above = false;
        if self.is_due(now) {
            self.forget_one(law);
        }
    }

    /// Whether nothing is remembered of congestion at `now`.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0.0 && self.count == 0 && nanoseconds(now.seconds()) >= self.next
    }

    fn is_due(&self, now: i64) -> bool {
        self.count > 0 && now >= self.next
    }

    /// The control law (RFC 8289 §3.3).
    fn after(&self, law: Law, at: i64) -> i64 {
        at + ((i128::from(law.interval) * i128::from(self.inverse_root)) >> 32) as i64
    }

    /// The count has become another by one.
    fn count_on(&mut self, law: Law, count: u32) {
        self.count = count;
        let first = FIRST_ROOTS.get(count as usize);
        self.inverse_root = first.copied().unwrap_or_else(|| nearer_root(self.inverse_root, count));
        self.next = self.after(law, self.next);
    }

    fn forget_one(&mut self, law: Law) {
        self.count_on(law, self.count - 1);
    }

    /// Linux's `cobalt_should_drop`, for a packet that leaves at `now`.
    fn judge(&mut self, law: Law, waiting: &Waiting, now: i64, stream: &mut Stream) -> Signal {
        let wait = now - nanoseconds(waiting.since_s);
        let (mut overdue, due) = (now > self.next, self.is_due(now));
        let mut signal = Signal::None;
        if wait > law.target && wait > law.short {
            if !self.above {
                self.above = true;
                self.next = self.after(law, now);
            }
            self.count = self.count.max(1);
        } else {
            self.above = false;
        }
        if due && self.above {
            signal = if law.ecn && waiting.packet.is_capable() { Signal::Mark } else { Signal::Drop };
            self.count_on(law, self.count.saturating_add(1));
            overdue = now > self.next;
        } else if due {
            while self.is_due(now) {
                self.forget_one(law);
            }
            overdue = now > self.next;
        }
        // What does not answer to marks is dropped.
        if self.probability > 0.0 && stream.chance(self.probability) {
            signal = Signal::Drop;
        }
        if self.count == 0 {
            self.next = now + law.interval;
        } else if overdue && signal != Signal::Drop {
            self.next = now;
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
        let law = Law::of_seconds(target_s, interval_s, ecn);
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

    /// RFC 8289 §3.3 with the count that Linux has: the first signal at the packet behind the one that tells of a long queue,
    /// the second interval / √2 after it was told, and so on.
    #[test]
    fn signals_follow_the_control_law() {
        for capable in [true, false] {
            let (_, signals, lost) = overload(capable, 2.0, 2.0);
            assert_eq!(lost > 0, !capable);
            // 5 ms in the queue are passed by the packet that leaves after 11 ms.
            let (mut due_s, mut root) = (0.011, 1.0);
            assert!(signals.len() > 60, "{} signals", signals.len());
            for (count, &signal_s) in (2u32..).zip(&signals) {
                assert!((-1e-9..0.001 + 1e-9).contains(&(signal_s - due_s)), "at {signal_s} instead of {due_s}");
                // Exact below 16; above, one step of Newton's method from the root before.
                let n = f64::from(count);
                root = if count < 16 { 1.0 / n.sqrt() } else { root * (3.0 - n * root * root) / 2.0 };
                due_s += 0.1 * root;
            }
        }
    }

    /// Eight steps of Newton's method are exact, one is not quite. By hand, y (3 − 16 y²) / 2 of y = 1/√15 is
    /// 0.2581989 × (3 − 1.0666667) / 2 = 0.2495923, where 1/√16 = 0.25; then y (3 − 17 y²) / 2 = 0.2422247.
    #[test]
    fn roots_are_those_of_linux() {
        let share = |root: u32| f64::from(root) / 4_294_967_296.0;
        for (count, &root) in (1u32..).zip(&FIRST_ROOTS[1..]) {
            assert!((share(root) - 1.0 / f64::from(count).sqrt()).abs() < 5e-10, "{count}: {}", share(root));
        }
        let mut root = FIRST_ROOTS[15];
        for (count, expected) in [(16, 0.249_592_3), (17, 0.242_224_7)] {
            root = nearer_root(root, count);
            assert!((share(root) - expected).abs() < 1e-7, "{count}: {}", share(root));
        }
    }

    /// A packet leaves each millisecond from 1 ms on. Where they are late, the second is a signal at first, 1 ms later. Its
    /// count of two is forgotten 71 and 171 ms behind the first if they are in time, and from then on a signal is an interval
    /// behind the first late one.
    #[test]
    fn only_the_very_first_signal_comes_at_once() {
        let law = Law::of_seconds(0.005, 0.1, true);
        let (mut control, mut stream) = (Control::default(), Stream::new(1, "wire", 0, "queue"));
        let mut signals = |mut range: std::ops::RangeInclusive<i64>, wait_s: f64| {
            range.find(|&ms| {
                let waiting = packet(0, ms as f64 * 0.001 - wait_s, 1000);
                control.judge(law, &waiting, ms * 1_000_000, &mut stream) != Signal::None
            })
        };
        assert_eq!(signals(1..=300, 0.006), Some(2));
        assert_eq!(signals(3..=300, 0.004), None);
        assert_eq!(signals(301..=600, 0.006), Some(401));
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
        let law = Law::of_seconds(0.0055, 0.1, true);
        let mut control = Control::default();
        (1..=100).for_each(|number| control.was_full(law, 0.001 * f64::from(number)));
        // After 1, 7, 13 … 97 ms: once more than the target has passed.
        assert_eq!(control.probability, 17.0 / 256.0);
        // After 103, 109 … 199 ms.
        (101..=200).for_each(|number| control.ran_empty(law, 1_000_000 * number));
        assert_eq!(control.probability, 17.0 / 256.0 - 17.0 / 4096.0);
        // Marks do not help against who does not answer: these are dropped.
        let mut stream = Stream::new(1, "wire", 0, "queue");
        let waiting = packet(0, 1.0, 1000);
        let capable = Waiting { packet: waiting.packet.capable(), ..waiting };
        let drops = (0..100_000).filter(|_| control.judge(law, &capable, 1_000_000_000, &mut stream) == Signal::Drop);
        let (share, p) = (drops.count() as f64 / 1e5, control.probability);
        assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / 1e5).sqrt(), "{share} {p}");
    }
}

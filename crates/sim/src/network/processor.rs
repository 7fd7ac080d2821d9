//! The processor of a node, as times only: what a network interface or a router's CPU spends on each
//! packet. It holds no packets and makes no events, so that the simulator and the real-time relay use
//! the same code and the same tests.
//!
//! One server for all inputs, in order of arrival. Interrupts pre-empt packets, and packets pre-empt
//! low-priority work. Only the packet in service has a departure, and a provisional one: every arrival
//! that costs interrupt time moves it.

use serde::{Deserialize, Serialize};

use super::background::{JobSpec, Jobs, Step};
use super::meter::{Meter, MeterSpec};
use crate::network::queue::{Load, QueueLimit};
use crate::ring::Ring;

/// A processor's costs, rings and low-priority work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorSpec {
    /// Work of each packet, in seconds.
    pub per_packet_s: f64,
    /// Work of each byte of a packet, in seconds.
    pub per_byte_s: f64,
    /// What each arrival from a link costs at once, refused or not, in seconds.
    pub interrupt_s: f64,
    /// What each input ring takes, waiting and in service.
    pub input_ring: QueueLimit,
    /// Whether the queues of the links that leave the node are its output rings.
    pub output_ring: bool,
    /// Whether packets that end at the node pass it, too.
    pub receive: bool,
    /// Low-priority work.
    pub background: Option<JobSpec>,
    /// Share of the time not taken by interrupts that low-priority work gets while there is some.
    pub guaranteed: f64,
    /// How the device reports its load.
    pub meter: Option<MeterSpec>,
}

/// What a processor did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTotals {
    /// Packets offered.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Of them, those that came by a link.
    pub interrupts: u64,
    /// Packets forwarded.
    pub packets_served: u64,
    /// Packets refused by a full ring.
    pub packets_dropped: u64,
}

/// A packet in a ring.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    input: u32,
    size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Serving,
    /// The packet at the head was served and has nowhere to go yet.
    Holding,
}

/// Low-priority work: background first, then the meter.
#[derive(Clone, Debug)]
struct LowPriority {
    jobs: Jobs<2>,
    guaranteed: f64,
    meter: Option<Meter>,
    /// The end of the run, behind which nothing need be known.
    end_s: f64,
}

const METER: usize = 1;

impl LowPriority {
    fn new(spec: &ProcessorSpec) -> Option<Self> {
        let jobs = [spec.background, spec.meter.map(|meter| meter.job())];
        let rest: f64 = jobs.iter().flatten().map(JobSpec::load).sum();
        (rest > 0.0 || spec.meter.is_some()).then(|| Self {
            jobs: Jobs::new(jobs),
            guaranteed: spec.guaranteed,
            meter: spec.meter.map(|meter| Meter::new(meter, rest)),
            end_s: f64::INFINITY,
        })
    }

    /// When a packet leaves that begins at `begin` to need `left_s` seconds, if that is before the end of the run.
    fn end_of_work(&self, begin: f64, left_s: f64) -> f64 {
        self.jobs.end_of_work(begin, left_s, self.guaranteed, self.end_s)
    }

    /// Continues until `until` with a share of the processor, which is otherwise idle or busy throughout;
    /// before, it had been busy for `busy_s` in all. The processor time taken.
    fn advance(&mut self, until: f64, share: f64, busy_s: f64, throughout: bool) -> f64 {
        let begin = self.jobs.at();
        let mut taken_s = 0.0;
        while self.jobs.at() < until {
            let step = self.jobs.step(until, share);
            taken_s += step.taken_s;
            self.note(step, busy_s + if throughout { self.jobs.at() - begin } else { taken_s });
        }
        taken_s
    }

    /// The meter takes its sample where that job ended, when the processor had been busy for `busy_s` in all.
    fn note(&mut self, step: Step, busy_s: f64) {
        if let (Some(METER), Some(meter)) = (step.ended, &mut self.meter) {
            meter.sample(self.jobs.at(), busy_s);
        }
    }
}

/// What low-priority work does while nothing else happens, looked at again and again without changing it: each look
/// continues from where the one before it was, in the steps that there are without any.
#[derive(Clone, Debug)]
struct Look {
    low: LowPriority,
    share: f64,
    /// Whether a packet is served all the time.
    serving: bool,
    /// When this state began, and for how long the processor had been busy then, in seconds.
    begin: f64,
    busy_s: f64,
    /// Processor time that low-priority work took in whole steps.
    taken_s: f64,
}

impl Look {
    /// Time that the processor was busy before `now`, in seconds.
    fn busy_s(&mut self, now: f64) -> f64 {
        let last = loop {
            let mut jobs = self.low.jobs;
            if jobs.at() >= now {
                break 0.0;
            }
            let step = jobs.step(now, self.share);
            if jobs.at() >= now && step.ended.is_none() {
                // Without this look the step would go on.
                break step.taken_s;
            }
            self.low.jobs = jobs;
            self.taken_s += step.taken_s;
            let spent_s = if self.serving { jobs.at() - self.begin } else { self.taken_s };
            self.low.note(step, self.busy_s + spent_s);
        };
        self.busy_s + if self.serving { now - self.begin } else { self.taken_s + last }
    }
}

/// A processor at work. Times are in seconds.
#[derive(Clone, Debug)]
pub struct Processor {
    per_packet_s: f64,
    per_byte_s: f64,
    interrupt_s: f64,
    limit: QueueLimit,
    /// What is in each ring, in the unit of the limit.
    rings: Vec<u64>,
    /// Packets in all rings in order of arrival, the one in service first.
    line: Ring<Job>,
    /// Packets that were served and are still in a ring.
    aside: usize,
    state: State,
    /// When the packet in service leaves, unless an interrupt delays it.
    departure: f64,
    interrupts_until: f64,
    /// What the packet in service still needs; kept only where low-priority work slows it down.
    left_s: f64,
    /// Everything before this instant is accounted for.
    at: f64,
    busy_s: f64,
    low: Option<Box<LowPriority>>,
    /// The last look, unless something has happened since.
    look: Option<Box<Look>>,
    totals: ProcessorTotals,
}

impl Processor {
    /// An idle processor with so many input rings.
    #[must_use]
    pub fn new(spec: &ProcessorSpec, inputs: usize) -> Self {
        Self {
            per_packet_s: spec.per_packet_s,
            per_byte_s: spec.per_byte_s,
            interrupt_s: spec.interrupt_s,
            limit: spec.input_ring,
            rings: vec![0; inputs],
            line: Ring::default(),
            aside: 0,
            state: State::Idle,
            departure: 0.0,
            interrupts_until: 0.0,
            left_s: 0.0,
            at: 0.0,
            busy_s: 0.0,
            low: LowPriority::new(spec).map(Box::new),
            look: None,
            totals: ProcessorTotals::default(),
        }
    }

    /// The same in a run that ends at `end_s`: what would happen later is not computed.
    #[must_use]
    pub fn until(mut self, end_s: f64) -> Self {
        if let Some(low) = &mut self.low {
            low.end_s = end_s;
        }
        self
    }

    /// A packet of `size` bytes came by a link: its interrupt. True if it may enter the ring.
    pub fn interrupt(&mut self, now: f64, input: u32, size: u32) -> bool {
        self.advance(now);
        self.totals.interrupts += 1;
        if self.interrupt_s > 0.0 {
            self.interrupts_until = self.interrupts_until.max(now) + self.interrupt_s;
            if self.state == State::Serving {
                let delayed = match self.slowing() {
                    Some(low) => low.end_of_work(self.interrupts_until, self.left_s),
                    None => self.departure + self.interrupt_s,
                };
                // Rounded, what is left may end before.
                self.departure = self.departure.max(delayed);
            }
        }
        self.has_room(input, size)
    }

    /// Whether the ring of an input takes a packet of `size` bytes.
    #[must_use]
    pub fn has_room(&self, input: u32, size: u32) -> bool {
        let held = self.rings[input as usize];
        self.limit.takes(Load { packets: held as usize, bytes: held }, size)
    }

    /// Whether the ring of an input holds nothing.
    #[must_use]
    pub fn is_empty(&self, input: u32) -> bool {
        self.rings[input as usize] == 0
    }

    /// Counts a packet that its ring refused.
    pub fn refuse(&mut self, size: u32) {
        self.count(size);
        self.totals.packets_dropped += 1;
    }

    /// Takes a packet into the ring of an input. True if its service begins now.
    pub fn take(&mut self, now: f64, input: u32, size: u32) -> bool {
        self.advance(now);
        self.count(size);
        self.rings[input as usize] += self.weight(size);
        self.line.push_back(Job { input, size });
        self.begin(now)
    }

    /// When the packet in service leaves, as things are; nothing if there is none.
    #[must_use]
    pub fn departure(&self) -> Option<f64> {
        (self.state == State::Serving).then_some(self.departure)
    }

    /// The input of the packet in service; nothing if there is none.
    #[must_use]
    pub fn serving(&self) -> Option<u32> {
        self.line.front().filter(|_| self.state == State::Serving).map(|job| job.input)
    }

    /// The packet in service was served and stays where it is: what follows must wait.
    pub fn hold(&mut self, now: f64) {
        self.advance(now);
        self.state = State::Holding;
    }

    /// The packet at the head leaves. True if the next one's service begins now.
    pub fn release(&mut self, now: f64) -> bool {
        self.advance(now);
        self.state = State::Idle;
        if let Some(job) = self.line.pop_front() {
            self.leave(job.input, job.size);
        }
        self.begin(now)
    }

    /// The packet at the head was served, stays in its ring, and lets others pass. True if the next one's
    /// service begins now.
    pub fn set_aside(&mut self, now: f64) -> bool {
        self.advance(now);
        self.state = State::Idle;
        self.aside += usize::from(self.line.pop_front().is_some());
        self.begin(now)
    }

    /// A packet of the ring of an input that was set aside leaves.
    pub fn let_go(&mut self, input: u32, size: u32) {
        self.aside -= 1;
        self.leave(input, size);
    }

    fn leave(&mut self, input: u32, size: u32) {
        self.rings[input as usize] -= self.weight(size);
        self.totals.packets_served += 1;
    }

    fn begin(&mut self, now: f64) -> bool {
        let (State::Idle, Some(job)) = (self.state, self.line.front()) else { return false };
        let begin = self.interrupts_until.max(now);
        self.left_s = self.work_s(1, u64::from(job.size));
        self.departure = match self.slowing() {
            Some(low) => low.end_of_work(begin, self.left_s),
            None => begin + self.left_s,
        };
        self.state = State::Serving;
        true
    }

    /// The low-priority work that slows packets down, if there is any.
    fn slowing(&self) -> Option<&LowPriority> {
        self.low.as_deref().filter(|low| low.guaranteed > 0.0)
    }

    fn work_s(&self, packets: u64, bytes: u64) -> f64 {
        packets as f64 * self.per_packet_s + bytes as f64 * self.per_byte_s
    }

    fn weight(&self, size: u32) -> u64 {
        if self.limit.counts_bytes() { u64::from(size) } else { 1 }
    }

    fn count(&mut self, size: u32) {
        self.totals.packets_in += 1;
        self.totals.bytes_in += u64::from(size);
    }

    /// Accounts for the time until `now`.
    fn advance(&mut self, now: f64) {
        self.look = None;
        while self.at < now {
            let begin = self.at;
            let interrupted = begin < self.interrupts_until;
            let serving = self.state == State::Serving;
            let until = if interrupted { self.interrupts_until.min(now) } else { now };
            let busy = interrupted || serving;
            let taken_s = self.low.as_mut().map_or(0.0, |low| {
                let share = if interrupted { 0.0 } else { if serving { low.guaranteed } else { 1.0 } };
                low.advance(until, share, self.busy_s, busy)
            });
            self.busy_s += if busy { until - begin } else { taken_s };
            if serving && !interrupted {
                self.left_s = (self.left_s - (until - begin - taken_s)).max(0.0);
            }
            self.at = until;
        }
    }

    /// Packets in all rings.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.line.len() + self.aside
    }

    /// Time that it was busy before `now`, of any work, in seconds. Looking changes nothing.
    #[must_use]
    pub fn busy_s(&self, now: f64) -> f64 {
        self.advanced(now).busy_s
    }

    /// The load as the device reports it at `now`; nothing without a meter. Looking changes nothing.
    #[must_use]
    pub fn reading(&self, now: f64) -> Option<f64> {
        self.low.as_ref()?.meter.as_ref()?;
        self.advanced(now).low?.meter.map(|meter| meter.reading(now))
    }

    /// Both, at instants that follow one another: as long as nothing happens, each look is as short as the time since
    /// the last.
    pub fn look(&mut self, now: f64) -> (f64, Option<f64>) {
        let Some(mut look) = self.look.take().or_else(|| self.first_look(now)) else {
            return (self.busy_s(now), self.reading(now));
        };
        let busy_s = look.busy_s(now);
        let reading = look.low.meter.as_ref().map(|meter| meter.reading(now));
        self.look = Some(look);
        (busy_s, reading)
    }

    /// Nothing where there is no low-priority work, or none of it can run before `now`.
    fn first_look(&self, now: f64) -> Option<Box<Look>> {
        let begin = self.at.max(self.interrupts_until);
        let serving = self.state == State::Serving;
        let Self { low, busy_s, .. } = if now > begin { self.advanced(begin) } else { return None };
        let low = *low?;
        let share = if serving { low.guaranteed } else { 1.0 };
        Some(Box::new(Look { low, share, serving, begin, busy_s, taken_s: 0.0 }))
    }

    fn advanced(&self, now: f64) -> Self {
        let mut later = self.clone();
        later.advance(now);
        later
    }

    /// What it did so far.
    #[must_use]
    pub fn totals(&self) -> ProcessorTotals {
        self.totals
    }

    /// Processor time that was asked for before `now`, in seconds: interrupts, all packets offered, those
    /// refused included, and low-priority work released, what was skipped included.
    #[must_use]
    pub fn demand_s(&self, now: f64, spec: &ProcessorSpec) -> f64 {
        let ProcessorTotals { packets_in, bytes_in, interrupts, .. } = self.totals;
        let low = [spec.background, spec.meter.map(|meter| meter.job())];
        let released_s: f64 = low.iter().flatten().map(|job| job.released(now) * job.cpu_s).sum();
        interrupts as f64 * self.interrupt_s + self.work_s(packets_in, bytes_in) + released_s
    }
}

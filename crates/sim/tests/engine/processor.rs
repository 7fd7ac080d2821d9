//! The processor against a plain one that looks at every tick who has the CPU.

use std::collections::VecDeque;

use crate::engine::common::{cases, packets, processor};
use proptest::prelude::*;
use tightlink_sim::network::background::JobSpec;
use tightlink_sim::network::meter::{Average, MeterSpec};
use tightlink_sim::network::processor::{Processor, ProcessorSpec};

/// Exact in binary, so that times that should be equal are.
const TICK_S: f64 = 1.0 / 1024.0;

/// Costs in ticks.
#[derive(Clone, Copy, Debug)]
struct Costs {
    per_packet: u64,
    per_byte: u64,
    interrupt: u64,
    ring: usize,
    /// Processor time and interval of the background and of the meter.
    jobs: [Option<(u64, u64)>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    input: u32,
    size: u32,
}

/// What is compared.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    departures_s: Vec<f64>,
    dropped: u64,
    busy_s: f64,
    readings: Vec<f64>,
}

const WINDOW_S: f64 = 64.0 * TICK_S;

fn plain(costs: &Costs, arrivals: &[Arrival], ticks: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut line: VecDeque<(Arrival, u64)> = VecDeque::new();
    let mut jobs: VecDeque<(usize, u64)> = VecDeque::new();
    let (mut interrupts, mut busy, mut last) = (0, 0, (0, 0));
    let mut samples: Vec<(u64, f64)> = Vec::new();
    let mut arrivals = arrivals.iter().peekable();
    let rest: f64 = costs.jobs.iter().flatten().map(|&(cpu, every)| cpu as f64 / every as f64).sum();
    for now in 0..ticks {
        if line.front().is_some_and(|&(_, left)| left == 0) {
            line.pop_front();
            outcome.departures_s.push(now as f64 * TICK_S);
        }
        while let Some(arrival) = arrivals.next_if(|arrival| arrival.at == now) {
            interrupts += costs.interrupt;
            if line.iter().filter(|(other, _)| other.input == arrival.input).count() < costs.ring {
                line.push_back((*arrival, costs.per_packet + costs.per_byte * u64::from(arrival.size)));
            } else {
                outcome.dropped += 1;
            }
        }
        for (kind, job) in costs.jobs.iter().enumerate() {
            let Some((cpu, every)) = *job else { continue };
            if now > 0 && now % every == 0 && jobs.iter().all(|&(other, _)| other != kind) {
                jobs.push_back((kind, cpu));
            }
        }
        if interrupts > 0 {
            interrupts -= 1;
            busy += 1;
        } else if let Some((_, left)) = line.front_mut() {
            *left -= 1;
            busy += 1;
        } else if let Some((kind, left)) = jobs.front_mut() {
            *left -= 1;
            busy += 1;
            if *left == 0 {
                if *kind == 1 {
                    samples.push((now + 1, (busy - last.1) as f64 / (now + 1 - last.0) as f64));
                    last = (now + 1, busy);
                }
                jobs.pop_front();
            }
        }
    }
    outcome.busy_s = busy as f64 * TICK_S;
    if let Some((_, every)) = costs.jobs[1] {
        let end_s = ticks as f64 * TICK_S;
        let inside = samples.iter().filter(|(at, _)| *at as f64 * TICK_S > end_s - WINDOW_S);
        let sum: f64 = inside.map(|(_, sample)| sample * every as f64 * TICK_S).sum();
        outcome.readings = vec![(sum + rest * (WINDOW_S - end_s).max(0.0)) / WINDOW_S];
    }
    outcome
}

fn spec(costs: &Costs) -> ProcessorSpec {
    let seconds = |ticks: u64| ticks as f64 * TICK_S;
    let job = |(cpu, every)| JobSpec { cpu_s: seconds(cpu), every_s: seconds(every) };
    ProcessorSpec {
        per_byte_s: seconds(costs.per_byte),
        interrupt_s: seconds(costs.interrupt),
        input_ring: packets(costs.ring as u32),
        background: costs.jobs[0].map(job),
        meter: costs.jobs[1].map(|(cpu, every)| MeterSpec {
            window_s: WINDOW_S,
            cpu_s: seconds(cpu),
            every_s: seconds(every),
            average: Average::Window,
        }),
        ..processor(seconds(costs.per_packet), 1)
    }
}

/// Looks again and again while nothing happens: each look sees what it would see if it were the only one.
fn look_around(processor: &mut Processor, now: f64) {
    for step in 0..8 {
        let later = now + f64::from(step) * 0.7 * TICK_S;
        let alone = (processor.busy_s(later).to_bits(), processor.reading(later).map(f64::to_bits));
        let (busy_s, reading) = processor.look(later);
        assert_eq!((busy_s.to_bits(), reading.map(f64::to_bits)), alone);
    }
}

/// Offers packets to a processor, and lets them leave when it says so.
fn drive(spec: &ProcessorSpec, arrivals: &[Arrival], end_s: f64) -> (Processor, Outcome) {
    let mut processor = Processor::new(spec, 3);
    let mut outcome = Outcome::default();
    let depart = |processor: &mut Processor, before: f64, departures_s: &mut Vec<f64>| {
        while let Some(departure) = processor.departure().filter(|&departure| departure <= before) {
            if departure < end_s {
                departures_s.push(departure);
            }
            processor.release(departure);
        }
    };
    for arrival in arrivals {
        let now = arrival.at as f64 * TICK_S;
        depart(&mut processor, now, &mut outcome.departures_s);
        if processor.interrupt(now, arrival.input, arrival.size) {
            processor.take(now, arrival.input, arrival.size);
        } else {
            processor.refuse(arrival.size);
        }
        look_around(&mut processor, now);
    }
    depart(&mut processor, end_s, &mut outcome.departures_s);
    look_around(&mut processor, end_s);
    outcome.dropped = processor.totals().packets_dropped;
    outcome.busy_s = processor.busy_s(end_s);
    outcome.readings.extend(processor.reading(end_s));
    (processor, outcome)
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let arrival = (0u64..12, 0u32..3, 1u32..4);
    prop::collection::vec(arrival, 0..120).prop_map(|gaps| {
        let mut at = 0;
        let place = |(gap, input, size)| {
            at += gap;
            Arrival { at, input, size }
        };
        gaps.into_iter().map(place).collect()
    })
}

fn costs() -> impl Strategy<Value = Costs> {
    let job = || prop::option::of((1u64..12, 3u64..40));
    (1u64..8, 0u64..3, 0u64..4, 1usize..6, [job(), job()])
        .prop_map(|(per_packet, per_byte, interrupt, ring, jobs)| Costs { per_packet, per_byte, interrupt, ring, jobs })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn departures_and_loads_equal_the_plain_processors(costs in costs(), arrivals in arrivals()) {
        let ticks = arrivals.last().map_or(0, |last| last.at) + 50;
        let expected = plain(&costs, &arrivals, ticks);
        let (_, outcome) = drive(&spec(&costs), &arrivals, ticks as f64 * TICK_S);
        prop_assert_eq!(&outcome.departures_s, &expected.departures_s);
        prop_assert_eq!((outcome.dropped, outcome.busy_s), (expected.dropped, expected.busy_s));
        prop_assert_eq!(outcome.readings.len(), expected.readings.len());
        for (reading, expected) in outcome.readings.iter().zip(&expected.readings) {
            prop_assert!((reading - expected).abs() < 1e-12, "{} instead of {}", reading, expected);
        }
    }

    /// What low-priority work is guaranteed slows packets down, and nothing else: with nothing pending and
    /// with no guarantee, departures are the same.
    #[test]
    fn a_guarantee_only_delays(costs in costs(), arrivals in arrivals(), guaranteed in 0.01..0.9f64) {
        let end_s = arrivals.last().map_or(0.0, |last| last.at as f64 * TICK_S) + 20.0;
        let plain = ProcessorSpec { input_ring: packets(1000), ..spec(&costs) };
        let shared = ProcessorSpec { guaranteed, ..plain.clone() };
        let (_, without) = drive(&plain, &arrivals, end_s);
        let (_, with) = drive(&shared, &arrivals, end_s);
        prop_assert_eq!(with.departures_s.len(), arrivals.len());
        let idle = costs.jobs.iter().all(Option::is_none);
        for (late, early) in with.departures_s.iter().zip(&without.departures_s) {
            prop_assert!(late >= &(early - 1e-12), "{} before {}", late, early);
            prop_assert!(!idle || (late - early).abs() < 1e-12);
        }
        prop_assert!(with.busy_s <= end_s + 1e-12);
    }
}

/// Packets at a constant interval for `duration_s`; how many were served, and the processor.
fn constant(spec: &ProcessorSpec, interval: u64, duration_s: f64) -> (f64, Processor) {
    let count = (duration_s / TICK_S) as u64 / interval;
    let arrivals: Vec<_> = (0..count).map(|index| Arrival { at: index * interval, input: 1, size: 100 }).collect();
    let (processor, outcome) = drive(spec, &arrivals, duration_s);
    (outcome.departures_s.len() as f64 / duration_s, processor)
}

/// Receive livelock (Mogul and Ramakrishnan, 1997): each arrival costs its interrupt, so that beyond
/// saturation the time left for forwarding is 1 − rate × interrupt.
#[test]
fn forwarding_falls_past_saturation() {
    let mut spec = processor(4.0 * TICK_S, 16);
    spec.interrupt_s = 2.0 * TICK_S;
    for (interval, expected) in [(8, 128.0), (6, 1024.0 / 6.0), (5, 256.0 * (1.0 - 0.4)), (4, 128.0), (2, 0.0)] {
        let (served, processor) = constant(&spec, interval, 64.0);
        assert!((served - expected).abs() <= 0.1, "every {interval} ticks: {served} instead of {expected}");
        let load = processor.demand_s(64.0, &spec) / 64.0;
        assert!((load - 6.0 / interval as f64).abs() < 1e-3, "every {interval} ticks: load {load}");
    }
}

/// While low-priority work is pending, packets have what the guarantee leaves of the CPU.
#[test]
fn low_priority_work_has_its_guarantee_under_full_load() {
    let mut spec = processor(2.0 * TICK_S, 16);
    // More than it will ever get.
    spec.background = Some(JobSpec { cpu_s: 1.0, every_s: 1.0 });
    for (guaranteed, expected) in [(0.0, 512.0), (0.25, 384.0), (0.5, 256.0)] {
        spec.guaranteed = guaranteed;
        // Nothing is pending in the first second.
        let (served, processor) = constant(&spec, 1, 65.0);
        let settled = (served * 65.0 - 512.0) / 64.0;
        assert!((settled - expected).abs() < 0.5, "{guaranteed}: {settled} instead of {expected}");
        assert!((processor.busy_s(65.0) - 65.0).abs() < 1e-9);
    }
}

#[test]
fn the_reported_load_follows_the_true_one_and_falls_past_saturation() {
    let mut spec = processor(4.0 * TICK_S, 16);
    let meter = |average| MeterSpec { window_s: 8.0, cpu_s: TICK_S, every_s: 1.0, average };
    for average in [Average::Window, Average::Exponential] {
        spec.meter = Some(meter(average));
        let read = |interval| constant(&spec, interval, 64.0).1.reading(64.0).expect("there is a meter");
        let [half, most, beyond] = [8, 5, 3].map(read);
        assert!((half - 0.5).abs() < 0.01 && (most - 0.8).abs() < 0.01, "{average:?}: {half} {most}");
        // No sample is taken any more: a window empties, an exponential average stays where it was.
        let starved = if average == Average::Window { 0.0 } else { 1.0 / 1024.0 };
        assert!((beyond - starved).abs() < 1e-9, "{average:?}: {beyond}");
        // Some time for low-priority work, and the device sees itself again.
        let shared = ProcessorSpec { guaranteed: 0.05, ..spec.clone() };
        let seen = constant(&shared, 3, 64.0).1.reading(64.0).expect("there is a meter");
        assert!(seen > 0.9 && seen <= 1.0 + 1e-9, "{average:?}: {seen}");
    }
}

//! Random networks whose links change.

use proptest::prelude::*;
use tightlink_sim::scenario::{
    AggregatingSpec, ArqSpec, CourseSpec, JitterDistribution, JitterSpec, LossModel, LossSpec, OutageSpec, OutageTimes,
    RateSpec, ReorderSpec, Scenario, ShaperSpec, TraceSpec, TrafficSpec,
};

/// How a value of about `mean` changes, and seldom is zero.
fn course(mean: f64, kind: u8, step_s: f64) -> CourseSpec {
    match kind {
        0 => CourseSpec::Schedule {
            at_s: vec![0.0, step_s, 3.0 * step_s],
            values: vec![mean, 0.0, 2.0 * mean],
            linear: false,
            period_s: Some(4.0 * step_s),
        },
        1 => CourseSpec::Schedule {
            at_s: vec![0.0, step_s],
            values: vec![mean, 0.3 * mean],
            linear: true,
            period_s: None,
        },
        2 => {
            CourseSpec::RandomWalk { start: mean, every_s: step_s, deviation: 0.3, least: 0.2 * mean, most: 3.0 * mean }
        }
        3 => CourseSpec::Markov {
            values: vec![mean, 0.1 * mean, 2.0 * mean],
            mean_s: vec![step_s, 0.3 * step_s, step_s],
        },
        4 => CourseSpec::OrnsteinUhlenbeck {
            mean,
            deviation: 0.5 * mean,
            time_s: 2.0 * step_s,
            every_s: 0.3 * step_s,
            least: 0.05 * mean,
        },
        _ => CourseSpec::Redraw { every_s: step_s, least: 0.2 * mean, most: 2.0 * mean },
    }
}

fn jitter(kind: u8, scale_s: f64) -> JitterSpec {
    let distribution = match kind % 4 {
        3 => JitterDistribution::Gamma { mean_s: scale_s, shape: 2.0 },
        0 => JitterDistribution::Uniform { most_s: scale_s },
        1 => JitterDistribution::Normal { mean_s: scale_s, deviation_s: scale_s },
        _ => JitterDistribution::Quantiles { values_s: vec![0.0, 0.1 * scale_s, scale_s] },
    };
    JitterSpec { distribution, correlation_s: (kind > 2).then_some(10.0 * scale_s) }
}

/// Outages that leave a link up most of the time.
fn outages(kind: u8, step_s: f64) -> OutageSpec {
    let times = match kind / 2 {
        0 => OutageTimes::Schedule {
            at_s: vec![0.5 * step_s, 2.0 * step_s],
            for_s: vec![0.3 * step_s, 0.1 * step_s],
            period_s: (kind == 0).then_some(4.0 * step_s),
        },
        _ => OutageTimes::Random { up_s: 3.0 * step_s, down_s: 0.5 * step_s },
    };
    OutageSpec { times, flush: kind.is_multiple_of(2) }
}

/// The same networks, in which rates, delays and losses of most links change.
pub fn with_changes(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    let change = ((0u8..16, 0u8..10, 0u8..10, 0u8..8), (0u8..8, 0u8..4, 0u8..4, 0u8..16), 0.004..0.3f64);
    (networks, prop::collection::vec(change, 16)).prop_map(|(mut scenario, changes)| {
        let saturated = scenario.flows.iter().any(|flow| matches!(flow.traffic, TrafficSpec::Saturate {}));
        for (link, ((rate, delay, more, losses), (down, shaped, again, disorder), step_s)) in
            scenario.links.iter_mut().zip(changes)
        {
            link.rate = match rate {
                0..6 => Some(RateSpec::Course(course(link.rate_bps, rate, step_s))),
                6..8 => {
                    let trace_ms = [0, 1, 1, 4, 5, 9 + u32::from(delay)].to_vec();
                    Some(RateSpec::Trace(TraceSpec { trace_ms }))
                }
                8..10 => Some(RateSpec::Aggregating(AggregatingSpec { access_s: 0.02 * step_s, burst_packets: 5 })),
                _ => None,
            };
            if link.rate.is_some() {
                link.rate_pps = None;
            }
            link.outages = (down < 4).then(|| outages(down, step_s));
            if saturated && let Some(outages) = &mut link.outages {
                outages.flush = false;
            }
            link.shaper = (shaped == 0).then_some(ShaperSpec { rate_bps: 0.6 * link.rate_bps, burst_bytes: 4000 });
            link.arq = (again == 0).then_some(ArqSpec { after_s: 0.1 * step_s, most: 2 });
            // What a link needs at least is what it promises.
            link.delay = (delay < 6 && link.delay_s > 0.0).then(|| {
                let mut course = course(2.0 * link.delay_s, delay, step_s);
                raise(&mut course, link.delay_s);
                course
            });
            link.jitter = (more < 6).then(|| jitter(more, 0.1 * step_s));
            link.overtaking = disorder % 4 == 0;
            link.reorder = (disorder % 5 == 0).then_some(ReorderSpec { probability: 0.1, delay_s: 0.2 * step_s });
            if disorder % 7 == 0 {
                (link.duplicate, link.mtu_bytes) = (0.1, None);
            }
            if losses == 0 || again == 0 {
                let (loss_good, loss_bad) = (0.0, 0.7);
                link.loss =
                    LossSpec::Model(LossModel::GilbertElliott { to_bad: 0.02, to_good: 0.3, loss_good, loss_bad });
            }
        }
        scenario
    })
}

/// The same networks, in which most links bring packets out of order or twice.
pub fn with_disorder(networks: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    let disorder = (0u8..4, 0u8..4, any::<bool>(), 0.0001..0.1f64);
    (networks, prop::collection::vec(disorder, 16)).prop_map(|(mut scenario, disorders)| {
        for (link, (twice, reordered, overtaking, delay_s)) in scenario.links.iter_mut().zip(disorders) {
            // A copy of a fragment would count as another one.
            link.mtu_bytes = None;
            link.duplicate = [0.0, 0.0, 0.05, 0.5][usize::from(twice)];
            let probability = [0.0, 0.02, 0.2, 0.7][usize::from(reordered)];
            link.reorder = (probability > 0.0).then_some(ReorderSpec { probability, delay_s });
            link.overtaking = overtaking;
        }
        scenario
    })
}

/// Has a process stay above a value.
fn raise(course: &mut CourseSpec, least_value: f64) {
    match course {
        CourseSpec::Schedule { values, .. } | CourseSpec::Markov { values, .. } => {
            values.iter_mut().for_each(|value| *value = value.max(least_value));
        }
        CourseSpec::RandomWalk { least, .. }
        | CourseSpec::OrnsteinUhlenbeck { least, .. }
        | CourseSpec::Redraw { least, .. } => *least = least_value,
    }
}

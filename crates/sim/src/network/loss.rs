//! Which packets a wire loses, decided in the order of their transmission.

use crate::network::changes::course::Course;
use crate::network::wire::Wire;
use crate::random::Stream;
use crate::scenario::{CourseSpec, LossModel, LossSpec};

/// The losses of one wire, with the stream that decides them.
#[derive(Clone, Debug)]
pub struct Loss {
    kind: Kind,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Kind {
    Independent { probability: f64 },
    GilbertElliott { bad: Option<bool>, to_bad: f64, to_good: f64, loss_good: f64, loss_bad: f64 },
    BitErrors { right: f64, wire: Wire },
    Pattern { packets: Vec<u64>, next: usize, every: u64, from_s: f64, until_s: f64, count: u64 },
    Schedule(Course),
}

impl Loss {
    /// What the wire called `link` loses; nothing if that is no packet.
    #[must_use]
    pub fn new(spec: &LossSpec, wire: Wire, seed: u64, link: &str) -> Option<Self> {
        let stream = Stream::new(seed, link, 0, "loss");
        let kind = match spec {
            LossSpec::Independent(probability) if *probability > 0.0 => Kind::Independent { probability: *probability },
            LossSpec::Independent(_) => return None,
            LossSpec::Model(model) => Kind::new(model, wire, &stream),
        };
        Some(Self { kind, stream })
    }

    /// Whether the next packet is lost: it has `size` bytes, and its transmission begins at `start_s`.
    pub fn loses(&mut self, size: u32, start_s: f64) -> bool {
        let stream = &mut self.stream;
        match &mut self.kind {
            Kind::Independent { probability } => stream.chance(*probability),
            Kind::GilbertElliott { bad, to_bad, to_good, loss_good, loss_bad } => {
                // As if it had always been at work: the first packet finds the bad state as often as any.
                let found_bad = bad.unwrap_or_else(|| stream.chance(*to_bad / (*to_bad + *to_good)));
                let lost = stream.chance(if found_bad { *loss_bad } else { *loss_good });
                *bad = Some(found_bad ^ stream.chance(if found_bad { *to_good } else { *to_bad }));
                lost
            }
            Kind::BitErrors { right, wire } => {
                stream.chance(-libm::expm1(f64::from(8 * wire.frame_bytes(size)) * *right))
            }
            Kind::Pattern { packets, next, every, from_s, until_s, count } => {
                if start_s < *from_s || start_s >= *until_s {
                    return false;
                }
                *count += 1;
                let named = packets.get(*next) == Some(count);
                *next += usize::from(named);
                named || count.is_multiple_of(*every)
            }
            Kind::Schedule(course) => stream.chance(course.at(start_s)),
        }
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.stream.draws()
    }
}

impl Kind {
    fn new(model: &LossModel, wire: Wire, stream: &Stream) -> Self {
        match *model {
            LossModel::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                Self::GilbertElliott { bad: None, to_bad, to_good, loss_good, loss_bad }
            }
            LossModel::BitErrors { rate } => Self::BitErrors { right: libm::log1p(-rate), wire },
            LossModel::Pattern { ref packets, every, from_s, until_s } => Self::Pattern {
                packets: packets.clone(),
                next: 0,
                every: every.unwrap_or(if packets.is_empty() { 1 } else { u64::MAX }),
                from_s,
                until_s: until_s.unwrap_or(f64::INFINITY),
                count: 0,
            },
            LossModel::Schedule { ref at_s, ref loss, period_s } => {
                let (at_s, values) = (at_s.clone(), loss.clone());
                let course = CourseSpec::Schedule { at_s, values, linear: false, period_s };
                // Nothing is drawn from its stream.
                Self::Schedule(Course::new(&course, stream.clone()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::FramingSpec;

    const WIRE: Wire = Wire {
        rate_bps: 1e6,
        rate_pps: None,
        delay_s: 0.0,
        framing: FramingSpec { overhead_bytes: 38, smallest_bytes: 84 },
    };

    fn of(model: LossModel) -> Loss {
        Loss::new(&LossSpec::Model(model), WIRE, 1, "wire").expect("it loses packets")
    }

    /// Numbers, from 1, of the packets lost among those that begin every 100 ms.
    fn lost(model: LossModel, among: u32) -> Vec<u32> {
        let mut loss = of(model);
        (1..=among).filter(|&number| loss.loses(1000, f64::from(number - 1) * 0.1)).collect()
    }

    #[test]
    fn nothing_is_no_loss() {
        assert!(Loss::new(&LossSpec::Independent(0.0), WIRE, 1, "wire").is_none());
    }

    #[test]
    fn a_pattern_loses_what_it_names() {
        let pattern = |packets: &[u64], every, from_s, until_s| {
            lost(LossModel::Pattern { packets: packets.to_vec(), every, from_s, until_s }, 30)
        };
        assert_eq!(pattern(&[3, 7, 8], None, 0.0, None), [3, 7, 8]);
        assert_eq!(pattern(&[3, 20], Some(10), 0.0, None), [3, 10, 20, 30]);
        assert_eq!(pattern(&[], None, 1.05, Some(1.35)), [12, 13, 14]);
        assert_eq!(pattern(&[2], None, 1.05, None), [13]);
    }

    #[test]
    fn a_schedule_repeats() {
        let (at_s, loss) = (vec![0.0, 0.35], vec![0.0, 1.0]);
        let schedule = |period_s| LossModel::Schedule { at_s: at_s.clone(), loss: loss.clone(), period_s };
        assert_eq!(lost(schedule(None), 8), [5, 6, 7, 8]);
        assert_eq!(lost(schedule(Some(0.55)), 12), [5, 6, 10, 11]);
    }

    /// Of a chain with these transitions, runs in the bad state are 1 / `to_good` packets long in the mean, and it holds
    /// for `to_bad` / (`to_bad` + `to_good`) of the packets (Gilbert 1960, eq. 1). Four standard errors of the means.
    #[test]
    fn gilbert_and_elliotts_losses_come_in_bursts() {
        const PACKETS: usize = 1_000_000;
        let (to_bad, to_good) = (0.01, 0.25);
        let mut loss = of(LossModel::GilbertElliott { to_bad, to_good, loss_good: 0.0, loss_bad: 1.0 });
        let lost: Vec<bool> = (0..PACKETS).map(|_| loss.loses(1000, 0.0)).collect();
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let share = lost.iter().filter(|&&lost| lost).count() as f64 / PACKETS as f64;
        let length = share * PACKETS as f64 / bursts;
        // Geometric lengths: their variance is (1 − r) / r².
        let length_error = ((1.0 - to_good) / (to_good * to_good) / bursts).sqrt();
        assert!((length - 1.0 / to_good).abs() < 4.0 * length_error, "bursts of {length}");
        // The chain remembers: the variance of its share is that of independent packets times (1 + λ) / (1 − λ).
        let (expected, lambda) = (to_bad / (to_bad + to_good), 1.0 - to_bad - to_good);
        let share_error = (expected * (1.0 - expected) * (1.0 + lambda) / (1.0 - lambda) / PACKETS as f64).sqrt();
        assert!((share - expected).abs() < 4.0 * share_error, "a share of {share}");
    }

    /// One wrong bit among all on the line, framing included. Four standard errors.
    #[test]
    fn bit_errors_lose_long_packets_more_often() {
        const PACKETS: u32 = 200_000;
        for (size, bits) in [(1500, 8.0 * 1538.0), (40, 8.0 * 84.0)] {
            let mut loss = of(LossModel::BitErrors { rate: 1e-5 });
            let share =
                f64::from((0..PACKETS).map(|_| u32::from(loss.loses(size, 0.0))).sum::<u32>()) / f64::from(PACKETS);
            let expected = 1.0 - libm::pow(1.0 - 1e-5, bits);
            let error = (expected * (1.0 - expected) / f64::from(PACKETS)).sqrt();
            assert!((share - expected).abs() < 4.0 * error, "{size} B: {share} instead of {expected}");
        }
    }
}

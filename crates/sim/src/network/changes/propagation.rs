//! How long packets take on a wire whose delay changes, or differs from packet to packet: in order, unless they may overtake.

use super::course::Course;
use super::gamma::quantile;
use crate::random::Stream;
use crate::scenario::{JitterDistribution, JitterSpec, LinkSpec, ReorderSpec};

/// The delay of a wire.
#[derive(Clone, Debug)]
pub struct Propagation {
    least_s: f64,
    course: Option<Course>,
    /// The same, behind what is granted.
    watched: Option<Course>,
    jitter: Option<Jitter>,
    /// Which packets take longer than others, and may be overtaken.
    reorder: Option<(ReorderSpec, Stream)>,
    /// All may be.
    overtaking: bool,
    /// When the last packet reached the other end that keeps to the order.
    last_s: f64,
    /// Each packet takes as long.
    constant: bool,
}

impl Propagation {
    /// The delay of a link.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let stream = |name, purpose| Stream::new(seed, name, 0, purpose);
        let course = spec.delay.as_ref().map(|course| Course::new(course, stream(spec.drawn_as(), "delay")));
        Self {
            least_s: spec.delay_s,
            watched: course.clone(),
            course,
            jitter: spec.jitter.as_ref().map(|jitter| Jitter::new(jitter, stream(&spec.name, "jitter"))),
            reorder: spec.reorder.map(|reorder| (reorder, stream(&spec.name, "reorder"))),
            overtaking: spec.overtaking,
            last_s: 0.0,
            constant: spec.delay.is_none() && spec.jitter.is_none() && spec.reorder.is_none() && spec.arq.is_none(),
        }
    }

    /// Whether each packet takes as long.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// The delay at `at_s`, which does not fall from call to call, for one who watches; nothing where it does not change.
    pub fn seen_s(&mut self, at_s: f64) -> Option<f64> {
        self.watched.as_mut().map(|course| course.at(at_s))
    }

    /// The delay at `at_s`, which does not fall from call to call, without jitter.
    pub fn at(&mut self, at_s: f64) -> f64 {
        self.course.as_mut().map_or(self.least_s, |course| course.at(at_s))
    }

    /// When a packet reaches the other end that has left at `departure_s` and takes `longer_s` longer than others: not before
    /// the one that left before it, unless it may overtake that.
    #[inline(always)]
    pub fn delivery_s(&mut self, departure_s: f64, longer_s: f64) -> f64 {
        if self.constant { departure_s + self.least_s } else { self.changing_delivery_s(departure_s, longer_s) }
    }

    fn changing_delivery_s(&mut self, departure_s: f64, longer_s: f64) -> f64 {
        let jitter_s = self.jitter.as_mut().map_or(0.0, |jitter| jitter.next_s(departure_s));
        let delivery_s = departure_s + (self.at(departure_s) + jitter_s + longer_s);
        if let Some((reorder, stream)) = &mut self.reorder
            && stream.chance(reorder.probability)
        {
            return delivery_s.max(self.last_s) + reorder.delay_s;
        }
        if self.overtaking {
            return delivery_s;
        }
        self.last_s = delivery_s.max(self.last_s);
        self.last_s
    }

    /// Random numbers drawn so far.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.course.as_ref().map_or(0, Course::random_draws)
            + self.jitter.as_ref().map_or(0, |jitter| jitter.stream.draws())
            + self.reorder.as_ref().map_or(0, |(_, stream)| stream.draws())
    }
}

/// What differs from packet to packet.
#[derive(Clone, Debug)]
struct Jitter {
    spec: JitterSpec,
    stream: Stream,
    /// The normal deviate of the last packet, and when that left.
    last: Option<(f64, f64)>,
}

impl Jitter {
    fn new(spec: &JitterSpec, stream: Stream) -> Self {
        Self { spec: spec.clone(), stream, last: None }
    }

    /// The jitter of a packet that leaves at `at_s`. Correlated, it is that of a normal process with an exponential memory,
    /// brought to its distribution (a Gaussian copula).
    fn next_s(&mut self, at_s: f64) -> f64 {
        let Some(correlation_s) = self.spec.correlation_s else {
            return match self.spec.distribution {
                JitterDistribution::Normal { mean_s, deviation_s } => {
                    (mean_s + deviation_s * self.stream.normal()).max(0.0)
                }
                ref other => quantile_s(other, self.stream.uniform()),
            };
        };
        let fresh = self.stream.normal();
        let normal = self.last.map_or(fresh, |(normal, then_s)| {
            let kept = libm::exp((then_s - at_s) / correlation_s);
            normal * kept + fresh * libm::sqrt(1.0 - kept * kept)
        });
        self.last = Some((normal, at_s));
        match self.spec.distribution {
            JitterDistribution::Normal { mean_s, deviation_s } => (mean_s + deviation_s * normal).max(0.0),
            ref other => quantile_s(other, 0.5 * libm::erfc(-normal * std::f64::consts::FRAC_1_SQRT_2)),
        }
    }
}

/// The jitter below which a share of all is.
fn quantile_s(distribution: &JitterDistribution, share: f64) -> f64 {
    /// The largest number below one: a quantile of one would be infinite.
    const MOST: f64 = 1.0 - f64::EPSILON / 2.0;
    let share = share.clamp(0.0, MOST);
    match distribution {
        JitterDistribution::Uniform { most_s } => share * most_s,
        // Drawn otherwise.
        JitterDistribution::Normal { .. } => 0.0,
        JitterDistribution::Pareto { mean_s, shape } => {
            mean_s * (shape - 1.0) * (libm::pow(1.0 - share, -1.0 / shape) - 1.0)
        }
        JitterDistribution::Gamma { mean_s, shape } => mean_s / shape * quantile(*shape, share),
        JitterDistribution::Quantiles { values_s } => {
            let place = share * (values_s.len() - 1) as f64;
            let below = place as usize;
            let (low, high) = (values_s[below], values_s[(below + 1).min(values_s.len() - 1)]);
            low + (high - low) * (place - below as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 200_000;

    fn jitters(distribution: JitterDistribution, correlation_s: Option<f64>) -> Vec<f64> {
        let spec = JitterSpec { distribution, correlation_s };
        let mut jitter = Jitter::new(&spec, Stream::new(1, "wire", 0, "jitter"));
        (0..PACKETS).map(|number| jitter.next_s(number as f64 * 0.01)).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Shares of packets below the quartiles of each distribution, correlated or not; four standard errors, for correlated
    /// ones of as many packets as are worth an independent one.
    #[test]
    fn jitter_has_its_distribution() {
        let table = vec![0.0, 0.001, 0.003, 0.004, 0.050];
        for (distribution, quartiles) in [
            (JitterDistribution::Uniform { most_s: 0.008 }, [0.002, 0.004, 0.006]),
            // Quartiles of a normal distribution lie 0.67449 deviations from its mean.
            (JitterDistribution::Normal { mean_s: 0.010, deviation_s: 0.002 }, [0.010 - 0.00134898, 0.010, 0.01134898]),
            // Lomax: (1 − q)^(−1/shape) − 1, times its scale, which is mean · (shape − 1).
            (JitterDistribution::Pareto { mean_s: 0.002, shape: 3.0 }, {
                let at = |share: f64| 0.004 * (libm::pow(1.0 - share, -1.0 / 3.0) - 1.0);
                [at(0.25), at(0.5), at(0.75)]
            }),
            // A shape of one is exponential: −mean · ln(1 − q).
            (JitterDistribution::Gamma { mean_s: 0.003, shape: 1.0 }, {
                let at = |share: f64| -0.003 * libm::log1p(-share);
                [at(0.25), at(0.5), at(0.75)]
            }),
            (JitterDistribution::Quantiles { values_s: table }, [0.001, 0.003, 0.004]),
        ] {
            for correlation_s in [None, Some(0.05)] {
                let values = jitters(distribution.clone(), correlation_s);
                // e^(−Δ/τ) = ρ: the mean is worth that of (1 − ρ) / (1 + ρ) as many independent ones.
                let kept = correlation_s.map_or(0.0, |correlation_s| libm::exp(-0.01 / correlation_s));
                let worth = PACKETS as f64 * (1.0 - kept) / (1.0 + kept);
                for (quartile, share) in quartiles.into_iter().zip([0.25, 0.5, 0.75]) {
                    let below = values.iter().filter(|&&value| value < quartile).count() as f64 / PACKETS as f64;
                    let error = (share * (1.0 - share) / worth).sqrt();
                    assert!(
                        (below - share).abs() < 4.0 * error,
                        "{distribution:?} {correlation_s:?}: {below} of {share}"
                    );
                }
            }
        }
    }

    /// A normal process with an exponential memory: ρ after one packet is e^(−Δ/τ).
    #[test]
    fn jitter_remembers_as_long_as_it_is_told() {
        let values = jitters(JitterDistribution::Normal { mean_s: 1.0, deviation_s: 0.1 }, Some(0.05));
        let middle = mean(&values);
        let products: Vec<f64> = values.windows(2).map(|pair| (pair[0] - middle) * (pair[1] - middle)).collect();
        let squares: Vec<f64> = values.iter().map(|value| (value - middle) * (value - middle)).collect();
        let expected = libm::exp(-0.2);
        // Bartlett: the variance of an estimate of ρ of such a process is (1 − ρ²) / n.
        let error = ((1.0 - expected * expected) / PACKETS as f64).sqrt();
        assert!((mean(&products) / mean(&squares) - expected).abs() < 4.0 * error);
    }
}

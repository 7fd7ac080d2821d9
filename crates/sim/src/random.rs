//! Every random number of a run.
//!
//! A stream belongs to what it decides, never to a position in a file: its seed is a hash of the run's
//! seed, the name of the group, the index within the group and the purpose. Adding a flow leaves the
//! streams of all others as they were. The samplers are written out here because a library's may
//! change between releases; snapshots pin them.

use crate::scenario::Duration;

/// xoshiro256++ (Blackman and Vigna, 2019).
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
    draws: u64,
}

/// A random number on [0, 1) of 53 bits, from one of 64.
#[inline]
#[must_use]
pub fn unit(number: u64) -> f64 {
    (number >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

impl Stream {
    /// The stream for one purpose of one member of one group.
    #[must_use]
    pub fn new(run_seed: u64, group: &str, index: u32, purpose: &str) -> Self {
        let mut seed = hash(run_seed, group, index, purpose);
        let state = std::array::from_fn(|_| split_mix(&mut seed));
        Self { state, draws: 0 }
    }

    /// A separate stream, that depends on the next number of this one.
    #[must_use]
    pub fn branch(&mut self) -> Self {
        let mut seed = self.next();
        Self { state: std::array::from_fn(|_| split_mix(&mut seed)), draws: 0 }
    }

    /// How many numbers were drawn.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.draws
    }

    fn next(&mut self) -> u64 {
        self.draws += 1;
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let shifted = b << 17;
        let c = c ^ a;
        let d = d ^ b;
        self.state = [a ^ d, b ^ c, c ^ shifted, d.rotate_left(45)];
        result
    }

    /// Uniform on [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        unit(self.next())
    }

    /// Uniform on 0 to `count` − 1 (Lemire's multiplication; its bias is below 2⁻³² × `count`).
    pub fn below(&mut self, count: u32) -> u32 {
        (((self.next() >> 32) * u64::from(count)) >> 32) as u32
    }

    /// Whether an event of probability `p` happens.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// A duration in seconds, by inversion; a constant one draws nothing.
    pub fn duration(&mut self, distribution: Duration) -> f64 {
        // 1 − u is on (0, 1]: its logarithm is finite.
        let mut u = || 1.0 - self.uniform();
        match distribution {
            Duration::Exponential { mean_s } => -mean_s * libm::log(u()),
            Duration::Pareto { mean_s, shape } => {
                let scale = mean_s * (shape - 1.0) / shape;
                scale / libm::pow(u(), 1.0 / shape)
            }
            Duration::Constant { mean_s } => mean_s,
        }
    }
}

impl Stream {
    /// Normal with mean 0 and variance 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// Log-normal with this mean and coefficient of variation.
    pub fn log_normal(&mut self, mean: f64, variation: f64) -> f64 {
        let normal = self.normal();
        let variance = libm::log1p(variation * variation);
        mean * libm::exp(libm::sqrt(variance) * normal - variance / 2.0)
    }
}

/// A number for one purpose of one member of one group.
#[must_use]
pub fn hash(run_seed: u64, group: &str, index: u32, purpose: &str) -> u64 {
    let mut hash = Fnv::new();
    hash.write(&run_seed.to_le_bytes());
    hash.write(group.as_bytes());
    hash.write(&[0xff]);
    hash.write(&index.to_le_bytes());
    hash.write(purpose.as_bytes());
    hash.0
}

/// A number whose every bit depends on every bit of `value`.
#[must_use]
pub fn mix(mut value: u64) -> u64 {
    split_mix(&mut value)
}

struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// MRG32k3a (L'Ecuyer 1999), ns-2's default generator as an ns-2 script finds it: seeded with 1 (the
/// generator's own default, 12345, is overwritten at start-up). Profile `ns2` draws from it what ns-2's
/// agents draw when they are created, in that order.
#[derive(Clone, Debug)]
pub struct Mrg32k3a {
    one: [f64; 3],
    two: [f64; 3],
}

impl Default for Mrg32k3a {
    fn default() -> Self {
        Self::seeded(1)
    }
}

impl Mrg32k3a {
    fn seeded(seed: u32) -> Self {
        Self { one: [f64::from(seed); 3], two: [f64::from(seed); 3] }
    }

    /// Uniform on (0, 1).
    pub fn uniform(&mut self) -> f64 {
        const M1: f64 = 4_294_967_087.0;
        const M2: f64 = 4_294_944_443.0;
        let p1 = reduce(1_403_580.0 * self.one[1] - 810_728.0 * self.one[0], M1);
        self.one = [self.one[1], self.one[2], p1];
        let p2 = reduce(527_612.0 * self.two[2] - 1_370_589.0 * self.two[0], M2);
        self.two = [self.two[1], self.two[2], p2];
        let difference = if p1 > p2 { p1 - p2 } else { p1 - p2 + M1 };
        difference * (1.0 / (M1 + 1.0))
    }
}

/// `value` modulo `modulus`, in [0, modulus); exact, since all terms stay below 2⁵³.
fn reduce(value: f64, modulus: f64) -> f64 {
    let remainder = value - (value / modulus).trunc() * modulus;
    if remainder < 0.0 { remainder + modulus } else { remainder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_group_index_purpose_and_seed() {
        let first = |seed, group, index, purpose| Stream::new(seed, group, index, purpose).next();
        let base = first(1, "web", 0, "on");
        assert_eq!(base, first(1, "web", 0, "on"));
        for other in
            [first(2, "web", 0, "on"), first(1, "bulk", 0, "on"), first(1, "web", 1, "on"), first(1, "web", 0, "off")]
        {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn the_streams_are_pinned() {
        let mut stream = Stream::new(1, "web", 0, "on");
        let uniforms = [stream.uniform(), stream.uniform(), stream.uniform()];
        let exponential = stream.duration(Duration::Exponential { mean_s: 0.5 });
        let pareto = stream.duration(Duration::Pareto { mean_s: 0.5, shape: 1.5 });
        assert_eq!(uniforms, [0.8142363374446163, 0.11603217019579781, 0.31652295038558953]);
        assert_eq!((exponential, pareto), (0.4943479238822001, 0.2682278997939714));
    }

    #[test]
    fn means_are_right() {
        let mut stream = Stream::new(7, "mean", 0, "test");
        let n = 200_000;
        let mean = |stream: &mut Stream, distribution| {
            (0..n).map(|_| stream.duration(distribution)).sum::<f64>() / f64::from(n)
        };
        let exponential = mean(&mut stream, Duration::Exponential { mean_s: 2.0 });
        assert!((exponential - 2.0).abs() < 0.02, "{exponential}");
        // Shape 3 has a finite variance, so that the sample mean settles.
        let pareto = mean(&mut stream, Duration::Pareto { mean_s: 2.0, shape: 3.0 });
        assert!((pareto - 2.0).abs() < 0.03, "{pareto}");
    }

    #[test]
    fn mrg32k3a_gives_the_published_and_ns2s_first_numbers() {
        // L'Ecuyer's reference implementation, all seeds 12345.
        assert!((Mrg32k3a::seeded(12_345).uniform() - 0.127_011_122_046_577).abs() < 1e-14);
        // `$defaultRNG uniform 0 1`, twice, at the start of a script of ns-2.35, which makes an integer
        // of 31 bits on the way.
        let mut generator = Mrg32k3a::default();
        let mut in_tcl = || (generator.uniform() * f64::from(1u32 << 31)).floor() / f64::from((1u32 << 31) - 1);
        assert_eq!(in_tcl(), 0.000_339_576_974_669_274_4);
        assert_eq!(in_tcl(), 0.555_880_715_863_723_7);
    }
}

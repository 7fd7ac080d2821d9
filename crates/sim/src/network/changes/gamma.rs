//! Quantiles of the gamma distribution.

/// The regularized incomplete gamma function P(a, x): by its series (DLMF 8.11.4) below the mean, above it by the continued
/// fraction of its complement (DLMF 8.9.2) as Lentz evaluates it.
fn below(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        let (mut term, mut sum, mut next) = (1.0 / shape, 1.0 / shape, shape);
        while term > sum * 1e-17 {
            next += 1.0;
            term *= x / next;
            sum += term;
        }
        return sum * front;
    }
    const TINY: f64 = 1e-300;
    let mut denominator = x + 1.0 - shape;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / denominator);
    let mut fraction = d;
    for step in 1..1000 {
        let step = f64::from(step);
        let numerator = -step * (step - shape);
        denominator += 2.0;
        d = 1.0 / not_zero(numerator * d + denominator, TINY);
        c = not_zero(denominator + numerator / c, TINY);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    1.0 - front * fraction
}

fn not_zero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

/// The value below which a share of a gamma distribution of scale 1 is: by halving an interval, and as soon as that is
/// small by Newton's steps that stay in it.
#[must_use]
pub fn quantile(shape: f64, share: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, shape + 1.0);
    while below(shape, high) < share && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    let mut x = 0.5 * (low + high);
    for _ in 0..200 {
        let over = below(shape, x) - share;
        if over > 0.0 {
            high = x
        } else {
            low = x
        }
        let density = libm::exp((shape - 1.0) * libm::log(x) - x - libm::lgamma(shape));
        let newton = x - over / density;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-13 * x {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shape of one is an exponential distribution; others as SciPy 1.16 has them (`scipy.stats.gamma.ppf`).
    #[test]
    fn quantiles_are_those_of_tables() {
        for share in [1e-9, 0.01, 0.5, 0.9, 0.999_999] {
            let expected = -libm::log1p(-share);
            assert!((quantile(1.0, share) / expected - 1.0).abs() < 1e-9, "{share}");
        }
        for (shape, share, expected) in TABLE {
            assert!(
                (quantile(shape, share) / expected - 1.0).abs() < 1e-9,
                "{shape} {share} {}",
                quantile(shape, share)
            );
        }
    }

    const TABLE: [(f64, f64, f64); 7] = [
        (0.1, 0.5, 0.0005933911044602284),
        (0.5, 0.05, 0.001966070000009761),
        (2.0, 0.5, 1.6783469900166612),
        (2.0, 0.999, 9.233413476451585),
        (7.3, 0.01, 2.5000147169406337),
        (100.0, 0.975, 120.52894775315546),
        (1000.0, 0.5, 999.6666864269652),
    ];

    #[test]
    fn shares_come_back() {
        for shape in [0.1, 0.5, 2.0, 7.3, 100.0, 1000.0] {
            for share in [0.001, 0.1, 0.5, 0.77, 0.99, 0.999_99] {
                let back = below(shape, quantile(shape, share));
                assert!((back - share).abs() < 1e-11, "{shape} {share}: {back}");
            }
        }
    }
}

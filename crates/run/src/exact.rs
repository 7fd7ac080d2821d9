//! Exact numbers: what a scenario writes in decimals is computed with as that decimal.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// The decimal that a double is printed as: 0.1 is 1/10.
pub fn of_double(value: f64) -> BigRational {
    of_text(&format!("{value}")).unwrap_or_else(BigRational::zero)
}

/// A decimal without exponent, or a ratio such as `3/2`.
pub fn of_text(text: &str) -> Option<BigRational> {
    if let Some((numerator, denominator)) = text.split_once('/') {
        let denominator: BigInt = denominator.parse().ok()?;
        return (!denominator.is_zero()).then(|| Some(BigRational::new(numerator.parse().ok()?, denominator)))?;
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits: BigInt = format!("{whole}{decimals}").parse().ok()?;
    let scale = (0..decimals.len()).fold(BigInt::one(), |scale, _| scale * 10);
    Some(BigRational::new(digits, scale))
}

/// A whole number.
pub fn whole(value: u64) -> BigRational {
    BigRational::from_integer(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_the_decimal_that_it_is_printed_as() {
        assert_eq!(of_double(0.1), BigRational::new(1.into(), 10.into()));
        assert_eq!(of_double(1.544e6), whole(1_544_000));
        assert_eq!(of_double(1e-7), BigRational::new(1.into(), 10_000_000.into()));
        assert_eq!(of_text("3/2"), Some(BigRational::new(3.into(), 2.into())));
        assert_eq!(of_text("3/0"), None);
    }
}

//! Packets of several sizes in one stream, as on the Internet.

use crate::random::Stream;
use crate::scenario::SizeShare;

/// Sizes of datagrams, of which one is drawn for each.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// With the share of datagrams up to each.
    sizes: Vec<(f64, u32)>,
}

impl Sizes {
    /// Nothing where there are none.
    #[must_use]
    pub fn new(shares: &[SizeShare]) -> Option<Self> {
        let mut sum = 0.0;
        let sizes = shares.iter().map(|size| {
            sum += size.share;
            (sum, size.bytes)
        });
        (!shares.is_empty()).then(|| Self { sizes: sizes.collect() })
    }

    /// The largest, in bytes.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.sizes.iter().map(|&(_, bytes)| bytes).max().unwrap_or_default()
    }

    /// The smallest, in bytes.
    #[must_use]
    pub fn smallest(&self) -> u32 {
        self.sizes.iter().map(|&(_, bytes)| bytes).min().unwrap_or_default()
    }

    /// The size of one datagram, in bytes, headers included.
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        let drawn = stream.uniform();
        // Shares may sum to a little less than 1.
        let (&(_, last), others) = self.sizes.split_last().expect("at least one size");
        others.iter().find(|size| drawn < size.0).map_or(last, |size| size.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_their_shares() {
        const DATAGRAMS: u32 = 100_000;
        // The three modes of the Internet.
        let modes = [(40, 0.55), (576, 0.2), (1500, 0.25)];
        let shares = modes.map(|(bytes, share)| SizeShare { bytes, share });
        let sizes = Sizes::new(&shares).unwrap();
        let mut stream = Stream::new(1, "mixed", 0, "sizes");
        let drawn: Vec<u32> = (0..DATAGRAMS).map(|_| sizes.draw(&mut stream)).collect();
        assert_eq!(stream.draws(), u64::from(DATAGRAMS));
        for (bytes, share) in modes {
            let found = drawn.iter().filter(|&&size| size == bytes).count() as f64;
            let expected = share * f64::from(DATAGRAMS);
            // Four standard deviations of a binomial distribution.
            assert!((found - expected).abs() < 4.0 * (expected * (1.0 - share)).sqrt(), "{bytes} B: {found}");
        }
    }

    #[test]
    fn shares_that_sum_to_a_little_less_than_one_leave_the_rest_to_the_last() {
        let sizes = Sizes::new(&[1, 2].map(|bytes| SizeShare { bytes, share: 0.0 })).unwrap();
        assert_eq!(sizes.draw(&mut Stream::new(1, "mixed", 0, "sizes")), 2);
        assert!(Sizes::new(&[]).is_none());
    }
}

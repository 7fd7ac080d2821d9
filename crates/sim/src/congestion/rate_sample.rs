//! What an ACK tells of how fast packets are delivered, and what controls that model the path keep of it.
//!
//! Sources: draft-cheng-iccrg-delivery-rate-estimation-00, and draft-ietf-ccwg-bbr-04 §4.1, whose names stand beside.

use super::known;
use crate::time::Time;

/// A sample of the delivery rate. It spans the flight of the packet that was sent last of those that the ACK tells
/// of: from the delivery before it was sent to its own.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// When the ACK arrived.
    pub now: Time,
    /// When the packet left that was sent last of those that the ACK tells of.
    pub sent: Time,
    /// Packets per second; zero if it cannot be told.
    pub rate: f64,
    /// Packets delivered in the span of the sample (`RS.delivered`).
    pub delivered: f64,
    /// Packets delivered in all when the packet was sent (`P.delivered`).
    pub prior_delivered: f64,
    /// Packets delivered in all (`C.delivered`).
    pub total_delivered: f64,
    /// Its round-trip time in seconds, if it was sent once only.
    pub rtt_s: Option<f64>,
    /// Packets that this ACK tells of, whether cumulatively or selectively (`RS.newly_acked`).
    pub newly_delivered: f64,
    /// Packets found lost since the ACK before (`RS.newly_lost`).
    pub newly_lost: f64,
    /// Packets found lost in the span of the sample (`RS.lost`).
    pub lost: f64,
    /// Packets in flight when the packet had been sent, itself included (`RS.tx_in_flight`).
    pub sent_in_flight: f64,
    /// Packets in flight now: sent, and neither delivered nor lost (`C.inflight`).
    pub in_flight: f64,
    /// Packets in flight before the ACK.
    pub in_flight_before: f64,
    /// The application had too little to send: the path may be faster (`RS.is_app_limited`).
    pub app_limited: bool,
    /// Losses are being mended, after a timeout or otherwise.
    pub recovering: bool,
    /// Seconds until the next packet is due, where packets are paced.
    pub due_in_s: f64,
}

/// A packet that was found lost.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// When it was sent.
    pub sent: Time,
    /// Packets in flight when it had been sent, itself included (`P.tx_in_flight`).
    pub sent_in_flight: f64,
    /// Packets found lost since it was sent, itself included.
    pub lost: f64,
    /// It was sent while the application had too little to send.
    pub app_limited: bool,
}

/// Round trips counted by deliveries: one is over when a packet is delivered that was sent after it began
/// (draft-ietf-ccwg-bbr-04 §5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRounds {
    /// Round trips so far.
    pub count: u64,
    /// Whether the ACK just taken begins one.
    pub begins: bool,
    next_delivered: f64,
}

impl DeliveryRounds {
    /// Takes a sample.
    pub fn update(&mut self, sample: &RateSample) {
        self.begins = sample.prior_delivered >= self.next_delivered;
        if self.begins {
            self.restart(sample.total_delivered);
            self.count += 1;
        }
    }

    /// The present round trip begins anew, with so many packets delivered in all.
    pub fn restart(&mut self, total_delivered: f64) {
        self.next_delivered = total_delivered;
    }
}

/// The largest value of the last `N` periods, exactly.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax<const N: usize> {
    largest: [f64; N],
    max: f64,
    period: u64,
}

impl<const N: usize> Default for WindowedMax<N> {
    fn default() -> Self {
        Self { largest: [0.0; N], max: 0.0, period: 0 }
    }
}

/// Tells what a control of the BBR family knows of a path, as far as it does: its bandwidth and its round-trip time.
pub(super) fn tell_path((bandwidth_bps, rtt_s): (f64, f64), each: &mut dyn FnMut(&str, f64)) {
    if bandwidth_bps > 0.0 {
        each(known::BANDWIDTH_BPS, bandwidth_bps);
    }
    if rtt_s.is_finite() {
        each(known::RTT_BASE_S, rtt_s);
    }
}

impl<const N: usize> WindowedMax<N> {
    /// The largest value; zero before the first.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.max
    }

    /// Takes a value of `period`, which is never before one of an earlier call.
    pub fn update(&mut self, period: u64, value: f64) {
        if period > self.period {
            for passed in (self.period + 1..=period).take(N) {
                self.largest[(passed % N as u64) as usize] = 0.0;
            }
            if period - self.period >= N as u64 {
                self.largest = [0.0; N];
            }
            self.period = period;
            self.max = self.largest.iter().copied().fold(0.0, f64::max);
        }
        let slot = &mut self.largest[(period % N as u64) as usize];
        *slot = slot.max(value);
        self.max = self.max.max(value);
    }
}

#[cfg(test)]
impl RateSample {
    /// Of an ACK that tells of nothing, of packets that were sent before recovery.
    pub(crate) const NOTHING: Self = Self {
        now: Time::ZERO,
        sent: Time::ZERO,
        rate: 0.0,
        delivered: 0.0,
        prior_delivered: 0.0,
        total_delivered: 100.0,
        rtt_s: None,
        newly_delivered: 0.0,
        newly_lost: 0.0,
        lost: 0.0,
        sent_in_flight: 0.0,
        in_flight: 0.0,
        in_flight_before: 0.0,
        app_limited: false,
        recovering: false,
        due_in_s: 0.0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_windowed_maximum_is_exact(steps in prop::collection::vec((0u64..4, 0.0..9.0f64), 1..60)) {
            let mut max = WindowedMax::<3>::default();
            let (mut seen, mut period) = (Vec::new(), 0);
            for (step, value) in steps {
                period += step;
                seen.push((period, value));
                max.update(period, value);
                let expected = seen.iter().filter(|(then, _)| then + 3 > period).map(|seen| seen.1).fold(0.0, f64::max);
                prop_assert_eq!(max.get(), expected);
            }
        }
    }
}

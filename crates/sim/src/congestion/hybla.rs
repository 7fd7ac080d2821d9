//! Hybla (C. Caini, R. Firrincieli: TCP Hybla: a TCP enhancement for heterogeneous networks, Int. J. of
//! Satellite Communications 22, 2004): the growth per second of a connection of 25 ms, whatever the round trip.
//!
//! The paper adds pacing and an estimate of the bandwidth for the first threshold: neither is here, so that on a
//! long path slow start ends in a burst of losses; `tcp.initial_ssthresh` sets it.

use super::{Ack, CongestionControl, ControlOption, Options, Window};

/// Largest ratio of round trips: slow start multiplies the window by 2^ρ per round.
const LARGEST_RHO: f64 = 16.0;

/// Hybla.
#[derive(Clone, Copy, Debug)]
pub struct Hybla {
    reference_s: f64,
    base_s: f64,
    /// Of the smallest round trip: packets per ACK in slow start, and per round in congestion avoidance.
    slow_start: f64,
    per_round: f64,
}

impl CongestionControl for Hybla {
    const HELP: &'static str = "Hybla: long paths grow as fast as one of 25 ms (Caini, Firrincieli 2004)";
    const OPTIONS: &'static [ControlOption] =
        &[ControlOption::seconds("reference_rtt", 0.025, "the round trip that others are compared with (§3)")];

    fn new(options: &Options<'_>) -> Self {
        let [reference_s] = options.values();
        Self { reference_s, base_s: f64::INFINITY, slow_start: 1.0, per_round: 1.0 }
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        if ack.rtt_s < self.base_s {
            self.base_s = ack.rtt_s;
            // Equation 3; shorter round trips remain as they are.
            let rho = (ack.rtt_s / self.reference_s).clamp(1.0, LARGEST_RHO);
            self.slow_start = libm::exp2(rho) - 1.0;
            self.per_round = rho * rho;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Equation 5.
        if window.in_slow_start() {
            window.cwnd = (window.cwnd + self.slow_start * ack.acked.min(1.0)).min(window.ssthresh);
        } else {
            window.cwnd += self.per_round * ack.acked / window.cwnd;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, fresh};

    /// In a second a window grows by what it does on a path of 25 ms: 40 rounds, for ρ = 4 in rounds of 0.1 s
    /// that carry four times the packets.
    #[test]
    fn growth_in_packets_per_second_does_not_depend_on_the_round_trip() {
        for (rtt_s, start) in [(0.025, 100.0), (0.1, 400.0)] {
            let mut control: Hybla = fresh();
            let mut path = Path::new(start);
            while path.now_s < 0.999 {
                path.round(&mut control, rtt_s);
            }
            let packets_per_s = (path.window.cwnd - start) / rtt_s;
            assert!((packets_per_s / 1600.0 - 1.0).abs() < 0.03, "{packets_per_s}");
        }
    }
}

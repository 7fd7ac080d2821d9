//! Tail loss probes (RFC 8985 §7): when no ACK has come for two round trips, one packet more makes the receiver
//! show what is lost at the tail, long before the retransmission timeout.

use crate::transport::network::Network;
use crate::transport::sender::{Env, Sender};

/// A probe waits for two round trips (§7.2).
const ROUND_TRIPS: f64 = 2.0;
/// A single packet may be acknowledged late by this many seconds: TLP.max_ack_delay, as Linux has it.
const MAX_ACK_DELAY_S: f64 = 0.2;

/// With Linux, the timers of RACK and of tail probes wait for so many seconds more: TCP_TIMEOUT_MIN_US, and what ticks of
/// 250 Hz add on average.
pub(super) const LEAST_TIMER_S: f64 = 0.006;

/// A probe that was sent and not accounted for: TLP.end_seq and TLP.is_retrans.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    through: i32,
    again: bool,
}

impl Probe {
    /// Whether it sent a packet again.
    #[must_use]
    pub fn is_again(&self) -> bool {
        self.again
    }
}

impl Sender {
    /// Seconds until the retransmission timeout: since it was armed last, as for an ACK of new data (RFC 6298 §5.3); or since the
    /// first packet `was_sent` last (Linux's tcp_rto_delta_us).
    pub(super) fn timeout_left_s<N>(&mut self, env: &Env<'_, N>, was_sent: bool) -> f64 {
        let rack = self.rack_state();
        let from = rack.flight.first_sent().filter(|_| was_sent).unwrap_or(rack.timeout_from);
        self.timeout_s() - env.now.time.since(from)
    }

    /// After how many seconds without an ACK to probe; none if there is no cause to (§7.2). It is not put off beyond the
    /// retransmission timeout by what is `sent` meanwhile; in Linux that is the one of the first packet then.
    pub(super) fn tail_probe_s<N>(&mut self, env: &Env<'_, N>, sent: bool) -> Option<f64> {
        let recovering = self.recovering || self.timed_out;
        let left_s = self.timeout_left_s(env, sent && env.linux());
        let srtt_s = self.srtt_s(env.connection)?;
        let rack = self.rack_state();
        let flight = &rack.flight;
        if recovering || rack.tail_probe.is_some() || flight.held() > 0 || flight.missing() == 0 {
            return None;
        }
        let late_s = if flight.missing() == 1 {
            MAX_ACK_DELAY_S
        } else if env.linux() {
            LEAST_TIMER_S
        } else {
            0.0
        };
        let most_s = if left_s > 0.0 { left_s } else { f64::INFINITY };
        Some((ROUND_TRIPS * srtt_s + late_s).min(most_s))
    }

    /// §7.3: a new packet, if the application has one and the receiver's window room; else the last one again. The
    /// congestion window does not count.
    pub(super) fn send_tail_probe<N: Network>(&mut self, env: &mut Env<'_, N>) {
        let new = self.next < self.limit && self.receiver_takes(env, self.next);
        if new && self.is_pushed_back(env) {
            return;
        }
        let seq = if new { self.next } else { self.highest };
        self.transmit(env, seq);
        self.next = self.next.max(seq + 1);
        self.rack_state().tail_probe = Some(Probe { through: self.highest, again: !new });
    }

    /// §7.4.2: an ACK, `plain` without SACK blocks, tells what became of the probe. One that was retransmitted and came
    /// alone has mended a loss, which the control must hear of.
    pub(super) fn rack_probed<N: Network>(&mut self, env: &mut Env<'_, N>, ack: i32, plain: bool) {
        let Some(probe) = self.rack_state().tail_probe else { return };
        let both_arrived = ack == self.acked && plain;
        if ack < probe.through || probe.again && ack == probe.through && !both_arrived {
            return;
        }
        self.rack_state().tail_probe = None;
        if probe.again && ack > probe.through && !self.recovering && !self.timed_out {
            self.cut(env);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Profile, Recovery, TcpSpec};
    use crate::transport::tests::{Ends, Outcome, tcp};

    /// RFC 8985 §7.2: where the application has a packet every 150 ms and none arrives any longer, these do not put off the probe,
    /// of two round trips of 100 ms, beyond the timeout of the first: a second, and with Linux the round trip and 200 ms.
    #[test]
    fn what_is_sent_meanwhile_does_not_put_off_the_probe() {
        for (profile, least_s, timeout_s) in [(Profile::Rfc, 1.0, 1.0), (Profile::Linux, 0.2, 0.301)] {
            let mut spec = TcpSpec { initial_window_packets: 100.0, ..tcp("reno", Recovery::Rack) };
            spec.rto.min_s = least_s;
            let mut ends = Ends::new(&spec, profile, 200);
            ends.start_with(1);
            (1..80).for_each(|place| ends.offer(0.5 + 0.15 * f64::from(place)));
            let (mut sent, mut lost_from, mut probed_at) = (0, None, None);
            while ends
                .step(|_, packet| {
                    let at_s = packet.sent().seconds();
                    if packet.seq() <= sent && lost_from.is_some() {
                        probed_at.get_or_insert(at_s);
                    }
                    sent = sent.max(packet.seq());
                    if at_s < 5.0 {
                        return Outcome::Arrives;
                    }
                    lost_from.get_or_insert(at_s);
                    Outcome::Lost
                })
                .is_some_and(|at_s| at_s < 9.0)
            {}
            let probe_s = probed_at.zip(lost_from).map(|(probed_at, lost_from)| probed_at - lost_from);
            assert!(probe_s.is_some_and(|probe_s| (probe_s - timeout_s).abs() < 1e-3), "{profile:?}: {probe_s:?}");
        }
    }
}

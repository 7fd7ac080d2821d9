//! A link on which bits leave only at instants that a trace gives, as mahimahi's links have it.
//!
//! At each instant up to 1504 bytes leave, in packets of which each counts four more than its IP bytes (mahimahi reads them
//! from a TUN device, with its header). What an instant leaves over is of use for packets that wait, and lost where none
//! does.

use std::sync::Arc;

/// Bytes that leave at each instant.
const OPPORTUNITY_BYTES: f64 = 1504.0;
/// What a packet counts more than its bytes.
const HEADER_BYTES: u32 = 4;

/// The instants, from the next one on.
#[derive(Clone, Debug)]
pub struct Opportunities {
    trace_ms: Arc<[u32]>,
    next: usize,
    /// When this round of the trace began.
    begun_ms: u64,
    /// What the instant that was used last leaves over, in bytes.
    left: f64,
    /// When that was.
    used_s: f64,
    /// The next packet waited for the last one.
    follows: bool,
}

impl Opportunities {
    /// A trace at its beginning.
    #[must_use]
    pub fn new(trace_ms: &[u32]) -> Self {
        Self { trace_ms: trace_ms.into(), next: 0, begun_ms: 0, left: 0.0, used_s: -1.0, follows: false }
    }

    fn next_s(&self) -> f64 {
        (self.begun_ms + u64::from(self.trace_ms[self.next])) as f64 / 1000.0
    }

    fn go_on(&mut self) {
        self.next += 1;
        if self.next == self.trace_ms.len() {
            self.begun_ms += u64::from(self.trace_ms[self.next - 1]);
            self.next = 0;
        }
    }

    /// The next packet has waited for the last one, though it comes when that leaves.
    pub fn follow(&mut self) {
        self.follows = true;
    }

    /// The bytes that a packet counts.
    #[must_use]
    pub fn work(size: u32) -> f64 {
        f64::from(size + HEADER_BYTES)
    }

    /// The next packet came at `now_s`, behind all that came before.
    pub fn begin(&mut self, now_s: f64) {
        // What comes at an instant comes too late for it, and for what it leaves over.
        if !std::mem::take(&mut self.follows) && self.used_s <= now_s {
            self.left = 0.0;
            while self.next_s() <= now_s {
                self.go_on();
            }
        }
    }

    /// Lets so many bytes leave, but at no instant from `until_s` on: when they have left. If they have not by then,
    /// `missing` says how many have not.
    pub fn serve(&mut self, missing: &mut f64, until_s: f64) -> Option<f64> {
        loop {
            let used = missing.min(self.left);
            *missing -= used;
            self.left -= used;
            if *missing == 0.0 {
                return Some(self.used_s);
            }
            if self.next_s() >= until_s {
                return None;
            }
            (self.used_s, self.left) = (self.next_s(), OPPORTUNITY_BYTES);
            self.go_on();
        }
    }

    /// Nothing leaves before `at_s`.
    pub fn skip(&mut self, at_s: f64) {
        while self.next_s() < at_s {
            self.go_on();
        }
    }

    /// Bytes that could leave from `from_s` on and before `until_s`.
    pub fn offered(&mut self, from_s: f64, until_s: f64) -> f64 {
        self.skip(from_s);
        let mut sum = 0.0;
        while self.next_s() < until_s {
            sum += OPPORTUNITY_BYTES;
            self.go_on();
        }
        sum
    }

    /// What the instant that was used last leaves over, with those that are at the same time.
    #[must_use]
    pub fn left_over(&self) -> f64 {
        let mut later = self.clone();
        let mut left = self.left;
        while later.next_s() == self.used_s {
            left += OPPORTUNITY_BYTES;
            later.go_on();
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// mahimahi's link, millisecond by millisecond: at each instant of the trace 1504 bytes leave of what came before it.
    fn departures_ms(trace_ms: &[u32], packets: &[(u32, u32)]) -> Vec<u32> {
        let mut left = vec![u32::MAX; packets.len()];
        let (mut waiting, mut next) = (VecDeque::new(), 0);
        let period_ms = *trace_ms.last().expect("an instant");
        let instants = |now_ms: u32| {
            let in_round = |at: u32, round: u32| round * period_ms + at == now_ms;
            let rounds = now_ms / period_ms;
            trace_ms.iter().filter(|&&at| (rounds.saturating_sub(1)..=rounds).any(|round| in_round(at, round))).count()
        };
        for now_ms in 0.. {
            for _ in 0..instants(now_ms) {
                let mut bytes = 1504;
                while let Some((number, missing)) = waiting.front_mut() {
                    let sent = bytes.min(*missing);
                    (bytes, *missing) = (bytes - sent, *missing - sent);
                    if *missing > 0 {
                        break;
                    }
                    left[*number] = now_ms;
                    waiting.pop_front();
                }
            }
            while next < packets.len() && packets[next].0 == now_ms {
                waiting.push_back((next, packets[next].1 + 4));
                next += 1;
            }
            if next == packets.len() && waiting.is_empty() {
                return left;
            }
        }
        left
    }

    proptest! {
        #[test]
        fn packets_leave_as_mahimahi_has_it(
            steps in prop::collection::vec(0..6u32, 1..30),
            packets in prop::collection::vec((0..9u32, 20..1501u32), 1..80),
        ) {
            let running = |steps: &[u32]| -> Vec<u32> {
                steps.iter().scan(0, |sum, step| { *sum += step; Some(*sum) }).collect()
            };
            let mut trace_ms = running(&steps);
            *trace_ms.last_mut().expect("an instant") += 1;
            let gaps: Vec<u32> = packets.iter().map(|&(gap, _)| gap).collect();
            let packets: Vec<(u32, u32)> = running(&gaps).into_iter().zip(packets.iter().map(|&(_, size)| size)).collect();
            let mut opportunities = Opportunities::new(&trace_ms);
            let found: Vec<u32> = packets
                .iter()
                .map(|&(at_ms, size)| {
                    opportunities.begin(f64::from(at_ms) / 1000.0);
                    let left_s = opportunities.serve(&mut Opportunities::work(size), f64::INFINITY);
                    (left_s.expect("it leaves at some time") * 1000.0).round() as u32
                })
                .collect();
            prop_assert_eq!(found, departures_ms(&trace_ms, &packets));
        }
    }
}

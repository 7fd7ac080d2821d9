//! Where the clocks of ns-2's hosts stand.
//!
//! Each of ns-2's TCP agents starts its clock at a random point of a tick (`boot_time_`). It draws that
//! point twice: when it is created, and again when the simulation starts and resets every node. The
//! nodes are reset in the order in which a Tcl array lists their numbers, which is that of a hash
//! table; with ten flows, retransmission timeouts, and so all results, depend on it.
//!
//! What else profile `ns2` does unlike the RFCs stands where it does it, as a branch on the profile:
//! the estimator in `rtt.rs`, cuts and timeouts in `sender.rs`, the recoveries in `sender/recovery/`, a
//! queue limit of one packet in `queue/drop_tail.rs`, and RED's limit and marks in `queue/red.rs`.

use crate::random::Mrg32k3a;
use crate::scenario::{Profile, Scenario, TransportSpec};

/// The generator as the agents leave it when the simulation has started; nothing under other profiles.
#[must_use]
pub fn generator(scenario: &Scenario) -> Option<Mrg32k3a> {
    (scenario.profile == Profile::Ns2).then(|| clock_phases(scenario).1)
}

/// The phase of each flow's clock within a tick, in seconds, by index of the flow; zero for UDP. And the
/// generator behind these draws.
#[must_use]
pub fn clock_phases(scenario: &Scenario) -> (Vec<f64>, Mrg32k3a) {
    let mut generator = Mrg32k3a::default();
    let granularity_s = |flow: usize| match &scenario.flows[flow].transport {
        TransportSpec::Tcp(tcp) => Some(tcp.rto.granularity_s),
        TransportSpec::Udp(_) => None,
    };
    let mut phases = vec![0.0; scenario.flows.len()];
    let mut senders = vec![Vec::new(); scenario.nodes.len()];
    for (flow, spec) in scenario.flows.iter().enumerate() {
        if granularity_s(flow).is_some() {
            generator.uniform();
            senders[spec.from as usize].push(flow);
        }
    }
    for node in tcl_array_order(scenario.nodes.len() as u32) {
        for &flow in &senders[node as usize] {
            phases[flow] = granularity_s(flow).unwrap_or(0.0) * generator.uniform();
        }
    }
    (phases, generator)
}

/// The order in which Tcl lists an array with the keys "0", "1", … `count - 1`, inserted in that order.
fn tcl_array_order(count: u32) -> Vec<u32> {
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); 4];
    for number in 0..count {
        let bucket = tcl_hash(number) as usize % buckets.len();
        // Chains grow at their head; a bucket is kept here tail first.
        buckets[bucket].push(number);
        if number as usize + 1 >= 3 * buckets.len() {
            let count = 4 * buckets.len();
            let mut larger = vec![Vec::new(); count];
            for number in buckets.iter().flat_map(|chain| chain.iter().rev()) {
                larger[tcl_hash(*number) as usize % count].push(*number);
            }
            buckets = larger;
        }
    }
    buckets.iter().flat_map(|chain| chain.iter().rev()).copied().collect()
}

/// Tcl's hash of the decimal digits of `number`: times nine, plus the character.
fn tcl_hash(number: u32) -> u32 {
    let digits = number.to_string();
    let mut bytes = digits.bytes().map(u32::from);
    let first = bytes.next().unwrap_or_default();
    bytes.fold(first, |hash, byte| hash.wrapping_mul(9).wrapping_add(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_list_as_tclsh_8_6_lists_them() {
        assert_eq!(tcl_array_order(6), [4, 0, 5, 1, 2, 3]);
        assert_eq!(tcl_array_order(12), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let twenty_two = [17, 0, 18, 1, 20, 19, 2, 21, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(tcl_array_order(22), twenty_two);
    }
}

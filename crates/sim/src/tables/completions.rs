//! The tables of transfers, open-loop or of flows with so many bytes: when each was complete, and quantiles by size.

use std::collections::HashMap;

use super::{Finished, Table, mean};
use crate::error::ScenarioError;
use crate::hosts::Ends;
use crate::network::topology::Paths;
use crate::scenario::{FlowSpec, Profile, Scenario, SizeClass, TrafficSpec, TransportSpec};
use crate::transport::connection::Connection;

/// The two tables.
type Tables = Vec<(&'static str, Table)>;

/// What became of the bytes of a flow, simulated or measured.
#[derive(Clone, Copy, Debug)]
pub struct Transferred {
    /// From its start until its last byte arrived; none: it did not.
    pub took_s: Option<f64>,
    /// Packets that were retransmitted.
    pub packets_retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
}

/// Transfers of one name.
struct Group<'a> {
    label: &'a str,
    flows: Vec<usize>,
    size_classes: &'a [SizeClass],
}

/// What became of a transfer.
struct Completion {
    bytes: u64,
    ideal_s: f64,
    seen: Transferred,
}

impl Completion {
    fn took_s(&self) -> Option<f64> {
        self.seen.took_s
    }

    fn slowdown(&self) -> Option<f64> {
        self.took_s().map(|took_s| took_s / self.ideal_s)
    }
}

/// The tables `completions`, with a row for each transfer, and `completion_times`, with one for each group and class of
/// sizes; nothing where all flows are without end.
#[must_use]
pub fn completions(run: &impl Finished) -> Tables {
    let scenario = run.scenario();
    tables(scenario, run.paths(), |index, connection| {
        let Ends::Tcp { sender, receiver, .. } = run.ends(index) else { unreachable!("transfers are carried by TCP") };
        let done = receiver.in_order() >= connection.packets();
        Transferred {
            took_s: done.then(|| receiver.totals.advanced.seconds() - scenario.flows[index].start_s),
            packets_retransmitted: sender.totals.packets_retransmitted,
            timeouts: sender.totals.timeouts,
        }
    })
}

/// The same of flows that were measured.
///
/// # Errors
/// The scenario's paths cannot be found.
pub fn measured_completions(scenario: &Scenario, seen: impl Fn(usize) -> Transferred) -> Result<Tables, ScenarioError> {
    Ok(tables(scenario, &Paths::new(scenario)?, |index, _| seen(index)))
}

fn tables(scenario: &Scenario, paths: &Paths, seen: impl Fn(usize, &Connection) -> Transferred) -> Tables {
    let groups = groups(scenario);
    if groups.is_empty() {
        return Vec::new();
    }
    let completion = |&index: &usize| {
        let connection = connection(scenario, index);
        Completion {
            bytes: connection.bytes.unwrap_or_default(),
            ideal_s: ideal_s(scenario, paths, index, &connection),
            seen: seen(index, &connection),
        }
    };
    let found: Vec<Vec<Completion>> = groups.iter().map(|group| group.flows.iter().map(completion).collect()).collect();
    vec![("completions", each(scenario, &groups, &found)), ("completion_times", by_class(&groups, &found))]
}

/// Flows with so many bytes by traffic, then open-loop transfers.
fn groups(scenario: &Scenario) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    for (index, flow) in scenario.flows[..scenario.single_flows()].iter().enumerate() {
        if !matches!(flow.traffic, TrafficSpec::Bulk { bytes: Some(_) }) {
            continue;
        }
        let place = *place_of.entry(&flow.group).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { label: &flow.group, flows: Vec::new(), size_classes: &[] });
        }
        groups[place].flows.push(index);
    }
    let open_loop = scenario.transfers.iter();
    groups.extend(open_loop.map(|group| Group {
        label: &group.label,
        flows: group.flows().collect(),
        size_classes: &group.size_classes,
    }));
    groups
}

fn connection(scenario: &Scenario, flow: usize) -> Connection {
    let spec = &scenario.flows[flow];
    let (TransportSpec::Tcp(tcp), TrafficSpec::Bulk { bytes }) = (&spec.transport, &spec.traffic) else {
        unreachable!("transfers are carried by TCP")
    };
    Connection::new(tcp, scenario.profile, *bytes)
}

/// How long a transfer takes through an empty path if its window holds it whole: a round trip to connect, then its packets
/// back to back, until the last has arrived. Processors come on top.
fn ideal_s(scenario: &Scenario, paths: &Paths, flow: usize, connection: &Connection) -> f64 {
    let wires = |reverse: bool| {
        let links = paths.links(flow as u32, reverse).into_iter();
        links.map(|link| scenario.links[link as usize].wire())
    };
    let packets = connection.packets();
    let (bare, full, last) = (connection.tcp.ack_bytes, connection.size(1), connection.size(packets));
    // When they leave each link: the third step of the handshake, which ns-2 has not, the first full packet, the one before
    // the last, which is as far behind it as the narrowest link so far has held it up, and the last. One of these waits
    // for its predecessor or for its own arrival.
    let (mut reply_s, mut first_s, mut before_s, mut last_s, mut delay_s) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for wire in wires(false) {
        if connection.profile != Profile::Ns2 {
            reply_s += delay_s + wire.transmission_s(bare);
        }
        let mut ahead_s: f64 = reply_s;
        if packets > 1 {
            let service_s = wire.transmission_s(full);
            first_s = ahead_s.max(first_s + delay_s) + service_s;
            before_s = (first_s + f64::from(packets - 2) * service_s).max(before_s + delay_s + service_s);
            ahead_s = before_s;
        }
        last_s = ahead_s.max(last_s + delay_s) + wire.transmission_s(last);
        delay_s = wire.delay_s;
    }
    let connecting_s: f64 = wires(false).chain(wires(true)).map(|wire| wire.crossing_s(bare)).sum();
    connecting_s + last_s + delay_s
}

fn each(scenario: &Scenario, groups: &[Group<'_>], found: &[Vec<Completion>]) -> Table {
    let node = |index: u32| scenario.nodes[index as usize].name.clone();
    let specs = || groups.iter().flat_map(|group| group.flows.iter().map(|&flow| &scenario.flows[flow]));
    let all = || found.iter().flatten();
    let mut table = Table::default();
    table.text("label", specs().map(|spec: &FlowSpec| spec.group.clone()));
    table.integer("transfer", specs().map(|spec| u64::from(spec.index)));
    table.text("from", specs().map(|spec| node(spec.from)));
    table.text("to", specs().map(|spec| node(spec.to)));
    table.integer("bytes", all().map(|each| each.bytes));
    table.float("start_s", specs().map(|spec| spec.start_s));
    table.float("completion_s", all().map(|each| each.took_s().unwrap_or(f64::NAN)));
    table.float("ideal_s", all().map(|each| each.ideal_s));
    table.float("slowdown", all().map(|each| each.slowdown().unwrap_or(f64::NAN)));
    table.integer("packets_retransmitted", all().map(|each| each.seen.packets_retransmitted));
    table.integer("timeouts", all().map(|each| each.seen.timeouts));
    table
}

const COMPLETION: [&str; 5] =
    ["completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s", "completion_max_s"];
const SLOWDOWN: [&str; 5] = ["slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_max"];

/// What all sizes together are called.
const ALL: &str = "all";

fn by_class(groups: &[Group<'_>], found: &[Vec<Completion>]) -> Table {
    let mut rows: Vec<(&str, &str, Vec<&Completion>)> = Vec::new();
    for (group, all) in groups.iter().zip(found) {
        rows.push((group.label, ALL, all.iter().collect()));
        let mut least = 0;
        for class in group.size_classes {
            let most = class.up_to_bytes.unwrap_or(u64::MAX);
            let within = all.iter().filter(|each| least < each.bytes && each.bytes <= most).collect();
            rows.push((group.label, &class.name, within));
            least = most;
        }
    }
    let complete = |row: &(&str, &str, Vec<&Completion>)| row.2.iter().filter(|each| each.took_s().is_some()).count();
    let statistics = |value: fn(&Completion) -> Option<f64>| -> Vec<[f64; 5]> {
        let of = |row: &(&str, &str, Vec<&Completion>)| {
            summary(row.2.iter().filter_map(|each| value(each)).collect(), row.2.len())
        };
        rows.iter().map(of).collect()
    };
    let mut table = Table::default();
    table.text("label", rows.iter().map(|row| row.0.to_owned()));
    table.text("size_class", rows.iter().map(|row| row.1.to_owned()));
    table.integer("transfers", rows.iter().map(|row| row.2.len() as u64));
    table.integer("unfinished", rows.iter().map(|row| (row.2.len() - complete(row)) as u64));
    for (names, values) in [(COMPLETION, statistics(Completion::took_s)), (SLOWDOWN, statistics(Completion::slowdown))]
    {
        for (place, name) in names.into_iter().enumerate() {
            table.float(name, values.iter().map(|row| row[place]));
        }
    }
    table
}

/// Mean of the values that there are; median, 95th and 99th percentile, and the largest of `count`, of which those without a
/// value are larger than all: of a share q the smallest value that a share of at least q does not exceed.
fn summary(mut values: Vec<f64>, count: usize) -> [f64; 5] {
    values.sort_by(f64::total_cmp);
    // In hundredths, as 0.95 is no double.
    let rank = |percent: usize| (count * percent).div_ceil(100).max(1) - 1;
    let at = |percent: usize| values.get(rank(percent)).copied().unwrap_or(f64::NAN);
    [mean(values.iter().sum(), values.len() as u64), at(50), at(95), at(99), at(100)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_are_there() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(summary(hundred, 100), [50.5, 50.0, 95.0, 99.0, 100.0]);
        assert_eq!(summary(vec![3.0], 1), [3.0; 5]);
        assert!(summary(Vec::new(), 0).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn what_is_not_complete_is_slower_than_all_that_is() {
        let reached = |done: u32| summary((1..=done).map(f64::from).collect(), 100).map(|value| !value.is_nan());
        assert_eq!(reached(100), [true; 5]);
        assert_eq!(reached(99), [true, true, true, true, false]);
        assert_eq!(reached(98), [true, true, true, false, false]);
        assert_eq!(reached(95), [true, true, true, false, false]);
        assert_eq!(reached(94), [true, true, false, false, false]);
        assert_eq!(reached(49), [true, false, false, false, false]);
        assert!(reached(0).iter().all(|value| !value));
        // Of ten the 95th percentile is the last.
        assert_eq!(summary((1..=9).map(f64::from).collect(), 10)[..2], [5.0, 5.0]);
        assert!(summary((1..=9).map(f64::from).collect(), 10)[2].is_nan());
    }
}

//! The tables of open-loop transfers: when each was complete, and quantiles by size.

use super::{Finished, Table, mean};
use crate::hosts::Ends;
use crate::network::wire::Wire;
use crate::scenario::{FlowSpec, Profile, TransfersSpec};
use crate::transport::connection::Connection;

/// What became of a transfer.
struct Completion {
    bytes: u64,
    /// From its start until its last byte arrived; none: it did not.
    took_s: Option<f64>,
    ideal_s: f64,
    packets_retransmitted: u64,
    timeouts: u64,
}

impl Completion {
    fn slowdown(&self) -> Option<f64> {
        self.took_s.map(|took_s| took_s / self.ideal_s)
    }
}

/// The tables `completions`, with a row for each transfer, and `completion_times`, with one for each group and class of
/// sizes; nothing where no traffic is open-loop transfers.
#[must_use]
pub fn completions(run: &impl Finished) -> Vec<(&'static str, Table)> {
    let groups = &run.scenario().transfers;
    if groups.is_empty() {
        return Vec::new();
    }
    let found: Vec<Vec<Completion>> =
        groups.iter().map(|group| group.flows().map(|flow| completion(run, flow)).collect()).collect();
    vec![("completions", each(run, groups, &found)), ("completion_times", by_class(groups, &found))]
}

fn completion(run: &impl Finished, index: usize) -> Completion {
    let Ends::Tcp { sender, receiver, connection } = run.ends(index) else {
        unreachable!("transfers are carried by TCP")
    };
    let start_s = run.scenario().flows[index].start_s;
    let done = receiver.in_order() >= connection.packets();
    Completion {
        bytes: connection.bytes.unwrap_or_default(),
        took_s: done.then(|| receiver.totals.advanced.seconds() - start_s),
        ideal_s: ideal_s(run, index, connection),
        packets_retransmitted: sender.totals.packets_retransmitted,
        timeouts: sender.totals.timeouts,
    }
}

/// How long a transfer takes through an empty path if its window holds it whole: a round trip to connect, then its packets
/// back to back, until the last has arrived. Processors come on top.
fn ideal_s(run: &impl Finished, flow: usize, connection: &Connection) -> f64 {
    let scenario = run.scenario();
    let wires = |reverse: bool| {
        let links = run.paths().links(flow as u32, reverse).into_iter();
        links.map(|link| Wire::new(&scenario.links[link as usize]))
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

fn each(run: &impl Finished, groups: &[TransfersSpec], found: &[Vec<Completion>]) -> Table {
    let scenario = run.scenario();
    let node = |index: u32| scenario.nodes[index as usize].name.clone();
    let specs = || groups.iter().flat_map(|group| group.flows().map(|flow| &scenario.flows[flow]));
    let all = || found.iter().flatten();
    let mut table = Table::default();
    table.text("label", specs().map(|spec: &FlowSpec| spec.group.clone()));
    table.integer("transfer", specs().map(|spec| u64::from(spec.index)));
    table.text("from", specs().map(|spec| node(spec.from)));
    table.text("to", specs().map(|spec| node(spec.to)));
    table.integer("bytes", all().map(|each| each.bytes));
    table.float("start_s", specs().map(|spec| spec.start_s));
    table.float("completion_s", all().map(|each| each.took_s.unwrap_or(f64::NAN)));
    table.float("ideal_s", all().map(|each| each.ideal_s));
    table.float("slowdown", all().map(|each| each.slowdown().unwrap_or(f64::NAN)));
    table.integer("packets_retransmitted", all().map(|each| each.packets_retransmitted));
    table.integer("timeouts", all().map(|each| each.timeouts));
    table
}

const COMPLETION: [&str; 5] =
    ["completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s", "completion_max_s"];
const SLOWDOWN: [&str; 5] = ["slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_max"];

/// What all sizes together are called.
const ALL: &str = "all";

fn by_class(groups: &[TransfersSpec], found: &[Vec<Completion>]) -> Table {
    let mut rows: Vec<(&str, &str, Vec<&Completion>)> = Vec::new();
    for (group, all) in groups.iter().zip(found) {
        rows.push((&group.label, ALL, all.iter().collect()));
        let mut least = 0;
        for class in &group.size_classes {
            let most = class.up_to_bytes.unwrap_or(u64::MAX);
            let within = all.iter().filter(|each| least < each.bytes && each.bytes <= most).collect();
            rows.push((&group.label, &class.name, within));
            least = most;
        }
    }
    let complete = |row: &(&str, &str, Vec<&Completion>)| row.2.iter().filter(|each| each.took_s.is_some()).count();
    let statistics = |value: fn(&Completion) -> Option<f64>| -> Vec<[f64; 5]> {
        rows.iter().map(|row| summary(row.2.iter().filter_map(|each| value(each)).collect())).collect()
    };
    let mut table = Table::default();
    table.text("label", rows.iter().map(|row| row.0.to_owned()));
    table.text("size_class", rows.iter().map(|row| row.1.to_owned()));
    table.integer("transfers", rows.iter().map(|row| row.2.len() as u64));
    table.integer("unfinished", rows.iter().map(|row| (row.2.len() - complete(row)) as u64));
    for (names, values) in [(COMPLETION, statistics(|each| each.took_s)), (SLOWDOWN, statistics(Completion::slowdown))]
    {
        for (place, name) in names.into_iter().enumerate() {
            table.float(name, values.iter().map(|row| row[place]));
        }
    }
    table
}

/// Mean, median, 95th and 99th percentile, and the largest: of a share q the smallest value that a share of at least q
/// does not exceed.
fn summary(mut values: Vec<f64>) -> [f64; 5] {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    // In hundredths, as 0.95 is no double.
    let rank = |percent: usize| (count * percent).div_ceil(100).max(1) - 1;
    let at = |percent: usize| values.get(rank(percent)).copied().unwrap_or(f64::NAN);
    [mean(values.iter().sum(), count as u64), at(50), at(95), at(99), at(100)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_are_there() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(summary(hundred), [50.5, 50.0, 95.0, 99.0, 100.0]);
        assert_eq!(summary(vec![3.0]), [3.0; 5]);
        assert!(summary(Vec::new()).iter().all(|value| value.is_nan()));
    }
}

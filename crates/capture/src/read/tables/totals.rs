//! Tables of what passed in all.

use std::collections::HashMap;

use tightlink_sim::tables::{Column, Table};

use super::{BITS, Flow, seconds, since_s};
use crate::read::frame::{Interface, Nanoseconds};
use crate::read::link::link_name;
use crate::read::totals::{self, Totals};
use crate::read::tunnel::{Passed, Tunnels};

/// The names of the interfaces, all different.
pub fn names(interfaces: &[Interface]) -> Vec<String> {
    let mut taken: HashMap<String, u32> = HashMap::new();
    let mut named = Vec::new();
    for (number, interface) in interfaces.iter().enumerate() {
        let plain = if interface.name.is_empty() { format!("interface {number}") } else { interface.name.clone() };
        let times = taken.entry(plain.clone()).or_default();
        *times += 1;
        named.push(if *times == 1 { plain } else { format!("{plain} ({times})") });
    }
    named
}

pub fn links(interfaces: &[Interface], totals: &Totals, names: &[String]) -> Table {
    let of = |number: usize| totals.interfaces.get(number).cloned().unwrap_or_default();
    let count = |value: fn(&totals::OfInterface) -> u64| {
        Column::Integer((0..names.len()).map(|number| value(&of(number)) as i64).collect())
    };
    let busy = |(number, interface): (usize, &Interface)| {
        let of = of(number);
        match (interface.rate_bps, lasts(&of)) {
            (Some(rate_bps), lasts) if lasts > 0 => of.frame_bytes as f64 * BITS / rate_bps / seconds(lasts),
            _ => f64::NAN,
        }
    };
    Table {
        columns: vec![
            ("link", Column::Text(names.to_vec())),
            ("packets_out", count(|one| one.packets)),
            ("bytes_out", count(|one| one.bytes)),
            ("utilization", Column::Float(interfaces.iter().enumerate().map(busy).collect())),
        ],
    }
}

/// From the first packet of an interface to its last.
fn lasts(of: &totals::OfInterface) -> Nanoseconds {
    of.times.map_or(0, |(from, to)| to.saturating_sub(from))
}

pub fn interfaces(interfaces: &[Interface], totals: &Totals, names: &[String], began: Nanoseconds) -> Table {
    let all: Vec<(&Interface, totals::OfInterface)> = interfaces
        .iter()
        .enumerate()
        .map(|(number, interface)| (interface, totals.interfaces.get(number).cloned().unwrap_or_default()))
        .collect();
    let rate = |of: &totals::OfInterface| match lasts(of) {
        0 => f64::NAN,
        lasts => of.bytes as f64 * BITS / seconds(lasts),
    };
    let drops = |interface: &Interface| if interface.counts_drops { interface.drops as f64 } else { f64::NAN };
    let snap = |interface: &Interface| match interface.snap_length {
        0 => f64::NAN,
        length => f64::from(length),
    };
    Table {
        columns: vec![
            ("link", Column::Text(names.to_vec())),
            ("link_type", Column::Text(all.iter().map(|(one, _)| link_name(one.link_type)).collect())),
            (
                "start_s",
                Column::Float(
                    all.iter().map(|(_, of)| of.times.map_or(f64::NAN, |(from, _)| since_s(from, began))).collect(),
                ),
            ),
            ("duration_s", Column::Float(all.iter().map(|(_, of)| seconds(lasts(of))).collect())),
            ("frame_bytes", Column::Integer(all.iter().map(|(_, of)| of.frame_bytes as i64).collect())),
            ("throughput_bps", Column::Float(all.iter().map(|(_, of)| rate(of)).collect())),
            ("rate_bps", Column::Float(all.iter().map(|(one, _)| one.rate_bps.unwrap_or(f64::NAN)).collect())),
            ("snap_length_bytes", Column::Float(all.iter().map(|(one, _)| snap(one)).collect())),
            ("packets_cut", Column::Integer(all.iter().map(|(_, of)| of.cut as i64).collect())),
            ("capture_drops", Column::Float(all.iter().map(|(one, _)| drops(one)).collect())),
        ],
    }
}

pub fn protocols(totals: &Totals, flows: &[Flow<'_>], unlisted: &HashMap<u8, u64>) -> Table {
    let mut found = unlisted.clone();
    for flow in flows {
        *found.entry(flow.connection.ends.protocol).or_default() += 1;
    }
    let all = &totals.protocols;
    let count = |of: &totals::OfProtocol| match of.kind {
        totals::Kind::Ip(protocol) => found.get(&protocol).copied().unwrap_or(0) as i64,
        _ => 0,
    };
    let bytes: u64 = all.iter().map(|of| of.bytes).sum();
    Table {
        columns: vec![
            ("protocol", Column::Text(all.iter().map(|of| of.kind.name()).collect())),
            ("packets", Column::Integer(all.iter().map(|of| of.packets as i64).collect())),
            ("bytes", Column::Integer(all.iter().map(|of| of.bytes as i64).collect())),
            ("share", Column::Float(all.iter().map(|of| of.bytes as f64 / bytes as f64).collect())),
            ("flows", Column::Integer(all.iter().map(count).collect())),
        ],
    }
}

pub fn sizes(totals: &Totals) -> Table {
    let rows: Vec<(usize, u32, u64)> = totals
        .protocols
        .iter()
        .enumerate()
        .flat_map(|(place, of)| of.by_size().map(move |(size, count)| (place, size, count)))
        .collect();
    let names = totals.protocols.iter().map(|of| of.kind.name()).collect();
    Table {
        columns: vec![
            ("protocol", Column::Category(rows.iter().map(|&(place, _, _)| place as u32).collect(), names)),
            ("size_bytes", Column::Integer(rows.iter().map(|&(_, size, _)| i64::from(size)).collect())),
            ("packets", Column::Integer(rows.iter().map(|&(_, _, count)| count as i64).collect())),
        ],
    }
}

pub fn tunnels(tunnels: &Tunnels) -> Table {
    let (names, passed): (Vec<String>, Vec<Passed>) = tunnels.used().unzip();
    let count = |value: fn(&Passed) -> u64| Column::Integer(passed.iter().map(|one| value(one) as i64).collect());
    Table {
        columns: vec![
            ("tunnel", Column::Text(names)),
            ("packets", count(|one| one.packets)),
            ("bytes", count(|one| one.bytes)),
            ("header_bytes", count(|one| one.header_bytes)),
        ],
    }
}

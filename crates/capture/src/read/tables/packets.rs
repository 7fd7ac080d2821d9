//! Tables of single packets.

use std::collections::HashMap;

use tightlink_sim::tables::{Column, Table};

use super::{Flow, since_s};
use crate::read::frame::Nanoseconds;
use crate::read::packets::{Owner, Packets, Record};

/// The numbers of flows, by what owns a packet.
pub struct Numbers(HashMap<u32, [Option<u32>; 2]>);

impl Numbers {
    pub fn new(flows: &[Flow<'_>]) -> Self {
        let mut numbers: HashMap<u32, [Option<u32>; 2]> = HashMap::new();
        for (number, flow) in flows.iter().enumerate() {
            numbers.entry(flow.serial).or_default()[flow.direction] = Some(number as u32);
        }
        Self(numbers)
    }

    /// The flow of a packet: an ACK belongs to the flow that it acknowledges.
    fn of(&self, record: &Record) -> f64 {
        let found = record.owner.and_then(|Owner { serial, direction }| {
            let both = self.0.get(&serial)?;
            let (first, second) = (both[direction], both[1 - direction]);
            if record.bare { second.or(first) } else { first.or(second) }
        });
        found.map_or(f64::NAN, f64::from)
    }
}

pub fn packets(packets: &Packets, numbers: &Numbers, began: Nanoseconds) -> Table {
    let records = &packets.records;
    let nowhere = packets.addresses.len() as u32;
    let ends = |pick: fn((u32, u32)) -> u32| {
        let codes = records.iter().map(|record| record.ends.map_or(nowhere, pick)).collect();
        let names = packets.addresses.iter().map(ToString::to_string).chain([String::new()]).collect();
        Column::Category(codes, names)
    };
    let mut kinds = Words::default();
    let types =
        records.iter().map(|one| kinds.code(if one.bare { "ack".to_owned() } else { one.kind.name() })).collect();
    let marks = ["", "CE"].map(str::to_owned).to_vec();
    let same = |word: &str| Column::Category(vec![0; records.len()], vec![word.to_owned()]);
    Table {
        columns: vec![
            ("event", same("r")),
            ("time_s", Column::Float(records.iter().map(|one| since_s(one.time, began)).collect())),
            ("from", ends(|(from, _)| from)),
            ("to", ends(|(_, to)| to)),
            ("type", Column::Category(types, kinds.words)),
            ("size_bytes", Column::Integer(records.iter().map(|one| i64::from(one.bytes)).collect())),
            ("flow", Column::Float(records.iter().map(|one| numbers.of(one)).collect())),
            ("seq", Column::Float(records.iter().map(|one| one.seq.map_or(f64::NAN, f64::from)).collect())),
            ("uid", Column::Integer(records.iter().map(|one| one.number as i64).collect())),
            ("reason", same("")),
            ("mark", Column::Category(records.iter().map(|one| u32::from(one.marked)).collect(), marks)),
        ],
    }
}

pub fn findings(packets: &Packets, numbers: &Numbers, began: Nanoseconds) -> Table {
    let mut words = Words::default();
    let (mut rows, mut codes) = (Vec::new(), Vec::new());
    for record in &packets.records {
        for word in record.found.words() {
            rows.push(record);
            codes.push(words.code(word.to_owned()));
        }
    }
    Table {
        columns: vec![
            ("uid", Column::Integer(rows.iter().map(|one| one.number as i64).collect())),
            ("time_s", Column::Float(rows.iter().map(|one| since_s(one.time, began)).collect())),
            ("flow", Column::Float(rows.iter().map(|one| numbers.of(one)).collect())),
            ("finding", Column::Category(codes, words.words)),
        ],
    }
}

/// Words that repeat.
#[derive(Default)]
struct Words {
    codes: HashMap<String, u32>,
    words: Vec<String>,
}

impl Words {
    fn code(&mut self, word: String) -> u32 {
        let next = self.words.len() as u32;
        let code = *self.codes.entry(word.clone()).or_insert(next);
        if code == next {
            self.words.push(word);
        }
        code
    }
}

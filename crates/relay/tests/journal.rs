//! The trace on its way to disk and back.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Write as _;

use proptest::prelude::*;
use tightlink_relay::header::{Header, KEY_BYTES, Kind};
use tightlink_relay::journal::Journal;
use tightlink_relay::record::{Outcome, Record, Sink as _};
use tightlink_relay::trace::{self, Line, Sign};

fn written(records: &[Record]) -> File {
    let mut journal = Journal::new().unwrap();
    records.iter().for_each(|record| journal.note(*record));
    let (file, lost) = journal.finish().unwrap();
    assert_eq!(lost, 0);
    file
}

fn lines(mut file: File) -> (Vec<Line>, usize) {
    let mut lines = Vec::new();
    let flows = trace::read(&mut file, |line| {
        lines.push(*line);
        Ok::<(), std::io::Error>(())
    });
    (lines, flows.unwrap().len())
}

/// A packet that takes `stay_s` from its arrival to its end.
fn record(uid: u64, outcome: Outcome, flow: u8, port: u8, arrival_s: f64, stay_s: f64) -> Record {
    let mut header = Header { kind: Kind::Udp, key: [0; KEY_BYTES] };
    header.key[2] = flow;
    header.key[18] = 99;
    if port == 1 {
        header.key = header.reversed();
    }
    let due_s = arrival_s + stay_s;
    let sent_s = if outcome == Outcome::Delivered { due_s } else { f64::NAN };
    let start_s = if outcome == Outcome::Delivered { arrival_s + stay_s / 2.0 } else { f64::NAN };
    Record {
        outcome,
        offer_s: arrival_s,
        start_s,
        departure_s: start_s,
        due_s,
        sent_s,
        ..Record::new(uid, port, 100, header).at(0, arrival_s)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn the_trace_is_in_order_of_time_and_whole(
        packets in prop::collection::vec((0.0..1e-4f64, 0.0..0.5f64, 0..5u8, 0..2u8, any::<bool>()), 0..9000)
    ) {
        let mut now_s = 0.0;
        let mut records: Vec<Record> = (0..).zip(packets).map(|(uid, (gap_s, stay_s, flow, port, lost))| {
            now_s += gap_s;
            record(uid, if lost { Outcome::Queue } else { Outcome::Delivered }, flow, port, now_s, if lost { 0.0 } else { stay_s })
        }).collect();
        // As the relay notes them: when they end.
        let ends_s = |record: &Record| [record.due_s, record.sent_s].into_iter().fold(record.arrival_s, f64::max);
        records.sort_by(|a, b| ends_s(a).total_cmp(&ends_s(b)));
        let (lines, flows) = lines(written(&records));
        prop_assert!(lines.windows(2).all(|pair| pair[0].time_s <= pair[1].time_s));
        let count = |sign| lines.iter().filter(|line| line.sign == sign).count();
        let lost = records.iter().filter(|record| record.outcome == Outcome::Queue).count();
        prop_assert_eq!([Sign::Enqueue, Sign::Dequeue, Sign::Receive, Sign::Drop].map(count), [records.len(), records.len() - lost, records.len() - lost, lost]);
        prop_assert!(flows <= 5);
        // Both directions of a flow have its number, and other flows have others.
        for line in &lines {
            let peer = line.record.header.key[2] + line.record.header.key[18];
            prop_assert!(lines.iter().take(50).all(|other| (other.flow == line.flow) == (other.record.header.key[2] + other.record.header.key[18] == peer)));
        }
    }
}

#[test]
fn a_trace_of_nothing_has_no_lines() {
    assert_eq!(lines(written(&[])), (Vec::new(), 0));
}

#[test]
fn damaged_traces_are_errors() {
    let mut file = written(&[]);
    file.write_all(&[255; 1000]).unwrap();
    let read = trace::read(&mut file, |_| Ok::<(), std::io::Error>(()));
    assert!(read.unwrap_err().to_string().contains("damaged"));
}

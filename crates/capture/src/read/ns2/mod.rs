//! Traces of ns-2 (twelve columns, a line for each event), read once: totals of flows and of links.
//!
//! What is remembered grows with the packets under way, the flows and the links, not with the file.

mod flows;
mod line;
mod links;
mod series;
pub mod tables;

use std::collections::HashMap;

use flows::Flows;
use line::{Event, Line};
use links::Links;
use series::Series;

use super::error::{Damage, Error, first};
use super::frame::Nanoseconds;
use super::source::Source;

/// No line is longer.
const LONGEST_LINE: usize = 1024;
/// Between two calls of `proceed`.
const PAUSE: u64 = 1 << 16;

/// How a trace is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Length of the intervals of the series.
    pub interval: Nanoseconds,
    /// Whether every line is kept.
    pub packets: bool,
    /// Capacity of the links in bit/s, of which a trace says nothing.
    pub rate_bps: Option<f64>,
}

/// A trace that was read.
pub struct Trace {
    /// Whether it was compressed.
    pub compressed: bool,
    /// SHA-256 of what was read, and its bytes.
    pub digest: (String, u64),
    /// Lines that were read.
    pub events: u64,
    /// Lines of other kinds, such as annotations and variables.
    pub skipped: u64,
    /// Those of them that are no text.
    pub binary: u64,
    /// Lines whose time is before that of the line before them.
    pub backwards: u64,
    /// Time of the last line, in seconds.
    pub end_s: f64,
    /// From where on nothing could be read.
    pub damage: Option<Damage>,
    flows: Flows,
    links: Links,
    series: Series,
    packets: Option<Packets>,
    rate_bps: Option<f64>,
}

/// Every line, where it was asked for.
#[derive(Default)]
struct Packets {
    records: Vec<Record>,
    kinds: Vec<String>,
    codes: HashMap<String, u32>,
}

struct Record {
    event: Event,
    time_s: f64,
    ends: (i64, i64),
    kind: u32,
    size: u32,
    flow: usize,
    seq: i64,
    uid: u64,
}

impl Packets {
    fn add(&mut self, line: &Line<'_>, flow: usize) {
        let kind = self.codes.get(line.kind).copied().unwrap_or_else(|| {
            let code = self.kinds.len() as u32;
            self.kinds.push(line.kind.to_owned());
            self.codes.insert(line.kind.to_owned(), code);
            code
        });
        let &Line { event, time_s, from, to, size, seq, uid, .. } = line;
        self.records.push(Record { event, time_s, ends: (from, to), kind, size, flow, seq, uid });
    }
}

/// As many bytes tell whether a stream is a trace.
pub const HEAD: usize = 4096;

/// Whether a stream begins like a trace: with an event of a packet, behind annotations and variables perhaps.
pub fn is_trace(head: &[u8]) -> bool {
    let begins = |line: &[u8]| matches!(line, [b'+' | b'-' | b'r' | b'd', b' ', b'0'..=b'9', ..]);
    let other = |line: &[u8]| matches!(line, [] | [b'0'..=b'9' | b'v' | b'#' | b'\r', ..]);
    let mut lines = head.split(|&byte| byte == b'\n');
    lines.find(|line| !other(line)).is_some_and(begins)
}

/// Reads a trace. `proceed` is asked now and then, with the lines and the bytes so far, whether to go on.
pub fn read(
    mut source: Source<'_>,
    options: Options,
    mut proceed: impl FnMut(u64, u64) -> bool,
) -> Result<Trace, Error> {
    let mut flows = Flows::default();
    let mut links = Links::default();
    let mut series = Series::new(options.interval);
    let mut packets = options.packets.then(Packets::default);
    let (mut events, mut skipped, mut binary, mut backwards, mut end_s) = (0_u64, 0, 0, 0, 0.0_f64);
    let damage = loop {
        let offset = source.offset();
        let (text, length) = match next_line(&mut source) {
            Ok(Some(found)) => found,
            Ok(None) => break None,
            Err(damage) => break Some(damage),
        };
        match Line::read(text) {
            Ok(Some(line)) => {
                series.until(line.time_s, &flows, &mut links)?;
                backwards += u64::from(line.time_s < end_s);
                end_s = end_s.max(line.time_s);
                let flow = flows.add(&line);
                links.add(&line);
                if let Some(packets) = &mut packets {
                    packets.add(&line, flow);
                }
                events += 1;
            }
            Ok(None) => {
                skipped += u64::from(!text.trim_ascii().is_empty());
                binary += u64::from(!is_text(text));
            }
            Err(what) => break Some(Damage::new(offset, what)),
        }
        source.consume(length);
        if (events + skipped).is_multiple_of(PAUSE) && !proceed(events, source.offset()) {
            return Err(Error::Interrupted);
        }
    };
    match damage {
        Some(damage) if events == 0 => Err(first(damage)),
        damage => {
            links.settle(end_s);
            let (compressed, digest) = (source.is_compressed(), source.digest());
            let rate_bps = options.rate_bps;
            Ok(Trace {
                compressed,
                digest,
                events,
                skipped,
                binary,
                backwards,
                end_s,
                damage,
                flows,
                links,
                series,
                packets,
                rate_bps,
            })
        }
    }
}

/// Whether a line has no bytes that no text has.
fn is_text(line: &[u8]) -> bool {
    str::from_utf8(line).is_ok_and(|text| !text.chars().any(|sign| sign.is_control() && !sign.is_whitespace()))
}

/// The next line, and its length with its end.
fn next_line<'s>(source: &'s mut Source<'_>) -> Result<Option<(&'s [u8], usize)>, Damage> {
    let offset = source.offset();
    let found = source.peek_whole(LONGEST_LINE)?;
    if found.is_empty() {
        return Ok(None);
    }
    let (seen, end) = (found.len(), found.iter().position(|&byte| byte == b'\n'));
    match end {
        Some(end) => Ok(Some((source.seen(0, end), end + 1))),
        None if seen < LONGEST_LINE => Ok(Some((source.seen(0, seen), seen))),
        None => Err(Damage::new(offset, format!("a line of more than {LONGEST_LINE} bytes: the file is damaged"))),
    }
}

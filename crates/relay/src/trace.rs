//! The trace in order of time, from records in the order in which packets ended, in memory that holds only what
//! overlaps: a first pass finds how far back later records reach, a second one sorts within that.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read as _, Seek as _};
use std::net::IpAddr;

use crate::header::{Header, KEY_BYTES};
use crate::record::{BYTES, Outcome, Record};

/// Records of which only the earliest instant is remembered.
const BLOCK: usize = 4096;

/// What happened, with ns-2's signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// It was offered to the link.
    Enqueue,
    /// Its transmission began.
    Dequeue,
    /// It was forwarded.
    Receive,
    /// It was lost.
    Drop,
}

impl Sign {
    /// ns-2's sign.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Enqueue => "+",
            Self::Dequeue => "-",
            Self::Receive => "r",
            Self::Drop => "d",
        }
    }
}

/// A line of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// What happened.
    pub sign: Sign,
    /// When, in seconds since the relay began.
    pub time_s: f64,
    /// To which packet.
    pub record: Record,
    /// Its flow: both directions of a connection have the same number.
    pub flow: u32,
}

impl Eq for Line {}

impl Ord for Line {
    /// The earliest is the greatest, so that a heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        // Of one packet at one instant: out of a link, then into the next.
        let then = |line: &Self| (line.record.uid, line.record.arrival_s.to_bits(), line.sign);
        other.time_s.total_cmp(&self.time_s).then_with(|| then(other).cmp(&then(self)))
    }
}

impl PartialOrd for Line {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The flow of a trace: protocol and ends, that of the first packet first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Number of the protocol; nothing if it is not IP.
    pub protocol: Option<u8>,
    /// Addresses and ports.
    pub ends: Option<[(IpAddr, u16); 2]>,
    /// The port of the relay by which its first packet came.
    pub port: u8,
    /// The header of that packet.
    pub header: Header,
}

/// Hands the lines of a trace to `each` in order of time. Its flows, in order of their first line.
///
/// # Errors
/// The file cannot be read or is no trace, or what `each` says.
pub fn read<E: From<io::Error>>(file: &mut File, mut each: impl FnMut(&Line) -> Result<(), E>) -> Result<Vec<Flow>, E> {
    let reach = earliest_behind(file)?;
    let mut flows = Flows::default();
    let mut waiting = BinaryHeap::new();
    let mut records = Records::of(file)?;
    let mut reaches = reach.iter();
    loop {
        let mut more = false;
        for _ in 0..BLOCK {
            let Some(record) = records.next()? else { break };
            more = true;
            waiting.extend(lines(&record).map(|(sign, time_s)| Line { sign, time_s, record, flow: 0 }));
        }
        let earliest_s = reaches.next().copied().unwrap_or(f64::INFINITY);
        while waiting.peek().is_some_and(|line: &Line| line.time_s < earliest_s || !more) {
            let Some(line) = waiting.pop() else { break };
            each(&Line { flow: flows.number(&line.record), ..line })?;
        }
        if !more {
            return Ok(flows.list);
        }
    }
}

/// What a record tells.
fn lines(record: &Record) -> impl Iterator<Item = (Sign, f64)> + use<> {
    let ended = match record.outcome {
        Outcome::UnderWay => None,
        Outcome::Delivered => Some((Sign::Receive, record.sent_s)),
        Outcome::Passed => Some((Sign::Receive, record.due_s)),
        Outcome::Refused => Some((Sign::Drop, record.sent_s)),
        Outcome::Queue | Outcome::Management | Outcome::OutputRing | Outcome::InputRing | Outcome::Wire => {
            Some((Sign::Drop, record.due_s))
        }
    };
    let joined = [(Sign::Enqueue, record.offer_s), (Sign::Dequeue, record.start_s)];
    joined.into_iter().chain(ended).filter(|(_, time_s)| !time_s.is_nan())
}

/// For each block of records the earliest instant of those behind it.
fn earliest_behind(file: &mut File) -> io::Result<Vec<f64>> {
    let mut records = Records::of(file)?;
    let mut blocks = vec![f64::INFINITY];
    let mut in_block = 0;
    while let Some(record) = records.next()? {
        if in_block == BLOCK {
            blocks.push(f64::INFINITY);
            in_block = 0;
        }
        if let Some(earliest_s) = blocks.last_mut() {
            *earliest_s = earliest_s.min(record.arrival_s);
        }
        in_block += 1;
    }
    for block in (1..blocks.len()).rev() {
        blocks[block - 1] = blocks[block - 1].min(blocks[block]);
    }
    Ok(blocks.split_off(1))
}

/// The records of a file.
struct Records<'a>(BufReader<&'a mut File>);

impl<'a> Records<'a> {
    fn of(file: &'a mut File) -> io::Result<Self> {
        file.rewind()?;
        Ok(Self(BufReader::with_capacity(1 << 20, file)))
    }

    fn next(&mut self) -> io::Result<Option<Record>> {
        let mut bytes = [0; BYTES];
        match self.0.read_exact(&mut bytes) {
            Ok(()) => {
                let damaged = || io::Error::new(ErrorKind::InvalidData, "its records are damaged");
                Record::decode(&bytes).map(Some).ok_or_else(damaged)
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Flows by number.
#[derive(Debug, Default)]
struct Flows {
    list: Vec<Flow>,
    numbers: HashMap<[u8; KEY_BYTES], u32>,
}

impl Flows {
    fn number(&mut self, record: &Record) -> u32 {
        let header = &record.header;
        if let Some(&number) = self.numbers.get(&header.key) {
            return number;
        }
        let number = self.list.len() as u32;
        let (protocol, ends) = header.ends().unzip();
        self.list.push(Flow { protocol, ends, port: record.port, header: *header });
        self.numbers.insert(header.key, number);
        self.numbers.insert(header.reversed(), number);
        number
    }
}

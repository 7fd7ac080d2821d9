//! A line of a trace: event, time, from, to, type, size, flags, flow, source, destination, sequence number, packet
//! number.

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It joined the queue of a link.
    Enqueue,
    /// It left the queue for the wire.
    Dequeue,
    /// It arrived at the other end.
    Receive,
    /// It was lost.
    Drop,
}

impl Event {
    /// All of them, in the order of their codes in tables.
    pub const SIGNS: [&str; 4] = ["+", "-", "r", "d"];
}

/// A node and the port of an agent there.
pub type End = (i64, i64);

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// What happened.
    pub event: Event,
    /// When, in seconds.
    pub time_s: f64,
    /// Node at which the link begins.
    pub from: i64,
    /// Node at which it ends.
    pub to: i64,
    /// Kind of packet, such as tcp.
    pub kind: &'a str,
    /// Bytes.
    pub size: u32,
    /// Number that the script gave the flow.
    pub number: i64,
    /// Who sent the packet.
    pub source: End,
    /// Who is to get it.
    pub target: End,
    /// Sequence number.
    pub seq: i64,
    /// Number of the packet.
    pub uid: u64,
}

const COLUMNS: usize = 12;

impl<'a> Line<'a> {
    /// Reads a line without its end; nothing of lines that are no events of packets.
    pub fn read(text: &'a [u8]) -> Result<Option<Self>, String> {
        let event = match text {
            [b'+', b' ', ..] => Event::Enqueue,
            [b'-', b' ', ..] => Event::Dequeue,
            [b'r', b' ', ..] => Event::Receive,
            [b'd', b' ', ..] => Event::Drop,
            _ => return Ok(None),
        };
        let text = str::from_utf8(text).map_err(|_| "a line that is no text: the file is damaged".to_owned())?;
        let mut columns = [""; COLUMNS];
        let mut found = 0;
        for column in text.split_ascii_whitespace() {
            if let Some(place) = columns.get_mut(found) {
                *place = column;
            }
            found += 1;
        }
        // The formats of satellites and of TCP's details have more columns behind these.
        if found < COLUMNS {
            return Err(format!("a line of {found} columns: expected {COLUMNS}"));
        }
        let [_, time, from, to, kind, size, _, number, source, target, seq, uid] = columns;
        let time_s = time.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0);
        Ok(Some(Self {
            event,
            time_s: time_s.ok_or_else(|| wrong(time, "a time in seconds"))?,
            from: whole(from)?,
            to: whole(to)?,
            kind,
            size: size.parse().map_err(|_| wrong(size, "a size in bytes"))?,
            number: whole(number)?,
            source: end(source)?,
            target: end(target)?,
            seq: whole(seq)?,
            uid: uid.parse().map_err(|_| wrong(uid, "the number of a packet"))?,
        }))
    }

    /// Whether it acknowledges.
    pub fn is_ack(&self) -> bool {
        self.kind == "ack"
    }
}

fn whole(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| wrong(text, "a whole number"))
}

fn end(text: &str) -> Result<End, String> {
    let both = text.split_once('.').and_then(|(node, port)| Some((node.parse().ok()?, port.parse().ok()?)));
    both.ok_or_else(|| wrong(text, "NODE.PORT"))
}

fn wrong(text: &str, expected: &str) -> String {
    format!("{text:?}: expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::{Event, Line};

    #[test]
    fn twelve_columns() {
        let line = Line::read(b"+ 1.84375 0 2 cbr 210 ------- 1 0.0 3.1 225 610").unwrap().unwrap();
        assert_eq!((line.event, line.time_s, line.kind, line.size), (Event::Enqueue, 1.84375, "cbr", 210));
        assert_eq!((line.source, line.target, line.number), ((0, 0), (3, 1), 1));
        assert_eq!((line.seq, line.uid), (225, 610));
    }

    #[test]
    fn other_lines_and_damage() {
        assert_eq!(Line::read(b"0.10000 0 0 1 0 cwnd_ 1.000"), Ok(None));
        assert_eq!(Line::read(b"v 0.5 eval {set sim_annotation start}"), Ok(None));
        for (text, said) in [
            (&b"+ 1.8 0 2"[..], "a line of 4 columns: expected 12"),
            (b"r -1 0 2 cbr 210 ------- 1 0.0 3.1 225 610", "\"-1\": expected a time in seconds"),
            (b"r 1 0 2 cbr 210 ------- 1 0.0.1 3.1 225 610", "\"0.0.1\": expected NODE.PORT"),
            (b"d 1 0 2 cbr 210 ------- 1 0.0 3.1 225 \xff", "a line that is no text: the file is damaged"),
        ] {
            assert_eq!(Line::read(text), Err(said.to_owned()));
        }
    }
}

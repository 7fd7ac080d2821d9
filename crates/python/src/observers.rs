//! Who watches the packets of a run: a table in memory, and files in formats of other tools, which appear whole or
//! not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use tightlink_capture::tr::TrWriter;
use tightlink_capture::write::{Capture, Format, Places};
use tightlink_sim::Scenario;
use tightlink_sim::probe::Seen;
use tightlink_sim::probe::trace::{Listener, Record};
use tightlink_sim::time::Time;
use tightlink_sim::transport::ack_options::AckOptionSlab;

/// A file that cannot be written, and why.
type Failure = (PathBuf, io::Error);

/// What is wanted of the packets of a run.
pub struct Wanted {
    /// The table `packets`.
    pub trace: bool,
    /// A file in ns-2's format.
    pub tr: Option<PathBuf>,
    /// A capture: pcap if it is called so, pcapng else.
    pub pcap: Option<PathBuf>,
    /// The nodes at which it is made; none: each flow's sender.
    pub pcap_at: Option<Vec<u32>>,
}

impl Wanted {
    /// Whether nobody wants anything.
    pub fn is_nothing(&self) -> bool {
        !self.trace && self.tr.is_none() && self.pcap.is_none()
    }
}

/// Those who watch.
pub struct Observers<'a> {
    records: Option<Vec<Record>>,
    tr: Option<(Output, TrWriter<'a, BufWriter<File>>)>,
    failed: Option<io::Error>,
    pcap: Option<(Output, Capture<'a, BufWriter<File>>)>,
}

impl<'a> Observers<'a> {
    /// Opens the files that are wanted.
    pub fn new(scenario: &'a Scenario, wanted: &Wanted) -> Result<Self, Failure> {
        let tr = match &wanted.tr {
            Some(path) => {
                let (output, file) = Output::create(path)?;
                Some((output, TrWriter::new(scenario, file)))
            }
            None => None,
        };
        let pcap = match &wanted.pcap {
            Some(path) => {
                let (output, file) = Output::create(path)?;
                let is_pcap = path.extension().is_some_and(|extension| extension == "pcap");
                let format = if is_pcap { Format::Pcap } else { Format::PcapNg };
                let places = wanted.pcap_at.clone().map_or(Places::Senders, Places::Nodes);
                let capture = Capture::new(scenario, format, &places, file);
                Some((output, capture.map_err(|error| (path.clone(), error))?))
            }
            None => None,
        };
        Ok(Self { records: wanted.trace.then(Vec::new), tr, failed: None, pcap })
    }

    /// Puts the files in their places; the records of the table.
    pub fn finish(self) -> Result<Vec<Record>, Failure> {
        if let Some((output, writer)) = self.tr {
            output.publish(self.failed.map_or(Ok(()), Err).and_then(|()| writer.finish()))?;
        }
        if let Some((output, capture)) = self.pcap {
            output.publish(capture.finish())?;
        }
        Ok(self.records.unwrap_or_default())
    }
}

impl Listener for Observers<'_> {
    fn sent(&mut self, time: Time, uid: u64, packet: Seen<'_>, ack_options: &AckOptionSlab) {
        if let Some((_, capture)) = &mut self.pcap {
            capture.sent(time, uid, packet, ack_options);
        }
    }

    fn duplicated(&mut self, uid: u64, copy: u64) {
        if let Some((_, capture)) = &mut self.pcap {
            capture.duplicated(uid, copy);
        }
    }

    fn record(&mut self, record: &Record) {
        if let Some(records) = &mut self.records {
            records.push(*record);
        }
        if let Some((_, writer)) = &mut self.tr
            && self.failed.is_none()
        {
            self.failed = writer.write(record).err();
        }
        if let Some((_, capture)) = &mut self.pcap {
            capture.record(record);
        }
    }
}

/// A file under a temporary name, which goes away unless it is published.
struct Output {
    temporary: PathBuf,
    path: PathBuf,
}

impl Output {
    fn create(path: &Path) -> Result<(Self, BufWriter<File>), Failure> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let output = Self { temporary: path.with_file_name(name), path: path.to_owned() };
        match File::create(&output.temporary) {
            Ok(file) => Ok((output, BufWriter::new(file))),
            Err(error) => Err((path.to_owned(), error)),
        }
    }

    /// Gives it its name, if all was written.
    fn publish(self, written: io::Result<BufWriter<File>>) -> Result<(), Failure> {
        let published =
            written.and_then(|mut out| out.flush()).and_then(|()| std::fs::rename(&self.temporary, &self.path));
        published.map_err(|error| (self.path.clone(), error))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Published, it is not there any more.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

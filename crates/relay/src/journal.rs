//! The way of the trace to disk: the loop puts records into a queue of fixed size, another thread writes them. The loop
//! never waits, allocates or touches a file; a record for which the queue has no room is lost, and counted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::header::Header;
use crate::record::{Record, Sink};

/// Records that wait for the disk at most: two seconds of 60,000 packets a second.
const MOST: usize = 1 << 17;
/// How long the writer sleeps when it has nothing to do. Nobody wakes it, for that would cost the loop a call.
const NAP: Duration = Duration::from_millis(5);

/// Where records go.
#[derive(Debug)]
pub struct Journal {
    queue: SyncSender<Record>,
    writer: JoinHandle<io::Result<File>>,
    lost: u64,
}

impl Journal {
    /// An empty journal in a file without a name, which is gone with whoever holds it.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, nameless()?);
        let (queue, records) = sync_channel(MOST);
        touch(&queue, &records);
        let writer = std::thread::Builder::new().name("journal".to_owned()).spawn(move || write(&records, file))?;
        Ok(Self { queue, writer, lost: 0 })
    }

    /// Writes what is left. The file, from its beginning, and the number of records that were lost.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(self) -> io::Result<(File, u64)> {
        drop(self.queue);
        let mut file = self.writer.join().map_err(|_| io::Error::other("its writer failed"))??;
        file.rewind()?;
        Ok((file, self.lost))
    }
}

/// A new file that has lost its name.
fn nameless() -> io::Result<File> {
    let mut number = 0;
    loop {
        let path = std::env::temp_dir().join(format!(".tightlink-journal-{}-{number}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

impl Sink for Journal {
    fn note(&mut self, record: Record) {
        self.lost += u64::from(self.queue.try_send(record).is_err());
    }
}

/// Fills and empties the queue, whose memory comes with its first use.
fn touch(queue: &SyncSender<Record>, records: &Receiver<Record>) {
    let record = Record::new(0, 0, 0, Header::default()).at(0, 0.0);
    while queue.try_send(record).is_ok() {}
    while records.try_recv().is_ok() {}
}

fn write(records: &Receiver<Record>, mut file: BufWriter<File>) -> io::Result<File> {
    loop {
        match records.try_recv() {
            Ok(record) => file.write_all(&record.encode())?,
            Err(TryRecvError::Empty) => std::thread::sleep(NAP),
            Err(TryRecvError::Disconnected) => {
                file.flush()?;
                return file.into_inner().map_err(io::IntoInnerError::into_error);
            }
        }
    }
}

//! The way of the trace to disk: the loop puts records into a queue of fixed size, another thread writes them. The loop
//! never waits, allocates or touches a file; a record for which the queue has no room is lost, and counted.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::header::Header;
use crate::path::Sink;
use crate::record::Record;

/// Records that wait for the disk at most: two seconds of 60,000 packets a second.
const MOST: usize = 1 << 17;
/// How long the writer sleeps when it has nothing to do. Nobody wakes it, for that would cost the loop a call.
const NAP: Duration = Duration::from_millis(5);

/// Where records go.
#[derive(Debug)]
pub struct Journal {
    queue: SyncSender<Record>,
    writer: JoinHandle<io::Result<()>>,
    lost: u64,
}

impl Journal {
    /// A new file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(path: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
        let (queue, records) = sync_channel(MOST);
        touch(&queue, &records);
        let writer = std::thread::Builder::new().name("journal".to_owned()).spawn(move || write(&records, file))?;
        Ok(Self { queue, writer, lost: 0 })
    }

    /// Writes what is left. The number of records that were lost.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(self) -> io::Result<u64> {
        drop(self.queue);
        self.writer.join().map_err(|_| io::Error::other("its writer failed"))??;
        Ok(self.lost)
    }
}

impl Sink for Journal {
    fn note(&mut self, record: Record) {
        self.lost += u64::from(self.queue.try_send(record).is_err());
    }
}

/// Fills and empties the queue, whose memory comes with its first use.
fn touch(queue: &SyncSender<Record>, records: &Receiver<Record>) {
    let record = Record::new(0, 0, Header::default(), 0.0);
    while queue.try_send(record).is_ok() {}
    while records.try_recv().is_ok() {}
}

fn write(records: &Receiver<Record>, mut file: BufWriter<File>) -> io::Result<()> {
    loop {
        match records.try_recv() {
            Ok(record) => file.write_all(&record.encode())?,
            Err(TryRecvError::Empty) => std::thread::sleep(NAP),
            Err(TryRecvError::Disconnected) => return file.flush(),
        }
    }
}

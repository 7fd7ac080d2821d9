//! Bytes of a file or a pipe, compressed or not, seen through a window that moves forwards.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::error::Damage;
use super::unpack::{HEAD, Packing};

const CHUNK: usize = 1 << 20;
/// As much is asked of a decoder at a time: where a stream is damaged, it gives nothing of what was asked for.
const PIECE: usize = 1 << 14;

/// A stream of bytes of which the next ones can be looked at.
pub struct Source<'a> {
    inner: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    consumed: u64,
    ended: bool,
    /// Why it ended early, if its compression is damaged.
    damage: Option<String>,
    compressed: bool,
    digest: Rc<RefCell<Digested>>,
}

#[derive(Default)]
struct Digested {
    hash: Sha256,
    bytes: u64,
    /// Whether somebody asked for more than there is.
    ended: bool,
}

/// Passes bytes on and remembers their digest.
struct Watched<R> {
    inner: R,
    digest: Rc<RefCell<Digested>>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut digest = self.digest.borrow_mut();
        digest.hash.update(&buffer[..read]);
        digest.bytes += read as u64;
        digest.ended |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

impl<'a> Source<'a> {
    /// A window over `inner`, unpacked where its first bytes say that it is compressed.
    pub fn new(inner: impl Read + 'a) -> io::Result<Self> {
        let digest = Rc::new(RefCell::new(Digested::default()));
        let mut raw = Watched { inner, digest: Rc::clone(&digest) };
        let mut head = Vec::new();
        raw.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        let packing = Packing::of(&head);
        let whole = io::Cursor::new(head).chain(raw);
        let inner: Box<dyn Read + 'a> = match packing {
            Some(packing) => packing.unpacked(io::BufReader::with_capacity(CHUNK, whole)),
            None => Box::new(whole),
        };
        let compressed = packing.is_some();
        Ok(Self {
            inner,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            consumed: 0,
            ended: false,
            damage: None,
            compressed,
            digest,
        })
    }

    /// The next `length` bytes, or fewer at the end.
    pub fn peek(&mut self, length: usize) -> Result<&[u8], Damage> {
        if self.end - self.start < length {
            self.fill(length)?;
        }
        let end = self.end.min(self.start + length);
        Ok(&self.buffer[self.start..end])
    }

    /// The same; where the compression is damaged, those before it.
    pub fn peek_whole(&mut self, length: usize) -> Result<&[u8], Damage> {
        if self.end - self.start < length
            && let Err(damage) = self.fill(length)
            && (self.end == self.start || self.damage.is_none())
        {
            return Err(damage);
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + length)])
    }

    /// Bytes that were peeked at, from an offset on.
    pub fn seen(&self, from: usize, to: usize) -> &[u8] {
        &self.buffer[self.start + from..self.start + to]
    }

    /// Moves on by bytes that were peeked at.
    pub fn consume(&mut self, length: usize) {
        debug_assert!(length <= self.end - self.start);
        self.start += length;
        self.consumed += length as u64;
    }

    /// How many bytes were consumed, of the unpacked stream.
    pub fn offset(&self) -> u64 {
        self.consumed
    }

    /// Whether the file is compressed, so that offsets are not those of the file.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// The SHA-256 of all that was read, in hexadecimal, and how many bytes that was.
    pub fn digest(&self) -> (String, u64) {
        let digest = self.digest.borrow();
        (digest.hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect(), digest.bytes)
    }

    fn fill(&mut self, length: usize) -> Result<(), Damage> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < length {
            self.buffer.resize(length.next_multiple_of(CHUNK), 0);
        }
        while self.end < length && !self.ended {
            let until = if self.compressed { self.buffer.len().min(self.end + PIECE) } else { self.buffer.len() };
            match self.inner.read(&mut self.buffer[self.end..until]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What the system says has a number.
                Err(error) if self.compressed && error.raw_os_error().is_none() => {
                    self.ended = true;
                    // What a decoder says of that is the name of the part in which it was.
                    let cut = self.digest.borrow().ended.then(|| "the file ends within it".to_owned());
                    let what = cut.unwrap_or_else(|| error.to_string());
                    self.damage = Some(format!("its compression is damaged: {what}"));
                }
                Err(error) => return Err(Damage::unreadable(self.consumed, error)),
            }
        }
        match &self.damage {
            Some(damage) if self.end < length => Err(Damage::new(self.consumed, damage)),
            _ => Ok(()),
        }
    }
}

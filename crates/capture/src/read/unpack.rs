//! Compressed streams, told by their first bytes and unpacked as they are read, in bounded memory.

use std::io::{self, BufRead, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// As many bytes tell how a stream is compressed.
pub const HEAD: usize = 6;

/// Enough for what `xz -9` makes, which needs 65 MiB; a hostile file may ask for 4 GiB.
const MOST_KIB: u32 = 256 << 10;

/// How a stream is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// RFC 1952.
    Gzip,
    /// Of Julian Seward.
    Bzip2,
    /// LZMA2 in blocks with check sums.
    Xz,
    /// RFC 8878.
    Zstd,
}

impl Packing {
    /// That of a stream that begins like this, if it is compressed.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// What is in a stream, of all its parts one after the other.
    pub fn unpacked<'a>(self, inner: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(inner)),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(inner)),
            Self::Xz => Box::new(XzReader::new_mem_limit(inner, true, MOST_KIB)),
            Self::Zstd => Box::new(Zstd { inner, decoder: FrameDecoder::new(), within: false, damage: None }),
        }
    }
}

/// Frames of zstd one after the other; its decoder knows one at a time.
struct Zstd<R> {
    inner: R,
    decoder: FrameDecoder,
    within: bool,
    /// Why the frame ends early.
    damage: Option<io::Error>,
}

/// A last block without content, and a check sum, which nobody compares: the decoder then gives what it held back.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

impl<R: BufRead> Zstd<R> {
    /// Reads the header of the next frame; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.inner.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.inner) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.inner.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damaged(error)),
            }
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within && !self.begin()? {
                return Ok(0);
            }
            self.within = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.inner, BlockDecodingStrategy::UptoBlocks(1));
                if let Err(error) = decoded {
                    self.damage = Some(damaged(error));
                    self.decoder.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::All).map_err(damaged)?;
                }
            }
            match self.decoder.read(buffer)? {
                0 => match self.damage.take() {
                    Some(error) => return Err(error),
                    None => self.within = false,
                },
                read => return Ok(read),
            }
        }
    }
}

fn damaged(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

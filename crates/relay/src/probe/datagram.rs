//! What a probe's datagram begins with: whose it is, which it is, and when it was sent.

/// The header of a probe's datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the flow.
    pub flow: u16,
    /// Number of the datagram in the flow.
    pub seq: u32,
    /// When it was given to the kernel, of `CLOCK_REALTIME`.
    pub sent_ns: i64,
}

const MARK: [u8; 2] = *b"tp";

impl Header {
    /// No payload is smaller.
    pub const BYTES: usize = 16;

    /// Writes it to the beginning of a payload.
    pub fn write(self, payload: &mut [u8]) {
        payload[..2].copy_from_slice(&MARK);
        payload[2..4].copy_from_slice(&self.flow.to_be_bytes());
        payload[4..8].copy_from_slice(&self.seq.to_be_bytes());
        payload[8..16].copy_from_slice(&self.sent_ns.to_be_bytes());
    }

    /// Reads it; nothing, if this is no datagram of a probe.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let (flow, rest) = payload.strip_prefix(&MARK)?.split_first_chunk()?;
        let (seq, rest) = rest.split_first_chunk()?;
        let (sent_ns, _) = rest.split_first_chunk()?;
        Some(Self {
            flow: u16::from_be_bytes(*flow),
            seq: u32::from_be_bytes(*seq),
            sent_ns: i64::from_be_bytes(*sent_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn a_header_is_read_as_it_was_written_and_nothing_else_is() {
        let header = Header { flow: 65_535, seq: 4_000_000_000, sent_ns: -1 };
        let mut payload = [0; 20];
        header.write(&mut payload);
        assert_eq!(Header::read(&payload), Some(header));
        assert_eq!(Header::read(&payload[..Header::BYTES]), Some(header));
        for length in 0..Header::BYTES {
            assert_eq!(Header::read(&payload[..length]), None);
        }
        payload[0] = b'x';
        assert_eq!(Header::read(&payload), None);
    }
}

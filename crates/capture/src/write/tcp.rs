//! TCP's headers (RFC 9293), with the options of the handshake, timestamps (RFC 7323), SACK blocks (RFC 2018) and
//! counts of ECN fields (RFC 9768).
//!
//! The engine counts packets, a capture bytes: sequence numbers begin at zero, the SYN takes the first, and packet n
//! begins n − 1 payloads behind it. Nobody closes a connection: the engine does not.

use tightlink_sim::packet::{Kind, Packet};
use tightlink_sim::scenario::{Ecn, FlowSpec, Profile, Recovery, TcpSpec, TrafficSpec};
use tightlink_sim::time::Time;
use tightlink_sim::transport::accecn::{self, EcnCounts};
use tightlink_sim::transport::ack_options::AckOptionSlab;
use tightlink_sim::transport::connection::Connection;

use super::headers::{Headers, Ip, TCP, transport_checksum};
use super::ports::Ports;

const HEADER_BYTES: usize = 20;
/// IP and TCP without options.
const BARE_BYTES: u32 = 40;
/// The option of timestamps, with two bytes of padding before it.
const TIMESTAMPS_BYTES: u32 = 12;
/// Where the time of the sending end is written: behind padding, kind and length; in a handshake behind two other
/// options, kind and length.
const TIME: usize = HEADER_BYTES + 4;
const TIME_IN_HANDSHAKE: usize = HEADER_BYTES + 8;
const MOST_BYTES: usize = HEADER_BYTES + 40;
const FLAGS: usize = 13;

const SYN: u16 = 0x02;
const ACK: u16 = 0x10;
/// ECN-Echo and Congestion Window Reduced (RFC 3168 §6.1), with AE before them the field ACE (RFC 9768 §3.2).
const ECE: u16 = 0x40;
const CWR: u16 = 0x80;
const AE: u16 = 0x100;

/// Kinds of options.
const NO_OPERATION: u8 = 1;
const SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Accurate ECN in its two orders: ECT(0) first, or ECT(1).
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;
/// RFC 7323 §2.3.
const LARGEST_SCALE: u8 = 14;

/// What has to be known of a connection.
#[derive(Clone, Debug)]
pub struct Tcp {
    connection: Connection,
    ports: Ports,
    timestamps: bool,
    sack: bool,
    ecn: Ecn,
    /// The whole window, as the SYN says it and as others do; what the receiver told last of its own; and the power of two between
    /// them, if it is told.
    windows: (u16, u16),
    advertised: (u16, u16),
    scale: Option<u8>,
    /// The last timestamp that came to the sender.
    recent: u32,
    /// Something came to the receiver that follows on the handshake.
    established: bool,
}

/// A header that grows by options.
struct Header {
    bytes: [u8; MOST_BYTES],
    length: usize,
}

impl Tcp {
    pub fn new(profile: Profile, flow: &FlowSpec, tcp: &TcpSpec, ports: Ports) -> Self {
        let bytes = if let TrafficSpec::Bulk { bytes } = flow.traffic { bytes } else { None };
        let connection = Connection::new(tcp, profile, bytes);
        let window = u64::from(connection.window.max(1).unsigned_abs()) * u64::from(tcp.payload_bytes);
        let fits = |scale: &u8| window.div_ceil(1 << scale) <= u64::from(u16::MAX);
        let scale = (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE);
        let mut flow = Self {
            ports,
            timestamps: tcp.header_bytes >= BARE_BYTES + TIMESTAMPS_BYTES,
            sack: matches!(tcp.recovery, Recovery::Sack | Recovery::Rack),
            ecn: tcp.ecn,
            windows: (0, 0),
            advertised: (0, 0),
            // ns-2's agents know of no options; windows that need the scale would be wrong without it.
            scale: (profile != Profile::Ns2 || scale > 0).then_some(scale),
            recent: 0,
            established: false,
            connection,
        };
        flow.windows = flow.windows(flow.connection.window.max(1).unsigned_abs());
        flow.advertised = flow.windows;
        flow
    }

    /// A window of so many packets, as the SYN says it and as others do.
    fn windows(&self, packets: u32) -> (u16, u16) {
        let window = u64::from(packets) * u64::from(self.connection.tcp.payload_bytes);
        let advertised = |scale: u8| window.div_ceil(1 << scale).min(u64::from(u16::MAX)) as u16;
        (advertised(0), advertised(self.scale.unwrap_or(0)))
    }

    /// The headers of a packet that is sent; `identification` is the last one of its node.
    pub fn headers(
        &mut self,
        packet: &Packet,
        now: Time,
        ack_options: &AckOptionSlab,
        ip: Ip,
        identification: &mut u16,
    ) -> Headers {
        *identification = identification.wrapping_add(1);
        let (capable, scalable) = (packet.is_capable(), packet.is_scalable());
        let ip = Ip { protocol: TCP, identification: *identification, whole: true, capable, scalable, ..ip };
        match packet.kind() {
            Kind::Ack => self.acknowledgement(packet, now, ack_options, &ip),
            _ => self.segment(packet, &ip),
        }
    }

    /// A segment reached the receiver, or an ACK the sender; with this header.
    pub fn arrived(&mut self, header: &[u8]) {
        let from_sender = header[0..2] == self.ports.source.to_be_bytes();
        if from_sender {
            self.established |= u16::from(header[FLAGS]) & SYN == 0;
        } else if self.timestamps {
            let place = if u16::from(header[FLAGS]) & SYN != 0 { TIME_IN_HANDSHAKE } else { TIME };
            let value = [0, 1, 2, 3].map(|byte| header[place + byte]);
            self.recent = self.recent.max(u32::from_be_bytes(value));
        }
    }

    fn segment(&self, packet: &Packet, ip: &Ip) -> Headers {
        let (seq, value) = (packet.seq(), timestamp(packet.sent()));
        if seq == 0 && !packet.is_bare() {
            let flags = match self.ecn {
                Ecn::Off => SYN,
                Ecn::Classic => SYN | ECE | CWR,
                Ecn::Accurate => SYN | ECE | CWR | AE,
            };
            let mut header = Header::new(self.ports, (0, 0), flags, self.windows.0);
            self.add_handshake(&mut header, (value, 0));
            return header.in_packet(ip, 0);
        }
        let flags = match self.connection.tcp.agreed_ecn() {
            // No ACK says ECT, so that none comes marked; the third step of the handshake tells of the second.
            Ecn::Accurate if packet.is_bare() => ACK | ace(accecn::handshake::NOT_ECT),
            Ecn::Accurate => ACK | ace(accecn::INITIAL),
            _ if packet.is_reduced() => ACK | CWR,
            _ => ACK,
        };
        let mut header = Header::new(self.ports, (self.bytes_before(seq), 1), flags, self.windows.1);
        if self.timestamps {
            header.add_timestamps(value, self.recent);
        }
        let payload = if packet.is_bare() { 0 } else { packet.size() - self.connection.tcp.header_bytes };
        header.in_packet(ip, payload)
    }

    fn acknowledgement(&mut self, packet: &Packet, now: Time, ack_options: &AckOptionSlab, ip: &Ip) -> Headers {
        let (blocks, counts, echo, window) = match packet.options() {
            None => (&[][..], None, packet.sent(), None),
            Some(handle) => {
                let options = ack_options.get(handle);
                (options.blocks.as_slice(), options.counts, options.echo, options.told.map(|told| told.window))
            }
        };
        self.advertised = window.map_or(self.advertised, |packets| self.windows(packets));
        let windows = self.advertised;
        let times = (timestamp(now), timestamp(echo));
        let ports = self.ports.back();
        let told = ace(packet.ace());
        // What answers a SYN has the number of an ACK of no data.
        if packet.seq() == 0 && !self.established {
            let agrees = if self.connection.tcp.agreed_ecn() == Ecn::Classic { ECE } else { told };
            let mut header = Header::new(ports, (0, 1), SYN | ACK | agrees, windows.0);
            self.add_handshake(&mut header, times);
            if let Some(counts) = counts {
                self.add_counts(&mut header, counts, 0);
            }
            return header.in_packet(ip, 0);
        }
        let acknowledged = self.bytes_before(packet.seq() + 1);
        let mut header = Header::new(ports, (1, acknowledged), ACK | told, windows.1);
        if self.timestamps {
            header.add_timestamps(times.0, times.1);
        }
        if !blocks.is_empty() {
            header.add_blocks(blocks.iter().map(|&(left, right)| [self.bytes_before(left), self.bytes_before(right)]));
        }
        if let Some(counts) = counts {
            self.add_counts(&mut header, counts, blocks.len() as u8);
        }
        header.in_packet(ip, 0)
    }

    /// The AccECN option behind a SACK option of so many blocks (RFC 9768 §3.2.3): the counter first of which there is more.
    fn add_counts(&self, header: &mut Header, counts: EcnCounts, blocks: u8) {
        let bytes =
            |first: u32, packets: u32| first.wrapping_add(packets.wrapping_mul(self.connection.tcp.payload_bytes));
        let (ce, ect0, ect1) = (bytes(0, counts.marked), bytes(1, counts.ect0), bytes(1, counts.ect1));
        let (kind, fields) = if counts.ect1 > 0 { (ACCECN1, [ect1, ce, ect0]) } else { (ACCECN0, [ect0, ce, ect1]) };
        let fields = &fields[..EcnCounts::fields(blocks)];
        header.add(&[kind, 2 + 3 * fields.len() as u8]);
        for field in fields {
            header.add(&field.to_be_bytes()[1..]);
        }
        let padding = EcnCounts::bytes(blocks) as usize - 2 - 3 * fields.len();
        header.add(&[NO_OPERATION; 3][..padding]);
    }

    /// The sequence number at which packet `seq` begins: behind the SYN and the payloads before it.
    fn bytes_before(&self, seq: u32) -> u32 {
        let before = seq.saturating_sub(1);
        let bytes = match self.connection.profile {
            // ns-2's last packet is as large as the others.
            Profile::Ns2 => u64::from(before) * u64::from(self.connection.tcp.payload_bytes),
            Profile::Rfc | Profile::Linux => self.connection.payload_through(before as i32),
        };
        // Sequence numbers are modulo 2³² (RFC 9293 §3.4).
        (bytes + 1) as u32
    }

    /// The options of a handshake, in the order in which Linux writes them.
    fn add_handshake(&self, header: &mut Header, (value, echo): (u32, u32)) {
        let tcp = &self.connection.tcp;
        // RFC 9293 §3.7.1: of the headers, only IP's and TCP's fixed ones are taken off the MTU.
        let size = tcp.payload_bytes + tcp.header_bytes - BARE_BYTES;
        let [high, low] = (size.min(u32::from(u16::MAX)) as u16).to_be_bytes();
        header.add(&[SEGMENT_SIZE, 4, high, low]);
        let permitted = if self.sack { [SACK_PERMITTED, 2] } else { [NO_OPERATION; 2] };
        if self.timestamps {
            header.add(&permitted);
            header.add_times(value, echo);
        } else if self.sack {
            header.add(&[NO_OPERATION; 2]);
            header.add(&permitted);
        }
        if let Some(scale) = self.scale {
            header.add(&[NO_OPERATION, WINDOW_SCALE, 3, scale]);
        }
    }
}

impl Header {
    fn new(ports: Ports, (seq, ack): (u32, u32), flags: u16, window: u16) -> Self {
        let mut bytes = [0; MOST_BYTES];
        bytes[0..2].copy_from_slice(&ports.source.to_be_bytes());
        bytes[2..4].copy_from_slice(&ports.destination.to_be_bytes());
        bytes[4..8].copy_from_slice(&seq.to_be_bytes());
        bytes[8..12].copy_from_slice(&ack.to_be_bytes());
        bytes[FLAGS - 1..=FLAGS].copy_from_slice(&flags.to_be_bytes());
        bytes[14..16].copy_from_slice(&window.to_be_bytes());
        Self { bytes, length: HEADER_BYTES }
    }

    fn add(&mut self, option: &[u8]) {
        self.bytes[self.length..self.length + option.len()].copy_from_slice(option);
        self.length += option.len();
    }

    fn add_times(&mut self, value: u32, echo: u32) {
        self.add(&[TIMESTAMPS, 10]);
        self.add(&value.to_be_bytes());
        self.add(&echo.to_be_bytes());
    }

    fn add_timestamps(&mut self, value: u32, echo: u32) {
        self.add(&[NO_OPERATION; 2]);
        self.add_times(value, echo);
    }

    fn add_blocks(&mut self, blocks: impl ExactSizeIterator<Item = [u32; 2]>) {
        self.add(&[NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks.len() as u8]);
        for edge in blocks.flatten() {
            self.add(&edge.to_be_bytes());
        }
    }

    /// The packet with this header and `payload` bytes.
    fn in_packet(mut self, ip: &Ip, payload: u32) -> Headers {
        self.bytes[FLAGS - 1] |= (self.length as u8 / 4) << 4;
        let sum = transport_checksum(ip, &self.bytes[..self.length], self.length as u32 + payload);
        self.bytes[16..18].copy_from_slice(&sum.to_be_bytes());
        Headers::new(*ip, &self.bytes[..self.length], payload)
    }
}

/// The field ACE among the flags.
fn ace(value: u8) -> u16 {
    u16::from(value) << ECE.trailing_zeros()
}

/// A clock of milliseconds that never shows zero (RFC 7323 §5.4; zero stands for "nothing yet").
fn timestamp(time: Time) -> u32 {
    (1 + (time.seconds() * 1e3) as u64) as u32
}

//! Captures that this file makes: whole, cut, mutated. Whatever the bytes are, there is a result or an error.

use std::io::Cursor;

use proptest::prelude::*;
use tightlink_capture::read::capture::{Capture, Options, read};
use tightlink_capture::read::error::Error;
use tightlink_capture::read::flows::Limits;
use tightlink_capture::read::ns2;
use tightlink_capture::read::source::Source;
use tightlink_capture::read::tables::tables;

const ACK: u8 = 16;
const SYN: u8 = 2;

/// A frame of Ethernet, IPv4 and TCP between two ends.
fn frame(back: bool, seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
    let length = (40 + payload) as u16;
    let mut frame = vec![0; 12];
    frame.extend([0x08, 0, 0x45, 0]);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    let (from, to): ([u8; 4], [u8; 4]) =
        if back { ([10, 0, 0, 2], [10, 0, 0, 1]) } else { ([10, 0, 0, 1], [10, 0, 0, 2]) };
    frame.extend(from);
    frame.extend(to);
    let (from, to): (u16, u16) = if back { (80, 5000) } else { (5000, 80) };
    frame.extend(from.to_be_bytes());
    frame.extend(to.to_be_bytes());
    frame.extend(seq.to_be_bytes());
    frame.extend(ack.to_be_bytes());
    frame.extend([0x50, flags, 0, 200, 0, 0, 0, 0]);
    frame.resize(frame.len() + payload, b'x');
    frame
}

/// Headers of tunnels: the protocol of the outer packet, and what is before the inner frame, or the inner packet.
fn tunnels() -> Vec<(u8, Vec<u8>, bool)> {
    let udp = |port: u16, header: &[u8]| [&[200, 0][..], &port.to_be_bytes(), &[0; 4], header].concat();
    vec![
        (4, vec![], false),
        (47, vec![0, 0, 8, 0], false),
        (47, vec![0xb0, 0, 0x65, 0x58, 1, 2, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1], true),
        (47, vec![0x30, 0x01, 0x88, 0x0b, 0, 44, 0, 7, 0, 0, 0, 1, 0xff, 3, 0, 0x21], false),
        (47, vec![0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 3, 0, 0, 0, 0], true),
        (
            47,
            vec![0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            true,
        ),
        (17, udp(4789, &[8, 0, 0, 0, 0, 0x13, 0x89, 0]), true),
        (17, udp(8472, &[8, 0, 0, 0, 0, 0, 1, 0]), true),
        (17, udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 7, 0, 0, 0, 0, 0]), true),
        (97, vec![0x30, 0], true),
        (17, udp(4790, &[12, 0, 0, 4, 0, 0, 7, 0, 0, 2, 2, 3, 0, 0, 7, 255]), true),
        (17, udp(4790, &[12, 0, 0, 1, 0, 0, 7, 0]), false),
        (17, udp(1701, &[0x4a, 2, 0, 60, 0, 7, 0, 5, 0, 1, 0, 0, 0, 2, 0, 0, 0xff, 3, 0, 0x21]), false),
        (17, udp(2152, &[0x34, 255, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0x85, 1, 0, 0, 0]), false),
    ]
}

/// A frame of Ethernet within a tunnel, itself one of Ethernet and IPv4.
fn within((protocol, header, framed): &(u8, Vec<u8>, bool), inner: &[u8]) -> Vec<u8> {
    let inner = if *framed { inner } else { &inner[14..] };
    let mut frame = frame(false, 0, 0, 0, 0);
    frame.truncate(34);
    frame[16..18].copy_from_slice(&((20 + header.len() + inner.len()) as u16).to_be_bytes());
    frame[23] = *protocol;
    frame.extend(header);
    frame.extend(inner);
    frame
}

fn conversation() -> Vec<Vec<u8>> {
    let mut frames =
        vec![frame(false, 99, 0, SYN, 0), frame(true, 499, 100, SYN | ACK, 0), frame(false, 100, 500, ACK, 0)];
    for turn in 0..20 {
        frames.push(frame(false, 100 + 100 * turn, 500, ACK, 100));
        frames.push(frame(true, 500, 200 + 100 * turn, ACK, 0));
    }
    frames
}

/// A frame of Ethernet, IPv4 and UDP between two ends.
fn datagram(back: bool, payload: &[u8]) -> Vec<u8> {
    let mut frame = frame(back, 0, 0, 0, payload.len());
    frame[16..18].copy_from_slice(&((28 + payload.len()) as u16).to_be_bytes());
    frame[23] = 17;
    frame[38..40].copy_from_slice(&((8 + payload.len()) as u16).to_be_bytes());
    frame.truncate(42);
    frame.extend(payload);
    frame
}

/// A handshake of QUIC, and packets whose spin bit switches every ten packets.
fn quic() -> Vec<Vec<u8>> {
    let long = |first: u8, ids: &[u8], length: u16| {
        let mut packet = [&[first, 0, 0, 0, 1][..], ids].concat();
        packet.extend(if first & 0x30 == 0 { &[0][..] } else { &[] });
        packet.extend((0x4000 | length).to_be_bytes());
        packet.resize(packet.len() + usize::from(length), b'p');
        packet
    };
    let ids = [&b"\x08made up!\x02me"[..], b"\x02me\x06server", b"\x06server\x02me"];
    let mut frames = vec![
        datagram(false, &long(0xc0, ids[0], 1200)),
        datagram(true, &[long(0xc0, ids[1], 100), long(0xe0, ids[1], 300)].concat()),
        datagram(false, &[long(0xc0, ids[2], 100), long(0xe0, ids[2], 1100)].concat()),
    ];
    for number in 0..60 {
        let spin = if number / 10 % 2 == 1 { 0x20 } else { 0 };
        frames.push(datagram(true, &[&[0x40 | spin], &b"me"[..], &[b'p'; 50]].concat()));
        frames.push(datagram(false, &[&[0x40 | spin], &b"server"[..], &[b'p'; 20]].concat()));
    }
    frames
}

fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        file.extend(word.to_le_bytes());
    }
    for (number, frame) in frames.iter().enumerate() {
        for word in [number as u32, 0, frame.len() as u32, frame.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len().next_multiple_of(4)) as u32;
    let mut block = [kind.to_le_bytes(), length.to_le_bytes()].concat();
    block.extend(body);
    block.resize(length as usize - 4, 0);
    block.extend(length.to_le_bytes());
    block
}

fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    // Nanoseconds, the name "eth0".
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 2, 0, 4, 0, b'e', b't', b'h', b'0']));
    for (number, frame) in frames.iter().enumerate() {
        let words = [0, 0, number as u32, frame.len() as u32, frame.len() as u32];
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend(frame);
        file.extend(block(6, &body));
    }
    file
}

fn reading(content: &[u8]) -> Result<Capture, Error> {
    let options = Options { packets: true, limits: Limits { open: 4, listed: 4 }, ..Options::default() };
    read(Source::new(Cursor::new(content))?, options, |_, _| true)
}

/// Reads and makes tables; how many packets there are.
fn count(content: &[u8]) -> Option<u64> {
    let found = reading(content).ok()?;
    let count = found.count;
    assert_eq!(found.totals.interfaces.iter().map(|of| of.packets).sum::<u64>(), count);
    assert_eq!(found.totals.protocols.iter().map(|of| of.packets).sum::<u64>(), count);
    for (name, table) in tables(found) {
        let lengths: Vec<usize> = table.columns.iter().map(|(_, column)| length(column)).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {lengths:?}");
    }
    Some(count)
}

fn length(column: &tightlink_sim::tables::Column) -> usize {
    use tightlink_sim::tables::Column;
    match column {
        Column::Float(values) => values.len(),
        Column::Integer(values) => values.len(),
        Column::Text(values) => values.len(),
        Column::Category(codes, _) => codes.len(),
    }
}

#[test]
fn both_formats_hold_the_same() {
    let frames = conversation();
    for content in [pcap(&frames), pcapng(&frames)] {
        let found = reading(&content).expect("a capture");
        assert_eq!((found.count, found.totals.backwards, found.unseen), (43, 0, 0));
        assert!(found.damage.is_none());
        let flows = found.flows.finish().listed;
        let way = &flows[0].1.ways[0];
        assert_eq!((flows.len(), way.data_packets, way.delivered, way.rtt().count), (1, 20, 2000, 21));
        assert_eq!(flows[0].1.state(), "open");
    }
}

#[test]
fn quic_is_recognised_and_spins() {
    let whole = quic();
    for content in [pcap(&whole), pcapng(&whole)] {
        let flows = reading(&content).expect("a capture").flows.finish().listed;
        let found = flows[0].1.quic().expect("a connection of QUIC");
        assert_eq!((flows.len(), found.version(), found.state(), found.client), (1, 1, "open", Some(0)));
        assert_eq!([0, 1].map(|direction| found.rtt(direction).count), [4, 4]);
    }
    // Without its handshake it is not.
    let flows = reading(&pcap(&whole[3..])).expect("a capture").flows.finish().listed;
    assert!(flows[0].1.quic().is_none());
}

#[test]
fn flows_within_tunnels_are_those_without() {
    let plain = reading(&pcap(&conversation())).expect("a capture").flows.finish().listed;
    let all = tunnels();
    for (outer, inner) in all.iter().flat_map(|outer| all.iter().map(move |inner| (outer, inner))) {
        let once: Vec<Vec<u8>> = conversation().iter().map(|frame| within(inner, frame)).collect();
        let twice: Vec<Vec<u8>> = once.iter().map(|frame| within(outer, frame)).collect();
        let size = |(_, header, framed): &(u8, Vec<u8>, bool)| 20 + header.len() + if *framed { 14 } else { 0 };
        for (frames, headers) in [(once, size(inner)), (twice, size(outer) + size(inner))] {
            let found = reading(&pcap(&frames)).expect("a capture");
            let passed: Vec<_> = found.tunnels.used().collect();
            assert_eq!(passed.len(), 1);
            let (of, frames) = (passed[0].1, frames.len() as u64);
            let bytes = found.totals.interfaces[0].bytes;
            assert_eq!((of.packets, of.bytes, of.header_bytes), (frames, bytes, frames * headers as u64));
            let flows = found.flows.finish().listed;
            assert_eq!(flows.len(), 1);
            for (way, expected) in flows[0].1.ways.iter().zip(&plain[0].1.ways) {
                assert_eq!((way.packets, way.bytes, way.payload), (expected.packets, expected.bytes, expected.payload));
                assert_eq!((way.delivered, way.rtt().count), (expected.delivered, expected.rtt().count));
            }
        }
    }
}

#[test]
fn equal_ends_in_different_tunnels_are_different_connections() {
    let mut frames = Vec::new();
    for frame in conversation() {
        for network in [1, 2] {
            let header = [&[0, 9, 0x12, 0xb5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0][..], &[network, 0]].concat();
            frames.push(within(&(17, header, true), &frame));
        }
    }
    let flows = reading(&pcap(&frames)).expect("a capture").flows.finish().listed;
    assert_eq!(flows.iter().map(|(_, one)| one.ways[0].delivered).collect::<Vec<_>>(), [2000, 2000]);
}

#[test]
fn the_answer_may_take_another_tunnel_or_none() {
    let through =
        |end: u8| (17_u8, [&[0, 9, 8, 0x68, 0, 0, 0, 0, 0x30, 255, 0, 0, 0, 0, 0][..], &[end]].concat(), false);
    let ways: [[Option<u8>; 2]; 3] = [[Some(1), Some(2)], [Some(1), None], [None, Some(2)]];
    for [there, back] in ways {
        let frames: Vec<Vec<u8>> = conversation()
            .iter()
            .map(|frame| match if frame[29] == 1 { there } else { back } {
                Some(end) => within(&through(end), frame),
                None => frame.clone(),
            })
            .collect();
        let flows = reading(&pcap(&frames)).expect("a capture").flows.finish().listed;
        assert_eq!((flows.len(), flows[0].1.ways[0].delivered, flows[0].1.ways[0].rtt().count), (1, 2000, 21));
        assert_eq!(flows[0].1.state(), "open");
    }
}

#[test]
fn files_behind_each_other_are_read_as_one() {
    let (whole, frames) = (pcap(&conversation()), conversation().len() as u64);
    let found = reading(&[&whole[..], &whole, &whole[..24], &whole].concat()).expect("a capture");
    assert_eq!((found.count, found.damage.is_none()), (3 * frames, true));
    let mut other = whole.clone();
    other[20] = 101;
    let found = reading(&[&whole[..], &other].concat()).expect("a capture");
    assert_eq!((found.count, found.damage.map(|damage| damage.offset)), (frames, Some(whole.len() as u64)));
}

#[test]
fn every_end_of_a_file_is_told_with_its_byte() {
    let frames = conversation();
    for content in [pcap(&frames), pcapng(&frames)] {
        let mut last = 0;
        for end in 0..content.len() {
            match reading(&content[..end]) {
                Ok(found) => {
                    assert!(found.count >= last);
                    last = found.count;
                    let within = found.damage.map_or(end as u64, |damage| damage.offset);
                    assert!(within <= end as u64);
                }
                Err(error) => assert_eq!(last, 0, "{end}: {error}"),
            }
        }
        assert!(last >= 42);
    }
}

/// A short run by default; `make fuzz` asks for a long one.
fn cases() -> u32 {
    std::env::var("TIGHTLINK_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(512)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_captures_never_panic(
        ng in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..24),
    ) {
        let tunnels = tunnels();
        let mut frames = conversation();
        frames.extend(quic());
        frames.extend(tunnels.iter().zip(conversation()).map(|(tunnel, frame)| within(tunnel, &within(tunnel, &frame))));
        let mut content = if ng { pcapng(&frames) } else { pcap(&frames) };
        for (place, value, kind) in changes {
            let at = place.index(content.len());
            match kind {
                0 => content[at] = value,
                1 => content[at] = if value % 2 == 0 { 0 } else { 255 },
                2 => content.insert(at, value),
                _ => drop(content.remove(at)),
            }
        }
        count(&content);
    }

    #[test]
    fn frames_of_any_bytes_are_counted(
        link in prop::sample::select(vec![0_u8, 1, 12, 101, 108, 113, 228, 229, 105, 249]),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..20),
        heads in prop::collection::vec(prop::sample::select(vec![0x45_u8, 0x60, 0x4f, 0x08, 0x86, 0x81]), 20),
    ) {
        let frames: Vec<Vec<u8>> = frames
            .into_iter()
            .zip(heads)
            .map(|(mut frame, head)| {
                for at in [0, 4, 12, 14] {
                    if let Some(byte) = frame.get_mut(at) {
                        *byte = head;
                    }
                }
                frame
            })
            .collect();
        let mut content = pcap(&frames);
        content[20] = link;
        prop_assert_eq!(count(&content), Some(frames.len() as u64));
    }
}

const TRACE: &str = "0.00000  0  0  2  0  cwnd_ 1.000
+ 0.1 0 1 tcp 40 ------- 0 0.0 1.0 0 0
- 0.1 0 1 tcp 40 ------- 0 0.0 1.0 0 0
r 0.11016 0 1 tcp 40 ------- 0 0.0 1.0 0 0
+ 0.11016 1 0 ack 40 ------- 0 1.0 0.0 0 1
- 0.11016 1 0 ack 40 ------- 0 1.0 0.0 0 1
r 0.12032 1 0 ack 40 ------- 0 1.0 0.0 0 1
+ 0.12032 0 1 tcp 1040 ------- 0 0.0 1.0 1 2
d 0.12032 0 1 tcp 1040 ------- 0 0.0 1.0 1 2
";

/// Reads a trace and makes tables; how many lines there are.
fn lines(content: &[u8]) -> Option<u64> {
    let options = ns2::Options { interval: 10_000_000, packets: true, rate_bps: Some(1e6) };
    let found = ns2::read(Source::new(Cursor::new(content)).ok()?, options, |_, _| true).ok()?;
    let events = found.events;
    for (name, table) in ns2::tables::tables(found) {
        let lengths: Vec<usize> = table.columns.iter().map(|(_, column)| length(column)).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {lengths:?}");
    }
    Some(events)
}

#[test]
fn traces_are_known_by_their_first_event() {
    assert!(ns2::is_trace(TRACE.as_bytes()));
    assert_eq!(lines(TRACE.as_bytes()), Some(8));
    for other in [&b"s 0.5 _0_ AGT  --- 0 tcp 40"[..], b"+", b"", b"0.0 0 0 2 0 cwnd_ 1\n", b"\xd4\xc3\xb2\xa1"] {
        assert!(!ns2::is_trace(other), "{other:?}");
    }
}

proptest! {
    #[test]
    fn damaged_traces_are_read_up_to_the_damage(at in 0..TRACE.len(), bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let mut content = TRACE.as_bytes().to_vec();
        content.splice(at..(at + bytes.len()).min(TRACE.len()), bytes);
        prop_assert!(lines(&content).is_none_or(|events| events <= 28));
    }
}

//! Profile `rfc`, one behaviour at a time: what a TCP sender answers to each ACK while chosen packets are
//! lost. One packet of 1000 bytes takes 1 ms, a round trip a little over 100 ms.

use crate::engine::common::{column, floats, flow, integers, packets, scenario, tcp, trace, wire};
use tightlink_sim::packet::Kind;
use tightlink_sim::probe::trace::{Event, Record};
use tightlink_sim::scenario::{LinkSpec, LossModel, LossSpec, Profile, Recovery, TcpSpec, TrafficSpec, TransportSpec};
use tightlink_sim::tables::{Column, Table};

const DELAY_S: f64 = 0.05;
/// The recoveries that count duplicate ACKs; RACK goes by time.
const COUNTING: [Recovery; 4] = [Recovery::Tahoe, Recovery::Reno, Recovery::Newreno, Recovery::Sack];
/// The SYN is the first packet on the wire, the bare third step of the handshake the second.
const SYN: usize = 0;
/// Where the first packet with data is on the wire, if nothing before it was lost.
const DATA: usize = 2;

/// A transfer of `packets` packets over a wire that loses chosen ones.
struct Transfer<'a> {
    packets: u64,
    tcp: TcpSpec,
    delay_s: f64,
    /// Places, in the order of transmission, of the packets that the wire loses.
    lost: &'a [usize],
    /// The same for ACKs.
    lost_acks: &'a [usize],
}

/// What was seen of it.
struct Seen {
    /// What the sender did: "start", "ack 4" or "timer", and what it then sent.
    actions: Vec<String>,
    /// When packets were sent, in seconds, with their sequence numbers.
    sent: Vec<(f64, u32)>,
    /// When data arrived at the receiver.
    arrived: Vec<(f64, u32)>,
    /// When the receiver sent ACKs.
    acks: Vec<(f64, u32)>,
    sizes: Vec<u32>,
    timeouts: i64,
    retransmitted: i64,
    series: Table,
}

impl Transfer<'_> {
    /// Initial window 10, an ACK for each packet, no limited transmit.
    fn new(recovery: Recovery, packets: u64) -> Self {
        let mut tcp = tcp(Profile::Rfc, recovery);
        tcp.payload_bytes = 948;
        tcp.delayed_ack_s = None;
        tcp.limited_transmit = false;
        Self { packets, tcp, delay_s: DELAY_S, lost: &[], lost_acks: &[] }
    }

    fn run(self) -> Seen {
        let mut scenario = scenario(Profile::Rfc, 200.0, 2);
        scenario.observe.interval_s = Some(0.005);
        scenario.links = wire("wire", (0, 1), 8e6, self.delay_s, packets(1000)).to_vec();
        lose(&mut scenario.links[0], self.lost);
        lose(&mut scenario.links[1], self.lost_acks);
        let bytes = Some(self.packets * u64::from(self.tcp.payload_bytes));
        scenario.flows =
            vec![flow(&scenario, "tcp", 0, (0, 1), TrafficSpec::Bulk { bytes }, TransportSpec::Tcp(self.tcp))];
        let (tables, records) = trace(&scenario);
        assert!(integers(&tables.links, "packets_lost")[0] as usize == self.lost.len());
        let finished_s = floats(&tables.flows, "stop_s")[0];
        assert!(finished_s < scenario.duration_s, "not finished");
        let total = |name| integers(&tables.flows, name)[0];
        Seen {
            actions: actions(&records),
            sent: records.iter().filter(|record| is(record, 0, Event::Enqueue)).map(instant).collect(),
            arrived: records.iter().filter(|record| is(record, 0, Event::Receive)).map(instant).collect(),
            acks: records.iter().filter(|record| is(record, 1, Event::Enqueue)).map(instant).collect(),
            sizes: records.iter().filter(|record| is(record, 0, Event::Enqueue)).map(|record| record.size).collect(),
            timeouts: total("timeouts"),
            retransmitted: total("packets_retransmitted"),
            series: tables.series.expect("an interval was given"),
        }
    }
}

fn is(record: &Record, link: u32, event: Event) -> bool {
    record.link == link && record.event == event
}

fn instant(record: &Record) -> (f64, u32) {
    (record.time.seconds(), record.seq)
}

/// Has the wire lose exactly the packets at `places`.
fn lose(link: &mut LinkSpec, places: &[usize]) {
    let packets = places.iter().map(|&place| place as u64 + 1).collect();
    link.loss = LossSpec::Model(LossModel::Pattern { packets, every: Some(u64::MAX), from_s: 0.0, until_s: None });
}

fn actions(records: &[Record]) -> Vec<String> {
    let mut actions: Vec<(f64, String)> = Vec::new();
    for record in records {
        let now_s = record.time.seconds();
        if is(record, 1, Event::Receive) {
            actions.push((now_s, format!("ack {}:", record.seq)));
        } else if is(record, 0, Event::Enqueue) {
            match actions.last_mut() {
                Some((since_s, action)) if *since_s == now_s => *action += &format!(" {}", record.seq),
                None => actions.push((now_s, format!("start: {}", record.seq))),
                Some(_) => actions.push((now_s, format!("timer: {}", record.seq))),
            }
        }
        assert!(record.link < 2 && record.kind == if record.link == 0 { Kind::Segment } else { Kind::Ack });
    }
    actions.into_iter().map(|(_, action)| action).collect()
}

impl Seen {
    /// What the sender did from the first action that begins with `first`.
    fn from(&self, first: &str) -> &[String] {
        let begin = self.actions.iter().position(|action| action.starts_with(first));
        &self.actions[begin.unwrap_or_else(|| panic!("no {first} among {:#?}", self.actions))..]
    }

    /// The last sample of a metric before `time_s`.
    fn before(&self, time_s: f64, metric: &str) -> f64 {
        let Column::Category(codes, names) = column(&self.series, "metric") else { panic!("metrics are words") };
        let samples = codes.iter().zip(floats(&self.series, "time_s")).zip(floats(&self.series, "value"));
        let mut wanted = samples.filter(|((code, at_s), _)| names[**code as usize] == metric && **at_s < time_s);
        *wanted.next_back().expect("a sample").1
    }
}

fn assert_near(time_s: f64, expected_s: f64) {
    assert!((time_s - expected_s).abs() < 1e-6, "{time_s} s instead of {expected_s} s");
}

/// RFC 9293 §3.5: SYN, SYN and ACK, ACK. RFC 6928: then up to ten packets.
#[test]
fn a_handshake_and_an_initial_window_of_ten() {
    let seen = Transfer::new(Recovery::Sack, 12).run();
    assert_eq!(seen.actions[..3], ["start: 0", "ack 0: 0 1 2 3 4 5 6 7 8 9 10", "ack 1: 11 12"]);
    assert_eq!(seen.sizes[..3], [52, 52, 1000]);
    // The last packet may be short.
    let mut short = Transfer::new(Recovery::Sack, 2);
    short.tcp.payload_bytes = 600;
    assert_eq!(short.run().sizes, [52, 52, 652, 652]);
    // The third step needs no answer.
    assert_eq!(seen.acks[1].1, 1);
}

/// RFC 5681 §3.1: one packet more for each ACK in slow start, however much it acknowledges; then one
/// packet per round trip.
#[test]
fn slow_start_then_one_packet_per_round_trip() {
    let mut transfer = Transfer::new(Recovery::Sack, 60);
    transfer.tcp.initial_window_packets = 2.0;
    transfer.tcp.initial_ssthresh_packets = Some(8.0);
    let seen = transfer.run();
    let rounds: Vec<usize> = (1..8)
        .map(|round| {
            // Between the ACKs of one round and of the next there is a pause.
            let [from_s, to_s] = [0.0, 1.0].map(|more| 0.1 * (f64::from(round) + more) - 0.0005);
            seen.sent.iter().filter(|(at_s, seq)| (from_s..to_s).contains(at_s) && *seq > 0).count()
        })
        .collect();
    // Eq. 3 adds a little less than one packet: 8 becomes 8.94.
    assert_eq!(rounds, [2, 4, 8, 8, 9, 10, 11]);

    let mut transfer = Transfer::new(Recovery::Sack, 60);
    transfer.tcp.delayed_ack_s = Some(0.2);
    let seen = transfer.run();
    assert_eq!(seen.actions[2], "ack 2: 11 12 13");
}

/// RFC 5681 §4.2, RFC 9293 §3.8.6.3: an ACK for every second packet, and no packet waits longer than
/// the timer.
#[test]
fn delayed_acks_for_every_second_packet_or_at_the_timeout() {
    let mut transfer = Transfer::new(Recovery::Sack, 7);
    transfer.tcp.delayed_ack_s = Some(0.2);
    let seen = transfer.run();
    let numbers: Vec<u32> = seen.acks.iter().map(|ack| ack.1).collect();
    assert_eq!(numbers, [0, 2, 4, 6, 7]);
    let arrival_s = |seq| seen.arrived.iter().find(|packet| packet.1 == seq && seq > 0).expect("it arrived").0;
    for (ack, packet) in [(1, 2), (2, 4), (3, 6)] {
        assert_eq!(seen.acks[ack].0, arrival_s(packet));
    }
    assert_near(seen.acks[4].0, arrival_s(7) + 0.2);
    assert_eq!(seen.timeouts, 0);
}

/// RFC 5681 §4.2: at once for a packet out of order, and for one that fills a gap.
#[test]
fn no_delay_for_acks_out_of_order() {
    let mut transfer = Transfer { lost: &[DATA + 2], ..Transfer::new(Recovery::Sack, 9) };
    transfer.tcp.delayed_ack_s = Some(0.2);
    let seen = transfer.run();
    let numbers: Vec<u32> = seen.acks.iter().map(|ack| ack.1).collect();
    // Packets 4 to 9 arrive behind the gap, then 3 fills it.
    assert_eq!(numbers, [0, 2, 2, 2, 2, 2, 2, 2, 9]);
    let arrivals: Vec<f64> = seen.arrived.iter().filter(|packet| packet.1 > 2).map(|packet| packet.0).collect();
    let at_once: Vec<f64> = seen.acks[2..].iter().map(|ack| ack.0).collect();
    assert_eq!(arrivals, at_once);
    // A gap that is not filled to its end: 4 of the missing 3, 4 and 5 is still out of order.
    let mut transfer = Transfer { lost: &[DATA + 2, DATA + 4], ..Transfer::new(Recovery::Sack, 9) };
    transfer.tcp.delayed_ack_s = Some(0.2);
    let numbers: Vec<u32> = transfer.run().acks.iter().map(|ack| ack.1).collect();
    assert_eq!(numbers, [0, 2, 2, 2, 2, 2, 2, 4, 9]);
}

/// RFC 6298 §2.1 and §5.5: the SYN again after 1 s, 2 s, 4 s. RFC 5681 §3.1: then one packet.
#[test]
fn a_lost_syn_is_repeated_and_leaves_a_window_of_one() {
    for lost in [&[SYN][..], &[SYN, 1], &[SYN, 1, 2]] {
        let seen = Transfer { lost, ..Transfer::new(Recovery::Reno, 6) }.run();
        let syns: Vec<f64> = seen.sent.iter().take(lost.len() + 1).map(|packet| packet.0).collect();
        assert_eq!(syns, [0.0, 1.0, 3.0, 7.0][..=lost.len()]);
        assert_eq!(seen.from("ack 0")[..2], ["ack 0: 0 1", "ack 1: 2 3"]);
        assert_eq!(seen.timeouts, lost.len() as i64);
    }
    // A lost answer looks the same to the sender.
    let seen = Transfer { lost_acks: &[0], ..Transfer::new(Recovery::Reno, 6) }.run();
    assert_eq!(seen.actions[..4], ["start: 0", "timer: 0", "ack 0: 0 1", "ack 1: 2 3"]);
}

/// RFC 6298 §5.7: after a lost SYN the timer starts at 3 s, until the round trip has been measured.
#[test]
fn a_lost_syn_makes_the_timer_cautious() {
    let seen = Transfer { lost: &[SYN, DATA + 1], ..Transfer::new(Recovery::Reno, 1) }.run();
    let data: Vec<f64> = seen.sent.iter().filter(|packet| packet.1 == 1).map(|packet| packet.0).collect();
    assert_near(data[1] - data[0], 3.0);
}

/// RFC 6298 §2.2: the first sample R makes the timeout R + 4 R/2.
#[test]
fn the_first_round_trip_sets_the_timer_to_three_of_it() {
    let seen = Transfer { delay_s: 0.4, lost: &[DATA], ..Transfer::new(Recovery::Reno, 1) }.run();
    let round_trip_s = 2.0 * (0.4 + 52.0 * 8.0 / 8e6);
    let data: Vec<f64> = seen.sent.iter().filter(|packet| packet.1 == 1).map(|packet| packet.0).collect();
    assert_near(data[0], round_trip_s);
    assert_near(data[1] - data[0], 3.0 * round_trip_s);
}

/// RFC 6298 §2.4, §2.5 and §5.5: at least 1 s, doubled by every expiry, at most 60 s.
#[test]
fn the_timer_doubles_from_one_second_to_sixty() {
    let lost: Vec<usize> = (DATA..DATA + 8).collect();
    let seen = Transfer { lost: &lost, ..Transfer::new(Recovery::Reno, 1) }.run();
    let data: Vec<f64> = seen.sent.iter().filter(|packet| packet.1 == 1).map(|packet| packet.0).collect();
    let pauses_s: Vec<f64> = data.windows(2).map(|pair| (pair[1] - pair[0]).round()).collect();
    assert_eq!(pauses_s, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
    assert_near(data[8] - data[0], 183.0);
    assert_eq!((seen.timeouts, seen.retransmitted), (8, 8));
}

/// RFC 6298 §5.3: an ACK of new data restarts the timer; §5.5: what it then doubles is gone.
#[test]
fn an_ack_of_new_data_restarts_the_timer_and_ends_the_backoff() {
    for recovery in COUNTING {
        // The last two packets and one retransmission are lost; nothing follows that would make duplicates.
        let seen = Transfer { lost: &[DATA + 8, DATA + 9, DATA + 10], ..Transfer::new(recovery, 10) }.run();
        let last_ack_s = seen.acks[8].0 + DELAY_S + 52.0 * 8.0 / 8e6;
        let nine: Vec<f64> = seen.sent.iter().filter(|packet| packet.1 == 9).map(|packet| packet.0).collect();
        assert_near(nine[1], last_ack_s + 1.0);
        assert_near(nine[2], last_ack_s + 3.0);
        assert_eq!(seen.from("timer"), ["timer: 9", "timer: 9", "ack 9: 10", "ack 10:"]);
        assert_eq!(seen.timeouts, 2);
    }
    for recovery in COUNTING {
        // The same with another loss after the recovery of the first: one second again.
        let seen = Transfer { lost: &[DATA + 8, DATA + 9, DATA + 11], ..Transfer::new(recovery, 10) }.run();
        let ten: Vec<f64> = seen.sent.iter().filter(|packet| packet.1 == 10).map(|packet| packet.0).collect();
        assert_eq!(seen.from("timer"), ["timer: 9", "ack 9: 10", "timer: 10", "ack 10:"]);
        assert_near(ten[2] - ten[1], 1.0);
    }
}

/// RFC 6298 §5.2: with everything acknowledged the timer is off.
#[test]
fn nothing_is_sent_again_without_loss() {
    for recovery in Recovery::ALL {
        let seen = Transfer::new(recovery, 100).run();
        assert_eq!((seen.timeouts, seen.retransmitted, seen.sent.len()), (0, 0, 102));
    }
}

/// RFC 5681 §3.1 eq. 4 and RFC 6298 §5.4: after a timeout half of what was in flight is the threshold,
/// and slow start begins with one packet.
#[test]
fn a_timeout_halves_the_threshold_and_starts_slowly() {
    let mut transfer =
        Transfer { lost: &[DATA + 1, DATA + 2, DATA + 3, DATA + 4], ..Transfer::new(Recovery::Reno, 12) };
    transfer.tcp.initial_window_packets = 6.0;
    transfer.tcp.window_packets = 6.0;
    let seen = transfer.run();
    // Of 2 to 7 only the last two arrive: too few duplicates for a fast retransmit.
    let expected = ["ack 1: 7", "ack 1:", "ack 1:", "timer: 2", "ack 2: 3 4", "ack 3: 5 6", "ack 4: 7"];
    assert_eq!(seen.from("ack 1")[..7], expected);
    let expired_s = seen.sent.iter().rfind(|packet| packet.1 == 2).expect("retransmitted").0;
    assert_eq!(seen.before(expired_s + 0.01, "cwnd_packets"), 1.0);
    assert_eq!(seen.before(expired_s + 0.01, "ssthresh_packets"), 3.0);
}

/// RFC 5681 §3.2: the third duplicate ACK, not the second, sends the missing packet again.
#[test]
fn the_third_duplicate_ack_sends_again_what_is_missing() {
    for recovery in COUNTING {
        let seen = Transfer { lost: &[DATA + 2], ..Transfer::new(recovery, 30) }.run();
        let expected = ["ack 2: 13 14", "ack 2:", "ack 2:", "ack 2: 3"];
        assert_eq!(seen.from("ack 2")[..4], expected, "{recovery:?}");
        assert_eq!((seen.timeouts, seen.retransmitted), (0, 1), "{recovery:?}");
        // Half of the twelve packets 3 to 14.
        let again_s = seen.sent.iter().rfind(|packet| packet.1 == 3).expect("retransmitted").0;
        assert_eq!(seen.before(again_s + 0.01, "ssthresh_packets"), 6.0, "{recovery:?}");
    }
}

/// Two duplicates, as reordering makes them, are no loss.
#[test]
fn two_duplicate_acks_are_not_enough() {
    for recovery in COUNTING {
        let seen = Transfer { lost: &[DATA + 7], ..Transfer::new(recovery, 10) }.run();
        assert_eq!(seen.from("ack 7")[..4], ["ack 7:", "ack 7:", "ack 7:", "timer: 8"], "{recovery:?}");
    }
}

/// Tahoe: slow start from the missing packet; further duplicates send nothing.
#[test]
fn tahoe_starts_slowly_after_a_fast_retransmit() {
    let seen = Transfer { lost: &[DATA + 2], ..Transfer::new(Recovery::Tahoe, 30) }.run();
    let mut expected = vec!["ack 2: 13 14", "ack 2:", "ack 2:", "ack 2: 3"];
    expected.extend(["ack 2:"; 8]);
    expected.extend(["ack 14: 15 16", "ack 15: 17 18", "ack 16: 19 20"]);
    assert_eq!(seen.from("ack 2")[..expected.len()], expected);
}

/// RFC 5681 §3.2, steps 3 to 6: the window is half plus three, one more for each further duplicate, and
/// half again when new data is acknowledged.
#[test]
fn reno_inflates_and_deflates() {
    let seen = Transfer { lost: &[DATA + 2], ..Transfer::new(Recovery::Reno, 40) }.run();
    // Eleven duplicates: 4 to 14. The window is 6 + n; 3 to 14 are twelve.
    let mut expected = vec!["ack 2: 13 14", "ack 2:", "ack 2:", "ack 2: 3", "ack 2:", "ack 2:", "ack 2:"];
    expected.extend(["ack 2: 15", "ack 2: 16", "ack 2: 17", "ack 2: 18", "ack 2: 19"]);
    // Deflated to 6, of which 15 to 19 are five.
    expected.extend(["ack 14: 20", "ack 15: 21", "ack 16: 22"]);
    assert_eq!(seen.from("ack 2")[..expected.len()], expected);
}

/// RFC 6582 §3.2: a partial ACK sends the next missing packet, takes what it acknowledged off the
/// window and lets recovery go on; a loss costs no second reduction and no timeout.
#[test]
fn newreno_mends_a_loss_per_partial_ack() {
    let seen = Transfer { lost: &[DATA + 2, DATA + 5], ..Transfer::new(Recovery::Newreno, 40) }.run();
    // Ten duplicates: 4, 5 and 7 to 14. The window is 6 + n; 3 to 14 are twelve.
    let mut expected = vec!["ack 2: 13 14", "ack 2:", "ack 2:", "ack 2: 3", "ack 2:", "ack 2:", "ack 2:"];
    expected.extend(["ack 2: 15", "ack 2: 16", "ack 2: 17", "ack 2: 18"]);
    // 16 less the three packets 3 to 5, plus one: 14, of which 6 to 18 are thirteen.
    expected.push("ack 5: 6 19");
    // The duplicates that 15 to 18 make inflate further.
    expected.extend(["ack 5: 20", "ack 5: 21", "ack 5: 22", "ack 5: 23"]);
    assert_eq!(seen.from("ack 2")[..expected.len()], expected);
    assert_eq!((seen.timeouts, seen.retransmitted), (0, 2));
}

/// RFC 6582 §3.2 step 3: a full ACK leaves no more than what is in flight plus one, at most the threshold,
/// so that no burst follows.
#[test]
fn newreno_ends_recovery_without_a_burst() {
    // The application has no more than 14 packets: after recovery nothing is in flight.
    let seen = Transfer { lost: &[DATA + 2], ..Transfer::new(Recovery::Newreno, 14) }.run();
    let full_s = seen.acks[seen.acks.len() - 1].0 + DELAY_S;
    assert_eq!(seen.before(full_s - 0.01, "cwnd_packets"), 6.0);
    assert_eq!(seen.before(200.0, "cwnd_packets"), 2.0);
    // With five packets in flight, 15 to 19, the threshold is the smaller bound.
    let seen = Transfer { lost: &[DATA + 2], ..Transfer::new(Recovery::Newreno, 40) }.run();
    assert_eq!(seen.from("ack 14")[..3], ["ack 14: 20", "ack 15: 21", "ack 16: 22"]);
}

/// RFC 6582 §3.2 step 3: only the first partial ACK restarts the timer (RFC 3782 §4 calls that the impatient variant).
#[test]
fn newreno_restarts_the_timer_with_the_first_partial_ack_only() {
    let mut transfer =
        Transfer { lost: &[DATA + 2, DATA + 4, DATA + 6, DATA + 8], ..Transfer::new(Recovery::Newreno, 24) };
    transfer.tcp.rto.min_s = 0.25;
    let seen = transfer.run();
    let partial_s = seen.sent.iter().find(|packet| packet.1 == 5 && packet.0 > 0.2).expect("retransmitted").0;
    let expiry = seen.actions.iter().position(|action| action.starts_with("timer")).expect("the timer expires");
    assert_eq!(seen.actions[expiry], "timer: 9");
    // It had just been sent for the second time.
    let expired_s = seen.sent.iter().filter(|packet| packet.1 == 9).nth(2).expect("retransmitted").0;
    assert_near(expired_s - partial_s, 0.25);
}

/// RFC 6675 §5: in recovery the scoreboard's holes go first, each once, then new data, as long as the
/// pipe is smaller than the window.
#[test]
fn sack_sends_again_only_what_is_missing() {
    let seen = Transfer { lost: &[DATA + 2, DATA + 4, DATA + 6, DATA + 7], ..Transfer::new(Recovery::Sack, 40) }.run();
    let mut again: Vec<u32> = Vec::new();
    for (place, &(_, seq)) in seen.sent.iter().enumerate().skip(DATA) {
        if seen.sent[DATA..place].iter().any(|packet| packet.1 == seq) {
            again.push(seq);
        }
    }
    assert_eq!(again, [3, 5, 7, 8]);
    // 3 to 14 were sent; 4, 6 and 9 to 14 make duplicates. The window is 6. At the third duplicate only 3 is
    // known to be lost. At the fourth 5 is, but 3, 7, 8 and 11 to 14 fill the pipe; at the fifth 12 to 14
    // and 3 leave room for 5 and 7.
    let mut expected = vec!["ack 2: 13 14", "ack 2:", "ack 2:", "ack 2: 3", "ack 2:", "ack 2: 5 7", "ack 2: 8"];
    expected.extend(["ack 2: 15", "ack 2: 16", "ack 4: 17", "ack 6: 18", "ack 7: 19", "ack 14: 20"]);
    assert_eq!(seen.from("ack 2")[..expected.len()], expected);
    assert_eq!(seen.timeouts, 0);
}

/// RFC 6675 §5, step 2: three packets held above the first missing one are as good as three duplicates.
#[test]
fn sack_detects_a_loss_when_duplicate_acks_are_lost() {
    // The duplicates for 4 and 5 are lost; the one for 6 tells of all three.
    let seen = Transfer { lost: &[DATA + 2], lost_acks: &[3, 4], ..Transfer::new(Recovery::Sack, 30) }.run();
    assert_eq!(seen.from("ack 2")[..2], ["ack 2: 13 14", "ack 2: 3"]);
    assert_eq!((seen.timeouts, seen.retransmitted), (0, 1));
}

/// RFC 6675 §5.1: a retransmission that is lost waits for the timer.
#[test]
fn sack_leaves_a_lost_retransmission_to_the_timer() {
    let seen = Transfer { lost: &[DATA + 2, DATA + 14], ..Transfer::new(Recovery::Sack, 20) }.run();
    assert_eq!(seen.timeouts, 1);
    assert_eq!(seen.from("timer")[..2], ["timer: 3", "ack 20:"]);
}

/// RFC 3042: each of the first two duplicates releases a packet that was not sent before.
#[test]
fn limited_transmit_sends_new_data_for_two_duplicates() {
    for recovery in COUNTING {
        let mut transfer = Transfer { lost: &[DATA + 2], ..Transfer::new(recovery, 30) };
        transfer.tcp.limited_transmit = true;
        let seen = transfer.run();
        let expected = ["ack 2: 13 14", "ack 2: 15", "ack 2: 16", "ack 2: 3"];
        assert_eq!(seen.from("ack 2")[..4], expected, "{recovery:?}");
    }
}

/// RFC 5681 §3.2 step 2, RFC 6675 §5 step 4.2: what limited transmit sent does not count as in flight
/// when the window is halved.
#[test]
fn limited_transmit_does_not_raise_the_threshold() {
    for recovery in COUNTING {
        let mut transfer = Transfer { lost: &[DATA + 2], ..Transfer::new(recovery, 30) };
        transfer.tcp.limited_transmit = true;
        let seen = transfer.run();
        let again_s = seen.sent.iter().rfind(|packet| packet.1 == 3).expect("retransmitted").0;
        assert_eq!(seen.before(again_s + 0.01, "ssthresh_packets"), 6.0, "{recovery:?}");
    }
}

/// RFC 3042 speaks of data not sent before: after a timeout the duplicates of what was on its way release
/// nothing that may have arrived.
#[test]
fn limited_transmit_does_not_repeat_packets() {
    for recovery in COUNTING {
        // The packet and its retransmission are lost, and the timer expires while duplicates arrive.
        let mut transfer = Transfer { lost: &[DATA + 2, DATA + 16], ..Transfer::new(recovery, 60) };
        transfer.tcp.limited_transmit = true;
        transfer.tcp.rto.min_s = 0.25;
        let seen = transfer.run();
        assert_eq!(seen.timeouts, 1, "{recovery:?}");
        assert_eq!(seen.retransmitted, 2, "{recovery:?}");
    }
}

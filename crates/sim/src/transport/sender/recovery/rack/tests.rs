use crate::packet::Kind;
use crate::scenario::{Profile, Recovery, SlowStartKind, TcpSpec};
use crate::transport::tests::{Ends, Outcome, tcp};
use proptest::prelude::*;

/// Behind the SYN and the third step of the handshake.
const DATA: usize = 2;

fn ends(packets: u64) -> Ends {
    Ends::new(&tcp("reno", Recovery::Rack), Profile::Rfc, packets)
}

/// Loses the packets of the first window whose bits are set.
fn lose_first(ends: &mut Ends, pattern: u32) {
    ends.talk(|place, _| match place.checked_sub(DATA) {
        Some(bit @ 0..10) if pattern >> bit & 1 == 1 => Outcome::Lost,
        _ => Outcome::Arrives,
    });
}

/// Whatever the first window loses, also all of it, also where nothing follows: it is mended without a timeout,
/// and nothing is retransmitted that was not lost, but for the probe.
#[test]
fn every_loss_in_the_first_window_is_mended_without_a_timeout() {
    let mut linux =
        TcpSpec { delayed_ack_s: Some(0.2), slow_start: SlowStartKind::HyStart, ..tcp("cubic", Recovery::Rack) };
    linux.rto.min_s = 0.2;
    let rfc = tcp("reno", Recovery::Rack);
    for (profile, spec, packets) in [
        (Profile::Rfc, &rfc, 10),
        (Profile::Rfc, &rfc, 11),
        (Profile::Rfc, &rfc, 60),
        (Profile::Linux, &linux, 10),
        (Profile::Linux, &linux, 60),
    ] {
        for pattern in 0..1024_u32 {
            let mut ends = Ends::new(spec, profile, packets);
            lose_first(&mut ends, pattern);
            let totals = ends.sender.totals;
            assert!(totals.finished.is_some(), "{packets} {pattern:b}");
            assert_eq!(ends.receiver.in_order() as u64, packets);
            assert_eq!(totals.timeouts, 0, "{packets} {pattern:b}");
            let spare = totals.packets_retransmitted - u64::from(pattern.count_ones());
            assert!(spare <= 1, "{packets} {pattern:b}: {spare} needless");
        }
    }
}

/// RFC 8985 §7.2: the tail is probed after two round trips (and the time of a delayed ACK, where one packet is
/// alone), not after the retransmission timeout.
#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    let mut ends = ends(10);
    lose_first(&mut ends, 0b11_0000_0000);
    let again: Vec<(f64, u32)> = ends.sent[DATA..]
        .windows(2)
        .filter(|pair| pair[1].packet.seq() <= pair[0].packet.seq() || pair[1].at_s > pair[0].at_s)
        .map(|pair| (pair[1].at_s, pair[1].packet.seq()))
        .collect();
    // The ACK of 8 comes at 0.2 s and a little; two smoothed round trips later 10 is retransmitted. When it has come,
    // 9 has been on its way for longer than a round trip and the reordering window: it is lost.
    assert_eq!(again.iter().map(|sent| sent.1).collect::<Vec<_>>(), [10, 9], "{again:?}");
    assert!((0.40..0.45).contains(&again[0].0), "{again:?}");
    assert!((0.10..0.11).contains(&(again[1].0 - again[0].0)), "{again:?}");
}

/// §7.4: a probe that mends the loss of the last packet silently does not go unanswered.
#[test]
fn a_loss_that_the_probe_mends_reduces_the_window() {
    let mut ends = ends(10);
    lose_first(&mut ends, 0b10_0000_0000);
    assert_eq!((ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts), (1, 0));
    // Until an ACK goes beyond it, the packet itself may have been late.
    assert_eq!(ends.sender.window.ssthresh, f64::MAX);
    ends.say_more(5.0);
    assert_eq!(ends.receiver.in_order(), 11);
    assert_eq!(ends.sender.window.ssthresh, 2.0);
}

/// RFC 6937 §3.1: one packet of twenty is lost; in recovery every other ACK lets one go, and ten are in flight
/// at its end.
#[test]
fn recovery_sends_at_half_the_rate() {
    let mut spec = tcp("reno", Recovery::Rack);
    spec.initial_window_packets = 20.0;
    spec.initial_ssthresh_packets = Some(20.0);
    spec.limited_transmit = false;
    let mut ends = Ends::new(&spec, Profile::Rfc, 200);
    ends.talk(|place, _| if place == DATA { Outcome::Lost } else { Outcome::Arrives });
    assert_eq!(ends.sender.window.ssthresh, 10.0);
    let sent = |from_s: f64, to_s: f64| ends.sent.iter().filter(|sent| (from_s..to_s).contains(&sent.at_s)).count();
    // The first window leaves at 0.1 s, the retransmission and what recovery sends in the round trip from 0.2 s on.
    assert_eq!(sent(0.19, 0.3), 10);
    assert_eq!((ends.sender.totals.packets_retransmitted, ends.sender.totals.timeouts), (1, 0));
}

/// A packet that is lost again and again holds the cumulative ACK for longer than the timeout. Linux's timer begins anew
/// with each transmission of it, and while it cannot have been acknowledged; RFC 6298's (§5.3) only with new data.
#[test]
fn linux_waits_for_the_last_transmission_of_the_first_packet() {
    let timeouts = |profile| {
        let mut spec = TcpSpec { initial_window_packets: 40.0, window_packets: 1000.0, ..tcp("reno", Recovery::Rack) };
        spec.rto.min_s = 0.2;
        let mut ends = Ends::new(&spec, profile, 4000);
        let mut losses = 0;
        ends.talk(|_, packet| {
            let lost = packet.kind() == Kind::Segment && packet.seq() == 2 && losses < 7;
            losses += usize::from(lost);
            if lost { Outcome::Lost } else { Outcome::Arrives }
        });
        assert!(ends.sender.totals.finished.is_some());
        ends.sender.totals.timeouts
    };
    assert_eq!((timeouts(Profile::Rfc), timeouts(Profile::Linux)), (1, 0));
}

/// Packets that leave at 1, 1.01 and 1.03 s, of which the first two are lost, and all behind them: the timer that waits for
/// late ones gives way to the timeout, which counts all the while. With Linux since the first packet was sent last, when the
/// third had arrived (tcp_rearm_rto); by RFC 6298 §5.1 since it was sent.
#[test]
fn waiting_for_late_packets_does_not_put_off_the_timeout() {
    for (profile, least_s) in [(Profile::Rfc, 1.0), (Profile::Linux, 0.2)] {
        let mut spec = tcp("reno", Recovery::Rack);
        spec.rto.min_s = least_s;
        let mut ends = Ends::new(&spec, profile, 200);
        ends.start_with(1);
        // One is overtaken, so that others are waited for, too.
        [0.5, 0.505, 1.0, 1.01, 1.03].iter().for_each(|&at_s| ends.offer(at_s));
        let mut lost = Vec::new();
        while ends
            .step(|_, packet| {
                let at_s = packet.sent().seconds();
                if packet.seq() == 2 {
                    return Outcome::Late(0.01);
                }
                if at_s < 1.0 || packet.seq() == 6 {
                    return Outcome::Arrives;
                }
                lost.push((at_s, packet.seq()));
                Outcome::Lost
            })
            .is_some_and(|at_s| at_s < 3.0)
        {}
        assert_eq!(lost[..5].iter().map(|lost| lost.1).collect::<Vec<_>>(), [4, 5, 4, 5, 4], "{profile:?}: {lost:?}");
        let (first_s, last_s) = (lost[if profile == Profile::Linux { 2 } else { 0 }].0, lost[4].0);
        let timeout_s = if profile == Profile::Linux { 0.301 } else { 1.0 };
        assert!((last_s - first_s - timeout_s).abs() < 2e-3, "{profile:?}: {lost:?}");
    }
}

/// What recovery sends is lost, too, and found missing before it ends: another loss, for which the window shrinks again (RFC 6675
/// §5; Linux, whose lost_out is not zero then).
#[test]
fn a_loss_of_what_recovery_sends_begins_another() {
    let threshold = |also: Option<u32>| {
        let spec = TcpSpec {
            initial_window_packets: 20.0,
            initial_ssthresh_packets: Some(20.0),
            ..tcp("reno", Recovery::Rack)
        };
        let (mut ends, mut lost) = (Ends::new(&spec, Profile::Linux, 200), Vec::new());
        // The first packet twice, so that what is sent meanwhile is found missing first.
        ends.talk(|_, packet| {
            let losses = lost.iter().filter(|&&seq| seq == packet.seq()).count();
            let loses =
                packet.seq() == 1 && !packet.is_bare() && losses < 2 || Some(packet.seq()) == also && losses < 1;
            lost.extend(loses.then_some(packet.seq()));
            if loses { Outcome::Lost } else { Outcome::Arrives }
        });
        assert_eq!((ends.sender.totals.timeouts, ends.sender.totals.packets_retransmitted as usize), (0, lost.len()));
        ends.sender.window.ssthresh
    };
    assert_eq!((threshold(None), threshold(Some(25))), (10.0, 5.0));
}

/// While a loss is mended Copa's window follows the delay as before; others have cut theirs.
#[test]
fn copa_goes_on_in_recovery() {
    let goes_on = |control| {
        let mut ends = Ends::new(&tcp(control, Recovery::Rack), Profile::Linux, 4000);
        let (mut losses, mut windows) = (0, Vec::new());
        ends.start();
        while ends
            .step(|_, packet| {
                let lost = packet.kind() == Kind::Segment && packet.seq() == 200 && losses < 5;
                losses += usize::from(lost);
                if lost { Outcome::Lost } else { Outcome::Arrives }
            })
            .is_some()
        {
            windows.extend(ends.sender.recovering.then_some(ends.sender.window.cwnd));
        }
        assert!(ends.sender.totals.finished.is_some());
        let (first, last) = (windows[0], windows[windows.len() - 1]);
        last != first && last > 0.9 * first
    };
    assert_eq!((goes_on("copa"), goes_on("reno")), (true, false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any losses, also of retransmissions: every packet arrives, and no more is in flight than was counted.
    #[test]
    fn everything_arrives(lost in prop::collection::btree_set(0_usize..300, 0..120), window in 1..40, delayed: bool) {
        let mut spec = tcp("cubic", Recovery::Rack);
        spec.window_packets = f64::from(window);
        spec.delayed_ack_s = delayed.then_some(0.2);
        let mut ends = Ends::new(&spec, Profile::Rfc, 150);
        ends.talk(|place, _| if lost.contains(&place) { Outcome::Lost } else { Outcome::Arrives });
        prop_assert!(ends.sender.totals.finished.is_some());
        prop_assert_eq!(ends.receiver.in_order(), 150);
        let flight = &ends.sender.rack.as_ref().expect("it has one").flight;
        prop_assert_eq!((flight.missing(), flight.held(), flight.lost(), flight.pipe()), (0, 0, 0, 0));
    }
}

//! The cases of ns-3's unit tests of Hybla, Veno, Illinois, YeAH and LEDBAT (src/internet/test/tcp-*-test.cc), with what the
//! papers' formulas make of them: window, threshold, round trips in ms, packets acknowledged. (Those of HighSpeed are
//! the rows of RFC 3649's table, in `highspeed.rs`. Those of H-TCP, of Scalable's increase and of BIC's smooth part
//! contradict the papers and Linux, and are not here.)

use super::hybla::Hybla;
use super::illinois::Illinois;
use super::ledbat::Ledbat;
use super::tests::{ack, loss, with};
use super::veno::Veno;
use super::yeah::Yeah;
use super::{Ack, CongestionControl, Window};

/// A control that has measured `rtts_ms`, each in an ACK, the last of which grows the window; and that window.
fn after<C: CongestionControl>(
    options: &[(&str, f64)],
    (cwnd, ssthresh): (f64, f64),
    rtts_ms: &[f64],
    acked: f64,
) -> (C, Window) {
    let mut control: C = with(options);
    let mut window = Window { cwnd, ssthresh };
    for (place, rtt_ms) in rtts_ms.iter().enumerate() {
        let last = place + 1 == rtts_ms.len();
        let ack = Ack { acked, delivered: acked, ..ack(rtt_ms / 1000.0) };
        control.measure(&ack);
        if last {
            control.on_ack(&mut window, &ack);
        }
    }
    (control, window)
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value}, not {expected}");
}

/// Of a reference of 50 ms, as there: 2^ρ − 1 for an ACK in slow start, ρ² for a window beyond.
#[test]
fn hybla() {
    for (rtt_ms, rho) in [(55.0, 1.1), (100.0, 2.0), (750.0, 15.0)] {
        let option = [("reference_rtt", 0.05)];
        close(after::<Hybla>(&option, (2.0, f64::MAX), &[rtt_ms], 1.0).1.cwnd, 2.0 + libm::pow(2.0, rho) - 1.0);
        close(after::<Hybla>(&option, (2.0, 1.0), &[rtt_ms], 1.0).1.cwnd, 2.0 + rho * rho / 2.0);
    }
}

/// Below three packets in the queue a loss is taken for random, and costs a fifth; beyond, a half, and growth is half as fast.
#[test]
fn veno() {
    // The base of 100 ms is known from a round trip before.
    let case = |cwnd: f64, ssthresh: f64, rtt_ms: f64| {
        let (mut control, _) = after::<Veno>(&[], (cwnd, ssthresh), &[100.0], 1.0);
        let mut window = Window { cwnd, ssthresh };
        let ack = Ack { through: 2, highest: 2, ..ack(rtt_ms / 1000.0) };
        control.measure(&ack);
        control.on_ack(&mut window, &ack);
        (window.cwnd - cwnd, control.on_loss(&window, &loss(cwnd)) / cwnd)
    };
    for ((cwnd, ssthresh, rtt_ms), (grown, kept)) in [
        ((38.0, 40.0, 100.0), (1.0, 0.8)),
        ((30.0, 20.0, 106.0), (1.0 / 30.0, 0.8)),
        ((60.0, 40.0, 106.0), (0.5 / 60.0, 0.5)),
    ] {
        let seen = case(cwnd, ssthresh, rtt_ms);
        close(seen.0, grown);
        close(seen.1, kept);
    }
}

/// α = 10 and β = 1/8 where nothing waits; at the largest delay 0.3 and 1/2; in between as in §3.
#[test]
fn illinois() {
    let case = |cwnd: f64, ssthresh: f64, rtts_ms: &[f64], acked: f64| {
        let (mut control, window) = after::<Illinois>(&[], (cwnd, ssthresh), rtts_ms, acked);
        (window.cwnd - cwnd, control.on_loss(&window, &loss(cwnd)) / cwnd)
    };
    let (grown, kept) = case(60.0, 40.0, &[100.0, 100.0], 2.0);
    close(grown, 10.0 * 2.0 / 60.0);
    close(kept, 1.0 - 0.125);
    // 8 of 10 ms on average: in slow start it shows in the loss only.
    let (grown, kept) = case(38.0, 40.0, &[100.0, 110.0, 110.0, 110.0, 110.0], 2.0);
    close(grown, 1.0);
    close(kept, 0.5);
    // 2.5 of 5 ms on average: α between, and β half way from 1/8 at 0.5 ms to 1/2 at 4 ms.
    let (grown, kept) = case(40.0, 38.0, &[100.0, 105.0], 55.0);
    let (above, most) = (2.5 - 0.05, 5.0 - 0.05);
    let alpha = most * 10.0 / (most + above * (10.0 - 0.3) / 0.3);
    close(grown, alpha * 55.0 / 40.0);
    close(kept, 1.0 - (0.125 + 0.375 * (2.5 - 0.5) / 3.5));
}

/// What the queue holds goes with a loss, an eighth at least and a half at most; a half sharing the queue with Reno.
#[test]
fn yeah() {
    let case = |cwnd: f64, rtt_ms: f64| {
        // The base of 100 ms is known from a round trip before.
        let (mut control, _) = after::<Yeah>(&[], (cwnd, 2.0), &[100.0], 2.0);
        let mut window = Window { cwnd, ssthresh: 2.0 };
        let ack = Ack { through: 2, highest: 2, ..ack(rtt_ms / 1000.0) };
        control.measure(&ack);
        control.on_ack(&mut window, &ack);
        (control, window.cwnd)
    };
    // 57 packets at twice the base: half of them wait. The window that queues are reckoned from has grown by then.
    let (mut control, grown) = case(57.0, 200.0);
    close(control.on_loss(&Window { cwnd: 57.0, ssthresh: 2.0 }, &loss(57.0)), 57.0 - 57.0 / 2.0);
    assert!(grown > 57.0);
    // 40 at 1.05 times: an eighth.
    let (mut control, _) = case(40.0, 105.0);
    close(control.on_loss(&Window { cwnd: 40.0, ssthresh: 2.0 }, &loss(40.0)), 40.0 - 5.0);
}

/// 2 ms of 100 are off the target by 0.98, 198 ms by −0.98; two packets are the least.
#[test]
fn ledbat() {
    let case = |rtts_ms: &[f64]| after::<Ledbat>(&[], (2.0, 4.0), rtts_ms, 2.0).1.cwnd;
    close(case(&[1.0, 3.0, 3.0, 3.0, 3.0]), 2.0 + 0.98);
    close(case(&[1.0, 199.0, 199.0, 199.0, 199.0]), 2.0);
}

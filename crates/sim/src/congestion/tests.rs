//! What the tests of the controls share: ACKs, losses, and a path of one connection.

use super::*;
use crate::time::Time;
use std::collections::BTreeMap;

/// The ACK of one packet after `rtt_s`, at time zero, with all of the window in use.
pub(crate) fn ack(rtt_s: f64) -> Ack {
    let (in_flight, through, highest) = (1e9, 1, 1);
    Ack { now: Time::ZERO, acked: 1.0, delivered: 1.0, marked: 0.0, rtt_s, in_flight, through, highest }
}

/// A loss of a window of `in_use` packets.
pub(crate) fn loss(in_use: f64) -> Loss {
    Loss { now: Time::ZERO, in_use }
}

/// A control with its defaults.
pub(crate) fn fresh<C: CongestionControl>() -> C {
    with(&[])
}

/// A control with some of its options set.
pub(crate) fn with<C: CongestionControl>(options: &[(&str, f64)]) -> C {
    let given = options.iter().map(|&(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>();
    C::new(&Options::new(C::OPTIONS, &given).expect("the options exist"))
}

/// A path of one connection: every packet takes `rtt_s`; what is in the window comes back in order.
pub(crate) struct Path {
    pub now_s: f64,
    pub window: Window,
    through: i32,
}

impl Path {
    /// In congestion avoidance with `cwnd` packets.
    pub(crate) fn new(cwnd: f64) -> Self {
        Self { now_s: 0.0, window: Window { cwnd, ssthresh: 2.0 }, through: 0 }
    }

    /// One window of ACKs, spread over `rtt_s`, each reporting `rtt_s`.
    pub(crate) fn round<C: CongestionControl>(&mut self, control: &mut C, rtt_s: f64) {
        let count = self.window.cwnd as i32;
        let highest = self.through + count;
        for place in 1..=count {
            self.now_s += rtt_s / f64::from(count);
            self.through += 1;
            let ack = Ack {
                now: Time::new(self.now_s),
                in_flight: self.window.cwnd,
                through: self.through,
                highest: highest + place,
                ..ack(rtt_s)
            };
            control.measure(&ack);
            control.on_ack(&mut self.window, &ack);
        }
    }

    /// A loss that duplicate ACKs tell.
    pub(crate) fn lose<C: CongestionControl>(&mut self, control: &mut C) {
        let loss = Loss { now: Time::new(self.now_s), in_use: self.window.cwnd };
        self.window.ssthresh = control.on_loss(&self.window, &loss).max(2.0);
        self.window.cwnd = self.window.ssthresh;
    }
}

/// RFC 5681 lets standard TCP grow whoever limits the sender; Linux lets no control.
#[test]
fn unused_windows_grow_only_where_they_may() {
    let mut controls = Controls::default();
    let unused = Ack { in_flight: 2.0, ..ack(0.1) };
    let mut grown = |name: &str, used: Option<bool>| {
        let handle = controls.add(&name.into()).expect("defaults are good");
        let mut window = Window { cwnd: 10.0, ssthresh: 100.0 };
        controls.measure_and_grow(handle, &mut window, &unused, used);
        window.cwnd > 10.0
    };
    assert_eq!([None, Some(false), Some(true)].map(|used| grown("reno", used)), [true, false, true]);
    assert_eq!([None, Some(false), Some(true)].map(|used| grown("cubic", used)), [false, false, true]);
}

#[test]
fn options_are_checked() {
    let mut controls = Controls::default();
    for control in CONTROLS {
        controls.add(&control.name.into()).expect("defaults are good");
        for option in control.options {
            assert!((option.least..=option.most).contains(&option.default), "{} {}", control.name, option.name);
        }
    }
    let unknown = ControlSpec { kind: "bbr3".into(), external: None, options: [("alpha".to_owned(), 1.0)].into() };
    assert_eq!(controls.add(&unknown), Err("no option \"alpha\"; it has none".into()));
    assert_eq!(controls.add(&"no".into()), Err("no such congestion control".into()));
}

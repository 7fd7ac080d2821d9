//! Controls that live outside of the engine, such as those written in Python: they hear of a connection once a
//! round trip, of each ACK or of each sample of the delivery rate if they ask to.
//!
//! They set window and threshold apart. While the engine brings a window down to what a control gave, its threshold is that
//! window: one that the control set beside it is kept here until then.

use std::fmt::Debug;

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlSpec, Loss, LostPacket, Options, RateSample, Whole, Window};
use crate::random::Stream;
use crate::time::Time;

/// What happened since the last report: a round trip, and before it a loss recovery if there was one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// When, in seconds.
    pub now_s: f64,
    /// Since the last report, or since the connection was established, in seconds.
    pub interval_s: f64,
    /// Packets acknowledged since then.
    pub delivered: f64,
    /// Those of them that had a congestion mark, as far as ACKs tell: with classic ECN all that an ACK acknowledges which
    /// says that there was one.
    pub marked: f64,
    /// Packets outstanding.
    pub in_flight: f64,
    /// The mean round-trip time of the ACKs since then, in seconds.
    pub rtt_s: f64,
    /// The smallest of them, in seconds.
    pub rtt_min_s: f64,
    /// The smallest of the connection, in seconds.
    pub rtt_base_s: f64,
    /// Whether the window was in use, so that its size tells something of the path.
    pub in_use: bool,
}

/// What a control makes of a loss, of a mark or of a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cut {
    /// The window to continue with; none: as the engine has it.
    pub window: Option<f64>,
    /// The slow-start threshold; none: that window.
    pub threshold: Option<f64>,
}

/// A control outside of the engine. All windows are in packets.
pub trait External: Debug + Send {
    /// Whether it hears of each ACK by [`Self::on_ack`]. If not, the engine doubles the window in slow start.
    fn wants_acks(&self) -> bool;
    /// Whether marks are told by [`Self::on_mark`]. If not, they are losses to it.
    fn wants_marks(&self) -> bool {
        false
    }
    /// Whether it hears of each sample of the delivery rate by [`Self::on_sample`]. Its connection is paced then, and nothing
    /// but its calls sets the window, in recovery, too.
    fn wants_samples(&self) -> bool {
        false
    }
    /// An ACK told of packets for the first time, in recovery or outside. True if the control itself sends too little for
    /// samples to tell how fast the path is.
    fn on_sample(&mut self, _window: &mut Window, _sample: &RateSample) -> bool {
        false
    }
    /// Whether its connection is paced.
    fn is_paced(&self) -> bool {
        self.wants_samples()
    }
    /// Packets per second at which it paces; none: as its window tells.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Tells what it knows that series are to have, by the names that it gives to that.
    fn known(&self, _each: &mut dyn FnMut(&str, f64)) {}
    /// A packet was marked, the first of its window. Without a window nothing is reduced.
    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Cut {
        self.on_loss(window, loss, true)
    }
    /// A round trip is over.
    fn on_report(&mut self, window: &mut Window, report: &Report);
    /// An ACK acknowledged new data outside of recovery; the window was in use or not. With [`Self::wants_marks`] also one of
    /// marked packets alone, and while the window comes down for a mark.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, in_use: bool);
    /// The SYN was acknowledged, after `rtt_s`. Profile `ns2`, which has none with data behind it, does not tell.
    fn on_handshake(&mut self, _window: &mut Window, _now: Time, _rtt_s: f64) {}
    /// An ACK acknowledged new data in recovery, or while the window comes down for a mark that was told as a loss: measure.
    fn on_recovery_ack(&mut self, _ack: &Ack) {}
    /// A loss was detected, or a packet was `marked` that counts as lost: it has a window.
    fn on_loss(&mut self, window: &Window, loss: &Loss, marked: bool) -> Cut;
    /// The retransmission timer expired: it has a threshold. The window is what the scenario has after a timeout, if none.
    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> Cut;
    /// What it has answered last was no loss: the window and the threshold are those before, which it may change.
    fn on_undo(&mut self, _window: &mut Window, _now: Time) {}
}

/// A connection that is to have an external control.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Label of its flow.
    pub flow: &'a str,
    /// Seed of the scenario.
    pub seed: u64,
    /// Application bytes in a full segment.
    pub payload_bytes: u32,
    /// The window with which it begins, as the scenario has it.
    pub window: Window,
}

/// Makes the external controls of a scenario.
pub trait Maker: Debug {
    /// The control of a connection, and the window with which that begins.
    ///
    /// # Errors
    /// What is wrong with it.
    fn make(&mut self, spec: &ControlSpec, opening: &Opening<'_>) -> Result<(Box<dyn External>, Window), String>;
}

/// Of a scenario without any.
#[derive(Debug)]
pub struct NoMaker;

impl Maker for NoMaker {
    fn make(&mut self, _spec: &ControlSpec, _opening: &Opening<'_>) -> Result<(Box<dyn External>, Window), String> {
        Err("a congestion control of the engine: there is none outside of it here".into())
    }
}

/// The engine's side of an external control.
#[derive(Debug)]
pub struct Connected {
    control: Box<dyn External>,
    wants_acks: bool,
    wants_marks: bool,
    wants_samples: bool,
    rounds: Rounds,
    delivered: f64,
    marked: f64,
    since: Option<Time>,
    /// The ACK that was measured last.
    last: Option<Ack>,
    /// The threshold, once the window is what was given for a loss or a mark.
    threshold: Option<f64>,
    /// The window after the timeout that was answered last.
    loss_window: Option<f64>,
    /// A loss was answered, after which a round trip begins with the first ACK outside of recovery.
    mended: bool,
    /// Marks of packets up to here are no news.
    marked_through: i32,
}

impl Connected {
    pub(super) fn to(control: Box<dyn External>) -> Self {
        Self {
            wants_acks: control.wants_acks(),
            wants_marks: control.wants_marks(),
            wants_samples: control.wants_samples(),
            control,
            rounds: Rounds::default(),
            delivered: 0.0,
            marked: 0.0,
            since: None,
            last: None,
            threshold: None,
            loss_window: None,
            mended: false,
            marked_through: -1,
        }
    }

    /// Takes note of an ACK.
    fn note(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        self.last = Some(*ack);
        if self.since.is_none() {
            // The first round began when the packet was sent that the first ACK answers.
            self.since = Some(Time::new((ack.now.seconds() - ack.rtt_s).max(0.0)));
        }
    }

    /// An ACK may let the window grow, of which the sender has kept note whether it was `used`, or has not.
    fn grow(&mut self, window: &mut Window, ack: &Ack, used: Option<bool>) {
        window.ssthresh = self.threshold.take().unwrap_or(window.ssthresh);
        if std::mem::take(&mut self.mended) {
            // A report with the end of the recovery would let the window grow a round trip early (RFC 5681 §3.1).
            self.rounds.extend(ack);
        }
        self.tell_ack(window, ack, used.unwrap_or_else(|| ack.finds_in_use(window)));
    }

    /// Tells of an ACK outside of loss recovery, and of a round trip that is over.
    fn tell_ack(&mut self, window: &mut Window, ack: &Ack, in_use: bool) {
        if self.wants_acks {
            self.control.on_ack(window, ack, in_use);
        } else if in_use && !self.wants_samples && window.in_slow_start() {
            window.slow_start(ack.acked);
        }
        self.tell(window, ack, in_use);
    }

    /// Tells of a round trip that is over.
    fn tell(&mut self, window: &mut Window, ack: &Ack, in_use: bool) {
        if self.rounds.is_over(ack) {
            let report = self.report(ack, in_use);
            self.control.on_report(window, &report);
            self.rounds.begin(ack);
            (self.delivered, self.marked) = (0.0, 0.0);
            self.since = Some(ack.now);
        }
    }

    fn report(&self, ack: &Ack, in_use: bool) -> Report {
        Report {
            now_s: ack.now.seconds(),
            interval_s: ack.now.since(self.since.unwrap_or(ack.now)),
            delivered: self.delivered,
            marked: self.marked,
            in_flight: ack.in_flight,
            rtt_s: self.rounds.mean_s().unwrap_or(ack.rtt_s),
            rtt_min_s: self.rounds.least_s,
            rtt_base_s: self.rounds.base_s,
            in_use,
        }
    }
}

impl CongestionControl for Connected {
    const HELP: &'static str = "outside of the engine";
    const WHOLE: Whole = Whole::No;

    fn new(_options: &Options<'_>) -> Self {
        unreachable!("it has no name: it is connected")
    }

    fn measure(&mut self, ack: &Ack) {
        self.note(ack);
        self.control.on_recovery_ack(ack);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.grow(window, ack, None);
    }

    fn measure_and_grow(&mut self, window: &mut Window, ack: &Ack, used: Option<bool>) {
        self.note(ack);
        self.grow(window, ack, used);
    }

    fn hear(&mut self, window: &Window, ack: &Ack) {
        if !self.wants_marks {
            self.measure(ack);
            return;
        }
        self.note(ack);
        let threshold = window.ssthresh;
        let mut shown = Window { cwnd: threshold, ssthresh: self.threshold.unwrap_or(threshold) };
        let unmarked = Ack { acked: (ack.acked - ack.marked).max(0.0), ..*ack };
        let in_use = unmarked.finds_in_use(&shown);
        self.tell_ack(&mut shown, &unmarked, in_use);
    }

    fn hears_marks(&self) -> bool {
        self.wants_marks
    }

    fn samples_delivery(&self) -> bool {
        self.wants_samples
    }

    fn on_handshake(&mut self, window: &mut Window, now: Time, rtt_s: f64) {
        self.control.on_handshake(window, now, rtt_s);
    }

    fn is_paced(&self) -> bool {
        self.control.is_paced()
    }

    fn on_sample(
        &mut self,
        window: &mut Window,
        sample: &RateSample,
        _losses: &[LostPacket],
        _random: &mut Stream,
    ) -> bool {
        window.ssthresh = self.threshold.take().unwrap_or(window.ssthresh);
        self.control.on_sample(window, sample)
    }

    fn known(&self, _packet_bits: f64, each: &mut dyn FnMut(&str, f64)) {
        self.control.known(each);
    }

    fn pacing_rate(&self, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        self.control.pacing_rate().unwrap_or_else(|| window.pacing_rate(in_flight, srtt_s))
    }

    fn counts_marks(&self) -> bool {
        self.wants_marks
    }

    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        if !self.wants_marks {
            let cut = self.control.on_loss(window, loss, true);
            self.threshold = cut.threshold;
            // Where samples set the window, one that stays is not brought down to itself.
            return cut.window.filter(|&cwnd| !self.wants_samples || cwnd != window.cwnd);
        }
        let ack = self.last.filter(|ack| ack.through > self.marked_through)?;
        self.marked_through = ack.highest;
        let cut = self.control.on_mark(window, loss);
        self.threshold = cut.threshold;
        cut.window
    }

    fn on_loss(&mut self, window: &Window, loss: &Loss) -> f64 {
        let cut = self.control.on_loss(window, loss, false);
        (self.threshold, self.mended) = (cut.threshold, true);
        cut.window.unwrap_or(loss.in_use)
    }

    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        let cut = self.control.on_timeout(window, loss);
        (self.threshold, self.mended, self.loss_window) = (None, true, cut.window);
        cut.threshold.unwrap_or(loss.in_use)
    }

    fn loss_window(&mut self) -> Option<f64> {
        self.loss_window.take()
    }

    fn on_spurious(&mut self, window: &mut Window) {
        self.threshold = None;
        if let Some(last) = self.last {
            self.control.on_undo(window, last.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{Path, ack, loss};
    use std::sync::{Arc, Mutex};

    /// Keeps what it is told.
    #[derive(Debug, Default)]
    struct Listening(Arc<Mutex<Vec<Report>>>);

    impl External for Listening {
        fn wants_acks(&self) -> bool {
            false
        }
        fn on_report(&mut self, window: &mut Window, report: &Report) {
            window.cwnd += 1.0;
            self.0.lock().unwrap().push(*report);
        }
        fn on_ack(&mut self, _window: &mut Window, _ack: &Ack, _in_use: bool) {
            unreachable!("it did not ask for ACKs");
        }
        fn on_loss(&mut self, _window: &Window, loss: &Loss, _marked: bool) -> Cut {
            Cut { window: Some(loss.in_use / 2.0), threshold: Some(1000.0) }
        }
        fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> Cut {
            Cut { window: Some(3.0), threshold: Some(loss.in_use / 2.0) }
        }
    }

    /// Writes down what it hears of.
    #[derive(Debug, Default)]
    struct Writing(Arc<Mutex<Vec<&'static str>>>);

    impl Writing {
        fn note(&self, what: &'static str) {
            self.0.lock().unwrap().push(what);
        }
    }

    impl External for Writing {
        fn wants_acks(&self) -> bool {
            true
        }
        fn on_handshake(&mut self, window: &mut Window, _now: Time, _rtt_s: f64) {
            self.note("handshake");
            window.cwnd = 4.0;
        }
        fn on_recovery_ack(&mut self, _ack: &Ack) {
            self.note("in recovery");
        }
        fn on_report(&mut self, _window: &mut Window, _report: &Report) {}
        fn on_ack(&mut self, _window: &mut Window, _ack: &Ack, in_use: bool) {
            self.note(if in_use { "in use" } else { "unused" });
        }
        fn on_loss(&mut self, _window: &Window, _loss: &Loss, _marked: bool) -> Cut {
            Cut::default()
        }
        fn on_timeout(&mut self, _window: &Window, _loss: &Loss) -> Cut {
            Cut::default()
        }
    }

    /// Where the sender has kept note of whether the window was in use, that counts; else what was in flight does.
    #[test]
    fn it_hears_of_the_handshake_of_each_ack_and_whether_the_window_is_used() {
        let heard = Arc::default();
        let mut control = Connected::to(Box::new(Writing(Arc::clone(&heard))));
        let mut window = Window { cwnd: 10.0, ssthresh: 5.0 };
        control.on_handshake(&mut window, Time::ZERO, 0.1);
        assert_eq!(window.cwnd, 4.0);
        let few = Ack { in_flight: 1.0, ..ack(0.1) };
        for used in [None, Some(true), Some(false)] {
            control.measure_and_grow(&mut window, &few, used);
        }
        control.measure(&few);
        control.hear(&window, &few);
        let expected = ["handshake", "unused", "in use", "unused", "in recovery", "in recovery"];
        assert_eq!(*heard.lock().unwrap(), expected);
    }

    /// Paces, at a rate if it has one.
    #[derive(Debug)]
    struct Pacing(Option<f64>);

    impl External for Pacing {
        fn wants_acks(&self) -> bool {
            false
        }
        fn wants_samples(&self) -> bool {
            true
        }
        fn pacing_rate(&self) -> Option<f64> {
            self.0
        }
        fn on_report(&mut self, _window: &mut Window, _report: &Report) {}
        fn on_ack(&mut self, _window: &mut Window, _ack: &Ack, _in_use: bool) {}
        fn on_loss(&mut self, _window: &Window, _loss: &Loss, _marked: bool) -> Cut {
            Cut::default()
        }
        fn on_timeout(&mut self, _window: &Window, _loss: &Loss) -> Cut {
            Cut::default()
        }
    }

    #[test]
    fn what_hears_of_samples_is_paced_and_grows_by_itself() {
        let window = Window { cwnd: 10.0, ssthresh: f64::MAX };
        for (rate, expected) in [(Some(7.0), 7.0), (None, 2.0 * 12.0 / 0.1)] {
            let control = Connected::to(Box::new(Pacing(rate)));
            assert!(control.is_paced() && control.samples_delivery());
            assert_eq!(control.pacing_rate(&window, 12.0, 0.1), expected);
        }
        let mut path = Path::new(10.0);
        path.round(&mut Connected::to(Box::new(Pacing(None))), 0.1);
        assert_eq!(path.window.cwnd, 10.0);
        let silent = Connected::to(Box::new(Listening::default()));
        assert!(!silent.is_paced() && !silent.samples_delivery());
    }

    #[test]
    fn a_report_tells_of_a_round_trip() {
        let reports = Arc::default();
        let mut control = Connected::to(Box::new(Listening(Arc::clone(&reports))));
        let mut path = Path::new(10.0);
        for rtt_s in [0.1, 0.2, 0.4] {
            path.round(&mut control, rtt_s);
        }
        let reports = reports.lock().unwrap();
        // The first ACK begins a round; each ends with what had been sent when it began, one packet after the ACK.
        let rounds: Vec<(f64, f64)> = reports.iter().map(|told| (told.delivered, told.rtt_base_s)).collect();
        assert_eq!(rounds, [(1.0, 0.1), (11.0, 0.1), (12.0, 0.1)]);
        assert_eq!(path.window.cwnd, 13.0);
        assert!(reports.iter().all(|told| told.in_use && told.rtt_min_s <= told.rtt_s));
    }
    #[test]
    fn a_report_after_a_loss_comes_a_round_trip_after_the_recovery() {
        let reports = Arc::default();
        let mut control = Connected::to(Box::new(Listening(Arc::clone(&reports))));
        let mut path = Path::new(10.0);
        path.round(&mut control, 0.1);
        let before = reports.lock().unwrap().len();
        assert_eq!(control.on_loss(&path.window, &loss(10.0)), 5.0);
        path.window = Window { cwnd: 5.0, ssthresh: 5.0 };
        path.round(&mut control, 0.1);
        assert_eq!(reports.lock().unwrap().len(), before);
        path.round(&mut control, 0.1);
        let reports = reports.lock().unwrap();
        assert_eq!(reports.len(), before + 1);
        assert!(reports[before].interval_s > 0.15, "{:?}", reports[before]);
    }

    #[test]
    fn a_threshold_beside_a_window_counts_once_the_window_is_there() {
        let mut control = Connected::to(Box::new(Listening::default()));
        let mut window = Window { cwnd: 10.0, ssthresh: f64::MAX };
        window.cwnd = control.on_loss(&window, &loss(10.0));
        window.ssthresh = window.cwnd;
        let ack = Ack { in_flight: 5.0, ..ack(0.1) };
        control.measure(&ack);
        assert_eq!(window.ssthresh, 5.0);
        control.on_ack(&mut window, &ack);
        assert_eq!(window.ssthresh, 1000.0);
        // What was undone is as it was.
        control.on_loss(&window, &loss(10.0));
        control.on_spurious(&mut window);
        window.ssthresh = 7.0;
        control.on_ack(&mut window, &ack);
        assert_eq!(window.ssthresh, 7.0);
        // The window after a timeout is told once, as the engine asks after each.
        assert_eq!(control.on_timeout(&window, &loss(10.0)), 5.0);
        assert_eq!((control.loss_window(), control.loss_window()), (Some(3.0), None));
    }

    /// What was acknowledged and marked by each ACK, and how often marks were told.
    type Heard = (Vec<(f64, f64)>, u32);

    /// Counts what it hears, and reduces nothing.
    #[derive(Debug, Default)]
    struct Marked(Arc<Mutex<Heard>>);

    impl External for Marked {
        fn wants_acks(&self) -> bool {
            true
        }
        fn wants_marks(&self) -> bool {
            true
        }
        fn on_mark(&mut self, _window: &Window, _loss: &Loss) -> Cut {
            self.0.lock().unwrap().1 += 1;
            Cut::default()
        }
        fn on_report(&mut self, _window: &mut Window, _report: &Report) {}
        fn on_ack(&mut self, window: &mut Window, ack: &Ack, _in_use: bool) {
            window.cwnd += 1.0;
            self.0.lock().unwrap().0.push((ack.acked, ack.marked));
        }
        fn on_loss(&mut self, _window: &Window, _loss: &Loss, _marked: bool) -> Cut {
            Cut::default()
        }
        fn on_timeout(&mut self, _window: &Window, _loss: &Loss) -> Cut {
            Cut::default()
        }
    }

    #[test]
    fn marks_are_told_once_a_round_trip_and_acks_while_the_window_comes_down() {
        let heard = Arc::default();
        let mut control = Connected::to(Box::new(Marked(Arc::clone(&heard))));
        let window = Window { cwnd: 10.0, ssthresh: 8.0 };
        for through in 1..=20 {
            let ack = Ack { through, highest: through + 9, marked: 1.0, ..ack(0.1) };
            control.hear(&window, &ack);
            assert_eq!(control.on_mark(&window, &loss(10.0)), None);
        }
        let heard = heard.lock().unwrap();
        // Of packets 1, 11; the third round trip has not come.
        assert_eq!(heard.1, 2);
        assert_eq!(heard.0, [(0.0, 1.0); 20]);
        assert_eq!(window.cwnd, 10.0);
    }
}

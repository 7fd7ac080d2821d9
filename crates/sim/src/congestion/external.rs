//! Controls that live outside of the engine, such as those written in Python: they hear of a connection once a
//! round trip, of each ACK or of each sample of the delivery rate if they ask to.

use std::fmt::Debug;

use super::rounds::Rounds;
use super::{Ack, CongestionControl, ControlSpec, Loss, LostPacket, Options, RateSample, Whole, Window};
use crate::random::Stream;
use crate::time::Time;

/// What happened since the last report: a round trip, or less after a loss.
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
    /// A packet was marked, the first of its window: the window to continue with; none: as it is.
    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        Some(self.on_loss(window, loss))
    }
    /// A round trip is over.
    fn on_report(&mut self, window: &mut Window, report: &Report);
    /// An ACK acknowledged new data outside of recovery; the window was in use or not.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack, in_use: bool);
    /// A loss was detected: the window to continue with.
    fn on_loss(&mut self, window: &Window, loss: &Loss) -> f64;
    /// The retransmission timer expired: the new threshold.
    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64;
}

/// Makes the external controls of a scenario.
pub trait Maker: Debug {
    /// The control of the connection `flow`.
    ///
    /// # Errors
    /// What is wrong with it.
    fn make(&mut self, spec: &ControlSpec, flow: &str) -> Result<Box<dyn External>, String>;
}

/// Of a scenario without any.
#[derive(Debug)]
pub struct NoMaker;

impl Maker for NoMaker {
    fn make(&mut self, _spec: &ControlSpec, _flow: &str) -> Result<Box<dyn External>, String> {
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
        }
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
    /// It is told whether the window is in use.
    const SEES_UNUSED: bool = true;

    fn new(_options: &Options<'_>) -> Self {
        Self::to(Box::new(Nobody))
    }

    fn measure(&mut self, ack: &Ack) {
        self.rounds.sample(ack);
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        self.last = Some(*ack);
        if self.since.is_none() {
            // The first round began when the packet was sent that the first ACK answers.
            self.since = Some(Time::new((ack.now.seconds() - ack.rtt_s).max(0.0)));
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let in_use = ack.finds_in_use(window);
        if self.wants_acks {
            self.control.on_ack(window, ack, in_use);
        } else if in_use && !self.wants_samples && window.in_slow_start() {
            window.slow_start(ack.acked);
        }
        self.tell(window, ack, in_use);
    }

    fn samples_delivery(&self) -> bool {
        self.wants_samples
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
        self.control.on_sample(window, sample)
    }

    fn pacing_rate(&self, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        self.control.pacing_rate().unwrap_or_else(|| window.pacing_rate(in_flight, srtt_s))
    }

    fn counts_marks(&self) -> bool {
        self.wants_marks
    }

    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        if !self.wants_marks {
            return Some(self.control.on_loss(window, loss));
        }
        // An ACK of marked packets alone lets nothing grow, and may end a round trip.
        if let Some(ack) = self.last {
            let mut copy = *window;
            self.tell(&mut copy, &ack, ack.finds_in_use(window));
        }
        self.control.on_mark(window, loss)
    }

    fn on_loss(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.control.on_loss(window, loss)
    }

    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.control.on_timeout(window, loss)
    }
}

/// Stands where no control is connected: keeps every window as it is.
#[derive(Debug)]
struct Nobody;

impl External for Nobody {
    fn wants_acks(&self) -> bool {
        true
    }
    fn on_report(&mut self, _window: &mut Window, _report: &Report) {}
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack, _in_use: bool) {}
    fn on_loss(&mut self, window: &Window, _loss: &Loss) -> f64 {
        window.cwnd
    }
    fn on_timeout(&mut self, window: &Window, _loss: &Loss) -> f64 {
        window.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::Path;
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
        fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
            loss.in_use / 2.0
        }
        fn on_timeout(&mut self, _window: &Window, loss: &Loss) -> f64 {
            loss.in_use / 2.0
        }
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
        fn on_loss(&mut self, window: &Window, _loss: &Loss) -> f64 {
            window.cwnd
        }
        fn on_timeout(&mut self, window: &Window, _loss: &Loss) -> f64 {
            window.cwnd
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
        let silent = Connected::to(Box::new(Nobody));
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
}

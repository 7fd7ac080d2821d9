//! How a window reacts: the window, what is told of ACKs and losses, and the trait that each control has.

use super::{ControlOption, LostPacket, Options, RateSample};
use crate::random::Stream;
use crate::time::Time;

/// Names by which series have what a control of the engine knows of the path.
pub mod known {
    /// The bandwidth of the path, in bit/s.
    pub const BANDWIDTH_BPS: &str = "bandwidth_bps";
    /// The round-trip time of the empty path, in seconds.
    pub const RTT_BASE_S: &str = "rtt_base_s";
    /// The window at which growth is flat, in packets.
    pub const PLATEAU_PACKETS: &str = "plateau_packets";
    /// The share of packets that queues mark.
    pub const MARKED_SHARE: &str = "marked_share";
}

/// The congestion window and the slow-start threshold, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

impl Window {
    /// Whether the window is below the threshold.
    #[inline]
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start, RFC 5681 eq. 2: at most one packet per ACK, however much it acknowledges.
    #[inline]
    pub fn slow_start(&mut self, acked: f64) {
        self.cwnd += acked.min(1.0);
    }

    /// Packets per second of a paced connection whose control knows no better rate.
    #[must_use]
    pub fn pacing_rate(&self, in_flight: f64, srtt_s: f64) -> f64 {
        PACING[usize::from(self.cwnd >= self.ssthresh / 2.0)] * self.cwnd.max(in_flight) / srtt_s
    }

    /// Slow start below the threshold, and growth by `packets` per window acknowledged beyond.
    pub fn open(&mut self, packets: f64, acked: f64) {
        if self.in_slow_start() { self.slow_start(acked) } else { self.grow(packets, acked) }
    }

    /// Grows by `packets` per window acknowledged, and no faster than slow start.
    #[inline]
    pub fn grow(&mut self, packets: f64, acked: f64) {
        self.cwnd += (packets * acked / self.cwnd).min(acked);
    }
}

/// An ACK that acknowledged new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Packets that growth counts: those acknowledged; one, where a profile counts ACKs instead of data.
    pub acked: f64,
    /// Packets acknowledged.
    pub delivered: f64,
    /// Packets that had a congestion mark, as far as it tells: where nothing counts them, it stands for all that it
    /// acknowledges. With accurate ECN it may tell of more, as marks of packets behind a gap are among them.
    pub marked: f64,
    /// The round-trip time that its timestamp tells, in seconds.
    pub rtt_s: f64,
    /// Packets outstanding before it came.
    pub in_flight: f64,
    /// The last packet that it acknowledges.
    pub through: i32,
    /// The highest packet sent.
    pub highest: i32,
}

impl Ack {
    /// Whether the window was in use when the ACK came. In slow start more than half of it is enough: the other
    /// half the ACKs of this round have only just allowed (RFC 9438 §5.8).
    #[inline]
    #[must_use]
    pub fn finds_in_use(&self, window: &Window) -> bool {
        let limit = if window.in_slow_start() { 2.0 * self.in_flight } else { self.in_flight + 1.0 };
        limit > window.cwnd
    }
}

/// A loss, or a mark that stands for one.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was detected.
    pub now: Time,
    /// Packets of the window in use then: what a cut starts from.
    pub in_use: f64,
}

impl Loss {
    /// The window to search for next (BIC's and CUBIC's W_max) after `top` was it. With `fast_convergence`, a
    /// window that did not come back to `top` gives way to new flows (RFC 9438 §4.7).
    #[must_use]
    pub fn top(&self, top: f64, beta: f64, fast_convergence: bool) -> f64 {
        if fast_convergence && self.in_use < top { self.in_use * (1.0 + beta) / 2.0 } else { self.in_use }
    }
}

/// A paced connection sends this many times its window in a smoothed round-trip time: in slow start up to half
/// of the threshold, and beyond (Linux, ip-sysctl: tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
const PACING: [f64; 2] = [2.0, 1.2];

/// How Linux, which has windows in whole packets, keeps a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// A share of the window, rounded down.
    Down,
    /// The window less a share of it, which is rounded down.
    Up,
    /// With its fraction, as TCP Prague does.
    No,
}

impl Whole {
    /// What is kept of a threshold, in packets.
    #[must_use]
    pub fn of(self, threshold: f64) -> f64 {
        match self {
            Self::Down => threshold.floor(),
            Self::Up => threshold.ceil(),
            Self::No => threshold,
        }
    }
}

/// How a window reacts. All windows are in packets.
pub trait CongestionControl: Sized {
    /// One line of help.
    const HELP: &'static str;
    /// What a scenario may set.
    const OPTIONS: &'static [ControlOption] = &[];
    /// Whether the window grows also where something else limits the sender, so that it tells nothing of
    /// the path (as RFC 5681 allows and RFC 9438 §5.8 does not).
    const GROWS_UNUSED: bool = false;
    /// Whether it hears of every ACK, and judges itself what an unused window means.
    const SEES_UNUSED: bool = false;
    /// Whether it is driven by samples of the delivery rate: [`Self::on_sample`]. Its connections are paced.
    const SAMPLES_DELIVERY: bool = false;
    /// Whether its connections are paced, whatever a scenario says.
    const PACED: bool = Self::SAMPLES_DELIVERY;
    /// Whether it reads [`Ack::marked`], so that flows need marks and receivers that tell of each (RFC 8257 §3.2).
    const READS_MARKS: bool = false;
    /// Whether a loss is no reason to hold the window still until it is mended. Only RACK, which tells of each packet, heeds it.
    const GOES_ON: bool = false;
    /// How Linux makes a threshold whole.
    const WHOLE: Whole = Whole::Down;

    /// Its phases, by the number that [`Self::phase`] has.
    const PHASES: &'static [&'static str] = &["slow-start", "congestion-avoidance"];

    /// The state of a new connection.
    fn new(options: &Options<'_>) -> Self;

    /// See [`Self::SAMPLES_DELIVERY`], which is what a kind of control says; those outside of the engine differ.
    fn samples_delivery(&self) -> bool {
        Self::SAMPLES_DELIVERY
    }

    /// See [`Self::PACED`].
    fn is_paced(&self) -> bool {
        Self::PACED
    }

    /// Whether its packets say ECT(1), as those of a scalable control do (RFC 9331 §4.1), rather than ECT(0).
    fn is_scalable(&self) -> bool {
        false
    }

    /// The receiver does not tell of each mark, so that its packets go without ECN. Only for a scalable control.
    fn goes_without_marks(&mut self) {}

    /// New data was acknowledged, in recovery or outside: measure. Comes before [`Self::on_ack`].
    #[inline]
    fn measure(&mut self, _ack: &Ack) {}

    /// New data was acknowledged while the window comes down for a mark: measure. Nothing lets it grow.
    #[inline]
    fn hear(&mut self, _window: &Window, ack: &Ack) {
        self.measure(ack);
    }

    /// New data was acknowledged outside of recovery: grow.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// New data was acknowledged outside of recovery: measures, and grows unless the window was not in use. Where the sender
    /// has kept note of whether it is `used`, as in Linux, no window grows unused.
    #[inline]
    fn measure_and_grow(&mut self, window: &mut Window, ack: &Ack, used: Option<bool>) {
        self.measure(ack);
        let always = Self::SEES_UNUSED || (Self::GROWS_UNUSED && used.is_none());
        if always || used.unwrap_or_else(|| ack.finds_in_use(window)) {
            self.on_ack(window, ack);
        }
    }

    /// A loss was detected by duplicate ACKs or SACK: the window to continue with, before any lower bound. Half, as in RFC 5681
    /// equation 4, where a control knows nothing better.
    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        loss.in_use / 2.0
    }

    /// A packet was marked (RFC 3168), the first of its window: the window to continue with, before any lower
    /// bound; none: the mark is no news to it. [`Self::measure`] has seen the ACK that tells of it. A control that samples
    /// set takes no note of marks (Linux: `tcp_end_cwnd_reduction` leaves it its window).
    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        (!Self::SAMPLES_DELIVERY).then(|| self.on_loss(window, loss))
    }

    /// The retransmission timer expired: the new threshold, before any lower bound.
    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.on_loss(window, loss)
    }

    /// The window after the timeout that it has just answered, if it is not what the scenario has.
    fn loss_window(&mut self) -> Option<f64> {
        None
    }

    /// Whether it hears, by [`Self::on_ack`], of ACKs of marked packets alone, too.
    fn hears_marks(&self) -> bool {
        false
    }

    /// Whether ACKs of what was not marked, beside what was, let the window grow: marks are counted, and answered apart.
    fn counts_marks(&self) -> bool {
        Self::READS_MARKS
    }

    /// An ACK told of packets for the first time, in recovery or outside, and `losses` were found since the sample
    /// before, with RACK by this ACK, too: sets the window. True if samples of what is in flight will not tell how fast
    /// the path is, as the control itself sends too little.
    fn on_sample(
        &mut self,
        _window: &mut Window,
        _sample: &RateSample,
        _losses: &[LostPacket],
        _random: &mut Stream,
    ) -> bool {
        false
    }

    /// The SYN was acknowledged, after `rtt_s`, and data may be sent.
    fn on_handshake(&mut self, _window: &mut Window, _now: Time, _rtt_s: f64) {}

    /// The application has something to send again, with nothing in flight. Only for a control that samples.
    fn on_restart(&mut self, _window: &mut Window, _now: Time, _random: &mut Stream) {}

    /// A packet is sent with nothing in flight, and none was since `last`. Only where the use of the window is noted, as in Linux.
    #[inline]
    fn on_silence(&mut self, _last: Time, _now: Time) {}

    /// The losses that it has answered last were none: the packets had been late only. The window that was before them
    /// comes back.
    fn on_spurious(&mut self, _window: &mut Window) {}

    /// In which of its [`Self::PHASES`] it is.
    fn phase(&self, window: &Window) -> usize {
        usize::from(!window.in_slow_start())
    }

    /// Tells what it knows of the path that series are to have, by [name](known); packets have so many bits.
    fn known(&self, _packet_bits: f64, _each: &mut dyn FnMut(&str, f64)) {}

    /// Packets per second at which a paced connection sends, with `in_flight` packets outstanding and a smoothed
    /// round-trip time of `srtt_s` seconds.
    fn pacing_rate(&self, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        window.pacing_rate(in_flight, srtt_s)
    }
}

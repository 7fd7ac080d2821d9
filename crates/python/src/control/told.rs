//! What controls are told, as Python sees it.

use pyo3::prelude::*;
use tightlink_sim::congestion;

/// What happened to a connection since the last report: a round trip, and before it a loss recovery if there was one.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Report {
    /// When, in seconds.
    pub now_s: f64,
    /// Since the last report, in seconds.
    pub interval_s: f64,
    /// Packets acknowledged since then.
    pub delivered: f64,
    /// Those of them that had a congestion mark, as far as ACKs tell: each with accurate ECN; with classic ECN all that an
    /// ACK acknowledges which says that there was one.
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

/// The SYN was acknowledged.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Handshake {
    /// When, in seconds.
    pub now_s: f64,
    /// How long after it was sent, in seconds.
    pub rtt_s: f64,
}

/// An ACK that acknowledged new data.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Ack {
    /// When it arrived, in seconds.
    pub now_s: f64,
    /// Packets that it acknowledges, but for marked ones; 1 under profile ns2, which counts ACKs.
    pub acked: f64,
    /// Packets that had a congestion mark, as far as it tells; they are not among those above. Of a class with on_mark; to
    /// others a mark is a loss.
    pub marked: f64,
    /// The round-trip time that its timestamp tells, in seconds.
    pub rtt_s: f64,
    /// Packets outstanding before it came.
    pub in_flight: f64,
    /// The last packet that it acknowledges.
    pub through: i32,
    /// The highest packet that was sent before it came.
    pub highest: i32,
    /// Whether the window was in use.
    pub in_use: bool,
}

impl Ack {
    pub(super) fn of(ack: &congestion::Ack, in_use: bool) -> Self {
        let &congestion::Ack { acked, marked, rtt_s, in_flight, through, highest, .. } = ack;
        Self { now_s: ack.now.seconds(), acked, marked, rtt_s, in_flight, through, highest, in_use }
    }
}

/// A loss that the sender has detected.
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct Loss {
    /// When it was detected, in seconds.
    pub now_s: f64,
    /// Packets of the window in use then: what a cut starts from; not a truth value, as that of reports and ACKs.
    pub in_use: f64,
    /// Whether it is a mark, that of a class without on_mark among them, for which it is a loss.
    pub marked: bool,
}

/// A sample of the delivery rate, of the flight of the packet that was sent last of those that an ACK tells of
/// (draft-cheng-iccrg-delivery-rate-estimation).
#[pyclass(frozen, get_all, module = "tightlink._core")]
#[derive(Debug)]
pub struct RateSample {
    /// When the ACK arrived, in seconds.
    pub now_s: f64,
    /// When that packet was sent, in seconds.
    pub sent_s: f64,
    /// The delivery rate, in packets per second; 0 if it cannot be told.
    pub rate: f64,
    /// Packets delivered in the span of the sample.
    pub delivered: f64,
    /// Packets delivered in all when that packet was sent: one that is sent after a round trip began ends it.
    pub prior_delivered: f64,
    /// Packets delivered in all.
    pub total_delivered: f64,
    /// The round-trip time of that packet in seconds; None if it was sent more than once, as nobody can tell which one
    /// was answered. So it may be None from the first sample on.
    pub rtt_s: Option<f64>,
    /// Packets of which this ACK tells for the first time, acknowledged or selectively.
    pub newly_delivered: f64,
    /// Packets that were found lost since the sample before.
    pub newly_lost: f64,
    /// Packets that were found lost in the span of the sample.
    pub lost: f64,
    /// Packets in flight when that packet had been sent, itself included.
    pub sent_in_flight: f64,
    /// Packets in flight now: sent, and neither delivered nor lost.
    pub in_flight: f64,
    /// Whether the application had too little to send, so that the path may be faster.
    pub app_limited: bool,
    /// Whether losses are being mended.
    pub recovering: bool,
}

macro_rules! shown_in_python {
    ($($told:ident),*) => {$(
        #[pymethods]
        impl $told {
            fn __repr__(&self) -> String {
                as_python(&format!("{self:?}"))
            }
        }
    )*};
}

shown_in_python!(Report, Ack, Loss, RateSample);

/// A struct as Python writes an object with its fields.
fn as_python(written: &str) -> String {
    let fields = written.replace(" { ", "(").replace(" }", ")").replace(": ", "=");
    let fields = fields.replace("=Some(", "=").replace("),", ",");
    fields.replace("=true", "=True").replace("=false", "=False")
}

//! What TCP senders are asked for, and what becomes of it.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

use super::{Ended, Failure, Pattern, TcpInfo, TimeSpent, in_order};

/// What a stream begins with: this, then the number of the flow in eight bytes.
pub(super) const GREETING: [u8; 8] = *b"TLPROBE1";
/// The greeting and the number.
pub(super) const HEAD: usize = 16;
const SEGMENT_MOST: u32 = 65_495;

/// What one flow sends. Times are in seconds after the beginning.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpFlow {
    /// Number that the receiver knows it by.
    pub flow: u64,
    /// Where to.
    pub to: SocketAddr,
    /// When it connects.
    pub start_s: f64,
    /// When it stops writing; without it, when all is sent or the time is up.
    pub stop_s: Option<f64>,
    /// How much it sends; without it, data never end.
    pub size_bytes: Option<u64>,
    /// Most bytes outstanding or waiting in the socket; without it the socket's buffer decides.
    pub window_bytes: Option<u64>,
    /// Whether the receiver advertises that window, once data have come: then it is left to the kernel, which sends at
    /// once when there is room.
    #[serde(default)]
    pub receiver_keeps_window: bool,
    /// Payload of a segment; without it the kernel's.
    pub segment_bytes: Option<u32>,
    /// When the application writes a segment; without it, as soon as there is room.
    #[serde(default)]
    pub pattern: Option<Pattern>,
}

/// What to send.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSend {
    /// The flows, in the order of their sockets.
    pub flows: Vec<TcpFlow>,
    /// The beginning, of `CLOCK_MONOTONIC`; without it, now.
    pub begin_ns: Option<i64>,
    /// Between samples of each connection; without it there are none.
    pub sample_s: Option<f64>,
    /// Between looks whether a window has room.
    pub nap_s: f64,
    /// How long to wait for what was still outstanding when a flow stopped.
    pub drain_s: f64,
}

/// What became of a flow. Times are of `CLOCK_REALTIME`.
#[derive(Clone, Debug, Serialize)]
pub struct SentFlow {
    /// Its number.
    pub flow: u64,
    /// When it began to connect, if it did.
    pub start_ns: Option<i64>,
    /// When it was connected, if it was.
    pub connected_ns: Option<i64>,
    /// When it stopped: when its last byte was acknowledged, or when it was told to.
    pub stop_ns: Option<i64>,
    /// Its own address.
    pub from: Option<String>,
    /// Payload that the kernel took until it stopped.
    pub written_bytes: u64,
    /// Payload that was not acknowledged when it stopped.
    pub outstanding_bytes: u64,
    /// What the kernel knew of it when it stopped.
    pub info: TcpInfo,
    /// What it waited for until it stopped.
    pub spent: TimeSpent,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// Samples of connections, a column each.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Which flow.
    pub flow: Vec<u64>,
    /// When, of `CLOCK_REALTIME`.
    pub time_ns: Vec<i64>,
    /// What the kernel knew.
    pub info: Vec<TcpInfo>,
}

/// What was sent.
#[derive(Clone, Debug)]
pub struct TcpSent {
    /// The beginning, of `CLOCK_REALTIME`.
    pub began_ns: i64,
    /// Why it ended.
    pub ended: Ended,
    /// The flows.
    pub flows: Vec<SentFlow>,
    /// Their samples.
    pub samples: Samples,
}

/// Says what makes no sense, if anything does.
pub(super) fn check(spec: &TcpSend, sockets: &[OwnedFd]) -> Result<(), Failure> {
    let wrong = |text: String| Err(Failure::Wrong(text));
    if spec.flows.len() != sockets.len() {
        return wrong(format!("{} sockets for {} flows: expected one each", sockets.len(), spec.flows.len()));
    }
    let positive = |seconds: f64| seconds > 0.0;
    if !positive(spec.nap_s) || !spec.sample_s.is_none_or(positive) {
        return wrong("nap_s and sample_s: expected times above zero".to_owned());
    }
    for TcpFlow { flow, start_s, stop_s, size_bytes, window_bytes, segment_bytes, pattern, .. } in &spec.flows {
        if !in_order(*start_s, *stop_s) {
            return wrong(format!("flow {flow}: expected a start that is not negative and a stop after it"));
        }
        if size_bytes.is_some_and(|size| size < HEAD as u64) {
            return wrong(format!("flow {flow}: expected at least {HEAD} B to send"));
        }
        if segment_bytes.is_some_and(|segment| segment == 0 || segment > SEGMENT_MOST) {
            return wrong(format!("flow {flow}: expected a segment from 1 to {SEGMENT_MOST} B"));
        }
        if window_bytes.is_some_and(|window| window == 0) {
            return wrong(format!("flow {flow}: expected a window above zero"));
        }
        if *pattern == Some(Pattern::Saturate) {
            return wrong(format!("flow {flow}: expected no pattern, with which it writes as fast as it can"));
        }
        if let Some(problem) = pattern.as_ref().and_then(Pattern::problem) {
            return wrong(format!("flow {flow}: {problem}"));
        }
    }
    Ok(())
}

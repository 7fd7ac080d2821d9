//! Real traffic of our own: what to send or receive goes in as JSON with the sockets' descriptors, a summary comes out as
//! JSON with columns of whole numbers.

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use numpy::IntoPyArray;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use tightlink_relay::probe::{self, Failure, Guard, TcpInfo};

use crate::fault::detached;

/// A summary, and columns.
type Answer<'py> = (String, Bound<'py, PyDict>);
/// The same before Python has it.
type Found = (Value, Vec<(&'static str, Vec<i64>)>);

/// Sends over TCP sockets that are not connected.
#[pyfunction]
#[pyo3(signature = (spec, sockets, *, limit_s, stop = None))]
pub fn probe_tcp_send<'py>(
    py: Python<'py>,
    spec: &str,
    sockets: Vec<RawFd>,
    limit_s: f64,
    stop: Option<RawFd>,
) -> PyResult<Answer<'py>> {
    let spec: probe::TcpSend = understood(spec)?;
    let sockets = owned(&sockets)?;
    blocking(py, limit_s, stop, |guard| {
        let sent = probe::send_tcp(&spec, sockets, guard)?;
        let head = json!({ "began_ns": sent.began_ns, "ended": sent.ended, "flows": sent.flows });
        let samples = sent.samples;
        let column = |field: fn(&TcpInfo) -> u64| samples.info.iter().map(|info| field(info) as i64).collect();
        let columns = vec![
            ("flow", samples.flow.iter().map(|&flow| flow as i64).collect()),
            ("cwnd_packets", column(|info| info.cwnd_packets.into())),
            ("ssthresh_packets", column(|info| info.ssthresh_packets.into())),
            ("rtt_us", column(|info| info.rtt_us.into())),
            ("unacked_packets", column(|info| info.unacked_packets.into())),
            ("retransmitted_packets", column(|info| info.retransmitted_packets.into())),
            ("acked_bytes", column(|info| info.acked_bytes)),
            ("receiver_window_bytes", column(|info| info.receiver_window_bytes.into())),
            ("busy_us", column(|info| info.busy_us)),
            ("receiver_limited_us", column(|info| info.receiver_limited_us)),
            ("buffer_limited_us", column(|info| info.buffer_limited_us)),
            ("time_ns", samples.time_ns),
        ];
        Ok((head, columns))
    })
}

/// Receives on listening TCP sockets.
#[pyfunction]
#[pyo3(signature = (spec, sockets, *, limit_s, stop = None))]
pub fn probe_tcp_receive<'py>(
    py: Python<'py>,
    spec: &str,
    sockets: Vec<RawFd>,
    limit_s: f64,
    stop: Option<RawFd>,
) -> PyResult<Answer<'py>> {
    let spec: probe::TcpReceive = understood(spec)?;
    let sockets = owned(&sockets)?;
    blocking(py, limit_s, stop, |guard| {
        let (ended, incoming) = probe::receive_tcp(&spec, sockets, guard)?;
        let head = json!({ "ended": ended, "flows": incoming });
        let (mut flow, mut time_ns, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for one in incoming {
            flow.extend(one.arrivals.time_ns.iter().map(|_| one.flow as i64));
            time_ns.extend(one.arrivals.time_ns);
            bytes.extend(one.arrivals.bytes.iter().map(|&count| count as i64));
        }
        Ok((head, vec![("flow", flow), ("time_ns", time_ns), ("bytes", bytes)]))
    })
}

/// Sends datagrams.
#[pyfunction]
#[pyo3(signature = (spec, sockets, *, limit_s, stop = None))]
pub fn probe_udp_send<'py>(
    py: Python<'py>,
    spec: &str,
    sockets: Vec<RawFd>,
    limit_s: f64,
    stop: Option<RawFd>,
) -> PyResult<Answer<'py>> {
    let spec: probe::UdpSend = understood(spec)?;
    let sockets = owned(&sockets)?;
    blocking(py, limit_s, stop, |guard| {
        let (ended, sent) = probe::send_udp(&spec, sockets, guard)?;
        let head = json!({
            "began_ns": sent.began_ns,
            "ended": ended,
            "refused": sent.refused,
            "unreachable": sent.unreachable,
            "blocked_s": sent.blocked_s,
        });
        let columns = vec![
            ("flow", sent.flow.into_iter().map(i64::from).collect()),
            ("seq", sent.seq.into_iter().map(i64::from).collect()),
            ("due_ns", sent.due_ns),
            ("sent_ns", sent.sent_ns),
        ];
        Ok((head, columns))
    })
}

/// Receives datagrams on a bound socket.
#[pyfunction]
#[pyo3(signature = (spec, socket, *, limit_s, stop = None))]
pub fn probe_udp_receive<'py>(
    py: Python<'py>,
    spec: &str,
    socket: RawFd,
    limit_s: f64,
    stop: Option<RawFd>,
) -> PyResult<Answer<'py>> {
    let spec: probe::UdpReceive = understood(spec)?;
    let socket = probe::duplicate(socket)?;
    blocking(py, limit_s, stop, |guard| {
        let (ended, found) = probe::receive_udp(&spec, socket, guard)?;
        let head = json!({ "ended": ended, "overflowed": found.overflowed, "foreign": found.foreign });
        let columns = vec![
            ("flow", found.flow.into_iter().map(i64::from).collect()),
            ("seq", found.seq.into_iter().map(i64::from).collect()),
            ("sent_ns", found.sent_ns),
            ("received_ns", found.received_ns),
            ("payload_bytes", found.payload_bytes.into_iter().map(i64::from).collect()),
        ];
        Ok((head, columns))
    })
}

/// Sends the datagrams of a peer back to it.
#[pyfunction]
#[pyo3(signature = (spec, socket, *, limit_s, stop = None))]
pub fn probe_udp_echo<'py>(
    py: Python<'py>,
    spec: &str,
    socket: RawFd,
    limit_s: f64,
    stop: Option<RawFd>,
) -> PyResult<Answer<'py>> {
    let spec: probe::Echo = understood(spec)?;
    let socket = probe::duplicate(socket)?;
    blocking(py, limit_s, stop, |guard| {
        let (ended, echoed) = probe::echo_udp(&spec, socket, guard)?;
        Ok((json!({ "ended": ended, "answered": echoed }), Vec::new()))
    })
}

fn understood<T: serde::de::DeserializeOwned>(spec: &str) -> PyResult<T> {
    serde_json::from_str(spec).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn owned(sockets: &[RawFd]) -> PyResult<Vec<OwnedFd>> {
    Ok(sockets.iter().map(|&socket| probe::duplicate(socket)).collect::<std::io::Result<_>>()?)
}

/// Does something that takes its time, without Python's lock; signals that arrive meanwhile are raised.
fn blocking<'py>(
    py: Python<'py>,
    limit_s: f64,
    stop: Option<RawFd>,
    work: impl FnOnce(&Guard<'_>) -> Result<Found, Failure> + Send,
) -> PyResult<Answer<'py>> {
    let stop = stop.map(probe::duplicate).transpose()?;
    let raised = Mutex::new(None);
    let done = detached(py, || {
        let interrupted = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                true
            }
        };
        work(&Guard::new(limit_s, stop.as_ref().map(AsFd::as_fd), &interrupted))
    });
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let (head, columns) = done?.map_err(|failure| match failure {
        Failure::Wrong(text) => PyValueError::new_err(text),
        Failure::System(doing, error) => PyOSError::new_err((error.raw_os_error(), format!("{doing}: {error}"))),
    })?;
    let table = PyDict::new(py);
    for (name, column) in columns {
        table.set_item(name, column.into_pyarray(py))?;
    }
    Ok((head.to_string(), table))
}

"""Real traffic of our own: TCP with a window that is exact in segments, datagrams that know when they were sent.

Every function blocks until it is done, its time is up, or its stop descriptor can be read; Ctrl-C is raised. Sockets
belong to the namespace of the thread that opens them, so the functions measure whatever network they are called in.
Times of results are those of ``time.time_ns()``; ``begin_ns`` is one of ``time.monotonic_ns()``, by which several
processes of a machine begin together.

Example:
    >>> import threading
    >>> from tightlink.measure.traffic import Constant, UdpFlow
    >>> with open_udp("127.0.0.1") as socket:
    ...     flow = UdpFlow(socket.getsockname(), payload_bytes=100, pattern=Constant(0.001), stop_s=0.02)
    ...     sender = threading.Thread(target=send_udp, args=([flow],), kwargs={"most": 100, "limit_s": 5})
    ...     sender.start()
    ...     received = receive_udp(socket, most=20, limit_s=5)
    ...     sender.join()
    >>> received.seq.tolist() == list(range(20)), bool((received.received_ns >= received.sent_ns).all())
    (True, True)
"""

from __future__ import annotations

import contextlib
import json
import socket as sockets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from tightlink.lazy import _core, np
from tightlink.measure.probe_sockets import (
    advertise,
    bound,
    can_advertise,
    check_congestion,
    family,
    prepare,
    tcp_socket,
    written,
)
from tightlink.measure.traffic import (
    Pattern,
    ReceivedFlow,
    SentFlow,
    TcpFlow,
    TcpInfo,
    TcpReceived,
    TcpSent,
    TimeSpent,
    UdpFlow,
    UdpReceived,
    UdpSent,
)

#: Datagrams of one call, unless it says otherwise: 800 MB of results.
MOST_DATAGRAMS: Final = 20_000_000
#: Between looks whether a window has room.
_NAP_S: Final = 50e-6
#: For what is outstanding when a flow stops.
_DRAIN_S: Final = 1.0
#: What of a TCP flow `prepare` tells its socket.
_OF_SOCKETS: Final = ("congestion", "from_")


def send_tcp(
    flows: Sequence[TcpFlow],
    *,
    limit_s: float,
    sample_s: float | None = None,
    begin_ns: int | None = None,
    stop: int | None = None,
    ends: Sequence[sockets.socket] | None = None,
) -> TcpSent:
    """Send over TCP until all flows have stopped; what was outstanding then has a second to get through.

    Flows begin at ``begin_ns`` of ``time.monotonic_ns()``; without it, now. All ends when the descriptor ``stop`` can
    be read. ``ends`` are sockets to connect, one for each flow, such as those of another namespace, of which the MTU is
    then to limit the segments; without them they are opened here. Without ``sample_s``, no samples of connections are
    taken.

    Raises:
        TightlinkError: The kernel lacks a congestion control, or an address is not ours.
        ValueError: A flow makes no sense.
    """
    spec = {
        "flows": [
            {name: value for name, value in vars(flow).items() if name not in _OF_SOCKETS}
            | {"to": written(flow.to), "pattern": None if flow.pattern is None else _pattern(flow.pattern)}
            for flow in flows
        ],
        "begin_ns": begin_ns,
        "sample_s": sample_s,
        "nap_s": _NAP_S,
        "drain_s": _DRAIN_S,
    }
    with contextlib.ExitStack() as stack:
        if ends is None:
            ends = [stack.enter_context(tcp_socket(flow)) for flow in flows]
        for end, flow in zip(ends, flows, strict=True):
            prepare(end, flow)
        numbers = [end.fileno() for end in ends]
        text, samples = _core.probe_tcp_send(json.dumps(spec), numbers, limit_s=limit_s, stop=stop)
        for end, flow in zip(ends, flows, strict=True):
            check_congestion(end, flow)
    head = json.loads(text)
    return TcpSent(head["began_ns"], head["ended"], [_sent(flow) for flow in head["flows"]], samples)


def receive_tcp(
    listeners: Sequence[sockets.socket],
    *,
    flows: int,
    limit_s: float,
    windows: Sequence[int | None] = (),
    stop: int | None = None,
) -> TcpReceived:
    """Receive what `send_tcp` sends, at sockets as `listen` opens them, until ``flows`` connections have come and gone.

    Others are turned away. To each listener connections advertise its window of ``windows`` in bytes; without one, the
    kernel's, which grows as it does.
    """
    kept = [window if window is not None and can_advertise(window) else None for window in windows]
    for listener, window in zip(listeners, kept, strict=False):
        if window is not None:
            advertise(listener, window)
    spec = json.dumps({"flows": flows, "windows": kept})
    numbers = [listener.fileno() for listener in listeners]
    text, columns = _core.probe_tcp_receive(spec, numbers, limit_s=limit_s, stop=stop)
    head = json.loads(text)
    found = []
    begin = 0
    counts = np.bincount(columns["flow"]) if columns["flow"].size else np.zeros(0, np.int64)
    for flow in head["flows"]:
        number = flow["flow"]
        end = begin + (int(counts[number]) if number < counts.size else 0)
        found.append(
            ReceivedFlow(
                number, flow["from"], flow["accepted_ns"], flow["complete"],
                columns["time_ns"][begin:end], columns["bytes"][begin:end],
            )
        )  # fmt: skip
        begin = end
    return TcpReceived(head["ended"], found)


def send_udp(
    flows: Sequence[UdpFlow],
    *,
    limit_s: float,
    most: int = MOST_DATAGRAMS,
    begin_ns: int | None = None,
    stop: int | None = None,
    ends: Sequence[sockets.socket] | None = None,
) -> UdpSent:
    """Send datagrams until all schedules have ended, and no more than ``most``.

    Times, ``stop`` and ``ends`` are as in `send_tcp`; the sockets to send from are connected.

    Raises:
        ValueError: A flow makes no sense.
    """
    spec = {
        "flows": [vars(flow) | {"to": written(flow.to), "pattern": _pattern(flow.pattern)} for flow in flows],
        "begin_ns": begin_ns,
        "most": most,
    }
    with contextlib.ExitStack() as stack:
        given = ends or [stack.enter_context(sockets.socket(family(flow.to), sockets.SOCK_DGRAM)) for flow in flows]
        numbers = [end.fileno() for end in given]
        text, columns = _core.probe_udp_send(json.dumps(spec), numbers, limit_s=limit_s, stop=stop)
    return UdpSent(**{**json.loads(text), **columns})


def receive_udp(
    end: sockets.socket,
    *,
    limit_s: float,
    most: int = MOST_DATAGRAMS,
    idle_s: float | None = None,
    peer: str | None = None,
    stop: int | None = None,
) -> UdpReceived:
    """Receive what `send_udp` sends, from ``peer`` or from everyone, at a socket as `open_udp` opens it.

    It ends after ``most`` datagrams, or when nothing arrived for ``idle_s`` after the first one.
    """
    spec = json.dumps({"peer": peer, "most": most, "idle_s": idle_s})
    text, columns = _core.probe_udp_receive(spec, end.fileno(), limit_s=limit_s, stop=stop)
    return UdpReceived(**{**json.loads(text), **columns})


def echo_udp(
    end: sockets.socket, *, peer: str, limit_s: float, most: int, idle_s: float = 1.0, stop: int | None = None
) -> int:
    """Send the probes' datagrams of ``peer``, and of nobody else, back to it; how many.

    It ends as `receive_udp` does.
    """
    spec = json.dumps({"peer": peer, "most": most, "idle_s": idle_s})
    text, _ = _core.probe_udp_echo(spec, end.fileno(), limit_s=limit_s, stop=stop)
    return int(json.loads(text)["answered"]["echoed"])


def open_udp(address: str, port: int = 0) -> sockets.socket:
    """A socket bound to an address and a port, or to any free port."""
    return bound(address, port, sockets.SOCK_DGRAM)


def listen(address: str, port: int = 0) -> sockets.socket:
    """A socket that listens at an address and a port, or at any free port."""
    end = bound(address, port, sockets.SOCK_STREAM)
    end.listen(sockets.SOMAXCONN)
    return end


def _pattern(pattern: Pattern) -> dict[str, Any]:
    return {"kind": pattern.kind, **asdict(pattern)}


def _sent(flow: Mapping[str, Any]) -> SentFlow:
    values = {**flow, "from_": flow["from"], "info": TcpInfo(**flow["info"]), "spent": TimeSpent(**flow["spent"])}
    del values["from"]
    return SentFlow(**values)

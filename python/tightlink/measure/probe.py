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
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tightlink.errors import TightlinkError
from tightlink.measure.traffic import (
    ReceivedFlow,
    SentFlow,
    TcpInfo,
    TcpReceived,
    TcpSent,
    TimeSpent,
    UdpReceived,
    UdpSent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tightlink.measure.traffic import Address, Pattern, TcpFlow, UdpFlow

#: Datagrams of one call, unless it says otherwise: 800 MB of results.
MOST_DATAGRAMS: Final = 20_000_000
#: Payload of the smallest datagram: its number and its time.
SMALLEST_PAYLOAD_BYTES: Final = 16
#: Between looks whether a window has room.
_NAP_S: Final = 50e-6
#: For what is outstanding when a flow stops.
_DRAIN_S: Final = 1.0
#: What a socket holds, where a window is kept outside of it: larger than any window.
_BUFFER_BYTES: Final = 1 << 24
#: From <asm-generic/socket.h>.
_SO_SNDBUFFORCE: Final = 32
_SO_RCVBUFFORCE: Final = 33
#: net.core.rmem_max where nobody has changed it.
_USUAL_RMEM_MAX: Final = 212_992
#: The kernel counts a segment at up to four times its payload.
_OVERHEAD: Final = 4


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

    Args:
        flows: Connections to make.
        limit_s: Most time to take.
        sample_s: Interval of samples of each connection; without it, none are taken.
        begin_ns: When the flows' times begin, of ``time.monotonic_ns()``; without it, now.
        stop: Descriptor that ends it when it can be read.
        ends: Sockets to connect, one for each flow, such as those of another namespace, of which the MTU is then to
            limit the segments; without them they are opened here.

    Raises:
        TightlinkError: The kernel lacks a congestion control, or an address is not ours.
        ValueError: A flow makes no sense.
    """
    from tightlink import _core

    spec = {
        "flows": [
            {
                "flow": flow.flow,
                "to": _address(flow.to),
                "start_s": flow.start_s,
                "stop_s": flow.stop_s,
                "size_bytes": flow.size_bytes,
                "window_bytes": flow.window_bytes,
                "receiver_keeps_window": flow.receiver_keeps_window,
                "segment_bytes": flow.segment_bytes,
                "pattern": None if flow.pattern is None else _pattern(flow.pattern),
            }
            for flow in flows
        ],
        "begin_ns": begin_ns,
        "sample_s": sample_s,
        "nap_s": _NAP_S,
        "drain_s": _DRAIN_S,
    }
    with contextlib.ExitStack() as stack:
        if ends is None:
            ends = [stack.enter_context(_tcp_socket(flow)) for flow in flows]
        for end, flow in zip(ends, flows, strict=True):
            _prepare(end, flow)
        numbers = [end.fileno() for end in ends]
        text, samples = _core.probe_tcp_send(json.dumps(spec), numbers, limit_s=limit_s, stop=stop)
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
    """Receive what `send_tcp` sends, until so many of its connections have come and gone; others are turned away.

    Args:
        listeners: Listening sockets, as `listen` opens them.
        flows: Connections to expect.
        limit_s: Most time to take.
        windows: The window in bytes that connections to each listener advertise; without one, the kernel's own, which
            grows as it does.
        stop: Descriptor that ends it when it can be read.
    """
    from tightlink import _core

    for listener, window in zip(listeners, windows, strict=False):
        if window is not None:
            _advertise(listener, window)
    spec = json.dumps({"flows": flows, "windows": list(windows)})
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
    """Send datagrams until all schedules have ended.

    Args:
        flows: What to send.
        limit_s: Most time to take.
        most: No more datagrams than this are sent.
        begin_ns: When the flows' times begin, of ``time.monotonic_ns()``; without it, now.
        stop: Descriptor that ends it when it can be read.
        ends: Sockets to send from, one for each flow, which are connected; without them the kernel chooses.

    Raises:
        ValueError: A flow makes no sense.
    """
    from tightlink import _core

    spec = {
        "flows": [
            {
                "flow": flow.flow,
                "to": _address(flow.to),
                "start_s": flow.start_s,
                "stop_s": flow.stop_s,
                "payload_bytes": flow.payload_bytes,
                "pattern": _pattern(flow.pattern),
            }
            for flow in flows
        ],
        "begin_ns": begin_ns,
        "most": most,
    }
    with contextlib.ExitStack() as stack:
        given = ends or [stack.enter_context(sockets.socket(_family(flow.to), sockets.SOCK_DGRAM)) for flow in flows]
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
    """Receive what `send_udp` sends.

    Args:
        end: A bound socket, as `open_udp` opens it.
        limit_s: Most time to take.
        most: It ends after so many datagrams.
        idle_s: It ends when nothing arrived for so long after the first datagram.
        peer: Address whose datagrams count; without it, everyone's.
        stop: Descriptor that ends it when it can be read.
    """
    from tightlink import _core

    spec = json.dumps({"peer": peer, "most": most, "idle_s": idle_s})
    text, columns = _core.probe_udp_receive(spec, end.fileno(), limit_s=limit_s, stop=stop)
    return UdpReceived(**{**json.loads(text), **columns})


def echo_udp(
    end: sockets.socket, *, peer: str, limit_s: float, most: int, idle_s: float = 1.0, stop: int | None = None
) -> int:
    """Send the probes' datagrams of a peer back to it; how many.

    Args:
        end: A bound socket.
        peer: Address of the one who is answered, nobody else.
        limit_s: Most time to take.
        most: Most answers.
        idle_s: It ends when nothing arrived for so long after the first datagram.
        stop: Descriptor that ends it when it can be read.
    """
    from tightlink import _core

    spec = json.dumps({"peer": peer, "most": most, "idle_s": idle_s})
    text, _ = _core.probe_udp_echo(spec, end.fileno(), limit_s=limit_s, stop=stop)
    return int(json.loads(text)["answered"]["echoed"])


def open_udp(address: str, port: int = 0) -> sockets.socket:
    """A socket bound to an address and a port, or to any free port.

    Raises:
        TightlinkError: The address is not ours, or the port is taken.
    """
    return _bound(address, port, sockets.SOCK_DGRAM)


def listen(address: str, port: int = 0) -> sockets.socket:
    """A socket that listens at an address and a port, or at any free port.

    Raises:
        TightlinkError: The address is not ours, or the port is taken.
    """
    end = _bound(address, port, sockets.SOCK_STREAM)
    end.listen(sockets.SOMAXCONN)
    return end


def _bound(address: str, port: int, kind: sockets.SocketKind) -> sockets.socket:
    end = sockets.socket(_family((address,)), kind)
    try:
        if kind is sockets.SOCK_STREAM:
            end.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        end.bind((address, port))
    except (OSError, OverflowError) as error:
        end.close()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TightlinkError(f"{address}:{port}: cannot listen there: {reason.lower()}") from None
    return end


@contextlib.contextmanager
def _tcp_socket(flow: TcpFlow) -> Iterator[sockets.socket]:
    """A socket of a flow, whose segments are as large as it says."""
    with sockets.socket(_family(flow.to), sockets.SOCK_STREAM) as end:
        if flow.segment_bytes is not None:
            end.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_MAXSEG, flow.segment_bytes + _timestamps())
        yield end


def _prepare(end: sockets.socket, flow: TcpFlow) -> None:
    """Set what a flow asks for on its socket."""
    if flow.congestion is not None:
        try:
            end.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_CONGESTION, flow.congestion.encode())
        except OSError as error:
            raise TightlinkError(
                f"congestion control {flow.congestion}: not available here ({str(error.strerror).lower()})"
            ) from None
    if flow.window_bytes is not None and not flow.receiver_keeps_window:
        # Where that is refused, the buffer grows with the congestion window, which is enough but for its start.
        with contextlib.suppress(OSError):
            end.setsockopt(sockets.SOL_SOCKET, _SO_SNDBUFFORCE, _BUFFER_BYTES)
    if flow.from_ is not None:
        try:
            end.bind(flow.from_)
        except OSError as error:
            place = _address(flow.from_)
            raise TightlinkError(f"{place}: cannot send from there: {str(error.strerror).lower()}") from None


def _advertise(listener: sockets.socket, window_bytes: int) -> None:
    """Have a socket's connections advertise such a window; its buffer, much of which is overhead, stays then."""
    size = min(_OVERHEAD * window_bytes, _BUFFER_BYTES)
    try:
        listener.setsockopt(sockets.SOL_SOCKET, _SO_RCVBUFFORCE, size)
    except PermissionError:
        if size > _largest_buffer_bytes():
            # The kernel's own grows further than what is allowed here.
            return
        listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, size)
    listener.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_WINDOW_CLAMP, window_bytes)


def _largest_buffer_bytes() -> int:
    """Of a socket's buffer, what everybody may ask for."""
    try:
        return int(Path("/proc/sys/net/core/rmem_max").read_text(encoding="ascii"))
    except OSError:
        # Some namespaces do not show it.
        return _USUAL_RMEM_MAX


def _timestamps() -> int:
    """What the option of timestamps takes of each segment: TCP_MAXSEG counts it, the payload does not."""
    try:
        on = Path("/proc/sys/net/ipv4/tcp_timestamps").read_text(encoding="ascii").strip() != "0"
    except OSError:
        on = True
    return 12 if on else 0


def _pattern(pattern: Pattern) -> dict[str, Any]:
    return {"kind": pattern.kind, **asdict(pattern)}


def _sent(flow: Mapping[str, Any]) -> SentFlow:
    values = {**flow, "from_": flow["from"], "info": TcpInfo(**flow["info"]), "spent": TimeSpent(**flow["spent"])}
    del values["from"]
    return SentFlow(**values)


def _family(address: Address) -> sockets.AddressFamily:
    return sockets.AF_INET6 if ":" in str(address[0]) else sockets.AF_INET


def _address(address: Address) -> str:
    host, port = str(address[0]), int(address[1])
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

"""Sockets of the probe: bound, with the segments, the window and the congestion control that a flow asks for."""

from __future__ import annotations

import contextlib
import socket as sockets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tightlink.errors import TightlinkError
from tightlink.measure.traffic import Address, TcpFlow

#: What a socket holds, where a window is kept outside of it: larger than any window.
_BUFFER_BYTES: Final = 1 << 24
#: From <asm-generic/socket.h>.
_SO_SNDBUFFORCE: Final = 32
_SO_RCVBUFFORCE: Final = 33
#: What waits in a socket besides, so that none of it waits for a program: some milliseconds of a fast link.
_SPARE_BYTES: Final = 1 << 16
#: net.core.rmem_max where nobody has changed it.
_USUAL_RMEM_MAX: Final = 212_992
#: What the name of a congestion control may take (TCP_CA_NAME_MAX).
_NAME_BYTES: Final = 16
#: The kernel counts a segment at up to four times its payload.
_OVERHEAD: Final = 4


def bound(address: str, port: int, kind: sockets.SocketKind) -> sockets.socket:
    """A socket bound to an address and a port, or to any free port."""
    if not address:
        # To Python it is every address of the machine.
        raise TightlinkError('"": expected an address of this machine to listen at')
    end = sockets.socket(family((address,)), kind)
    try:
        if kind is sockets.SOCK_STREAM:
            end.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        end.bind((address, port))
    except (OSError, OverflowError, TypeError, ValueError) as error:
        end.close()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TightlinkError(f"{address}:{port}: cannot listen there: {reason.lower()}") from None
    return end


@contextlib.contextmanager
def tcp_socket(flow: TcpFlow) -> Iterator[sockets.socket]:
    """A socket of a flow, whose segments are as large as it says."""
    with sockets.socket(family(flow.to), sockets.SOCK_STREAM) as end:
        if flow.segment_bytes is not None:
            end.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_MAXSEG, flow.segment_bytes + _timestamps())
        yield end


def prepare(end: sockets.socket, flow: TcpFlow) -> None:
    """Set what a flow asks for on its socket."""
    if flow.congestion is not None:
        try:
            end.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_CONGESTION, flow.congestion.encode())
        except OSError as error:
            raise TightlinkError(
                f"congestion control {flow.congestion}: not available here ({str(error.strerror).lower()})"
            ) from None
    if flow.window_bytes is not None:
        # More than the window, as the kernel asks for data only when a third of the buffer is free. Where that is
        # refused, it grows with the congestion window, which is enough but for its start.
        size = _OVERHEAD * (2 * flow.window_bytes + _SPARE_BYTES) if flow.receiver_keeps_window else _BUFFER_BYTES
        with contextlib.suppress(OSError):
            end.setsockopt(sockets.SOL_SOCKET, _SO_SNDBUFFORCE, min(size, _BUFFER_BYTES))
    if flow.from_ is not None:
        try:
            end.bind(flow.from_)
        except OSError as error:
            place = written(flow.from_)
            raise TightlinkError(f"{place}: cannot send from there: {str(error.strerror).lower()}") from None


def check_congestion(end: sockets.socket, flow: TcpFlow) -> None:
    """Whether a connection that was made had the congestion control that was asked for.

    Raises:
        TightlinkError: Its route asks for another (``congctl`` of ``ip route``), which counts for more.
    """
    if flow.congestion is None:
        return
    had = end.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_CONGESTION, _NAME_BYTES).partition(b"\0")[0].decode()
    if had != flow.congestion:
        raise TightlinkError(f"congestion control {flow.congestion}: the route to {written(flow.to)} has {had}")


def can_advertise(window_bytes: int) -> bool:
    """Whether the kernel keeps such a window for us: its buffer is one that we may have."""
    size = _held(window_bytes)
    if size <= _largest_buffer_bytes():
        return True
    with sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM) as end:
        try:
            end.setsockopt(sockets.SOL_SOCKET, _SO_RCVBUFFORCE, size)
        except PermissionError:
            return False
    return True


def advertise(listener: sockets.socket, window_bytes: int) -> None:
    """Have connections of a socket advertise such a window; part of its buffer, which is fixed then, is overhead."""
    try:
        listener.setsockopt(sockets.SOL_SOCKET, _SO_RCVBUFFORCE, _held(window_bytes))
    except PermissionError:
        listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, _held(window_bytes))
    listener.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_WINDOW_CLAMP, window_bytes)


def _held(window_bytes: int) -> int:
    """What the buffer of a window must hold, overhead included; the kernel takes it twice."""
    return min(_OVERHEAD * window_bytes, _BUFFER_BYTES)


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


def family(address: Address) -> sockets.AddressFamily:
    """IPv6 where the address has colons."""
    return sockets.AF_INET6 if ":" in str(address[0]) else sockets.AF_INET


def written(address: Address) -> str:
    """An address and a port as one word."""
    host, port = str(address[0]), int(address[1])
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

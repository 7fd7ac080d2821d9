"""Captures of real traffic (pcap and pcapng files), and traces of ns-2, as runs.

A capture is read once, from its first packet to its last, in bounded memory. Its tables are those of a run as far as a
capture can know them, and others that only captures have (`connections`, `interfaces`, `protocols`, `packet_sizes`,
`quic` where there are such connections, and `tunnels` where packets came through some).
Times count from its first packet.

A trace (``out.tr``, twelve columns) gives the tables of a run as far as it knows them. Its times stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tightlink import __version__, arguments, units
from tightlink.calls import answered
from tightlink.capture_warnings import of_capture, of_trace
from tightlink.errors import Argument, ScenarioError, TightlinkError, UnreadableError
from tightlink.lazy import _core
from tightlink.progress import Progress, check_watch
from tightlink.run import CAPTURE, TRACE, Framed, Run
from tightlink.run.tables import framed

INTERVAL: Final = "1 s"
_ONLY: Final = 'an address, a port or a flow, such as "10.0.0.1", ":443" or "10.0.0.1:5000-10.0.0.2:80"'
_NANOSECONDS: Final = 10**9
#: How captures begin, pcap in either order of bytes and pcapng, and how their names end.
_MAGIC: Final = frozenset(bytes.fromhex(word) for word in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"))
_ENDINGS: Final = frozenset({".pcap", ".pcapng", ".cap"})


@answered()
def capture(  # noqa: PLR0913
    path: str | os.PathLike[str],
    *,
    interval: str = INTERVAL,
    rate: str | None = None,
    connections: int | None = None,
    packets: bool = False,
    only: str | None = None,
    watch: Callable[[CaptureProgress], None] | None = None,
) -> Run:
    """Read a capture, or a trace of ns-2; the first bytes tell which.

    Args:
        path: A pcap or pcapng file, or a trace, compressed (gzip, bzip2, xz, zstd) or not; ``-`` is standard input.
        interval: Of the series, such as ``"100 ms"``.
        rate: Capacity of each link that was captured, such as ``"1 Gbit/s"``, which gives their utilization; without it
            what a pcapng file says.
        connections: How many to list at most, the largest; half as many are followed at a time, and each takes about
            2 KB of memory. Without it 262144. A trace has no use for it.
        packets: Whether to keep a row for every packet (`Run.packets`, and the table ``findings``); this takes about
            150 bytes of memory for each.
        only: Which packets to read: those of an address, ``"10.0.0.1"``, a port, ``":443"``, both, ``"10.0.0.1:443"``,
            or a flow as the tables call it, ``"10.0.0.1:5000-10.0.0.2:80"``, with what comes back. Addresses of packets
            around those of a flow, as tunnels have them, count too.
        watch: Told now and then how far it is.

    Returns:
        The run, with the tables that a capture knows; it has no scenario.

    Raises:
        TightlinkError: The file cannot be read (then it is an OSError, too), is neither, or is damaged before its first
            packet.
        ScenarioError: The interval or the rate is not above zero, or fewer than two connections are to be listed;
            or no packet is what ``only`` says.

    Example:
        >>> import struct, tempfile
        >>> from pathlib import Path
        >>> header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
        >>> datagram = bytes.fromhex("4500001d00004000401100000a0000010a00000207d000350009000078")
        >>> record = struct.pack("<IIII", 1, 500_000, len(datagram), len(datagram)) + datagram
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "trace.pcap"
        ...     _ = file.write_bytes(header + record)
        ...     run = capture(file)
        >>> run.flows.select("label", "transport", "packets_sent", "bytes_sent").rows()
        [('10.0.0.1:2000-10.0.0.2:53', 'udp', 1, 29)]
        >>> run.manifest["began"]
        '1970-01-01T00:00:01.500000000Z'
    """
    check_watch(watch)
    arguments.path("path", path)
    # Half of them are followed.
    most = None if connections is None else arguments.whole("connections", connections, least=2)
    packets = arguments.truth("packets", packets)
    only = None if only is None else arguments.text("only", only, _ONLY)
    asked = _Asked(_interval_ns(interval), _rate_bps(rate), most, packets, only)
    limits = None if asked.connections is None else (asked.connections // 2, asked.connections)
    begin = time.monotonic()
    try:
        found = _core.capture(
            _file(path),
            interval_ns=asked.interval_ns,
            packets=packets,
            rate_bps=asked.rate_bps,
            limits=limits,
            only=only,
            watch=_heard(watch, path),
        )
    except _core.CaptureError as error:
        raise TightlinkError(f"{_name(path)}: {error}") from None
    except ValueError:
        raise ScenarioError(_ONLY, key=Argument("only"), value=only) from None
    except OSError as error:
        raise UnreadableError(error.errno, os.strerror(error.errno or 0), _name(path)) from None
    wall_s = time.monotonic() - begin
    facts = json.loads(found.manifest())
    frames = {name: framed(name, found.table(name)) for name in found.tables}
    if facts["trace"] and asked.connections is not None:
        expected = f"none: {_name(path)} is a trace, which has none"
        raise ScenarioError(expected, key=Argument("connections"), value=connections)
    if only is not None and facts["trace"]:
        raise ScenarioError(f"none: {_name(path)} is a trace, which is read whole", key=Argument("only"), value=only)
    if only is not None and facts["packets"] == 0:
        raise ScenarioError(f"packets of {_name(path)}, which has none of these", key=Argument("only"), value=only)
    manifest = _manifest(_name(path), facts, asked) | {"timing": _timing(facts, wall_s)}
    warnings = of_trace(facts, frames) if facts["trace"] else of_capture(facts, asked.interval_ns, frames)
    manifest["warnings"] = list(warnings)
    return Run(None, manifest, Framed(frames))


def is_capture(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a capture: by its first bytes, or, as it may be compressed, by its name."""
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) in _MAGIC or bool(_ENDINGS & set(file.suffixes))


@dataclass(frozen=True)
class CaptureProgress(Progress):
    """How far the reading of a capture is (`tightlink.progress`)."""

    packets: int
    """Read so far."""
    size_bytes: int
    """Read so far, uncompressed."""
    file_bytes: int
    """Read so far of the file, which may be compressed."""
    total_bytes: int | None
    """Size of the file; nothing for a pipe, of which nobody knows it."""

    @property
    def share(self) -> float | None:
        """What has been read of the file, from 0 to 1."""
        return None if not self.total_bytes else min(1.0, self.file_bytes / self.total_bytes)

    def __str__(self) -> str:
        return f"{self.packets / 1e6:.1f} M packets, {self.size_bytes / 1e6:.0f} MB read"


def _heard(
    watch: Callable[[CaptureProgress], None] | None, path: str | os.PathLike[str]
) -> Callable[[int, int, int], None] | None:
    if watch is None:
        return None
    file = Path(path)
    total = file.stat().st_size if str(path) != "-" and file.is_file() else None
    return lambda packets, size, read: watch(CaptureProgress(packets, size, read, total))


@dataclass(frozen=True)
class _Asked:
    """How a capture is read: what its tables depend on beside it."""

    interval_ns: int
    rate_bps: float | None
    connections: int | None
    packets: bool
    only: str | None


def _file(path: str | os.PathLike[str]) -> str | None:
    if str(path) == "-":
        return None
    if Path(path).is_dir():
        raise TightlinkError(f"{path}: expected a capture (pcap or pcapng) or a trace of ns-2, and it is a folder")
    return str(path)


def _name(path: str | os.PathLike[str]) -> str:
    return "standard input" if str(path) == "-" else str(path)


def _interval_ns(interval: str) -> int:
    expected = f'a time above zero in whole nanoseconds, such as "{INTERVAL}"'
    try:
        exact = units.parse(interval, units.TIME)[1].exact * _NANOSECONDS
    except ScenarioError as error:
        meant = error.suggestion if any(digit in str(error.suggestion) for digit in "123456789") else None
        raise ScenarioError(expected, key=Argument("interval"), value=interval, suggestion=meant) from None
    if exact <= 0 or exact.denominator != 1 or exact >= 1 << 62:
        raise ScenarioError(expected, key=Argument("interval"), value=interval)
    return int(exact)


def _rate_bps(rate: str | None) -> float | None:
    if rate is None:
        return None
    expected = 'a rate above zero with its unit, such as "1 Gbit/s"'
    try:
        found = units.rate(rate)
    except ScenarioError as error:
        raise ScenarioError(expected, key=Argument("rate"), value=rate, suggestion=error.suggestion) from None
    if found <= 0:
        raise ScenarioError(expected, key=Argument("rate"), value=rate)
    return found


def _manifest(name: str, facts: Mapping[str, Any], asked: _Asked) -> dict[str, Any]:
    *known, only = astuple(asked)
    depends = [facts["sha256"], *known, __version__, *([] if only is None else [only])]
    made = {
        "source": TRACE if facts["trace"] else CAPTURE,
        "identity": hashlib.sha256(json.dumps(depends).encode()).hexdigest(),
        "version": __version__,
        "file": name,
        "format": facts["format"],
        "compressed": facts["compressed"],
        "bytes": facts["bytes"],
        "sha256": facts["sha256"],
    }
    interval = {"interval": units.format_time(float(Fraction(facts["interval_ns"], _NANOSECONDS)))}
    if facts["trace"]:
        return (
            made | {"events": facts["packets"], "lines_skipped": facts["skipped"], "end_s": facts["end_s"]} | interval
        )
    return (
        made
        | {
            "packets": facts["packets"],
            **({} if asked.only is None else {"only": asked.only}),
            "connections": facts["connections"],
            "incomplete_datagrams": facts["incomplete"],
            "times_backwards": facts["backwards"],
            "began": None if facts["began_ns"] is None else _instant(facts["began_ns"]),
        }
        | interval
    )


def _instant(nanoseconds: int) -> str:
    """An instant in universal time, to the nanosecond."""
    seconds, rest = divmod(nanoseconds, _NANOSECONDS)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _timing(facts: Mapping[str, Any], wall_s: float) -> dict[str, float]:
    took = max(wall_s, 1e-9)
    return {"wall_s": wall_s, "packets_per_s": facts["packets"] / took, "bytes_per_s": facts["bytes"] / took}

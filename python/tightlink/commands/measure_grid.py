"""``tightlink measure tcp`` and ``tightlink measure udp-sweep``: grids of iperf3's options."""

import contextlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tightlink import units
from tightlink.commands.options import LARGEST_PORT, Json, option, share, whole
from tightlink.commands.table_options import with_table_options
from tightlink.console import FAILED, print_json, print_table, rounded, say, warned, watching
from tightlink.errors import ScenarioError
from tightlink.experiment.levels import Interval, levels
from tightlink.experiment.measured import Finished, Grid, Measured, Repeats, run
from tightlink.experiment.precision import median_half_width
from tightlink.measure.iperf3 import datagrams, program, transfer
from tightlink.measure.path import HEADERS_BYTES, known_mtu, resolved
from tightlink.numbers import TOO_FEW, UNKNOWN, leaves, several

_BITS: Final = 8
_MOST_SECONDS: Final = 3600
#: As iperf3 writes sizes: 64K is 64 KiB.
_SHORT: Final = re.compile(r"(\d)\s*([KMG])(?![A-Za-z])", re.IGNORECASE)
#: Below, a socket's buffer holds mostly its own overhead: see `tightlink.measure.iperf3`.
_SHAKY_WINDOW: Final = 4096


@Parameter(name="*")
@dataclass(frozen=True)
class GridOptions:
    """What all grids of iperf3's tests are asked for."""

    host: str
    """Where "iperf3 -s" runs."""
    output: Annotated[Path, Parameter(name=["--output", "-o"])]
    """Folder for the results, in which an interrupted grid continues."""
    port: Annotated[int, Parameter(name=["--port", "-p"])] = 5201
    """Port of the iperf3 server."""
    time: Annotated[str, Parameter(name=["--time", "-t"])] = "10 s"
    """How long each test takes."""
    repeat: int = 3
    """Measurements of each combination, at least."""
    precision: str | None = None
    """Measure until half the 95 % interval of the median goodput is that narrow, such as "2 %"."""
    max_repeats: int | None = None
    """Measurements of each combination at most, with --precision (default: 10)."""
    seed: int = 1
    """Seed of the order."""

    @cached_property
    def server(self) -> str:
        """The address of the host."""
        return str(resolved(self.host, whole("--port", self.port, 1, LARGEST_PORT))[0])

    @cached_property
    def seconds(self) -> float:
        """How long each test takes, in seconds."""
        seconds = float(option("--time", self.time, units.TIME))
        if not 1 <= seconds <= _MOST_SECONDS or not seconds.is_integer():
            raise ScenarioError(f"whole seconds from 1 s to {_MOST_SECONDS} s", key="--time", value=self.time)
        return seconds

    @property
    def repeats(self) -> Repeats:
        """How often each combination is measured."""
        for name, value in (("--repeat", self.repeat), ("--max-repeats", self.max_repeats)):
            if value is not None:
                whole(name, value, 1, 1000)
        if self.precision is None:
            if self.max_repeats is not None:
                raise ScenarioError("--precision beside it", key="--max-repeats", value=self.max_repeats)
            return Repeats(least=self.repeat, seed=self.seed)
        width = float(share("--precision", self.precision))
        if not 0 < width < 1:
            raise ScenarioError('a share above zero, such as "2 %"', key="--precision", value=self.precision)
        return Repeats(least=self.repeat, most=self.max_repeats or 10, precision=("goodput_bps", width), seed=self.seed)


@with_table_options
def tcp(
    *,
    options: GridOptions,
    windows: Annotated[str, Parameter(name=["--windows", "-w"])],
    flows: Annotated[str, Parameter(name=["--flows", "-P"])],
    congestion: Annotated[str | None, Parameter(name=["--congestion", "-C"])] = None,
    reverse: Annotated[bool, Parameter(name=["--reverse", "-R"], negative="")] = False,
    json_: Json = False,
) -> int:
    """Measure transfers to an iperf3 server, or from it, with windows and numbers of flows, in shuffled order.

    Args:
        options: What all grids of tests are asked for.
        windows: Windows of each flow, such as "8K,64K" or "8K..1M:x2", which iperf3 meets to −10 to +25 %.
        flows: Numbers of parallel flows, such as "1,4" or "1..16:x2".
        congestion: Congestion control of the sender's kernel, such as reno (default: the kernel's).
        reverse: Let the server send; of its packets the round-trip times are not known.
    """
    address, seconds = options.server, options.seconds
    factors: dict[str, list[Any]] = {
        "window_bytes": _sizes("--windows", windows, (1, 1 << 30)),
        "flows": _levels("--flows", flows, (1, 128)),
    }

    def measure(values: Mapping[str, Any]) -> Measured:
        found = transfer(
            address, port=options.port, flows=values["flows"], seconds=seconds, window_bytes=values["window_bytes"],
            congestion=congestion, reverse=reverse,
        )  # fmt: skip
        ends = ("here", options.host)[:: -1 if reverse else 1]
        rows = [
            {"flow": number, "label": f"iperf3[{number}]", "from": ends[0], "to": ends[1], "transport": "tcp",
             "congestion": found.congestion, "start_s": 0.0, "stop_s": found.seconds,
             "packets_retransmitted": stream.retransmitted, "goodput_bps": stream.goodput_bps,
             "rtt_mean_s": stream.rtt_mean_s}
            for number, stream in enumerate(found.streams)
        ]  # fmt: skip
        metrics = {
            "goodput_bps": found.goodput_bps,
            "packets_retransmitted": float(sum(stream.retransmitted for stream in found.streams)),
        }
        rtts_s = [stream.rtt_mean_s for stream in found.streams if stream.rtt_mean_s is not None]
        if rtts_s:
            metrics["rtt_mean_s"] = sum(rtts_s) / len(rtts_s)
        return Measured(metrics, rows, {"tool": found.version, "congestion": found.congestion})

    shaky = [window for window in factors["window_bytes"] if window < _SHAKY_WINDOW]
    warnings = [f"--windows: below {_SHAKY_WINDOW} B iperf3's window is far from what was asked for"] if shaky else []
    rtt = ("rtt", "rtt_mean_s", units.format_time)
    again = ("retransmitted", "packets_retransmitted", lambda value: f"{value:.4g}")
    shown = (("goodput", "goodput_bps", units.format_rate), *(() if reverse else (rtt,)), again)
    own = {"transport": "tcp", "congestion": congestion} | ({"reverse": True} if reverse else {})
    return _run(options, own, factors, measure, shown=shown, warnings=warnings, json_=json_)


@with_table_options
def udp_sweep(
    *,
    options: GridOptions,
    payloads: Annotated[str, Parameter(name=["--payloads", "-l"])],
    rates: Annotated[str, Parameter(name=["--rates", "-b"])],
    json_: Json = False,
) -> int:
    """Measure datagrams to an iperf3 server, with payloads and rates, in shuffled order.

    Args:
        options: What all grids of tests are asked for.
        payloads: Payloads of a datagram in bytes, such as "25,100,400" or "50..1450:50".
        rates: What is offered: of payload such as "90 Mbit/s", or of datagrams such as "26000 packets/s".
    """
    address, seconds = options.server, options.seconds
    version = 6 if ":" in address else 4
    headers = HEADERS_BYTES[version]
    offered = {text.strip(): _rate(text) for text in rates.split(",")}
    factors: dict[str, list[Any]] = {
        "payload_bytes": _sizes("--payloads", payloads, (16, 65_507)),
        "rate": list(offered),
    }

    def measure(values: Mapping[str, Any]) -> Measured:
        payload = values["payload_bytes"]
        rate_bps = offered[values["rate"]](payload)
        found = datagrams(address, port=options.port, payload_bytes=payload, rate_bps=rate_bps, seconds=seconds)
        packet = payload + headers
        per_s = found.received / found.seconds
        metrics = {
            "packet_bytes": float(packet),
            "packets_per_s": per_s,
            "throughput_bps": per_s * packet * _BITS,
            "goodput_bps": per_s * payload * _BITS,
            "offered_packets_per_s": found.sent / found.seconds,
            "loss": found.lost / found.sent if found.sent else 0.0,
            "jitter_rfc3550_s": found.jitter_s,
        }
        row = {"flow": 0, "label": "iperf3", "from": "here", "to": options.host, "transport": "udp", "congestion": "",
               "start_s": 0.0, "stop_s": found.seconds, "packets_sent": found.sent,
               "packets_delivered": found.received, "packets_dropped": found.lost,
               "bytes_sent": found.sent * packet, "bytes_delivered": found.received * packet,
               "goodput_bps": metrics["goodput_bps"], "throughput_bps": metrics["throughput_bps"],
               "jitter_rfc3550_s": found.jitter_s}  # fmt: skip
        return Measured(metrics, [row], {"tool": found.version})

    shown = (
        ("packets/s", "packets_per_s", lambda value: f"{value:.5g}"),
        ("goodput", "goodput_bps", units.format_rate),
        ("loss", "loss", lambda value: units.format_fraction(round(value, 5))),
    )
    warnings = []
    # Without a route iperf3 says so.
    with contextlib.suppress(OSError):
        whole_bytes = known_mtu((address, options.port), version)
        if cut := [str(payload) for payload in factors["payload_bytes"] if payload + headers > whole_bytes]:
            text = f"packets are datagrams here, in fragments of at most {whole_bytes} B"
            warnings.append(f"--payloads: {', '.join(cut)}: {text}")
    return _run(options, {"transport": "udp"}, factors, measure, shown=shown, warnings=warnings, json_=json_)


def _run(
    options: GridOptions,
    own: dict[str, Any],
    factors: dict[str, list[Any]],
    measure: Callable[[Mapping[str, Any]], Measured],
    *,
    shown: Sequence[tuple[str, str, Callable[[float], str]]],
    warnings: list[str],
    json_: bool,
) -> int:
    asked = {"host": options.server, "port": options.port, "seconds": options.seconds}
    grid, repeats = Grid({"tool": "iperf3", "transport": own["transport"]} | asked | own, factors), options.repeats
    program()
    traffic = units.format_time(options.seconds * len(grid.cells) * repeats.least)
    each = f"{several(len(grid.cells), 'combination')}, {several(repeats.least, 'time')} each"
    say(f"{each}: {traffic} of traffic to {options.server} port {options.port}, at least")
    with watching() as watch:
        finished = run(grid, options.output, measure, repeats=repeats, watch=watch)
    _show(finished, shown, json_=json_)
    controls = {flow["congestion"] for entry in finished.done.values() for flow in entry["flows"]} - {""}
    if controls:
        say(f"the sender's congestion control: {', '.join(sorted(controls))}")
    for damaged in finished.damaged:
        say(damaged.mended)
    if finished.measured < len(finished.done):
        wanted = len(finished.done) + len(finished.failures)
        say(f"{len(finished.done) - finished.measured} of {wanted} measurements were there already")
    for (cell, _), error in finished.failures.items():
        say(f"failed: {', '.join(map(str, cell))}: {error}")
    if finished.not_converged and repeats.precision is not None:
        metric, width = repeats.precision
        cells = "; ".join(", ".join(map(str, cell)) for cell in finished.not_converged)
        warnings.append(
            f"the median of {metric} is not within {width:.3g} of itself after {repeats.most} measurements: {cells}"
        )
    say(f"wrote {options.output}")
    code = warned(warnings)
    return FAILED if finished.failures else code


def _show(finished: Finished, shown: Sequence[tuple[str, str, Callable[[float], str]]], *, json_: bool) -> None:
    found = _medians(finished, [metric for _, metric, _ in shown])
    if json_:
        print_json(found)
        return
    header = [*finished.grid.factors, "times"]
    for name, _, _ in shown:
        header += [name, "±"]
    rows = []
    for each in found:
        row = [str(each[name]) for name in (*finished.grid.factors, "times")]
        for _, metric, write in shown:
            row += [rounded(each[metric], write), _width(each[metric], each[f"{metric}_half_width"], write)]
        rows.append(row)
    print_table(header, rows, drop=[f"{name} ±" for name, _, _ in reversed(shown)])
    if any(UNKNOWN in row for row in rows):
        say(TOO_FEW)


def _width(value: float | None, half_width: float | None, write: Callable[[float], str]) -> str:
    if value is None or half_width is None or not math.isfinite(half_width):
        return rounded(half_width, write)
    return UNKNOWN if leaves(value, half_width) else rounded(half_width, write)


def _medians(finished: Finished, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """For each combination, how often it was measured, and medians with half their intervals."""
    medians = {metric: finished.medians(metric) for metric in metrics}
    rows = []
    for cell in finished.grid.cells:
        found = {metric: finished.of(cell, metric) for metric in metrics}
        row = dict(zip(finished.grid.factors, cell, strict=True)) | {"times": len(found[metrics[0]])}
        for metric, values in found.items():
            row |= {metric: medians[metric].get(cell), f"{metric}_half_width": median_half_width(values)}
        rows.append(row)
    return rows


def _sizes(name: str, text: str, bounds: tuple[int, int]) -> list[int]:
    """Sizes in bytes, as iperf3 or as a scenario writes them."""
    return _levels(name, _SHORT.sub(lambda found: f"{found[1]} {found[2].upper()}iB", text), bounds)


def _levels(name: str, text: str, bounds: tuple[int, int]) -> list[int]:
    try:
        listed = levels(text)
        found = [] if isinstance(listed, Interval) else [_bytes(level) for level in listed]
    except ScenarioError:
        found = []
    low, high = bounds
    if not found or not all(low <= each <= high for each in found):
        raise ScenarioError(f'values from {low} to {high}, such as "1,4" or "1..16:x2"', key=name, value=text)
    return list(dict.fromkeys(found))


def _bytes(level: object) -> int:
    if isinstance(level, int) and not isinstance(level, bool):
        return level
    return units.size(level)


def _rate(text: str) -> Callable[[int], float]:
    """The rate of payload in bit/s for a size of payload."""
    try:
        kind, found = units.parse(text.strip(), units.RATE, units.PACKET_RATE)
    except ScenarioError as error:
        raise ScenarioError(error.expected, key="--rates", value=text, suggestion=error.suggestion) from None
    if found.exact <= 0:
        raise ScenarioError('rates above zero, such as "90 Mbit/s"', key="--rates", value=text)
    value = float(found.exact)
    return (lambda payload: value * payload * _BITS) if kind is units.PACKET_RATE else (lambda _: value)

"""The command ``tightlink plan path``."""

import math
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from tightlink import units
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.calibrate import CROSS, RANGES, Calibration, calibrate
from tightlink.analysis.path.line import line_of, slower_shaper
from tightlink.analysis.path.observations import read
from tightlink.analysis.path.prediction import FLOWS
from tightlink.analysis.path.prediction import predict as predicted
from tightlink.commands.options import Json, Output, option, plain, seconds, share, whole
from tightlink.commands.plan_path_figure import draw
from tightlink.commands.plan_path_output import answered, as_json, show
from tightlink.commands.table_options import with_table_options
from tightlink.console import CAUTION, print_json, warned, watching
from tightlink.errors import ScenarioError, closest, one_of
from tightlink.files import check_new
from tightlink.lazy import pl
from tightlink.scenario import Bulk, Link, Scenario, load
from tightlink.scenario.table import Table

_FITTED: Final = {"bandwidth": "bandwidth_bps", "rtt": "rtt_s", "queue": "queue_packets", "cross": "cross"}
_QUEUE: Final = "80"
#: How limits of queues end that are converted as a run does, those in packets first.
_LIMITS: Final = ("packet", "packets", "B", "s", "BDP")
_ANY_QUEUE: Final = 'a number of packets such as "20 packets", or bytes, a time or BDP'
_FULL_BYTES: Final = 1500
_MOST_FACTOR: Final = 1000
_MOST_FLOWS: Final = 1000
#: Of which most would be the start, in fewer.
_ROUND_TRIPS: Final = 10
#: How long it simulates unless told otherwise: what a window grows to shows after some round trips, and packets.
_USUAL_S, _USUAL_ROUND_TRIPS, _USUAL_PACKETS = 10, 50, 1000


@with_table_options
def path(
    *,
    bandwidth: str | None = None,
    rtt: str | None = None,
    queue: str | None = None,
    path: Path | None = None,
    factor: float = 2.0,
    flows: str | None = None,
    headroom: str = "0 %",
    max_window: str | None = None,
    default_window: str = "64 KiB",
    loss: str = "0.1 %",
    bytes_: Annotated[str | None, Parameter(name="--bytes")] = None,
    cross: str = "0 %",
    duration: str | None = None,
    recovery: Literal["tahoe", "reno", "newreno", "sack"] = "newreno",
    observed: Annotated[list[Path] | None, Parameter(negative="", consume_multiple=True)] = None,
    fit: str | None = None,
    jobs: Annotated[int, Parameter(name=["--jobs", "-j"])] = 1,
    json_: Json = False,
    output: Output = None,
) -> int:
    """Say what a path will carry, which window and how many flows to take, and what would change it.

    Args:
        bandwidth: Rate of the bottleneck, such as "10 Mbit/s".
        rtt: Round-trip time of the empty path, such as "162 ms".
        queue: Queue at the bottleneck, such as "80 packets", "64 KiB", "20 ms" or "1 BDP" (default: 80 packets).
        path: Scenario of one link to take these three from where they are not given, such as "tightlink measure path"
            writes, and all else that it says of the link.
        factor: What the senders' access links carry together, over the bandwidth.
        flows: Numbers of parallel flows to choose from, such as "1,2,4,8".
        headroom: Share of the bandwidth to leave unused, such as "20 %".
        max_window: Largest window that the hosts allow, such as "64 KiB".
        default_window: Window of the single flow that all is compared with.
        loss: Largest loss that counts as little.
        bytes_: How much to transfer, such as "1 TB", to learn how long it takes.
        cross: Share of the bandwidth that other traffic takes over the week, such as "20 %".
        duration: How long to simulate (default: 10 s, or longer, for 50 round trips and 1000 packets).
        recovery: Loss recovery of the hosts' TCP.
        observed: Measurements to compare with: CSV, iperf3's JSON, or the folder of a run or a study.
        fit: What of bandwidth, rtt, queue and cross to fit to the measurements first, such as "bandwidth,rtt".
        jobs: Runs to simulate at a time.
        output: File for a figure: .png, .svg or .pdf.
    """
    check_new(output)
    whole("--jobs", jobs)
    if fit is not None and observed is None:
        raise ScenarioError("--observed beside it: there is nothing to fit to", key="--fit", value=fit)
    line: dict[str, Any] = {}
    aside: list[str] = []
    if path is not None:
        (bandwidth, rtt, queue), line, aside = _of_link(path, bandwidth, rtt, queue)
    for name, value in (("--bandwidth", bandwidth), ("--rtt", rtt)):
        if value is None:
            raise ScenarioError("a value, or --path FILE to take it from", key=name)
    link = (str(bandwidth), str(rtt), _QUEUE if queue is None else queue)
    way = _path(link, line, factor, cross, duration, recovery)
    usual = _window("--default-window", default_window, way)
    most = None if max_window is None else _window("--max-window", max_window, way)
    counts = FLOWS if flows is None else _flows(flows)
    left, little = _below("--headroom", headroom, 1.0), float(share("--loss", loss))
    size = None if bytes_ is None else int(option("--bytes", bytes_, units.SIZE))
    points = None if observed is None else read(observed, way)
    with watching("simulating the path"):
        fitted = None if points is None or fit is None else _fit(points, way, fit, jobs)
        way = way if fitted is None else fitted.path
        found = predicted(
            way, flows=counts, default_window=usual, max_window=most, headroom=left, little=little, jobs=jobs
        )
        answer = answered(found, size=size, observed=points, fitted=fitted, jobs=jobs)
    if json_:
        print_json(as_json(answer), named=True)
    else:
        show(answer)
    if output is not None:
        draw(answer, output)
    return max(warned(aside), 0 if found.choice.clean else CAUTION)


def _of_link(
    file: Path, bandwidth: str | None, rtt: str | None, queue: str | None
) -> tuple[tuple[str, str, str], dict[str, Any], list[str]]:
    """Bandwidth, round trip and queue of a scenario with one link, but for what options say; the rest; what is missing.

    The rest is what its link is beside these, and missing what of the scenario no path has.
    """
    scenario = load(file)
    if len(scenario.link) != 1 or scenario.topology:
        raise ScenarioError("a scenario of one link, which is the path", key="link", file=str(file))
    ((name, written),) = scenario.link.items()
    link = scenario.explicit().link[name]
    there, back = link.directions()
    # Data may all go the other way, as an upload on a line that is written as a download's.
    sends = {str(getattr(traffic, "from_", "")) for traffic in scenario.traffic.values()}
    turned = sends == {link.ends[1]}
    way, other = (back, there) if turned else (there, back)
    names = [f"link.{name}", f"link.{name}.reverse"][:: -1 if turned else 1]
    for key, value, instead, ending, wanted in (
        (f"{names[0]}.rate", way.rate, bandwidth, "bit/s", "a rate in bit/s that does not change"),
        (f"{names[0]}.delay", way.delay, rtt, "s", "a delay that does not change"),
        (f"{names[1]}.delay", other.delay, rtt, "s", "a delay that does not change"),
        (f"{names[0]}.queue", way.queue, queue, _LIMITS, "a queue in packets, bytes, time or BDP"),
    ):
        if instead is None and (not isinstance(value, str) or not value.endswith(ending)):
            found = value.written() if isinstance(value, Table) else value
            raise ScenarioError(wanted, key=key, value=found, file=str(file))
    given = str(way.queue)
    if queue is None and not given.endswith(_LIMITS[:2]):
        if bandwidth or rtt:
            # Of the file's rate and delay, or of those given?
            raise ScenarioError("a queue in packets, or --queue", key=f"{names[0]}.queue", value=given, file=str(file))
        given = _packets(scenario, names[0])
    line = line_of(written, link, turned=turned)
    if not line and None not in {bandwidth, rtt, queue}:
        raise ScenarioError("no --bandwidth, --rtt and --queue beside it, which leave nothing of the file",
                            key="--path", value=str(file))  # fmt: skip
    rtt = rtt or f"{units.time(str(way.delay)) + units.time(str(other.delay))!r} s"
    bandwidth = bandwidth or slower_shaper(way.written()) or str(way.rate)
    return (bandwidth, rtt, queue or given), line, _aside(scenario)


def _in_packets(queue: str, bandwidth: str, rtt_s: float, line: dict[str, Any]) -> str:
    """The option ``--queue`` in packets: that of a run over a link of this rate and round trip."""
    if queue.isdecimal():
        return f"{queue} packets"
    if queue.endswith(_LIMITS[:2]):
        return queue
    if not queue.endswith(_LIMITS):
        raise ScenarioError(_ANY_QUEUE, key="--queue", value=queue)
    keys = {key: value for key, value in line.items() if key in {"mtu", "framing"}}
    try:
        link = Link(ends=("here", "there"), rate=bandwidth, delay=f"{rtt_s / 2!r} s", queue=queue, **keys)
    except ScenarioError as error:
        raise ScenarioError(_ANY_QUEUE, key="--queue", value=queue) from error
    flow = Bulk(from_="here", to="there")
    return _packets(Scenario(duration="1 s", link={"path": link}, traffic={"flow": flow}), "link.path")


def _packets(scenario: Scenario, key: str) -> str:
    """The limit of a link's queue in packets: that of a run, in full ones where it is in bytes."""
    link = next(each for each in scenario.resolve()["links"] if f"link.{each['name']}" == key)
    limit, full = link["queue"]["limit"], min(link["mtu_bytes"] or _FULL_BYTES, _FULL_BYTES)
    return units.format_packets(limit["packets"] if "packets" in limit else max(1, limit["bytes"] // full))


def _aside(scenario: Scenario) -> list[str]:
    """What of a scenario no path has, and what would be otherwise with it."""
    found = []
    if processors := [f"node.{name}.processor" for name, node in scenario.node.items() if node.processor is not None]:
        found.append(f"--path does not count {', '.join(processors)}: transfers are at most as fast as predicted")
    if len(scenario.traffic) > 1:
        found.append(
            f"--path does not count the traffic of the file ({', '.join(scenario.traffic)}): others leave a transfer "
            "less than predicted (--cross)"
        )
    return found


def _path(  # noqa: PLR0917
    link: tuple[str, str, str], line: dict[str, Any], factor: float, cross: str, duration: str | None, recovery: str
) -> "BulkPath":
    bandwidth, rtt, queue = link
    bandwidth_bps = float(option("--bandwidth", bandwidth, units.RATE))
    rtt_s = float(option("--rtt", rtt, units.DELAY))
    packets = int(option("--queue", _in_packets(queue, bandwidth, rtt_s, line), units.PACKETS))
    if not 1 <= factor <= _MOST_FACTOR:
        raise ScenarioError(f"a number from 1 to {_MOST_FACTOR}", key="--factor", value=plain(factor))
    path = BulkPath(
        bandwidth_bps=bandwidth_bps,
        line=line,
        rtt_s=rtt_s,
        queue_packets=packets,
        factor=factor,
        cross=_below("--cross", cross, 0.9),
        duration_s=seconds("--duration", duration or _usual_duration(bandwidth_bps, rtt_s)),
        recovery=recovery,
    )
    if "mtu" in line:
        path = path.changed(payload_bytes=min(path.payload_bytes, units.size(line["mtu"]) - path.header_bytes))
    if path.duration_s < _ROUND_TRIPS * path.rtt_s:
        raise ScenarioError(f"at least {_ROUND_TRIPS} round trips", key="--duration", value=duration)
    return path


def _usual_duration(bandwidth_bps: float, rtt_s: float) -> str:
    least_s = max(_USUAL_S, _USUAL_ROUND_TRIPS * rtt_s, _USUAL_PACKETS * 8 * _FULL_BYTES / bandwidth_bps)
    # As whole tens of seconds.
    return units.format_time(float(_USUAL_S * math.ceil(round(least_s / _USUAL_S, 9))))


def _fit(points: "pl.DataFrame", path: "BulkPath", words: str, jobs: int) -> "Calibration":
    ranges: dict[str, tuple[float, float]] = {}
    for word in words.split(","):
        name = _FITTED.get(word.strip())
        if name is None:
            meant = closest(word, _FITTED)
            raise ScenarioError(f"{one_of(_FITTED)}, or several", key="--fit", value=words, suggestion=meant)
        low, high = RANGES.get(name, (1.0, 1.0))
        value = float(getattr(path, name))
        ranges[name] = CROSS if name == "cross" else (value * low, value * high)
    return calibrate(points, path, ranges, jobs=jobs)


def _flows(text: str) -> list[int]:
    """Numbers of flows, separated by commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= _MOST_FLOWS for word in words):
        raise ScenarioError(f'whole numbers from 1 to {_MOST_FLOWS}, such as "1,2,4,8"', key="--flows", value=text)
    return sorted({int(word) for word in words})


def _window(name: str, text: str, path: "BulkPath") -> int:
    """A window in packets, given in bytes or packets."""
    if text.endswith(("packet", "packets")):
        return int(option(name, text, units.PACKETS))
    size = option(name, text, units.SIZE)
    if size < path.payload_bytes:
        raise ScenarioError(f"at least a packet of {path.payload_bytes} B", key=name, value=text)
    return path.window_packets(float(size))


def _below(name: str, text: str, most: float) -> float:
    found = float(share(name, text))
    if found >= most:
        raise ScenarioError(f"less than {units.format_fraction(most)}", key=name, value=text)
    return found

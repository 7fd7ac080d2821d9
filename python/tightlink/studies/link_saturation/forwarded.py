"""The sweep through this machine's own kernel, which forwards: nothing of it is slowed down or emulated.

A host sends datagrams of each size as fast as it can through a router that is the kernel, once with a line behind it
that no packet waits for, once with a line of 2 Gbit/s. The first says what a packet and a byte cost the kernel; from
that follows at which size the second is full.

Example:
    >>> [point.name for point in POINTS][:2], len(POINTS)
    (['kernel/open/25', 'kernel/open/50'], 28)
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import units
from tightlink.measure.forwarding import slowest
from tightlink.measure.kernel_router import ETHERNET_BYTES
from tightlink.measure.machine import missing
from tightlink.scenario import Framing, Link, Saturate, Scenario, Udp
from tightlink.studies.link_saturation.interface import DURATION_S, PROBE, RECEIVER, SENDER
from tightlink.studies.link_saturation.measures import measure
from tightlink.studies.live import Firm, Measurement, repeats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

PAYLOADS: Final = (25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000, 1200, 1450)
#: Behind the router: a line that is never full, and one that large packets fill.
OPEN: Final = "open"
LINE: Final = "line"
RATES: Final = {OPEN: "20 Gbit/s", LINE: "2 Gbit/s"}
_ROUTER: Final = "router"
#: Of the line: more than a moment in which the router waits empties.
_QUEUE: Final = "100 packets"


@dataclass(frozen=True)
class Point:
    """Datagrams of one size, with one of the lines behind the router."""

    line: str
    payload: int

    @property
    def name(self) -> str:
        """Of its measurement."""
        return f"kernel/{self.line}/{self.payload}"

    @property
    def scenario(self) -> Scenario:
        """Sender, the machine's kernel, line, receiver."""
        return Scenario(
            profile="rfc",
            duration=units.format_time(DURATION_S),
            link={
                "own": Link(ends=(SENDER, _ROUTER), rate="100 Gbit/s", delay="1 us"),
                "line": Link(
                    ends=(_ROUTER, RECEIVER),
                    rate=RATES[self.line],
                    delay="1 us",
                    queue=_QUEUE,
                    framing=Framing(overhead=f"{ETHERNET_BYTES} B"),
                ),
            },
            traffic={PROBE: Saturate(from_=SENDER, to=RECEIVER, udp=Udp(payload=f"{self.payload} B"))},
        )


POINTS: Final = tuple(Point(line, payload) for line in RATES for payload in PAYLOADS)


def rate(run: Run) -> float:
    """Packets that get through per second."""
    return measure(run)["packets_per_s"]


def measurements() -> list[Measurement]:
    """The sweep, one size after the other, where the machine's kernel can be a router."""
    if missing("forwarding"):
        return []
    firm = Firm(rate, fewest=2, most=3)
    return [Measurement(point.name, point.scenario, over="kernel", alone=True, firm=firm) for point in POINTS]


def measured(runs: Mapping[str, Run]) -> list[Run]:
    """All runs of the sweep."""
    return [run for point in POINTS for run in repeats(runs, f"live/{point.name}")]


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each size that was measured, medians, and what limited; lines are told apart by ``line``."""
    rows: list[dict[str, Any]] = []
    for point in POINTS:
        own = repeats(runs, f"live/{point.name}")
        if own:
            found = [_row(run) for run in own]
            medians = {name: statistics.median(each[name] for each in found) for name in found[0]}
            limits = statistics.mode(slowest(run) for run in own)
            named = {"line": point.line, "datagram_bytes": point.payload, "times": len(own), "limited_by": limits}
            rows.append(named | medians)
    return pl.DataFrame(rows)


def of(found: pl.DataFrame, line: str) -> pl.DataFrame:
    """The rows of one line."""
    return found if found.is_empty() else found.filter(pl.col("line") == line)


def _row(run: Run) -> dict[str, float]:
    found = measure(run)
    node = run.nodes.row(0, named=True)
    time_s = float(run.flows["stop_s"][0] - run.flows["start_s"][0])
    return {
        "packet_bytes": found["packet_bytes"],
        # As the line counts them.
        "line_bytes": found["packet_bytes"] + ETHERNET_BYTES,
        "offered_packets_per_s": float(run.flows["packets_sent"][0]) / time_s,
        "packets_per_s": found["packets_per_s"],
        "goodput_bps": found["goodput_bps"],
        "line_bps": found["throughput_bps"] + 8 * ETHERNET_BYTES * found["packets_per_s"],
        "loss": found["loss"],
        "load": min(1.0, float(node["load_reported"])),
        "utilization": found["utilization"],
    }

"""The sweep between two real hosts: the interface and the line are a link in real time, all else is Linux.

A host's own interface cannot be given a cost, so the document's stands behind it, as a router with the same costs per
packet and byte in front of the same line. Datagrams come a tenth faster than the slower of the two takes them, so one
or the other is always full. The same scenarios are simulated beside it.

Example:
    >>> POINTS[0].name, round(POINTS[0].interval_s * 1e6, 2), round(POINTS[-1].interval_s * 1e6, 2)
    ('25', 30.3, 110.25)
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Cbr, Link, Node, Scenario, Udp
from tightlink.studies.link_saturation.document import BANDWIDTH_BPS
from tightlink.studies.link_saturation.interface import (
    DURATION_S,
    FAST_ETHERNET,
    GAP_BYTES,
    HEADER_BYTES,
    NIC,
    PER_BYTE_S,
    PER_PACKET_S,
    PROBE,
    RECEIVER,
    RING,
    SENDER,
    UDP_IP_BYTES,
)
from tightlink.studies.link_saturation.measures import measure
from tightlink.studies.live import Firm, Measurement, repeats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: Of the document's sizes every other one below its critical size, each about it, and some above.
PAYLOADS: Final = (25, 50, 100, 150, 200, 250, 300, 350, 400, 425, 450, 475, 500, 600, 800, 1000, 1200, 1450)
_INTERFACE: Final = "interface"
_KIND: Final = "relayed"
#: How much more is offered than passes.
_MORE: Final = 1.1
_BITS: Final = 8
_MEASURED: Final = "measured"
SIMULATED: Final = "simulated"


@dataclass(frozen=True)
class Point:
    """Datagrams of one size."""

    payload: int

    @property
    def name(self) -> str:
        """Of its measurement."""
        return str(self.payload)

    @property
    def task(self) -> str:
        """Name of its simulation."""
        return f"{_KIND}/{self.payload}"

    @property
    def interval_s(self) -> float:
        """From datagram to datagram."""
        interface = PER_PACKET_S + PER_BYTE_S * (self.payload + UDP_IP_BYTES)
        line = _BITS * (self.payload + HEADER_BYTES + GAP_BYTES) / BANDWIDTH_BPS
        return max(interface, line) / _MORE

    @property
    def scenario(self) -> Scenario:
        """Sender, interface, line, receiver."""
        return Scenario(
            profile="rfc",
            duration=units.format_time(DURATION_S),
            link={
                "own": Link(ends=(SENDER, _INTERFACE), rate="10 Gbit/s", delay="1 us"),
                "wire": FAST_ETHERNET.link((_INTERFACE, RECEIVER)),
            },
            node={_INTERFACE: Node(processor=NIC)},
            traffic={
                PROBE: Cbr(
                    from_=SENDER,
                    to=RECEIVER,
                    interval=units.format_time(round(self.interval_s, 9)),
                    udp=Udp(payload=f"{self.payload} B"),
                ),
            },
        )


POINTS: Final = tuple(map(Point, PAYLOADS))


def rate(run: Run) -> float:
    """Packets that arrive per second."""
    return measure(run)["packets_per_s"]


def tasks() -> list[Task]:
    """The sweep, simulated."""
    return [Task(point.task, point.scenario) for point in POINTS]


def measurements() -> list[Measurement]:
    """The sweep, measured, one size after the other: 30,000 packets/s take whole processors."""
    firm = Firm(rate, share=0.005, fewest=2, most=4)
    return [
        Measurement(point.name, point.scenario, pace_s=units.packets(RING) * PER_PACKET_S, alone=True, firm=firm)
        for point in POINTS
    ]


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each size that was measured, medians; and one for its simulation, told apart by ``source``."""
    rows: list[dict[str, Any]] = []
    for point in POINTS:
        own = [_row(run) for run in repeats(runs, f"live/{point.name}")]
        if own:
            medians = {name: statistics.median(each[name] for each in own) for name in own[0]}
            size = {"datagram_bytes": point.payload}
            rows += [
                {"source": _MEASURED, "times": len(own)} | size | medians,
                {"source": SIMULATED, "times": 1} | size | _row(runs[point.task]),
            ]
    return pl.DataFrame(rows)


def of(found: pl.DataFrame, source: str = _MEASURED) -> pl.DataFrame:
    """The rows of one source."""
    return found.filter(pl.col("source") == source)


#: Of what is measured of a run, what real hosts know.
_KNOWN: Final = (
    "payload_bytes", "packet_bytes", "frame_bytes", "packets_per_s", "goodput_bps", "throughput_bps",
    "frame_throughput_bps", "loss", "utilization",
)  # fmt: skip


def _row(run: Run) -> dict[str, float]:
    found = measure(run)
    return {name: found[name] for name in _KNOWN}

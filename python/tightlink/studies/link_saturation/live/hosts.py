"""The sweep between two real hosts: the interface and the line are an emulated link, all else is Linux.

A host's own interface cannot be given a cost, so the document's stands behind it, as a router with the same costs per
packet and byte in front of the same line. Datagrams come a tenth faster than the slower of the two takes them, so one
or the other is always full. The same scenarios are simulated beside it.

Example:
    >>> POINTS[0].name, POINTS[0].scenario.traffic["probe"].interval, POINTS[-1].scenario.traffic["probe"].interval
    ('25', '30.303 us', '110.255 us')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink import units
from tightlink.analysis.limits.saturation import Saturation, find
from tightlink.analysis.measurements import MeasurementError
from tightlink.diagnosis.words import sentence
from tightlink.lazy import alt
from tightlink.report import charts
from tightlink.run import Run
from tightlink.scenario import Cbr, Link, Node, Scenario, Udp
from tightlink.studies import live
from tightlink.studies.link_saturation.observe.saturation import FRAME, measure, named
from tightlink.studies.link_saturation.setup import interface
from tightlink.studies.link_saturation.setup.interface import PROBE, RECEIVER, SENDER

#: Of the document's sizes every other one below its critical size, each about it, and some above.
PAYLOADS: Final = (25, 50, 100, 150, 200, 250, 300, 350, 400, 425, 450, 475, 500, 600, 800, 1000, 1200, 1450)
_INTERFACE: Final = "interface"
#: How much more is offered than passes.
_MORE: Final = 1.1
NOT_ENOUGH: Final = "The machine was too busy: not enough sizes were measured."
_NO_CHANGE: Final = "No change from free flow to saturation was seen."
#: Of what is measured of a run, what real hosts know.
_KNOWN: Final = (
    "payload_bytes", "packet_bytes", "frame_bytes", "packets_per_s", "goodput_bps", "throughput_bps",
    "frame_throughput_bps", "loss", "utilization",
)  # fmt: skip


def _scenario(payload: int) -> Scenario:
    """Sender, interface, line, receiver; a tenth more is offered than the slower of the two takes."""
    busy_s = interface.PER_PACKET_S + interface.PER_BYTE_S * (payload + interface.UDP_IP_BYTES)
    line = 8 * (payload + interface.HEADER_BYTES + interface.GAP_BYTES) / interface.BANDWIDTH_BPS
    interval = units.format_time(round(max(busy_s, line) / _MORE, 9))
    return Scenario(
        profile="rfc",
        duration=units.format_time(interface.DURATION_S),
        link={
            "own": Link(ends=(SENDER, _INTERFACE), rate="10 Gbit/s", delay="1 us"),
            "wire": interface.FAST_ETHERNET.link((_INTERFACE, RECEIVER)),
        },
        node={_INTERFACE: Node(processor=interface.NIC)},
        traffic={PROBE: Cbr(from_=SENDER, to=RECEIVER, interval=interval, udp=Udp(payload=f"{payload} B"))},
    )


def _row(run: Run) -> dict[str, float]:
    found = measure(run)
    return {name: found[name] for name in _KNOWN}


POINTS: Final = tuple(
    live.Point(str(payload), {"datagram_bytes": payload}, _scenario(payload), _row, "relayed") for payload in PAYLOADS
)


def rate(run: Run) -> float:
    """Packets that arrive per second."""
    return measure(run)["packets_per_s"]


def measurements() -> list[live.Measurement]:
    """The sweep, measured, one size after the other: 30,000 packets/s take whole processors."""
    pace_s = units.packets(interface.RING) * interface.PER_PACKET_S
    return live.measurements_of(POINTS, live.Repetition(rate, share=0.005, fewest=2, most=4), pace_s=pace_s)


def observe(runs: Mapping[str, Run]) -> live.Grid:
    """The sweep, measured and, told apart by ``source``, simulated; values named hosts.…, as many as it gives."""
    both, runs_measured = live.medians(POINTS, runs), live.measured(POINTS, runs)
    if both.is_empty():
        return live.Grid({"hosts.why_not": NOT_ENOUGH}, both, None, runs_measured)
    own, same = live.told_apart(both)
    line = own.select(packet_bytes=pl.col("frame_bytes") + interface.GAP_BYTES, packets_per_s="packets_per_s")
    found = _in_frames(own)
    values: dict[str, object] = {
        "hosts.why_not": NOT_ENOUGH if found is None else f"{_NO_CHANGE} {found.sentence()}",
        "hosts.measured": named(found),
        "hosts.simulated": named(_in_frames(same)),
        "hosts": named(regimes(line)),
    }
    smallest = own.filter(pl.col("datagram_bytes") == interface.SMALLEST_BYTES)["packets_per_s"].to_list()
    if smallest:
        values["hosts.smallest_per_s"] = smallest[0]
    # A row for each size measured, and one for its simulation.
    if both.height >= len(POINTS):
        apart = own["packets_per_s"] / same["packets_per_s"] - 1
        values |= {"hosts.rates_apart": max(apart.to_list(), key=abs), "hosts.sizes": apart.len()}
    return live.Grid(values, both, found, runs_measured)


def _in_frames(sweep: pl.DataFrame) -> Saturation | None:
    return regimes(sweep, size=FRAME.size, throughput=FRAME.throughput)


def regimes(sweep: pl.DataFrame, **options: Any) -> Saturation | None:
    """Its regimes; nothing where there are too few sizes."""
    try:
        return find(sweep, resamples=199, **options)
    except MeasurementError:
        return None


def finding(observed: live.Grid) -> str:
    """What was found, in a sentence, or why nothing was."""
    return NOT_ENOUGH if observed.found is None else sentence(f"{observed.found.sentence()}.")


def blocks(observed: live.Grid) -> dict[str, Any]:
    """The charts and the table of the report, by name."""
    if observed.table.is_empty():
        return {"hosts-rates": None, "hosts-sizes": None}
    drawn = observed.table.sort("source", "frame_bytes")
    return {
        "hosts-rates": over_sizes(drawn, "frame_bytes", "frame (B)", "source", "frame_throughput_bps"),
        "hosts-sizes": observed.table,
    }


def over_sizes(drawn: pl.DataFrame, size: str, title: str, by: str, throughput: str) -> list[alt.Chart]:
    """Packet rate and throughput over the size of packets, a line for each source or line."""
    return [
        charts.line(drawn.select(size, column, by), size, column, by=by, height=280, x_title=title, title=name)
        for column, name in (("packets_per_s", "Packet rate"), (throughput, "Throughput"))
    ]

"""The sweep through this machine's own kernel, which forwards: nothing of it is slowed down or emulated.

A host sends datagrams of each size as fast as it can through a router that is the kernel, once with a line behind it
that no packet waits for, once with a line of 2 Gbit/s. The first says what a packet and a byte cost the kernel; from
that follows at which size the second is full.

Example:
    >>> [point.name for point in POINTS][:2], len(POINTS)
    (['kernel/open/25', 'kernel/open/50'], 28)
"""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.analysis.limits.packet_cost import fit_line
from tightlink.analysis.limits.saturation import Saturation
from tightlink.diagnosis.words import sentence
from tightlink.measure.forwarding import slowest
from tightlink.measure.kernel_router import ETHERNET_BYTES
from tightlink.measure.machine import missing
from tightlink.reduce import largest, smallest
from tightlink.run import Run
from tightlink.scenario import Framing, Link, Saturate, Scenario, Udp
from tightlink.studies.link_saturation.live.hosts import NOT_ENOUGH, over_sizes, rate, regimes
from tightlink.studies.link_saturation.observe.saturation import measure, named
from tightlink.studies.link_saturation.setup.interface import DURATION_S, LARGEST_RATE, PROBE, RECEIVER, SENDER
from tightlink.studies.live import Grid, Measurement, Point, Repetition, measured, measurements_of, medians
from tightlink.studies.words import percent

PAYLOADS: Final = (25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000, 1200, 1450)
#: Behind the router: a line that is never full, and one that large packets fill.
OPEN: Final = "open"
LINE: Final = "line"
RATES: Final = {OPEN: "20 Gbit/s", LINE: "2 Gbit/s"}
_ROUTER: Final = "router"
#: Of the line: more than a moment in which the router waits empties.
_QUEUE: Final = "100 packets"
_LINE_BPS: Final = units.rate(RATES[LINE])
#: What values say of it, and may not: of each there is, or why there is not.
_PARTS: Final = ("loss", "costs", "critical", "plateau", "slope")


def _scenario(line: str, payload: int) -> Scenario:
    """Sender, the machine's kernel, line, receiver."""
    return Scenario(
        profile="rfc",
        duration=units.format_time(DURATION_S),
        link={
            "own": Link(ends=(SENDER, _ROUTER), rate="100 Gbit/s", delay="1 us"),
            "line": Link(
                ends=(_ROUTER, RECEIVER),
                rate=RATES[line],
                delay="1 us",
                queue=_QUEUE,
                framing=Framing(overhead=f"{ETHERNET_BYTES} B"),
            ),
        },
        traffic={PROBE: Saturate(from_=SENDER, to=RECEIVER, udp=Udp(payload=f"{payload} B"))},
    )


def _row(run: Run) -> dict[str, float | str]:
    found = measure(run)
    node = run.nodes.row(0, named=True)
    time_s = float(run.flows["stop_s"][0] - run.flows["start_s"][0])
    return {
        "limited_by": slowest(run),
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


POINTS: Final = tuple(
    Point(f"kernel/{line}/{payload}", {"line": line, "datagram_bytes": payload}, _scenario(line, payload), _row)
    for line in RATES
    for payload in PAYLOADS
)


def measurements() -> list[Measurement]:
    """The sweep, one size after the other, where the machine's kernel can be a router."""
    if missing("forwarding"):
        return []
    return measurements_of(POINTS, Repetition(rate, fewest=2, most=3), over="kernel")


def observe(runs: Mapping[str, Run]) -> Grid:
    """The sweep behind both lines, told apart by ``line``; values named kernel.…, and why others are missing."""
    table, own = medians(POINTS, runs), measured(POINTS, runs)
    line = _find(_of(table, LINE))
    if table.height < len(POINTS):
        why_not = missing("forwarding") or NOT_ENOUGH
        return Grid({f"kernel.{part}_why_not": why_not for part in _PARTS}, table, line, own, why_not)
    slow = _slow_sender(table)
    loss = {"kernel.loss_most": largest(_of(table, OPEN)["loss"])}
    return Grid(loss | _of_costs(table, slow) | _of_line(table, line, slow), table, line, own, slow)


def _slow_sender(table: pl.DataFrame) -> str:
    """Where it was the sender that limited, in a sentence; nothing if it never was."""
    slow = table.filter(pl.col("limited_by") == "sender")
    if slow.is_empty():
        return ""
    return (
        f"At {slow.height} of {table.height} points the sender was the slowest: the router was busy for "
        f"{percent(smallest(slow['load']))} of the time and more there, so what got through is not its capacity."
    )


def _fitted(table: pl.DataFrame) -> tuple[float, float]:
    """What a packet and each byte on the line cost the router, in seconds, with the open line."""
    own = _of(table, OPEN)
    rates = np.log(own["packets_per_s"].to_numpy())
    per_packet, per_byte = fit_line(own["line_bytes"].to_numpy(), rates[None, :])
    return float(per_packet[0]), float(per_byte[0])


def _of_costs(table: pl.DataFrame, slow: str) -> dict[str, object]:
    """Of the line that is never full, unless it was the sender that limited there."""
    own = _of(table, OPEN)
    if "sender" in own["limited_by"].to_list():
        return {"kernel.costs_why_not": slow}
    found, times, (per_packet, per_byte) = _find(own), 1 / own["packets_per_s"], _fitted(table)
    return {
        "kernel.sizes": own.height,
        "kernel.router_sizes": own.filter(pl.col("limited_by") == "router").height,
        "kernel.regime": "too few sizes" if found is None else found.regime,
        "kernel.time_ratio": largest(times) / smallest(times),
        "kernel.per_packet_s": per_packet,
        "kernel.per_byte_s": per_byte,
    }


def _of_line(table: pl.DataFrame, line: Saturation | None, slow: str) -> dict[str, object]:
    """Of the line that large packets fill: where, how full, and the slope there."""
    if line is None or not line.laws:
        why_not = NOT_ENOUGH if line is None else sentence(f"{line.sentence()}.")
        return {f"kernel.{part}_why_not": why_not for part in ("critical", "plateau", "slope")}
    values: dict[str, object] = {"kernel": named(line)}
    if slow:
        values["kernel.critical_why_not"] = slow
    else:
        per_packet, per_byte = _fitted(table)
        own = 8 / _LINE_BPS
        # Where the line takes as long as the router, by what packets and bytes cost it.
        values["kernel.predicted_bytes"] = per_packet / (own - per_byte) if own > per_byte else math.inf
    free = line.points.filter(pl.col("regime") == "free flow")["throughput_bps"] / _LINE_BPS
    values["kernel.plateau_off"] = max((value - 1 for value in free.to_list()), key=abs)
    values["kernel.free_sizes"] = free.len()
    if line.free_flow is None:
        values["kernel.slope_why_not"] = "Fewer than three sizes are in free flow."
    return values


def _of(found: pl.DataFrame, line: str) -> pl.DataFrame:
    """The rows of one line."""
    return found if found.is_empty() else found.filter(pl.col("line") == line)


def _find(sweep: pl.DataFrame) -> Saturation | None:
    """Its regimes, in bytes as the line counts them, all of them; nothing where there are too few sizes."""
    if sweep.is_empty():
        return None
    return regimes(sweep.select("packets_per_s", packet_bytes="line_bytes"), overhead_bytes=0.0)


def blocks(observed: Grid) -> dict[str, Any]:
    """The charts and the table of the report, by name."""
    if observed.table.is_empty():
        return {"kernel-rates": None, "kernel-sizes": None}
    drawn = observed.table.sort("line", "line_bytes").with_columns(pl.col("line").replace(RATES))
    return {
        "kernel-rates": over_sizes(drawn, "line_bytes", "packet with Ethernet's header (B)", "line", "line_bps"),
        "kernel-sizes": observed.table,
    }


def finding(observed: Grid) -> str:
    """What was found, in a sentence or two, or why nothing was."""
    if observed.why_not:
        return observed.why_not
    per_packet, per_byte = _fitted(observed.table)
    most = largest(_of(observed.table, OPEN)["packets_per_s"])
    line = "" if observed.found is None else f" Behind it a line of {RATES[LINE]} is {observed.found.sentence()}."
    return (
        f"The kernel forwards up to {most:,.0f} packets/s, {most / LARGEST_RATE:.0f} times the document's interface: "
        f"{per_packet * 1e9:.0f} ns for each packet and {per_byte * 1e9:.2f} ns for each byte.{line}"
    )

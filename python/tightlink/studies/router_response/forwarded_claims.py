"""What the grid through the machine's own kernel shows: claims, and a part of the report.

The tolerances are this study's, and were set before anything was measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import regimes
from tightlink.analysis.measurements import MeasurementError
from tightlink.experiment.claims import exact, holds_if, untestable
from tightlink.measure.forwarding import FULL
from tightlink.measure.forwarding_sender import IN_TRAINS
from tightlink.measure.machine import missing
from tightlink.reduce import largest, smallest
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.live import kernel
from tightlink.studies.router_response.document import CONCLUSION_PER_S, DOCUMENT
from tightlink.studies.router_response.forwarded import PROBES, RATES_PER_S, measured, seconds_per_packet, table
from tightlink.studies.router_response.probes import REFINED
from tightlink.studies.router_response.words import per_s, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.regimes import Regimes
    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

#: How far apart loads of all lengths may be at one rate, and costs of a packet at all rates, as ratios.
LENGTHS_WITHIN: Final = 1.25
PROPORTIONAL_WITHIN: Final = 1.25
LOSS_WITHIN: Final = 1e-3
#: Senders that offer less than this share of what they should are no measure of a rate.
_KEPT: Final = 0.98
#: Beyond the onset by this share nothing of it is left to doubt.
_BEYOND: Final = 1.2
_RESAMPLES: Final = 200
_NOT_ENOUGH: Final = "The machine was too busy: not enough probes were measured."
_STATEMENTS: Final = {
    "live.kernel.governs": (
        "The machine's kernel: the load is governed by the packet rate, not by the bit rate or the length",
        f"{DOCUMENT}, IV",
    ),
    "live.kernel.lengths": (
        f"The machine's kernel: at one packet rate the loads of {REFINED[0]} to {REFINED[-1]} B are within a quarter",
        f"{DOCUMENT}, III-2",
    ),
    "live.kernel.proportional": (
        "The machine's kernel: where it is not full, a packet costs the same at all rates, within a quarter",
        f"{DOCUMENT}, III-1: the stable region",
    ),
    "live.kernel.full": (
        "The machine's kernel: beyond the onset the processor is busy all the time",
        f"{DOCUMENT}, III-1: there is no actual reduction in CPU load",
    ),
    "live.kernel.loss": ("The machine's kernel: below the onset nothing is lost", f"{DOCUMENT}, III-3"),
}


def findings(runs: Mapping[str, Run]) -> tuple[list[Claim], Section, pl.DataFrame]:
    """Claims, the part of the report, and the table of probes."""
    found = table(runs)
    regions = _regimes(found)
    return list(_claims(found, regions)), _section(runs, found, regions), found


def _why_not() -> str:
    return missing("forwarding") or _NOT_ENOUGH


def _regimes(found: pl.DataFrame) -> Regimes | None:
    """The regions of what was measured; nothing where too little was."""
    if found.is_empty():
        return None
    try:
        return regimes.find(found, resamples=_RESAMPLES)
    except MeasurementError:
        return None


def _claims(found: pl.DataFrame, regions: Regimes | None) -> Iterator[Claim]:
    if regions is None or found.height < len(PROBES):
        yield from (untestable(name, *words, _why_not()) for name, words in _STATEMENTS.items())
    else:
        name = "live.kernel.governs"
        yield exact(
            name, *_STATEMENTS[name], "packets_per_s", regions.governs or "nothing",
            reason=f"{percent(regions.explained.sure)} of resampled tables agree.",
        )  # fmt: skip
        yield from _of_costs(found)
        yield from _of_onset(found, regions)
    yield untestable(
        "live.kernel.onset", "The machine's kernel: the router becomes unstable after 4000 packets/s",
        f"{DOCUMENT}, IV",
        f"A kernel of today is another router: {CONCLUSION_PER_S} packets/s are what a Cisco 2600 takes. Where this "
        "one is full is in the report.",
    )  # fmt: skip
    yield untestable(
        "live.kernel.decline", "The machine's kernel: the reported load falls in the highly unstable region",
        f"{DOCUMENT}, III-1",
        "The document's meter is a process that gets no turn; this one is the scheduler itself, and always gets it.",
    )  # fmt: skip


def _of_costs(found: pl.DataFrame) -> Iterator[Claim]:
    below = found.filter(~pl.col("router_full"))
    names = ("live.kernel.lengths", "live.kernel.proportional")
    loads = (
        below.filter(pl.col("offered_packets_per_s") >= _KEPT * pl.col("nominal_packets_per_s"))
        .group_by("nominal_packets_per_s")
        .agg(apart=pl.col("load").max() / pl.col("load").min(), lengths=pl.len())
    )
    comparable = loads.filter(pl.col("lengths") == len(REFINED)).sort("apart")
    costs = seconds_per_packet(found)
    if comparable.is_empty():
        yield from (untestable(name, *_STATEMENTS[name], "The router was full at all rates.") for name in names)
        return
    worst = comparable.row(-1, named=True)
    yield holds_if(
        names[0], *_STATEMENTS[names[0]], round(worst["apart"], 3), worst["apart"] <= LENGTHS_WITHIN,
        f"Largest load over smallest, at {per_s(worst['nominal_packets_per_s'])}, of {comparable.height} rates; the "
        f"bit rates are {REFINED[-1] / REFINED[0]:.0f}-fold.",
    )  # fmt: skip
    dearest, cheapest = largest(costs), smallest(costs)
    yield holds_if(
        names[1], *_STATEMENTS[names[1]], round(dearest / cheapest, 2), dearest / cheapest <= PROPORTIONAL_WITHIN,
        f"Dearest packet over cheapest: {dearest * 1e6:.2f} and {cheapest * 1e6:.2f} µs. The thread wakes for a packet "
        "that comes alone and takes those that come meanwhile with it, so the more come the less each costs.",
    )  # fmt: skip


def _of_onset(found: pl.DataFrame, regions: Regimes) -> Iterator[Claim]:
    names = ("live.kernel.full", "live.kernel.loss")
    if regions.onset is None or regions.onset.high is None or regions.onset.low is None:
        most = f"No onset was seen for all lengths, up to {per_s(RATES_PER_S[-1])}: {regions.sentence()}."
        yield from (untestable(name, *_STATEMENTS[name], most) for name in names)
        return
    beyond = found.filter(pl.col("offered_packets_per_s") > _BEYOND * regions.onset.high)
    if beyond.is_empty():
        yield untestable(names[0], *_STATEMENTS[names[0]], "No probe is far enough beyond the onset.")
    else:
        least = smallest(beyond["load"])
        yield holds_if(
            names[0], *_STATEMENTS[names[0]], round(least, 3), least >= FULL,
            f"Least load by the kernel's scheduler, of {beyond.height} probes.",
        )  # fmt: skip
    below = found.filter(pl.col("offered_packets_per_s") <= regions.onset.low)
    if below.is_empty():
        yield untestable(names[1], *_STATEMENTS[names[1]], "No probe is below the onset.")
        return
    worst = largest(below["loss"])
    yield holds_if(
        names[1], *_STATEMENTS[names[1]], round(100 * worst, 3), worst <= LOSS_WITHIN,
        f"Largest of {below.height} probes, within {percent(LOSS_WITHIN, 1)}: no line is full here, so only the router "
        "can lose packets.", unit="%",
    )  # fmt: skip


def _section(runs: Mapping[str, Run], found: pl.DataFrame, regions: Regimes | None) -> Section:
    title = "This machine's own kernel as the router"
    if found.is_empty():
        return Section(title, _why_not(), [])
    finding = _why_not() if regions is None else f"{regions.sentence()[0].upper()}{regions.sentence()[1:]}."
    text = (
        "Three hosts in a row, of which that in the middle is a router: the Linux kernel of this machine. What arrives "
        "waits in a ring of 256 packets for a thread of the kernel, which has a processor of its own and does all that "
        "forwarding takes; its load is the share of the time for which the kernel's scheduler ran it. The line behind "
        f"it is never full. Up to {per_s(IN_TRAINS)} packets come one by one, beyond in trains of sixteen. "
        f"{kernel(measured(runs))}"
    )
    drawn = found.with_columns(
        length=pl.format("{} B", "packet_bytes"),
        busy=pl.col("load") * 100,
        cost=pl.col("load") / pl.col("forwarded_packets_per_s") * 1e6,
    )
    shown = drawn.select(
        "packet_bytes", "times", "offered_packets_per_s", "forwarded_packets_per_s", pl.col("busy").alias("load %"),
        pl.col("cost").alias("µs per packet"), (pl.col("loss") * 100).alias("lost %"),
    )  # fmt: skip
    formats = {"load %": ".1f", "µs per packet": ".2f", "lost %": ".2f", "offered_packets_per_s": ",.0f",
               "forwarded_packets_per_s": ",.0f"}  # fmt: skip
    return Section(
        title,
        finding,
        [
            Text(text),
            Row(
                [_chart(drawn, "busy", "load (%)"), _chart(drawn, "cost", "µs per packet")],
                "For each packet length: what the scheduler says, and what that makes for each packet.",
            ),
            Table(shown, "", formats),
        ],
    )


def _chart(drawn: pl.DataFrame, column: str, title: str) -> Any:
    ordered = drawn.sort("packet_bytes", "offered_packets_per_s")
    return charts.line(
        ordered, "offered_packets_per_s", column, by="length", x_title="packets/s offered", y_title=title, height=280
    )

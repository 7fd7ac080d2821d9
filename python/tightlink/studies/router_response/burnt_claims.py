"""What the router whose time is really spent shows: claims, and a part of the report.

The tolerances that are not the document's are this study's, and were set before anything was measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import regimes
from tightlink.analysis.measurements import MeasurementError
from tightlink.experiment.claims import exact, holds_if, untestable, within
from tightlink.reduce import mean_of, smallest
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.live import machine, repeats
from tightlink.studies.router_response.burnt import PER_PACKET_S, PROBES, SIMULATED, of, table
from tightlink.studies.router_response.document import CONCLUSION_PER_S, DOCUMENT, LEVEL, ONSETS_PER_S
from tightlink.studies.router_response.evidence import middle
from tightlink.studies.router_response.load_claims import GRID_TOLERANCE
from tightlink.studies.router_response.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.regimes import Regimes
    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

_HERE: Final = "this study"
#: How far the kernel's load and the losses may be from the simulation's.
LOAD_WITHIN: Final = 0.05
LOSS_WITHIN: Final = 0.03
#: A processor that is busy so long is busy all the time: the machine has other things to do, too.
FULL: Final = 0.95
#: Beyond the onset by this share nothing of it is left to doubt.
_BEYOND: Final = 1.2
_RESAMPLES: Final = 200
_NOT_ENOUGH: Final = "The machine was too busy: not enough probes were measured."


def findings(runs: Mapping[str, Run]) -> tuple[list[Claim], Section, pl.DataFrame]:
    """Claims, the part of the report, and the table of probes."""
    found = table(runs)
    regions = _regimes(found)
    return list(_claims(found, regions)), _section(runs, found, regions), found


def _regimes(found: pl.DataFrame) -> Regimes | None:
    """The regions of what was measured; nothing where too little was."""
    if found.is_empty():
        return None
    try:
        return regimes.find(of(found), resamples=_RESAMPLES)
    except MeasurementError:
        return None


def _claims(found: pl.DataFrame, regions: Regimes | None) -> Iterator[Claim]:
    yield from _of_regions(regions)
    yield from _of_loads(found, regions)


def _of_regions(regions: Regimes | None) -> Iterator[Claim]:
    statement = "Spent for real: the load is governed by the packet rate, not by the bit rate or the length"
    if regions is None:
        yield untestable("live.governs", statement, f"{DOCUMENT}, IV", _NOT_ENOUGH)
    else:
        yield exact(
            "live.governs", statement, f"{DOCUMENT}, IV", "packets_per_s", regions.governs or "nothing",
            reason=f"{percent(regions.explained.sure)} of resampled tables agree.",
        )  # fmt: skip
    lengths = {} if regions is None else {int(length.packet_bytes): length for length in regions.lengths}
    for size, printed in ONSETS_PER_S.items():
        statement = f"Spent for real, {size} B: the unstable region begins at {printed:g} packets/s"
        place = f"{DOCUMENT}, III-2 and Fig. 3"
        if size not in lengths:
            yield untestable(f"live.onset.{size}", statement, place, _NOT_ENOUGH)
            continue
        yield within(
            f"live.onset.{size}", statement, place, printed, round(middle(lengths[size]), 1), tolerance=GRID_TOLERANCE,
            unit="packets/s",
            reason=f"{lengths[size].onset}. A packet takes the inverse of the mean of the three; "
            "that one cost serves all lengths is not fitted. The tolerance is half of the document's gap.",
        )  # fmt: skip
    onset = None if regions is None or regions.onset is None else regions.onset.middle
    statement = "Spent for real: the router becomes unstable after 4000 packets/s"
    if onset is None:
        yield untestable("live.onset.conclusion", statement, f"{DOCUMENT}, IV", "No onset was seen for all lengths.")
    else:
        yield within(
            "live.onset.conclusion", statement, f"{DOCUMENT}, IV", CONCLUSION_PER_S, round(onset, 1), tolerance=500,
            unit="packets/s", reason="Printed to a thousand.",
        )  # fmt: skip


def _of_loads(found: pl.DataFrame, regions: Regimes | None) -> Iterator[Claim]:
    onset = None if regions is None or regions.onset is None else regions.onset.high
    statement = "Spent for real: beyond the onset the processor is busy all the time"
    place = f"{DOCUMENT}, III-1: there is no actual reduction in CPU load"
    beyond = None if onset is None else of(found).filter(pl.col("offered_packets_per_s") > _BEYOND * onset)
    if beyond is None or beyond.is_empty():
        yield untestable("live.load.full", statement, place, _NOT_ENOUGH)
    else:
        least = smallest(beyond["load"])
        yield holds_if(
            "live.load.full", statement, place, round(least, 3), least >= FULL,
            f"Least load by the kernel's scheduler. The document's routers read {percent(LEVEL)} and less there, for "
            "their meter is a process that gets no turn; this one's meter is the scheduler itself.",
        )  # fmt: skip
    for name, column, limit in (("load", "load", LOAD_WITHIN), ("loss", "loss", LOSS_WITHIN)):
        statement = f"Spent for real: the {name} is the simulation's, within ± {percent(limit)}"
        # A row for each probe measured, and one for its simulation.
        if found.height < len(PROBES):
            yield untestable(f"live.{name}", statement, _HERE, _NOT_ENOUGH)
            continue
        apart = of(found)[column] - of(found, SIMULATED)[column]
        worst = max(apart.to_list(), key=abs)
        yield holds_if(
            f"live.{name}", statement, _HERE, round(100 * worst, 2), abs(worst) <= limit,
            f"Largest difference of {apart.len()} of {len(PROBES)} probes; on average "
            f"{percent(mean_of(apart.abs()), 1)}.", unit="%",
        )  # fmt: skip


def _section(runs: Mapping[str, Run], found: pl.DataFrame, regions: Regimes | None) -> Section:
    title = "A router whose time is really spent"
    if found.is_empty():
        return Section(title, _NOT_ENOUGH, [])
    finding = _NOT_ENOUGH if regions is None else f"{regions.sentence()[0].upper()}{regions.sentence()[1:]}."
    measured = [run for probe in PROBES for run in repeats(runs, f"live/{probe.name}")]
    text = (
        "Between two hosts of this machine stands a process that forwards packets, and for each of them works for "
        f"{PER_PACKET_S * 1e6:.0f} µs: what a router takes that is full at the document's mean onset. Its input ring "
        "is a device of the kernel, its load is what the kernel's scheduler counts, and the sender's and the "
        "receiver's stacks are Linux's. So what was found by simulation is found again where nothing is simulated but "
        "the line of 2 Mbit/s: load follows packets; losses begin at the line's bit rate, and for all lengths alike "
        f"once the processor is full. {machine(measured)}"
    )
    series = pl.format("{} B, {}", "packet_bytes", "source")
    drawn = found.with_columns(series=series, load=pl.col("load") * 100, loss=pl.col("loss") * 100)
    return Section(
        title,
        finding,
        [
            Text(text),
            Row([_chart(drawn, "load", "load (%)"), _chart(drawn, "loss", "lost (%)")],
                "Measured and simulated, for each packet length."),
            Table(found.select(
                "packet_bytes", "source", "offered_packets_per_s", (pl.col("load") * 100).alias("load %"),
                (pl.col("lost_input_ring") * 100).alias("lost, input ring %"),
                (pl.col("lost_output_ring") * 100).alias("lost, output ring %"),
            ), "", {"load %": ".1f", "lost, input ring %": ".1f", "lost, output ring %": ".1f"}),
        ],
    )  # fmt: skip


def _chart(drawn: pl.DataFrame, column: str, title: str) -> Any:
    ordered = drawn.sort("packet_bytes", "source", "offered_packets_per_s")
    return charts.line(
        ordered, "offered_packets_per_s", column, by="series", x_title="packets/s offered", y_title=title, height=280
    )

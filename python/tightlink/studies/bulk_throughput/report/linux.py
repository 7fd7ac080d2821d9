"""Linux, measured, beside the same cells simulated: observed over predicted, residuals, R² for each path."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from tightlink import plots
from tightlink.analysis.residuals import agreement, share_within
from tightlink.report import Row, Section, Table, Text
from tightlink.studies.bulk_throughput.observe.linux import WITHIN, outside
from tightlink.studies.bulk_throughput.report import residuals
from tightlink.studies.bulk_throughput.report.figures import panels
from tightlink.studies.bulk_throughput.setup.paths import KILOBYTES, SITES
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from tightlink.studies.bulk_throughput.setup.paths import Place


def section(title: str, found: pl.DataFrame, where: str) -> Section:
    """The part of the report.

    Args:
        title: Of it.
        found: Cells measured and predicted.
        where: On what machine, and when, in a sentence.
    """
    if found.is_empty():
        return Section(title, "Nothing was measured: the machine was too busy.", [])
    parts = {place: found.filter(pl.col("path") == place.name) for place in SITES}
    parts = {place: part for place, part in parts.items() if not part.is_empty()}
    whole = {place: agreement(part) for place, part in parts.items()}
    rows = []
    for place, part in parts.items():
        rows.append(residuals.row(place, {"control": "both"}, whole[place]))
        for (control,), own in part.group_by("congestion", maintain_order=True):
            rows.append(residuals.row(place, {"control": str(control)}, agreement(own)))
    finding = (
        f"Of {found.height} cells {percent(share_within(found, WITHIN))} are predicted within ± {percent(WITHIN)}; R² "
        f"of simulation and measurement is {residuals.explained(whole, 3)}."
    )
    text = (
        "The document compares its predictions with what iperf measured from SLAC. Here two hosts of today, Linux with "
        "Reno and CUBIC, send over the same four paths in real time, and the same cells are simulated with profile "
        "`linux`: no fitting, no other network, 10 s each. Windows are the document's; for 1, 4 and 20 flows they are "
        "the smallest, those just below and just above what the path holds, the one just above what path and queue "
        "hold, and the largest. Senders keep windows to the byte; each cell is measured three to five times, and its "
        f"median counts. {where}"
    )
    return Section(
        title,
        finding,
        [
            Text(text),
            Row(
                [residuals.scatter(place, part, by="kind") for place, part in parts.items()],
                "Each point is a cell under one control; colours tell what its flows do to the path.",
            ),
            Row(
                [residuals.over_windows(place, part, by="series") for place, part in _series(parts)],
                "Residuals over the window, for each control and number of flows.",
            ),
            Table(pl.DataFrame(rows), "", residuals.FORMATS),
            *_misses(found),
        ],
    )


def draw(folder: Path, points: pl.DataFrame) -> list[Path]:
    """Draw observed over predicted goodput, a panel for each path that was measured."""
    parts = [(place, points.filter(pl.col("path") == place.name)) for place in SITES]
    drawn: list[tuple[str, Callable[[Axes], Axes]]] = [
        (place.title, partial(_agreement, place, part)) for place, part in parts if not part.is_empty()
    ]
    return panels(folder, "measured", drawn) if drawn else []


def _agreement(place: Place, part: pl.DataFrame, ax: Axes) -> Axes:
    ends = (0.0, place.path.bandwidth_bps)
    return plots.scatter_with_curves(
        part, x="predicted_bps", y="observed_bps", by="kind", curves={"o = s": (ends, ends)}, ax=ax
    )


def _misses(found: pl.DataFrame) -> list[Text | Table]:
    missed = outside(found).sort(pl.col("residual").abs(), descending=True)
    if missed.is_empty():
        return [Text(f"No cell misses by more than {percent(WITHIN)}.")]
    shown = missed.select(
        "path", "congestion", "flows", "kind", "observed_bps", "predicted_bps", "rtt_loaded_s",
        (pl.col("residual") * 100).alias("(o − s) / o, %"),
        (pl.col("highest_bps") / pl.col("lowest_bps") * 100 - 100).alias("spread %"),
        pl.col("window_packets").replace_strict(KILOBYTES).alias("window kB"),
        (pl.col("loss") * 100).alias("lost %"), (pl.col("predicted_loss") * 100).alias("lost, simulated %"),
    )  # fmt: skip
    caption = f"Where it misses by more than {percent(WITHIN)}; spread is highest over lowest of the same cell."
    formats = {"(o − s) / o, %": "+.1f", "spread %": ".1f", "lost %": ".2f", "lost, simulated %": ".2f"}
    return [Table(shown, caption, formats)]


def _series(parts: Mapping[Place, pl.DataFrame]) -> Iterator[tuple[Place, pl.DataFrame]]:
    named = pl.format("{}, {}", "congestion", "flows")
    for place, part in parts.items():
        yield place, part.with_columns(series=named)

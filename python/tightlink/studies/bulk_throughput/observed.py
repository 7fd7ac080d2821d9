"""Observed against predicted, as the document draws it, on observations that are simulated too.

The document's measurements were never published. In their place stands what its simulator lacks: the same paths
with SACK and other people's traffic, each measurement at a time of the week of its own.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.cross_traffic import MOMENTS
from tightlink.analysis.residuals import agreement, by_flows
from tightlink.experiment.execute import Task
from tightlink.report import Row, Section, Table, Text
from tightlink.studies.bulk_throughput import agreements
from tightlink.studies.bulk_throughput.paths import SITES, WINDOWS
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.bulk_path import BulkPath
    from tightlink.run import Run
    from tightlink.studies.bulk_throughput.paths import Place

#: Numbers of flows that all sites have.
_FLOWS: Final = (1, 4, 10, 25)
#: What others offer over the week.
_CROSS: Final = 0.2
#: From measurement to measurement through the hours of the week: prime to their number.
_STRIDE: Final = 23


def tasks() -> list[Task]:
    """A measurement of each cell."""
    return [
        Task(_name(place, window, flows), path.scenario(window, flows, seed=seed))
        for place in SITES
        for seed, window, flows, path in _measurements(place)
    ]


def points(place: Place, runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each measurement: what was observed, what the quiet path predicts, and the residuals."""
    rows = [
        {
            "window_packets": window, "flows": flows,
            "observed_bps": cell(runs[_name(place, window, flows)], path)["goodput_bps"],
            "predicted_bps": cell(runs[f"{place.name}/{window}/{flows}"], place.path)["goodput_bps"],
        }
        for _, window, flows, path in _measurements(place)
    ]  # fmt: skip
    difference = pl.col("observed_bps") - pl.col("predicted_bps")
    return pl.DataFrame(rows).with_columns(residual_bps=difference, residual=difference / pl.col("observed_bps"))


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    found = {place: points(place, runs) for place in SITES}
    whole = {place: agreement(frame) for place, frame in found.items()}
    rows = [
        row
        for place, frame in found.items()
        for row in (
            agreements.row(place, {"flows": "all"}, whole[place]),
            *(agreements.row(place, {"flows": str(flows)}, value) for flows, value in by_flows(frame).items()),
        )
    ]
    explained = [
        f"{value.origin.value:.2f} at {agreements.site(place)} (the document: {agreements.DOCUMENT_R2[place.name]:g})"
        for place, value in whole.items()
        if value.origin is not None
    ]
    finding = (
        f"With {percent(_CROSS)} of other people's traffic that the prediction does not know of, R² of prediction and "
        f"observation is {', '.join(explained)}."
    )
    text = (
        "The document compares its predictions with transfers that it measured, and did not publish. Here each "
        "measurement is a run of its own on the same path, with SACK, with on-off sources beside it that offer "
        f"{percent(_CROSS)} of the bottleneck over the week, and at an hour of its own. Residuals are (o − s) / o "
        "and o − s; R² is about the mean, of the line through the origin and of the free line, each with its 95 % "
        "interval by drawing points anew. `tightlink predict --observed` does the same with anyone's measurements."
    )
    return Section(
        "Observed against predicted",
        finding,
        [
            Text(text),
            Row(
                [agreements.scatter(place, frame) for place, frame in found.items()],
                "Each point is a measurement; the colours are numbers of flows.",
            ),
            Row(
                [agreements.residuals(place, frame) for place, frame in found.items()],
                "Residuals over the window, for each number of flows.",
            ),
            Table(pl.DataFrame(rows), "", agreements.FORMATS),
        ],
    )


def _measurements(place: Place) -> Iterator[tuple[int, int, int, BulkPath]]:
    """Seed, window, flows and the path as it is then: hours come as often as in a week, and in no step with windows."""
    hours = [moment for moment in MOMENTS for _ in range(moment.weight)]
    for seed, (window, flows) in enumerate(product(WINDOWS, _FLOWS), start=1):
        then = hours[seed * _STRIDE % len(hours)].path(place.path.changed(cross=_CROSS, recovery="sack"))
        yield seed, window, flows, then


def _name(place: Place, window: int, flows: int) -> str:
    return f"observed/{place.name}/{window}/{flows}"

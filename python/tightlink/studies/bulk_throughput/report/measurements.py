"""Observed against predicted, as the document draws it, on observations that are simulated too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.analysis.residuals import agreement, by_flows
from tightlink.report import Row, Section, Table, Text
from tightlink.studies.bulk_throughput.report import agreements
from tightlink.studies.bulk_throughput.setup.measurements import CROSS
from tightlink.studies.bulk_throughput.setup.paths import SITES
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(points: Mapping[str, pl.DataFrame]) -> Section:
    """The part of the report."""
    found = {place: points[place.name] for place in SITES}
    whole = {place: agreement(frame) for place, frame in found.items()}
    rows = [
        row
        for place, frame in found.items()
        for row in (
            agreements.row(place, {"flows": "all"}, whole[place]),
            *(agreements.row(place, {"flows": str(flows)}, value) for flows, value in by_flows(frame).items()),
        )
    ]
    finding = (
        f"With {percent(CROSS)} of other people's traffic that the prediction does not know of, R² of prediction and "
        f"observation is {agreements.explained(whole, 2)}."
    )
    text = (
        "The document compares its predictions with transfers that it measured, and did not publish. Here each "
        "measurement is a run of its own on the same path, with SACK, with on-off sources beside it that offer "
        f"{percent(CROSS)} of the bottleneck over the week, and at an hour of its own. Residuals are (o − s) / o "
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

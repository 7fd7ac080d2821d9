"""Observed against predicted, as the document draws and counts it, on observations that are simulated too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis.residuals import agreement, by_flows
from tightlink.report import Format, Row, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.setup.cross_traffic import CROSS
from tightlink.studies.bulk_throughput.setup.paths import DOCUMENT_R2, SITES
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

    from tightlink.analysis.estimates import Estimate
    from tightlink.analysis.residuals import Agreement
    from tightlink.studies.bulk_throughput.setup.paths import Place

FORMATS: Final[dict[str, Format]] = {"(o − s) / o, median %": "+.1f", "largest %": ".0f"}


def section(points: Mapping[str, pl.DataFrame]) -> Section:
    """The part of the report."""
    found = {place: points[place.name] for place in SITES}
    whole = {place: agreement(frame) for place, frame in found.items()}
    rows = []
    for place, frame in found.items():
        rows.append(row(place, {"flows": "all"}, whole[place]))
        rows += [row(place, {"flows": str(flows)}, value) for flows, value in by_flows(frame).items()]
    finding = (
        f"With {percent(CROSS)} of other people's traffic that the prediction does not know of, R² of prediction and "
        f"observation is {explained(whole, 2)}."
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
                [scatter(place, frame) for place, frame in found.items()],
                "Each point is a measurement; the colours are numbers of flows.",
            ),
            Row(
                [over_windows(place, frame) for place, frame in found.items()],
                "Residuals over the window, for each number of flows.",
            ),
            Table(pl.DataFrame(rows), "", FORMATS),
        ],
    )


def row(place: Place, part: dict[str, str], value: Agreement) -> dict[str, Any]:
    """A row of the table of agreements.

    Args:
        place: The path.
        part: Which of its points, as columns of the table.
        value: Of these.
    """
    return {
        "path": place.title,
        **part,
        "points": value.points,
        "(o − s) / o, median %": 100 * value.median,
        "largest %": 100 * value.largest,
        "o − s, mean, kbit/s": round(value.mean_bps / 1e3),
        "R², origin": _interval(value.origin),
        "R², free": _interval(value.free),
    }


def explained(found: Mapping[Place, Agreement], digits: int) -> str:
    """R² of each path beside the document's, in a sentence; without those that have none."""
    return ", ".join(
        f"{value.origin.value:.{digits}f} at {place.site} (the document: {DOCUMENT_R2[place.name]:g})"
        for place, value in found.items()
        if value.origin is not None
    )


def scatter(place: Place, frame: pl.DataFrame, *, by: str = "flows") -> alt.LayerChart:
    """Observed over predicted goodput, and the line of equality."""
    top = place.path.bandwidth_bps
    equality = pl.DataFrame({"predicted_bps": [0.0, top], "observed_bps": [0.0, top], "line": ["o = s"] * 2})
    named = frame.with_columns(line=pl.col(by).cast(pl.String))
    return charts.points(
        named, "predicted_bps", "observed_bps", by="line", curves=equality, curve="line", x_scale="linear",
        title=place.site,
    )  # fmt: skip


def over_windows(place: Place, frame: pl.DataFrame, *, by: str = "flows") -> alt.Chart:
    """Residuals over the window."""
    named = frame.with_columns(pl.col("residual") * 100, line=pl.col(by).cast(pl.String))
    return charts.line(
        named.sort(by, "window_packets"), "window_packets", "residual", by="line", title=place.site,
        x_title="window (packets)", y_title="(o − s) / o (%)", x_scale="log", height=180,
    )  # fmt: skip


def _interval(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate:.3f}"

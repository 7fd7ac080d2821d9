"""Observations beside predictions, as the document draws and counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report import Format, charts
from tightlink.studies.bulk_throughput.setup.paths import DOCUMENT_R2

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

    from tightlink.analysis.estimates import Estimate
    from tightlink.analysis.residuals import Agreement
    from tightlink.studies.bulk_throughput.setup.paths import Place

FORMATS: Final[dict[str, Format]] = {"(o − s) / o, median %": "+.1f", "largest %": ".0f"}


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


def residuals(place: Place, frame: pl.DataFrame, *, by: str = "flows") -> alt.Chart:
    """Residuals over the window."""
    named = frame.with_columns(pl.col("residual") * 100, line=pl.col(by).cast(pl.String))
    return charts.line(
        named.sort(by, "window_packets"), "window_packets", "residual", by="line", title=place.site,
        x_title="window (packets)", y_title="(o − s) / o (%)", x_scale="log", height=180,
    )  # fmt: skip


def _interval(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate:.3f}"

"""Residuals in the report: tables and charts of agreement, and the section on cells that Linux carried."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink import plots
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.residuals import Agreement, agreement, share_within
from tightlink.lazy import alt
from tightlink.numbers import NONE
from tightlink.report import Format, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.observe.linux import WITHIN, outside
from tightlink.studies.bulk_throughput.setup.paths import DOCUMENT_R2, KILOBYTES, SITES, Place
from tightlink.studies.report_text import page
from tightlink.studies.words import percent

FORMATS: Final[dict[str, Format]] = {"(o − s) / o, median %": "+.1f", "largest %": ".0f"}


def row(place: Place, part: dict[str, str], value: Agreement) -> dict[str, Any]:
    """A row of the table of agreements."""
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
    return NONE if estimate is None else f"{estimate:.3f}"


def measured(title: str, found: pl.DataFrame, where: str) -> Section:
    """The section on cells that Linux carried, beside the same cells simulated."""
    if found.is_empty():
        return Section(title, "Nothing was measured: the machine was too busy.", [])
    parts = {place: found.filter(pl.col("path") == place.name) for place in SITES}
    parts = {place: part for place, part in parts.items() if not part.is_empty()}
    whole = {place: agreement(part) for place, part in parts.items()}
    series = pl.format("{}, {}", "congestion", "flows")
    rows = []
    for place, part in parts.items():
        rows.append(row(place, {"control": "both"}, whole[place]))
        for (control,), own in part.group_by("congestion", maintain_order=True):
            rows.append(row(place, {"control": str(control)}, agreement(own)))
    names = {
        "title": title, "cells": found.height, "within": share_within(found, WITHIN), "goal": WITHIN,
        "explained": explained(whole, 3), "where": where,
    }  # fmt: skip
    blocks = {
        "scatter": [scatter(place, part, by="kind") for place, part in parts.items()],
        "over-windows": [
            over_windows(place, part.with_columns(series=series), by="series") for place, part in parts.items()
        ],
        "agreements": Table(pl.DataFrame(rows), formats=FORMATS),
        "misses": _misses(found),
    }
    (section,) = page(Path(__file__).parents[1] / "live.md", names, blocks).sections
    return section


def _misses(found: pl.DataFrame) -> Text | Table:
    missed = outside(found).sort(pl.col("residual").abs(), descending=True)
    if missed.is_empty():
        return Text(f"No cell misses by more than {percent(WITHIN)}.")
    shown = missed.select(
        "path", "congestion", "flows", "kind", "observed_bps", "predicted_bps", "rtt_loaded_s",
        (pl.col("residual") * 100).alias("(o − s) / o, %"),
        (pl.col("highest_bps") / pl.col("lowest_bps") * 100 - 100).alias("spread %"),
        pl.col("window_packets").replace_strict(KILOBYTES).alias("window kB"),
        (pl.col("loss") * 100).alias("lost %"), (pl.col("predicted_loss") * 100).alias("lost, simulated %"),
    )  # fmt: skip
    formats = {"(o − s) / o, %": "+.1f", "spread %": ".1f", "lost %": ".2f", "lost, simulated %": ".2f"}
    return Table(shown, formats=formats)


def draw(folder: Path, points: pl.DataFrame) -> list[Path]:
    """Draw observed over predicted goodput, a panel for each path that was measured."""
    parts = [(place, points.filter(pl.col("path") == place.name)) for place in SITES]
    drawn = [scatter(place, part, by="kind") for place, part in parts if not part.is_empty()]
    return plots.save(drawn, folder, "measured") if drawn else []
